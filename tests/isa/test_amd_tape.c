/* test_amd_tape.c: everything written to a tape is read back: paths, EXEC, accesses of every form, private
 * memory at another address. Any bytes that are no tape are detected. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "isa/amd/exec/tape.h"

#include <stdlib.h>
#include <string.h>

/* s_load_dwordx2; s_mov_b32 m0; v_lshlrev_b32; v_mov_b32 (2); ds_add_u32; s_waitcnt; s_barrier; ds_read_b32;
 * s_waitcnt; v_mov_b32 (2); flat_atomic_add; s_endpgm */
static const uint32_t words[] = {
    0xc0060100, 0x00000000, 0xbefc00c1, 0x24060082, 0x7e080281, 0x7e0a0280, 0xd8000000, 0x00000405, 0xbf8c007f,
    0xbf8a0000, 0xd86c0000, 0x06000005, 0xbf8c007f, 0x7e020204, 0x7e040205, 0xdd080000, 0x00000601, 0xbf810000,
};

#define STEPS 3000
#define PRIVATE_THEN 0x200000000u
#define PRIVATE_NOW 0x300000000u

typedef struct put {
    uint64_t pc, exec;
    bool has_access;
    amd_access access;
} put;

typedef struct fixture {
    memory_space *address_space;
    amd_program *program;
    amd_tape_code code;
    amd_tape_memory *memory;
    put *puts;
    amd_tape_bytes bytes;
    uint64_t state;
} fixture;

static uint32_t draw(fixture *f, uint32_t below)
{
    f->state = f->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(f->state >> 33) % below;
}

static void set_up(fixture *f, uint64_t seed)
{
    uint64_t code;
    *f = (fixture){ .state = seed };
    assert_int_equal(address_space_create(1u << 24, &f->address_space, NULL), LS_OK);
    assert_int_equal(address_space_alloc(f->address_space, 4096, 0, LS_PAGE_READ, &code, NULL), LS_OK);
    assert_int_equal(address_space_write(f->address_space, code, words, sizeof words, NULL), LS_OK);
    amd_kernel kernel = { .name = "test",
                          .target = AMD_GFX803,
                          .code = code,
                          .code_bytes = sizeof words,
                          .entry = code,
                          .rsrc1 = 3 | 12u << 6 };
    assert_int_equal(amd_program_create(&kernel, f->address_space, &f->program, NULL), LS_OK);
    assert_true(amd_tape_code_init(&f->code, f->program));
    assert_int_equal(f->program->op_count, 14);
    assert_int_equal(f->code.memory_count, 4);
    f->memory = calloc(f->code.memory_count, sizeof *f->memory);
    f->puts = calloc(STEPS, sizeof *f->puts);
    assert_non_null(f->memory);
    assert_non_null(f->puts);
}

static void tear_down(fixture *f)
{
    vec_fini(&f->bytes);
    free(f->puts);
    free(f->memory);
    amd_tape_code_fini(&f->code);
    amd_program_destroy(f->program);
    address_space_destroy(f->address_space);
}

/* Addresses of one piece in one of the forms that programs have, or in none. */
static void draw_addresses(fixture *f, uint64_t *address, bool is_private)
{
    uint64_t base = (is_private ? PRIVATE_THEN : 0x100000000u) + 4 * draw(f, 4096);
    uint32_t form = draw(f, 6), x = 4 * draw(f, 64), y = 64 * draw(f, 64), log = 1 + draw(f, 5);
    for (unsigned lane = 0; lane < 64; lane++)
        switch (form) {
        case 0:
            address[lane] = base;
            break;
        case 1:
            address[lane] = base + (uint64_t)x * lane;
            break;
        case 2:
            address[lane] = base + (uint64_t)x * (lane & ((1u << log) - 1)) + (uint64_t)y * (lane >> log);
            break;
        case 3:
            address[lane] = base + draw(f, 200);
            break;
        case 4:
            address[lane] = base + 4 * draw(f, 10000);
            break;
        default:
            address[lane] = is_private ? base : (uint64_t)draw(f, UINT32_MAX) << 12;
            break;
        }
}

