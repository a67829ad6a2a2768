/* resolve.c: finds the machine, chooses the models, and gives every key its value and its history. Uses the
 * registry through the schema; opens nothing. */
#include "platform/resolve.h"

#include "base/vec.h"
#include "platform/retired.h"
#include "platform/system.h"

#include <string.h>

#define QUOTE_BYTES 80

/* One value given for a key. */
typedef struct setting {
    const char *path;
    const config_key *key;   /* the first of that path; NULL: there is none */
    const yaml_entry *entry; /* NULL: --set */
    const char *text;        /* of --set */
    source_place place;      /* of the key */
    key_scope *scope;        /* of a key for GPUs of a system; NULL: none */
} setting;

/* The state of a key of the schema. */
typedef struct slot {
    struct history *first, **last; /* newest first */
    key_value value;
    bool seen; /* a value was given, valid or not */
    bool bad;  /* the newest of it is not valid */
} slot;

typedef struct history {
    value_origin origin;
    struct history *next;
} history;

typedef struct resolver {
    mem_arena *arena;
    const config_layers *layers;
    resolved_config *out;
    config_problems *problems;
    LS_VEC(setting) settings; /* newest first */
    slot *slots;              /* per key of the schema */
    bool *by_set;             /* per section: --set chose its model */
} resolver;

static bool from_set(const setting *s)
{
    return !s->entry;
}

static size_t section_index(const resolver *r, const config_key *key)
{
    return (size_t)(key->section - r->out->machine->sections);
}

/* Two arguments: the GPU of a system that an error is about. */
#define LABEL(layers) (layers)->label ? (layers)->label : "", (layers)->label ? ": " : ""

/* A missing key is reported for the named file, after the problems of all files. */
static source_place place_of_missing(const config_layers *layers)
{
    source_place place = layers->files[0].place;
    place.rank = LS_LAYERS_LIMIT + 1;
    return place;
}

/* ---------------------------------------------------------------------------------------------- settings */

static bool collect_settings(resolver *r)
{
    const config_layers *layers = r->layers;
    for (size_t i = layers->set_count; i > 0; i--) {
        const config_override *set = &layers->sets[i - 1];
        setting s = { .path = set->path, .text = set->text, .place = layers->set_place, .scope = set->scope };
        if (layers->parts && s.scope)
            continue; /* the key of a GPU */
        if (schema_is_reserved(s.path)) {
            problems_add(r->problems, &s.place, LS_ERR_INPUT, "'%s' can be set in a platform file only",
                         s.path);
            continue;
        }
        if (!vec_push(&r->settings, s))
            return false;
    }
    for (size_t f = 0; f < layers->file_count; f++) {
        const config_layer *file = &layers->files[f];
        for (size_t i = 0; i < file->yaml.count; i++) {
            const yaml_entry *entry = &file->yaml.entries[i];
            setting s = { .path = entry->path, .entry = entry, .place = file->place, .scope = entry->scope };
            s.place.line = entry->line;
            s.place.column = entry->column;
            if (entry->element > 0 || (layers->parts && s.scope))
                continue; /* the key of a GPU */
            if (!schema_is_reserved(s.path) && !vec_push(&r->settings, s))
                return false;
        }
    }
    return true;
}

/* -------------------------------------------------------------------------------------------- the machine */

static const char *machine_name_at(const void *self, size_t i)
{
    (void)self;
    return ls_registry_machine(i)->name;
}

