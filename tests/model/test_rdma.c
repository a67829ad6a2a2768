/* test_rdma.c: the RDMA engine. Bytes, latency by a closed form, one message per cycle and direction, limits, order and
 * conservation under random traffic, any number of threads, a saved machine. */
#include "rdma_rig.h"

#define LATENCY(spec) (4 * (spec).latency_cycles + 2 * RIG_WIRE + 10)

static void another_gpus_memory_is_read_written_and_added_to(void **state)
{
    (void)state;
    rig r;
    rig_build(&r, &rig_spec, 1000);
    for (uint32_t i = 0; i < RIG_LINE; i++) {
        r.gpus[1].memory->bytes[5 * RIG_LINE + i] = (uint8_t)(i + 1);
        r.gpus[0].memory->bytes[5 * RIG_LINE + i] = 0xee;
    }
    rig_op *read = rig_add(&r, 0, 0, LS_LINE_READ, 5);
    rig_op *write = rig_add(&r, 0, 0, LS_LINE_WRITE, 5);
    write->m.mask[0] = 0xff00;
    memset(write->m.data, 0x77, RIG_LINE);
    rig_op *add = rig_add(&r, 0, 0, LS_LINE_ATOMIC, 5);
    add->m.mask[0] = 0xf;
    add->m.data[0] = 10;
    rig_run(&r, 1);
    assert_int_equal(read->m.data[0], 1);
    assert_int_equal(read->m.data[63], 64);
    assert_int_equal(add->m.data[0], 1); /* the old value */
    const uint8_t *line = r.gpus[1].memory->bytes + 5 * RIG_LINE;
    assert_int_equal(line[0], 11);
    assert_int_equal(line[7], 8);
    assert_int_equal(line[8], 0x77);
    assert_int_equal(line[15], 0x77);
    assert_int_equal(line[16], 17);
    assert_int_equal(r.gpus[0].memory->bytes[5 * RIG_LINE], 0xee); /* the same frame here */
    const line_rdma_counters *n = rig_counters(&r, 0);
    /* Headers, 8 written bytes and a word of an atomic; answers: a line, nothing and a word. */
    assert_int_equal(n->bytes_out, 3 * LINE_RDMA_REQUEST_BYTES + 8 + 4);
    assert_int_equal(n->bytes_in, 3 * LINE_RDMA_ANSWER_BYTES + RIG_LINE + 4);
    assert_int_equal(n->data_bytes_in, RIG_LINE + 4);
    ls_engine_destroy(r.engine);
}

static void a_pair_of_operands_is_counted_twice(void **state)
{
    (void)state;
    rig r;
    rig_build(&r, &rig_spec, 1000);
    rig_op *swap = rig_add(&r, 1, 0, LS_LINE_ATOMIC, 0);
    swap->m.atomic = AMD_ATOMIC_CMPSWAP;
    swap->m.mask[0] = 0xf0;
    swap->m.flags = 0;
    swap->m.data[4] = 9; /* if the old value is 0 */
    rig_run(&r, 1);
    assert_int_equal(r.gpus[0].memory->bytes[4], 9);
    assert_int_equal(rig_counters(&r, 1)->bytes_out, LINE_RDMA_REQUEST_BYTES + 8);
    assert_int_equal(rig_counters(&r, 1)->bytes_in, LINE_RDMA_ANSWER_BYTES);
    ls_engine_destroy(r.engine);
}

static void latency_is_that_of_its_ways(void **state)
{
    (void)state;
    for (uint64_t cycles = 0; cycles < 8; cycles += 7) {
        rig r;
        line_rdma_spec spec = rig_spec;
        spec.latency_cycles = cycles;
        rig_build(&r, &spec, 1000);
        rig_op *op = rig_add(&r, 0, 0, LS_LINE_READ, 1);
        rig_run(&r, 1);
        assert_int_equal(op->done - op->sent, LATENCY(spec));
        assert_int_equal(rig_counters(&r, 0)->latency_cycles, LATENCY(spec));
        assert_int_equal(rig_counters(&r, 1)->served_latency_cycles, 2 * cycles + 10);
        ls_engine_destroy(r.engine);
    }
}

/* Requests of one GPU alone: the last one leaves count - 1 cycles after the first. Both directions at once: each end
 * sends requests and answers, so that the same traffic takes twice as long. */
