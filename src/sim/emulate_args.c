/* emulate_args.c: reads "u32:7" and "buffer:4096:f32=1.5", prints values of such types. */
#include "sim/emulate_args.h"

#include "base/file.h"
#include "lockstep/random.h"

#include <inttypes.h>
#include <string.h>

#define BUFFER_LIMIT ((uint64_t)16 << 30)

typedef enum number { UNSIGNED, SIGNED, REAL } number;

static const struct type {
    const char *name;
    uint8_t bytes;
    number number;
} types[] = {
    { "u8", 1, UNSIGNED }, { "u16", 2, UNSIGNED }, { "u32", 4, UNSIGNED }, { "u64", 8, UNSIGNED },
    { "i8", 1, SIGNED },   { "i16", 2, SIGNED },   { "i32", 4, SIGNED },   { "i64", 8, SIGNED },
    { "f32", 4, REAL },    { "f64", 8, REAL },
};

static const char *const words[] = { "u8",  "u16", "u32", "u64", "i8",    "i16",   "i32",
                                     "i64", "f32", "f64", "hex", "local", "buffer" };

static const struct type *find_type(const char *name, size_t bytes)
{
    for (size_t i = 0; i < LS_COUNT_OF(types); i++)
        if (strlen(types[i].name) == bytes && memcmp(types[i].name, name, bytes) == 0)
            return &types[i];
    return NULL;
}

static ls_status unknown_type(const char *name, size_t bytes, ls_error *err)
{
    char text[32];
    snprintf(text, sizeof text, "%.*s", (int)(bytes < 31 ? bytes : 31), name);
    ls_fail(err, LS_ERR_USAGE, "'%s' is no type: u8 to u64, i8 to i64, f32, f64, hex, local or buffer", text);
    return ls_error_nearest(err, nearest_of(text, words, LS_COUNT_OF(words)));
}

/* ------------------------------------------------------------------------------------------------- values */

ls_status emulate_type_bytes(const char *type, size_t type_bytes, size_t *out, ls_error *err)
{
    const struct type *found = find_type(type, type_bytes);
    if (!found)
        return unknown_type(type, type_bytes, err);
    *out = found->bytes;
    return LS_OK;
}

const char *emulate_format(const char *type, size_t type_bytes, const void *value, char *out, size_t out_bytes)
{
    const struct type *found = find_type(type, type_bytes);
    uint64_t bits = 0;
    float f;
    double d;
    if (!found)
        return "";
    memcpy(&bits, value, found->bytes);
    if (found->number == UNSIGNED) {
        snprintf(out, out_bytes, "%" PRIu64, bits);
    } else if (found->number == SIGNED) {
        unsigned shift = 64 - 8u * found->bytes;
        snprintf(out, out_bytes, "%" PRId64, (int64_t)(bits << shift) >> shift);
    } else if (found->bytes == 4) {
        memcpy(&f, value, sizeof f);
        snprintf(out, out_bytes, "%.9g", (double)f);
    } else {
        memcpy(&d, value, sizeof d);
        format_real(d, out, out_bytes);
    }
    return out;
}

static ls_status parse_value(const struct type *type, const char *text, uint8_t *out, ls_error *err)
{
    size_t bytes = strlen(text);
    ls_status status;
    uint64_t u = 0;
    int64_t i = 0;
    double d = 0;
    float f;
    if (type->number == REAL) {
        status = parse_real(text, bytes, &d, err);
        f = (float)d;
        if (type->bytes == 4)
            memcpy(out, &f, sizeof f);
        else
            memcpy(out, &d, sizeof d);
        return status;
    }
    if (type->number == SIGNED) {
        int64_t limit = type->bytes == 8 ? INT64_MAX : ((int64_t)1 << (8 * type->bytes - 1)) - 1;
        status = parse_i64(text, bytes, &i, err);
        if (status == LS_OK && (i > limit || i < -limit - 1))
            status = ls_fail(err, LS_ERR_USAGE, "'%s' does not fit into %s", text, type->name);
        memcpy(out, &i, type->bytes);
        return status;
    }
    status = parse_u64(text, bytes, &u, err);
    if (status == LS_OK && type->bytes < 8 && u >> (8 * type->bytes))
        status = ls_fail(err, LS_ERR_USAGE, "'%s' does not fit into %s", text, type->name);
    memcpy(out, &u, type->bytes);
    return status;
}

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Bytes in the order of memory, for structs and vectors. */
static ls_status parse_hex(const char *text, emulate_arg *out, ls_error *err)
{
    size_t digits = strlen(text);
    if (digits == 0 || digits % 2 || digits / 2 > sizeof out->value)
        return ls_fail(err, LS_ERR_USAGE, "hex takes 1 to %zu bytes of two digits each", sizeof out->value);
    for (size_t i = 0; i < digits; i += 2) {
        int high = digit(text[i]), low = digit(text[i + 1]);
        if (high < 0 || low < 0)
            return ls_fail(err, LS_ERR_USAGE, "'%s' has a character that is no hexadecimal digit", text);
        out->value[i / 2] = (uint8_t)(high << 4 | low);
    }
    out->bytes = digits / 2;
    return LS_OK;
}