const ls_machine_type *config_find_machine(const config_layers *layers, config_problems *problems)
{
    for (size_t f = 0; f < layers->file_count; f++) {
        const config_layer *file = &layers->files[f];
        const yaml_entry *entry = layers_find(file, "machine");
        if (!entry)
            continue;
        const char *name = layers_text(file, "machine", problems);
        if (!name)
            return NULL;
        const ls_machine_type *machine = ls_registry_find_machine(name);
        if (machine)
            return machine;
        char quoted[QUOTE_BYTES];
        source_place place = file->place;
        place.line = entry->items[0].line;
        place.column = entry->items[0].column;
        ls_error *error = problems_add(problems, &place, LS_ERR_INPUT, "there is no machine '%s'",
                                       quote_text(name, strlen(name), quoted, sizeof quoted));
        if (error)
            ls_error_nearest(error, nearest_name(name, ls_registry_machine_count(), machine_name_at, NULL));
        return NULL;
    }
    source_place place = place_of_missing(layers);
    problems_add(problems, &place, LS_ERR_INPUT, "%s%srequired key 'machine' is missing", LABEL(layers));
    return NULL;
}

/* ------------------------------------------------------------------------------------------------- values */

/* A path as the user wrote it: with the GPUs it is for. */
static const char *shown_path(resolver *r, const setting *s, const char *path)
{
    const char *full =
        s->scope && s->scope->name[0] ? arena_printf(r->arena, "%s.%s", s->scope->name, path) : path;
    if (!full)
        problems_no_memory(r->problems);
    return full ? full : path;
}

/* A value that is wrong. That of several GPUs is wrong once. */
static void report_value(resolver *r, const setting *s, const source_place *place, const ls_error *error)
{
    if (s->scope && s->scope->is_reported)
        return;
    if (s->scope)
        s->scope->is_reported = true;
    problems_copy(r->problems, place, error);
}

/* A key that this platform does not take. One for several GPUs is wrong only if none of them takes it. */
static void report_key(resolver *r, const setting *s, ls_error *error)
{
    ls_error_at(error, s->place.file, s->place.line, s->place.column);
    if (!s->scope || s->scope->covers == 1) {
        problems_copy(r->problems, &s->place, error);
    } else if (s->scope->refused.status == LS_OK) {
        s->scope->refused = *error;
        s->scope->refused_at = s->place;
    }
}

static bool read_setting(resolver *r, const setting *s, const config_key *key, key_value *value,
                         const char **canonical, ls_error *error, source_place *place)
{
    ls_status status;
    size_t bad = 0;
    const char *path = shown_path(r, s, key->path);
    *place = s->place;
    if (from_set(s)) {
        status = value_parse(r->arena, key->param, path, s->text, value, canonical, error);
    } else {
        status = value_read(r->arena, key->param, path, s->entry, value, canonical, &bad, error);
        if (s->entry->item_count > 0) {
            place->line = s->entry->items[bad].line;
            place->column = s->entry->items[bad].column;
        }
    }
    if (status != LS_OK)
        ls_error_at(error, place->file, place->line, place->column);
    return status == LS_OK;
}

static value_origin origin_of(const setting *s, const char *canonical)
{
    const char *scope = s->scope ? s->scope->name : "";
    if (from_set(s))
        return (value_origin){
            .kind = LS_ORIGIN_SET, .file = "", .text = canonical, .comment = "", .scope = scope
        };
    const yaml_entry *entry = s->entry;
    bool has_item = entry->item_count > 0;
    return (value_origin){ .kind = LS_ORIGIN_FILE,
                           .file = s->place.file,
                           .line = has_item ? entry->items[0].line : entry->line,
                           .column = has_item ? entry->items[0].column : entry->column,
                           .text = canonical,
                           .comment = entry->comment,
                           .scope = scope };
}

static void add_history(resolver *r, slot *to, value_origin origin)
{
    history *entry = arena_alloc(r->arena, sizeof *entry);
    if (!entry) {
        problems_no_memory(r->problems);
        return;
    }
    entry->origin = origin;
    if (!to->last)
        to->last = &to->first;
    *to->last = entry;
    to->last = &entry->next;
}

