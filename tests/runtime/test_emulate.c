/* test_emulate.c: launches of hand-assembled kernels: registers at the start, partial work-groups, barriers,
 * private memory, faults with their place. Also limits, refusals, counters, traces, and the same result for
 * any number of threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/emulate/emulate.h"

#include <stdlib.h>
#include <string.h>

/* Words of code, made with llvm-mc from the lines above each. */

/* s_load_dwordx2 s[4:5], s[0:1], 0x0; s_lshl_b32 s6, s2, 6; v_add_u32 v0, vcc, s6, v0; v_lshlrev_b32 v1,
 * 2, v0; s_waitcnt lgkmcnt(0); v_mov_b32 v2, s5; v_add_u32 v1, vcc, s4, v1; v_addc_u32 v2, vcc, 0, v2,
 * vcc; flat_store_dword v[1:2], v0; s_endpgm */
static const uint32_t ids8[] = {
    0xc0060100, 0x00000000, 0x8e068602, 0x32000006, 0x24020082, 0xbf8c007f,
    0x7e040205, 0x32020204, 0x38040480, 0xdc700000, 0x00000001, 0xbf810000,
};

/* The same for gfx1010: v_add_nc_u32, global_store_dword v1, v0, s[4:5] */
static const uint32_t ids10[] = {
    0xf4040100, 0xfa000000, 0x8f068602, 0x4a000006, 0x34020082, 0xbf8cc07f, 0xdc708000, 0x00040001, 0xbf810000,
};

/* v_readfirstlane_b32 s6, v0; s_cmp_eq_u32 s6, 0; s_cbranch_scc1 to s_endpgm; s_barrier; s_endpgm */
static const uint32_t barrier8[] = {
    0x7e0c0500, 0xbf068006, 0xbf850001, 0xbf8a0000, 0xbf810000,
};

/* s_branch to itself */
static const uint32_t forever8[] = {
    0xbf82ffff,
};

/* LDS word 0 counts the work-items; after a barrier all add it to the word that the argument points to. */
static const uint32_t sum8[] = {
    0xc0060100, 0x00000000, 0xbefc00c1, 0x24060082, 0x7e080281, 0x7e0a0280, 0xd8000000, 0x00000405, 0xbf8c007f,
    0xbf8a0000, 0xd86c0000, 0x06000005, 0xbf8c007f, 0x7e020204, 0x7e040205, 0xdd080000, 0x00000601, 0xbf810000,
};

/* Lane 7 of each wave reads address 0 in work-groups from 3 on. */
static const uint32_t fault8[] = {
    0xc0060100, 0x00000000, 0x7e020280, 0x7e040280, 0xbf0a8302, 0xbf850004,
    0x7d940087, 0xbe88206a, 0xdc500000, 0x03000001, 0xbf810000,
};

/* v0 goes through private memory (buffer_store_dword, buffer_load_dword) to argument + 256 * work-group +
 * 4 * v0. */
static const uint32_t scratch8[] = {
    0xc0060202, 0x00000000, 0x80000700, 0x82018001, 0x24020082, 0xe0700008, 0x80000000,
    0xbf8c0f70, 0xe0500008, 0x80000400, 0xbf8c0070, 0x8e068806, 0x80080608, 0x7e060209,
    0x32040208, 0x38060680, 0xdc700000, 0x00000402, 0xbf810000,
};

/* Five rounds of v1 = v1 * 1.3, + 0.1 rounded up, - rsq(v1) * |v1|, and in lanes above 7 times 2, with s_nop, s_waitcnt
 * and s_getpc between; then v1 and the pc go to the word of the work-item. gfx1030, waves of 32. */
static const uint32_t rounds10[] = {
    0xf4040100, 0xfa000000, 0x7e020d00, 0xbe860385, 0xbf8cc07f, 0xbf800000, 0x100202ff, 0x3fa66666,
    0xbfa40005, 0x060202ff, 0x3dcccccd, 0xbfa40000, 0x7e045d01, 0xd54b0201, 0x24060302, 0xbf8c3f70,
    0x7d820087, 0xbe873c6a, 0x06020301, 0xbf800001, 0xbefe0307, 0xbe881f00, 0x8106c106, 0xbf078006,
    0xbf85ffec, 0x4a060208, 0xd7460004, 0x04010c02, 0x34080882, 0xdc708000, 0x00040304, 0xbf810000,
};

