/* test_options.c: instruction caches, constant caches and TLBs inside a GPU. Misses can be counted by hand and
 * latencies are exact to the cycle. Nothing depends on threads, and a machine without them has no counters of
 * them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "platform/config.h"
#include "platform/machine.h"
#include "runtime/replay.h"
#include "workload/synth/synth.h"

#include <stdio.h>
#include <string.h>

#define SETS_MAX 40
#define CODES_MAX 4096

/* One clock for all, so that latencies do not depend on the phases of clocks. */
static const char platform[] = "machine: gpu\n"
                               "cores: 1\n"
                               "clock: {core_mhz: 1000, l2_mhz: 1000, dram_mhz: 1000}\n"
                               "core:\n"
                               "  class:\n"
                               "    load: {unit: memory}\n"
                               "    store: {unit: memory}\n"
                               "    atomic: {unit: memory}\n"
                               "    async_copy: {unit: memory}\n"
                               "    fence: {unit: memory}\n";

/* A run: `sets` as on the command line, separated by blanks. */
typedef struct outcome {
    ls_cycle cycles;
    uint64_t digest; /* of all counters of all blocks, in order */
    ls_machine *machine;
} outcome;

static uint64_t counter(const outcome *o, const char *name)
{
    uint64_t sum = 0;
    bool found = false;
    ls_engine *engine = ls_machine_engine(o->machine);
    for (uint32_t i = 0; i < ls_engine_block_count(engine); i++) {
        ls_block *block = ls_engine_block(engine, i);
        const ls_block_type *type = ls_block_type_of(block);
        for (size_t m = 0; strcmp(type->slot, "core") == 0 && m < type->metric_count; m++)
            if (strcmp(type->metrics[m].name, name) == 0) {
                found = true;
                const char *counters = (const char *)ls_block_state(block) + type->counters_offset;
                sum += *(const uint64_t *)(const void *)(counters + type->metrics[m].offset);
            }
    }
    assert_true(found);
    return sum;
}

static uint64_t digest(ls_engine *engine)
{
    uint64_t hash = 14695981039346656037u;
    for (uint32_t i = 0; i < ls_engine_block_count(engine); i++) {
        ls_block *block = ls_engine_block(engine, i);
        const ls_block_type *type = ls_block_type_of(block);
        for (size_t m = 0; m < type->metric_count; m++) {
            const char *counters = (const char *)ls_block_state(block) + type->counters_offset;
            if (type->metrics[m].kind == LS_METRIC_KIND_COUNTER)
                hash = (hash ^ *(const uint64_t *)(const void *)(counters + type->metrics[m].offset)) *
                       1099511628211u;
        }
    }
    return hash;
}

static ls_status build(const char *sets, ls_machine **machine, ls_error *err)
{
    char text[2048];
    const char *list[SETS_MAX];
    size_t count = 0;
    snprintf(text, sizeof text, "%s", sets);
    for (char *rest = text, *one; (one = strtok_r(rest, " ", &rest)) != NULL;) {
        assert_true(count < SETS_MAX);
        list[count++] = one;
    }
    config_request request = { .platform = "tests/options",
                               .sets = list,
                               .set_count = count,
                               .text = platform,
                               .text_bytes = strlen(platform) };
    platform_config *config;
    ls_status status = config_load(&request, &config, NULL, err);
    if (status != LS_OK)
        return status;
    status = machine_create(config, 1, machine, err);
    config_destroy(config);
    return status;
}

