/* coalesce.c: the addresses of a warp's lanes become 32-byte sectors; shared-memory addresses become bank
 * conflicts. */
#include "model/core/core.h"

#include <string.h>

/* Where local memory lies in the simulated address space: below everything that traces name (their addresses
 * are those of a 47-bit virtual space). */
#define LOCAL_BASE UINT64_C(0x40000000)

#define SECTOR_MASK (~(uint64_t)(SECTOR_BYTES - 1))

/* Bytes [from, from + count) of the sector as a mask, cut at its end. */
static inline uint32_t bytes_in_sector(uint64_t address, uint32_t count)
{
    uint32_t first = (uint32_t)(address & (SECTOR_BYTES - 1));
    uint32_t ones = count >= 32 ? UINT32_MAX : (1u << count) - 1;
    return ones << first;
}

/* Keeps the sectors sorted by address; lanes usually come in order, so the search starts at the end. */
static void add_sector(core *c, uint64_t sector, uint32_t bytes)
{
    uint32_t i = c->ldst.sector_count;
    while (i > 0 && c->ldst.sectors[i - 1] > sector)
        i--;
    if (i > 0 && c->ldst.sectors[i - 1] == sector) {
        c->ldst.sector_bytes[i - 1] |= bytes;
        return;
    }
    for (uint32_t k = c->ldst.sector_count; k > i; k--) {
        c->ldst.sectors[k] = c->ldst.sectors[k - 1];
        c->ldst.sector_bytes[k] = c->ldst.sector_bytes[k - 1];
    }
    c->ldst.sectors[i] = sector;
    c->ldst.sector_bytes[i] = bytes;
    c->ldst.sector_count++;
}

static void add_access(core *c, uint64_t address, uint32_t size)
{
    uint64_t first = address & SECTOR_MASK, last = (address + size - 1) & SECTOR_MASK;
    add_sector(c, first, bytes_in_sector(address, size));
    if (last != first)
        add_sector(c, last, bytes_in_sector(last, (uint32_t)(address + size - last)));
}

#define RUN 4u

/* Ascending; returns where they are then: `keys` or `spare`. Short runs are sorted in place, then merged. */
static const uint64_t *sorted(uint64_t *keys, uint64_t *spare, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        uint64_t key = keys[i];
        uint32_t k = i;
        for (; k % RUN != 0 && keys[k - 1] > key; k--)
            keys[k] = keys[k - 1];
        keys[k] = key;
    }
    uint64_t *from = keys, *to = spare;
    for (uint32_t width = RUN; width < count; width *= 2) {
        for (uint32_t low = 0; low < count; low += 2 * width) {
            const uint64_t *a = from + low, *b = from + (low + width < count ? low + width : count);
            const uint64_t *const middle = b, *const end =
                                                  from + (low + 2 * width < count ? low + 2 * width : count);
            uint64_t *out = to + low;
            while (a != middle && b != end) {
                bool first = *a <= *b;
                *out++ = first ? *a : *b;
                a += first;
                b += !first;
            }
            while (a != middle)
                *out++ = *a++;
            while (b != end)
                *out++ = *b++;
        }
        uint64_t *done = to;
        to = from;
        from = done;
    }
    return from;
}

/* Lanes with an address each, in any order: a key for each sector that a lane touches, with the lane in the
 * bits that sectors leave. */
static void add_scattered(core *c, const uint64_t addresses[32], uint32_t mask, uint32_t size)
{
    uint64_t keys[64], spare[64];
    uint32_t count = 0;
    for (uint32_t set = mask; set != 0; set &= set - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(set);
        uint64_t first = addresses[lane] & SECTOR_MASK, last = (addresses[lane] + size - 1) & SECTOR_MASK;
        keys[count++] = first | lane;
        if (last != first)
            keys[count++] = last | lane;
    }
    const uint64_t *key = sorted(keys, spare, count);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t sector = key[i] & SECTOR_MASK, address = addresses[key[i] & ~SECTOR_MASK];
        uint32_t bytes = sector == (address & SECTOR_MASK)
                             ? bytes_in_sector(address, size)
                             : bytes_in_sector(sector, (uint32_t)(address + size - sector));
        if (c->ldst.sector_count == 0 || c->ldst.sectors[c->ldst.sector_count - 1] != sector) {
            c->ldst.sectors[c->ldst.sector_count] = sector;
            c->ldst.sector_bytes[c->ldst.sector_count++] = 0;
        }
        c->ldst.sector_bytes[c->ldst.sector_count - 1] |= bytes;
    }
}

