/* trace_file_impl.h: the bytes of packed instruction traces, and what writer and reader both remember. */
#ifndef RUNTIME_EMULATE_TRACE_FILE_IMPL_H
#define RUNTIME_EMULATE_TRACE_FILE_IMPL_H

#include "isa/amd/exec/start.h"
#include "runtime/emulate/trace_file.h"

#include <stdlib.h>

#define TRACE_MAGIC "LSIT1\r\n"
#define TRACE_MAGIC_BYTES 8 /* with the 0 at its end */

enum { ITEM_END, ITEM_LAUNCH, ITEM_RECORD }; /* the first byte of an item */
enum {                                       /* the byte after ITEM_RECORD */
       HAS_WAVE = 1,                         /* another wave or work-group than the last record's */
       HAS_OP = 2,                           /* not the instruction after the wave's last */
       HAS_EXEC = 4,
       HAS_SCALARS = 8,
       HAS_SCC = 16,
       HAS_VECTORS = 32,
       HAS_ACCESS = 64,
       HAS_READS = 128,
};
enum { LANES_SAME, LANES_STEP, LANES_PLANES };
enum { DATA_GIVEN, DATA_WRITTEN }; /* WRITTEN: a load, and its registers have the data */

/* What both sides remember. */
typedef struct trace_model {
    uint32_t group[3], wave;
    struct {
        uint32_t op;
        uint64_t exec;
    } waves[AMD_WAVES_MAX];
    uint64_t *base; /* [op_count + 1]: the first address of the last time */
    uint32_t lanes, op_count;
} trace_model;

static inline bool model_launch(trace_model *m, uint32_t lanes, uint32_t op_count)
{
    free(m->base);
    *m = (trace_model){ .lanes = lanes, .op_count = op_count };
    m->base = calloc((size_t)op_count + 1, sizeof *m->base);
    return m->base != NULL;
}

static inline uint64_t zigzag(int64_t value)
{
    return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static inline int64_t unzigzag(uint64_t value)
{
    return (int64_t)(value >> 1 ^ (0 - (value & 1)));
}

#endif
