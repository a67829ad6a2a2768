/* strict_impl.h: the state of the checker, shared by the files of src/runtime/strict.
 *
 * A shadow has a bit for each bit of a register or byte: 1 is undefined. A value becomes undefined when it
 * depends on undefined bits; it is an error when it reaches an address, a branch, EXEC, global memory or an
 * atomic. Moves, private memory and LDS only pass it on. */
#ifndef RUNTIME_STRICT_STRICT_IMPL_H
#define RUNTIME_STRICT_STRICT_IMPL_H

#include "base/vec.h"
#include "isa/amd/exec/memory_impl.h"
#include "runtime/strict/hazard.h"
#include "runtime/strict/strict.h"

#include <pthread.h>

/* --- where undefined values come from --- */

enum { STRICT_NEVER, STRICT_FROM_MEMORY, STRICT_FROM_LDS, STRICT_FROM_PRIVATE };
typedef struct strict_origin {
    uint8_t kind;
    uint64_t address; /* the first undefined byte that the instruction read */
} strict_origin;

/* Registers beside those of a wave. Origins are numbers of steps of the program; 0: nothing ever wrote it. */
typedef struct strict_wave {
    uint32_t sgpr[128];
    uint32_t sgpr_origin[128];
    uint32_t scc, scc_origin;
    uint32_t *vgpr; /* [amd_start_rows()][lanes] */
    uint32_t vgpr_origin[AMD_VGPR_ROWS_GFX9];
    uint32_t segment;  /* the accesses that it does now belong to: index into segments, from first on */
    uint32_t acquired; /* segments below happened before */
    hazard_wave hazards;
} strict_wave;

/* The accesses of one wave between two points of synchronisation. */
typedef struct strict_segment {
    uint32_t wave; /* in the launch */
    uint32_t group;
    uint32_t barrier; /* how many its work-group had passed */
} strict_segment;

/* The last accesses of each byte, as numbers of segments. Two readers, so that a reader of another wave is
 * kept. */
typedef struct strict_race {
    uint32_t writer[LS_PAGE_BYTES], reader[2][LS_PAGE_BYTES];
    uint32_t writer_pc[LS_PAGE_BYTES / 4], reader_pc[LS_PAGE_BYTES / 4]; /* steps; per dword, for messages */
    uint32_t released[LS_PAGE_BYTES / 4]; /* the first segment after the last atomic there */
} strict_race;

typedef struct strict_page {
    uint8_t defined[LS_PAGE_BYTES]; /* the other way round: fresh pages are undefined */
    strict_race *race;              /* NULL: no wave was there */
} strict_page;

typedef struct strict_range {
    uint64_t address, bytes;
} strict_range;

#define STRICT_LDS_PAGES (AMD_LDS_MAX / LS_PAGE_BYTES)
#define STRICT_FREED 64

struct strict {
    pthread_mutex_t lock;
    address_space_view view;
    strict_page **pages;           /* by page of the address space */
    uint64_t page_count, page_top; /* from page_top on none was ever used */
    LS_VEC(strict_range) ranges;   /* by address */
    size_t last_range;
    strict_range freed[STRICT_FREED];
    size_t freed_count;
    bool no_memory;
    /* The launch. */
    strict_launch launch;
    strict_origin *origins; /* [op_count + 1] */
    LS_VEC(strict_segment) segments;
    uint32_t first;        /* number of segments.at[0]; 0 stands for none */
    uint32_t waves_before; /* of earlier work-groups */
    uint64_t group;        /* number */
    uint32_t barrier;
    strict_wave waves[AMD_WAVES_MAX];
    uint32_t wave_count;
    uint32_t *vgpr_memory, *vgprs;
    strict_page *lds; /* [STRICT_LDS_PAGES] */
    strict_race *lds_races;
    /* The instruction. */
    const amd_wave *wave;
    strict_wave *shadow;
    const amd_inst *inst;
    uint32_t op;
    uint64_t pc;
    amd_access access;
    uint32_t *temp; /* [AMD_VGPR_ROWS_GFX9][64] */
    char why[400];
};

/* --- strict.c --- */

/* Always false. */
bool strict_fail(strict *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The use of an undefined register: "its address", "EXEC". Lanes of scalars: -1. Always false. */
bool strict_undefined(strict *s, const char *use, unsigned code, int lane, uint32_t origin);
/* The first register of a range of scalars that is undefined is an error. */
bool strict_need_scalars(strict *s, const char *use, unsigned code, unsigned count);

static inline uint32_t *strict_row(const strict *s, unsigned code)
{
    return s->shadow->vgpr + (size_t)(code - AMD_VGPR) * s->wave->lanes;
}

/* Names have a shadow, too: constants, EXEC and NULL are always defined. */
static inline bool strict_has_shadow(unsigned code)
{
    return code < AMD_INT_0 && code != AMD_NULL && code != AMD_EXEC_LO && code != AMD_EXEC_HI;
}

static inline uint64_t strict_scalar(const strict *s, unsigned code, unsigned dwords)
{
    uint64_t low = strict_has_shadow(code) ? s->shadow->sgpr[code] : code == AMD_SCC ? s->shadow->scc : 0;
    uint64_t high = dwords > 1 && code + 1 < 128 && strict_has_shadow(code) && strict_has_shadow(code + 1)
                        ? s->shadow->sgpr[code + 1]
                        : 0;
    return low | high << 32;
}

/* --- the instructions: false is an error --- */

bool strict_salu(strict *s);   /* strict_scalar.c */
bool strict_valu(strict *s);   /* strict_vector.c */
bool strict_memory(strict *s); /* strict_access.c */
/* Writes scalars; into EXEC nothing undefined may go. */
bool strict_write_scalar(strict *s, unsigned code, unsigned dwords, uint64_t shadow, uint32_t origin);
uint32_t strict_scalar_origin(const strict *s, unsigned code, unsigned dwords);

/* --- strict_memory.c --- */

strict_page *strict_page_of(strict *s, uint64_t address, bool create);
strict_race *strict_race_of(strict *s, strict_page *page);
/* The allocation around an address, or NULL. */
const strict_range *strict_find(strict *s, uint64_t address);
/* Starts a new segment of the wave; false: no memory. */
bool strict_next_segment(strict *s, strict_wave *shadow, uint32_t wave);

typedef enum strict_how { STRICT_READ, STRICT_WRITE, STRICT_ATOMIC } strict_how;
/* One byte that a lane touches: false if another wave touches it without order. `same`: a write that changes
 * nothing. */
bool strict_touch(strict *s, strict_page *page, uint64_t address, bool lds, unsigned lane, strict_how how,
                  bool same);

#endif
