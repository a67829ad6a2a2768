/* timing_impl.h: the back end's own structs, shared by the files of src/runtime/timing. */
#ifndef RUNTIME_TIMING_TIMING_IMPL_H
#define RUNTIME_TIMING_TIMING_IMPL_H

#include "base/vec.h"
#include "base/address_space.h"
#include "isa/inst_counts.h"
#include "model/cu/cu_api.h"
#include "model/amd/amd_gpu.h"
#include "model/fabric/host.h"
#include "model/memory/page_table.h"
#include "platform/machine.h"
#include "runtime/driver/debugger.h"
#include "runtime/memcheck/memcheck.h"
#include "runtime/record/record.h"
#include "runtime/timing/timing.h"
#include "runtime/timing/timing_log.h"
#include "runtime/timing/timing_ranks.h"

#include <pthread.h>
#include <stdatomic.h>

/* A piece of simulated memory that launches use one after another. */
typedef struct timing_piece {
    uint64_t address, bytes; /* virtual */
    bool is_used;
} timing_piece;

/* Frames that pages from elsewhere got together. */
typedef struct timing_chunk {
    uint64_t frame, bytes;
    uint64_t live; /* bytes in use; with the last of them all go */
} timing_chunk;

/* A GPU that programs see. */
typedef struct timing_gpu {
    const platform_config *config; /* a part of a system, or the platform */
    amd_gpu *gpu;
    uint32_t number;               /* in the system; of its frames it is the place */
    uint32_t home;                 /* bits 40 and up of the virtual addresses of its own memory */
    const ls_command_ops *command; /* of the command processor, with command_self */
    void *command_self;
    uint64_t align;      /* of allocations: a page of the TLBs if there are other GPUs */
    memory_space *space; /* its frames; a frame at home has the same address but for the home */
    memory_space
        *flat; /* going to a position of several GPUs: the memory of all, by virtual address; else NULL */
    page_view view;
    ls_gpu_model model;
    uint64_t queue_record; /* virtual address of the queue structure that kernels read */
    LS_VEC(timing_piece) pieces;
    LS_VEC(timing_chunk) chunks; /* frames for pages from elsewhere */
    LS_VEC(page_copy) copies;    /* of read-only pages of the unified device */
} timing_gpu;

#define TIMING_RANGE_ALIGN (UINT64_C(2) << 20) /* of ranges whose pages move: the largest page */

/* An allocation whose pages move while programs run. */
typedef struct timing_range {
    uint64_t address, bytes;     /* virtual */
    uint64_t frames[MEM_PLACES]; /* by place; 0: none */
} timing_range;

/* A packet of a command. Commands whose memory lies in several places, or whose work-groups run on several GPUs, have
 * more than one. */
typedef struct timing_part {
    drv_work_kind kind;
    uint32_t gpu;             /* index of timing.gpus */
    uint64_t to, from, bytes; /* physical, relative to that GPU; virtual if pages move */
    const uint8_t *host_from;
    uint8_t *host_to;
    const uint8_t *pattern;
    uint32_t pattern_bytes;
    ls_groups which; /* of a launch */
    uint32_t shared; /* of a launch, as in ls_command_packet */
} timing_part;

/* Bytes from a staging buffer to the program's memory, or to a frame of the host. */
typedef struct timing_stretch {
    uint8_t *staged, *host; /* host NULL: to the frame */
    uint64_t bytes, frame;
} timing_stretch;

/* A command of several packets. */
typedef struct timing_job {
    drv_work *work;
    uint64_t command; /* its number */
    LS_VEC(timing_part) parts;
    size_t next;   /* the first part that was not submitted */
    size_t second; /* parts from here on begin when all before are over */
    size_t left;   /* submitted and not over */
    bool local;    /* past all queues */
    uint8_t *staging;
    LS_VEC(timing_stretch) stretches; /* to copy when the last part is over */
    uint8_t pattern[2 * 128];         /* of a fill, repeated */
} timing_job;

/* A launch for the debugger. */
typedef struct timing_debug {
    struct timing *owner;
    cu_debugger hooks;
    drv_launched launched;
} timing_debug;

