/* params.h: the parameters of a kind from text into its spec. */
#ifndef SYNTH_PARAMS_H
#define SYNTH_PARAMS_H

#include "workload/synth/kind.h"

extern const ls_param synth_common_params[];
extern const size_t synth_common_param_count;

/* Fills spec from "name=value,name=value" (or NULL), everything else by its default. */
ls_status synth_params_read(const synth_kind *kind, const char *text, void *spec, ls_error *err);

#endif
