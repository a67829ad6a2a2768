/* meta_msgpack.c: the MessagePack metadata of code objects of versions 3 to 6 as a tree. Reads the whole format in
 * one pass over the bytes; a header that claims more than the bytes hold allocates nothing. */
#include "workload/hsa/meta.h"

typedef struct reader {
    mem_arena *arena;
    const uint8_t *at;
    size_t left;
    uint64_t owed;  /* objects that the containers around this place still announce: one byte each, or more */
    bool no_memory; /* why a read failed: the host's memory, not the bytes */
} reader;

/* The content of an object's first byte and of the length after it. */
typedef struct header {
    meta_kind kind;
    uint64_t number;  /* META_BOOL, META_NUMBER */
    uint64_t bytes;   /* META_TEXT, and META_NULL for objects that are skipped */
    uint64_t objects; /* META_LIST: elements; META_MAP: pairs */
} header;

static bool take(reader *r, uint64_t bytes)
{
    if (bytes > r->left)
        return false;
    r->at += bytes;
    r->left -= (size_t)bytes;
    return true;
}

static bool take_number(reader *r, unsigned bytes, uint64_t *out)
{
    const uint8_t *at = r->at;
    if (!take(r, bytes))
        return false;
    *out = 0;
    for (unsigned i = 0; i < bytes; i++)
        *out = *out << 8 | at[i];
    return true;
}

static bool take_signed(reader *r, unsigned bytes, uint64_t *out)
{
    if (!take_number(r, bytes, out))
        return false;
    if (*out >> (8 * bytes - 1))
        *out = 0; /* negative: see meta_node.number */
    return true;
}

/* The first bytes 0xc0 to 0xdf. */
static bool take_long_header(reader *r, uint8_t tag, header *h)
{
    switch (tag) {
    case 0xc0: /* nil */
        return true;
    case 0xc2: /* false, true */
    case 0xc3:
        h->kind = META_BOOL;
        h->number = tag & 1u;
        return true;
    case 0xc4: /* bin 8, 16, 32 */
    case 0xc5:
    case 0xc6:
        return take_number(r, 1u << (tag - 0xc4), &h->bytes);
    case 0xc7: /* ext 8, 16, 32: one byte of type before the data */
    case 0xc8:
    case 0xc9:
        if (!take_number(r, 1u << (tag - 0xc7), &h->bytes))
            return false;
        h->bytes++;
        return true;
    case 0xca: /* float 32, 64 */
    case 0xcb:
        h->bytes = tag == 0xca ? 4 : 8;
        return true;
    case 0xcc: /* uint 8 to 64 */
    case 0xcd:
    case 0xce:
    case 0xcf:
        h->kind = META_NUMBER;
        return take_number(r, 1u << (tag - 0xcc), &h->number);
    case 0xd0: /* int 8 to 64 */
    case 0xd1:
    case 0xd2:
    case 0xd3:
        h->kind = META_NUMBER;
        return take_signed(r, 1u << (tag - 0xd0), &h->number);
    case 0xd4: /* fixext 1 to 16: one byte of type before the data */
    case 0xd5:
    case 0xd6:
    case 0xd7:
    case 0xd8:
        h->bytes = (1u << (tag - 0xd4)) + 1;
        return true;
    case 0xd9: /* str 8, 16, 32 */
    case 0xda:
    case 0xdb:
        h->kind = META_TEXT;
        return take_number(r, 1u << (tag - 0xd9), &h->bytes);
    case 0xdc: /* array 16, 32; map 16, 32 */
    case 0xdd:
    case 0xde:
    case 0xdf:
        h->kind = tag < 0xde ? META_LIST : META_MAP;
        return take_number(r, tag & 1 ? 4 : 2, &h->objects);
    default: /* 0xc1 is reserved */
        return false;
    }
}

static bool take_header(reader *r, header *h)
{
    uint8_t tag;
    *h = (header){ .kind = META_NULL };
    if (r->left == 0)
        return false;
    tag = *r->at;
    take(r, 1);
    if (tag < 0x80 || tag >= 0xe0) { /* fixint: 0 to 127, -32 to -1 */
        h->kind = META_NUMBER;
        h->number = tag < 0x80 ? tag : 0;
    } else if (tag < 0x90) {
        h->kind = META_MAP;
        h->objects = tag & 0xfu;
    } else if (tag < 0xa0) {
        h->kind = META_LIST;
        h->objects = tag & 0xfu;
    } else if (tag < 0xc0) {
        h->kind = META_TEXT;
        h->bytes = tag & 0x1fu;
    } else {
        return take_long_header(r, tag, h);
    }
    return true;
}

/* The text that a header announced, terminated. */
static const char *take_text(reader *r, uint64_t bytes)
{
    const char *at = (const char *)r->at;
    const char *text;
    if (!take(r, bytes))
        return NULL;
    text = arena_strndup(r->arena, at, (size_t)bytes);
    r->no_memory = !text;
    return text;
}

static bool take_object(reader *r, unsigned depth, meta_node *to);

/* The elements of a list or the pairs of a map. The announced elements must fit into the remaining bytes. So
 * the tree of a damaged file is no larger than that of a valid file of its size. */
static bool take_children(reader *r, const header *h, unsigned depth, meta_node *to)
{
    uint64_t announced = h->kind == META_MAP ? 2 * h->objects : h->objects;
    if (depth > META_DEPTH || r->owed > r->left || announced > r->left - r->owed)
        return false;
    r->owed += announced;
    to->children = arena_array(r->arena, (size_t)h->objects + 1, sizeof *to->children);
    if (!to->children) {
        r->no_memory = true;
        return false;
    }
    for (uint64_t i = 0; i < h->objects; i++) {
        meta_node key = { .kind = META_NULL }, *child = &to->children[to->count];
        *child = key;
        if (h->kind == META_MAP && !take_object(r, depth, &key))
            return false;
        child->key = key.text;
        if (!take_object(r, depth, child))
            return false;
        if (h->kind == META_LIST || key.text) /* no metadata that we know has a key that is no text */
            to->count++;
    }
    return true;
}

static bool take_object(reader *r, unsigned depth, meta_node *to)
{
    header h;
    if (!take_header(r, &h))
        return false;
    r->owed--;
    to->kind = h.kind;
    to->number = h.number;
    switch (h.kind) {
    case META_TEXT:
        to->text = take_text(r, h.bytes);
        return to->text != NULL;
    case META_LIST:
    case META_MAP:
        return take_children(r, &h, depth + 1, to);
    default: /* numbers and booleans have no body; nil, floats, binary and extensions are skipped */
        return take(r, h.bytes);
    }
}

ls_status meta_read_msgpack(mem_arena *arena, const void *data, size_t bytes, const meta_node **out,
                            ls_error *err)
{
    reader r = { .arena = arena, .at = data, .left = bytes, .owed = 1 };
    meta_node *root = arena_alloc(arena, sizeof *root);
    *out = NULL;
    if (!root)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    *root = (meta_node){ .kind = META_NULL };
    if (!take_object(&r, 0, root)) {
        if (r.no_memory)
            return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left for metadata of %zu bytes", bytes);
        return ls_fail(err, LS_ERR_INPUT, "the metadata is damaged at byte %zu of %zu", bytes - r.left, bytes);
    }
    *out = root;
    return LS_OK;
}
