/* inst_text.h: the text of a static instruction and its fields, for sources that keep the one or the
 * other. */
#ifndef WORKLOAD_INST_TEXT_H
#define WORKLOAD_INST_TEXT_H

#include "base/text.h"
#include "isa/sass/sass.h"
#include "workload/trace.h"

/* The parsed body of a line: "1 R4 LDG.E 1 R4 4", "1 R24 HGMMA.64x64x16.F32 0 1 0". */
typedef struct inst_fields {
    const char *opcode; /* not terminated */
    size_t opcode_bytes;
    uint32_t dst_count, src_count;
    uint32_t width;
    bool has_commit, commit; /* of warp-group matrix instructions: before the width */
    uint16_t dsts[LS_INST_DST_MAX], srcs[LS_INST_SRC_MAX]; /* LS_REG_* */
} inst_fields;

/* False if the text does not have the form of a body. The opcode stays in the text. */
bool inst_fields_read(const char *body, inst_fields *out);
/* The usual text of these fields: numbers for all registers, single spaces. */
void inst_fields_write(const inst_fields *f, text_buffer *out);

/* The number at the end of "0090" or "17 0090"; the first number of "0 0 NoVal" (0 for ""). */
bool inst_text_pc(const char *pc, uint64_t *out);
bool inst_text_imm(const char *tail, int64_t *out);

/* The numbers at the end of a line. */
typedef struct inst_imms {
    int64_t first, second;
    bool two; /* the second stands in the line */
} inst_imms;
/* Both numbers of "0 0 NoVal". False if a word is neither a number nor Val or NoVal. */
bool inst_text_imms(const char *tail, inst_imms *out);

/* Whether executions of the instruction have words: addresses, a bulk copy's fields, or the number of a barrier that
 * is in a register. `version`: of the packed format, in which barriers' numbers come with version 3. */
bool inst_fields_have_words(const inst_fields *f, const char *tail, uint32_t version);

ls_status inst_fields_decode(const inst_fields *f, uint64_t pc, const inst_imms *imms,
                             const ls_kernel_info *info, bool unknown_as_alu, ls_inst *out, ls_error *err);
/* The same from an instruction of the same opcode and width that was decoded before; false if it cannot be
 * derived. */
bool inst_fields_decode_like(const inst_fields *f, uint64_t pc, int64_t imm, const ls_inst *like,
                             ls_inst *out);
/* All of it: LS_ERR_INPUT for a text that does not have the form of a line; errors of the decoder are passed
 * on. */
ls_status inst_text_decode(const inst_words *text, const ls_kernel_info *info, bool unknown_as_alu,
                           ls_inst *out, ls_error *err);

#endif
