/* save_rows.c: the tables of blocks' states: the check of their coverage, and saving and loading of each kind
 * of row. */
#include "engine/save.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

/* Fields are aligned to 8 bytes at most, so a gap of less than that may be padding. */
#define PADDING_MAX 7u

static void *at_offset(const void *base, uint32_t offset)
{
    return (char *)(uintptr_t)base + offset;
}

static void *pointer_at(const void *base, const ls_state_row *row)
{
    void *pointer;
    memcpy(&pointer, at_offset(base, row->offset), sizeof pointer);
    return pointer;
}

static void set_pointer(const void *base, const ls_state_row *row, const void *pointer)
{
    memcpy(at_offset(base, row->offset), &pointer, sizeof pointer);
}

static uint64_t length_of(const void *base, const ls_state_row *row)
{
    return pointer_at(base, row) != NULL ? row->length(base) : 0;
}

/* ----------------------------------------------------------------------------------------------- checks */

static ls_status bad_table(const ls_block *block, ls_error *err, const char *row, const char *what)
{
    return ls_fail(err, LS_ERR_INTERNAL, "block '%s' (%s/%s): row '%s' of its state table %s", block->name,
                   block->type->slot, block->type->name, row, what);
}

static ls_status check_rows(const ls_block *block, const ls_state_row *rows, size_t count, size_t size,
                            ls_error *err);

static ls_status check_row(const ls_block *block, const ls_state_row *row, uint8_t *covered, size_t size,
                           ls_error *err)
{
    if (row->offset > size || row->size > size - row->offset)
        return bad_table(block, err, row->name, "reaches beyond the struct");
    if (memchr(covered + row->offset, 1, row->size) != NULL)
        return bad_table(block, err, row->name, "covers bytes of a row before it");
    memset(covered + row->offset, 1, row->size);
    bool pointer = row->kind == LS_STATE_KIND_LINK || row->kind == LS_STATE_KIND_OWN ||
                   row->kind == LS_STATE_KIND_ARRAY || row->kind == LS_STATE_KIND_HOST ||
                   row->kind == LS_STATE_KIND_CODED;
    if ((pointer && row->size != sizeof(void *)) ||
        (row->kind == LS_STATE_KIND_EVENT && row->size != sizeof(ls_event)))
        return bad_table(block, err, row->name, "has the wrong kind for its field");
    if ((row->kind == LS_STATE_KIND_PARTS && (row->rows == NULL || row->size % row->element != 0)) ||
        (row->kind == LS_STATE_KIND_ARRAY && row->length == NULL) ||
        (row->kind == LS_STATE_KIND_CODED && (row->encode == NULL || row->decode == NULL)))
        return bad_table(block, err, row->name, "is incomplete");
    return row->rows != NULL ? check_rows(block, row->rows, row->row_count, row->element, err) : LS_OK;
}

