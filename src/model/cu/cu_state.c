/* cu_state.c: the saved state of a compute unit. Instructions, kernels and programs are memory of the host, to which
 * HOST rows point. Registers, LDS and accesses are saved as far as they are in use; loaded() puts them into the unit's
 * own tables and opens the tapes of recorded waves again.
 *
 * Memos of LDS layouts only save time of the host: a loaded unit learns them anew. */
#include "model/cu/cu.h"

#include "model/cu/cu_state.h"

#define CONTAINER(type, member, pointer)                                                                      \
    ((const type *)(const void *)((const char *)(pointer)-offsetof(type, member)))

/* ------------------------------------------------------------------------------------------------- lengths */

/* Of the registers of a wave; self is its amd_wave. */
static uint64_t register_length(const void *self)
{
    const amd_wave *arch = self;
    bool used = CONTAINER(cu_wave, arch, self)->state != CU_FREE;
    return used ? (uint64_t)arch->vgpr_count * arch->lanes : 0;
}

static uint64_t lds_length(const void *self)
{
    const amd_group *arch = self;
    return CONTAINER(cu_group, arch, self)->resident ? (arch->lds_bytes + UINT64_C(63)) / 64 * 64 : 0;
}

/* The tape itself is the host's. Of its bytes the position counts. */
static uint64_t tape_length(const void *self)
{
    return ((const cu_wave *)self)->state != CU_FREE;
}

/* A large access is an amd_access whose first part is in `head`. */
#define LARGE_WORDS ((sizeof(amd_access) - offsetof(amd_access, address)) / sizeof(uint64_t))
#define SMALL_DATA (64u * 4)

static uint64_t address_length(const void *self)
{
    return ((const cu_access *)self)->large ? LARGE_WORDS : 64;
}

static uint64_t data_length(const void *self)
{
    return ((const cu_access *)self)->large ? 0 : SMALL_DATA;
}

static uint64_t line_length(const void *self)
{
    return ((const cu_access *)self)->line_count;
}

static uint64_t wave_length(const void *self)
{
    return ((const cu *)self)->wave_total;
}

static uint64_t group_length(const void *self)
{
    return ((const cu *)self)->spec->groups;
}

static uint64_t access_length(const void *self)
{
    return cu_access_total(self);
}

/* --------------------------------------------------------------------------------------------------- rows */

static const ls_state_row wave_arch_rows[] = {
    LS_STATE_DATA(amd_wave, sgpr),          LS_STATE_ARRAY(amd_wave, vgpr, register_length),
    LS_STATE_DATA_SPAN(amd_wave, pc, time), LS_STATE_FIXED(amd_wave, group),
    LS_STATE_DATA(amd_wave, fault),
};

static const ls_state_row wave_rows[] = {
    LS_STATE_HOST(cu_wave, head),
    LS_STATE_FIXED_SPAN(cu_wave, code, group),
    LS_STATE_DATA_SPAN(cu_wave, ready, scalar_touches),
    LS_STATE_ARRAY(cu_wave, tape, tape_length),
    LS_STATE_FIXED(cu_wave, record),
    LS_STATE_DATA_SPAN(cu_wave, observed, pending),
    LS_STATE_PART(cu_wave, arch, wave_arch_rows),
};

static const ls_state_row group_arch_rows[] = {
    LS_STATE_ARRAY(amd_group, lds, lds_length),
    LS_STATE_DATA_SPAN(amd_group, lds_bytes, id),
    LS_STATE_FIXED(amd_group, memory),
    LS_STATE_DATA_SPAN(amd_group, shared_base, scratch_bytes),
    LS_STATE_FIXED(amd_group, gws), /* the emulator's */
};

static const ls_state_row group_rows[] = {
    LS_STATE_HOST(cu_group, kernel),
    LS_STATE_PART(cu_group, arch, group_arch_rows),
    LS_STATE_DATA_SPAN(cu_group, slot, wave),
    LS_STATE_FIXED_SPAN(cu_group, tapes, records),
    LS_STATE_DATA(cu_group, done),
    LS_STATE_FIXED(cu_group, counts),
};

