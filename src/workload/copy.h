/* copy.h: copies a trace from any source into a sink, whole or in part, for pack, unpack, cut and synth. */
#ifndef WORKLOAD_COPY_H
#define WORKLOAD_COPY_H

#include "workload/select.h"
#include "workload/sink.h"

typedef struct copy_options {
    const kernel_selection *selection; /* NULL: all kernels */
    uint64_t cta_limit;                /* thread blocks of each kernel that are copied; 0: all */
    /* Compare what is copied with the text it was read from: for sources that read Accel-Sim's files. */
    bool compare;
} copy_options;

typedef struct copy_result {
    uint64_t kernels, ctas, warp_insts;
    uint64_t text_bytes; /* of all kernels, if they were compared */
    uint64_t normalised; /* files whose own text differs from the text that would be written; the list counts
                          * as one */
    char first_file[256];
    uint64_t first_line; /* where the first of them differs */
} copy_result;

/* Copies, and finishes the sink or aborts it: it is gone in every case. */
ls_status trace_copy_to(sass_trace *trace, const copy_options *options, trace_sink *sink, copy_result *result,
                        ls_error *err);

#endif
