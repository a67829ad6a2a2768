/* needs.h: keys that act only while other keys have certain values (lockstep/param.h: ls_need), and overrides that
 * therefore do nothing. */
#ifndef PLATFORM_NEEDS_H
#define PLATFORM_NEEDS_H

#include "platform/config.h"

/* The condition of the key that does not hold, as KEY=VALUE in full, and the value that is there instead. False: the
 * key acts. */
bool ls_config_unmet(const ls_config *config, const ls_key *key, char *condition, size_t bytes,
                     const char **is);

/* The next key, from *next (at first 0), that the user changed and that does nothing: by --set, or in a file that
 * was given as the platform (not by a name), against its bases. Writes one line about it; false: there are no more. */
bool ls_config_next_idle(const ls_config *config, size_t *next, char *text, size_t bytes);

/* A warning of kind "key" for each of them: for results. */
ls_status ls_config_warn(const ls_config *config, ls_engine *engine, ls_error *err);
/* The same on standard error: for commands without results. */
void ls_config_log_idle(const ls_config *config);

#endif
