/* needs.c: see needs.h. */
#include "platform/needs.h"

#include "base/log.h"

#include <string.h>

/* Whether one of the words of a list with '|' is the value. */
static bool is_one_of(const char *list, size_t bytes, const char *value)
{
    size_t length = strlen(value);
    for (const char *at = list; at <= list + bytes;) {
        const char *end = memchr(at, '|', (size_t)(list + bytes - at));
        end = end ? end : list + bytes;
        if ((size_t)(end - at) == length && strncmp(at, value, length) == 0)
            return true;
        at = end + 1;
    }
    return false;
}

/* One KEY=VALUE or KEY!=VALUE of a condition. */
static bool holds(const platform_config *config, const config_key *key, const char *text, size_t bytes,
                  char *full, size_t full_bytes, const char **is)
{
    const char *equals = memchr(text, '=', bytes);
    if (!equals)
        return true;
    bool not = equals > text && equals[-1] == '!';
    size_t name = (size_t)(equals - text) - not, rest = bytes - (size_t)(equals + 1 - text);
    size_t absolute = strspn(text, "/");
    if (absolute > 0 || !key->section)
        snprintf(full, full_bytes, "%.*s", (int)(name - absolute), text + absolute);
    else
        snprintf(full, full_bytes, "%s.%.*s", key->section->path, (int)name, text);
    const platform_config *whose = absolute == 2 ? config_system(config) : config;
    const config_value *value = whose ? config_find(whose, full) : NULL;
    const char *now = value ? value->text : whose ? NULL : "none";
    if (!now || is_one_of(equals + 1, rest, now) != not )
        return true;
    size_t used = strlen(full);
    snprintf(full + used, full_bytes - used, "%s%.*s", not ? "!=" : "=", (int)rest, equals + 1);
    for (char *bar = strchr(full, '|'); bar; bar = strchr(bar, '|'))
        *bar = '/'; /* one or the other, for people */
    *is = now;
    return false;
}

bool config_unmet(const platform_config *config, const config_key *key, char *condition, size_t bytes,
                  const char **is)
{
    const ls_need *needs = key->model     ? key->model->needs
                           : key->section ? NULL
                                          : config_machine(config)->needs;
    size_t count = key->model ? key->model->need_count : key->section ? 0 : config_machine(config)->need_count;
    for (size_t i = 0; i < count; i++) {
        if (!glob_match(needs[i].keys, key->param->name))
            continue;
        for (const char *at = needs[i].condition; *at;) {
            size_t length = strcspn(at, " "), first = strcspn(at, ", ");
            bool met = false;
            for (const char *one = at; one < at + length && !met; one += strcspn(one, ", ") + 1)
                met = holds(config, key, one, strcspn(one, ", "), condition, bytes, is);
            if (!met) /* reported as the first of the alternatives */
                return !holds(config, key, at, first, condition, bytes, is);
            at += length + strspn(at + length, " ");
        }
    }
    return false;
}

/* A whole platform may describe hardware that its choice of models leaves out. A change that the user made is meant
 * to act: --set, or another value than the bases have in a file that the user gave as the platform. */
static bool is_change(const platform_config *config, const config_value *value)
{
    const value_origin *origins = value->origins;
    if (value->origin_count == 0 || origins[0].kind == LS_ORIGIN_SET)
        return value->origin_count > 0;
    return origins[0].kind == LS_ORIGIN_FILE && config_is_own(config) && config_file(config, 1) != NULL &&
           strcmp(origins[0].file, config_file(config, 0)) == 0 &&
           (value->origin_count < 2 || strcmp(origins[0].text, origins[1].text) != 0);
}

/* Whether another GPU of the system has reported this value, or makes use of it. */
static bool is_reported(const platform_config *system, size_t gpu, const config_value *value)
{
    char condition[512];
    const char *is;
    const value_origin *origin = value->origins;
    for (size_t i = 0; system && i < config_part_count(system); i++) {
        const platform_config *part = config_part(system, i);
        const config_value *other = i == gpu ? NULL : config_find(part, value->key->path);
        if (other && other->origins[0].kind == origin->kind && other->origins[0].line == origin->line &&
            strcmp(other->origins[0].scope, origin->scope) == 0 &&
            strcmp(other->origins[0].file, origin->file) == 0 &&
            (i < gpu || !config_unmet(part, other->key, condition, sizeof condition, &is)))
            return true;
    }
    return false;
}

/* The same of a platform of one GPU, which may be part of a system. */
static bool next_idle(const platform_config *config, const platform_config *system, size_t gpu, size_t *next,
                      char *text, size_t bytes)
{
    char condition[512];
    const char *is;
    while (*next < config_own_count(config)) {
        const config_value *value = config_at(config, (*next)++);
        const value_origin *origin = value->origins;
        if (!is_change(config, value) || !config_unmet(config, value->key, condition, sizeof condition, &is) ||
            is_reported(system, gpu, value))
            continue;
        int used = origin->kind == LS_ORIGIN_SET
                       ? snprintf(text, bytes, "--set ")
                       : snprintf(text, bytes, "%s:%u: ", origin->file, origin->line);
        size_t at = used < 0 ? 0 : (size_t)used < bytes ? (size_t)used : bytes - 1;
        snprintf(text + at, bytes - at, "%s%s%s has no effect: it needs %s, which is %s", origin->scope,
                 origin->scope[0] ? "." : "", value->key->path, condition, is);
        return true;
    }
    return false;
}

bool config_next_idle(const platform_config *config, size_t *next, char *text, size_t bytes)
{
    if (config_part_count(config) == 0)
        return next_idle(config, NULL, 0, next, text, bytes);
    size_t first = config_own_count(config); /* value of the GPU, among those of the system */
    if (*next < first && next_idle(config, NULL, 0, next, text, bytes))
        return true;
    for (size_t i = 0; i < config_part_count(config); i++) {
        const platform_config *part = config_part(config, i);
        size_t at = *next > first ? *next - first : 0;
        bool found = next_idle(part, config, i, &at, text, bytes);
        if (found || first + at > *next)
            *next = first + at;
        if (found)
            return true;
        first += config_value_count(part);
    }
    return false;
}

ls_status config_warn(const platform_config *config, ls_engine *engine, ls_error *err)
{
    char text[1024];
    for (size_t next = 0; config_next_idle(config, &next, text, sizeof text);)
        if (ls_engine_warn(engine, "key", "%s", text) != LS_OK)
            return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    return LS_OK;
}

void config_log_idle(const platform_config *config)
{
    char text[1024];
    for (size_t next = 0; config_next_idle(config, &next, text, sizeof text);)
        log_warn("%s", text);
}
