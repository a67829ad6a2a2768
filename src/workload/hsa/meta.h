/* meta.h: a code object's metadata as a tree, read from MessagePack or from the YAML of version 2, and the
 * kernels in the tree. Used inside src/workload/hsa only. */
#ifndef WORKLOAD_HSA_META_H
#define WORKLOAD_HSA_META_H

#include "workload/hsa/hsa.h"

#define META_DEPTH 24 /* of containers inside each other; real files have 5 */

typedef enum meta_kind { META_NULL, META_BOOL, META_NUMBER, META_TEXT, META_LIST, META_MAP } meta_kind;

typedef struct meta_node {
    meta_kind kind;
    const char *key; /* inside a map: terminated, otherwise NULL */
    const char *text;
    uint64_t number; /* META_BOOL: 0 or 1; negative numbers become 0 */
    struct meta_node *children;
    size_t count;
} meta_node;

/* Build the tree in the arena. */
ls_status meta_read_msgpack(mem_arena *arena, const void *data, size_t bytes, const meta_node **out,
                            ls_error *err);
ls_status meta_read_yaml(mem_arena *arena, const void *data, size_t bytes, const meta_node **out,
                         ls_error *err);

/* NULL if map is NULL, no map, or has no such key. */
const meta_node *meta_get(const meta_node *map, const char *key);
/* The text or number under the key; "" and fallback if it is missing or of another kind. */
const char *meta_text(const meta_node *map, const char *key);
uint64_t meta_number(const meta_node *map, const char *key, uint64_t fallback);

/* The list of kernels in the tree, and the content of one entry: texts, arguments and limits. Registers and
 * sizes are set only if they are 0 in the kernel. */
const meta_node *meta_kernels(const meta_node *root);
const char *meta_kernel_symbol(const meta_node *kernel);
ls_status meta_apply(mem_arena *arena, const meta_node *node, hsa_kernel *kernel, ls_error *err);

#endif
