/* lockstep.h: the whole public interface. Start reading at engine.h, then block.h. */
#ifndef LOCKSTEP_LOCKSTEP_H
#define LOCKSTEP_LOCKSTEP_H

#include "lockstep/block.h"
#include "lockstep/driver.h"
#include "lockstep/engine.h"
#include "lockstep/metric.h"
#include "lockstep/param.h"
#include "lockstep/random.h"
#include "lockstep/sim.h"
#include "lockstep/status.h"
#include "lockstep/time.h"
#include "lockstep/version.h"

#endif