enum { KERNARG = 1u << 3, SCRATCH_BUFFER = 1u << 0, WAVE32 = 1u << 10 };

typedef struct machine {
    memory_space *address_space;
    emulate *emulator;
    uint64_t code, data, args;
} machine;

static void machine_init(machine *m, uint32_t threads)
{
    uint32_t both = LS_PAGE_READ | LS_PAGE_WRITE;
    assert_int_equal(address_space_create(1u << 26, &m->address_space, NULL), LS_OK);
    assert_int_equal(address_space_alloc(m->address_space, 4096, 0, LS_PAGE_READ, &m->code, NULL), LS_OK);
    assert_int_equal(address_space_alloc(m->address_space, 65536, 0, both, &m->data, NULL), LS_OK);
    assert_int_equal(address_space_alloc(m->address_space, 4096, 0, LS_PAGE_READ, &m->args, NULL), LS_OK);
    assert_int_equal(address_space_write(m->address_space, m->args, &m->data, 8, NULL), LS_OK);
    assert_int_equal(emulate_create(m->address_space, threads, &m->emulator, NULL), LS_OK);
}

static void machine_fini(machine *m)
{
    emulate_destroy(m->emulator);
    assert_int_equal(address_space_mapped_bytes(m->address_space),
                     4096 + 65536 + 4096); /* it gave everything back */
    address_space_destroy(m->address_space);
}

static amd_kernel machine_kernel(machine *m, const uint32_t *code, size_t bytes)
{
    assert_int_equal(address_space_write(m->address_space, m->code, code, bytes, NULL), LS_OK);
    return (amd_kernel){ .name = "test",
                         .target = AMD_GFX803,
                         .code = m->code,
                         .code_bytes = bytes,
                         .entry = m->code,
                         .rsrc1 = 3 | 12u << 6 | 0xc0u << 12, /* 16 VGPRs */
                         .rsrc2 = 2u << 1 | 1u << 7,          /* two user SGPRs, then the work-group's x */
                         .properties = KERNARG,
                         .lds_bytes = 64 };
}

static emulate_launch machine_launch(const machine *m, uint32_t grid, uint32_t group)
{
    return (emulate_launch){ .dims = 1, .grid = { grid, 1, 1 }, .group = { group, 1, 1 }, .kernarg = m->args };
}

static const uint32_t *machine_data(const machine *m)
{
    return address_space_host(m->address_space, m->data, 65536);
}

static void ids(void **state)
{
    (void)state;
    for (unsigned gfx10 = 0; gfx10 < 2; gfx10++) {
        machine m;
        machine_init(&m, 2);
        amd_kernel kernel = machine_kernel(&m, gfx10 ? ids10 : ids8, gfx10 ? sizeof ids10 : sizeof ids8);
        if (gfx10) {
            kernel.target = AMD_GFX1010;
            kernel.properties |= WAVE32;
        }
        amd_program *program;
        assert_int_equal(amd_program_create(&kernel, m.address_space, &program, NULL), LS_OK);
        assert_int_equal(program->lanes, gfx10 ? 32 : 64);
        assert_int_equal(program->op_count, gfx10 ? 7 : 10);
        emulate_launch launch = machine_launch(&m, 1000, 64); /* the last work-group has 40 */
        ls_gpu_counts counts;
        assert_int_equal(emulate_run(m.emulator, program, &launch, &counts, NULL, NULL), LS_OK);
        for (uint32_t i = 0; i < 1100; i++)
            assert_int_equal(machine_data(&m)[i], i < 1000 ? i : 0);
        uint64_t waves = gfx10 ? 32 : 16;
        assert_int_equal(counts.work_groups, 16);
        assert_int_equal(counts.wavefronts, waves);
        assert_int_equal(counts.instructions, waves * (gfx10 ? 7 : 10));
        assert_int_equal(counts.classes[AMD_CLASS_SMEM], waves);
        assert_int_equal(counts.stores, 1000);
        assert_int_equal(counts.store_bytes, 4000);
        assert_int_equal(counts.load_bytes, waves * 8);
        assert_int_equal(counts.active_lanes, 1000 * (gfx10 ? 3 : 6));
        amd_program_destroy(program);
        machine_fini(&m);
    }
}

