/* session_checkpoint.h: checkpoints of a simulation: when they are taken, their sections, and going on from one.
 *
 *   session_checkpoint.c    the plan (every 60 s, 10 kernels, at a time) and the sections
 *   session_resume.c        opening a simulation from a checkpoint, and bringing it to the saved state
 *   checkpoint_options.c    the options of the simulation as bytes
 *
 * A checkpoint is taken in a pause of ls_run() (ls_run_pause), for all machines. Sections of all simulations are
 * "identity", "options", "engine", "metrics" and "series". A trace adds "trace", device lists "devices" and "device.N",
 * programs their own (run_program_save). */
#ifndef SIM_SESSION_CHECKPOINT_H
#define SIM_SESSION_CHECKPOINT_H

#include "lockstep/sim.h"
#include "sim/checkpoint.h"

typedef struct session_checkpoint session_checkpoint;

/* --- session_checkpoint.c --- */

/* Before the run: reads the options. Nothing without a file. Refuses, by name, options that a checkpoint does not save. */
ls_status session_checkpoint_begin(ls_sim *sim, const ls_sim_run_options *options, ls_error *err);
void session_checkpoint_close(ls_sim *sim);
/* For ls_run_options; NULL: none is wanted. */
ls_run_pause *session_checkpoint_pause(ls_sim *sim);
/* For ls_run_options.progress, with the simulation as self; calls the caller's own. */
void session_checkpoint_progress(void *self, const ls_run_progress *now);
/* A kernel has ended. Between runs, or inside one. */
void session_checkpoint_kernel_ended(void *sim);

/* --- session_resume.c --- */

/* Before the run of a simulation that ls_sim_resume() has opened: takes the options that the results depend on from the
 * checkpoint. Nothing else for others. */
ls_status session_resume_options(ls_sim *sim, ls_sim_run_options *options, ls_error *err);
/* At the start of the run. A program goes to the checkpoint first and loads the machine there; then it calls
 * session_resume_machine(). */
ls_status session_resume_begin(ls_sim *sim, ls_error *err);
/* Loads "engine", "metrics" and "series"; of a program "series". */
ls_status session_resume_machine(ls_sim *sim, ls_error *err);

/* --- checkpoint_options.c --- */

/* Files are named from the root, so that the simulation can go on in another directory. */
void checkpoint_put_options(bytes_out *out, const ls_sim_options *options);
/* Texts and lists are in the arena. */
ls_status checkpoint_get_options(bytes_in *in, mem_arena *arena, ls_sim_options *options, ls_error *err);
/* The part of a run's options that its results depend on: until, watchdog, series; and the checkpoint's own interval. */
void checkpoint_put_run(bytes_out *out, const ls_sim_run_options *options);
ls_status checkpoint_get_run(bytes_in *in, mem_arena *arena, ls_sim_run_options *options, ls_error *err);

#endif
