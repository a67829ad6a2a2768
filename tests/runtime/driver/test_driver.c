/* test_driver.c: systems, contexts and memory, and every refusal. */
#include "runtime/driver/driver_test.h"

static void models_and_systems(void **state)
{
    static const char *const pair[] = { "gfx803", "gfx1030" }, *const wrong[] = { "gfx1031" };
    ls_gpu_system *system;
    uint64_t used, total;
    (void)state;
    assert_int_equal(ls_gpu_model_count(), 5);
    assert_null(ls_gpu_model_at(5));
    OK(ls_gpu_system_create(NULL, &system, &err));
    assert_string_equal(ls_gpu_system_gpu(system, 0)->name, "gfx1030");
    assert_null(ls_gpu_system_gpu(system, 1));
    ls_gpu_system_destroy(system);
    OK(ls_gpu_system_create(&(ls_gpu_options){ .gpus = pair, .gpu_count = 2, .memory_bytes = 1 << 20 },
                            &system, &err));
    assert_int_equal(ls_gpu_system_gpu_count(system), 2);
    assert_int_equal(ls_gpu_system_gpu(system, 0)->wave_size, 64);
    ls_gpu_system_memory(system, 1, &used, &total);
    assert_int_equal(used, 0);
    assert_int_equal(total, 1 << 20);
    ls_gpu_system_destroy(system);
    REFUSED(ls_gpu_system_create(&(ls_gpu_options){ .gpus = wrong, .gpu_count = 1 }, &system, &err),
            LS_ERR_USAGE, "no GPU 'gfx1031'");
    assert_non_null(strstr(err.nearest, "gfx1030"));
    assert_null(system);
    REFUSED(ls_gpu_system_create(&(ls_gpu_options){ .gpus = pair, .gpu_count = 0 }, &system, &err),
            LS_ERR_USAGE, "not 0");
    assert_string_equal(ls_gpu_class_name(0), "salu");
    assert_null(ls_gpu_class_name(LS_GPU_CLASS_MAX));
}

static void memory_is_limited(void **state)
{
    ls_gpu_system *system;
    ls_gpu_context *context;
    ls_gpu_address a, b, c;
    uint64_t used, total;
    (void)state;
    OK(ls_gpu_system_create(&(ls_gpu_options){ .memory_bytes = 64 * 4096 }, &system, &err));
    OK(ls_gpu_context_create(system, &context, &err));
    OK(ls_gpu_alloc(context, 60 * 4096, &a, &err));
    OK(ls_gpu_alloc(context, 1, &b, &err));
    ls_gpu_system_memory(system, 0, &used, &total);
    assert_int_equal(used, 61 * 4096);
    REFUSED(ls_gpu_alloc(context, 4 * 4096, &c, &err), LS_ERR_UNSUPPORTED,
            "has no room for 16,384 bytes: 12,288 of");
    REFUSED(ls_gpu_alloc(context, UINT64_MAX, &c, &err), LS_ERR_UNSUPPORTED, "no room");
    REFUSED(ls_gpu_alloc(context, 0, &c, &err), LS_ERR_USAGE, "at least one byte");
    assert_int_equal(c, 0);
    OK(ls_gpu_free(context, a, &err));
    OK(ls_gpu_alloc(context, 63 * 4096, &c, &err));
    REFUSED(ls_gpu_free(context, c + 4096, &err), LS_ERR_USAGE, "not the address of an allocation");
    OK(ls_gpu_free(context, 0, &err));
    ls_gpu_context_destroy(context);
    ls_gpu_system_memory(system, 0, &used, &total);
    assert_int_equal(used, 0);
    ls_gpu_system_destroy(system);
}

