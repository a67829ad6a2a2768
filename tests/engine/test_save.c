/* test_save.c: saving and loading a machine: every kind of row, the order of events and waiters, and refusals by
 * name. Whole machines in other processes: tests/examples/test_queueing_save.c, tests/model/test_state.c. */
#include "engine/fixture.h"

#include "engine/state.h"

#include <stdio.h>

/* -------------------------------------------------------------------------------------------------- a block */

typedef struct cell {
    ls_event event;
    uint64_t runs;
} cell;

/* One of each kind of row. */
typedef struct toy {
    ls_region *region;
    const char *name;
    run_log *log;    /* the test's */
    uint32_t number; /* of the block */
    uint32_t numbers_count;
    uint64_t *numbers; /* grows */
    cell cells[3];
    cell *far_cells;     /* two */
    ls_link *link;       /* changes */
    uint64_t *favourite; /* into counts */
    const char *word;    /* one of the test's */
    uint64_t counts[4];
    ls_event tick;
} toy;

static uint64_t numbers_length(const void *self)
{
    return ((const toy *)self)->numbers_count;
}

static uint64_t two(const void *self)
{
    (void)self;
    return 2;
}

static const char *const words[] = { "one", "two" };

static uint64_t encode_word(const void *state, const void *self, const void *pointer)
{
    assert_ptr_equal(state, self);
    return pointer == words[0] ? 1 : pointer == words[1] ? 2 : 99;
}

/* The other rows are there already. */
static void *decode_word(void *state, void *self, uint64_t code)
{
    assert_ptr_equal(state, self);
    assert_int_equal(((const toy *)self)->counts[3], 13);
    return code > LS_COUNT_OF(words) ? NULL : (void *)(uintptr_t)words[code - 1];
}

static const ls_state_row cell_rows[] = { LS_STATE_EVENT(cell, event), LS_STATE_DATA(cell, runs) };

static const ls_state_row toy_rows[] = {
    LS_STATE_FIXED_SPAN(toy, region, number),
    LS_STATE_DATA(toy, numbers_count),
    LS_STATE_ARRAY(toy, numbers, numbers_length),
    LS_STATE_PARTS(toy, cells, cell_rows),
    LS_STATE_ARRAY_OF(toy, far_cells, two, cell_rows),
    LS_STATE_LINK(toy, link),
    LS_STATE_OWN(toy, favourite),
    LS_STATE_CODED(toy, word, encode_word, decode_word),
    LS_STATE_DATA(toy, counts),
    LS_STATE_EVENT(toy, tick),
};

static void cell_run(void *self, ls_cycle now)
{
    (void)now;
    ((cell *)self)->runs++;
}

static void toy_tick(void *self, ls_cycle now)
{
    toy *t = self;
    log_add(t->log, t->number, now);
}

static ls_status toy_init(ls_block *block, void *state, const void *spec, ls_error *err)
{
    toy *t = state;
    (void)spec;
    (void)err;
    t->region = ls_block_region(block);
    t->name = ls_block_name(block);
    t->number = (uint32_t)(t->name[3] - '0');
    t->far_cells = ls_domain_alloc(ls_region_domain(t->region), 2 * sizeof *t->far_cells);
    assert_non_null(t->far_cells);
    for (int i = 0; i < 3; i++)
        ls_event_init(&t->cells[i].event, cell_run, &t->cells[i]);
    for (int i = 0; i < 2; i++)
        ls_event_init(&t->far_cells[i].event, cell_run, &t->far_cells[i]);
    ls_event_init(&t->tick, toy_tick, t);
    ls_schedule(t->region, &t->cells[0].event, 5); /* a loaded machine must forget this one */
    return LS_OK;
}

static const ls_block_type toy_type = { .abi = LS_ABI_VERSION,
                                        .slot = "test",
                                        .name = "toy",
                                        .state_size = sizeof(toy),
                                        .init = toy_init,
                                        .rows = toy_rows,
                                        .row_count = LS_COUNT_OF(toy_rows) };

/* ------------------------------------------------------------------------------------------------- a machine */

enum { TOYS = 4 };

typedef struct machine {
    ls_engine *engine;
    ls_region *region[2];
    ls_link *link;
    toy *toy[TOYS];
    run_log log;
} machine;

static void receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    machine *m = self;
    log_add(&m->log, 100 + *(const uint32_t *)payload, now);
    ls_link_release(link, 1);
}

static ls_block *add_block(machine *m, const char *name, const ls_block_type *type)
{
    ls_block *block;
    ls_error err = { 0 };
    if (ls_block_create(m->region[0], name, type, NULL, &block, &err) != LS_OK)
        fail_msg("%s", err.what);
    return block;
}

