/* tables.c: includes the *.def files: once for the rows, once per target for the way from opcode to row.
 * All of it is constant data; a look-up is two array accesses. */
#include "isa/amd/tables.h"

#include <threads.h>

/* The words of the rows. They stay in this file. */
enum {
    NO = AMD_NO_OPCODE,
    E64 = AMD_ROW_E64,
    M0 = AMD_ROW_M0,
    M1 = AMD_ROW_M1,
    M01 = AMD_ROW_M0 | AMD_ROW_M1,
    M02 = AMD_ROW_M0 | AMD_ROW_M2,
    M12 = AMD_ROW_M1 | AMD_ROW_M2,
    M012 = AMD_ROW_M0 | AMD_ROW_M1 | AMD_ROW_M2,
    CLAMP = AMD_ROW_CLAMP,
    OMOD = AMD_ROW_OMOD,
    OPSEL = AMD_ROW_OPSEL,
    SDWA = AMD_ROW_SDWA,
    DPP = AMD_ROW_DPP,
    K1 = AMD_ROW_K1,
    K2 = AMD_ROW_K2,
    SDST = AMD_ROW_SDST,
    ACC = AMD_ROW_ACC,
    ATTR = AMD_ROW_ATTR,
    DPP64 = AMD_ROW_DPP64,
    MAI = AMD_ROW_MAI,
    OUT = AMD_ROW_CLAMP | AMD_ROW_OMOD,
    SAMPLE = AMD_ROW_SAMPLER | AMD_ROW_D16OK,
    NONE = AMD_ROW_NONE,
    IMM = AMD_ROW_IMM,
    IMM10 = AMD_ROW_IMM10,
    BRANCH = AMD_ROW_BRANCH,
    HWREG = AMD_ROW_HWREG,
    WAITCNT = AMD_ROW_WAITCNT,
    MSG = AMD_ROW_MSG,
    ENDPGM = AMD_ROW_ENDPGM,
    GPRIDX = AMD_ROW_GPRIDX,
    DEPCTR = AMD_ROW_DEPCTR,
    IDX = AMD_ROW_IDX,
    OFFSET = AMD_ROW_OFFSET,
    STORE = AMD_ROW_STORE,
    ATOMIC = AMD_ROW_ATOMIC,
    PROBE = AMD_ROW_PROBE,
    OFFSET2 = AMD_ROW_OFFSET2,
    GDSONLY = AMD_ROW_GDSONLY,
    NOGDS = AMD_ROW_NOGDS,
    SWIZZLE = AMD_ROW_SWIZZLE,
    NOOFF = AMD_ROW_NOOFF,
    TOLDS = AMD_ROW_TOLDS,
    RTN = AMD_ROW_RTN,
    ADDTID = AMD_ROW_ADDTID,
    BARE = AMD_ROW_BARE,
    LDSOUT = AMD_ROW_LDSOUT,
    LDSONLY = AMD_ROW_LDSONLY,
    BITS = AMD_ROW_BITS,
    SAMPLER = AMD_ROW_SAMPLER,
    GATHER4 = AMD_ROW_SAMPLER | AMD_ROW_D16OK | AMD_ROW_GATHER,
    LOD = AMD_ROW_LOD,
    OFF = AMD_ROW_OFF,
    BIAS = AMD_ROW_BIAS,
    ZCMP = AMD_ROW_ZCMP,
    GRAD = AMD_ROW_GRAD,
    G16 = AMD_ROW_G16,
    CMPSWAP = AMD_ROW_CMPSWAP,
    D16OK = AMD_ROW_D16OK,
    RESINFO = AMD_ROW_RESINFO,
    BVH = AMD_ROW_BVH,
};

