/* fuzz_numbers.c: every number parser, quoting, UTF-8, wildcards and the nearest name on arbitrary bytes. An
 * accepted value must survive being written and read again; a refusal must leave one clean line. */
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "broken: %s\n", what);
    abort();
}

/* One line of valid UTF-8 without control characters, with a status, and no place: that is the caller's. */
static void check_error(ls_status status, const ls_error *err)
{
    require(status == LS_ERR_INPUT && err->status == status, "the status of a refusal");
    size_t length = strlen(err->what);
    require(length > 0 && length < sizeof err->what - 1, "the sentence is there and was not cut");
    require(utf8_check(err->what, length) == length, "the sentence is UTF-8");
    for (size_t i = 0; i < length; i++)
        require((unsigned char)err->what[i] >= 0x20 && err->what[i] != 0x7F, "the sentence is one line");
    require(err->where[0] == '\0', "the place is left to the caller");
}

static void whole_numbers(const char *s, size_t bytes)
{
    uint64_t u = 1, u_again;
    int64_t i = 1, i_again;
    char text[LS_FORMAT_BYTES];
    ls_error err;
    ls_status u_status = parse_u64(s, bytes, &u, &err);
    if (u_status == LS_OK) {
        int length = snprintf(text, sizeof text, "0x%llx", (unsigned long long)u);
        require(parse_u64(text, (size_t)length, &u_again, NULL) == LS_OK && u_again == u, "u64 reads back");
        length = snprintf(text, sizeof text, "%llu", (unsigned long long)u);
        require(parse_u64(text, (size_t)length, &u_again, NULL) == LS_OK && u_again == u, "u64 reads back");
        format_count(u, text, sizeof text);
    } else {
        check_error(u_status, &err);
        require(u == 1, "a refusal changes nothing");
    }
    ls_status i_status = parse_i64(s, bytes, &i, &err);
    if (i_status == LS_OK) {
        int length = snprintf(text, sizeof text, "%lld", (long long)i);
        require(parse_i64(text, (size_t)length, &i_again, NULL) == LS_OK && i_again == i, "i64 reads back");
        require(i < 0 || (u_status == LS_OK && u == (uint64_t)i) || s[0] == '-', "i64 and u64 agree");
    } else {
        check_error(i_status, &err);
        require(u_status != LS_OK || u > INT64_MAX, "i64 takes what u64 takes");
    }
}

static void fractions(const char *s, size_t bytes)
{
    double d = 1, d_again;
    ls_ratio r = { 1, 1 }, r_again;
    char text[LS_FORMAT_BYTES];
    ls_error err;
    ls_status d_status = parse_real(s, bytes, &d, &err);
    if (d_status == LS_OK) {
        require(isfinite(d), "a real is finite");
        format_real(d, text, sizeof text);
        require(parse_real(text, strlen(text), &d_again, NULL) == LS_OK, "a real can be read again");
        require(memcmp(&d, &d_again, sizeof d) == 0, "a real reads back");
        format_si(d, "B", text, sizeof text);
        require(text[0] != '\0' && text[0] != '#', "a real has a short form");
    } else {
        check_error(d_status, &err);
    }
    ls_status r_status = parse_ratio(s, bytes, &r, &err);
    if (r_status == LS_OK) {
        require(r.den > 0, "a ratio has a denominator");
        format_ratio(r, text, sizeof text);
        require(parse_ratio(text, strlen(text), &r_again, NULL) == LS_OK, "a ratio can be read again");
        require(r.num == r_again.num && r.den == r_again.den, "a ratio reads back");
        require(bytes >= 1024 || d_status == LS_OK, "a real takes what a ratio takes");
        if (bytes < 1024) {
            double quotient = (double)r.num / (double)r.den;
            require(fabs(d - quotient) <= quotient * 1e-15, "ratio and real agree");
        }
    } else {
        check_error(r_status, &err);
    }
}

static void times_and_words(const char *s, size_t bytes)
{
    ls_time t = 1, t_again;
    bool b;
    char text[LS_FORMAT_BYTES];
    ls_error err;
    ls_status status = parse_time(s, bytes, &t, &err);
    if (status == LS_OK) {
        int length = snprintf(text, sizeof text, "%llufs", (unsigned long long)t);
        require(parse_time(text, (size_t)length, &t_again, NULL) == LS_OK && t_again == t, "time reads back");
        format_time(t, text, sizeof text);
        require(text[0] >= '0' && text[0] <= '9', "a time has a short form");
    } else {
        check_error(status, &err);
    }
    status = parse_bool(s, bytes, &b, &err);
    if (status != LS_OK)
        check_error(status, &err);
}

static void quoting(const char *s, size_t bytes)
{
    size_t good = utf8_check(s, bytes);
    require(good <= bytes, "the first wrong byte lies inside");
    require(utf8_check(s, good) == good, "what stands before it is valid");
    uint32_t code;
    require(good == bytes || utf8_next(s + good, bytes - good, &code) == 0, "and it is wrong itself");
    static const size_t rooms[] = { 1, 2, 3, 4, 5, 8, 17, 64, 300 };
    for (size_t i = 0; i < LS_COUNT_OF(rooms); i++) {
        char *out = malloc(rooms[i]); /* exact, so that a sanitizer sees an overrun */
        if (out == NULL)
            return;
        quote_text(s, bytes, out, rooms[i]);
        size_t length = strlen(out);
        require(length < rooms[i], "a quote fits");
        require(utf8_check(out, length) == length, "a quote is UTF-8");
        for (size_t k = 0; k < length; k++)
            require((unsigned char)out[k] >= 0x20 && out[k] != 0x7F, "a quote is one line");
        free(out);
    }
}

/* The first line is the pattern or the wrong name, the rest the text or a candidate. */
static void names(const char *s, size_t bytes)
{
    const char *newline = memchr(s, '\n', bytes);
    size_t first = newline != NULL ? (size_t)(newline - s) : bytes / 2;
    size_t second = newline != NULL ? bytes - first - 1 : bytes - first;
    if (bytes > 300)
        return; /* a wildcard may look at each pair of characters */
    char pattern[304], name[304], starred[304 + 2];
    memcpy(pattern, s, first);
    pattern[first] = '\0';
    memcpy(name, s + bytes - second, second);
    name[second] = '\0';
    bool matches = glob_match(pattern, name);
    snprintf(starred, sizeof starred, "*%s", pattern);
    require(!matches || glob_match(starred, name), "a star matches nothing too");
    if (strpbrk(name, "*?") == NULL)
        require(glob_match(name, name), "a plain name matches itself");
    require(glob_match("*", name), "a star matches everything");
    const char *const candidates[] = { "latency_cycles", name, "size_kib" };
    const char *nearest = nearest_of(pattern, candidates, LS_COUNT_OF(candidates));
    require(nearest != NULL || pattern[0] == '\0' || strcmp(pattern, name) != 0,
            "a name is nearest to itself");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *s = (const char *)data;
    whole_numbers(s, size);
    fractions(s, size);
    times_and_words(s, size);
    quoting(s, size);
    names(s, size);
    return 0;
}
