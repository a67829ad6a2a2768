/* yaml.c: the strict reader over libyaml's events. Uses base and libyaml; knows nothing about machines. */
#include "platform/yaml.h"

#include "base/map.h"
#include "base/text.h"
#include "base/vec.h"
#include "platform/lines.h"

#include <string.h>
#include <yaml.h>

#define QUOTE_BYTES 80 /* of the user's text in a message */

typedef struct reader {
    yaml_parser_t parser;
    mem_arena *arena;
    source_place place;
    const char *text;
    size_t bytes;
    config_problems *problems;
    LS_VEC(yaml_entry) entries;
    LS_VEC(uint32_t) end_lines; /* per entry: the line on which its value ends */
    LS_VEC(yaml_item) items;    /* of the list being read */
    string_map paths;           /* dotted path -> line on which it was first set */
    string_map element_paths;   /* the same in the element of the list of parts that is being read */
    line_places lines;
    const char **comments; /* per line, NULL until it is needed */
    uint32_t depth;
    uint32_t element; /* of the list of parts that is being read; 0: none */
    bool failed;      /* reading cannot go on */
} reader;

static source_place place_of_byte(const reader *r, size_t offset)
{
    source_place place = r->place;
    lines_position(r->text, r->bytes, offset, &place.line, &place.column);
    return place;
}

static source_place place_of_mark(const reader *r, yaml_mark_t mark)
{
    source_place place = r->place;
    place.line = (uint32_t)mark.line + 1;
    place.column = (uint32_t)mark.column + 1;
    return place;
}

static source_place place_of_key(const reader *r, const yaml_entry *entry)
{
    source_place place = r->place;
    place.line = entry->line;
    place.column = entry->column;
    return place;
}

/* Looks at each line once, however many keys stand on it. */
static const char *comment_of(reader *r, uint32_t line)
{
    const char *comment;
    size_t bytes;
    if (line == 0 || line > r->lines.count)
        return "";
    if (r->comments[line - 1])
        return r->comments[line - 1];
    lines_comment(&r->lines, line, &comment, &bytes);
    const char *copy = bytes > 0 ? arena_strndup(r->arena, comment, bytes) : "";
    if (!copy)
        problems_no_memory(r->problems);
    return r->comments[line - 1] = copy ? copy : "";
}

static void attach_comments(reader *r)
{
    for (size_t i = 0; i < r->entries.count; i++) {
        yaml_entry *entry = &r->entries.at[i];
        entry->comment = comment_of(r, r->end_lines.at[i]);
        if (entry->comment[0] == '\0' && r->end_lines.at[i] != entry->line)
            entry->comment = comment_of(r, entry->line);
    }
}

/* ---------------------------------------------------------------------------------------------- events */

static void no_memory(reader *r)
{
    problems_no_memory(r->problems);
    r->failed = true;
}

static void report_parser(reader *r)
{
    const yaml_parser_t *p = &r->parser;
    r->failed = true;
    if (p->error == YAML_MEMORY_ERROR) {
        no_memory(r);
        return;
    }
    const char *problem = p->problem ? p->problem : "no reason given";
    if (p->error == YAML_READER_ERROR) {
        source_place place = place_of_byte(r, p->problem_offset < r->bytes ? p->problem_offset : r->bytes);
        problems_add(r->problems, &place, LS_ERR_INPUT, "not valid YAML: %s", problem);
        return;
    }
    source_place place = place_of_mark(r, p->problem_mark);
    const char *early = lines_at_end(&r->lines, place.line, place.column) ? "the file ends too early: " : "";
    if (p->context)
        problems_add(r->problems, &place, LS_ERR_INPUT, "not valid YAML: %s%s (%s from line %zu on)", early,
                     problem, p->context, p->context_mark.line + 1);
    else
        problems_add(r->problems, &place, LS_ERR_INPUT, "not valid YAML: %s%s", early, problem);
}

/* The next event, which the caller deletes; false when reading cannot go on. */
static bool next_event(reader *r, yaml_event_t *event)
{
    if (r->failed)
        return false;
    if (!yaml_parser_parse(&r->parser, event)) {
        report_parser(r);
        return false;
    }
    if (event->start_mark.index != event->end_mark.index)
        lines_token(&r->lines, (uint32_t)event->start_mark.line + 1, (uint32_t)event->end_mark.line + 1,
                    (uint32_t)event->end_mark.column + 1);
    if (event->type == YAML_MAPPING_END_EVENT || event->type == YAML_SEQUENCE_END_EVENT)
        r->depth--;
    if (event->type != YAML_MAPPING_START_EVENT && event->type != YAML_SEQUENCE_START_EVENT)
        return true;
    if (++r->depth <= LS_YAML_DEPTH_LIMIT)
        return true;
    source_place place = place_of_mark(r, event->start_mark);
    problems_add(r->problems, &place, LS_ERR_INPUT, "nested more than %d levels deep", LS_YAML_DEPTH_LIMIT);
    r->failed = true;
    yaml_event_delete(event);
    return false;
}

