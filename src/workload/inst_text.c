/* inst_text.c: the fields of a static instruction's text. Touches nothing but its arguments. */
#include "workload/inst_text.h"

#include "isa/registers.h"

#include <string.h>

/* The fields of a text, which are separated by single spaces. */
typedef struct fields {
    const char *at; /* the next one; NULL after the last */
} fields;

static const char *next(fields *f, size_t *bytes)
{
    const char *field = f->at;
    if (!field || !*field) {
        *bytes = 0;
        return NULL;
    }
    const char *end = strchr(field, ' ');
    *bytes = end ? (size_t)(end - field) : strlen(field);
    f->at = end ? end + 1 : NULL;
    return field;
}

static bool digits(const char *s, size_t bytes, unsigned base, uint64_t *out)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++) {
        unsigned char c = (unsigned char)s[i];
        unsigned digit = 99;
        if (c >= '0' && c <= '9')
            digit = c - (unsigned)'0';
        else if (c >= 'a' && c <= 'f')
            digit = c - (unsigned)'a' + 10;
        else if (c >= 'A' && c <= 'F')
            digit = c - (unsigned)'A' + 10;
        if (digit >= base || value > (UINT64_MAX - digit) / base)
            return false;
        value = value * base + digit;
    }
    *out = value;
    return bytes > 0;
}

static bool number(fields *f, uint64_t most, uint64_t *out)
{
    size_t bytes;
    const char *field = next(f, &bytes);
    return field && digits(field, bytes, 10, out) && *out <= most;
}

/* Two letters before one, so that the first that fits is the right one. */
static const struct {
    const char *prefix;
    uint16_t first, count;
} kinds[] = {
    { "UR", LS_REG_UNIFORM, LS_REG_PREDICATE - LS_REG_UNIFORM },
    { "UP", LS_REG_UNIFORM_PREDICATE, LS_REG_COUNT - LS_REG_UNIFORM_PREDICATE },
    { "R", 0, LS_REG_UNIFORM },
    { "P", LS_REG_PREDICATE, LS_REG_UNIFORM_PREDICATE - LS_REG_PREDICATE },
};

static bool registers(fields *f, uint64_t count, uint16_t *out)
{
    for (uint64_t i = 0; i < count; i++) {
        size_t bytes, k = 0, prefix = 0;
        const char *field = next(f, &bytes);
        uint64_t value;
        if (!field)
            return false;
        for (; k < LS_COUNT_OF(kinds); k++) {
            prefix = strlen(kinds[k].prefix);
            if (bytes > prefix && memcmp(field, kinds[k].prefix, prefix) == 0)
                break;
        }
        if (k == LS_COUNT_OF(kinds))
            return false;
        if (!digits(field + prefix, bytes - prefix, 10, &value) || value >= kinds[k].count)
            return false;
        out[i] = (uint16_t)(kinds[k].first + value);
    }
    return true;
}

bool inst_fields_read(const char *body, inst_fields *out)
{
    uint64_t dst_count, src_count, width;
    fields f = { body };
    if (!number(&f, LS_INST_DST_MAX, &dst_count) || !registers(&f, dst_count, out->dsts))
        return false;
    out->opcode = next(&f, &out->opcode_bytes);
    if (!out->opcode || !number(&f, LS_INST_SRC_MAX, &src_count) || !registers(&f, src_count, out->srcs) ||
        !number(&f, UINT32_MAX, &width))
        return false;
    out->has_commit = out->commit = false;
    if (f.at && sass_has_commit(out->opcode, out->opcode_bytes) && width <= 1) {
        out->has_commit = true;
        out->commit = width == 1;
        if (!number(&f, UINT32_MAX, &width))
            return false;
    }
    if (f.at)
        return false;
    out->dst_count = (uint32_t)dst_count;
    out->src_count = (uint32_t)src_count;
    out->width = (uint32_t)width;
    return true;
}

static void write_registers(text_buffer *out, const uint16_t *regs, uint32_t count)
{
    text_printf(out, "%u", count);
    for (uint32_t i = 0; i < count; i++)
        for (size_t k = 0; k < LS_COUNT_OF(kinds); k++)
            if (regs[i] >= kinds[k].first && regs[i] - kinds[k].first < kinds[k].count)
                text_printf(out, " %s%u", kinds[k].prefix, (unsigned)(regs[i] - kinds[k].first));
}

