/* keys.h: every key of a platform, set to another legal value, changes a result or is warned about by name.
 * Shared by the tests of both kinds of machines. */
#ifndef TESTS_CLI_KEYS_H
#define TESTS_CLI_KEYS_H

#include "base/text.h"
#include "lockstep/block.h"
#include "platform/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The result of a run. */
typedef struct keys_outcome {
    bool refused; /* the machine or the workload does not accept the value */
    bool named;   /* and says which key is to blame */
    bool warned;  /* some warning names the key */
    uint64_t digest;
} keys_outcome;

static inline uint64_t keys_mix(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * 1099511628211u;
}

/* Of all counters, with the blocks' order. */
static inline uint64_t keys_digest(ls_engine *engine, ls_time end)
{
    uint64_t hash = keys_mix(14695981039346656037u, end);
    for (uint32_t i = 0; i < ls_engine_block_count(engine); i++) {
        ls_block *block = ls_engine_block(engine, i);
        const ls_block_type *type = ls_block_type_of(block);
        const char *counters = (const char *)ls_block_state(block) + type->counters_offset;
        for (size_t m = 0; m < type->metric_count; m++)
            if (type->metrics[m].kind == LS_METRIC_KIND_COUNTER)
                hash = keys_mix(hash, *(const uint64_t *)(const void *)(counters + type->metrics[m].offset));
    }
    return hash;
}

static inline bool keys_warned(const ls_engine *engine, const char *key)
{
    size_t count;
    const ls_warning *warnings = ls_engine_warnings(engine, &count);
    for (size_t i = 0; i < count; i++) {
        const char *at = strstr(warnings[i].text, key);
        if (at && at[strlen(key)] == ' ')
            return true;
    }
    return false;
}

/* A message names a key by its last word, with or without what stands before it. */
static inline bool keys_is_named(const char *message, const char *key)
{
    const char *dot = key ? strrchr(key, '.') : NULL;
    return key && strstr(message, dot ? dot + 1 : key) != NULL;
}

#define KEYS_VALUES 12
typedef struct keys_values {
    char at[KEYS_VALUES][160];
    size_t count;
} keys_values;

static inline void keys_add(keys_values *v, const config_value *now, double number)
{
    const ls_param *p = now->key->param;
    if (v->count == KEYS_VALUES || (p->min <= p->max && (number < p->min || number > p->max)))
        return;
    snprintf(v->at[v->count], sizeof v->at[0], "%.15g", number);
    v->count += strcmp(v->at[v->count], now->text) != 0;
}

/* Other legal values of a key, the most telling ones first. */
static inline keys_values keys_others(const config_value *now)
{
    keys_values v = { 0 };
    const ls_param *p = now->key->param;
    double number = strtod(now->text, NULL);
    switch (p->type) {
    case LS_PARAM_TYPE_BOOL:
        snprintf(v.at[v.count++], sizeof v.at[0], "%s", strcmp(now->text, "true") == 0 ? "false" : "true");
        break;
    case LS_PARAM_TYPE_CHOICE:
        for (size_t i = 0; p->choices[i] && v.count < KEYS_VALUES; i++)
            if (strcmp(p->choices[i], now->text) != 0)
                snprintf(v.at[v.count++], sizeof v.at[0], "%s", p->choices[i]);
        break;
    case LS_PARAM_TYPE_UINT:
        keys_add(&v, now, (double)(uint64_t)(number / 2));
        keys_add(&v, now, number * 2);
        keys_add(&v, now, p->min);
        keys_add(&v, now, number + 1);
        keys_add(&v, now, number * 3);
        keys_add(&v, now, p->min + 1);
        keys_add(&v, now, number + 40);
        keys_add(&v, now, number * 8);
        keys_add(&v, now, number + 256);
        keys_add(&v, now, p->max);
        break;
    case LS_PARAM_TYPE_UINTS:
        snprintf(v.at[v.count++], sizeof v.at[0], "[1]");
        snprintf(v.at[v.count++], sizeof v.at[0], "[64]");
        break;
    case LS_PARAM_TYPE_TEXT: /* a bit map is the only one: two bits change places */
        snprintf(v.at[0], sizeof v.at[0], "%s", now->text);
        for (char *s = v.at[0]; s[0] && s[1] && v.count == 0; s++)
            if ((s[0] == 'B' && s[1] == 'C') || (s[0] == 'R' && s[1] == 'B')) {
                char first = s[0];
                s[0] = s[1];
                s[1] = first;
                v.count = 1;
            }
        break;
    default:
        keys_add(&v, now, number * 2);
        keys_add(&v, now, number / 2);
        keys_add(&v, now, number * 0.75);
    }
    return v;
}

#endif