static const ls_state_row ahead_rows[] = {
    LS_STATE_DATA_SPAN(cu_ahead, end, cycles),
    LS_STATE_HOST(cu_ahead, first),
    LS_STATE_DATA_SPAN(cu_ahead, visit, last),
};

static const ls_state_row simd_rows[] = {
    LS_STATE_FIXED(cu_simd, waves),
    LS_STATE_DATA_SPAN(cu_simd, units, clause_unit),
    LS_STATE_PART(cu_simd, ahead, ahead_rows),
};

static const ls_state_row access_rows[] = {
    LS_STATE_DATA_SPAN(cu_access, next, from),    LS_STATE_HOST(cu_access, inst),
    LS_STATE_DATA_SPAN(cu_access, issued, head),  LS_STATE_ARRAY(cu_access, address, address_length),
    LS_STATE_ARRAY(cu_access, data, data_length), LS_STATE_ARRAY(cu_access, lines, line_length),
};

static const ls_state_row scalar_rows[] = {
    LS_STATE_DATA_SPAN(cu_scalar, next, back),
    LS_STATE_HOST(cu_scalar, inst),
    LS_STATE_DATA_SPAN(cu_scalar, issued, data),
};

const ls_state_row cu_rows[CU_ROW_COUNT] = {
    LS_STATE_FIXED_SPAN(cu, spec, ticker),
    LS_STATE_EVENT(cu, alarm),
    LS_STATE_DATA_SPAN(cu, awake, ticked),
    LS_STATE_FIXED_SPAN(cu, wires, pipe_count),
    LS_STATE_GAP(cu, pipe_count, next),
    LS_STATE_DATA_SPAN(cu, next, counted_to),
    LS_STATE_FIXED_SPAN(cu, goes_ahead, tracks), /* `issuing` is set while a cycle runs */
    LS_STATE_ARRAY_OF(cu, waves, wave_length, wave_rows),
    LS_STATE_FIXED(cu, vgprs),
    LS_STATE_PARTS(cu, simds, simd_rows),
    LS_STATE_ARRAY_OF(cu, groups, group_length, group_rows),
    LS_STATE_FIXED(cu, lds_bytes),
    LS_STATE_DATA(cu, age),
    LS_STATE_ARRAY_OF(cu, accesses, access_length, access_rows),
    LS_STATE_FIXED(cu, pool),
    LS_STATE_DATA_SPAN(cu, small, timed_next),
    LS_STATE_PARTS(cu, scalars, scalar_rows),
    LS_STATE_DATA_SPAN(cu, scalar_pool, resident_groups),
    LS_STATE_EVENT(cu, report),
    LS_STATE_ARRAY(cu, reports, group_length),
    LS_STATE_DATA_SPAN(cu, report_first, shares),
    LS_STATE_FIXED(cu, observed),
    LS_STATE_GAP(cu, observed, message),
    LS_STATE_DATA(cu, message),
    LS_STATE_FIXED_SPAN(cu, scratch, lds),
    LS_STATE_DATA_SPAN(cu, counted, tap_waits),
    LS_STATE_FIXED(cu, tap_tick),
    LS_STATE_DATA(cu, tap_states),
    { .name = "alignment of the struct",
      .kind = LS_STATE_KIND_FIXED,
      .offset = offsetof(cu, tap_states) + sizeof(((cu *)0)->tap_states),
      .size = sizeof(cu) - offsetof(cu, tap_states) - sizeof(((cu *)0)->tap_states) },
};
_Static_assert(sizeof cu_rows == CU_ROW_COUNT * sizeof cu_rows[0], "cu_state.h says how many rows there are");

/* ------------------------------------------------------------------------------------------------- loaded */

static ls_status no_program(const cu *c, ls_error *err)
{
    return ls_fail(err, LS_ERR_INPUT, "%s was saved with work of a program that is not there",
                   ls_block_name(c->block));
}

