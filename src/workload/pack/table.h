/* table.h: the static instructions of a kernel in a packed file: their text, and what it decodes to. Kernels that
 * execute the same instructions share one table. */
#ifndef PACK_TABLE_H
#define PACK_TABLE_H

#include "base/arena.h"
#include "workload/pack/section.h"

/* ------------------------------------------------------------------------------------------------- writing */

/* All zero is an empty one. */
typedef struct ls_pack_table_writer {
    ls_pack_bytes places, bodies, tails; /* one column each */
    uint64_t count, last_pc, last_line;
} ls_pack_table_writer;

void ls_pack_table_writer_fini(ls_pack_table_writer *w);
void ls_pack_table_writer_clear(ls_pack_table_writer *w);
/* *has_addresses says whether lines of this instruction have a mode and addresses. False without memory. */
bool ls_pack_table_add(ls_pack_table_writer *w, const ls_inst_text *text, bool *has_addresses);
bool ls_pack_table_payload(const ls_pack_table_writer *w, ls_pack_bytes *out);

/* Whether the access width that ends the body is not 0. */
bool ls_pack_has_addresses(const char *body);

/* ------------------------------------------------------------------------------------------------- reading */

typedef struct ls_pack_table {
    uint32_t count;
    ls_inst *insts;
    uint32_t *plain; /* as ls_pack_decoder wants it */
    ls_inst_text *texts;
    ls_arena arena; /* all of the above */
} ls_pack_table;

/* Reads a payload and decodes it for the kernel's instruction set. `where` is for messages. */
ls_status ls_pack_table_create(const uint8_t *payload, size_t bytes, const ls_kernel_info *info,
                               const ls_trace_options *options, ls_pack_table **out, ls_error *err);
void ls_pack_table_destroy(ls_pack_table *table);

#endif
