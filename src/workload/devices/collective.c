/* collective.c: collectives as programs of devices: "all-reduce,bytes=1048576". A step is a kernel that stores to other
 * devices (engine=store: 128 bytes per packet) or a copy (engine=copy: the copy engine's packets). Devices wait for each
 * other by signals. Device d has one array of its own, and all of them are memory of their device. */
#include "workload/devices/devices.h"

#include "workload/synth/kind.h"
#include "workload/synth/params.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FIRST_ARRAY 32u
#define RECEIVED (UINT64_C(1) << 31) /* second half of an array: data that has come and was not added yet */
#define BYTES_MAX 2147483648.0
#define UNIT 512u /* bytes of a warp: parts of an array are multiples */

enum { STORE, COPY };
static const char *const engine_names[] = { "store", "copy", NULL };
enum { FLAT, RING, TREE };
static const char *const algorithm_names[] = { "flat", "ring", "tree", NULL };
static const char *const direction_names[] = { "uni", "bi", NULL };

typedef struct collective_spec {
    synth_common common;
    uint64_t bytes, step_ns, ctas, block, unroll, pieces, accesses, from, to;
    uint32_t engine, algorithm, direction;
} collective_spec;

typedef struct maker {
    devices_list *list;
    const collective_spec *spec;
    const trace_options *options;
    uint32_t devices;
    uint64_t part; /* bytes of one of `devices` parts */
} maker;

/* clang-format off */
#define COMMON_PARAMS                                                                                         \
    LS_PARAM_UINT(collective_spec, bytes, "bytes", 8388608, 512, BYTES_MAX,                                   \
                  "of the whole array; rounded up to parts of 512 bytes"),                                    \
    LS_PARAM_CHOICE(collective_spec, engine, "engine", "store", engine_names,                                 \
                    "stores of kernels, or copy engines"),                                                    \
    LS_PARAM_UINT(collective_spec, step_ns, "ns", 1000, 0, 1000000, "software time before each step"),        \
    LS_PARAM_UINT(collective_spec, ctas, "blocks", 64, 1, 65536, "thread blocks of a kernel"),                \
    LS_PARAM_UINT(collective_spec, block, "threads", 512, 32, 1024, "threads of a block"),                    \
    LS_PARAM_UINT(collective_spec, unroll, "accesses", 4, 1, 8, "loads of a thread before it waits for one")
#define PAIR_PARAMS                                                                                           \
    LS_PARAM_UINT(collective_spec, from, "", 0, 0, 63, "device that begins"),                                 \
    LS_PARAM_UINT(collective_spec, to, "", 1, 0, 63, "the other device")

static const ls_param ring_params[] = { COMMON_PARAMS };
static const ls_param broadcast_params[] = {
    COMMON_PARAMS,
    LS_PARAM_CHOICE(collective_spec, algorithm, "algorithm", "ring", algorithm_names,
                    "from device 0 to each, from neighbour to neighbour, or by a binary tree"),
    LS_PARAM_UINT(collective_spec, pieces, "", 8, 1, 4096, "parts of the array that follow each other in a ring"),
};
static const ls_param bandwidth_params[] = {
    COMMON_PARAMS, PAIR_PARAMS,
    LS_PARAM_CHOICE(collective_spec, direction, "direction", "uni", direction_names, "one way, or both at once"),
};
static const ls_param latency_params[] = {
    LS_PARAM_UINT(collective_spec, accesses, "", 256, 1, 65536, "dependent loads from the other device, one after another"),
    LS_PARAM_UINT(collective_spec, step_ns, "ns", 0, 0, 1000000, "software time before the first"),
    PAIR_PARAMS,
};
/* clang-format on */

/* ------------------------------------------------------------------------------------------------ the pieces */

static uint64_t array_of(uint32_t device)
{
    return synth_array(FIRST_ARRAY + device);
}

static ls_status delay(maker *m, uint32_t device, ls_error *err)
{
    const device_command command = { .kind = DEVICE_DELAY, .cycles = m->spec->step_ns };
    return m->spec->step_ns == 0 ? LS_OK : devices_add(m->list, device, &command, 0, err);
}

static ls_status kernel(maker *m, uint32_t device, uint64_t from, uint64_t with, uint64_t to, uint64_t bytes,
                        ls_error *err)
{
    char text[320];
    const collective_spec *s = m->spec;
    bool is_first = m->list->at[device].traces.count == 0;
    snprintf(text, sizeof text,
             LS_SYNTH_PREFIX "peer-copy,bytes=%" PRIu64 ",from=0x%" PRIx64 ",with=0x%" PRIx64 ",to=0x%" PRIx64
                             ",ctas=%" PRIu64 ",block=%" PRIu64 ",unroll=%" PRIu64 ",binary_version=%u",
             bytes, from, with, to, s->ctas, s->block, s->unroll, synth_versions[s->common.binary_version]);
    return devices_add_trace(m->list, device, text, !is_first, 0, m->options, err);
}

