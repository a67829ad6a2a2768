/* emulate_args.h: kernel arguments as text: values of a type, buffers with their content. */
#ifndef SIM_EMULATE_ARGS_H
#define SIM_EMULATE_ARGS_H

#include "sim/emulate_object.h"

/* Bytes of "u8" to "f64"; an error with the nearest name for anything else. */
ls_status emulate_type_bytes(const char *type, size_t type_bytes, size_t *out, ls_error *err);
/* One value of the type as text; returns out. */
const char *emulate_format(const char *type, size_t type_bytes, const void *value, char *out,
                           size_t out_bytes);

#endif
