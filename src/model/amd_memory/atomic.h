/* atomic.h: the atomics of one message on the bytes of its line, as an L2 slice executes them. */
#ifndef MODEL_AMD_MEMORY_ATOMIC_H
#define MODEL_AMD_MEMORY_ATOMIC_H

#include "lockstep/line.h"

/* Does it have two operands per address (compare-and-swap and its like)? Then data[] is as ls_line_message.mask
 * says. */
bool line_atomic_is_pair(uint8_t atomic);
/* Performs all of them in the order of their addresses; old values take the places of the operands. Returns
 * how many. */
uint32_t line_atomic_apply(ls_line_message *message, uint8_t *line);

#endif
