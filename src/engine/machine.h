/* machine.h: the input of a machine type's build(): an engine to fill, and a model and a spec for each of its
 * sections. src/platform and tests fill it in; build() reads it through lockstep/block.h. */
#ifndef ENGINE_MACHINE_H
#define ENGINE_MACHINE_H

#include "lockstep/block.h"

struct ls_machine {
    const ls_machine_type *type;
    ls_engine *engine;
    uint32_t number;                    /* among the machines of the engine */
    const void *spec;                   /* of the machine itself */
    const ls_block_type *const *models; /* per section of the type */
    const void *const *specs;           /* likewise */
    uint32_t parts;                     /* machines that stand in it: the GPUs of a system */
    bool has_fabric;                    /* of a part: the parts are connected */
    bool migrates;                      /* of a part: pages move while programs run */
};

/* Before build(): the domains that follow are of another machine. */
void engine_begin_machine(ls_engine *engine);
/* After build(): its domains are a group. */
ls_status engine_group_machine(ls_engine *engine, ls_group *group, ls_error *err);
/* Before the first run: runs stop as they would if a machine with this lookahead were all of the engine. */
ls_status engine_stop_as_alone(ls_engine *engine, ls_time lookahead, ls_error *err);

#endif
