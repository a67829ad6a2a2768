/* show_system.c: prints systems. A key that several neighbouring GPUs have in the same way is one row: `gpus.KEY` if
 * it is all of them, else `gpu0-2.KEY` or `gpu3.KEY`. Each of these is also a key for --set. */
#include "platform/show_impl.h"
#include "platform/system.h"

#include <string.h>

#define CELLS (LS_TABLE_COLUMNS - 1)

/* A row about one key of one GPU. */
typedef struct part_row {
    const char *key, *cells[CELLS];
    bool is_printed;
} part_row;

typedef struct part_rows {
    part_row *at;
    size_t count;
} part_rows;

/* ------------------------------------------------------------------------------------------------ merging */

static bool same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

/* The row of a key that is not printed yet; equal GPUs have it at the same index. */
static part_row *find_row(const part_rows *rows, const char *key, size_t index)
{
    for (size_t i = 0; i < rows->count; i++) {
        part_row *row = &rows->at[(index + i) % rows->count];
        if (strcmp(row->key, key) == 0)
            return row->is_printed ? NULL : row;
    }
    return NULL;
}

static bool same_row(const part_row *a, const part_row *b)
{
    bool same = true;
    for (size_t i = 0; i < CELLS; i++)
        same = same && same_text(a->cells[i], b->cells[i]);
    return same;
}

/* Prints a row of GPU `first` with those of the GPUs behind it that are equal. */
static void print_run(key_table *table, const part_rows *parts, size_t count, size_t all, size_t first,
                      size_t index, part_row *row)
{
    char scope[LS_SCOPE_BYTES], key[LS_YAML_PATH_LIMIT + LS_SCOPE_BYTES];
    size_t run = 1;
    part_row *next;
    while (first + run < count && (next = find_row(&parts[first + run], row->key, index)) != NULL &&
           same_row(row, next)) {
        next->is_printed = true;
        run++;
    }
    row->is_printed = true;
    snprintf(key, sizeof key, "%s%s%s", system_scope_text(first, run, all, scope), row->key[0] ? "." : "",
             row->key);
    table_add(table, key, row->cells[0], row->cells[1], row->cells[2], row->cells[3]);
}

/* All rows, with those of one key beside each other; all: GPUs of the system. Returns how many were printed. */
static size_t print_merged(key_table *table, const part_rows *parts, size_t count, size_t all)
{
    size_t printed = 0;
    for (size_t p = 0; p < count; p++)
        for (size_t i = 0; i < parts[p].count; i++) {
            if (parts[p].at[i].is_printed)
                continue;
            for (size_t q = p; q < count; q++) {
                part_row *row = find_row(&parts[q], parts[p].at[i].key, i);
                if (row == NULL)
                    continue;
                print_run(table, parts, count, all, q, i, row);
                printed++;
            }
        }
    return printed;
}

/* -------------------------------------------------------------------------------------------------- table */

static bool same_part(const platform_config *config, size_t a, size_t b)
{
    return hash_same(config_hash_of(config_part(config, a)), config_hash_of(config_part(config, b))) &&
           same_text(config_part_name(config, a), config_part_name(config, b)) &&
           same_text(config_name(config_part(config, a)), config_name(config_part(config, b)));
}

void show_system_heading(FILE *out, const platform_config *config)
{
    char scope[LS_SCOPE_BYTES], hash[LS_HASH_TEXT_BYTES];
    size_t count = config_part_count(config);
    for (size_t i = 0, run; i < count; i += run) {
        const platform_config *part = config_part(config, i);
        const char *name = config_part_name(config, i);
        for (run = 1; i + run < count && same_part(config, i, i + run); run++)
            ;
        fprintf(out, "%-9s %s, machine %s, hash %s%s%s\n", system_scope_text(i, run, SIZE_MAX, scope),
                config_name(part), config_machine(part)->name, hash128_text(config_hash_of(part), hash),
                name[0] ? ", name " : "", name);
    }
}

void show_system_table(key_table *table, const platform_config *config)
{
    size_t count = config_part_count(config);
    text_buffer text = { 0 };
    char place[LS_PLACE_BYTES];
    part_rows *parts = arena_array(&table->arena, count, sizeof *parts);
    for (size_t p = 0; p < count && parts; p++) {
        const platform_config *part = config_part(config, p);
        parts[p].at = arena_array(&table->arena, config_value_count(part) + 1, sizeof *parts[p].at);
        for (size_t i = 0; i < config_value_count(part) && parts[p].at; i++) {
            const config_value *value = config_at(part, i);
            part_row row = {
                .key = value->key->path,
                .cells = { arena_strdup(&table->arena, show_cell(value, &text)), value->key->param->unit,
                           arena_strdup(&table->arena, origin_text(&value->origins[0], place, sizeof place)),
                           value->origins[0].comment }
            };
            table->failed |= text.failed || !row.cells[0] || !row.cells[2];
            parts[p].at[parts[p].count++] = row;
        }
        table->failed |= !parts[p].at;
    }
    table->failed |= !parts;
    text_fini(&text);
    if (!table->failed)
        print_merged(table, parts, count, count);
}