/* ------------------------------------------------------------------------------------------------ buffers */

static ls_status fill_buffer(emulate_arg *out, const char *fill, ls_error *err)
{
    static const char *const fills[] = { "zero", "iota", "random" };
    size_t equals = strcspn(fill, "=");
    const struct type *type = fill[equals] ? find_type(fill, equals) : NULL;
    if (strcmp(fill, "zero") == 0)
        return LS_OK;
    if (strcmp(fill, "iota") == 0) {
        for (uint32_t i = 0; i < out->bytes / 4; i++)
            memcpy(out->content + 4 * (size_t)i, &i, 4);
        return LS_OK;
    }
    if (strcmp(fill, "random") == 0) {
        ls_random random;
        ls_random_init(&random, 1);
        for (size_t i = 0; i < out->bytes; i++)
            out->content[i] = (uint8_t)(ls_random_next(&random) >> 56);
        return LS_OK;
    }
    if (type) {
        uint8_t value[8];
        ls_status status = parse_value(type, fill + equals + 1, value, err);
        for (size_t i = 0; status == LS_OK && i + type->bytes <= out->bytes; i += type->bytes)
            memcpy(out->content + i, value, type->bytes);
        return status;
    }
    ls_fail(err, LS_ERR_USAGE, "'%s' is no content: zero, iota, random or TYPE=VALUE", fill);
    return ls_error_nearest(err, nearest_of(fill, fills, LS_COUNT_OF(fills)));
}

static ls_status parse_buffer(mem_arena *arena, const char *text, emulate_arg *out, ls_error *err)
{
    size_t digits = strcspn(text, ":");
    uint64_t bytes;
    ls_status status;
    out->kind = EMULATE_BUFFER;
    if (text[0] == '@') {
        char *data;
        status = file_read(arena, text + 1, (size_t)BUFFER_LIMIT, &data, &out->bytes, err);
        if (status == LS_OK && out->bytes == 0)
            return ls_fail(err, LS_ERR_INPUT, "the file is empty");
        out->content = (uint8_t *)data;
        return status;
    }
    status = parse_u64(text, digits, &bytes, err);
    if (status != LS_OK)
        return status;
    if (bytes == 0 || bytes > BUFFER_LIMIT)
        return ls_fail(err, LS_ERR_USAGE, "a buffer has 1 byte to 16 GiB, not %" PRIu64, bytes);
    out->bytes = (size_t)bytes;
    out->content = arena_alloc(arena, out->bytes);
    if (!out->content)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    return text[digits] ? fill_buffer(out, text + digits + 1, err) : LS_OK;
}

ls_status emulate_arg_parse(mem_arena *arena, const char *text, emulate_arg *out, ls_error *err)
{
    size_t kind = strcspn(text, ":");
    const char *rest = text[kind] ? text + kind + 1 : "";
    const struct type *type = find_type(text, kind);
    uint64_t bytes;
    ls_status status;
    *out = (emulate_arg){ .kind = EMULATE_VALUE };
    if (!text[kind])
        return ls_fail(err, LS_ERR_USAGE, "an argument is KIND:VALUE, as u32:7 or buffer:4096");
    if (type) {
        out->bytes = type->bytes;
        return parse_value(type, rest, out->value, err);
    }
    if (kind == 3 && memcmp(text, "hex", 3) == 0)
        return parse_hex(rest, out, err);
    if (kind == 6 && memcmp(text, "buffer", 6) == 0)
        return parse_buffer(arena, rest, out, err);
    if (kind != 5 || memcmp(text, "local", 5) != 0)
        return unknown_type(text, kind, err);
    out->kind = EMULATE_LOCAL;
    status = parse_u64(rest, strlen(rest), &bytes, err);
    if (status == LS_OK && (bytes == 0 || bytes > UINT32_MAX))
        status = ls_fail(err, LS_ERR_USAGE, "local memory of %" PRIu64 " bytes", bytes);
    out->bytes = status == LS_OK ? (size_t)bytes : 0;
    return status;
}

ls_status emulate_size_parse(const char *text, const char *option, bool at_least_1, uint32_t out[3],
                             ls_error *err)
{
    const char *at = text;
    for (size_t axis = 0;; axis++) {
        size_t n = strcspn(at, ",");
        uint64_t value;
        ls_status status = parse_u64(at, n, &value, err);
        if (status == LS_OK && (value > UINT32_MAX || axis == 3))
            status = ls_fail(err, LS_ERR_USAGE, "'%s' is not X, X,Y or X,Y,Z with 32 bits each", text);
        if (status == LS_OK && value == 0 && at_least_1)
            status = ls_fail(err, LS_ERR_USAGE, "a size of 0; it is at least 1");
        if (status != LS_OK)
            return ls_error_prefix(err, "--%s", option);
        out[axis] = (uint32_t)value;
        if (!at[n])
            return LS_OK;
        at += n + 1;
    }
}
