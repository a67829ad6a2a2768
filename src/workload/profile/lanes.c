/* lanes.c: see lanes.h. The same sectors as the core's coalescer, by whole lines. */
#include "workload/profile/lanes.h"

#include <string.h>

#define LOCAL_BASE UINT64_C(0x40000000)

/* Lines are found by a hash of 64 places, as far as these go: scattered lanes have a line each. */
#define PLACES 64u
#define PLACES_USED 48u

static inline lanes_line *line_at(lanes *out, uint64_t line)
{
    if (out->count > 0 && out->at[out->count - 1].line == line)
        return &out->at[out->count - 1];
    uint32_t place = (uint32_t)((line * UINT64_C(0x9e3779b97f4a7c15)) >> 58);
    for (; out->place[place] != 0; place = (place + 1) % PLACES)
        if (out->at[out->place[place] - 1].line == line)
            return &out->at[out->place[place] - 1];
    for (uint32_t i = out->count; i > PLACES_USED; i--)
        if (out->at[i - 1].line == line)
            return &out->at[i - 1];
    if (out->count == LANES_LINES_MAX)
        return &out->at[LANES_LINES_MAX - 1];
    lanes_line *added = &out->at[out->count++];
    if (out->count <= PLACES_USED)
        out->place[place] = (uint8_t)out->count;
    *added = (lanes_line){ .line = line };
    return added;
}

static inline void touch(lanes *out, uint64_t address, uint32_t size)
{
    uint64_t last = address + size - 1;
    for (uint64_t sector = address >> 5; sector <= last >> 5; sector++) {
        lanes_line *line = line_at(out, sector >> 2);
        uint8_t bit = (uint8_t)(1u << (sector & 3));
        line->requests = (uint16_t)(line->requests + ((line->sectors & bit) == 0));
        line->sectors |= bit;
    }
}

/* Neighbouring lanes with neighbouring words: all from the two ends. */
static void dense(lanes *out, uint64_t first, uint64_t end)
{
    for (uint64_t line = first >> 7; line <= (end - 1) >> 7; line++) {
        uint64_t from = line << 7 > first ? line << 7 : first;
        uint64_t to = (line + 1) << 7 < end ? (line + 1) << 7 : end;
        uint32_t low = (uint32_t)(from >> 5 & 3), high = (uint32_t)((to - 1) >> 5 & 3);
        uint8_t sectors = (uint8_t)((2u << high) - (1u << low)), full = sectors;
        if ((from & 31) != 0)
            full &= (uint8_t) ~(1u << low);
        if ((to & 31) != 0)
            full &= (uint8_t) ~(1u << high);
        if (out->count < LANES_LINES_MAX)
            out->at[out->count++] = (lanes_line){
                .line = line, .sectors = sectors, .full = full, .requests = (uint16_t)(high - low + 1)
            };
    }
}

/* Lanes with an address in the same word need a transaction each. */
static void atomics(lanes *out, const uint64_t *addresses, uint32_t mask)
{
    for (uint32_t set = mask; set != 0; set &= set - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(set), before = 0, most = 0;
        uint64_t sector = addresses[lane] >> 5;
        /* Transactions of a sector: the most lanes on one of its words. */
        for (uint32_t others = mask & ((1u << lane) - 1); others != 0; others &= others - 1) {
            uint64_t other = addresses[__builtin_ctz(others)];
            before += other == addresses[lane];
            most |= other >> 5 == sector;
        }
        lanes_line *line = line_at(out, sector >> 2);
        uint8_t bit = (uint8_t)(1u << (sector & 3));
        line->requests = (uint16_t)(line->requests + (before > 0 || !most));
        line->sectors |= bit;
    }
}

static void local_words(lanes *out, uint64_t address, uint32_t lane, uint32_t size, const lanes_local *l)
{
    uint64_t padded = l->block_threads == 0 ? 32 : l->block_threads;
    uint64_t thread = l->first_thread + lane;
    uint64_t base = 4 * (padded * (l->core + (uint64_t)l->core_count * (thread / padded)) + thread % padded);
    uint64_t all = padded * l->blocks_per_core * l->core_count;
    for (uint32_t done = 0; done < size; done += 4)
        touch(out, LOCAL_BASE + (address + done) / 4 * all * 4 + base, size < 4 ? size : 4);
}

void lanes_of(lanes *out, const ls_cta *cta, const ls_dyn *dyn, const ls_inst *inst, uint32_t width,
              ls_mem_space space, const lanes_local *local)
{
    out->count = out->sectors = 0;
    bool atomic = inst->mem_op == LS_MEM_ATOMIC || inst->mem_op == LS_MEM_REDUCTION;
    const uint64_t *words = &cta->addrs[dyn->addr >> 2];
    if (!atomic && space != LS_SPACE_LOCAL && (dyn->addr & 3) == LS_ADDR_STRIDE && words[1] == width) {
        uint64_t first = words[0] + ls_cta_move(cta, dyn);
        /* Most masks are full; counting takes a call. */
        uint64_t active = dyn->mask == UINT32_MAX ? 32 : (uint64_t)__builtin_popcount(dyn->mask);
        dense(out, first, first + active * width);
    } else {
        uint64_t addresses[32];
        memset(out->place, 0, sizeof out->place);
        ls_cta_addresses(cta, dyn, addresses);
        if (atomic)
            atomics(out, addresses, dyn->mask);
        for (uint32_t set = atomic ? 0 : dyn->mask; set != 0; set &= set - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(set);
            if (space == LS_SPACE_LOCAL)
                local_words(out, addresses[lane], lane, width, local);
            else
                touch(out, addresses[lane], width);
        }
        /* Scattered words fill sectors only where all lanes stand together: taken from the count of lanes. */
        bool full = (uint64_t)__builtin_popcount(dyn->mask) * width >= (uint64_t)out->count * 128;
        for (uint32_t i = 0; i < out->count && !atomic && full; i++)
            out->at[i].full = out->at[i].sectors;
    }
    for (uint32_t i = 0; i < out->count; i++)
        out->sectors += out->at[i].requests;
}