static void build(machine *m)
{
    *m = (machine){ .engine = new_engine() };
    m->region[0] = new_domain(m->engine, "a", GHZ);
    m->region[1] = new_domain(m->engine, "b", GHZ);
    m->link = new_link(m->engine, &(ls_link_spec){ .name = "link",
                                                   .from = m->region[0],
                                                   .to = m->region[1],
                                                   .latency_cycles = 20,
                                                   .credits = 2,
                                                   .payload_bytes = sizeof(uint32_t),
                                                   .receive = receive,
                                                   .receiver = m });
    for (int i = 0; i < TOYS; i++) {
        char name[8];
        snprintf(name, sizeof name, "toy%d", i);
        m->toy[i] = ls_block_state(add_block(m, name, &toy_type));
        m->toy[i]->log = &m->log;
    }
}

typedef struct saved {
    void *bytes;
    size_t count;
} saved;

static saved save(const machine *m)
{
    saved s;
    ls_error err = { 0 };
    if (ls_engine_save(m->engine, &s.bytes, &s.count, &err) != LS_OK)
        fail_msg("%s", err.what);
    return s;
}

static void load(machine *m, const saved *s)
{
    ls_error err = { 0 };
    if (ls_engine_load(m->engine, s->bytes, s->count, &err) != LS_OK)
        fail_msg("%s", err.what);
}

static void test_every_kind_of_row(void **state)
{
    (void)state;
    machine m, n;
    build(&m);
    toy *t = m.toy[2];
    t->numbers_count = 3;
    t->numbers = ls_domain_alloc(ls_region_domain(m.region[0]), 3 * sizeof *t->numbers);
    for (uint64_t i = 0; i < 3; i++)
        t->numbers[i] = 70 + i;
    t->cells[1].runs = 11;
    t->far_cells[1].runs = 12;
    t->link = m.link;
    t->favourite = &t->counts[3];
    t->counts[3] = 13;
    t->word = words[1];
    ls_cancel(&t->cells[0].event);
    ls_schedule(t->region, &t->cells[2].event, 9);
    ls_schedule(t->region, &t->far_cells[0].event, 5000); /* beyond the wheel */
    saved s = save(&m);

    build(&n);
    n.toy[0]->favourite = n.toy[0]->counts; /* NULL in the machine that was saved */
    load(&n, &s);
    toy *u = n.toy[2];
    assert_ptr_not_equal(u->numbers, t->numbers);
    assert_int_equal(u->numbers_count, 3);
    for (uint64_t i = 0; i < 3; i++)
        assert_int_equal(u->numbers[i], 70 + i);
    assert_int_equal(u->cells[1].runs, 11);
    assert_int_equal(u->far_cells[1].runs, 12);
    assert_ptr_equal(u->link, n.link);
    assert_ptr_equal(u->favourite, &u->counts[3]);
    assert_int_equal(*u->favourite, 13);
    assert_ptr_equal(u->word, words[1]);
    assert_null(n.toy[0]->word);
    assert_null(n.toy[0]->favourite);
    assert_null(n.toy[0]->link);
    assert_string_equal(u->name, "toy2");
    assert_false(ls_event_scheduled(&u->cells[0].event));
    assert_true(ls_event_scheduled(&n.toy[1]->cells[0].event));
    ls_run_result result = run_all(n.engine);
    assert_int_equal(u->cells[0].runs, 0);
    assert_int_equal(u->cells[2].runs, 1);
    assert_int_equal(u->far_cells[0].runs, 1);
    assert_int_equal(n.toy[1]->cells[0].runs, 1);
    assert_int_equal(result.end_time, 5000 * FS_PER_GHZ_CYCLE);
    ls_engine_destroy(m.engine);
    ls_engine_destroy(n.engine);
    free(s.bytes);
}

/* A number that means nothing to the block. */
static void test_codes_that_are_refused(void **state)
{
    machine m, n;
    ls_error err = { 0 };
    (void)state;
    build(&m);
    m.toy[1]->word = "three";
    m.toy[1]->counts[3] = 13;
    saved s = save(&m);
    build(&n);
    assert_int_equal(ls_engine_load(n.engine, s.bytes, s.count, &err), LS_ERR_INPUT);
    assert_string_equal(err.what,
                        "block 'toy1' (test/toy): its saved 'word' is of something that is not there");
    ls_engine_destroy(m.engine);
    ls_engine_destroy(n.engine);
    free(s.bytes);
}

