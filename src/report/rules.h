/* rules.h: sentences about the limits of a run (rules.def). A rule fires if its condition on facts holds; those that
 * fire are ordered by their estimate of what removing the limit would bring. */
#ifndef REPORT_RULES_H
#define REPORT_RULES_H

#include "report/facts.h"

typedef struct rule {
    const char *name;                 /* "dram_bandwidth" */
    const char *title;                /* "DRAM bandwidth": what limits, in a table */
    const char *sentence;             /* with {facts} */
    const char *evidence;             /* names of facts */
    const char *condition, *estimate; /* as rules.def has them, for the documentation */
    /* Changes of keys that take the limit away, for machine gpu and for machine amd: "KEY*2 KEY/2 KEY=VALUE"; NULL:
     * there is none. */
    const char *try_nvidia, *try_amd;
    const char *try_title; /* "DRAM twice as fast" */
    bool (*holds)(const double *f);
    double (*gain)(const double *f); /* share of the time, from 0 to 1 */
} rule;

extern const rule rule_table[];
extern const size_t rule_count;

typedef struct rule_finding {
    const rule *rule;
    double gain;
} rule_finding;

/* Those that hold, the largest gain first; out has rule_count places. Returns how many. */
size_t rules_apply(const fact_set *facts, rule_finding *out);
/* The sentence with its numbers. */
const char *rule_sentence(const rule *r, const fact_set *facts, char *out, size_t out_bytes);
const char *rule_experiment(const rule *r, facts_machine machine); /* NULL: there is none */

#endif
