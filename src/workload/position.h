/* position.h: how far a source of work has been read, as plain data that can be saved and restored.
 *
 * A position names the next command of a source and, inside a launch, its next thread block or work-group. Sources
 * are traces (text, packed, generated), recordings of AMD programs and the programs themselves. A position belongs to
 * one content: restoring it into another source is refused. The host code of a program runs natively. Its position is
 * the number of commands that its driver has executed. To go there, the program runs from its beginning, and these
 * commands are emulated (runtime/timing/timing_skip.c). */
#ifndef WORKLOAD_POSITION_H
#define WORKLOAD_POSITION_H

#include "base/hash.h"
#include "workload/pack/amd_file.h"
#include "workload/trace.h"

#define POSITION_VERSION 2u

typedef enum position_kind {
    POSITION_TRACE = 1,
    POSITION_RECORDING = 2,
    POSITION_PROGRAM = 3,
} position_kind;

typedef struct source_position {
    position_kind kind;
    hash128 identity;  /* of the source's content: identity.h; of a program also its options */
    uint64_t command;  /* the next one; as many as there are: the end */
    uint64_t group;    /* of a launch: thread blocks or work-groups that were read; 0: it has not begun */
    uint64_t launches; /* of a program: those among the commands before it; else 0 */
} source_position;

/* The beginning of a source. Reads its files for the identity. LS_ERR_UNSUPPORTED for a program, with its name. */
ls_status position_begin(const char *path, source_position *out, ls_error *err);
/* The beginning of a program: the text has its name and all options that its commands depend on, the path is that of
 * its code object. */
ls_status position_begin_program(const char *text, const char *code_path, source_position *out, ls_error *err);
/* Whether the position is of the source at this path. Its files are read again. */
ls_status position_check(const source_position *position, const char *path, ls_error *err);
/* The same for a source whose beginning is known; `name` is for errors. */
ls_status position_check_source(const source_position *position, const source_position *begin,
                                const char *name, ls_error *err);
/* A machine begins with a whole kernel: refuses positions inside of one. */
ls_status position_check_start(const source_position *position, ls_error *err);

/* Opens the kernel that a position is in, with its next thread block as the next one that is read. Packed traces and
 * generators go there at once; text is read from the kernel's beginning. */
ls_status position_open_kernel(const source_position *position, sass_trace *trace, trace_kernel **out,
                               ls_error *err);
/* A recording gives any work-group at once (amd_file_read()): checks that this one is there. */
ls_status position_check_recording(const source_position *position, const amd_file *file, ls_error *err);

/* --- as bytes, the same on every host --- */

#define POSITION_BYTES 56u
void position_write(const source_position *position, uint8_t out[POSITION_BYTES]);
/* `from` names the bytes in errors: a file, or a part of one. */
ls_status position_read(const uint8_t *bytes, size_t count, const char *from, source_position *out,
                        ls_error *err);

#endif
