/* trace.h: kernels as streams of executed instructions, independent of their file format.
 *
 * A trace is a list of commands (memory copies and kernel launches). A kernel is opened, then read thread
 * block by thread block into an ls_cta that the caller owns and reuses, so memory is bounded by the blocks in
 * flight. Sources: Accel-Sim directories (accelsim/), packed traces (pack/), generators (synth/); each fills
 * the same structs. */
#ifndef WORKLOAD_TRACE_H
#define WORKLOAD_TRACE_H

#include "isa/stream.h"
#include "lockstep/status.h"

#include <stdbool.h>

typedef struct sass_trace sass_trace;
typedef struct trace_kernel trace_kernel;

/* --- one kernel (its description, ls_kernel_info, and its blocks, ls_cta, are in isa/stream.h) ---------- */

const ls_kernel_info *kernel_get_info(const trace_kernel *kernel);
/* The static instructions seen so far. The array never moves while the kernel is open, and entries never
 * change: other threads may read entries whose index they were given. */
const ls_inst *kernel_inst_table(const trace_kernel *kernel);
uint32_t kernel_inst_count(const trace_kernel *kernel);
/* Before the first block: instructions have the classes that Accel-Sim gives them
 * (sass_class_in_accelsim()). */
void kernel_as_accelsim(trace_kernel *kernel);
/* Reads the next thread block; *end is set, and nothing read, after the last. */
ls_status kernel_next_cta(trace_kernel *kernel, ls_cta *cta, bool *end, ls_error *err);
/* Packed traces and generators: makes block `index` the next one. LS_ERR_UNSUPPORTED for text. */
ls_status kernel_seek(trace_kernel *kernel, uint64_t index, ls_error *err);
/* Reading ends after the first `ctas` blocks, even if more follow in the file; 0: no limit. */
void kernel_limit(trace_kernel *kernel, uint64_t ctas);
/* How many blocks reading will give: those of the grid, or the limit. */
uint64_t kernel_blocks(const trace_kernel *kernel);
/* Whether several kernels of its trace, this one opened twice included, may be read by different threads at
 * the same time, each from anywhere (kernel_seek()) at no cost. */
bool kernel_is_parallel(const trace_kernel *kernel);
/* Takes marks of tracers (REPLAY_START, REPLAY_END) out of a block that was just read: no GPU executes them. A region
 * between them runs once, because its waits end when they are over. */
void kernel_drop_marks(trace_kernel *kernel, ls_cta *cta);
void kernel_close(trace_kernel *kernel);

/* --- the list ------------------------------------------------------------------------------------------- */

typedef enum command_kind { LS_COMMAND_KERNEL, LS_COMMAND_COPY_IN, LS_COMMAND_OTHER } command_kind;

typedef struct trace_cmd {
    command_kind kind;
    uint64_t address, bytes; /* copies */
    const char *text;        /* as in the list: the kernel's file name, or the whole line */
    uint64_t line;           /* in the list */
    uint32_t context;        /* number of the list, if a directory has several: 0 for kernelslist.g */
} trace_cmd;

/* Streams of another context are others, whatever their handles are: its number stands above these bits. */
#define TRACE_CONTEXT_SHIFT 56

typedef struct trace_options {
    bool unknown_opcodes_as_alu; /* else an unknown opcode is LS_ERR_UNSUPPORTED */
    bool drop_values;            /* drop register values (ls_cta.extra): blocks will not be written again */
} trace_options;

/* A directory with kernelslist.g, the list itself, one kernel file, or a packed trace. options may be
 * NULL. */
ls_status trace_open(const char *path, const trace_options *options, sass_trace **out, ls_error *err);
void trace_close(sass_trace *trace);
uint64_t trace_command_count(const sass_trace *trace);
const trace_cmd *trace_command_at(const sass_trace *trace, uint64_t index);
/* Opens the kernel of command `index`; reads its header only. */
ls_status trace_open_kernel(sass_trace *trace, uint64_t index, trace_kernel **out, ls_error *err);

/* Its info, whose texts are valid until the next call for this trace, and the instructions that its warps execute. Packed
 * traces and generators know them; text is read to its end. */
