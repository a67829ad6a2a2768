/* trace_file.h: the packed form of the instruction trace (.lsit): the same records as the JSON lines, in a tenth of the
 * bytes or less. docs/debugger.md describes the bytes. Any bytes are safe to read: invalid ones are refused. */
#ifndef RUNTIME_EMULATE_TRACE_FILE_H
#define RUNTIME_EMULATE_TRACE_FILE_H

#include "runtime/emulate/trace_record.h"

#define TRACE_FILE_SUFFIX ".lsit"

/* --- writing --- */

typedef struct trace_writer trace_writer;

/* The file is borrowed. */
ls_status trace_writer_create(FILE *file, trace_writer **out, ls_error *err);
void trace_writer_launch(trace_writer *writer, const trace_launch *launch);
/* A record of the last launch. */
void trace_writer_put(trace_writer *writer, const trace_record *record);
/* LS_ERR_IO if something could not be written. Frees the writer. */
ls_status trace_writer_finish(trace_writer *writer, ls_error *err);
void trace_writer_abort(trace_writer *writer); /* NULL is fine */

/* --- reading --- */

typedef struct trace_reader trace_reader;

typedef enum trace_item { TRACE_ITEM_LAUNCH, TRACE_ITEM_RECORD, TRACE_ITEM_END } trace_item;

/* The file is borrowed. */
ls_status trace_reader_create(FILE *file, trace_reader **out, ls_error *err);
void trace_reader_destroy(trace_reader *reader); /* NULL is fine */
/* The next item; after TRACE_ITEM_END there is none. LS_ERR_INPUT: the bytes are no such trace, or end too early. */
ls_status trace_reader_next(trace_reader *reader, trace_item *item, ls_error *err);
/* Valid after their item, until the next launch or record. */
const trace_launch *trace_reader_launch(const trace_reader *reader);
const trace_record *trace_reader_record(const trace_reader *reader);

#endif