/* A wave has the registers that the hardware allocates, all of them cleared. */
static void registers_as_allocated(void **state)
{
    (void)state;
    static const struct {
        amd_target target;
        uint16_t properties;
        uint32_t field, vgprs;
    } rows[] = { { AMD_GFX803, 0, 0, 4 },        { AMD_GFX803, 0, 63, 256 },
                 { AMD_GFX1010, WAVE32, 0, 8 },  { AMD_GFX1010, 0, 2, 12 },
                 { AMD_GFX1030, WAVE32, 0, 16 }, { AMD_GFX1030, WAVE32, 2, 32 },
                 { AMD_GFX1030, 0, 0, 8 },       { AMD_GFX1030, WAVE32, 31, 256 },
                 { AMD_GFX1010, WAVE32, 32, 0 }, { AMD_GFX1030, WAVE32, 63, 0 } };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        machine m;
        machine_init(&m, 1);
        amd_kernel kernel = machine_kernel(&m, ids10, sizeof ids10);
        kernel.target = rows[i].target;
        kernel.properties = (uint16_t)(KERNARG | rows[i].properties);
        kernel.rsrc1 = (kernel.rsrc1 & ~0x3fu) | rows[i].field;
        if (rows[i].target == AMD_GFX803)
            assert_int_equal(address_space_write(m.address_space, m.code, ids8, sizeof ids8, NULL), LS_OK);
        kernel.code_bytes = rows[i].target == AMD_GFX803 ? sizeof ids8 : sizeof ids10;
        amd_program *program = NULL;
        ls_error err;
        ls_status status = amd_program_create(&kernel, m.address_space, &program, &err);
        if (rows[i].vgprs == 0) {
            assert_int_equal(status, LS_ERR_INPUT);
            assert_non_null(strstr(err.what, "vector registers"));
        } else {
            assert_int_equal(status, LS_OK);
            assert_int_equal(program->vgprs, rows[i].vgprs);
            amd_program_destroy(program);
        }
        machine_fini(&m);
    }
}

static void private_memory(void **state)
{
    (void)state;
    machine m;
    machine_init(&m, 2);
    amd_kernel kernel = machine_kernel(&m, scratch8, sizeof scratch8);
    kernel.properties = SCRATCH_BUFFER | KERNARG;
    kernel.rsrc2 = 1 | 6u << 1 | 1u << 7;
    kernel.scratch_bytes = 16;
    amd_program *program;
    assert_int_equal(amd_program_create(&kernel, m.address_space, &program, NULL), LS_OK);
    emulate_launch launch = machine_launch(&m, 256 * 8, 256);
    assert_int_equal(emulate_run(m.emulator, program, &launch, NULL, NULL, NULL), LS_OK);
    for (uint32_t i = 0; i < 7 * 64 + 256; i++) /* work-groups overlap: each writes what the next overwrites */
        assert_int_equal(machine_data(&m)[i] % 64, i % 64);
    amd_program_destroy(program);
    machine_fini(&m);
}

/* LDS is allocated in pieces of 512 bytes. Beyond the kernel's size but inside of its piece it exists; after
 * the piece an access is an error of the program. */
