/* decode.c: makes an ls_inst of one line of a trace: the row of its opcode, and the effects of its modifiers.
 * These are access width, bypass of L1, and how many registers an operand really covers (NVBit lists only the
 * first). */
#include "isa/sass/table.h"

#include "base/text.h"
#include "isa/registers.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------- modifiers */

#define MAX_WORDS 24 /* real opcodes have up to ten; later ones are not looked at */

/* The dotted words of an opcode; word 0 is its name. Points into the caller's text. */
typedef struct words {
    const char *at[MAX_WORDS];
    size_t bytes[MAX_WORDS];
    size_t count;
} words;

static void split(words *w, const char *text, size_t bytes)
{
    const char *end = text + bytes;
    w->count = 0;
    while (text < end && w->count < MAX_WORDS) {
        const char *dot = memchr(text, '.', (size_t)(end - text));
        const char *stop = dot ? dot : end;
        if (stop > text) { /* Accel-Sim skips empty words too */
            w->at[w->count] = text;
            w->bytes[w->count++] = (size_t)(stop - text);
        }
        text = stop + 1;
    }
}

static bool has(const words *w, const char *word)
{
    size_t bytes = strlen(word);
    for (size_t i = 1; i < w->count; i++)
        if (w->bytes[i] == bytes && memcmp(w->at[i], word, bytes) == 0)
            return true;
    return false;
}

/* The number that a word is from `from` to its end; false if that is not all digits. */
static bool number(const words *w, size_t i, size_t from, uint32_t *out)
{
    uint32_t value = 0;
    if (from >= w->bytes[i] || w->bytes[i] - from > 6)
        return false;
    for (size_t k = from; k < w->bytes[i]; k++) {
        if (!isdigit((unsigned char)w->at[i][k]))
            return false;
        value = value * 10 + (uint32_t)(w->at[i][k] - '0');
    }
    *out = value;
    return true;
}

/* "F16x4", "BF16x2", "F32x2": bits of the whole. */
static bool packed_bits(const words *w, size_t i, uint32_t *bits)
{
    char text[16];
    unsigned each, count;
    if (w->bytes[i] >= sizeof text)
        return false;
    memcpy(text, w->at[i], w->bytes[i]);
    text[w->bytes[i]] = '\0';
    const char *type = text[0] == 'B' ? text + 1 : text;
    if (*type != 'F' || sscanf(type, "F%3ux%2u", &each, &count) != 2)
        return false;
    *bits = each * count;
    return true;
}

static bool plausible_bits(uint32_t bits)
{
    return bits == 8 || bits == 16 || bits == 32 || bits == 64 || bits == 128 || bits == 256;
}

/* Bytes that one lane moves: from .64, .U8, .S16, .F64, .F16x4 and the like; 4 without such a modifier. */
static uint32_t access_width(const words *w)
{
    uint32_t bits;
    for (size_t i = 1; i < w->count; i++) {
        char first = w->at[i][0];
        bool typed = first == 'U' || first == 'S' || first == 'F';
        if ((number(w, i, typed ? 1 : 0, &bits) && plausible_bits(bits)) ||
            (packed_bits(w, i, &bits) && plausible_bits(bits)))
            return bits / 8;
    }
    return 4;
}

/* Accel-Sim's rule, which looks at the name as well. */
static uint32_t accel_width(const words *w)
{
    uint32_t bits;
    for (size_t i = 0; i < w->count; i++)
        if (number(w, i, 0, &bits) || (w->at[i][0] == 'U' && number(w, i, 1, &bits)))
            return bits / 8;
    return 4;
}

/* LDSM.16.M88.4 moves 4 matrices: the number after the layout. */
static uint32_t matrices(const words *w)
{
    uint32_t count;
    for (size_t i = 1; i + 1 < w->count; i++)
        if (w->at[i][0] == 'M' && number(w, i + 1, 0, &count) && (count == 1 || count == 2 || count == 4))
            return count;
    return 1;
}

