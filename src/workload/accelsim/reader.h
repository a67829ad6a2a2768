/* reader.h: one kernel file being read. Private to this folder: the header (header.c), thread blocks
 * (reader.c) and instruction lines (line.c, line_fast.c) share it. */
#ifndef ACCELSIM_READER_H
#define ACCELSIM_READER_H

#include "workload/accelsim/input.h"
#include "workload/accelsim/report.h"
#include "workload/accelsim/shapes.h"
#include "workload/sink.h"
#include "workload/trace.h"

#define ACC_LINE_MAX (256u << 10) /* a bulk copy may list some thousand addresses */
#define ACC_BUFFER_BYTES (1u << 20)
#define ACC_NO_WARP UINT32_MAX

typedef struct acc_reader {
    trace_kernel kernel; /* first: callers hold a pointer to it */
    acc_input *input;
    acc_report *report; /* NULL: the first error ends the reading */
    trace_options options;
    char *path;

    /* Text: [at, end) is not read yet. A line break and zeros follow it, so that a search for the end of a
     * number or line stays inside the buffer. Lines are complete when `at` is at their start, unless they are
     * longer than ACC_LINE_MAX. */
    char *buffer;
    const char *at, *end;
    bool at_end;         /* no text follows `end` */
    bool open_end;       /* the last line had no end of its own */
    uint64_t line;       /* number of the line at `at` */
    ls_error read_error; /* why nothing comes; status LS_OK: the file ends */

    text_buffer header; /* everything before the first block, as it stands in the file */
    acc_shapes shapes;
    uint32_t last; /* instruction of the line before, for the guess */

    /* thread blocks */
    uint64_t block_index; /* of the next one */
    uint64_t next_linear; /* id that it should have */
    uint64_t *seen;       /* ids seen so far, if the report checks them; else NULL */
    uint64_t *warps_seen; /* in this block: a bit per warp */
    bool finished;

    /* the warp whose lines come */
    uint32_t warp;       /* ACC_NO_WARP: none, or lines that are checked but not kept */
    bool in_warp;        /* "warp =" was read */
    bool counted;        /* and "insts =" too */
    uint64_t declared;   /* instructions that it says it has */
    uint64_t lines;      /* instruction lines read */
    uint64_t insts_line; /* number of the line that says so */
    uint32_t lanes;      /* that it has; all if the lines are not kept */
    uint32_t live;       /* lanes that have not exited: for the report */
    bool after_exit_reported;

    /* register values of this block */
    ls_cta_values values;
    LS_VEC(cta_value) value_list;
    text_buffer value_text;
} acc_reader;

/* --- reader.c --- */
/* Reads more if a whole line is not there; false at the end of the file. */
bool acc_reader_line(acc_reader *r);
/* The end of the line at r->at, and the start of the next line. The line's first ACC_LINE_MAX bytes if it is
 * too long. */
const char *acc_reader_line_end(const acc_reader *r, const char **next);
ls_status acc_reader_defect(acc_reader *r, acc_kind kind, ls_error *err, const char *fmt, ...) LS_PRINTF(4, 5);

/* --- header.c --- */
ls_status acc_header_read(acc_reader *r, ls_error *err);

/* --- line_fast.c --- */
/* Reads instruction lines into the block, the fast way, until one comes that needs the other functions. */
ls_status acc_lines_fast(acc_reader *r, ls_cta *cta, ls_error *err);
/* --- line.c --- */
/* Reads the one line at r->at by the general path. */
ls_status acc_line_slow(acc_reader *r, ls_cta *cta, ls_error *err);

/* Opens a kernel file and reads its header. file_name NULL: path. */
ls_status acc_reader_open(acc_input *input, const char *path, const trace_options *options, acc_report *report,
                          trace_kernel **out, ls_error *err);

#endif
