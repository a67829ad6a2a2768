/* emulate_output.h: the text of `lockstep emulate` about a run: counts by class, rate, verification. */
#ifndef SIM_EMULATE_OUTPUT_H
#define SIM_EMULATE_OUTPUT_H

#include "base/json.h"
#include "base/text.h"
#include "lockstep/driver.h"

#include <stdio.h>

/* For people: launches, wavefronts, instructions by class, memory, time and rate. */
void emulate_print_counts(FILE *out, bool color, const ls_gpu_counts *counts);
/* The members of the object that is open. */
void emulate_json_counts(json_writer *j, const ls_gpu_counts *counts);

#endif