/* ------------------------------------------------------------------------------------------------- shapes */

typedef struct shape {
    uint32_t m, n, k;
} shape;

/* "16816" is 16x8x16, "8816" is 8x8x16; newer ones are written with x. */
static bool find_shape(const words *w, shape *s)
{
    for (size_t i = 1; i < w->count; i++) {
        uint32_t digits;
        size_t skip = w->at[i][0] == '1' ? 3 : 2;
        char text[24];
        if (number(w, i, 0, &digits) && w->bytes[i] > skip) {
            *s = (shape){ .m = skip == 3 ? 16 : 8, .n = 8 };
            return number(w, i, skip, &s->k);
        }
        if (w->bytes[i] >= sizeof text || !memchr(w->at[i], 'x', w->bytes[i]))
            continue;
        memcpy(text, w->at[i], w->bytes[i]);
        text[w->bytes[i]] = '\0';
        if (sscanf(text, "%4ux%4ux%4u", &s->m, &s->n, &s->k) == 3)
            return true;
    }
    return false;
}

static uint8_t regs(uint32_t bits, uint32_t threads)
{
    uint32_t count = bits / (32 * threads);
    return (uint8_t)(count < 1 ? 1 : count > 255 ? 255 : count);
}

/* -------------------------------------------------------------------------------------------------- spans */

/* Indices of the sources that are general registers: the others are descriptors and predicates. */
static uint32_t general_sources(const ls_inst *inst, uint8_t at[LS_INST_SRC_MAX])
{
    uint32_t count = 0;
    for (uint8_t i = 0; i < inst->src_count; i++)
        if (reg_is_general(inst->src[i]))
            at[count++] = i;
    return count;
}

static void span_sources(ls_inst *inst, uint8_t span)
{
    for (uint8_t i = 0; i < inst->src_count; i++)
        inst->src_span[i] = span;
}

/* The first source is the address, which .E makes 64 bits wide; stores and atomics then list their data. */
static void span_memory(ls_inst *inst, const words *w)
{
    uint8_t at[LS_INST_SRC_MAX];
    uint32_t count = general_sources(inst, at);
    uint8_t data = inst->width_bytes > 4 ? inst->width_bytes / 4 : 1;
    bool wide_address = has(w, "E"), sends = inst->class_ == LS_CLASS_store || inst->class_ == LS_CLASS_atomic;
    if (inst->mem_op == LS_MEM_MATRIX)
        data = inst->matrix_count;
    if (inst->mem_op == LS_MEM_ASYNC_COPY) { /* shared address, then global address */
        if (count && wide_address)
            inst->src_span[at[count - 1]] = 2;
        return;
    }
    if (!sends)
        inst->dst_span = data;
    else if (inst->mem_op == LS_MEM_ATOMIC)
        inst->dst_span = data;
    if (count && wide_address && (count > 1 || !sends))
        inst->src_span[at[0]] = 2;
    for (uint32_t i = count > 1 ? 1 : 0; sends && i < count; i++)
        inst->src_span[at[i]] = data;
}

static void span_convert(ls_inst *inst, const words *w)
{
    /* The types in order; F2F and FRND name the destination first, F2I and I2F differ in their letters. */
    uint32_t dst = 32, src = 32, bits;
    bool first = true, to_int = w->at[0][0] == 'F' && w->at[0][w->bytes[0] - 1] == 'I';
    bool from_int = w->at[0][0] == 'I', both = w->bytes[0] == 4; /* FRND */
    for (size_t i = 1; i < w->count; i++) {
        char letter = w->at[i][0];
        bool real = letter == 'F', whole = letter == 'S' || letter == 'U';
        if (!(real || whole) || !number(w, i, 1, &bits) || !plausible_bits(bits))
            continue;
        if (to_int || from_int)
            *((real == from_int) ? &dst : &src) = bits;
        else if (both)
            dst = src = bits;
        else
            *(first ? &dst : &src) = bits;
        first = false;
    }
    inst->dst_span = dst == 64 ? 2 : 1;
    span_sources(inst, src == 64 ? 2 : 1);
}

