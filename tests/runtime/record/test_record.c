/* test_record.c: recordings of emulated launches: a recording gives back the executed instructions. The file
 * does not depend on the order of work-groups, and files that are cut or changed are refused with one line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/record/record.h"
#include "workload/pack/pack.h"
#include "workload/temp_dir.h"

#include <stdlib.h>
#include <string.h>

/* LDS word 0 counts the work-items; after a barrier all add it to the word that the argument points to. Lanes
 * take turns: s_load_dwordx2; s_mov_b32 m0, -1; v_lshlrev_b32 v3; v_mov_b32 (2); ds_add_u32; s_waitcnt;
 * s_barrier; ds_read_b32; s_waitcnt; v_mov_b32 (2); flat_atomic_add; s_endpgm (llvm-mc, gfx803) */
static const uint32_t sum8[] = {
    0xc0060100, 0x00000000, 0xbefc00c1, 0x24060082, 0x7e080281, 0x7e0a0280, 0xd8000000, 0x00000405, 0xbf8c007f,
    0xbf8a0000, 0xd86c0000, 0x06000005, 0xbf8c007f, 0x7e020204, 0x7e040205, 0xdd080000, 0x00000601, 0xbf810000,
};

/* v0 goes through private memory (buffer_store_dword, buffer_load_dword) to argument + 256 * work-group + 4 *
 * v0. */
static const uint32_t scratch8[] = {
    0xc0060202, 0x00000000, 0x80000700, 0x82018001, 0x24020082, 0xe0700008, 0x80000000,
    0xbf8c0f70, 0xe0500008, 0x80000400, 0xbf8c0070, 0x8e068806, 0x80080608, 0x7e060209,
    0x32040208, 0x38060680, 0xdc700000, 0x00000402, 0xbf810000,
};

enum { KERNARG = 1u << 3, SCRATCH_BUFFER = 1u << 0 };

#define STEPS_MAX 20000

typedef struct seen {
    uint64_t pc, exec, address; /* of the first lane; 0: none */
    uint32_t group, wave;
    uint64_t lanes;
} seen;

/* The emulator's execution, observed without tapes. */
typedef struct witness {
    record_launch *launch;
    seen *steps;
    size_t count;
    uint64_t scratch;
} witness;

typedef struct machine {
    memory_space *address_space;
    emulate *emulator;
    uint64_t code, data, args;
} machine;

static void machine_init(machine *m)
{
    uint32_t both = LS_PAGE_READ | LS_PAGE_WRITE;
    assert_int_equal(address_space_create(1u << 26, &m->address_space, NULL), LS_OK);
    assert_int_equal(address_space_alloc(m->address_space, 4096, 0, LS_PAGE_READ, &m->code, NULL), LS_OK);
    assert_int_equal(address_space_alloc(m->address_space, 65536, 0, both, &m->data, NULL), LS_OK);
    assert_int_equal(address_space_alloc(m->address_space, 4096, 0, LS_PAGE_READ, &m->args, NULL), LS_OK);
    assert_int_equal(address_space_write(m->address_space, m->args, &m->data, 8, NULL), LS_OK);
    assert_int_equal(emulate_create(m->address_space, 2, &m->emulator, NULL), LS_OK);
}

static void machine_fini(machine *m)
{
    emulate_destroy(m->emulator);
    address_space_destroy(m->address_space);
}

static amd_program *machine_program(machine *m, bool scratch)
{
    const uint32_t *code = scratch ? scratch8 : sum8;
    size_t bytes = scratch ? sizeof scratch8 : sizeof sum8;
    amd_kernel kernel = { .name = scratch ? "scratch" : "sum",
                          .target = AMD_GFX803,
                          .code = m->code,
                          .code_bytes = bytes,
                          .entry = m->code,
                          .rsrc1 = 3 | 12u << 6 | 0xc0u << 12,
                          .rsrc2 = (scratch ? 6u << 1 | 1u : 2u << 1) | 1u << 7,
                          .properties = (uint16_t)(scratch ? KERNARG | SCRATCH_BUFFER : KERNARG),
                          .scratch_bytes = scratch ? 16 : 0,
                          .lds_bytes = 64 };
    amd_program *program;
    assert_int_equal(address_space_write(m->address_space, m->code, code, bytes, NULL), LS_OK);
    assert_int_equal(amd_program_create(&kernel, m->address_space, &program, NULL), LS_OK);
    return program;
}

