/* memcheck_report.c: the lines about findings. */
#include "runtime/memcheck/memcheck_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WHO_BYTES 200

static const char *const transfers[] = {
    [MEMCHECK_LAUNCH] = "a launch",
    [MEMCHECK_IN] = "a copy from the host",
    [MEMCHECK_OUT] = "a copy to the host",
    [MEMCHECK_COPY] = "a copy",
    [MEMCHECK_FILL] = "a fill",
};

/* "fir+0x40 on gpu1 (work-group 3,0,0, wave 1)" */
static const char *name_of(const memcheck *m, uint32_t segment, uint32_t pc, int lane, char *out)
{
    const mc_wave *w = &m->waves.at[m->segments.at[segment].wave];
    const mc_command *c = &m->commands.at[w->command];
    char lane_text[24] = "";
    if (segment == 0) {
        snprintf(out, WHO_BYTES, "the content before all writes");
        return out;
    }
    if (m->segments.at[segment].wave == c->wave) {
        snprintf(out, WHO_BYTES, "%s", transfers[c->kind]);
        return out;
    }
    if (lane >= 0)
        snprintf(lane_text, sizeof lane_text, ", lane %d", lane);
    snprintf(out, WHO_BYTES, "%.80s+0x%x on gpu%u (work-group %u,%u,%u, wave %u%s)", c->name, pc, w->gpu,
             w->id[0], w->id[1], w->id[2], w->index, lane_text);
    return out;
}

/* The same instruction has the same key in every launch of its kernel. */
static uint64_t key_of(const memcheck *m, mc_who who)
{
    const mc_wave *w = &m->waves.at[m->segments.at[who.segment].wave];
    const mc_command *c = &m->commands.at[w->command];
    bool transfer = m->segments.at[who.segment].wave == c->wave;
    return (transfer ? (uint64_t)c->kind : c->entry + who.pc) << 1 | who.writes;
}

void mc_report_race(memcheck *m, mc_who now, mc_who before, uint64_t address)
{
    char first[WHO_BYTES], second[WHO_BYTES], line[2 * WHO_BYTES + 128];
    uint64_t key[2] = { key_of(m, now), key_of(m, before) };
    m->counts.races++;
    for (size_t i = 0; i < m->races.count; i++) {
        mc_race *r = &m->races.at[i];
        if ((r->key[0] == key[0] && r->key[1] == key[1]) || (r->key[0] == key[1] && r->key[1] == key[0])) {
            r->times++;
            return;
        }
    }
    snprintf(line, sizeof line, "%s %s 0x%llx, which %s %s without order",
             name_of(m, now.segment, now.pc, -1, first), now.writes ? "writes" : "reads",
             (unsigned long long)address, name_of(m, before.segment, before.pc, -1, second),
             before.writes ? "wrote" : "read");
    mc_race race = { .key = { key[0], key[1] }, .times = 1, .text = strdup(line) };
    if (!race.text || !vec_push(&m->races, race)) {
        free(race.text);
        m->no_memory = true;
    }
}

size_t memcheck_race_count(const memcheck *m)
{
    return m->races.count;
}

const char *memcheck_race_at(const memcheck *m, size_t index, uint64_t *times)
{
    *times = m->races.at[index].times;
    return m->races.at[index].text;
}

static uint32_t word(const uint8_t *bytes, unsigned count)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < count; i++)
        value |= (uint32_t)bytes[i] << 8 * i;
    return value;
}

void mc_report_value(memcheck *m, uint32_t segment, uint32_t pc, int lane, uint64_t address, unsigned bytes,
                     const uint8_t *got, const mc_byte *expected)
{
    char reader[WHO_BYTES], writer[WHO_BYTES];
    uint8_t right[4];
    uint32_t writer_pc = 0, segment_of_writer = expected[0].before;
    if (m->has_failed)
        return;
    for (unsigned i = 0; i < bytes; i++) {
        right[i] = expected[i].judge == MC_JUDGE ? expected[i].value : got[i];
        if (right[i] != got[i])
            segment_of_writer = expected[i].before;
    }
    shadow_page *page = shadow_find(&m->memory, address, false);
    for (unsigned i = 0; page && i < bytes; i++)
        if (shadow_at(page, address + i)->writer == segment_of_writer)
            writer_pc = shadow_at(page, address + i)->writer_pc;
    m->has_failed = true;
    (void)ls_fail(&m->failure, LS_ERR_CHECK, "%s reads 0x%0*x at 0x%llx, but the last write was 0x%0*x, by %s",
                  name_of(m, segment, pc, lane, reader), (int)(2 * bytes), word(got, bytes),
                  (unsigned long long)address, (int)(2 * bytes), word(right, bytes),
                  name_of(m, segment_of_writer, writer_pc, -1, writer));
}
