/* Mbarriers and bulk copies of a core: closed forms of waits and transfers, phases, groups of stores, requests, and
 * waits that never end. */
#include "model/core_rig.h"

#define FULL UINT64_C(0x40) /* addresses of mbarriers */
#define FREE UINT64_C(0x48)
#define ACT 13u
#define WAKE 12u

static rig *async_rig(uint32_t alu)
{
    rig *r = rig_create();
    r->spec.async.model = ASYNC_CYCLE;
    r->spec.async.mbarrier = (mbarrier_spec){ .act_cycles = ACT, .wake_cycles = WAKE };
    r->spec.alu = alu;
    return r;
}

static uint32_t mbarrier_inst(rig *r, ls_mbarrier_op op)
{
    return rig_inst(r, (ls_inst){
                           .class_ = LS_CLASS_depbar, .flags = LS_INST_MBARRIER, .mbarrier_op = (uint8_t)op });
}

static uint32_t bulk_inst(rig *r, ls_bulk_op op, uint8_t dimensions)
{
    return rig_inst(r, (ls_inst){ .class_ = LS_CLASS_misc,
                                  .flags = LS_INST_BULK,
                                  .bulk_op = (uint8_t)op,
                                  .bulk_dimensions = dimensions });
}

static void word(rig *r, uint64_t value)
{
    assert_true(r->cta.addr_count < RIG_ADDRS);
    r->addrs[r->cta.addr_count++] = value;
}

static void operate(rig *r, uint32_t inst, uint32_t mask, uint64_t address, uint64_t operand)
{
    rig_dyn(r, inst, mask, (uint32_t)r->cta.addr_count << 2 | LS_ADDR_RECORD);
    word(r, ls_record_head(LS_RECORD_MBARRIER, LS_ADDR_STRIDE, 1, 4));
    word(r, address);
    word(r, 0);
    word(r, operand);
}

static void init(rig *r, uint32_t inst, uint64_t address, uint32_t arrivals)
{
    operate(r, inst, 1, address, (UINT64_C(0x100000) - arrivals) << 1);
}

/* Transfers of `width` bytes, `pitch` apart. */
static void copy(rig *r, uint32_t inst, uint64_t place, uint64_t from, uint32_t count, uint32_t width,
                 uint64_t pitch, uint64_t outside)
{
    rig_dyn(r, inst, 1, (uint32_t)r->cta.addr_count << 2 | LS_ADDR_RECORD);
    word(r, ls_record_head(LS_RECORD_BULK, 3, 0, LS_BULK_WORD_ADDRESSES + count));
    word(r, place);
    word(r, (uint64_t)count * width + outside);
    word(r, outside);
    word(r, count);
    for (uint32_t i = 0; i < count; i++)
        word(r, from + i * pitch);
}

/* -------------------------------------------------------------------------------------------------- mbarriers */

/* Two warps hand a turn to each other: the cycles of `rounds` rounds. */
static uint64_t ping_pong(uint32_t alu, uint32_t rounds)
{
    rig *r = async_rig(alu);
    uint32_t start = mbarrier_inst(r, LS_MBARRIER_INIT), arrive = mbarrier_inst(r, LS_MBARRIER_ARRIVE_ONE);
    uint32_t wait = mbarrier_inst(r, LS_MBARRIER_WAIT);
    init(r, start, FULL, 1);
    init(r, start, FREE, 1);
    for (uint32_t i = 0; i < rounds; i++) {
        operate(r, arrive, 1, FULL, 0);
        operate(r, wait, RIG_ALL, FREE, i & 1);
    }
    rig_warp(r);
    for (uint32_t i = 0; i < rounds; i++) {
        operate(r, wait, RIG_ALL, FULL, i & 1);
        operate(r, arrive, 1, FREE, 0);
    }
    uint64_t cycles = rig_run(r);
    const core_counters *n = &r->core->n;
    assert_int_equal(n->async.mbarrier.phases, 2 * rounds);
    assert_int_equal(n->async.mbarrier.waits, 2 * rounds);
    assert_int_equal(n->async.mbarrier.operations, 2 + 2 * rounds);
    assert_true(n->stalls[STALL_MBARRIER] > 0);
    rig_destroy(r);
    return cycles;
}

