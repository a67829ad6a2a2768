/* Every key of NVIDIA platforms acts or is warned about by name. Platforms share one schema (that of machine gpu
 * and its models), so one of them stands for all; keys of other models are reached by choosing these. Keys that depend on
 * a platform's own numbers are also tried on a100 and h100. `cli_test_keys FILE.yaml` runs everything on another one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/keys.h"
#include "platform/machine.h"
#include "runtime/replay.h"

#include <stdlib.h>
#include <unistd.h>

#define PLATFORM(name_) LS_SOURCE_DIR "/platforms/" name_ ".yaml"

static const char *platform = PLATFORM("rtx3070");

/* A small GPU for most tests. */
#define SMALL                                                                                                 \
    "cores=2", "dispatch.launch_latency_cycles=200", "core.cold_start_cycles=20", "memory.channels=2",        \
        "l2.sets=16", "l2.ways=4"

/* One instruction of each class, twice in sequence through a register, and twice more for the unit. */
static const char *const class_ops[] = {
    "FADD",
    "HADD2",
    "HMUL2",
    "DADD",
    "IADD3",
    "IMAD",
    "POPC",
    "I2F",
    "MOV",
    "PLOP3",
    "SHFL",
    "VOTE",
    "S2R",
    "LDC",
    "MUFU",
    "HMMA.16816.F32",
    "IMMA.16832.S8.S8",
    "BMMA.88128",
    "DMMA.884",
    "HGMMA.64x64x16.F32",
    "HMMA.16816.F16",
    "HMMA.16816.F32.BF16",
    "HMMA.1688.F32.TF32",
    "IMMA.16864.S4.S4",
    "QGMMA.64x64x32.F32",
    "QGMMA.64x64x32.F16",
    "BGMMA.64x64x256", /* without a rate on every platform: it takes the time of its class */
    "UIADD3",
    "BRA",
    "TEX",
    "SULD",
    "BAR.SYNC",
    "MEMBAR.SC.GPU",
    "DEPBAR",
    "CCTL",
    "NOP",
};

static char trace_path[512]; /* a directory: the same kernel in two streams */

static void write_kernel(int number)
{
    char path[600];
    snprintf(path, sizeof path, "%s/kernel-%d.traceg", trace_path, number);
    FILE *to = fopen(path, "w");
    assert_non_null(to);
    fprintf(
        to,
        "-kernel name = classes\n-kernel id = %d\n-grid dim = (2,1,1)\n-block dim = (64,1,1)\n-shmem = 1024\n"
        "-nregs = 32\n-binary version = 90\n-cuda stream id = %d\n-shmem base_addr = 0x00007f8000000000\n"
        "-local mem base_addr = 0x00007f7ffe000000\n-nvbit version = 1.7\n-accelsim tracer version = 5\n"
        "-enable lineinfo = 0\n\n",
        number, number);
    for (int block = 0; block < 2; block++) {
        fprintf(to, "#BEGIN_TB\n\nthread block = %d,0,0\n\n", block);
        for (int warp = 0; warp < 2; warp++) {
            fprintf(to, "warp = %d\ninsts = %zu\n", warp, 4 * LS_COUNT_OF(class_ops) + 2);
            unsigned pc = 0;
            for (size_t i = 0; i < LS_COUNT_OF(class_ops); i++)
                for (int k = 0; k < 4; k++, pc += 16)
                    fprintf(to, "%04x ffffffff 1 R%d %s 1 R%d 0 0\n", pc, k < 2 ? 4 : 4 + k, class_ops[i],
                            k < 2 ? 4 : 20);
            /* Two lanes whose first words are in different banks, and of whose other words two are in one. */
            fprintf(to, "%04x 00000003 1 R8 LDS.128 1 R4 16 0 0x7f8000000000 0x7f8000000074 0\n", pc);
            fprintf(to, "%04x ffffffff 0 EXIT 0 0 0\n\n", pc + 16);
        }
        fprintf(to, "#END_TB\n\n");
    }
    fclose(to);
}