static void span_matrix(ls_inst *inst, const words *w)
{
    shape s;
    uint8_t at[LS_INST_SRC_MAX];
    uint32_t count = general_sources(inst, at), element, result = 32;
    if (!find_shape(w, &s) || s.m > 64 || s.n > 256 || s.k > 1024)
        return;
    switch (inst->class_) {
    case LS_CLASS_tensor_half:
        element = w->at[0][0] == 'H' ? (has(w, "TF32") ? 32 : 16) : w->at[0][0] == 'O' ? 4 : 8;
        result = has(w, "F16") && !has(w, "F32") ? 16 : 32;
        break;
    case LS_CLASS_tensor_int:
        element = has(w, "S4") || has(w, "U4") ? 4 : 8;
        break;
    case LS_CLASS_tensor_bit:
        element = 1;
        break;
    default:
        element = result = 64;
    }
    inst->dst_span = regs(s.m * s.n * result, 32);
    uint8_t a = regs(s.m * s.k * element / (has(w, "SP") ? 2 : 1), 32), b = regs(s.n * s.k * element, 32);
    uint8_t c = inst->dst_span;
    if (s.m == 8 && s.n == 8 && s.k == 4 && element == 16)
        a = b = c = inst->dst_span = 2; /* Volta: a step of HMMA.884 makes two registers of the result */
    const uint8_t spans[] = { a, b, c };
    for (uint32_t i = 0; i < count && i < 3; i++)
        inst->src_span[at[i]] = spans[i];
}

static void span_group(ls_inst *inst, const words *w)
{
    shape s;
    if (find_shape(w, &s) && s.m <= 64 && s.n <= 256)
        inst->dst_span = regs(s.m * s.n * (has(w, "F16") && !has(w, "F32") ? 16 : 32), 128);
}

static void span_tensor_memory(ls_inst *inst, const words *w)
{
    uint32_t count;
    uint8_t at[LS_INST_SRC_MAX], span = 1;
    uint32_t sources = general_sources(inst, at);
    for (size_t i = 1; i < w->count; i++)
        if (w->at[i][0] == 'x' && number(w, i, 1, &count) && count >= 1 && count <= 128)
            span = (uint8_t)count;
    inst->dst_span = span;
    if (inst->dst_count == 0 && sources)
        inst->src_span[at[sources - 1]] = span;
}

static void find_spans(ls_inst *inst, const words *w, sass_registers registers)
{
    uint8_t at[LS_INST_SRC_MAX];
    inst->dst_span = 1;
    span_sources(inst, 1);
    switch (registers) {
    case SASS_REGS_ONE:
        if (inst->mem_op == LS_MEM_ASYNC_COPY)
            span_memory(inst, w);
        break;
    case SASS_REGS_SIZE:
        if (!has(w, "64"))
            break;
        /* fall through */
    case SASS_REGS_PAIR:
        inst->dst_span = 2;
        span_sources(inst, 2);
        break;
    case SASS_REGS_WIDTH:
        span_memory(inst, w);
        break;
    case SASS_REGS_WIDE:
        if (has(w, "WIDE")) {
            inst->dst_span = 2;
            if (general_sources(inst, at) == 3) /* with fewer, the addend cannot be told from a factor */
                inst->src_span[at[2]] = 2;
        }
        break;
    case SASS_REGS_CVT:
        span_convert(inst, w);
        break;
    case SASS_REGS_CLOCK:
        inst->dst_span = has(w, "32") ? 1 : 2;
        break;
    case SASS_REGS_MMA:
        span_matrix(inst, w);
        break;
    case SASS_REGS_GROUP:
        span_group(inst, w);
        break;
    case SASS_REGS_TMEM:
        span_tensor_memory(inst, w);
        break;
    }
    for (uint8_t i = 0; i < inst->src_count; i++)
        inst->src_span[i] = reg_clamp_span(inst->src[i], inst->src_span[i]);
    inst->dst_span = inst->dst_count ? reg_clamp_span(inst->dst[0], inst->dst_span) : 0;
}