static void test_chain_of_waits(void **state)
{
    (void)state;
    assert_int_equal(ping_pong(ALU_CYCLE, 30) - ping_pong(ALU_CYCLE, 10), 20 * 2 * (ACT + WAKE));
    assert_int_equal(ping_pong(ALU_ISSUE, 30) - ping_pong(ALU_ISSUE, 10), 20 * 2 * (ACT + WAKE));
}

/* A wait ends before an operation that was issued earlier takes effect. */
static uint64_t wait_beside(bool other)
{
    rig *r = async_rig(ALU_CYCLE);
    r->spec.async.mbarrier = (mbarrier_spec){ .act_cycles = 50, .wake_cycles = 1 };
    uint32_t start = mbarrier_inst(r, LS_MBARRIER_INIT), arrive = mbarrier_inst(r, LS_MBARRIER_ARRIVE_ONE);
    uint32_t wait = mbarrier_inst(r, LS_MBARRIER_WAIT), chain = rig_alu(r, LS_CLASS_fp32, 4, 4);
    init(r, start, FULL, 1);
    init(r, start, FREE, 2);
    operate(r, arrive, 1, FULL, 0);
    rig_warp(r);
    operate(r, wait, RIG_ALL, FULL, 0);
    for (uint32_t i = 0; i < 100; i++)
        rig_do(r, chain);
    rig_warp(r);
    for (uint32_t i = 0; i < 3; i++)
        rig_do(r, chain);
    if (other)
        operate(r, arrive, 1, FREE, 0);
    uint64_t cycles = rig_run(r);
    rig_destroy(r);
    return cycles;
}

static void test_effects_in_the_order_of_time(void **state)
{
    (void)state;
    assert_int_equal(wait_beside(true), wait_beside(false));
}

/* A phase needs all arrivals, lane by lane, and a wait for the other parity does not wait. */
static void test_arrivals_of_lanes(void **state)
{
    (void)state;
    rig *r = async_rig(ALU_CYCLE);
    uint32_t start = mbarrier_inst(r, LS_MBARRIER_INIT), one = mbarrier_inst(r, LS_MBARRIER_ARRIVE_ONE);
    uint32_t many = mbarrier_inst(r, LS_MBARRIER_ARRIVE), wait = mbarrier_inst(r, LS_MBARRIER_WAIT);
    uint32_t test = mbarrier_inst(r, LS_MBARRIER_TEST);
    init(r, start, FULL, 32 + 3 + 1);
    operate(r, wait, RIG_ALL, FULL, 1); /* the phase before the first one is over */
    operate(r, one, RIG_ALL, FULL, 0);
    operate(r, many, 1, FULL, 3);
    operate(r, test, RIG_ALL, FULL, 0);
    operate(r, one, 1, FULL, 0);
    operate(r, test, RIG_ALL, FULL, 0);
    operate(r, wait, RIG_ALL, FULL, 0);
    (void)rig_run(r);
    const mbarrier_counters *n = &r->core->n.async.mbarrier;
    assert_int_equal(n->phases, 1);
    assert_int_equal(n->tests, 2);
    assert_int_equal(n->tests_failed, 1);
    assert_int_equal(n->slept, 0);
    rig_destroy(r);
}

/* The wait ends when the last of the warp's copies before the arrival is there; later copies do not count. */
static uint64_t after_copies(uint64_t before, uint64_t later)
{
    rig *r = async_rig(ALU_CYCLE);
    uint32_t start = mbarrier_inst(r, LS_MBARRIER_INIT), wait = mbarrier_inst(r, LS_MBARRIER_WAIT);
    uint32_t arrive = mbarrier_inst(r, LS_MBARRIER_ASYNC_ARRIVE);
    uint32_t ldgsts = rig_memory(r, LS_SPACE_GLOBAL, LS_MEM_ASYNC_COPY, 4, 0, LS_INST_BYPASS_L1);
    init(r, start, FULL, 32);
    rig_access(r, ldgsts, RIG_ALL, before, 4);
    rig_access(r, arrive, RIG_ALL, FULL, 0);
    rig_access(r, ldgsts, RIG_ALL, later, 4);
    operate(r, wait, RIG_ALL, FULL, 0);
    (void)rig_run(r);
    assert_int_equal(r->core->n.async.mbarrier.phases, 1);
    uint64_t waited = r->core->n.stalls[STALL_MBARRIER];
    rig_destroy(r);
    return waited;
}

