/* run_devices.c: see run_devices.h. */
#include "sim/run_devices.h"

#include "base/file.h"
#include "engine/ranks.h"
#include "model/gpu/gpu.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NS_FS UINT64_C(1000000)

static uint32_t gpu_count(const ls_engine *engine)
{
    uint32_t count = 0;
    while (gpu_at(engine, count) != NULL)
        count++;
    return count;
}

static ls_status check_gpus(const char *path, const char *platform, const ls_engine *engine, ls_error *err)
{
    if (gpu_at(engine, 0) == NULL)
        return ls_fail(err, LS_ERR_USAGE, "platform '%s' has no GPU that runs traces", platform);
    for (uint32_t i = 0; gpu_at(engine, i) != NULL; i++) {
        const gpu_instance *gpu = gpu_at(engine, i);
        if (gpu->core_shape.sends_no_requests)
            return ls_fail(
                err, LS_ERR_UNSUPPORTED,
                "'%s' is for several GPUs, but the memory of gpu%u is a formula: set core.memory to cycle",
                path, gpu->number);
        if (gpu->queue == NULL)
            return ls_fail(
                err, LS_ERR_USAGE,
                "'%s' is for several GPUs that a fabric joins, but platform '%s' has no fabric: a system "
                "like dgx-a100 has one",
                path, platform);
    }
    return LS_OK;
}

/* Devices become ends of the fabric, nanoseconds become cycles. */
static ls_status make_program(run_devices *r, uint32_t device, ls_error *err)
{
    const devices_device *d = &r->list->at[device];
    const gpu_instance *gpu = gpu_at(r->engine, device);
    const ls_clock *clock = ls_region_clock(ls_block_region(gpu->dispatch));
    device_command *commands = arena_array(&r->arena, d->commands.count + 1, sizeof *commands);
    if (commands == NULL)
        return devices_no_memory(err);
    for (size_t i = 0; i < d->commands.count; i++) {
        commands[i] = d->commands.at[i];
        commands[i].to = (uint16_t)gpu_at(r->engine, commands[i].to)->number;
        if (commands[i].kind == DEVICE_DELAY)
            commands[i].cycles = ls_clock_cycle_at(clock, commands[i].cycles * NS_FS);
    }
    device_program *program = &r->programs[device]; /* its position is there already */
    program->commands = commands;
    program->count = (uint32_t)d->commands.count;
    program->signal_count = (uint32_t)r->list->signals.count;
    program->text = text_get(&r->list->names);
    return LS_OK;
}

static ls_status set_owners(run_devices *r, uint32_t device, ls_error *err)
{
    const ls_owner_range *ranges;
    uint32_t count;
    ls_status status = devices_owner_ranges(r->list, device, &ranges, &count, err);
    for (uint32_t i = 0; i < count && status == LS_OK; i++) {
        ls_owner_range *range = (ls_owner_range *)(uintptr_t)&ranges[i];
        const gpu_instance *owner = gpu_at(r->engine, range->owner);
        if (owner == NULL)
            return ls_fail(err, LS_ERR_INPUT,
                           "address 0x%" PRIx64
                           " belongs to device %u, but the platform has %u GPUs that run traces",
                           range->begin, range->owner, gpu_count(r->engine));
        range->owner = owner->number;
    }
    if (status == LS_OK)
        *gpu_at(r->engine, device)->owners = (ls_address_owners){ .ranges = ranges, .count = count };
    return status;
}

static ls_status begin_device(run_devices *r, uint32_t device, const run_trace_options *options, ls_error *err)
{
    run_trace_options own = *options;
    ls_status status = set_owners(r, device, err);
    if (status != LS_OK || !run_devices_has(r, device))
        return status;
    status = make_program(r, device, err);
    own.from = NULL; /* the program has it */
    own.gpu = device;
    own.trace = r->list->at[device].trace;
    own.program = &r->programs[device];
    own.groups = &r->groups;
    return status == LS_OK ? run_trace_begin(&r->at[device], &own, r->engine, r->metrics, err) : status;
}

