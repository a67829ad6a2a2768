/* show_impl.h: declarations for the files that implement show.h. */
#ifndef PLATFORM_SHOW_IMPL_H
#define PLATFORM_SHOW_IMPL_H

#include "platform/show.h"
#include "platform/table.h"

#define LS_PLACE_BYTES 512

/* A value in a table: quoted where it could be taken for nothing or for two words. */
const char *show_cell(const config_value *value, text_buffer *buffer);
/* A value as a line of YAML, with unit, origin and source. */
void show_yaml_value(text_buffer *text, const char *indent, const char *path, const config_value *value);

/* --- show_system.c: the same for platforms with parts --- */

/* The rows of show_config()'s heading and table about GPUs. */
void show_system_heading(FILE *out, const platform_config *config);
void show_system_table(key_table *table, const platform_config *config);
void show_system_yaml(text_buffer *text, const platform_config *config);
/* Adds the rows of two platforms; at least one has parts. */
void show_system_diff(key_table *table, const platform_config *a, const platform_config *b,
                      size_t *differences);

#endif