static void write_trace(void)
{
    char path[600];
    const char *place = getenv("TMPDIR");
    snprintf(trace_path, sizeof trace_path, "%s/lockstep-keys-XXXXXX", place != NULL ? place : P_tmpdir);
    assert_non_null(mkdtemp(trace_path));
    snprintf(path, sizeof path, "%s/kernelslist.g", trace_path);
    FILE *to = fopen(path, "w");
    assert_non_null(to);
    fputs("kernel-1.traceg\nkernel-2.traceg\n", to);
    fclose(to);
    write_kernel(1);
    write_kernel(2);
}

static void remove_trace(void)
{
    static const char *const files[] = { "kernelslist.g", "kernel-1.traceg", "kernel-2.traceg" };
    char path[600];
    for (size_t i = 0; i < LS_COUNT_OF(files); i++) {
        snprintf(path, sizeof path, "%s/%s", trace_path, files[i]);
        unlink(path);
    }
    rmdir(trace_path);
}

static const char *const workloads[] = {
    "synth:stencil,nx=64,ny=8",
    "CLASSES",
    "synth:gather,n=1024,table_kib=64",
    "synth:throughput,op=LDC,count=128,warps=2",
    "synth:reduction,n=1024",
    "synth:atomics,ctas=4",
    "synth:shared-conflict,width_bytes=16,stride_bytes=16,count=16",
    "synth:gemm-tensor,m=128,n=128,k=32",
    "synth:bandwidth,mode=copy,footprint_kib=64,ctas=8",
    "synth:throughput,op=LDG_DRAM,count=32,warps=8,ctas=4",
    "synth:gather,n=16384,table_kib=192",
    "synth:gemm,m=128,n=64,k=512", /* what shared memory leaves of a large L1 matters */
};

/* For keys of clusters, mbarriers and bulk copies. */
static const char *const hopper_workloads[] = {
    "synth:gemm-hopper,m=256,n=256,k=256,cluster_m=2",
    "synth:cluster-chase,blocks=4,rank=2",
    "synth:bulk-copy",
};

static const char *const *tried_workloads = workloads;
static size_t tried_count = LS_COUNT_OF(workloads);

static keys_outcome simulate(const char *const *sets, size_t set_count, const char *workload, const char *key)
{
    platform_config *config = NULL;
    ls_machine *machine = NULL;
    sass_trace *trace = NULL;
    trace_replay *replay = NULL;
    ls_error err = { 0 };
    keys_outcome out = { .refused = true };
    config_request request = { .platform = platform, .sets = sets, .set_count = set_count };
    const ls_run_options options = { .threads = 1, .watchdog_fs = LS_FS_PER_SECOND / 10000 };
    ls_run_result result;
    ls_status status = config_load(&request, &config, NULL, &err);
    if (status == LS_OK)
        status = machine_create(config, 1, &machine, &err);
    if (status == LS_OK && key && keys_warned(ls_machine_engine(machine), key))
        out = (keys_outcome){ .warned = true };
    else if (status == LS_OK) {
        const trace_options open = { .drop_values = true };
        const char *path = strcmp(workload, "CLASSES") == 0 ? trace_path : workload;
        status = trace_open(path, &open, &trace, &err);
        if (status != LS_OK)
            fail_msg("%s: %s", workload, err.what);
        status = replay_create(ls_machine_engine(machine), trace, NULL, &replay, &err);
        if (status == LS_OK)
            status = replay_run(replay, &options, &result, &err);
        if (status == LS_OK)
            out = (keys_outcome){ .digest = keys_digest(ls_machine_engine(machine), result.end_time) };
    }
    if (status != LS_OK && key == NULL)
        fail_msg("%s: %s", workload, err.what);
    out.named = status != LS_OK && keys_is_named(err.what, key);
    replay_destroy(replay);
    trace_close(trace);
    machine_destroy(machine);
    config_destroy(config);
    return out;
}

