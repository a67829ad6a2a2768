/* test_determinism.c: the same bits for any number of threads, any window and any assignment, on random
 * machines; and nothing lost, duplicated or left over. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/random_machine.h"

#define MACHINES 110
#define MESSAGES 40

typedef struct variant {
    uint32_t threads;
    uint32_t window_divisor; /* 0: one femtosecond, else lookahead / divisor */
    ls_assignment assignment;
} variant;

static const variant variants[] = {
    { 1, 1, LS_ASSIGN_STATIC },   { 2, 1, LS_ASSIGN_FIXED },    { 3, 1, LS_ASSIGN_SHUFFLED },
    { 5, 1, LS_ASSIGN_DYNAMIC },  { 8, 1, LS_ASSIGN_SHUFFLED }, { 2, 1, LS_ASSIGN_STATIC },
    { 1, 2, LS_ASSIGN_SHUFFLED }, { 2, 2, LS_ASSIGN_SHUFFLED }, { 3, 2, LS_ASSIGN_FIXED },
    { 1, 0, LS_ASSIGN_STATIC },   { 2, 0, LS_ASSIGN_DYNAMIC },
};

/* A machine, and whether it is run with groups, which must not change its fingerprint. */
typedef struct trial {
    rm_options machine;
    bool grouped;
    ls_time watchdog_fs;
    bool paused; /* and with pauses, which must not change it either */
} trial;

/* At some times, and before some windows. */
typedef struct pauses {
    ls_run_pause pause; /* first */
    ls_random random;
    uint64_t taken;
} pauses;

static ls_status take_pause(ls_run_pause *pause, ls_error *err)
{
    pauses *p = (pauses *)pause;
    (void)err;
    assert_true(pause->at == LS_TIME_MAX && pause->now == 0);
    p->taken++;
    return LS_OK;
}

static ls_status ask_for_pause(void *self, ls_error *err)
{
    pauses *p = self;
    (void)err;
    p->pause.now = ls_random_below(&p->random, 3) == 0;
    return LS_OK;
}

static void check_conservation(const rm_machine *m, const ls_run_result *result)
{
    /* Every message that was made has ended, every link is empty, every credit is home. */
    uint64_t received = 0, forwarded = 0, ended = 0;
    for (uint32_t i = 0; i < m->node_count; i++) {
        received += m->nodes[i]->received;
        forwarded += m->nodes[i]->forwarded;
        ended += m->nodes[i]->ended;
        assert_int_equal(m->nodes[i]->head, m->nodes[i]->tail);
    }
    assert_int_equal(received, forwarded);
    assert_int_equal(ended, m->injected);
    assert_int_equal(result->messages, forwarded);
}

static ls_status run_variant(uint64_t seed, const variant *v, const trial *t, uint64_t *fingerprint,
                             char *what)
{
    rm_machine *m = malloc(sizeof *m);
    assert_non_null(m);
    rm_options machine = t->machine;
    if (t->grouped)
        machine.groups_seed = seed * 77 + v->threads * 5 + v->window_divisor + 1;
    machine.other_frees = v != &variants[0] && v->assignment != LS_ASSIGN_FIXED;
    rm_build_with(m, seed, &machine);
    ls_error err = { 0 };
    ls_run_result result;
    ls_run_options options = { .threads = v->threads,
                               .assignment = v->assignment,
                               .shuffle_seed = seed * 31 + v->threads,
                               .watchdog_fs = t->watchdog_fs };
    ls_time lookahead = ls_engine_lookahead(m->engine, NULL);
    if (v->window_divisor != 1)
        options.window_fs = v->window_divisor == 0 ? 1 : lookahead / v->window_divisor;
    pauses p = { .pause = { .at = 1 + seed * 900000, .take = take_pause } };
    ls_random_init(&p.random, seed * 8 + v->threads);
    if (t->paused) {
        options.pause = &p.pause;
        options.between = ask_for_pause;
        options.between_self = &p;
    }
    ls_status status = ls_run(m->engine, &options, &result, &err);
    assert_true(!t->paused || p.taken > 0 || result.end_time <= 1 + seed * 900000 || machine.stop_after > 0);
    snprintf(what, sizeof err.what, "%s", err.what);
    *fingerprint = rm_fingerprint(m, &result);
    if (status != LS_OK)
        assert_int_equal(status, LS_ERR_DEADLOCK);
    else if (machine.stop_after == 0)
        check_conservation(m, &result);
    rm_destroy(m);
    free(m);
    return status;
}

