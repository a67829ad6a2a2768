/* test_strict.c: strict checks find each kind of defect in programs with that one defect, at its instruction,
 * with work-group, wave and lane. Similar correct programs run clean, and without strict all of them run. */
#include "runtime/driver/driver_test.h"

static const char *const targets[] = { "gfx803", "gfx1010", "gfx1030" };

static const char *object(const char *target)
{
    static char path[512];
    snprintf(path, sizeof path, LS_BINARY_DIR "/tests/kernels/%s-asm/strict.co", target);
    if (!file_exists(path)) {
        print_message("no compiled kernels: clang-15 or lld-15 is missing\n");
        skip();
    }
    return path;
}

static bench open_bench(const char *target, bool strict, uint32_t threads)
{
    bench b = { 0 };
    const ls_gpu_options options = { .gpus = &target, .gpu_count = 1, .strict = strict, .threads = threads };
    OK(ls_gpu_system_create(&options, &b.system, &err));
    OK(ls_gpu_context_create(b.system, &b.context, &err));
    OK(ls_gpu_module_load_file(b.context, object(target), &b.module, &err));
    return b;
}

/* Two work-groups of 128: two waves each, or four. */
static ls_status launch(const bench *b, const char *name)
{
    struct {
        ls_gpu_address p, q;
    } args = { bench_buffer(b, 64), bench_buffer(b, 64) };
    const ls_gpu_launch l = {
        .grid = { 256 }, .group = { 128 }, .packed = &args, .packed_bytes = sizeof args
    };
    static const uint32_t zero[16] = { 0 };
    OK(ls_gpu_copy_in(b->context, args.p, zero, sizeof zero, &err));
    ls_error kept;
    ls_status status = ls_gpu_run(b->context, bench_kernel(b, name), &l, &err);
    kept = err;
    OK(ls_gpu_free(b->context, args.p, &err));
    OK(ls_gpu_free(b->context, args.q, &err));
    err = kept;
    return status;
}

static const struct {
    const char *name, *text; /* NULL: no defect */
} rows[] = {
    { "past_the_end", "lane 0 reads 4 bytes at 0x" },
    { "past_the_end", "0 bytes past the end of the allocation of 64 bytes at 0x" },
    { "across_the_end", "lane 0 reads 8 bytes at 0x" },
    { "across_the_end", "the allocation of 64 bytes at 0x" },
    { "before_the_start", "1 bytes before the allocation of 64 bytes at 0x" },
    { "good_last_byte", NULL },
    { "lds_past_the_end", "lane 0 writes 1 bytes at LDS 0x40, but the work-group has 64 bytes of LDS" },
    { "stored_vgpr", "lane 0: what is stored depends on v7, which is undefined: nothing has written it" },
    { "address_vgpr", "lane 0: the address depends on v8, which is undefined: nothing has written it" },
    { "branch_sgpr", "s_cbranch_scc1" },
    { "branch_sgpr", "the branch depends on SCC, which is undefined" },
    { "branch_vcc", "the branch depends on vcc_lo, which is undefined" },
    { "exec_vgpr", "EXEC depends on vcc_lo, which is undefined" },
    { "partial_exec", "lane 4: what is stored depends on v7" },
    { "good_moves", NULL },
    { "lds_undefined", "(ds_read_b32 v7, v6) read it from LDS at 0x10, which nothing has written" },
    { "memory_undefined", "read it from memory at 0x" },
    { "atomic_undefined", "lane 0 changes the byte at 0x" },
    { "lane_undefined", "the number of the lane depends on s14" },
    { "lds_race", "lane 0 writes the byte at LDS 0x0, which wave 0 wrote without order (pc lds_race+0x" },
    { "good_lds_same_value", NULL },
    { "lds_no_barrier", "lane 0 reads the byte at LDS 0x0, which wave 0 wrote without order" },
    { "good_lds_barrier", NULL },
    { "wave_race", "which wave 0 wrote without order" },
    { "group_race", "which a wave of work-group number 0 wrote without order" },
    { "good_atomics", NULL },
    { "good_own_words", NULL },
};

static void one_defect_each(void **state)
{
    (void)state;
    for (size_t t = 0; t < LS_COUNT_OF(targets); t++) {
        bench b = open_bench(targets[t], true, 1);
        for (size_t i = 0; i < LS_COUNT_OF(rows); i++) {
            char start[64];
            ls_status status = launch(&b, rows[i].name);
            if (!rows[i].text) {
                if (status != LS_OK)
                    fail_msg("%s on %s: %s", rows[i].name, targets[t], err.what);
                continue;
            }
            if (status == LS_OK)
                fail_msg("%s on %s: nothing was found", rows[i].name, targets[t]);
            snprintf(start, sizeof start, "kernel %s, pc %s+0x", rows[i].name, rows[i].name);
            REFUSED(status, LS_ERR_CHECK, start);
            REFUSED(status, LS_ERR_CHECK, rows[i].text);
            REFUSED(status, LS_ERR_CHECK,
                    strstr(rows[i].name, "group_race") ? "work-group 1,0,0, wave 0: "
                                                       : "work-group 0,0,0, wave ");
        }
        bench_close(&b);
    }
}

