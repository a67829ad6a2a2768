/* bitonicsort.c: sorts unsigned numbers with a bitonic network, one launch per pass. Lengths that are no
 * power of two are filled up with the largest number, which sorts to the far end. */
#include "workloads/workload.h"

#include <stdlib.h>

static int ascending_order(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The numbers that each part has compared. Pairs at a distance lie in two runs; a part of whole runs has all between. */
static void exchange(wl_run *r, ls_gpu_address data, uint32_t pairs, uint32_t distance)
{
    for (uint32_t part = 0; part < wl_parts(r) && wl_parts(r) > 1; part++) {
        uint32_t begin = 64 * wl_part_begin(r, part), end = 64 * wl_part_begin(r, part + 1);
        end = end < pairs ? end : pairs;
        if (begin % distance == 0 && end % distance == 0) {
            wl_exchange(r, data, part, 2 * sizeof(uint32_t) * begin, 2 * sizeof(uint32_t) * (end - begin));
            continue;
        }
        for (uint32_t at = begin; at < end;) {
            uint32_t next = (at / distance + 1) * distance, run = (next < end ? next : end) - at;
            size_t left = (size_t)(at / distance) * distance * 2 + at % distance;
            wl_exchange(r, data, part, left * sizeof(uint32_t), run * sizeof(uint32_t));
            wl_exchange(r, data, part, (left + distance) * sizeof(uint32_t), run * sizeof(uint32_t));
            at += run;
        }
    }
}

static void run(wl_run *r)
{
    const uint32_t count = wl_u32(r, "size"), descending = wl_u32(r, "descending");
    uint32_t stages = 1;
    while (1u << stages < count)
        stages++;
    const uint32_t padded = 1u << stages, pairs = padded / 2;
    uint32_t *numbers = wl_random_u32(r, padded, 0), *sorted = wl_zeros(r, padded, sizeof *sorted);
    if (wl_failed(r))
        return;
    for (uint32_t i = count; i < padded; i++)
        numbers[i] = descending ? 0 : UINT32_MAX;

    wl_divide(r, (pairs + 63) / 64);
    const ls_gpu_address data = wl_shared(r, padded * sizeof *numbers);
    wl_write(r, data, numbers, padded * sizeof *numbers);
    for (uint32_t stage = 0; stage < stages; stage++)
        for (uint32_t pass = 0; pass <= stage; pass++) {
            wl_launch(r, "bitonic_pass", WL_1D(wl_round_up(pairs, 64)), WL_1D(64), WL_ARG(data), WL_ARG(stage),
                      WL_ARG(pass), WL_ARG(pairs), WL_ARG(descending));
            exchange(r, data, pairs, 1u << (stage - pass));
        }
    wl_download(r, sorted, data, count * sizeof *sorted);

    if (!wl_checking(r))
        return;
    qsort(numbers, count, sizeof *numbers, ascending_order);
    for (uint32_t i = 0; i < count; i++)
        if (!wl_expect_u32(r, "sorted", i, sorted[i], numbers[descending ? count - 1 - i : i]))
            return;
}

static const wl_option options[] = {
    { "size", 4096, 1, 1u << 28, "numbers to sort" },
    { "descending", 0, 0, 1, "1: the largest first" },
};
static const wl_workload bitonicsort = { .name = "bitonicsort",
                                         .summary = "bitonic sort, one launch per pass of the network",
                                         .source = "Batcher 1968; the shape is the AMD APP SDK's",
                                         WL_OPTIONS(options),
                                         .run = run,
                                         .divides = true };
WL_REGISTER(bitonicsort);
