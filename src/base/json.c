/* json.c: commas, indentation, escapes, and the rules of nesting. */
#include "base/json.h"

#include "base/file.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static void put(ls_json *j, const char *s, size_t bytes)
{
    if (j->text != NULL)
        ls_text_addn(j->text, s, bytes);
    else if (bytes > 0 && fwrite(s, 1, bytes, j->stream) != bytes)
        j->write_failed = true;
}

static void put_char(ls_json *j, char c)
{
    put(j, &c, 1);
}

static uint64_t level(const ls_json *j)
{
    return UINT64_C(1) << (j->depth - 1);
}

static bool misused(ls_json *j, const char *how)
{
    if (j->misuse == NULL)
        j->misuse = how;
    return true;
}

static void new_line(ls_json *j)
{
    static const char spaces[] = "                                ";
    put_char(j, '\n');
    for (size_t left = (size_t)j->indent * j->depth; left > 0;) {
        size_t part = left < sizeof spaces - 1 ? left : sizeof spaces - 1;
        put(j, spaces, part);
        left -= part;
    }
}

static bool on_one_line(const ls_json *j)
{
    return j->indent == 0 || (j->depth > 0 && (j->is_flat & level(j)) != 0);
}

/* The comma and the line break before an item of the innermost container. */
static void begin_item(ls_json *j)
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
static bool begin_value(ls_json *j)
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

void ls_json_raw(ls_json *j, const char *value, size_t bytes)
{
    if (begin_value(j)) {
        j->next_is_flat = false;
        put(j, value, bytes);
    }
}

static void put_value(ls_json *j, const char *text)
{
    ls_json_raw(j, text, strlen(text));
}

static void begin_container(ls_json *j, bool object)
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

static void put_quoted(ls_json *j, const char *s, size_t bytes)
{
    put_char(j, '"');
    size_t plain = 0; /* start of what can be copied as it is */
    for (size_t at = 0; at < bytes;) {
        uint32_t code = 0;
        size_t length = ls_utf8_next(s + at, bytes - at, &code);
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

void ls_json_to_text(ls_json *j, ls_text *text, uint32_t indent)
{
    *j = (ls_json){ .text = text, .indent = indent };
}

void ls_json_to_file(ls_json *j, FILE *stream, uint32_t indent)
{
    *j = (ls_json){ .stream = stream, .indent = indent };
}

void ls_json_object(ls_json *j)
{
    begin_container(j, true);
}

void ls_json_array(ls_json *j)
{
    begin_container(j, false);
}

void ls_json_end(ls_json *j)
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

void ls_json_flat(ls_json *j)
{
    j->next_is_flat = true;
}

void ls_json_key(ls_json *j, const char *key)
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

void ls_json_stringn(ls_json *j, const char *s, size_t bytes)
{
    if (begin_value(j)) {
        j->next_is_flat = false;
        put_quoted(j, s, bytes);
    }
}

void ls_json_string(ls_json *j, const char *s)
{
    if (s == NULL)
        ls_json_null(j);
    else
        ls_json_stringn(j, s, strlen(s));
}

void ls_json_u64(ls_json *j, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    put_value(j, text);
}

void ls_json_i64(ls_json *j, int64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, value);
    put_value(j, text);
}

void ls_json_real(ls_json *j, double value)
{
    char text[LS_FORMAT_BYTES];
    bool finite = value - value == 0; /* false for NaN and infinities */
    put_value(j, finite ? ls_format_real(value, text, sizeof text) : "null");
}

void ls_json_bool(ls_json *j, bool value)
{
    put_value(j, value ? "true" : "false");
}

void ls_json_null(ls_json *j)
{
    put_value(j, "null");
}

void ls_json_put_u64(ls_json *j, const char *key, uint64_t value)
{
    ls_json_key(j, key);
    ls_json_u64(j, value);
}

void ls_json_put_text(ls_json *j, const char *key, const char *text)
{
    ls_json_key(j, key);
    ls_json_string(j, text);
}

void ls_json_put_sizes(ls_json *j, const char *key, const uint32_t sizes[3])
{
    ls_json_key(j, key);
    ls_json_flat(j);
    ls_json_array(j);
    for (int i = 0; i < 3; i++)
        ls_json_u64(j, sizes[i]);
    ls_json_end(j);
}

ls_status ls_json_finish(ls_json *j, ls_error *err)
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
                       ls_file_write_reason(j->stream, errno == ENOSPC ? ENOSPC : 0));
    return LS_OK;
}
