/* test_faults.c: programs with one defect each end with one line: the defect, its pc, work-group and wave. The
 * line is the same in emulation and in simulated time. Launches and descriptors that cannot be are refused by
 * name before anything runs; random descriptors never do worse than that. */
#include "runtime/driver/driver_test.h"

#include <elf.h>
#include <stdlib.h>

static const struct {
    const char *target, *platform;
} machines[] = { { "gfx803", "r9nano" }, { "gfx1010", "rx5500xt" }, { "gfx1030", "w6800" } };

static const char *object(const char *target)
{
    static char path[512];
    snprintf(path, sizeof path, LS_BINARY_DIR "/tests/kernels/%s-asm/faults.co", target);
    if (!file_exists(path)) {
        print_message("no compiled kernels: clang-15 or lld-15 is missing\n");
        skip();
    }
    return path;
}

static bench open_bench(size_t machine, bool time)
{
    static const char *dirs[] = { LS_SOURCE_DIR "/platforms" };
    bench b = { 0 };
    ls_gpu_options options = { .gpus = &machines[machine].target, .gpu_count = 1, .max_instructions = 100000 };
    if (time) {
        options.platform = machines[machine].platform;
        options.platform_dirs = dirs;
        options.platform_dir_count = 1;
    }
    OK(ls_gpu_system_create(&options, &b.system, &err));
    OK(ls_gpu_context_create(b.system, &b.context, &err));
    OK(ls_gpu_module_load_file(b.context, object(machines[machine].target), &b.module, &err));
    return b;
}

/* One wave; the buffer's word is set to 7 by kernels that end well. */
static ls_status launch(const bench *b, const char *name, uint32_t *word)
{
    ls_gpu_address p = bench_buffer(b, 64);
    const ls_gpu_launch l = { .grid = { 32 }, .group = { 32 }, .packed = &p, .packed_bytes = sizeof p };
    static const uint32_t zero[16] = { 0 };
    ls_error kept;
    OK(ls_gpu_copy_in(b->context, p, zero, sizeof zero, &err));
    ls_status status = ls_gpu_run(b->context, bench_kernel(b, name), &l, &err);
    kept = err;
    if (status == LS_OK)
        OK(ls_gpu_copy_out(b->context, word, p, sizeof *word, &err));
    OK(ls_gpu_free(b->context, p, &err));
    err = kept;
    return status;
}

static void one_defect_each(void **state)
{
    static const struct {
        const char *name, *text; /* NULL: no defect */
        bool gfx803;             /* a defect there only */
    } rows[] = {
        { "fine", NULL, false },
        { "stray_vgpr", "v_mov_b32_e32 v40, 0: v40 is outside of the ", false },
        { "stray_source", "v40 is outside of the ", false },
        { "stray_load", "VGPRs that the kernel's descriptor allocates", false },
        { "stray_sgpr", "s_mov_b32 s90, 0: s90 is outside of the 24 SGPRs", true },
        { "stray_skipped", NULL, false },
        { "lds_read", "reads 4 bytes at 0x1000, which lies outside of the work-group's LDS", false },
        { "lds_write", "writes 2 bytes at 0x200, which lies outside of the work-group's LDS", false },
        { "halt", "s_sethalt 1: the wave halts itself, and nothing here resumes it", false },
        { "halt_off", NULL, false },
        { "message_halt", "halts itself", false },
        { "trap", "s_trap 2: the program trapped", false },
        { "kill", NULL, false },
        { "odd_jump", "control goes to a pc that is not a multiple of 4", false },
        { "far_jump", "pc 0x40, work-group 0,0,0, wave 0: control goes to a pc outside of its code", false },
        { "scalar_null", "reads 4 bytes at 0x0, which is not mapped", false },
        { "lds_odd", "at 0x2, which is misaligned", false },
    };
    (void)state;
    for (size_t m = 0; m < LS_COUNT_OF(machines); m++) {
        bench plain = open_bench(m, false), timed = open_bench(m, true);
        for (size_t i = 0; i < LS_COUNT_OF(rows); i++) {
            bool good = !rows[i].text || (rows[i].gfx803 && m != 0);
            uint32_t word = 0;
            char first[512];
            ls_status status = launch(&plain, rows[i].name, &word);
            if (good) {
                if (status != LS_OK)
                    fail_msg("%s on %s: %s", rows[i].name, machines[m].target, err.what);
                assert_int_equal(word, rows[i].text ? 0 : 7);
                assert_int_equal(launch(&timed, rows[i].name, &word), LS_OK);
                assert_int_equal(word, rows[i].text ? 0 : 7);
                continue;
            }
            char start[64];
            if (strcmp(rows[i].name, "far_jump") == 0)
                snprintf(start, sizeof start, "kernel %s, pc 0x40", rows[i].name);
            else
                snprintf(start, sizeof start, "kernel %s, pc %s+0x", rows[i].name, rows[i].name);
            REFUSED(status, LS_ERR_CHECK, rows[i].text);
            REFUSED(status, LS_ERR_CHECK, start);
            REFUSED(status, LS_ERR_CHECK, "work-group 0,0,0, wave 0: ");
            snprintf(first, sizeof first, "%s", err.what);
            REFUSED(launch(&timed, rows[i].name, &word), LS_ERR_CHECK, rows[i].text);
            /* Code and data lie elsewhere there: the same from the pc on. */
            assert_string_equal(strstr(first, ", work-group"), strstr(err.what, ", work-group"));
        }
        bench_close(&plain);
        bench_close(&timed);
    }
}

