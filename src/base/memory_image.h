/* memory_image.h: the bytes of simulated memory for a checkpoint: the pages that are mapped and hold anything but zeros.
 * Reads and writes an address space; independent of its user. */
#ifndef BASE_MEMORY_IMAGE_H
#define BASE_MEMORY_IMAGE_H

#include "base/address_space.h"
#include "base/vec.h"

typedef LS_VEC(uint8_t) memory_image_bytes;

/* Appends the image. False: the host has no memory. */
bool memory_image_save(memory_space *space, memory_image_bytes *out);
/* The mapped pages get the bytes of the image that begins at *at, all others become zero; *at is moved past it. The
 * same pages must be mapped as when it was saved. LS_ERR_INPUT: the bytes are no such image. */
ls_status memory_image_load(memory_space *space, const uint8_t **at, const uint8_t *end, ls_error *err);

#endif
