/* models.c: see directory.h: the models of slot `migrate`, their keys, and the block of a directory with its counters and its
 * saved state. */
#include "model/migrate/directory.h"

#define TRY(call)                                                                                             \
    do {                                                                                                      \
        ls_status status_ = (call);                                                                           \
        if (status_ != LS_OK)                                                                                 \
            return status_;                                                                                   \
    } while (0)

#define PIECE_CREDITS 256u /* pieces of pages that wait for the host's memory */
#define SHOT_CREDITS 256u
#define FS_PER_NS UINT64_C(1000000)

static const char *const senders[] = { "lowest", "nearest", NULL };
const char *const ls_migrate_starts[] = { "home", "host", NULL };

/* ---------------------------------------------------------------------------------------------------- block */

static uint32_t log2_of(uint64_t value)
{
    return 63u - (uint32_t)__builtin_clzll(value);
}

static ls_status check_keys(const char *model, const ls_migrate_keys *s, ls_error *err)
{
    if (s->in_flight == 0 || s->asks == 0 || s->host_lines == 0 || s->fault_ns.den == 0 ||
        (s->splits ? s->smallest_kib == 0 || s->largest_kib == 0 : s->page_kib == 0))
        return ls_fail(err, LS_ERR_INPUT,
                       "model 'migrate/%s' leaves numbers of the directory 0 (see lockstep/migrate.h)", model);
    const uint64_t sizes[] = { s->page_kib, s->smallest_kib, s->largest_kib };
    const char *const names[] = { "page_kib", "smallest_kib", "largest_kib" };
    for (uint32_t i = 0; i < LS_COUNT_OF(sizes); i++)
        if (sizes[i] != 0 && (sizes[i] & (sizes[i] - 1)) != 0)
            return ls_fail(err, LS_ERR_INPUT, "migrate.%s is %llu, which is no power of 2", names[i],
                           (unsigned long long)sizes[i]);
    if (s->splits && s->smallest_kib > s->largest_kib)
        return ls_fail(err, LS_ERR_INPUT, "migrate.smallest_kib is %llu, but migrate.largest_kib is %llu",
                       (unsigned long long)s->smallest_kib, (unsigned long long)s->largest_kib);
    uint64_t largest = s->splits ? s->largest_kib : s->page_kib;
    if (s->capacity_mib != 0 && s->capacity_mib * 1024 < 4 * largest)
        return ls_fail(err, LS_ERR_INPUT, "migrate.capacity_mib is %llu: less than four pages of %llu KiB",
                       (unsigned long long)s->capacity_mib, (unsigned long long)largest);
    return LS_OK;
}

