/* ending.h: behaviour of the library while the process ends. */
#ifndef OPENCL_ENDING_H
#define OPENCL_ENDING_H

#include <stdbool.h>
#include <stddef.h>

/* Executes submitted commands that can run, for some seconds; after that no command begins. False if a command
 * is still running at the end. Takes ocl.lock. */
bool ocl_stop(void);

/* True if this memory of the program must not be touched because it may be gone; always false before the
 * end. */
bool ocl_host_is_gone(const void *host, size_t bytes);

#endif
