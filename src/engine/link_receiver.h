/* link_receiver.h: properties of receivers inside the library that the engine makes use of. Plug-ins have
 * lockstep/engine.h alone. */
#ifndef ENGINE_LINK_RECEIVER_H
#define ENGINE_LINK_RECEIVER_H

#include "lockstep/engine.h"

/* A receiver that keeps no buffer entry: the entry of each message is free when the message arrives. `receive` does not call
 * ls_link_release(), and neither does anything else for its links. Before the first run. */
ls_status link_receiver_frees(ls_engine *engine, ls_receive_fn receive, ls_error *err);

#endif
