/* demo.h: the parts of the demo. Each prints its table and returns false if a number differs from theory. */
#ifndef DEMO_H
#define DEMO_H

#include "rig.h"

#include <stdbool.h>

typedef struct demo {
    const char *folder; /* of the platform files */
    const char *out;    /* where the plot goes */
    uint32_t threads;
    bool color; /* on a terminal */
} demo;

/* demo_exact.c: numbers that must agree to the last digit. */
bool demo_latency(const demo *d);
bool demo_saturation(const demo *d);

/* demo_random.c: numbers that must agree within their statistical error. */
bool demo_waiting(const demo *d);

/* demo.c */
void demo_heading(const demo *d, int number, const char *title);
/* Opens a platform with settings; on failure says why and returns false. */
bool demo_open(const demo *d, rig *r, const char *file, const char *sets);
/* Runs it; on failure says why, closes it and returns false. */
bool demo_run(rig *r, const ls_run_options *options, ls_run_result *result);
bool demo_failed(const ls_error *err); /* says why; always false */
const char *demo_verdict(const demo *d, bool ok);

#endif
