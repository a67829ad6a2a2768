/* test_cu_code.c: instructions decoded for timing: units, registers, counters and waits; rates of vector
 * operations against published measurements. */
#include "cu_rig.h"

#include "isa/amd/tables.h"

#include <ctype.h>
#include <stdio.h>

#define REFERENCE LS_SOURCE_DIR "/data/reference/amd_gcn_instruction_timings.csv"

static bool covers(const cu_range *ranges, unsigned count, unsigned first, unsigned last)
{
    for (unsigned i = 0; i < count; i++)
        if (ranges[i].first == first && ranges[i].last == last)
            return true;
    return false;
}

#define READS(inst, first, last) covers((inst)->reads, (inst)->read_count, first, last)
#define WRITES(inst, first, last) covers((inst)->writes, (inst)->write_count, first, last)
#define V(n) (256 + (n))

/* global_load_dwordx2 v[2:3], v1, s[4:5]; global_store_dword v1, v2, s[4:5]; global_atomic_add v1, v2,
 * s[4:5]; flat_load_dword v2, v[4:5]; ds_read_b64 v[6:7], v1; s_load_dwordx4 s[8:11], s[0:1], 0x10;
 * s_waitcnt vmcnt(3) lgkmcnt(1); s_waitcnt_vscnt null, 0x2; v_cmp_lt_f32 vcc_lo, v1, v2; v_cndmask_b32 v3,
 * v4, v5, vcc_lo; s_addc_u32 s4, s5, s6; s_cbranch_vccz 1; s_and_saveexec_b32 s3, vcc_lo; s_endpgm */
static const uint32_t words10[] = {
    0xdc348000, 0x02040001, 0xdc708000, 0x00040201, 0xdcc88000, 0x00040201, 0xdc300000,
    0x027d0004, 0xd9d80000, 0x06000001, 0xf4080200, 0xfa000010, 0xbf8c0173, 0xbbfd0002,
    0x7c020501, 0x02060b04, 0x82040605, 0xbf860001, 0xbe833c6a, 0xbf810000,
};

static void instructions(void **state)
{
    (void)state;
    rig *r = rig_create();
    rig_program(r, AMD_GFX1010, false, words10, sizeof words10 / 4);
    const cu_inst *i = r->timing->insts + 1;
    assert_int_equal(r->timing->end, r->code_at + sizeof words10);
    assert_int_equal(i->unit, CU_UNIT_VMEM); /* global_load_dwordx2 */
    assert_int_equal(i->raises, 1u << CU_VM);
    assert_int_equal(i->ordered, CU_VM);
    assert_int_equal(i->access_bytes, 8);
    assert_true(i->plain);
    assert_true(READS(i, V(1), V(1)) && READS(i, 4, 5) && WRITES(i, V(2), V(3)));
    i++; /* global_store_dword */
    assert_int_equal(i->raises, 1u << CU_VS);
    assert_true(READS(i, V(1), V(1)) && READS(i, V(2), V(2)));
    assert_int_equal(i->write_count, 0);
    i++; /* an atomic that returns nothing */
    assert_int_equal(i->raises, 1u << CU_VS);
    assert_int_equal(i->kind, AMD_ACCESS_ATOMIC);
    i++; /* flat: may go to LDS */
    assert_int_equal(i->raises, 1u << CU_VM | 1u << CU_LGKM);
    i++; /* ds_read_b64 */
    assert_int_equal(i->unit, CU_UNIT_LDS);
    assert_int_equal(i->raises, 1u << CU_LGKM);
    i++; /* s_load_dwordx4 */
    assert_int_equal(i->unit, CU_UNIT_SCALAR);
    assert_int_equal(i->ordered, CU_COUNTERS);
    assert_true(READS(i, 0, 1) && WRITES(i, 8, 11));
    i++; /* s_waitcnt */
    assert_int_equal(i->what, CU_WAIT);
    assert_int_equal(i->limit[CU_VM], 3);
    assert_int_equal(i->limit[CU_LGKM], 1);
    assert_true(i->limit[CU_VS] >= 63);
    i++; /* s_waitcnt_vscnt */
    assert_int_equal(i->limit[CU_VS], 2);
    i++; /* v_cmp_lt_f32 */
    assert_true(WRITES(i, AMD_VCC_LO, AMD_VCC_LO) && READS(i, AMD_EXEC_LO, AMD_EXEC_LO));
    i++; /* v_cndmask_b32 */
    assert_true(READS(i, AMD_VCC_LO, AMD_VCC_LO) && WRITES(i, V(3), V(3)));
    i++; /* s_addc_u32 */
    assert_true(READS(i, CU_SCC, CU_SCC) && WRITES(i, CU_SCC, CU_SCC) && WRITES(i, 4, 4));
    i++; /* s_cbranch_vccz */
    assert_int_equal(i->unit, CU_UNIT_BRANCH);
    assert_true(READS(i, AMD_VCC_LO, AMD_VCC_LO) && i->last);
    i++; /* s_and_saveexec_b32 */
    assert_true(WRITES(i, AMD_EXEC_LO, AMD_EXEC_LO) && WRITES(i, 3, 3));
    i++;
    assert_int_equal(i->what, CU_END);
    rig_destroy(r);
}