static outcome run(const char *trace_text, const char *sets, uint32_t threads)
{
    ls_error err = { 0 };
    outcome o = { 0 };
    sass_trace *trace;
    trace_replay *replay;
    ls_run_result result;
    if (build(sets, &o.machine, &err) != LS_OK)
        fail_msg("%s", err.what);
    assert_int_equal(synth_open(trace_text, &(trace_options){ 0 }, &trace, &err), LS_OK);
    assert_int_equal(replay_create(ls_machine_engine(o.machine), trace, NULL, &replay, &err), LS_OK);
    if (replay_run(replay, &(ls_run_options){ .threads = threads }, &result, &err) != LS_OK)
        fail_msg("%s: %s", sets, err.what);
    for (uint64_t i = 0; i < replay_kernel_count(replay); i++)
        o.cycles += replay_kernel_at(replay, i)->end - replay_kernel_at(replay, i)->begin;
    synth_facts facts;
    assert_true(synth_get_facts(trace, &facts));
    if (facts.warp_insts != LS_SYNTH_UNKNOWN)
        assert_int_equal(counter(&o, "warp_instructions"), facts.warp_insts);
    o.digest = digest(ls_machine_engine(o.machine));
    replay_destroy(replay);
    trace_close(trace);
    return o;
}

static void done(outcome *o)
{
    machine_destroy(o->machine);
}

/* Cycles of the second of two thread blocks that run in sequence: everything is warm except data that the
 * caches are too small for. */
static ls_cycle second_block(const char *trace_text, const char *sets)
{
    char text[512], both[512];
    snprintf(both, sizeof both, "core.cta_slots=1 %s", sets);
    ls_cycle cycles[2];
    for (int i = 0; i < 2; i++) {
        snprintf(text, sizeof text, "%s,ctas=%d", trace_text, i + 1);
        outcome o = run(text, both, 1);
        cycles[i] = o.cycles;
        done(&o);
    }
    return cycles[1] - cycles[0];
}

/* ------------------------------------------------------------------------------------------- instructions */

static void straight_code_misses_once_per_line(void **state)
{
    (void)state;
    /* 63 instructions and EXIT, 16 bytes each: 8 lines of 8. Two come with one fetch. */
    outcome o = run("chain,op=FFMA,count=63", "core.fetch=cycle", 1);
    assert_int_equal(counter(&o, "l0i_misses"), 8);
    assert_int_equal(counter(&o, "l0i_hits"), 24);
    assert_int_equal(counter(&o, "l0i_pending_hits"), 0);
    assert_int_equal(counter(&o, "l1i_misses"), 8);
    assert_int_equal(counter(&o, "l1i_hits"), 0);
    assert_int_equal(counter(&o, "requests_sent"), 8 * 4);
    done(&o);
    /* A warp on each sub-core, and a second one: an L0 each, one L1 for all. */
    o = run("chain,op=FFMA,count=63,warps=8", "core.fetch=cycle", 1);
    assert_int_equal(counter(&o, "l0i_misses"), 4 * 8);
    assert_int_equal(counter(&o, "l0i_hits") + counter(&o, "l0i_pending_hits"), 8 * 32 - 4 * 8);
    assert_int_equal(counter(&o, "l1i_misses"), 8);
    assert_int_equal(counter(&o, "l1i_hits") + counter(&o, "l1i_pending_hits"), 3 * 8);
    done(&o);
    /* Blocks that come later find the code. */
    o = run("chain,op=FFMA,count=63,warps=4,ctas=64", "core.fetch=cycle", 1);
    assert_int_equal(counter(&o, "l0i_misses"), 4 * 8);
    assert_int_equal(counter(&o, "l1i_misses"), 8);
    done(&o);
}

/* Lines of 128 bytes that a trace of one kernel executes. */
static uint64_t executed_lines(const char *trace_text)
{
    static bool seen[CODES_MAX];
    ls_error err;
    sass_trace *trace;
    trace_kernel *kernel = NULL;
    ls_cta cta = { 0 };
    uint64_t count = 0;
    bool end = false;
    memset(seen, 0, sizeof seen);
    assert_int_equal(synth_open(trace_text, &(trace_options){ 0 }, &trace, &err), LS_OK);
    for (uint64_t i = 0; i < trace_command_count(trace); i++)
        if (trace_command_at(trace, i)->kind == LS_COMMAND_KERNEL)
            assert_int_equal(trace_open_kernel(trace, i, &kernel, &err), LS_OK);
    while (kernel_next_cta(kernel, &cta, &end, &err) == LS_OK && !end)
        for (uint64_t i = 0; i < cta.dyn_count; i++) {
            uint64_t line = kernel_inst_table(kernel)[cta.dyns[i].inst].pc / 128;
            assert_true(line < CODES_MAX);
            count += !seen[line];
            seen[line] = true;
        }
    ls_cta_fini(&cta);
    kernel_close(kernel);
    trace_close(trace);
    return count;
}

