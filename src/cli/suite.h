/* suite.h: the generated kernels of suite.def. */
#ifndef CLI_SUITE_H
#define CLI_SUITE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct suite_kernel {
    const char *name, *trace;
    bool fills; /* keeps a GPU of about 50 cores busy */
    const char *what;
} suite_kernel;

static const suite_kernel suite_kernels[] = {
#define SUITE(name, trace, fills, what) { name, trace, fills, what },
#include "cli/suite.def"
#undef SUITE
};
enum { SUITE_COUNT = sizeof suite_kernels / sizeof suite_kernels[0] };

#endif