/* ----------------------------------------------------------------------------------------------- matrices */

static ls_tensor_type tensor_type(const ls_inst *inst, const words *w)
{
    bool group = inst->class_ == LS_CLASS_tensor_group, sum16 = has(w, "F16") && !has(w, "F32");
    char first = w->at[0][0];
    if (inst->class_ == LS_CLASS_tensor_double)
        return LS_TENSOR_FP64;
    if (inst->class_ == LS_CLASS_tensor_bit || (group && first == 'B'))
        return LS_TENSOR_BIT;
    if (inst->class_ == LS_CLASS_tensor_int || (group && first == 'I'))
        return has(w, "S4") || has(w, "U4") ? LS_TENSOR_INT4 : LS_TENSOR_INT8;
    if (first == 'Q')
        return sum16 ? LS_TENSOR_FP8_SUM16 : LS_TENSOR_FP8;
    if (first != 'H')
        return LS_TENSOR_NONE;
    if (has(w, "TF32"))
        return LS_TENSOR_TF32;
    if (has(w, "BF16"))
        return LS_TENSOR_BF16;
    return sum16 ? LS_TENSOR_FP16_SUM16 : LS_TENSOR_FP16;
}

/* Shape and type; the kind stays LS_TENSOR_NONE if one of them is not known. */
static void decode_tensor(ls_inst *out, const words *w)
{
    shape s;
    uint8_t at[LS_INST_SRC_MAX];
    bool group = out->class_ == LS_CLASS_tensor_group;
    uint32_t type = tensor_type(out, w), bits = tensor_bits(type);
    out->tensor_kind = out->tensor_n8 = out->tensor_k4 = 0;
    if (type == LS_TENSOR_NONE || !find_shape(w, &s))
        return;
    bool known =
        group ? s.m == 64 && s.n >= 8 && s.n <= 256 && s.n % 8 == 0 : (s.m == 8 || s.m == 16) && s.n == 8;
    if (!known || s.k < 4 || s.k > 1020 || (s.k & (s.k - 1)) != 0 || s.k * bits < 64 || s.k * bits > 1024)
        return;
    out->tensor_n8 = (uint8_t)(s.n / 8);
    out->tensor_k4 = (uint8_t)(s.k / 4);
    out->tensor_kind = (uint8_t)type;
    if (group)
        out->tensor_kind |= LS_TENSOR_GROUP;
    else if (s.m == 16)
        out->tensor_kind |= LS_TENSOR_M16;
    if (has(w, "SP"))
        out->tensor_kind |= LS_TENSOR_SPARSE;
    if (group && general_sources(out, at) > 1) /* A and the sums; else the sums alone */
        out->tensor_kind |= LS_TENSOR_A_REGISTERS;
}

/* ------------------------------------------------------------------------------------------------- decode */

/* dst_span belongs to dst[0], so predicates, which cover nothing, go last. */
static void copy_registers(ls_inst *out, const sass_line *line)
{
    for (int predicates = 0; predicates < 2; predicates++)
        for (uint32_t i = 0; i < line->dst_count; i++)
            if (reg_is_predicate(line->dsts[i]) == (predicates == 1))
                out->dst[out->dst_count++] = line->dsts[i];
    for (uint32_t i = 0; i < line->src_count; i++)
        out->src[out->src_count++] = line->srcs[i];
}

/* Compilers write a constant into a register with a multiply-add of zeros (HFMA2.MMA of RZ and RZ): nothing
 * is computed. */
static bool moves_constant(const ls_inst *inst)
{
    uint32_t zeros = 0;
    while (zeros < inst->src_count && inst->src[zeros] == LS_REG_ZERO)
        zeros++;
    return zeros > 0 && zeros == inst->src_count;
}