static void loops_pay_for_their_lines_once(void **state)
{
    (void)state;
    static const char *const traces[] = { "shared-conflict,count=512,unroll=8,warps=1",
                                          "pointer-chase,loads=256,unroll=32,footprint_kib=16",
                                          "gemm,m=64,n=64,k=64" };
    for (size_t i = 0; i < LS_COUNT_OF(traces); i++) {
        outcome o = run(traces[i], "core.fetch=cycle", 1);
        assert_int_equal(counter(&o, "l1i_misses"), executed_lines(traces[i]));
        assert_true(counter(&o, "l0i_misses") <= 4 * executed_lines(traces[i]));
        assert_true(counter(&o, "l0i_hits") > counter(&o, "l0i_misses"));
        done(&o);
    }
}

static void l0_misses_take_the_latency_of_l1(void **state)
{
    (void)state;
    /* An L0 of one line: the second block misses each of the 8 lines and finds it in L1. */
    const char *small = "core.fetch=cycle core.icache.l0_bytes=128 core.icache.l0_ways=1";
    char sets[256];
    ls_cycle at[2];
    for (uint64_t i = 0; i < 2; i++) {
        snprintf(sets, sizeof sets, "%s core.icache.l1_latency_cycles=%d", small, i == 0 ? 40 : 57);
        at[i] = second_block("chain,op=FFMA,count=63", sets);
    }
    assert_int_equal(at[1] - at[0], 8 * (57 - 40));
    /* With everything in L0 a fetch is as fast as a perfect one. */
    assert_int_equal(second_block("chain,op=FFMA,count=63", "core.fetch=cycle"),
                     second_block("chain,op=FFMA,count=63", "core.fetch=perfect"));
    snprintf(sets, sizeof sets, "%s core.cta_slots=1", small);
    outcome o = run("chain,op=FFMA,count=63,ctas=2", sets, 1);
    assert_int_equal(counter(&o, "l0i_misses"), 16);
    assert_int_equal(counter(&o, "l1i_misses"), 8);
    assert_int_equal(counter(&o, "l1i_hits"), 8);
    done(&o);
}

static void prefetching_goes_ahead(void **state)
{
    (void)state;
    outcome without = run("chain,op=FFMA,count=255", "core.fetch=cycle", 1);
    outcome with = run("chain,op=FFMA,count=255", "core.fetch=cycle core.icache.prefetch_lines=4", 1);
    assert_int_equal(counter(&without, "l0i_misses"), 32);
    assert_int_equal(counter(&without, "icache_prefetches"), 0);
    assert_int_equal(counter(&with, "l0i_misses"), 1); /* of 32 lines only the first comes unannounced */
    assert_int_equal(counter(&with, "icache_prefetches"), 31 + 4);
    assert_true(with.cycles < without.cycles);
    assert_true(counter(&with, "stall_fetch") < counter(&without, "stall_fetch"));
    done(&with);
    done(&without);
}

/* ---------------------------------------------------------------------------------------------- constants */

static void constants_miss_once_per_line(void **state)
{
    (void)state;
    outcome o = run("chain,op=LDC,count=64", "core.constant=cycle", 1);
    assert_int_equal(counter(&o, "const_misses"), 16); /* 4 loads, 16 bytes apart, in a line of 64 */
    assert_int_equal(counter(&o, "const_hits"), 48);
    assert_int_equal(counter(&o, "const_l15_misses"), 16);
    done(&o);
    o = run("chain,op=LDC,count=64,ctas=16,warps=2", "core.constant=cycle", 1);
    assert_int_equal(counter(&o, "const_misses"), 16);
    assert_int_equal(counter(&o, "const_hits") + counter(&o, "const_pending_hits"), 32 * 64 - 16);
    done(&o);
}

