/* link.h: relocatable code objects. Used inside src/workload/hsa only. */
#ifndef WORKLOAD_HSA_LINK_H
#define WORKLOAD_HSA_LINK_H

#include "workload/hsa/image.h"

#include <gelf.h>

/* Fills object's image, segments and relocs, and symbols and notes into *out. `data` must outlive both. */
ls_status link_read(hsa_object *object, Elf *elf, const uint8_t *data, size_t bytes, image_file *out,
                    ls_error *err);

#endif
