/* lines.c: lines, columns and comments of a YAML text. Uses base only.
 *
 * libyaml drops comments, but reports where its tokens end. Only punctuation, white space and a comment can
 * follow the last token of a line. So this file needs no quoting rules. */
#include "platform/lines.h"

#include <string.h>

#define IN_TOKEN UINT32_MAX /* the line ends inside a token: a '#' in it is no comment */

/* Length of the line break at s, 0 if there is none: all breaks of YAML 1.1. */
static size_t break_bytes(const char *s, const char *end)
{
    size_t left = (size_t)(end - s);
    if (left == 0)
        return 0;
    if (*s == '\n')
        return 1;
    if (*s == '\r')
        return left > 1 && s[1] == '\n' ? 2 : 1;
    if (left > 1 && memcmp(s, "\xc2\x85", 2) == 0)
        return 2;
    if (left > 2 && (memcmp(s, "\xe2\x80\xa8", 3) == 0 || memcmp(s, "\xe2\x80\xa9", 3) == 0))
        return 3;
    return 0;
}

static bool continues_character(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* Past characters that begin no line break; eight at a time while all of them are from 0x0e to 0x7f. */
static inline const char *skip_plain(const char *s, const char *end)
{
    for (uint64_t word; end - s >= 8; s += 8) {
        memcpy(&word, s, sizeof word);
        if (((word | (word - UINT64_C(0x0e0e0e0e0e0e0e0e))) & UINT64_C(0x8080808080808080)) != 0)
            break;
    }
    while (s < end && s[0] > '\r' && (unsigned char)s[0] < 0x80)
        s++;
    return s;
}

bool lines_init(line_places *lines, mem_arena *arena, const char *text, size_t bytes)
{
    const char *end = text + bytes;
    size_t count = 1;
    for (const char *s = skip_plain(text, end); s < end; s = skip_plain(s, end)) {
        size_t length = break_bytes(s, end);
        count += length > 0;
        s += length > 0 ? length : 1;
    }
    *lines = (line_places){ .text = text, .end = end, .count = (uint32_t)count };
    lines->starts = arena_array(arena, count + 1, sizeof *lines->starts);
    lines->token_ends = arena_array(arena, count, sizeof *lines->token_ends);
    if (!lines->starts || !lines->token_ends)
        return false;
    size_t line = 0;
    lines->starts[line++] = text;
    for (const char *s = skip_plain(text, end); s < end; s = skip_plain(s, end)) {
        size_t length = break_bytes(s, end);
        s += length > 0 ? length : 1;
        if (length > 0)
            lines->starts[line++] = s;
    }
    lines->starts[line] = end;
    return true;
}

void lines_token(line_places *lines, uint32_t first_line, uint32_t last_line, uint32_t end_column)
{
    if (first_line == 0 || last_line > lines->count)
        return;
    for (uint32_t line = first_line; line < last_line; line++)
        lines->token_ends[line - 1] = IN_TOKEN;
    uint32_t *token_end = &lines->token_ends[last_line - 1];
    if (*token_end < end_column - 1)
        *token_end = end_column - 1;
}

/* The byte that is `columns` characters into a line. */
static const char *skip_characters(const line_places *lines, uint32_t line, uint32_t columns)
{
    const char *s = lines->starts[line - 1], *end = lines->starts[line];
    uint32_t i = 0;
    for (uint64_t word; columns - i >= 8 && end - s >= 8; i += 8, s += 8) { /* eight of ASCII */
        memcpy(&word, s, sizeof word);
        if ((word & UINT64_C(0x8080808080808080)) != 0)
            break;
    }
    for (; s < end && i < columns; i++) {
        s++;
        while (s < end && continues_character(*s))
            s++;
    }
    return s;
}

void lines_comment(const line_places *lines, uint32_t line, const char **comment, size_t *bytes)
{
    *comment = "";
    *bytes = 0;
    if (line == 0 || line > lines->count || lines->token_ends[line - 1] == IN_TOKEN)
        return;
    const char *s = skip_characters(lines, line, lines->token_ends[line - 1]), *end = lines->starts[line];
    while (s < end && strchr(" \t,:-?", *s))
        s++;
    if (s == end || *s != '#')
        return;
    while (s < end && (*s == '#' || *s == ' ' || *s == '\t'))
        s++;
    const char *stop = skip_plain(s, end);
    while (stop < end && break_bytes(stop, end) == 0)
        stop = skip_plain(stop + 1, end);
    while (stop > s && (stop[-1] == ' ' || stop[-1] == '\t'))
        stop--;
    *comment = s;
    *bytes = (size_t)(stop - s);
}

bool lines_at_end(const line_places *lines, uint32_t line, uint32_t column)
{
    if (line == 0 || column == 0)
        return false;
    const char *s = line > lines->count ? lines->end : skip_characters(lines, line, column - 1);
    while (s < lines->end && strchr(" \t\r\n", *s))
        s++;
    return s == lines->end;
}

void lines_position(const char *text, size_t bytes, size_t offset, uint32_t *line, uint32_t *column)
{
    *line = *column = 1;
    for (const char *s = text, *at = text + offset; s < at;) {
        size_t length = break_bytes(s, text + bytes);
        if (length > 0) {
            s += length;
            ++*line;
            *column = 1;
        } else {
            *column += continues_character(*s) ? 0 : 1;
            s++;
        }
    }
}
