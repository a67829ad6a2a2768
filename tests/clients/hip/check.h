// check.h: how the HIP programs of the tests report: a line per failure, and the exit code.
#pragma once
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>

static int failures;
#define CALL(call)                                                                                            \
    do {                                                                                                      \
        hipError_t error_ = (call);                                                                           \
        if (error_ != hipSuccess) {                                                                           \
            printf("FAILED line %d: %s: %s\n", __LINE__, #call, hipGetErrorString(error_));                   \
            failures++;                                                                                       \
        }                                                                                                     \
    } while (0)
#define CHECK(what)                                                                                           \
    do {                                                                                                      \
        if (!(what)) {                                                                                        \
            printf("FAILED line %d: %s\n", __LINE__, #what);                                                  \
            failures++;                                                                                       \
        }                                                                                                     \
    } while (0)
static inline int end()
{
    printf("%s\n", failures ? "failed" : "good");
    return failures != 0;
}
