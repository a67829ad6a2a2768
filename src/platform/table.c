/* table.c: columns of text. Uses base only. */
#include "platform/table.h"

#include <string.h>

void table_add_row(key_table *table, const char *const cells[LS_TABLE_COLUMNS])
{
    table_row *row = arena_alloc(&table->arena, sizeof *row);
    if (!row) {
        table->failed = true;
        return;
    }
    if (table->last)
        table->last->next = row;
    else
        table->first = row;
    table->last = row;
    for (size_t i = 0; i < LS_TABLE_COLUMNS && cells[i]; i++) {
        row->cells[i] = arena_strdup(&table->arena, cells[i]);
        table->failed |= !row->cells[i];
    }
}

/* Columns on the screen: the characters of a UTF-8 text. */
static int width_of(const char *text)
{
    int width = 0;
    for (; text && *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

ls_status table_print(key_table *table, FILE *out, const char *indent, ls_error *err)
{
    int widths[LS_TABLE_COLUMNS] = { 0 };
    for (const table_row *row = table->first; row; row = row->next)
        for (size_t i = 0; i < LS_TABLE_COLUMNS; i++)
            if (width_of(row->cells[i]) > widths[i])
                widths[i] = width_of(row->cells[i]);
    for (const table_row *row = table->first; row && !table->failed; row = row->next) {
        fputs(indent, out);
        int missing = 0; /* spaces owed before the next cell that is not empty */
        for (size_t i = 0; i < LS_TABLE_COLUMNS; i++) {
            const char *cell = row->cells[i] ? row->cells[i] : "";
            if (widths[i] == 0)
                continue;
            if (*cell)
                fprintf(out, "%*s%s", missing, "", cell);
            missing = *cell ? widths[i] - width_of(cell) + 2 : missing + widths[i] + 2;
        }
        fputc('\n', out);
    }
    bool failed = table->failed;
    arena_fini(&table->arena);
    *table = (key_table){ 0 };
    return failed ? ls_fail(err, LS_ERR_NOMEM, "the host has no memory left") : LS_OK;
}