/* Whether some of the patterns, separated by '|', is of the key. */
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

/* Keys of a platform with `sets` that match. Returns how many there were. */
static size_t check_keys(const char *const *sets, size_t set_count, const char *only, const char *skip)
{
    platform_config *config;
    ls_error err = { 0 };
    config_request request = { .platform = platform, .sets = sets, .set_count = set_count };
    uint64_t base[LS_COUNT_OF(workloads)];
    bool known[LS_COUNT_OF(workloads)] = { false };
    size_t dead = 0, seen = 0;
    if (config_load(&request, &config, NULL, &err) != LS_OK)
        fail_msg("%s", err.what);
    assert_true(tried_count <= LS_COUNT_OF(workloads));
    for (size_t i = 0; i < config_value_count(config); i++) {
        const config_value *value = config_at(config, i);
        const char *path = value->key->path, *own[64];
        if (!matches(only, path) || (skip && matches(skip, path)))
            continue;
        seen++;
        keys_values others = keys_others(value);
        bool acts = others.count == 0, tried = false, named = others.count > 0; /* acts: a choice of one */
        for (size_t w = 0; w < tried_count && !acts; w++)
            for (size_t k = 0; k < others.count && !acts; k++) {
                char set[256];
                memcpy(own, sets, set_count * sizeof *sets);
                snprintf(set, sizeof set, "%s=%s", path, others.at[k]);
                own[set_count] = set;
                keys_outcome now = simulate(own, set_count + 1, tried_workloads[w], path);
                named = named && now.refused && now.named;
                if (now.refused)
                    continue;
                tried = true;
                if (!known[w] && !now.warned) {
                    base[w] = simulate(sets, set_count, tried_workloads[w], NULL).digest;
                    known[w] = true;
                }
                acts = now.warned || now.digest != base[w];
            }
        if (!acts && !named) { /* named: every other value is refused, with its reason */
            dead++;
            fprintf(stderr, "  %s has no effect and no warning%s\n", path,
                    tried ? "" : " (every value was refused)");
        }
    }
    config_destroy(config);
    assert_int_equal(dead, 0);
    return seen;
}

/* They matter to lists with more streams and launches than these: tests/runtime/test_streams.c. */
#define STREAMS "dispatch.window|dispatch.priority_streams"
/* They matter to kernels of Hopper: test_hopper. Without core.async such kernels are refused (e2e/test_hopper.sh). */
#define HOPPER "cluster.gpcs|core.async"

static void test_detailed(void **state)
{
    (void)state;
    static const char *const sets[] = { SMALL };
    assert_true(check_keys(sets, LS_COUNT_OF(sets), "*",
                           "core.l1.*|l2.fill_queue|dram.return_entries|" HOPPER "|" STREAMS) > 200);
}

/* Fast memory in front of slow slices: answers wait. */
static void test_fills(void **state)
{
    (void)state;
    static const char *const sets[] = { SMALL, "clock.dram_mhz=9000", "clock.l2_mhz=150", "l2.fill_queue=1",
                                        "dram.return_entries=1" };
    assert_int_equal(check_keys(sets, LS_COUNT_OF(sets), "l2.fill_queue|dram.return_entries", NULL), 2);
}

