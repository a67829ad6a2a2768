/* retired.c: see retired.h. One row per spelling that is gone. */
#include "platform/retired.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *key;   /* the last part of the path, or the last parts */
    const char *value; /* NULL: the key itself is gone */
    const char *now;   /* keys of the same section, separated by ", " */
} retired[] = {
    { "hashed_sets", NULL, "hash: ipoly" },
    { "hash", "linear", "hash: none" },
    { "alu", "hybrid", "alu: issue" },
    { "scheduler", "fifo", "scheduler: fcfs" },
    { "l2.model", "cycle", "model: lines" }, /* of AMD's machine */
    { "row_hit_limit", NULL, "scheduler: frfcfs-cap, scheduler_cap" },
};

static bool ends_with(const char *path, const char *key)
{
    size_t length = strlen(path), part = strlen(key);
    return length >= part && strcmp(path + length - part, key) == 0 &&
           (length == part || path[length - part - 1] == '.');
}

static const char *find(const char *path, const char *value, char *out, size_t out_bytes)
{
    const char *dot = strrchr(path, '.'), *last = dot != NULL ? dot + 1 : path;
    for (size_t i = 0; i < sizeof retired / sizeof *retired; i++) {
        if (!ends_with(path, retired[i].key) || (value == NULL) != (retired[i].value == NULL) ||
            (value != NULL && strcmp(retired[i].value, value) != 0))
            continue;
        /* The path of the section before each of the keys. */
        size_t used = 0;
        for (const char *now = retired[i].now; now != NULL && used < out_bytes;) {
            const char *next = strstr(now, ", ");
            int length = next != NULL ? (int)(next - now) : (int)strlen(now);
            used += (size_t)snprintf(out + used, out_bytes - used, "%s%.*s%.*s", used > 0 ? " and " : "",
                                     (int)(last - path), path, length, now);
            now = next != NULL ? next + 2 : NULL;
        }
        return out;
    }
    return NULL;
}

const char *retired_key(const char *path, char *out, size_t out_bytes)
{
    return find(path, NULL, out, out_bytes);
}

const char *retired_value(const char *path, const char *value, char *out, size_t out_bytes)
{
    return find(path, value, out, out_bytes);
}
