/* json.c: commas, indentation, escapes, and the rules of nesting. */
#include "base/json.h"

#include "base/file.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static void put(json_writer *j, const char *s, size_t bytes)
{
    if (j->text != NULL)
        text_addn(j->text, s, bytes);
    else if (bytes > 0 && fwrite(s, 1, bytes, j->stream) != bytes)
        j->write_failed = true;
}

static void put_char(json_writer *j, char c)
{
    if (j->text != NULL)
        text_addn(j->text, &c, 1);
    else if (putc_unlocked(c, j->stream) == EOF) /* one thread writes a document */
        j->write_failed = true;
}

static uint64_t level(const json_writer *j)
{
    return UINT64_C(1) << (j->depth - 1);
}

static bool misused(json_writer *j, const char *how)
{
    if (j->misuse == NULL)
        j->misuse = how;
    return true;
}

static void new_line(json_writer *j)
{
    static const char spaces[] = "                                ";
    put_char(j, '\n');
    for (size_t left = (size_t)j->indent * j->depth; left > 0;) {
        size_t part = left < sizeof spaces - 1 ? left : sizeof spaces - 1;
        put(j, spaces, part);
        left -= part;
    }
}

static bool on_one_line(const json_writer *j)
{
    return j->indent == 0 || (j->depth > 0 && (j->is_flat & level(j)) != 0);
}

/* The comma and the line break before an item of the innermost container. */
static void begin_item(json_writer *j)
{
    if (j->depth == 0)
        return;
    bool first = (j->has_items & level(j)) == 0;
    j->has_items |= level(j);
    if (!first)
        put_char(j, ',');
    if (!on_one_line(j))
        new_line(j);
    else if (!first && j->indent > 0)
        put_char(j, ' ');
}

/* True if a value may stand here; writes what separates it from the one before. */
static bool begin_value(json_writer *j)
{
    if (j->misuse != NULL)
        return false;
    if (j->depth == 0 && j->done)
        return !misused(j, "a second value at the top");
    if (j->depth > 0 && (j->is_object & level(j)) != 0) {
        if (!j->after_key)
            return !misused(j, "a value without a key in an object");
        j->after_key = false;
    } else {
        begin_item(j);
    }
    j->done = j->depth == 0;
    return true;
}

void json_raw(json_writer *j, const char *value, size_t bytes)
{
    if (begin_value(j)) {
        j->next_is_flat = false;
        put(j, value, bytes);
    }
}

static void put_value(json_writer *j, const char *text)
{
    json_raw(j, text, strlen(text));
}

static void begin_container(json_writer *j, bool object)
{
    if (j->depth == LS_JSON_DEPTH && misused(j, "objects and arrays nested too deep"))
        return;
    bool flat = j->next_is_flat || (j->depth > 0 && (j->is_flat & level(j)) != 0);
    if (!begin_value(j))
        return;
    j->next_is_flat = j->done = false;
    put_char(j, object ? '{' : '[');
    j->depth++;
    j->is_object = object ? j->is_object | level(j) : j->is_object & ~level(j);
    j->is_flat = flat ? j->is_flat | level(j) : j->is_flat & ~level(j);
    j->has_items &= ~level(j);
}

/* Most characters: printed as they are, in one byte. */
static bool is_plain(char c)
{
    return c >= 0x20 && c < 0x7F && c != '"' && c != '\\';
}

static void put_quoted(json_writer *j, const char *s, size_t bytes)
{
    put_char(j, '"');
    size_t plain = 0; /* start of the bytes that can be copied unchanged */
    for (size_t at = 0; at < bytes;) {
        uint32_t code = 0;
        if (is_plain(s[at])) {
            at++;
            continue;
        }
        size_t length = utf8_next(s + at, bytes - at, &code);
        if (length > 0 && code >= 0x20 && code != '"' && code != '\\' && code != 0x7F) {
            at += length;
            continue;
        }
        put(j, s + plain, at - plain);
        char escape[8] = { '\\', 0 };
        const char *named = code < 0x20 ? "\bb\tt\nn\ff\rr" : "\"\"\\\\";
        if (length == 0) {
            put(j, "\xEF\xBF\xBD", 3); /* U+FFFD */
            length = 1;
        } else {
            while (*named != '\0' && (uint32_t)(unsigned char)*named != code)
                named += 2;
            if (*named != '\0')
                escape[1] = named[1];
            else
                snprintf(escape, sizeof escape, "\\u%04x", (unsigned)(code & 0xFFFF));
            put(j, escape, strlen(escape));
        }
        at += length;
        plain = at;
    }
    put(j, s + plain, bytes - plain);
    put_char(j, '"');
}

