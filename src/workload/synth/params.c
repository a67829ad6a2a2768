/* params.c: the parameters that every kind has, and reading all of them. */
#include "workload/synth/params.h"

#include "base/text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const uint32_t synth_versions[] = { 61, 70, 75, 80, 86, 90 };
static const char *const version_names[] = { "61", "70", "75", "80", "86", "90", NULL };

const ls_param synth_common_params[] = {
    LS_PARAM_CHOICE(synth_common, binary_version, "binary_version", "80", version_names,
                    "architecture whose instructions are written: sm_XX"),
    LS_PARAM_UINT(synth_common, tracer_version, "", 5, 3, 6, "version of the tracer whose files are imitated"),
    LS_PARAM_UINT(synth_common, seed, "", 1, 0, 1e18, "where random numbers start"),
    LS_PARAM_UINT(synth_common, repeat, "times", 1, 1, 4096, "all launches follow each other so often"),
    LS_PARAM_UINT(synth_common, thread_registers, "registers", 0, 0, 255,
                  "registers of a thread, if the kind needs fewer: limits warps on a core"),
    LS_PARAM_UINT(synth_common, block_shared_kib, "KiB", 0, 0, 227,
                  "shared memory of a block, if the kind needs less: limits blocks on a core"),
};
const size_t synth_common_param_count = LS_COUNT_OF(synth_common_params);

static const char *name_at(const void *self, size_t i)
{
    return synth_param_at(self, i)->name;
}

static ls_status fail_value(const ls_param *param, const char *what, const char *nearest, ls_error *err)
{
    ls_fail(err, LS_ERR_USAGE, "parameter '%s': %s", param->name, what);
    return ls_error_nearest(err, nearest);
}

static ls_status set_uint(const ls_param *param, const char *value, size_t bytes, uint64_t *field,
                          ls_error *err)
{
    ls_error reason;
    uint64_t number;
    if (parse_u64(value, bytes, &number, &reason) != LS_OK)
        return fail_value(param, reason.what, reason.nearest, err);
    if ((double)number < param->min || (double)number > param->max) {
        char what[96];
        snprintf(what, sizeof what, "%" PRIu64 " is not from %.0f to %.0f", number, param->min, param->max);
        return fail_value(param, what, NULL, err);
    }
    *field = number;
    return LS_OK;
}

static ls_status set_choice(const ls_param *param, const char *value, size_t bytes, uint32_t *field,
                            ls_error *err)
{
    char name[64], what[128];
    uint32_t count = 0;
    snprintf(name, sizeof name, "%.*s", (int)synth_min(bytes, sizeof name - 1), value);
    for (; param->choices[count]; count++)
        if (strcmp(param->choices[count], name) == 0) {
            *field = count;
            return LS_OK;
        }
    char quoted[80];
    snprintf(what, sizeof what, "'%s' is none of its values",
             quote_text(name, strlen(name), quoted, sizeof quoted));
    return fail_value(param, what, nearest_of(name, param->choices, count), err);
}

/* Words of an opcode; a blank or a comma would end a field of the trace. */
static ls_status set_text(const ls_param *param, const char *value, size_t bytes, char *field, ls_error *err)
{
    char what[128];
    for (size_t i = 0; i < bytes; i++)
        if (!isalnum((unsigned char)value[i]) && value[i] != '.' && value[i] != '_') {
            snprintf(what, sizeof what,
                     "it has a character that is no letter, digit, '.' or '_' (position %zu)", i + 1);
            return fail_value(param, what, NULL, err);
        }
    if (bytes >= SYNTH_TEXT_BYTES) {
        snprintf(what, sizeof what, "it is longer than %u characters", SYNTH_TEXT_BYTES - 1);
        return fail_value(param, what, NULL, err);
    }
    memcpy(field, value, bytes);
    field[bytes] = '\0';
    return LS_OK;
}

static ls_status set(const ls_param *param, const char *value, size_t bytes, void *spec, ls_error *err)
{
    void *field = (char *)spec + param->offset; /* aligned: it is the offset of a field of this type */
    ls_error reason;
    switch (param->type) {
    case LS_PARAM_TYPE_UINT:
        return set_uint(param, value, bytes, field, err);
    case LS_PARAM_TYPE_CHOICE:
        return set_choice(param, value, bytes, field, err);
    case LS_PARAM_TYPE_BOOL:
        if (parse_bool(value, bytes, field, &reason) != LS_OK)
            return fail_value(param, reason.what, reason.nearest, err);
        return LS_OK;
    case LS_PARAM_TYPE_TEXT:
        return set_text(param, value, bytes, field, err);
    default:
        return ls_fail(err, LS_ERR_INTERNAL, "parameter '%s' has a type that generators do not use",
                       param->name);
    }
}

static ls_status set_named(const synth_kind *kind, const char *pair, size_t bytes, void *spec, ls_error *err)
{
    char name[64], quoted[80];
    const char *equals = memchr(pair, '=', bytes);
    size_t name_bytes = equals ? (size_t)(equals - pair) : bytes;
    if (!equals || name_bytes == 0)
        return ls_fail(err, LS_ERR_USAGE, "'%s' is not name=value",
                       quote_text(pair, bytes, quoted, sizeof quoted));
    snprintf(name, sizeof name, "%.*s", (int)synth_min(name_bytes, sizeof name - 1), pair);
    for (size_t i = 0; i < synth_param_count(kind); i++) {
        const ls_param *param = synth_param_at(kind, i);
        if (strcmp(param->name, name) == 0)
            return set(param, equals + 1, bytes - name_bytes - 1, spec, err);
    }
    ls_fail(err, LS_ERR_USAGE, "'%s' has no parameter '%s'", synth_kind_name(kind),
            quote_text(name, strlen(name), quoted, sizeof quoted));
    return ls_error_nearest(err, nearest_name(name, synth_param_count(kind), name_at, kind));
}

static ls_status set_list(const synth_kind *kind, const char *text, void *spec, ls_error *err)
{
    ls_status status = LS_OK;
    while (text && *text && status == LS_OK) {
        const char *comma = strchr(text, ',');
        size_t bytes = comma ? (size_t)(comma - text) : strlen(text);
        status = set_named(kind, text, bytes, spec, err);
        text = comma ? comma + 1 : NULL;
    }
    return status;
}

ls_status synth_params_read(const synth_kind *kind, const char *text, void *spec, ls_error *err)
{
    ls_status status = LS_OK;
    for (size_t i = 0; i < synth_param_count(kind) && status == LS_OK; i++) {
        const ls_param *param = synth_param_at(kind, i);
        status = set(param, param->default_text, strlen(param->default_text), spec, err);
    }
    if (status == LS_OK)
        status = set_list(kind, kind->defaults, spec, err);
    if (status == LS_OK)
        status = set_list(kind, text, spec, err);
    if (status == LS_OK && kind->check)
        status = kind->check(spec, err);
    return status;
}

ls_status synth_check_multiples(const synth_multiple *rules, size_t count, ls_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (rules[i].value % rules[i].of != 0)
            return ls_fail(err, LS_ERR_USAGE, "parameter '%s': %" PRIu64 " is not a multiple of %" PRIu64,
                           rules[i].name, rules[i].value, rules[i].of);
    return LS_OK;
}

ls_status synth_check_block(uint64_t block, ls_error *err)
{
    return synth_check_multiples(&(synth_multiple){ "block", block, SYNTH_WARP }, 1, err);
}
