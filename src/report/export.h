/* export.h: the results of a run and the files they can be written to.
 *
 * Results have a data part, computed by the simulation, and a host part, about the host's work. The data part
 * of two runs that differ only in threads, windows or host machine is the same to the last byte, in every
 * format. A JSON or SQLite file has the host part in an object or table of its own ("host"), tidy CSV in the
 * rows whose scope is "host"; CSV has none.
 *
 * The run as a whole is exported per type of block and per block. A kernel is exported per type, reduced as
 * metrics.h says, and per block only on request: a GPU has hundreds of blocks, a program thousands of kernels.
 *
 * A file appears whole or not at all; a database that exists gets one more run in one transaction. */
#ifndef REPORT_EXPORT_H
#define REPORT_EXPORT_H

#include "base/hash.h"
#include "engine/ranks.h"
#include "report/metrics.h"
#include "report/series.h"

/* Facts that may differ between two runs of the same simulation. */
typedef struct results_host {
    const char *run_id;  /* names the run among others; NULL: none */
    const char *command; /* the command line; here because it names threads and files */
    double wall_seconds;
    uint32_t threads;
    uint64_t windows;
    const rank_counts *ranks; /* of a run that was divided; NULL: of one process */
    uint32_t rank_count;
} results_host;

/* Texts may be NULL. */
typedef struct run_results {
    const char *platform;
    const char *config_text;    /* the resolved configuration */
    const char *config_hash;    /* in hexadecimal; NULL: computed from config_text */
    bool partial;               /* the run did not come to its end */
    const char *partial_reason; /* "interrupted by the user" */
    const char *hit_rates; /* where those of memory that is not simulated come from; NULL: it is simulated */
    const ls_warning *warnings; /* in order; warnings that a reader of these numbers must know */
    size_t warning_count;
    ls_time end_time;
    bool has_cycles;       /* the machine runs kernels */
    uint64_t cycles;       /* of the core clock in which at least one kernel ran */
    const ls_clock *clock; /* of the cores: gives the cycles of each kernel; NULL: unknown */
    uint64_t seed;
    uint64_t events, messages, ticks, region_cycles; /* of the engine: as in ls_run_result */
    const metric_store *metrics;                     /* NULL: none */
    const series *series;                            /* metrics over time; NULL: none */
    const struct source_book *source;                /* counts per instruction; NULL: none */
    results_host host;
} run_results;

typedef enum export_format {
    LS_EXPORT_TEXT,   /* for people */
    LS_EXPORT_JSON,   /* everything, nested */
    LS_EXPORT_CSV,    /* one row per kernel, one column per metric */
    LS_EXPORT_TIDY,   /* CSV with one row per number */
    LS_EXPORT_SQLITE, /* several runs in one database */
    LS_EXPORT_FORMATS
} export_format;

typedef struct export_options {
    bool per_block;        /* text: each block, not only each type; others: each block in each kernel */
    bool untouched;        /* text: list the metrics that no block counted */
    bool color;            /* text: ANSI colours */
    unsigned lock_wait_ms; /* SQLite: how long to wait for a locked database; 0: 5 minutes */
} export_options;

/* "text", "json", "csv", "tidy", "sqlite"; and its extensions: ".db .sqlite .sqlite3". */
const char *export_format_name(export_format format);
const char *export_format_extensions(export_format format);

/* A URL postgresql://... is a database on a server, with the tables of SQLite: its format is the same.
 * By the extension of the file's name, after which ".gz" or ".zst" may follow for CSV; an unknown extension
 * fails with a list of the known ones. */
ls_status export_format_of(const char *path, export_format *out, ls_error *err);

/* options may be NULL. path "-" is standard output, except for SQLite. */
ls_status export_results(const run_results *results, export_format format, const export_options *options,
                         const char *path, ls_error *err);

/* The same to an open stream; not for SQLite. Write errors show in the stream (ferror). */
ls_status export_stream(const run_results *results, export_format format, const export_options *options,
                        FILE *to, ls_error *err);

/* Of everything that is simulated (the host's part is left out): equal hashes are equal results. */
ls_status export_hash(const run_results *results, hash128 *out, ls_error *err);

/* Makes a database of results without runs, or checks that the existing file is one. Then several processes
 * may add runs to it, each waiting for the others. */
ls_status export_database(const char *path, ls_error *err);
/* Fails if the database exists and has a run with this id, or holds something else. NULL: no id. */
ls_status export_check_id(const char *path, const char *run_id, ls_error *err);

#endif
