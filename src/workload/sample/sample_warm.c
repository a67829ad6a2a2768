/* sample_warm.c: see sample_warm.h. */
#include "workload/sample/sample_warm.h"

#include <stdlib.h>
#include <string.h>

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left for warm caches");
}

ls_status sample_warm_begin(sample_warm *w, uint64_t sectors, ls_error *err)
{
    uint64_t slots = 64;
    while (slots < 2 * sectors + 64)
        slots *= 2;
    if (w->seen == NULL || w->mask + 1 != slots) {
        free(w->seen);
        w->seen = malloc(slots * sizeof *w->seen);
        if (w->seen == NULL)
            return no_memory(err);
        w->mask = slots - 1;
    }
    memset(w->seen, 0, slots * sizeof *w->seen);
    w->limit = sectors;
    w->insts = 0;
    vec_clear(&w->sectors);
    vec_clear(&w->begins);
    return LS_OK;
}

void sample_warm_fini(sample_warm *w)
{
    vec_fini(&w->sectors);
    vec_fini(&w->begins);
    free(w->seen);
    ls_cta_fini(&w->cta);
    *w = (sample_warm){ 0 };
}

static bool add_sector(sample_warm *w, uint64_t address)
{
    uint64_t key = address / SAMPLE_SECTOR_BYTES + 1;
    uint64_t at = (key * UINT64_C(0x9e3779b97f4a7c15)) >> 20 & w->mask;
    while (w->seen[at] != 0 && w->seen[at] != key)
        at = (at + 1) & w->mask;
    if (w->seen[at] == key || w->sectors.count >= w->limit)
        return true;
    w->seen[at] = key;
    return vec_push(&w->sectors, (key - 1) * SAMPLE_SECTOR_BYTES);
}

static bool add_access(sample_warm *w, const ls_cta *cta, const ls_kernel_info *info, const ls_inst *inst,
                       const ls_dyn *dyn)
{
    uint64_t lanes[32], last = UINT64_MAX;
    ls_cta_addresses(cta, dyn, lanes);
    for (uint32_t mask = dyn->mask; mask != 0; mask &= mask - 1) {
        uint64_t first = lanes[__builtin_ctz(mask)],
                 end = first + (inst->width_bytes > 0 ? inst->width_bytes : 1);
        if ((inst->space == LS_SPACE_GENERIC || ls_inst_reduces_generic(inst)) &&
            ls_kernel_space(info, first) != LS_SPACE_GLOBAL)
            continue;
        for (uint64_t at = first / SAMPLE_SECTOR_BYTES; at <= (end - 1) / SAMPLE_SECTOR_BYTES; at++) {
            if (at != last && !add_sector(w, at * SAMPLE_SECTOR_BYTES))
                return false;
            last = at;
        }
    }
    return true;
}

bool sample_warm_block(sample_warm *w, const trace_kernel *kernel, const ls_cta *cta)
{
    const ls_inst *insts = kernel_inst_table(kernel);
    for (uint64_t i = 0; i < cta->dyn_count; i++) {
        const ls_dyn *dyn = &cta->dyns[i];
        const ls_inst *inst = &insts[dyn->inst];
        if (dyn->addr != LS_ADDR_NONE && dyn->mask != 0 &&
            (inst->space == LS_SPACE_GLOBAL || inst->space == LS_SPACE_GENERIC) &&
            !add_access(w, cta, kernel_get_info(kernel), inst, dyn))
            return false;
    }
    w->insts += cta->dyn_count;
    return true;
}

ls_status sample_warm_kernel(sample_warm *w, trace_kernel *kernel, bool *enough, ls_error *err)
{
    ls_status status = vec_push(&w->begins, w->sectors.count) ? LS_OK : no_memory(err);
    bool end = false;
    *enough = false;
    while (status == LS_OK && !*enough) {
        status = kernel_next_cta(kernel, &w->cta, &end, err);
        if (status != LS_OK || end)
            break;
        if (!sample_warm_block(w, kernel, &w->cta))
            status = no_memory(err);
        *enough = w->sectors.count >= w->limit || w->insts >= SAMPLE_WARM_INSTS;
    }
    *enough = *enough || w->begins.count >= SAMPLE_WARM_KERNELS;
    return status;
}

void sample_warm_each(const sample_warm *w, void (*take)(void *self, uint64_t address), void *self)
{
    for (size_t k = w->begins.count; k-- > 0;) {
        size_t end = k + 1 < w->begins.count ? w->begins.at[k + 1] : w->sectors.count;
        for (size_t i = w->begins.at[k]; i < end; i++)
            take(self, w->sectors.at[i]);
    }
}
