/* page_move.c: the lines of pages that move. A page that leaves is read line by line past L2, which writes newer lines
 * back and keeps none; each line goes to the new owner as one message. Lines of pages that come are written past L2
 * likewise. One line is read and one written in a cycle. Pages are read one after another, in the order of their
 * shootdowns. */
#include "model/amd_memory/page_agent_impl.h"

#include <string.h>

static index_links line_links(const agent *a)
{
    return INDEX_LINKS(a->lines, next);
}

static index_links piece_links(const agent *a)
{
    return INDEX_LINKS(a->pieces, next);
}

static void arm(agent *a, ls_cycle now)
{
    ls_cycle at = a->next_step > now ? a->next_step : now;
    if (!ls_event_scheduled(&a->event))
        ls_schedule_at(a->region, &a->event, at);
}

static void fill_mask(const agent *a, ls_line_message *m)
{
    m->mask[0] = UINT64_MAX;
    m->mask[1] = a->line_bytes > 64 ? UINT64_MAX : 0;
}

/* --------------------------------------------------------------------------------------- pages that leave */

void agent_begin_send(agent *a, uint32_t i, ls_cycle now)
{
    agent_shootdown *s = &a->shootdowns[i];
    s->begun = now;
    if (ls_tap_wants(a->tap, LS_TAP_MIGRATION))
        ls_tap_record(a->tap, &(ls_tap_event){ .time = ls_region_time(a->region),
                                               .kind = LS_TAP_MIGRATION,
                                               .phase = LS_TAP_STEP,
                                               .id = s->token, /* the directory's transaction */
                                               .what = LS_STEP_PIECES });
    s->lines = s->left = (UINT32_C(1) << s->body.size_log2) / a->line_bytes;
    index_list_append(&a->sending, INDEX_LINKS(a->shootdowns, next), i);
    arm(a, now);
}

static void read_line(agent *a, ls_cycle now)
{
    if (index_list_empty(&a->sending) || a->read_refused || a->lines_open == a->spec->lines_in_flight)
        return;
    uint32_t i = a->sending.first;
    agent_shootdown *s = &a->shootdowns[i];
    ls_line_message m;
    memset(&m, 0, LS_LINE_HEAD_BYTES);
    m.address = s->body.frame + (uint64_t)s->read * a->line_bytes;
    m.kind = LS_LINE_READ;
    m.flags = LS_LINE_PAGE | LS_LINE_SYSTEM;
    m.born = (uint32_t)now;
    fill_mask(a, &m);
    m.token = index_pool_take(&a->line_pool, line_links(a));
    if (!ls_line_request(&a->reads, &m, now)) {
        index_pool_give(&a->line_pool, line_links(a), m.token);
        a->read_refused = true;
        return;
    }
    agent_line *line = &a->lines[m.token];
    line->shootdown = i;
    line->m = m;
    line->m.address = s->body.to_frame + (uint64_t)s->read * a->line_bytes;
    line->m.kind = LS_LINE_WRITE;
    line->m.token = s->lines;
    a->lines_open++;
    if (++s->read == s->lines)
        (void)index_list_pop(&a->sending, INDEX_LINKS(a->shootdowns, next));
}

static bool send_piece(agent *a, const agent_line *line)
{
    const agent_shootdown *s = &a->shootdowns[line->shootdown];
    ls_fabric_message *slot = agent_slot(a, LS_FABRIC_MIGRATE, a->line_bytes + MIGRATE_PIECE_HEAD_BYTES);
    if (slot == NULL)
        return false;
    slot->to = s->body.to;
    slot->kind = MIGRATE_PIECE;
    slot->data_bytes = (uint16_t)a->line_bytes;
    slot->body_bytes = (uint16_t)(LS_LINE_HEAD_BYTES + a->line_bytes);
    slot->token = s->token;
    slot->address = line->m.address;
    ls_line_copy((ls_line_message *)(void *)slot->body, &line->m, a->line_bytes);
    a->n.pieces_out++;
    a->n.bytes_out += a->line_bytes;
    return true;
}

void agent_send_pieces(agent *a, ls_cycle now)
{
    while (!index_list_empty(&a->pieces_out)) {
        uint32_t i = a->pieces_out.first;
        agent_shootdown *s = &a->shootdowns[a->lines[i].shootdown];
        if (!send_piece(a, &a->lines[i]))
            return;
        (void)index_list_pop(&a->pieces_out, line_links(a));
        index_pool_give(&a->line_pool, line_links(a), i);
        a->lines_open--;
        if (--s->left == 0) {
            a->n.pages_out++;
            a->n.send_cycles += now - s->begun;
            agent_end_shootdown(a, (uint32_t)(s - a->shootdowns));
        }
        if (!index_list_empty(&a->sending))
            arm(a, now);
    }
}

