/* test_trace.c: the filter of the instruction trace, and the file that appears only when it is complete. */
#include "runtime/driver/driver_test.h"

#include "runtime/driver/trace.h"

#include <stdlib.h>
#include <unistd.h>

static void filters(void **state)
{
    drv_trace t = { 0 };
    (void)state;
    OK(drv_trace_parse(&t, " group=1,2 wave=3  pc=0x100-0x200 kernel=fir", &err));
    assert_true(t.filter.one_group && t.filter.one_wave);
    assert_int_equal(t.filter.group[1], 2);
    assert_int_equal(t.filter.group[2], 0);
    assert_int_equal(t.filter.wave, 3);
    assert_int_equal(t.filter.pc_to, 0x200);
    assert_string_equal(t.kernel, "fir");
    OK(drv_trace_parse(&t, NULL, &err));
    assert_false(t.filter.one_group);
    assert_string_equal(t.kernel, "");
    REFUSED(drv_trace_parse(&t, "wav=1", &err), LS_ERR_USAGE, "'wav' is no trace filter");
    assert_string_equal(err.nearest, "wave");
    REFUSED(drv_trace_parse(&t, "group=1,2,3,4", &err), LS_ERR_USAGE, "three coordinates");
    REFUSED(drv_trace_parse(&t, "group=", &err), LS_ERR_USAGE, "trace filter");
    REFUSED(drv_trace_parse(&t, "wave=4294967296", &err), LS_ERR_USAGE, "too large");
    REFUSED(drv_trace_parse(&t, "pc=16", &err), LS_ERR_USAGE, "FROM-TO");
    REFUSED(drv_trace_parse(&t, "pc=16-16", &err), LS_ERR_USAGE, "is empty");
    REFUSED(drv_trace_parse(&t, "kernel=", &err), LS_ERR_USAGE, "no trace filter");
}

static void file(void **state)
{
    char directory[] = P_tmpdir "/lockstep-trace-XXXXXX", path[64], text[65536];
    uint32_t count = 64;
    size_t n;
    FILE *f;
    (void)state;
    bench_object("gfx1010", 5);
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/t.jsonl", directory);
    for (int close = 0; close < 2; close++) {
        bench b = bench_open("gfx1010", 5,
                             &(ls_gpu_options){ .trace_path = path,
                                                .trace_filter = "group=0 wave=1 kernel=increment",
                                                .threads = 4 });
        ls_gpu_address p = bench_buffer(&b, 256);
        const ls_gpu_arg args[] = { LS_GPU_ARG(p), LS_GPU_ARG(count) };
        const ls_gpu_launch launch = { .grid = { 128 }, .group = { 64 }, .args = args, .arg_count = 2 };
        OK(ls_gpu_run(b.context, bench_kernel(&b, "nothing"),
                      &(ls_gpu_launch){ .grid = { 1 }, .group = { 1 } }, &err));
        OK(ls_gpu_run(b.context, bench_kernel(&b, "increment"), &launch, &err));
        if (close)
            OK(ls_gpu_system_close_trace(b.system, &err));
        bench_close(&b);
        assert_int_equal(file_exists(path), close);
    }
    f = fopen(path, "r");
    n = fread(text, 1, sizeof text - 1, f);
    text[n] = '\0';
    fclose(f);
    assert_int_equal(strncmp(text, "{\"launch\":1,\"kernel\":\"increment\"}\n{\"group\":[0,0,0],\"wave\":1,",
                             60),
                     0);
    assert_null(strstr(text, "\"wave\":0"));
    assert_non_null(strstr(text, "s_endpgm"));
    unlink(path);
    rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filters),
        cmocka_unit_test(file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