/* Equal cycles in the order of scheduling, near and far, also for those scheduled after loading. */
static void test_order_of_events(void **state)
{
    (void)state;
    for (ls_cycle cycle = 50; cycle < 4000; cycle += 3000) {
        machine m, n;
        build(&m);
        static const int order[] = { 2, 0, 3 };
        for (size_t i = 0; i < LS_COUNT_OF(order); i++)
            ls_schedule_at(m.region[0], &m.toy[order[i]]->tick, cycle);
        saved s = save(&m);
        saved again = save(&m); /* saving leaves everything as it was */
        assert_int_equal(s.count, again.count);
        assert_memory_equal(s.bytes, again.bytes, s.count);
        build(&n);
        load(&n, &s);
        ls_schedule_at(n.region[0], &n.toy[1]->tick, cycle);
        run_all(n.engine);
        assert_log(&n.log, { 2, cycle }, { 0, cycle }, { 3, cycle }, { 1, cycle });
        ls_engine_destroy(m.engine);
        ls_engine_destroy(n.engine);
        free(s.bytes);
        free(again.bytes);
    }
}

/* ------------------------------------------------------------------------------------------------- links */

static void send_or_wait(void *self, ls_cycle now)
{
    toy *t = self;
    uint32_t *payload = ls_link_send(t->link, 4);
    (void)now;
    if (payload == NULL)
        ls_link_wait(t->link, &t->tick);
    else
        *payload = t->number;
}

static void make_senders(machine *m)
{
    for (int i = 0; i < TOYS; i++) {
        m->toy[i]->link = m->link;
        ls_event_init(&m->toy[i]->tick, send_or_wait, m->toy[i]);
    }
}

/* Four senders, two credits, a way of 20 cycles: cut in every cycle, with messages or credits under way. */
static void test_messages_credits_and_waiters(void **state)
{
    (void)state;
    for (ls_cycle cut = 1; cut < 110; cut++)
        for (uint32_t threads = 1; threads <= 2; threads++) {
            machine m, n;
            build(&m);
            make_senders(&m);
            static const int order[] = { 3, 1, 0, 2 };
            for (int i = 0; i < TOYS; i++)
                ls_schedule_at(m.region[0], &m.toy[order[i]]->tick, 10);
            run_with(m.engine, &(ls_run_options){ .until = cut * FS_PER_GHZ_CYCLE });
            saved s = save(&m);
            build(&n);
            make_senders(&n);
            load(&n, &s);
            n.log = m.log;
            run_with(n.engine, &(ls_run_options){ .threads = threads });
            assert_log(&n.log, { 103, 30 }, { 101, 30 }, { 100, 70 }, { 102, 70 });
            assert_int_equal(ls_link_credits(n.link), 2);
            ls_engine_destroy(m.engine);
            ls_engine_destroy(n.engine);
            free(s.bytes);
        }
}

/* ---------------------------------------------------------------------------------------------- refusals */

static void assert_refused(const ls_block_type *type, const char *expected)
{
    machine m;
    void *bytes;
    size_t count;
    ls_error err = { 0 };
    build(&m);
    add_block(&m, "odd", type);
    assert_int_not_equal(ls_engine_save(m.engine, &bytes, &count, &err), LS_OK);
    assert_null(bytes);
    assert_string_equal(err.what, expected);
    ls_engine_destroy(m.engine);
}

typedef struct odd {
    uint64_t a, b;
    ls_link *link;
    uint64_t *own;
} odd;

#define ODD_TYPE(...)                                                                                         \
    {                                                                                                         \
        .abi = LS_ABI_VERSION, .slot = "test", .name = "odd", .state_size = sizeof(odd), __VA_ARGS__          \
    }
#define ODD_ROWS(rows_) .rows = (rows_), .row_count = LS_COUNT_OF(rows_)

static ls_status point_away(ls_block *block, void *state, const void *spec, ls_error *err)
{
    static uint64_t elsewhere;
    (void)block;
    (void)spec;
    (void)err;
    ((odd *)state)->own = &elsewhere;
    return LS_OK;
}