/* Hardware would not notice, and neither does a run without strict. */
static void only_strict_finds_it(void **state)
{
    (void)state;
    for (size_t t = 0; t < LS_COUNT_OF(targets); t++) {
        bench b = open_bench(targets[t], false, 1);
        for (size_t i = 0; i < LS_COUNT_OF(rows); i++) {
            if (strcmp(rows[i].name, "address_vgpr") == 0 || strcmp(rows[i].name, "before_the_start") == 0)
                continue; /* nothing is mapped there */
            if (launch(&b, rows[i].name) != LS_OK)
                fail_msg("%s on %s: %s", rows[i].name, targets[t], err.what);
        }
        bench_close(&b);
    }
}

/* Findings do not depend on the requested number of threads. */
static void same_for_any_number_of_threads(void **state)
{
    static const uint32_t threads[] = { 1, 2, 3, 8 };
    char first[LS_COUNT_OF(rows)][512] = { { 0 } };
    (void)state;
    for (size_t k = 0; k < LS_COUNT_OF(threads); k++) {
        bench b = open_bench("gfx1010", true, threads[k]);
        for (size_t i = 0; i < LS_COUNT_OF(rows); i++) {
            err.what[0] = '\0';
            if (launch(&b, rows[i].name) == LS_OK)
                err.what[0] = '\0';
            if (k == 0)
                snprintf(first[i], sizeof first[i], "%s", err.what);
            /* Addresses depend on earlier allocations; the rest of the message does not. */
            assert_int_equal(strlen(err.what), strlen(first[i]));
        }
        bench_close(&b);
    }
}

/* The host's own doing: copies carry undefined bytes, fills define them, freed memory is named. */
static void host_memory(void **state)
{
    bench b = open_bench("gfx1030", true, 1);
    struct {
        ls_gpu_address p, q;
    } args = { bench_buffer(&b, 64), bench_buffer(&b, 64) };
    ls_gpu_address other = bench_buffer(&b, 64);
    const ls_gpu_launch l = { .grid = { 32 }, .group = { 32 }, .packed = &args, .packed_bytes = sizeof args };
    ls_gpu_kernel *reads = bench_kernel(&b, "memory_undefined");
    const uint32_t word = 7;
    (void)state;
    REFUSED(ls_gpu_run(b.context, reads, &l, &err), LS_ERR_CHECK, "which nothing has written");
    OK(ls_gpu_copy(b.context, args.q, other, 64, &err));
    REFUSED(ls_gpu_run(b.context, reads, &l, &err), LS_ERR_CHECK, "which nothing has written");
    OK(ls_gpu_copy_in(b.context, other, &word, sizeof word, &err));
    OK(ls_gpu_copy(b.context, args.q, other, 64, &err));
    OK(ls_gpu_run(b.context, reads, &l, &err)); /* its first word is defined now */
    OK(ls_gpu_free(b.context, other, &err));
    args.q = other;
    REFUSED(ls_gpu_run(b.context, reads, &l, &err), LS_ERR_CHECK, "the allocation of 64 bytes at 0x");
    REFUSED(LS_ERR_CHECK, LS_ERR_CHECK, "was freed");
    args.q = bench_buffer(&b, 64); /* a new one may be where the old one was: it is undefined again */
    REFUSED(ls_gpu_run(b.context, reads, &l, &err), LS_ERR_CHECK, "which nothing has written");
    OK(ls_gpu_alloc_zeroed(b.context, 64, &args.q, &err));
    OK(ls_gpu_run(b.context, reads, &l, &err));
    args.q = bench_buffer(&b, 64);
    OK(ls_gpu_fill(b.context, args.q, &word, sizeof word, 64, &err));
    OK(ls_gpu_run(b.context, reads, &l, &err));
    bench_close(&b);
}

static void not_in_simulated_time(void **state)
{
    ls_gpu_system *system;
    (void)state;
    REFUSED(ls_gpu_system_create(&(ls_gpu_options){ .strict = true, .mode = "time" }, &system, &err),
            LS_ERR_UNSUPPORTED, "strict checks are made by emulation only");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_defect_each),
        cmocka_unit_test(only_strict_finds_it),
        cmocka_unit_test(same_for_any_number_of_threads),
        cmocka_unit_test(host_memory),
        cmocka_unit_test(not_in_simulated_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
