/* Load/store unit of the core: coalescing, banks of L1 and of shared memory, fences, atomics and asynchronous
 * copies. */
#include "model/core_rig.h"

/* ---------------------------------------------------------------------------------------------- coalescing */

static uint64_t sectors(uint8_t op, uint8_t width, uint32_t mask, uint64_t first, int64_t stride, bool list)
{
    rig *r = rig_create();
    uint32_t inst =
        rig_memory(r, LS_SPACE_GLOBAL, op, width, 0, op == LS_MEM_REDUCTION ? LS_INST_BYPASS_L1 : 0);
    uint64_t addresses[32];
    uint32_t lanes = 0;
    for (uint32_t set = mask; set != 0; set &= set - 1, lanes++)
        addresses[lanes] = first + (uint64_t)((int64_t)lanes * stride);
    if (list)
        rig_list(r, inst, mask, addresses);
    else
        rig_access(r, inst, mask, first, stride);
    (void)rig_run(r);
    uint64_t count = r->core->n.memory_sectors;
    assert_int_equal(r->logged, count);
    rig_destroy(r);
    return count;
}

static void strided_lanes_touch_the_expected_sectors(void **state)
{
    (void)state;
    static const struct {
        uint32_t mask;
        uint64_t first;
        int64_t stride;
        uint64_t sectors;
        uint8_t width;
    } cases[] = {
        { RIG_ALL, 0x1000, 4, 4, 4 },     /* one line */
        { RIG_ALL, 0x101c, 4, 5, 4 },     /* the same, not aligned */
        { RIG_ALL, 0x1004, 4, 5, 4 },     /* and by one word only */
        { RIG_ALL, 0x1000, 8, 8, 4 },     /* every other word */
        { RIG_ALL, 0x1000, 8, 8, 8 },     /* dense 8 bytes */
        { RIG_ALL, 0x1000, 16, 16, 16 },  /* dense 16 bytes */
        { RIG_ALL, 0x1010, 16, 17, 16 },  /* dense 16 bytes from the middle of a sector */
        { RIG_ALL, 0x1000, 32, 32, 4 },   /* a sector each */
        { RIG_ALL, 0x1000, 1024, 32, 4 }, /* a line each */
        { RIG_ALL, 0x1000, 0, 1, 4 },     /* all one word */
        { RIG_ALL, 0x107c, -4, 4, 4 },    /* backwards */
        { RIG_ALL, 0x1000, 1, 1, 1 },     /* bytes */
        { RIG_ALL, 0x1001, 1, 2, 1 },     /* bytes, not aligned */
        { 0xff, 0x1000, 4, 1, 4 },        /* a quarter of the warp */
        { 0x1ff, 0x1000, 4, 2, 4 },       /* and one lane more */
        { 0x80000001, 0x1000, 4, 1, 4 },  /* two lanes far apart, neighbours in memory */
        { 1, 0x101c, 4, 1, 4 },           /* the last word of a sector */
        { 1, 0x101c, 8, 2, 8 },           /* across the end of a sector */
        { 1, 0x1018, 8, 1, 8 },           /* up to it */
        { RIG_ALL, 0x1018, 64, 32, 8 },   /* up to it, a sector each */
        { RIG_ALL, 0x101c, 64, 64, 8 },   /* across it, two sectors each */
    };
    for (size_t i = 0; i < LS_COUNT_OF(cases); i++)
        for (int list = 0; list < 2; list++)
            assert_int_equal(sectors(LS_MEM_LOAD, cases[i].width, cases[i].mask, cases[i].first,
                                     cases[i].stride, list),
                             cases[i].sectors);
}

static void atomics_on_one_word_take_a_transaction_each(void **state)
{
    (void)state;
    assert_int_equal(sectors(LS_MEM_REDUCTION, 4, RIG_ALL, 0x1000, 0, false), 32);
    assert_int_equal(sectors(LS_MEM_REDUCTION, 4, RIG_ALL, 0x1000, 4, false), 4);
    assert_int_equal(sectors(LS_MEM_REDUCTION, 4, 0x7, 0x1000, 0, false), 3);
    assert_int_equal(sectors(LS_MEM_REDUCTION, 8, RIG_ALL, 0x1000, 8, false), 8);
}

