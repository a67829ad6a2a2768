/* lines.h: the lines of a YAML text: the position of a byte, and the comment after the last token of a
 * line. */
#ifndef PLATFORM_LINES_H
#define PLATFORM_LINES_H

#include "base/arena.h"

#include <stdint.h>

/* Lines and columns count from 1, columns in characters. */
typedef struct line_places {
    const char *text, *end;
    const char **starts;  /* count + 1 of them; the last is `end` */
    uint32_t *token_ends; /* per line: columns up to the end of its last token */
    uint32_t count;
} line_places;

/* false when the host has no memory left. text must be valid UTF-8 and outlive the index. */
bool lines_init(line_places *lines, mem_arena *arena, const char *text, size_t bytes);
/* Records a token of the text (never a token without characters). */
void lines_token(line_places *lines, uint32_t first_line, uint32_t last_line, uint32_t end_column);
/* The comment of a line without '#' and the white space around it; *bytes is 0 if there is none. */
void lines_comment(const line_places *lines, uint32_t line, const char **comment, size_t *bytes);
/* Nothing but white space follows. */
bool lines_at_end(const line_places *lines, uint32_t line, uint32_t column);

/* The same count for a text that may be anything. */
void lines_position(const char *text, size_t bytes, size_t offset, uint32_t *line, uint32_t *column);

#endif