static void a_direction_passes_one_message_per_cycle(void **state)
{
    (void)state;
    for (uint32_t per_cycle = 1; per_cycle <= 2; per_cycle++)
        for (uint32_t both = 0; both < 2; both++) {
            rig r;
            line_rdma_spec spec = rig_spec;
            const uint32_t count = 400;
            spec.in_flight = spec.served_in_flight = spec.buffer_messages = 1024;
            spec.messages_per_cycle = per_cycle;
            rig_build(&r, &spec, 4000);
            for (uint32_t g = 0; g <= both; g++) {
                for (uint32_t i = 0; i < count; i++)
                    (void)rig_add(&r, g, 0, LS_LINE_READ, i % RIG_LINES);
                r.gpus[g].clients[0]->per_cycle = 8;
            }
            rig_run(&r, 1);
            const rig_client *c = r.gpus[0].clients[0];
            uint64_t cycles = c->ops[count - 1].done - c->ops[0].sent;
            assert_int_equal(r.gpus[1].memory->same_cycle, per_cycle);
            uint64_t passing = count / per_cycle - 1, least = LATENCY(spec) + passing;
            if (both == 0)
                assert_int_equal(cycles, least);
            else
                assert_in_range(cycles, least + passing - LATENCY(spec), least + passing + LATENCY(spec));
            ls_engine_destroy(r.engine);
        }
}

static void limits_hold(void **state)
{
    (void)state;
    rig r;
    line_rdma_spec spec = rig_spec;
    spec.in_flight = 4;
    rig_build(&r, &spec, 1000);
    for (uint32_t i = 0; i < 100; i++)
        (void)rig_add(&r, 0, i % RIG_CLIENTS, LS_LINE_READ, i % RIG_LINES);
    rig_run(&r, 1);
    assert_int_equal(rig_counters(&r, 0)->in_flight_peak, 4);
    assert_true(rig_counters(&r, 0)->refused > 0);
    for (uint32_t i = 0; i < RIG_CLIENTS; i++) /* none is left behind */
        assert_true(r.gpus[0].clients[i]->peak <= 4 && r.gpus[0].clients[i]->answered >= 33);
    ls_engine_destroy(r.engine);

    spec = rig_spec;
    spec.served_in_flight = 3;
    spec.buffer_messages = 12;
    rig_build(&r, &spec, 1000);
    for (uint32_t i = 0; i < 50; i++)
        (void)rig_add(&r, 0, 0, LS_LINE_READ, i % RIG_LINES);
    rig_run(&r, 1);
    assert_int_equal(rig_counters(&r, 1)->served_peak, 3);
    assert_int_equal(r.gpus[1].memory->inside_peak, 3);
    assert_true(rig_counters(&r, 0)->fabric_waits > 0);
    ls_engine_destroy(r.engine);
}

static void wild_addresses_are_faults(void **state)
{
    (void)state;
    rig r;
    const uint64_t wild[] = { mem_place_physical(0, 2, RIG_BASE), mem_place_physical(1, 0, RIG_BASE),
                              UINT64_C(0xffffffffffff0000), mem_place_physical(0, 1, RIG_BASE << 2) };
    rig_build(&r, &rig_spec, 1000);
    for (uint32_t i = 0; i < LS_COUNT_OF(wild); i++) {
        rig_op *op = rig_add(&r, 0, 0, LS_LINE_READ, 0);
        op->m.address = wild[i];
        memset(op->m.data, 0xff, RIG_LINE);
    }
    rig_start(&r);
    RIG_OK(ls_run(r.engine, &(ls_run_options){ 0 }, NULL, err));
    for (uint32_t i = 0; i < LS_COUNT_OF(wild); i++) {
        const rig_op *op = &r.gpus[0].clients[0]->ops[i];
        assert_int_equal(op->answers, 1);
        assert_true((op->m.flags & LS_LINE_FAULT) != 0);
        assert_int_equal(op->m.data[0], 0);
    }
    assert_int_equal(rig_counters(&r, 1)->served_reads, 1); /* the last one has an owner, without that frame */
    assert_int_equal(rig_counters(&r, 0)->faults, 4);
    ls_engine_destroy(r.engine);
}

/* ---------------------------------------------------------------------------------------------- random traffic */

/* Client i writes its own lines, reads them back and adds to a line of all. */
static void add_random(rig *r, uint64_t seed)
{
    ls_random random;
    ls_random_init(&random, seed);
    for (uint32_t g = 0; g < RIG_GPUS; g++)
        for (uint32_t i = 0; i < RIG_CLIENTS; i++) {
            ls_cycle at = 1;
            for (uint32_t k = 0; k < 300; k++) {
                uint32_t kind = (uint32_t)ls_random_below(&random, 3),
                         line = i * 20 + (uint32_t)ls_random_below(&random, 5);
                rig_op *op = rig_add(r, g, i, kind, kind == LS_LINE_ATOMIC ? RIG_LINES - 1 : line);
                memset(op->m.data, (int)(k + 1), RIG_LINE);
                if (kind == LS_LINE_ATOMIC) {
                    op->m.mask[0] = 0xf;
                    memset(op->m.data, 0, 4);
                    op->m.data[0] = 1;
                }
                at += ls_random_below(&random, 10) == 0 ? ls_random_below(&random, 200) : 0;
                op->at = at;
            }
            r->gpus[g].clients[i]->per_cycle = 2;
        }
}