/* The object has no metadata: single arguments are laid out in their order. */
static void arguments_without_metadata(void **state)
{
    (void)state;
    bench b = open_bench(0, false);
    ls_gpu_kernel *kernel = bench_kernel(&b, "fine");
    ls_gpu_address p = bench_buffer(&b, 64);
    uint32_t low = (uint32_t)p, high = (uint32_t)(p >> 32), word = 0;
    const ls_gpu_arg whole[] = { LS_GPU_ARG(p), LS_GPU_ARG(low) }, local[] = { LS_GPU_LOCAL(8) };
    const ls_gpu_arg halves[] = { LS_GPU_ARG(low), LS_GPU_ARG(high) };
    ls_gpu_launch l = { .grid = { 32 }, .group = { 32 }, .args = whole, .arg_count = 1 };
    OK(ls_gpu_run(b.context, kernel, &l, &err));
    OK(ls_gpu_copy_out(b.context, &word, p, sizeof word, &err));
    assert_int_equal(word, 7);
    word = 0;
    OK(ls_gpu_copy_in(b.context, p, &word, sizeof word, &err));
    l.args = halves;
    l.arg_count = 2;
    OK(ls_gpu_run(b.context, kernel, &l, &err));
    OK(ls_gpu_copy_out(b.context, &word, p, sizeof word, &err));
    assert_int_equal(word, 7);
    l.args = whole;
    REFUSED(ls_gpu_run(b.context, kernel, &l, &err), LS_ERR_USAGE,
            "argument 2 of kernel 'fine' does not fit: the kernel has 8 bytes of arguments");
    l.args = local;
    l.arg_count = 1;
    REFUSED(ls_gpu_run(b.context, kernel, &l, &err), LS_ERR_USAGE,
            "argument 1 of kernel 'fine' cannot be local memory");
    bench_close(&b);
}

