/* print_names.c: immediates that LLVM shows by name: hardware registers, messages, counters, formats,
 * targets. */
#include "isa/amd/print.h"

const char *amd_print_name(const amd_printer *p)
{
    static const struct {
        uint16_t op;
        const char *name;
        bool gfx90a_only;
    } others[] = {
        { AMD_V_ADD_NC_U32, "v_add_u32", false },
        { AMD_V_SUB_NC_U32, "v_sub_u32", false },
        { AMD_V_SUBREV_NC_U32, "v_subrev_u32", false },
        { AMD_V_ADD_NC_I32, "v_add_i32", false },
        { AMD_V_SUB_NC_I32, "v_sub_i32", false },
        { AMD_V_ADD_NC_I16, "v_add_i16", false },
        { AMD_V_SUB_NC_I16, "v_sub_i16", false },
        { AMD_V_ADD_CO_CI_U32, "v_addc_co_u32", false },
        { AMD_V_SUB_CO_CI_U32, "v_subb_co_u32", false },
        { AMD_V_SUBREV_CO_CI_U32, "v_subbrev_co_u32", false },
        { AMD_V_MFMA_F32_32X32X1_2B_F32, "v_mfma_f32_32x32x1f32", true },
        { AMD_V_MFMA_F32_16X16X1_4B_F32, "v_mfma_f32_16x16x1f32", true },
        { AMD_V_MFMA_F32_4X4X1_16B_F32, "v_mfma_f32_4x4x1f32", true },
        { AMD_V_MFMA_F32_32X32X2_F32, "v_mfma_f32_32x32x2f32", true },
        { AMD_V_MFMA_F32_16X16X4_F32, "v_mfma_f32_16x16x4f32", true },
        { AMD_V_MFMA_F32_32X32X4_2B_F16, "v_mfma_f32_32x32x4f16", true },
        { AMD_V_MFMA_F32_16X16X4_4B_F16, "v_mfma_f32_16x16x4f16", true },
        { AMD_V_MFMA_F32_4X4X4_16B_F16, "v_mfma_f32_4x4x4f16", true },
        { AMD_V_MFMA_F32_32X32X8_F16, "v_mfma_f32_32x32x8f16", true },
        { AMD_V_MFMA_F32_16X16X16_F16, "v_mfma_f32_16x16x16f16", true },
        { AMD_V_MFMA_I32_32X32X4_2B_I8, "v_mfma_i32_32x32x4i8", true },
        { AMD_V_MFMA_I32_16X16X4_4B_I8, "v_mfma_i32_16x16x4i8", true },
        { AMD_V_MFMA_I32_4X4X4_16B_I8, "v_mfma_i32_4x4x4i8", true },
        { AMD_V_MFMA_F32_32X32X4_2B_BF16, "v_mfma_f32_32x32x4bf16_1k", true },
        { AMD_V_MFMA_F32_16X16X4_4B_BF16, "v_mfma_f32_16x16x4bf16_1k", true },
        { AMD_V_MFMA_F32_4X4X4_16B_BF16, "v_mfma_f32_4x4x4bf16_1k", true },
        { AMD_V_MFMA_F32_32X32X8_BF16, "v_mfma_f32_32x32x8bf16_1k", true },
        { AMD_V_MFMA_F32_16X16X16_BF16, "v_mfma_f32_16x16x16bf16_1k", true },
        { AMD_V_MFMA_F64_16X16X4_F64, "v_mfma_f64_16x16x4f64", true },
        { AMD_V_MFMA_F64_4X4X4_4B_F64, "v_mfma_f64_4x4x4f64", true },
    };
    for (unsigned i = 0; p->gfx9 && i < sizeof others / sizeof others[0]; i++)
        if (others[i].op == p->inst->op && (p->target == AMD_GFX90A || !others[i].gfx90a_only))
            return others[i].name;
    return amd_op_name((amd_op)p->inst->op);
}

void amd_print_hwreg(amd_printer *p, unsigned simm16)
{
    static const char *const names[30] = {
        [1] = "MODE",      [2] = "STATUS",  [3] = "TRAPSTS",       [4] = "HW_ID",          [5] = "GPR_ALLOC",
        [6] = "LDS_ALLOC", [7] = "IB_STS",  [15] = "SH_MEM_BASES", [16] = "TBA_LO",        [17] = "TBA_HI",
        [18] = "TMA_LO",   [19] = "TMA_HI", [20] = "FLAT_SCR_LO",  [21] = "FLAT_SCR_HI",   [22] = "XNACK_MASK",
        [23] = "HW_ID1",   [24] = "HW_ID2", [25] = "POPS_PACKER",  [29] = "SHADER_CYCLES",
    };
    static const char *const gfx942_names[5] = { "XCC_ID", "SQ_PERF_SNAPSHOT_DATA", "SQ_PERF_SNAPSHOT_DATA1",
                                                 "SQ_PERF_SNAPSHOT_PC_LO", "SQ_PERF_SNAPSHOT_PC_HI" };
    unsigned id = simm16 & 63, offset = simm16 >> 6 & 31, width = (simm16 >> 11) + 1;
    bool named = id < 30 && names[id] && (p->gfx10 ? id != 4 : id < (p->gfx9 ? 20 : 8));
    if ((id == 22 && p->target != AMD_GFX1010) || (id == 29 && p->target != AMD_GFX1030))
        named = false;
    if (p->target == AMD_GFX942 && id >= 20 && id < 25)
        amd_putf(p, "hwreg(HW_REG_%s", gfx942_names[id - 20]);
    else if (named)
        amd_putf(p, "hwreg(HW_REG_%s", names[id]);
    else
        amd_putf(p, "hwreg(%u", id);
    if (offset != 0 || width != 32)
        amd_putf(p, ", %u, %u", offset, width);
    amd_put(p, ")");
}

