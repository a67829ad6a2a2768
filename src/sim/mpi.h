/* mpi.h: Open MPI as the transport of a simulation that is divided over ranks (engine/ranks.h). The library is loaded when
 * a run asks for it; it is optional at build time and at run time. One per process. */
#ifndef SIM_MPI_H
#define SIM_MPI_H

#include "engine/ranks.h"

/* Starts MPI: this process is one of those that mpirun has started, or the only one. timeout_ns: another rank that does
 * not answer for so long is lost. */
ls_status mpi_begin(uint64_t timeout_ns, rank_transport *out, ls_error *err);
/* A rank that waits looks at it: mpirun asks all others to stop when one dies. */
void mpi_watch(const ls_run_control *control);
/* All ranks have come to the same end; else the process ends without taking leave. */
void mpi_end(bool all_are_here);

#endif