static void local_memory(void **state)
{
    (void)state;
    static const uint32_t code[] = {
        /* v1 = 508, v2 = 7; write at v1 and at v1 + 4; read both; store both */
        0xf4040000, 0xfa000000, 0x7e0202ff, 0x000001fc, 0x7e040287, 0xd8340000,
        0x00000201, 0xd8340004, 0x00000201, 0xd8d80000, 0x03000001, 0xd8d80004,
        0x04000001, 0x7e0a0280, 0xbf8c0070, 0xdc748000, 0x00000305, 0xbf810000,
    };
    machine m;
    machine_init(&m, 1);
    amd_kernel kernel = machine_kernel(&m, code, sizeof code);
    kernel.target = AMD_GFX1010;
    kernel.properties |= WAVE32;
    amd_program *program;
    assert_int_equal(amd_program_create(&kernel, m.address_space, &program, NULL), LS_OK);
    emulate_launch launch = machine_launch(&m, 1, 1);
    emulate_fault fault;
    ls_error err;
    assert_int_equal(emulate_run(m.emulator, program, &launch, NULL, &fault, &err), LS_ERR_CHECK);
    assert_int_equal(fault.fault.kind, LS_FAULT_LDS_RANGE);
    assert_int_equal(fault.fault.address, 512);
    assert_true(fault.fault.write);
    assert_string_equal(fault.text, "ds_write_b32 v1, v2 offset:4");
    assert_non_null(strstr(err.what,
                           "lane 0 writes 4 bytes at 0x200, which lies outside of the work-group's LDS"));
    amd_program_destroy(program);
    machine_fini(&m);
}

static void same_for_any_number_of_threads(void **state)
{
    (void)state;
    static const uint32_t threads[] = { 1, 2, 8 };
    ls_gpu_counts first;
    for (unsigned i = 0; i < 3; i++) {
        machine m;
        machine_init(&m, threads[i]);
        amd_kernel kernel = machine_kernel(&m, sum8, sizeof sum8);
        amd_program *program;
        assert_int_equal(amd_program_create(&kernel, m.address_space, &program, NULL), LS_OK);
        emulate_launch launch = machine_launch(&m, 100 * 192, 192);
        ls_gpu_counts counts;
        assert_int_equal(emulate_run(m.emulator, program, &launch, &counts, NULL, NULL), LS_OK);
        assert_int_equal(machine_data(&m)[0], 100 * 192 * 192);
        assert_int_equal(counts.barriers, 100);
        assert_int_equal(counts.atomics, 2 * 100 * 192);
        if (i == 0)
            first = counts;
        assert_memory_equal(&counts, &first, sizeof counts);
        amd_program_destroy(program);
        machine_fini(&m);
    }
}

/* The first work-group's fault is reported, even if another thread finds its fault earlier. */
static void first_fault(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 8; threads *= 2) {
        machine m;
        machine_init(&m, threads);
        amd_kernel kernel = machine_kernel(&m, fault8, sizeof fault8);
        amd_program *program;
        assert_int_equal(amd_program_create(&kernel, m.address_space, &program, NULL), LS_OK);
        emulate_launch launch = machine_launch(&m, 64 * 50, 64);
        emulate_fault fault;
        ls_error error;
        assert_int_equal(emulate_run(m.emulator, program, &launch, NULL, &fault, &error), LS_ERR_CHECK);
        assert_int_equal(fault.fault.kind, LS_FAULT_UNMAPPED);
        assert_int_equal(fault.work_group[0], 3);
        assert_int_equal(fault.fault.lane, 7);
        assert_int_equal(fault.fault.address, 0);
        assert_int_equal(fault.pc, m.code + 32);
        assert_string_equal(fault.text, "flat_load_dword v3, v[1:2]");
        char expect[256];
        snprintf(
            expect, sizeof expect,
            "kernel test, pc test+0x%llx, work-group 3,0,0, wave 0: flat_load_dword v3, v[1:2]: lane 7 reads "
            "4 bytes at 0x0, which is not mapped",
            32ull);
        assert_string_equal(error.what, expect);
        amd_program_destroy(program);
        machine_fini(&m);
    }
}