/* A packet that is with a command processor. */
typedef struct timing_slot {
    ls_command_packet packet;
    uint32_t gpu;    /* index of timing.gpus */
    drv_work *work;  /* NULL: free */
    timing_job *job; /* NULL: it is the only packet of its command */
    drv_work_kind kind;
    uint64_t command; /* its number */
    uint64_t bytes;
    uint8_t *setup;            /* the packet and the arguments that are written */
    size_t setup_capacity;     /* bytes */
    size_t arguments, scratch; /* indices of pieces; SIZE_MAX: none */
    uint64_t staged;           /* frame of the host, of a copy over the fabric; 0: none */
    uint64_t host_began_ns;
    amd_start start;         /* of a launch that is recorded */
    record_launch *recorded; /* NULL: it is not, or is no launch */
    cu_recorder recorder;
    cu_observer observer;         /* of a launch whose accesses are checked */
    inst_counts *counts;          /* of a launch whose instructions are counted; NULL: they are not */
    struct timing_blocks *blocks; /* of a launch whose work-groups may stand for others; NULL: all run */
    uint32_t number;              /* among the commands of the recording */
    timing_debug debug;           /* of a launch that a debugger stops */
} timing_slot;

/* Frames of a place that a recording names. */
typedef struct timing_mapped {
    uint32_t place;
    uint64_t start, end;
} timing_mapped;

/* A command that was executed, of a system of several devices. */
typedef struct timing_note {
    uint32_t device;   /* GPU, or after them the unified device */
    uint32_t launches; /* packets of a launch */
} timing_note;

typedef struct timing_program {
    amd_program *program;
    cu_code *code;
} timing_program;

typedef struct timing {
    platform_config *config;
    ls_machine *machine;
    ls_engine *engine;
    timing_gpu *gpus;
    size_t gpu_count;
    uint32_t index_of[MEM_PLACES]; /* of a place in gpus; UINT32_MAX: programs do not see it */
    page_table *pages;
    const host_part *host;       /* NULL: the system has none */
    memory_space *host_space;    /* its frames */
    ls_block *directory;         /* of pages that move; NULL: they stay */
    LS_VEC(timing_range) ranges; /* their memory */
    uint64_t page_bytes;         /* that have a place: the largest pages of all TLBs */
    bool has_fabric;             /* GPUs reach each other's memory */
    bool unified;                /* there is a device of all GPUs, with number gpu_count */
    drv_spread spread;           /* of its work-groups */
    uint32_t shared;             /* launches so far whose work-groups GPU 0 places */
    uint64_t max_instructions;
    bool lenient_barriers;
    bool counts_instructions; /* of every launch */
    ls_run_options options;
    ls_run_result result;
    /* Held while the engine runs, and by a thread that changes the engine's input. */
    pthread_mutex_t lock;
    LS_VEC(timing_slot *) slots;
    LS_VEC(timing_piece)
    freed; /* memory that caches may still hold: its lines are discarded before time passes again */
    uint64_t commands, launches, others;
    uint64_t done[POSITION_DEVICES]; /* commands, by device */
    LS_VEC(timing_note) notes;       /* commands in the order of submission; none of a GPU alone */
    source_position skip_to;         /* commands before it are emulated */
    sample_plan *described;          /* gets every launch, which is emulated; NULL: none */
    sample_plan *sample;             /* launches that it does not want are emulated; NULL: all are simulated */
    bool blocks;                     /* with it: work-groups in a steady state stand for others */
    bool is_published, is_stale;     /* memory has the bytes of caches; caches lack those of memory */
    LS_VEC(drv_work *) held;         /* commands after it, of devices that wait there for others */
    ls_status (*over)(void *self, const timing_record *record, ls_error *err);
    void *over_self;
    memcheck *check;              /* NULL: memory is not checked */
    size_t races;                 /* that were reported */
    recorder *record;             /* NULL: nothing is recorded */
    LS_VEC(timing_mapped) mapped; /* frames that it says are mapped */
    _Atomic uint64_t now_ns;
    struct timing_leftover *leftover; /* a replay that did not end: the machine may still have its packets */
    uint64_t ended;                   /* commands that are over, of which the driver has not been told */
    const ls_gpu_debugger *debugger;  /* NULL: none */
    const timing_slot *debugged;      /* the launch that it was told of last; NULL: none */
    drv_view view;                    /* for the debugger */
    timing_log *log;                  /* for checkpoints; NULL: there are none */
    timing_ranks *ranks;              /* NULL: one process has the whole machine */
    timing_image image;               /* of a checkpoint that is resumed, until the program is there */
    bool is_broken;                   /* time cannot advance after this error */
    ls_error broken;
} timing;

/* --- timing.c --- */

ls_status timing_prepare(void *self, size_t gpu, const drv_code *code, void **program, ls_error *err);
void timing_release(void *self, void *program);