ls_status trace_describe(sass_trace *trace, uint64_t index, ls_kernel_info *info, uint64_t *warp_insts,
                         ls_error *err);

/* --- for the sources ------------------------------------------------------------------------------------ */

/* The text of a static instruction's line around what changes from one execution to the next:
 *     [tbx tby tbz warp ]<pc> MASK <body> [mode addresses ][<tail> ][values ]
 * With it a kernel can be written as text and packed again, byte for byte. */
typedef struct inst_words {
    const char *pc;   /* "0090"; "17 0090" with line info */
    const char *body; /* "1 R4 LDG.E 1 R4 4": from the number of destinations to the access width */
    const char *tail; /* text after the addresses: "", "0", "0 0 NoVal", "0 0 Val" */
} inst_words;

#define LS_SHAPE_ALONE UINT64_MAX /* like no other */

typedef struct trace_kernel_ops {
    ls_status (*next_cta)(trace_kernel *kernel, ls_cta *cta, bool *end, ls_error *err);
    ls_status (*seek)(trace_kernel *kernel, uint64_t index, ls_error *err); /* may be NULL */
    bool parallel;                                                          /* kernel_is_parallel() */
    void (*close)(trace_kernel *kernel);
    /* Of an instruction seen so far; false without memory. NULL: the source has no text. */
    bool (*text)(const trace_kernel *kernel, uint32_t inst, inst_words *out);
    /* Blocks of equal shape execute the same instructions with the same masks. The addresses of each
     * instruction differ by a linear function of the block's x, y and z. Needs seek. NULL: unknown; share.h
     * then finds out. */
    uint64_t (*shape)(const trace_kernel *kernel, uint64_t index);
    /* With shape: fills the place in a cluster of a block that is not read. NULL: no block is in one. */
    void (*place)(const trace_kernel *kernel, uint64_t index, ls_cta *cta);
    /* Everything before the first #BEGIN_TB, as it stands in the file. NULL: written from the info. */
    const char *(*header)(const trace_kernel *kernel, size_t *bytes);
} trace_kernel_ops;

/* First member of every source's own kernel struct. */
struct trace_kernel {
    const trace_kernel_ops *ops;
    ls_kernel_info info;
    ls_inst *insts; /* reserved to its largest size: see insts_reserve() */
    uint32_t inst_count, inst_capacity;
    uint64_t cta_limit; /* 0: none */
    uint64_t cta_next;  /* index of the block that the next read gives */
    bool as_accelsim;
    uint32_t classed; /* instructions before it have their final class, if as_accelsim */
    uint32_t looked;  /* instructions before it were looked at for marks */
    bool has_marks;
};

typedef struct trace_source_ops {
    ls_status (*open_kernel)(sass_trace *trace, uint64_t index, trace_kernel **out, ls_error *err);
    void (*close)(sass_trace *trace);
    /* Of a kernel that is not opened: its info, valid until the next call, and how many instructions its warps execute. NULL:
     * the source does not know; trace_describe() then reads the kernel. */
    ls_status (*describe)(sass_trace *trace, uint64_t index, ls_kernel_info *info, uint64_t *warp_insts,
                          ls_error *err);
} trace_source_ops;

struct sass_trace {
    const trace_source_ops *ops;
    trace_options options;
    trace_cmd *commands;
    uint64_t command_count;
    char *described; /* the name that trace_describe() gave out last, of a kernel that it read */
};

/* A kind of file that trace_open() understands; its table is in trace.c. `head` is the start of the file,
 * empty for a directory. The first source that accepts the path opens it. */
typedef struct trace_source {
    const char *name;
    bool (*accepts)(const char *path, const unsigned char *head, size_t head_bytes);
    ls_status (*open)(const char *path, const trace_options *options, sass_trace **out, ls_error *err);
} trace_source;

extern const trace_source accelsim_source; /* accepts everything: tried last */
const trace_source *trace_source_of(const char *path);

/* Reserves address space for many static instructions; only the used pages take memory. */
ls_status insts_reserve(trace_kernel *kernel, ls_error *err);
void insts_release(trace_kernel *kernel);

/* Room in a block that is being filled; false when the host has no memory left. */
bool cta_reserve(ls_cta *cta, size_t warps, size_t more_dyns, size_t more_addrs);

#endif