static void refused_before_the_launch(void **state)
{
    (void)state;
    for (unsigned time = 0; time < 2; time++) {
        bench b = open_bench(0, time != 0);
        uint32_t word;
        REFUSED(
            launch(&b, "private_all", &word), LS_ERR_INPUT,
            "kernel private_all: its descriptor asks for 4294967288 bytes of private memory per work-item; "
            "gfx803 has at most 131056");
        REFUSED(launch(&b, "private_much", &word), LS_ERR_INPUT, "at most 131056");
        ls_gpu_kernel *kernel = bench_kernel(&b, "fine");
        static const struct {
            ls_gpu_launch launch;
            const char *text;
        } rows[] = {
            { { .grid = { 0 }, .group = { 64 } }, "kernel 'fine': dimension 1 of the grid is 0" },
            { { .grid = { 64 }, .group = { 0 } }, "dimension 1 of the work-group is 0" },
            { { .grid = { 64, 0, 2 }, .group = { 64 } }, "dimension 2 of the grid is 0" },
            { { .grid = { 64, 2 }, .group = { 0, 2 } }, "dimension 1 of the work-group is 0" },
            { { .dims = 2, .grid = { 64 }, .group = { 64, 1 } }, "dimension 2 of the grid is 0" },
            { { .dims = 4, .grid = { 64 }, .group = { 64 } }, "at most 3 dimensions, not 4" },
            { { .grid = { 64 }, .group = { 1025 } }, "larger than the 1024 work-items" },
            { { .grid = { 64 }, .group = { 65536, 65536, 65536 } }, "larger than the 1024 work-items" },
            { { .grid = { 64 }, .group = { 64 }, .lds_bytes = 65536 }, "65600 bytes of local memory" },
        };
        for (size_t i = 0; i < LS_COUNT_OF(rows); i++)
            REFUSED(ls_gpu_run(b.context, kernel, &rows[i].launch, &err), LS_ERR_USAGE, rows[i].text);
        bench_close(&b);
    }
}

/* ------------------------------------------------------------------------------------ random descriptors */

/* Where the descriptor of a kernel is in the file. */
static uint8_t *descriptor(uint8_t *file, const char *name)
{
    const Elf64_Ehdr *header = (const void *)file;
    const Elf64_Shdr *sections = (const void *)(file + header->e_shoff);
    for (unsigned i = 0; i < header->e_shnum; i++) {
        if (sections[i].sh_type != SHT_DYNSYM)
            continue;
        const char *strings = (const char *)file + sections[sections[i].sh_link].sh_offset;
        const Elf64_Sym *symbols = (const void *)(file + sections[i].sh_offset);
        for (size_t k = 0; k < sections[i].sh_size / sizeof *symbols; k++) {
            const Elf64_Shdr *in = &sections[symbols[k].st_shndx];
            if (symbols[k].st_shndx < header->e_shnum && strcmp(strings + symbols[k].st_name, name) == 0)
                return file + in->sh_offset + (symbols[k].st_value - in->sh_addr);
        }
    }
    fail_msg("there is no %s", name);
    return NULL;
}

static uint32_t draw(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static void random_descriptors(void **state)
{
    (void)state;
    uint32_t seed = 1, refusals = 0, faults = 0;
    for (size_t m = 0; m < LS_COUNT_OF(machines); m++) {
        bench b = open_bench(m, false);
        mem_arena arena = { 0 };
        char *bytes;
        size_t size;
        OK(file_read(&arena, object(machines[m].target), 1u << 20, &bytes, &size, &err));
        uint8_t *place = descriptor((uint8_t *)bytes, "fine.kd"), saved[64];
        memcpy(saved, place, sizeof saved);
        for (unsigned i = 0; i < 400; i++) {
            memcpy(place, saved, sizeof saved);
            for (unsigned n = 1 + draw(&seed) % 4; n > 0; n--)
                place[draw(&seed) % 64] = (uint8_t)draw(&seed);
            ls_gpu_module *module;
            ls_gpu_kernel *kernel;
            const ls_gpu_launch l = { .grid = { 64 }, .group = { 64 } };
            err.what[0] = '\0';
            ls_status status = ls_gpu_module_load(b.context, bytes, size, &module, &err);
            if (status == LS_OK) {
                OK(ls_gpu_module_find(module, "fine", &kernel, &err));
                err.what[0] = '\0';
                status = ls_gpu_run(b.context, kernel, &l, &err);
                faults += status == LS_ERR_CHECK;
                refusals += status != LS_OK && status != LS_ERR_CHECK;
                ls_error kept = err;
                ls_gpu_module_unload(module);
                err = kept;
            }
            assert_int_not_equal(status, LS_OK); /* it writes through a null pointer at best */
            assert_true(strlen(err.what) > 20);
            assert_null(strchr(err.what, '\n'));
        }
        arena_fini(&arena);
        bench_close(&b);
    }
    assert_true(refusals > 100 && faults > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_defect_each),
        cmocka_unit_test(arguments_without_metadata),
        cmocka_unit_test(refused_before_the_launch),
        cmocka_unit_test(random_descriptors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