static void barriers_and_limits(void **state)
{
    (void)state;
    machine m;
    machine_init(&m, 1);
    amd_kernel kernel = machine_kernel(&m, barrier8, sizeof barrier8);
    amd_program *program;
    assert_int_equal(amd_program_create(&kernel, m.address_space, &program, NULL), LS_OK);
    emulate_launch launch = machine_launch(&m, 128, 128);
    emulate_fault fault;
    ls_gpu_counts counts;
    assert_int_equal(emulate_run(m.emulator, program, &launch, NULL, &fault, NULL), LS_ERR_CHECK);
    assert_int_equal(fault.fault.kind, LS_FAULT_BARRIER);
    assert_int_equal(fault.wave, 1);
    assert_int_equal(fault.pc, m.code + 12);
    launch.lenient_barriers = true;
    assert_int_equal(emulate_run(m.emulator, program, &launch, &counts, NULL, NULL), LS_OK);
    assert_int_equal(counts.barriers, 1);
    amd_program_destroy(program);

    kernel = machine_kernel(&m, forever8, sizeof forever8);
    assert_int_equal(amd_program_create(&kernel, m.address_space, &program, NULL), LS_OK);
    launch.max_instructions = 5000;
    assert_int_equal(emulate_run(m.emulator, program, &launch, &counts, &fault, NULL), LS_ERR_CHECK);
    assert_int_equal(fault.fault.kind, LS_FAULT_LIMIT);
    assert_int_equal(fault.pc, m.code);
    assert_int_equal(counts.instructions, 5000);
    amd_program_destroy(program);
    machine_fini(&m);
}

/* v_mov_b32 v0, 3; ds_gws_barrier v0 gds; s_endpgm: four work-groups wait for each other, on one thread or several. */
static void grid_barrier(void **state)
{
    (void)state;
    static const uint32_t code[] = { 0x7e000283, 0xd93b0000, 0x00000000, 0xbf810000 };
    for (uint32_t threads = 1; threads <= 2; threads++) {
        machine m;
        machine_init(&m, threads);
        amd_program *program = NULL;
        ls_error error;
        ls_gpu_counts counts = { 0 };
        amd_kernel kernel = machine_kernel(&m, code, sizeof code);
        assert_int_equal(amd_program_create(&kernel, m.address_space, &program, &error), LS_OK);
        assert_true(program->uses_gws);
        emulate_launch launch = machine_launch(&m, 256, 64);
        assert_int_equal(emulate_run(m.emulator, program, &launch, &counts, NULL, &error), LS_OK);
        assert_int_equal(counts.work_groups, 4);
        assert_int_equal(counts.instructions, 12);
        launch = machine_launch(&m, 64 * 4096, 64);
        assert_int_equal(emulate_run(m.emulator, program, &launch, NULL, NULL, &error), LS_ERR_UNSUPPORTED);
        assert_non_null(strstr(error.what, "a barrier over the grid needs all of its work-groups at once"));
        amd_program_destroy(program);
        machine_fini(&m);
    }
}

static void refusals(void **state)
{
    (void)state;
    static const uint32_t no_code[] = { 0xbf800000, 0xffffffff, 0xbf810000 };
    static const uint32_t runs_off[] = { 0xbf800000 };
    static const uint32_t data_after[] = { 0xbf810000, 0xffffffff, 0xffffffff };
    static const uint32_t gws[] = { 0xd9390000, 0x00000000, 0xbf810000 }; /* ds_gws_sema_p */
    machine m;
    machine_init(&m, 1);
    amd_program *program = NULL;
    ls_error error;
    amd_kernel kernel = machine_kernel(&m, no_code, sizeof no_code);
    assert_int_equal(amd_program_create(&kernel, m.address_space, &program, &error), LS_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.what, "ffffffff"));
    kernel = machine_kernel(&m, runs_off, sizeof runs_off);
    assert_int_equal(amd_program_create(&kernel, m.address_space, &program, &error), LS_ERR_INPUT);
    kernel = machine_kernel(&m, gws, sizeof gws);
    assert_int_equal(amd_program_create(&kernel, m.address_space, &program, &error), LS_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.what, "ds_gws_sema_p"));
    assert_non_null(strstr(error.what, "000039d9"));
    kernel.entry = m.code + 4096;
    assert_int_equal(amd_program_create(&kernel, m.address_space, &program, &error), LS_ERR_USAGE);
    kernel = machine_kernel(&m, data_after, sizeof data_after); /* data after the end is never read */
    assert_int_equal(amd_program_create(&kernel, m.address_space, &program, NULL), LS_OK);
    emulate_launch launch = machine_launch(&m, 64, 2048);
    assert_int_equal(emulate_run(m.emulator, program, &launch, NULL, NULL, &error), LS_ERR_USAGE);
    launch = machine_launch(&m, 64, 64);
    launch.dynamic_lds_bytes = 65536;
    assert_int_equal(emulate_run(m.emulator, program, &launch, NULL, NULL, &error), LS_ERR_USAGE);
    amd_program_destroy(program);
    machine_fini(&m);
}

