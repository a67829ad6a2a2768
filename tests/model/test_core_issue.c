/* The pipeline from issue to issue with simulated memory (alu: issue) against the one with all stages (alu: cycle):
 * single causes, whose time both have to agree on. */
#include "model/core_rig.h"

#define NEAR UINT64_C(0x1000)
#define FAR (RIG_FAR_ADDRESS + NEAR)

typedef void (*program)(rig *r, uint32_t n);

static uint64_t cycles(core_alu_model alu, program write, uint32_t n)
{
    rig *r = rig_create();
    r->spec.alu = alu;
    r->policy = "gto";
    write(r, n);
    uint64_t time = rig_run(r);
    const core_counters *c = &r->core->n;
    uint64_t slots = c->issued;
    for (uint32_t i = 0; i < STALL_COUNT; i++)
        slots += c->stalls[i];
    assert_int_equal(slots, c->issue_slots);
    assert_int_equal(c->issued, r->cta.dyn_count);
    rig_destroy(r);
    return time;
}

/* Times of n causes and of one; the difference has the cost of a cause alone. */
static void both_agree(program write, uint32_t n, uint64_t slack)
{
    uint64_t cycle = cycles(ALU_CYCLE, write, n), issue = cycles(ALU_ISSUE, write, n);
    if (cycle > issue + slack || issue > cycle + slack)
        print_message("cycle %llu, issue %llu\n", (unsigned long long)cycle, (unsigned long long)issue);
    assert_true(issue <= cycle + slack && cycle <= issue + slack);
}

static void dependent_loads(rig *r, uint32_t n)
{
    uint32_t load = rig_memory(r, LS_SPACE_GLOBAL, LS_MEM_LOAD, 4, 8, 0),
             use = rig_alu(r, LS_CLASS_fp32, 9, 8);
    for (uint32_t i = 0; i < n; i++) {
        rig_access(r, load, RIG_ALL, (i % 2 == 0 ? NEAR : FAR) + 128 * i, 4);
        rig_do(r, use);
    }
}

static void a_use_waits_for_its_load(void **state)
{
    (void)state;
    both_agree(dependent_loads, 1, 2);
    both_agree(dependent_loads, 8, 16);
    /* Four far loads more: each costs its way and the rest of a load at least. */
    assert_true(cycles(ALU_ISSUE, dependent_loads, 16) - cycles(ALU_ISSUE, dependent_loads, 8) >=
                4 * (RIG_NEAR + RIG_FAR));
}

static void shared_chain(rig *r, uint32_t n)
{
    uint32_t load = rig_memory(r, LS_SPACE_SHARED, LS_MEM_LOAD, 4, 8, 0),
             use = rig_alu(r, LS_CLASS_fp32, 9, 8);
    for (uint32_t i = 0; i < n; i++) {
        rig_access(r, load, RIG_ALL, 0, 8); /* two words per bank */
        rig_do(r, use);
    }
}

static void shared_memory_has_its_latency_and_conflicts(void **state)
{
    (void)state;
    uint64_t step = (cycles(ALU_ISSUE, shared_chain, 17) - cycles(ALU_ISSUE, shared_chain, 1)) / 16;
    uint64_t same = (cycles(ALU_CYCLE, shared_chain, 17) - cycles(ALU_CYCLE, shared_chain, 1)) / 16;
    assert_true(step + 1 >= same && step <= same + 1);
}

/* Independent loads of four warps, each with two words per bank: the unit is busy for two cycles with each. */
static void shared_stream(rig *r, uint32_t n)
{
    uint32_t load = rig_memory(r, LS_SPACE_SHARED, LS_MEM_LOAD, 4, 0, 0);
    for (uint32_t warp = 0; warp < 4; warp++) {
        rig_warp(r);
        for (uint32_t i = 0; i < n; i++)
            rig_access(r, load, RIG_ALL, 0, 8);
    }
}

static void an_access_to_shared_memory_holds_the_unit(void **state)
{
    (void)state;
    uint64_t time = cycles(ALU_ISSUE, shared_stream, 48) - cycles(ALU_ISSUE, shared_stream, 16);
    assert_true(time + 8 >= 2 * 4 * 32 && time <= 2 * 4 * 32 + 8);
    both_agree(shared_stream, 48, 16);
}

/* A shared access behind a global one waits for the load/store unit in its queue. */
static void mixed_spaces(rig *r, uint32_t n)
{
    uint32_t global = rig_memory(r, LS_SPACE_GLOBAL, LS_MEM_LOAD, 4, 8, 0);
    uint32_t shared = rig_memory(r, LS_SPACE_SHARED, LS_MEM_LOAD, 4, 9, 0),
             use = rig_alu(r, LS_CLASS_fp32, 10, 9);
    for (uint32_t i = 0; i < n; i++) {
        rig_access(r, global, RIG_ALL, NEAR + 1024 * i, 32);
        rig_access(r, shared, RIG_ALL, 0, 4);
        rig_do(r, use);
    }
}

static void the_unit_takes_both_spaces_in_turn(void **state)
{
    (void)state;
    both_agree(mixed_spaces, 1, 4);
    both_agree(mixed_spaces, 8, 40);
}

static void fenced(rig *r, uint32_t n, uint8_t op)
{
    uint32_t access = rig_memory(r, LS_SPACE_GLOBAL, op, 4, op == LS_MEM_LOAD ? 8 : 0, LS_INST_BYPASS_L1);
    uint32_t fence = rig_flag(r, LS_CLASS_fp32, LS_INST_FENCE, 0), other = rig_alu(r, LS_CLASS_fp32, 9, 0);
    for (uint32_t i = 0; i < n; i++) {
        rig_access(r, access, RIG_ALL, FAR + 128 * i, 4);
        rig_do(r, fence);
        rig_do(r, other);
    }
}