static void draw_access(fixture *f, put *to, const amd_access *last)
{
    amd_access *a = &to->access;
    to->has_access = true;
    if (last && draw(f, 2) == 0) { /* as in loops: the same at another address */
        uint64_t step = 4 * draw(f, 100);
        *a = *last;
        for (unsigned p = 0; p < a->pieces; p++)
            for (unsigned lane = 0; lane < 64; lane++)
                a->address[p][lane] += step;
        if (draw(f, 2) == 0)
            a->lanes = to->exec;
        return;
    }
    bool is_private = draw(f, 4) == 0;
    a->kind = (uint8_t)draw(f, AMD_ACCESS_EXCHANGE + 1);
    a->space = is_private ? AMD_SPACE_SCRATCH : (uint8_t)draw(f, AMD_SPACE_FLAT + 1);
    a->pieces = (uint8_t)(draw(f, 3) ? 1 : 1 + draw(f, AMD_PIECES_MAX));
    a->piece_bytes = (uint8_t)(1u << draw(f, 5));
    a->atomic = a->kind == AMD_ACCESS_ATOMIC ? (uint8_t)draw(f, AMD_ATOMIC_COUNT) : 0;
    a->returns = draw(f, 2);
    a->lanes = a->space == AMD_SPACE_SCALAR ? 1 : to->exec;
    if (draw(f, 4) == 0) {
        a->lanes &= 0x00ff00ff00ff00ffu;
        a->zero = to->exec & ~a->lanes;
        a->in_lds = draw(f, 2) ? a->lanes & 0xf0f0f0f0f0f0f0f0u : 0;
        a->absent[draw(f, a->pieces)] = draw(f, UINT32_MAX);
    }
    for (unsigned p = 0; p < a->pieces; p++) {
        draw_addresses(f, a->address[p], is_private);
        if (p > 0 && draw(f, 4) != 0) /* most are a fixed distance from the first */
            for (unsigned lane = 0; lane < 64; lane++)
                a->address[p][lane] = a->address[0][lane] + 256 * p;
    }
}

/* A wave that jumps about at random, written to a tape. */
static void write_tape(fixture *f)
{
    amd_tape_writer writer = { 0 };
    amd_group group = { .scratch = PRIVATE_THEN, .scratch_bytes = 4096 };
    const amd_access *last[64] = { 0 };
    uint32_t number = 1;
    uint64_t exec = draw(f, 2) ? UINT64_MAX : 0xffff;
    amd_tape_begin(&writer, &f->code);
    for (unsigned i = 0; i < STEPS; i++) {
        put *p = &f->puts[i];
        const amd_step *op = &f->program->ops[number];
        p->pc = op->next - op->inst->bytes;
        p->exec = exec;
        uint32_t memory = f->code.memory[number];
        assert_int_equal(amd_tape_wants(&f->code, p->pc), memory != AMD_TAPE_NO_MEMORY);
        if (memory != AMD_TAPE_NO_MEMORY) {
            draw_access(f, p, last[memory]);
            last[memory] = &p->access;
        }
        amd_tape_put(&writer, p->pc, exec, p->has_access ? &p->access : NULL, &group);
        number =
            number == f->program->op_count || draw(f, 6) == 0 ? 1 + draw(f, f->program->op_count) : number + 1;
        if (draw(f, 5) == 0)
            exec = draw(f, 3) ? (uint64_t)draw(f, 8) << 28 | draw(f, 4)
                              : (uint64_t)draw(f, UINT32_MAX) << 32 | draw(f, UINT32_MAX);
    }
    assert_true(amd_tape_end(&writer, &f->bytes));
    amd_tape_writer_fini(&writer);
    for (unsigned i = 0; i < AMD_TAPE_SLACK; i++)
        assert_true(vec_push(&f->bytes, 0xff));
    f->bytes.count -= AMD_TAPE_SLACK;
}

static void assert_access(const amd_access *got, const amd_access *was)
{
    assert_int_equal(got->kind, was->kind);
    assert_int_equal(got->space, was->space);
    assert_int_equal(got->pieces, was->pieces);
    assert_int_equal(got->piece_bytes, was->piece_bytes);
    assert_int_equal(got->atomic, was->atomic);
    assert_int_equal(got->returns, was->returns);
    assert_int_equal(got->lanes, was->lanes);
    assert_int_equal(got->zero, was->zero);
    assert_int_equal(got->in_lds, was->in_lds);
    if (!amd_tape_moves(was->kind))
        return;
    for (unsigned p = 0; p < was->pieces; p++) {
        assert_int_equal(got->absent[p], was->absent[p]);
        for (uint64_t rest = was->lanes & ~was->absent[p]; rest; rest &= rest - 1) {
            unsigned lane = (unsigned)__builtin_ctzll(rest);
            uint64_t then = was->address[p][lane], offset = then - PRIVATE_THEN;
            bool is_private = was->space != AMD_SPACE_LDS && offset < 4096 * 1024;
            assert_int_equal(got->address[p][lane], is_private ? PRIVATE_NOW + offset : then);
        }
    }
}

static void comes_off_again(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        fixture f;
        amd_tape tape;
        static amd_access access;
        set_up(&f, seed);
        write_tape(&f);
        const uint8_t *at = f.bytes.at;
        assert_true(amd_tape_open(&tape, &f.code, f.memory, &at, f.bytes.at + f.bytes.count));
        assert_ptr_equal(at, f.bytes.at + f.bytes.count);
        for (unsigned i = 0; i < STEPS; i++) {
            const put *p = &f.puts[i];
            assert_int_equal(tape.left, STEPS - i);
            assert_int_equal(amd_tape_pc(&tape), p->pc);
            assert_int_equal(tape.exec, p->exec);
            /* A reader that skips an access loses only that access. */
            if (p->has_access && (seed & 1 || i % 3 == 0)) {
                assert_true(amd_tape_access(&tape, PRIVATE_NOW, &access));
                if (i % 5 == 0) { /* not taken at the first try */
                    amd_tape_again(&tape);
                    assert_true(amd_tape_access(&tape, PRIVATE_NOW, &access));
                }
                assert_access(&access, &p->access);
            }
            assert_true(!amd_tape_access(&tape, PRIVATE_NOW, &access) || p->has_access);
            amd_tape_step(&tape);
        }
        assert_true(amd_tape_is_whole(&tape));
        tear_down(&f);
    }
}