static void copies_and_fills(void **state)
{
    static const char *const pair[] = { "gfx1010", "gfx803" };
    ls_gpu_system *system;
    ls_gpu_context *context;
    ls_gpu_address a, b;
    uint8_t bytes[32], want[32];
    (void)state;
    OK(ls_gpu_system_create(&(ls_gpu_options){ .gpus = pair, .gpu_count = 2 }, &system, &err));
    OK(ls_gpu_context_create(system, &context, &err));
    OK(ls_gpu_alloc(context, 32, &a, &err));
    OK(ls_gpu_select(context, 1, &err));
    assert_int_equal(ls_gpu_selected(context), 1);
    OK(ls_gpu_alloc(context, 32, &b, &err));
    OK(ls_gpu_copy_out(context, bytes, a, 32, &err));
    memset(want, 0, sizeof want);
    assert_memory_equal(bytes, want, 32); /* new memory is zero */
    OK(ls_gpu_fill(context, a, "abc", 3, 30, &err));
    OK(ls_gpu_copy(context, b, a + 1, 30, &err)); /* from one GPU to the other */
    OK(ls_gpu_copy_out(context, bytes, b, 32, &err));
    assert_memory_equal(bytes, "bcabcabcabcabcabcabcabcabcabc\0\0", 32);
    OK(ls_gpu_copy(context, b + 2, b, 28, &err)); /* overlapping */
    OK(ls_gpu_copy_out(context, bytes, b, 8, &err));
    assert_memory_equal(bytes, "bcbcabca", 8);
    OK(ls_gpu_copy_in(context, b, NULL, 0, &err));
    REFUSED(ls_gpu_copy_in(context, b, NULL, 1, &err), LS_ERR_USAGE, "is NULL");
    REFUSED(ls_gpu_copy_out(context, bytes, a + 1, 32, &err), LS_ERR_USAGE, "the allocation ends after 31");
    REFUSED(ls_gpu_copy_in(context, 16, bytes, 1, &err), LS_ERR_USAGE, "nothing is allocated there");
    REFUSED(ls_gpu_fill(context, a, "abc", 3, 31, &err), LS_ERR_USAGE, "cannot be filled with a pattern of 3");
    REFUSED(ls_gpu_fill(context, a, bytes, 0, 0, &err), LS_ERR_USAGE, "1 to 128 bytes");
    REFUSED(ls_gpu_select(context, 2, &err), LS_ERR_USAGE, "no GPU 2");
    ls_gpu_context_destroy(context);
    ls_gpu_system_destroy(system);
}

/* Contexts do not see each other's objects. */
static void contexts_are_apart(void **state)
{
    ls_gpu_system *system;
    ls_gpu_context *one, *two;
    ls_gpu_address a;
    uint32_t value = 1;
    (void)state;
    OK(ls_gpu_system_create(NULL, &system, &err));
    OK(ls_gpu_context_create(system, &one, &err));
    OK(ls_gpu_context_create(system, &two, &err));
    OK(ls_gpu_alloc(one, 4, &a, &err));
    REFUSED(ls_gpu_copy_in(two, a, &value, 4, &err), LS_ERR_USAGE, "nothing is allocated");
    REFUSED(ls_gpu_free(two, a, &err), LS_ERR_USAGE, "not the address");
    ls_gpu_context_destroy(two);
    OK(ls_gpu_copy_in(one, a, &value, 4, &err));
    ls_gpu_context_destroy(one);
    ls_gpu_system_destroy(system);
}

static void modules(void **state)
{
    bench b = bench_open("gfx1010", 4, NULL);
    const char *other = bench_object("gfx803", 4);
    ls_gpu_module *module;
    ls_gpu_kernel *kernel;
    const ls_gpu_kernel_info *info;
    uint64_t before, after, total;
    (void)state;
    assert_int_equal(ls_gpu_module_kernel_count(b.module), 9);
    assert_null(ls_gpu_module_kernel(b.module, 9));
    info = ls_gpu_kernel_get_info(bench_kernel(&b, "locals"));
    assert_string_equal(info->name, "locals");
    assert_int_equal(info->arg_count, 4);
    assert_int_equal(info->args[0].kind, LS_GPU_ARG_BUFFER);
    assert_int_equal(info->args[2].kind, LS_GPU_ARG_LOCAL);
    assert_string_equal(info->args[2].name, "a");
    assert_int_equal(info->lds_bytes, 256);
    assert_int_equal(info->wave_size, 32);
    REFUSED(ls_gpu_module_find(b.module, "local", &kernel, &err), LS_ERR_USAGE, "no kernel 'local'");
    assert_string_equal(err.nearest, "locals");
    REFUSED(ls_gpu_module_load_file(b.context, other, &module, &err), LS_ERR_INPUT,
            "is for gfx803, but the selected GPU is gfx1010");
    assert_null(module);
    REFUSED(ls_gpu_module_load(b.context, "nonsense", 8, &module, &err), LS_ERR_INPUT,
            "begins with 'nonsense'");
    assert_int_equal(ls_gpu_module_load_file(b.context, "/nowhere/x.co", &module, &err), LS_ERR_IO);
    ls_gpu_system_memory(b.system, 0, &before, &total);
    assert_true(before > 0);
    ls_gpu_module_unload(b.module);
    ls_gpu_system_memory(b.system, 0, &after, &total);
    assert_int_equal(after, 0);
    bench_close(&b);
}

