/* page.h: a report: one HTML file about one result, about several with their differences, or about a sweep. The file needs
 * nothing from elsewhere: style, script and data are in it. The script in this folder draws everything from the data.
 *
 * The data is one JSON object, `lockstep-report` version 1 (docs/report.md). Facts about the host are only in its `host`
 * objects; the rest is the same for any number of threads. */
#ifndef REPORT_PAGE_PAGE_H
#define REPORT_PAGE_PAGE_H

#include "base/json.h"
#include "report/saved.h"

/* A key of the configuration. Texts that are unknown are NULL. */
typedef struct page_key {
    const char *key, *value, *unit;
    const char *origin;   /* "rtx3070.yaml:12", "default", "this run" */
    const char *source;   /* the comment on the value's line: where the number comes from */
    const char *platform; /* the value of the platform by its name, if the run has another */
    const char *base;     /* the value of the platform's base, if the platform has another */
} page_key;

typedef struct page_result {
    const char *label; /* short: the file's name */
    const saved_results *saved;
    const page_key *keys;
    size_t key_count;
} page_result;

/* A run of a sweep. */
typedef struct page_point {
    int64_t run;
    const char *const *values; /* of the keys */
    double *numbers;           /* of the columns; NaN: none */
} page_point;

typedef struct page_sweep {
    mem_arena arena;
    const char *label;
    LS_VEC(const char *) keys; /* that were varied */
    LS_VEC(const char *) columns;
    LS_VEC(const char *) units;
    LS_VEC(page_point) points; /* the complete ones */
} page_sweep;

typedef struct page_input {
    const char *title;
    const page_result *results;
    size_t result_count;
    const page_sweep *sweep;               /* NULL: none */
    const struct timeline_spans *timeline; /* of the only result, or alone; NULL: none */
} page_input;

/* Kernels with all their metrics; of the others only times are in the report. The longest are kept. */
#define PAGE_DETAILED_KERNELS 1000
/* Intervals of metrics over time; neighbours are merged until they are no more. */
#define PAGE_INTERVALS 256

/* Instructions with counts: of one kernel, and of all; lines of source files, and bytes of each. The costliest are kept. */
#define PAGE_SOURCE_ROWS 600
#define PAGE_SOURCE_ALL 3000
#define PAGE_SOURCE_LINES 1000
#define PAGE_SOURCE_TEXT 160

/* Write errors show in the stream (ferror). */
ls_status page_write(const page_input *in, FILE *to, ls_error *err);
/* As a file, whole or not at all. */
ls_status page_write_file(const page_input *in, const char *path, ls_error *err);

/* The points of a sweep in a database of results; *out is NULL if the file has none, or is no database. */
ls_status page_sweep_load(const char *path, page_sweep **out, ls_error *err);
void page_sweep_destroy(page_sweep *sweep);

/* --- the parts of the data; only page*.c use them --- */

void page_put_number(json_writer *j, double value); /* whole numbers exact, others with seven digits */
void page_put_result(json_writer *j, const page_result *result);
void page_put_kernels(json_writer *j, const saved_results *saved, const uint32_t *columns,
                      size_t column_count);
/* What limits the run and its longest kernels; nothing for results that the rules cannot read. */
void page_put_findings(json_writer *j, const saved_results *saved);
void page_put_blocks(json_writer *j, const saved_results *saved);
void page_put_series(json_writer *j, const saved_results *saved);
void page_put_source(json_writer *j, const saved_results *saved);
void page_put_sweep(json_writer *j, const page_sweep *sweep);

/* --- page_assets.c, made of the style sheet and the scripts of this folder; a zero follows the bytes of each --- */
#define PAGE_ASSETS(X)                                                                                        \
    X(css)                                                                                                    \
    X(core_js)                                                                                                \
    X(table_js)                                                                                               \
    X(model_js)                                                                                               \
    X(charts_js)                                                                                              \
    X(memory_js)                                                                                              \
    X(details_js)                                                                                             \
    X(blocks_js)                                                                                              \
    X(source_js)                                                                                              \
    X(sections_js)                                                                                            \
    X(compare_js)                                                                                             \
    X(sweep_js)                                                                                               \
    X(timeline_data_js)                                                                                       \
    X(timeline_draw_js)                                                                                       \
    X(timeline_details_js)                                                                                    \
    X(timeline_js)                                                                                            \
    X(main_js)
#define X(name)                                                                                               \
    extern const unsigned char page_##name[];                                                                 \
    extern const size_t page_##name##_bytes;
PAGE_ASSETS(X)
#undef X

#endif
