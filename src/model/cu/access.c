/* access.c: memory instructions in flight: taken from a fixed pool at issue, held until their answers are
 * there and those before them have returned, then written to registers. */
#include "model/cu/cu.h"

bool cu_access_free(const cu *c, bool large)
{
    uint32_t small = (uint32_t)c->spec->vector_in_flight;
    return large ? !index_pool_empty(&c->large, small + CU_LARGE_ACCESSES)
                 : !index_pool_empty(&c->small, small);
}

/* A slot that was never used: memory is not touched before it is needed. */
void cu_access_place(cu *c, uint32_t number, bool large)
{
    cu_access *a = &c->accesses[number];
    const cu_pool *pool = &c->pool;
    size_t i = large ? number - c->spec->vector_in_flight : number;
    a->large = large;
    a->address = large ? pool->large[i].address[0] : pool->addresses + i * 64;
    a->data = large ? pool->large[i].data[0] : pool->data + i * 64 * 4;
    a->lines = large ? pool->large_lines + i * CU_LARGE_LINES : pool->lines + i * CU_SMALL_LINES;
}

cu_access *cu_access_take(cu *c, cu_wave *w, const cu_inst *inst, bool large, ls_cycle now)
{
    index_pool *from = large ? &c->large : &c->small;
    bool fresh = from->free == INDEX_NONE;
    uint32_t number = index_pool_take(from, INDEX_LINKS(c->accesses, next));
    cu_access *a = &c->accesses[number];
    if (LS_UNLIKELY(fresh))
        cu_access_place(c, number, large);
    a->wave = w->number;
    a->pipe = w->pipe;
    a->complete = a->linear = a->invalidate = a->straddle = a->columns = a->quick = false;
    a->line_count = a->sent = a->back = a->from = 0;
    a->inst = inst;
    a->issued = now;
    w->in_flight++;
    w->group->in_flight++;
    for (unsigned i = 0; i < CU_COUNTERS; i++)
        if (inst->raises >> i & 1)
            w->counter[i]++;
    if (inst->ordered != CU_COUNTERS)
        index_list_append(&w->ordered[inst->ordered == CU_VS], INDEX_LINKS(c->accesses, after), number);
    if ((inst->touches[0] | inst->touches[1]) != 0)
        index_list_append(&w->writers, INDEX_LINKS(c->accesses, younger), number);
    return a;
}

void cu_access_keep_head(const cu *c, const cu_wave *w, cu_access *a)
{
    memcpy(a->head, &c->scratch, CU_HEAD_BYTES);
    memcpy(&a->exec, &w->arch.sgpr[AMD_EXEC_LO], sizeof a->exec);
    a->m0 = w->arch.sgpr[AMD_M0];
}

void cu_access_keep(cu *c, cu_wave *w, cu_access *a, bool addresses)
{
    const amd_access *scratch = &c->scratch;
    cu_access_keep_head(c, w, a);
    if (a->large) {
        amd_access *to = (amd_access *)(void *)((uint8_t *)a->address - offsetof(amd_access, address));
        memcpy(to, scratch, sizeof *to);
        a->stride = AMD_DATA_DWORDS;
        return;
    }
    unsigned bytes = scratch->piece_bytes * scratch->pieces;
    unsigned dwords = bytes < 4 ? 1 : (bytes + 3) / 4;
    bool pair = scratch->atomic == AMD_ATOMIC_CMPSWAP || scratch->atomic == AMD_ATOMIC_FCMPSWAP;
    if (pair)
        dwords *= 2;
    a->stride = (uint8_t)dwords;
    if (addresses)
        memcpy(a->address, scratch->address[0], sizeof scratch->address[0]);
    if (w->tape) /* there is no data */
        return;
    bool data = addresses ? scratch->kind != AMD_ACCESS_LOAD : scratch->returns;
    if (!data && !(scratch->in_lds != 0 && scratch->returns))
        return;
    for (uint64_t left = scratch->lanes; left != 0; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        const uint32_t *from = scratch->data[lane];
        uint32_t *to = a->data + lane * dwords;
        to[0] = from[0];
        for (unsigned i = 1; i < dwords; i++)
            to[i] = from[i];
    }
}

/* --- accesses that end at a known time
 * ----------------------------------------------------------------------- */

void cu_access_ends_at(cu *c, cu_access *a, ls_cycle at, ls_cycle now)
{
    a->start = at;
    ls_cycle visit = at - now < CU_TIMED ? at : now + CU_TIMED - 1;
    unsigned bucket = (unsigned)(visit % CU_TIMED);
    index_list_append(&c->timed[bucket], INDEX_LINKS(c->accesses, next), (uint32_t)(a - c->accesses));
    c->timed_used[bucket / 64] |= 1ull << bucket % 64;
    if (visit < c->timed_next)
        c->timed_next = visit;
    cu_wake(c, visit, now);
}

