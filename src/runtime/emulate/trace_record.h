/* trace_record.h: one executed instruction of the instruction trace, with values of registers and memory, and its texts.
 * The emulator fills records; the packed file (trace_file.h) keeps them; the viewer reads them back. */
#ifndef RUNTIME_EMULATE_TRACE_RECORD_H
#define RUNTIME_EMULATE_TRACE_RECORD_H

#include "isa/amd/exec/memory.h"

#include <stdio.h>

#define TRACE_VECTORS 16 /* registers of one list */
#define TRACE_SOURCES 4

/* A static instruction. Texts live as long as the launch. */
typedef struct trace_op {
    const char *pc, *text; /* "fir+0x40", "s_endpgm" */
    uint8_t source_count;
    struct {
        uint16_t code; /* AMD_*: the first register */
        uint8_t dwords;
    } sources[TRACE_SOURCES]; /* registers that it reads */
} trace_op;

typedef struct trace_launch {
    uint64_t number; /* from 1 on */
    const char *kernel;
    uint32_t lanes;    /* 32 or 64 */
    uint32_t op_count; /* ops[1] to ops[op_count] */
    const trace_op *ops;
} trace_launch;

/* Values of registers: those that an instruction wrote, or that it read. */
typedef struct trace_values {
    uint32_t scalar_count, vector_count;
    struct {
        uint8_t code; /* AMD_*: s0 to exec_hi */
        uint32_t value;
    } scalars[128]; /* by code */
    struct {
        uint8_t number;
        uint32_t lane[64]; /* the first `lanes` */
    } vectors[TRACE_VECTORS];
    bool has_scc;
    uint32_t scc;
} trace_values;

/* The access to memory. Piece p of a lane has `piece_bytes` at address[p][lane] and its data at dword
 * p * (piece_bytes + 3) / 4 of data[lane]: what a load read, what a store wrote, the operand of an atomic. */
typedef struct trace_access {
    uint8_t kind, space; /* amd_access_kind (AMD_ACCESS_NONE: there is no access), amd_access_space */
    uint8_t pieces, piece_bytes;
    uint64_t lanes;  /* that access memory; bit 0 of a scalar access */
    uint64_t in_lds; /* of a flat access */
    uint64_t address[AMD_PIECES_MAX][64];
    uint32_t data[64][AMD_DATA_DWORDS];
    uint32_t old[64][2]; /* atomics: memory before */
} trace_access;

typedef struct trace_record {
    uint32_t group[3], wave;
    uint32_t op; /* of the launch */
    uint64_t exec;
    trace_values writes;
    bool has_reads;
    trace_values reads; /* with sources */
    trace_access access;
} trace_record;

static inline uint32_t trace_piece_dwords(const trace_access *access)
{
    return (access->piece_bytes + 3u) / 4;
}

/* "s4", "vcc_lo", "v3" of an operand code; returns out. */
const char *trace_register_name(unsigned code, char *out, size_t bytes);
/* The code of a name; false: it is none. */
bool trace_register_find(const char *name, unsigned *code);

/* Lines of JSON. */
void trace_print_launch(FILE *file, const trace_launch *launch);
void trace_print_json(FILE *file, const trace_launch *launch, const trace_record *record);
/* A line for people; number: of the record in its file. */
void trace_print_text(FILE *file, const trace_launch *launch, const trace_record *record, uint64_t number);

#endif