static void test_options(void **state)
{
    (void)state;
    static const char *const sets[] = { SMALL,
                                        "core.fetch=cycle",
                                        "core.constant=cycle",
                                        "core.translation=cycle",
                                        "core.icache.l0_bytes=512",
                                        "core.icache.l0_ways=2",
                                        "core.icache.l1_bytes=1024",
                                        "core.icache.l1_ways=1",
                                        "core.icache.miss_entries=2",
                                        "core.icache.prefetch_lines=1",
                                        "core.ccache.l1_bytes=128",
                                        "core.ccache.l1_ways=1",
                                        "core.ccache.l15_bytes=256",
                                        "core.ccache.l15_ways=2",
                                        "core.ccache.miss_entries=1",
                                        "core.tlb.entries=4",
                                        "core.tlb.ways=2",
                                        "core.tlb.page_kib=4",
                                        "core.tlb.l2_entries=8",
                                        "core.tlb.l2_ways=2",
                                        "core.tlb.miss_entries=2",
                                        "core.tlb.waiting=2",
                                        "core.tlb.walkers=1" };
    /* Those of caches that only a program which comes back to its code can feel: tests/runtime/test_options.c. */
    assert_true(check_keys(sets, LS_COUNT_OF(sets), "core.icache.*|core.ccache.*|core.tlb.*",
                           "core.icache.l1_ways|core.ccache.l1_*|core.ccache.l15_bytes|core.ccache.l15_ways") >
                20);
}

static void test_fixed_dram(void **state)
{
    (void)state;
    static const char *const sets[] = { SMALL, "dram.model=fixed" };
    assert_true(check_keys(sets, LS_COUNT_OF(sets), "dram.*", NULL) >= 4);
}

static void test_two_level_scheduler(void **state)
{
    (void)state;
    static const char *const sets[] = { SMALL, "core.scheduler=two-level" };
    assert_true(check_keys(sets, LS_COUNT_OF(sets), "core.scheduler.*", NULL) >= 2);
}

/* Memory by formula: nothing below the cores runs. */
static void test_analytic(void **state)
{
    (void)state;
    static const char *const sets[] = { SMALL, "core.alu=issue", "core.memory=analytic" };
    assert_true(check_keys(sets, LS_COUNT_OF(sets), "*",
                           "core.l1.*|core.class.*|dispatch.spread|" HOPPER "|" STREAMS) > 100);
}

static void test_l1(void **state)
{
    (void)state;
    static const char *const sets[] = { SMALL, "core.unified_kib=0", "core.l1.sets=4", "core.l1.ways=8" };
    assert_true(check_keys(sets, LS_COUNT_OF(sets), "core.l1.*", "core.l1.size_kib") > 10);
    static const char *const small[] = { SMALL };
    assert_int_equal(check_keys(small, LS_COUNT_OF(small), "core.l1.size_kib", NULL), 1);
}

static void check_own(const char *name)
{
    static const char *const sets[] = { SMALL };
    const char *before = platform;
    platform = name;
    assert_true(check_keys(sets, LS_COUNT_OF(sets), "dispatch.*|core.tensor.*|core.class.tensor_*", STREAMS) >
                20);
    platform = before;
}

static void test_a100(void **state)
{
    (void)state;
    check_own(PLATFORM("a100"));
}

static void test_h100(void **state)
{
    (void)state;
    check_own(PLATFORM("h100"));
}

static void test_hopper(void **state)
{
    (void)state;
    static const char *const sets[] = { "cores=8", "cluster.gpcs=2", "dispatch.launch_latency_cycles=200",
                                        "core.cold_start_cycles=20" };
    const char *before = platform;
    platform = PLATFORM("h100");
    tried_workloads = hopper_workloads;
    tried_count = LS_COUNT_OF(hopper_workloads);
    assert_true(check_keys(sets, LS_COUNT_OF(sets), "cluster.*|core.mbarrier.*|core.tma.*", NULL) > 12);
    tried_workloads = workloads;
    tried_count = LS_COUNT_OF(workloads);
    platform = before;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_detailed),   cmocka_unit_test(test_l1),
        cmocka_unit_test(test_fills),      cmocka_unit_test(test_options),
        cmocka_unit_test(test_fixed_dram), cmocka_unit_test(test_two_level_scheduler),
        cmocka_unit_test(test_analytic),   cmocka_unit_test(test_a100),
        cmocka_unit_test(test_h100),       cmocka_unit_test(test_hopper),
    };
    if (argc > 1)
        platform = argv[1];
    write_trace();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    remove_trace();
    return failed;
}