/* --- timing_memory.c: addresses, pages, bytes --- */

/* The GPU that a virtual address is at home on; NULL: none that programs see. */
timing_gpu *timing_home(const timing *t, uint64_t address);
/* Memory at home on a GPU. */
ls_status timing_alloc(timing_gpu *gpu, uint64_t bytes, uint64_t align, uint64_t *address, ls_error *err);
/* An address of the GPU's own memory, as its blocks see it. */
static inline uint64_t timing_frame(uint64_t address)
{
    return mem_place_frame(address);
}
/* Caches and TLBs forget memory that was freed since the last call. */
void timing_discard_freed(timing *t);
/* Why the GPU could not reach the address; false if it could. */
bool timing_explain_reach(const timing *t, const timing_gpu *gpu, uint64_t address, char *out,
                          size_t out_bytes);
/* For the driver. */
uint64_t timing_page_bytes(void *self);
ls_status timing_mem_alloc(void *self, size_t gpu, uint64_t bytes, uint64_t *address, ls_error *err);
ls_status timing_mem_free(void *self, uint64_t address, ls_error *err);
ls_status timing_mem_protect(void *self, uint64_t address, uint64_t bytes, ls_error *err);
ls_status timing_mem_load(void *self, size_t gpu, uint64_t to, const void *from, uint64_t bytes,
                          ls_error *err);

/* --- timing_place.c: pages that lie elsewhere than at home --- */

ls_status timing_place(void *self, const drv_placement *placement, ls_error *err);
ls_status timing_replicate(void *self, uint64_t address, uint64_t bytes, const void *data, uint64_t data_bytes,
                           ls_error *err);
/* A range is freed: its frames elsewhere, too, and what caches have of them. */
void timing_forget_places(timing *t, uint64_t address, uint64_t bytes);
/* Lines of frames, in the caches of all GPUs. */
void timing_discard_frames(timing *t, page_place at, uint64_t bytes);

/* --- timing_host.c: the host's memory --- */

/* After the GPUs. Systems without a host have nothing to set up. */
ls_status timing_set_up_host(timing *t, ls_error *err);
/* Before the machine goes. */
void timing_close_host(timing *t);

/* --- timing_migrate.c: pages that move while programs run --- */

void timing_set_up_migration(timing *t);
/* For the driver: the pages of an allocation move from now on. first_touch: they begin in host memory. */
ls_status timing_manage(void *self, uint64_t address, uint64_t bytes, bool first_touch, ls_error *err);
size_t timing_place_now(void *self, uint64_t address);
uint64_t timing_turn_bytes(void *self);
bool timing_is_managed(const timing *t, uint64_t address);
/* The allocation is freed. */
ls_status timing_unmanage(timing *t, uint64_t address, ls_error *err);
ls_status timing_place_managed(timing *t, const drv_placement *placement, ls_error *err);
/* No page is on its way. */
bool timing_is_settled(const timing *t);
/* An index of gpus. Only where pages move. */
uint32_t timing_holder(const timing *t, uint64_t address);

/* --- timing_pinned.c: the host's memory that GPUs use --- */

/* The CPU's accesses to it, between runs. */
void timing_host_write(const timing *t, uint64_t frame, const void *from, uint64_t bytes);
void timing_host_read(const timing *t, uint64_t frame, void *to, uint64_t bytes);
/* The host's side of a copy over the fabric, before its packet is submitted and when it is over. They do nothing for
 * other packets, and without a host. */
ls_status timing_stage(timing *t, const timing_gpu *g, ls_dma_job *job, uint64_t wanted, uint64_t *staged,
                       ls_error
                           *err); /* wanted: a physical address, if it is free, as in a recording; 0: any */
void timing_unstage(timing *t, const ls_dma_job *job, uint64_t *staged);
/* For the driver. */
bool timing_has_host(void *self);
ls_status timing_host_alloc(void *self, uint64_t bytes, uint64_t *address, ls_error *err);

/* --- timing_split.c: commands of several packets --- */

/* Whether a copy or fill is one packet; then *part is it. */
bool timing_is_whole(const timing *t, const drv_work *work, timing_part *part);
/* Divides one that is not. Free it with timing_job_free(). */
ls_status timing_split(timing *t, drv_work *work, timing_job **out, ls_error *err);
/* A launch on all GPUs. */
ls_status timing_spread(timing *t, drv_work *work, timing_job **out, ls_error *err);
/* Its last part is over. */
void timing_job_deliver(const timing *t, timing_job *job);
void timing_job_free(timing_job *job); /* NULL is fine */