/* A page without memory cannot be sent: the directory and the driver do not agree. */
static void check_fault(agent *a, const ls_line_message *m)
{
    if ((m->flags & LS_LINE_FAULT) != 0)
        ls_domain_fail(ls_region_domain(a->region), "a page migrated from or to memory that is not mapped");
}

static void read_reply(void *self, const ls_line_message *m, ls_cycle now)
{
    agent *a = self;
    check_fault(a, m);
    ls_line_copy_data(a->lines[m->token].m.data, m->data, a->line_bytes);
    index_list_append(&a->pieces_out, line_links(a), m->token);
    agent_send_pieces(a, now);
}

static void read_retry(void *self, ls_cycle now)
{
    agent *a = self;
    a->read_refused = false;
    arm(a, now);
}

const ls_line_client_ops agent_read_client = { .reply = read_reply, .retry = read_retry };

/* ---------------------------------------------------------------------------------------- pages that come */

static uint32_t find_arrival(agent *a, const ls_fabric_message *message, uint32_t pieces)
{
    uint32_t free = INDEX_NONE;
    for (uint32_t k = 0; k < AGENT_ARRIVALS; k++) {
        uint32_t i = (message->token + k) % AGENT_ARRIVALS;
        if (a->arrivals[i].left == 0)
            free = free == INDEX_NONE ? i : free;
        else if (a->arrivals[i].token == message->token)
            return i;
        if (a->arrivals_open == 0)
            break;
    }
    if (free == INDEX_NONE) {
        ls_domain_fail(ls_region_domain(a->region),
                       "more pages are on their way to a GPU than its agent can have");
        return 0;
    }
    a->arrivals[free] = (agent_arrival){ .token = message->token, .left = pieces, .from = message->from };
    a->arrivals_open++;
    a->n.arrivals_peak = a->arrivals_open > a->n.arrivals_peak ? a->arrivals_open : a->n.arrivals_peak;
    ls_domain_pending(ls_region_domain(a->region), 1);
    return free;
}

void agent_take_piece(agent *a, ls_link *link, const ls_fabric_message *message, ls_cycle now)
{
    const ls_line_message *m = (const ls_line_message *)(const void *)message->body;
    uint32_t i = index_pool_take(&a->piece_pool, piece_links(a));
    agent_piece *piece = &a->pieces[i];
    piece->link = link;
    piece->arrival = find_arrival(a, message, m->token);
    ls_line_copy(&piece->m, m, a->line_bytes);
    piece->m.token = i;
    piece->m.flags = LS_LINE_PAGE | LS_LINE_SYSTEM;
    fill_mask(a, &piece->m);
    a->n.pieces_in++;
    a->n.bytes_in += a->line_bytes;
    index_list_append(&a->incoming, piece_links(a), i);
    arm(a, now);
}

static void write_line(agent *a, ls_cycle now)
{
    if (index_list_empty(&a->incoming) || a->write_refused)
        return;
    if (ls_line_request(&a->writes, &a->pieces[a->incoming.first].m, now))
        (void)index_list_pop(&a->incoming, piece_links(a));
    else
        a->write_refused = true;
}

static void write_reply(void *self, const ls_line_message *m, ls_cycle now)
{
    agent *a = self;
    agent_piece *piece = &a->pieces[m->token];
    agent_arrival *arrival = &a->arrivals[piece->arrival];
    (void)now;
    check_fault(a, m);
    ls_link_release(piece->link, 1);
    index_pool_give(&a->piece_pool, piece_links(a), m->token);
    if (--arrival->left > 0)
        return;
    a->n.pages_in++;
    a->arrivals_open--;
    ls_domain_pending(ls_region_domain(a->region), -1);
    agent_send(a, LS_FABRIC_MIGRATE, MIGRATE_ARRIVED, arrival->token, &(migrate_body){ 0 });
}

static void write_retry(void *self, ls_cycle now)
{
    agent *a = self;
    a->write_refused = false;
    arm(a, now);
}

const ls_line_client_ops agent_write_client = { .reply = write_reply, .retry = write_retry };

/* -------------------------------------------------------------------------------------------------- a cycle */

void agent_step(void *self, ls_cycle now)
{
    agent *a = self;
    a->next_step = now + 1;
    read_line(a, now);
    write_line(a, now);
    bool reads =
        !index_list_empty(&a->sending) && !a->read_refused && a->lines_open < a->spec->lines_in_flight;
    bool writes = !index_list_empty(&a->incoming) && !a->write_refused;
    if (reads || writes)
        arm(a, now);
}
