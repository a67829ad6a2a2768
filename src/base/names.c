/* names.c: the nearest name of a list, and wildcards. */
#include "base/text.h"

#include <string.h>

/* Distances are in half edits, so that a difference in case alone is half of one. */
enum { EDIT = 2, HALF = 1, LONGEST = 64 };

static unsigned char lower(unsigned char c)
{
    return c >= 'A' && c <= 'Z' ? (unsigned char)(c + 'a' - 'A') : c;
}

static bool separator(unsigned char c)
{
    return c == '-' || c == '_';
}

static unsigned replace_cost(unsigned char a, unsigned char b)
{
    if (a == b)
        return 0;
    return lower(a) == lower(b) || (separator(a) && separator(b)) ? HALF : EDIT;
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Damerau-Levenshtein with adjacent swaps (each letter is moved at most once). Gives up with limit + 1 as
 * soon as no path can stay within the limit. */
static unsigned distance(const unsigned char *a, size_t a_length, const unsigned char *b, size_t b_length,
                         unsigned limit)
{
    size_t difference = a_length > b_length ? a_length - b_length : b_length - a_length;
    if (difference * EDIT > limit)
        return limit + 1;
    unsigned rows[3][LONGEST + 1];
    unsigned *before = rows[0], *above = rows[1], *row = rows[2];
    for (size_t j = 0; j <= b_length; j++)
        above[j] = (unsigned)j * EDIT;
    unsigned least_above = 0;
    for (size_t i = 1; i <= a_length; i++) {
        row[0] = (unsigned)i * EDIT;
        unsigned least_here = row[0];
        for (size_t j = 1; j <= b_length; j++) {
            unsigned cost = above[j - 1] + replace_cost(a[i - 1], b[j - 1]);
            cost = least(cost, least(above[j], row[j - 1]) + EDIT);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && a[i - 1] != a[i - 2])
                cost = least(cost, before[j - 2] + EDIT);
            row[j] = cost;
            least_here = least(least_here, cost);
        }
        /* A swap reaches back two rows, so both must be out of reach. */
        if (least_here > limit && least_above > limit)
            return limit + 1;
        least_above = least_here;
        unsigned *free_row = before;
        before = above;
        above = row;
        row = free_row;
    }
    return above[b_length];
}

/* Equal but for case and separators: always near, however many letters that are. Gives the half edits. */
static bool same_letters(const char *a, const char *b, size_t length, unsigned *halves)
{
    *halves = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned cost = replace_cost((unsigned char)a[i], (unsigned char)b[i]);
        if (cost == EDIT)
            return false;
        *halves += cost;
    }
    return true;
}

const char *nearest_name(const char *name, size_t count, const char *(*at)(const void *self, size_t i),
                         const void *self)
{
    size_t length = strnlen(name, LONGEST);
    if (length == 0)
        return NULL;
    /* A third of the letters may be wrong; more would be guessing. */
    const unsigned most = (unsigned)((length + 2) / 3) * EDIT;
    unsigned limit = most; /* to be better than the best so far */
    const char *best = NULL, *longer = NULL;
    for (size_t i = 0; i < count; i++) {
        const char *candidate = at(self, i);
        if (candidate == NULL)
            continue;
        size_t candidate_length = strnlen(candidate, LONGEST);
        unsigned d = distance((const unsigned char *)name, length, (const unsigned char *)candidate,
                              candidate_length, limit);
        unsigned halves;
        if (d > limit && candidate_length == length && same_letters(name, candidate, length, &halves))
            d = least(halves, most);
        /* Nothing in common is no help, however short the name. */
        size_t longest = length > candidate_length ? length : candidate_length;
        if (d <= limit && d < longest * EDIT) {
            best = candidate;
            limit = d > 0 ? d - 1 : 0; /* ties go to the first */
            if (d == 0)
                break;
        } else if (best == NULL && length >= 3 && strncmp(candidate, name, length) == 0 &&
                   (longer == NULL || candidate_length < strnlen(longer, LONGEST)))
            longer = candidate; /* "latency" for "latency_cycles" */
    }
    return best != NULL ? best : longer;
}

static const char *list_at(const void *self, size_t i)
{
    const char *const *list = self;
    return list[i];
}

const char *nearest_of(const char *name, const char *const *candidates, size_t count)
{
    return nearest_name(name, count, list_at, candidates);
}

/* The start of the character after the one at s. */
static const char *skip_character(const char *s)
{
    do
        s++;
    while (((unsigned char)*s & 0xC0) == 0x80);
    return s;
}

bool glob_match(const char *pattern, const char *name)
{
    /* Only the last '*' must ever be tried again: a later one can match everything that an earlier one
     * could. */
    const char *star = NULL, *resume = NULL;
    for (;;) {
        if (*pattern == '*') {
            star = ++pattern;
            resume = name;
        } else if (*name == '\0') {
            return *pattern == '\0';
        } else if (*pattern == '?') {
            pattern++;
            name = skip_character(name);
        } else if (*pattern == *name) {
            pattern++;
            name++;
        } else if (star != NULL) {
            pattern = star;
            name = ++resume;
        } else {
            return false;
        }
    }
}