/* Cycles of Fiji (DPFACTOR is 8 there) for a wave of 64 on the "gcn" model. */
static unsigned model_cycles(amd_op op, amd_class class_)
{
    static const unsigned times[CU_RATE_COUNT] = {
        [CU_RATE_FULL] = 1,   [CU_RATE_HALF] = 2,         [CU_RATE_QUARTER] = 4,       [CU_RATE_DIVIDE] = 4,
        [CU_RATE_DOUBLE] = 8, [CU_RATE_DOUBLE_SLOW] = 16, [CU_RATE_DOUBLE_TRANS] = 16, [CU_RATE_TRANS] = 4
    };
    return 4 * times[cu_code_rate(op, class_)];
}

static void rates(void **state)
{
    (void)state;
    FILE *file = fopen(REFERENCE, "r");
    assert_non_null(file);
    char line[512];
    unsigned compared = 0, shifts = 0;
    while (fgets(line, sizeof line, file)) {
        char section[64], name[64], cycles[32];
        if (sscanf(line, "%63[^,],%63[^,],%31[^,]", section, name, cycles) != 3 ||
            strncmp(section, "VOP", 3) != 0)
            continue;
        for (char *at = name; *at; at++)
            *at = (char)tolower((unsigned char)*at);
        amd_op op;
        const amd_row *row = NULL;
        if (amd_op_find(name, &op)) {
            row = amd_table_find_op(AMD_GFX803, AMD_VOP1, op);
            row = row ? row : amd_table_find_op(AMD_GFX803, AMD_VOP3, op);
        }
        if (!row)
            continue; /* of other generations */
        unsigned factor, expected;
        if (sscanf(cycles, "DPFACTOR*%u", &factor) == 1)
            expected = 8 * factor;
        else if (sscanf(cycles, "%u", &expected) != 1)
            continue;
        unsigned got = model_cycles(op, (amd_class)row->class_);
        if (strstr(name, "rev_b64") ||
            strstr(name, "rev_i64")) { /* LLVM's model of Fiji: twice a 32-bit one */
            assert_int_equal(got, 8);
            shifts++;
            continue;
        }
        if (got != expected)
            print_message("%s: %u cycles, measured %s\n", name, got, cycles);
        assert_int_equal(got, expected);
        compared++;
    }
    fclose(file);
    assert_true(compared > 120);
    assert_int_equal(shifts, 3);
}

/* Packed floats have a rate of their own; moves of pairs and packed halves do not. */
static void packed_rates(void **state)
{
    (void)state;
    static const amd_op packed[] = { AMD_V_PK_FMA_F32, AMD_V_PK_MUL_F32, AMD_V_PK_ADD_F32 };
    for (size_t i = 0; i < sizeof packed / sizeof packed[0]; i++)
        assert_int_equal(cu_code_rate(packed[i], AMD_CLASS_VALU), CU_RATE_PACKED);
    assert_int_equal(cu_code_rate(AMD_V_PK_MOV_B32, AMD_CLASS_VALU), CU_RATE_FULL);
    assert_int_equal(cu_code_rate(AMD_V_PK_FMA_F16, AMD_CLASS_VALU), CU_RATE_FULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instructions),
        cmocka_unit_test(rates),
        cmocka_unit_test(packed_rates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
