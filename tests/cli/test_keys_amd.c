/* Every key of AMD platforms acts, is refused or is warned about by name: GCN, RDNA 1 (an L1 per shader array) and
 * RDNA 2 (a cache in front of each memory channel). The machines are small, so that a run takes milliseconds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "cli/keys.h"
#include "runtime/timing/timing.h"

#define PLATFORM(name_) LS_SOURCE_DIR "/platforms/" name_ ".yaml"
#define WORDS 16384u
#define STAGES 4u
#define QUEUES 3u

typedef struct machine {
    const char *platform, *target;
    const char *const *sets;
    size_t set_count;
} machine;

typedef struct program {
    ls_gpu_system *system;
    ls_gpu_context *context;
    ls_gpu_kernel *mix, *flood;
    ls_gpu_queue *queues[QUEUES];
    ls_gpu_address data[QUEUES], table, counters;
} program;

#define TRY(call_)                                                                                            \
    do {                                                                                                      \
        ls_status status_ = (call_);                                                                          \
        if (status_ != LS_OK)                                                                                 \
            return status_;                                                                                   \
    } while (0)

static ls_status open_program(program *p, const char *target, ls_error *err)
{
    char path[512];
    ls_gpu_module *module;
    snprintf(path, sizeof path, LS_BINARY_DIR "/tests/kernels/%s-v5/keys.co", target);
    TRY(ls_gpu_context_create(p->system, &p->context, err));
    TRY(ls_gpu_module_load_file(p->context, path, &module, err));
    TRY(ls_gpu_module_find(module, "mix", &p->mix, err));
    TRY(ls_gpu_module_find(module, "flood", &p->flood, err));
    for (size_t i = 0; i < QUEUES; i++) {
        TRY(ls_gpu_queue_create(p->context, &p->queues[i], err));
        TRY(ls_gpu_alloc_zeroed(p->context, WORDS * sizeof(uint32_t), &p->data[i], err));
    }
    TRY(ls_gpu_alloc_zeroed(p->context, WORDS * sizeof(uint32_t), &p->table, err));
    return ls_gpu_alloc_zeroed(p->context, 1024, &p->counters, err);
}

static ls_status launch_mix(program *p, size_t queue, uint32_t groups, uint32_t size, uint32_t rounds,
                            ls_error *err)
{
    uint32_t words = WORDS;
    ls_gpu_arg args[] = { LS_GPU_ARG(p->data[queue]), LS_GPU_ARG(p->table),    LS_GPU_ARG(words),
                          LS_GPU_ARG(rounds),         LS_GPU_ARG(p->counters), LS_GPU_LOCAL(size * 4) };
    ls_gpu_launch l = { .grid = { groups * size }, .group = { size }, .args = args, .arg_count = 6 };
    return ls_gpu_queue_launch(p->queues[queue], p->mix, &l, NULL, err);
}

static ls_status launch_flood(program *p, size_t queue, uint32_t items, uint32_t stride, ls_error *err)
{
    uint32_t words = WORDS;
    ls_gpu_arg args[] = { LS_GPU_ARG(p->data[0]), LS_GPU_ARG(p->data[1]), LS_GPU_ARG(words),
                          LS_GPU_ARG(stride) };
    ls_gpu_launch l = { .grid = { items }, .group = { 64 }, .args = args, .arg_count = 4 };
    return ls_gpu_queue_launch(p->queues[queue], p->flood, &l, NULL, err);
}

/* Later stages are for keys that the ones before do not feel. */
static ls_status run_stage(program *p, unsigned stage, ls_error *err)
{
    static const uint32_t host[WORDS]; /* zeros: the path of programs may depend on data */
    static uint32_t back[WORDS];
    const uint32_t pattern = 0x01020304;
    switch (stage) {
    case 0: /* copies of each kind, one small launch */
        TRY(ls_gpu_copy_in(p->context, p->data[0], host, 8192, err));
        TRY(ls_gpu_copy(p->context, p->data[1], p->data[0], 4096, err));
        TRY(ls_gpu_fill(p->context, p->data[2], &pattern, sizeof pattern, 4096, err));
        TRY(launch_mix(p, 0, 2, 128, 2, err));
        TRY(ls_gpu_sync(p->context, err));
        return ls_gpu_copy_out(p->context, back, p->data[0], 4096, err);
    case 1: /* kernels side by side, more of them than can run at once */
        for (size_t i = 0; i < QUEUES; i++)
            TRY(launch_mix(p, i, 4, 128, 2, err));
        return ls_gpu_sync(p->context, err);
    case 2: /* many lines at once; groups of one wave and of many */
        TRY(launch_flood(p, 0, 1024, 37, err));
        TRY(launch_mix(p, 0, 12, 64, 1, err));
        TRY(launch_mix(p, 1, 2, 256, 2, err));
        return ls_gpu_sync(p->context, err);
    default: /* the same again, and longer */
        TRY(launch_flood(p, 0, 2048, 1, err));
        TRY(launch_flood(p, 0, 2048, 64, err));
        TRY(launch_mix(p, 0, 10, 256, 2, err));
        TRY(ls_gpu_sync(p->context, err));
        TRY(ls_gpu_copy_in(p->context, p->data[0], host, sizeof host, err));
        /* A copy and a kernel that read the same lines at the same time. */
        TRY(ls_gpu_queue_copy_out(p->queues[1], back, p->data[0], sizeof back, NULL, err));
        TRY(launch_flood(p, 0, 1024, 1, err));
        TRY(ls_gpu_sync(p->context, err));
        /* Lines of the source lie across lines of the destination: each is read twice. */
        return ls_gpu_copy(p->context, p->data[1] + 36, p->table + 12, 8192, err);
    }
}