static void decode_memory(ls_inst *out, const sass_row *row, const words *w)
{
    bool device = has(w, "GPU"), strong = has(w, "STRONG");
    bool past_l1 = (strong && (device || has(w, "SYS"))) || has(w, "CG") || has(w, "CV") || has(w, "VOLATILE");
    out->mem_op = row->mem_op;
    out->space = row->space;
    if (row->mem_op == LS_MEM_NONE)
        return;
    out->width_bytes = (uint8_t)access_width(w);
    if (row->mem_op == LS_MEM_MATRIX) {
        out->width_bytes = 16; /* a lane gives the address of a row of eight 16-bit elements */
        out->matrix_count = (uint8_t)matrices(w);
    }
    if (row->mem_op == LS_MEM_ASYNC_COPY)
        past_l1 |= has(w, "BYPASS");
    if (past_l1 && (row->space == LS_SPACE_GLOBAL || row->space == LS_SPACE_GENERIC))
        out->flags |= LS_INST_BYPASS_L1;
    if (strong && device && row->space != LS_SPACE_GENERIC && row->space != LS_SPACE_SHARED &&
        (row->class_ == LS_CLASS_load || row->class_ == LS_CLASS_async_copy))
        out->flags |= LS_INST_ACCEL_BYPASS;
}

/* ------------------------------------------------------------------------------- the asynchronous machine */

static bool named(const words *w, const char *name)
{
    return w->bytes[0] == strlen(name) && memcmp(w->at[0], name, w->bytes[0]) == 0;
}

/* The forms of SYNCS and ARRIVES that disassemblers show; others are LS_MBARRIER_NONE. */
static ls_mbarrier_op mbarrier_op(const words *w)
{
    static const struct {
        const char *word;
        ls_mbarrier_op op;
    } arrivals[] = { { "ART0", LS_MBARRIER_ARRIVE },
                     { "A1T0", LS_MBARRIER_ARRIVE_ONE },
                     { "A0TR", LS_MBARRIER_EXPECT },
                     { "A0T1", LS_MBARRIER_EXPECT_ONE },
                     { "A0TX", LS_MBARRIER_COMPLETE } };
    if (named(w, "ARRIVES"))
        return has(w, "ARVCNT")     ? LS_MBARRIER_ASYNC_ARRIVE
               : has(w, "TRANSCNT") ? LS_MBARRIER_ASYNC_COMPLETE
                                    : LS_MBARRIER_NONE;
    if (has(w, "EXCH") && has(w, "64"))
        return LS_MBARRIER_INIT;
    if (has(w, "PHASECHK"))
        return has(w, "TRYWAIT") ? LS_MBARRIER_WAIT : LS_MBARRIER_TEST;
    for (size_t i = 0; i < LS_COUNT_OF(arrivals); i++)
        if (has(w, "ARRIVE") && has(w, arrivals[i].word))
            return arrivals[i].op;
    size_t plain = 3 + has(w, "RED");
    return has(w, "ARRIVE") && has(w, "TRANS64") && w->count == plain ? LS_MBARRIER_ARRIVE_EXPECT
                                                                      : LS_MBARRIER_NONE;
}

/* Two words in this order: where a bulk copy goes, and where it comes from. */
static bool moves(const words *w, char to, char from)
{
    for (size_t i = 1; i + 1 < w->count; i++)
        if (w->bytes[i] == 1 && w->bytes[i + 1] == 1 && w->at[i][0] == to && w->at[i + 1][0] == from)
            return true;
    return false;
}

