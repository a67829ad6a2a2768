/* kind.h: interface of the generators of this folder: a kernel's program as rows of text, and the warps that
 * run it.
 *
 * A kind is a table of parameters and a few functions. assemble() writes the program once per kernel, row by
 * row as a disassembler would show it, and marks its sections. warp() then runs it for one warp, section by
 * section, with addresses where rows have them. */
#ifndef SYNTH_KIND_H
#define SYNTH_KIND_H

#include "base/arena.h"
#include "base/text.h"
#include "base/vec.h"
#include "workload/sink.h"
#include "workload/synth/synth.h"

#define SYNTH_MARKS 24
#define SYNTH_FULL UINT32_MAX
#define SYNTH_WARP 32u
#define SYNTH_SECTOR 32u
#define SYNTH_LINE 128u

/* First member of every kind's spec. */
#define SYNTH_TEXT_BYTES 64u /* a parameter of type TEXT is an array of so many characters */

typedef struct synth_common {
    uint32_t binary_version; /* index into synth_versions */
    uint64_t tracer_version;
    uint64_t seed;
    uint64_t repeat; /* of all launches */
    uint64_t thread_registers,
        block_shared_kib; /* that the header declares at least; 0: what the kind needs */
} synth_common;

extern const uint32_t synth_versions[];

/* ----------------------------------------------------------------------------------------------- programs */

typedef struct synth_program {
    uint32_t version; /* 61, 70, ... */
    uint32_t tracer_version;
    LS_VEC(inst_words) rows;
    uint32_t mark[SYNTH_MARKS]; /* row numbers; their meaning is the kind's own */
    mem_arena arena;
    bool failed; /* without memory: sticky */
} synth_program;

/* Adds a row: number of destinations, these, opcode, number of sources, these, access width. Returns its
 * number. */
uint32_t synth_op(synth_program *p, const char *fmt, ...) LS_PRINTF(2, 3);
/* The immediate of the row that was added last. */
void synth_imm(synth_program *p, int64_t imm);
/* Both of its immediates; `values` says that its executions have values of registers (tracer version 6). */
void synth_tail(synth_program *p, int64_t imm, int64_t imm2, bool values);
static inline uint32_t synth_here(const synth_program *p)
{
    return (uint32_t)p->rows.count;
}

/* Rows that depend on the generation. Registers are plain numbers. */
void synth_begin(synth_program *p);                   /* stack pointer: R1 */
void synth_thread_id(synth_program *p, unsigned dst); /* block * size + thread; uses the two registers after
                                                       * dst */
void synth_multiply_add(synth_program *p, unsigned dst, unsigned a, unsigned b, unsigned c);
/* 64 bits: base + register i * register size. */
void synth_address(synth_program *p, unsigned dst, unsigned i, unsigned size);
void synth_constant(synth_program *p, unsigned dst);
void synth_increment(synth_program *p, unsigned reg, int64_t by);
/* Compares and leaves: rows "compare" and "exit"; returns the number of the exit. */
uint32_t synth_bounds(synth_program *p, unsigned reg);
/* Barrier of the thread block: one row, two before Volta. Returns the first. */
uint32_t synth_barrier(synth_program *p);
uint32_t synth_exit(synth_program *p);
const char *synth_ldg(const synth_program *p); /* the plain load's spelling */

/* -------------------------------------------------------------------------------------------------- warps */

/* Texts of register values, for those who write the block as text. */
typedef struct synth_values {
    LS_VEC(cta_value) list;
    text_buffer text;
} synth_values;

typedef struct synth_warp {
    const synth_program *program;
    ls_cta *cta;
    synth_values *values; /* NULL: nobody wants them */
    uint32_t id[3];       /* of the thread block */
    uint32_t index;       /* of the warp in its thread block */
    uint32_t mask;        /* active lanes */
    uint64_t thread;      /* of lane 0 in a one-dimensional grid */
    bool failed;          /* without memory: sticky */
} synth_warp;

/* Rows [from, to) with the present mask; none of them has addresses. */
void synth_run(synth_warp *w, uint32_t from, uint32_t to);
/* One row with its own mask and no addresses: predicated instructions, branches. */
void synth_one(synth_warp *w, uint32_t row, uint32_t mask);
/* One row with the address of lane 0 and the step from lane to lane. */
void synth_lanes(synth_warp *w, uint32_t row, uint64_t lane0, int64_t stride);
/* One row with any addresses, as far as the mask has lanes. Written as the tracer would: a stride where lanes
 * follow each other evenly, else base and differences, else a list. */
void synth_list(synth_warp *w, uint32_t row, const uint64_t addresses[SYNTH_WARP]);
/* The words that synth_list() writes, and their number; returns their mode. */
ls_addr_mode synth_encode(uint32_t mask, const uint64_t addresses[SYNTH_WARP], uint64_t words[SYNTH_WARP],
                          unsigned *count);
/* One row with a record (lockstep/stream.h). */
void synth_record(synth_warp *w, uint32_t row, const uint64_t *words, uint64_t count);
/* Rows [from, to); the last one is the branch back, executed by the lanes that jump: all or, at the end,
 * none. */
