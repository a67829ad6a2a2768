/* Pieces of work in processes of their own: all results, in order, for any number at a time; what a process leaves that
 * dies. */
#include "cli/validate/jobs.h"
#include "reference.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { COUNT = 23 };

typedef struct rig {
    size_t dies, stops_at; /* SIZE_MAX: none */
    size_t told;
    uint64_t sum;
    char end[64];
    pid_t parent;
    bool all_elsewhere;
} rig;

typedef struct piece {
    uint64_t square;
    pid_t pid;
} piece;

static void work(void *self, size_t index, void *result)
{
    const rig *r = self;
    piece *p = result;
    if (index % 5 == 0)
        usleep(20000); /* later pieces end before it */
    if (index == r->dies)
        raise(SIGKILL);
    p->square = index * index;
    p->pid = getpid();
}

static ls_status done(void *self, size_t index, const void *result, const char *end, ls_error *err)
{
    rig *r = self;
    const piece *p = result;
    assert_int_equal(index, r->told);
    if (index == r->stops_at)
        return ls_fail(err, LS_ERR_CHECK, "no more");
    r->told++;
    r->sum += p->square;
    assert_int_equal(end != NULL, index == r->dies);
    if (end)
        snprintf(r->end, sizeof r->end, "%s", end);
    else
        r->all_elsewhere = r->all_elsewhere && p->pid != r->parent;
    return LS_OK;
}

static ls_status run_all(rig *r, uint32_t at_once, ls_error *err)
{
    r->parent = getpid();
    r->all_elsewhere = true;
    return jobs_run(&(jobs_request){ .count = COUNT,
                                     .result_bytes = sizeof(piece),
                                     .at_once = at_once,
                                     .self = r,
                                     .work = work,
                                     .done = done },
                    err);
}

static void results_come_in_order(void **state)
{
    (void)state;
    static const uint32_t at_once[] = { 1, 2, 3, 8, 64 };
    for (size_t i = 0; i < LS_COUNT_OF(at_once); i++) {
        rig r = { .dies = SIZE_MAX, .stops_at = SIZE_MAX };
        ls_error err;
        assert_int_equal(run_all(&r, at_once[i], &err), LS_OK);
        assert_int_equal(r.told, COUNT);
        assert_int_equal(r.sum, (COUNT - 1) * COUNT * (2 * COUNT - 1) / 6);
        assert_int_equal(r.all_elsewhere, at_once[i] > 1);
    }
}

static void a_process_that_dies_is_told(void **state)
{
    (void)state;
    rig r = { .dies = 7, .stops_at = SIZE_MAX };
    ls_error err;
    assert_int_equal(run_all(&r, 4, &err), LS_OK);
    assert_int_equal(r.told, COUNT);
    assert_int_equal(r.sum, (COUNT - 1) * COUNT * (2 * COUNT - 1) / 6 - 49);
    assert_non_null(strstr(r.end, "signal 9"));
}

static void the_first_failure_ends_it(void **state)
{
    (void)state;
    rig r = { .dies = SIZE_MAX, .stops_at = 5 };
    ls_error err;
    assert_int_equal(run_all(&r, 3, &err), LS_ERR_CHECK);
    assert_int_equal(r.told, 5);
    assert_int_equal(run_all(&(rig){ .dies = SIZE_MAX, .stops_at = 0 }, 1, &err), LS_ERR_CHECK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_come_in_order),
        cmocka_unit_test(a_process_that_dies_is_told),
        cmocka_unit_test(the_first_failure_ends_it),
    };
    return cmocka_run_group_tests_name("jobs", tests, NULL, NULL);
}