/* Moves data of a device to another; with: is added on the way. */
static ls_status move(maker *m, uint32_t device, uint32_t to, uint64_t from_address, uint64_t with,
                      uint64_t to_address, uint64_t bytes, ls_error *err)
{
    if (m->spec->engine == STORE)
        return kernel(m, device, from_address, with, to_address, bytes, err);
    ls_status status = LS_OK;
    if (with != 0) /* a copy engine does not add: a kernel does that before, in the own memory */
        status = kernel(m, device, from_address, with, from_address, bytes, err);
    const device_command command = { .kind = DEVICE_COPY,
                                     .to = (uint16_t)to,
                                     .bytes = bytes,
                                     .from_address = from_address,
                                     .to_address = to_address };
    return status == LS_OK ? devices_add(m->list, device, &command, 0, err) : status;
}

/* Signals have the name of the device that waits for them. */
static ls_status signal_to(maker *m, uint32_t device, uint32_t to, ls_error *err)
{
    char name[32];
    device_command command = { .kind = DEVICE_SIGNAL };
    snprintf(name, sizeof name, "to%u", to);
    ls_status status = devices_signal(m->list, name, &command.number, err);
    return status == LS_OK ? devices_add(m->list, device, &command, 0, err) : status;
}

static ls_status wait(maker *m, uint32_t device, ls_error *err)
{
    char name[32];
    device_command command = { .kind = DEVICE_WAIT };
    snprintf(name, sizeof name, "to%u", device);
    ls_status status = devices_signal(m->list, name, &command.number, err);
    return status == LS_OK ? devices_add(m->list, device, &command, 0, err) : status;
}

/* A step: software, data, then the signal to the device that has them now. */
static ls_status step(maker *m, uint32_t device, uint32_t to, uint64_t from_address, uint64_t with,
                      uint64_t to_address, uint64_t bytes, ls_error *err)
{
    ls_status status = delay(m, device, err);
    if (status == LS_OK)
        status = move(m, device, to, from_address, with, to_address, bytes, err);
    return status == LS_OK ? signal_to(m, device, to, err) : status;
}

/* ----------------------------------------------------------------------------------------------------- rings */

/* The reducing half: in step s a device sends part d - s, with its own values added to those that have come. */
static ls_status reduce_steps(maker *m, uint32_t d, ls_error *err)
{
    uint32_t n = m->devices, next = (d + 1) % n;
    ls_status status = LS_OK;
    for (uint32_t s = 0; s + 1 < n && status == LS_OK; s++) {
        uint64_t at = (d + n - s) % n * m->part;
        uint64_t with = s == 0 ? 0 : array_of(d) + RECEIVED + at;
        status = step(m, d, next, array_of(d) + at, with, array_of(next) + RECEIVED + at, m->part, err);
        if (status == LS_OK)
            status = wait(m, d, err);
    }
    return status;
}

/* The gathering half: in step s a device passes part d + 1 - s on. reduced: its first one still has to be added. */
static ls_status gather_steps(maker *m, uint32_t d, bool reduced, ls_error *err)
{
    uint32_t n = m->devices, next = (d + 1) % n;
    ls_status status = LS_OK;
    for (uint32_t s = 0; s + 1 < n && status == LS_OK; s++) {
        uint64_t at = (d + 1 + n - s) % n * m->part;
        uint64_t with = s == 0 && reduced ? array_of(d) + RECEIVED + at : 0;
        status = step(m, d, next, array_of(d) + at, with, array_of(next) + at, m->part, err);
        if (status == LS_OK)
            status = wait(m, d, err);
    }
    return status;
}

static ls_status all_reduce(maker *m, ls_error *err)
{
    ls_status status = LS_OK;
    for (uint32_t d = 0; d < m->devices && status == LS_OK; d++) {
        status = reduce_steps(m, d, err);
        if (status == LS_OK)
            status = gather_steps(m, d, true, err);
    }
    return status;
}

static ls_status reduce_scatter(maker *m, ls_error *err)
{
    ls_status status = LS_OK;
    for (uint32_t d = 0; d < m->devices && status == LS_OK; d++)
        status = reduce_steps(m, d, err);
    return status;
}

static ls_status all_gather(maker *m, ls_error *err)
{
    ls_status status = LS_OK;
    for (uint32_t d = 0; d < m->devices && status == LS_OK; d++)
        status = gather_steps(m, d, false, err);
    return status;
}

