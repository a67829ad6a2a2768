/* run_mpi.h: `lockstep run --mpi` and `lockstep resume --mpi`: this process is one rank of a run that mpirun has started. */
#ifndef CLI_RUN_MPI_H
#define CLI_RUN_MPI_H

#include "cli/cli.h"
#include "engine/ranks.h"
#include "lockstep/sim.h"

typedef struct run_mpi {
    bool is_on;   /* --mpi was given, and MPI has begun */
    bool is_lost; /* the ranks could not agree: each prints its own error */
    rank_transport transport;
} run_mpi;

/* Nothing without --mpi. Refuses options that have no meaning then. is_resumed: of the command `resume`. */
ls_status run_mpi_begin(run_mpi *mpi, cli_context *ctx, bool is_resumed, ls_error *err);
/* After opening it, with the status of that: the same answer on all ranks. */
ls_status run_mpi_divide(run_mpi *mpi, ls_sim *sim, ls_status opened, ls_error *err);
bool run_mpi_writes(const run_mpi *mpi); /* results: rank 0 does */
/* At the end of the command, in every case: rank 0 alone prints an error that all have. */
void run_mpi_end(run_mpi *mpi, const ls_sim *sim, cli_context *ctx);

/* clang-format off */
#define RUN_MPI_OPTIONS                                                                                       \
    { .name = "mpi",                                                                                          \
      .help = "under mpirun: divide the GPUs over its processes, which may be on several hosts; no result depends on it" }, \
    { .name = "mpi-timeout", .type = CLI_TIME, .arg = "TIME", .default_text = "300s",                         \
      .help = "with --mpi: a process that does not answer for so long is lost, and the run ends" }
/* clang-format on */

#endif