/* Reads to the end. */
static bool read_all(const fixture *f, const uint8_t *bytes, size_t count)
{
    static amd_access access;
    amd_tape tape;
    const uint8_t *at = bytes;
    uint64_t steps = 0;
    if (!amd_tape_open(&tape, &f->code, f->memory, &at, bytes + count))
        return false;
    while (tape.left > 0 && steps++ < 100000) {
        assert_in_range(tape.inst, 1, f->program->op_count);
        amd_tape_access(&tape, 0, &access);
        amd_tape_step(&tape);
    }
    return amd_tape_is_whole(&tape) && at == bytes + count;
}

static void other_bytes_are_noticed(void **state)
{
    (void)state;
    fixture f;
    set_up(&f, 99);
    write_tape(&f);
    size_t count = f.bytes.count, accepted = 0;
    /* In memory of exactly this size, so that a sanitizer detects reads past it. */
    uint8_t *copy = malloc(count + AMD_TAPE_SLACK);
    assert_non_null(copy);
    for (size_t cut = 0; cut < count; cut += 1 + cut / 8) {
        uint8_t *shorter = malloc(cut + AMD_TAPE_SLACK);
        assert_non_null(shorter);
        memcpy(shorter, f.bytes.at, cut);
        memset(shorter + cut, 0xff, AMD_TAPE_SLACK);
        assert_false(read_all(&f, shorter, cut));
        free(shorter);
    }
    static const uint8_t unended[] = { 64, 1, 0, 0, 0, 0x8b }; /* the path: a byte of a number that goes on */
    memcpy(copy, unended, sizeof unended);
    memset(copy + sizeof unended, 0xff, AMD_TAPE_SLACK);
    uint8_t *exact = realloc(copy, sizeof unended + AMD_TAPE_SLACK);
    assert_non_null(exact);
    assert_false(read_all(&f, exact, sizeof unended));
    copy = realloc(exact, count + AMD_TAPE_SLACK);
    assert_non_null(copy);
    for (unsigned i = 0; i < 3000; i++) {
        memcpy(copy, f.bytes.at, count + AMD_TAPE_SLACK);
        for (unsigned n = 0; n <= draw(&f, 3); n++)
            copy[draw(&f, (uint32_t)count)] = (uint8_t)draw(&f, 256);
        accepted += read_all(&f, copy, count);
    }
    /* An address may be changed without anybody but the file's checksum noticing; the structure may not. */
    assert_in_range(accepted, 1, 2990);
    free(copy);
    tear_down(&f);
}

/* A wave goes where the recorded one went, without executing anything. */
static void stands_in_for_execution(void **state)
{
    (void)state;
    fixture f;
    amd_tape_writer writer = { 0 };
    amd_tape tape;
    amd_wave wave = { .lanes = 64 };
    amd_access access = { .kind = AMD_ACCESS_LOAD, .lanes = 1, .pieces = 1, .piece_bytes = 4 };
    set_up(&f, 7);
    uint64_t base = f.program->base, path[] = { base, base + 0x24, base + 0x44 };
    amd_tape_begin(&writer, &f.code);
    amd_tape_put(&writer, path[0], 0xff, &access, NULL);
    amd_tape_put(&writer, path[1], 0xff, NULL, NULL); /* s_barrier */
    amd_tape_put(&writer, path[2], 0x0f, NULL, NULL); /* s_endpgm */
    assert_true(amd_tape_end(&writer, &f.bytes));
    assert_true(vec_reserve(&f.bytes, AMD_TAPE_SLACK));
    const uint8_t *at = f.bytes.at;
    assert_true(amd_tape_open(&tape, &f.code, f.memory, &at, f.bytes.at + f.bytes.count));
    for (unsigned i = 0; i < 3; i++, amd_tape_step(&tape)) {
        amd_tape_start(&tape, &wave);
        assert_int_equal(wave.pc, path[i]);
        assert_int_equal(amd_wave_exec(&wave), i < 2 ? 0xff : 0x0f);
        assert_int_equal(wave.stop, AMD_RUNNING);
    }
    amd_tape_start(&tape, &wave);
    assert_int_equal(wave.stop, AMD_ENDED);
    assert_true(amd_tape_is_whole(&tape));
    /* An instruction that the program does not have is no step. */
    amd_tape_begin(&writer, &f.code);
    amd_tape_put(&writer, base + 2, 0xff, NULL, NULL);
    assert_false(amd_tape_end(&writer, &f.bytes));
    amd_tape_writer_fini(&writer);
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_off_again),
        cmocka_unit_test(other_bytes_are_noticed),
        cmocka_unit_test(stands_in_for_execution),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
