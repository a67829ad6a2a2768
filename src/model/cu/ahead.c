/* ahead.c: a wave that is alone on its SIMD issues ahead of time. Operations on its own registers, and waits
 * for counters that are already low enough, affect no other wave. As long as no other wave of the SIMD is
 * ready, their issue cycles depend on them alone. They are executed in one go, each with its own cycle; the
 * cycles between need not be run. If another wave becomes ready before those cycles are over, the rest is
 * taken back. The registers keep their values (the wave knows how many of its instructions were executed), and
 * the issue is undone.
 *
 * Accesses in flight write registers at their own time: an instruction that touches one of these is not issued
 * ahead. An instruction that leaves the contents of the instruction buffer, or lets it fetch, is not issued
 * ahead either. */
#include "model/cu/cu.h"
#include "model/cu/wave_rules.h"

#define AHEAD_CYCLES (CU_RING - 8u)

/* Registers that accesses in flight will write. */
static inline void ahead_landing(const cu *c, const cu_wave *w, uint64_t landing[2])
{
    landing[0] = 0;
    landing[1] = w->scalars != 0 ? w->scalar_touches : 0;
    for (uint32_t i = w->writers.first; i != INDEX_NONE; i = c->accesses[i].younger) {
        landing[0] |= c->accesses[i].inst->touches[0];
        landing[1] |= c->accesses[i].inst->touches[1];
    }
}

static inline uint64_t ahead_lanes(const cu_wave *w)
{
    uint64_t exec = amd_wave_exec(&w->arch), all = w->arch.lanes == 64 ? UINT64_MAX : UINT32_MAX;
    return exec == all ? w->arch.lanes : (uint64_t)__builtin_popcountll(exec);
}

/* How long until the wave's next instruction, as issue.c has it. */
static inline uint64_t ahead_takes(const cu *c, const cu_wave *w, const cu_inst *inst)
{
    if (inst->unit == CU_UNIT_VALU)
        return c->busy[inst->rate][w->arch.lanes == 64];
    return inst->unit == CU_UNIT_SCALAR ? c->spec->scalar_latency_cycles : c->turn;
}

/* The cycles of a mask, from `from` on. */
static inline uint64_t ahead_turned(uint64_t cycles, ls_cycle from)
{
    unsigned by = (unsigned)(from % CU_RING);
    return cycles >> by | cycles << (CU_RING - by) % CU_RING;
}

/* The first cycle in which another wave of the SIMD is looked at; the wave itself is not in the ring. */
static inline ls_cycle ahead_limit(const cu_simd *simd, ls_cycle now)
{
    ls_cycle limit = now + AHEAD_CYCLES;
    if (simd->ring_used == 0)
        return limit;
    ls_cycle other = now + (ls_cycle)__builtin_ctzll(ahead_turned(simd->ring_used, now));
    return other < limit ? other : limit;
}

static inline void ahead_leave_ring(cu_simd *simd, unsigned slot, ls_cycle visit)
{
    unsigned bucket = (unsigned)(visit % CU_RING);
    if ((simd->ring[bucket] &= ~(1u << slot)) == 0)
        simd->ring_used &= ~(1ull << bucket);
}

/* True if it can be issued at `at`, and the next instruction is in the buffer. */
static inline bool ahead_can(const cu *c, const cu_simd *simd, const cu_wave *w, const cu_inst *inst,
                             ls_cycle at)
{
    if (inst->unit == CU_UNIT_VALU)
        return simd->valu_free <= at && !(inst->writes_scalar && c->spec->scalar_wait_cycles != 0) &&
               !(inst->rate == CU_RATE_TRANS && c->spec->trans_unit);
    return inst->unit == CU_UNIT_SCALAR ? w->pending_count == 0 : cu_issue_unmet(w, inst) == 0;
}