static ls_status check_rows(const ls_block *block, const ls_state_row *rows, size_t count, size_t size,
                            ls_error *err)
{
    uint8_t *covered = calloc(1, size + 1);
    if (covered == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory to check the state table of block '%s'", block->name);
    ls_status status = LS_OK;
    for (size_t i = 0; i < count && status == LS_OK; i++)
        status = check_row(block, &rows[i], covered, size, err);
    for (size_t i = 0, gap = 0; i < size && status == LS_OK; i++) {
        gap = covered[i] != 0 ? 0 : gap + 1;
        if (gap > PADDING_MAX)
            status =
                ls_fail(err, LS_ERR_INTERNAL,
                        "block '%s' (%s/%s): no row of its state table covers byte %zu of a struct of %zu",
                        block->name, block->type->slot, block->type->name, i - PADDING_MAX, size);
    }
    free(covered);
    return status;
}

ls_status rows_check(const ls_block *block, ls_error *err)
{
    const ls_block_type *type = block->type;
    if (type->rows == NULL && type->state_size > 0)
        return ls_fail(err, LS_ERR_UNSUPPORTED,
                       "block '%s' cannot be saved: its type %s/%s has no state table", block->name,
                       type->slot, type->name);
    return check_rows(block, type->rows, type->row_count, type->state_size, err);
}

uint64_t rows_hash(const ls_state_row *rows, size_t count)
{
    uint64_t hash = count;
    for (size_t i = 0; i < count; i++) {
        const ls_state_row *row = &rows[i];
        uint64_t words[] = { hash,
                             row->kind,
                             row->offset,
                             row->size,
                             row->element,
                             row->rows != NULL ? rows_hash(row->rows, row->row_count) : 0,
                             hash128_of(row->name, strlen(row->name)).high };
        hash = hash128_of(words, sizeof words).high;
    }
    return hash;
}

/* ----------------------------------------------------------------------------------------------- events */

static bool add_events(const void *base, const ls_state_row *rows, size_t count, save_events *events)
{
    for (size_t i = 0; i < count; i++) {
        const ls_state_row *row = &rows[i];
        if (row->kind == LS_STATE_KIND_EVENT && !vec_push(&events->at, at_offset(base, row->offset)))
            return false;
        if (row->rows == NULL)
            continue;
        bool array = row->kind == LS_STATE_KIND_ARRAY;
        const char *element = array ? pointer_at(base, row) : at_offset(base, row->offset);
        uint64_t elements = array ? length_of(base, row) : row->size / row->element;
        for (uint64_t k = 0; k < elements; k++)
            if (!add_events(element + k * row->element, row->rows, row->row_count, events))
                return false;
    }
    return true;
}

bool rows_add_events(const ls_block *block, save_events *events)
{
    return add_events(block->state, block->type->rows, block->type->row_count, events);
}

/* ----------------------------------------------------------------------------------------------- saving */

typedef struct rows_context {
    const ls_block *block;
    const ls_state_objects *objects; /* NULL: none */
    bytes_out *out;                  /* one of the two */
    bytes_in *in;
    ls_error *err;
} rows_context;

static ls_status save_rows(const rows_context *c, const void *base, const ls_state_row *rows, size_t count);

/* Caches and queues are large and mostly empty: of plain arrays, blocks of zeros are left out. */
#define BLOCK_BYTES 4096u
#define ARRAY_BYTES_MAX (UINT64_C(1) << 38) /* more can only be damage */

static bool is_zero(const char *at, size_t bytes)
{
    return at[0] == 0 && memcmp(at, at + 1, bytes - 1) == 0;
}

/* The bytes from `at` on, in whole blocks, that are zero, or that are not. */
static size_t stretch_of(const char *data, size_t bytes, size_t at, bool zero)
{
    size_t end = at;
    while (end < bytes) {
        size_t block = bytes - end < BLOCK_BYTES ? bytes - end : BLOCK_BYTES;
        if (is_zero(data + end, block) != zero)
            break;
        end += block;
    }
    return end - at;
}

static void put_plain(bytes_out *out, const char *data, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        size_t zeros = stretch_of(data, bytes, at, true);
        size_t others = stretch_of(data, bytes, at + zeros, false);
        bytes_put64(out, zeros);
        bytes_put64(out, others);
        bytes_put(out, data + at + zeros, others);
        at += zeros + others;
    }
}

/* Memory that is zero already is not touched. */
static void get_plain(bytes_in *in, char *data, size_t bytes)
{
    for (size_t at = 0; at < bytes && !in->failed;) {
        uint64_t zeros = bytes_get64(in), others = bytes_get64(in);
        in->failed |= zeros > bytes - at || others > bytes - at - zeros || zeros + others == 0;
        for (size_t end = in->failed ? at : at + (size_t)zeros; at < end;) {
            size_t block = end - at < BLOCK_BYTES ? end - at : BLOCK_BYTES;
            if (!is_zero(data + at, block))
                memset(data + at, 0, block);
            at += block;
        }
        if (in->failed)
            return;
        bytes_get(in, data + at, (size_t)others);
        at += (size_t)others;
    }
}

static ls_status save_elements(const rows_context *c, const char *element, uint64_t elements,
                               const ls_state_row *row)
{
    if (row->rows == NULL) {
        put_plain(c->out, element, (size_t)(elements * row->element));
        return LS_OK;
    }
    ls_status status = LS_OK;
    for (uint64_t i = 0; i < elements && status == LS_OK; i++)
        status = save_rows(c, element + i * row->element, row->rows, row->row_count);
    return status;
}

