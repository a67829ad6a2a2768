/* collective.c: see collective.h. */
#include "workloads/collective/collective.h"

#define LINE_WORDS 16u
#define GROUP 256u

const char *const collective_via_names[] = { "store", "load", "copy", NULL };
const wl_value_names collective_names[] = { { "via", collective_via_names }, { NULL, NULL } };

/* -------------------------------------------------------------------------------------------------- arrays */

uint32_t collective_gpu(const collective *c, uint32_t rank)
{
    return rank % wl_parts(c->r);
}

uint32_t collective_words(const collective *c, collective_array array)
{
    return array == COLLECTIVE_DATA ? c->words : c->part_words * c->ranks;
}

static void open_arrays(collective *c)
{
    const uint32_t gpus = wl_parts(c->r);
    for (uint32_t first = 0; first < c->ranks; first += gpus)
        for (uint32_t array = 0; array < COLLECTIVE_ARRAYS; array++) {
            const size_t bytes = (size_t)collective_words(c, (collective_array)array) * 4;
            const bool data = array == COLLECTIVE_DATA;
            const ls_gpu_address buffer = data ? wl_buffer(c->r, bytes) : wl_zeroed(c->r, bytes);
            for (uint32_t k = first; k < c->ranks && k < first + gpus && !wl_failed(c->r); k++) {
                c->array[array][k] = wl_of(c->r, collective_gpu(c, k), buffer);
                if (data)
                    wl_write_on(c->r, collective_gpu(c, k), c->array[array][k],
                                c->input + (size_t)k * c->words, bytes);
            }
        }
}

void collective_check_reach(wl_run *r, const char *advice)
{
    if (!wl_reaches(r))
        wl_fail(r, LS_ERR_UNSUPPORTED, "kernels reach other GPUs over a fabric, and there is none (%s)",
                advice);
}

void collective_open(collective *c, wl_run *r)
{
    *c = (collective){ .r = r, .via = (collective_via)wl_u32(r, "via"), .ranks = wl_u32(r, "ranks") };
    c->groups = wl_u32(r, "groups");
    c->words = (wl_u32(r, "size") + 3) / 4;
    if (c->ranks == 0)
        c->ranks = wl_parts(r);
    if (c->via != COLLECTIVE_COPY)
        collective_check_reach(r, "--param via=copy copies through the host");
    const uint32_t lines = (c->words + LINE_WORDS - 1) / LINE_WORDS;
    c->part_words = (lines + c->ranks - 1) / c->ranks * LINE_WORDS;
    c->input = wl_random_u32(r, (size_t)c->ranks * c->words, 0);
    open_arrays(c);
    wl_measure(r);
}

collective_place collective_part(const collective *c, uint32_t rank, collective_array array, uint32_t p)
{
    const uint32_t words = collective_words(c, array);
    const uint64_t at = (uint64_t)p * c->part_words;
    const uint32_t begin = at < words ? (uint32_t)at : words, left = words - begin;
    return (collective_place){ rank, array, begin, left < c->part_words ? left : c->part_words };
}

/* ------------------------------------------------------------------------------------------------ commands */

static ls_gpu_address array_of(const collective *c, collective_place place)
{
    return c->array[place.array][place.rank];
}

/* Four words for each work-item, and strides of the grid if they are more. */
static wl_size grid_of(const collective *c, uint32_t words)
{
    const uint32_t groups = (words + 4 * GROUP - 1) / (4 * GROUP);
    return WL_1D((groups < c->groups ? groups : c->groups) * GROUP);
}

void collective_wait(collective *c, uint32_t rank, wl_event event)
{
    wl_wait_on(c->r, collective_gpu(c, rank), event);
}

wl_event collective_move(collective *c, collective_place to, collective_place from)
{
    const ls_gpu_address d_to = array_of(c, to), d_from = array_of(c, from);
    const uint32_t rank = c->via == COLLECTIVE_STORE ? from.rank : to.rank, gpu = collective_gpu(c, rank);
    if (from.count == 0)
        return 0;
    if (c->via == COLLECTIVE_COPY)
        return wl_copy_on(c->r, gpu, d_to + (uint64_t)to.at * 4, d_from + (uint64_t)from.at * 4,
                          (size_t)from.count * 4);
    return wl_launch_on(c->r, gpu, "collective_copy", grid_of(c, from.count), WL_1D(GROUP), WL_ARG(d_to),
                        WL_ARG(to.at), WL_ARG(d_from), WL_ARG(from.at), WL_ARG(from.count));
}

wl_event collective_add(collective *c, uint32_t rank, collective_place to, collective_place from,
                        collective_place with)
{
    const ls_gpu_address d_to = array_of(c, to), d_from = array_of(c, from), d_with = array_of(c, with);
    if (from.count == 0)
        return 0;
    return wl_launch_on(c->r, collective_gpu(c, rank), "collective_add", grid_of(c, from.count), WL_1D(GROUP),
                        WL_ARG(d_to), WL_ARG(to.at), WL_ARG(d_from), WL_ARG(from.at), WL_ARG(d_with),
                        WL_ARG(with.at), WL_ARG(from.count));
}