/* The tape at the instruction where the saved one was: its steps are read again. */
static bool wind(amd_tape *tape, const amd_tape *saved)
{
    while (tape->left > saved->left)
        amd_tape_step(tape);
    if (saved->took && tape->left == saved->left)
        (void)amd_tape_access(tape, 0, NULL);
    return tape->left == saved->left && tape->failed == saved->failed;
}

static ls_status load_wave(cu *c, cu_group *g, uint32_t index, ls_error *err)
{
    cu_wave *w = &c->waves[g->wave[index]];
    uint32_t *registers = c->vgprs + (size_t)g->wave[index] * c->register_rows * 64;
    if (g->wave[index] >= c->wave_total || w->head == NULL ||
        (size_t)w->arch.vgpr_count * w->arch.lanes > (size_t)c->register_rows * 64)
        return no_program(c, err);
    if (w->arch.vgpr != NULL)
        memcpy(registers, w->arch.vgpr, (size_t)w->arch.vgpr_count * w->arch.lanes * sizeof *registers);
    w->arch.vgpr = registers;
    w->arch.group = &g->arch;
    w->group = g;
    w->code = g->kernel->code;
    if (g->tapes == NULL) {
        w->tape = NULL;
        return LS_OK;
    }
    const amd_tape *saved = w->tape;
    w->tape = &g->tapes[index];
    if (saved == NULL || !wind(w->tape, saved))
        return ls_fail(err, LS_ERR_INPUT, "%s: the recording of a wave is shorter than when it was saved",
                       ls_block_name(c->block));
    return LS_OK;
}

static ls_status load_group(cu *c, cu_group *g, ls_error *err)
{
    uint8_t *lds = c->lds_bytes + (size_t)g->slot * (AMD_LDS_MAX + 64);
    if (g->kernel == NULL || g->slot >= c->spec->groups || g->wave_count > LS_CU_WAVES_PER_GROUP_MAX ||
        g->arch.lds_bytes > AMD_LDS_MAX)
        return no_program(c, err);
    if (g->arch.lds != NULL)
        memcpy(lds, g->arch.lds, (g->arch.lds_bytes + (size_t)63) / 64 * 64);
    g->arch.lds = lds;
    g->counts = g->kernel->counts;
    if (!cu_source_begin(g))
        return ls_fail(err, LS_ERR_INPUT, "%s: the recording of a work-group cannot be read",
                       ls_block_name(c->block));
    ls_status status = LS_OK;
    for (uint32_t i = 0; i < g->wave_count && status == LS_OK; i++)
        status = load_wave(c, g, i, err);
    return status;
}

/* Accesses that were used before have memory of the pool. */
static void load_access(cu *c, uint32_t number)
{
    cu_access *a = &c->accesses[number], was = *a;
    if (was.address == NULL)
        return;
    cu_access_place(c, number, was.large);
    if (was.large) {
        amd_access *whole = &c->pool.large[number - c->spec->vector_in_flight];
        memcpy(whole, was.head, CU_HEAD_BYTES);
        memcpy(a->address, was.address, LARGE_WORDS * sizeof *a->address);
    } else {
        memcpy(a->address, was.address, 64 * sizeof *a->address);
        memcpy(a->data, was.data, SMALL_DATA * sizeof *a->data);
    }
    if (was.line_count != 0)
        memcpy(a->lines, was.lines, was.line_count * sizeof *a->lines);
}

static ls_status loaded(void *self, ls_error *err)
{
    cu *c = self;
    ls_status status = LS_OK;
    for (uint32_t i = 0; i < c->spec->groups && status == LS_OK; i++)
        if (c->groups[i].resident)
            status = load_group(c, &c->groups[i], err);
    for (uint32_t i = 0; i < cu_access_total(c); i++)
        load_access(c, i);
    return status;
}

const ls_state_ops cu_state_ops = { .loaded = loaded };
