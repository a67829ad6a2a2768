/* export_series.h: metrics over time in the files of a run's results. Only the exporters include this. */
#ifndef REPORT_EXPORT_SERIES_H
#define REPORT_EXPORT_SERIES_H

#include "base/json.h"
#include "report/export_sqlite.h"
#include "report/series.h"

/* The member "series" of the object that is open. */
void export_series_json(json_writer *j, const series *s);
extern const char export_series_tables[];
/* The tables series_columns and series, made if the database has none, and the rows of this run. */
ls_status export_series_sqlite(const sqlite_out *o, const series *s, ls_error *err);

#endif