static ls_bulk_op bulk_op(const words *w)
{
    if (named(w, "UTMALDG"))
        return LS_BULK_LOAD;
    if (named(w, "UTMASTG"))
        return LS_BULK_STORE;
    if (named(w, "UTMAREDG"))
        return LS_BULK_REDUCE;
    if (named(w, "UTMAPF") || named(w, "UBLKPF"))
        return LS_BULK_PREFETCH;
    if (moves(w, 'S', 'G'))
        return LS_BULK_LOAD;
    if (moves(w, 'G', 'S'))
        return named(w, "UBLKRED") ? LS_BULK_REDUCE : LS_BULK_STORE;
    return LS_BULK_SHARED;
}

/* "UTMALDG.2D": of the tensor; copies without a descriptor (UBLK...) have none. */
static uint8_t dimensions(const words *w)
{
    if (w->bytes[0] < 4 || memcmp(w->at[0], "UTMA", 4) != 0)
        return 0;
    for (size_t i = 1; i < w->count; i++)
        if (w->bytes[i] == 2 && w->at[i][1] == 'D' && w->at[i][0] >= '1' && w->at[i][0] <= '5')
            return (uint8_t)(w->at[i][0] - '0');
    return 1;
}

/* Tracers list the register with a barrier's number as its destination, with the threads as immediate. Older ones
 * give number and threads as immediates; 0 threads are all of the block. */
static void decode_barrier(ls_inst *out, const sass_line *line)
{
    bool in_register = out->dst_count == 1 && line->imm2 == 0 && out->src_count < LS_INST_SRC_MAX;
    int64_t threads = in_register ? line->imm : line->imm2;
    if (!line->two_imms || threads < 0 || threads > 1024 ||
        (!in_register && (out->dst_count > 0 || line->imm < 0 || line->imm > 15)))
        return;
    out->barrier_warps = (uint8_t)((threads + 31) / 32);
    out->barrier_form = in_register ? LS_BARRIER_REGISTER : LS_BARRIER_NUMBER;
    if (in_register) { /* it is read, not written */
        out->src_span[out->src_count] = 1;
        out->src[out->src_count++] = out->dst[0];
        out->dst_count = out->dst_span = 0;
    } else {
        out->barrier_id = (uint8_t)line->imm;
    }
}

static ls_async_op async_op(const words *w)
{
    static const struct {
        const char *name, *word; /* word: NULL for all forms */
        ls_async_op op;
    } rows[] = { { "WARPGROUP", "ARRIVE", LS_ASYNC_GROUP_ARRIVE },
                 { "WARPGROUP", "DEPBAR", LS_ASYNC_GROUP_WAIT },
                 { "UCGABAR_ARV", NULL, LS_ASYNC_CLUSTER_ARRIVE },
                 { "UCGABAR_WAIT", NULL, LS_ASYNC_CLUSTER_WAIT },
                 { "USETMAXREG", NULL, LS_ASYNC_SET_REGISTERS },
                 { "PREEXIT", NULL, LS_ASYNC_DEPENDENTS },
                 { "ACQBULK", NULL, LS_ASYNC_DEPENDS } };
    for (size_t i = 0; i < LS_COUNT_OF(rows); i++)
        if (named(w, rows[i].name) && (rows[i].word == NULL || has(w, rows[i].word)))
            return rows[i].op;
    return LS_ASYNC_NONE;
}

static void decode_async(ls_inst *out, const sass_line *line, const words *w)
{
    const uint32_t effect = LS_INST_UNMODELLED | LS_INST_IGNORED;
    if (out->class_ == LS_CLASS_tensor_group && (out->flags & effect) == 0)
        out->flags |= LS_INST_WARP_GROUP;
    if ((out->flags & effect) != 0 && out->mem_op == LS_MEM_NONE && async_op(w) != LS_ASYNC_NONE) {
        out->flags |= LS_INST_ASYNC_OP;
        out->async_op = (uint8_t)async_op(w);
    }
    if (sass_is_bulk(w->at[0], w->bytes[0])) {
        out->flags |= LS_INST_BULK;
        out->bulk_op = (uint8_t)bulk_op(w);
        out->bulk_dimensions = dimensions(w);
    } else if (named(w, "UTMACMDFLUSH")) {
        out->flags |= LS_INST_BULK;
        out->bulk_op = LS_BULK_COMMIT;
    } else if (out->class_ == LS_CLASS_barrier) {
        decode_barrier(out, line);
    } else if (sass_has_operands(w->at[0], w->bytes[0])) {
        out->flags |= LS_INST_MBARRIER;
        out->mbarrier_op = (uint8_t)mbarrier_op(w);
    } else if (line->commit && out->class_ == LS_CLASS_tensor_group) {
        out->flags |= LS_INST_GROUP_COMMIT;
    }
}

