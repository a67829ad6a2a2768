/* printf_format.c: formats the records that a kernel's printf left in the buffer. The format decides how an
 * argument is shown, the record how many bytes it has. A format that does not fit its arguments shows the
 * bytes that exist; nothing outside of the record is read. */
#include "opencl/printf.h"

#include "isa/amd/exec/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FORMAT_MAX 16384u /* bytes of a format or of a string that is printed */
#define NUMBER_MAX 512u   /* of a width or precision */

/* A record: its bytes with these 16, 0, the address of the format; then for each argument its bytes and the
 * argument itself, filled up to 4. */
typedef struct record_head {
    uint32_t bytes, zero;
    uint64_t format;
} record_head;

typedef struct reader {
    const uint8_t *at, *end;
    ocl_printf_fetch fetch;
    void *self;
    text_buffer *out;
} reader;

/* One conversion: "%-8.3v4hld". */
typedef struct conversion {
    char flags[8];
    int width, precision; /* -1: none */
    unsigned vector;      /* 0: a scalar */
    char length;          /* 'H' for hh, 'h', 'L' for hl, 'l', or 0 */
    char kind;            /* the letter */
} conversion;

/* The next argument; false if there is none. */
static bool reader_next(reader *r, const uint8_t **data, uint32_t *bytes)
{
    if ((size_t)(r->end - r->at) < sizeof *bytes)
        return false;
    memcpy(bytes, r->at, sizeof *bytes);
    size_t whole = ((size_t)*bytes + 3) & ~(size_t)3;
    if (whole > (size_t)(r->end - r->at) - sizeof *bytes)
        return false;
    *data = r->at + sizeof *bytes;
    r->at += sizeof *bytes + whole;
    return true;
}

static bool read_text(const reader *r, uint64_t address, char *out, size_t room)
{
    size_t got = address ? r->fetch(r->self, address, out, room - 1) : 0;
    out[got] = '\0';
    return got > 0;
}

/* ----------------------------------------------------------------------------------------------- parsing */

static int parse_number(const char **at)
{
    int value = 0;
    for (; **at >= '0' && **at <= '9'; ++*at)
        if (value <= (int)NUMBER_MAX)
            value = value * 10 + (**at - '0');
    return value > (int)NUMBER_MAX ? (int)NUMBER_MAX : value;
}

/* `at` points after the '%'; false if this is no conversion. */
static bool parse(const char **at, conversion *c)
{
    size_t flags = 0;
    *c = (conversion){ .width = -1, .precision = -1 };
    for (; **at && strchr("-+ #0", **at); ++*at)
        if (!strchr(c->flags, **at) && flags + 1 < sizeof c->flags)
            c->flags[flags++] = **at;
    if (**at >= '1' && **at <= '9')
        c->width = parse_number(at);
    if (**at == '.') {
        ++*at;
        c->precision = parse_number(at);
    }
    if (**at == 'v') {
        ++*at;
        c->vector = (unsigned)parse_number(at);
        if (c->vector != 2 && c->vector != 3 && c->vector != 4 && c->vector != 8 && c->vector != 16)
            return false;
    }
    if ((*at)[0] == 'h' && ((*at)[1] == 'h' || (*at)[1] == 'l')) {
        c->length = (*at)[1] == 'h' ? 'H' : 'L';
        *at += 2;
    } else if (**at == 'h' || **at == 'l') {
        c->length = *(*at)++;
        if (**at == 'l') /* "ll" of C, which some programs write */
            ++*at;
    }
    c->kind = **at;
    if (c->kind == '\0' || !strchr("diouxXcsfFeEgGaAp", c->kind))
        return false;
    ++*at;
    return true;
}

/* ----------------------------------------------------------------------------------------------- showing */

static void show_spec(const conversion *c, const char *length, char *out, size_t room)
{
    int used = snprintf(out, room, "%%%s", c->flags);
    if (c->width >= 0)
        used += snprintf(out + used, room - (size_t)used, "%d", c->width);
    if (c->precision >= 0)
        used += snprintf(out + used, room - (size_t)used, ".%d", c->precision);
    snprintf(out + used, room - (size_t)used, "%s%c", length, c->kind);
}

static uint64_t load_bits(const uint8_t *data, uint32_t bytes)
{
    uint64_t bits = 0;
    memcpy(&bits, data, bytes < sizeof bits ? bytes : sizeof bits);
    return bits;
}

static double load_real(const uint8_t *data, uint32_t bytes)
{
    uint64_t bits = load_bits(data, bytes);
    float single;
    double real;
    if (bytes == 2)
        return amd_half_to_float((uint16_t)bits);
    if (bytes == 4) {
        memcpy(&single, data, sizeof single);
        return single;
    }
    memcpy(&real, &bits, sizeof real);
    return real;
}