const amd_shape_info amd_shape_table[AMD_SHAPE_COUNT] = {
    [AMD_SHAPE_B16] = { AMD_KIND_B16, 1, false },    [AMD_SHAPE_F16] = { AMD_KIND_F16, 1, false },
    [AMD_SHAPE_PK16] = { AMD_KIND_PK16, 1, false },  [AMD_SHAPE_PKF16] = { AMD_KIND_PKF16, 1, false },
    [AMD_SHAPE_B32] = { AMD_KIND_B32, 1, false },    [AMD_SHAPE_F32] = { AMD_KIND_F32, 1, false },
    [AMD_SHAPE_B64] = { AMD_KIND_B64, 2, false },    [AMD_SHAPE_F64] = { AMD_KIND_F64, 2, false },
    [AMD_SHAPE_MASK] = { AMD_KIND_MASK, 0, false },  [AMD_SHAPE_W96] = { AMD_KIND_WIDE, 3, false },
    [AMD_SHAPE_W128] = { AMD_KIND_WIDE, 4, false },  [AMD_SHAPE_W256] = { AMD_KIND_WIDE, 8, false },
    [AMD_SHAPE_W512] = { AMD_KIND_WIDE, 16, false }, [AMD_SHAPE_S32] = { AMD_KIND_B32, 1, false },
    [AMD_SHAPE_S64] = { AMD_KIND_B64, 2, false },    [AMD_SHAPE_V32] = { AMD_KIND_B32, 1, true },
    [AMD_SHAPE_V64] = { AMD_KIND_B64, 2, true },     [AMD_SHAPE_V96] = { AMD_KIND_WIDE, 3, true },
    [AMD_SHAPE_V128] = { AMD_KIND_WIDE, 4, true },   [AMD_SHAPE_V256] = { AMD_KIND_WIDE, 8, true },
    [AMD_SHAPE_V512] = { AMD_KIND_WIDE, 16, true },  [AMD_SHAPE_V1024] = { AMD_KIND_WIDE, 32, true },
    [AMD_SHAPE_A32] = { AMD_KIND_B32, 1, true },     [AMD_SHAPE_C64] = { AMD_KIND_F64, 2, false },
    [AMD_SHAPE_C128] = { AMD_KIND_WIDE, 4, false },  [AMD_SHAPE_C256] = { AMD_KIND_F64, 8, false },
    [AMD_SHAPE_C512] = { AMD_KIND_WIDE, 16, false }, [AMD_SHAPE_C1024] = { AMD_KIND_WIDE, 32, false },
    [AMD_SHAPE_PK32] = { AMD_KIND_PK32, 2, false },  [AMD_SHAPE_PKF32] = { AMD_KIND_PK32, 2, false },
    [AMD_SHAPE_LIT] = { AMD_KIND_B32, 1, false },
};

/* --- rows ----------------------------------------------------------------------------------------------- */