wl_event collective_add_send(collective *c, collective_place to, collective_place own)
{
    const ls_gpu_address d_to = array_of(c, to), d_own = array_of(c, own),
                         d_received = c->array[COLLECTIVE_RECEIVED][own.rank];
    if (to.count == 0)
        return 0;
    return wl_launch_on(c->r, collective_gpu(c, own.rank), "collective_add_send", grid_of(c, to.count),
                        WL_1D(GROUP), WL_ARG(d_to), WL_ARG(to.at), WL_ARG(d_own), WL_ARG(own.at),
                        WL_ARG(d_received), WL_ARG(own.at), WL_ARG(to.count));
}

/* --------------------------------------------------------------------------------------------------- rings */

/* Store: rank k adds its words to those that have come and sends part k - 1 - s to the next rank. */
static wl_event push_sum(collective *c, uint32_t k, uint32_t s)
{
    const uint32_t n = c->ranks, next = (k + 1) % n, p = (k + 2 * n - 1 - s) % n;
    const collective_place own = collective_part(c, k, COLLECTIVE_DATA, p),
                           came = collective_part(c, k, COLLECTIVE_RECEIVED, p),
                           to = collective_part(c, next, COLLECTIVE_RECEIVED, p);
    return s == 0 ? collective_move(c, to, own) : collective_add(c, k, to, own, came);
}

/* Load, copy: rank k adds part k - 2 - s of the rank before it to its own. */
static wl_event pull_sum(collective *c, uint32_t k, uint32_t s)
{
    const uint32_t n = c->ranks, before = (k + n - 1) % n, p = (k + 2 * n - 2 - s) % n;
    const collective_place own = collective_part(c, k, COLLECTIVE_DATA, p),
                           theirs = collective_part(c, before, COLLECTIVE_DATA, p),
                           came = collective_part(c, k, COLLECTIVE_RECEIVED, p);
    if (c->via == COLLECTIVE_LOAD)
        return collective_add(c, k, own, own, theirs);
    (void)collective_move(c, came, theirs);
    return collective_add(c, k, own, own, came);
}

/* In step s a rank waits for step s - 1 of the rank before it. */
static void ring_step(collective *c, uint32_t s, wl_event (*step)(collective *c, uint32_t k, uint32_t s))
{
    wl_event done[COLLECTIVE_RANKS_MAX];
    for (uint32_t k = 0; k < c->ranks && !wl_failed(c->r); k++) {
        collective_wait(c, k, c->last[(k + c->ranks - 1) % c->ranks]);
        done[k] = step(c, k, s);
    }
    for (uint32_t k = 0; k < c->ranks && !wl_failed(c->r); k++)
        if (done[k])
            c->last[k] = done[k];
}

void collective_ring_reduce(collective *c)
{
    for (uint32_t s = 0; s + 1 < c->ranks; s++)
        ring_step(c, s, c->via == COLLECTIVE_STORE ? push_sum : pull_sum);
}

/* Part k - s goes to the next rank. */
static wl_event push_on(collective *c, uint32_t k, uint32_t s)
{
    const uint32_t n = c->ranks, next = (k + 1) % n, p = (k + n - s) % n;
    return collective_move(c, collective_part(c, next, COLLECTIVE_DATA, p),
                           collective_part(c, k, COLLECTIVE_DATA, p));
}

static wl_event push_first_sum(collective *c, uint32_t k, uint32_t s)
{
    const uint32_t next = (k + 1) % c->ranks;
    (void)s;
    return collective_add_send(c, collective_part(c, next, COLLECTIVE_DATA, k),
                               collective_part(c, k, COLLECTIVE_DATA, k));
}

/* Part k - 1 - s comes from the rank before. */
static wl_event pull_on(collective *c, uint32_t k, uint32_t s)
{
    const uint32_t n = c->ranks, before = (k + n - 1) % n, p = (k + 2 * n - 1 - s) % n;
    return collective_move(c, collective_part(c, k, COLLECTIVE_DATA, p),
                           collective_part(c, before, COLLECTIVE_DATA, p));
}

void collective_ring_gather(collective *c, bool unsummed)
{
    for (uint32_t s = 0; s + 1 < c->ranks; s++)
        ring_step(c, s, c->via != COLLECTIVE_STORE ? pull_on : s == 0 && unsummed ? push_first_sum : push_on);
}

/* ------------------------------------------------------------------------------------------------- results */

void collective_report(collective *c, double factor)
{
    const wl_transfer transfer = {
        .bytes = (uint64_t)c->words * 4, .factor = factor, .ns = wl_measured_ns(c->r), .ranks = c->ranks
    };
    wl_report(c->r, &transfer);
}

uint32_t *collective_fetch(collective *c, uint32_t rank, collective_array array)
{
    const uint32_t count = collective_words(c, array);
    uint32_t *words = wl_zeros(c->r, count, sizeof *words);
    wl_read_on(c->r, collective_gpu(c, rank), words, c->array[array][rank], (size_t)count * 4);
    return wl_failed(c->r) ? NULL : words;
}

uint32_t *collective_sums(const collective *c)
{
    uint32_t *sums = wl_zeros(c->r, c->words, sizeof *sums);
    for (uint32_t k = 0; sums && k < c->ranks; k++)
        for (uint32_t i = 0; i < c->words; i++)
            sums[i] += c->input[(size_t)k * c->words + i];
    return sums;
}

bool collective_expect(collective *c, const char *name, const uint32_t *got, const uint32_t *want,
                       collective_place place)
{
    for (uint32_t i = place.at; got && i < place.at + place.count; i++)
        if (!wl_expect_u32(c->r, name, i, got[i], want[i]))
            return false;
    return !wl_failed(c->r);
}