static void constant_misses_take_their_latency(void **state)
{
    (void)state;
    const char *trace = "chain,op=LDC,count=64";
    ls_cycle perfect = second_block(trace, "");
    assert_int_equal(second_block(trace, "core.constant=cycle"), perfect);
    /* A first cache of one line: 16 misses that the second cache answers. */
    const char *small = "core.constant=cycle core.ccache.l1_bytes=64 core.ccache.l1_ways=1";
    char sets[256];
    for (int latency = 1; latency <= 91; latency += 45) {
        snprintf(sets, sizeof sets, "%s core.ccache.l15_latency_cycles=%d", small, latency);
        assert_int_equal(second_block(trace, sets), perfect + 16 * (ls_cycle)latency);
    }
}

/* -------------------------------------------------------------------------------------------- translation */

static void pages_miss_as_often_as_lru_does(void **state)
{
    (void)state;
    static const char *const places[] = { "before-l2", "before-l1" };
    for (size_t p = 0; p < 2; p++)
        for (unsigned entries = 8; entries <= 24; entries += 8) {
            char sets[256];
            snprintf(
                sets, sizeof sets,
                "core.cta_slots=1 core.translation=cycle core.tlb.page_kib=4 core.tlb.entries=%u core.tlb.ways=%u "
                "core.tlb.place=%s",
                entries, entries, places[p]);
            /* 16 pages in sequence, 4 sectors in each; then again. L1 is empty the second time. */
            outcome o = run("chain,op=LDG,count=16,step_bytes=4096,ctas=2", sets, 1);
            assert_int_equal(counter(&o, "tlb_misses"), entries >= 16 ? 16 : 32);
            assert_int_equal(counter(&o, "tlb_accesses"), 2 * 16 * 4);
            assert_int_equal(counter(&o, "tlb_walks"), 16);
            assert_int_equal(counter(&o, "tlb_l2_hits"), entries >= 16 ? 0 : 16);
            assert_int_equal(counter(&o, "tlb_walk_cycles"), 16 * 500);
            done(&o);
        }
}

static void translations_take_their_latency(void **state)
{
    (void)state;
    const char *trace = "chain,op=LDG,count=16,step_bytes=4096";
    const char *one = "core.translation=cycle core.tlb.page_kib=4 core.tlb.entries=1 core.tlb.ways=1";
    ls_cycle none = second_block(trace, ""), at[2];
    char sets[256];
    /* In front of L1 nothing overlaps: 16 misses of the L1 TLB, all in the L2 TLB. */
    for (int latency = 0; latency <= 80; latency += 40) {
        snprintf(sets, sizeof sets, "%s core.tlb.place=before-l1 core.tlb.l2_latency_cycles=%d", one, latency);
        assert_int_equal(second_block(trace, sets), none + 16 * (ls_cycle)latency);
    }
    for (int i = 0; i < 2; i++) {
        snprintf(sets, sizeof sets, "%s core.tlb.l2_latency_cycles=%d", one, i == 0 ? 60 : 85);
        at[i] = second_block(trace, sets);
    }
    assert_int_equal(at[1] - at[0], 16 * (85 - 60));
    assert_true(at[0] <= none + 16 * 60);
    /* Pages that are known cost nothing. */
    assert_int_equal(second_block(trace, "core.translation=cycle"), none);
}

/* -------------------------------------------------------------------------------------------- all of them */

