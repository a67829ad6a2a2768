/* test_fidelity_mixes.c: models of different slots beside each other: every mix runs the same
 * instructions, or is refused with its reason. The table is in docs/fidelity.md. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/fidelity_rig.h"

#define KERNEL "reduction,n=8192,ctas=8"

static void test_mixes(void **state)
{
    (void)state;
    static const char *const alus[] = { "core.alu=cycle", "core.alu=issue" };
    static const char *const memories[] = { "core.memory=cycle", "core.memory=analytic" };
    static const char *const drams[] = { "dram=bank", "dram=fixed" };
    static const char *const schedulers[] = { "core.scheduler=lrr", "core.scheduler=gto",
                                              "core.scheduler=oldest", "core.scheduler=two-level" };
    uint64_t expected = 0;
    for (uint32_t mix = 0; mix < 32; mix++) {
        const char *const sets[] = { alus[mix & 1], memories[mix >> 1 & 1], drams[mix >> 2 & 1],
                                     schedulers[mix >> 3], NULL };
        rig_outcome o = rig_run(KERNEL, sets, &(ls_run_options){ .threads = 1 });
        expected = mix == 0 ? o.warp_instructions : expected;
        assert_int_equal(o.warp_instructions, expected);
        assert_int_equal(o.accounted, o.slots);
        assert_true(o.l1_accesses > 0 && o.l2_sectors > 0 && o.cycles > 100);
    }
}

/* Parts of the front that only the cycle model has; each with both memories. */
static void test_front(void **state)
{
    (void)state;
    static const char *const fronts[] = { "core.fetch=cycle", "core.constant=cycle" };
    for (uint32_t mix = 0; mix < 4; mix++) {
        const char *const sets[] = { "core.alu=cycle", fronts[mix & 1],
                                     mix >> 1 ? "core.memory=analytic" : "core.memory=cycle", NULL };
        const char *const plain[] = { "core.alu=cycle", NULL };
        rig_outcome with = rig_run(KERNEL, sets, &(ls_run_options){ .threads = 1 });
        rig_outcome without = rig_run(KERNEL, plain, &(ls_run_options){ .threads = 1 });
        assert_int_equal(with.warp_instructions, without.warp_instructions);
    }
}

/* One warp whose instructions each need the one before, with none to three registers: the same distance with
 * every pipeline, to the cycle. */
static void test_chains(void **state)
{
    (void)state;
    static const char *const ops[] = { "FFMA", "IMAD", "MOV", "DFMA", "HMMA", "MUFU", "S2R", "LDC", "LDS" };
    static const char *const alus[] = { "core.alu=cycle", "core.alu=issue" };
    static const char *const memories[] = { "core.memory=cycle", "core.memory=analytic" };
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
        for (uint32_t forward = 0; forward < 2; forward++) {
            ls_cycle expected = 0;
            for (uint32_t mix = 0; mix < 4; mix++) {
                char kernel[64];
                ls_cycle cycles[2];
                const char *const sets[] = { alus[mix & 1], memories[mix >> 1],
                                             forward ? "core.forward_cycles=5" : "core.forward_cycles=0",
                                             NULL };
                for (uint32_t k = 0; k < 2; k++) {
                    snprintf(kernel, sizeof kernel, "chain,op=%s,count=%d", ops[i], k == 0 ? 64 : 128);
                    cycles[k] = rig_run(kernel, sets, &(ls_run_options){ .threads = 1 }).cycles;
                }
                expected = mix == 0 ? cycles[1] - cycles[0] : expected;
                assert_int_equal(cycles[1] - cycles[0], expected);
            }
        }
}

#define MODELS 4u
static const char *const models[MODELS][2] = { { "core.alu=cycle", "core.memory=cycle" },
                                               { "core.alu=issue", "core.memory=cycle" },
                                               { "core.alu=cycle", "core.memory=analytic" },
                                               { "core.alu=issue", "core.memory=analytic" } };

static ls_cycle one_core(const char *kernel, uint32_t model, const char *scheduler, const char *key)
{
    const char *const sets[] = {
        models[model][0], models[model][1], scheduler, "cores=1", "core.warp_slots=32", key, NULL
    };
    return rig_run(kernel, sets, &(ls_run_options){ .threads = 1 }).cycles;
}

/* Blocks that come one after another run side by side. This also holds on a core that goes from issue to issue
 * and could run the first to its end before the second arrives. */