/* Parses the value in force of a key. */
static void apply(resolver *r, const setting *s, const config_key *key)
{
    slot *to = &r->slots[key - r->out->schema.keys];
    bool newest = !to->seen;
    to->seen = true;
    to->bad |= newest;
    if (s->scope)
        s->scope->is_taken = true;
    if (s->entry && s->entry->broken)
        return;
    key_value value;
    const char *canonical;
    ls_error error;
    source_place place;
    if (!read_setting(r, s, key, &value, &canonical, &error, &place)) {
        report_value(r, s, &place, &error);
        return;
    }
    if (newest) {
        to->bad = false;
        to->value = value;
    }
    add_history(r, to, origin_of(s, canonical));
}

/* ------------------------------------------------------------------------------------------------- models */

/* Finds the keys. `dram: fixed` is short for `dram.model: fixed`. */
static void find_keys(resolver *r)
{
    for (size_t i = 0; i < r->settings.count; i++) {
        setting *s = &r->settings.at[i];
        bool has_value = from_set(s) || (!s->entry->broken && s->entry->item_count > 0);
        s->key = schema_find(&r->out->schema, s->path);
        if (!has_value || s->key)
            continue;
        const char *path = arena_printf(r->arena, "%s.model", s->path);
        const config_key *model = path ? schema_find(&r->out->schema, path) : NULL;
        if (!path) {
            problems_no_memory(r->problems);
        } else if (model && key_is_model(model)) {
            s->path = path;
            s->key = model;
        }
    }
}

static void choose_models(resolver *r)
{
    const machine_schema *schema = &r->out->schema;
    for (size_t i = 0; i < r->settings.count; i++) {
        const setting *s = &r->settings.at[i];
        const config_key *key = s->key;
        if (!key || !key_is_model(key))
            continue;
        if (!r->slots[key - schema->keys].seen)
            r->by_set[section_index(r, key)] = from_set(s);
        apply(r, s, key);
    }
    for (size_t i = 0; i < schema->count; i++) {
        const config_key *key = &schema->keys[i];
        if (!key_is_model(key))
            continue;
        const slot *chosen = &r->slots[i];
        const char *name = chosen->seen ? NULL : key->param->default_text;
        if (chosen->first && !chosen->bad)
            name = chosen->first->origin.text;
        if (name)
            r->out->models[section_index(r, key)] = ls_registry_find_block(key->section->slot, name);
    }
}

/* Whether the key is valid with the models that were chosen. */
static bool in_force(const resolver *r, const config_key *key)
{
    return !key->model || r->out->models[section_index(r, key)] == key->model;
}

/* ------------------------------------------------------------------------------------------ what is wrong */

static const char *key_at(const void *self, size_t i)
{
    const resolver *r = self;
    if (i < LS_SCHEMA_RESERVED_COUNT)
        return schema_reserved[i];
    const config_key *key = r->out->schema.sorted[i - LS_SCHEMA_RESERVED_COUNT];
    for (const config_key *k = key; k; k = k->same)
        if (in_force(r, k))
            return k->path;
    return NULL;
}

/* The nearest key, else the only key with this ending ("size_kib" for "core.l1.size_kib"). */
static const char *nearest_key(const resolver *r, const char *path)
{
    size_t count = LS_SCHEMA_RESERVED_COUNT + r->out->schema.sorted_count;
    const char *nearest = nearest_name(path, count, key_at, r);
    for (size_t i = 0; i < count && !nearest; i++) {
        const char *candidate = key_at(r, i);
        size_t bytes = strlen(path), length = candidate ? strlen(candidate) : 0;
        if (length > bytes && candidate[length - bytes - 1] == '.' && ends_with(candidate, path))
            return candidate;
    }
    return nearest;
}

static const char *first_key_of(const resolver *r, const char *section)
{
    size_t bytes = strlen(section);
    for (size_t i = LS_SCHEMA_RESERVED_COUNT; i < LS_SCHEMA_RESERVED_COUNT + r->out->schema.sorted_count;
         i++) {
        const char *candidate = key_at(r, i);
        if (candidate && strncmp(candidate, section, bytes) == 0 && candidate[bytes] == '.')
            return candidate;
    }
    return NULL;
}

