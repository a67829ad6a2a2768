/* import.h: Accel-Sim's option files (gpgpusim.config, trace.config) as a platform of the machine `gpu`.
 *
 *     platform_import result;
 *     import_file files[] = { { .path = "gpgpusim.config" }, { .path = "trace.config" } };
 *     ls_status status = import_accelsim(arena, files, 2, &result, err);
 *
 * Which option becomes which key stands in one table, import_table.c. An option that is not given counts with
 * Accel-Sim's own default, so that what is written does not depend on ours. */
#ifndef PLATFORM_IMPORT_H
#define PLATFORM_IMPORT_H

#include "base/arena.h"
#include "lockstep/status.h"

#include <stdio.h>

#define LS_IMPORT_FILE_LIMIT ((size_t)1 << 20) /* bytes of an option file */

typedef struct import_file {
    const char *path;
    const char *text; /* NULL: read it from path; else the content, text_bytes long, and path only names it */
    size_t text_bytes;
} import_file;

/* The reason why an option is not in the platform. */
typedef enum import_fate {
    LS_IMPORT_UNKNOWN, /* Accel-Sim does not have it */
    LS_IMPORT_MISSING, /* it changes Accel-Sim's timing and cannot be expressed */
    LS_IMPORT_QUIET,   /* it does not change Accel-Sim's timing of traces */
} import_fate;

typedef struct import_remark {
    import_fate fate;
    const char *option; /* with its dash */
    const char *value;
    const char *file; /* "" if it was not given and its default is meant */
    uint32_t line;
    size_t order;    /* in the files; 0 if it was not given */
    const char *why; /* for an unknown one its nearest name with a dash; "" if there is none */
} import_remark;

typedef struct platform_import {
    const char *yaml; /* the platform file; the notes stand at its end as comments */
    size_t yaml_bytes;
    const import_remark *notes; /* by fate, then in the order of the files */
    size_t note_count;
} platform_import;

/* Later files and later lines win. Everything in *out lives in the arena. A malformed value, or a value that
 * no machine of ours can have, is an error with its file and line. */
ls_status import_accelsim(mem_arena *arena, const import_file *files, size_t file_count, platform_import *out,
                          ls_error *err);

/* The notes of one fate as a table; nothing if there are none. Returns how many there are through *count. */
ls_status import_print_notes(const platform_import *import, import_fate fate, FILE *out, size_t *count,
                             ls_error *err);

#endif
