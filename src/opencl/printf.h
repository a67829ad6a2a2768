/* printf.h: printf of kernels. The compiler silently drops printf. So programs that use it are compiled with a
 * few lines before their source that define printf as a macro. The macro reserves room in a buffer and writes
 * the address of the format and each argument with its size. The host formats it when the launch is over.
 * Independent of queues. */
#ifndef OPENCL_PRINTF_H
#define OPENCL_PRINTF_H

#include "base/text.h"
#include "lockstep/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OCL_PRINTF_BYTES (1u << 20)         /* of the buffer; further output is lost and printf returns -1 */
#define OCL_PRINTF_MARK "__lockstep_printf" /* the variable of programs that were compiled with the macro */

/* True if a source needs the prelude: it names printf, or includes files that may. */
bool ocl_printf_wanted(const char *source);
/* To be put before the source of standard input; its last line makes the source begin with line 1. */
const char *ocl_printf_prelude(void);

/* The buffer's header: bytes in use, header included, and the size of the buffer. */
typedef struct ocl_printf_head {
    uint32_t used, bytes;
} ocl_printf_head;

/* Copies at most room bytes of the simulated memory at an address, as many as there are; their number. */
typedef size_t (*ocl_printf_fetch)(void *self, uint64_t address, char *out, size_t room);

/* Adds to out what the records of a buffer (without its head) print. Stops at the first that is damaged. */
ls_status ocl_printf_format(const void *records, size_t bytes, ocl_printf_fetch fetch, void *self,
                            text_buffer *out, ls_error *err);

#endif
