/* test_line_snoop.c: coherence between the L2s of several dies. A die that writes back is seen by others; one that does
 * not need not be. Litmus tests of message passing, with filters of any size and for any number of threads. */
#include "line_rig.h"

#define LINE 128u

static rig_shape dies(uint32_t count, uint64_t entries)
{
    rig_shape shape = rig_shape_default(LINE);
    shape.clusters = count;
    shape.l0 = rig_cache(4, 4, LINE, WRITE_BACK);
    shape.passing_l0 = LS_LINE_DLC;
    shape.snoop_entries = entries;
    shape.dram.atoms_per_cycle.num = 4;
    return shape;
}

static rig_op flush_at(ls_cycle at)
{
    return (rig_op){ .m = { .kind = LS_LINE_FLUSH }, .fence = true, .at = at };
}

static rig_op read_at(uint64_t address, ls_cycle at)
{
    rig_op op = rig_read(address);
    op.fence = true;
    op.at = at;
    return op;
}

static rig_op write_at(uint64_t line, uint32_t offset, uint32_t bytes, uint8_t value, ls_cycle at)
{
    rig_op op = rig_write(line, offset, bytes, value);
    op.fence = true;
    op.at = at;
    return op;
}

static const uint64_t *snoop_counters(const rig *r, uint32_t channel) /* probes, held, forgotten */
{
    ls_block *block = r->snoops[channel];
    return (const uint64_t *)(const void *)((const char *)ls_block_state(block) +
                                            ls_block_type_of(block)->counters_offset);
}

/* Die 1 has read the line before die 0 writes it. */
static void a_write_is_seen_when_it_is_written_back(void **state)
{
    (void)state;
    rig_shape shape = dies(2, 64);
    rig *r = rig_create(&shape, 65536);
    rig_op writer[3] = { write_at(r->base, 8, 4, 7, 1000), flush_at(3000), read_at(r->base, 3500) };
    rig_op reader[3] = { read_at(r->base, 1), read_at(r->base, 2000), read_at(r->base, 6000) };
    rig_script(r, 0, writer, 3);
    rig_script(r, 1, reader, 3);
    rig_run(r);
    assert_int_equal(reader[0].reply.data[8], 0);
    assert_int_equal(reader[1].reply.data[8], 0); /* in die 0's L2 alone: old, and a hit */
    assert_int_equal(rig_counters(r->l0[1])->read_hits, 1);
    assert_int_equal(reader[2].reply.data[8], 7);
    assert_int_equal(writer[2].reply.data[8], 7); /* it kept its line */
    assert_int_equal(snoop_counters(r, 0)[0], 1);
    rig_destroy(r);
}

/* The answer to the flush comes after the probe's: a probe takes a link there and back. */
static void a_write_back_waits_for_probes(void **state)
{
    (void)state;
    ls_cycle took[2];
    for (uint32_t shared = 0; shared < 2; shared++) {
        rig_shape shape = dies(2, 64);
        rig *r = rig_create(&shape, 65536);
        rig_op writer[2] = { write_at(r->base, 0, 128, 1, 1000), flush_at(3000) };
        rig_op reader[1] = { read_at(r->base + (shared ? 0 : 4096), 1) };
        rig_script(r, 0, writer, 2);
        rig_script(r, 1, reader, 1);
        rig_run(r);
        took[shared] = writer[1].done - writer[1].sent;
        assert_int_equal(snoop_counters(r, 0)[0], shared);
        assert_int_equal(snoop_counters(r, 0)[1], shared);
        rig_destroy(r);
    }
    /* The home answers after 12 cycles, the probe after two links of 20. */
    assert_int_equal(took[1] - took[0], 2 * 20 - 12);
}

/* Two dies write parts of one line; both write back. Neither part is lost, and each sees the other's. */
static void parts_of_a_line_are_joined(void **state)
{
    (void)state;
    rig_shape shape = dies(2, 64);
    rig *r = rig_create(&shape, 65536);
    rig_op a[4] = { read_at(r->base, 1), write_at(r->base, 0, 16, 5, 500), flush_at(1000),
                    read_at(r->base, 9000) };
    rig_op b[4] = { read_at(r->base, 1), write_at(r->base, 64, 16, 6, 500), flush_at(4000),
                    read_at(r->base, 9000) };
    rig_script(r, 0, a, 4);
    rig_script(r, 1, b, 4);
    rig_run(r);
    for (uint32_t i = 0; i < 16; i++) {
        assert_int_equal(a[3].reply.data[i], 5);
        assert_int_equal(a[3].reply.data[64 + i], 6);
        assert_int_equal(b[3].reply.data[i], 5);
        assert_int_equal(b[3].reply.data[64 + i], 6);
    }
    assert_int_equal(line_cache_dirty_lines(r->l0[0]) + line_cache_dirty_lines(r->l0[1]), 0);
    rig_destroy(r);
}

