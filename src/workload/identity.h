/* identity.h: which trace is this? A hash of its content, for results and profiles that are kept and must not
 * be taken for those of another trace. */
#ifndef WORKLOAD_IDENTITY_H
#define WORKLOAD_IDENTITY_H

#include "base/hash.h"

/* path as for trace_open(). The identity covers: of a generated trace the kind and its parameters as written,
 * of a file its bytes, of a directory (or a list in it) the names and bytes of all its files. The location of
 * the files does not matter. */
ls_status trace_identity(const char *path, hash128 *out, ls_error *err);

#endif
