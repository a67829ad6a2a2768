/* command.h: the command processor "cycle" under short names: lockstep/command.h is its interface. */
#ifndef MODEL_AMD_COMMAND_H
#define MODEL_AMD_COMMAND_H

#include "lockstep/command.h"
#include "model/amd/cluster.h"
#include "model/amd/dma.h"
#include "model/amd/place.h"

enum { COMMAND_KERNEL = LS_PACKET_KERNEL, COMMAND_TRANSFER = LS_PACKET_TRANSFER };
typedef ls_command_packet command_packet;
typedef ls_command_queue command_queue;

#endif
