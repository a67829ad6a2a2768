/* strict_memory.c: the shadow of memory: which allocations live, which bits of a byte are defined, and which waves
 * touched it. */
#include "runtime/strict/strict_impl.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>

/* --- pages ---------------------------------------------------------------------------------------------- */

strict_page *strict_page_of(strict *s, uint64_t address, bool create)
{
    uint64_t index = (address - LS_WINDOW_BASE) >> LS_PAGE_SHIFT;
    if (index >= s->page_count)
        return NULL;
    if (!s->pages[index] && create) {
        s->pages[index] = calloc(1, sizeof **s->pages);
        s->no_memory |= !s->pages[index];
        s->page_top = index < s->page_top ? s->page_top : index + 1;
    }
    return s->pages[index];
}

strict_race *strict_race_of(strict *s, strict_page *page)
{
    if (!page->race) {
        page->race = calloc(1, sizeof *page->race);
        s->no_memory |= !page->race;
    }
    return page->race;
}

static void page_free(strict_page **page)
{
    if (*page)
        free((*page)->race);
    free(*page);
    *page = NULL;
}

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left for strict checks");
}

static ls_status set_defined(strict *s, uint64_t address, uint64_t bytes, uint8_t value, ls_error *err)
{
    while (bytes > 0) {
        uint64_t at = address & (LS_PAGE_BYTES - 1), n = LS_PAGE_BYTES - at;
        n = n < bytes ? n : bytes;
        strict_page *page = strict_page_of(s, address, value != 0);
        if (!page && value != 0)
            return no_memory(err);
        if (page)
            memset(page->defined + at, value, n);
        address += n;
        bytes -= n;
    }
    return LS_OK;
}

ls_status strict_define(strict *s, uint64_t address, uint64_t bytes, ls_error *err)
{
    pthread_mutex_lock(&s->lock);
    ls_status status = set_defined(s, address, bytes, 0xff, err);
    pthread_mutex_unlock(&s->lock);
    return status;
}

static uint8_t defined_at(strict *s, uint64_t address)
{
    const strict_page *page = strict_page_of(s, address, false);
    return page ? page->defined[address & (LS_PAGE_BYTES - 1)] : 0;
}

/* As memmove: ranges may overlap. */
ls_status strict_copy(strict *s, uint64_t to, uint64_t from, uint64_t bytes, ls_error *err)
{
    pthread_mutex_lock(&s->lock);
    ls_status status = LS_OK;
    for (uint64_t i = 0; i < bytes && status == LS_OK; i++) {
        uint64_t at = to > from ? bytes - 1 - i : i;
        uint8_t value = defined_at(s, from + at);
        strict_page *page = strict_page_of(s, to + at, value != 0);
        if (page)
            page->defined[(to + at) & (LS_PAGE_BYTES - 1)] = value;
        else if (value != 0)
            status = no_memory(err);
    }
    pthread_mutex_unlock(&s->lock);
    return status;
}

/* --- allocations ---------------------------------------------------------------------------------------- */

