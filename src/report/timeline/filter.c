/* filter.c: reads filters of timelines and applies them to kernels and blocks. */
#include "report/timeline/filter.h"

#include "base/text.h"

#include <string.h>

const char *const timeline_kind_names[LS_TAP_KINDS + 1] = {
#define KIND(id_, name_, help_) name_,
#include "lockstep/timeline_kinds.def"
#undef KIND
    NULL
};

static const char *const keys[] = { "kernel", "time", "block", "kind", "every", "unit" };
enum { KEY_KERNEL, KEY_TIME, KEY_BLOCK, KEY_KIND, KEY_EVERY, KEY_UNIT };

static ls_status parse_kinds(const char *value, timeline_filter *f, ls_error *err)
{
    uint32_t kinds = 0;
    for (const char *at = value;; at++) {
        size_t bytes = strcspn(at, ","), i = 0;
        while (i < LS_TAP_KINDS &&
               (strlen(timeline_kind_names[i]) != bytes || strncmp(timeline_kind_names[i], at, bytes) != 0))
            i++;
        if (i == LS_TAP_KINDS) {
            char word[64], quoted[80];
            snprintf(word, sizeof word, "%.*s", (int)(bytes < 60 ? bytes : 60), at);
            ls_fail(err, LS_ERR_USAGE, "--timeline-filter: there is no kind '%s'",
                    quote_text(word, strlen(word), quoted, sizeof quoted));
            const char *nearest = nearest_of(word, timeline_kind_names, LS_TAP_KINDS);
            return ls_error_nearest(err, nearest != NULL ? nearest : "warp");
        }
        kinds |= 1u << i;
        at += bytes;
        if (*at == 0)
            break;
    }
    if (kinds & LS_TAP_BIT(LS_TAP_STALL))
        kinds |= LS_TAP_BIT(LS_TAP_WARP); /* states lie in their warp */
    f->kinds = f->kinds == UINT32_MAX ? kinds : f->kinds | kinds;
    return LS_OK;
}

static ls_status parse_range(const char *value, timeline_filter *f, ls_error *err)
{
    const char *dash = strchr(value, '-');
    ls_time from = 0, until = LS_TIME_MAX;
    ls_status status = LS_OK;
    if (dash == NULL)
        return ls_fail(err, LS_ERR_USAGE, "--timeline-filter: 'time=%s' is no range, as 10us-20us or 10us- is",
                       value);
    if (dash != value)
        status = parse_time(value, (size_t)(dash - value), &from, err);
    if (status == LS_OK && dash[1] != 0)
        status = parse_time(dash + 1, strlen(dash + 1), &until, err);
    if (status != LS_OK)
        return ls_error_prefix(err, "--timeline-filter: time=%s", value);
    if (from >= until)
        return ls_fail(err, LS_ERR_USAGE, "--timeline-filter: 'time=%s' ends before it begins", value);
    f->from = from;
    f->until = until;
    f->has_time = true;
    return LS_OK;
}

static void add_kernel(const char *value, timeline_filter *f)
{
    uint64_t number;
    bool is_number = parse_u64(value, strlen(value), &number, NULL) == LS_OK;
    f->kernels[f->kernel_count++] = (filter_kernel){ .pattern = is_number ? NULL : value,
                                                     .number = is_number ? number : 0,
                                                     .text = value };
}

static ls_status parse_one(char *text, timeline_filter *f, ls_error *err)
{
    char *value = strchr(text, '=');
    size_t key = 0;
    if (value != NULL)
        *value++ = 0;
    while (key < LS_COUNT_OF(keys) && strcmp(keys[key], text) != 0)
        key++;
    if (value == NULL || key == LS_COUNT_OF(keys)) {
        ls_fail(err, LS_ERR_USAGE,
                "--timeline-filter: '%s' is no filter: kernel=, time=, block=, kind=, every= or unit=", text);
        return value != NULL ? ls_error_nearest(err, nearest_of(text, keys, LS_COUNT_OF(keys))) : LS_ERR_USAGE;
    }
    if (*value == 0)
        return ls_fail(err, LS_ERR_USAGE, "--timeline-filter: %s= has no value", text);
    switch (key) {
    case KEY_KERNEL:
        add_kernel(value, f);
        return LS_OK;
    case KEY_TIME:
        return parse_range(value, f, err);
    case KEY_BLOCK:
        f->blocks[f->block_count++].pattern = value;
        return LS_OK;
    case KEY_KIND:
        return parse_kinds(value, f, err);
    case KEY_EVERY:
        if (parse_u64(value, strlen(value), &f->every, err) != LS_OK || f->every == 0)
            return ls_fail(err, LS_ERR_USAGE, "--timeline-filter: 'every=%s' is no number from 1 on", value);
        return LS_OK;
    default:
        if (strcmp(value, "ns") != 0 && strcmp(value, "ps") != 0)
            return ls_fail(err, LS_ERR_USAGE, "--timeline-filter: 'unit=%s' is neither ns nor ps", value);
        f->scale = value[0] == 'p' ? 1000 : 1;
        return LS_OK;
    }
}

ls_status filter_parse(mem_arena *arena, const char *const *texts, size_t count, timeline_filter *out,
                       ls_error *err)
{
    *out = (timeline_filter){ .until = LS_TIME_MAX, .kinds = UINT32_MAX, .every = 1, .scale = 1 };
    out->kernels = arena_array(arena, count + 1, sizeof *out->kernels);
    out->blocks = arena_array(arena, count + 1, sizeof *out->blocks);
    if (!out->kernels || !out->blocks)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for filters");
    for (size_t i = 0; i < count; i++) {
        char *copy = arena_strdup(arena, texts[i]);
        ls_status status =
            copy ? parse_one(copy, out, err) : ls_fail(err, LS_ERR_NOMEM, "no memory for filters");
        if (status != LS_OK)
            return status;
    }
    return LS_OK;
}

bool filter_takes_kernel(timeline_filter *f, uint64_t number, const char *name)
{
    bool takes = f->kernel_count == 0;
    for (size_t i = 0; i < f->kernel_count; i++) {
        filter_kernel *k = &f->kernels[i];
        if (k->pattern != NULL ? !glob_match(k->pattern, name) : k->number != number)
            continue;
        k->matches++;
        takes = true;
    }
    return takes;
}

bool filter_takes_block(timeline_filter *f, const char *name)
{
    bool takes = f->block_count == 0;
    for (size_t i = 0; i < f->block_count; i++)
        if (glob_match(f->blocks[i].pattern, name)) {
            f->blocks[i].matches++;
            takes = true;
        }
    return takes;
}
