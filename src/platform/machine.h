/* machine.h: a built machine: a configuration turned into domains, blocks and links of an engine.
 *
 * lockstep/block.h has the functions for a machine type's build(); this header is for the code that runs the
 * machine. */
#ifndef PLATFORM_MACHINE_H
#define PLATFORM_MACHINE_H

#include "platform/config.h"

/* Creates the engine, fills the specs, calls build() and checks that no port is left open. The configuration
 * must outlive the machine: texts and lists in the specs belong to it. *out is NULL on failure. */
ls_status machine_create(const platform_config *config, uint64_t seed, ls_machine **out, ls_error *err);
/* The same in an engine that others share and that outlives the machine; `number` is in the names of its
 * blocks. If it fails, the engine has parts of the machine and is good for nothing but to be destroyed. */
ls_status machine_add(const platform_config *config, ls_engine *engine, uint32_t number, ls_machine **out,
                      ls_error *err);
/* Of a system: the machines of its GPUs, which it destroys; NULL past the last, and of any other machine. */
ls_machine *machine_part(const ls_machine *machine, size_t number);
/* Before the first run of a system in which only these GPUs have work: runs stop as they would with the quickest of them
 * alone. */
ls_status machine_set_busy(ls_machine *machine, const size_t *numbers, size_t count, ls_error *err);
/* NULL is fine; destroys the engine that machine_create() made. Machines that were added go after it. */
void machine_destroy(ls_machine *machine);
const platform_config *machine_config(const ls_machine *machine);

#endif
