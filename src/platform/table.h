/* table.h: rows of text in columns that are as wide as they need to be. */
#ifndef PLATFORM_TABLE_H
#define PLATFORM_TABLE_H

#include "base/arena.h"
#include "lockstep/status.h"

#include <stdbool.h>
#include <stdio.h>

#define LS_TABLE_COLUMNS 6

typedef struct ls_table_row {
    const char *cells[LS_TABLE_COLUMNS]; /* NULL counts as "" */
    struct ls_table_row *next;
} ls_table_row;

/* All zero is a valid empty table. */
typedef struct ls_table {
    ls_arena arena;
    ls_table_row *first, *last;
    bool failed; /* the host had no memory left: sticky, reported by ls_table_print() */
} ls_table;

/* Adds a row of up to LS_TABLE_COLUMNS cells; the texts are copied. */
#define ls_table_add(table, ...) ls_table_add_row(table, (const char *const[LS_TABLE_COLUMNS]){ __VA_ARGS__ })
void ls_table_add_row(ls_table *table, const char *const cells[LS_TABLE_COLUMNS]);
/* Prints and empties it. Columns in which every cell is empty are left out. */
ls_status ls_table_print(ls_table *table, FILE *out, const char *indent, ls_error *err);

#endif
