/* run_output.h: the files that a run writes. */
#ifndef SIM_RUN_OUTPUT_H
#define SIM_RUN_OUTPUT_H

#include "platform/config.h"
#include "report/export.h"

/* Before the run: every format is known, no file is named twice, each could be created, and no database has a run
 * of this id (NULL: no id). Nothing is created. */
ls_status run_output_check(const char *const *paths, size_t count, const char *run_id, ls_error *err);

/* Writes path and, beside it, path.platform.yaml with results->config_text: both or neither. Metrics over time are in
 * path.series.csv, except of JSON, which has them inside. A database holds everything itself. options may be NULL. */
ls_status run_output_write(const run_results *results, const export_options *options, const char *path,
                           ls_error *err);
/* Writes every file, also after one has failed, so that no result is lost. Returns the first failure. */
ls_status run_output_write_all(const run_results *results, const export_options *options,
                               const char *const *paths, size_t count, ls_error *err);

/* The hash of everything that a run measured. */
ls_status run_output_hash(const platform_config *config, metric_store *metrics, const ls_run_result *run,
                          hash128 *out, ls_error *err);

#endif