static void test_tables_that_are_refused(void **state)
{
    (void)state;
    assert_refused(&(ls_block_type)ODD_TYPE(.fini = NULL),
                   "block 'odd' cannot be saved: its type test/odd has no state table");
    static const ls_state_row gap[] = { LS_STATE_DATA(odd, a), LS_STATE_LINK(odd, link),
                                        LS_STATE_OWN(odd, own) };
    assert_refused(&(ls_block_type)ODD_TYPE(ODD_ROWS(gap)),
                   "block 'odd' (test/odd): no row of its state table covers byte 8 of a struct of 32");
    static const ls_state_row twice[] = { LS_STATE_DATA_SPAN(odd, a, link), LS_STATE_DATA(odd, b) };
    assert_refused(&(ls_block_type)ODD_TYPE(ODD_ROWS(twice)),
                   "block 'odd' (test/odd): row 'b' of its state table covers bytes of a row before it");
    static const ls_state_row kind[] = { LS_STATE_EVENT(odd, a) };
    assert_refused(&(ls_block_type)ODD_TYPE(ODD_ROWS(kind)),
                   "block 'odd' (test/odd): row 'a' of its state table has the wrong kind for its field");
    static const ls_state_row beyond[] = { { .name = "x", .offset = 24, .size = 16 } };
    assert_refused(&(ls_block_type)ODD_TYPE(ODD_ROWS(beyond)),
                   "block 'odd' (test/odd): row 'x' of its state table reaches beyond the struct");
    static const ls_state_row endless[] = {
        { .name = "own", .kind = LS_STATE_KIND_ARRAY, .offset = offsetof(odd, own), .size = 8, .element = 8 }
    };
    assert_refused(&(ls_block_type)ODD_TYPE(ODD_ROWS(endless)),
                   "block 'odd' (test/odd): row 'own' of its state table is incomplete");
    static const ls_state_row away[] = { LS_STATE_DATA_SPAN(odd, a, link), LS_STATE_OWN(odd, own) };
    assert_refused(
        &(ls_block_type)ODD_TYPE(ODD_ROWS(away), .init = point_away),
        "block 'odd' (test/odd) cannot be saved now: its 'own' points to memory of another block or of the host");
}

static void test_events_without_a_number(void **state)
{
    (void)state;
    machine m;
    void *bytes;
    size_t count;
    ls_error err = { 0 };
    ls_event stray;
    build(&m);
    ls_event_init(&stray, cell_run, NULL);
    ls_schedule(m.region[1], &stray, 3);
    assert_int_equal(ls_engine_save(m.engine, &bytes, &count, &err), LS_ERR_UNSUPPORTED);
    assert_string_equal(err.what,
                        "the machine cannot be saved: an event that is scheduled in domain 'b' is in no "
                        "block's state table");
    ls_engine_destroy(m.engine);
}

static void assert_not_loaded(const void *bytes, size_t count, const char *expected)
{
    machine m;
    ls_error err = { 0 };
    build(&m);
    assert_int_equal(ls_engine_load(m.engine, bytes, count, &err), LS_ERR_INPUT);
    assert_string_equal(err.what, expected);
    ls_engine_destroy(m.engine);
}

static void test_bytes_that_are_refused(void **state)
{
    (void)state;
    machine m;
    char expected[128];
    build(&m);
    saved s = save(&m);
    uint8_t *bytes = s.bytes;
    assert_not_loaded(bytes, 10, "a saved state of 10 bytes is cut short");
    snprintf(expected, sizeof expected, "a saved state has %zu bytes, its header says %zu", s.count - 1,
             s.count);
    assert_not_loaded(bytes, s.count - 1, expected);
    /* Every byte counts. */
    for (size_t i = 40; i < s.count; i += 97) {
        bytes[i] ^= 4;
        assert_not_loaded(bytes, s.count, "the saved state is damaged: its checksum is wrong");
        bytes[i] ^= 4;
    }
    bytes[8] ^= 7;
    assert_not_loaded(bytes, s.count, "a saved state of version 3, expected 4");
    bytes[8] ^= 7;
    bytes[0] = 'X';
    assert_not_loaded(bytes, s.count, "this is not a saved state");
    bytes[0] = 'L';

    machine n;
    ls_error err = { 0 };
    build(&n);
    add_block(&n, "toy9", &toy_type);
    assert_int_equal(ls_engine_load(n.engine, s.bytes, s.count, &err), LS_ERR_INPUT);
    assert_non_null(strstr(err.what,
                           "the state was saved from another machine: only this one has block 'toy9'"));
    ls_engine_destroy(n.engine);

    run_all(m.engine);
    assert_int_equal(ls_engine_load(m.engine, s.bytes, s.count, &err), LS_ERR_USAGE);
    assert_string_equal(err.what, "a state is loaded into a machine that has run");
    ls_engine_destroy(m.engine);
    free(s.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind_of_row),       cmocka_unit_test(test_codes_that_are_refused),
        cmocka_unit_test(test_order_of_events),         cmocka_unit_test(test_messages_credits_and_waiters),
        cmocka_unit_test(test_tables_that_are_refused), cmocka_unit_test(test_events_without_a_number),
        cmocka_unit_test(test_bytes_that_are_refused),
    };
    return cmocka_run_group_tests_name("save", tests, NULL, NULL);
}
