/* needs.h: keys that act only while other keys have certain values (lockstep/param.h: ls_need), and overrides that
 * therefore do nothing. */
#ifndef PLATFORM_NEEDS_H
#define PLATFORM_NEEDS_H

#include "platform/config.h"

/* The condition of the key that does not hold, as KEY=VALUE in full, and the value that is there instead. False: the
 * key acts. */
bool config_unmet(const platform_config *config, const config_key *key, char *condition, size_t bytes,
                  const char **is);

/* The next key, from *next (at first 0), that the user changed without effect. The change is by --set, or in a
 * file given as the platform by its path, against its bases. Writes one line about it; false if there is
 * none. */
bool config_next_idle(const platform_config *config, size_t *next, char *text, size_t bytes);

/* A warning of kind "key" for each of them: for results. */
ls_status config_warn(const platform_config *config, ls_engine *engine, ls_error *err);
/* The same on standard error: for commands without results. */
void config_log_idle(const platform_config *config);

#endif
