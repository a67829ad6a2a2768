/* tag_store_state.h: the state table of the tag store: LS_STATE_PART(type, field, tag_store_rows) in the table of the
 * block that has one. */
#ifndef MODEL_CACHE_TAG_STORE_STATE_H
#define MODEL_CACHE_TAG_STORE_STATE_H

#include "lockstep/state.h"
#include "model/cache/tag_store.h"

#define TAG_STORE_ROWS 7
extern const ls_state_row tag_store_rows[TAG_STORE_ROWS];

#endif
