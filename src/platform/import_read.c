/* import_read.c: the text of an option file as a list of options. Knows no option by name except -config.
 *
 * Words are separated by white space; '#' starts a comment wherever it stands; a word that begins with '"'
 * goes on to the next '"', over lines too, and loses its white space. A word with a dash and a letter is an
 * option, the word after it its value. */
#include "platform/import_rows.h"

#include <string.h>

#define QUOTED_BYTES 80 /* of the user's text in a message */

typedef struct scanner {
    importer *im;
    const char *path, *at, *end;
    uint32_t line;
} scanner;

typedef struct word {
    const char *text; /* NULL: the file is over */
    size_t bytes;
    uint32_t line;
    bool quoted;
} word;

/* "before 'text' after" at a line of the file. */
static bool fail_at(const scanner *s, uint32_t line, const char *before, const char *text, size_t bytes,
                    const char *after)
{
    char quoted[QUOTED_BYTES];
    ls_fail(s->im->err, LS_ERR_INPUT, "%s'%s' %s", before, quote_text(text, bytes, quoted, sizeof quoted),
            after);
    s->im->status = ls_error_at(s->im->err, s->path, line, 0);
    return false;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f';
}

static void skip_line(scanner *s)
{
    while (s->at < s->end && *s->at != '\n')
        s->at++;
}

static void skip_space(scanner *s)
{
    while (s->at < s->end && (is_space(*s->at) || *s->at == '#')) {
        if (*s->at == '#') {
            skip_line(s);
            continue;
        }
        s->line += *s->at == '\n';
        s->at++;
    }
}

/* The inside of a quoted word without white space and comments. */
static bool read_quoted(scanner *s, word *out)
{
    const char *start = s->at++;
    text_buffer text = { 0 };
    while (s->at < s->end && *s->at != '"') {
        if (*s->at == '#') {
            skip_line(s);
            continue;
        }
        s->line += *s->at == '\n';
        if (!is_space(*s->at))
            text_addn(&text, s->at, 1);
        s->at++;
    }
    bool closed = s->at < s->end;
    s->at += closed;
    out->bytes = text.count;
    out->text = text.failed ? NULL : arena_strndup(s->im->arena, text_get(&text), text.count);
    text_fini(&text);
    if (!closed)
        return fail_at(s, out->line, "the quotation mark of ", start, (size_t)(s->end - start),
                       "is never closed");
    return out->text ? true : import_no_memory(s->im);
}

static bool next_word(scanner *s, word *out)
{
    skip_space(s);
    *out = (word){ .line = s->line };
    if (s->at == s->end)
        return true;
    if (*s->at == '"') {
        out->quoted = true;
        return read_quoted(s, out);
    }
    const char *start = s->at;
    while (s->at < s->end && !is_space(*s->at) && *s->at != '#')
        s->at++;
    out->bytes = (size_t)(s->at - start);
    out->text = arena_strndup(s->im->arena, start, out->bytes);
    return out->text ? true : import_no_memory(s->im);
}

static bool is_option(const word *w)
{
    return w->text && !w->quoted && w->bytes > 1 && w->text[0] == '-' &&
           ((w->text[1] >= 'a' && w->text[1] <= 'z') || (w->text[1] >= 'A' && w->text[1] <= 'Z'));
}

static const import_row *find_row(const char *name)
{
    for (size_t i = 0; i < import_row_count; i++)
        if (import_rows[i].option && strcmp(import_rows[i].option, name) == 0)
            return &import_rows[i];
    return NULL;
}

/* The last value of an option counts, with its position. */
static bool add_option(scanner *s, const char *name, const word *value, uint32_t line)
{
    importer *im = s->im;
    size_t old = (size_t)(uintptr_t)map_get(&im->by_name, name);
    if (old > 0)
        im->options.at[old - 1].name = NULL;
    import_option option = {
        .name = name, .value = value->text, .file = s->path, .line = line, .row = find_row(name)
    };
    return (vec_push(&im->options, option) &&
            map_put(&im->by_name, name, (void *)(uintptr_t)im->options.count)) ||
           import_no_memory(im);
}

bool import_read(importer *im, const char *path, const char *text, size_t bytes)
{
    scanner s = { .im = im, .path = path, .at = text, .end = text + bytes, .line = 1 };
    word w;
    if (!next_word(&s, &w))
        return false;
    while (w.text) {
        if (!is_option(&w))
            return fail_at(&s, w.line, "", w.text, w.bytes, "does not belong to an option");
        const char *name = w.text + 1;
        uint32_t line = w.line;
        if (strcmp(name, "config") == 0)
            return fail_at(&s, line, "option ", w.text, w.bytes,
                           "is not followed: name that file on the command line");
        if (strlen(w.text) != w.bytes)
            return fail_at(&s, line, "option ", w.text, w.bytes, "contains a zero byte");
        word value;
        if (!next_word(&s, &value))
            return false;
        if (!value.text || is_option(&value))
            return fail_at(&s, line, "option ", w.text, w.bytes, "has no value");
        if (strlen(value.text) != value.bytes)
            return fail_at(&s, value.line, "", value.text, value.bytes, "contains a zero byte");
        if (!add_option(&s, name, &value, line) || !next_word(&s, &w))
            return false;
    }
    return true;
}

const import_option *import_find(const importer *im, const char *name)
{
    size_t index = (size_t)(uintptr_t)map_get(&im->by_name, name);
    return index > 0 ? &im->options.at[index - 1] : NULL;
}