/* The key that a prefix of path names, if it is one: "clock_mhz" of "clock_mhz.core". */
static const config_key *key_above(const resolver *r, const char *path)
{
    char prefix[LS_YAML_PATH_LIMIT + 1];
    size_t bytes = strlen(path);
    if (bytes >= sizeof prefix)
        return NULL;
    memcpy(prefix, path, bytes + 1);
    for (char *dot = strrchr(prefix, '.'); dot; dot = strrchr(prefix, '.')) {
        *dot = '\0';
        const config_key *key = schema_find(&r->out->schema, prefix);
        if (key)
            return key;
    }
    return NULL;
}

static const char *nearest_shown(resolver *r, const setting *s, bool section)
{
    const char *near = section ? first_key_of(r, s->path) : nearest_key(r, s->path);
    if (r->layers->parts)
        return system_nearest(r->arena, r->layers->parts, s->path, near);
    return near ? shown_path(r, s, near) : NULL;
}

static void report_unknown(resolver *r, const setting *s)
{
    char quoted[QUOTE_BYTES], now[128];
    ls_error error;
    const config_key *above = key_above(r, s->path);
    const char *path = shown_path(r, s, s->path);
    quote_text(path, strlen(path), quoted, sizeof quoted);
    if (above) {
        ls_fail(&error, LS_ERR_INPUT, "'%s' is a value, so there is no key '%s'",
                shown_path(r, s, above->path), quoted);
        report_key(r, s, &error);
        return;
    }
    if (retired_key(s->path, now, sizeof now) != NULL) {
        ls_fail(&error, LS_ERR_INPUT, "'%s' is an old key: write '%s'", quoted, now);
        report_key(r, s, &error);
        return;
    }
    bool section = schema_is_section(&r->out->schema, s->path);
    if (section && s->entry && s->entry->broken)
        return; /* it has no value at all, which was reported */
    if (section)
        ls_fail(&error, LS_ERR_INPUT, "'%s' is a section, not a value", quoted);
    else
        ls_fail(&error, LS_ERR_INPUT, "unknown key '%s' for machine '%s'", quoted, r->out->machine->name);
    ls_error_nearest(&error, nearest_shown(r, s, section));
    report_key(r, s, &error);
}

/* The key exists, but not for the model that was chosen. */
static void handle_other_model(resolver *r, const setting *s, const config_key *key)
{
    const ls_block_type *chosen = r->out->models[section_index(r, key)];
    if (!chosen || (s->entry && s->entry->broken))
        return; /* reported already */
    bool may_stand = s->entry && (s->place.rank > 0 || r->by_set[section_index(r, key)]);
    ls_error error;
    if (!may_stand) {
        text_buffer owners = { 0 };
        for (const config_key *k = key; k; k = k->same)
            text_printf(&owners, "%s'%s'", k == key ? "" : " or ", k->model->name);
        ls_fail(&error, LS_ERR_INPUT, "'%s' belongs to model %s, but %s.model is '%s'",
                shown_path(r, s, key->path), text_get(&owners), shown_path(r, s, key->section->path),
                chosen->name);
        text_fini(&owners);
        report_key(r, s, &error);
        if (!s->scope || s->scope->covers == 1)
            return;
    }
    key_value value;
    const char *canonical;
    ls_error first_error = { .status = LS_OK };
    source_place place;
    for (const config_key *k = key; k; k = k->same) {
        if (read_setting(r, s, k, &value, &canonical, &error, &place)) {
            r->out->drops[r->out->drop_count++] = (config_drop){ .key = k, .origin = origin_of(s, canonical) };
            return;
        }
        if (first_error.status == LS_OK)
            first_error = error;
    }
    report_value(r, s, &place, &first_error);
}

/* ------------------------------------------------------------------------------------------- all together */

