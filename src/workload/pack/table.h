/* table.h: the static instructions of a kernel in a packed file, and what they decode to. Kernels that
 * execute the same instructions share one table. */
#ifndef PACK_TABLE_H
#define PACK_TABLE_H

#include "base/arena.h"
#include "base/map.h"
#include "base/text.h"
#include "workload/pack/section.h"

/* ------------------------------------------------------------------------------------------------ writing */

/* Columns of the table: each is a record of its own, so that like stands beside like. */
enum {
    LS_PACK_OPCODES, /* texts, each once */
    LS_PACK_PLACES,  /* line and pc */
    LS_PACK_BODIES,  /* opcode, numbers of registers, access width */
    LS_PACK_REGISTERS,
    LS_PACK_TAILS,
    LS_PACK_COLUMN_COUNT
};

/* All zero is an empty one. */
typedef struct ls_pack_table_writer {
    ls_pack_bytes columns[LS_PACK_COLUMN_COUNT];
    ls_map opcodes; /* number + 1 */
    ls_text text;   /* scratch */
    uint64_t count, last_pc, last_line;
} ls_pack_table_writer;

void ls_pack_table_writer_fini(ls_pack_table_writer *w);
void ls_pack_table_writer_clear(ls_pack_table_writer *w);
/* *has_addresses says whether lines of this instruction have a mode and addresses. False without memory. */
bool ls_pack_table_add(ls_pack_table_writer *w, const ls_inst_text *text, bool *has_addresses);
bool ls_pack_table_payload(const ls_pack_table_writer *w, ls_pack_bytes *out);

/* ------------------------------------------------------------------------------------------------ reading */

typedef struct ls_pack_table {
    uint32_t count;
    ls_inst *insts;
    uint32_t *plain;     /* as ls_pack_decoder wants it */
    ls_inst_text *texts; /* NULL until somebody asks */
    uint8_t *payload;
    size_t payload_bytes;
    ls_arena arena; /* all of the above */
} ls_pack_table;

/* Reads a payload and decodes it for the kernel's instruction set. */
ls_status ls_pack_table_create(const uint8_t *payload, size_t bytes, const ls_kernel_info *info,
                               const ls_trace_options *options, ls_pack_table **out, ls_error *err);
void ls_pack_table_destroy(ls_pack_table *table);
/* NULL without memory. */
const ls_inst_text *ls_pack_table_texts(ls_pack_table *table);

#endif
