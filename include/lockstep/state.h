/* state.h: a table that describes a block's state, and saving a whole machine with such tables.
 *
 * A block type lists every field of its state struct in one table of rows. A row says how the field is saved:
 *
 *   DATA    plain bytes: numbers, indices, counters, structs of them. No pointers
 *   FIXED   set while the machine is built and never changed after: ports, names, specs, sizes, tickers
 *   EVENT   an ls_event: whether it is scheduled or waits for a link, and when it is due
 *   LINK    an ls_link *, saved as its number; NULL stays NULL
 *   OWN     a pointer into the state of the same block, saved as an offset; NULL stays NULL
 *   PARTS   structs inside the struct, with rows of their own
 *   ARRAY   a pointer to an array outside of the struct: of plain data, or of structs with rows of their own
 *   HOST    a pointer into memory of the host that the caller of save and load lists (ls_state_object), saved as the
 *           object's number and an offset. A pointer to anything else is a leftover and becomes NULL
 *   CODED   a pointer to memory of another block or of the host, which the block itself turns into a number and back
 *
 * Rows stand in any order. Bytes that no row covers are an error when saving, except for padding: a new field
 * that is missing in the table is found, not lost.
 *
 * An event keeps the function and the argument that it got when the machine was built. Messages on links are
 * plain data. */
#ifndef LOCKSTEP_STATE_H
#define LOCKSTEP_STATE_H

#include "lockstep/engine.h"

typedef enum ls_state_kind {
    LS_STATE_KIND_DATA,
    LS_STATE_KIND_FIXED,
    LS_STATE_KIND_EVENT,
    LS_STATE_KIND_LINK,
    LS_STATE_KIND_OWN,
    LS_STATE_KIND_PARTS,
    LS_STATE_KIND_ARRAY,
    LS_STATE_KIND_HOST,
    LS_STATE_KIND_CODED,
} ls_state_kind;

typedef struct ls_state_row {
    const char *name;
    ls_state_kind kind;
    uint32_t offset, size; /* of the field, bytes */
    uint32_t element;      /* PARTS and ARRAY: bytes of one element */
    /* PARTS and ARRAY: the rows of an element; NULL: elements are plain data. */
    const struct ls_state_row *rows;
    uint32_t row_count;
    /* ARRAY: how many elements there are; self is the struct that this row belongs to. An array of plain data
     * may have grown since the machine was built: loading makes room for it. */
    uint64_t (*length)(const void *self);
    /* CODED: the number of a pointer, and the pointer of a number. `state` is the block's, self the struct that this row
     * belongs to. NULL is 0 and is not asked for. Decoding comes after all other rows of the struct, and after arrays
     * and structs before it in the tables. A number that means nothing gives NULL: the saved state is refused. */
    uint64_t (*encode)(const void *state, const void *self, const void *pointer);
    void *(*decode)(void *state, void *self, uint64_t code);
} ls_state_row;

/* clang-format off */
#define LS_STATE_SIZE_(type, field) sizeof(((type *)0)->field)
#define LS_STATE_ROW_(type, field, kind_)                                                                     \
    .name = #field, .kind = (kind_), .offset = offsetof(type, field), .size = LS_STATE_SIZE_(type, field)
#define LS_STATE_SPAN_(type, first, last, kind_)                                                              \
    .name = #first " to " #last, .kind = (kind_), .offset = offsetof(type, first),                            \
    .size = offsetof(type, last) + LS_STATE_SIZE_(type, last) - offsetof(type, first)

#define LS_STATE_DATA(type, field) { LS_STATE_ROW_(type, field, LS_STATE_KIND_DATA) }
#define LS_STATE_FIXED(type, field) { LS_STATE_ROW_(type, field, LS_STATE_KIND_FIXED) }
/* All fields from `first` to `last`, as they stand in the struct. */
#define LS_STATE_DATA_SPAN(type, first, last) { LS_STATE_SPAN_(type, first, last, LS_STATE_KIND_DATA) }
#define LS_STATE_FIXED_SPAN(type, first, last) { LS_STATE_SPAN_(type, first, last, LS_STATE_KIND_FIXED) }
/* Bytes between two fields, of which the second has an alignment of more than 8. */
#define LS_STATE_GAP(type, first, second)                                                                     \
    { .name = "alignment of " #second, .kind = LS_STATE_KIND_FIXED,                                           \
      .offset = offsetof(type, first) + LS_STATE_SIZE_(type, first),                                          \
      .size = offsetof(type, second) - offsetof(type, first) - LS_STATE_SIZE_(type, first) }