static ls_status fail_unknown(const words *w, const sass_line *line, uint32_t binary_version, ls_error *err)
{
    char quoted[64], name[64] = "";
    size_t bytes = w->count && w->bytes[0] < sizeof name ? w->bytes[0] : 0;
    if (bytes)
        memcpy(name, w->at[0], bytes);
    ls_fail(err, LS_ERR_UNSUPPORTED, "unknown opcode '%s' of sm_%u at pc 0x%llx",
            quote_text(line->opcode, line->opcode_bytes, quoted, sizeof quoted), binary_version,
            (unsigned long long)line->pc);
    return ls_error_nearest(err, sass_nearest(name));
}

ls_status sass_decode(uint32_t binary_version, const sass_line *line, bool unknown_as_alu, ls_inst *out,
                      ls_error *err)
{
    static const sass_row unknown = { .class_ = LS_CLASS_int_alu,
                                      .accel = SASS_ACCEL_INTP,
                                      .flags = LS_INST_UNKNOWN };
    sass_generation generation;
    words w;
    if (!sass_generation_of(binary_version, &generation))
        return ls_fail(err, LS_ERR_UNSUPPORTED, "binary version %u is no architecture that is known",
                       binary_version);
    if (line->dst_count > LS_INST_DST_MAX || line->src_count > LS_INST_SRC_MAX)
        return ls_fail(err, LS_ERR_INPUT,
                       "%u destination and %u source registers: at most %d and %d are possible",
                       line->dst_count, line->src_count, LS_INST_DST_MAX, LS_INST_SRC_MAX);
    split(&w, line->opcode, line->opcode_bytes);
    uint16_t index = w.count ? sass_opcode_find(w.at[0], w.bytes[0]) : LS_SASS_UNKNOWN;
    const sass_row *row = w.count ? sass_row_at(index) : NULL;
    if (!row && !unknown_as_alu)
        return fail_unknown(&w, line, binary_version, err);
    *out = (ls_inst){ .pc = line->pc, .imm = line->imm, .opcode = index };
    copy_registers(out, line);
    if (!row)
        row = &unknown;
    else if (!sass_opcode_listed(index, generation))
        out->flags |= LS_INST_FOREIGN;
    out->flags |= row->flags;
    out->class_ = row->class_;
    out->accel_class = (uint8_t)(row == &unknown ? LS_ACCEL_INTP : sass_accel_class(index, generation));
    if (line->width)
        out->accel_width_bytes = (uint8_t)(accel_width(&w) & 0xff);
    decode_memory(out, row, &w);
    find_spans(out, &w, (sass_registers)row->registers);
    if (ls_inst_is_tensor(out))
        decode_tensor(out, &w);
    /* Before Ampere weak accesses are written with SYS too: only STRONG ones have a scope. */
    if (has(&w, "SYS") && (has(&w, "STRONG") || (row->flags & SASS_FLAG_FENCE) != 0))
        out->flags |= LS_INST_SYSTEM;
    if (out->class_ == LS_CLASS_barrier && has(&w, "ARV"))
        out->flags |= LS_INST_ARRIVE;
    if (row != &unknown)
        decode_async(out, line, &w);
    if (!moves_constant(out))
        out->flags |= (sass_flops(line->opcode, line->opcode_bytes) & 0xffff) << LS_INST_FLOPS_SHIFT;
    return LS_OK;
}
