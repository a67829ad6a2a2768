/* trace.h: the instruction trace of emulated launches: which launches, which of their instructions, into
 * which file. */
#ifndef RUNTIME_DRIVER_TRACE_H
#define RUNTIME_DRIVER_TRACE_H

#include "base/file.h"
#include "runtime/emulate/emulate.h"
#include "runtime/emulate/trace_file.h"

#include <pthread.h>

typedef struct drv_trace {
    bool is_open;
    file_writer writer;
    trace_writer *packed; /* NULL: JSON lines */
    emulate_trace_filter filter;
    char kernel[256];     /* only launches of it; "": of all */
    pthread_mutex_t lock; /* one launch at a time writes */
    uint64_t launches;    /* that were traced */
    uint64_t matched;     /* instructions that were written */
    char text[200];       /* the filter, for messages; "": none */
} drv_trace;

/* path NULL: stays closed. A path that ends with TRACE_FILE_SUFFIX becomes a packed file. */
ls_status drv_trace_open(drv_trace *trace, const char *path, const char *filter, ls_error *err);
/* "group=1,0,0 wave=2 pc=0x100-0x200 kernel=fir with=sources"; NULL: everything. */
ls_status drv_trace_parse(drv_trace *trace, const char *filter, ls_error *err);
ls_status drv_trace_close(drv_trace *trace, ls_error *err);
void drv_trace_abort(drv_trace *trace);

#endif
