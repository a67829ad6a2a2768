/* cu_counts.c: counts of static instructions of a compute unit: executions, lanes, lines, conflicts, and stalls. Reads the
 * compute unit; writes the rows of inst_counts that are this unit's. Row 0 is no instruction, as in cu_code. */
#include "model/cu/cu.h"

void cu_counts_begin(cu *c, const cu_group *g)
{
    (void)g;
    c->counted = true;
    c->goes_ahead = false; /* waves stand at the instruction that they wait for; results are the same */
}

static inline inst_count *row_of(const cu *c, const cu_wave *w, const cu_inst *inst)
{
    const cu_group *g = w->group;
    uint32_t unit = c->wires.cluster * g->kernel->counts_per_cluster + c->wires.index;
    return inst_counts_at(g->counts, unit, (uint32_t)(inst - w->code->insts));
}

void cu_counts_issue(const cu *c, const cu_wave *w, const cu_inst *inst)
{
    inst_count *row = row_of(c, w, inst);
    row->executed++;
    if (!inst->scalar)
        row->lanes += (uint64_t)__builtin_popcountll(amd_wave_exec(&w->arch));
}

void cu_counts_lines(const cu *c, const cu_wave *w, const cu_inst *inst, uint64_t lines, uint64_t bytes)
{
    inst_count *row = row_of(c, w, inst);
    row->requests += lines;
    row->bytes += bytes;
}

void cu_counts_conflicts(const cu *c, const cu_wave *w, const cu_inst *inst, uint64_t cycles)
{
    row_of(c, w, inst)->conflicts += cycles;
}

/* --- stalls --------------------------------------------------------------------------------------------- */

/* Waves of the SIMD that have the reason, a bit for each slot. */
static uint32_t waves_of(const cu_simd *simd, cu_why why)
{
    uint32_t found = 0;
    if (why >= CU_WHY_UNIT)
        return simd->ready[why - CU_WHY_UNIT];
    if (why == CU_WHY_DEPEND) {
        for (uint64_t left = simd->ring_used; left != 0; left &= left - 1)
            found |= simd->ring[__builtin_ctzll(left)];
        return found;
    }
    for (uint32_t left = simd->resident; left != 0; left &= left - 1)
        if ((simd->waves[__builtin_ctz(left)].why >> why & 1) != 0)
            found |= left & -left;
    return found;
}

/* The next wave with the reason, in turn, so that waves that wait at several places share the cycles. */
static const cu_wave *wave_of(cu *c, cu_why why)
{
    uint32_t per_simd = (uint32_t)c->spec->waves_per_simd, from = c->counts_turn[why], first = UINT32_MAX;
    for (uint32_t n = 0; n < c->simd_count; n++) {
        uint32_t s = (from / per_simd + n) % c->simd_count;
        uint32_t waves = waves_of(&c->simds[s], why);
        if (n == 0) { /* those before the turn come last */
            uint32_t later = waves & ~((1u << from % per_simd) - 1);
            if (later == 0 && waves != 0 && first == UINT32_MAX)
                first = s * per_simd + (uint32_t)__builtin_ctz(waves);
            waves = later;
        }
        if (waves != 0) {
            first = s * per_simd + (uint32_t)__builtin_ctz(waves);
            break;
        }
    }
    if (first == UINT32_MAX)
        return NULL;
    c->counts_turn[why] = (uint16_t)((first + 1) % c->wave_total);
    return &c->waves[first];
}

void cu_counts_stall(cu *c, uint32_t why, uint64_t cycles)
{
    for (; why != 0; why &= why - 1) {
        unsigned reason = (unsigned)__builtin_ctz(why);
        const cu_wave *w = wave_of(c, (cu_why)reason);
        if (w != NULL && w->group->counts != NULL)
            row_of(c, w, w->head)->stalls[reason] += cycles;
    }
}
