/* debug_frames.c: calls of waves. The debugger sees every instruction, so it keeps the return addresses of each wave
 * itself: code of AMD has no usual place for them that a debugger could rely on. */
#include "debug/debug_impl.h"

#include <string.h>

static debug_calls *find(debugger *d, const amd_wave *wave, bool make)
{
    for (size_t i = 0; i < d->calls.count; i++)
        if (d->calls.at[i].wave == wave)
            return &d->calls.at[i];
    debug_calls fresh = { .wave = wave };
    if (!make || !vec_push(&d->calls, fresh))
        return NULL;
    return &d->calls.at[d->calls.count - 1];
}

void debug_calls_before(debugger *d)
{
    const emulate_stop *s = d->stop;
    const amd_wave *wave = s->waves[s->wave];
    debug_calls *calls;
    if (!s->inst)
        return;
    if (d->calls.count > 0 && debug_wave_count(d, s->wave) == 0 && (calls = find(d, wave, false)) != NULL)
        calls->depth = 0;
    if (s->inst->op == AMD_S_SWAPPC_B64 || s->inst->op == AMD_S_CALL_B64) {
        calls = find(d, wave, true);
        if (calls && calls->depth < DEBUG_CALLS)
            calls->return_pc[calls->depth++] = s->pc + s->inst->bytes;
        return;
    }
    if (s->inst->op != AMD_S_SETPC_B64 || d->calls.count == 0 || (calls = find(d, wave, false)) == NULL)
        return;
    unsigned code = s->inst->src[0].code;
    if (code + 1 >= 128)
        return;
    uint64_t to = wave->sgpr[code] | (uint64_t)wave->sgpr[code + 1] << 32;
    for (size_t i = calls->depth; i-- > 0;)
        if (calls->return_pc[i] == to) {
            calls->depth = i;
            return;
        }
}

const debug_calls *debug_calls_of(debugger *d, uint32_t wave)
{
    return find(d, d->stop->waves[wave], false);
}