/* The address as an offset + 1 into the block's state; 0: NULL. */
static ls_status save_own(const rows_context *c, const void *base, const ls_state_row *row)
{
    const char *pointer = pointer_at(base, row), *state = c->block->state;
    bool inside = (uintptr_t)pointer >= (uintptr_t)state &&
                  (uintptr_t)pointer - (uintptr_t)state < c->block->type->state_size;
    if (pointer != NULL && !inside)
        return ls_fail(
            c->err, LS_ERR_UNSUPPORTED,
            "block '%s' (%s/%s) cannot be saved now: its '%s' points to memory of another block or of "
            "the host",
            c->block->name, c->block->type->slot, c->block->type->name, row->name);
    bytes_put64(c->out, pointer == NULL ? 0 : (uint64_t)(pointer - state) + 1);
    return LS_OK;
}

/* Two numbers: the object + 1 and the offset; 0, 0: NULL, or memory that is not listed. */
static void save_host(const rows_context *c, const void *base, const ls_state_row *row)
{
    uintptr_t pointer = (uintptr_t)pointer_at(base, row);
    for (size_t i = 0; pointer != 0 && c->objects != NULL && i < c->objects->count; i++) {
        const ls_state_object *object = &c->objects->at[i];
        uint64_t offset = pointer - (uintptr_t)object->at;
        if (offset < object->bytes) {
            bytes_put64(c->out, i + 1);
            bytes_put64(c->out, offset);
            return;
        }
    }
    bytes_put64(c->out, 0);
    bytes_put64(c->out, 0);
}

static ls_status save_row(const rows_context *c, const void *base, const ls_state_row *row)
{
    const ls_link *link;
    const void *pointer;
    switch (row->kind) {
    case LS_STATE_KIND_DATA:
        bytes_put(c->out, at_offset(base, row->offset), row->size);
        break;
    case LS_STATE_KIND_LINK:
        link = pointer_at(base, row);
        bytes_put64(c->out, link == NULL ? 0 : (uint64_t)link->id + 1);
        break;
    case LS_STATE_KIND_OWN:
        return save_own(c, base, row);
    case LS_STATE_KIND_HOST:
        save_host(c, base, row);
        break;
    case LS_STATE_KIND_PARTS:
        return save_elements(c, at_offset(base, row->offset), row->size / row->element, row);
    case LS_STATE_KIND_ARRAY:
        bytes_put64(c->out, length_of(base, row));
        return save_elements(c, pointer_at(base, row), length_of(base, row), row);
    case LS_STATE_KIND_CODED:
        pointer = pointer_at(base, row);
        bytes_put64(c->out, pointer == NULL ? 0 : row->encode(c->block->state, base, pointer));
        break;
    case LS_STATE_KIND_FIXED:
    case LS_STATE_KIND_EVENT:
        break;
    }
    return LS_OK;
}

/* Structs and arrays first: loading compares their lengths with those of the machine as it was built. Codes last: they may
 * depend on the rest. */
static int turn_of(const ls_state_row *row)
{
    return row->kind == LS_STATE_KIND_ARRAY || row->kind == LS_STATE_KIND_PARTS ? 0
           : row->kind == LS_STATE_KIND_CODED                                   ? 2
                                                                                : 1;
}

static ls_status save_rows(const rows_context *c, const void *base, const ls_state_row *rows, size_t count)
{
    ls_status status = LS_OK;
    for (int turn = 0; turn < 3; turn++)
        for (size_t i = 0; i < count && status == LS_OK; i++)
            if (turn_of(&rows[i]) == turn)
                status = save_row(c, base, &rows[i]);
    return status;
}

ls_status rows_save(const ls_block *block, const ls_state_objects *objects, bytes_out *out, ls_error *err)
{
    rows_context c = { .block = block, .objects = objects, .out = out, .err = err };
    return save_rows(&c, block->state, block->type->rows, block->type->row_count);
}

/* ---------------------------------------------------------------------------------------------- loading */

static ls_status load_rows(const rows_context *c, void *base, const ls_state_row *rows, size_t count);

static ls_status load_elements(const rows_context *c, char *element, uint64_t elements,
                               const ls_state_row *row)
{
    if (row->rows == NULL) {
        get_plain(c->in, element, (size_t)(elements * row->element));
        return LS_OK;
    }
    ls_status status = LS_OK;
    for (uint64_t i = 0; i < elements && status == LS_OK; i++)
        status = load_rows(c, element + i * row->element, row->rows, row->row_count);
    return status;
}