static void apply_settings(resolver *r)
{
    for (size_t i = 0; i < r->settings.count; i++) {
        const setting *s = &r->settings.at[i];
        const config_key *key = s->key, *match = key;
        if (!key) {
            report_unknown(r, s);
            continue;
        }
        if (key_is_model(key))
            continue;
        while (match && !in_force(r, match))
            match = match->same;
        if (match)
            apply(r, s, match);
        else
            handle_other_model(r, s, key);
    }
}

static void report_missing(resolver *r, const config_key *key)
{
    source_place place = place_of_missing(r->layers);
    const char *unit = key->param->unit;
    problems_add(r->problems, &place, LS_ERR_INPUT, "%s%srequired key '%s' is missing: %s%s%s%s",
                 LABEL(r->layers), key->path, key->param->help, unit[0] ? " (" : "", unit, unit[0] ? ")" : "");
}

/* The default is the oldest value of a key. */
static void add_default(resolver *r, const config_key *key, slot *to)
{
    if (!key->default_text) {
        if (!to->seen)
            report_missing(r, key);
        return;
    }
    if (!to->seen)
        to->value = key->default_value;
    add_history(r, to,
                (value_origin){ .kind = LS_ORIGIN_DEFAULT,
                                .file = "",
                                .text = key->default_text,
                                .comment = "",
                                .scope = "" });
}

static void finish_value(resolver *r, const config_key *key, const slot *from)
{
    size_t count = 0;
    for (const history *h = from->first; h; h = h->next)
        count++;
    value_origin *origins = arena_array(r->arena, count + 1, sizeof *origins);
    if (!origins) {
        problems_no_memory(r->problems);
        return;
    }
    size_t i = 0;
    for (const history *h = from->first; h; h = h->next)
        origins[i++] = h->origin;
    r->out->values[r->out->value_count++] = (config_value){ .key = key,
                                                            .value = from->value,
                                                            .text = count > 0 ? origins[0].text : "",
                                                            .origins = origins,
                                                            .origin_count = count };
}

static bool allocate(resolver *r)
{
    resolved_config *out = r->out;
    r->slots = arena_array(r->arena, out->schema.count + 1, sizeof *r->slots);
    r->by_set = arena_array(r->arena, out->machine->section_count + 1, sizeof *r->by_set);
    out->models = arena_array(r->arena, out->machine->section_count + 1, sizeof(void *));
    out->values = arena_array(r->arena, out->schema.count + 1, sizeof *out->values);
    out->drops = arena_array(r->arena, r->settings.count + 1, sizeof *out->drops);
    return r->slots && r->by_set && out->models && out->values && out->drops;
}

static void resolve(resolver *r)
{
    ls_error error;
    bool collected = collect_settings(r);
    if (collected && !r->out->machine)
        return; /* reported */
    if (collected && schema_create(r->arena, r->out->machine, &r->out->schema, &error) != LS_OK) {
        ls_error_at(&error, r->layers->files[0].place.file, 0, 0);
        problems_copy(r->problems, &r->layers->files[0].place, &error);
        return;
    }
    if (!collected || !allocate(r)) {
        problems_no_memory(r->problems);
        return;
    }
    find_keys(r);
    choose_models(r);
    apply_settings(r);
    for (size_t i = 0; i < r->out->schema.count; i++) {
        const config_key *key = &r->out->schema.keys[i];
        if (!in_force(r, key))
            continue;
        add_default(r, key, &r->slots[i]);
        finish_value(r, key, &r->slots[i]);
    }
}

void config_resolve(mem_arena *arena, const config_layers *layers, const ls_machine_type *machine,
                    resolved_config *out, config_problems *problems)
{
    *out = (resolved_config){ .machine = machine };
    resolver r = { .arena = arena, .layers = layers, .out = out, .problems = problems };
    resolve(&r);
    vec_fini(&r.settings);
}
