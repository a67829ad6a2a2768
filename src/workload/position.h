/* position.h: how far a source of work has been read, as plain data that can be saved and restored.
 *
 * A position names the next command of a source and, inside a launch, its next thread block or work-group. Sources
 * are traces (text, packed, generated), recordings of AMD programs, the programs themselves, and device lists. A position
 * belongs to one content: restoring it into another source is refused. The host code of a program runs natively. Its
 * position is the number of commands that its driver has executed. To go there, the program runs from its beginning, and
 * these commands are emulated (runtime/timing/timing_skip.c).
 *
 * Work for several GPUs has the next command of each device. The commands before them are a consistent cut: whatever one of
 * them waits for is before the position, too. */
#ifndef WORKLOAD_POSITION_H
#define WORKLOAD_POSITION_H

#include "base/hash.h"
#include "workload/pack/amd_file.h"
#include "workload/trace.h"

#define POSITION_VERSION 3u
#define POSITION_DEVICES 65u /* the GPUs of a system and its unified device */

typedef enum position_kind {
    POSITION_TRACE = 1,
    POSITION_RECORDING = 2,
    POSITION_PROGRAM = 3,
    POSITION_LIST = 4, /* a device list or a collective: workload/devices */
} position_kind;

/* One device of several. */
typedef struct position_device {
    uint64_t command; /* its next one */
    uint64_t kernel;  /* of a device list: the next command of the device's traces; else 0 */
} position_device;

typedef struct source_position {
    position_kind kind;
    hash128 identity;  /* of the source's content: identity.h; of a program also its options */
    uint64_t command;  /* the next one; as many as there are: the end. Of several devices: the sum of theirs */
    uint64_t group;    /* of a launch: thread blocks or work-groups that were read; 0: it has not begun */
    uint64_t launches; /* of a program: those among the commands before it; else 0 */
    uint32_t device_count; /* 0: work for one GPU, or a recording, whose commands have one order */
    position_device devices[POSITION_DEVICES];
} source_position;

/* The beginning of a source. Reads its files for the identity. LS_ERR_UNSUPPORTED for a program or a
 * device list, with its name: only a simulation of it has positions. */
ls_status position_begin(const char *path, source_position *out, ls_error *err);
/* The beginning of a program: the text has its name and all options that its commands depend on, the path is that of
 * its code object. */
ls_status position_begin_program(const char *text, const char *code_path, source_position *out, ls_error *err);
/* The beginning of work for several GPUs, whose content has this identity (devices_identity()). */
source_position position_begin_list(hash128 identity, uint32_t device_count);
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

#define POSITION_BYTES (64u + 16u * POSITION_DEVICES)
void position_write(const source_position *position, uint8_t out[POSITION_BYTES]);
/* `from` names the bytes in errors: a file, or a part of one. */
ls_status position_read(const uint8_t *bytes, size_t count, const char *from, source_position *out,
                        ls_error *err);

#endif
