/* facts.h: numbers that explain a run or a kernel (facts.def), from a live registry of metrics or from a saved result.
 * The summary of `lockstep run` and the rules read nothing else. */
#ifndef REPORT_FACTS_H
#define REPORT_FACTS_H

#include "report/metrics.h"
#include "report/saved.h"

typedef enum fact {
#define FACT(name_, unit_, help_) FACT_##name_,
#include "report/facts.def"
#undef FACT
    FACT_COUNT
} fact;

typedef struct fact_entry {
    const char *name, *unit, *help;
} fact_entry;
extern const fact_entry fact_table[FACT_COUNT];

typedef enum facts_machine { FACTS_NONE, FACTS_NVIDIA, FACTS_AMD } facts_machine;

typedef struct fact_set {
    facts_machine machine;
    double at[FACT_COUNT];
} fact_set;

/* Where metrics come from. Patterns have '*' and '?'; a path that is NULL is any. */
typedef struct fact_reader {
    void *self;
    /* A value reduced over blocks: a of a counter, a / b of a ratio or histogram. False: it is not counted. */
    bool (*metric)(void *self, size_t scope, const char *type, const char *path, const char *name, double *a,
                   double *b);
    size_t (*blocks)(void *self, const char *type, const char *path);
    /* Path of the i-th block of these types; NULL: there is none. */
    const char *(*block)(void *self, const char *type, size_t i);
    const char *config_text; /* the resolved configuration */
} fact_reader;

/* A part of a run: all of it or one kernel, of all GPUs or of one. */
typedef struct fact_scope {
    size_t scope;           /* LS_METRICS_RUN or the reader's number of a kernel */
    const char *path;       /* "gpu1.*"; NULL: all */
    double busy_fs;         /* with a kernel */
    double end_fs;          /* of the run; 0: this is a kernel */
    double launched_fs;     /* times of all launches, added up */
    uint64_t kernels, gpus; /* launches, and GPUs that have some */
} fact_scope;

void facts_read(const fact_reader *reader, const fact_scope *scope, fact_set *out);

/* A key of the configuration, of the machine's first part ("amd", "gpu") if it is a system; NULL: it has none. */
const char *facts_key(const char *config_text, facts_machine machine, const char *key, char *out,
                      size_t out_bytes);
/* Its number; NaN: it has none. */
double facts_key_number(const char *config_text, facts_machine machine, const char *key);
/* Whether the configuration is a system of GPUs. */
bool facts_is_system(const char *config_text);

/* GFLOP/s that an AMD compute unit can reach at most: multiply-adds in all lanes. which: FACT_single, FACT_half or
 * FACT_twice; NaN: the configuration does not say. */
double facts_amd_peak(const char *config_text, fact which);

/* The value as people read it: "41.3 %", "448.0 GB/s", "1,024"; "-" if it is unknown. */
const char *fact_text(const fact_set *facts, fact which, char *out, size_t out_bytes);
fact fact_find(const char *name, size_t bytes); /* FACT_COUNT: there is none */

/* Reads a live registry. The scope is an interval. */
fact_reader facts_of_store(metric_store *metrics, const char *config_text);

/* Reads a file of results; a kernel is scope k + 1, as in saved.h, and LS_METRICS_RUN the run. */
typedef struct facts_saved {
    const saved_results *saved;
    saved_value *totals; /* of one scope */
    size_t loaded;
} facts_saved;
fact_reader facts_of_saved(facts_saved *state, const saved_results *saved);
void facts_saved_fini(facts_saved *state);

#endif
