/* amd_file.h: recordings of AMD programs in the packed format: launches with their code and the tape of each
 * wavefront (isa/amd/exec/tape.h), and the copies between them. The file has its own flag and section kinds
 * and uses the sections of section.h. Independent of any GPU model. */
#ifndef PACK_AMD_FILE_H
#define PACK_AMD_FILE_H

#include "base/hash.h"
#include "base/address_space.h"
#include "isa/amd/exec/program.h"
#include "lockstep/status.h"
#include "workload/select.h"

#define AMD_FILE_VERSION 2u
#define AMD_FILE_VERSION_ONE_GPU 1u /* of a file without commands and launches that only several GPUs have */

typedef enum amd_file_kind {
    AMD_FILE_LAUNCH,
    AMD_FILE_COPY_IN,  /* host to GPU */
    AMD_FILE_COPY_OUT, /* GPU to host */
    AMD_FILE_COPY,     /* GPU to GPU, or within one */
    AMD_FILE_FILL,
    /* Memory of a system of GPUs; they take no time. `gpu` is a place: a GPU, or 64 for the host. */
    AMD_FILE_MAP, /* frames [to, to + bytes) of a place are mapped */
    AMD_FILE_PLACE, /* the pages at virtual address `to` lie in frames of a place from `from` on; 0: at home again */
    AMD_FILE_OWN, /* a GPU has a copy of the read-only pages at `to`, in its frames from `from` on */
    AMD_FILE_KIND_COUNT
} amd_file_kind;
extern const char *const amd_file_kind_names[AMD_FILE_KIND_COUNT]; /* "launch", "copy in", ... */

/* One command, in the order in which they ran. */
typedef struct amd_file_command {
    amd_file_kind kind;
    uint32_t gpu;
    uint32_t launch; /* launches: its number */
    /* Others: physical addresses, as the GPU sees them. The host's side is 0 unless the host is on the fabric. */
    uint64_t to, from, bytes;
    bool local; /* others: commands of the command processor itself, without the host link */
    /* Numbers of the commands before it that were not over when it was submitted, in rising order: it runs
     * beside them, and after all others. */
    const uint32_t *beside;
    size_t beside_count;
} amd_file_command;

/* One launch. */
typedef struct amd_file_launch {
    amd_kernel kernel;                            /* name belongs to the file */
    uint32_t lanes;                               /* 32 or 64 */
    uint32_t dims, grid[3], group[3];             /* work-items */
    uint32_t lds_bytes;                           /* of a work-group, static and dynamic */
    uint64_t kernarg, packet, queue, dispatch_id; /* simulated addresses; see ls_cu_kernel */
    uint32_t argument_bytes;                      /* at kernarg */
    uint64_t scratch,
        scratch_bytes;            /* where private memory was, and how much of it; 0: not to be used again */
    uint64_t first, stride, part; /* the work-groups that ran: first + n * stride, n < part; part 0: all */
    uint64_t groups, waves, instructions; /* work-groups; instructions of wavefronts. Set by the file */
    uint32_t code;                        /* number of its code section. Set by the file */
    memory_extent *extents;               /* mapped ranges, by address */
    size_t extent_count;
} amd_file_launch;

/* Work-groups of a launch that ran. */
static inline uint64_t amd_file_groups(const amd_file_launch *l)
{
    uint64_t n = 1;
    if (l->part != 0)
        return l->part;
    for (unsigned i = 0; i < 3; i++)
        n *= ((uint64_t)l->grid[i] + l->group[i] - 1) / l->group[i];
    return n;
}
/* The n-th of them. */
static inline void amd_file_group_id(const amd_file_launch *l, uint64_t index, uint32_t id[3])
{
    index = l->part != 0 ? l->first + index * l->stride : index;
    for (unsigned i = 0; i < 3; i++) {
        uint64_t n = ((uint64_t)l->grid[i] + l->group[i] - 1) / l->group[i];
        id[i] = (uint32_t)(index % n);
        index /= n;
    }
}

/* The other way. */
static inline uint64_t amd_file_group_index(const amd_file_launch *l, const uint32_t id[3])
{
    uint64_t index = 0;
    for (unsigned i = 3; i-- > 0;)
        index = index * (((uint64_t)l->grid[i] + l->group[i] - 1) / l->group[i]) + id[i];
    return l->part != 0 ? (index - l->first) / l->stride : index;
}

/* --- writing -------------------------------------------------------------------------------------------- */

typedef struct amd_file_writer amd_file_writer;
typedef struct amd_file_part amd_file_part; /* a launch that is being recorded */

