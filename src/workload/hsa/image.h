/* image.h: the ELF side of a code object: segments in place, symbols, relocations, notes. Used inside
 * src/workload/hsa only. */
#ifndef WORKLOAD_HSA_IMAGE_H
#define WORKLOAD_HSA_IMAGE_H

#include "base/map.h"
#include "workload/hsa/hsa.h"

/* Symbol types of version 2, beyond those of elf.h. */
#define STT_AMDGPU_HSA_KERNEL 10

typedef struct image_symbol {
    const char *name;
    uint64_t address, bytes;
    uint8_t type; /* STT_* */
    bool is_defined, is_weak;
} image_symbol;

typedef struct image_note {
    const uint8_t *at;
    size_t bytes;
} image_note;

typedef struct image_file {
    uint32_t flags; /* e_flags */
    uint8_t abi;    /* version byte */
    image_symbol *symbols;
    size_t symbol_count;
    image_note msgpack, yaml;    /* metadata; 0 bytes: none */
    image_note isa_v2, isa_name; /* of version 2 */
    uint32_t note_version;       /* of version 2: major; 0: no such note */
    ls_map by_name;              /* defined symbols; the first of a name */
} image_file;

/* Fills object's image, segments and relocs, and the rest into *out. Everything but the map lives in object's
 * arena; *out must be finished in every case. */
ls_status image_read(hsa_object *object, const void *data, size_t bytes, image_file *out, ls_error *err);
void image_fini(image_file *file);
/* NULL unless [address, address + bytes) lies in one segment. */
const uint8_t *image_at(const hsa_object *object, uint64_t address, uint64_t bytes);
const hsa_segment *image_segment(const hsa_object *object, uint64_t address);
/* The first defined symbol of the name; NULL: none. */
const image_symbol *image_find(const image_file *file, const char *name);

#endif