static void test_asynchronous_arrivals(void **state)
{
    (void)state;
    uint64_t near = after_copies(0x100, 0x200), far = after_copies(RIG_FAR_ADDRESS, 0x200);
    assert_in_range(far - near, RIG_FAR - RIG_NEAR - 8, RIG_FAR - RIG_NEAR + 8);
    assert_in_range(after_copies(0x100, RIG_FAR_ADDRESS), near, near + 8);
}

/* ------------------------------------------------------------------------------------------------- bulk copies */

typedef struct load {
    uint32_t alu, bytes;
    uint8_t dimensions;
    bool late; /* bytes are expected after they have come */
    uint64_t setup, rate, outside;
} load;

/* Cycles of a copy and the wait for it. */
static uint64_t load_cycles(const load *l, uint64_t *requests)
{
    rig *r = async_rig(l->alu);
    if (l->setup != 0)
        r->spec.async.tma.setup_cycles = l->setup;
    if (l->rate != 0)
        r->spec.async.tma.bytes_per_cycle = l->rate;
    uint32_t start = mbarrier_inst(r, LS_MBARRIER_INIT), wait = mbarrier_inst(r, LS_MBARRIER_WAIT);
    uint32_t expect = mbarrier_inst(r, LS_MBARRIER_ARRIVE_EXPECT);
    uint32_t bulk = bulk_inst(r, LS_BULK_LOAD, l->dimensions), nop = rig_alu(r, LS_CLASS_fp32, 4, 4);
    init(r, start, FULL, 1);
    if (!l->late)
        operate(r, expect, 1, FULL, l->bytes + l->outside);
    copy(r, bulk, FULL, 0x1000, l->bytes / 32, 32, 32, l->outside);
    for (uint32_t i = 0; i < 200 && l->late; i++)
        rig_do(r, nop);
    if (l->late)
        operate(r, expect, 1, FULL, l->bytes + l->outside);
    operate(r, wait, RIG_ALL, FULL, 0);
    uint64_t cycles = rig_run(r);
    const tma_counters *n = &r->core->n.async.tma;
    assert_int_equal(n->loads, 1);
    assert_int_equal(n->bytes, l->bytes + l->outside);
    assert_int_equal(n->outside_bytes, l->outside);
    assert_int_equal(r->core->n.async.mbarrier.phases, 1);
    if (requests != NULL)
        *requests = n->sectors;
    rig_destroy(r);
    return cycles;
}

/* The core's port brings one sector per cycle; the engine makes addresses at its rate. */
static void test_bytes_of_a_copy(void **state)
{
    (void)state;
    for (uint32_t alu = ALU_CYCLE; alu <= ALU_ISSUE; alu++) {
        uint64_t sectors;
        uint64_t little = load_cycles(&(load){ .alu = alu, .bytes = 1024 }, NULL);
        assert_int_equal(load_cycles(&(load){ .alu = alu, .bytes = 5120 }, &sectors) - little, 4096 / 32);
        assert_int_equal(sectors, 5120 / 32);
        uint64_t slow = load_cycles(&(load){ .alu = alu, .bytes = 1024, .rate = 8 }, NULL);
        assert_int_equal(load_cycles(&(load){ .alu = alu, .bytes = 5120, .rate = 8 }, NULL) - slow, 4096 / 8);
        uint64_t uneven = load_cycles(&(load){ .alu = alu, .bytes = 1024, .rate = 24 }, NULL);
        assert_in_range(load_cycles(&(load){ .alu = alu, .bytes = 5120, .rate = 24 }, NULL) - uneven,
                        4096 / 24, 4096 / 24 + 1);
        /* Set-up is a latency: 100 by default, 66 for a tensor, 115 for each further dimension. */
        assert_int_equal(load_cycles(&(load){ .alu = alu, .bytes = 1024, .setup = 175 }, NULL) - little, 75);
        assert_int_equal(load_cycles(&(load){ .alu = alu, .bytes = 1024, .dimensions = 1 }, NULL) - little,
                         66);
        assert_int_equal(load_cycles(&(load){ .alu = alu, .bytes = 1024, .dimensions = 3 }, NULL) - little,
                         66 + 2 * 115);
    }
}