static void witness_hook(void *self, const emulate_step *step)
{
    witness *w = self;
    static amd_access access;
    assert_true(w->count < STEPS_MAX);
    seen *s = &w->steps[w->count++];
    *s = (seen){ .pc = step->pc,
                 .exec = amd_wave_exec(step->wave),
                 .group = step->work_group[0],
                 .wave = step->wave->index };
    w->scratch = step->wave->group->scratch;
    if (amd_mem_kind(step->inst) != AMD_ACCESS_NONE) {
        amd_wave copy = *step->wave;
        assert_true(amd_mem_address(&copy, step->inst, &access));
        s->lanes = access.lanes;
        s->address = access.lanes ? access.address[0][__builtin_ctzll(access.lanes)] : 0;
    }
    record_hook(w->launch, step);
}

/* Records one launch of each program; *w has the emulator's execution of the launch number `which`. */
static void record_both(machine *m, const char *path, int which, witness *w)
{
    recorder *rec;
    assert_int_equal(record_create(path, "emulate", &rec, NULL), LS_OK);
    amd_file_command copy = { .kind = AMD_FILE_COPY_IN, .to = m->data, .bytes = 4096 };
    assert_int_equal(record_command(rec, &copy, NULL, NULL), LS_OK);
    for (int scratch = 0; scratch < 2; scratch++) {
        amd_program *program = machine_program(m, scratch);
        emulate_launch launch = {
            .dims = 1, .grid = { 1000, 1, 1 }, .group = { 128, 1, 1 }, .kernarg = m->args
        };
        amd_start start = { .program = program, .kernarg = m->args };
        witness own = { .steps = which == scratch ? w->steps : calloc(STEPS_MAX, sizeof *own.steps) };
        memcpy(start.grid, launch.grid, sizeof start.grid);
        memcpy(start.group, launch.group, sizeof start.group);
        assert_non_null(own.steps);
        assert_int_equal(record_begin(rec,
                                      &(record_what){ .start = &start,
                                                      .address_space = m->address_space,
                                                      .dims = 1,
                                                      .lds_bytes = 64 },
                                      &own.launch, NULL),
                         LS_OK);
        launch.before = witness_hook;
        launch.before_self = &own;
        assert_int_equal(emulate_run(m->emulator, program, &launch, NULL, NULL, NULL), LS_OK);
        assert_int_equal(record_end(own.launch, true, NULL), LS_OK);
        if (which == scratch)
            *w = own;
        else
            free(own.steps);
        amd_program_destroy(program);
    }
    assert_int_equal(record_finish(rec, NULL), LS_OK);
}

typedef struct comparison {
    const witness *w;
    const seen *wave_at[16]; /* where each wave's next step is looked for */
    uint64_t steps;
    uint64_t private_bytes;
} comparison;

/* The emulator's waves take turns, the file's come one after another. */
static bool compare_step(void *self, const amd_walk_step *step)
{
    comparison *c = self;
    const witness *w = c->w;
    uint64_t nth = 0;
    for (size_t i = 0; i < w->count; i++) {
        const seen *s = &w->steps[i];
        if (s->group != step->group || s->wave != step->wave || nth++ != step->number)
            continue;
        assert_int_equal(step->pc, s->pc);
        assert_int_equal(step->exec, s->exec);
        if (step->access && amd_tape_moves(step->access->kind)) {
            assert_int_equal(step->access->lanes, s->lanes);
            uint64_t address = step->access->address[0][__builtin_ctzll(s->lanes)];
            if (address & AMD_TAPE_PRIVATE) {
                c->private_bytes += step->access->piece_bytes;
                address = (address & ~AMD_TAPE_PRIVATE) + w->scratch;
            }
            assert_int_equal(address, s->address);
        }
        c->steps++;
        return true;
    }
    fail_msg("a step that the emulator did not execute");
    return false;
}

