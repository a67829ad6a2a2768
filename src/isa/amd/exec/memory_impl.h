/* memory_impl.h: declarations that the files of memory instructions share: the rows, and access to
 * registers. */
#ifndef ISA_AMD_EXEC_MEMORY_IMPL_H
#define ISA_AMD_EXEC_MEMORY_IMPL_H

#include "isa/amd/exec/memory.h"

/* How the bytes of a lane become registers, and registers bytes. */
typedef enum mem_how {
    MEM_B32, /* whole registers */
    MEM_U8,
    MEM_I8,
    MEM_U16,
    MEM_I16,
    MEM_U8_LOW, /* into the lower half; the upper stays */
    MEM_I8_LOW,
    MEM_B16_LOW,
    MEM_U8_HIGH, /* into, or from, the upper half */
    MEM_I8_HIGH,
    MEM_B16_HIGH,
    MEM_FORMAT, /* by a buffer's format; row bytes is the number of components */
    MEM_FORMAT_D16,
} mem_how;

/* The effect of a row that is no plain load, store or atomic. */
typedef enum mem_family {
    MEM_MOVE,    /* plain */
    MEM_NOTHING, /* caches: there are none here */
    MEM_TIME,
    MEM_WAVE_ID,
    MEM_EXCHANGE,
    MEM_COUNTER, /* ds_append, ds_consume */
    MEM_IMAGE_,
} mem_family;

enum {                         /* mem_row.flags */
       MEM_TWO = 1u << 0,      /* two places: offset0 and offset1 count elements */
       MEM_ST64 = 1u << 1,     /* ... of 64 elements */
       MEM_ADDTID = 1u << 2,   /* lane * 4 instead of a register */
       MEM_RETURN = 1u << 3,   /* an LDS atomic that returns */
       MEM_SRC2 = 1u << 4,     /* the operand lies in LDS too */
       MEM_RESOURCE = 1u << 5, /* SMEM with a buffer resource */
       MEM_TIMES_64 = 1u << 6, /* SMEM: the offset register counts 64 bytes */
       MEM_FROM_LDS = 1u << 7, /* a store whose data lies in LDS */
       MEM_IMAGE = 1u << 8,
       MEM_TO_LDS = 1u << 9, /* a load that always writes LDS */
};

typedef struct mem_row {
    uint8_t kind;   /* amd_access_kind */
    uint8_t family; /* mem_family */
    uint8_t bytes;  /* of one place */
    uint8_t how;    /* mem_how */
    uint8_t atomic; /* amd_atomic */
    bool present;   /* the table has this row */
    uint16_t flags;
} mem_row;

const mem_row *mem_row_of(const amd_inst *inst);

/* --- registers --- */

static inline uint32_t *mem_vgpr(const amd_wave *wave, unsigned code)
{
    return wave->vgpr + (size_t)(code - AMD_VGPR) * wave->lanes;
}

static inline uint64_t mem_sgpr64(const amd_wave *wave, unsigned code)
{
    return wave->sgpr[code & 127] | (uint64_t)wave->sgpr[(code + 1) & 127] << 32;
}

/* The value of a scalar operand of 32 bits: register, inline constant or literal. */
static inline uint32_t mem_scalar(const amd_wave *wave, const amd_inst *inst, const amd_operand *operand)
{
    unsigned code = operand->code;
    if (code < 128)
        return wave->sgpr[code];
    if (code <= AMD_INT_0 + 64)
        return code - AMD_INT_0;
    if (code < AMD_INT_MINUS + 16)
        return (uint32_t) - (int32_t)(code - AMD_INT_MINUS + 1);
    if (code == AMD_LITERAL)
        return inst->literal;
    return 0;
}

/* Calls for each lane of a mask, lowest first. */
#define MEM_FOR_LANES(lane, mask)                                                                             \
    for (uint64_t left_ = (mask); left_ != 0; left_ &= left_ - 1)                                             \
        for (unsigned lane = (unsigned)__builtin_ctzll(left_), once_ = 1; once_ != 0; once_ = 0)

/* --- faults --- */

static inline bool mem_fault(amd_wave *wave, ls_fault_kind kind, unsigned lane, uint64_t address,
                             unsigned bytes, bool write)
{
    wave->fault = (ls_fault){
        .kind = kind, .lane = (uint8_t)lane, .bytes = (uint8_t)bytes, .write = write, .address = address
    };
    wave->stop = AMD_FAULTED;
    return false;
}

/* The host address of an access to global memory, or NULL with the fault set. */
uint8_t *mem_place(amd_wave *wave, unsigned lane, uint64_t address, unsigned bytes, bool write);
/* Finds and remembers the allocation around an address; false if it cannot be read (or written). */
bool mem_extent(amd_memory *memory, unsigned slot, uint64_t address, bool write);

static inline unsigned mem_slot(const amd_inst *inst)
{
    return inst->pc / 8 % AMD_MEMORY_SLOTS;
}

/* The host address of [start, start + bytes) if all of it lies in one allocation, else NULL. */
static inline uint8_t *mem_range(amd_wave *wave, const amd_inst *inst, uint64_t start, uint64_t bytes,
                                 bool write)
{
    amd_memory *memory = wave->group->memory;
    const memory_extent *extent = &memory->last[write][mem_slot(inst)];
    for (unsigned attempt = 0;; attempt++) {
        if (start >= extent->start && start < extent->end && bytes <= extent->end - start)
            return memory->view.host + (start - LS_WINDOW_BASE);
        if (attempt != 0 || !mem_extent(memory, mem_slot(inst), start, write))
            return NULL;
    }
}

/* The simulated address of byte `offset` of a lane's private memory. */
static inline uint64_t mem_private(const amd_wave *wave, unsigned lane, uint32_t offset)
{
    const amd_group *group = wave->group;
    uint64_t base = group->scratch + (uint64_t)wave->index * wave->lanes * group->scratch_bytes;
    return base + (uint64_t)(offset & ~3u) * wave->lanes + lane * 4 + (offset & 3);
}

/* --- the other files --- */

void mem_atomic_memory(uint8_t *place, unsigned bytes, amd_atomic what, uint32_t *data, bool shared);

bool mem_buffer_address(amd_wave *wave, const amd_inst *inst, const mem_row *row, amd_access *access);
void mem_buffer_unpack(amd_wave *wave, const amd_inst *inst, const mem_row *row, const amd_access *access);
bool mem_image_address(amd_wave *wave, const amd_inst *inst, const mem_row *row, amd_access *access);
void mem_image_writeback(amd_wave *wave, const amd_inst *inst, const mem_row *row, const amd_access *access);
bool mem_image_supported(amd_target target, const amd_inst *inst, const mem_row *row);
void mem_exchange(amd_wave *wave, const amd_inst *inst, amd_access *access);

/* A short cut for this instruction on this host, or NULL. */
amd_body mem_fast_find(amd_target target, unsigned lanes, const amd_inst *inst, const mem_row *row);
/* The general path; short cuts fall back to it. */
void mem_body(amd_wave *wave, const amd_inst *inst);

#endif
