/* table.h: the static instructions of a kernel in a packed file, and their decoded form. Kernels that execute
 * the same instructions share one table. */
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
typedef struct pack_table_writer {
    pack_bytes columns[LS_PACK_COLUMN_COUNT];
    string_map opcodes; /* number + 1 */
    text_buffer text;   /* scratch */
    uint64_t count, last_pc, last_line;
} pack_table_writer;

void pack_table_writer_fini(pack_table_writer *w);
void pack_table_writer_clear(pack_table_writer *w);
/* *has_addresses says whether lines of this instruction have a mode and addresses. False without memory. */
bool pack_table_add(pack_table_writer *w, const inst_words *text, bool *has_addresses);
bool pack_table_payload(const pack_table_writer *w, pack_bytes *out);

/* ------------------------------------------------------------------------------------------------ reading */

typedef struct pack_table {
    uint32_t count;
    ls_inst *insts;
    uint32_t *plain;   /* as pack_decoder wants it */
    inst_words *texts; /* NULL until it is needed */
    uint8_t *payload;
    size_t payload_bytes;
    mem_arena arena; /* all of the above */
} pack_table;

/* Reads a payload of a file of this version and decodes it for the kernel's instruction set. */
ls_status pack_table_create(const uint8_t *payload, size_t bytes, const ls_kernel_info *info,
                            const trace_options *options, uint32_t version, pack_table **out, ls_error *err);
void pack_table_destroy(pack_table *table);
/* NULL without memory. */
const inst_words *pack_table_texts(pack_table *table);

#endif
