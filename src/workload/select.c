/* select.c: the terms of a kernel selection and their matches. */
#include "workload/select.h"

#include "base/text.h"
#include "base/vec.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct term {
    uint64_t first, last; /* of a range; first 0: a pattern */
    char *pattern;
    const char *text; /* as written, for messages; not terminated */
    size_t bytes;
    uint64_t matches;
} term;

typedef struct terms {
    LS_VEC(term) list;
    bool names; /* some term compares names */
} terms;

static void free_terms(terms *t)
{
    for (size_t i = 0; i < t->list.count; i++)
        free(t->list.at[i].pattern);
    vec_fini(&t->list);
}

/* ------------------------------------------------------------------------------------------------ parsing */

static ls_status fail_term(const term *t, ls_error *err, const char *why)
{
    char quoted[80];
    return ls_fail(err, LS_ERR_USAGE, "kernels '%s': %s", quote_text(t->text, t->bytes, quoted, sizeof quoted),
                   why);
}

static bool number(const char *s, size_t bytes, uint64_t *out)
{
    return bytes > 0 && parse_u64(s, bytes, out, NULL) == LS_OK && *out > 0;
}

static ls_status parse_term(term *t, ls_error *err)
{
    static const char prefix[] = "name:";
    const size_t prefix_bytes = sizeof prefix - 1;
    if (t->bytes >= prefix_bytes && memcmp(t->text, prefix, prefix_bytes) == 0) {
        if (t->bytes == prefix_bytes)
            return fail_term(t, err, "a pattern must follow 'name:'");
        t->pattern = strndup(t->text + prefix_bytes, t->bytes - prefix_bytes);
        return t->pattern ? LS_OK : ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    }
    const char *dash = memchr(t->text, '-', t->bytes), *end = t->text + t->bytes;
    t->first = 1;
    t->last = UINT64_MAX;
    bool good;
    if (!dash) {
        good = number(t->text, t->bytes, &t->first);
        t->last = t->first;
    } else {
        good = t->bytes > 1 && (dash == t->text || number(t->text, (size_t)(dash - t->text), &t->first)) &&
               (dash + 1 == end || number(dash + 1, (size_t)(end - dash - 1), &t->last));
    }
    if (!good)
        return fail_term(t, err, "not a number from 1 on, a range such as 3-7, or name:PATTERN");
    if (t->first > t->last)
        return fail_term(t, err, "the range is empty");
    return LS_OK;
}

static ls_status parse(const char *text, terms *out, ls_error *err)
{
    for (const char *at = text; at;) {
        const char *comma = strchr(at, ',');
        term t = { .text = at, .bytes = comma ? (size_t)(comma - at) : strlen(at) };
        ls_status status = parse_term(&t, err);
        if (status != LS_OK)
            return status;
        if (!vec_push(&out->list, t)) {
            free(t.pattern);
            return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
        }
        out->names |= t.pattern != NULL;
        at = comma ? comma + 1 : NULL;
    }
    return LS_OK;
}

/* ----------------------------------------------------------------------------------------------- matching */

static bool matches(terms *t, uint64_t kernel, const char *name)
{
    bool any = t->list.count == 0;
    for (size_t i = 0; i < t->list.count; i++) {
        term *one = &t->list.at[i];
        bool hit = one->pattern ? glob_match(one->pattern, name) : kernel >= one->first && kernel <= one->last;
        one->matches += hit;
        any |= hit;
    }
    return any;
}

/* The name from the kernel's header. */
static ls_status read_name(sass_trace *trace, uint64_t command, char **name, ls_error *err)
{
    trace_kernel *kernel;
    ls_status status = trace_open_kernel(trace, command, &kernel, err);
    if (status != LS_OK)
        return status;
    *name = strdup(kernel_get_info(kernel)->name);
    kernel_close(kernel);
    return *name ? LS_OK : ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

static ls_status check_terms(const terms *t, uint64_t kernels, ls_error *err)
{
    for (size_t i = 0; i < t->list.count; i++) {
        char why[64] = "no kernel has such a name";
        if (t->list.at[i].matches)
            continue;
        if (!t->list.at[i].pattern)
            snprintf(why, sizeof why, "the trace has %" PRIu64 " kernel%s", kernels, kernels == 1 ? "" : "s");
        return fail_term(&t->list.at[i], err, why);
    }
    return LS_OK;
}

/* Terms are looked at to their end, then they are gone. */
static ls_status finish(terms *t, uint64_t kernels, selected_kernel *at, size_t count, ls_status status,
                        kernel_selection *out, ls_error *err)
{
    if (status == LS_OK)
        status = check_terms(t, kernels, err);
    free_terms(t);
    if (status == LS_OK)
        *out = (kernel_selection){ .at = at, .count = count };
    else
        free(at);
    return status;
}

ls_status select_kernels(sass_trace *trace, const char *text, kernel_selection *out, ls_error *err)
{
    terms t = { 0 };
    LS_VEC(selected_kernel) found = { 0 };
    uint64_t kernels = 0;
    *out = (kernel_selection){ 0 };
    ls_status status = text ? parse(text, &t, err) : LS_OK;
    for (uint64_t i = 0; status == LS_OK && i < trace_command_count(trace); i++) {
        char *name = NULL;
        if (trace_command_at(trace, i)->kind != LS_COMMAND_KERNEL)
            continue;
        kernels++;
        if (t.names)
            status = read_name(trace, i, &name, err);
        selected_kernel one = { .command = i, .number = kernels };
        if (status == LS_OK && matches(&t, kernels, name ? name : "") && !vec_push(&found, one))
            status = ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
        free(name);
    }
    return finish(&t, kernels, found.at, found.count, status, out, err);
}

ls_status select_named(uint64_t count, const char *(*name_at)(const void *self, uint64_t i), const void *self,
                       const char *text, kernel_selection *out, ls_error *err)
{
    terms t = { 0 };
    LS_VEC(selected_kernel) found = { 0 };
    *out = (kernel_selection){ 0 };
    ls_status status = text ? parse(text, &t, err) : LS_OK;
    for (uint64_t i = 0; status == LS_OK && i < count; i++) {
        selected_kernel one = { .command = i, .number = i + 1 };
        if (matches(&t, i + 1, name_at(self, i)) && !vec_push(&found, one))
            status = ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    }
    return finish(&t, count, found.at, found.count, status, out, err);
}

size_t selection_find(const kernel_selection *selection, uint64_t command)
{
    if (selection == NULL)
        return (size_t)command;
    size_t low = 0, high = selection->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (selection->at[middle].command < command)
            low = middle + 1;
        else
            high = middle;
    }
    return low < selection->count && selection->at[low].command == command ? low : selection->count;
}

void selection_fini(kernel_selection *selection)
{
    free(selection->at);
    *selection = (kernel_selection){ 0 };
}
