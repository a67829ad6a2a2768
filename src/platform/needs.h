/* needs.h: keys that act only while other keys have certain values (lockstep/param.h: ls_need), and overrides that
 * therefore do nothing. */
#ifndef PLATFORM_NEEDS_H
#define PLATFORM_NEEDS_H

#include "platform/config.h"

/* The condition of the key that does not hold, as KEY=VALUE in full, and the value that is there instead. False: the
 * key acts. */
bool ls_config_unmet(const ls_config *config, const ls_key *key, char *condition, size_t bytes,
                     const char **is);

/* A warning of kind "key" for every --set that does nothing. */
ls_status ls_config_warn(const ls_config *config, ls_engine *engine, ls_error *err);

#endif