static ls_status init(ls_block *block, void *state, const void *spec, ls_error *err)
{
    directory *d = state;
    const dir_spec *given = spec;
    const ls_migrate_keys *s = d->spec = &given->keys;
    bool splits = s->splits;
    d->policy = given->ops;
    d->model_spec = given->model_spec;
    d->model = given->model;
    d->region = ls_block_region(block);
    d->tap = ls_block_tap(block);
    d->name = ls_block_name(block);
    d->unit_log2 = log2_of(splits ? s->smallest_kib : s->page_kib) + 10;
    d->largest_log2 = log2_of(splits ? s->largest_kib : s->page_kib) + 10;
    d->capacity = s->capacity_mib != 0 ? s->capacity_mib << 20 : UINT64_MAX / 2;
    const index_list none = INDEX_LIST_EMPTY;
    d->looking = d->faulting = d->granting = d->shooting = d->sending = d->accessing = d->pieces = d->waiting =
        none;
    d->free_asks = d->free_transactions = d->free_lines = INDEX_POOL_NEW;
    d->line_count = (uint32_t)s->host_lines + PIECE_CREDITS;
    ls_domain *domain = ls_region_domain(d->region);
    d->transactions = ls_domain_alloc(domain, s->in_flight * sizeof *d->transactions);
    d->lines = ls_domain_alloc(domain, d->line_count * sizeof *d->lines);
    dir_init_events(d);
    if (d->transactions == NULL || d->lines == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for '%s'", d->name);
    return LS_OK;
}

/* The host and its end of the fabric; questions of so many GPUs, and the driver's own. */
static ls_status join(directory *d, const host_part *host, uint32_t gpus, ls_error *err)
{
    d->host = host->host;
    d->end = host->end;
    d->gpus = gpus;
    d->line_bytes = host->line_bytes;
    ls_ratio ns = d->spec->fault_ns;
    ls_time fault_fs = ns.num / ns.den * FS_PER_NS + ns.num % ns.den * FS_PER_NS / ns.den;
    d->fault_cycles = (uint32_t)ls_clock_cycle_at(ls_region_clock(d->region), fault_fs);
    d->ask_count = (uint32_t)(gpus * d->spec->asks + d->spec->in_flight);
    d->asks = ls_domain_alloc(ls_region_domain(d->region), d->ask_count * sizeof *d->asks);
    if (d->asks == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for '%s'", d->name);
    return host_set_directory(host->host,
                              &(ls_host_directory){ .ops = &dir_host_ops,
                                                    .self = d,
                                                    .credits = { [LS_FABRIC_INVALIDATE] = SHOT_CREDITS,
                                                                 [LS_FABRIC_MIGRATE] = PIECE_CREDITS } },
                              err);
}

/* clang-format off */
static const ls_metric metrics[] = {
    LS_METRIC_COUNTER(dir_counters, asks, "walks", "page walks for managed pages"),
    LS_METRIC_COUNTER(dir_counters, grants, "grants", "translations granted"),
    LS_METRIC_COUNTER(dir_counters, remote_grants, "grants", "translations to the memory of another place"),
    LS_METRIC_COUNTER(dir_counters, counted, "messages", "pages whose remote accesses reached the threshold"),
    LS_METRIC_COUNTER(dir_counters, migrations, "pages", "pages that were sent to a new exclusive owner"),
    LS_METRIC_COUNTER(dir_counters, copies, "pages", "pages that were sent to one more reader"),
    LS_METRIC_COUNTER(dir_counters, upgrades, "pages", "pages that became exclusive where they were"),
    LS_METRIC_COUNTER(dir_counters, moved_bytes, "bytes", "of pages that were sent"),
    LS_METRIC_COUNTER(dir_counters, shootdowns, "messages", "orders to forget the translations of a page"),
    LS_METRIC_COUNTER(dir_counters, drops, "pages", "copies of shared pages that were given up"),
    LS_METRIC_COUNTER(dir_counters, splits, "pages", "pages split into halves"),
    LS_METRIC_COUNTER(dir_counters, merges, "pages", "neighbours merged into one page"),
    LS_METRIC_COUNTER(dir_counters, evictions, "pages", "pages that left a full GPU"),
    LS_METRIC_COUNTER(dir_counters, spills, "pages", "evicted pages that were sent to the host"),
    LS_METRIC_COUNTER(dir_counters, spilled_bytes, "bytes", "of evicted pages that were sent to the host"),
    LS_METRIC_COUNTER(dir_counters, refetches, "pages", "pages that came to a GPU that had held them before"),
    LS_METRIC_COUNTER(dir_counters, prefetches, "pages", "neighbours that moved along"),
    LS_METRIC_COUNTER(dir_counters, pinned, "pages", "pages that move no more"),
    LS_METRIC_COUNTER(dir_counters, far_faults, "walks", "walks that cost a far fault"),
    LS_METRIC_COUNTER(dir_counters, ask_cycles, "cycles", "from the arrival of walks to their grants, summed"),
    LS_METRIC_RATIO(dir_counters, "average_ask", ask_cycles, grants, "cycles", "of a walk for a managed page"),
    LS_METRIC_COUNTER(dir_counters, change_cycles, "cycles", "of transactions, summed"),
    LS_METRIC_COUNTER(dir_counters, waits, "pages", "pages that waited for a transaction or for room"),
    LS_METRIC_COUNTER(dir_counters, wait_cycles, "cycles", "that pages waited for a transaction or for room, summed"),
    LS_METRIC_COUNTER(dir_counters, lookups, "accesses", "entries of the directory read in the host's memory"),
    LS_METRIC_COUNTER(dir_counters, updates, "accesses", "entries of the directory written in the host's memory"),
    LS_METRIC_COUNTER(dir_counters, fabric_waits, "times", "a message found its link full"),
    LS_METRIC_PEAK(dir_counters, in_flight_peak, "pages", "most transactions at once"),
    LS_METRIC_PEAK(dir_counters, asks_peak, "walks", "most walks open at once"),
    LS_METRIC_PEAK(dir_counters, resident_peak, "bytes", "most managed memory on a GPU after a page was sent there"),
};
/* clang-format on */

static uint64_t range_room(const void *self)
{
    return ((const directory *)self)->range_room;
}

static uint64_t unit_room(const void *self)
{
    return ((const directory *)self)->unit_room;
}

static uint64_t seen_room(const void *self)
{
    return ((const directory *)self)->seen_room;
}

static uint64_t order_room(const void *self)
{
    return ((const directory *)self)->order_room;
}

static uint64_t ask_total(const void *self)
{
    return ((const directory *)self)->ask_count;
}

static uint64_t transaction_total(const void *self)
{
    return ((const directory *)self)->spec->in_flight;
}

static uint64_t line_total(const void *self)
{
    return ((const directory *)self)->line_count;
}

static const ls_state_row line_rows[] = {
    LS_STATE_LINK(dir_line, link),
    LS_STATE_DATA_SPAN(dir_line, ready, line),
};
/* Arrays that grow come before their lengths. */
static const ls_state_row rows[] = {
    LS_STATE_FIXED_SPAN(directory, spec, hops),
    LS_STATE_ARRAY(directory, ranges, range_room),
    LS_STATE_ARRAY(directory, pages, unit_room),
    LS_STATE_ARRAY(directory, sizes, unit_room),
    LS_STATE_ARRAY(directory, seen, seen_room),
    LS_STATE_ARRAY(directory, orders, order_room),
    LS_STATE_ARRAY(directory, asks, ask_total),
    LS_STATE_ARRAY(directory, transactions, transaction_total),
    LS_STATE_ARRAY_OF(directory, lines, line_total, line_rows),
    LS_STATE_DATA_SPAN(directory, n, reason),
    LS_STATE_EVENT(directory, look_event),
    LS_STATE_EVENT(directory, fault_event),
    LS_STATE_EVENT(directory, access_event),
    LS_STATE_EVENT(directory, order_event),
    LS_STATE_EVENT(directory, grant_ready),
    LS_STATE_EVENT(directory, shoot_ready),
    LS_STATE_EVENT(directory, piece_ready),
};

static const ls_block_type directory_type = {
    .abi = LS_ABI_VERSION,
    .slot = "migrate.directory",
    .name = "directory",
    .help = "directory of managed pages beside the host's IOMMU",
    .spec_size = sizeof(dir_spec),
    .state_size = sizeof(directory),
    .counters_offset = offsetof(directory, n),
    .metrics = metrics,
    .metric_count = LS_COUNT_OF(metrics),
    .init = init,
    .waits = dir_waits,
    .rows = rows,
    .row_count = LS_COUNT_OF(rows),
};

/* --------------------------------------------------------------------------------------------------- models */

ls_status ls_migrate_build(ls_engine *engine, const ls_block_type *model, const void *spec, uint32_t gpus,
                           ls_error *err)
{
    const host_part *host = ls_engine_part(engine, HOST_PART, 0);
    const ls_port_decl *port = ls_block_type_port(model, LS_MIGRATE_INTERFACE, false);
    dir_spec s = { .ops = port->ops, .model_spec = spec, .model = model->name };
    ls_block *block;
    if (host == NULL)
        return ls_fail(err, LS_ERR_INPUT, "pages migrate only in a system with a host");
    s.ops->keys(spec, &s.keys);
    TRY(check_keys(model->name, &s.keys, err));
    TRY(ls_block_create(ls_block_region(host->host), "migrate", &directory_type, &s, &block, err));
    TRY(join(ls_block_state(block), host, gpus, err));
    return ls_engine_add_part(engine, MIGRATE_PART, block, err);
}

/* The built-in models have the directory's numbers and no others. */
typedef struct model_spec {
    ls_migrate_keys keys;
} model_spec;

/* clang-format off */
#define MODEL_KEYS LS_MIGRATE_KEYS(model_spec, keys)
#define MODEL_PAGE_KEY LS_MIGRATE_PAGE_KEY(model_spec, keys)
#define SENDER                                                                                                \
    LS_PARAM_CHOICE(ls_migrate_keys, sender, "sender", "lowest", senders, "which of several readers sends the page: the GPU of the lowest number, or the nearest")

static const ls_param page_params[] = {
    MODEL_KEYS,
    MODEL_PAGE_KEY,
    LS_PARAM_UINT(ls_migrate_keys, threshold, "accesses", 1, 1, 65535, "remote accesses of a GPU after which it gets the page; 1: it never accesses it remotely"),
    LS_PARAM_UINT(ls_migrate_keys, pin, "moves", 0, 0, 65535, "moves after which a page stays and is accessed remotely; 0: never"),
    LS_PARAM_UINT(ls_migrate_keys, prefetch, "pages", 0, 0, 512, "pages that follow and move along"),
};
static const ls_param esi_params[] = {
    MODEL_KEYS,
    MODEL_PAGE_KEY,
    SENDER,
};
static const ls_param split_params[] = {
    MODEL_KEYS,
    SENDER,
    LS_PARAM_UINT(ls_migrate_keys, smallest_kib, "KiB", 1, 1, 2048, "smallest page"),
    LS_PARAM_UINT(ls_migrate_keys, largest_kib, "KiB", 2048, 1, 2048, "largest page"),
    LS_PARAM_BOOL(ls_migrate_keys, merge, true, "neighbours that belong to one place become one page again"),
};
/* clang-format on */

#define MODEL(name_, help_)                                                                                   \
    static const ls_port_decl name_##_ports[] = {                                                             \
        { .name = LS_MIGRATE_PORT, .interface = LS_MIGRATE_INTERFACE, .ops = &dir_##name_##_ops },            \
    };                                                                                                        \
    static const ls_block_type name_##_model = {                                                              \
        .abi = LS_ABI_VERSION,                                                                                \
        .slot = LS_MIGRATE_SLOT,                                                                              \
        .name = #name_,                                                                                       \
        .help = help_,                                                                                        \
        LS_BLOCK_PARAMS(model_spec, name_##_params),                                                          \
        .ports = name_##_ports,                                                                               \
        .port_count = LS_COUNT_OF(name_##_ports),                                                             \
    };                                                                                                        \
    LS_REGISTER_BLOCK(name_##_model)

MODEL(page, "a page lies at one place and moves to the GPU that accesses it");
MODEL(esi, "a page has one owner that may write, or several that may read");
MODEL(split, "as esi, with pages that are split when they leave their owner, and merged again");