/* --- timing_debug.c: the debugger; they do nothing without one --- */

ls_status timing_debug_set_up(timing *t, const ls_gpu_debugger *debugger, ls_error *err);
/* A packet of a launch is submitted, and is over. */
void timing_debug_launch(timing *t, timing_slot *slot, const drv_work *work);
void timing_debug_end(timing *t, timing_slot *slot, ls_status status);
/* With or without one: adds the registers of the wave that faulted to the sentence in err. */
void timing_debug_registers(const timing *t, const timing_slot *slot, ls_error *err);

/* --- timing_look.c: bytes in no simulated time --- */

/* With the lock held, or while the engine rests. */
ls_status timing_look_bytes(const timing *t, uint64_t address, void *to, uint64_t bytes, ls_error *err);
/* For the driver. */
ls_status timing_look(void *self, void *to, uint64_t from, uint64_t bytes, ls_error *err);
ls_status timing_patch(void *self, uint64_t to, const void *from, uint64_t bytes, ls_error *err);

/* --- timing_counts.c: counts per instruction --- */

/* *out belongs to the caller; nothing happens unless instructions are counted. */
ls_status timing_counts_begin(const timing *t, uint32_t gpu, ls_cu_kernel *kernel, inst_counts **out,
                              ls_error *err);
void timing_counts_end(inst_counts **counts);
void timing_describe_source(timing_record *record, const drv_dispatch *dispatch); /* NULL: no launch */

/* --- timing_check.c: the memory checker --- */

/* A command is submitted, and is over. */
void timing_check_begin(timing *t, drv_work *work);
void timing_check_end(timing *t, const drv_work *work);
/* A packet of a launch, with its arguments. */
void timing_check_launch(timing *t, timing_slot *slot, const drv_work *work);
/* The engine rests: a read that got a wrong value is an error, races are warnings. */
ls_status timing_check_findings(timing *t, ls_error *err);
/* For the driver. */
bool timing_checked(void *self, ls_gpu_memory_check *out);

/* --- timing_record.c: the recording --- */

/* A command before it is submitted, and after it is over. With the lock held. */
ls_status timing_record_begin(timing *t, timing_slot *slot, const drv_work *work, bool local, ls_error *err);
ls_status timing_record_end(timing_slot *slot, bool good, ls_error *err);
/* Pages got another place, or a GPU a copy of them: kind as in amd_file_command. Nothing without a recording. */
ls_status timing_record_pages(timing *t, amd_file_kind kind, uint32_t place, uint64_t address, uint64_t frame,
                              uint64_t bytes, ls_error *err);
void timing_record_fini(timing *t);

/* --- timing_flat.c: the memory in which commands before a position run --- */

ls_status timing_flat_begin(timing *t, ls_error *err);
/* At the position: every page to its GPU. */
ls_status timing_flat_deliver(timing *t, ls_error *err);
void timing_flat_fini(timing *t);
memory_space *timing_flat_memory(const timing_gpu *g);
ls_status timing_flat_read(const timing_gpu *g, uint64_t from, void *to, uint64_t bytes, ls_error *err);
ls_status timing_flat_write(const timing_gpu *g, uint64_t to, const void *from, uint64_t bytes, ls_error *err);

/* --- timing_skip.c: commands before a position --- */

static inline bool timing_is_skipping(const timing *t)
{
    return t->commands < t->skip_to.command;
}
/* Emulates work-groups of a launch in the memory of its GPU. */
ls_status timing_emulate_groups(timing *t, const timing_slot *slot, const drv_work *work,
                                const ls_groups *which, uint64_t *instructions, ls_error *err);
/* Emulates a launch in the memory of its GPU, which is over then. */
ls_status timing_skip_launch(timing *t, drv_work *work, ls_error *err);
/* Emulates the command, which is over then, or holds it. With the lock held. */
ls_status timing_skip_command(timing *t, drv_work *work, bool local, ls_error *err);
/* Why a program cannot come to its position: it waits for a command that is held. */
ls_status timing_skip_stuck(const timing *t, ls_error *err);
/* Counts a command. launches: its packets that are launches. */
ls_status timing_note_command(timing *t, const drv_work *work, uint32_t launches, ls_error *err);

/* --- timing_checkpoint.c --- */

