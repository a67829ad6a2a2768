/* identity.h: which trace is this? A hash of its content, for results and profiles that are kept and must not
 * be taken for those of another trace. */
#ifndef WORKLOAD_IDENTITY_H
#define WORKLOAD_IDENTITY_H

#include "base/hash.h"

/* path as for trace_open(). The identity of a generated trace covers its kind and parameters as written, that
 * of a file its bytes. That of a directory (or a list in it) covers the names and bytes of all its files. The
 * location does not matter. */
ls_status trace_identity(const char *path, hash128 *out, ls_error *err);

#endif