static void stores_name_their_bytes(void **state)
{
    (void)state;
    for (int list = 0; list < 2; list++) {
        rig *r = rig_create();
        uint32_t store = rig_memory(r, LS_SPACE_GLOBAL, LS_MEM_STORE, 4, 0, 0);
        uint64_t addresses[3] = { 0x2018, 0x201c, 0x2020 };
        if (list)
            rig_list(r, store, 0x7, addresses);
        else
            rig_access(r, store, 0x7, 0x2018, 4);
        (void)rig_run(r);
        assert_int_equal(r->logged, 2);
        for (uint32_t i = 0; i < 2; i++) {
            const ls_sector_message *m = &r->log[i].message;
            assert_int_equal(m->kind, LS_SECTOR_WRITE);
            assert_true(m->address == 0x2000 || m->address == 0x2020);
            assert_int_equal(m->byte_mask, m->address == 0x2000 ? 0xff000000u : 0xfu);
        }
        assert_int_not_equal(r->log[0].message.address, r->log[1].message.address);
        rig_destroy(r);
    }
}

/* A pattern that was seen before gives the same sectors, moved by the first lane's distance. */
static void a_repeated_pattern_moves_with_its_first_lane(void **state)
{
    (void)state;
    rig *r = rig_create();
    uint32_t store = rig_memory(r, LS_SPACE_GLOBAL, LS_MEM_STORE, 4, 0, 0);
    static const uint64_t bases[] = { 0x1000, 0x2000, 0x2010, 0x3000 };
    static const int64_t offsets[] = { 0, 0x200, -0x100, 0x24 };
    static const uint32_t expected[] = { 4, 4, 4, 4 };
    for (size_t b = 0; b < LS_COUNT_OF(bases); b++) {
        uint64_t at[4];
        for (size_t i = 0; i < 4; i++)
            at[i] = bases[b] + (uint64_t)offsets[i];
        rig_list(r, store, 0xf, at);
    }
    (void)rig_run(r);
    assert_int_equal(r->logged, 16);
    for (size_t b = 0; b < LS_COUNT_OF(bases); b++) {
        uint32_t found = 0;
        for (uint32_t k = 0; k < r->logged; k++)
            for (size_t i = 0; i < 4; i++) {
                uint64_t at = bases[b] + (uint64_t)offsets[i];
                found += r->log[k].message.address == (at & ~UINT64_C(31)) &&
                         (r->log[k].message.byte_mask >> (at & 31) & 0xf) == 0xf;
            }
        assert_true(found >= expected[b]);
    }
    rig_destroy(r);
}

/* Word w of neighbouring threads lies side by side. */
static void local_memory_is_interleaved_by_thread(void **state)
{
    (void)state;
    rig *r = rig_create();
    uint32_t store = rig_memory(r, LS_SPACE_LOCAL, LS_MEM_STORE, 4, 0, 0);
    rig_access(r, store, RIG_ALL, 8, 0);
    (void)rig_run(r);
    assert_int_equal(r->core->n.memory_sectors, 4);
    uint64_t low = UINT64_MAX;
    for (uint32_t i = 0; i < r->logged; i++)
        low = r->log[i].message.address < low ? r->log[i].message.address : low;
    assert_int_equal(low, 0x40000000 + 2 * 32 * 4); /* word 2 of 32 threads */
    rig_destroy(r);
}

/* ------------------------------------------------------------------------------------------------------ L1 */

static uint64_t cycles_of_load(int64_t stride, uint64_t banks, uint64_t *conflicts)
{
    rig *r = rig_create();
    r->l1_spec.banks = banks;
    r->spec.network_width = 8;
    uint32_t load = rig_memory(r, LS_SPACE_GLOBAL, LS_MEM_LOAD, 4, 10, 0);
    uint32_t use = rig_alu(r, LS_CLASS_fp32, 11, 10);
    for (uint32_t i = 0; i < 2; i++) { /* the second one hits */
        rig_access(r, load, RIG_ALL, 0x1000, stride);
        rig_do(r, use);
    }
    uint64_t cycles = rig_run(r);
    assert_int_equal(r->core->n.l1.hits, r->core->n.l1.misses + r->core->n.l1.sector_misses);
    *conflicts = r->core->n.l1_bank_conflicts;
    rig_destroy(r);
    return cycles;
}

