/* join.c: several traces as one: their commands, one behind the other. */
#include "workload/devices/devices.h"

#include <stdlib.h>
#include <string.h>

typedef struct joined_trace {
    sass_trace base;
    sass_trace *const *traces;
    uint32_t *trace_of; /* by command */
    uint64_t *index_of;
} joined_trace;

static ls_status join_open_kernel(sass_trace *base, uint64_t index, trace_kernel **out, ls_error *err)
{
    const joined_trace *t = (const joined_trace *)base;
    return trace_open_kernel(t->traces[t->trace_of[index]], t->index_of[index], out, err);
}

static void join_close(sass_trace *base)
{
    joined_trace *t = (joined_trace *)base;
    free(base->commands);
    free(t->trace_of);
    free(t->index_of);
    free(t);
}

static const trace_source_ops ops = { .open_kernel = join_open_kernel, .close = join_close };

ls_status join_traces(sass_trace *const *traces, size_t count, const trace_options *options, sass_trace **out,
                      ls_error *err)
{
    uint64_t commands = 0;
    for (size_t i = 0; i < count; i++)
        commands += traces[i]->command_count;
    joined_trace *t = calloc(1, sizeof *t);
    *out = NULL;
    if (t == NULL)
        return devices_no_memory(err);
    t->base.ops = &ops;
    if (options != NULL)
        t->base.options = *options;
    t->traces = traces;
    t->base.commands = calloc(commands + 1, sizeof *t->base.commands);
    t->trace_of = calloc(commands + 1, sizeof *t->trace_of);
    t->index_of = calloc(commands + 1, sizeof *t->index_of);
    if (t->base.commands == NULL || t->trace_of == NULL || t->index_of == NULL) {
        join_close(&t->base);
        return devices_no_memory(err);
    }
    for (size_t i = 0; i < count; i++)
        for (uint64_t k = 0; k < traces[i]->command_count; k++) {
            uint64_t at = t->base.command_count++;
            t->base.commands[at] = traces[i]->commands[k];
            t->trace_of[at] = (uint32_t)i;
            t->index_of[at] = k;
        }
    *out = &t->base;
    return LS_OK;
}