/* The GPU's properties that programs can query are a result too. */
static uint64_t digest_of(const program *p)
{
    const ls_gpu_model *gpu = ls_gpu_system_gpu(p->system, 0);
    uint64_t used, total, hash = keys_digest(timing_engine(p->system), timing_result(p->system).end_time);
    ls_gpu_system_memory(p->system, 0, &used, &total);
    hash = keys_mix(hash, total);
    hash = keys_mix(hash, gpu->compute_units);
    hash = keys_mix(hash, gpu->lds_bytes);
    return keys_mix(hash, gpu->clock_mhz);
}

/* Runs stages until one differs from `base`; with base NULL all of them, into `out`. */
static keys_outcome simulate(const machine *m, const char *set, const char *key, const uint64_t *base,
                             uint64_t *out)
{
    const char *sets[64];
    ls_error err = { 0 };
    program p = { 0 };
    keys_outcome outcome = { .refused = true };
    memcpy(sets, m->sets, m->set_count * sizeof *sets);
    sets[m->set_count] = set;
    ls_gpu_options options = { .platform = m->platform,
                               .sets = sets,
                               .set_count = m->set_count + (set != NULL),
                               .threads = 1,
                               .max_instructions = 200000 };
    ls_status status = ls_gpu_system_create(&options, &p.system, &err);
    if (status == LS_OK && key && keys_warned(timing_engine(p.system), key)) {
        outcome = (keys_outcome){ .warned = true };
    } else if (status == LS_OK) {
        timing_set_options(p.system,
                           &(ls_run_options){ .threads = 1, .watchdog_fs = LS_FS_PER_SECOND / 1000 });
        status = open_program(&p, ls_gpu_system_gpu(p.system, 0)->target, &err);
        bool differs = false;
        for (unsigned i = 0; i < STAGES && status == LS_OK && !differs; i++) {
            status = run_stage(&p, i, &err);
            if (status != LS_OK)
                break;
            outcome.digest = digest_of(&p);
            if (out)
                out[i] = outcome.digest;
            differs = base && base[i] != outcome.digest;
        }
        outcome.refused = status != LS_OK;
    }
    if (status != LS_OK && key == NULL)
        fail_msg("%s: %s", m->platform, err.what);
    outcome.named = status != LS_OK && keys_is_named(err.what, key);
    ls_gpu_context_destroy(p.context);
    ls_gpu_system_destroy(p.system);
    return outcome;
}

/* Some of the patterns, separated by '|', is of the key. */
static bool matches(const char *patterns, const char *key)
{
    char list[256];
    snprintf(list, sizeof list, "%s", patterns);
    char *rest = list;
    for (char *one; (one = strsep(&rest, "|")) != NULL;)
        if (glob_match(one, key))
            return true;
    return false;
}

