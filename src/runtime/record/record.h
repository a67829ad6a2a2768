/* record.h: records the execution of AMD programs in packed files (workload/pack/amd_file.h). The emulator
 * delivers instructions by its hook, compute units the tapes of their waves. Recording does not change the
 * run. */
#ifndef RUNTIME_RECORD_RECORD_H
#define RUNTIME_RECORD_RECORD_H

#include "isa/amd/exec/start.h"
#include "isa/amd/exec/tape.h"
#include "runtime/emulate/emulate.h"
#include "workload/pack/amd_file.h"

typedef struct recorder recorder;
typedef struct record_launch record_launch;

/* `producer`: "emulate", or the platform's name. The file appears with record_finish(). */
ls_status record_create(const char *path, const char *producer, recorder **out, ls_error *err);
/* Without a single failure: the file. Otherwise there is none, and the failure that kept a launch from ending
 * is not reported again. The record is gone in both cases. */
ls_status record_finish(recorder *rec, ls_error *err);
void record_abort(recorder *rec); /* NULL is fine */

/* A copy or a fill. *number names it among the commands of the recording; NULL if the caller does not need
 * it. */
ls_status record_command(recorder *rec, const amd_file_command *command, uint32_t *number, ls_error *err);

/* A launch that is about to run. */
typedef struct record_what {
    const amd_start *start;      /* borrowed until the launch ends, and its program */
    memory_space *address_space; /* ranges that are mapped now */
    uint32_t gpu, dims, lds_bytes, argument_bytes;
    uint64_t scratch, scratch_bytes; /* as in amd_file_launch */
    ls_groups which;                 /* of its work-groups: those that run; without a list */
    const uint32_t *beside;          /* as in amd_file_command */
    size_t beside_count;
} record_what;
ls_status record_begin(recorder *rec, const record_what *what, record_launch **out, ls_error *err);
uint32_t record_number(const record_launch *launch); /* among the commands */
/* `good`: it ran to its end. Frees the launch. */
ls_status record_end(record_launch *launch, bool good, ls_error *err);

/* For the emulator: emulate_launch.before, with the launch as self. */
void record_hook(void *self, const emulate_step *step);

/* For compute units: the numbering for tapes, and a work-group that has ended, with the tapes of its waves.
 * From any thread; record_end() reports errors. */
const amd_tape_code *record_code(const record_launch *launch);
void record_group(void *self, const uint32_t id[3], amd_tape_writer *waves, uint32_t wave_count);

#endif