static void trace(void **state)
{
    (void)state;
    machine m;
    machine_init(&m, 2);
    amd_kernel kernel = machine_kernel(&m, ids8, sizeof ids8);
    amd_program *program;
    assert_int_equal(amd_program_create(&kernel, m.address_space, &program, NULL), LS_OK);
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&text, &bytes);
    assert_non_null(file);
    emulate_trace_filter filter = { .one_group = true, .group = { 1, 0, 0 }, .pc_from = 8, .pc_to = 16 };
    emulate_trace *out;
    assert_int_equal(emulate_trace_create(&(emulate_trace_to){ .file = file, .launch = 1 }, program, &filter,
                                          &out, NULL),
                     LS_OK);
    emulate_launch launch = machine_launch(&m, 256, 64);
    emulate_trace_attach(out, &launch);
    assert_int_equal(emulate_run(m.emulator, program, &launch, NULL, NULL, NULL), LS_OK);
    assert_int_equal(emulate_trace_finish(out, NULL), LS_OK);
    fclose(file);
    char expect[256];
    snprintf(expect, sizeof expect, "%s",
             "{\"launch\":1,\"kernel\":\"test\"}\n"
             "{\"group\":[1,0,0],\"wave\":0,\"pc\":\"test+0x8\",\"text\":\"s_lshl_b32 s6, s2, 6\","
             "\"exec\":\"0xffffffffffffffff\",\"writes\":{\"s6\":\"0x40\",\"scc\":1}}\n");
    assert_memory_equal(text, expect, strlen(expect));
    const char *second = text + strlen(expect);
    assert_non_null(strstr(second, "\"v0\":[\"0x40\",\"0x41\","));
    assert_null(strchr(strchr(second, '\n') + 1, '\n')); /* two lines */
    free(text);
    amd_program_destroy(program);
    machine_fini(&m);
}

static void count_steps(void *self, const emulate_step *step)
{
    (void)step;
    ++*(uint64_t *)self;
}

/* Runs of direct entries leave the same memory and the same counts as one body at a time does under a hook. */
static void same_when_watched(void **state)
{
    (void)state;
    static uint32_t words[2][1024];
    ls_gpu_counts counts[2];
    uint64_t seen = 0;
    for (unsigned watched = 0; watched < 2; watched++) {
        machine m;
        machine_init(&m, 1);
        amd_kernel kernel = machine_kernel(&m, rounds10, sizeof rounds10);
        kernel.target = AMD_GFX1030;
        kernel.properties |= WAVE32;
        amd_program *program;
        assert_int_equal(amd_program_create(&kernel, m.address_space, &program, NULL), LS_OK);
        emulate_launch launch = machine_launch(&m, 700, 48); /* waves of 32, of 16 and of 12 lanes */
        launch.hook = watched ? count_steps : NULL;
        launch.hook_self = &seen;
        assert_int_equal(emulate_run(m.emulator, program, &launch, &counts[watched], NULL, NULL), LS_OK);
        memcpy(words[watched], machine_data(&m), sizeof words[watched]);
        amd_program_destroy(program);
        machine_fini(&m);
    }
    assert_memory_equal(words[0], words[1], sizeof words[0]);
    assert_memory_equal(&counts[0], &counts[1], sizeof counts[0]);
    assert_int_equal(counts[0].instructions, 29 * (4 + 5 * 17 + 5));
    assert_int_equal(seen, counts[0].instructions);
    assert_int_not_equal(words[0][0], words[0][1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids),
        cmocka_unit_test(registers_as_allocated),
        cmocka_unit_test(private_memory),
        cmocka_unit_test(local_memory),
        cmocka_unit_test(same_for_any_number_of_threads),
        cmocka_unit_test(first_fault),
        cmocka_unit_test(barriers_and_limits),
        cmocka_unit_test(refusals),
        cmocka_unit_test(grid_barrier),
        cmocka_unit_test(trace),
        cmocka_unit_test(same_when_watched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
