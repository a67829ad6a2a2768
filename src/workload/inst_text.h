/* inst_text.h: from the text of a static instruction to its decoded form, for sources that keep text. */
#ifndef WORKLOAD_INST_TEXT_H
#define WORKLOAD_INST_TEXT_H

#include "workload/trace.h"

/* Reads pc, body and tail of a line and decodes them (isa/sass). A text that does not have the form of a line is
 * LS_ERR_INPUT; what the decoder says is passed on. */
ls_status ls_inst_text_decode(const ls_inst_text *text, const ls_kernel_info *info, bool unknown_as_alu,
                              ls_inst *out, ls_error *err);

#endif
