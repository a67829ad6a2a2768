/* export_source.h: counts per instruction in the files of a run's results, and back. Only exporters and saved*.c include
 * this. */
#ifndef REPORT_EXPORT_SOURCE_H
#define REPORT_EXPORT_SOURCE_H

#include "base/json.h"
#include "report/export_sqlite.h"
#include "report/source.h"

/* The member "source" of the object that is open. */
void export_source_json(json_writer *j, const source_book *book);
/* The tables source_kernels, source_instructions, source_stalls and source_lines and the view source, made if the
 * database has none, and the rows of this run. */
ls_status export_source_sqlite(const sqlite_out *o, const source_book *book, ls_error *err);

#endif
