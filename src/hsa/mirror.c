/* mirror.c: bytes that the program and kernels share, but that each side has in memory of its own: locked memory, and in
 * simulated time memory of the host's pools. A third copy, the shadow, has the bytes of the last moment at which both were
 * equal. Whatever differs from it was changed since, by the side that differs. Bytes are compared in blocks, so two sides
 * may write to different blocks at the same time. */
#include "hsa/rt.h"

#include "runtime/timing/timing.h"

#include <string.h>

#define BLOCK 64u
#define COARSE 4096u
#define PIECE (UINT64_C(1) << 20)
#define SMALL_BYTES 65536u /* ranges up to this size are always looked at after a launch */

static void fail(const ls_error *err)
{
    rt_die(err);
}

/* --------------------------------------------------------------------------------------------------- one way */

static bool is_between; /* the simulation stands between two windows; under the lock */

static void patch(uint64_t to, const uint8_t *from, uint64_t bytes)
{
    ls_error err;
    ls_status status = LS_OK;
    if (!rt.is_timed)
        memcpy((void *)(uintptr_t)to, from, (size_t)bytes);
    else if (is_between)
        status = timing_patch_between(client.system, to, from, bytes, &err);
    else
        status = ls_gpu_patch(rt.context, to, from, (size_t)bytes, &err);
    if (status != LS_OK)
        fail(&err);
}

static void look(uint8_t *to, uint64_t from, uint64_t bytes)
{
    ls_error err;
    ls_status status = LS_OK;
    if (!rt.is_timed)
        memcpy(to, (const void *)(uintptr_t)from, (size_t)bytes);
    else if (is_between)
        status = timing_look_between(client.system, to, from, bytes, &err);
    else
        status = ls_gpu_look(rt.context, to, from, (size_t)bytes, &err);
    if (status != LS_OK)
        fail(&err);
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Blocks of [at, at + bytes) that the program changed. */
static void put_blocks(const rt_range *r, uint64_t at, uint64_t bytes)
{
    for (uint64_t end = at + bytes, piece; at < end; at += piece) {
        piece = least(BLOCK - (r->address + at) % BLOCK, end - at);
        if (memcmp(r->host + at, r->shadow + at, (size_t)piece) == 0)
            continue;
        memcpy(r->shadow + at, r->host + at, (size_t)piece);
        patch(r->address + at, r->shadow + at, piece);
    }
}

static void put(const rt_range *r)
{
    for (uint64_t at = 0, piece; at < r->bytes; at += piece) {
        piece = least(COARSE, r->bytes - at);
        if (memcmp(r->host + at, r->shadow + at, (size_t)piece) != 0)
            put_blocks(r, at, piece);
    }
}

/* Locked memory that no kernel gets is memory of copies, which may be large. */
void rt_mirror_in(void)
{
    for (size_t i = 0; i < rt.ranges.count; i++) {
        const rt_range *r = &rt.ranges.at[i];
        if (r->shadow && r->kind == RT_HOST)
            put(r);
    }
}

/* ------------------------------------------------------------------------------------------------- the other */

/* Blocks that a kernel changed. */
static void get_blocks(const rt_range *r, uint64_t at, const uint8_t *now, uint64_t bytes)
{
    for (uint64_t k = 0, block; k < bytes; k += block) {
        block = least(BLOCK - (r->address + at + k) % BLOCK, bytes - k);
        if (memcmp(now + k, r->shadow + at + k, (size_t)block) == 0)
            continue;
        memcpy(r->shadow + at + k, now + k, (size_t)block);
        memcpy(r->host + at + k, now + k, (size_t)block);
    }
}

/* Large pieces: a look at a piece asks every cache once. */
static void get(const rt_range *r)
{
    static uint8_t now[PIECE]; /* under the lock */
    for (uint64_t at = 0, piece; at < r->bytes; at += piece) {
        piece = least(PIECE, r->bytes - at);
        look(now, r->address + at, piece);
        if (memcmp(now, r->shadow + at, (size_t)piece) != 0)
            get_blocks(r, at, now, piece);
    }
}

/* Every reached range of the kernels that run, except the one that has the address; or only that one. */
static void each_reached(void (*move)(const rt_range *range), uint64_t last, bool only_last)
{
    for (const rt_job *job = rt.running; job; job = job->next)
        for (size_t i = 0; i < job->reached.count; i++) {
            const rt_range *r = rt_range_at(job->reached.at[i]);
            if (r && r->shadow && (last - r->address < r->bytes) == only_last)
                move(r);
        }
}

/* The signal comes last: a thread of the program looks at it, and then at the rest. */
void rt_mirror_between(bool out, uint64_t signal)
{
    is_between = true;
    each_reached(out ? get : put, signal, false);
    each_reached(out ? get : put, signal, true);
    is_between = false;
}

void rt_mirror_out(const rt_job *job)
{
    for (size_t i = 0; i < job->reached.count; i++) {
        const rt_range *r = rt_range_at(job->reached.at[i]);
        if (r && r->shadow)
            get(r);
    }
}

/* --------------------------------------------------------------------------------------------------- reaching */

static bool has_reached(const rt_job *job, uint64_t address)
{
    for (size_t i = 0; i < job->reached.count; i++)
        if (job->reached.at[i] == address)
            return true;
    return false;
}

/* Every word that may be a pointer to a range with two copies. */
static bool scan(const uint8_t *words, uint64_t bytes, rt_job *job)
{
    for (uint64_t at = 0; at + sizeof(uint64_t) <= bytes; at += sizeof(uint32_t)) {
        uint64_t value;
        memcpy(&value, words + at, sizeof value);
        const rt_range *r = value >= rt.ranges.at[0].address ? rt_range_at(value) : NULL;
        if (!r || !r->shadow || has_reached(job, r->address))
            continue;
        if (!vec_push(&job->reached, r->address))
            return false;
        if (r->kind == RT_LOCKED)
            put(r);
    }
    return true;
}

/* Ranges reached through pointers in reached ranges count, too. */
bool rt_mirror_reach(const void *arguments, size_t bytes, rt_job *job)
{
    bool any = false, good = true;
    for (size_t i = 0; i < rt.ranges.count; i++) {
        const rt_range *r = &rt.ranges.at[i];
        any |= r->shadow != NULL;
        if (r->shadow && r->kind == RT_HOST && r->bytes <= SMALL_BYTES)
            good &= vec_push(&job->reached, r->address);
    }
    if (!any)
        return good;
    good &= scan(arguments, bytes, job);
    for (size_t i = 0; i < job->reached.count && good; i++) {
        const rt_range *r = rt_range_at(job->reached.at[i]);
        good &= scan(r->host, r->bytes, job);
    }
    return good;
}
