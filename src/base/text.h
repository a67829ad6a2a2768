/* text.h: strings and numbers: a growing text buffer, exact number parsing with the position of the first
 * wrong character, the nearest name of a list, UTF-8 checking and wildcards. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include "lockstep/time.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- a growing, always terminated text; all zero is valid and empty --- */
typedef struct text_buffer {
    char *at; /* NULL until something was added */
    size_t count, capacity;
    bool failed; /* the host had no memory left: sticky, so that one check at the end is enough */
} text_buffer;

void text_fini(text_buffer *text);
void text_clear(text_buffer *text);
void text_add(text_buffer *text, const char *s);
void text_addn(text_buffer *text, const char *s, size_t bytes);
/* Room for `more` bytes and the terminator at at[count], for callers that write there themselves and set count. */
bool text_reserve(text_buffer *text, size_t more);
void text_printf(text_buffer *text, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const char *text_get(const text_buffer *text); /* "" if empty */

/* --- numbers ---
 *
 * The whole of `s` (bytes long) must be one; '_' may stand between two digits; no spaces. On failure *out is
 * unchanged and *err (LS_ERR_INPUT) quotes the text and says what is wrong and at which character, counted
 * from 1. err->where stays empty for the caller, who knows the file. */

/* Decimal, 0x hexadecimal or 0b binary; no sign. Overflow is an error. */
ls_status parse_u64(const char *s, size_t bytes, uint64_t *out, ls_error *err);
/* The same with an optional '-'. */
ls_status parse_i64(const char *s, size_t bytes, int64_t *out, ls_error *err);
/* A finite decimal number with optional '-', fraction and exponent: "-1.5e-3"; digits on both sides of the
 * point. Locale independent, correctly rounded. Too large, or so small that it would become 0, is an
 * error. */
ls_status parse_real(const char *s, size_t bytes, double *out, ls_error *err);
/* A non-negative decimal number as an exact fraction: "3500.5" is 7001/2. At most 18 digits from the first
 * that is not 0, and at most 18 after the point; no exponent. */
ls_status parse_ratio(const char *s, size_t bytes, ls_ratio *out, ls_error *err);
ls_status parse_bool(const char *s, size_t bytes, bool *out, ls_error *err); /* true, false */
/* "1.5us", "200ns", "3ms", "17fs", "2s", "12ps": exact femtoseconds, below LS_TIME_MAX. */
ls_status parse_time(const char *s, size_t bytes, ls_time *out, ls_error *err);

/* Enough for every one of these; a text that does not fit into less becomes "#", never a wrong number. */
#define LS_FORMAT_BYTES 96

/* The decimal digits and a terminating 0, without bounds (21 bytes are enough). Returns the place of the 0, to go on
 * there: names of thousands of links and blocks are made with it, and printf takes ten times as long. */
char *format_uint(char *out, uint64_t value);
/* Shortest text that reads back as the same double; "nan", "inf", "-inf". Returns out. */
const char *format_real(double value, char *out, size_t out_bytes);
/* Exact decimal of a ratio whose denominator has only factors 2 and 5, else "num/den". */
const char *format_ratio(ls_ratio value, char *out, size_t out_bytes);
/* For people: 1,234,567 and 1.23 us and 12.3 MB (three digits, powers of 1000). Return out. */
const char *format_count(uint64_t value, char *out, size_t out_bytes);
const char *format_time(ls_time value, char *out, size_t out_bytes); /* LS_TIME_MAX: "never" */
const char *format_si(double value, const char *unit, char *out, size_t out_bytes);

/* --- names --- */

/* The candidate nearest to `name`, or NULL if none is near enough to help. The measure is Damerau-Levenshtein
 * over at most a third of the letters; case and '-' for '_' count half. Else the shortest candidate that
 * begins with `name`. at(self, i) gives candidate i. Ties go to the first. Cuts names at 64 bytes. */
const char *nearest_name(const char *name, size_t count, const char *(*at)(const void *self, size_t i),
                         const void *self);
const char *nearest_of(const char *name, const char *const *candidates, size_t count);

bool glob_match(const char *pattern, const char *name); /* '*': any text, '?': one character */
bool starts_with(const char *s, const char *prefix);
bool ends_with(const char *s, const char *suffix);

/* The length of the valid UTF-8 character at s and its code point; 0 if there is none. */
size_t utf8_next(const char *s, size_t bytes, uint32_t *code);
/* The offset of the first byte that is not valid UTF-8 (overlong, surrogate, > U+10FFFF), or `bytes`. */
size_t utf8_check(const char *s, size_t bytes);
/* Copies s for quoting the user's input in one line. Every byte that is not printable ASCII or valid UTF-8
 * becomes \xNN, and so do line breaks and marks that hide or reorder text. The result is cut to out_bytes with
 * "...". Adds no quotation marks. Reads at most out_bytes of s. Returns out. */
const char *quote_text(const char *s, size_t bytes, char *out, size_t out_bytes);

#endif
