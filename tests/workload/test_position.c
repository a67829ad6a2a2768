/* test_position.c: positions of traces: saved at random points, restored into objects that were opened anew, the
 * remaining stream is the same; another trace is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "temp_dir.h"
#include "trace_tools.h"
#include "workload/position.h"

#define GENERATED "synth:gemm,m=256,n=128,k=32"

static uint64_t draw(uint64_t *seed, uint64_t below)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*seed >> 33) % below;
}

/* Equal bytes: numbers of instructions and addresses, too. */
static void compare_bytes(const ls_cta *a, const ls_cta *b)
{
    assert_int_equal(a->index, b->index);
    assert_int_equal(a->warp_count, b->warp_count);
    assert_int_equal(a->dyn_count, b->dyn_count);
    assert_int_equal(a->addr_count, b->addr_count);
    assert_memory_equal(a->id, b->id, sizeof a->id);
    for (uint32_t w = 0; w < a->warp_count; w++) {
        assert_int_equal(a->warps[w].first, b->warps[w].first);
        assert_int_equal(a->warps[w].count, b->warps[w].count);
    }
    for (uint64_t i = 0; i < a->dyn_count; i++) {
        assert_int_equal(a->dyns[i].inst, b->dyns[i].inst);
        assert_int_equal(a->dyns[i].mask, b->dyns[i].mask);
        assert_int_equal(a->dyns[i].addr, b->dyns[i].addr);
    }
    assert_memory_equal(a->addrs, b->addrs, (size_t)a->addr_count * sizeof *a->addrs);
}

static void compare_rest(trace_kernel *a, trace_kernel *b)
{
    ls_cta ca = { 0 }, cb = { 0 };
    for (bool end_a = false, end_b = false;;) {
        assert_ok(kernel_next_cta(a, &ca, &end_a, err));
        assert_ok(kernel_next_cta(b, &cb, &end_b, err));
        assert_int_equal(end_a, end_b);
        if (end_a)
            break;
        compare_bytes(&ca, &cb);
        compare_cta(a, &ca, b, &cb);
    }
    ls_cta_fini(&ca);
    ls_cta_fini(&cb);
}

/* Reads some blocks, saves, and goes on from the bytes in a trace that was opened again. */
static void check_at(const char *path, uint64_t command, uint64_t group)
{
    sass_trace *first = open_trace(path), *second = open_trace(path);
    trace_kernel *read = NULL, *restored = NULL;
    source_position saved, loaded;
    uint8_t bytes[POSITION_BYTES];
    ls_cta cta = { 0 };
    bool end = false;
    assert_ok(trace_open_kernel(first, command, &read, err));
    for (uint64_t i = 0; i < group; i++)
        assert_ok(kernel_next_cta(read, &cta, &end, err));
    ls_cta_fini(&cta);
    assert_ok(position_begin(path, &saved, err));
    saved.command = command;
    saved.group = group;
    position_write(&saved, bytes);

    assert_ok(position_read(bytes, sizeof bytes, "memory", &loaded, err));
    assert_ok(position_check(&loaded, path, err));
    assert_ok(position_open_kernel(&loaded, second, &restored, err));
    compare_rest(read, restored);
    kernel_close(read);
    kernel_close(restored);
    trace_close(first);
    trace_close(second);
}

static void check_source(const char *path)
{
    sass_trace *trace = open_trace(path);
    uint64_t seed = 7;
    for (uint64_t c = 0; c < trace_command_count(trace); c++) {
        trace_kernel *kernel = NULL;
        if (trace_command_at(trace, c)->kind != LS_COMMAND_KERNEL)
            continue;
        assert_ok(trace_open_kernel(trace, c, &kernel, err));
        uint64_t blocks = kernel_blocks(kernel);
        kernel_close(kernel);
        check_at(path, c, 0);
        check_at(path, c, blocks);
        for (int i = 0; i < 4; i++)
            check_at(path, c, draw(&seed, blocks + 1));
    }
    trace_close(trace);
}

static void test_generators_go_on(void **state)
{
    (void)state;
    check_source(GENERATED);
    check_source("synth:stencil");
    check_source("synth:gather");
    check_source("synth:graph-walk");
}

static void test_packed_traces_go_on(void **state)
{
    (void)state;
    pack_trace(GENERATED, "gemm.lspk");
    check_source("gemm.lspk");
}

static void test_text_goes_on(void **state)
{
    (void)state;
    unpack_trace("gemm.lspk", "text", LS_COMPRESS_NONE);
    check_source("text");
}

static void assert_refused(ls_status got, const ls_error *err, ls_status status, const char *part)
{
    assert_int_equal(got, status);
    if (!strstr(err->what, part))
        fail_msg("'%s' is not in '%s'", part, err->what);
}

static void test_another_source_is_refused(void **state)
{
    (void)state;
    ls_error error = { 0 };
    source_position p, other;
    sass_trace *trace = open_trace(GENERATED);
    trace_kernel *kernel = NULL;
    assert_ok(position_begin(GENERATED, &p, err));
    assert_refused(position_check(&p, "synth:gemm,m=128,n=128,k=32", &error), &error, LS_ERR_INPUT,
                   "other content");
    assert_string_equal(error.where, "synth:gemm,m=128,n=128,k=32");
    assert_refused(position_check(&p, "gemm.lspk", &error), &error, LS_ERR_INPUT, "other content");
    assert_refused(position_begin("fir", &other, &error), &error, LS_ERR_UNSUPPORTED, "'fir' is a program");
    write_bytes("kernel.co", "\177ELF....", 8);
    assert_refused(position_begin("kernel.co", &other, &error), &error, LS_ERR_UNSUPPORTED, "'kernel.co'");
    while (trace_command_at(trace, p.command)->kind != LS_COMMAND_KERNEL)
        p.command++;
    p.group = 1u << 30;
    assert_refused(position_open_kernel(&p, trace, &kernel, &error), &error, LS_ERR_INPUT, "thread blocks");
    assert_null(kernel);
    p.command = 1u << 30;
    assert_refused(position_open_kernel(&p, trace, &kernel, &error), &error, LS_ERR_USAGE, "not a kernel");
    trace_close(trace);
}

static void test_other_bytes_are_refused(void **state)
{
    (void)state;
    ls_error error = { 0 };
    source_position p;
    uint8_t bytes[POSITION_BYTES];
    assert_ok(position_begin(GENERATED, &p, err));
    position_write(&p, bytes);
    assert_refused(position_read(bytes, sizeof bytes - 1, "x", &p, &error), &error, LS_ERR_INPUT,
                   "no position");
    bytes[8]++;
    assert_refused(position_read(bytes, sizeof bytes, "x", &p, &error), &error, LS_ERR_UNSUPPORTED,
                   "version 4");
    bytes[8]--;
    bytes[56] = POSITION_DEVICES + 1;
    assert_refused(position_read(bytes, sizeof bytes, "x", &p, &error), &error, LS_ERR_INPUT, "66 devices");
    bytes[56] = 0;
    bytes[12] = 9;
    assert_refused(position_read(bytes, sizeof bytes, "x", &p, &error), &error, LS_ERR_UNSUPPORTED, "kind 9");
    bytes[0] = 'X';
    assert_refused(position_read(bytes, sizeof bytes, "x", &p, &error), &error, LS_ERR_INPUT, "no position");
    assert_string_equal(error.where, "x");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_generators_go_on),
        cmocka_unit_test(test_packed_traces_go_on),
        cmocka_unit_test(test_text_goes_on),
        cmocka_unit_test(test_another_source_is_refused),
        cmocka_unit_test(test_other_bytes_are_refused),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
