/* json.h: a streaming JSON writer. Its output is valid JSON, or json_finish() returns the reason why not.
 *
 *     json_writer j;
 *     json_to_file(&j, stream, 2);
 *     json_begin_object(&j);
 *     json_key(&j, "cycles");
 *     json_u64(&j, cycles);
 *     json_end(&j);
 *     return json_finish(&j, err); */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/text.h"

#include <stdio.h>

#define LS_JSON_DEPTH 64 /* containers inside each other */

/* Plain data, no memory of its own; needs no fini. */
typedef struct json_writer {
    text_buffer *text; /* one of the two is set */
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
} json_writer;

void json_to_text(json_writer *j, text_buffer *text, uint32_t indent);
void json_to_file(json_writer *j, FILE *stream, uint32_t indent);

void json_begin_object(json_writer *j);
void json_array(json_writer *j);
void json_end(json_writer *j); /* of the innermost object or array */
/* The next object or array, with everything in it, stays on one line, even with indentation. */
void json_flat(json_writer *j);

void json_key(json_writer *j, const char *key);
/* Bytes that are not valid UTF-8 become U+FFFD. NULL is written as null. */
void json_string(json_writer *j, const char *s);
void json_stringn(json_writer *j, const char *s, size_t bytes);
/* All digits. Readers that keep numbers as doubles lose those above 2^53. */
void json_u64(json_writer *j, uint64_t value);
void json_i64(json_writer *j, int64_t value);
void json_real(json_writer *j, double value); /* shortest that reads back; NaN and infinities are null */
void json_bool(json_writer *j, bool value);
void json_null(json_writer *j);
/* A whole value that the caller has formatted, as an array of many numbers. It must be valid JSON on one line. */
void json_raw(json_writer *j, const char *value, size_t bytes);

/* Members of an object: a key and its value; three sizes as an array on one line. */
void json_put_u64(json_writer *j, const char *key, uint64_t value);
void json_put_text(json_writer *j, const char *key, const char *text);
void json_put_sizes(json_writer *j, const char *key, const uint32_t sizes[3]);

/* Ends the document with a newline if it is indented. Unbalanced or misplaced calls are LS_ERR_INTERNAL, a
 * failed write is LS_ERR_IO, no memory is LS_ERR_NOMEM. Does not close the stream. */
ls_status json_finish(json_writer *j, ls_error *err);

#endif