/* From issue: set-up, one sector to memory and back, the port of shared memory, the way to the warp. */
static void test_latency_of_a_copy(void **state)
{
    (void)state;
    uint64_t cycles = load_cycles(&(load){ .alu = ALU_CYCLE, .bytes = 32 }, NULL);
    assert_in_range(cycles, 100 + RIG_NEAR + WAKE, 100 + RIG_NEAR + WAKE + 16);
}

static void test_bytes_before_they_are_expected(void **state)
{
    (void)state;
    uint64_t early = load_cycles(&(load){ .alu = ALU_CYCLE, .bytes = 32, .late = true, .setup = 1 }, NULL);
    uint64_t other = load_cycles(&(load){ .alu = ALU_CYCLE, .bytes = 1024, .late = true, .setup = 1 }, NULL);
    assert_int_equal(early, other); /* the phase ends with the arrival */
}

static void test_bytes_outside(void **state)
{
    (void)state;
    uint64_t sectors;
    uint64_t whole = load_cycles(&(load){ .alu = ALU_CYCLE, .bytes = 1024 }, NULL);
    assert_int_equal(load_cycles(&(load){ .alu = ALU_CYCLE, .bytes = 1024, .outside = 512 }, &sectors), whole);
    assert_int_equal(sectors, 32);
    (void)load_cycles(&(load){ .alu = ALU_CYCLE, .bytes = 0, .outside = 512 }, &sectors);
    assert_int_equal(sectors, 0);
}

/* Requests of a copy of 16-byte transfers: neighbours in a sector are one request. */
static rig *requests_of(ls_bulk_op op, uint32_t width, uint64_t pitch)
{
    rig *r = async_rig(ALU_CYCLE);
    uint32_t bulk = bulk_inst(r, op, 0);
    copy(r, bulk, 0, 0x1010, 4, width, pitch, 0);
    (void)rig_run(r);
    return r;
}

static void test_requests(void **state)
{
    (void)state;
    rig *r = requests_of(LS_BULK_STORE, 16, 16);
    assert_int_equal(r->logged, 3); /* 0x1010 to 0x1050 */
    assert_int_equal(r->log[0].message.kind, LS_SECTOR_WRITE);
    assert_int_equal(r->log[0].message.address, 0x1000);
    assert_int_equal(r->log[0].message.byte_mask, 0xffff0000u);
    assert_int_equal(r->log[1].message.byte_mask, UINT32_MAX);
    assert_int_equal(r->log[2].message.byte_mask, 0x0000ffffu);
    rig_destroy(r);
    r = requests_of(LS_BULK_REDUCE, 16, 64);
    assert_int_equal(r->logged, 4);
    assert_int_equal(r->log[3].message.kind, LS_SECTOR_ATOMIC);
    assert_int_equal(r->log[3].message.address, 0x10c0);
    assert_int_equal(r->core->n.async.tma.reductions, 1);
    rig_destroy(r);
    r = requests_of(LS_BULK_PREFETCH, 32, 32);
    assert_int_equal(r->logged, 5); /* not aligned */
    assert_int_equal(r->log[0].message.kind, LS_SECTOR_READ);
    rig_destroy(r);
}

/* A line of which a copy reads or writes sectors. */
typedef struct line_sectors {
    uint64_t line;
    uint32_t sectors; /* a bit each */
} line_sectors;

#define TRANSFERS 12u

/* Transfer by transfer, sector by sector: neighbours in a line are one request. */
static uint32_t expected_lines(const uint64_t *from, uint32_t count, uint32_t width, line_sectors *out)
{
    uint32_t lines = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint64_t at = from[i] & ~UINT64_C(31); at < from[i] + width; at += 32) {
            if (lines == 0 || out[lines - 1].line != (at & ~UINT64_C(127)))
                out[lines++] = (line_sectors){ .line = at & ~UINT64_C(127) };
            out[lines - 1].sectors |= 1u << (at / 32 & 3);
        }
    return lines;
}

