/* nw.c: global alignment of two random sequences of four letters: the score table of Needleman and Wunsch, a
 * launch per anti-diagonal of tiles. */
#include "workloads/workload.h"

#define TILE 16

static int32_t larger(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

/* Row 0 and column 0: a prefix against nothing. */
static void clear_table(int32_t *table, size_t rows, size_t columns, int32_t gap)
{
    for (size_t y = 0; y <= rows; y++)
        table[y * (columns + 1)] = -gap * (int32_t)y;
    for (size_t x = 0; x <= columns; x++)
        table[x] = -gap * (int32_t)x;
}

static void run(wl_run *r)
{
    const uint32_t rows = wl_u32(r, "size"), columns = wl_u32(r, "columns") ? wl_u32(r, "columns") : rows;
    const int32_t gap = (int32_t)wl_u32(r, "gap");
    const size_t pitch = (size_t)columns + 1, count = (rows + (size_t)1) * pitch;
    uint8_t *a = wl_random_u8(r, rows), *b = wl_random_u8(r, columns);
    int32_t *table = wl_zeros(r, count, sizeof *table), *expected = wl_zeros(r, count, sizeof *expected);
    if (wl_failed(r))
        return;
    for (uint32_t i = 0; i < rows; i++)
        a[i] %= 4;
    for (uint32_t i = 0; i < columns; i++)
        b[i] %= 4;
    /* Equal letters, letters of one kind (purines, pyrimidines), others. */
    static const int32_t similarity[16] = { 5, -4, -1, -4, -4, 5, -4, -1, -1, -4, 5, -4, -4, -1, -4, 5 };
    clear_table(table, rows, columns, gap);

    const ls_gpu_address d_table = wl_upload(r, table, count * sizeof *table);
    const ls_gpu_address d_a = wl_upload(r, a, rows), d_b = wl_upload(r, b, columns);
    const ls_gpu_address d_similarity = wl_upload(r, similarity, sizeof similarity);
    const uint32_t tile_rows = (rows + TILE - 1) / TILE, tile_columns = (columns + TILE - 1) / TILE;
    for (uint32_t diagonal = 0; diagonal < tile_rows + tile_columns - 1; diagonal++) {
        const uint32_t first_row = diagonal < tile_columns ? 0 : diagonal - tile_columns + 1;
        const uint32_t last_row = diagonal < tile_rows ? diagonal : tile_rows - 1;
        wl_launch(r, "nw_diagonal", WL_1D((last_row - first_row + 1) * TILE), WL_1D(TILE), WL_ARG(d_table),
                  WL_ARG(d_a), WL_ARG(d_b), WL_ARG(d_similarity), WL_ARG(rows), WL_ARG(columns),
                  WL_ARG(diagonal), WL_ARG(first_row), WL_ARG(gap));
    }
    wl_download(r, table, d_table, count * sizeof *table);

    if (!wl_checking(r))
        return;
    clear_table(expected, rows, columns, gap);
    for (size_t y = 1; y <= rows; y++)
        for (size_t x = 1; x <= columns; x++) {
            const int32_t match = expected[(y - 1) * pitch + x - 1] + similarity[a[y - 1] * 4 + b[x - 1]];
            const int32_t gapped = larger(expected[(y - 1) * pitch + x], expected[y * pitch + x - 1]) - gap;
            expected[y * pitch + x] = larger(match, gapped);
        }
    for (size_t i = 0; i < count; i++)
        if (!wl_expect_u32(r, "score", i, (uint32_t)table[i], (uint32_t)expected[i]))
            return;
}

static const wl_option options[] = {
    { "size", 128, 1, 1u << 14, "letters of the first sequence" },
    { "columns", 0, 0, 1u << 14, "letters of the second; 0: as many" },
    { "gap", 6, 0, 100, "penalty of a gap" },
};
static const wl_workload nw = { .name = "nw",
                                .summary = "Needleman-Wunsch alignment, a launch per anti-diagonal of tiles",
                                .source = "Needleman and Wunsch 1970; the shape is Rodinia's",
                                WL_OPTIONS(options),
                                .run = run };
WL_REGISTER(nw);
