/* cu_state.h: the table of a compute unit's state, for its block types. */
#ifndef MODEL_CU_CU_STATE_H
#define MODEL_CU_CU_STATE_H

#include "lockstep/state.h"

#define CU_ROW_COUNT 29u
extern const ls_state_row cu_rows[CU_ROW_COUNT];
extern const ls_state_ops cu_state_ops;

#endif
