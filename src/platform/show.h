/* show.h: a configuration for people and for programs. Everything writes to the stream it is given. */
#ifndef PLATFORM_SHOW_H
#define PLATFORM_SHOW_H

#include "platform/catalog.h"
#include "platform/config.h"

#include <stdio.h>

typedef enum show_format { LS_SHOW_TABLE, LS_SHOW_YAML, LS_SHOW_JSON } show_format;

/* All values with unit, origin and source. The YAML is a platform file with the same values and hash. */
ls_status show_config(FILE *out, const platform_config *config, show_format format, ls_error *err);

/* The keys whose values differ, and keys that only one of the two has. *differences: how many. */
ls_status show_diff(FILE *out, const platform_config *a, const platform_config *b, size_t *differences,
                    ls_error *err);

/* Platforms with title and machine, then the machines, then the models of every slot. */
ls_status show_catalog(FILE *out, const platform_entry *platforms, size_t count, ls_error *err);

/* One line each, and how many more there were. */
void show_problems(FILE *out, const config_problems *problems);

/* The meaning of a key in each machine and model that has it (all registered ones, or those of config's
 * machine), and with a configuration the origin of its value. path may also name a section: its keys are
 * listed. */
ls_status show_key(FILE *out, const char *path, const platform_config *config, ls_error *err);

#endif
