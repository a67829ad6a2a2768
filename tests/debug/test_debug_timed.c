/* test_debug_timed.c: a debugger in simulated time changes nothing: times, all counters and memory are those of a run
 * without it. Its stops are the same each time, in the order of time, whatever the number of threads. */
#include "runtime/driver/driver_test.h"

#include "lockstep/block.h"
#include "model/cu/cu_debug.h"
#include "runtime/driver/debugger.h"
#include "runtime/timing/timing.h"

#define COUNT 512u
#define TAPS 8u
#define QUEUES 2u
#define PREBUILT LS_SOURCE_DIR "/workloads/prebuilt/"
#define DATA LS_SOURCE_DIR "/tests/data/debug/"

/* ------------------------------------------------------------------------------------------- the debugger */

/* Looks at everything at every stop. */
typedef struct looker {
    ls_gpu_debugger hooks;
    const drv_launched *launch;
    uint64_t stops, sum;
    ls_time last;
    bool is_in_order;
    uint64_t flights, most_flights, waits, begun, ended;
    uint64_t instructions; /* of launches that have ended */
    uint64_t end_at;       /* stop with this number ends the launch; 0: none */
} looker;

static uint64_t mix(uint64_t sum, uint64_t value)
{
    return (sum ^ value) * UINT64_C(0x9e3779b97f4a7c15) + (sum >> 29);
}

static void look_around(looker *l, const emulate_stop *s)
{
    const drv_view *view = l->launch->view;
    uint32_t gpu, waves = 0;
    void *unit;
    for (size_t i = 0; (unit = view->unit(view->self, i, &gpu)) != NULL; i++)
        for (uint32_t slot = 0; slot < cu_debug_slots(unit); slot++) {
            cu_look look;
            cu_flight flights[16];
            char why[300];
            if (!cu_debug_look(unit, slot, &look))
                continue;
            waves++;
            size_t count = cu_debug_flights(unit, slot, flights, LS_COUNT_OF(flights));
            for (size_t k = 1; k < count && k < LS_COUNT_OF(flights); k++)
                assert_true(flights[k - 1].issued <= flights[k].issued);
            uint64_t held = 0, holders = 0;
            for (size_t k = 0; k < count && k < LS_COUNT_OF(flights); k++)
                holders += flights[k].counters != 0;
            for (unsigned k = 0; k < CU_COUNTERS; k++)
                held += look.counter[k];
            assert_true(holders <= held); /* each holds one counter, or more */
            l->flights += count;
            l->most_flights = count > l->most_flights ? count : l->most_flights;
            cu_debug_waits(unit, slot, why, sizeof why);
            assert_true(strlen(why) > 5);
            l->waits += strncmp(why, "it waits", 8) == 0;
        }
    assert_true(waves > 0);
    drv_copy copies[8];
    float value;
    uint64_t arg;
    memcpy(&arg, l->launch->dispatch->kernarg, sizeof arg);
    assert_int_equal(view->read(view->self, arg, &value, sizeof value, NULL), LS_OK);
    assert_true(value == -7); /* the first input, wherever it is */
    assert_true(view->copies(view->self, arg, 4, copies, LS_COUNT_OF(copies)) > 0);
    l->sum = mix(mix(mix(l->sum, s->unit->time), s->pc), s->wave | (uint64_t)s->work_group[0] << 8);
}

static bool before(void *self, const emulate_stop *s)
{
    looker *l = self;
    l->stops++;
    l->is_in_order &= s->unit->time >= l->last;
    l->last = s->unit->time;
    if (l->stops % 7 == 1)
        look_around(l, s);
    return l->stops != l->end_at;
}

static bool after(void *self, const emulate_stop *s)
{
    looker *l = self;
    l->sum = mix(l->sum, s->waves[s->wave]->stop);
    return true;
}

static void fault(void *self, const emulate_stop *s)
{
    (void)self;
    fail_msg("a fault in wave %u", s->wave);
}

static void begin(void *self, const drv_launched *launch)
{
    looker *l = self;
    l->launch = launch;
    l->begun += !launch->resumes;
}

static void end(void *self, ls_status status, const ls_gpu_counts *counts)
{
    looker *l = self;
    (void)status;
    l->instructions += counts->instructions;
    l->ended++;
}

static looker *make_looker(looker *l)
{
    *l = (looker){ .is_in_order = true };
    l->hooks = (ls_gpu_debugger){ .hooks = { .self = l, .before = before, .after = after, .fault = fault },
                                  .begin = begin,
                                  .end = end };
    return l;
}

/* -------------------------------------------------------------------------------------------- the program */

typedef struct machine {
    const char *target, *platform, *object;
} machine;

static const machine nano = { "gfx803", LS_SOURCE_DIR "/platforms/r9nano.yaml", PREBUILT "gfx803/fir.co" };
static const machine navi = { "gfx1030", LS_SOURCE_DIR "/platforms/w6800.yaml", DATA "reverse.co" };

typedef struct outcome {
    ls_time end;
    uint64_t counters, memory;
} outcome;

static uint64_t sum_counters(ls_engine *engine)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < ls_engine_block_count(engine); i++) {
        ls_block *block = ls_engine_block(engine, i);
        const ls_block_type *type = ls_block_type_of(block);
        const uint8_t *counters = (const uint8_t *)ls_block_state(block) + type->counters_offset;
        for (size_t k = 0; k < type->metric_count; k++) {
            uint64_t value;
            memcpy(&value, counters + type->metrics[k].offset, sizeof value);
            sum = mix(sum, value);
        }
    }
    return sum;
}

