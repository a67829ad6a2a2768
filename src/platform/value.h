/* value.h: a configuration value: from text to the field of a spec, checked against its declaration. */
#ifndef PLATFORM_VALUE_H
#define PLATFORM_VALUE_H

#include "base/arena.h"
#include "lockstep/param.h"
#include "platform/yaml.h"

typedef union key_value {
    bool boolean;
    uint64_t uint;
    double real;
    ls_ratio ratio; /* a frequency is in hertz */
    const char *text;
    uint32_t choice;
    ls_uints uints;
    ls_texts texts;
} key_value;

/* Reads what stands in a file for the key `path`. *canonical gets the one way in which this value is written;
 * both live in the arena. On failure err has no place yet and *bad is the item to blame. */
ls_status value_read(mem_arena *arena, const ls_param *param, const char *path, const yaml_entry *entry,
                     key_value *value, const char **canonical, size_t *bad, ls_error *err);
/* The same from one text (--set, a default); a list is "[1, 2]" or "1,2". */
ls_status value_parse(mem_arena *arena, const ls_param *param, const char *path, const char *text,
                      key_value *value, const char **canonical, ls_error *err);

/* Writes the value into the param's field of spec. */
void value_store(const ls_param *param, const key_value *value, void *spec);
/* Bytes of the field that a type fills, 0 for a type that does not exist. */
size_t value_field_bytes(ls_param_type type);

/* "bool", "uint", ...: for tables and JSON. */
const char *value_type_name(ls_param_type type);
/* "1 to 65536 entries", "" if there is no limit. Returns out. */
const char *value_range_text(const ls_param *param, char *out, size_t out_bytes);
/* The names of a choice, by number: declared ones, then those of the registry. NULL: there is no such
 * number. */
const char *value_choice(const ls_param *param, size_t number);
/* "lru, fifo, random"; cut with "..." if it does not fit. Returns out. */
const char *value_choices_text(const ls_param *param, char *out, size_t out_bytes);

#endif
