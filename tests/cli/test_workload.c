/* test_workload.c: the framework of workloads: registration, options, random input. A wrong result, a missing
 * kernel or a mistake of the host never counts as a success. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "workloads/workload.h"

#include <stdlib.h>
#include <string.h>

#define KERNELS LS_BINARY_DIR "/share/lockstep/kernels"

static ls_error err;

/* ------------------------------------------------------------------------- workloads that do wrong things */

typedef enum mistake { NONE, WRONG_SUM, NO_KERNEL, NO_OPTION, NO_CHECK, OWN_REASON } mistake;
static mistake current;
static uint32_t size_seen;

static void run(wl_run *r)
{
    uint32_t n = size_seen = wl_u32(r, "size");
    float *a = wl_random_f32(r, n, 0, 1), *c = wl_zeros(r, n, sizeof *c);
    ls_gpu_address da = wl_upload(r, a, n * 4), dc = wl_buffer(r, n * 4);
    if (current == OWN_REASON)
        wl_fail(r, LS_ERR_USAGE, "%u is not my size", n);
    if (current == NO_OPTION)
        wl_u64(r, "weight");
    wl_launch(r, current == NO_KERNEL ? "vector_sub" : "vector_add", WL_1D(wl_round_up(n, 64)), WL_1D(64),
              WL_ARG(da), WL_ARG(da), WL_ARG(dc), WL_ARG(n));
    wl_download(r, c, dc, n * 4);
    if (!wl_checking(r) || current == NO_CHECK)
        return;
    for (uint32_t i = 0; i < n; i++)
        if (!wl_expect_f32(r, "c", i, c[i], 2 * a[i] + (float)(current == WRONG_SUM && i == 3), 1e-6f))
            return;
}

static const wl_option options[] = {
    { .name = "size", .value = 100, .min = 4, .max = 1000, .help = "elements" },
};
static const wl_workload doubled = { .name = "zz_doubled",
                                     .summary = "twice a vector",
                                     .source = "this test",
                                     WL_OPTIONS(options),
                                     .run = run,
                                     .kernels = "vector_add" };
WL_REGISTER(doubled);

static ls_status try(mistake m, const wl_setting *setting, wl_result *result)
{
    ls_gpu_system *system;
    ls_status status;
    wl_request request = {
        .workload = &doubled, .check = true, .settings = setting, .setting_count = setting != NULL
    };
    current = m;
    assert_int_equal(ls_gpu_system_create(NULL, &system, &err), LS_OK);
    request.system = system;
    status = wl_run_workload(&request, result, &err);
    ls_gpu_system_destroy(system);
    return status;
}

/* ------------------------------------------------------------------------------------------------- tests */

static void registry(void **state)
{
    const wl_workload *w;
    (void)state;
    assert_true(wl_count() > 20);
    assert_null(wl_at(wl_count()));
    for (size_t i = 1; i < wl_count(); i++) {
        bool in_suite = wl_at(i)->suite != NULL, was_in_suite = wl_at(i - 1)->suite != NULL;
        assert_true(in_suite >= was_in_suite);
        assert_true(in_suite || wl_at(i)->is_micro >= wl_at(i - 1)->is_micro);
        assert_true(wl_at(i)->is_micro != wl_at(i - 1)->is_micro || in_suite != was_in_suite ||
                    strcmp(wl_at(i - 1)->name, wl_at(i)->name) < 0);
        assert_true(wl_at(i)->option_count == 0 || strcmp(wl_at(i)->options[0].name, "size") == 0);
    }
    assert_int_equal(wl_find("zz_doubled", &w, &err), LS_OK);
    assert_ptr_equal(w, &doubled);
    assert_int_equal(wl_find("zz_dobled", &w, &err), LS_ERR_USAGE);
    assert_string_equal(err.nearest, "zz_doubled");
}

static void right_result(void **state)
{
    wl_result one, two;
    (void)state;
    assert_int_equal(try(NONE, NULL, &one), LS_OK);
    assert_int_equal(one.compared, 100);
    assert_int_equal(one.counts.launches, 1);
    assert_int_equal(try(NONE, &(wl_setting){ "size", 100 }, &two), LS_OK);
    assert_int_equal(one.hash, two.hash);
    assert_int_equal(try(NONE, &(wl_setting){ "size", 101 }, &two), LS_OK);
    assert_int_equal(size_seen, 101);
    assert_int_not_equal(one.hash, two.hash);
}

static void wrong_result(void **state)
{
    wl_result result;
    (void)state;
    assert_int_equal(try(WRONG_SUM, NULL, &result), LS_ERR_CHECK);
    assert_true(result.is_wrong);
    assert_int_equal(result.compared, 4);
    assert_non_null(strstr(err.what, "wrong result of zz_doubled: c[3] is"));
}

static void mistakes(void **state)
{
    wl_result result;
    (void)state;
    assert_int_equal(try(NO_KERNEL, NULL, &result), LS_ERR_USAGE);
    assert_string_equal(err.nearest, "vector_add");
    assert_int_equal(try(NO_OPTION, NULL, &result), LS_ERR_INTERNAL);
    assert_int_equal(try(NO_CHECK, NULL, &result), LS_ERR_INTERNAL);
    assert_non_null(strstr(err.what, "compared nothing"));
    assert_int_equal(try(OWN_REASON, NULL, &result), LS_ERR_USAGE);
    assert_string_equal(err.what, "100 is not my size");
    assert_false(result.is_wrong);
    assert_int_equal(try(NONE, &(wl_setting){ "size", 3 }, &result), LS_ERR_USAGE);
    assert_non_null(strstr(err.what, "at least 4"));
    assert_int_equal(try(NONE, &(wl_setting){ "size", 1001 }, &result), LS_ERR_USAGE);
    assert_int_equal(try(NONE, &(wl_setting){ "sice", 8 }, &result), LS_ERR_USAGE);
    assert_string_equal(err.nearest, "size");
}

static void kernel_files(void **state)
{
    char path[4096];
    (void)state;
    assert_int_equal(wl_kernel_path("no_such", "gfx803", "O0", path, sizeof path, &err), LS_ERR_IO);
    assert_non_null(strstr(err.what, "gfx803-O0/no_such.co"));
    assert_non_null(strstr(err.what, "clang-15"));
    assert_int_equal(wl_round_up(5, 4), 8);
    assert_int_equal(wl_round_up(8, 4), 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registry), cmocka_unit_test(right_result), cmocka_unit_test(wrong_result),
        cmocka_unit_test(mistakes), cmocka_unit_test(kernel_files),
    };
    setenv("LOCKSTEP_KERNELS", KERNELS, 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
