/* amd_look.c: a GPU for a debugger: its compute units, and the bytes that its caches and its memory have of an address
 * now; and for an emulator, which takes turns with the machine: memory and caches get each other's bytes. */
#include "model/amd/build.h"
#include "model/memory/place.h"

#include <string.h>

uint32_t amd_gpu_cu_count(const amd_gpu *g)
{
    return g->cu_count;
}

const ls_port *amd_gpu_cu(const amd_gpu *g, uint32_t index)
{
    return &g->cus[index];
}

/* How far a cache is from DRAM. */
enum { LOOK_MEMORY_CACHE, LOOK_L2, LOOK_ABOVE, LOOK_RANKS };

static unsigned rank_of(const ls_block *cache)
{
    const char *slot = ls_block_type_of(cache)->slot;
    if (strcmp(slot, LS_MEMORY_CACHE_SLOT) == 0)
        return LOOK_MEMORY_CACHE;
    return strcmp(slot, LS_L2_CACHE_SLOT) == 0 ? LOOK_L2 : LOOK_ABOVE;
}

static bool has_bit(const uint64_t mask[2], uint64_t byte)
{
    return (mask[byte / 64] >> byte % 64 & 1) != 0;
}

bool amd_gpu_look(const amd_gpu *g, uint64_t physical, void *to, uint64_t bytes)
{
    if (physical >> MEM_PLACE_SHIFT != 0 || amd_gpu_copy_out(g, to, physical, bytes, NULL) != LS_OK)
        return false;
    for (unsigned rank = 0; rank < LOOK_RANKS; rank++)
        for (uint32_t i = 0; i < g->cache_count; i++)
            if (rank_of(g->caches[i]) == rank)
                line_cache_overlay(g->caches[i], physical, bytes,
                                   rank == LOOK_ABOVE || (rank == LOOK_L2 && g->xcds > 0), to);
    return true;
}

bool amd_gpu_patch(amd_gpu *g, uint64_t physical, const void *from, uint64_t bytes)
{
    uint64_t line = physical & ~(uint64_t)(g->line_bytes - 1);
    bool own = physical >> MEM_PLACE_SHIFT == 0;
    if (own && amd_gpu_load(g, physical, from, bytes, NULL) != LS_OK)
        return false;
    for (uint32_t i = 0; i < g->cache_count; i++)
        line_cache_patch(g->caches[i], line, physical - line, from, bytes);
    return true;
}

static void keep(amd_gpu_copy *out, size_t room, size_t *count, const amd_gpu_copy *copy)
{
    if (*count < room)
        out[*count] = *copy;
    ++*count;
}

size_t amd_gpu_copies(const amd_gpu *g, uint64_t physical, uint32_t bytes, amd_gpu_copy *out, size_t room)
{
    uint64_t line = physical & ~(uint64_t)(g->line_bytes - 1), first = physical - line, valid[2], dirty[2];
    uint8_t data[LS_LINE_BYTES_MAX];
    size_t count = 0;
    for (unsigned rank = LOOK_RANKS; rank-- > 0;)
        for (uint32_t i = 0; i < g->cache_count; i++) {
            if (rank_of(g->caches[i]) != rank || !line_cache_look(g->caches[i], line, data, valid, dirty))
                continue;
            amd_gpu_copy copy = { .name = ls_block_name(g->caches[i]) };
            for (uint64_t k = 0; k < bytes && k < 8; k++) {
                bool has = has_bit(valid, first + k);
                copy.has |= (uint8_t)(has << k);
                copy.dirty |= (uint8_t)(has_bit(dirty, first + k) << k);
                copy.value |= has ? (uint64_t)data[first + k] << 8 * k : 0;
            }
            if (copy.has != 0)
                keep(out, room, &count, &copy);
        }
    if (physical >> MEM_PLACE_SHIFT == 0) {
        uint64_t channel = mem_map_place(&g->map, physical).channel;
        amd_gpu_copy copy = { .name = ls_block_name(g->memories[channel]),
                              .has = (uint8_t)((1u << bytes) - 1) };
        if (amd_gpu_copy_out(g, &copy.value, physical, bytes < 8 ? bytes : 8, NULL) == LS_OK)
            keep(out, room, &count, &copy);
    }
    return count;
}

/* ------------------------------------------------------------------------------------------ for an emulator */

static void put_line(void *self, uint64_t line, const uint8_t *data, const uint64_t dirty[2])
{
    amd_gpu *g = self;
    for (uint64_t from = 0, to; line >> MEM_PLACE_SHIFT == 0 && from < g->line_bytes; from = to) {
        bool is_dirty = has_bit(dirty, from);
        for (to = from; to < g->line_bytes && has_bit(dirty, to) == is_dirty;)
            to++;
        if (is_dirty) /* memory that was freed has lost its page: nobody reads it */
            (void)amd_gpu_load(g, line + from, data + from, to - from, NULL);
    }
}

static bool get_line(void *self, uint64_t line, uint8_t *data)
{
    const amd_gpu *g = self;
    return line >> MEM_PLACE_SHIFT == 0 && amd_gpu_copy_out(g, data, line, g->line_bytes, NULL) == LS_OK;
}

bool amd_gpu_publish(amd_gpu *g)
{
    for (unsigned at = 0; at < LOOK_RANKS; at++) /* the newest bytes last */
        for (uint32_t i = 0; i < g->cache_count; i++)
            if (rank_of(g->caches[i]) == at && !line_cache_publish(g->caches[i], put_line, g))
                return false;
    return true;
}

bool amd_gpu_refresh(amd_gpu *g)
{
    for (uint32_t i = 0; i < g->cache_count; i++)
        if (!line_cache_refresh(g->caches[i], get_line, g))
            return false;
    return true;
}