#define ALL "core.fetch=cycle core.constant=cycle core.translation=cycle "
#define TINY                                                                                                     \
    ALL "core.icache.l0_bytes=256 core.icache.l0_ways=2 core.icache.l1_bytes=1024 core.icache.l1_ways=2 "        \
        "core.icache.miss_entries=1 core.icache.prefetch_lines=2 core.ccache.l1_bytes=64 core.ccache.l1_ways=1 " \
        "core.ccache.l15_bytes=128 core.ccache.l15_ways=1 core.ccache.miss_entries=1 core.tlb.page_kib=4 "       \
        "core.tlb.entries=2 core.tlb.ways=1 core.tlb.miss_entries=1 core.tlb.waiting=1 core.tlb.walkers=1 "      \
        "core.tlb.l2_entries=8 core.tlb.l2_ways=2 core.tlb.walk_latency_cycles=30 core.network_queue=2 "

static void threads_do_not_matter(void **state)
{
    (void)state;
    static const char *const sets[] = { ALL "cores=4", TINY "cores=4",
                                        TINY "cores=4 core.tlb.place=before-l1" };
    static const char *const traces[] = { "vector-add,n=8192", "atomics,count=2,ctas=8",
                                          "gather,n=2048,table_kib=256", "reduction,n=4096,ctas=4",
                                          "throughput,op=LDC,count=96,warps=8,ctas=6" };
    for (size_t s = 0; s < LS_COUNT_OF(sets); s++)
        for (size_t t = 0; t < LS_COUNT_OF(traces); t++) {
            outcome first = run(traces[t], sets[s], 1);
            for (uint32_t threads = 2; threads <= 3; threads++) {
                outcome o = run(traces[t], sets[s], threads);
                assert_int_equal(o.cycles, first.cycles);
                assert_int_equal(o.digest, first.digest);
                done(&o);
            }
            assert_true(counter(&first, "l0i_misses") > 0);
            done(&first);
        }
}

static void off_is_off(void **state)
{
    (void)state;
    static const char *const names[] = { "l0i_hits",   "l0i_misses",   "l1i_hits",
                                         "const_hits", "const_misses", "tlb_accesses" };
    outcome plain = run("vector-add,n=8192", "cores=4", 1);
    outcome off = run("vector-add,n=8192",
                      "cores=4 core.fetch=perfect core.constant=perfect core.translation=none "
                      "core.icache.l0_bytes=4096 core.ccache.l15_latency_cycles=200 core.tlb.entries=64",
                      1);
    outcome on = run("vector-add,n=8192", "cores=4 " ALL, 1);
    assert_int_equal(plain.cycles, off.cycles);
    assert_int_equal(plain.digest, off.digest);
    assert_true(on.cycles > off.cycles);
    for (size_t i = 0; i < LS_COUNT_OF(names); i++)
        assert_int_equal(counter(&plain, names[i]), 0);
    done(&plain);
    done(&off);
    done(&on);
}

static void impossible_shapes_are_refused(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        { "core.fetch=cycle core.icache.line_bytes=96", "icache.line_bytes" },
        { "core.fetch=cycle core.icache.l0_bytes=1000", "icache.l0_bytes" },
        { "core.constant=cycle core.ccache.l15_ways=15", "ccache.l15_bytes" },
        { "core.translation=cycle core.tlb.page_kib=5", "tlb.page_kib" },
    };
    for (size_t i = 0; i < LS_COUNT_OF(cases); i++) {
        ls_error err = { 0 };
        ls_machine *machine = NULL;
        assert_int_equal(build(cases[i][0], &machine, &err), LS_ERR_INPUT);
        if (strstr(err.what, cases[i][1]) == NULL)
            fail_msg("'%s' does not name %s", err.what, cases[i][1]);
        machine_destroy(machine);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(straight_code_misses_once_per_line),
        cmocka_unit_test(loops_pay_for_their_lines_once),
        cmocka_unit_test(l0_misses_take_the_latency_of_l1),
        cmocka_unit_test(prefetching_goes_ahead),
        cmocka_unit_test(constants_miss_once_per_line),
        cmocka_unit_test(constant_misses_take_their_latency),
        cmocka_unit_test(pages_miss_as_often_as_lru_does),
        cmocka_unit_test(translations_take_their_latency),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(off_is_off),
        cmocka_unit_test(impossible_shapes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
