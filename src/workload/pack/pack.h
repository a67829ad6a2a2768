/* pack.h: packed traces: one file per trace, small, checked, with access to any thread block. The interface of
 * this folder; docs/trace-format.md describes the file. */
#ifndef PACK_PACK_H
#define PACK_PACK_H

#include "base/hash.h"
#include "workload/sink.h"
#include "workload/trace.h"

#define LS_PACK_SUFFIX ".lspk"
#define LS_PACK_LEVEL 12 /* of Zstandard: unpacking is as fast for every level */

/* A packed file to be written; it appears when it is finished. Kernels must have text. `level`: 1 to 19. */
ls_status pack_create(const char *path, int level, trace_sink **out, ls_error *err);

extern const trace_source pack_source;

/* A hash of the content of a packed trace, independent of its compression: for caches. False if the trace is
 * not a packed one. */
bool pack_content_hash(const sass_trace *trace, hash128 *out);

/* Whether the text that a kernel was packed from differs from the text that it unpacks to. */
bool pack_kernel_normalised(const trace_kernel *kernel);

/* Reads a whole packed trace and checks all there is to check, the content hash included. */
ls_status pack_file_verify(const char *path, ls_error *err);

#endif
