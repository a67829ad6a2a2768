/* The progress line, with a clock of the test's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/progress.h"

#include <stdlib.h>
#include <string.h>

#define MS UINT64_C(1000000)
#define CLEAR "\r\033[K"

typedef struct screen {
    char *text;
    size_t bytes;
    FILE *to;
    progress_line p;
} screen;

static const ls_clock ghz = { .period_num = 1000000, .period_den = 1 };

static void screen_open(screen *s, bool force, const ls_clock *clock, unsigned columns)
{
    *s = (screen){ 0 };
    s->to = open_memstream(&s->text, &s->bytes);
    progress_begin(&s->p, s->to, force, clock, columns, 5000 * MS);
}

static void screen_close(screen *s)
{
    fclose(s->to);
    free(s->text);
}

/* The text written since the last call. */
static void assert_written(screen *s, size_t *from, const char *expected)
{
    fflush(s->to);
    assert_string_equal(s->text + *from, expected);
    *from = s->bytes;
}

static void update(screen *s, uint64_t ms, ls_time now, uint64_t events, double fraction)
{
    progress_update(&s->p, &(progress_state){ .now = now, .events = events, .fraction = fraction },
                    (5000 + ms) * MS);
}

static void test_line(void **state)
{
    (void)state;
    screen s;
    size_t from = 0;
    screen_open(&s, true, &ghz, 120);
    update(&s, 0, 0, 0, 0);
    update(&s, 999, 1000000000, 500, 0.1);
    assert_written(&s, &from, ""); /* not in the first second */
    /* 2 us in 1 s at 1 GHz are 2000 cycles/s; 25 % in 1 s leave 3 s. */
    update(&s, 1000, 2000000000, 4000000, 0.25);
    assert_written(&s, &from,
                   CLEAR "[#####---------------]   25.0%  2.00 us simulated  2.00 kcycles/s  4.00 Mevents/s"
                         "  ETA 0:03");
    update(&s, 1099, 9000000000, 9000000, 0.9);
    assert_written(&s, &from, ""); /* at most ten times a second */
    /* The same speed again: the smoothed rates stay. */
    update(&s, 2000, 4000000000, 8000000, 0.5);
    assert_written(&s, &from,
                   CLEAR "[##########----------]   50.0%  4.00 us simulated  2.00 kcycles/s  4.00 Mevents/s"
                         "  ETA 0:02");
    progress_clear(&s.p);
    assert_written(&s, &from, CLEAR);
    progress_clear(&s.p);
    assert_written(&s, &from, ""); /* the line is empty */
    screen_close(&s);
}

/* Work in pieces: how many of how many, and the time left by the mean of all that are done. */
static void test_pieces(void **state)
{
    (void)state;
    screen s;
    size_t from = 0;
    screen_open(&s, true, NULL, 120);
    progress_state now = { .done = 0, .total = 8, .unit = "points" };
    progress_update(&s.p, &now, (5000 + 2000) * MS);
    assert_written(&s, &from, CLEAR "[--------------------]    0.0%  0 of 8 points");
    now.done = 2;
    progress_update(&s.p, &now, (5000 + 20000) * MS);
    assert_written(&s, &from, CLEAR "[#####---------------]   25.0%  2 of 8 points  ETA 1:00");
    now.done = 8;
    progress_update(&s.p, &now, (5000 + 90000) * MS);
    assert_written(&s, &from, CLEAR "[####################]  100.0%  8 of 8 points");
    screen_close(&s);
}

static void test_rate_follows(void **state)
{
    (void)state;
    screen s;
    screen_open(&s, true, &ghz, 120);
    update(&s, 1000, 1000000000, 0, -1); /* 1000 cycles/s */
    update(&s, 2000, 5000000000, 0, -1); /* 4000 cycles/s for one second: a quarter of the way */
    assert_true(s.p.fs_rate > 1.74e9 && s.p.fs_rate < 1.76e9);
    screen_close(&s);
}

static void test_unknown_total(void **state)
{
    (void)state;
    screen s;
    size_t from = 0;
    screen_open(&s, true, NULL, 120);
    update(&s, 3661000, 2000000000, 0, -1);
    assert_written(&s, &from, CLEAR "1:01:01 elapsed  2.00 us simulated  546 ps/s  0 events/s");
    screen_close(&s);
}

static void test_narrow(void **state)
{
    (void)state;
    static const struct {
        unsigned columns;
        const char *line;
    } cases[] = {
        { 80, " 25.0%  2.00 us simulated  2.00 kcycles/s  4.00 Mevents/s  ETA 0:03" },
        { 60, " 25.0%  2.00 us simulated  2.00 kcycles/s  ETA 0:03" },
        { 40, " 25.0%  2.00 us simulated  ETA 0:03" },
        { 30, " 25.0%  2.00 us simulated" },
        { 10, " 25.0%" },
        { 4, " 25" },
    };
    for (size_t i = 0; i < LS_COUNT_OF(cases); i++) {
        screen s;
        size_t from = 0;
        char expected[128];
        screen_open(&s, true, &ghz, cases[i].columns);
        update(&s, 1000, 2000000000, 4000000, 0.25);
        snprintf(expected, sizeof expected, CLEAR "%s", cases[i].line);
        assert_written(&s, &from, expected);
        assert_true(strlen(cases[i].line) < cases[i].columns);
        screen_close(&s);
    }
}

static void test_odd_states(void **state)
{
    (void)state;
    screen s;
    size_t from = 0;
    screen_open(&s, true, &ghz, 40);
    update(&s, 1000, 0, 0, 0); /* no progress: no estimate */
    assert_written(&s, &from, CLEAR "  0.0%  0 fs simulated  0 cycles/s");
    update(&s, 2000, 1000000, 1, 1.5);
    assert_written(&s, &from, CLEAR "100.0%  1.00 ns simulated");
    update(&s, 500, 1000000, 1, 0.5); /* a clock that goes back */
    assert_written(&s, &from, "");
    screen_close(&s);
    screen_open(&s, true, &ghz, 40);
    from = 0;
    update(&s, 1000, 1000000, 1, 1e-13);
    assert_written(&s, &from, CLEAR "  0.0%  1.00 ns simulated  ETA years");
    screen_close(&s);
}

static void test_not_a_terminal(void **state)
{
    (void)state;
    FILE *file = tmpfile();
    progress_line p;
    progress_begin(&p, file, false, &ghz, 0, 0);
    assert_false(p.on);
    assert_int_equal(p.columns, 80);
    progress_update(&p, &(progress_state){ .now = 1000, .events = 1, .fraction = 0.5 }, 9000 * MS);
    progress_clear(&p);
    fflush(file);
    assert_int_equal(ftell(file), 0);
    fclose(file);
    progress_begin(&p, NULL, true, NULL, 0, 0);
    progress_update(&p, &(progress_state){ .now = 1000, .events = 1, .fraction = 0.5 }, 9000 * MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line),           cmocka_unit_test(test_rate_follows),
        cmocka_unit_test(test_pieces),         cmocka_unit_test(test_unknown_total),
        cmocka_unit_test(test_narrow),         cmocka_unit_test(test_odd_states),
        cmocka_unit_test(test_not_a_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