static void a_bank_of_l1_takes_one_sector_per_cycle(void **state)
{
    (void)state;
    uint64_t conflicts;
    /* 32 neighbouring sectors: as many per cycle as there are banks. */
    uint64_t four = cycles_of_load(32, 4, &conflicts);
    assert_int_equal(conflicts, 0);
    uint64_t eight = cycles_of_load(32, 8, &conflicts);
    assert_int_equal(conflicts, 0);
    uint64_t one = cycles_of_load(32, 1, &conflicts);
    assert_int_equal(conflicts, 0);
    assert_true(eight < four && four < one);
    /* All 32 in one bank of four: each of the two loads is held up 31 times. */
    (void)cycles_of_load(128, 4, &conflicts);
    assert_int_equal(conflicts, 2 * 31);
    /* In two of four banks, neighbours in one: pairs conflict. */
    (void)cycles_of_load(64, 4, &conflicts);
    assert_int_equal(conflicts, 2 * 15);
    (void)cycles_of_load(128, 8, &conflicts);
    assert_int_equal(conflicts, 2 * 15);
}

static uint64_t hit_cycles(uint64_t latency)
{
    rig *r = rig_create();
    r->l1_spec.latency_cycles = latency;
    uint32_t load = rig_memory(r, LS_SPACE_GLOBAL, LS_MEM_LOAD, 4, 10, 0);
    uint32_t use = rig_alu(r, LS_CLASS_fp32, 10, 10);
    for (uint32_t i = 0; i < 11; i++) {
        rig_access(r, load, RIG_ALL, 0x1000, 4);
        rig_do(r, use);
    }
    uint64_t cycles = rig_run(r);
    assert_int_equal(r->logged, 4);
    assert_int_equal(r->core->n.l1.hits, 40);
    rig_destroy(r);
    return cycles;
}

static void a_hit_costs_the_latency_of_l1(void **state)
{
    (void)state;
    assert_int_equal(hit_cycles(50) - hit_cycles(30), 11 * 20);
}

/* Two hits of one bank; the second one starts n dependent instructions after the first. */
static uint64_t two_hits(uint32_t n)
{
    rig *r = rig_create();
    r->l1_spec.latency_cycles = 60;
    uint32_t load = rig_memory(r, LS_SPACE_GLOBAL, LS_MEM_LOAD, 4, 10, 0);
    uint32_t later = rig_memory(r, LS_SPACE_GLOBAL, LS_MEM_LOAD, 4, 11, 0);
    r->insts[later].src[0] = 5;
    r->insts[later].src_count = r->insts[later].src_span[0] = 1;
    uint32_t use = rig_alu(r, LS_CLASS_fp32, 10, 10);
    uint32_t add = rig_alu(r, LS_CLASS_fp32, 5, 5);
    rig_access(r, load, 1, 0x1000, 4);
    rig_do(r, use);
    rig_access(r, load, 1, 0x1000, 4);
    for (uint32_t i = 0; i < n; i++)
        rig_do(r, add);
    rig_access(r, later, 1, 0x1000, 4);
    uint64_t cycles = rig_run(r);
    rig_destroy(r);
    return cycles;
}

static void each_hit_takes_its_own_latency(void **state)
{
    (void)state;
    assert_int_equal(two_hits(4) - two_hits(2), 2 * 9);
}

static void loads_that_bypass_l1_always_ask_memory(void **state)
{
    (void)state;
    rig *r = rig_create();
    uint32_t load = rig_memory(r, LS_SPACE_GLOBAL, LS_MEM_LOAD, 4, 10, LS_INST_BYPASS_L1);
    uint32_t use = rig_alu(r, LS_CLASS_fp32, 10, 10);
    for (uint32_t i = 0; i < 3; i++) {
        rig_access(r, load, RIG_ALL, 0x1000, 4);
        rig_do(r, use);
    }
    uint64_t cycles = rig_run(r);
    assert_int_equal(r->logged, 12);
    assert_int_equal(r->core->n.l1.accesses, 0);
    assert_true(cycles > 3 * RIG_NEAR);
    rig_destroy(r);
}