/* ls_run(), or its result in the log of a checkpoint. At the end of the log the machine takes over. */
ls_status timing_run_engine(timing *t, const ls_run_options *options, ls_run_result *piece, ls_error *err);

/* --- timing_sample.c: launches that stand for others --- */

/* A launch was emulated, or is over in simulated time. */
ls_status timing_sample_describe(timing *t, const ls_cu_kernel *kernel, uint64_t instructions, ls_error *err);
void timing_sample_measured(const timing *t, uint64_t unit, uint32_t gpu, const ls_command_packet *packet,
                            const timing_slot *slot); /* NULL: of a recording */
/* A launch before it is submitted: whether the plan leaves it out. The machine may have no other launch then. */
ls_status timing_sample_launch(timing *t, bool *skip, ls_error *err);
/* timing_grid.c: refuses a cooperative launch that could not get past the barrier of its grid. */
ls_status timing_grid_check(const timing *t, const timing_slot *slot, const timing_part *part, ls_error *err);
/* The compute units that may have the launch's work-groups, as the command processor numbers them. */
void timing_grid_units(const timing_gpu *g, const drv_dispatch *d, ls_command_packet *p);
/* With --sample blocks: watches the work-groups of a launch before it is submitted. */
ls_status timing_blocks_begin(timing *t, timing_slot *slot, ls_error *err);
/* It is over: emulates the work-groups that were left out. The engine rests. */
ls_status timing_blocks_end(timing *t, timing_slot *slot, const drv_work *work, ls_error *err);
void timing_blocks_free(timing_slot *slot);
/* What the plan gets to know of the launch. */
void timing_blocks_measure(const timing_slot *slot, sample_measure *measure);
/* Around emulation: memory has the newest bytes; before time passes again caches have them. */
ls_status timing_sample_publish(timing *t, ls_error *err);
ls_status timing_sample_refresh(timing *t, ls_error *err);

/* --- timing_replay.c --- */

void timing_leftover_free(struct timing_leftover *leftover); /* NULL is fine */

/* --- timing_packet.c --- */

/* A packet's place; NULL: the host has no memory. It is free again without work and pieces. */
timing_slot *timing_free_slot(timing *t);
/* Fills the packet of a launch and takes its pieces. */
ls_status timing_fill_launch(timing *t, timing_slot *slot, const drv_work *work, const ls_groups *which,
                             ls_error *err);
void timing_free_pieces(timing *t, timing_slot *slot);
/* The same for a copy or a fill. */
void timing_fill_transfer(timing_slot *slot, const timing_part *part);
/* A launch's packet as far as the code object says what it is: registers, RDNA's mode. */
ls_command_packet timing_packet_of(const amd_kernel *kernel);

/* --- timing_run.c --- */

ls_status timing_submit(void *self, drv_work *work, ls_error *err);
/* The same in simulated time, with the lock held. local: past all queues. */
ls_status timing_begin_work(timing *t, drv_work *work, bool local, ls_error *err);
ls_status timing_advance(void *self, ls_error *err);
/* Warns if the code of `target` is not that of the GPU. */
ls_status timing_warn_foreign(timing *t, const timing_gpu *gpu, const char *target, ls_error *err);
/* Adds the counts of a launch that is over. */
void timing_add_counts(ls_gpu_counts *to, const ls_command_packet *packet);
/* The launch's own sizes; p NULL: not a launch. */
void timing_describe_launch(timing_record *record, const ls_command_packet *p);
/* Submits a job and lets time pass until it is over. Frees it. */
ls_status timing_run_job(timing *t, timing_job *job, ls_error *err);
/* Time cannot pass any more: why. Every later command fails with this. */
ls_status timing_lost(const timing *t, ls_error *err);
/* Lets time pass until nothing is under way. No command may be. */
ls_status timing_rest(timing *t, ls_error *err);
/* Lets time pass until no page is on its way. */
ls_status timing_settle(timing *t, ls_error *err);
/* Gives a packet to the command processor of a GPU. */
ls_status timing_submit_packet(timing *t, const timing_gpu *gpu, ls_command_packet *packet, ls_error *err);
/* The next packet that is over, of any GPU; NULL: none. */
ls_command_packet *timing_take(timing *t);
/* Accesses of the host outside of all queues: through caches, without time of the host link. */
ls_status timing_write(void *self, size_t gpu, uint64_t to, const void *from, uint64_t bytes, ls_error *err);
ls_status timing_read(void *self, size_t gpu, void *to, uint64_t from, uint64_t bytes, ls_error *err);

#endif