/* Lanes that touch the same bytes need a transaction each. */
static void add_atomic(core *c, uint64_t address, uint32_t size)
{
    uint64_t sector = address & SECTOR_MASK;
    uint32_t bytes = bytes_in_sector(address, size);
    uint32_t i = c->ldst.sector_count;
    while (i > 0 && c->ldst.sectors[i - 1] > sector)
        i--;
    uint32_t first = i;
    while (first > 0 && c->ldst.sectors[first - 1] == sector)
        first--;
    for (uint32_t k = first; k < i; k++)
        if ((c->ldst.sector_bytes[k] & bytes) == 0) {
            c->ldst.sector_bytes[k] |= bytes;
            return;
        }
    for (uint32_t k = c->ldst.sector_count; k > i; k--) {
        c->ldst.sectors[k] = c->ldst.sectors[k - 1];
        c->ldst.sector_bytes[k] = c->ldst.sector_bytes[k - 1];
    }
    c->ldst.sectors[i] = sector;
    c->ldst.sector_bytes[i] = bytes;
    c->ldst.sector_count++;
}

/* Local memory: word w of all threads of the GPU lies together, so that the lanes of a warp are
 * neighbours. */
static void add_local(core *c, const flight *f, uint32_t lane, uint64_t address, uint32_t size)
{
    const cta_state *cta = &c->blocks.at[c->front.warps[f->warp].cta];
    uint64_t padded = cta->warp_count == 0 ? 32 : (uint64_t)cta->warp_count * 32;
    uint64_t thread = (uint64_t)f->warp * 32 + lane;
    uint64_t base =
        4 * (padded * (c->id + (uint64_t)c->ldst.core_count * (thread / padded)) + thread % padded);
    uint64_t all = padded * cta->launch.ctas_per_core * c->ldst.core_count;
    for (uint32_t done = 0; done < size; done += 4) {
        uint64_t word = (address + done) / 4;
        uint64_t linear = LOCAL_BASE + word * all * 4 + base + (size < 4 ? address % 4 : 0);
        add_access(c, linear, size < 4 ? size : 4);
    }
}

/* The commonest access: neighbouring lanes read neighbouring words. Its sectors follow from the two ends. */
static bool coalesce_dense(core *c, const flight *f, const ls_cta *cta, uint32_t size)
{
    if ((f->dyn->addr & 3) != LS_ADDR_STRIDE || f->space == LS_SPACE_LOCAL)
        return false;
    const uint64_t *words = &cta->addrs[f->dyn->addr >> 2];
    if (words[1] != size)
        return false;
    uint64_t first = words[0] + ls_cta_move(cta, f->dyn),
             end = first + (uint64_t)__builtin_popcount(f->mask) * size;
    for (uint64_t sector = first & SECTOR_MASK; sector < end; sector += SECTOR_BYTES) {
        uint64_t from = sector < first ? first : sector;
        uint64_t to = sector + SECTOR_BYTES < end ? sector + SECTOR_BYTES : end;
        c->ldst.sectors[c->ldst.sector_count] = sector;
        c->ldst.sector_bytes[c->ldst.sector_count++] = bytes_in_sector(from, (uint32_t)(to - from));
    }
    return true;
}

/* ----------------------------------------------------------------------------------------------- patterns */

/* Programs repeat the patterns of their addresses: loops, and the warps of a block. The cost of a pattern
 * follows from the distances of its lanes from the first one and from the first one's position in a period. */
typedef struct pattern {
    uint64_t
        key; /* lanes << 32 | width << 16 | place in the period; 0: none, a warp without lanes has no pattern */
    uint64_t distance[32];
} pattern;