static void a_warp_ends_when_its_stores_are_acknowledged(void **state)
{
    (void)state;
    for (int bypass = 0; bypass < 2; bypass++) {
        rig *r = rig_create();
        uint32_t store = rig_memory(r, LS_SPACE_GLOBAL, LS_MEM_STORE, 4, 0, bypass ? LS_INST_BYPASS_L1 : 0);
        rig_access(r, store, RIG_ALL, RIG_FAR_ADDRESS, 4);
        uint64_t cycles = rig_run(r);
        assert_true(cycles >= RIG_FAR && cycles < RIG_FAR + 60);
        rig_destroy(r);
    }
}

/* ------------------------------------------------------------------------------------------ shared memory */

static uint64_t shared_cycles(uint8_t width, int64_t stride, uint32_t mask, bool list, uint64_t *extra)
{
    rig *r = rig_create();
    uint32_t load = rig_memory(r, LS_SPACE_SHARED, LS_MEM_LOAD, width, 10, 0);
    uint32_t use = rig_alu(r, LS_CLASS_fp32, 10, 10);
    uint64_t at[32];
    uint32_t lanes = (uint32_t)__builtin_popcount(mask);
    for (uint32_t i = 0; i < lanes; i++)
        at[i] = (uint64_t)((int64_t)i * stride);
    for (uint32_t i = 0; i < 5; i++) {
        if (list)
            rig_list(r, load, mask, at);
        else
            rig_access(r, load, mask, 0, stride);
        rig_do(r, use);
    }
    uint64_t cycles = rig_run(r);
    *extra = r->core->n.bank_conflict_cycles;
    assert_int_equal(r->core->n.shared_accesses, 5);
    assert_int_equal(r->logged, 0);
    rig_destroy(r);
    return cycles;
}

static void a_bank_conflict_of_degree_k_costs_k_cycles(void **state)
{
    (void)state;
    static const struct {
        int64_t stride;
        uint32_t mask;
        uint8_t width;
        uint64_t degree;
    } cases[] = {
        { 4, RIG_ALL, 4, 1 },    { 8, RIG_ALL, 4, 2 },   { 12, RIG_ALL, 4, 1 },  { 16, RIG_ALL, 4, 4 },
        { 128, RIG_ALL, 4, 32 }, { 132, RIG_ALL, 4, 1 }, { 0, RIG_ALL, 4, 1 },   { 128, 0xff, 4, 8 },
        { 24, RIG_ALL, 4, 2 },   { 8, RIG_ALL, 8, 2 },   { 16, RIG_ALL, 16, 4 }, { 128, RIG_ALL, 8, 32 },
        { 1, RIG_ALL, 1, 1 },    { 64, 0x3, 4, 1 },      { 128, 0x3, 4, 2 },
    };
    uint64_t none, extra;
    uint64_t base = shared_cycles(4, 4, RIG_ALL, false, &none);
    assert_int_equal(none, 0);
    for (size_t i = 0; i < LS_COUNT_OF(cases); i++)
        for (int list = 0; list < 2; list++) {
            uint64_t cycles = shared_cycles(cases[i].width, cases[i].stride, cases[i].mask, list, &extra);
            assert_int_equal(extra, 5 * (cases[i].degree - 1));
            assert_int_equal(cycles - base, 5 * (cases[i].degree - 1));
        }
}

static uint64_t shared_chain(uint64_t latency)
{
    rig *r = rig_create();
    r->spec.shared_latency_cycles = latency;
    uint32_t load = rig_memory(r, LS_SPACE_SHARED, LS_MEM_LOAD, 4, 10, 0);
    uint32_t use = rig_alu(r, LS_CLASS_fp32, 10, 10);
    for (uint32_t i = 0; i < 7; i++) {
        rig_access(r, load, RIG_ALL, 0, 4);
        rig_do(r, use);
    }
    uint64_t cycles = rig_run(r);
    rig_destroy(r);
    return cycles;
}

static void a_shared_load_costs_its_latency(void **state)
{
    (void)state;
    assert_int_equal(shared_chain(50) - shared_chain(20), 7 * 30);
}

/* Half a warp at a time: the first half conflicts in one pair of banks, the second half in another. */
static void wide_accesses_are_served_by_halves(void **state)
{
    (void)state;
    rig *r = rig_create();
    uint32_t load = rig_memory(r, LS_SPACE_SHARED, LS_MEM_LOAD, 8, 10, 0);
    uint64_t at[32];
    for (uint32_t i = 0; i < 32; i++)
        at[i] = i * 128 + (i < 16 ? 0 : 8);
    rig_list(r, load, RIG_ALL, at);
    (void)rig_run(r);
    assert_int_equal(r->core->n.bank_conflict_cycles, 31);
    rig_destroy(r);
}

