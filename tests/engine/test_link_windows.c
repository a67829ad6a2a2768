/* test_link_windows.c: writes of one half of a link in a window are invisible to the other half before the
 * next window: different threads run the two. Looks into the engine's own structs. */
#include "engine/fixture.h"

#include "engine/state.h"

typedef struct machine {
    ls_engine *engine;
    ls_region *from, *to;
    ls_link *link, *other, *far;
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
    ls_link_spec spec = { .name = "link",
                          .from = m->from,
                          .to = m->to,
                          .latency_cycles = 10,
                          .credits = 16,
                          .payload_bytes = 4,
                          .receive = receive };
    m->link = new_link(m->engine, &spec);
    spec.name = "other";
    m->other = new_link(m->engine, &spec);
    m->far = new_link(m->engine, &(ls_link_spec){ .name = "far",
                                                  .from = m->from,
                                                  .to = m->to,
                                                  .latency_cycles = 2000,
                                                  .credits = 16,
                                                  .receive = receive });
    run_all(m->engine); /* nothing to do, but now the engine is set up */
    assert_int_equal(mail_prepare(m->engine, 3, NULL), LS_OK);
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

/* As if the first thread ran this region in cycle `now` of window `window`. */
static void enter(ls_region *region, uint64_t window, ls_cycle now)
{
    const ls_engine *engine = region->domain->engine;
    region->out = engine->mail_of.at[0].boxes[window & 1];
    region->out_mail = engine->mail[window & 1];
    region->now = now;
    region->floor = now + 1;
    region->reach = WHEEL_SIZE;
}

/* Messages in the wheel of a region, which arrive in `cycle`. */
static uint64_t arrivals_at(const ls_region *region, ls_cycle cycle)
{
    uint64_t count = 0;
    const arrival *last = region->wheel[cycle % WHEEL_SIZE].arrivals;
    for (const arrival *a = last; a != NULL; a = a->next == last ? NULL : a->next)
        count++;
    return count;
}

static void test_messages_of_this_window_are_not_seen(void **state)
{
    machine *m = *state;
    const ls_domain *to = m->to->domain;
    for (uint64_t window = 1; window < 9; window++) {
        uint64_t now = window * 10, sent_before = window > 1 ? (window - 1) % 3 : 0;
        enter(m->from, window, now);
        for (uint64_t i = 0; i < window % 3; i++)
            assert_non_null(ls_link_send(m->link, 1));
        /* the receiver, at any time during this window: the mail of the window before */
        _Atomic uint8_t *mail = &to->engine->mail[(window + 1) & 1][to->place];
        assert_int_equal(atomic_load(mail), sent_before > 0);
        link_exchange(m->to->domain, (window + 1) & 1);
        assert_int_equal(arrivals_at(m->to, now), sent_before);
        assert_int_equal(arrivals_at(m->to, now + 10), 0);
        link_exchange(m->to->domain, (window + 1) & 1); /* the mailbox is empty */
        assert_int_equal(arrivals_at(m->to, now), sent_before);
        atomic_store(mail, 0);
    }
}

/* Which thread sends a message makes no difference to the order in which messages of a cycle are delivered. */
static void test_mail_of_threads_comes_in_the_order_of_links(void **state)
{
    machine *m = *state;
    ls_engine *engine = m->to->domain->engine;
    static const uint32_t threads[] = { 2, 0, 1 };
    ls_link *const links[] = { m->other, m->link, m->other };
    for (uint32_t i = 0; i < 3; i++) {
        enter(m->from, 1, 5);
        m->from->out = engine->mail_of.at[threads[i]].boxes[1];
        *(uint32_t *)ls_link_send(links[i], 1) = i;
    }
    link_exchange(m->to->domain, 1);
    assert_int_equal(arrivals_at(m->to, 15), 3);
    const arrival *first = m->to->wheel[15].arrivals->next;
    assert_int_equal(*(const uint32_t *)(first + 1), 1);
    assert_int_equal(first->next->order, m->other->id * 2);
    assert_int_equal(first->next->next->order, m->other->id * 2);
}

/* A window that threads share, and one that a thread runs alone: its messages go into the wheel behind those that lay in
 * mailboxes. */
static void test_mail_comes_before_messages_of_one_thread(void **state)
{
    machine *m = *state;
    ls_domain *const domains[] = { m->from->domain, m->to->domain };
    ls_group *group = domains[0]->group;
    enter(m->from, 1, 5);
    assert_non_null(ls_link_send(m->far, 1));
    const arrival *first = link_slot(m->far, 0);
    assert_null(m->far->far_last);
    group->window_index = 2;
    group->mailed = true;
    mail_take_before(domains, 2);
    assert_false(group->mailed);
    assert_ptr_equal(m->far->far_last, first);
    enter(m->from, 2, 15);
    m->from->out = NULL;
    assert_non_null(ls_link_send(m->far, 1));
    assert_ptr_equal(m->far->far_last->next, first);
    assert_int_equal(m->far->far_last->cycle, 2015);
    assert_int_equal(m->to->far_count, 1);
    m->to->now = 1000; /* both have come near */
    wheel_move_far_in(m->to);
    assert_int_equal(arrivals_at(m->to, 2005), 1);
    assert_int_equal(arrivals_at(m->to, 2015), 1);
    assert_null(m->far->far_last);
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
    link->head = 16; /* all delivered */
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
    link->head = 16;
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
        cmocka_unit_test_setup_teardown(test_mail_of_threads_comes_in_the_order_of_links, setup, teardown),
        cmocka_unit_test_setup_teardown(test_mail_comes_before_messages_of_one_thread, setup, teardown),
        cmocka_unit_test_setup_teardown(test_credits_of_this_window_do_not_count, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_sender_that_waits_looks_again, setup, teardown),
    };
    return cmocka_run_group_tests_name("link windows", tests, NULL, NULL);
}