ls_status run_devices_begin(run_devices *r, const run_trace_options *options, const char *platform,
                            ls_engine *engine, metric_store *metrics, ls_error *err)
{
    r->engine = engine;
    r->metrics = metrics;
    ls_status status = check_gpus(options->path, platform, engine, err);
    if (status != LS_OK)
        return status;
    const trace_options trace = { .unknown_opcodes_as_alu = options->unknown_opcodes_as_alu,
                                  .drop_values = true };
    status = devices_open(options->path, gpu_count(engine), &trace, &r->list, err);
    if (status != LS_OK)
        return status;
    r->count = r->list->count;
    r->at = arena_array(&r->arena, r->count, sizeof *r->at);
    r->programs = arena_array(&r->arena, r->count, sizeof *r->programs);
    if (r->at == NULL || r->programs == NULL)
        return devices_no_memory(err);
    if (options->from != NULL)
        status = run_devices_go_to(r, options->from, err);
    for (uint32_t i = 0; i < r->count && status == LS_OK; i++)
        status = begin_device(r, i, options, err);
    return status;
}

void run_devices_close(run_devices *r)
{
    for (uint32_t i = 0; i < r->count && r->at != NULL; i++)
        run_trace_close(&r->at[i]);
    devices_close(r->list);
    arena_fini(&r->arena);
}

ls_status run_devices_run(run_devices *r, const ls_run_options *options, ls_run_result *result, ls_error *err)
{
    trace_replay *replays[DEVICES_MAX];
    size_t count = 0;
    uint64_t now = host_clock_ns();
    for (uint32_t i = 0; i < r->count; i++)
        if (run_devices_has(r, i)) {
            r->at[i].began_ns = now;
            replays[count++] = r->at[i].replay;
        }
    ls_status status = replay_run_all(replays, count, options, result, err);
    for (uint32_t i = 0; i < r->count && status == LS_OK; i++) /* ends of commands are in the queues */
        status = ranks_copy_block(gpu_at(r->engine, i)->queue, err);
    for (uint32_t i = 0; i < r->count; i++)
        if (run_devices_has(r, i) && status == LS_OK)
            status = run_trace_end(&r->at[i], result, err);
    return status == LS_OK ? kernel_groups_close(&r->groups, r->metrics, err) : status;
}

/* ---------------------------------------------------------------------------------------------------- numbers */

bool run_devices_has(const run_devices *r, uint32_t device)
{
    return r->list->at[device].commands.count > 0;
}

static ls_cycle end_cycle(const run_devices *r, uint32_t device)
{
    uint32_t count = r->programs[device].count;
    ls_cycle end = count > 0 ? device_queue_end(gpu_at(r->engine, device)->queue, count - 1) : 0;
    return end == LS_CYCLE_MAX ? 0 : end;
}

ls_time run_devices_end_of(const run_devices *r, uint32_t device)
{
    return run_devices_has(r, device) ? ls_clock_time(r->at[device].clock, end_cycle(r, device)) : 0;
}

ls_time run_devices_end(const run_devices *r)
{
    ls_time end = 0;
    for (uint32_t i = 0; i < r->count; i++)
        end = run_devices_end_of(r, i) > end ? run_devices_end_of(r, i) : end;
    return end;
}

ls_cycle run_devices_cycles(const run_devices *r)
{
    ls_cycle cycles = 0;
    for (uint32_t i = 0; i < r->count; i++)
        cycles = end_cycle(r, i) > cycles ? end_cycle(r, i) : cycles;
    return cycles;
}

static double bandwidth(const run_devices *r)
{
    double seconds = (double)run_devices_end(r) * 1e-15;
    return seconds > 0 ? (double)r->list->collective.bytes / seconds : 0;
}

double run_devices_bus_bandwidth(const run_devices *r)
{
    return bandwidth(r) * r->list->collective.factor;
}

/* ------------------------------------------------------------------------------------------------------ table */

enum { ROWS_MAX = 40 };

static uint64_t counter(const run_devices *r, uint32_t device, const char *kind, const char *name)
{
    metric_value value;
    char path[48];
    snprintf(path, sizeof path, "gpu%u.%s", gpu_at(r->engine, device)->number, kind);
    return metrics_get(r->metrics, LS_METRICS_RUN, NULL, path, name, &value, NULL) == LS_OK ? value.value : 0;
}

