/* import_rows.h: the table of the import, and the functions that its converters use. Only import*.c use it. */
#ifndef PLATFORM_IMPORT_ROWS_H
#define PLATFORM_IMPORT_ROWS_H

#include "base/map.h"
#include "base/text.h"
#include "base/vec.h"
#include "platform/import.h"
#include "platform/schema.h"

#include <stdbool.h>

typedef struct import_row import_row;
typedef struct importer importer;

/* Writes the keys of a row. Reads options with the functions below; returns false after an error. */
typedef bool import_convert(importer *im, const import_row *row);

struct import_row {
    const char *option;   /* without its dash; NULL: a heading (key) or keys that no option says (convert) */
    const char *fallback; /* Accel-Sim's default; NULL: it has no value then */
    const char *key;      /* ours, or its section; for an option that belongs to another one: that one */
    import_convert *convert; /* NULL: another row's converter reads it, or it has no key */
    const char *neutral;     /* the value with which Accel-Sim does what our model always does; NULL: any */
    const char *why;         /* the loss with another value, or why there is none */
    import_fate fate;        /* if it is lost */
};

extern const import_row import_rows[];
extern const size_t import_row_count;

/* An option as it was given; of several the last. */
typedef struct import_option {
    const char *name; /* without its dash */
    const char *value;
    const char *file;
    uint32_t line;
    const import_row *row; /* NULL: unknown */
} import_option;

struct importer {
    mem_arena *arena;
    const import_file *files;
    size_t file_count;
    const char *first_file;
    LS_VEC(import_option) options; /* in the order of the files; name NULL: given again later */
    string_map by_name;            /* name -> index + 1 in options */
    LS_VEC(import_remark) notes;
    text_buffer yaml;
    machine_schema schema;
    bool has_schema; /* the machine is linked into this program: every key and value is checked against it */
    ls_error *err;   /* never NULL */
    ls_status status;
};

/* --- import_read.c --- */

/* Adds the options of a text to im->options. */
bool import_read(importer *im, const char *path, const char *text, size_t bytes);
const import_option *import_find(const importer *im, const char *name); /* NULL: not given */

/* --- import.c, for converters --- */

/* Fails with the place of the option, or of the first file if it was not given. Returns false. */
bool import_fail(importer *im, const char *option, const char *fmt, ...) LS_PRINTF(3, 4);
/* The same for an error that a parser has put into im->err. */
bool import_fail_with(importer *im, const char *option);
bool import_no_memory(importer *im);
/* As given, else the fallback of its row; NULL if it has none. */
const char *import_value(const importer *im, const char *option);
/* A whole number; false after an error. */
bool import_uint(importer *im, const char *option, uint64_t *out);
/* Fields separated by one of `separators`: exactly `count` numbers, and the text after them in *rest (if that
 * is NULL, nothing may follow). */
bool import_fields(importer *im, const char *option, const char *separators, uint64_t *out, size_t count,
                   const char **rest);

/* "key: value  # from -option", or that it is its default; `how` (may be NULL) is added to the comment. */
bool import_put(importer *im, const char *key, const char *value, const char *option, const char *how);
bool import_put_uint(importer *im, const char *key, uint64_t value, const char *option, const char *how);
/* The same without an option: `why` is the comment. */
bool import_put_fixed(importer *im, const char *key, const char *value, const char *why);
/* Several keys of one section on one line: "section: {name: value, ...}"; option NULL: `how` is all of the
 * comment. */
typedef struct import_pair {
    const char *name, *value;
} import_pair;
bool import_put_pairs(importer *im, const char *section, const import_pair *pairs, size_t count,
                      const char *option, const char *how);
/* The option's value cannot be honoured, or has no effect; nothing happens if it was not given. */
void import_note(importer *im, const char *option, import_fate fate, const char *why);

/* --- import_convert.c, import_memory.c, import_dram.c --- */

import_convert import_convert_uint;      /* the number itself */
import_convert import_convert_kib;       /* bytes to KiB */
import_convert import_convert_flag;      /* 0 or 1 to false or true */
import_convert import_convert_coalescer; /* reads that meet in front of a slice */
import_convert import_convert_switch;    /* 1 to true; 0 is left out, because it is the default of the key */
import_convert import_convert_cores;
import_convert import_convert_warps;
import_convert import_convert_scheduler;
import_convert import_convert_per_sub_core;
import_convert import_convert_widths;
import_convert import_convert_units;
import_convert import_convert_special_unit;
import_convert import_convert_ports;
import_convert import_convert_classes;
import_convert import_convert_memory_classes;
import_convert import_convert_coalescing;
import_convert import_convert_fetch;
import_convert import_convert_perfect;
import_convert import_convert_core_constants;
import_convert import_convert_concurrency;
import_convert import_convert_spread;

import_convert import_convert_clocks;
import_convert import_convert_network;
import_convert import_convert_carve_out;
import_convert import_convert_l1;
import_convert import_convert_l2;
import_convert import_convert_slice_hash;
import_convert import_convert_bit_map;
import_convert import_convert_queues;

import_convert import_convert_dram_timing;
import_convert import_convert_dram_bus;
import_convert import_convert_dram_scheduler;
import_convert import_convert_dram_command_bus;
import_convert import_convert_dram_groups;
import_convert import_convert_dram_hash;
import_convert import_convert_dram_turnaround;
import_convert import_convert_dram_queue;
import_convert import_convert_dram_write_queue;
import_convert import_convert_dram_front;

#endif