static void fenced_loads(rig *r, uint32_t n)
{
    fenced(r, n, LS_MEM_LOAD);
}

static void fenced_atomics(rig *r, uint32_t n)
{
    fenced(r, n, LS_MEM_REDUCTION);
}

static void a_fence_waits_for_loads_and_atomics(void **state)
{
    (void)state;
    both_agree(fenced_loads, 4, 16);
    both_agree(fenced_atomics, 4, 16);
    assert_true(cycles(ALU_ISSUE, fenced_loads, 4) >= 4 * RIG_FAR);
    assert_true(cycles(ALU_ISSUE, fenced_atomics, 4) >= 4 * RIG_FAR);
}

/* n groups of one copy each; every wait leaves two open. */
static void copies(rig *r, uint32_t n)
{
    uint32_t copy = rig_memory(r, LS_SPACE_GLOBAL, LS_MEM_ASYNC_COPY, 4, 0, LS_INST_BYPASS_L1);
    uint32_t commit = rig_flag(r, LS_CLASS_fp32, LS_INST_ASYNC_COMMIT, 0);
    uint32_t wait = rig_flag(r, LS_CLASS_fp32, LS_INST_ASYNC_WAIT, 2);
    for (uint32_t i = 0; i < n; i++) {
        rig_access(r, copy, 1, FAR + 128 * (i % 256), 4);
        rig_do(r, commit);
        rig_do(r, wait);
    }
}

static void waits_for_copies_leave_the_newest_groups_open(void **state)
{
    (void)state;
    both_agree(copies, 12, 24);
    /* Three are under way at a time; the number of a group wraps at 256. */
    uint64_t time = cycles(ALU_ISSUE, copies, 300);
    assert_true(time >= 100 * RIG_FAR && time <= 102 * RIG_FAR + 300 * 40);
    both_agree(copies, 300, 1200);
}

static void barriers(rig *r, uint32_t n)
{
    uint32_t load = rig_memory(r, LS_SPACE_GLOBAL, LS_MEM_LOAD, 4, 8, 0),
             use = rig_alu(r, LS_CLASS_fp32, 9, 8);
    uint32_t barrier = rig_flag(r, LS_CLASS_fp32, LS_INST_BARRIER, 0),
             other = rig_alu(r, LS_CLASS_fp32, 10, 0);
    for (uint32_t warp = 0; warp < 8; warp++) {
        rig_warp(r);
        for (uint32_t i = 0; i < n; i++) {
            if (warp == 7) { /* all wait for this one */
                rig_access(r, load, RIG_ALL, FAR + 128 * i, 4);
                rig_do(r, use);
            }
            rig_do(r, barrier);
            rig_do(r, other);
        }
    }
}

static void a_barrier_opens_with_its_last_warp(void **state)
{
    (void)state;
    both_agree(barriers, 4, 16);
    assert_true(cycles(ALU_ISSUE, barriers, 4) >= 4 * RIG_FAR);
}

/* A warp that ends at the barrier's other side counts as arrived. */
static void ending_warps(rig *r, uint32_t n)
{
    uint32_t store = rig_memory(r, LS_SPACE_GLOBAL, LS_MEM_STORE, 4, 0, LS_INST_BYPASS_L1);
    uint32_t barrier = rig_flag(r, LS_CLASS_fp32, LS_INST_BARRIER, 0),
             other = rig_alu(r, LS_CLASS_fp32, 10, 0);
    for (uint32_t warp = 0; warp < n; warp++) {
        rig_warp(r);
        if (warp == 0) {
            rig_access(r, store, RIG_ALL, FAR, 4);
            continue;
        }
        rig_do(r, barrier);
        rig_do(r, other);
    }
}

static void a_warp_ends_with_its_stores_and_opens_barriers(void **state)
{
    (void)state;
    both_agree(ending_warps, 4, 4);
    assert_true(cycles(ALU_ISSUE, ending_warps, 4) >= RIG_FAR);
}

/* More loads than there are entries for instructions under way; nothing reads their registers. */
static void many_loads(rig *r, uint32_t n)
{
    uint32_t load = rig_memory(r, LS_SPACE_GLOBAL, LS_MEM_ASYNC_COPY, 4, 0, LS_INST_BYPASS_L1);
    for (uint32_t warp = 0; warp < 32; warp++) {
        rig_warp(r);
        for (uint32_t i = 0; i < n; i++)
            rig_access(r, load, 1, FAR + 32 * (warp * n + i), 4);
    }
}

static void issue_stops_while_all_entries_are_in_use(void **state)
{
    (void)state;
    both_agree(many_loads, 100, 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_use_waits_for_its_load),
        cmocka_unit_test(shared_memory_has_its_latency_and_conflicts),
        cmocka_unit_test(an_access_to_shared_memory_holds_the_unit),
        cmocka_unit_test(the_unit_takes_both_spaces_in_turn),
        cmocka_unit_test(a_fence_waits_for_loads_and_atomics),
        cmocka_unit_test(waits_for_copies_leave_the_newest_groups_open),
        cmocka_unit_test(a_barrier_opens_with_its_last_warp),
        cmocka_unit_test(a_warp_ends_with_its_stores_and_opens_barriers),
        cmocka_unit_test(issue_stops_while_all_entries_are_in_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