/* An atomic happens at home and drops copies: the other die's, and its own. */
static void atomics_drop_copies(void **state)
{
    (void)state;
    rig_shape shape = dies(2, 64);
    rig *r = rig_create(&shape, 65536);
    rig_op writer[2] = { write_at(r->base, 0, 4, 0, 1000), read_at(r->base, 5000) };
    writer[0].m.flags = LS_LINE_DLC; /* past its L2, as a store with sc1 */
    rig_op reader[2] = { read_at(r->base, 1), read_at(r->base, 5000) };
    writer[0].m.data[0] = 9;
    rig_script(r, 0, writer, 2);
    rig_script(r, 1, reader, 2);
    rig_run(r);
    assert_int_equal(reader[1].reply.data[0], 9);
    assert_int_equal(writer[1].reply.data[0], 9);
    assert_int_equal(snoop_counters(r, 0)[0], 1);
    rig_destroy(r);
}

/* --- message passing under load --- */

enum { ROUNDS = 12, DATA_LINES = 24, PER_ROUND = DATA_LINES + 2, READS = 400 };

/* Die 0 writes value v into many lines, writes back, then v into a flag past its L2. Others read the flag past theirs, then
 * some line. The value of the line is at least the flag's. Returns a sum of all times. */
static uint64_t pass_messages(uint64_t entries, uint32_t threads, uint64_t *forgotten)
{
    rig_shape shape = dies(3, entries);
    shape.channels = 2;
    shape.threads = threads;
    rig *r = rig_create(&shape, 1 << 20);
    const uint64_t flag = r->base + 65536;
    rig_op *writer = calloc(ROUNDS * PER_ROUND, sizeof *writer), *reader[2];
    uint64_t sum = 0;
    for (uint32_t v = 0; v < ROUNDS; v++) {
        rig_op *ops = writer + v * PER_ROUND;
        for (uint32_t i = 0; i < DATA_LINES; i++)
            ops[i] = rig_write(r->base + i * 512, 0, 128, (uint8_t)(v + 1));
        ops[0].fence = true;
        ops[DATA_LINES] = flush_at(0);
        ops[DATA_LINES + 1] = write_at(flag, 0, 1, (uint8_t)(v + 1), 0);
        ops[DATA_LINES + 1].m.flags = LS_LINE_DLC;
    }
    rig_script(r, 0, writer, ROUNDS * PER_ROUND);
    for (uint32_t k = 0; k < 2; k++) {
        reader[k] = calloc(READS * 2, sizeof(rig_op));
        for (uint32_t i = 0; i < READS; i++) {
            reader[k][2 * i] = read_at(flag, 0);
            reader[k][2 * i].m.flags = LS_LINE_DLC;
            reader[k][2 * i + 1] = read_at(r->base + (i * 7 + k) % DATA_LINES * 512, 0);
        }
        rig_script(r, k + 1, reader[k], READS * 2);
    }
    rig_run(r);
    uint32_t seen = 0, last = 0;
    for (uint32_t k = 0; k < 2; k++)
        for (uint32_t i = 0; i < READS; i++) {
            uint8_t v = reader[k][2 * i].reply.data[0], got = reader[k][2 * i + 1].reply.data[0];
            if (got < v)
                fail_msg("die %u saw flag %u, then %u in a line that was written before it", k + 1, v, got);
            seen += v != 0 && i > 0 && v != last;
            last = v;
            sum += reader[k][2 * i + 1].done * (i + 1);
        }
    assert_true(seen >= ROUNDS / 2); /* both sides did run at the same time */
    *forgotten = snoop_counters(r, 0)[2] + snoop_counters(r, 1)[2];
    free(writer);
    free(reader[0]);
    free(reader[1]);
    rig_destroy(r);
    return sum;
}

static void messages_pass_between_dies(void **state)
{
    (void)state;
    static const uint32_t threads[] = { 2, 3, 8 };
    static const uint64_t entries[] = { 16, 64, 1024 };
    for (size_t i = 0; i < LS_COUNT_OF(entries); i++) {
        uint64_t forgotten, again, sum = pass_messages(entries[i], 1, &forgotten);
        assert_int_equal(forgotten != 0, entries[i] == 16);
        for (size_t k = 0; k < LS_COUNT_OF(threads); k++) {
            assert_int_equal(pass_messages(entries[i], threads[k], &again), sum);
            assert_int_equal(again, forgotten);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_write_is_seen_when_it_is_written_back),
        cmocka_unit_test(a_write_back_waits_for_probes),
        cmocka_unit_test(parts_of_a_line_are_joined),
        cmocka_unit_test(atomics_drop_copies),
        cmocka_unit_test(messages_pass_between_dies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