#define LS_STATE_EVENT(type, field) { LS_STATE_ROW_(type, field, LS_STATE_KIND_EVENT) }
#define LS_STATE_LINK(type, field) { LS_STATE_ROW_(type, field, LS_STATE_KIND_LINK) }
#define LS_STATE_OWN(type, field) { LS_STATE_ROW_(type, field, LS_STATE_KIND_OWN) }
#define LS_STATE_HOST(type, field) { LS_STATE_ROW_(type, field, LS_STATE_KIND_HOST) }
#define LS_STATE_PART(type, field, rows_)                                                                     \
    { LS_STATE_ROW_(type, field, LS_STATE_KIND_PARTS), .element = LS_STATE_SIZE_(type, field), .rows = (rows_), \
      .row_count = LS_COUNT_OF(rows_) }
/* The field is an array of structs. */
#define LS_STATE_PARTS(type, field, rows_)                                                                    \
    { LS_STATE_ROW_(type, field, LS_STATE_KIND_PARTS), .element = LS_STATE_SIZE_(type, field[0]),             \
      .rows = (rows_), .row_count = LS_COUNT_OF(rows_) }
#define LS_STATE_ARRAY(type, field, length_)                                                                  \
    { LS_STATE_ROW_(type, field, LS_STATE_KIND_ARRAY), .element = LS_STATE_SIZE_(type, field[0]),             \
      .length = (length_) }
#define LS_STATE_ARRAY_OF(type, field, length_, rows_)                                                        \
    { LS_STATE_ROW_(type, field, LS_STATE_KIND_ARRAY), .element = LS_STATE_SIZE_(type, field[0]),             \
      .rows = (rows_), .row_count = LS_COUNT_OF(rows_), .length = (length_) }
#define LS_STATE_CODED(type, field, encode_, decode_)                                                         \
    { LS_STATE_ROW_(type, field, LS_STATE_KIND_CODED), .encode = (encode_), .decode = (decode_) }
/* clang-format on */

/* Memory of the host that blocks point to: commands, programs. It is not saved. */
typedef struct ls_state_object {
    const void *at;
    uint64_t bytes;
} ls_state_object;
typedef struct ls_state_objects {
    const ls_state_object *at;
    size_t count;
} ls_state_objects;

/* A block type may provide this port. loaded() is called when the states of all blocks have been loaded: it sets what
 * the rows do not say, and checks that no HOST row that matters is NULL. */
#define LS_STATE_PORT "state"
#define LS_STATE_INTERFACE "state/1"
typedef struct ls_state_ops {
    ls_status (*loaded)(void *self, ls_error *err);
} ls_state_ops;

/* Writes the state of the whole machine into memory that the caller frees with free(). Between runs only. Fails,
 * naming the block, if a block's type has no table or an incomplete one; and if an event that belongs to no
 * table is scheduled. The machine is not changed. */
LS_API ls_status ls_engine_save(ls_engine *engine, void **out, size_t *bytes, ls_error *err);
/* Brings a machine that has not run yet to that state. It must have been built in the same way; threads, windows,
 * groups and the host process may differ. Fails, naming the first difference, for another machine, another
 * version and damaged bytes; a machine whose load failed can only be destroyed. */
LS_API ls_status ls_engine_load(ls_engine *engine, const void *saved, size_t bytes, ls_error *err);
/* The same for machines whose blocks point to memory of the host. Both sides list the same objects in the same order;
 * their addresses may differ. objects NULL: there are none. */
LS_API ls_status ls_engine_save_with(ls_engine *engine, const ls_state_objects *objects, void **out,
                                     size_t *bytes, ls_error *err);
LS_API ls_status ls_engine_load_with(ls_engine *engine, const ls_state_objects *objects, const void *saved,
                                     size_t bytes, ls_error *err);

#endif
