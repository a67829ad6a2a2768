/* slots.h: the slots of machine `gpu` and the ports that their models have. */
#ifndef MODEL_GPU_SLOTS_H
#define MODEL_GPU_SLOTS_H

#include "lockstep/block.h"

#define GPU_SECTIONS 8
extern const ls_section gpu_sections[GPU_SECTIONS];

#endif
