/* fidelity.h: names for common choices of models. A preset is nothing but keys; keys that the user sets come after
 * it and may change any of them. */
#ifndef SIM_FIDELITY_H
#define SIM_FIDELITY_H

#include "lockstep/status.h"

typedef struct fidelity_preset {
    const char *name, *help;
    const char *const *sets; /* KEY=VALUE, NULL-terminated */
} fidelity_preset;

enum { FIDELITY_DETAILED, FIDELITY_BASIC, FIDELITY_MEMORY, FIDELITY_COUNT };
extern const fidelity_preset fidelity_presets[FIDELITY_COUNT];
extern const char *const fidelity_names[FIDELITY_COUNT + 1]; /* choices of the option */

/* NULL, with the nearest name in err, if there is none of this name. */
const fidelity_preset *fidelity_find(const char *name, ls_error *err);

#endif