static void comes_back(void **state)
{
    (void)state;
    for (int which = 0; which < 2; which++) {
        machine m;
        witness w = { .steps = calloc(STEPS_MAX, sizeof *w.steps) };
        amd_file *file;
        amd_program *program;
        memory_space *address_space;
        machine_init(&m);
        record_both(&m, "both.lspk", which, &w);
        assert_true(amd_file_is("both.lspk"));
        assert_int_equal(amd_file_open("both.lspk", &file, NULL), LS_OK);
        assert_string_equal(amd_file_producer(file), "emulate");
        assert_int_equal(amd_file_command_count(file), 3);
        assert_int_equal(amd_file_command_at(file, 0)->kind, AMD_FILE_COPY_IN);
        assert_int_equal(amd_file_command_at(file, 0)->bytes, 4096);
        assert_int_equal(amd_file_command_at(file, 2)->launch, 1);
        assert_int_equal(amd_file_launch_count(file), 2);
        const amd_file_launch *l = amd_file_launch_at(file, (size_t)which);
        assert_string_equal(l->kernel.name, which ? "scratch" : "sum");
        assert_int_equal(l->groups, 8);
        assert_int_equal(l->waves, 16);
        assert_int_equal(l->instructions, w.count);
        assert_int_equal(l->extents[0].start, m.code);
        assert_int_equal(l->extents[1].end, m.data + 65536);
        assert_int_equal(amd_file_window(file, &address_space, NULL), LS_OK);
        assert_int_equal(amd_file_program(file, (size_t)which, address_space, &program, NULL), LS_OK);
        comparison c = { .w = &w };
        assert_int_equal(amd_walk_launch(file, (size_t)which, program, 0, 8, compare_step, &c, NULL), LS_OK);
        assert_int_equal(c.steps, w.count);
        assert_int_equal(c.private_bytes, which ? 16u * 2 * 4 : 0);
        amd_program_destroy(program);
        address_space_destroy(address_space);
        amd_file_close(file);
        assert_int_equal(amd_file_verify("both.lspk", NULL), LS_OK);
        free(w.steps);
        machine_fini(&m);
    }
}

/* --- the file ------------------------------------------------------------------------------------------- */

/* A launch of `groups` work-groups whose tapes differ, put in an order that `stride` gives. */
static void write_groups(machine *m, const char *path, uint32_t groups, uint32_t stride, bool interleave)
{
    recorder *rec;
    amd_program *program = machine_program(m, false);
    amd_start start = { .program = program, .grid = { 64 * groups, 1, 1 }, .group = { 64, 1, 1 } };
    record_launch *launches[2];
    amd_tape_writer writer = { 0 };
    amd_access access = { .kind = AMD_ACCESS_LOAD, .space = AMD_SPACE_SCALAR, .lanes = 1, .pieces = 1 };
    assert_int_equal(record_create(path, "test", &rec, NULL), LS_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(record_begin(rec,
                                      &(record_what){
                                          .start = &start, .address_space = m->address_space, .dims = 1 },
                                      &launches[i], NULL),
                         LS_OK);
    for (uint32_t i = 0; i < 2 * groups; i++) {
        uint32_t which = interleave ? i & 1 : i >= groups,
                 number = (interleave ? i / 2 : i % groups) * stride % groups;
        uint32_t id[3] = { number, 0, 0 };
        access.address[0][0] = m->data + 64u * number + which;
        amd_tape_begin(&writer, record_code(launches[which]));
        for (uint32_t n = 0; n <= number % 5; n++)
            amd_tape_put(&writer, program->base, UINT64_MAX, &access, NULL);
        record_group(launches[which], id, &writer, 1);
    }
    /* The younger one may end first. */
    assert_int_equal(record_end(launches[interleave], true, NULL), LS_OK);
    assert_int_equal(record_end(launches[!interleave], true, NULL), LS_OK);
    assert_int_equal(record_finish(rec, NULL), LS_OK);
    amd_tape_writer_fini(&writer);
    amd_program_destroy(program);
}

static char *slurp(const char *path, size_t *bytes)
{
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    assert_int_equal(fseek(stream, 0, SEEK_END), 0);
    *bytes = (size_t)ftell(stream);
    rewind(stream);
    char *data = malloc(*bytes + 1);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, *bytes, stream), *bytes);
    fclose(stream);
    return data;
}

