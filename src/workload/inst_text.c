/* inst_text.c: the fields of a static instruction's text. Touches nothing but its arguments. */
#include "workload/inst_text.h"

#include "base/text.h"
#include "isa/sass/sass.h"

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

static bool registers(fields *f, uint64_t count, uint16_t *out)
{
    static const struct {
        const char *prefix;
        uint16_t first, count, zero;
    } kinds[] = {
        { "UR", LS_REG_UNIFORM, LS_REG_PREDICATE - LS_REG_UNIFORM, LS_REG_UNIFORM_ZERO },
        { "UP", LS_REG_UNIFORM_PREDICATE, LS_REG_COUNT - LS_REG_UNIFORM_PREDICATE, LS_REG_UNIFORM_PREDICATE_TRUE },
        { "R", 0, LS_REG_UNIFORM, LS_REG_ZERO },
        { "P", LS_REG_PREDICATE, LS_REG_UNIFORM_PREDICATE - LS_REG_PREDICATE, LS_REG_PREDICATE_TRUE },
    };
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
        if (bytes == prefix + 1 && (field[prefix] == 'Z' || field[prefix] == 'T'))
            out[i] = kinds[k].zero;
        else if (digits(field + prefix, bytes - prefix, 10, &value) && value < kinds[k].count)
            out[i] = (uint16_t)(kinds[k].first + value);
        else
            return false;
    }
    return true;
}

ls_status ls_inst_text_decode(const ls_inst_text *text, const ls_kernel_info *info, bool unknown_as_alu,
                              ls_inst *out, ls_error *err)
{
    uint16_t dsts[LS_INST_DST_MAX], srcs[LS_INST_SRC_MAX];
    uint64_t dst_count, src_count = 0, width = 0;
    ls_sass_line line = { .dsts = dsts, .srcs = srcs };
    fields body = { text->body }, tail = { text->tail };
    const char *pc = strrchr(text->pc, ' '), *imm;
    size_t bytes;
    pc = pc ? pc + 1 : text->pc;
    bool good = digits(pc, strlen(pc), 16, &line.pc) && number(&body, LS_INST_DST_MAX, &dst_count) &&
                registers(&body, dst_count, dsts) && (line.opcode = next(&body, &line.opcode_bytes)) &&
                number(&body, LS_INST_SRC_MAX, &src_count) && registers(&body, src_count, srcs) &&
                number(&body, UINT32_MAX, &width) && !body.at;
    if (good && (imm = next(&tail, &bytes)) && ls_parse_i64(imm, bytes, &line.imm, NULL) != LS_OK)
        good = false;
    if (!good) {
        char quoted[120];
        return ls_fail(err, LS_ERR_INPUT, "'%s' at pc %s is not an instruction",
                       ls_quote(text->body, strlen(text->body), quoted, sizeof quoted), text->pc);
    }
    line.dst_count = (uint32_t)dst_count;
    line.src_count = (uint32_t)src_count;
    line.width = (uint32_t)width;
    return ls_sass_decode(info->binary_version, &line, unknown_as_alu, out, err);
}