/* `producer` says what ran the program: "emulate", or a platform's name. The file appears when it is
 * finished. Several launches may be open at once, and everything but create, finish and abort may be called
 * from several threads. */
ls_status amd_file_create(const char *path, int level, const char *producer, amd_file_writer **out,
                          ls_error *err);
/* A command that is no launch; *number is its own. */
ls_status amd_file_add(amd_file_writer *writer, const amd_file_command *command, uint32_t *number,
                       ls_error *err);
/* The launch as a command (gpu and beside of *command count; *number is its own) and its part, which ends with
 * amd_file_end(). code: the bytes of the code section. Members that the file sets are ignored; data that
 * pointers refer to is copied. */
ls_status amd_file_begin(amd_file_writer *writer, const amd_file_command *command,
                         const amd_file_launch *launch, const uint8_t *code, uint32_t *number,
                         amd_file_part **out, ls_error *err);
/* Work-group `index` (x fastest): varint waves, then their tapes; `instructions` of all of them. They may come
 * in any order: early ones are kept until their turn, so that the file does not depend on the order. */
ls_status amd_file_put(amd_file_part *part, uint64_t index, uint32_t waves, uint64_t instructions,
                       const uint8_t *bytes, size_t count, ls_error *err);
/* Frees the part. An error if not all work-groups came. */
ls_status amd_file_end(amd_file_part *part, ls_error *err);
/* The writer is gone in either case; parts must have ended before finish, but need not before abort. */
ls_status amd_file_finish(amd_file_writer *writer, ls_error *err);
void amd_file_abort(amd_file_writer *writer);

/* --- reading -------------------------------------------------------------------------------------------- */

typedef struct amd_file amd_file;

/* Whether these are the first bytes (32 are enough) of such a recording, of any version. */
bool amd_file_accepts(const uint8_t *head, size_t bytes);
bool amd_file_is(const char *path);

ls_status amd_file_open(const char *path, amd_file **out, ls_error *err);
void amd_file_close(amd_file *file);
uint32_t amd_file_version(const amd_file *file);
const char *amd_file_producer(const amd_file *file);
hash128 amd_file_content(const amd_file *file);
uint64_t amd_file_bytes(const amd_file *file);
size_t amd_file_command_count(const amd_file *file);
const amd_file_command *amd_file_command_at(const amd_file *file, size_t index);
size_t amd_file_launch_count(const amd_file *file);
const amd_file_launch *amd_file_launch_at(const amd_file *file, size_t index);

/* Which launches are meant by "3-7,name:*gemm*"; NULL: all. `command` of each is the launch's number from
 * 0. */
ls_status amd_file_select(const amd_file *file, const char *text, kernel_selection *out, ls_error *err);

/* The program of a launch, with its code in the address space: at the recorded address, which this maps if it is
 * free. */
ls_status amd_file_program(amd_file *file, size_t launch, memory_space *address_space, amd_program **out,
                           ls_error *err);
/* An address space that has room for the addresses of all launches. */
ls_status amd_file_window(const amd_file *file, memory_space **out, ls_error *err);

/* A buffer that is reused; all zero is an empty one. */
typedef struct amd_file_group {
    uint8_t *at; /* waves and tapes, followed by AMD_TAPE_SLACK readable bytes */
    size_t count, capacity;
} amd_file_group;
void amd_file_group_fini(amd_file_group *group);
/* Threads may read at once. */
ls_status amd_file_read(amd_file *file, size_t launch, uint64_t index, amd_file_group *out, ls_error *err);

/* --- walking (amd_walk.c) ------------------------------------------------------------------------------- */

/* The next executed instruction of a wavefront. */
typedef struct amd_walk_step {
    uint64_t group; /* number of the work-group */
    uint32_t wave;
    uint64_t number; /* of the instruction in its wave, from 0 */
    uint64_t pc, exec;
    const amd_inst *inst;
    const struct amd_access
        *access; /* NULL if it accesses no memory; private memory begins at AMD_TAPE_PRIVATE */
} amd_walk_step;

/* Called for each instruction; false ends the walk with LS_OK. */
typedef bool (*amd_walk_visit)(void *self, const amd_walk_step *step);

/* Walks the work-groups [first, first + count) of a launch and checks that each tape fits the program. A walk
 * over all work-groups also compares the numbers of waves and instructions with the catalog. visit may be
 * NULL. */
ls_status amd_walk_launch(amd_file *file, size_t launch, const amd_program *program, uint64_t first,
                          uint64_t count, amd_walk_visit visit, void *self, ls_error *err);

/* Everything that can be checked: checksums, the content hash, and all launches. */
ls_status amd_file_verify(const char *path, ls_error *err);

#endif
