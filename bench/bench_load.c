/* bench_load.c: the cost of reading a trace.
 *
 *     bench_load TRACE PASSES    opens it and reads every thread block of every kernel, PASSES times */
#include "bench.h"

#include "workload/trace.h"

static void check(ls_status status, const ls_error *err)
{
    if (status == LS_OK)
        return;
    fprintf(stderr, "bench_load: %s: %s\n", err->where, err->what);
    exit(1);
}

int main(int argc, char **argv)
{
    uint64_t passes = argument(argc, argv, 2, 1), insts = 0, blocks = 0;
    const trace_options options = { .drop_values = true };
    ls_error err = { 0 };
    ls_cta cta = { 0 };
    for (uint64_t pass = 0; pass < passes && argc > 1; pass++) {
        sass_trace *trace;
        check(trace_open(argv[1], &options, &trace, &err), &err);
        insts = blocks = 0;
        for (uint64_t i = 0; i < trace_command_count(trace); i++) {
            trace_kernel *kernel;
            bool end = false;
            if (trace_command_at(trace, i)->kind != LS_COMMAND_KERNEL)
                continue;
            check(trace_open_kernel(trace, i, &kernel, &err), &err);
            for (;;) {
                check(kernel_next_cta(kernel, &cta, &end, &err), &err);
                if (end)
                    break;
                insts += cta.dyn_count;
                blocks++;
            }
            kernel_close(kernel);
        }
        trace_close(trace);
    }
    ls_cta_fini(&cta);
    printf("blocks=%" PRIu64 " insts=%" PRIu64 "\n", blocks, insts);
    return 0;
}
