/* ranks_text.h: work, waiting and traffic of each rank of a divided run, as a table and as named numbers. */
#ifndef REPORT_RANKS_TEXT_H
#define REPORT_RANKS_TEXT_H

#include "engine/ranks.h"

/* Of an export: a name, and where the number stands in rank_counts. */
typedef struct ranks_field {
    const char *name, *unit;
    size_t offset;
} ranks_field;
extern const ranks_field ranks_fields[];
extern const size_t ranks_field_count;
uint64_t ranks_field_of(const ranks_field *field, const rank_counts *counts);

/* One row per rank. Write errors show in the stream (ferror). */
void ranks_print(const rank_counts *ranks, uint32_t count, FILE *to);

#endif
