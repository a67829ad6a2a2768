/* run_kind.c: see run_kind.h. */
#include "cli/run_kind.h"

#include "base/file.h"
#include "cli/emulate_object.h"
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

/* Options that are for some kinds only, and how an error calls these. */
typedef struct kind_option {
    const char *name;
    unsigned kinds;
    const char *called;
} kind_option;

static const kind_option only[] = {
    { "fidelity", TRACE, "traces" },
    { "ctas", TRACE, "traces" },
    { "profile", TRACE, "traces" },
    { "warm-l2", TRACE, "traces" },
    { "unknown-opcodes", TRACE, "traces" },
    { "unmodelled", TRACE, "traces" },
    { "stats", TRACE, "traces" },
    { "kernels", TRACE | RECORDING, "traces and recordings" },
    { "gpu", PROGRAM, "workloads and code objects" },
    { "max-instructions", PROGRAM, "workloads and code objects" },
    { "strict", PROGRAM, "workloads and code objects" },
    { "record", PROGRAM, "workloads and code objects" },
    { "memory-mib", PROGRAM | RECORDING, "AMD programs" },
    { "size", WORKLOAD, "workloads that are executed" },
    { "param", WORKLOAD, "workloads that are executed" },
    { "verify", WORKLOAD, "workloads that are executed" },
    { "variant", WORKLOAD, "workloads that are executed" },
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
    bool is_word = strpbrk(name, "/.:") == NULL && !ls_file_exists(name);
    return is_word && wl_find(name, &w, NULL) == LS_OK ? RUN_WORKLOAD : RUN_TRACE;
}

const char *run_kind_name(run_kind kind)
{
    return names[kind];
}

static bool has_option(const cli_command *command, const char *name)
{
    for (size_t i = 0; i < command->option_count; i++)
        if (strcmp(command->options[i].name, name) == 0)
            return true;
    return false;
}

ls_status run_kind_check(const cli_context *ctx, const char *name, run_kind kind, ls_error *err)
{
    const cli_command *command = cli_args_command(ctx->args);
    /* A file that is not there has no kind: opening it tells more. */
    if (kind == RUN_TRACE && strncmp(name, "synth:", 6) != 0 && !ls_file_exists(name))
        return LS_OK;
    for (size_t i = 0; i < LS_COUNT_OF(only); i++) {
        if ((only[i].kinds >> kind & 1) || !has_option(command, only[i].name) || !cli_given(ctx, only[i].name))
            continue;
        if (name == NULL)
            return ls_fail(err, LS_ERR_USAGE, "%s: --%s is for %s, but no workload is given", command->name,
                           only[i].name, only[i].called);
        return ls_fail(err, LS_ERR_USAGE, "%s: --%s is for %s, but '%s' is %s", command->name, only[i].name,
                       only[i].called, name, run_kind_name(kind));
    }
    if (kind == RUN_OBJECT && !cli_given(ctx, "grid"))
        return ls_fail(err, LS_ERR_USAGE, "%s: a launch of the code object '%s' needs --grid X[,Y[,Z]]",
                       command->name, name);
    return LS_OK;
}
