/* value.c: one value of each parameter type: reading, checking, writing. Uses base and, for
 * names of policies, the registry. */
#include "platform/value.h"

#include "base/text.h"
#include "lockstep/block.h"
#include "platform/retired.h"

#include <stdio.h>
#include <string.h>

#define QUOTE_BYTES 80
#define HZ_PER_MHZ UINT64_C(1000000)

/* Name of each type, its name in messages, and the field that it fills. */
static const struct {
    const char *name, *needs;
    size_t field_bytes;
} types[] = {
    [LS_PARAM_TYPE_BOOL] = { "bool", "true or false", sizeof(bool) },
    [LS_PARAM_TYPE_UINT] = { "uint", "a whole number", sizeof(uint64_t) },
    [LS_PARAM_TYPE_REAL] = { "real", "a number", sizeof(double) },
    [LS_PARAM_TYPE_FREQ] = { "frequency", "a number of MHz", sizeof(ls_ratio) },
    [LS_PARAM_TYPE_RATIO] = { "ratio", "a number", sizeof(ls_ratio) },
    [LS_PARAM_TYPE_TEXT] = { "text", "a text", sizeof(const char *) },
    [LS_PARAM_TYPE_CHOICE] = { "choice", "a name", sizeof(uint32_t) },
    [LS_PARAM_TYPE_TEXTS] = { "text list", "a list of texts such as [a, b]", sizeof(ls_texts) },
    [LS_PARAM_TYPE_UINTS] = { "uint list", "a list of whole numbers such as [1, 2]", sizeof(ls_uints) },
};

size_t value_field_bytes(ls_param_type type)
{
    return (size_t)type < LS_COUNT_OF(types) ? types[type].field_bytes : 0;
}

const char *value_type_name(ls_param_type type)
{
    return (size_t)type < LS_COUNT_OF(types) ? types[type].name : "unknown";
}

const char *value_range_text(const ls_param *param, char *out, size_t out_bytes)
{
    char min[40], max[40];
    out[0] = '\0';
    if (param->min <= param->max)
        snprintf(out, out_bytes, "%s to %s%s%s", format_real(param->min, min, sizeof min),
                 format_real(param->max, max, sizeof max), param->unit[0] ? " " : "", param->unit);
    return out;
}

const char *value_choice(const ls_param *param, size_t number)
{
    size_t count = 0;
    for (; param->choices != NULL && param->choices[count] != NULL; count++)
        if (count == number)
            return param->choices[count];
    for (size_t i = 0; param->slot != NULL && i < ls_registry_block_count(); i++)
        if (strcmp(ls_registry_block(i)->slot, param->slot) == 0 && count++ == number)
            return ls_registry_block(i)->name;
    return NULL;
}

const char *value_choices_text(const ls_param *param, char *out, size_t out_bytes)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; value_choice(param, i) != NULL; i++) {
        size_t left = out_bytes - used;
        int added = snprintf(out + used, left, "%s%s", i > 0 ? ", " : "", value_choice(param, i));
        if (added < 0 || (size_t)added >= left) {
            if (out_bytes > 3)
                memcpy(out + out_bytes - 4, "...", 4);
            break;
        }
        used += (size_t)added;
    }
    return out;
}

/* -------------------------------------------------------------------------------------------- one item */

static ls_status fail_range(const ls_param *param, const char *path, const char *text, ls_error *err)
{
    char range[128], quoted[QUOTE_BYTES];
    return ls_fail(err, LS_ERR_INPUT, "'%s' is %s, but must be from %s", path,
                   quote_text(text, strlen(text), quoted, sizeof quoted),
                   value_range_text(param, range, sizeof range));
}

/* reason: the number parser's error, NULL if it was not called. */
static ls_status fail_type(const ls_param *param, const char *path, const yaml_item *item,
                           const ls_error *reason, ls_error *err)
{
    char quoted[QUOTE_BYTES];
    if (!reason)
        return ls_fail(err, LS_ERR_INPUT, "'%s' needs %s without quotes, got \"%s\"", path,
                       types[param->type].needs,
                       quote_text(item->text, strlen(item->text), quoted, sizeof quoted));
    ls_fail(err, LS_ERR_INPUT, "'%s': %s", path, reason->what);
    return ls_error_nearest(err, reason->nearest);
}

static bool outside(const ls_param *param, double value)
{
    return param->min <= param->max && (value < param->min || value > param->max);
}