static void wrong_launches(void **state)
{
    bench b = bench_open("gfx1030", 5, NULL);
    uint32_t count = 1;
    uint64_t wide = 1;
    ls_gpu_address p = bench_buffer(&b, 64);
    const ls_gpu_arg good[] = { LS_GPU_ARG(p), LS_GPU_ARG(count) },
                     bad[] = { LS_GPU_ARG(p), LS_GPU_ARG(wide) },
                     local[] = { LS_GPU_LOCAL(8), LS_GPU_ARG(count) },
                     huge[] = { LS_GPU_ARG(p), LS_GPU_ARG(p), LS_GPU_LOCAL(65536), LS_GPU_LOCAL(8) };
    ls_gpu_kernel *increment = bench_kernel(&b, "increment");
    ls_gpu_launch launch = { .grid = { 64 }, .group = { 64 }, .args = good, .arg_count = 1 };
    (void)state;
    REFUSED(ls_gpu_run(b.context, increment, &launch, &err), LS_ERR_USAGE, "has 2 arguments, not 1");
    launch.arg_count = 2;
    launch.args = NULL;
    REFUSED(ls_gpu_run(b.context, increment, &launch, &err), LS_ERR_USAGE, "but args is NULL");
    launch.args = bad;
    REFUSED(ls_gpu_run(b.context, increment, &launch, &err), LS_ERR_USAGE,
            "argument 2 (uint count) of kernel 'increment' has 4 bytes, not 8");
    launch.args = local;
    REFUSED(ls_gpu_run(b.context, increment, &launch, &err), LS_ERR_USAGE, "is not local memory");
    launch.args = good;
    launch.packed = &p;
    REFUSED(ls_gpu_run(b.context, increment, &launch, &err), LS_ERR_USAGE, "both single and packed");
    launch.args = NULL;
    launch.packed_bytes = 8;
    REFUSED(ls_gpu_run(b.context, increment, &launch, &err), LS_ERR_USAGE, "has 12 bytes of arguments, not 8");
    launch = (ls_gpu_launch){ .grid = { 64 }, .group = { 64, 64 }, .args = good, .arg_count = 2 };
    REFUSED(ls_gpu_run(b.context, increment, &launch, &err), LS_ERR_USAGE, "64 x 64 x 1 is larger than the");
    launch = (ls_gpu_launch){ .grid = { 64 }, .group = { 64 }, .packed = &p, .packed_bytes = 8 };
    REFUSED(ls_gpu_run(b.context, bench_kernel(&b, "required"), &launch, &err), LS_ERR_USAGE,
            "requires work-groups of 32 x 2 x 1, not 64 x 1 x 1");
    launch = (ls_gpu_launch){ .grid = { 64 }, .group = { 64 }, .args = huge, .arg_count = 4 };
    REFUSED(ls_gpu_run(b.context, bench_kernel(&b, "locals"), &launch, &err), LS_ERR_USAGE,
            "bytes of local memory; gfx1030 has 65536");
    launch = (ls_gpu_launch){ .dims = 4 };
    REFUSED(ls_gpu_run(b.context, bench_kernel(&b, "nothing"), &launch, &err), LS_ERR_USAGE,
            "at most 3 dimensions");
    bench_close(&b);
}

static void faults(void **state)
{
    bench b = bench_open("gfx1010", 4, &(ls_gpu_options){ .max_instructions = 10000 });
    ls_gpu_address p = bench_buffer(&b, 64), table;
    uint64_t distance = (uint64_t)1 << 40, bytes;
    ls_gpu_arg args[] = { LS_GPU_ARG(p), LS_GPU_ARG(distance) };
    const ls_gpu_launch launch = { .grid = { 1 }, .group = { 1 }, .args = args, .arg_count = 2 };
    (void)state;
    REFUSED(ls_gpu_run(b.context, bench_kernel(&b, "stray"), &launch, &err), LS_ERR_CHECK, "kernel stray");
    /* Read-only memory is not written. */
    OK(ls_gpu_module_variable(b.module, "table", &table, &bytes, &err));
    distance = 0;
    args[0] = LS_GPU_ARG(table);
    REFUSED(ls_gpu_run(b.context, bench_kernel(&b, "stray"), &launch, &err), LS_ERR_CHECK, "read-only");
    REFUSED(ls_gpu_run(b.context, bench_kernel(&b, "forever"),
                       &(ls_gpu_launch){ .grid = { 1 }, .group = { 1 }, .packed = &p, .packed_bytes = 8 },
                       &err),
            LS_ERR_CHECK, "limit");
    /* A failed launch leaves the context usable. */
    args[0] = LS_GPU_ARG(p);
    OK(ls_gpu_run(b.context, bench_kernel(&b, "stray"), &launch, &err));
    bench_close(&b);
}

static void modes(void **state)
{
    ls_gpu_system *system;
    (void)state;
    REFUSED(ls_gpu_system_create(&(ls_gpu_options){ .mode = "emulat" }, &system, &err), LS_ERR_USAGE,
            "no mode 'emulat'");
    assert_string_equal(err.nearest, "emulate");
    assert_null(system);
    OK(ls_gpu_system_create(&(ls_gpu_options){ .mode = "emulate" }, &system, &err));
    ls_gpu_system_destroy(system);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_and_systems),
        cmocka_unit_test(memory_is_limited),
        cmocka_unit_test(copies_and_fills),
        cmocka_unit_test(contexts_are_apart),
        cmocka_unit_test(modules),
        cmocka_unit_test(wrong_launches),
        cmocka_unit_test(faults),
        cmocka_unit_test(modes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