/* A read returns the bytes of the last write before it of the same requester. */
static void reads_see_earlier_writes(const rig *r)
{
    uint32_t adds[RIG_GPUS] = { 0 }, sum;
    for (uint32_t g = 0; g < RIG_GPUS; g++)
        for (uint32_t i = 0; i < RIG_CLIENTS; i++) {
            uint8_t now[RIG_LINES] = { 0 };
            const rig_client *c = r->gpus[g].clients[i];
            for (uint32_t k = 0; k < c->count; k++) {
                uint32_t line = (uint32_t)(mem_place_frame(c->ops[k].m.address) - RIG_BASE) / RIG_LINE;
                if (c->ops[k].m.kind == LS_LINE_WRITE)
                    now[line] = (uint8_t)(k + 1);
                else if (c->ops[k].m.kind == LS_LINE_READ)
                    assert_int_equal(c->ops[k].m.data[k % RIG_LINE], now[line]);
                else
                    adds[g]++;
            }
        }
    for (uint32_t g = 0; g < RIG_GPUS; g++) {
        memcpy(&sum, r->gpus[1 - g].memory->bytes + (RIG_LINES - 1) * RIG_LINE, 4);
        assert_int_equal(sum, adds[g]);
    }
}

/* Of all answers, times and counters. */
static uint64_t digest(const rig *r)
{
    uint64_t hash = 14695981039346656037u;
    for (uint32_t g = 0; g < RIG_GPUS; g++) {
        const uint64_t *n = (const uint64_t *)(const void *)rig_counters(r, g);
        for (size_t i = 0; i < sizeof(line_rdma_counters) / sizeof *n; i++)
            hash = (hash ^ n[i]) * 1099511628211u;
        for (uint32_t i = 0; i < RIG_CLIENTS; i++)
            for (uint32_t k = 0; k < r->gpus[g].clients[i]->count; k++) {
                const rig_op *op = &r->gpus[g].clients[i]->ops[k];
                hash = (hash ^ op->sent) * 1099511628211u;
                hash = (hash ^ op->done ^ (uint64_t)op->m.data[0] << 32) * 1099511628211u;
            }
    }
    return hash;
}

static line_rdma_spec random_spec(uint64_t seed)
{
    ls_random random;
    ls_random_init(&random, seed);
    return (line_rdma_spec){ .in_flight = 1 + ls_random_below(&random, 20),
                             .served_in_flight = 1 + ls_random_below(&random, 20),
                             .buffer_messages = 1 + ls_random_below(&random, 8),
                             .latency_cycles = ls_random_below(&random, 5),
                             .messages_per_cycle = 1 + ls_random_below(&random, 2) };
}

static void random_traffic_is_complete_and_in_order(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        rig r;
        uint64_t first = 0;
        const line_rdma_spec spec = random_spec(seed);
        for (uint32_t threads = 1; threads <= 8; threads += threads == 3 ? 5 : 1) {
            rig_build(&r, &spec, 1 + (uint32_t)seed % 9);
            add_random(&r, seed);
            rig_run(&r, threads);
            reads_see_earlier_writes(&r);
            assert_true(rig_counters(&r, 0)->in_flight_peak <= spec.in_flight);
            if (threads == 1)
                first = digest(&r);
            assert_int_equal(digest(&r), first);
            ls_engine_destroy(r.engine);
        }
    }
}

static void a_saved_machine_goes_on(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        rig r, s;
        void *bytes;
        size_t count;
        const line_rdma_spec spec = random_spec(seed);
        rig_build(&r, &spec, 5);
        add_random(&r, seed);
        rig_start(&r);
        RIG_OK(ls_run(r.engine, &(ls_run_options){ .until = (100 + 131 * seed) * 1000000 }, NULL, err));
        RIG_OK(ls_engine_save(r.engine, &bytes, &count, err));
        rig_build(&s, &spec, 5);
        RIG_OK(ls_engine_load(s.engine, bytes, count, err));
        free(bytes);
        RIG_OK(ls_run(r.engine, &(ls_run_options){ .threads = 1 }, NULL, err));
        RIG_OK(ls_run(s.engine, &(ls_run_options){ .threads = 2 }, NULL, err));
        rig_is_complete(&s);
        reads_see_earlier_writes(&s);
        assert_int_equal(digest(&s), digest(&r));
        ls_engine_destroy(r.engine);
        ls_engine_destroy(s.engine);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_gpus_memory_is_read_written_and_added_to),
        cmocka_unit_test(a_pair_of_operands_is_counted_twice),
        cmocka_unit_test(latency_is_that_of_its_ways),
        cmocka_unit_test(a_direction_passes_one_message_per_cycle),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(wild_addresses_are_faults),
        cmocka_unit_test(random_traffic_is_complete_and_in_order),
        cmocka_unit_test(a_saved_machine_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