/* The keys that match `only` and not `skip`. Returns how many there were. */
static size_t check_keys(const machine *m, const char *only, const char *skip)
{
    char path[512];
    snprintf(path, sizeof path, LS_BINARY_DIR "/tests/kernels/%s-v5/keys.co", m->target);
    if (!file_exists(path)) {
        print_message("no compiled kernels: clang-15, lld-15 or rocm-device-libs is missing\n");
        skip();
    }
    platform_config *config;
    ls_error err = { 0 };
    config_request request = { .platform = m->platform, .sets = m->sets, .set_count = m->set_count };
    uint64_t base[STAGES];
    size_t dead = 0, seen = 0;
    if (config_load(&request, &config, NULL, &err) != LS_OK)
        fail_msg("%s", err.what);
    simulate(m, NULL, NULL, NULL, base);
    uint64_t again[STAGES]; /* a digest that changes by itself would hide everything */
    simulate(m, NULL, NULL, NULL, again);
    assert_memory_equal(again, base, sizeof base);
    for (size_t i = 0; i < config_value_count(config); i++) {
        const config_value *value = config_at(config, i);
        const char *key = value->key->path;
        if (!matches(only, key) || matches(skip, key))
            continue;
        seen++;
        keys_values others = keys_others(value);
        bool acts = others.count == 0, tried = false, named = others.count > 0; /* acts: a choice of one */
        for (size_t k = 0; k < others.count && !acts; k++) {
            char set[256];
            snprintf(set, sizeof set, "%s=%s", key, others.at[k]);
            keys_outcome now = simulate(m, set, key, base, NULL);
            named = named && now.refused && now.named;
            if (now.refused)
                continue;
            tried = true;
            acts = now.warned || now.digest != base[STAGES - 1];
        }
        if (!acts && !named) { /* named: every other value is refused, with its reason */
            dead++;
            fprintf(stderr, "  %s has no effect and no warning%s\n", key,
                    tried ? "" : " (every value was refused)");
        }
    }
    config_destroy(config);
    assert_int_equal(dead, 0);
    return seen;
}

#define SMALL                                                                                                 \
    "clusters=2", "memory.channels=2", "memory.size_mib=64", "command.dispatchers=2",                         \
        "vector_cache.size_kib=2", "scalar_cache.size_kib=1", "instruction_cache.size_kib=1",                 \
        "l2.size_kib=8", "mmu.entries=4", "mmu.ways=2"

/* command.event_cycles is for programs that measure between two events, which these do not. */
#define MEASURED "command.event_cycles"

/* A GPU with `sets`; returns how many keys were tried. */
#define CHECK(platform_, target_, sets_, only_, skip_)                                                        \
    check_keys(&(machine){ PLATFORM(platform_), (target_), (sets_), LS_COUNT_OF(sets_) }, (only_), (skip_))

static void test_gcn(void **state)
{
    (void)state;
    static const char *const sets[] = { SMALL, "cus_per_cluster=1", "tlb.entries=4", "tlb.ways=2" };
    static const char *const few_sgprs[] = { SMALL, "cus_per_cluster=1", "cu.sgprs=200" };
    assert_true(CHECK("r9nano", "gfx803", sets, "*", "cu.sgprs|" MEASURED) > 200);
    assert_int_equal(CHECK("r9nano", "gfx803", few_sgprs, "cu.sgprs|cu.sgpr_unit", ""), 2);
}

/* Its DRAM is the same block as that of RDNA 2; few scalar loads are in flight at once, other than with GCN. */
static void test_rdna(void **state)
{
    (void)state;
    static const char *const sets[] = { SMALL, "arrays=1", "l1.size_kib=4", "memory_cache.line_bytes=128",
                                        "cu.vgpr_rows=256" };
    assert_true(CHECK("rx5500xt", "gfx1010", sets, "*", "dram.*|scalar_cache.queue_entries|" MEASURED) > 180);
}

static void test_rdna2(void **state)
{
    (void)state;
    static const char *const sets[] = { SMALL, "arrays=1", "l1.size_kib=4", "memory_cache.size_kib=16",
                                        "cu.vgpr_rows=256" };
    /* A memory cache that sends writes on. L2 requests a line once, so mshr_targets affects no small
     * program. Few fetches are in flight at once: the queue of the instruction cache acts above. */
    static const char *const through[] = { SMALL, "arrays=1", "memory_cache.size_kib=4",
                                           "memory_cache.write_policy=through" };
    assert_true(
        CHECK(
            "rx6900xt", "gfx1030", sets, "*",
            "memory_cache.mshr_targets|scalar_cache.queue_entries|instruction_cache.queue_entries|" MEASURED) >
        220);
    assert_int_equal(CHECK("rx6900xt", "gfx1030", through, "memory_cache.pending", ""), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gcn),
        cmocka_unit_test(test_rdna),
        cmocka_unit_test(test_rdna2),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
