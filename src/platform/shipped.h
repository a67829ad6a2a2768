/* shipped.h: the platform files that come with Lockstep, as the YAML reader read them at build time.
 *
 * A file with the same bytes needs no YAML parser when Lockstep starts. Any other file, also a changed one of the same
 * name, is read by yaml.h. tools/platform_tables.c writes the tables; numbers in them are offsets, so that the dynamic
 * linker has nothing to relocate. */
#ifndef PLATFORM_SHIPPED_H
#define PLATFORM_SHIPPED_H

#include "base/hash.h"
#include "platform/yaml.h"

typedef struct shipped_item {
    uint32_t text; /* texts are offsets in shipped_tables.texts */
    uint32_t line, column;
    uint32_t quoted;
} shipped_item;

typedef struct shipped_entry {
    uint32_t path, comment;
    uint32_t element;
    uint32_t first_item, item_count; /* in shipped_tables.items */
    uint32_t line, column;
    uint32_t list;
} shipped_entry;

typedef struct shipped_file {
    hash128 hash; /* of its bytes */
    uint32_t first_entry, entry_count;
} shipped_file;

typedef struct shipped_tables {
    const char *texts;
    const shipped_item *items;
    const shipped_entry *entries;
    const shipped_file *files;
    size_t file_count;
} shipped_tables;

extern const shipped_tables shipped_platforms; /* generated */

/* Does what yaml_read() does, and returns true, if the text is a shipped file. */
bool shipped_read(mem_arena *arena, const char *text, size_t bytes, yaml_document *out,
                  config_problems *problems);

#endif
