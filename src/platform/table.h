/* table.h: rows of text in columns that are as wide as they need to be. */
#ifndef PLATFORM_TABLE_H
#define PLATFORM_TABLE_H

#include "base/arena.h"
#include "lockstep/status.h"

#include <stdbool.h>
#include <stdio.h>

#define LS_TABLE_COLUMNS 6

typedef struct table_row {
    const char *cells[LS_TABLE_COLUMNS]; /* NULL counts as "" */
    struct table_row *next;
} table_row;

/* All zero is a valid empty table. */
typedef struct key_table {
    mem_arena arena;
    table_row *first, *last;
    bool failed; /* the host had no memory left: sticky, reported by table_print() */
} key_table;

/* Adds a row of up to LS_TABLE_COLUMNS cells; the texts are copied. */
#define table_add(table, ...) table_add_row(table, (const char *const[LS_TABLE_COLUMNS]){ __VA_ARGS__ })
void table_add_row(key_table *table, const char *const cells[LS_TABLE_COLUMNS]);
/* Prints and empties it. Columns in which every cell is empty are left out. */
ls_status table_print(key_table *table, FILE *out, const char *indent, ls_error *err);

#endif
