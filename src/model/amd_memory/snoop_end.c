/* snoop_end.c: a die's end of the snoop filters: a probe drops the bytes of a line that its L2 did not write. */
#include "model/amd_memory/snoop.h"

#include "lockstep/state.h"
#include "model/amd_memory/cache.h"

#include <stdio.h>

#define END_SLICES_MAX 16u

typedef struct end_counters {
    uint64_t probes, hits;
} end_counters;

typedef struct end_channel {
    struct snoop_end *end;
    ls_link *acks;
    uint32_t owed; /* answers that their link did not take yet */
} end_channel;

typedef struct snoop_end {
    const char *name;
    ls_region *region;
    uint32_t die, channel_count;
    mem_map map;
    ls_block *slices[END_SLICES_MAX];
    end_channel *channels;
    uint32_t owed; /* of all channels */
    ls_event again;
    end_counters n;
} snoop_end;

static bool send_ack(snoop_end *e, end_channel *c)
{
    line_probe_ack *ack = ls_link_send(c->acks, sizeof *ack);
    if (ack == NULL)
        return false;
    ack->die = e->die;
    return true;
}

static void on_again(void *self, ls_cycle now)
{
    snoop_end *e = self;
    (void)now;
    for (uint32_t i = 0; i < e->channel_count && e->owed > 0; i++)
        while (e->channels[i].owed > 0 && send_ack(e, &e->channels[i])) {
            e->channels[i].owed--;
            e->owed--;
        }
    if (e->owed > 0)
        ls_schedule(e->region, &e->again, 1);
}

void line_snoop_end_receive(void *receiver, ls_link *link, const void *payload, ls_cycle now)
{
    end_channel *c = receiver;
    snoop_end *e = c->end;
    uint64_t address = ((const line_probe *)payload)->address;
    (void)now;
    e->n.probes++;
    e->n.hits += line_cache_probe(e->slices[mem_map_place_again(&e->map, address).channel], address);
    ls_link_release(link, 1);
    if (c->owed == 0 && send_ack(e, c))
        return;
    c->owed++;
    e->owed++;
    if (!ls_event_scheduled(&e->again))
        ls_schedule(e->region, &e->again, 1);
}

/* --- set-up --- */

static ls_status end_init(ls_block *block, void *state, const void *spec, ls_error *err)
{
    snoop_end *e = state;
    (void)spec, (void)err;
    e->name = ls_block_name(block);
    e->region = ls_block_region(block);
    ls_event_init(&e->again, on_again, e);
    return LS_OK;
}

static const ls_metric metrics[] = {
    LS_METRIC_COUNTER(end_counters, probes, "messages", "probes that came"),
    LS_METRIC_COUNTER(end_counters, hits, "lines", "of these, lines that were present or on their way"),
};

static uint64_t channel_count(const void *self)
{
    return ((const snoop_end *)self)->channel_count;
}

static const ls_state_row channel_rows[] = {
    LS_STATE_FIXED_SPAN(end_channel, end, acks),
    LS_STATE_DATA(end_channel, owed),
};

static const ls_state_row rows[] = {
    LS_STATE_FIXED_SPAN(snoop_end, name, slices),
    LS_STATE_ARRAY_OF(snoop_end, channels, channel_count, channel_rows),
    LS_STATE_DATA(snoop_end, owed),
    LS_STATE_EVENT(snoop_end, again),
    LS_STATE_DATA(snoop_end, n),
};

static const ls_block_type end_type = {
    .abi = LS_ABI_VERSION,
    .slot = "line-snoop-end",
    .name = "l2",
    .help = "drops lines of a die's L2 that another die wrote",
    .state_size = sizeof(snoop_end),
    .metrics = metrics,
    .metric_count = LS_COUNT_OF(metrics),
    .counters_offset = offsetof(snoop_end, n),
    .rows = rows,
    .row_count = LS_COUNT_OF(rows),
    .init = end_init,
};

ls_status line_snoop_end_create(ls_region *region, const char *name, uint32_t die, const mem_map *map,
                                ls_block *const *caches, uint32_t channels, ls_block **out, ls_error *err)
{
    ls_status status = ls_block_create(region, name, &end_type, NULL, out, err);
    if (status != LS_OK)
        return status;
    snoop_end *e = ls_block_state(*out);
    e->die = die;
    e->map = *map;
    e->channel_count = channels;
    for (uint32_t i = 0; i < map->channels && i < END_SLICES_MAX; i++) {
        if (!line_cache_is_model(ls_block_type_of(caches[i])))
            return ls_fail(err, LS_ERR_UNSUPPORTED, "%s: the L2 of an XCD must be model 'lines', not '%s'",
                           name, ls_block_type_of(caches[i])->name);
        e->slices[i] = caches[i];
    }
    e->channels = ls_domain_alloc(ls_region_domain(region), channels * sizeof *e->channels);
    if (e->channels == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for '%s'", name);
    for (uint32_t i = 0; i < channels; i++)
        e->channels[i].end = e;
    return LS_OK;
}

void line_snoop_end_set_ack(ls_block *block, uint32_t channel, ls_link *link)
{
    ((snoop_end *)ls_block_state(block))->channels[channel].acks = link;
}

void *line_snoop_end_receiver(ls_block *block, uint32_t channel)
{
    return &((snoop_end *)ls_block_state(block))->channels[channel];
}
