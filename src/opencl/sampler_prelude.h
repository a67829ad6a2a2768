/* sampler_prelude.h: samplers that a kernel's source makes itself. The compiler's library has their words in
 * a table, which for gfx10 says that the border is opaque; OpenCL wants it transparent. Text only. */
#ifndef OPENCL_SAMPLER_PRELUDE_H
#define OPENCL_SAMPLER_PRELUDE_H

#include "base/text.h"

/* Whether a source may make samplers with a border: it names them, or includes files that may. */
bool ocl_sampler_prelude_wanted(const char *source);
/* Adds the lines that are to be put before the source: a table of our own. The last one makes the source of
 * standard input begin with line 1. */
void ocl_sampler_prelude(text_buffer *out);

#endif
