/* Values of a grid in every spelling, the order of its points, and Kendall's tau against hand counts. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "sim/sweep/grid.h"

#include <math.h>
#include <string.h>

static mem_arena arena;

static void expect_values(const char *text, const char *joined)
{
    sweep_grid grid = { .arena = &arena };
    assert_int_equal(sweep_grid_add(&grid, text, NULL), LS_OK);
    char all[256] = "";
    for (size_t i = 0; i < grid.axes.at[0].values.count; i++) {
        strcat(all, i ? " " : "");
        strcat(all, grid.axes.at[0].values.at[i]);
    }
    assert_string_equal(all, joined);
    assert_int_equal(grid.points, grid.axes.at[0].values.count);
    sweep_grid_fini(&grid);
}

static void expect_error(const char *text, const char *part)
{
    sweep_grid grid = { .arena = &arena };
    ls_error err;
    assert_int_equal(sweep_grid_add(&grid, text, &err), LS_ERR_USAGE);
    assert_non_null(strstr(err.what, part));
    assert_int_equal(grid.axes.count, 0);
    sweep_grid_fini(&grid);
}

static void test_values(void **state)
{
    (void)state;
    expect_values("k=gto,lrr", "gto lrr");
    expect_values("k=1..4", "1 2 3 4");
    expect_values("k=16..64+16", "16 32 48 64");
    expect_values("k=16..63+16", "16 32 48");
    expect_values("k=32..256*2", "32 64 128 256");
    expect_values("k=5..5", "5");
    expect_values("k=8,1..2,100", "8 1 2 100");
    expect_values("k=[0, 8],[0,16]", "[0, 8] [0,16]");
    expect_values("k=1.5,2", "1.5 2");
    expect_values("k=../a,b", "../a b");
    expect_values("k=18446744073709551614..18446744073709551615", "18446744073709551614 18446744073709551615");
}

static void test_errors(void **state)
{
    (void)state;
    expect_error("k", "KEY=VALUE");
    expect_error("=1", "KEY=VALUE");
    expect_error("k=", "empty");
    expect_error("k=1,,2", "empty");
    expect_error("k=1,1", "twice");
    expect_error("k=1..3,2", "twice");
    expect_error("k=4..1", "rise");
    expect_error("k=0..8*2", "rise");
    expect_error("k=1..8+0", "rise");
    expect_error("k=0..2000000", "more than");
    sweep_grid grid = { .arena = &arena };
    ls_error err;
    assert_int_equal(sweep_grid_add(&grid, "k=1..400", NULL), LS_OK);
    assert_int_equal(sweep_grid_add(&grid, "k=3", &err), LS_ERR_USAGE);
    assert_int_equal(sweep_grid_add(&grid, "j=1..400", &err), LS_ERR_USAGE);
    sweep_grid_fini(&grid);
}

static void test_points(void **state)
{
    (void)state;
    sweep_grid grid = { .arena = &arena };
    assert_int_equal(sweep_grid_add(&grid, "a=1,2", NULL), LS_OK);
    assert_int_equal(sweep_grid_add(&grid, "b=x,y,z", NULL), LS_OK);
    assert_int_equal(grid.points, 6);
    static const char *const wanted[] = { "1x", "1y", "1z", "2x", "2y", "2z" };
    for (size_t p = 0; p < 6; p++) {
        assert_int_equal(sweep_grid_value(&grid, p, 0)[0], wanted[p][0]);
        assert_int_equal(sweep_grid_value(&grid, p, 1)[0], wanted[p][1]);
    }
    const char *const *sets = sweep_grid_sets(&grid, 4);
    assert_string_equal(sets[0], "a=2");
    assert_string_equal(sets[1], "b=y");
    assert_null(sets[2]);
    sweep_grid_fini(&grid);
}

static void test_tau(void **state)
{
    (void)state;
    const double up[] = { 1, 2, 3, 4 }, down[] = { 9, 7, 5, 3 }, swapped[] = { 1, 2, 4, 3 },
                 tied[] = { 1, 1, 2, 3 }, flat[] = { 1, 1, 1, 1 };
    assert_true(sweep_kendall_tau(up, up, 4) == 1);
    assert_true(sweep_kendall_tau(up, down, 4) == -1);
    assert_true(fabs(sweep_kendall_tau(up, swapped, 4) - 4.0 / 6) < 1e-12); /* 5 pairs agree, 1 does not */
    assert_true(fabs(sweep_kendall_tau(up, tied, 4) - 5 / sqrt(6.0 * 5)) < 1e-12);
    assert_true(isnan(sweep_kendall_tau(up, flat, 4)));
}

static int free_arena(void **state)
{
    (void)state;
    arena_fini(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_points),
        cmocka_unit_test(test_tau),
    };
    return cmocka_run_group_tests(tests, NULL, free_arena);
}