/* Runs every machine in all variants; returns how many of the machines deadlock. */
static unsigned check_trial(unsigned machines, const trial *t)
{
    char first_what[sizeof((ls_error *)0)->what], what[sizeof first_what];
    unsigned deadlocks = 0;
    trial reference = *t;
    reference.grouped = reference.paused = false;
    for (uint64_t seed = 1; seed <= machines; seed++) {
        uint64_t first, other;
        ls_status status = run_variant(seed, &variants[0], &reference, &first, first_what);
        deadlocks += status == LS_ERR_DEADLOCK;
        for (size_t i = t->grouped || t->paused ? 0 : 1; i < LS_COUNT_OF(variants); i++) {
            ls_status again = run_variant(seed, &variants[i], t, &other, what);
            if (again != status || other != first || strcmp(what, first_what) != 0)
                fail_msg("machine %u differs with %u threads, window 1/%u, assignment %d%s: %s | %s",
                         (unsigned)seed, variants[i].threads, variants[i].window_divisor,
                         (int)variants[i].assignment, t->grouped ? ", in groups" : "", first_what, what);
        }
    }
    return deadlocks;
}

static void check_machines(bool late, bool grouped)
{
    trial t = { .machine = { .messages = MESSAGES, .late = late }, .grouped = grouped };
    unsigned machines = grouped ? MACHINES / 2 : MACHINES;
    unsigned deadlocks = check_trial(machines, &t);
    if (late)
        assert_in_range(deadlocks, 1, machines - 1); /* both outcomes must have occurred */
    else
        assert_int_equal(deadlocks, 0);
}

static void test_free_flow(void **state)
{
    (void)state;
    check_machines(false, false);
}

static void test_with_deadlocks(void **state)
{
    (void)state;
    check_machines(true, false);
}

static void test_groups(void **state)
{
    (void)state;
    check_machines(false, true);
    check_machines(true, true);
}

/* A stop ends all domains at the same time, for any windows and groups. */
static void test_stop(void **state)
{
    (void)state;
    for (uint64_t after = 1; after < 20; after += 6) {
        trial t = { .machine = { .messages = MESSAGES, .stop_after = after } };
        check_trial(MACHINES / 8, &t);
        t.grouped = true;
        check_trial(MACHINES / 8, &t);
    }
}

static void test_pauses(void **state)
{
    (void)state;
    trial t = { .machine = { .messages = MESSAGES }, .paused = true };
    assert_int_equal(check_trial(3, &t), 0);
    t.grouped = true;
    assert_int_equal(check_trial(2, &t), 0);
    t.machine.stop_after = 7; /* a stop on its way is not lost */
    check_trial(3, &t);
}

/* Nodes that poll never come to rest: the watchdog ends them at the same cycle, for any windows and groups. */
static void test_watchdog(void **state)
{
    (void)state;
    trial t = { .machine = { .messages = MESSAGES, .late = true, .polls = true },
                .watchdog_fs = UINT64_C(3000000000) };
    unsigned deadlocks = check_trial(MACHINES / 4, &t);
    assert_in_range(deadlocks, 1, MACHINES / 4 - 1);
    t.grouped = true;
    assert_int_equal(check_trial(MACHINES / 4, &t), deadlocks);
}

/* A run cut into pieces is the same run. */
static void test_resumed(void **state)
{
    (void)state;
    for (uint64_t seed = 300; seed < 330; seed++) {
        uint64_t whole, pieces;
        ls_error err = { 0 };
        ls_run_result result;
        rm_machine *m = malloc(sizeof *m);
        assert_non_null(m);
        rm_build(m, seed, MESSAGES, false);
        assert_int_equal(ls_run(m->engine, &(ls_run_options){ .threads = 1 }, &result, &err), LS_OK);
        ls_time end = result.end_time;
        whole = rm_fingerprint(m, &result);
        rm_destroy(m);

        rm_build_with(m, seed, &(rm_options){ .messages = MESSAGES, .groups_seed = seed % 3 * seed });
        for (ls_time until = end / 7; until < end; until += end / 7)
            assert_int_equal(ls_run(m->engine, &(ls_run_options){ .threads = 2, .until = until }, &result,
                                    &err),
                             LS_OK);
        assert_int_equal(ls_run(m->engine, &(ls_run_options){ .threads = 1 }, &result, &err), LS_OK);
        pieces = rm_fingerprint(m, &result);
        assert_int_equal(pieces, whole);
        rm_destroy(m);
        free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_free_flow), cmocka_unit_test(test_with_deadlocks),
        cmocka_unit_test(test_groups),    cmocka_unit_test(test_stop),
        cmocka_unit_test(test_watchdog),  cmocka_unit_test(test_resumed),
        cmocka_unit_test(test_pauses),
    };
    return cmocka_run_group_tests_name("determinism", tests, NULL, NULL);
}
