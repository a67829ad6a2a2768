/* sector_cache_state.h: the state table of the sector cache: LS_STATE_PART(type, field, sector_cache_rows) in the table of the
 * block that has one. Its counters must be in the state of the same block, as plain data. */
#ifndef MODEL_SECTOR_CACHE_STATE_H
#define MODEL_SECTOR_CACHE_STATE_H

#include "lockstep/state.h"
#include "model/cache/sector_cache.h"

#define SECTOR_CACHE_ROWS 16
extern const ls_state_row sector_cache_rows[SECTOR_CACHE_ROWS];

#endif
