/* ending.h: what is different while the process ends. */
#ifndef OPENCL_ENDING_H
#define OPENCL_ENDING_H

#include <stdbool.h>
#include <stddef.h>

/* Executes what was submitted and can run, for some seconds; then nothing begins any more. False if something
 * still runs after a while. Takes ocl.lock. */
bool ocl_stop(void);

/* Whether memory of the program may no longer be touched; always false before the end. */
bool ocl_host_is_gone(const void *host, size_t bytes);

#endif