void json_to_text(json_writer *j, text_buffer *text, uint32_t indent)
{
    *j = (json_writer){ .text = text, .indent = indent };
}

void json_to_file(json_writer *j, FILE *stream, uint32_t indent)
{
    *j = (json_writer){ .stream = stream, .indent = indent };
}

void json_begin_object(json_writer *j)
{
    begin_container(j, true);
}

void json_array(json_writer *j)
{
    begin_container(j, false);
}

void json_end(json_writer *j)
{
    if (j->misuse != NULL || (j->depth == 0 && misused(j, "an end without a beginning")) ||
        (j->after_key && misused(j, "a key without a value")))
        return;
    bool object = (j->is_object & level(j)) != 0;
    bool break_line = (j->has_items & level(j)) != 0 && !on_one_line(j);
    j->depth--;
    if (break_line)
        new_line(j);
    put_char(j, object ? '}' : ']');
    j->done = j->depth == 0;
}

void json_flat(json_writer *j)
{
    j->next_is_flat = true;
}

void json_key(json_writer *j, const char *key)
{
    if (j->misuse != NULL ||
        ((j->depth == 0 || (j->is_object & level(j)) == 0) && misused(j, "a key outside of an object")) ||
        (j->after_key && misused(j, "a key without a value")))
        return;
    begin_item(j);
    put_quoted(j, key, strlen(key));
    put(j, ": ", j->indent > 0 ? 2 : 1);
    j->after_key = true;
}

void json_stringn(json_writer *j, const char *s, size_t bytes)
{
    if (begin_value(j)) {
        j->next_is_flat = false;
        put_quoted(j, s, bytes);
    }
}

void json_string(json_writer *j, const char *s)
{
    if (s == NULL)
        json_null(j);
    else
        json_stringn(j, s, strlen(s));
}

void json_u64(json_writer *j, uint64_t value)
{
    char text[24];
    json_raw(j, text, (size_t)(format_uint(text, value) - text));
}

void json_i64(json_writer *j, int64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, value);
    put_value(j, text);
}

void json_real(json_writer *j, double value)
{
    char text[LS_FORMAT_BYTES];
    bool finite = value - value == 0; /* false for NaN and infinities */
    put_value(j, finite ? format_real(value, text, sizeof text) : "null");
}

void json_bool(json_writer *j, bool value)
{
    put_value(j, value ? "true" : "false");
}

void json_null(json_writer *j)
{
    put_value(j, "null");
}

void json_put_u64(json_writer *j, const char *key, uint64_t value)
{
    json_key(j, key);
    json_u64(j, value);
}

void json_put_text(json_writer *j, const char *key, const char *text)
{
    json_key(j, key);
    json_string(j, text);
}

void json_put_sizes(json_writer *j, const char *key, const uint32_t sizes[3])
{
    json_key(j, key);
    json_flat(j);
    json_array(j);
    for (int i = 0; i < 3; i++)
        json_u64(j, sizes[i]);
    json_end(j);
}

ls_status json_finish(json_writer *j, ls_error *err)
{
    if (j->misuse == NULL && j->depth > 0)
        misused(j, "an object or array without its end");
    if (j->misuse == NULL && !j->done)
        misused(j, "no value at all");
    if (j->misuse != NULL)
        return ls_fail(err, LS_ERR_INTERNAL, "the JSON writer was used wrongly: %s", j->misuse);
    if (j->indent > 0)
        put_char(j, '\n');
    if (j->text != NULL && j->text->failed)
        return ls_fail(err, LS_ERR_NOMEM, "no memory left for the JSON text");
    if (j->stream != NULL && (j->write_failed || ferror(j->stream)))
        return ls_fail(err, LS_ERR_IO, "the JSON text could not be written: %s",
                       file_write_reason(j->stream, errno == ENOSPC ? ENOSPC : 0));
    return LS_OK;
}
