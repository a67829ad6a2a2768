/* page_check.c: the checker (migrate.check). It follows grants, forgotten translations and moved bytes, and knows nothing of
 * the directory's own state. Two things must hold for every unit of memory:
 *
 *   - if a GPU may write through its translation, the translations of all GPUs lead to the same place. This is "one
 *     exclusive owner, or any number of readers, never both", with remote translations too
 *   - a translation leads to a place that has the newest bytes */
#include "model/migrate/directory.h"

#include <string.h>

static bool is_valid(const dir_seen *s, uint32_t place)
{
    return place == MEM_PLACE_HOST ? s->host_valid : (s->valid & dir_bit(place)) != 0;
}

static void set_valid(dir_seen *s, uint32_t place)
{
    if (place == MEM_PLACE_HOST)
        s->host_valid = true;
    else
        s->valid |= dir_bit(place);
}

void dir_check_reset(directory *d, uint32_t unit, uint32_t units, uint32_t place)
{
    for (uint32_t i = 0; i < units && d->seen != NULL; i++) {
        d->seen[unit + i] = (dir_seen){ 0 };
        set_valid(&d->seen[unit + i], place);
    }
}

/* The first GPU of a mask whose translation leads elsewhere. */
static uint32_t find_other(const dir_seen *s, uint64_t mask, uint32_t place)
{
    for (; mask != 0; mask &= mask - 1)
        if (s->place[__builtin_ctzll(mask)] != place)
            return (uint32_t)__builtin_ctzll(mask);
    return DIR_NOWHERE;
}

static void check_unit(directory *d, uint64_t address, dir_seen *s, uint32_t gpu, uint32_t place,
                       bool is_writable)
{
    unsigned long long at = address;
    uint64_t others = (is_writable ? s->mapped : s->writable) & ~dir_bit(gpu);
    uint32_t other = find_other(s, others, place);
    if (other != DIR_NOWHERE)
        dir_fail(d, "page at 0x%llx: GPU %u %s it at place %u, while GPU %u %s it at place %u", at, gpu,
                 is_writable ? "writes" : "reads", place, other,
                 (s->writable & dir_bit(other)) != 0 ? "writes" : "reads", s->place[other]);
    else if (!is_valid(s, place))
        dir_fail(d, "page at 0x%llx: GPU %u is sent to place %u, which has not its newest bytes", at, gpu,
                 place);
    else if ((s->mapped & dir_bit(gpu)) != 0 && s->place[gpu] != place &&
             (is_writable || (s->writable & dir_bit(gpu)) != 0))
        dir_fail(d, "page at 0x%llx: GPU %u is sent to place %u, but has a translation to place %u", at, gpu,
                 place, s->place[gpu]);
}

void dir_check_grant(directory *d, uint32_t unit, uint32_t gpu, uint32_t place, bool is_writable)
{
    uint32_t units = 1u << (d->sizes[unit] - d->unit_log2);
    for (uint32_t i = 0; i < units && d->seen != NULL; i++) {
        dir_seen *s = &d->seen[unit + i];
        check_unit(d, d->pages[unit].address + ((uint64_t)i << d->unit_log2), s, gpu, place, is_writable);
        s->mapped |= dir_bit(gpu);
        s->place[gpu] = (uint8_t)place;
        if (!is_writable)
            continue;
        s->writable |= dir_bit(gpu);
        s->valid = 0;
        s->host_valid = false;
        set_valid(s, place);
    }
}

void dir_check_forgot(directory *d, uint32_t unit, uint32_t size_log2, uint32_t gpu)
{
    uint32_t units = 1u << (size_log2 - d->unit_log2);
    for (uint32_t i = 0; i < units && d->seen != NULL; i++) {
        d->seen[unit + i].mapped &= ~dir_bit(gpu);
        d->seen[unit + i].writable &= ~dir_bit(gpu);
    }
}

/* Bytes were read at `from` after all that might write them had forgotten their translations. */
void dir_check_moved(directory *d, uint32_t unit, uint32_t size_log2, uint32_t from, uint32_t to)
{
    uint32_t units = 1u << (size_log2 - d->unit_log2);
    for (uint32_t i = 0; i < units && d->seen != NULL; i++) {
        dir_seen *s = &d->seen[unit + i];
        uint64_t writers = s->writable & ~dir_bit(from);
        if (writers != 0)
            dir_fail(d, "page at 0x%llx: it moved while GPU %u could write it",
                     (unsigned long long)d->pages[unit].address, (uint32_t)__builtin_ctzll(writers));
        if (is_valid(s, from))
            set_valid(s, to);
    }
}