static void print_devices(const run_devices *r, FILE *to)
{
    char sent[LS_FORMAT_BYTES], packets[LS_FORMAT_BYTES], end[LS_FORMAT_BYTES], waited[LS_FORMAT_BYTES];
    fprintf(to, "\n  %-7s %8s %7s %8s %14s %16s %12s %12s\n", "GPU", "kernels", "copies", "signals",
            "packets out", "payload out", "waiting", "end");
    for (uint32_t i = 0; i < r->count; i++) {
        if (!run_devices_has(r, i))
            continue;
        const run_trace *t = &r->at[i];
        uint64_t out = counter(r, i, "peer", "reads") + counter(r, i, "peer", "writes") +
                       counter(r, i, "peer", "atomics") + counter(r, i, "peer", "copy_packets");
        char name[16];
        snprintf(name, sizeof name, "gpu%u", t->gpu->number);
        fprintf(to, "  %-7s %8" PRIu64 " %7" PRIu64 " %8" PRIu64 " %14s %14s B %12s %12s\n", name,
                replay_kernel_count(t->replay), counter(r, i, "queue", "copies"),
                counter(r, i, "queue", "signals"), format_count(out, packets, sizeof packets),
                format_count(counter(r, i, "peer", "payload_bytes_out"), sent, sizeof sent),
                format_time(ls_clock_time(t->clock, counter(r, i, "queue", "wait_cycles")), waited,
                            sizeof waited),
                format_time(run_devices_end_of(r, i), end, sizeof end));
    }
}

static void print_kernels(const run_devices *r, FILE *to)
{
    uint64_t rows = 0, all = 0;
    char cycles[LS_FORMAT_BYTES], begin[LS_FORMAT_BYTES];
    for (uint32_t i = 0; i < r->count; i++)
        all += run_devices_has(r, i) ? replay_kernel_count(r->at[i].replay) : 0;
    if (all == 0)
        return;
    fprintf(to, "\n  %-7s %6s  %-36s %12s %14s\n", "GPU", "kernel", "name", "begin", "cycles");
    for (uint32_t i = 0; i < r->count; i++)
        for (uint64_t k = 0; run_devices_has(r, i) && k < replay_kernel_count(r->at[i].replay); k++) {
            const replay_kernel *kernel = replay_kernel_at(r->at[i].replay, k);
            char name[16];
            if (rows++ >= ROWS_MAX)
                continue;
            snprintf(name, sizeof name, "gpu%u", r->at[i].gpu->number);
            fprintf(to, "  %-7s %6" PRIu64 "  %-36.36s %12s %14s\n", name, kernel->number, kernel->name,
                    format_time(ls_clock_time(r->at[i].clock, kernel->begin), begin, sizeof begin),
                    format_count(kernel->end - kernel->begin, cycles, sizeof cycles));
        }
    if (rows > ROWS_MAX)
        fprintf(to, "          ... and %" PRIu64 " more; every kernel is in the files of --out\n",
                rows - ROWS_MAX);
}

static void print_collective(const run_devices *r, FILE *to)
{
    const devices_collective *c = &r->list->collective;
    char end[LS_FORMAT_BYTES], bytes[LS_FORMAT_BYTES];
    format_time(run_devices_end(r), end, sizeof end);
    if (c->name != NULL && c->bytes > 0)
        fprintf(to, "\n  %s of %s bytes on %u GPUs: %s, %.1f GB/s, bus bandwidth %.1f GB/s\n", c->name,
                format_count(c->bytes, bytes, sizeof bytes), r->count, end, bandwidth(r) * 1e-9,
                run_devices_bus_bandwidth(r) * 1e-9);
    else if (c->name != NULL)
        fprintf(to, "\n  %s: %" PRIu64 " loads, one after another\n", c->name, c->steps);
}

void run_devices_head(const run_devices *r, FILE *to)
{
    print_devices(r, to);
    print_collective(r, to);
    fputc('\n', to);
}

void run_devices_table(const run_devices *r, FILE *to)
{
    print_devices(r, to);
    print_kernels(r, to);
    print_collective(r, to);
    fputc('\n', to);
}