#define AMD_ROW(format, name, gfx803, gfx1010, gfx1030, gfx90a, gfx942, dst, s0, s1, s2, class, flags)        \
    { AMD_##name,                                                                                             \
      AMD_##format,                                                                                           \
      AMD_CLASS_##class,                                                                                      \
      AMD_SHAPE_##dst,                                                                                        \
      { AMD_SHAPE_##s0, AMD_SHAPE_##s1, AMD_SHAPE_##s2 },                                                     \
      { gfx803, gfx1010, gfx1030, gfx90a, gfx942 },                                                           \
      flags },
const amd_row amd_table_rows[] = {
#include "isa/amd/rows.def"
};
#undef AMD_ROW

/* A row's number. The opcodes are part of the name because a few operations have a row per generation. */
#define ROW_NUMBER(format, name, gfx803, gfx1010, gfx1030, gfx90a, gfx942)                                    \
    ROW_##format##_##name##_##gfx803##_##gfx1010##_##gfx1030##_##gfx90a##_##gfx942
enum {
#define AMD_ROW(format, name, gfx803, gfx1010, gfx1030, gfx90a, gfx942, dst, s0, s1, s2, class, flags)        \
    ROW_NUMBER(format, name, gfx803, gfx1010, gfx1030, gfx90a, gfx942),
#include "isa/amd/rows.def"
#undef AMD_ROW
    ROW_COUNT
};

/* --- from opcode to row --------------------------------------------------------------------------------- */

/* Opcodes per encoding. */
enum {
    SIZE_SOP1 = 256,
    SIZE_SOP2 = 128,
    SIZE_SOPK = 32,
    SIZE_SOPC = 128,
    SIZE_SOPP = 128,
    SIZE_SMEM = 256,
    SIZE_VOP1 = 256,
    SIZE_VOP2 = 64,
    SIZE_VOPC = 256,
    SIZE_VOP3 = 1024,
    SIZE_VOP3B = 0, /* in VOP3 */
    SIZE_VOP3P = 128,
    SIZE_VINTRP = 4,
    SIZE_DS = 256,
    SIZE_MUBUF = 256,
    SIZE_MTBUF = 16,
    SIZE_MIMG = 256,
    SIZE_FLAT = 128,
    SIZE_GLOBAL = 128,
    SIZE_SCRATCH = 128,
    SIZE_EXP = 1,
};

/* Where an encoding's opcodes begin in the index. */
enum {
    BASE_SOP1 = 0,
    BASE_SOP2 = BASE_SOP1 + SIZE_SOP1,
    BASE_SOPK = BASE_SOP2 + SIZE_SOP2,
    BASE_SOPC = BASE_SOPK + SIZE_SOPK,
    BASE_SOPP = BASE_SOPC + SIZE_SOPC,
    BASE_SMEM = BASE_SOPP + SIZE_SOPP,
    BASE_VOP1 = BASE_SMEM + SIZE_SMEM,
    BASE_VOP2 = BASE_VOP1 + SIZE_VOP1,
    BASE_VOPC = BASE_VOP2 + SIZE_VOP2,
    BASE_VOP3 = BASE_VOPC + SIZE_VOPC,
    BASE_VOP3B = BASE_VOP3 + SIZE_VOP3,
    BASE_VOP3P = BASE_VOP3B + SIZE_VOP3B,
    BASE_VINTRP = BASE_VOP3P + SIZE_VOP3P,
    BASE_DS = BASE_VINTRP + SIZE_VINTRP,
    BASE_MUBUF = BASE_DS + SIZE_DS,
    BASE_MTBUF = BASE_MUBUF + SIZE_MUBUF,
    BASE_MIMG = BASE_MTBUF + SIZE_MTBUF,
    BASE_FLAT = BASE_MIMG + SIZE_MIMG,
    BASE_GLOBAL = BASE_FLAT + SIZE_FLAT,
    BASE_SCRATCH = BASE_GLOBAL + SIZE_GLOBAL,
    BASE_EXP = BASE_SCRATCH + SIZE_SCRATCH,
    INDEX_COUNT = BASE_EXP + SIZE_EXP,
};

static const uint16_t format_base[AMD_FORMAT_COUNT] = {
    BASE_SOP1,  BASE_SOP2,  BASE_SOPK, BASE_SOPC, BASE_SOPP,   BASE_SMEM,    BASE_VOP1,
    BASE_VOP2,  BASE_VOPC,  BASE_VOP3, BASE_VOP3, BASE_VOP3P,  BASE_VINTRP,  BASE_DS,
    BASE_MUBUF, BASE_MTBUF, BASE_MIMG, BASE_FLAT, BASE_GLOBAL, BASE_SCRATCH, BASE_EXP,
};
static const uint16_t format_size[AMD_FORMAT_COUNT] = {
    SIZE_SOP1,  SIZE_SOP2,  SIZE_SOPK, SIZE_SOPC,  SIZE_SOPP,   SIZE_SMEM,    SIZE_VOP1,
    SIZE_VOP2,  SIZE_VOPC,  SIZE_VOP3, SIZE_VOP3B, SIZE_VOP3P,  SIZE_VINTRP,  SIZE_DS,
    SIZE_MUBUF, SIZE_MTBUF, SIZE_MIMG, SIZE_FLAT,  SIZE_GLOBAL, SIZE_SCRATCH, SIZE_EXP,
};

/* An entry is the row's number plus 1; 0 is no instruction. A row that the target does not have gets an unused
 * entry after the index. */
#define SLOT(format, opcode, number)                                                                          \
    ((opcode) == NO ? INDEX_COUNT + (number) : BASE_##format + ((opcode)&0xfff))
#define ENTRY(opcode, format, name, gfx803, gfx1010, gfx1030, gfx90a, gfx942)                                 \
    [SLOT(format, opcode, ROW_NUMBER(format, name, gfx803, gfx1010, gfx1030, gfx90a, gfx942))] =              \
        1 + ROW_NUMBER(format, name, gfx803, gfx1010, gfx1030, gfx90a, gfx942),

static const uint16_t row_index[AMD_TARGET_COUNT][INDEX_COUNT + ROW_COUNT] = {
    [AMD_GFX803] =
        {
#define AMD_ROW(format, name, gfx803, gfx1010, gfx1030, gfx90a, gfx942, dst, s0, s1, s2, class, flags)        \
    ENTRY(gfx803, format, name, gfx803, gfx1010, gfx1030, gfx90a, gfx942)
#include "isa/amd/rows.def"
#undef AMD_ROW
        },
    [AMD_GFX1010] =
        {
#define AMD_ROW(format, name, gfx803, gfx1010, gfx1030, gfx90a, gfx942, dst, s0, s1, s2, class, flags)        \
    ENTRY(gfx1010, format, name, gfx803, gfx1010, gfx1030, gfx90a, gfx942)
#include "isa/amd/rows.def"
#undef AMD_ROW
        },
    [AMD_GFX1030] =
        {
#define AMD_ROW(format, name, gfx803, gfx1010, gfx1030, gfx90a, gfx942, dst, s0, s1, s2, class, flags)        \
    ENTRY(gfx1030, format, name, gfx803, gfx1010, gfx1030, gfx90a, gfx942)
#include "isa/amd/rows.def"
#undef AMD_ROW
        },
    [AMD_GFX90A] =
        {
#define AMD_ROW(format, name, gfx803, gfx1010, gfx1030, gfx90a, gfx942, dst, s0, s1, s2, class, flags)        \
    ENTRY(gfx90a, format, name, gfx803, gfx1010, gfx1030, gfx90a, gfx942)
#include "isa/amd/rows.def"
#undef AMD_ROW
        },
    [AMD_GFX942] =
        {
#define AMD_ROW(format, name, gfx803, gfx1010, gfx1030, gfx90a, gfx942, dst, s0, s1, s2, class, flags)        \
    ENTRY(gfx942, format, name, gfx803, gfx1010, gfx1030, gfx90a, gfx942)
#include "isa/amd/rows.def"
#undef AMD_ROW
        },
};

const amd_row *amd_table_find(amd_target target, amd_format format, unsigned opcode)
{
    unsigned entry = opcode < format_size[format] ? row_index[target][format_base[format] + opcode] : 0;
    return entry ? &amd_table_rows[entry - 1] : NULL;
}

size_t amd_table_row_count(void)
{
    return ROW_COUNT;
}

unsigned amd_table_opcodes(amd_format format)
{
    return format_size[format];
}

/* --- from operation to row ------------------------------------------------------------------------------ */

/* Rows of one operation as a chain: head_of[op], then next_of[row]; a row's number plus 1, 0 ends it. */
static uint16_t head_of[AMD_OP_COUNT], next_of[ROW_COUNT];
static once_flag chains_once = ONCE_FLAG_INIT;

static void make_chains(void)
{
    for (unsigned i = ROW_COUNT; i-- > 0;) {
        next_of[i] = head_of[amd_table_rows[i].op];
        head_of[amd_table_rows[i].op] = (uint16_t)(i + 1);
    }
}

const amd_row *amd_table_find_op(amd_target target, amd_format format, amd_op op)
{
    call_once(&chains_once, make_chains);
    for (unsigned entry = head_of[op]; entry; entry = next_of[entry - 1]) {
        const amd_row *row = &amd_table_rows[entry - 1];
        if (row->format == format && row->opcode[target] != AMD_NO_OPCODE)
            return row;
    }
    return NULL;
}

bool amd_op_exists(amd_target target, amd_op op)
{
    call_once(&chains_once, make_chains);
    for (unsigned entry = head_of[op]; entry; entry = next_of[entry - 1])
        if (amd_table_rows[entry - 1].opcode[target] != AMD_NO_OPCODE)
            return true;
    return false;
}
