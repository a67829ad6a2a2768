/* page_agent_type.c: a page agent's set-up, counters and saved state. */
#include "lockstep/state.h"
#include "model/amd_memory/mmu_impl.h"
#include "model/amd_memory/page_agent_impl.h"

#include <stdio.h>

#define COUNTER_WAYS 16u

static ls_status agent_init(ls_block *block, void *state, const void *spec, ls_error *err)
{
    agent *a = state;
    (void)err;
    a->spec = spec;
    a->name = ls_block_name(block);
    a->tap = ls_block_tap(block);
    a->region = ls_block_region(block);
    a->message_pool = a->shootdown_pool = a->line_pool = a->piece_pool = INDEX_POOL_NEW;
    a->held = a->shooting = a->sending = a->pieces_out = a->incoming = INDEX_LIST_EMPTY;
    ls_event_init(&a->event, agent_step, a);
    ls_event_init(&a->mmu_event, agent_mmu_ready, a);
    for (uint32_t i = 0; i < LS_FABRIC_CLASSES; i++) {
        a->ways[i] = (agent_way){ .agent = a, .class_index = i, .messages = INDEX_LIST_EMPTY };
        ls_event_init(&a->ways[i].ready, agent_way_ready, &a->ways[i]);
    }
    return LS_OK;
}

/* Lines, pieces and counters, if pages move. */
static bool reserve_moves(agent *a, ls_domain *domain)
{
    uint64_t ways = a->spec->counters < COUNTER_WAYS ? a->spec->counters : COUNTER_WAYS;
    a->lines = ls_domain_alloc(domain, a->spec->lines_in_flight * sizeof *a->lines);
    a->pieces = ls_domain_alloc(domain, a->spec->buffer_pieces * sizeof *a->pieces);
    if (a->lines == NULL || a->pieces == NULL)
        return false;
    if (a->spec->counters == 0)
        return true;
    a->counters = ls_domain_alloc(domain, a->spec->counters * sizeof *a->counters);
    return a->counters != NULL &&
           page_tags_init(&a->remote, MIGRATE_SIZE_MIN_LOG2, a->spec->counters, ways, domain) == LS_OK;
}

ls_status page_agent_attach(ls_block *block, const page_agent_wiring *wiring, ls_error *err)
{
    agent *a = ls_block_state(block);
    ls_domain *domain = ls_region_domain(a->region);
    a->end = wiring->end;
    a->mmu = wiring->mmu;
    a->line_bytes = wiring->line_bytes;
    a->walk_count = wiring->walks;
    a->message_count = 2 * a->walk_count + AGENT_SHOOTDOWNS + AGENT_ARRIVALS + AGENT_COUNTED;
    a->out_size = a->walk_count + MMU_SHOOTDOWNS;
    a->messages = ls_domain_alloc(domain, a->message_count * sizeof *a->messages);
    a->walks = ls_domain_alloc(domain, a->walk_count * sizeof *a->walks);
    a->out = ls_domain_alloc(domain, a->out_size * sizeof *a->out);
    if (a->messages == NULL || a->walks == NULL || a->out == NULL ||
        (a->spec->moves && !reserve_moves(a, domain)))
        return ls_fail(err, LS_ERR_NOMEM, "no memory for '%s'", a->name);
    if (!a->spec->moves)
        return LS_OK;
    ls_status status = ls_line_join(wiring->memory, &agent_read_client, a, &a->reads, err);
    return status == LS_OK ? ls_line_join(wiring->memory, &agent_write_client, a, &a->writes, err) : status;
}

uint32_t page_agent_credits(const ls_block *block, ls_fabric_class class)
{
    const page_agent_spec *spec = ls_block_spec(block);
    if (class == LS_FABRIC_WALK)
        return 64;
    if (class == LS_FABRIC_INVALIDATE && spec->moves)
        return AGENT_SHOOTDOWNS;
    return class == LS_FABRIC_MIGRATE && spec->moves ? (uint32_t)spec->buffer_pieces : 0;
}

ls_page_agent page_agent_port(ls_block *block)
{
    ls_page_agent port = { .receive = page_agent_receive,
                           .used = page_agent_used,
                           .self = ls_block_state(block) };
    for (uint32_t c = 0; c < LS_FABRIC_CLASSES; c++)
        port.credits[c] = page_agent_credits(block, (ls_fabric_class)c);
    return port;
}

static void agent_waits(const void *self, ls_wait_sink *sink)
{
    const agent *a = self;
    char detail[128];
    if (a->walks_open > 0) {
        snprintf(detail, sizeof detail, "%u page walks are not answered", a->walks_open);
        ls_wait_report(sink, a->name, "the host", detail);
    }
    if (a->at_mmu > 0) {
        snprintf(detail, sizeof detail, "%u pages are being shot down", a->at_mmu);
        ls_wait_report(sink, a->name, "the MMU", detail);
    }
    if (a->lines_open > 0 || a->arrivals_open > 0) {
        snprintf(detail, sizeof detail, "%u lines of pages that leave, %u pages that come", a->lines_open,
                 a->arrivals_open);
        ls_wait_report(sink, a->name,
                       a->ways[LS_FABRIC_MIGRATE].waits ? "the fabric" : "the memory partitions", detail);
    }
}

/* --------------------------------------------------------------------------------------------------- tables */

static uint64_t message_length(const void *self)
{
    return ((const agent *)self)->message_count;
}

static uint64_t walk_length(const void *self)
{
    return ((const agent *)self)->walk_count;
}

static uint64_t out_length(const void *self)
{
    return ((const agent *)self)->out_size;
}