/* ------------------------------------------------------------------------------- fences, atomics, copies */

/* The cycle in which the first request for this address left the core. */
static ls_cycle sent(const rig *r, uint64_t address)
{
    for (uint32_t i = 0; i < r->logged; i++)
        if (r->log[i].message.address == address)
            return r->log[i].cycle;
    fail_msg("no request for 0x%llx", (unsigned long long)address);
    return 0;
}

#define MARK UINT64_C(0x8000)

/* A near load, a far atomic without a result, and a mark after them: the load's answer must not release the
 * fence. */
static void a_fence_waits_for_atomics(void **state)
{
    (void)state;
    for (int returns = 0; returns < 2; returns++) {
        rig *r = rig_create();
        uint32_t load = rig_memory(r, LS_SPACE_GLOBAL, LS_MEM_LOAD, 4, 10, 0);
        uint32_t atomic = rig_memory(r, LS_SPACE_GLOBAL, returns ? LS_MEM_ATOMIC : LS_MEM_REDUCTION, 4,
                                     returns ? 12 : 0, LS_INST_BYPASS_L1);
        uint32_t fence = rig_flag(r, LS_CLASS_fence, LS_INST_FENCE, 0);
        uint32_t mark = rig_memory(r, LS_SPACE_GLOBAL, LS_MEM_STORE, 4, 0, LS_INST_BYPASS_L1);
        rig_access(r, load, 1, 0x1000, 4);
        rig_access(r, atomic, 1, RIG_FAR_ADDRESS, 4);
        rig_do(r, fence);
        rig_access(r, mark, 1, MARK, 4);
        (void)rig_run(r);
        ls_cycle begun = sent(r, RIG_FAR_ADDRESS);
        assert_true(sent(r, MARK) >= begun + RIG_FAR);
        assert_true(sent(r, MARK) < begun + RIG_FAR + 40);
        rig_destroy(r);
    }
}

/* An atomic by a generic address that turns out to be shared memory: its warp goes on when it is done, and ends. The
 * pipeline with all stages waits for the latency of shared memory; the other one knows the end beforehand. */
static void an_atomic_by_a_generic_address_ends_in_shared_memory(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        bool returns = kind % 2 != 0;
        rig *r = rig_create();
        r->spec.alu = kind < 2 ? ALU_CYCLE : ALU_ISSUE;
        r->info.shared_base = UINT64_C(0x1000000);
        r->info.local_base = UINT64_C(0x2000000);
        uint32_t atomic = rig_memory(r, LS_SPACE_GENERIC, returns ? LS_MEM_ATOMIC : LS_MEM_REDUCTION, 4,
                                     returns ? 12 : 0, 0);
        uint32_t mark = rig_memory(r, LS_SPACE_GLOBAL, LS_MEM_STORE, 4, 0, LS_INST_BYPASS_L1);
        rig_access(r, atomic, 1, r->info.shared_base + 16, 4);
        rig_access(r, mark, 1, MARK, 4);
        (void)rig_run(r);
        assert_int_equal(r->logged, 1); /* the mark alone went to memory */
        assert_true(kind >= 2 || sent(r, MARK) >= r->spec.shared_latency_cycles);
        assert_true(sent(r, MARK) < r->spec.shared_latency_cycles + 60);
        assert_int_equal(r->dones, 1);
        rig_destroy(r);
    }
}

static void a_fence_waits_for_loads(void **state)
{
    (void)state;
    for (int fenced = 0; fenced < 2; fenced++) {
        rig *r = rig_create();
        uint32_t load = rig_memory(r, LS_SPACE_GLOBAL, LS_MEM_LOAD, 4, 10, 0);
        uint32_t other = rig_memory(r, LS_SPACE_GLOBAL, LS_MEM_LOAD, 4, 11, 0);
        uint32_t fence = rig_flag(r, LS_CLASS_fence, fenced ? LS_INST_FENCE : 0, 0);
        uint32_t mark = rig_memory(r, LS_SPACE_GLOBAL, LS_MEM_STORE, 4, 0, LS_INST_BYPASS_L1);
        rig_access(r, load, 1, 0x1000, 4);
        rig_access(r, other, 1, RIG_FAR_ADDRESS, 4);
        rig_do(r, fence);
        rig_access(r, mark, 1, MARK, 4);
        (void)rig_run(r);
        ls_cycle begun = sent(r, RIG_FAR_ADDRESS);
        if (fenced)
            assert_true(sent(r, MARK) >= begun + RIG_FAR);
        else
            assert_true(sent(r, MARK) < begun + RIG_NEAR);
        rig_destroy(r);
    }
}