void inst_fields_write(const inst_fields *f, text_buffer *out)
{
    write_registers(out, f->dsts, f->dst_count);
    text_printf(out, " %.*s ", (int)f->opcode_bytes, f->opcode);
    write_registers(out, f->srcs, f->src_count);
    if (f->has_commit)
        text_printf(out, " %d", f->commit);
    text_printf(out, " %u", f->width);
}

bool inst_text_pc(const char *pc, uint64_t *out)
{
    const char *last = strrchr(pc, ' ');
    last = last ? last + 1 : pc;
    return digits(last, strlen(last), 16, out);
}

bool inst_text_imm(const char *tail, int64_t *out)
{
    fields f = { tail };
    size_t bytes;
    const char *first = next(&f, &bytes);
    *out = 0;
    return !first || parse_i64(first, bytes, out, NULL) == LS_OK;
}

bool inst_text_imms(const char *tail, inst_imms *out)
{
    fields f = { tail };
    size_t bytes;
    const char *word = next(&f, &bytes);
    *out = (inst_imms){ 0 };
    if (!word)
        return true;
    if (parse_i64(word, bytes, &out->first, NULL) != LS_OK)
        return false;
    word = next(&f, &bytes);
    if (!word || (word[0] != '-' && (word[0] < '0' || word[0] > '9')))
        return true;
    out->two = true;
    return parse_i64(word, bytes, &out->second, NULL) == LS_OK;
}

bool inst_fields_have_words(const inst_fields *f, const char *tail, uint32_t version)
{
    if (f->width != 0)
        return true;
    if (version < 3)
        return false;
    return sass_is_bulk(f->opcode, f->opcode_bytes) ||
           (f->opcode_bytes >= 3 && memcmp(f->opcode, "BAR", 3) == 0 && ends_with(tail, " Val"));
}

ls_status inst_fields_decode(const inst_fields *f, uint64_t pc, const inst_imms *imms,
                             const ls_kernel_info *info, bool unknown_as_alu, ls_inst *out, ls_error *err)
{
    const sass_line line = {
        .pc = pc,
        .opcode = f->opcode,
        .opcode_bytes = f->opcode_bytes,
        .dsts = f->dsts,
        .srcs = f->srcs,
        .dst_count = f->dst_count,
        .src_count = f->src_count,
        .width = f->width,
        .imm = imms->first,
        .imm2 = imms->second,
        .two_imms = imms->two,
        .commit = f->commit,
    };
    return sass_decode(info->binary_version, &line, unknown_as_alu, out, err);
}

/* Spans depend on a register only where it is near the end of its file, or of another kind. */
#define PLAIN_REGISTERS 192u

static inline bool alike(uint16_t a, uint16_t b, uint32_t span)
{
    return a == b || (a < PLAIN_REGISTERS && b < PLAIN_REGISTERS && span < LS_REG_ZERO - PLAIN_REGISTERS);
}

bool inst_fields_decode_like(const inst_fields *f, uint64_t pc, int64_t imm, const ls_inst *like, ls_inst *out)
{
    if (f->dst_count != like->dst_count || f->src_count != like->src_count || like->class_ == LS_CLASS_barrier)
        return false; /* the immediates of a barrier are its number and its threads */
    *out = *like;
    out->pc = pc;
    out->imm = imm;
    for (uint32_t i = 0; i < f->dst_count; i++) {
        if (!alike(f->dsts[i], like->dst[i], inst_dst_end(like, i, true) - like->dst[i]))
            return false;
        out->dst[i] = f->dsts[i];
    }
    for (uint32_t i = 0; i < f->src_count; i++) {
        if (!alike(f->srcs[i], like->src[i], inst_src_end(like, i, true) - like->src[i]))
            return false;
        out->src[i] = f->srcs[i];
    }
    return true;
}

ls_status inst_text_decode(const inst_words *text, const ls_kernel_info *info, bool unknown_as_alu,
                           ls_inst *out, ls_error *err)
{
    inst_fields f;
    uint64_t pc;
    inst_imms imms;
    if (inst_text_pc(text->pc, &pc) && inst_fields_read(text->body, &f) && inst_text_imms(text->tail, &imms))
        return inst_fields_decode(&f, pc, &imms, info, unknown_as_alu, out, err);
    char quoted[120];
    return ls_fail(err, LS_ERR_INPUT, "'%s' at pc %s is not an instruction",
                   quote_text(text->body, strlen(text->body), quoted, sizeof quoted), text->pc);
}