static uint64_t line_length(const void *self)
{
    const agent *a = self;
    return a->lines != NULL ? a->spec->lines_in_flight : 0;
}

static uint64_t piece_length(const void *self)
{
    const agent *a = self;
    return a->pieces != NULL ? a->spec->buffer_pieces : 0;
}

static uint64_t counter_length(const void *self)
{
    const agent *a = self;
    return a->counters != NULL ? a->spec->counters : 0;
}

static const ls_state_row way_rows[] = {
    LS_STATE_FIXED_SPAN(agent_way, agent, class_index),
    LS_STATE_DATA_SPAN(agent_way, waits, messages),
    LS_STATE_EVENT(agent_way, ready),
};

static const ls_state_row shootdown_rows[] = {
    LS_STATE_LINK(agent_shootdown, link),
    LS_STATE_DATA_SPAN(agent_shootdown, begun, body),
};

static const ls_state_row piece_rows[] = {
    LS_STATE_LINK(agent_piece, link),
    LS_STATE_DATA_SPAN(agent_piece, next, m),
};

static const ls_state_row rows[] = {
    LS_STATE_FIXED_SPAN(agent, spec, message_count),
    LS_STATE_DATA(agent, n),
    LS_STATE_ARRAY(agent, messages, message_length),
    LS_STATE_DATA(agent, message_pool),
    LS_STATE_PARTS(agent, ways, way_rows),
    LS_STATE_ARRAY(agent, walks, walk_length),
    LS_STATE_DATA_SPAN(agent, held, walks_max),
    LS_STATE_ARRAY(agent, out, out_length),
    LS_STATE_DATA_SPAN(agent, out_head, out_size),
    LS_STATE_EVENT(agent, mmu_event),
    LS_STATE_DATA(agent, mmu_waits),
    LS_STATE_PARTS(agent, shootdowns, shootdown_rows),
    LS_STATE_DATA_SPAN(agent, shootdown_pool, sending),
    LS_STATE_ARRAY(agent, lines, line_length),
    LS_STATE_DATA_SPAN(agent, line_pool, lines_open),
    LS_STATE_ARRAY_OF(agent, pieces, piece_length, piece_rows),
    LS_STATE_DATA_SPAN(agent, piece_pool, next_step),
    LS_STATE_EVENT(agent, event),
    LS_STATE_PART(agent, remote, page_tags_rows),
    LS_STATE_ARRAY(agent, counters, counter_length),
};

/* clang-format off */
static const ls_metric metrics[] = {
    LS_METRIC_COUNTER(page_agent_counters, walks, "walks", "page walks sent to the host"),
    LS_METRIC_COUNTER(page_agent_counters, walk_cycles, "cycles", "from a question of the MMU to the host's answer, of all walks"),
    LS_METRIC_RATIO(page_agent_counters, "walk_latency", walk_cycles, walks, "cycles", "walk_cycles / walks"),
    LS_METRIC_COUNTER(page_agent_counters, walk_waits, "walks", "walks that waited for room at the host"),
    LS_METRIC_COUNTER(page_agent_counters, taken, "messages", "translations of pages that can move, in effect"),
    LS_METRIC_COUNTER(page_agent_counters, counted, "messages", "remote pages that reached the threshold of accesses"),
    LS_METRIC_COUNTER(page_agent_counters, shootdowns, "pages", "pages that all TLBs were told to forget"),
    LS_METRIC_COUNTER(page_agent_counters, shootdown_cycles, "cycles", "from the host's message to the answer of all TLBs, of all shootdowns"),
    LS_METRIC_COUNTER(page_agent_counters, pages_out, "pages", "pages sent"),
    LS_METRIC_COUNTER(page_agent_counters, pages_in, "pages", "pages received and in memory"),
    LS_METRIC_COUNTER(page_agent_counters, pieces_out, "lines", "lines of pages sent"),
    LS_METRIC_COUNTER(page_agent_counters, pieces_in, "lines", "lines of pages received"),
    LS_METRIC_COUNTER(page_agent_counters, bytes_out, "bytes", "of these, data"),
    LS_METRIC_COUNTER(page_agent_counters, bytes_in, "bytes", "likewise"),
    LS_METRIC_COUNTER(page_agent_counters, send_cycles, "cycles", "from the first read of a page to its last line on the fabric, of all pages"),
    LS_METRIC_COUNTER(page_agent_counters, fabric_waits, "times", "a message waited for a link of the fabric"),
    LS_METRIC_PEAK(page_agent_counters, walks_peak, "walks", "most walks at the host at once"),
    LS_METRIC_PEAK(page_agent_counters, shootdowns_peak, "pages", "most shootdowns and pages that leave at once"),
    LS_METRIC_PEAK(page_agent_counters, arrivals_peak, "pages", "most pages that come at once"),
};
/* clang-format on */

static const ls_block_type agent_type = {
    .abi = LS_ABI_VERSION,
    .slot = "page-agent",
    .name = "pages",
    .help = "walks, shootdowns and pages that move, between a GPU and the host",
    .spec_size = sizeof(page_agent_spec),
    .state_size = sizeof(agent),
    .metrics = metrics,
    .metric_count = LS_COUNT_OF(metrics),
    .counters_offset = offsetof(agent, n),
    .rows = rows,
    .row_count = LS_COUNT_OF(rows),
    .init = agent_init,
    .waits = agent_waits,
};

ls_status page_agent_create(ls_region *region, const char *name, const page_agent_spec *spec, ls_block **out,
                            ls_error *err)
{
    return ls_block_create(region, name, &agent_type, spec, out, err);
}