static void check_lines(ls_bulk_op op, const uint64_t *from, uint32_t count, uint32_t width)
{
    line_sectors expected[4 * TRANSFERS];
    uint32_t lines = expected_lines(from, count, width, expected);
    rig *r = async_rig(ALU_CYCLE);
    r->lines = true;
    rig_dyn(r, bulk_inst(r, op, 0), 1, (uint32_t)r->cta.addr_count << 2 | LS_ADDR_RECORD);
    word(r, ls_record_head(LS_RECORD_BULK, 3, 0, LS_BULK_WORD_ADDRESSES + count));
    word(r, 0);
    word(r, (uint64_t)count * width);
    word(r, 0);
    word(r, count);
    for (uint32_t i = 0; i < count; i++)
        word(r, from[i]);
    (void)rig_run(r);
    assert_int_equal(r->logged, lines);
    uint64_t sectors = 0;
    for (uint32_t i = 0; i < lines; i++) {
        assert_int_equal(r->log[i].message.address, expected[i].line);
        assert_int_equal(r->log[i].message.sectors, expected[i].sectors);
        sectors += ls_sector_bits(expected[i].sectors);
    }
    assert_int_equal(r->core->n.async.tma.sectors, sectors);
    assert_int_equal(r->core->n.requests_sent, sectors);
    rig_destroy(r);
}

static void test_requests_for_lines(void **state)
{
    (void)state;
    static const struct {
        uint32_t width;
        uint64_t first, pitch;
    } regular[] = { { 128, 0x1000, 0x800 }, { 64, 0x1040, 0x800 }, { 32, 0x1060, 0x80 },
                    { 64, 0x1000, 64 },     { 32, 0x1020, 32 },    { 96, 0x1000, 96 },
                    { 256, 0x1000, 0x400 }, { 64, 0x1060, 0x100 }, { 64, 0x1010, 0x100 },
                    { 16, 0x1010, 16 },     { 128, 0x1020, 128 } };
    uint64_t from[TRANSFERS];
    for (size_t i = 0; i < LS_COUNT_OF(regular); i++) {
        for (uint32_t k = 0; k < TRANSFERS; k++)
            from[k] = regular[i].first + k * regular[i].pitch;
        for (uint32_t count = 1; count <= TRANSFERS; count++)
            check_lines(LS_BULK_PREFETCH, from, count, regular[i].width);
    }
    /* Halves of a line, some behind each other and some not, also where four requests end. */
    static const uint64_t halves[TRANSFERS] = { 0x1000, 0x1080, 0x1100, 0x1180, 0x11c0, 0x1240,
                                                0x1200, 0x1300, 0x1000, 0x1040, 0x1400, 0x1010 };
    for (uint32_t count = 1; count <= TRANSFERS; count++)
        check_lines(LS_BULK_PREFETCH, halves, count, 64);
    check_lines(LS_BULK_STORE, halves, TRANSFERS - 1, 64); /* the last has parts of sectors */
}

/* Stores of parts of sectors are sector by sector, those around them are not. */
static void test_stores_of_parts(void **state)
{
    (void)state;
    rig *r = async_rig(ALU_CYCLE);
    r->lines = true;
    copy(r, bulk_inst(r, LS_BULK_STORE, 0), 0, 0x1000, 2, 48, 0x810, 0); /* 0x1000 and 0x1810 */
    (void)rig_run(r);
    static const struct {
        uint64_t address;
        uint32_t mask;
    } parts[] = { { 0x1000, UINT32_MAX }, { 0x1020, 0xffff }, { 0x1800, 0xffff0000 } };
    assert_int_equal(r->logged, 4);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(r->log[i].message.address, parts[i].address);
        assert_int_equal(r->log[i].message.byte_mask, parts[i].mask);
        assert_int_equal(r->log[i].message.sectors, 0);
    }
    assert_int_equal(r->log[3].message.address, 0x1800); /* a whole sector again: of its line */
    assert_int_equal(r->log[3].message.sectors, 2);
    rig_destroy(r);
}

/* Two groups of stores: one is written soon, one late. Slots lost to a wait that leaves `kept` of them open. */
static uint64_t wait_for_groups(int64_t kept, uint32_t group_wait, uint32_t alu)
{
    rig *r = async_rig(alu);
    r->spec.async.tma.group_wait = group_wait;
    uint32_t bulk = bulk_inst(r, LS_BULK_STORE, 0), commit = bulk_inst(r, LS_BULK_COMMIT, 0);
    uint32_t wait = rig_flag(r, LS_CLASS_depbar, LS_INST_ASYNC_WAIT, kept),
             nop = rig_alu(r, LS_CLASS_fp32, 4, 4);
    copy(r, bulk, 0, 0x100, 4, 32, 32, 0);
    rig_do(r, commit);
    copy(r, bulk, 0, RIG_FAR_ADDRESS, 4, 32, 32, 0);
    rig_do(r, commit);
    rig_do(r, wait);
    rig_do(r, nop);
    (void)rig_run(r);
    uint64_t waited = r->core->n.stalls[STALL_ASYNC];
    rig_destroy(r);
    return waited;
}