/* ---------------------------------------------------------------------------------------------------- others */

/* In step s a device sends to the one s after it, so that each gets from one at a time. */
static ls_status all_to_all(maker *m, ls_error *err)
{
    uint32_t n = m->devices;
    ls_status status = LS_OK;
    for (uint32_t d = 0; d < n && status == LS_OK; d++) {
        for (uint32_t s = 1; s < n && status == LS_OK; s++) {
            uint32_t to = (d + s) % n;
            status = step(m, d, to, array_of(d) + to * m->part, 0, array_of(to) + RECEIVED + d * m->part,
                          m->part, err);
        }
        for (uint32_t s = 1; s < n && status == LS_OK; s++)
            status = wait(m, d, err);
    }
    return status;
}

static ls_status broadcast_flat(maker *m, ls_error *err)
{
    ls_status status = LS_OK;
    for (uint32_t to = 1; to < m->devices && status == LS_OK; to++) {
        status = step(m, 0, to, array_of(0), 0, array_of(to), m->part * m->devices, err);
        if (status == LS_OK)
            status = wait(m, to, err);
    }
    return status;
}

static ls_status broadcast_ring(maker *m, ls_error *err)
{
    uint64_t bytes = m->part * m->devices, piece = synth_ceil_div(bytes, m->spec->pieces * UNIT) * UNIT;
    ls_status status = LS_OK;
    for (uint32_t d = 0; d < m->devices && status == LS_OK; d++)
        for (uint64_t at = 0; at < bytes && status == LS_OK; at += piece) {
            if (d > 0)
                status = wait(m, d, err);
            if (status == LS_OK && d + 1 < m->devices)
                status = step(m, d, d + 1, array_of(d) + at, 0, array_of(d + 1) + at,
                              synth_min(piece, bytes - at), err);
        }
    return status;
}

/* In round k the devices below 2^k, which have the data, send to those 2^k after them. */
static ls_status broadcast_tree(maker *m, ls_error *err)
{
    ls_status status = LS_OK;
    for (uint32_t half = 1; half < m->devices && status == LS_OK; half *= 2)
        for (uint32_t d = 0; d < half && d + half < m->devices && status == LS_OK; d++) {
            status = step(m, d, d + half, array_of(d), 0, array_of(d + half), m->part * m->devices, err);
            if (status == LS_OK)
                status = wait(m, d + half, err);
        }
    return status;
}

static ls_status broadcast(maker *m, ls_error *err)
{
    return m->spec->algorithm == FLAT   ? broadcast_flat(m, err)
           : m->spec->algorithm == RING ? broadcast_ring(m, err)
                                        : broadcast_tree(m, err);
}

static ls_status check_pair(const maker *m, ls_error *err)
{
    const collective_spec *s = m->spec;
    uint64_t larger = s->from > s->to ? s->from : s->to;
    if (larger >= m->devices)
        return ls_fail(err, LS_ERR_USAGE,
                       "there is no device %" PRIu64 ": the platform has %u GPUs that run traces", larger,
                       m->devices);
    return s->from != s->to ? LS_OK
                            : ls_fail(err, LS_ERR_USAGE, "parameters 'from' and 'to' are the same device");
}

static ls_status peer_bandwidth(maker *m, ls_error *err)
{
    uint32_t ends[2] = { (uint32_t)m->spec->from, (uint32_t)m->spec->to };
    ls_status status = check_pair(m, err);
    for (uint32_t i = 0; i <= m->spec->direction && status == LS_OK; i++) {
        uint32_t d = ends[i], to = ends[1 - i];
        status = delay(m, d, err);
        if (status == LS_OK)
            status = move(m, d, to, array_of(d), 0, array_of(to) + RECEIVED, m->part * m->devices, err);
    }
    return status;
}

/* A chain of loads from the array of the other device. */
static ls_status peer_latency(maker *m, ls_error *err)
{
    char text[160];
    uint32_t d = (uint32_t)m->spec->from;
    ls_status status = check_pair(m, err);
    if (status == LS_OK)
        status = delay(m, d, err);
    if (status != LS_OK)
        return status;
    /* The generator's array 0 is memory of the other device. */
    if (!vec_push(&m->list->ranges,
                  ((devices_range){ synth_array(0), synth_array(1), (uint32_t)m->spec->to })))
        return devices_no_memory(err);
    uint64_t footprint_kib = synth_ceil_div(m->spec->accesses * SYNTH_LINE, 1024); /* no line twice */
    snprintf(text, sizeof text,
             LS_SYNTH_PREFIX "pointer-chase,loads=%" PRIu64 ",footprint_kib=%" PRIu64
                             ",order=forward,binary_version=%u",
             m->spec->accesses, footprint_kib, synth_versions[m->spec->common.binary_version]);
    return devices_add_trace(m->list, d, text, false, 0, m->options, err);
}