void amd_print_message(amd_printer *p, unsigned simm16)
{
    static const char *const names[12] = {
        [1] = "INTERRUPT",       [2] = "GS",
        [3] = "GS_DONE",         [4] = "SAVEWAVE",
        [5] = "STALL_WAVE_GEN",  [6] = "HALT_WAVES",
        [7] = "ORDERED_PS_DONE", [8] = "EARLY_PRIM_DEALLOC",
        [9] = "GS_ALLOC_REQ",    [10] = "GET_DOORBELL",
        [11] = "GET_DDID",
    };
    static const char *const gs_ops[4] = { "NOP", "CUT", "EMIT", "EMIT_CUT" };
    static const char *const system_ops[5] = { "", "ECC_ERR_INTERRUPT", "REG_RD", "HOST_TRAP_ACK",
                                               "TTRACE_PC" };
    unsigned id = simm16 & 15, op = simm16 >> 4 & 7, stream = simm16 >> 8 & 3;
    if (id == 15 && op >= 1 && !(p->gfx9 && op == 3) && op <= 4 && stream == 0) {
        amd_putf(p, "sendmsg(MSG_SYSMSG, SYSMSG_OP_%s)", system_ops[op]);
    } else if ((id == 2 || id == 3) && op >= 1 && op <= 3) {
        amd_putf(p, "sendmsg(MSG_%s, GS_OP_%s, %u)", names[id], gs_ops[op], stream);
    } else if (id == 3 && op == 0 && stream == 0) {
        amd_put(p, "sendmsg(MSG_GS_DONE, GS_OP_NOP)");
    } else if (id >= 1 && id != 2 && id != 3 &&
               id < (p->gfx10  ? 12
                     : p->gfx9 ? 11
                               : 5) &&
               op == 0 && stream == 0) {
        amd_putf(p, "sendmsg(MSG_%s)", names[id]);
    } else if (simm16 & ~0x37fu) { /* no message, and bits that the fields do not cover */
        amd_putf(p, "%u", simm16);
    } else {
        amd_putf(p, "sendmsg(%u, %u, %u)", id, op, stream);
    }
}

void amd_print_waitcnt(amd_printer *p, unsigned simm16)
{
    amd_waitcnt wait = amd_waitcnt_decode(p->target, (uint16_t)simm16);
    unsigned vm_max = p->target == AMD_GFX803 ? 15 : 63, lgkm_max = p->gfx10 ? 63 : 15;
    bool all = wait.vm == vm_max && wait.exp == 7 && wait.lgkm == lgkm_max;
    const char *space = "";
    if (all || wait.vm != vm_max) {
        amd_putf(p, "vmcnt(%u)", wait.vm);
        space = " ";
    }
    if (all || wait.exp != 7) {
        amd_putf(p, "%sexpcnt(%u)", space, wait.exp);
        space = " ";
    }
    if (all || wait.lgkm != lgkm_max)
        amd_putf(p, "%slgkmcnt(%u)", space, wait.lgkm);
}

void amd_print_depctr(amd_printer *p, unsigned simm16)
{
    static const struct {
        const char *name;
        uint8_t shift, bits;
    } fields[] = { { "hold_cnt", 7, 1 }, { "sa_sdst", 0, 1 }, { "va_vdst", 12, 4 }, { "va_sdst", 9, 3 },
                   { "va_ssrc", 8, 1 },  { "va_vcc", 1, 1 },  { "vm_vsrc", 2, 3 } };
    const char *space = "";
    unsigned unnamed = p->target == AMD_GFX1030 ? 0x60 : 0xe0;
    if (simm16 & unnamed || (simm16 | unnamed) == 0xffff) { /* bits without a name, or nothing to wait for */
        amd_putf(p, "0x%x", simm16);
        return;
    }
    for (unsigned i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        unsigned largest = (1u << fields[i].bits) - 1, value = simm16 >> fields[i].shift & largest;
        if (value == largest || unnamed >> fields[i].shift & 1)
            continue;
        amd_putf(p, "%sdepctr_%s(%u)", space, fields[i].name, value);
        space = " ";
    }
}

