/* status.h: error reporting of every function that can fail.
 *
 * A function returns ls_status and, if the caller passes an ls_error, fills it with one clear line: the error,
 * its place, and the nearest valid value. Nothing in the library prints or exits; only main does. */
#ifndef LOCKSTEP_STATUS_H
#define LOCKSTEP_STATUS_H

#include "lockstep/version.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

typedef enum ls_status {
    LS_OK = 0,
    LS_ERR_USAGE,       /* the command line or a call's arguments are wrong */
    LS_ERR_INPUT,       /* a file's content is wrong */
    LS_ERR_IO,          /* a file cannot be read or written */
    LS_ERR_UNSUPPORTED, /* valid input that names something we do not have (an opcode, a model) */
    LS_ERR_DEADLOCK,    /* the simulated machine stopped with work pending */
    LS_ERR_CHECK,       /* a comparison or validation found a difference */
    LS_ERR_INTERRUPTED, /* the user stopped the run; results are partial */
    LS_ERR_NOMEM,       /* the host has no memory left */
    LS_ERR_INTERNAL,    /* an invariant broke: a bug of ours */
    LS_STATUS_COUNT
} ls_status;

/* The texts are bounded and cut (never overrun): an error must not need memory. */
typedef struct ls_error {
    ls_status status;
    char what[480];    /* the sentence, without a full stop */
    char where[256];   /* "file.yaml:12:5", "--set", "plug-in x.so"; empty if it has no place */
    char nearest[128]; /* the nearest valid name or value; empty if there is none */
} ls_error;

/* Clears err (NULL is fine). */
LS_API void ls_error_clear(ls_error *err);

/* Records status and the sentence, clears where and nearest, returns status. err may be NULL. */
LS_API ls_status ls_fail(ls_error *err, ls_status status, const char *fmt, ...) LS_PRINTF(3, 4);
#ifdef __clang_analyzer__ /* it does not know that ls_fail() returns `status`, which is not LS_OK */
#define ls_fail(err, status, ...) (ls_fail(err, status, __VA_ARGS__), (status))
#endif
LS_API ls_status ls_failv(ls_error *err, ls_status status, const char *fmt, va_list args);

/* Adds the place. line and column count from 1; 0 leaves them out. Returns err->status, so that
 * `return ls_error_at(err, ...)` can follow ls_fail(); for err NULL, as below, the status of the last
 * ls_fail() of this thread. */
LS_API ls_status ls_error_at(ls_error *err, const char *file, uint64_t line, uint64_t column);

/* Adds the nearest valid name (NULL or "" clears it). Returns err->status. */
LS_API ls_status ls_error_nearest(ls_error *err, const char *name);

/* Puts "context: " before the sentence, for a caller that knows more. Returns err->status. */
LS_API ls_status ls_error_prefix(ls_error *err, const char *fmt, ...) LS_PRINTF(2, 3);

/* Writes "where: error (nearest: x)" into out, always terminated; returns out. */
LS_API const char *ls_error_text(const ls_error *err, char *out, size_t out_bytes);

/* "ok", "usage", "input", ...: for machine-readable output. */
LS_API const char *ls_status_name(ls_status status);

/* The exit code of the lockstep command for this status; the table is in status.c and in the man page. */
LS_API int ls_status_exit_code(ls_status status);
LS_API const char *ls_status_help(ls_status status);

#endif