void cu_ahead_run(cu *c, cu_simd *simd, cu_wave *w, ls_cycle now)
{
    const cu_inst *inst = w->head;
    ls_cycle at = w->ready, last = at;
    if (at - now >= AHEAD_CYCLES || w->ahead != 0 || w->arch.gpr_idx_mode) {
        cu_issue_enter(c, w, now);
        return;
    }
    ls_cycle limit = ahead_limit(simd, now);
    uint64_t block = c->spec->fetch_bytes, end = (w->arch.pc & ~(block - 1)) + block;
    uint64_t lanes = ahead_lanes(w), landing[2], cycles = 0;
    ls_cu_tally *tally = &w->group->done.tally;
    cu_ahead before = { .begin = at, .first = inst, .valu_free = simd->valu_free, .slot = w->slot };
    memcpy(before.last, simd->last, sizeof before.last);
    ahead_landing(c, w, landing);
    for (; inst->alone && at < limit && inst->next < end && inst[1].next <= w->fetched; inst++) {
        if ((inst->touches[0] & landing[0]) != 0 || (inst->touches[1] & landing[1]) != 0 ||
            !ahead_can(c, simd, w, inst, at) || w->issued >= w->most)
            break;
        w->head = inst;
        if (w->tape || w->record)
            cu_source_issue(w, &c->scratch);
        if (inst->what == CU_PLAIN) {
            cu_source_step(w, at);
        } else {
            if (LS_UNLIKELY(w->observed))
                cu_observe_wait(c, w, inst);
            w->arch.pc = inst->next;
        }
        if (__builtin_expect(w->arch.stop != AMD_RUNNING, 0)) { /* found when it is issued */
            w->ahead = 1;
            break;
        }
        tally->instructions++;
        tally->classes[inst->class_]++;
        w->issued++;
        simd->last[inst->unit] = w->slot;
        cycles |= 1ull << at % CU_RING;
        last = at;
        at += ahead_takes(c, w, inst);
        if (inst->unit == CU_UNIT_VALU) {
            tally->active_lanes += lanes;
            if (inst->flops != 0)
                rules_flops(tally, inst, lanes);
            simd->valu_free = at;
        }
        at = cu_served(c, w->simd, at);
    }
    if (cycles == 0) {
        cu_issue_enter(c, w, now);
        return;
    }
    c->active |= cycles;
    before.end = last + 1;
    before.cycles = cycles;
    simd->ahead = before;
    cu_issue_head(c, w, inst, at, now);
    simd->ahead.visit = cu_issue_visit(c, w, now);
}

/* Cycles of a SIMD from `from` on that are still to come. */
static inline uint64_t ahead_rest(const cu_ahead *ahead, ls_cycle from)
{
    if (ahead->end <= from)
        return 0;
    uint64_t low = ahead->end - from < CU_RING ? (1ull << (ahead->end - from)) - 1 : UINT64_MAX;
    return ahead_turned(ahead->cycles, from) & low;
}

void cu_ahead_cut(cu *c, cu_simd *simd, ls_cycle at, ls_cycle now)
{
    cu_ahead *ahead = &simd->ahead;
    cu_wave *w = &simd->waves[ahead->slot];
    uint64_t lanes = ahead_lanes(w), left = ahead_turned(ahead->cycles, ahead->begin), kept = 0;
    const cu_inst *inst = ahead->first;
    ls_cu_tally *tally = &w->group->done.tally;
    simd->valu_free = ahead->valu_free;
    memcpy(simd->last, ahead->last, sizeof simd->last);
    ls_cycle end = 0;
    for (; left != 0; left &= left - 1, inst++) {
        ls_cycle cycle = ahead->begin + (ls_cycle)__builtin_ctzll(left);
        if (cycle >= at)
            break;
        simd->last[inst->unit] = w->slot;
        if (inst->unit == CU_UNIT_VALU)
            simd->valu_free = cycle + ahead_takes(c, w, inst);
        kept |= 1ull << cycle % CU_RING;
        end = cycle + 1;
    }
    if (left == 0)
        return;
    ls_cycle resume = ahead->begin + (ls_cycle)__builtin_ctzll(left);
    ahead_leave_ring(simd, w->slot, ahead->visit);
    w->head = inst;
    c->active &= ~(ahead->cycles & ~kept);
    ahead->cycles = kept;
    ahead->end = end;
    for (unsigned i = 0; i < c->spec->simds; i++) { /* instructions of other SIMDs in the same cycles */
        uint64_t others = ahead_rest(&c->simds[i].ahead, at);
        c->active |= ahead_turned(others, CU_RING - at % CU_RING);
    }
    for (; left != 0; left &= left - 1, inst++) {
        tally->instructions--;
        tally->classes[inst->class_]--;
        if (inst->unit == CU_UNIT_VALU)
            tally->active_lanes -= lanes;
        if (inst->flops != 0)
            rules_flops(tally, inst, 0 - lanes);
        w->issued--;
        w->ahead++;
    }
    cu_issue_at(c, w, resume, now);
    ahead->visit = cu_issue_visit(c, w, now);
}