void amd_print_gpr_index(amd_printer *p, unsigned mode)
{
    static const char *const names[4] = { "SRC0", "SRC1", "SRC2", "DST" };
    if (mode > 15) {
        amd_putf(p, "0x%x", mode);
        return;
    }
    amd_put(p, "gpr_idx(");
    for (unsigned i = 0; i < 4; i++)
        if (mode >> i & 1)
            amd_putf(p, "%s%s", mode & ((1u << i) - 1) ? "," : "", names[i]);
    amd_put(p, ")");
}

/* --- buffers, images, export ---------------------------------------------------------------------------- */

static const char *const data_formats[16] = {
    "INVALID",    "8",          "16",      "8_8",   "32",          "16_16",    "10_11_11",    "11_11_10",
    "10_10_10_2", "2_10_10_10", "8_8_8_8", "32_32", "16_16_16_16", "32_32_32", "32_32_32_32", "RESERVED_15",
};
static const char *const number_formats[8] = { "UNORM", "SNORM", "USCALED",    "SSCALED",
                                               "UINT",  "SINT",  "RESERVED_6", "FLOAT" };

/* gfx10 numbers the pairs that exist: for each data format in order, those of its number formats. */
static void print_unified_format(amd_printer *p, unsigned format)
{
    /* Bit n: the pair with number format n exists. */
    static const uint8_t pairs[15] = { 0,    0x3f, 0xbf, 0x3f, 0xb0, 0xbf, 0xbf, 0xbf,
                                       0x3f, 0x3f, 0x3f, 0xb0, 0xbf, 0xb0, 0xb0 };
    unsigned number = 1;
    if (format == 0) {
        amd_put(p, " format:[BUF_FMT_INVALID]");
        return;
    }
    for (unsigned data = 1; data < 15; data++)
        for (unsigned n = 0; n < 8; n++)
            if (pairs[data] >> n & 1 && number++ == format) {
                amd_putf(p, " format:[BUF_FMT_%s_%s]", data_formats[data], number_formats[n]);
                return;
            }
    amd_putf(p, " format:%u", format);
}

void amd_print_buffer_format(amd_printer *p, unsigned format)
{
    if (format == 1) /* LLVM's default */
        return;
    if (p->gfx10) {
        print_unified_format(p, format);
        return;
    }
    unsigned data = format & 15, number = format >> 4 & 7;
    amd_put(p, " format:[");
    if (data != 1)
        amd_putf(p, "BUF_DATA_FORMAT_%s", data_formats[data]);
    if (number != 0)
        amd_putf(p, "%sBUF_NUM_FORMAT_%s", data != 1 ? "," : "", number_formats[number]);
    amd_put(p, "]");
}

const char *amd_image_dim_name(unsigned dim)
{
    static const char *const names[8] = { "1D",       "2D",       "3D",      "CUBE",
                                          "1D_ARRAY", "2D_ARRAY", "2D_MSAA", "2D_MSAA_ARRAY" };
    return names[dim & 7];
}

void amd_print_export_target(amd_printer *p, unsigned target)
{
    if (target < 8)
        amd_putf(p, "mrt%u", target);
    else if (target == 8)
        amd_put(p, "mrtz");
    else if (target == 9)
        amd_put(p, "null");
    else if (target >= 12 && target < (p->gfx10 ? 17 : 16))
        amd_putf(p, "pos%u", target - 12);
    else if (target == 20 && p->gfx10)
        amd_put(p, "prim");
    else if (target >= 32)
        amd_putf(p, "param%u", target - 32);
    else
        amd_putf(p, "invalid_target_%u", target);
}

void amd_print_dpp_control(amd_printer *p, unsigned control)
{
    unsigned count = control & 15;
    if (control < 0x100)
        amd_putf(p, " quad_perm:[%u,%u,%u,%u]", control & 3, control >> 2 & 3, control >> 4 & 3,
                 control >> 6 & 3);
    else if (control < 0x110)
        amd_putf(p, " row_shl:%u", count);
    else if (control < 0x120)
        amd_putf(p, " row_shr:%u", count);
    else if (control < 0x130)
        amd_putf(p, " row_ror:%u", count);
    else if (control < 0x140)
        amd_putf(p, " wave_%s:1", count == 0 ? "shl" : count == 4 ? "rol" : count == 8 ? "shr" : "ror");
    else if (control == 0x140)
        amd_put(p, " row_mirror");
    else if (control == 0x141)
        amd_put(p, " row_half_mirror");
    else if (control < 0x144)
        amd_putf(p, " row_bcast:%u", control == 0x142 ? 15 : 31);
    else if (control < 0x160)
        amd_putf(p, " row_%s:%u", p->gfx9 ? "newbcast" : "share", count);
    else
        amd_putf(p, " row_xmask:%u", count);
}
