/* kernel_text.h: kernels written inside a test, read from memory. */
#ifndef TESTS_WORKLOAD_KERNEL_TEXT_H
#define TESTS_WORKLOAD_KERNEL_TEXT_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "workload/accelsim/accelsim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lines 1 to 14, as a tracer writes them, for one block of 64 threads. `version` and `sm` are texts. */
#define HEADER(version, sm, grid, block)                                                                       \
    "-kernel name = _Z3fooPf\n-kernel id = 7\n-grid dim = " grid "\n-block dim = " block                       \
    "\n-shmem = 1024\n-nregs = 32\n-binary version = " sm "\n-cuda stream id = 3\n"                            \
    "-shmem base_addr = 0x00007f0002000000\n-local mem base_addr = 0x00007f0000000000\n-nvbit version = 1.7\n" \
    "-accelsim tracer version = " version "\n\n#traces format = x\n"

#define HEADER_V3 HEADER("3", "80", "(1,1,1)", "(64,1,1)")
#define HEADER_V5 HEADER("5", "80", "(1,1,1)", "(64,1,1)")

/* Around the warps of one block: two lines before them. */
#define BLOCK(warps) "#BEGIN_TB\nthread block = 0,0,0\n" warps "#END_TB\n"

typedef struct reading {
    trace_kernel *kernel;
    ls_cta cta;
    ls_error err;
    ls_status status;
    bool end;
} reading;

static inline ls_status reading_open(reading *r, const char *text, const trace_options *options)
{
    static const trace_options defaults = { 0 };
    *r = (reading){ 0 };
    r->status = acc_open_memory("k.traceg", text, strlen(text), options ? options : &defaults, NULL,
                                &r->kernel, &r->err);
    return r->status;
}

static inline ls_status reading_next(reading *r)
{
    if (r->status == LS_OK)
        r->status = kernel_next_cta(r->kernel, &r->cta, &r->end, &r->err);
    return r->status;
}

/* Opens and reads the first block. */
static inline void read_block(reading *r, const char *text)
{
    reading_open(r, text, NULL);
    reading_next(r);
    if (r->status != LS_OK)
        fail_msg("%s: %s", r->err.where, r->err.what);
    assert_false(r->end);
}

static inline void reading_close(reading *r)
{
    kernel_close(r->kernel);
    ls_cta_fini(&r->cta);
}

static inline const ls_inst *inst_of(const reading *r, uint64_t dyn)
{
    return &kernel_inst_table(r->kernel)[r->cta.dyns[dyn].inst];
}

/* Reads to the end, or to the first error; returns "" or "where: error". */
static inline const char *read_all(const char *text)
{
    static char said[1024];
    static const trace_options options = { .drop_values = true }; /* as a run reads */
    reading r;
    reading_open(&r, text, &options);
    while (r.status == LS_OK && !r.end)
        reading_next(&r);
    said[0] = '\0';
    if (r.status != LS_OK)
        ls_error_text(&r.err, said, sizeof said);
    reading_close(&r);
    return said;
}

/* The same with a report, which the caller finishes. */
static inline void report_all(const char *text, acc_report *report)
{
    static const trace_options options = { .drop_values = true };
    trace_kernel *kernel;
    ls_cta cta = { 0 };
    ls_error err;
    bool end = false;
    ls_status status = acc_open_memory("k.traceg", text, strlen(text), &options, report, &kernel, &err);
    if (status == LS_ERR_CHECK)
        return;
    assert_int_equal(status, LS_OK);
    while (status == LS_OK && !end)
        status = kernel_next_cta(kernel, &cta, &end, &err);
    assert_int_equal(status, LS_OK);
    kernel_close(kernel);
    ls_cta_fini(&cta);
}

#endif
