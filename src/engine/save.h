/* save.h: declarations of the files that save and load a machine: writing bytes, reading bytes, and a block's
 * rows. */
#ifndef ENGINE_SAVE_H
#define ENGINE_SAVE_H

#include "engine/state.h"

/* Bytes that are written. failed: the host has no memory left; everything after that does nothing. */
typedef struct save_out {
    LS_VEC(uint8_t) bytes;
    bool failed;
} save_out;

void save_put(save_out *out, const void *data, size_t bytes);
void save_put64(save_out *out, uint64_t value);

/* Bytes that are read. failed: they came to an end too early; everything after that reads zeros. */
typedef struct save_in {
    const uint8_t *at, *end;
    bool failed;
} save_in;

void save_get(save_in *in, void *data, size_t bytes);
uint64_t save_get64(save_in *in);

/* Every event of the machine that has a number: those of the blocks' tables, then one per link. */
typedef struct save_events {
    LS_VEC(ls_event *) at; /* by number */
    ls_event **sorted;     /* by address, with number_of[] beside */
    uint64_t *number_of;
} save_events;

/* Their order is the same in every process that built the machine in the same way. */
ls_status save_events_list(const ls_engine *engine, save_events *events, ls_error *err);
void save_events_fini(save_events *events);
bool save_events_find(const save_events *events, const ls_event *event, uint64_t *number);

/* save_rows.c. Fails, naming the block, if its table is missing or does not cover its state. */
ls_status rows_check(const ls_block *block, ls_error *err);
uint64_t rows_hash(const ls_state_row *rows, size_t count);
bool rows_add_events(const ls_block *block, save_events *events); /* false: no memory */
/* objects: that HOST rows point into; NULL: none. */
ls_status rows_save(const ls_block *block, const ls_state_objects *objects, save_out *out, ls_error *err);
ls_status rows_load(const ls_block *block, const ls_state_objects *objects, save_in *in, ls_error *err);

#endif
