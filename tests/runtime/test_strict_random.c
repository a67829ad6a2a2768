/* test_strict_random.c: strict checks of any instruction in any state end with a verdict, and a negative
 * verdict has a reason. Random instructions of all targets and random registers; the effect of the
 * instructions does not matter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "isa/amd/exec/memory.h"
#include "runtime/strict/strict.h"

#include <stdlib.h>
#include <string.h>

enum { INSTRUCTIONS = 3000, CODE_BYTES = INSTRUCTIONS * 20 + 4 };

static uint32_t seed = 1;

static uint32_t draw(void)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 4;
}

/* Straight code: instructions that end a wave or jump are left out, except at the end. */
static size_t fill(amd_target target, unsigned lanes, uint8_t *code)
{
    size_t at = 0;
    const uint32_t end = 0xbf810000;
    for (unsigned count = 0; count < INSTRUCTIONS;) {
        uint32_t words[5];
        for (unsigned i = 0; i < 5; i++)
            words[i] = draw() << 16 ^ draw();
        amd_inst inst;
        if (!amd_decode(target, lanes, (const uint8_t *)words, sizeof words, &inst) ||
            !amd_exec_find(target, lanes, &inst) || inst.class_ == AMD_CLASS_BRANCH ||
            inst.class_ == AMD_CLASS_INTERNAL || inst.op == AMD_S_SETPC_B64 || inst.op == AMD_S_SWAPPC_B64 ||
            inst.op == AMD_S_RFE_B64 || inst.op == AMD_S_CALL_B64)
            continue;
        memcpy(code + at, words, inst.bytes);
        at += inst.bytes;
        count++;
    }
    memcpy(code + at, &end, sizeof end);
    return at + sizeof end;
}

static void any_instruction(void **state)
{
    static const struct {
        amd_target target;
        unsigned lanes;
    } rows[] = { { AMD_GFX803, 64 }, { AMD_GFX1010, 32 }, { AMD_GFX1010, 64 }, { AMD_GFX1030, 32 } };
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        memory_space *address_space;
        uint64_t code, data;
        uint8_t *bytes = malloc(CODE_BYTES), *lds = aligned_alloc(64, AMD_LDS_MAX + 64);
        uint32_t *vgpr = aligned_alloc(64, sizeof(uint32_t) * AMD_VGPR_ROWS * 64);
        assert_true(bytes && lds && vgpr);
        size_t size = fill(rows[r].target, rows[r].lanes, bytes);
        assert_int_equal(address_space_create(1u << 26, &address_space, NULL), LS_OK);
        assert_int_equal(address_space_alloc(address_space, size, 0, LS_PAGE_READ, &code, NULL), LS_OK);
        assert_int_equal(address_space_alloc(address_space, 65536, 0, LS_PAGE_READ | LS_PAGE_WRITE, &data,
                                             NULL),
                         LS_OK);
        assert_int_equal(address_space_write(address_space, code, bytes, size, NULL), LS_OK);
        const amd_kernel kernel = { .name = "random",
                                    .target = rows[r].target,
                                    .code = code,
                                    .code_bytes = size,
                                    .entry = code,
                                    .rsrc1 = (rows[r].lanes == 32 ? 31u : 63u) | 13u << 6,
                                    .properties = rows[r].lanes == 32 ? 1u << 10 : 0,
                                    .lds_bytes = 60000 };
        amd_program *program;
        ls_error err;
        if (amd_program_create(&kernel, address_space, &program, &err) != LS_OK)
            fail_msg("%s", err.what);
        amd_memory memory;
        amd_memory_init(&memory, address_space);
        amd_group group = { .lds = lds,
                            .lds_bytes = 60416,
                            .memory = &memory,
                            .shared_base = (uint64_t)AMD_SHARED_BASE_HI << 32,
                            .private_base = (uint64_t)AMD_PRIVATE_BASE_HI << 32 };
        const amd_start start = { .program = program, .grid = { 64, 1, 1 }, .group = { 64, 1, 1 } };
        const uint32_t size3[3] = { 64, 1, 1 };
        amd_wave wave;
        strict *s;
        memset(lds, 0, AMD_LDS_MAX + 64);
        memset(vgpr, 0, sizeof(uint32_t) * AMD_VGPR_ROWS * 64);
        amd_wave_start(&start, &group, size3, 1, 0, vgpr, &wave);
        assert_int_equal(strict_create(address_space, &s, &err), LS_OK);
        assert_int_equal(strict_alloc(s, data, 65536, &err), LS_OK);
        assert_int_equal(strict_define(s, data, 30000, &err), LS_OK);
        strict_begin(s, &(strict_launch){ .program = program, .lds_bytes = kernel.lds_bytes });
        strict_group(s, &wave, 1, 0);
        unsigned good = 0, bad = 0;
        for (uint32_t op = 1; op <= program->op_count; op++) {
            const amd_inst *inst = program->ops[op].inst;
            for (unsigned i = 0; i < 4; i++) { /* some registers are addresses, some are small */
                uint32_t value = draw() % 4 == 0 ? draw() << 8 : draw() % 70000;
                unsigned row = draw() % 256, lane = draw() % wave.lanes;
                vgpr[row * wave.lanes + lane] = value;
                wave.sgpr[draw() % 106] = draw() % 3 ? (uint32_t)data + draw() % 70000 : 1;
            }
            wave.sgpr[AMD_M0] = draw() % 70000;
            wave.sgpr[AMD_EXEC_LO] = draw() % 4 ? UINT32_MAX : draw();
            if (strict_step(s, &wave, inst, op, program->ops[op].next - inst->bytes)) {
                good++;
            } else {
                bad++;
                assert_true(strlen(strict_why(s)) > 10);
            }
        }
        strict_end(s);
        assert_true(good > 1000 && bad > 50);
        strict_destroy(s);
        amd_program_destroy(program);
        address_space_destroy(address_space);
        free(bytes);
        free(lds);
        free(vgpr);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(any_instruction) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
