/* json.h: a streaming JSON writer. What it writes is valid JSON or ls_json_finish() says why not.
 *
 *     ls_json j;
 *     ls_json_to_file(&j, stream, 2);
 *     ls_json_object(&j);
 *     ls_json_key(&j, "cycles");
 *     ls_json_u64(&j, cycles);
 *     ls_json_end(&j);
 *     return ls_json_finish(&j, err);
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/text.h"

#include <stdio.h>

#define LS_JSON_DEPTH 64 /* containers inside each other */

/* Plain data, no memory of its own; needs no fini. */
typedef struct ls_json {
    ls_text *text; /* one of the two is set */
    FILE *stream;
    uint32_t indent; /* spaces per level; 0: everything on one line */
    uint32_t depth;
    uint64_t is_object; /* bit d: the container at depth d is an object, */
    uint64_t has_items; /* it has an item already, */
    uint64_t is_flat;   /* it is written on one line */
    bool after_key;     /* a value must follow */
    bool next_is_flat;
    bool done; /* the one value at the top is complete */
    bool write_failed;
    const char *misuse; /* the first wrong call; nothing is written after it */
} ls_json;

void ls_json_to_text(ls_json *j, ls_text *text, uint32_t indent);
void ls_json_to_file(ls_json *j, FILE *stream, uint32_t indent);

void ls_json_object(ls_json *j);
void ls_json_array(ls_json *j);
void ls_json_end(ls_json *j); /* of the innermost object or array */
/* The next object or array, with everything in it, stays on one line whatever the indentation. */
void ls_json_flat(ls_json *j);

void ls_json_key(ls_json *j, const char *key);
/* Bytes that are not valid UTF-8 become U+FFFD. NULL is written as null. */
void ls_json_string(ls_json *j, const char *s);
void ls_json_stringn(ls_json *j, const char *s, size_t bytes);
/* All digits. Readers that keep numbers as doubles lose those above 2^53. */
void ls_json_u64(ls_json *j, uint64_t value);
void ls_json_i64(ls_json *j, int64_t value);
void ls_json_real(ls_json *j, double value); /* shortest that reads back; NaN and infinities are null */
void ls_json_bool(ls_json *j, bool value);
void ls_json_null(ls_json *j);
/* A whole value that the caller has formatted, as an array of many numbers. It must be valid JSON on one line. */
void ls_json_raw(ls_json *j, const char *value, size_t bytes);

/* Members of an object: a key and its value; three sizes as an array on one line. */
void ls_json_put_u64(ls_json *j, const char *key, uint64_t value);
void ls_json_put_text(ls_json *j, const char *key, const char *text);
void ls_json_put_sizes(ls_json *j, const char *key, const uint32_t sizes[3]);

/* Ends the document with a newline if it is indented. Unbalanced or misplaced calls are LS_ERR_INTERNAL, a
 * failed write is LS_ERR_IO, no memory is LS_ERR_NOMEM. Does not close the stream. */
ls_status ls_json_finish(ls_json *j, ls_error *err);

#endif