static void test_blocks_side_by_side(void **state)
{
    (void)state;
    static const char *const schedulers[] = { "core.scheduler=gto", "core.scheduler=lrr" };
    for (uint32_t mix = 0; mix < 2 * MODELS; mix++) {
        const char *scheduler = schedulers[mix / MODELS], *none = "refill_latency_cycles=0";
        ls_cycle alone = one_core("chain,op=MUFU,count=32", mix % MODELS, scheduler, none);
        ls_cycle twelve = one_core("chain,op=MUFU,count=32,ctas=12", mix % MODELS, scheduler, none);
        assert_true(twelve < alone + alone / 5);
    }
}

/* A block ends when its instructions have: its exits do not wait for the multiply-adds of younger blocks. With the
 * oldest first, places are then left one by one, and to take one again later costs nothing. */
static void test_blocks_end_in_turn(void **state)
{
    (void)state;
    const char *kernel = "throughput,op=FFMA,count=64,warps=8,ctas=16";
    for (uint32_t model = 0; model < MODELS; model++) {
        ls_cycle soon = one_core(kernel, model, "core.scheduler=gto", "refill_latency_cycles=1");
        ls_cycle late = one_core(kernel, model, "core.scheduler=gto", "refill_latency_cycles=100");
        assert_true(late < soon + 50);
    }
}

/* Equation 1 or levels one by one, with either pipeline. */
static void test_latency(void **state)
{
    (void)state;
    for (uint32_t mix = 0; mix < 4; mix++) {
        const char *const sets[] = { mix & 1 ? "core.alu=issue" : "core.alu=cycle", "core.memory=analytic",
                                     mix >> 1 ? "core.analytic_latency=expected"
                                              : "core.analytic_latency=drawn",
                                     NULL };
        assert_true(rig_run(KERNEL, sets, &(ls_run_options){ .threads = 1 }).cycles > 100);
    }
}

static void refuse(const char *const *sets, const char *reason)
{
    ls_error err = { 0 };
    platform_config *config;
    ls_machine *machine = NULL;
    size_t count = 0;
    while (sets[count] != NULL)
        count++;
    config_request request = { .platform = "tests/mixes",
                               .sets = sets,
                               .set_count = count,
                               .text = rig_platform,
                               .text_bytes = strlen(rig_platform) };
    ls_status status = config_load(&request, &config, NULL, &err);
    if (status == LS_OK) {
        status = machine_create(config, 1, &machine, &err);
        config_destroy(config);
    }
    assert_int_not_equal(status, LS_OK);
    assert_null(machine);
    if (strstr(err.what, reason) == NULL)
        fail_msg("'%s' does not say '%s'", err.what, reason);
}

static void test_refused(void **state)
{
    (void)state;
    refuse((const char *const[]){ "core.alu=issue", "core.fetch=cycle", NULL }, "stage of fetching");
    refuse((const char *const[]){ "core.alu=issue", "core.constant=cycle", NULL }, "constant caches");
    refuse((const char *const[]){ "core.memory=analytic", "core.translation=cycle", NULL }, "translation");
    refuse((const char *const[]){ "core.alu=issue", "core.memory=analytic", "core.translation=cycle", NULL },
           "translation");
    refuse((const char *const[]){ "core.memory=exact", NULL }, "core.memory");
}

/* Blocks that were sent ahead start as long after the end of another as the way to the dispatcher and back
 * takes: one core, one block at a time. */
static void test_ahead(void **state)
{
    (void)state;
    static const char *const latencies[] = { "dispatch_latency_cycles=40", "dispatch_latency_cycles=50" };
    static const char kernel[] = "barrier-storm,ctas=20";
    for (uint32_t memory = 0; memory < 2; memory++) {
        uint64_t cycles[2];
        for (uint32_t i = 0; i < 2; i++) {
            const char *const sets[] = { "core.alu=issue",
                                         memory ? "core.memory=analytic" : "core.memory=cycle",
                                         latencies[i],
                                         "cores=1",
                                         "core.cta_slots=1",
                                         "dispatch.launch_latency_cycles=1000",
                                         NULL };
            cycles[i] = rig_run(kernel, sets, &(ls_run_options){ .threads = 1 }).cycles;
        }
        assert_int_equal(cycles[1] - cycles[0], 19 * 2 * 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mixes),
        cmocka_unit_test(test_chains),
        cmocka_unit_test(test_blocks_side_by_side),
        cmocka_unit_test(test_blocks_end_in_turn),
        cmocka_unit_test(test_front),
        cmocka_unit_test(test_latency),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_ahead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
