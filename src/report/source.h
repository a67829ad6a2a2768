/* source.h: counts per static instruction of a run's kernels (lockstep run --source), of a live run or read back from a
 * result file; as text and as a CSV file of its own. Launches of one name are one kernel here. */
#ifndef REPORT_SOURCE_H
#define REPORT_SOURCE_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "isa/inst_counts.h"
#include "lockstep/status.h"

#include <stdio.h>

typedef enum source_machine { SOURCE_NVIDIA, SOURCE_AMD } source_machine;

typedef struct source_kernel {
    const char *name; /* as the workload has it: mangled */
    uint64_t launches;
    LS_VEC(inst_counted) insts; /* by pc, each once */
} source_kernel;

/* A line of a source file that some instruction is from, if the file could be read. */
typedef struct source_line {
    const char *file, *text;
    uint32_t line;
} source_line;

typedef struct source_book {
    mem_arena arena;
    source_machine machine;
    uint32_t request_bytes;        /* of a sector or line */
    LS_VEC(source_kernel) kernels; /* by first launch */
    LS_VEC(source_line) lines;
    string_map names; /* of kernels: their place + 1 */
} source_book;

/* "memory", "vmcnt": the stall reasons in the order of inst_count.stalls, as the metrics stall_* have them. */
size_t source_reasons(source_machine machine, const char *const **names);

source_book *source_create(source_machine machine, uint32_t request_bytes); /* NULL: no memory left */
void source_destroy(source_book *book);                                     /* NULL is fine */
bool source_has(const source_book *book, const char *kernel);
/* Adds launches and their instructions, or with 0 launches instructions read from a file; texts are copied. Of launches,
 * instructions without any count are left out. */
ls_status source_add(source_book *book, const char *kernel, uint64_t launches, const inst_counted *insts,
                     size_t count, ls_error *err);
ls_status source_add_line(source_book *book, const char *file, uint32_t line, const char *text, ls_error *err);

/* Stalls of all reasons; and with the executions: issue slots (cycles of a compute unit) that belong to the instruction. */
uint64_t source_stalls(const source_book *book, const inst_count *n);
uint64_t source_cost(const source_book *book, const inst_count *n);
/* The bytes that lanes asked for, of the bytes of sectors or lines: 0 to 1. NaN: it asked for none. */
double source_coalescing(const source_book *book, const inst_count *n);
/* The reason with the most stalls; NULL: none. */
const char *source_main_stall(const source_book *book, const inst_count *n);

typedef struct source_top {
    const source_kernel *kernel;
    const inst_counted *inst;
    double share; /* of the cost of all instructions */
} source_top;
/* The instructions with the most cost, the most first. Returns how many of at most `room`. */
size_t source_costliest(const source_book *book, source_top *out, size_t room);

/* A table of the costliest instructions: of the run, or of each kernel with at most `rows` of each. */
void source_print(const source_book *book, size_t rows, FILE *to);
/* One row per instruction. Write errors show in the stream (ferror). */
void source_csv(const source_book *book, FILE *to);

#endif