void show_system_yaml(text_buffer *text, const platform_config *config)
{
    size_t count = config_part_count(config);
    text_add(text, LS_YAML_PARTS ":\n");
    for (size_t i = 0, run; i < count; i += run) {
        const platform_config *part = config_part(config, i);
        for (run = 1; i + run < count && same_part(config, i, i + run); run++)
            ;
        text_printf(text, "  - count: %zu  # %s\n", run, config_name(part));
        if (config_part_name(config, i)[0])
            text_printf(text, "    name: %s\n", config_part_name(config, i));
        text_printf(text, "    machine: %s\n", config_machine(part)->name);
        for (size_t k = 0; k < config_value_count(part); k++)
            show_yaml_value(text, "    ", config_at(part, k)->key->path, config_at(part, k));
    }
}

/* --------------------------------------------------------------------------------------------------- diff */

/* The GPU of a number; a platform of one GPU is each of them. */
static const platform_config *gpu_of(const platform_config *config, size_t number)
{
    return config_part_count(config) > 0 ? config_part(config, number) : config;
}

static void add_row(key_table *table, part_rows *rows, const char *key, const char *left, const char *right,
                    const char *unit)
{
    part_row row = {
        .key = key, .cells = { arena_strdup(&table->arena, left), arena_strdup(&table->arena, right), unit }
    };
    table->failed |= !row.cells[0] || !row.cells[1];
    rows->at[rows->count++] = row;
}

static void compare(key_table *table, const platform_config *a, const platform_config *b, part_rows *rows)
{
    text_buffer left = { 0 }, right = { 0 };
    rows->at = arena_array(&table->arena, config_value_count(a) + config_value_count(b) + 3, sizeof *rows->at);
    table->failed |= !rows->at;
    if (table->failed)
        return;
    if (config_machine(a) != config_machine(b)) { /* nearly all keys would differ */
        add_row(table, rows, "platform", config_name(a), config_name(b), "");
        add_row(table, rows, "machine", config_machine(a)->name, config_machine(b)->name, "");
        return;
    }
    for (size_t i = 0; i < config_value_count(a); i++) {
        const config_value *value = config_at(a, i), *other = config_find(b, value->key->path);
        if (!other || strcmp(value->text, other->text) != 0)
            add_row(table, rows, value->key->path, show_cell(value, &left),
                    other ? show_cell(other, &right) : "-", value->key->param->unit);
    }
    for (size_t i = 0; i < config_value_count(b); i++) {
        const config_value *value = config_at(b, i);
        if (!config_find(a, value->key->path))
            add_row(table, rows, value->key->path, "-", show_cell(value, &right), value->key->param->unit);
    }
    table->failed |= left.failed || right.failed;
    text_fini(&left);
    text_fini(&right);
}

/* GPUs that only one of two systems has. */
static void list_others(key_table *table, const platform_config *config, size_t from, bool is_left,
                        size_t *differences)
{
    char scope[LS_SCOPE_BYTES];
    size_t count = config_part_count(config);
    for (size_t i = from, run; i < count; i += run, ++*differences) {
        const char *name = config_name(config_part(config, i));
        for (run = 1; i + run < count && same_part(config, i, i + run); run++)
            ;
        table_add(table, system_scope_text(i, run, SIZE_MAX, scope), is_left ? name : "-",
                  is_left ? "-" : name);
    }
}

void show_system_diff(key_table *table, const platform_config *a, const platform_config *b,
                      size_t *differences)
{
    size_t of_a = config_part_count(a), of_b = config_part_count(b);
    bool both = of_a > 0 && of_b > 0;
    size_t count = !both ? of_a + of_b : of_a < of_b ? of_a : of_b;
    char left[32], right[32];
    snprintf(left, sizeof left, "%zu", of_a > 0 ? of_a : 1);
    snprintf(right, sizeof right, "%zu", of_b > 0 ? of_b : 1);
    if (strcmp(left, right) != 0) {
        ++*differences;
        table_add(table, LS_YAML_PARTS, left, right);
    }
    part_rows *parts = arena_array(&table->arena, count, sizeof *parts);
    table->failed |= !parts;
    for (size_t i = 0; i < count && !table->failed; i++) {
        compare(table, gpu_of(a, i), gpu_of(b, i), &parts[i]);
        if (both && !table->failed && !same_text(config_part_name(a, i), config_part_name(b, i)))
            add_row(table, &parts[i], "name", config_part_name(a, i), config_part_name(b, i), "");
    }
    if (table->failed)
        return;
    *differences += print_merged(table, parts, count, both && of_a != of_b ? SIZE_MAX : count);
    if (both) {
        list_others(table, a, count, true, differences);
        list_others(table, b, count, false, differences);
    }
}
