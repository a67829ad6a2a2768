/* same.h: whether the text that would be written is the text that was read, byte for byte. */
#ifndef ACCELSIM_SAME_H
#define ACCELSIM_SAME_H

#include "workload/trace.h"

typedef struct ls_same ls_same;

/* Compares with the file at path, decompressed. */
ls_status ls_same_open(const char *path, ls_same **out, ls_error *err);
/* The next piece of what would be written. Behind the first difference nothing is read any more. */
ls_status ls_same_feed(ls_same *same, const void *text, size_t bytes, ls_error *err);
/* Everything was fed. *line: of the first difference, 0 if there is none. */
ls_status ls_same_end(ls_same *same, uint64_t *line, ls_error *err);
void ls_same_close(ls_same *same); /* NULL is fine */

/* The same for the list of a trace that ls_accelsim_source opened; 0 also if that was one kernel without a
 * list. */
ls_status ls_same_list(const ls_trace *trace, uint64_t *line, ls_error *err);

#endif
