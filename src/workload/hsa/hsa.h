/* hsa.h: AMD code objects: ELF files of versions 2 to 6, linked or not, and the offload bundles around them.
 * They become a memory image, kernels with everything that a launch needs, and global variables. This folder
 * reads bytes only: it uses no device and runs nothing. Any bytes are safe: invalid ones are refused with a
 * reason. */
#ifndef WORKLOAD_HSA_HSA_H
#define WORKLOAD_HSA_HSA_H

#include "base/arena.h"
#include "isa/amd/amd.h"

#define HSA_FILE_LIMIT (256u << 20)  /* bytes of a file */
#define HSA_IMAGE_LIMIT (512u << 20) /* bytes of memory that a code object may fill */

/* The kind of an argument; the driver fills the hidden ones. */
typedef enum hsa_arg_kind {
#define HSA_ARG(id, name, hidden) HSA_ARG_##id,
#include "workload/hsa/args.def"
#undef HSA_ARG
    HSA_ARG_KIND_COUNT
} hsa_arg_kind;

const char *hsa_arg_kind_name(hsa_arg_kind kind); /* "global_buffer", as in the metadata of versions 3 to 6 */
bool hsa_arg_is_hidden(hsa_arg_kind kind);

/* Texts are "" where the file does not say. */
typedef struct hsa_arg {
    const char *name, *type_name;
    const char *kind_name; /* as in the file, in the spelling of versions 3 to 6 */
    hsa_arg_kind kind;
    uint32_t offset, bytes;
    uint32_t pointee_align; /* of local memory; 0: not given */
    const char *address_space, *access, *actual_access;
    bool is_const, is_restrict, is_volatile, is_pipe;
} hsa_arg;

/* Addresses are offsets in the image. Registers and sizes come from the descriptor, which the hardware reads;
 * the metadata adds names, arguments and limits. */
typedef struct hsa_kernel {
    const char *name;
    const char *symbol;  /* "name.kd"; of version 2 the name itself */
    uint64_t descriptor; /* kernel descriptor; of version 2 the amd_kernel_code_t */
    uint64_t entry;      /* first instruction */
    uint64_t code_bytes; /* from the entry to the end of its function; 0: not known */
    uint32_t rsrc1, rsrc2, rsrc3;
    uint32_t properties;     /* ENABLE_SGPR_* bits and bit 10, wave32 */
    uint32_t lds_bytes;      /* of a work-group */
    uint32_t scratch_bytes;  /* of a work-item */
    uint32_t kernarg_bytes;  /* the larger of descriptor and metadata */
    uint32_t kernarg_align;  /* a power of two, at least 16 */
    uint32_t wave_size;      /* 32 or 64 */
    uint32_t sgprs, vgprs;   /* as allocated, or as the metadata says if it does */
    uint32_t group_size_max; /* 0: not given */
    uint32_t required_group[3];
    uint32_t hinted_group[3]; /* work_group_size_hint */
    const char *vector_hint;  /* vec_type_hint; NULL: none */
    uint32_t sgpr_spills, vgpr_spills;
    bool uses_dynamic_stack;
    bool has_args;         /* the file describes arguments */
    const hsa_arg *args;   /* explicit ones first */
    size_t arg_count;      /* all */
    size_t explicit_count; /* of them */
    uint32_t explicit_bytes;
} hsa_kernel;

typedef struct hsa_variable {
    const char *name;
    uint64_t address, bytes;
    bool writable;
} hsa_variable;

typedef struct hsa_segment {
    uint64_t address, bytes;
    bool writable, executable;
} hsa_segment;

/* A word of the image that depends on where it is loaded. */
typedef struct hsa_reloc {
    uint64_t address;
    uint64_t value;   /* symbol and addend, relative to the image unless is_absolute */
    uint8_t type;     /* R_AMDGPU_* */
    bool is_absolute; /* of a symbol that does not move (a missing weak symbol) */
} hsa_reloc;

typedef struct hsa_object {
    mem_arena arena;
    unsigned version;            /* 2 to 6 */
    const char *target_name;     /* "gfx1010"; of version 6 also a family: "gfx10-1-generic" */
    const char *isa_name;        /* "amdgcn-amd-amdhsa--gfx1010:xnack-" */
    bool has_target;             /* target is valid: we have this instruction set */
    amd_target target;           /* of a family the member that we run */
    const char *xnack, *sramecc; /* "", "any", "off", "on" */
    uint8_t *image;              /* the segments in place, the rest 0; relocations not applied */
    uint64_t image_bytes;
    const hsa_segment *segments;
    size_t segment_count;
    const hsa_kernel *kernels; /* in the order of the metadata, then of the symbols */
    size_t kernel_count;
    const hsa_variable *variables;
    size_t variable_count;
    const hsa_reloc *relocs;
    size_t reloc_count;
    const char *const *printfs; /* "1:1:4:format" */
    size_t printf_count;
    const uint8_t *elf; /* a copy of the file, in the arena */
    size_t elf_bytes;
    bool has_lines; /* the file has DWARF with a line table: see lines.h. Of a linked file only */
} hsa_object;

/* Whether code for `name` ("gfx1010", "gfx10-1-generic") runs on `target` ("gfx1010"). */
bool hsa_target_runs(const char *name, const char *target);

/* data is not needed afterwards. *out is NULL on failure. */
ls_status hsa_object_read(const void *data, size_t bytes, hsa_object **out, ls_error *err);
void hsa_object_destroy(hsa_object *object); /* NULL is fine */
/* NULL if there is none. */
const hsa_kernel *hsa_object_find(const hsa_object *object, const char *kernel);
const char *hsa_object_nearest(const hsa_object *object, const char *kernel);
/* Writes the words that depend on the address into bytes (a copy of object->image) for loading at base. */
void hsa_object_relocate(const hsa_object *object, uint64_t base, uint8_t *bytes);

/* --- offload bundles --- */

typedef struct hsa_bundle_entry {
    const char *id;     /* "hipv4-amdgcn-amd-amdhsa--gfx1010" */
    const char *target; /* "gfx1010"; "" for the host's entry */
    uint64_t offset, bytes;
} hsa_bundle_entry;

bool hsa_is_bundle(const void *data, size_t bytes);
/* "CCOB": a compressed bundle (unpack.c). */
bool hsa_is_packed_bundle(const void *data, size_t bytes);
/* The bundle inside of a compressed one, in the arena; other data is handed back as it is. */
ls_status hsa_bundle_unpack(mem_arena *arena, const void *data, size_t bytes, const void **plain,
                            size_t *plain_bytes, ls_error *err);
/* All entries, in the arena. */
ls_status hsa_bundle_list(mem_arena *arena, const void *data, size_t bytes, const hsa_bundle_entry **entries,
                          size_t *count, ls_error *err);
/* The code object inside data: data itself if it is no bundle, else the bundle's entry for the target
 * ("gfx1010"; NULL if the bundle must have only one). The error lists what is there. */
ls_status hsa_bundle_pick(const void *data, size_t bytes, const char *target, const void **object,
                          size_t *object_bytes, ls_error *err);

#endif