static ls_status launch_fir(const bench *b, ls_gpu_queue *queue, const ls_gpu_address buffers[4])
{
    uint32_t taps = TAPS, count = COUNT;
    ls_gpu_arg args[] = { LS_GPU_ARG(buffers[0]), LS_GPU_ARG(buffers[1]), LS_GPU_ARG(buffers[2]),
                          LS_GPU_ARG(buffers[3]), LS_GPU_ARG(taps),       LS_GPU_ARG(count) };
    ls_gpu_launch l = { .grid = { COUNT }, .group = { 64 }, .args = args, .arg_count = 6 };
    return ls_gpu_queue_launch(queue, bench_kernel(b, "fir"), &l, NULL, &err);
}

static ls_status launch_reverse(const bench *b, ls_gpu_queue *queue, const ls_gpu_address buffers[4])
{
    float factor = 2;
    uint32_t count = COUNT;
    ls_gpu_arg args[] = { LS_GPU_ARG(buffers[0]), LS_GPU_ARG(buffers[1]), LS_GPU_ARG(factor),
                          LS_GPU_ARG(count) };
    ls_gpu_launch l = { .grid = { COUNT }, .group = { 64 }, .args = args, .arg_count = 4 };
    return ls_gpu_queue_launch(queue, bench_kernel(b, "reverse"), &l, NULL, &err);
}

/* Two queues, each with a launch of its own: they run side by side. */
static outcome run(const machine *m, uint32_t threads, const ls_gpu_debugger *debugger, ls_status wanted)
{
    ls_gpu_options options = {
        .platform = m->platform, .threads = threads, .debugger = debugger, .gpu_count = 1
    };
    static float in[COUNT], got[COUNT];
    bench b = { 0 };
    options.gpus = &m->target;
    OK(ls_gpu_system_create(&options, &b.system, &err));
    OK(ls_gpu_context_create(b.system, &b.context, &err));
    OK(ls_gpu_module_load_file(b.context, m->object, &b.module, &err));
    ls_gpu_queue *queues[QUEUES];
    ls_gpu_address buffers[QUEUES][4];
    for (uint32_t i = 0; i < COUNT; i++)
        in[i] = (float)(i % 61) - 7;
    for (uint32_t q = 0; q < QUEUES; q++) {
        OK(ls_gpu_queue_create(b.context, &queues[q], &err));
        for (uint32_t k = 0; k < 4; k++) {
            buffers[q][k] = bench_buffer(&b, sizeof in);
            OK(ls_gpu_copy_in(b.context, buffers[q][k], in, sizeof in, &err));
        }
    }
    for (uint32_t q = 0; q < QUEUES; q++)
        OK(m == &nano ? launch_fir(&b, queues[q], buffers[q]) : launch_reverse(&b, queues[q], buffers[q]));
    ls_status status = ls_gpu_sync(b.context, &err);
    assert_int_equal(status, wanted);
    outcome out = { 0 };
    for (uint32_t q = 0; q < QUEUES && status == LS_OK; q++) {
        OK(ls_gpu_copy_out(b.context, got, buffers[q][1], sizeof got, &err));
        for (uint32_t i = 0; i < COUNT; i++) {
            uint32_t bits;
            memcpy(&bits, &got[i], sizeof bits);
            out.memory = mix(out.memory, bits);
        }
    }
    out.end = timing_result(b.system).end_time;
    out.counters = sum_counters(timing_engine(b.system));
    bench_close(&b);
    return out;
}

/* --------------------------------------------------------------------------------------------------- tests */

static void check(const machine *m)
{
    looker one, three;
    outcome plain = run(m, 1, NULL, LS_OK), many = run(m, 3, NULL, LS_OK);
    outcome watched = run(m, 1, &make_looker(&one)->hooks, LS_OK);
    outcome again = run(m, 3, &make_looker(&three)->hooks, LS_OK);
    assert_int_equal(plain.end, many.end);
    assert_int_equal(watched.end, plain.end);
    assert_int_equal(watched.counters, plain.counters);
    assert_int_equal(watched.memory, plain.memory);
    assert_int_equal(again.counters, plain.counters);
    assert_true(one.is_in_order);
    assert_true(one.stops > 1000);
    assert_int_equal(one.stops, one.instructions); /* each once */
    assert_int_equal(one.stops, three.stops);
    assert_int_equal(one.sum, three.sum);
    assert_int_equal(one.begun, QUEUES);
    assert_int_equal(one.ended, QUEUES);
    assert_true(one.flights > 0 && one.waits > 0);
}

static void gcn(void **unused)
{
    (void)unused;
    check(&nano);
}

static void rdna(void **unused)
{
    (void)unused;
    check(&navi);
}

/* False ends the launch with one sentence; the machine comes to rest. */
static void ends(void **unused)
{
    (void)unused;
    looker l;
    make_looker(&l)->end_at = 300;
    (void)run(&nano, 1, &l.hooks, LS_ERR_CHECK);
    if (!strstr(err.what, "the debugger ended the launch"))
        fail_msg("it says: %s", err.what);
    assert_true(l.ended >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gcn),
        cmocka_unit_test(rdna),
        cmocka_unit_test(ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