typedef struct shared_pattern {
    pattern p;
    uint32_t cycles;
} shared_pattern;

typedef struct global_pattern {
    pattern p;
    uint32_t count;
    uint32_t sector[32]; /* from the first lane's sector on, modulo 2^32 */
    uint32_t bytes[32];
} global_pattern;

struct coalesce_memory {
    shared_pattern shared[64];
    global_pattern global[16];
};

bool coalesce_init(core *c)
{
    c->ldst.patterns = ls_domain_alloc(c->domain, sizeof *c->ldst.patterns);
    return c->ldst.patterns != NULL;
}

static uint64_t differences(const uint64_t at[32], const uint64_t distance[32])
{
    lane_pair first = { at[0], at[0] }, differ = { 0, 0 };
    for (uint32_t i = 0; i < 32; i += 2) {
        lane_pair a, b;
        memcpy(&a, &at[i], sizeof a);
        memcpy(&b, &distance[i], sizeof b);
        differ |= (a - first) ^ b;
    }
    return differ[0] | differ[1];
}

static inline bool pattern_is(const pattern *p, uint64_t key, const uint64_t *at, uint32_t lanes)
{
    if (p->key != key)
        return false;
    if (lanes == 32)
        return differences(at, p->distance) == 0;
    uint64_t differ = 0;
    for (uint32_t i = 0; i < lanes; i++)
        differ |= (at[i] - at[0]) ^ p->distance[i];
    return differ == 0;
}

static void pattern_set(pattern *p, uint64_t key, const uint64_t *at, uint32_t lanes)
{
    p->key = key;
    for (uint32_t i = 0; i < lanes; i++)
        p->distance[i] = at[i] - at[0];
}

/* Where to look for it: patterns of one program differ in their first lane's place, or in their last one or
 * middle. */
static inline uint32_t pattern_hash(uint64_t key, const uint64_t *at, uint32_t lanes)
{
    uint64_t h = key + (at[lanes - 1] - at[0]) * 5 + (at[lanes / 2] - at[0]) * 3;
    return (uint32_t)((h * UINT64_C(0x9e3779b97f4a7c15)) >> 58);
}

/* The sectors of a list of addresses, if its pattern has been seen. */
static inline bool coalesce_again(core *c, const uint64_t *at, uint32_t lanes, uint64_t first, uint64_t key,
                                  global_pattern *g)
{
    if (!pattern_is(&g->p, key, at, lanes))
        return false;
    uint64_t base = first & SECTOR_MASK;
    for (uint32_t i = 0; i < g->count; i++) {
        c->ldst.sectors[i] = base + (uint64_t)(int64_t)(int32_t)g->sector[i];
        c->ldst.sector_bytes[i] = g->bytes[i];
    }
    c->ldst.sector_count = g->count;
    return true;
}

static void coalesce_remember(const core *c, const uint64_t *at, uint32_t lanes, uint64_t first, uint64_t key,
                              global_pattern *g)
{
    uint64_t base = first & SECTOR_MASK;
    g->p.key = 0;
    if (c->ldst.sector_count > LS_COUNT_OF(g->sector))
        return;
    for (uint32_t i = 0; i < c->ldst.sector_count; i++) {
        uint64_t from = c->ldst.sectors[i] - base;
        if ((from + (UINT64_C(1) << 31)) >> 32 != 0)
            return;
        g->sector[i] = (uint32_t)from;
        g->bytes[i] = c->ldst.sector_bytes[i];
    }
    g->count = c->ldst.sector_count;
    pattern_set(&g->p, key, at, lanes);
}

/* ---------------------------------------------------------------------------------------- global accesses */