void synth_loop_end(synth_warp *w, uint32_t from, uint32_t to, bool again);
/* Runs the rows of synth_bounds() and up to its exit from row `from`. Keeps the lanes whose thread is below n;
 * false if none is left and the warp has ended. */
bool synth_within(synth_warp *w, uint32_t from, uint32_t exit_row, uint64_t n);

/* --------------------------------------------------------------------------------------------- parameters */

/* A parameter whose value must be a multiple of another number. */
typedef struct synth_multiple {
    const char *name;
    uint64_t value, of;
} synth_multiple;

/* Names the first that is none. */
ls_status synth_check_multiples(const synth_multiple *rules, size_t count, ls_error *err);
/* Blocks are whole warps, so that lanes are missing only at the end of the data. */
ls_status synth_check_block(uint64_t block, ls_error *err);

/* ------------------------------------------------------------------------------------------------ numbers */

/* Addresses of the arrays: 4 GiB apart, as far as anything here is large. */
static inline uint64_t synth_array(unsigned number)
{
    return UINT64_C(0x7f0000000000) + ((uint64_t)number << 32);
}
#define SYNTH_SHARED_BASE UINT64_C(0x7f8000000000)
#define SYNTH_LOCAL_BASE UINT64_C(0x7f7ffe000000)

static inline uint64_t synth_ceil_div(uint64_t a, uint64_t b)
{
    return (a + b - 1) / b;
}
static inline uint64_t synth_min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}
/* Facts of a kernel in which each thread below n does one thing: `exit_row` is that of synth_bounds(). */
void synth_facts_each(synth_facts *f, const synth_program *p, uint32_t exit_row, uint64_t warps, uint64_t n);
/* A random number that depends on its arguments only, so that any thread block can be generated alone. */
static inline uint64_t synth_hash(uint64_t seed, uint64_t a, uint64_t b)
{
    /* SplitMix64's mixing of a sum that no two small arguments share. */
    uint64_t z = seed + a * UINT64_C(0x9e3779b97f4a7c15) + b * UINT64_C(0xd1342543de82ef95) + 1;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}
/* Sectors that `count` elements of `size` bytes from `address` on, `stride` apart, touch. */
uint64_t synth_sectors(uint64_t address, uint64_t count, uint64_t size, uint64_t stride);

/* -------------------------------------------------------------------------------------------------- kinds */

/* shape() of kinds whose blocks are all alike. */
uint64_t synth_all_alike(const void *spec, uint32_t launch, const uint32_t id[3]);

/* Shape of one launch; name and the rest of the info are filled by synth.c. */
typedef struct synth_launch {
    const char *name; /* of the function */
    uint32_t grid[3], block[3];
    uint64_t shared_bytes;
    uint32_t registers;
    uint32_t cluster[3]; /* blocks of a cluster along each axis; 0: no clusters */
    bool cooperative;    /* its blocks wait for each other */
} synth_launch;

typedef struct synth_copy {
    uint64_t address, bytes;
} synth_copy;
#define SYNTH_COPIES 4

struct synth_kind {
    const char *name, *help;
    const char
        *defaults; /* of parameters of every kind, where this one has others: "tracer_version=6"; or NULL */
    size_t spec_size;
    const ls_param *params;
    size_t param_count;
    ls_status (*check)(const void *spec, ls_error *err);      /* checks that ranges cannot express; may be
                                                               * NULL */
    uint32_t (*launches)(const void *spec);                   /* NULL: one */
    unsigned (*copies)(const void *spec, synth_copy *copies); /* inputs, up to SYNTH_COPIES; may be NULL */
    void (*launch)(const void *spec, uint32_t launch, synth_launch *out);
    void (*assemble)(const void *spec, uint32_t launch, synth_program *p);
    void (*warp)(const void *spec, uint32_t launch, synth_warp *w);
    /* Which blocks are alike (trace_kernel_ops.shape in trace.h); NULL: none. */
    uint64_t (*shape)(const void *spec, uint32_t launch, const uint32_t id[3]);
    /* Adds one launch; kernels, ctas and warps are counted by synth.c. */
    void (*facts)(const void *spec, uint32_t launch, const synth_program *p, synth_facts *f);
    /* Of a kind whose launches are those of other kinds: which one this launch is of (its first launch), and its parameters
     * as text. Then no other function but launches() is needed. NULL: its launches are its own. */
    const synth_kind *(*part)(const void *spec, uint32_t launch, char *text, size_t bytes);
};
#define SYNTH_PART_BYTES 160u

extern const synth_kind synth_vector_add, synth_saxpy, synth_bandwidth, synth_gemm, synth_gemm_tensor,
    synth_reduction, synth_transpose, synth_stencil, synth_gather, synth_pointer_chase, synth_chain,
    synth_throughput, synth_shared_conflict, synth_atomics, synth_graph_walk, synth_barrier_storm,
    synth_peer_copy, synth_application, synth_gemm_hopper, synth_attention_hopper, synth_all_reduce,
    synth_bulk_copy, synth_cluster_chase;

#endif
