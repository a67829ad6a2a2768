/* same.h: whether the text that would be written is the text that was read, byte for byte. */
#ifndef ACCELSIM_SAME_H
#define ACCELSIM_SAME_H

#include "workload/trace.h"

typedef struct text_check text_check;

/* Compares with the file at path, decompressed. */
ls_status same_open(const char *path, text_check **out, ls_error *err);
/* The next piece of the text that would be written. Nothing is read after the first difference. */
ls_status same_feed(text_check *same, const void *text, size_t bytes, ls_error *err);
/* Everything was fed. *line: of the first difference, 0 if there is none. */
ls_status same_end(text_check *same, uint64_t *line, ls_error *err);
void same_close(text_check *same); /* NULL is fine */

/* The same for the list of a trace that accelsim_source opened; 0 also if that was one kernel without a
 * list. */
ls_status same_list(const sass_trace *trace, uint64_t *line, ls_error *err);

#endif
