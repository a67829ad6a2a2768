/* debug_command.c: see debug_command.h. */
#include "debug/debug_command.h"

#include "base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

const debug_command debug_commands[DEBUG_CMD_COUNT] = {
#define DEBUG_COMMAND(id, name, others, args, help) { name, others, args, help },
#include "debug/debug_commands.def"
#undef DEBUG_COMMAND
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Whether the word is one of a list with spaces between its words. */
static bool is_listed(const char *list, const char *word, size_t bytes)
{
    for (const char *p = list; *p;) {
        size_t n = strcspn(p, " ");
        if (n == bytes && memcmp(p, word, n) == 0)
            return true;
        p += n + (p[n] == ' ');
    }
    return false;
}

static const char *name_at(const void *self, size_t i)
{
    (void)self;
    return debug_commands[i].name;
}

static ls_status find_command(const char *word, size_t bytes, debug_command_id *out, ls_error *err)
{
    size_t found = 0;
    char list[160] = "", quoted[40], key[40];
    for (size_t i = 0; i < DEBUG_CMD_COUNT; i++) {
        const debug_command *c = &debug_commands[i];
        bool whole = strlen(c->name) == bytes && memcmp(c->name, word, bytes) == 0;
        if (whole || is_listed(c->others, word, bytes)) {
            *out = (debug_command_id)i;
            return LS_OK;
        }
        if (strncmp(c->name, word, bytes) != 0)
            continue;
        *out = (debug_command_id)i;
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", found++ ? ", " : "", c->name);
    }
    if (found == 1)
        return LS_OK;
    quote_text(word, bytes, quoted, sizeof quoted);
    if (found > 1)
        return ls_fail(err, LS_ERR_USAGE, "'%s' is not clear: %s", quoted, list);
    ls_fail(err, LS_ERR_USAGE, "there is no command '%s': try 'help'", quoted);
    snprintf(key, sizeof key, "%.*s", (int)(bytes < 39 ? bytes : 39), word);
    return ls_error_nearest(err, nearest_name(key, DEBUG_CMD_COUNT, name_at, NULL));
}

/* "4xw": digits, then a format and a unit in any order. */
static ls_status parse_format(const char *text, size_t bytes, debug_line *out, ls_error *err)
{
    char quoted[40];
    size_t i = 0;
    while (i < bytes && isdigit((unsigned char)text[i]) && i < 6)
        out->count = out->count * 10 + (uint32_t)(text[i++] - '0');
    for (; i < bytes; i++) {
        if (strchr("bhwg", text[i]) && !out->unit)
            out->unit = text[i];
        else if (strchr("xduofcsit", text[i]) && !out->letter)
            out->letter = text[i];
        else
            return ls_fail(err, LS_ERR_USAGE,
                           "'/%s' is no format: a number, one of x d u o t f c s i, one of b h w g",
                           quote_text(text, bytes, quoted, sizeof quoted));
    }
    return LS_OK;
}

ls_status debug_line_parse(const char *text, debug_line *out, ls_error *err)
{
    *out = (debug_line){ .id = DEBUG_CMD_COUNT, .args = "" };
    while (is_space(*text))
        text++;
    if (*text == '\0' || *text == '#')
        return LS_OK;
    size_t word = 0;
    while (isalnum((unsigned char)text[word]) || text[word] == '_' || text[word] == '-')
        word++;
    size_t shown = word;
    while (text[shown] && !is_space(text[shown]))
        shown++;
    ls_status status = find_command(text, word ? word : shown, &out->id, err);
    if (status != LS_OK)
        return status;
    const char *p = text + word;
    while (*p == ' ' || *p == '\t')
        p++;
    if (*p == '/') {
        size_t n = 1;
        while (p[n] && !is_space(p[n]))
            n++;
        status = parse_format(p + 1, n - 1, out, err);
        p += n;
    }
    while (is_space(*p))
        p++;
    out->args = p;
    out->args_bytes = strlen(p);
    while (out->args_bytes > 0 && is_space(p[out->args_bytes - 1]))
        out->args_bytes--;
    return status;
}

/* --------------------------------------------------------------------------------------------- locations */

static ls_status too_long(ls_error *err)
{
    return ls_fail(err, LS_ERR_USAGE, "the name is too long");
}

static ls_status as_usage(ls_status status, ls_error *err)
{
    if (status == LS_OK)
        return LS_OK;
    if (err)
        err->status = LS_ERR_USAGE;
    return LS_ERR_USAGE;
}

static bool take_name(debug_location *out, const char *text, size_t bytes)
{
    if (bytes >= sizeof out->name)
        return false;
    memcpy(out->name, text, bytes);
    out->name[bytes] = '\0';
    return true;
}

ls_status debug_location_parse(const char *text, size_t bytes, debug_location *out, ls_error *err)
{
    *out = (debug_location){ .kind = DEBUG_AT_HERE };
    if (bytes == 0)
        return LS_OK;
    if (text[0] == '*') {
        out->kind = DEBUG_AT_ADDRESS;
        return as_usage(parse_u64(text + 1, bytes - 1, &out->number, err), err);
    }
    const char *colon = memchr(text, ':', bytes), *plus = memchr(text, '+', bytes);
    for (const char *more = colon; more; more = memchr(more + 1, ':', bytes - (size_t)(more + 1 - text)))
        colon = more;
    if (colon || isdigit((unsigned char)text[0])) {
        const char *number = colon ? colon + 1 : text;
        out->kind = DEBUG_AT_LINE;
        if (colon && !take_name(out, text, (size_t)(colon - text)))
            return too_long(err);
        ls_status status =
            as_usage(parse_u64(number, bytes - (size_t)(number - text), &out->number, err), err);
        if (status == LS_OK && (out->number == 0 || out->number > UINT32_MAX))
            return ls_fail(err, LS_ERR_USAGE, "there is no such line: lines count from 1");
        return status;
    }
    out->kind = DEBUG_AT_KERNEL;
    if (!take_name(out, text, plus ? (size_t)(plus - text) : bytes))
        return too_long(err);
    return plus ? as_usage(parse_u64(plus + 1, bytes - (size_t)(plus + 1 - text), &out->number, err), err)
                : LS_OK;
}

ls_status debug_triple_parse(const char *text, size_t bytes, uint32_t out[3], ls_error *err)
{
    out[0] = out[1] = out[2] = 0;
    for (size_t axis = 0;; axis++) {
        const char *comma = memchr(text, ',', bytes);
        size_t n = comma ? (size_t)(comma - text) : bytes;
        uint64_t value = 0;
        if (axis == 3)
            return ls_fail(err, LS_ERR_USAGE, "a work-group has at most three coordinates");
        ls_status status = as_usage(parse_u64(text, n, &value, err), err);
        if (status != LS_OK)
            return status;
        if (value > UINT32_MAX)
            return ls_fail(err, LS_ERR_USAGE, "'%.*s' is too large", (int)n, text);
        out[axis] = (uint32_t)value;
        if (!comma)
            return LS_OK;
        text += n + 1;
        bytes -= n + 1;
    }
}
