/* rdma_keys.c: see rdma_keys.h. */
#include "model/memory/rdma_keys.h"

#include <stddef.h>

const char *const rdma_at_names[] = { "l1", "memory", NULL };
const char *const rdma_cache_names[] = { "never", "read-only", "partitioned", NULL };
