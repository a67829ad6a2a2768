/* test_link_windows.c: writes of one half of a link in a window are invisible to the other half before the
 * next window: different threads run the two. Looks into the engine's own structs. */
#include "engine/fixture.h"

#include "engine/state.h"

typedef struct machine {
    ls_engine *engine;
    ls_region *from, *to;
    ls_link *link;
} machine;

static void receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    (void)self;
    (void)payload;
    (void)now;
    ls_link_release(link, 1);
}

static int setup(void **state)
{
    machine *m = test_calloc(1, sizeof *m);
    m->engine = new_engine();
    m->from = new_domain(m->engine, "from", GHZ);
    m->to = new_domain(m->engine, "to", GHZ);
    m->link = new_link(m->engine, &(ls_link_spec){ .name = "link",
                                                   .from = m->from,
                                                   .to = m->to,
                                                   .latency_cycles = 10,
                                                   .credits = 16,
                                                   .receive = receive });
    run_all(m->engine); /* nothing to do, but now the engine is set up */
    *state = m;
    return 0;
}

static int teardown(void **state)
{
    machine *m = *state;
    ls_engine_destroy(m->engine);
    test_free(m);
    return 0;
}

/* As if a thread ran this region in cycle `now` of window `window`. */
static void enter(ls_region *region, uint64_t window, ls_cycle now)
{
    region->window = window;
    region->now = now;
    region->floor = now + 1;
    region->running = true;
    region->reach = WHEEL_SIZE;
}

static void test_messages_of_this_window_are_not_seen(void **state)
{
    machine *m = *state;
    ls_link *link = m->link;
    uint64_t sent = 0;
    for (uint64_t window = 1; window < 9; window++) {
        uint64_t before = sent;
        enter(m->from, window, window * 10);
        for (uint64_t i = 0; i < window % 3; i++, sent++)
            assert_non_null(ls_link_send(link, 1));
        /* the receiver, at any time during this window: the marks of the window before */
        bool dirty = link->to->domain->dirty[(window + 1) & 1][link->to_end] != 0;
        assert_int_equal(dirty, window > 1 && (window - 1) % 3 != 0);
        if (dirty) {
            link_exchange(link->to->domain, (window + 1) & 1);
            assert_int_equal(link->shown, before);
        }
        assert_int_equal(link->to->domain->dirty[(window + 1) & 1][link->to_end], 0);
    }
}

/* Windows are ten cycles long, like the latency. Credits returned in one window count from the next on, in any
 * order of the sides. */
static void test_credits_of_this_window_do_not_count(void **state)
{
    machine *m = *state;
    ls_link *link = m->link;
    enter(m->from, 1, 0);
    for (int i = 0; i < 16; i++)
        assert_non_null(ls_link_send(link, 1));
    assert_int_equal(ls_link_credits(link), 0);
    link->shown = link->head = 16; /* all delivered */
    uint32_t given = 0;
    for (uint64_t window = 2; window < 9; window++) {
        uint32_t before = given;
        for (uint64_t i = 0; i < window % 3; i++, given++) {
            enter(m->to, window, window * 10 + i);
            ls_link_release(link, 1);
        }
        enter(m->from, window, window * 10 + 9);
        assert_int_equal(ls_link_credits(link), before);
        enter(m->from, window + 1, (window + 1) * 10 + 9);
        assert_int_equal(ls_link_credits(link), given);
    }
}

/* Credits send no notification: a sender that waits in vain requests to run in the next window. */
static void waiter(void *self, ls_cycle now)
{
    *(ls_cycle *)self = now;
}

static void test_a_sender_that_waits_looks_again(void **state)
{
    machine *m = *state;
    ls_link *link = m->link;
    ls_domain *domain = link->from->domain;
    ls_cycle called = 0;
    ls_event event;
    ls_event_init(&event, waiter, &called);
    domain->window = 1;
    enter(m->from, 1, 0);
    for (int i = 0; i < 16; i++)
        assert_non_null(ls_link_send(link, 1));
    ls_link_wait(link, &event);
    assert_int_equal(domain->engine->mail[1][domain->place], 1);
    assert_ptr_equal(domain->looking, link);
    assert_false(link->wake_queued);
    domain->window = 2;
    link_exchange(domain, 1); /* still none: once more */
    assert_int_equal(domain->engine->mail[0][domain->place], 1);
    assert_ptr_equal(domain->looking, link);
    link->shown = link->head = 16;
    enter(m->to, 2, 23);
    ls_link_release(link, 3);
    assert_int_equal(called, 0);
    domain->window = 3;
    link_exchange(domain, 0);
    assert_null(domain->looking);
    assert_true(link->wake_queued);
    assert_int_equal(link->wake.cycle, 33);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_messages_of_this_window_are_not_seen, setup, teardown),
        cmocka_unit_test_setup_teardown(test_credits_of_this_window_do_not_count, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_sender_that_waits_looks_again, setup, teardown),
    };
    return cmocka_run_group_tests_name("link windows", tests, NULL, NULL);
}
