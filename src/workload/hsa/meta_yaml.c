/* meta_yaml.c: the YAML metadata of code objects of version 2 as a tree. */
#include "base/text.h"
#include "workload/hsa/meta.h"

#include <string.h>
#include <yaml.h>

#define YAML_NODES 200000 /* of one document */

typedef struct reader {
    mem_arena *arena;
    yaml_document_t *document;
    size_t nodes; /* seen so far: an alias may name a node many times */
} reader;

static ls_status convert(reader *r, int id, unsigned depth, meta_node *to, ls_error *err);

static const char *scalar_text(reader *r, const yaml_node_t *node)
{
    return arena_strndup(r->arena, (const char *)node->data.scalar.value, node->data.scalar.length);
}

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

static ls_status convert_scalar(reader *r, const yaml_node_t *node, meta_node *to, ls_error *err)
{
    const char *text = scalar_text(r, node);
    ls_error ignored;
    if (!text)
        return no_memory(err);
    to->kind = META_TEXT;
    to->text = text;
    if (node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
        return LS_OK;
    if (parse_u64(text, strlen(text), &to->number, &ignored) == LS_OK) {
        to->kind = META_NUMBER;
    } else if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0) {
        to->kind = META_BOOL;
        to->number = text[0] == 't';
    }
    return LS_OK;
}

static ls_status convert_list(reader *r, const yaml_node_t *node, unsigned depth, meta_node *to, ls_error *err)
{
    size_t count = (size_t)(node->data.sequence.items.top - node->data.sequence.items.start);
    ls_status status = LS_OK;
    to->kind = META_LIST;
    to->children = arena_array(r->arena, count + 1, sizeof *to->children);
    if (!to->children)
        return no_memory(err);
    for (size_t i = 0; i < count && status == LS_OK; i++)
        status = convert(r, node->data.sequence.items.start[i], depth, &to->children[to->count++], err);
    return status;
}

static ls_status convert_map(reader *r, const yaml_node_t *node, unsigned depth, meta_node *to, ls_error *err)
{
    size_t count = (size_t)(node->data.mapping.pairs.top - node->data.mapping.pairs.start);
    ls_status status = LS_OK;
    to->kind = META_MAP;
    to->children = arena_array(r->arena, count + 1, sizeof *to->children);
    if (!to->children)
        return no_memory(err);
    for (size_t i = 0; i < count && status == LS_OK; i++) {
        const yaml_node_pair_t *pair = &node->data.mapping.pairs.start[i];
        const yaml_node_t *key = yaml_document_get_node(r->document, pair->key);
        if (!key || key->type != YAML_SCALAR_NODE)
            continue;
        to->children[to->count].key = scalar_text(r, key);
        if (!to->children[to->count].key)
            return no_memory(err);
        status = convert(r, pair->value, depth, &to->children[to->count++], err);
    }
    return status;
}

static ls_status convert(reader *r, int id, unsigned depth, meta_node *to, ls_error *err)
{
    const yaml_node_t *node = yaml_document_get_node(r->document, id);
    if (depth > META_DEPTH || ++r->nodes > YAML_NODES)
        return ls_fail(err, LS_ERR_INPUT, "the metadata is nested too deeply or has too many entries");
    if (!node)
        return LS_OK;
    switch (node->type) {
    case YAML_SCALAR_NODE:
        return convert_scalar(r, node, to, err);
    case YAML_SEQUENCE_NODE:
        return convert_list(r, node, depth + 1, to, err);
    case YAML_MAPPING_NODE:
        return convert_map(r, node, depth + 1, to, err);
    default:
        return LS_OK;
    }
}

ls_status meta_read_yaml(mem_arena *arena, const void *data, size_t bytes, const meta_node **out,
                         ls_error *err)
{
    yaml_parser_t parser;
    yaml_document_t document;
    meta_node *root = arena_alloc(arena, sizeof *root);
    ls_status status = LS_OK;
    *out = NULL;
    if (!root || !yaml_parser_initialize(&parser))
        return no_memory(err);
    yaml_parser_set_input_string(&parser, data, bytes);
    if (!yaml_parser_load(&parser, &document)) {
        status = ls_fail(err, LS_ERR_INPUT, "the metadata is damaged in line %zu: %s",
                         parser.problem_mark.line + 1, parser.problem ? parser.problem : "no YAML");
    } else {
        reader r = { .arena = arena, .document = &document };
        if (yaml_document_get_root_node(&document))
            status = convert(&r, 1, 0, root, err);
        yaml_document_delete(&document);
    }
    yaml_parser_delete(&parser);
    if (status == LS_OK)
        *out = root;
    return status;
}
