/* inst_counts.c: see inst_counts.h. */
#include "isa/inst_counts.h"

#include <stdlib.h>

_Static_assert(sizeof(inst_count) % sizeof(uint64_t) == 0, "counts are words");

inst_counts *inst_counts_create(uint32_t units, uint32_t rows_max)
{
    inst_counts *counts = calloc(1, sizeof *counts);
    if (counts == NULL)
        return NULL;
    counts->units = units;
    counts->chunk_max = rows_max / INST_CHUNK + 1;
    counts->chunks = calloc(counts->chunk_max, sizeof *counts->chunks);
    if (counts->chunks == NULL) {
        free(counts);
        return NULL;
    }
    return counts;
}

bool inst_counts_grow(inst_counts *counts, uint32_t rows)
{
    while ((uint64_t)counts->chunk_count * INST_CHUNK < rows && counts->chunk_count < counts->chunk_max) {
        /* Large pieces: the host gives memory to the parts that are written, not to all of it. */
        inst_count *chunk = calloc((size_t)counts->units * INST_CHUNK, sizeof *chunk);
        if (chunk == NULL)
            return false;
        counts->chunks[counts->chunk_count++] = chunk;
    }
    return (uint64_t)counts->chunk_count * INST_CHUNK >= rows;
}

void inst_counts_destroy(inst_counts *counts)
{
    if (counts == NULL)
        return;
    for (uint32_t i = 0; i < counts->chunk_count; i++)
        free(counts->chunks[i]);
    free(counts->chunks);
    free(counts);
}

inst_count inst_counts_sum(const inst_counts *counts, uint32_t row)
{
    inst_count sum = { 0 };
    if (row / INST_CHUNK >= counts->chunk_count)
        return sum;
    for (uint32_t unit = 0; unit < counts->units; unit++)
        inst_count_add(&sum, inst_counts_at(counts, unit, row));
    return sum;
}