/* Bytes that count of an integer argument: a scalar was widened to int, the length says what it is. */
static uint32_t integer_bytes(const conversion *c, uint32_t bytes)
{
    uint32_t wanted = c->length == 'H' ? 1 : c->length == 'h' ? 2 : c->length == 'l' ? 8 : 4;
    if (c->vector > 0 && c->length == 0)
        wanted = bytes;
    return wanted < bytes ? wanted : bytes;
}

static void show_integer(text_buffer *out, const conversion *c, const uint8_t *data, uint32_t bytes)
{
    char spec[64];
    bool is_signed = c->kind == 'd' || c->kind == 'i';
    bytes = integer_bytes(c, bytes);
    uint64_t bits = load_bits(data, bytes);
    if (is_signed && bytes > 0 && bytes < 8 && (bits >> (bytes * 8 - 1) & 1) != 0)
        bits |= UINT64_MAX << bytes * 8;
    show_spec(c, "ll", spec, sizeof spec);
    if (is_signed)
        text_printf(out, spec, (long long)bits);
    else
        text_printf(out, spec, (unsigned long long)bits);
}

static void show_one(const reader *r, const conversion *c, const uint8_t *data, uint32_t bytes)
{
    char spec[64], text[FORMAT_MAX];
    switch (c->kind) {
    case 'd':
    case 'i':
    case 'o':
    case 'u':
    case 'x':
    case 'X':
        show_integer(r->out, c, data, bytes);
        break;
    case 'c':
        show_spec(c, "", spec, sizeof spec);
        if (c->width > 1 || load_bits(data, 1) != 0)
            text_printf(r->out, spec, (int)(unsigned char)load_bits(data, 1));
        else
            text_addn(r->out, "", 1);
        break;
    case 's':
        show_spec(c, "", spec, sizeof spec);
        read_text(r, bytes == 8 ? load_bits(data, 8) : 0, text, sizeof text);
        text_printf(r->out, spec, text);
        break;
    case 'p':
        show_spec(c, "", spec, sizeof spec);
        text_printf(r->out, spec, (void *)(uintptr_t)load_bits(data, bytes));
        break;
    default:
        show_spec(c, "", spec, sizeof spec);
        text_printf(r->out, spec, load_real(data, bytes));
        break;
    }
}

static void show_argument(reader *r, const conversion *c)
{
    const uint8_t *data;
    uint32_t bytes;
    if (!reader_next(r, &data, &bytes))
        return; /* fewer arguments than the format wants: undefined, and nothing to show */
    if (c->vector == 0) {
        show_one(r, c, data, bytes);
        return;
    }
    uint32_t places = c->vector == 3 ? 4 : c->vector, each = bytes / places;
    for (uint32_t i = 0; i < c->vector; i++) {
        if (i > 0)
            text_add(r->out, ",");
        show_one(r, c, data + (size_t)i * each, each);
    }
}

static void show_record(reader *r, const char *format)
{
    while (*format) {
        size_t plain = strcspn(format, "%");
        text_addn(r->out, format, plain);
        format += plain;
        if (*format == '\0')
            break;
        const char *start = format++;
        conversion c;
        if (*format == '%') {
            text_add(r->out, "%");
            format++;
        } else if (parse(&format, &c)) {
            show_argument(r, &c);
        } else {
            format = start + 1; /* no conversion: as it stands */
            text_add(r->out, "%");
        }
    }
}

ls_status ocl_printf_format(const void *records, size_t bytes, ocl_printf_fetch fetch, void *self,
                            text_buffer *out, ls_error *err)
{
    const uint8_t *at = records, *end = at + bytes;
    char format[FORMAT_MAX];
    while ((size_t)(end - at) >= sizeof(record_head)) {
        record_head head;
        memcpy(&head, at, sizeof head);
        if (head.bytes == 0) /* the buffer was full here */
            break;
        if (head.bytes < sizeof head || head.bytes > (size_t)(end - at) || head.bytes % 4 != 0)
            return ls_fail(err, LS_ERR_INPUT, "the printf buffer is damaged: a record of %" PRIu32 " bytes",
                           head.bytes);
        reader r = { at + sizeof head, at + head.bytes, fetch, self, out };
        if (read_text(&r, head.format, format, sizeof format))
            show_record(&r, format);
        at += head.bytes;
    }
    return out->failed ? ls_fail(err, LS_ERR_NOMEM, "the host has no memory left") : LS_OK;
}