/* ----------------------------------------------------------------------------------------------------- table */

enum { BUS_REDUCE, BUS_PARTS, BUS_ONE, BUS_DIRECTIONS };

static const struct {
    synth_kind kind; /* its name and parameters */
    int bus;
    ls_status (*make)(maker *m, ls_error *err);
} collectives[] = {
#define PARAMS(params_)                                                                                       \
    .spec_size = sizeof(collective_spec), .params = (params_), .param_count = LS_COUNT_OF(params_)
    { { .name = "all-reduce", .help = "ring all-reduce of all devices", PARAMS(ring_params) },
      BUS_REDUCE,
      all_reduce },
    { { .name = "reduce-scatter", .help = "ring reduce-scatter", PARAMS(ring_params) },
      BUS_PARTS,
      reduce_scatter },
    { { .name = "all-gather", .help = "ring all-gather", PARAMS(ring_params) }, BUS_PARTS, all_gather },
    { { .name = "all-to-all", .help = "each device sends a part to each other", PARAMS(ring_params) },
      BUS_PARTS,
      all_to_all },
    { { .name = "broadcast", .help = "from device 0 to all others", PARAMS(broadcast_params) },
      BUS_ONE,
      broadcast },
    { { .name = "peer-bandwidth", .help = "one device writes to another", PARAMS(bandwidth_params) },
      BUS_DIRECTIONS,
      peer_bandwidth },
    { { .name = "peer-latency", .help = "dependent loads from another device", PARAMS(latency_params) },
      BUS_ONE,
      peer_latency },
};

size_t collective_count(void)
{
    return LS_COUNT_OF(collectives);
}

const char *collective_name(size_t i)
{
    return collectives[i].kind.name;
}

const char *collective_help(size_t i)
{
    return collectives[i].kind.help;
}

static size_t find(const char *text)
{
    size_t bytes = strcspn(text, ","), i = 0;
    while (i < LS_COUNT_OF(collectives) &&
           (strlen(collectives[i].kind.name) != bytes || strncmp(collectives[i].kind.name, text, bytes) != 0))
        i++;
    return i;
}

bool collective_is(const char *text)
{
    return find(text) < LS_COUNT_OF(collectives);
}

static double bus_factor(int bus, const maker *m)
{
    double n = m->devices;
    return bus == BUS_REDUCE       ? 2 * (n - 1) / n
           : bus == BUS_PARTS      ? (n - 1) / n
           : bus == BUS_DIRECTIONS ? 1.0 + m->spec->direction
                                   : 1;
}

ls_status collective_make(devices_list *list, const char *text, const trace_options *options, ls_error *err)
{
    size_t i = find(text);
    const char *comma = strchr(text, ',');
    collective_spec *spec = arena_alloc(&list->arena, sizeof *spec);
    if (spec == NULL)
        return devices_no_memory(err);
    *spec = (collective_spec){ 0 };
    ls_status status = synth_params_read(&collectives[i].kind, comma != NULL ? comma + 1 : NULL, spec, err);
    if (status != LS_OK)
        return status;
    if (list->count < 2)
        return ls_fail(err, LS_ERR_USAGE, "'%s' needs at least two GPUs that run traces, the platform has %u",
                       collectives[i].kind.name, list->count);
    if (FIRST_ARRAY + list->count > 126)
        return ls_fail(err, LS_ERR_UNSUPPORTED, "'%s' is for up to %u GPUs", collectives[i].kind.name,
                       126 - FIRST_ARRAY);
    maker m = { .list = list,
                .spec = spec,
                .options = options,
                .devices = list->count,
                .part = synth_ceil_div(spec->bytes, (uint64_t)list->count * UNIT) * UNIT };
    list->owners = DEVICES_RANGES;
    status = collectives[i].make(&m, err);
    for (uint32_t d = 0; d < list->count && status == LS_OK; d++)
        if (!vec_push(&list->ranges, ((devices_range){ array_of(d), array_of(d) + (UINT64_C(1) << 32), d })))
            status = devices_no_memory(err);
    list->collective = (devices_collective){ .name = collectives[i].kind.name,
                                             .bytes = spec->accesses > 0 ? 0 : m.part * m.devices,
                                             .factor = bus_factor(collectives[i].bus, &m),
                                             .steps = spec->accesses };
    return status;
}
