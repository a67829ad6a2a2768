/* test_dma_save.c: a machine with a DMA engine is saved between transfers, and in the middle of one, and goes on in a new
 * one with the same times. */
#include "line_rig.h"

#include "lockstep/dma.h"

#define BYTES 6000u

/* As the parameters of src/model/amd/dma.c, in their order. */
typedef struct spec {
    uint64_t in_flight;
    uint64_t copy_in_cycles, copy_out_cycles, copy_cycles;
    uint64_t host_latency_cycles, host_packet_bytes;
    ls_ratio host_bytes_per_cycle;
} spec;

typedef struct machine {
    rig *r;
    ls_block *dma;
    ls_dma_job job;
    ls_cycle begun, ended;
    ls_event event;
    ls_region *region;
} machine;

static uint8_t source[BYTES];

static const ls_dma_ops *ops_of(const machine *m)
{
    return ls_block_type_port(ls_block_type_of(m->dma), LS_DMA_INTERFACE, false)->ops;
}

static void over(void *self, ls_dma_job *job, ls_cycle now)
{
    machine *m = self;
    (void)job;
    m->ended = now;
}

static void start(void *self, ls_cycle now)
{
    machine *m = self;
    m->begun = now;
    ops_of(m)->start(ls_block_state(m->dma), &m->job, now);
}

static machine *build(uint32_t threads)
{
    machine *m = calloc(1, sizeof *m);
    assert_non_null(m);
    rig_shape shape = rig_shape_default(64);
    shape.threads = threads;
    shape.channels = 2;
    m->r = rig_create(&shape, 65536);
    m->region = m->r->cluster_regions[0];
    const spec s = { .in_flight = 16,
                     .copy_in_cycles = 10,
                     .copy_cycles = 20,
                     .host_latency_cycles = 50,
                     .host_packet_bytes = 256,
                     .host_bytes_per_cycle = ls_ratio_make(63, 4) };
    rig_block(m->region, "dma0", LS_DMA_SLOT, "line", &s, &m->dma);
    assert_int_equal(ls_block_type_of(m->dma)->spec_size, sizeof s);
    RIG_OK(ops_of(m)->attach(ls_block_state(m->dma), m->r->l0[0], err));
    ls_event_init(&m->event, start, m);
    return m;
}

static void destroy(machine *m)
{
    rig_destroy(m->r);
    free(m);
}

static void run(machine *m, ls_time until)
{
    const ls_run_options options = { .threads = m->r->shape.threads, .until = until };
    RIG_OK(ls_run(m->r->engine, &options, NULL, err));
}

/* A copy from the host, then one inside the GPU, which finds lines of the first in caches. */
static void begin(machine *m, bool second)
{
    m->job = (ls_dma_job){ .kind = second ? LS_DMA_COPY : LS_DMA_IN,
                           .to = m->r->base + (second ? 20000 : 100),
                           .from = m->r->base + 100,
                           .bytes = BYTES,
                           .host_from = source,
                           .done = over,
                           .self = m };
    m->ended = 0;
    ls_schedule(m->region, &m->event, 1);
}

static void transfer(machine *m, bool second)
{
    begin(m, second);
    run(m, 0);
    assert_true(m->ended > m->begun);
}

static uint64_t counters_of(const machine *m)
{
    const uint64_t *n = (const uint64_t *)(const void *)((const char *)ls_block_state(m->dma) +
                                                         ls_block_type_of(m->dma)->counters_offset);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < 11; i++)
        sum = sum * 31 + n[i];
    return sum;
}

static void transfers_go_on_after_saving(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < BYTES; i++)
        source[i] = (uint8_t)(i * 7 + i / 256);
    machine *m = build(1);
    transfer(m, false);
    void *saved;
    size_t bytes;
    RIG_OK(ls_engine_save(m->r->engine, &saved, &bytes, err));
    machine *to = build(3);
    memcpy(address_space_host(to->r->address_space, to->r->base, 65536),
           address_space_host(m->r->address_space, m->r->base, 65536), 65536);
    RIG_OK(ls_engine_load(to->r->engine, saved, bytes, err));
    free(saved);
    transfer(m, true);
    transfer(to, true);
    assert_int_equal(to->begun, m->begun);
    assert_int_equal(to->ended, m->ended);
    assert_int_equal(counters_of(to), counters_of(m));
    rig_op flush = { .m = { .kind = LS_LINE_FLUSH, .atomic = 1 } };
    rig_script(to->r, 0, &flush, 1);
    rig_run(to->r);
    assert_memory_equal(address_space_host(to->r->address_space, to->r->base + 20000, BYTES), source, BYTES);
    destroy(m);
    destroy(to);
}

/* The transfer is memory of its client, who saves what it holds and lists it as an object. */
static void a_transfer_goes_on_after_saving(void **state)
{
    (void)state;
    for (uint32_t second = 0; second < 2; second++) {
        machine *m = build(1), *to = build(2);
        void *saved;
        size_t bytes;
        ls_error missing = { 0 };
        transfer(m, false);
        ls_time now = (m->ended + 200 + second * 40) * UINT64_C(1000000);
        begin(m, second != 0);
        run(m, now);
        assert_int_equal(m->ended, 0);
        const ls_state_object from = { &m->job, sizeof m->job }, there = { &to->job, sizeof to->job };
        RIG_OK(ls_engine_save_with(m->r->engine, &(ls_state_objects){ &from, 1 }, &saved, &bytes, err));
        machine *without = build(1);
        assert_int_equal(ls_engine_load(without->r->engine, saved, bytes, &missing), LS_ERR_INPUT);
        to->job = m->job;
        to->job.self = to;
        to->begun = m->begun;
        memcpy(address_space_host(to->r->address_space, to->r->base, 65536),
               address_space_host(m->r->address_space, m->r->base, 65536), 65536);
        RIG_OK(ls_engine_load_with(to->r->engine, &(ls_state_objects){ &there, 1 }, saved, bytes, err));
        free(saved);
        run(m, 0);
        run(to, 0);
        assert_true(m->ended > m->begun);
        assert_int_equal(to->ended, m->ended);
        assert_int_equal(counters_of(to), counters_of(m));
        destroy(m);
        destroy(to);
        destroy(without);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transfers_go_on_after_saving),
        cmocka_unit_test(a_transfer_goes_on_after_saving),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