/* The first cycle from the next one on in which some end. */
static ls_cycle access_next(const cu *c, ls_cycle now)
{
    unsigned from = (unsigned)((now + 1) % CU_TIMED);
    for (unsigned i = 0; i <= CU_TIMED / 64;
         i++) { /* the first word is looked at twice: from `from` on, then below it */
        unsigned word = (from / 64 + i) % (CU_TIMED / 64);
        uint64_t used = c->timed_used[word];
        if (i == 0)
            used &= UINT64_MAX << from % 64;
        if (used != 0) {
            unsigned bucket = word * 64 + (unsigned)__builtin_ctzll(used);
            return now + 1 + (bucket + CU_TIMED - from) % CU_TIMED;
        }
    }
    return UINT64_MAX;
}

void cu_access_timed(cu *c, ls_cycle now)
{
    unsigned bucket = (unsigned)(now % CU_TIMED);
    uint32_t number = c->timed[bucket].first;
    c->timed[bucket] = INDEX_LIST_EMPTY;
    c->timed_used[bucket / 64] &= ~(1ull << bucket % 64);
    c->timed_next = access_next(c, now);
    while (number != INDEX_NONE) {
        cu_access *a = &c->accesses[number];
        number = a->next;
        if (a->start > now)
            cu_access_ends_at(c, a, a->start, now);
        else
            cu_access_complete(c, a, now);
    }
}

/* --- the end -------------------------------------------------------------------------------------------- */

void cu_access_lower(cu *c, cu_wave *w, const cu_inst *inst, ls_cycle now)
{
    for (unsigned i = 0; i < CU_COUNTERS; i++)
        if (inst->raises >> i & 1)
            w->counter[i]--;
    w->in_flight--;
    w->group->in_flight--;
    if (w->state == CU_RUNNING)
        cu_issue_again(c, w, now);
    else
        cu_group_check(c, w->group, now);
}

static void access_retire(cu *c, cu_wave *w, cu_access *a, ls_cycle now)
{
    const cu_inst *inst = a->inst;
    if (LS_UNLIKELY(w->observed) && inst->unit == CU_UNIT_VMEM && !a->invalidate)
        cu_observe_return(c, w, inst, (uint32_t)(a - c->accesses), a->head, a->data, a->stride);
    if (!w->group->dead && !a->invalidate)
        cu_source_result(c, w, a);
    if (inst->unit == CU_UNIT_VMEM && inst->kind != AMD_ACCESS_STORE && a->line_count != 0) {
        c->counters.vector_loads++;
        c->counters.vector_load_cycles += now - a->issued;
    }
    uint32_t number = (uint32_t)(a - c->accesses);
    if ((inst->touches[0] | inst->touches[1]) != 0) /* mostly it is the oldest */
        index_list_remove(&w->writers, INDEX_LINKS(c->accesses, younger), number);
    index_pool_give(a->large ? &c->large : &c->small, INDEX_LINKS(c->accesses, next), number);
    for (unsigned i = 0; i < c->pipe_count; i++)
        if (c->pipes[i].full)
            cu_path_free(c, i, now);
    cu_access_lower(c, w, inst, now);
}

static inline void count_latency(cu *c, const cu_access *a, ls_cycle now)
{
    const cu_inst *inst = a->inst;
    if (inst->unit != CU_UNIT_VMEM || inst->kind == AMD_ACCESS_STORE || a->line_count == 0 || a->invalidate)
        return;
    cu_level level = (a->from & LS_LINE_FROM_REMOTE) != 0 ? CU_LEVEL_REMOTE
                     : (a->from & LS_LINE_FROM_DRAM) != 0 ? CU_LEVEL_DRAM
                     : (a->from & LS_LINE_FROM_L2) != 0   ? CU_LEVEL_L2
                                                          : CU_LEVEL_L1;
    ls_histogram_add_fine(&c->counters.latency[level], now - a->issued);
}

void cu_access_complete(cu *c, cu_access *a, ls_cycle now)
{
    cu_wave *w = &c->waves[a->wave];
    cu_count_cycles(c, now);
    a->complete = true;
    count_latency(c, a, now);
    if (a->inst->ordered == CU_COUNTERS) {
        access_retire(c, w, a, now);
        return;
    }
    index_list *list = &w->ordered[a->inst->ordered == CU_VS];
    while (!index_list_empty(list) && c->accesses[list->first].complete)
        access_retire(c, w, &c->accesses[index_list_pop(list, INDEX_LINKS(c->accesses, after))], now);
}
