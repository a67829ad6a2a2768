/* save.h: declarations of the files that save and load a machine: its events, and a block's rows. */
#ifndef ENGINE_SAVE_H
#define ENGINE_SAVE_H

#include "base/bytes.h"
#include "engine/state.h"

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

/* Parts of a machine. A region: its time, its counts, its tickers and the events that are scheduled. Waiters of a link: from
 * the oldest on. load_event(): NULL with in->failed if there is no event of this number. */
ls_status save_region(const ls_region *region, const save_events *events, bytes_out *out, ls_error *err);
ls_status load_region(ls_region *region, const save_events *events, bytes_in *in, ls_error *err);
ls_status save_waiters(const ls_link *link, const save_events *events, bytes_out *out, ls_error *err);
ls_event *load_event(const save_events *events, bytes_in *in);
/* The credits of a link that were released and have not come home. get: up to `released`; a damaged count fails. */
void save_put_credits(const ls_link *link, bytes_out *out);
void save_get_credits(ls_link *link, uint32_t released, bytes_in *in);
/* A message on a link, with its arrival; put: its place in a bucket of this process is left out. */
void save_put_message(const ls_link *link, uint64_t position, bytes_out *out);
void save_get_message(const ls_link *link, uint64_t position, bytes_in *in);

/* save_rows.c. Fails, naming the block, if its table is missing or does not cover its state. */
ls_status rows_check(const ls_block *block, ls_error *err);
uint64_t rows_hash(const ls_state_row *rows, size_t count);
bool rows_add_events(const ls_block *block, save_events *events); /* false: no memory */
/* objects: that HOST rows point into; NULL: none. */
ls_status rows_save(const ls_block *block, const ls_state_objects *objects, bytes_out *out, ls_error *err);
ls_status rows_load(const ls_block *block, const ls_state_objects *objects, bytes_in *in, ls_error *err);

#endif
