/* sink.h: where a trace is written to: a directory of text (accelsim/write_dir.c) or one packed file
 * (pack/). Nothing appears under the final name before finish(). */
#ifndef WORKLOAD_SINK_H
#define WORKLOAD_SINK_H

#include "workload/trace.h"

typedef struct trace_sink trace_sink;

/* Name and shape of a kernel where it is written; they differ from its source when it was cut. */
typedef struct sink_kernel {
    const trace_kernel *kernel;
    const ls_kernel_info *info;
    const char *name;   /* as in the list: "kernel-1.traceg.xz" */
    const char *header; /* text before the first block */
    size_t header_bytes;
    uint64_t line;   /* in the list */
    bool normalised; /* known when it ends: the source's own text differs from the text written here */
} sink_kernel;

typedef struct sink_ops {
    ls_status (*command)(trace_sink *sink, const trace_cmd *command,
                         ls_error *err); /* everything but kernels */
    /* *known: a kernel of this name was written already, so its blocks are not wanted and end() is not
     * called. */
    ls_status (*begin)(trace_sink *sink, const sink_kernel *kernel, bool *known, ls_error *err);
    ls_status (*cta)(trace_sink *sink, const sink_kernel *kernel, const ls_cta *cta, ls_error *err);
    ls_status (*end)(trace_sink *sink, const sink_kernel *kernel, ls_error *err);
    /* Makes the result appear. The sink is gone in every case; on failure nothing is left. */
    ls_status (*finish)(trace_sink *sink, ls_error *err);
    void (*abort)(trace_sink *sink);
} sink_ops;

/* First member of every sink's own struct. */
struct trace_sink {
    const sink_ops *ops;
};

/* Text that follows single executions in traces with register values (tracer version 6), as ls_cta.extra of
 * sources that keep it: ascending by dyn. */
typedef struct cta_value {
    uint32_t dyn;       /* index in ls_cta.dyns */
    uint32_t at, bytes; /* in text */
} cta_value;

typedef struct ls_cta_values {
    cta_value *values;
    uint64_t count;
    const char *text;
} ls_cta_values;

/* The first value at or after an execution. */
static inline uint64_t cta_values_from(const ls_cta_values *values, uint32_t dyn)
{
    uint64_t low = 0, high = values->count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (values->values[middle].dyn < dyn)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
