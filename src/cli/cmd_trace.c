/* cmd_trace.c: `lockstep trace`: the table of the commands that work on traces without simulating them. */
#include "cli/cmd_trace.h"

#include "base/json.h"

const char *const cmd_trace_unknown_choices[] = { "fail", "alu", NULL };

void cmd_trace_json_space(json_writer *j, const char *space, const char *insts, const uint64_t counts[3])
{
    json_key(j, space);
    json_flat(j);
    json_begin_object(j);
    json_put_u64(j, insts, counts[0]);
    json_put_u64(j, "lane_accesses", counts[1]);
    json_put_u64(j, "bytes", counts[2]);
    json_end(j);
}

static const cli_command *const commands[] = {
    &cmd_trace_info, &cmd_trace_check, &cmd_trace_pack, &cmd_trace_unpack,
    &cmd_trace_cut,  &cmd_trace_synth, &cmd_trace_view,
};

static const cli_example examples[] = {
    { "lockstep trace info traces/bfs", "kernels, instruction mix and memory accesses" },
    { "lockstep trace view fir.lsit --wave 0 -n 4", "what a wave of an AMD program executed" },
    { "lockstep trace check traces/bfs", "everything that is wrong with a trace, with file and line" },
};

static const cli_command trace_command = {
    .name = "trace",
    .summary = "look at traces, check and convert them",
    .about =
        "A trace is what Accel-Sim's tracer writes: a directory with kernelslist.g and one file per kernel, "
        "plain or compressed with xz, zstd or gzip. Tracer versions 1 to 6 and GPUs from Kepler to Blackwell "
        "are read.\n\n"
        "`view` is for instruction traces of AMD programs, which `lockstep emulate` writes.",
    .order = 15,
    CLI_EXAMPLES(examples),
    CLI_COMMANDS(commands),
};
CLI_REGISTER(trace_command);