/* An operation on a semaphore: one sector, with its operand instead of its bytes. It must reach L2. */
static __attribute__((noinline)) void coalesce_semaphore(core *c, const flight *f, const ls_cta *cta)
{
    uint64_t addresses[32] = { 0 }, operand = 0;
    uint32_t lane = (uint32_t)__builtin_ctz(f->mask);
    bool known = ls_cta_operand(ls_cta_record(cta, f->dyn), f->mask, lane, &operand) && operand <= UINT32_MAX;
    if (OPTION_ON(c->analytic) || c->spec->perfect_memory)
        ls_domain_fail(
            c->domain,
            "blocks that wait for semaphores in memory need a memory that is simulated: core.memory "
            "must be cycle (--fidelity basic or detailed), core.perfect_memory false");
    else if (!known || (f->mask & (f->mask - 1)) != 0 || (f->inst->flags & LS_INST_BYPASS_L1) == 0)
        ls_domain_fail(c->domain, "an operation on a semaphore is not one of a single lane and of GPU scope");
    ls_cta_addresses(cta, f->dyn, addresses);
    c->ldst.sectors[0] = addresses[lane] & ~(uint64_t)(SECTOR_BYTES - 1);
    c->ldst.sector_bytes[0] = (uint32_t)operand;
    c->ldst.sector_count = 1;
}

void coalesce(core *c, const flight *f)
{
    uint64_t addresses[32];
    const cta_state *cta = &c->blocks.at[c->front.warps[f->warp].cta];
    uint32_t size = inst_width(c, f->inst);
    bool atomic = f->inst->mem_op == LS_MEM_ATOMIC || f->inst->mem_op == LS_MEM_REDUCTION;
    c->ldst.sector_count = 0;
    if (LS_UNLIKELY((f->dyn->addr & 3) == LS_ADDR_RECORD && f->mask != 0)) {
        coalesce_semaphore(c, f, cta->launch.cta);
        return;
    }
    if (f->mask == 0 || (!atomic && coalesce_dense(c, f, cta->launch.cta, size)))
        return;
    const uint64_t *list = &cta->launch.cta->addrs[f->dyn->addr >> 2];
    uint64_t first = list[0] + ls_cta_move(cta->launch.cta, f->dyn);
    uint32_t lanes = lane_count(f->mask);
    global_pattern *seen = NULL;
    uint64_t key = 0;
    if (!atomic && f->space != LS_SPACE_LOCAL && (f->dyn->addr & 3) != LS_ADDR_STRIDE) {
        key = (uint64_t)f->mask << 32 | size << 16 | (first & (SECTOR_BYTES - 1));
        seen =
            &c->ldst.patterns->global[pattern_hash(key, list, lanes) % LS_COUNT_OF(c->ldst.patterns->global)];
        if (coalesce_again(c, list, lanes, first, key, seen))
            return;
    }
    ls_cta_addresses(cta->launch.cta, f->dyn, addresses);
    if (f->space != LS_SPACE_LOCAL && !atomic)
        add_scattered(c, addresses, f->mask, size);
    for (uint32_t set = f->space == LS_SPACE_LOCAL || atomic ? f->mask : 0; set != 0; set &= set - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(set);
        if (f->space == LS_SPACE_LOCAL)
            add_local(c, f, lane, addresses[lane], size);
        else
            add_atomic(c, addresses[lane], size);
    }
    if (seen != NULL)
        coalesce_remember(c, list, lanes, first, key, seen);
}

/* ------------------------------------------------------------------------------------------ shared memory */

/* The largest number of different units of `unit` bytes in one of the places; units are assigned to the places
 * in turn. */
static uint32_t most_in_one(const uint64_t *addresses, uint32_t lanes, uint32_t unit, uint32_t per_lane,
                            uint32_t places)
{
    uint64_t first[64], more[32 * 4], before = UINT64_MAX;
    uint8_t count[64] = { 0 };
    uint32_t more_count = 0, worst = 0;
    for (; lanes != 0; lanes &= lanes - 1) {
        uint64_t begin = addresses[__builtin_ctz(lanes)] / unit;
        if (begin == before)
            continue;
        before = begin;
        for (uint64_t at = begin; at < begin + per_lane; at++) {
            uint32_t place = (uint32_t)(at % places);
            if (count[place] == 0) {
                first[place] = at;
            } else {
                bool again = first[place] == at;
                for (uint32_t k = more_count; k-- > 0 && !again;)
                    again = more[k] == at;
                if (again)
                    continue;
                more[more_count++] = at;
            }
            count[place]++;
            worst = count[place] > worst ? count[place] : worst;
        }
    }
    return worst;
}

