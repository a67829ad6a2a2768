/* meta_msgpack.c: the MessagePack metadata of code objects of versions 3 to 5 as a tree. */
#include "workload/hsa/meta.h"

#include <msgpack.h>
#include <string.h>

/* ----------------------------------------------------------------------------------------------- checking */

typedef struct scan {
    const uint8_t *at;
    size_t left;
} scan;

static bool take(scan *s, size_t bytes)
{
    if (bytes > s->left)
        return false;
    s->at += bytes;
    s->left -= bytes;
    return true;
}

static bool take_number(scan *s, size_t bytes, uint64_t *out)
{
    const uint8_t *at = s->at;
    if (!take(s, bytes))
        return false;
    *out = 0;
    for (size_t i = 0; i < bytes; i++)
        *out = *out << 8 | at[i];
    return true;
}

/* The body of one object of the long forms (0xc0 to 0xdf): how many bytes and how many further objects
 * follow. */
static bool long_form(scan *s, uint8_t tag, uint64_t *bytes, uint64_t *objects)
{
    static const uint8_t plain[16] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 8, 1, 2, 4, 8 }; /* 0xc0 to 0xcf */
    if (tag == 0xc1)
        return false;
    if (tag >= 0xc4 && tag <= 0xc6) /* bin 8, 16, 32 */
        return take_number(s, (size_t)1 << (tag - 0xc4), bytes);
    if (tag >= 0xc7 && tag <= 0xc9) { /* ext 8, 16, 32: one byte of type */
        if (!take_number(s, (size_t)1 << (tag - 0xc7), bytes))
            return false;
        *bytes += 1;
        return true;
    }
    if (tag < 0xd0) {
        *bytes = plain[tag - 0xc0];
        return true;
    }
    if (tag <= 0xd3) { /* int 8 to 64 */
        *bytes = (uint64_t)1 << (tag - 0xd0);
        return true;
    }
    if (tag <= 0xd8) { /* fixext 1 to 16 */
        *bytes = ((uint64_t)1 << (tag - 0xd4)) + 1;
        return true;
    }
    if (tag <= 0xdb) /* str 8, 16, 32 */
        return take_number(s, (size_t)1 << (tag - 0xd9), bytes);
    if (!take_number(s, (tag & 1) ? 4 : 2, objects)) /* array 16, 32; map 16, 32 */
        return false;
    if (tag >= 0xde)
        *objects *= 2;
    return true;
}

/* Whether the bytes are one complete object. The library sizes its arrays by what a header claims, before
 * it has seen the elements; after this every claim is true. */
static bool is_complete(scan *s, unsigned depth)
{
    uint64_t bytes = 0, objects = 0;
    uint8_t tag;
    if (s->left == 0 || depth > META_DEPTH)
        return false;
    tag = *s->at;
    take(s, 1);
    if (tag >= 0x80 && tag <= 0x8f)
        objects = 2u * (tag & 0xfu);
    else if (tag >= 0x90 && tag <= 0x9f)
        objects = tag & 0xfu;
    else if (tag >= 0xa0 && tag <= 0xbf)
        bytes = tag & 0x1fu;
    else if (tag >= 0xc0 && tag <= 0xdf && !long_form(s, tag, &bytes, &objects))
        return false;
    if (!take(s, bytes < SIZE_MAX ? (size_t)bytes : SIZE_MAX))
        return false;
    for (uint64_t i = 0; i < objects; i++)
        if (!is_complete(s, depth + 1))
            return false;
    return true;
}

/* --------------------------------------------------------------------------------------------- converting */

static bool convert(ls_arena *arena, const msgpack_object *from, meta_node *to)
{
    switch (from->type) {
    case MSGPACK_OBJECT_BOOLEAN:
        to->kind = META_BOOL;
        to->number = from->via.boolean;
        return true;
    case MSGPACK_OBJECT_POSITIVE_INTEGER:
        to->kind = META_NUMBER;
        to->number = from->via.u64;
        return true;
    case MSGPACK_OBJECT_NEGATIVE_INTEGER:
        to->kind = META_NUMBER;
        return true;
    case MSGPACK_OBJECT_STR:
        to->kind = META_TEXT;
        to->text = ls_arena_strndup(arena, from->via.str.ptr, from->via.str.size);
        return to->text != NULL;
    case MSGPACK_OBJECT_ARRAY:
        to->kind = META_LIST;
        to->children = ls_arena_array(arena, (size_t)from->via.array.size + 1, sizeof *to->children);
        for (uint32_t i = 0; to->children && i < from->via.array.size; i++)
            if (!convert(arena, &from->via.array.ptr[i], &to->children[to->count++]))
                return false;
        return to->children != NULL;
    case MSGPACK_OBJECT_MAP:
        to->kind = META_MAP;
        to->children = ls_arena_array(arena, (size_t)from->via.map.size + 1, sizeof *to->children);
        for (uint32_t i = 0; to->children && i < from->via.map.size; i++) {
            const msgpack_object_kv *pair = &from->via.map.ptr[i];
            meta_node *child = &to->children[to->count];
            if (pair->key.type != MSGPACK_OBJECT_STR)
                continue; /* nothing that we know has such a key */
            child->key = ls_arena_strndup(arena, pair->key.via.str.ptr, pair->key.via.str.size);
            if (!child->key || !convert(arena, &pair->val, child))
                return false;
            to->count++;
        }
        return to->children != NULL;
    default: /* nil, floats, binary: nothing that we read */
        to->kind = META_NULL;
        return true;
    }
}

ls_status meta_read_msgpack(ls_arena *arena, const void *data, size_t bytes, const meta_node **out,
                            ls_error *err)
{
    scan s = { data, bytes };
    msgpack_unpacked unpacked;
    size_t offset = 0;
    meta_node *root = ls_arena_alloc(arena, sizeof *root);
    bool converted = false;
    *out = NULL;
    if (!root)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    if (!is_complete(&s, 0))
        return ls_fail(err, LS_ERR_INPUT, "the metadata is damaged at byte %zu of %zu", bytes - s.left, bytes);
    msgpack_unpacked_init(&unpacked);
    if (msgpack_unpack_next(&unpacked, data, bytes, &offset) == MSGPACK_UNPACK_SUCCESS)
        converted = convert(arena, &unpacked.data, root);
    msgpack_unpacked_destroy(&unpacked);
    if (!converted)
        return ls_fail(err, LS_ERR_NOMEM, "the metadata of %zu bytes cannot be unpacked", bytes);
    *out = root;
    return LS_OK;
}
