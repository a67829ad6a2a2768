/* memcheck.c: life of the checker, commands of the driver, and the order of accesses. */
#include "runtime/memcheck/memcheck_impl.h"

#include <stdlib.h>
#include <string.h>

/* --- life ------------------------------------------------------------------------------------------------ */

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left for the memory check");
}

ls_status memcheck_create(memcheck **out, ls_error *err)
{
    memcheck *m = calloc(1, sizeof *m);
    *out = NULL;
    if (!m)
        return no_memory(err);
    pthread_mutex_init(&m->lock, NULL);
    m->free_live = MC_NOT_LIVE;
    if (!vec_push(&m->commands, ((mc_command){ .begin = 0 })) ||
        !vec_push(&m->waves, ((mc_wave){ .live = MC_NOT_LIVE })) ||
        !vec_push(&m->segments, ((mc_segment){ 0 }))) {
        memcheck_destroy(m);
        return no_memory(err);
    }
    *out = m;
    return LS_OK;
}

static void drop_live(mc_live *live)
{
    vclock_drop(&live->clock);
    vclock_drop(&live->heard);
    vclock_drop(&live->maybe);
    vclock_drop(&live->rumours);
}

void memcheck_destroy(memcheck *m)
{
    if (!m)
        return;
    mc_logs_free(m);
    mc_sync_clear(m);
    for (size_t i = 0; i < m->lives.count; i++)
        drop_live(&m->lives.at[i]);
    for (size_t i = 0; i < m->commands.count; i++) {
        free(m->commands.at[i].name);
        free(m->commands.at[i].values);
    }
    for (size_t i = 0; i < m->races.count; i++)
        free(m->races.at[i].text);
    shadow_fini(&m->memory);
    vec_fini(&m->commands);
    vec_fini(&m->waves);
    vec_fini(&m->lives);
    vec_fini(&m->segments);
    vec_fini(&m->syncs);
    vec_fini(&m->races);
    free(m->sync_slots);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

memcheck_counts memcheck_get_counts(const memcheck *m)
{
    memcheck_counts n = m->counts;
    n.segments = m->segments.count - 1;
    n.waves = m->waves.count - 1;
    n.shadow_bytes = m->memory.bytes + m->waves.capacity * sizeof *m->waves.at +
                     m->segments.capacity * sizeof *m->segments.at;
    return n;
}

/* --- order ----------------------------------------------------------------------------------------------- */

mc_live *mc_live_of(memcheck *m, uint32_t wave)
{
    uint32_t live = m->waves.at[wave].live;
    return live == MC_NOT_LIVE ? NULL : &m->lives.at[live];
}

void mc_forget_order(memcheck *m)
{
    m->asked_wave = 0;
}

static bool is_of_group(const mc_wave *a, const mc_wave *b)
{
    return a->command == b->command && memcmp(a->id, b->id, sizeof a->id) == 0;
}

static mc_order_kind find_order(memcheck *m, uint32_t wave, uint32_t segment, bool plain_load)
{
    const mc_segment *other = &m->segments.at[segment];
    const mc_wave *own = &m->waves.at[wave], *writer = &m->waves.at[other->wave];
    const mc_command *before = &m->commands.at[writer->command], *now = &m->commands.at[own->command];
    if (other->wave == wave || other->wave == now->wave || (before->end != 0 && before->end < now->begin))
        return MC_BEFORE;
    const mc_live *live = mc_live_of(m, wave);
    if (!live)
        return MC_RACE;
    if (vclock_get(&live->clock, other->wave) >= other->number)
        return MC_BEFORE;
    bool of_group = is_of_group(own, writer), passes = !plain_load || (of_group && live->one_cache);
    if ((of_group && other->number <= writer->published) ||
        (passes && vclock_get(&live->heard, other->wave) >= other->number))
        return MC_BEFORE;
    return vclock_get(passes ? &live->rumours : &live->maybe, other->wave) >= other->number ? MC_MAYBE
                                                                                            : MC_RACE;
}

mc_order_kind mc_order(memcheck *m, uint32_t wave, uint32_t segment, bool plain_load)
{
    if (segment == 0)
        return MC_BEFORE;
    if (m->asked_wave != wave || m->asked_writer != segment || m->asked_plain != plain_load) {
        m->answer = find_order(m, wave, segment, plain_load);
        m->asked_wave = wave;
        m->asked_writer = segment;
        m->asked_plain = plain_load;
    }
    return (mc_order_kind)m->answer;
}

uint32_t mc_segment_of(memcheck *m, mc_live *live)
{
    bool is_clean = live->dirty == 0 && live->loads == 0;
    if (live->segment != 0 && !(is_clean && live->has_accesses)) {
        live->has_accesses = true;
        return live->segment;
    }
    live->number++;
    live->has_accesses = true;
    live->segment = (uint32_t)m->segments.count;
    m->no_memory |= !vec_push(&m->segments, ((mc_segment){ .wave = live->wave, .number = live->number }));
    return live->segment;
}

/* --- commands -------------------------------------------------------------------------------------------- */

static bool add_command(memcheck *m, const memcheck_work *work)
{
    mc_command c = { .kind = work->kind, .to = work->to, .from = work->from, .bytes = work->bytes };
    mc_wave wave = { .command = (uint32_t)m->commands.count, .live = MC_NOT_LIVE };
    mc_segment segment = { .wave = (uint32_t)m->waves.count, .number = 1 };
    c.begin = c.oldest = ++m->stamp;
    c.wave = segment.wave;
    c.segment = (uint32_t)m->segments.count;
    uint32_t left = m->running;
    for (size_t i = m->commands.count; left > 0 && i > 1; i--)
        if (m->commands.at[i - 1].end == 0) {
            c.oldest = m->commands.at[i - 1].begin;
            left--;
        }
    if (work->program) {
        c.name = strdup(work->program->name);
        c.entry = work->program->kernel.entry;
        c.two_caches = amd_target_is_gfx10(work->program->kernel.target);
        if (!c.name)
            return false;
    }
    m->running++;
    return vec_push(&m->commands, c) && vec_push(&m->waves, wave) && vec_push(&m->segments, segment);
}

static mc_touch touch_of(const mc_command *c)
{
    return (mc_touch){ .wave = c->wave, .segment = c->segment };
}

static void read_range(memcheck *m, const mc_touch *t, uint64_t from, uint64_t bytes)
{
    for (uint64_t at = 0; at < bytes; at += 4)
        mc_read(m, t, from + at, bytes - at < 4 ? (unsigned)(bytes - at) : 4, NULL);
}

static void fill_range(memcheck *m, const mc_touch *t, const memcheck_work *work)
{
    uint8_t *all = malloc(work->bytes);
    for (uint64_t i = 0; all && i < work->bytes; i++)
        all[i] = ((const uint8_t *)work->data)[i % work->pattern_bytes];
    m->no_memory |= !all;
    if (all)
        mc_write(m, t, work->to, all, work->bytes);
    free(all);
}

/* The bytes of its source, as they are now. */
static void copy_values(memcheck *m, mc_command *c)
{
    c->values = calloc(2, c->bytes);
    m->no_memory |= !c->values;
    for (uint64_t i = 0; c->values && i < c->bytes; i++) {
        shadow_page *p = shadow_find(&m->memory, c->from + i, false);
        if (!p || !shadow_is_known(p, c->from + i))
            continue;
        c->values[i] = shadow_value(p, c->from + i);
        c->values[c->bytes + i] = 1;
    }
}

uint32_t memcheck_begin(memcheck *m, const memcheck_work *work)
{
    (void)memcheck_flush(m, 0, NULL);
    if (m->running == 0)
        mc_sync_clear(m);
    if (!add_command(m, work)) {
        m->no_memory = true;
        return 0;
    }
    mc_forget_order(m);
    uint32_t number = (uint32_t)m->commands.count - 1;
    mc_command *c = &m->commands.at[number];
    const mc_touch t = touch_of(c);
    if (c->kind == MEMCHECK_COPY)
        copy_values(m, c);
    if (c->kind == MEMCHECK_OUT || c->kind == MEMCHECK_COPY)
        read_range(m, &t, c->from, c->bytes);
    if (c->kind == MEMCHECK_IN || c->kind == MEMCHECK_COPY)
        mc_write(m, &t, c->to, c->kind == MEMCHECK_IN ? work->data : NULL, c->bytes);
    else if (c->kind == MEMCHECK_FILL)
        fill_range(m, &t, work);
    return number;
}

/* A byte that a command of the host read, when the command is over: as mc_read() has it. */
static mc_byte look(memcheck *m, const mc_command *c, uint64_t address)
{
    shadow_page *p = shadow_find(&m->memory, address, true);
    if (!p)
        return (mc_byte){ .judge = MC_UNORDERED };
    const shadow_unit *u = shadow_at(p, address);
    mc_byte byte = {
        .writer = u->writer, .before = u->writer, .value = shadow_value(p, address), .judge = MC_JUDGE
    };
    if (mc_order(m, c->wave, u->writer, false) != MC_BEFORE || mc_is_uncertain(m, p, u, c->wave))
        byte.judge = MC_UNORDERED;
    else if (!shadow_is_known(p, address))
        byte.judge = MC_UNKNOWN;
    return byte;
}

static void end_out(memcheck *m, const mc_command *c, const uint8_t *data)
{
    const mc_touch t = touch_of(c);
    for (uint64_t i = 0; i < c->bytes; i++) {
        mc_byte byte = look(m, c, c->from + i);
        m->counts.judged += byte.judge == MC_JUDGE;
        m->counts.unordered += byte.judge == MC_UNORDERED;
        m->counts.unknown += byte.judge == MC_UNKNOWN;
        if (byte.judge == MC_UNKNOWN)
            shadow_set(shadow_find(&m->memory, c->from + i, true), c->from + i, data[i]);
        else if (byte.judge == MC_JUDGE && byte.value != data[i])
            mc_report_value(m, t.segment, 0, -1, c->from + i, 1, &data[i], &byte);
    }
}

/* The bytes that it wrote, unless another write came to them, or one without order to their source. */
static void end_copy(memcheck *m, const mc_command *c)
{
    const mc_touch t = touch_of(c);
    bool overlaps = c->to < c->from + c->bytes && c->from < c->to + c->bytes;
    for (uint64_t i = 0; c->values && i < c->bytes; i++) {
        mc_byte source = look(m, c, c->from + i), byte = look(m, c, c->to + i);
        if (!c->values[c->bytes + i] || (source.judge == MC_UNORDERED && !overlaps) ||
            byte.writer != t.segment)
            continue;
        shadow_set(shadow_find(&m->memory, c->to + i, true), c->to + i, c->values[i]);
    }
}

void memcheck_end(memcheck *m, uint32_t command, const void *data)
{
    (void)memcheck_flush(m, 0, NULL);
    if (command == 0)
        return;
    mc_command *c = &m->commands.at[command];
    mc_forget_order(m);
    if (c->kind == MEMCHECK_OUT && data)
        end_out(m, c, data);
    else if (c->kind == MEMCHECK_COPY)
        end_copy(m, c);
    free(c->values);
    c->values = NULL;
    c->end = ++m->stamp;
    m->running--;
}

void memcheck_write(memcheck *m, uint32_t command, uint64_t to, const void *data, uint64_t bytes)
{
    if (command != 0) {
        const mc_touch t = touch_of(&m->commands.at[command]);
        (void)memcheck_flush(m, 0, NULL);
        mc_forget_order(m);
        mc_write(m, &t, to, data, bytes);
        return;
    }
    command =
        memcheck_begin(m, &(memcheck_work){ .kind = MEMCHECK_IN, .to = to, .data = data, .bytes = bytes });
    memcheck_end(m, command, NULL);
}

void memcheck_forget(memcheck *m, uint64_t address, uint64_t bytes)
{
    (void)memcheck_flush(m, 0, NULL);
    shadow_forget(&m->memory, address, bytes);
}