static void order_does_not_matter(void **state)
{
    (void)state;
    machine m;
    machine_init(&m);
    size_t bytes[3];
    char *data[3];
    write_groups(&m, "a.lspk", 9973, 1, false);
    write_groups(&m, "b.lspk", 9973, 5003, false);
    write_groups(&m, "c.lspk", 9973, 271, true);
    const char *const paths[] = { "a.lspk", "b.lspk", "c.lspk" };
    for (int i = 0; i < 3; i++)
        data[i] = slurp(paths[i], &bytes[i]);
    for (int i = 1; i < 3; i++) {
        assert_int_equal(bytes[i], bytes[0]);
        assert_memory_equal(data[i], data[0], bytes[0]);
    }
    /* Any work-group can be read alone, in any order. */
    amd_file *file;
    amd_file_group group = { 0 };
    assert_int_equal(amd_file_open("a.lspk", &file, NULL), LS_OK);
    for (uint32_t i = 0; i < 300; i++) {
        uint64_t number = i * 7919u % 9973;
        assert_int_equal(amd_file_read(file, i & 1, number, &group, NULL), LS_OK);
        assert_int_equal(group.at[0], 1);              /* waves */
        assert_int_equal(group.at[1], 1 + number % 5); /* instructions of its tape */
    }
    assert_int_equal(amd_file_read(file, 0, 9973, &group, NULL), LS_ERR_USAGE);
    amd_file_group_fini(&group);
    amd_file_close(file);
    for (int i = 0; i < 3; i++)
        free(data[i]);
    machine_fini(&m);
}

static void incomplete_is_no_file(void **state)
{
    (void)state;
    machine m;
    recorder *rec;
    record_launch *launch;
    ls_error err;
    machine_init(&m);
    amd_program *program = machine_program(&m, false);
    amd_start start = { .program = program, .grid = { 128, 1, 1 }, .group = { 64, 1, 1 } };
    assert_int_equal(record_create("none.lspk", "test", &rec, NULL), LS_OK);
    assert_int_equal(record_finish(rec, &err), LS_ERR_USAGE);
    assert_non_null(strstr(err.what, "nothing was launched"));
    assert_int_equal(record_create("none.lspk", "test", &rec, NULL), LS_OK);
    assert_int_equal(record_begin(rec,
                                  &(record_what){
                                      .start = &start, .address_space = m.address_space, .dims = 1 },
                                  &launch, NULL),
                     LS_OK);
    assert_int_equal(record_end(launch, true, &err), LS_ERR_INTERNAL);
    assert_non_null(strstr(err.what, "0 of 2 work-groups"));
    assert_int_equal(record_finish(rec, NULL), LS_OK); /* the failure was reported already */
    assert_int_equal(access("none.lspk", F_OK), -1);
    amd_program_destroy(program);
    machine_fini(&m);
}

static void write_file(const char *path, const char *data, size_t bytes)
{
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(data, 1, bytes, stream), bytes);
    fclose(stream);
}

static void damage_is_noticed(void **state)
{
    (void)state;
    machine m;
    witness w = { .steps = calloc(STEPS_MAX, sizeof *w.steps) };
    size_t bytes, harmless = 0;
    ls_error err;
    amd_file *good;
    machine_init(&m);
    record_both(&m, "good.lspk", 0, &w);
    assert_int_equal(amd_file_open("good.lspk", &good, NULL), LS_OK);
    hash128 content = amd_file_content(good);
    amd_file_close(good);
    char *data = slurp("good.lspk", &bytes);
    for (size_t cut = 0; cut < bytes; cut += 13) {
        write_file("bad.lspk", data, cut);
        assert_int_not_equal(amd_file_verify("bad.lspk", &err), LS_OK);
        assert_true(err.what[0] != '\0' && !strchr(err.what, '\n'));
    }
    for (size_t at = 0; at < bytes; at += 3) {
        char old = data[at];
        data[at] = (char)(old ^ (1 << at % 8));
        write_file("bad.lspk", data, bytes);
        data[at] = old;
        if (amd_file_verify("bad.lspk", &err) != LS_OK) {
            assert_true(err.what[0] != '\0' && !strchr(err.what, '\n'));
            continue;
        }
        /* A compressed frame has bits without meaning: its output is the same. */
        amd_file *file;
        assert_int_equal(amd_file_open("bad.lspk", &file, NULL), LS_OK);
        assert_true(hash_same(amd_file_content(file), content));
        amd_file_close(file);
        assert_true(++harmless < 4);
    }
    /* Readers of traces refuse it by name, and the other way round. */
    sass_trace *trace;
    assert_int_equal(trace_open("good.lspk", NULL, &trace, &err), LS_ERR_INPUT);
    assert_non_null(strstr(err.what, "a recording of an AMD program"));
    free(data);
    free(w.steps);
    machine_fini(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_back),
        cmocka_unit_test(order_does_not_matter),
        cmocka_unit_test(incomplete_is_no_file),
        cmocka_unit_test(damage_is_noticed),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
