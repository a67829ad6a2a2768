/* warm.h: which keys of a platform may have other values after a checkpoint ("warm start"). */
#ifndef SIM_WARM_H
#define SIM_WARM_H

#include "platform/config.h"

/* Sets as "key=value", on the platform of the resumed run. Refuses, by name, a key whose value decides the size, the
 * structure or the meaning of saved state. */
ls_status warm_check(const platform_config *config, const char *const *sets, size_t count, ls_error *err);

#endif