static ls_status read_uint(const ls_param *param, const char *path, const yaml_item *item, uint64_t *out,
                           ls_error *err)
{
    ls_error reason;
    if (item->quoted)
        return fail_type(param, path, item, NULL, err);
    if (parse_u64(item->text, strlen(item->text), out, &reason) != LS_OK)
        return fail_type(param, path, item, &reason, err);
    if (outside(param, (double)*out))
        return fail_range(param, path, item->text, err);
    return LS_OK;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* MHz to hertz without leaving exact arithmetic; false if it does not fit. */
static bool to_hertz(ls_ratio mhz, ls_ratio *hz)
{
    uint64_t common = common_divisor(HZ_PER_MHZ, mhz.den), factor = HZ_PER_MHZ / common;
    if (mhz.num > UINT64_MAX / factor)
        return false;
    *hz = ls_ratio_make(mhz.num * factor, mhz.den / common);
    return true;
}

static ls_status read_ratio(const ls_param *param, const char *path, const yaml_item *item, key_value *value,
                            char *canonical, size_t canonical_bytes, ls_error *err)
{
    ls_error reason;
    ls_ratio ratio;
    if (item->quoted)
        return fail_type(param, path, item, NULL, err);
    if (parse_ratio(item->text, strlen(item->text), &ratio, &reason) != LS_OK)
        return fail_type(param, path, item, &reason, err);
    if (outside(param, (double)ratio.num / (double)ratio.den))
        return fail_range(param, path, item->text, err);
    format_ratio(ratio, canonical, canonical_bytes);
    value->ratio = ratio;
    if (param->type == LS_PARAM_TYPE_FREQ && !to_hertz(ratio, &value->ratio)) {
        ls_fail(&reason, LS_ERR_INPUT, "the number of hertz does not fit in 64 bits");
        return fail_type(param, path, item, &reason, err);
    }
    return LS_OK;
}

static ls_status read_choice(const ls_param *param, const char *path, const yaml_item *item, key_value *value,
                             ls_error *err)
{
    size_t count = 0;
    for (const char *choice; (choice = value_choice(param, count)) != NULL; count++) {
        if (strcmp(choice, item->text) == 0) {
            value->choice = (uint32_t)count;
            return LS_OK;
        }
    }
    char quoted[QUOTE_BYTES], choices[256], now[128];
    if (retired_value(path, item->text, now, sizeof now) != NULL)
        return ls_fail(err, LS_ERR_INPUT, "'%s' is '%s', an old spelling: write '%s'", path, item->text, now);
    for (count = 0; param->choices[count] != NULL;)
        count++;
    ls_fail(err, LS_ERR_INPUT, "'%s' is '%s', but must be one of %s", path,
            quote_text(item->text, strlen(item->text), quoted, sizeof quoted),
            value_choices_text(param, choices, sizeof choices));
    return ls_error_nearest(err, nearest_of(item->text, param->choices, count));
}

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

static ls_status read_one(mem_arena *arena, const ls_param *param, const char *path, const yaml_item *item,
                          key_value *value, const char **canonical, ls_error *err)
{
    char text[64] = "";
    const char *result = text;
    size_t bytes = strlen(item->text);
    ls_error reason;
    ls_status status = LS_OK;
    *value = (key_value){ 0 };
    switch (param->type) {
    case LS_PARAM_TYPE_BOOL:
        if (item->quoted)
            return fail_type(param, path, item, NULL, err);
        if (parse_bool(item->text, bytes, &value->boolean, &reason) != LS_OK)
            return fail_type(param, path, item, &reason, err);
        result = value->boolean ? "true" : "false";
        break;
    case LS_PARAM_TYPE_UINT:
        status = read_uint(param, path, item, &value->uint, err);
        format_uint(text, value->uint);
        break;
    case LS_PARAM_TYPE_REAL:
        if (item->quoted)
            return fail_type(param, path, item, NULL, err);
        if (parse_real(item->text, bytes, &value->real, &reason) != LS_OK)
            return fail_type(param, path, item, &reason, err);
        if (outside(param, value->real))
            return fail_range(param, path, item->text, err);
        value->real += 0.0; /* -0 becomes 0: equal values are written alike */
        format_real(value->real, text, sizeof text);
        break;
    case LS_PARAM_TYPE_FREQ:
    case LS_PARAM_TYPE_RATIO:
        status = read_ratio(param, path, item, value, text, sizeof text, err);
        break;
    case LS_PARAM_TYPE_CHOICE:
        status = read_choice(param, path, item, value, err);
        result = item->text;
        break;
    default:
        if (utf8_check(item->text, bytes) < bytes)
            return ls_fail(err, LS_ERR_INPUT, "the text of '%s' is not UTF-8", path);
        result = item->text;
        break;
    }
    if (status != LS_OK)
        return status;
    *canonical = arena_strdup(arena, result);
    if (!*canonical)
        return no_memory(err);
    if (param->type == LS_PARAM_TYPE_TEXT)
        value->text = *canonical;
    return LS_OK;
}

/* ------------------------------------------------------------------------------------------ whole values */

/* Texts may not have commas: the same list can then be given by --set. */
static ls_status read_texts(mem_arena *arena, const char *path, const yaml_item *items, size_t count,
                            key_value *value, const char **canonical, size_t *bad, ls_error *err)
{
    const char **texts = arena_array(arena, count + 1, sizeof *texts);
    if (!texts)
        return no_memory(err);
    text_buffer text = { 0 };
    text_add(&text, "[");
    for (size_t i = 0; i < count; i++) {
        size_t bytes = strlen(items[i].text);
        *bad = i;
        if (utf8_check(items[i].text, bytes) < bytes || strpbrk(items[i].text, ",[]\"\\\n") || bytes == 0) {
            char quoted[QUOTE_BYTES];
            text_fini(&text);
            return ls_fail(err, LS_ERR_INPUT, "'%s' is not an element for '%s'",
                           quote_text(items[i].text, bytes, quoted, sizeof quoted), path);
        }
        texts[i] = arena_strdup(arena, items[i].text);
        if (!texts[i]) {
            text_fini(&text);
            return no_memory(err);
        }
        text_printf(&text, "%s\"%s\"", i > 0 ? ", " : "", texts[i]);
    }
    text_add(&text, "]");
    *canonical = text.failed ? NULL : arena_strdup(arena, text_get(&text));
    text_fini(&text);
    value->texts = (ls_texts){ .at = texts, .count = count };
    return *canonical ? LS_OK : no_memory(err);
}

static bool is_list(const ls_param *param)
{
    return param->type == LS_PARAM_TYPE_UINTS || param->type == LS_PARAM_TYPE_TEXTS;
}

static ls_status read_list(mem_arena *arena, const ls_param *param, const char *path, const yaml_item *items,
                           size_t count, key_value *value, const char **canonical, size_t *bad, ls_error *err)
{
    if (param->type == LS_PARAM_TYPE_TEXTS)
        return read_texts(arena, path, items, count, value, canonical, bad, err);
    uint64_t *numbers = arena_array(arena, count + 1, sizeof *numbers);
    if (!numbers)
        return no_memory(err);
    text_buffer text = { 0 };
    text_add(&text, "[");
    for (size_t i = 0; i < count; i++) {
        *bad = i;
        ls_status status = read_uint(param, path, &items[i], &numbers[i], err);
        if (status != LS_OK) {
            text_fini(&text);
            return status;
        }
        text_printf(&text, "%s%llu", i > 0 ? ", " : "", (unsigned long long)numbers[i]);
    }
    text_add(&text, "]");
    *canonical = text.failed ? NULL : arena_strdup(arena, text_get(&text));
    text_fini(&text);
    value->uints = (ls_uints){ .at = numbers, .count = count };
    return *canonical ? LS_OK : no_memory(err);
}

ls_status value_read(mem_arena *arena, const ls_param *param, const char *path, const yaml_entry *entry,
                     key_value *value, const char **canonical, size_t *bad, ls_error *err)
{
    *bad = 0;
    bool needs_list = is_list(param);
    if (entry->list && !needs_list)
        return ls_fail(err, LS_ERR_INPUT, "'%s' needs %s, got a list", path, types[param->type].needs);
    if (!entry->list && needs_list) {
        char quoted[QUOTE_BYTES];
        const char *text = entry->items[0].text;
        return ls_fail(err, LS_ERR_INPUT, "'%s' needs %s, got '%s'", path, types[param->type].needs,
                       quote_text(text, strlen(text), quoted, sizeof quoted));
    }
    if (needs_list)
        return read_list(arena, param, path, entry->items, entry->item_count, value, canonical, bad, err);
    return read_one(arena, param, path, &entry->items[0], value, canonical, err);
}

/* "[1, 2]" or "1,2" into items; false when the host has no memory left. */
static bool split_list(mem_arena *arena, const char *text, yaml_item **items, size_t *count)
{
    static const char blank[] = " \t";
    const char *s = text + strspn(text, blank), *end = text + strlen(text);
    while (end > s && strchr(blank, end[-1]))
        end--;
    if (end - s >= 2 && *s == '[' && end[-1] == ']') {
        s++;
        end--;
    }
    size_t most = 1;
    for (const char *c = s; c < end; c++)
        most += *c == ',';
    *count = 0;
    *items = arena_array(arena, most, sizeof **items);
    if (!*items)
        return false;
    s += strspn(s, blank);
    while (s < end || *count > 0) {
        const char *comma = memchr(s, ',', (size_t)(end - s)), *stop = comma ? comma : end;
        const char *next = stop;
        while (stop > s && strchr(blank, stop[-1]))
            stop--;
        char *part = arena_strndup(arena, s, (size_t)(stop - s));
        if (!part)
            return false;
        (*items)[(*count)++] = (yaml_item){ .text = part };
        if (!comma)
            break;
        s = next + 1;
        while (s < end && strchr(blank, *s))
            s++;
    }
    return true;
}

ls_status value_parse(mem_arena *arena, const ls_param *param, const char *path, const char *text,
                      key_value *value, const char **canonical, ls_error *err)
{
    if (is_list(param)) {
        yaml_item *items;
        size_t count, bad;
        if (!split_list(arena, text, &items, &count))
            return no_memory(err);
        return read_list(arena, param, path, items, count, value, canonical, &bad, err);
    }
    yaml_item item = { .text = text };
    if (text[0] == '\0' && param->type != LS_PARAM_TYPE_TEXT)
        return ls_fail(err, LS_ERR_INPUT, "'%s' has no value", path);
    return read_one(arena, param, path, &item, value, canonical, err);
}

void value_store(const ls_param *param, const key_value *value, void *spec)
{
    /* Every member of the union starts at its first byte. */
    memcpy((char *)spec + param->offset, value, value_field_bytes(param->type));
}
