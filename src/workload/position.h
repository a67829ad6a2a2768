/* position.h: how far a source of work has been read, as plain data that can be saved and restored.
 *
 * A position names the next command of a source and, inside a launch, its next thread block or work-group. Sources
 * are traces (text, packed, generated) and recordings of AMD programs. A position belongs to one content: restoring
 * it into another trace is refused. Programs whose host code runs natively have no position: they are recorded, and
 * the recording has one. */
#ifndef WORKLOAD_POSITION_H
#define WORKLOAD_POSITION_H

#include "base/hash.h"
#include "workload/pack/amd_file.h"
#include "workload/trace.h"

#define POSITION_VERSION 1u

typedef enum position_kind { POSITION_TRACE = 1, POSITION_RECORDING = 2 } position_kind;

typedef struct source_position {
    position_kind kind;
    hash128 identity; /* of the source's content: identity.h */
    uint64_t command; /* the next one; as many as there are: the end */
    uint64_t group;   /* of a launch: thread blocks or work-groups that were read; 0: it has not begun */
} source_position;

/* The beginning of a source. Reads its files for the identity. LS_ERR_UNSUPPORTED for a program, with its name. */
ls_status position_begin(const char *path, source_position *out, ls_error *err);
/* Whether the position is of the source at this path. Its files are read again. */
ls_status position_check(const source_position *position, const char *path, ls_error *err);

/* Opens the kernel that a position is in, with its next thread block as the next one that is read. Packed traces and
 * generators go there at once; text is read from the kernel's beginning. */
ls_status position_open_kernel(const source_position *position, sass_trace *trace, trace_kernel **out,
                               ls_error *err);
/* A recording gives any work-group at once (amd_file_read()): checks that this one is there. */
ls_status position_check_recording(const source_position *position, const amd_file *file, ls_error *err);

/* --- as bytes, the same on every host --- */

#define POSITION_BYTES 48u
void position_write(const source_position *position, uint8_t out[POSITION_BYTES]);
/* `from` names the bytes in errors: a file, or a part of one. */
ls_status position_read(const uint8_t *bytes, size_t count, const char *from, source_position *out,
                        ls_error *err);

#endif