static ls_status load_array(const rows_context *c, void *base, const ls_state_row *row)
{
    uint64_t elements = bytes_get64(c->in), here = length_of(base, row);
    if (elements != here && row->rows != NULL)
        return ls_fail(c->err, LS_ERR_INPUT,
                       "block '%s' was saved with %llu entries of '%s'; this machine has %llu", c->block->name,
                       (unsigned long long)elements, row->name, (unsigned long long)here);
    if (elements > (row->rows == NULL ? ARRAY_BYTES_MAX / row->element : (uint64_t)(c->in->end - c->in->at))) {
        c->in->failed = true;
        return LS_OK;
    }
    if (elements > here) {
        void *larger = ls_domain_alloc(c->block->region->domain, (size_t)(elements * row->element));
        if (larger == NULL)
            return ls_fail(c->err, LS_ERR_NOMEM, "no memory for '%s' of block '%s'", row->name,
                           c->block->name);
        set_pointer(base, row, larger);
    }
    return load_elements(c, pointer_at(base, row), elements, row);
}

static ls_status load_link(const rows_context *c, void *base, const ls_state_row *row)
{
    const ls_engine *engine = c->block->region->domain->engine;
    uint64_t number = bytes_get64(c->in);
    if (number > engine->links.count)
        return ls_fail(c->err, LS_ERR_INPUT, "block '%s' was saved with a link that does not exist: %llu",
                       c->block->name, (unsigned long long)number - 1);
    set_pointer(base, row, number == 0 ? NULL : engine->links.at[number - 1]);
    return LS_OK;
}

static void load_host(const rows_context *c, void *base, const ls_state_row *row)
{
    uint64_t number = bytes_get64(c->in), offset = bytes_get64(c->in);
    size_t count = c->objects != NULL ? c->objects->count : 0;
    c->in->failed |= number > count || (number > 0 && offset >= c->objects->at[number - 1].bytes);
    if (!c->in->failed)
        set_pointer(base, row, number == 0 ? NULL : (const char *)c->objects->at[number - 1].at + offset);
}

static ls_status load_coded(const rows_context *c, void *base, const ls_state_row *row)
{
    uint64_t code = bytes_get64(c->in);
    void *pointer = code == 0 || c->in->failed ? NULL : row->decode(c->block->state, base, code);
    set_pointer(base, row, pointer);
    return code == 0 || c->in->failed || pointer != NULL
               ? LS_OK
               : ls_fail(c->err, LS_ERR_INPUT,
                         "block '%s' (%s/%s): its saved '%s' is of something that is not there",
                         c->block->name, c->block->type->slot, c->block->type->name, row->name);
}

static ls_status load_row(const rows_context *c, void *base, const ls_state_row *row)
{
    uint64_t offset;
    switch (row->kind) {
    case LS_STATE_KIND_DATA:
        bytes_get(c->in, at_offset(base, row->offset), row->size);
        break;
    case LS_STATE_KIND_LINK:
        return load_link(c, base, row);
    case LS_STATE_KIND_OWN:
        offset = bytes_get64(c->in);
        c->in->failed |= offset > c->block->type->state_size;
        if (!c->in->failed)
            set_pointer(base, row, offset == 0 ? NULL : (char *)c->block->state + offset - 1);
        break;
    case LS_STATE_KIND_HOST:
        load_host(c, base, row);
        break;
    case LS_STATE_KIND_PARTS:
        return load_elements(c, at_offset(base, row->offset), row->size / row->element, row);
    case LS_STATE_KIND_ARRAY:
        return load_array(c, base, row);
    case LS_STATE_KIND_CODED:
        return load_coded(c, base, row);
    case LS_STATE_KIND_FIXED:
    case LS_STATE_KIND_EVENT:
        break;
    }
    return LS_OK;
}

static ls_status load_rows(const rows_context *c, void *base, const ls_state_row *rows, size_t count)
{
    ls_status status = LS_OK;
    for (int turn = 0; turn < 3; turn++)
        for (size_t i = 0; i < count && status == LS_OK && !c->in->failed; i++)
            if (turn_of(&rows[i]) == turn)
                status = load_row(c, base, &rows[i]);
    return status;
}

ls_status rows_load(const ls_block *block, const ls_state_objects *objects, bytes_in *in, ls_error *err)
{
    rows_context c = { .block = block, .objects = objects, .in = in, .err = err };
    return load_rows(&c, block->state, block->type->rows, block->type->row_count);
}