/* `before` empty groups, then one far copy and one near one, a group each, and a wait that leaves `open` groups.
 * Returns how long after the far copy the next instruction went to memory. */
static ls_cycle copies(uint32_t before, int64_t open)
{
    rig *r = rig_create();
    uint32_t copy = rig_memory(r, LS_SPACE_GLOBAL, LS_MEM_ASYNC_COPY, 4, 0, LS_INST_BYPASS_L1);
    uint32_t commit = rig_flag(r, LS_CLASS_depbar, LS_INST_ASYNC_COMMIT, 0);
    uint32_t wait = rig_flag(r, LS_CLASS_depbar, LS_INST_ASYNC_WAIT, open);
    uint32_t mark = rig_memory(r, LS_SPACE_GLOBAL, LS_MEM_STORE, 4, 0, LS_INST_BYPASS_L1);
    for (uint32_t i = 0; i < before; i++)
        rig_do(r, commit);
    rig_access(r, copy, 1, 0x1000, 4); /* group `before` */
    rig_do(r, commit);
    rig_access(r, copy, 1, RIG_FAR_ADDRESS, 4); /* group `before` + 1 */
    rig_do(r, commit);
    rig_do(r, wait);
    rig_access(r, mark, 1, MARK, 4);
    (void)rig_run(r);
    ls_cycle after = sent(r, MARK) - sent(r, 0x1000);
    rig_destroy(r);
    return after;
}

static void a_wait_leaves_the_newest_groups_open(void **state)
{
    (void)state;
    assert_true(copies(0, 0) >= RIG_FAR);
    ls_cycle one = copies(0, 1);
    assert_true(one >= RIG_NEAR && one < RIG_NEAR + 60);
    assert_true(copies(0, 2) < RIG_NEAR);
    assert_true(copies(0, 7) < RIG_NEAR);
    assert_true(copies(0, -1) < RIG_NEAR); /* without a number: for none */
}

static void groups_of_copies_wrap_at_256(void **state)
{
    (void)state;
    for (uint32_t before = 246; before <= 266; before++) {
        ls_cycle all = copies(before, 0), one = copies(before, 1);
        assert_true(all >= RIG_FAR && all < RIG_FAR + 60);
        assert_true(one >= RIG_NEAR && one < RIG_NEAR + 60);
        assert_true(copies(before, 2) < RIG_NEAR);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strided_lanes_touch_the_expected_sectors),
        cmocka_unit_test(atomics_on_one_word_take_a_transaction_each),
        cmocka_unit_test(stores_name_their_bytes),
        cmocka_unit_test(a_repeated_pattern_moves_with_its_first_lane),
        cmocka_unit_test(local_memory_is_interleaved_by_thread),
        cmocka_unit_test(a_bank_of_l1_takes_one_sector_per_cycle),
        cmocka_unit_test(a_hit_costs_the_latency_of_l1),
        cmocka_unit_test(each_hit_takes_its_own_latency),
        cmocka_unit_test(loads_that_bypass_l1_always_ask_memory),
        cmocka_unit_test(a_warp_ends_when_its_stores_are_acknowledged),
        cmocka_unit_test(a_bank_conflict_of_degree_k_costs_k_cycles),
        cmocka_unit_test(a_shared_load_costs_its_latency),
        cmocka_unit_test(wide_accesses_are_served_by_halves),
        cmocka_unit_test(a_fence_waits_for_atomics),
        cmocka_unit_test(an_atomic_by_a_generic_address_ends_in_shared_memory),
        cmocka_unit_test(a_fence_waits_for_loads),
        cmocka_unit_test(a_wait_leaves_the_newest_groups_open),
        cmocka_unit_test(groups_of_copies_wrap_at_256),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