/* Deletes the event and, if it opens a mapping or list, everything up to its end. */
static void skip_node(reader *r, yaml_event_t *event)
{
    uint32_t outside = r->depth;
    if (event->type == YAML_MAPPING_START_EVENT || event->type == YAML_SEQUENCE_START_EVENT)
        outside--;
    yaml_event_delete(event);
    while (r->depth > outside && next_event(r, event))
        yaml_event_delete(event);
}

/* Anchors and tags are refused on any kind of node; true if there was one. */
static bool refuse_decoration(reader *r, const yaml_event_t *event)
{
    const yaml_char_t *anchor = NULL, *tag = NULL;
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        anchor = event->data.scalar.anchor;
        tag = event->data.scalar.tag;
        break;
    case YAML_SEQUENCE_START_EVENT:
        anchor = event->data.sequence_start.anchor;
        tag = event->data.sequence_start.tag;
        break;
    case YAML_MAPPING_START_EVENT:
        anchor = event->data.mapping_start.anchor;
        tag = event->data.mapping_start.tag;
        break;
    default:
        break;
    }
    char quoted[QUOTE_BYTES];
    source_place place = place_of_mark(r, event->start_mark);
    if (event->type == YAML_ALIAS_EVENT) {
        const char *name = (const char *)event->data.alias.anchor;
        problems_add(r->problems, &place, LS_ERR_INPUT, "aliases are not allowed in a platform file: '*%s'",
                     quote_text(name, strlen(name), quoted, sizeof quoted));
    } else if (anchor) {
        problems_add(r->problems, &place, LS_ERR_INPUT, "anchors are not allowed in a platform file: '&%s'",
                     quote_text((const char *)anchor, strlen((const char *)anchor), quoted, sizeof quoted));
    } else if (tag) {
        problems_add(r->problems, &place, LS_ERR_INPUT, "tags are not allowed in a platform file: '%s'",
                     quote_text((const char *)tag, strlen((const char *)tag), quoted, sizeof quoted));
    }
    return event->type == YAML_ALIAS_EVENT || anchor || tag;
}

/* ---------------------------------------------------------------------------------------------- values */

