/* fidelity.c: see fidelity.h. */
#include "sim/fidelity.h"

#include "base/text.h"

#include <string.h>

static const char *const detailed[] = { "core.alu=cycle", "core.memory=cycle", NULL };
/* Swift-Sim-Basic: contention of the pipeline simulated, its stages a latency; instructions and constants are
 * there. */
static const char *const basic[] = { "core.alu=issue", "core.fetch=perfect", "core.constant=perfect", NULL };
/* Swift-Sim-Memory: memory by formula as well. */
static const char *const memory[] = { "core.alu=issue",        "core.fetch=perfect",   "core.constant=perfect",
                                      "core.translation=none", "core.memory=analytic", NULL };

const fidelity_preset fidelity_presets[FIDELITY_COUNT] = {
    [FIDELITY_DETAILED] = { "detailed", "every stage and every request simulated", detailed },
    [FIDELITY_BASIC] = { "basic", "the cores' pipelines by latency and contention", basic },
    [FIDELITY_MEMORY] = { "memory", "as basic, and memory by hit rates and contention", memory },
};
const char *const fidelity_names[FIDELITY_COUNT + 1] = { "detailed", "basic", "memory", NULL };

const fidelity_preset *fidelity_find(const char *name, ls_error *err)
{
    for (size_t i = 0; i < FIDELITY_COUNT; i++)
        if (strcmp(fidelity_presets[i].name, name) == 0)
            return &fidelity_presets[i];
    ls_fail(err, LS_ERR_USAGE, "there is no fidelity '%s'", name);
    ls_error_nearest(err, nearest_of(name, fidelity_names, FIDELITY_COUNT));
    return NULL;
}