/* The first range that begins after the address. */
static size_t range_after(const strict *s, uint64_t address)
{
    size_t low = 0, high = s->ranges.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->ranges.at[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const strict_range *strict_find(strict *s, uint64_t address)
{
    if (s->last_range < s->ranges.count) {
        const strict_range *r = &s->ranges.at[s->last_range];
        if (address - r->address < r->bytes)
            return r;
    }
    size_t at = range_after(s, address);
    if (at == 0 || address - s->ranges.at[at - 1].address >= s->ranges.at[at - 1].bytes)
        return NULL;
    s->last_range = at - 1;
    return &s->ranges.at[at - 1];
}

static void forget(strict *s, uint64_t address)
{
    size_t at = range_after(s, address);
    if (at == 0 || s->ranges.at[at - 1].address != address)
        return;
    strict_range *range = &s->ranges.at[at - 1];
    s->freed[s->freed_count++ % STRICT_FREED] = *range;
    for (uint64_t page = range->address & ~(uint64_t)(LS_PAGE_BYTES - 1); page < range->address + range->bytes;
         page += LS_PAGE_BYTES) {
        uint64_t index = (page - LS_WINDOW_BASE) >> LS_PAGE_SHIFT;
        if (index < s->page_count)
            page_free(&s->pages[index]);
    }
    memmove(range, range + 1, (s->ranges.count - at) * sizeof *range);
    s->ranges.count--;
}

ls_status strict_alloc(strict *s, uint64_t address, uint64_t bytes, ls_error *err)
{
    pthread_mutex_lock(&s->lock);
    ls_status status = LS_OK;
    size_t at = range_after(s, address);
    if (at > 0 && s->ranges.at[at - 1].address == address) {
        s->ranges.at[at - 1].bytes = bytes;
    } else if (!vec_reserve(&s->ranges, 1)) {
        status = no_memory(err);
    } else {
        memmove(&s->ranges.at[at + 1], &s->ranges.at[at], (s->ranges.count - at) * sizeof *s->ranges.at);
        s->ranges.at[at] = (strict_range){ address, bytes };
        s->ranges.count++;
    }
    if (status == LS_OK)
        status = set_defined(s, address, bytes, 0, err);
    pthread_mutex_unlock(&s->lock);
    return status;
}

void strict_free(strict *s, uint64_t address)
{
    pthread_mutex_lock(&s->lock);
    forget(s, address);
    pthread_mutex_unlock(&s->lock);
}

/* --- races ---------------------------------------------------------------------------------------------- */

bool strict_next_segment(strict *s, strict_wave *shadow, uint32_t wave)
{
    strict_segment segment = { .wave = s->waves_before + wave,
                               .group = (uint32_t)s->group,
                               .barrier = s->barrier };
    shadow->segment = s->first + (uint32_t)s->segments.count;
    if (vec_push(&s->segments, segment))
        return true;
    s->no_memory = true;
    return false;
}

/* NULL if the segment is known to have happened before the wave's present one, else the segment. */
static const strict_segment *unordered(const strict *s, uint32_t number)
{
    if (number == 0 || number < s->first)
        return NULL; /* none, or an earlier launch */
    const strict_segment *other = &s->segments.at[number - s->first];
    const strict_segment *own = &s->segments.at[s->shadow->segment - s->first];
    if (other->wave == own->wave || number < s->shadow->acquired)
        return NULL;
    return other->group == own->group && other->barrier < own->barrier ? NULL : other;
}

static bool race(strict *s, uint64_t address, bool lds, unsigned lane, strict_how how,
                 const strict_segment *other, uint32_t op, const char *did)
{
    static const char *const verbs[] = { "reads", "writes", "changes by an atomic" };
    const strict_segment *own = &s->segments.at[s->shadow->segment - s->first];
    const amd_program *program = s->launch.program;
    const amd_inst *inst = op <= program->op_count ? program->ops[op].inst : NULL;
    char text[128] = "?", where[64], pc[300] = "?";
    if (inst)
        amd_print(program->kernel.target, program->lanes, inst, text, sizeof text);
    if (inst)
        amd_program_pc(program, program->ops[op].next - inst->bytes, pc, sizeof pc);
    if (other->group == own->group)
        snprintf(where, sizeof where, "wave %u", other->wave - s->waves_before);
    else
        snprintf(where, sizeof where, "a wave of work-group number %u", other->group);
    return strict_fail(s, "lane %u %s the byte at %s0x%llx, which %s %s without order (pc %s: %s)", lane,
                       verbs[how], lds ? "LDS " : "", (unsigned long long)address, where, did, pc, text);
}

bool strict_touch(strict *s, strict_page *page, uint64_t address, bool lds, unsigned lane, strict_how how,
                  bool same)
{
    strict_race *r = strict_race_of(s, page);
    unsigned at = address & (LS_PAGE_BYTES - 1);
    const strict_segment *other;
    if (!r)
        return true;
    if ((other = unordered(s, r->writer[at])) != NULL && !(how == STRICT_WRITE && same))
        return race(s, address, lds, lane, how, other, r->writer_pc[at / 4], "wrote");
    if (how == STRICT_WRITE) {
        for (unsigned i = 0; i < 2 && !same; i++)
            if ((other = unordered(s, r->reader[i][at])) != NULL)
                return race(s, address, lds, lane, how, other, r->reader_pc[at / 4], "uses");
        if (same && other)
            return true; /* both wrote the same value: the first one stays */
        r->writer[at] = s->shadow->segment;
        r->writer_pc[at / 4] = s->op;
        return true;
    }
    if (r->reader[0][at] != s->shadow->segment) {
        uint32_t last = r->reader[0][at];
        if (last >= s->first && last != 0 &&
            s->segments.at[last - s->first].wave != s->segments.at[s->shadow->segment - s->first].wave)
            r->reader[1][at] = last;
        r->reader[0][at] = s->shadow->segment;
    }
    r->reader_pc[at / 4] = s->op;
    return true;
}

/* --- life ----------------------------------------------------------------------------------------------- */

ls_status strict_create(const memory_space *address_space, strict **out, ls_error *err)
{
    strict *s = calloc(1, sizeof *s);
    *out = NULL;
    if (!s)
        return no_memory(err);
    pthread_mutex_init(&s->lock, NULL);
    s->view = address_space_look(address_space);
    s->first = 1;
    s->page_count = (s->view.bytes + LS_PAGE_BYTES - 1) >> LS_PAGE_SHIFT;
    size_t dwords = (size_t)AMD_VGPR_ROWS_GFX9 * 64;
    s->pages = calloc((size_t)s->page_count, sizeof *s->pages);
    s->vgpr_memory = calloc(dwords * (AMD_WAVES_MAX / 2 + 1) + 16, sizeof *s->vgpr_memory);
    s->lds = calloc(STRICT_LDS_PAGES, sizeof *s->lds);
    s->lds_races = calloc(STRICT_LDS_PAGES, sizeof *s->lds_races);
    if (!s->pages || !s->vgpr_memory || !s->lds || !s->lds_races) {
        strict_destroy(s);
        return no_memory(err);
    }
    s->vgprs = s->vgpr_memory + (64 - (uintptr_t)s->vgpr_memory % 64) % 64 / 4;
    s->temp = s->vgprs + dwords * (AMD_WAVES_MAX / 2);
    for (unsigned i = 0; i < STRICT_LDS_PAGES; i++)
        s->lds[i].race = &s->lds_races[i];
    *out = s;
    return LS_OK;
}

void strict_destroy(strict *s)
{
    if (!s)
        return;
    for (uint64_t i = 0; s->pages && i < s->page_top; i++)
        page_free(&s->pages[i]);
    free(s->pages);
    free(s->vgpr_memory);
    free(s->lds);
    free(s->lds_races);
    free(s->origins);
    vec_fini(&s->ranges);
    vec_fini(&s->segments);
    pthread_mutex_destroy(&s->lock);
    free(s);
}
