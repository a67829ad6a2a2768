/* image.h: the ELF side of a code object: segments in place, symbols, relocations, notes. Used inside
 * src/workload/hsa only. */
#ifndef WORKLOAD_HSA_IMAGE_H
#define WORKLOAD_HSA_IMAGE_H

#include "base/map.h"
#include "workload/hsa/hsa.h"

/* Symbol types of version 2, beyond those of elf.h. */
#define STT_AMDGPU_HSA_KERNEL 10

/* Relocations of AMD's ELF files. RELATIVE64 occurs in linked files only; 7 to 9 and 14 in others only. */
enum {
    R_AMDGPU_NONE = 0,
    R_AMDGPU_ABS32_LO = 1,
    R_AMDGPU_ABS32_HI = 2,
    R_AMDGPU_ABS64 = 3,
    R_AMDGPU_REL32 = 4,
    R_AMDGPU_REL64 = 5,
    R_AMDGPU_ABS32 = 6,
    R_AMDGPU_GOTPCREL = 7,
    R_AMDGPU_GOTPCREL32_LO = 8,
    R_AMDGPU_GOTPCREL32_HI = 9,
    R_AMDGPU_REL32_LO = 10,
    R_AMDGPU_REL32_HI = 11,
    R_AMDGPU_RELATIVE64 = 13,
    R_AMDGPU_REL16 = 14,
};

typedef struct image_symbol {
    const char *name;
    uint64_t address, bytes;
    uint8_t type; /* STT_* */
    bool is_defined, is_weak;
    bool is_absolute; /* a number, not a place in the image */
} image_symbol;

typedef struct image_note {
    const uint8_t *at;
    size_t bytes;
} image_note;

typedef struct image_file {
    uint32_t flags;      /* e_flags */
    uint8_t abi;         /* version byte */
    bool is_relocatable; /* ET_REL: not linked before */
    image_symbol *symbols;
    size_t symbol_count;
    image_note msgpack, yaml;    /* metadata; 0 bytes: none */
    image_note isa_v2, isa_name; /* of version 2 */
    uint32_t note_version;       /* of version 2: major; 0: no such note */
    string_map by_name;          /* defined symbols; the first of a name */
} image_file;

/* Fills object's image, segments and relocs, and the rest into *out. Everything but the map lives in object's
 * arena; *out must be finished in every case. */
ls_status image_read(hsa_object *object, const void *data, size_t bytes, image_file *out, ls_error *err);
void image_fini(image_file *file);
/* NULL unless [address, address + bytes) lies in one segment. */
const uint8_t *image_at(const hsa_object *object, uint64_t address, uint64_t bytes);
const hsa_segment *image_segment(const hsa_object *object, uint64_t address);
/* Whether [offset, offset + bytes) ends at limit or before. */
bool image_fits(uint64_t offset, uint64_t bytes, uint64_t limit);
/* Takes what is known from a section or segment of notes. */
void image_take_notes(image_file *out, const uint8_t *at, size_t bytes);
/* How many bytes a relocation writes; 0: an unknown type. */
unsigned image_reloc_bytes(uint32_t type);
/* The first defined symbol of the name; NULL: none. */
const image_symbol *image_find(const image_file *file, const char *name);

#endif
