/* pack.h: packed traces: one file per trace, small, checked, with access to any thread block. What the folder
 * offers; docs/trace-format.md describes the file. */
#ifndef PACK_PACK_H
#define PACK_PACK_H

#include "base/hash.h"
#include "workload/sink.h"
#include "workload/trace.h"

#define LS_PACK_SUFFIX ".lspk"
#define LS_PACK_LEVEL 12 /* of Zstandard: unpacking is as fast for every level */

/* A packed file to be written; it appears when it is finished. Kernels must have text. `level`: 1 to 19. */
ls_status ls_pack_create(const char *path, int level, ls_sink **out, ls_error *err);

extern const ls_trace_source ls_pack_source;

/* A hash of what a packed trace says, the same however well it is compressed: for caches. False if the trace
 * is not a packed one. */
bool ls_pack_content_hash(const ls_trace *trace, ls_hash *out);

/* Whether the text that a kernel was packed from differs from the text that it unpacks to. */
bool ls_pack_kernel_normalised(const ls_kernel *kernel);

/* Reads a whole packed trace and checks all there is to check, the content hash included. */
ls_status ls_pack_verify(const char *path, ls_error *err);

#endif