/* Wide accesses are served in halves or quarters of the warp (8-byte: 16 lanes at a time, 16-byte: 8 lanes),
 * each a pass of its own, unless the platform selects Accel-Sim's simpler rule. */
static uint32_t count_conflicts(const uint64_t addresses[32], uint32_t mask, uint32_t words, uint32_t banks)
{
    /* If aligned, a lane's words conflict all together or not at all: one check for their banks. */
    uint64_t bits = 0;
    for (uint32_t set = mask; set != 0; set &= set - 1)
        bits |= addresses[__builtin_ctz(set)];
    bool together = (words & (words - 1)) == 0 && bits % (4 * words) == 0 && banks % words == 0;
    uint32_t unit = together ? 4 * words : 4, per_lane = together ? 1 : words;
    uint32_t places = together ? banks / words : banks, lanes = 32 / words, cycles = 0;
    for (uint32_t first = 0; first < 32; first += lanes) {
        uint32_t part = lanes == 32 ? mask : mask & (((1u << lanes) - 1) << first);
        cycles += most_in_one(addresses, part, unit, per_lane, places);
    }
    return cycles == 0 ? 1 : cycles;
}

/* Words of a lane that conflicts are counted for. */
static inline uint32_t conflict_words(const core *c, const ls_inst *inst)
{
    uint32_t width = inst_width(c, inst);
    uint32_t words = c->spec->shared_first_word || width < 4 ? 1 : width / 4;
    return words > 4 ? 4 : words;
}

uint32_t shared_conflicts_of(const core *c, const ls_inst *inst, const uint64_t addresses[32], uint32_t mask)
{
    return count_conflicts(addresses, mask, conflict_words(c, inst), (uint32_t)c->spec->shared_banks);
}

/* The cycles that shared memory needs: the most different words in one bank. */
uint32_t shared_conflicts(const core *c, const flight *f)
{
    uint64_t addresses[32];
    const cta_state *cta = &c->blocks.at[c->front.warps[f->warp].cta];
    if (f->mask == 0)
        return 0;
    uint32_t banks = (uint32_t)c->spec->shared_banks;
    uint32_t words = conflict_words(c, f->inst);
    if (words == 1 && (f->dyn->addr & 3) == LS_ADDR_STRIDE) {
        /* Words at a constant distance of a power of two times an odd number: the words use every bank of the
         * multiples of that power in turn. */
        uint64_t stride = cta->launch.cta->addrs[(f->dyn->addr >> 2) + 1];
        if (stride == 0)
            return 1;
        if (stride % 4 == 0 && (banks & (banks - 1)) == 0) {
            uint64_t step = (stride / 4) & (~(stride / 4) + 1); /* the power of two */
            uint32_t distinct = step >= banks ? 1 : banks / (uint32_t)step;
            return ((uint32_t)__builtin_popcount(f->mask) + distinct - 1) / distinct;
        }
    }
    const uint64_t *list = &cta->launch.cta->addrs[f->dyn->addr >> 2];
    uint64_t first = list[0] + ls_cta_move(cta->launch.cta, f->dyn);
    uint32_t lanes = lane_count(f->mask);
    shared_pattern *seen = NULL;
    uint64_t key = 0;
    if ((f->dyn->addr & 3) != LS_ADDR_STRIDE) {
        /* Words further on by the same distance lie in other banks, but as many of them in each. */
        key = (uint64_t)f->mask << 32 | words << 16 | (uint32_t)(first % (4 * words));
        seen = &c->ldst.patterns->shared[pattern_hash(key, list, lanes)];
        if (pattern_is(&seen->p, key, list, lanes))
            return seen->cycles;
    }
    ls_cta_addresses(cta->launch.cta, f->dyn, addresses);
    uint32_t cycles = count_conflicts(addresses, f->mask, words, banks);
    if (seen != NULL) {
        pattern_set(&seen->p, key, list, lanes);
        seen->cycles = cycles;
    }
    return cycles;
}
