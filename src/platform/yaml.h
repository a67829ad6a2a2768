/* yaml.h: one strict YAML file as a flat list of dotted keys with their places.
 *
 * Only what a configuration needs is accepted: one document, mappings, scalars and lists of scalars. The list
 * LS_YAML_PARTS may also have mappings as elements. Anchors, aliases, tags, empty values and keys that stand twice
 * are refused. The form of a value decides nothing: the key's type later decides the meaning of "on" or 010. */
#ifndef PLATFORM_YAML_H
#define PLATFORM_YAML_H

#include "base/arena.h"
#include "platform/problem.h"

#define LS_YAML_FILE_LIMIT ((size_t)1 << 20) /* bytes of a file */
#define LS_YAML_PATH_LIMIT 255               /* bytes of a dotted key */
#define LS_YAML_DEPTH_LIMIT 16               /* mappings and lists inside each other */
#define LS_YAML_PARTS "gpus"                 /* the list whose elements are platforms */

typedef struct yaml_item {
    const char *text;
    bool quoted; /* "64" and '64' are text, 64 is a number */
    uint32_t line, column;
} yaml_item;

struct key_scope;

typedef struct yaml_entry {
    const char *path;        /* nested keys joined with dots: "core.l1.size_kib" */
    uint32_t element;        /* 0, or the element of LS_YAML_PARTS in which it stands, from 1 */
    struct key_scope *scope; /* system.h: which GPUs it is for; NULL: the platform of the file */
    const yaml_item *items;  /* one, or the elements of a list */
    size_t item_count;
    bool list;
    bool broken;           /* its value was refused: the key is there, but says nothing */
    uint32_t line, column; /* of the key */
    const char *comment;   /* after the value on its line, else after the key; "" if there is none */
} yaml_entry;

typedef struct yaml_document {
    const yaml_entry *entries; /* in the order of the file */
    size_t count;
    bool complete; /* read to the end; if not, keys may be missing because of a problem that was reported */
} yaml_document;

/* Reads text (bytes long) that stands in place->file; everything in *out lives in the arena. Errors are added
 * to problems. */
void yaml_read(mem_arena *arena, const source_place *place, const char *text, size_t bytes, yaml_document *out,
               config_problems *problems);

/* Adds `text` as a YAML scalar in double quotes. */
struct text_buffer;
void yaml_quote(struct text_buffer *out, const char *text);

#endif