static void test_groups_of_stores(void **state)
{
    (void)state;
    for (uint32_t alu = ALU_CYCLE; alu <= ALU_ISSUE; alu++) {
        uint64_t near = 100 + RIG_NEAR, far = 100 + RIG_FAR;
        assert_in_range(wait_for_groups(1, TMA_WAIT_COMPLETE, alu), near - 10, near + 20);
        assert_in_range(wait_for_groups(0, TMA_WAIT_COMPLETE, alu), far - 10, far + 20);
        assert_in_range(wait_for_groups(0, TMA_WAIT_READ, alu), 80, 130);
        assert_int_equal(wait_for_groups(2, TMA_WAIT_COMPLETE, alu), 0);
    }
}

/* A full queue holds the warp that issues the next copy, not the others. */
static void test_full_queue(void **state)
{
    (void)state;
    rig *r = async_rig(ALU_CYCLE);
    r->spec.async.tma.queue = 1;
    uint32_t bulk = bulk_inst(r, LS_BULK_PREFETCH, 0);
    for (uint32_t i = 0; i < 3; i++)
        copy(r, bulk, 0, 0x1000 + 0x100 * i, 2, 32, 32, 0);
    uint64_t cycles = rig_run(r);
    assert_int_equal(r->core->n.async.tma.held, 2);
    assert_true(cycles > 2 * (100 + RIG_NEAR));
    rig_destroy(r);
}

/* -------------------------------------------------------------------------------------------------- failures */

static ls_status try_run(rig *r, ls_error *err)
{
    ls_run_result result;
    rig_prepare(r);
    return ls_run(r->engine, &(ls_run_options){ .threads = 1 }, &result, err);
}

static void test_wait_that_never_ends(void **state)
{
    (void)state;
    rig *r = async_rig(ALU_CYCLE);
    ls_error err = { 0 };
    uint32_t start = mbarrier_inst(r, LS_MBARRIER_INIT), wait = mbarrier_inst(r, LS_MBARRIER_WAIT);
    uint32_t expect = mbarrier_inst(r, LS_MBARRIER_ARRIVE_EXPECT);
    init(r, start, FULL, 2);
    operate(r, expect, 1, FULL, 256);
    operate(r, wait, RIG_ALL, FULL, 0);
    assert_int_equal(try_run(r, &err), LS_ERR_DEADLOCK);
    assert_non_null(strstr(ls_engine_report(r->engine),
                           "mbarrier 0x40 of block 0: phase 0 lacks 1 of 2 arrivals and 256 bytes"));
    rig_destroy(r);
}

static void test_mbarrier_that_is_not_there(void **state)
{
    (void)state;
    rig *r = async_rig(ALU_CYCLE);
    ls_error err = { 0 };
    operate(r, mbarrier_inst(r, LS_MBARRIER_ARRIVE), 1, FREE, 1);
    assert_int_equal(try_run(r, &err), LS_ERR_INPUT);
    assert_non_null(strstr(err.what, "block 0 uses the mbarrier at 0x48, which it has not initialised"));
    rig_destroy(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chain_of_waits),
        cmocka_unit_test(test_effects_in_the_order_of_time),
        cmocka_unit_test(test_arrivals_of_lanes),
        cmocka_unit_test(test_asynchronous_arrivals),
        cmocka_unit_test(test_bytes_of_a_copy),
        cmocka_unit_test(test_latency_of_a_copy),
        cmocka_unit_test(test_bytes_before_they_are_expected),
        cmocka_unit_test(test_bytes_outside),
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_requests_for_lines),
        cmocka_unit_test(test_stores_of_parts),
        cmocka_unit_test(test_groups_of_stores),
        cmocka_unit_test(test_full_queue),
        cmocka_unit_test(test_wait_that_never_ends),
        cmocka_unit_test(test_mbarrier_that_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