static bool is_null(const yaml_event_t *event)
{
    if (event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
        return false;
    const char *s = (const char *)event->data.scalar.value;
    return s[0] == '\0' || strcmp(s, "~") == 0 || strcmp(s, "null") == 0 || strcmp(s, "Null") == 0 ||
           strcmp(s, "NULL") == 0;
}

/* Turns a scalar event into an item; false if it was refused. The event is not deleted. */
static bool read_item(reader *r, const yaml_event_t *event, const char *path, yaml_item *item)
{
    source_place place = place_of_mark(r, event->start_mark);
    if (refuse_decoration(r, event))
        return false;
    if (is_null(event)) {
        problems_add(r->problems, &place, LS_ERR_INPUT, "'%s' has no value", path);
        return false;
    }
    if (memchr(event->data.scalar.value, 0, event->data.scalar.length)) {
        problems_add(r->problems, &place, LS_ERR_INPUT, "the value of '%s' contains a NUL character", path);
        return false;
    }
    *item = (yaml_item){
        .text = arena_strndup(r->arena, (const char *)event->data.scalar.value, event->data.scalar.length),
        .quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE,
        .line = place.line,
        .column = place.column,
    };
    if (!item->text)
        no_memory(r);
    return item->text != NULL;
}

/* The line of the last character; the mark after a block scalar stands at the start of the next line. */
static uint32_t end_line_of(const yaml_event_t *event)
{
    bool behind = event->end_mark.column == 0 && event->end_mark.line > event->start_mark.line;
    return (uint32_t)event->end_mark.line + (behind ? 0 : 1);
}

static bool read_part(reader *r, yaml_event_t *event, yaml_entry *list, uint32_t number);

/* Reads the elements of a list whose start event was just deleted. */
static void read_list(reader *r, yaml_entry *entry, uint32_t *end_line)
{
    yaml_event_t event;
    bool of_parts = r->element == 0 && strcmp(entry->path, LS_YAML_PARTS) == 0;
    uint32_t elements = 0;
    vec_clear(&r->items);
    while (next_event(r, &event)) {
        if (event.type == YAML_SEQUENCE_END_EVENT) {
            if (event.start_mark.index != event.end_mark.index)
                *end_line = end_line_of(&event);
            yaml_event_delete(&event);
            break;
        }
        yaml_item item;
        if (of_parts && read_part(r, &event, entry, ++elements))
            continue;
        if (event.type == YAML_SCALAR_EVENT) {
            *end_line = end_line_of(&event);
            if (!read_item(r, &event, entry->path, &item))
                entry->broken = true;
            else if (!vec_push(&r->items, item))
                no_memory(r);
            yaml_event_delete(&event);
        } else {
            source_place place = place_of_mark(r, event.start_mark);
            entry->broken = true;
            if (!refuse_decoration(r, &event))
                problems_add(r->problems, &place, LS_ERR_INPUT,
                             "an element of '%s' must be a single value, not a %s", entry->path,
                             event.type == YAML_MAPPING_START_EVENT ? "mapping" : "list");
            skip_node(r, &event);
        }
    }
    if (of_parts) /* its elements are entries; a list in one of them used the items */
        vec_clear(&r->items);
    entry->item_count = r->items.count;
    yaml_item *items = arena_array(r->arena, r->items.count + 1, sizeof *items);
    if (!items) {
        no_memory(r);
        return;
    }
    if (r->items.count > 0)
        memcpy(items, r->items.at, r->items.count * sizeof *items);
    entry->items = items;
}

static void add_entry(reader *r, yaml_entry *entry, uint32_t end_line)
{
    entry->element = r->element;
    /* In this order: every entry has its end line, also when memory runs out between the two. */
    if (!vec_push(&r->end_lines, end_line) || !vec_push(&r->entries, *entry))
        no_memory(r);
}

static void read_mapping(reader *r, const char *prefix);

/* Reads the value of the key that entry describes. */
static void read_value(reader *r, yaml_entry *entry)
{
    yaml_event_t event;
    if (!next_event(r, &event))
        return;
    uint32_t end_line = end_line_of(&event);
    if (event.type == YAML_SCALAR_EVENT) {
        yaml_item *item = arena_alloc(r->arena, sizeof *item);
        if (!item)
            no_memory(r);
        else if (!read_item(r, &event, entry->path, item))
            entry->broken = true;
        entry->items = item;
        entry->item_count = 1;
        yaml_event_delete(&event);
        add_entry(r, entry, end_line);
        return;
    }
    bool refused = refuse_decoration(r, &event);
    if (event.type == YAML_MAPPING_START_EVENT && !refused) {
        yaml_event_delete(&event);
        size_t before = r->problems->count + r->problems->lost + r->entries.count;
        read_mapping(r, entry->path);
        if (before != r->problems->count + r->problems->lost + r->entries.count)
            return;
        source_place place = place_of_key(r, entry);
        problems_add(r->problems, &place, LS_ERR_INPUT, "'%s' has no value", entry->path);
        entry->broken = true;
    } else if (event.type == YAML_SEQUENCE_START_EVENT && !refused) {
        yaml_event_delete(&event);
        entry->list = true;
        read_list(r, entry, &end_line);
    } else {
        entry->broken = true;
        skip_node(r, &event);
    }
    add_entry(r, entry, end_line);
}

/* ------------------------------------------------------------------------------------------------ keys */

static bool has_empty_part(const char *key, size_t bytes)
{
    bool empty = true;
    for (size_t i = 0; i < bytes; i++) {
        if (key[i] == '.' && empty)
            return true;
        empty = key[i] == '.';
    }
    return empty;
}

/* "prefix.key"; NULL: the host has no memory left. */
static const char *join_path(reader *r, const char *prefix, size_t prefix_bytes, const char *key, size_t bytes)
{
    size_t before = prefix_bytes > 0 ? prefix_bytes + 1 : 0;
    char *path = arena_alloc(r->arena, before + bytes + 1);
    if (!path) {
        no_memory(r);
        return NULL;
    }
    if (before > 0) {
        memcpy(path, prefix, prefix_bytes);
        path[prefix_bytes] = '.';
    }
    memcpy(path + before, key, bytes);
    return path;
}

/* Joins the key with its prefix; NULL if it was refused. The event is not deleted. */
static const char *read_path(reader *r, const yaml_event_t *event, const char *prefix)
{
    source_place place = place_of_mark(r, event->start_mark);
    if (refuse_decoration(r, event))
        return NULL;
    if (event->type != YAML_SCALAR_EVENT) {
        problems_add(r->problems, &place, LS_ERR_INPUT, "a key must be a name, not a %s",
                     event->type == YAML_MAPPING_START_EVENT ? "mapping" : "list");
        return NULL;
    }
    char quoted[QUOTE_BYTES];
    const char *key = (const char *)event->data.scalar.value;
    size_t bytes = event->data.scalar.length, prefix_bytes = strlen(prefix);
    bool has_nul = memchr(key, 0, bytes) != NULL;
    bool is_long = prefix_bytes + 1 + bytes > LS_YAML_PATH_LIMIT;
    if (!has_nul && !is_long && !has_empty_part(key, bytes))
        return join_path(r, prefix, prefix_bytes, key, bytes);
    quote_text(key, bytes, quoted, sizeof quoted);
    if (has_nul)
        problems_add(r->problems, &place, LS_ERR_INPUT, "the key '%s' contains a NUL character", quoted);
    else if (is_long)
        problems_add(r->problems, &place, LS_ERR_INPUT, "a key is longer than %d bytes: '%s'",
                     LS_YAML_PATH_LIMIT, quoted);
    else
        problems_add(r->problems, &place, LS_ERR_INPUT, "the key '%s' has an empty part", quoted);
    return NULL;
}

/* Notes that path was set; false if it had been before. */
static bool claim_path(reader *r, const char *path, const source_place *place)
{
    string_map *paths = r->element > 0 ? &r->element_paths : &r->paths;
    uintptr_t first = (uintptr_t)map_get(paths, path);
    if (first != 0) {
        char quoted[QUOTE_BYTES];
        problems_add(r->problems, place, LS_ERR_INPUT, "duplicate key '%s', first set on line %llu",
                     quote_text(path, strlen(path), quoted, sizeof quoted), (unsigned long long)first);
        return false;
    }
    if (!map_put(paths, path, (void *)(uintptr_t)place->line))
        no_memory(r);
    return true;
}

/* Reads the pairs of a mapping whose start event was just deleted. */
static void read_mapping(reader *r, const char *prefix)
{
    yaml_event_t event;
    while (next_event(r, &event)) {
        if (event.type == YAML_MAPPING_END_EVENT) {
            yaml_event_delete(&event);
            return;
        }
        source_place place = place_of_mark(r, event.start_mark);
        const char *path = read_path(r, &event, prefix);
        skip_node(r, &event);
        if (path && claim_path(r, path, &place)) {
            yaml_entry entry = { .path = path, .line = place.line, .column = place.column, .comment = "" };
            read_value(r, &entry);
        } else if (next_event(r, &event)) {
            skip_node(r, &event);
        }
    }
}

/* An element of the list of parts: a mapping, or a name alone, which is short for {platform: NAME}. False: it is
 * neither. */
static bool read_part(reader *r, yaml_event_t *event, yaml_entry *list, uint32_t number)
{
    source_place place = place_of_mark(r, event->start_mark);
    uint32_t end_line = end_line_of(event);
    if (event->type != YAML_SCALAR_EVENT && event->type != YAML_MAPPING_START_EVENT)
        return false;
    if (event->type == YAML_MAPPING_START_EVENT && refuse_decoration(r, event)) {
        list->broken = true;
        skip_node(r, event);
        return true;
    }
    r->element = number;
    if (event->type == YAML_SCALAR_EVENT) {
        yaml_item *item = arena_alloc(r->arena, sizeof *item);
        yaml_entry entry = { .path = "platform", .line = place.line, .column = place.column, .comment = "" };
        entry.broken = item == NULL || !read_item(r, event, list->path, item);
        list->broken |= entry.broken;
        entry.items = item;
        entry.item_count = 1;
        yaml_event_delete(event);
        if (item == NULL)
            no_memory(r);
        add_entry(r, &entry, end_line);
    } else {
        size_t before = r->problems->count + r->problems->lost + r->entries.count;
        yaml_event_delete(event);
        map_fini(&r->element_paths);
        read_mapping(r, "");
        if (before == r->problems->count + r->problems->lost + r->entries.count) {
            problems_add(r->problems, &place, LS_ERR_INPUT, "an element of '%s' has no value", list->path);
            list->broken = true;
        }
    }
    r->element = 0;
    return true;
}

/* -------------------------------------------------------------------------------------------- document */

/* Consumes one event of that type; anything else is left to the caller to explain. */
static bool expect(reader *r, yaml_event_type_t type, yaml_event_t *event)
{
    if (!next_event(r, event))
        return false;
    bool as_expected = event->type == type;
    if (as_expected)
        yaml_event_delete(event);
    return as_expected;
}

static void fail_at_event(reader *r, yaml_event_t *event, const char *what)
{
    if (r->failed)
        return;
    source_place place = place_of_mark(r, event->start_mark);
    yaml_event_delete(event);
    problems_add(r->problems, &place, LS_ERR_INPUT, "%s", what);
    r->failed = true;
}

static void read_document(reader *r)
{
    yaml_event_t event;
    if (!expect(r, YAML_STREAM_START_EVENT, &event)) {
        fail_at_event(r, &event, "the file has no start");
        return;
    }
    if (!next_event(r, &event))
        return;
    if (event.type != YAML_DOCUMENT_START_EVENT) {
        fail_at_event(r, &event, "the file is empty");
        return;
    }
    bool has_tags =
        event.data.document_start.tag_directives.start != event.data.document_start.tag_directives.end;
    if (has_tags) {
        fail_at_event(r, &event, "tags are not allowed in a platform file: '%TAG'");
        return;
    }
    yaml_event_delete(&event);
    if (!next_event(r, &event))
        return;
    if (event.type == YAML_SCALAR_EVENT && is_null(&event)) {
        fail_at_event(r, &event, "the file is empty");
        return;
    }
    bool refused = refuse_decoration(r, &event);
    if (event.type != YAML_MAPPING_START_EVENT) {
        if (refused) {
            yaml_event_delete(&event);
            r->failed = true;
            return;
        }
        fail_at_event(r, &event, "a platform file must be a mapping of keys to values");
        return;
    }
    yaml_event_delete(&event);
    read_mapping(r, "");
    if (!expect(r, YAML_DOCUMENT_END_EVENT, &event)) {
        fail_at_event(r, &event, "the mapping of the file does not end");
        return;
    }
    if (!expect(r, YAML_STREAM_END_EVENT, &event))
        fail_at_event(r, &event, "a platform file must hold one document only");
}

/* Errors that libyaml would accept or explain badly. */
static bool check_bytes(reader *r)
{
    const char *nul = memchr(r->text, 0, r->bytes);
    if (nul) {
        source_place place = place_of_byte(r, (size_t)(nul - r->text));
        problems_add(r->problems, &place, LS_ERR_INPUT, "the file contains a NUL byte");
        return false;
    }
    size_t good = utf8_check(r->text, r->bytes);
    if (good < r->bytes) {
        source_place place = place_of_byte(r, good);
        problems_add(r->problems, &place, LS_ERR_INPUT, "the file is not UTF-8 (byte 0x%02x)",
                     (unsigned)(unsigned char)r->text[good]);
        return false;
    }
    return true;
}

void yaml_read(mem_arena *arena, const source_place *place, const char *text, size_t bytes, yaml_document *out,
               config_problems *problems)
{
    *out = (yaml_document){ 0 };
    if (bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        text += 3;
        bytes -= 3;
    }
    reader r = { .arena = arena, .place = *place, .text = text, .bytes = bytes, .problems = problems };
    if (bytes > LS_YAML_FILE_LIMIT) {
        problems_add(problems, place, LS_ERR_INPUT, "the file is larger than %zu bytes", LS_YAML_FILE_LIMIT);
        return;
    }
    if (!check_bytes(&r))
        return;
    mem_arena scratch = { 0 };
    bool ready = lines_init(&r.lines, &scratch, text, bytes);
    r.comments = ready ? arena_array(&scratch, r.lines.count, sizeof *r.comments) : NULL;
    if (!r.comments || !yaml_parser_initialize(&r.parser)) {
        problems_no_memory(problems);
        arena_fini(&scratch);
        return;
    }
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, bytes);
    read_document(&r);
    attach_comments(&r);
    yaml_entry *entries = arena_array(arena, r.entries.count + 1, sizeof *entries);
    if (entries) {
        if (r.entries.count > 0)
            memcpy(entries, r.entries.at, r.entries.count * sizeof *entries);
        *out = (yaml_document){ .entries = entries, .count = r.entries.count, .complete = !r.failed };
    } else {
        problems_no_memory(problems);
    }
    yaml_parser_delete(&r.parser);
    vec_fini(&r.entries);
    vec_fini(&r.end_lines);
    vec_fini(&r.items);
    map_fini(&r.paths);
    map_fini(&r.element_paths);
    arena_fini(&scratch);
}
