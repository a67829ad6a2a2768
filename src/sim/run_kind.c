/* run_kind.c: see run_kind.h. */
#include "sim/run_kind.h"

#include "base/file.h"
#include "sim/emulate_object.h"
#include "workload/pack/amd_file.h"
#include "workloads/workload.h"

#include <string.h>

enum {
    TRACE = 1u << RUN_TRACE,
    WORKLOAD = 1u << RUN_WORKLOAD,
    OBJECT = 1u << RUN_OBJECT,
    RECORDING = 1u << RUN_RECORDING,
    PROGRAM = WORKLOAD | OBJECT,
};

static const char *const names[RUN_KINDS] = {
    [RUN_NOTHING] = "no workload",
    [RUN_TRACE] = "a trace",
    [RUN_WORKLOAD] = "a workload that is executed",
    [RUN_OBJECT] = "a code object",
    [RUN_RECORDING] = "a recording of an AMD program",
};

const run_kind_option run_kind_options[RUN_KIND_OPTIONS] = {
    { "fidelity", TRACE, "traces" },
    { "ctas", TRACE, "traces" },
    { "profile", TRACE, "traces" },
    { "warm-l2", TRACE, "traces" },
    { "unknown-opcodes", TRACE, "traces" },
    { "unmodelled", TRACE, "traces" },
    { "stats", TRACE | PROGRAM | RECORDING, "traces and programs" },
    { "source", TRACE | PROGRAM | RECORDING, "traces and programs" },
    { "sample", TRACE | PROGRAM | RECORDING, "traces and programs" },
    { "kernels", TRACE | RECORDING, "traces and recordings" },
    { "gpu", PROGRAM, "workloads and code objects" },
    { "max-instructions", PROGRAM, "workloads and code objects" },
    { "strict", PROGRAM, "workloads and code objects" },
    { "check-memory", PROGRAM, "workloads and code objects" },
    { "record", PROGRAM, "workloads and code objects" },
    { "memory-mib", PROGRAM | RECORDING, "AMD programs" },
    { "size", WORKLOAD, "workloads that are executed" },
    { "param", WORKLOAD, "workloads that are executed" },
    { "verify", WORKLOAD, "workloads that are executed" },
    { "variant", WORKLOAD, "workloads that are executed" },
    { "devices", WORKLOAD, "workloads that are executed" },
    { "spread", WORKLOAD, "workloads that are executed" },
    { "pages", WORKLOAD, "workloads that are executed" },
    { "kernel", OBJECT, "code objects" },
    { "grid", OBJECT, "code objects" },
    { "group", OBJECT, "code objects" },
    { "offset", OBJECT, "code objects" },
    { "arg", OBJECT, "code objects" },
    { "print", OBJECT, "code objects" },
    { "dump", OBJECT, "code objects" },
};

run_kind run_kind_of(const char *name)
{
    const wl_workload *w;
    if (name == NULL)
        return RUN_NOTHING;
    if (amd_file_is(name))
        return RUN_RECORDING;
    if (emulate_object_is(name))
        return RUN_OBJECT;
    bool is_word = strpbrk(name, "/.:") == NULL && !file_exists(name);
    return is_word && wl_find(name, &w, NULL) == LS_OK ? RUN_WORKLOAD : RUN_TRACE;
}

const char *run_kind_name(run_kind kind)
{
    return names[kind];
}

bool run_kind_refuses(run_kind kind, size_t i)
{
    return !(run_kind_options[i].kinds >> kind & 1);
}

bool run_kind_is_missing(run_kind kind, const char *name)
{
    return kind == RUN_TRACE && strncmp(name, "synth:", 6) != 0 && !file_exists(name);
}
