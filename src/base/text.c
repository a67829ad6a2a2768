/* text.c: the growing text, UTF-8, quoting. Numbers are in number.c and format.c, names in names.c. */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------ growing text */

void text_fini(text_buffer *text)
{
    free(text->at);
    *text = (text_buffer){ 0 };
}

void text_clear(text_buffer *text)
{
    text->count = 0;
    text->failed = false;
    if (text->at != NULL)
        text->at[0] = '\0';
}

bool text_reserve(text_buffer *text, size_t more)
{
    if (text->failed)
        return false;
    if (text->at != NULL && more < text->capacity - text->count)
        return true;
    size_t need;
    if (__builtin_add_overflow(text->count, more, &need) || need > PTRDIFF_MAX / 2) {
        text->failed = true;
        return false;
    }
    size_t capacity = text->capacity * 2 > need + 1 ? text->capacity * 2 : need + 1;
    if (capacity < 64)
        capacity = 64;
    char *at = realloc(text->at, capacity);
    if (at == NULL) {
        text->failed = true;
        return false;
    }
    text->at = at;
    text->capacity = capacity;
    return true;
}

void text_addn(text_buffer *text, const char *s, size_t bytes)
{
    if (!text_reserve(text, bytes))
        return;
    if (bytes > 0)
        memcpy(text->at + text->count, s, bytes);
    text->count += bytes;
    text->at[text->count] = '\0';
}

void text_add(text_buffer *text, const char *s)
{
    text_addn(text, s, strlen(s));
}

void text_printf(text_buffer *text, const char *fmt, ...)
{
    if (!text_reserve(text, 0))
        return;
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    size_t room = text->capacity - text->count;
    int length = vsnprintf(text->at + text->count, room, fmt, args);
    if (length < 0)
        text->failed = true;
    else if ((size_t)length < room)
        text->count += (size_t)length;
    else if (text_reserve(text, (size_t)length)) {
        vsnprintf(text->at + text->count, (size_t)length + 1, fmt, again);
        text->count += (size_t)length;
    }
    text->at[text->count] = '\0'; /* a text that could not be added whole is removed */
    va_end(again);
    va_end(args);
}

const char *text_get(const text_buffer *text)
{
    return text->at != NULL ? text->at : "";
}

bool starts_with(const char *s, const char *prefix)
{
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool ends_with(const char *s, const char *suffix)
{
    size_t length = strlen(s), suffix_length = strlen(suffix);
    return suffix_length <= length && memcmp(s + length - suffix_length, suffix, suffix_length) == 0;
}

/* ------------------------------------------------------------------------------------------------ UTF-8 */

size_t utf8_next(const char *s, size_t bytes, uint32_t *code)
{
    if (bytes == 0)
        return 0;
    const unsigned char *u = (const unsigned char *)s;
    if (u[0] < 0x80) {
        *code = u[0];
        return 1;
    }
    /* Continuation bytes cannot lead, 0xC0 and 0xC1 are always overlong, 0xF5 and above exceed U+10FFFF. */
    size_t length = u[0] < 0xC2 ? 0 : u[0] < 0xE0 ? 2 : u[0] < 0xF0 ? 3 : u[0] < 0xF5 ? 4 : 0;
    if (length == 0 || length > bytes)
        return 0;
    uint32_t value = u[0] & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((u[i] & 0xC0) != 0x80)
            return 0;
        value = value << 6 | (u[i] & 0x3Fu);
    }
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    if (value < least[length] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF))
        return 0;
    *code = value;
    return length;
}

size_t utf8_check(const char *s, size_t bytes)
{
    uint32_t code;
    for (size_t at = 0; at < bytes;) {
        uint64_t word;
        if (bytes - at >= sizeof word) { /* eight of ASCII */
            memcpy(&word, s + at, sizeof word);
            if ((word & UINT64_C(0x8080808080808080)) == 0) {
                at += sizeof word;
                continue;
            }
        }
        size_t length = utf8_next(s + at, bytes - at, &code);
        if (length == 0)
            return at;
        at += length;
    }
    return bytes;
}

/* Characters that would break the line, hide or reorder what stands beside them. */
static bool disturbs(uint32_t code)
{
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || (code >= 0x200B && code <= 0x200F) ||
           (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) || code == 0xFEFF;
}

const char *quote_text(const char *s, size_t bytes, char *out, size_t out_bytes)
{
    if (out_bytes == 0)
        return "";
    static const char dots[] = "...";
    size_t used = 0;
    size_t cut = 0; /* the last place between two characters that leaves room for the dots */
    for (size_t at = 0; at < bytes;) {
        uint32_t code = 0;
        size_t length = utf8_next(s + at, bytes - at, &code);
        bool escape = length == 0 || disturbs(code);
        if (length == 0)
            length = 1;
        size_t width = escape ? 4 * length : length;
        if (used + sizeof dots <= out_bytes)
            cut = used;
        if (used + width >= out_bytes) {
            size_t room = out_bytes - 1 - cut;
            memcpy(out + cut, dots, room < 3 ? room : 3);
            out[cut + (room < 3 ? room : 3)] = '\0';
            return out;
        }
        if (escape)
            for (size_t i = 0; i < length; i++) {
                unsigned byte = (unsigned char)s[at + i];
                out[used++] = '\\';
                out[used++] = 'x';
                out[used++] = "0123456789ABCDEF"[byte >> 4];
                out[used++] = "0123456789ABCDEF"[byte & 15];
            }
        else {
            memcpy(out + used, s + at, length);
            used += length;
        }
        at += length;
    }
    out[used] = '\0';
    return out;
}
