/* peer.c: see peer.h. The block ticks while something can move and sleeps else. Each direction passes
 * packets_per_cycle. Answers never wait for requests, so that two GPUs cannot wait for each other. */
#include "model/gpu/peer_state.h"
#include "model/gpu/remote_tap.h"

#include <string.h>

#define LINE_BYTES (LS_PEER_SECTORS * LS_SECTOR_BYTES)
#define ALL_BYTES UINT32_MAX

static index_links sector_links(const peer *p)
{
    return INDEX_LINKS(p->sectors, next);
}

static index_links ask_links(const peer *p)
{
    return INDEX_LINKS(p->asks, next);
}

static index_links serve_links(const peer *p)
{
    return INDEX_LINKS(p->serves, next);
}

void peer_way_ready(void *self, ls_cycle now)
{
    peer_way *way = self;
    (void)now;
    way->waits = false;
    ls_ticker_wake(&way->peer->ticker);
}

void peer_wait(peer *p, uint32_t way, ls_link *link)
{
    p->ways[way].waits = true;
    ls_link_wait(link, &p->ways[way].ready);
}

/* --------------------------------------------------------------------------------------------- to the fabric */

bool peer_send(peer *p, ls_fabric_class class_index, ls_peer_kind kind, uint32_t to, uint32_t token,
               uint64_t address, uint32_t data_bytes, uint32_t header_bytes, const void *body,
               uint32_t body_bytes)
{
    if (p->ways[class_index].waits)
        return false;
    ls_link *link = p->end.send[class_index];
    uint32_t wire_bytes = data_bytes + header_bytes;
    ls_fabric_message *slot = ls_link_send(link, wire_bytes);
    if (slot == NULL) {
        p->n.fabric_waits++;
        peer_wait(p, class_index, link);
        return false;
    }
    slot->from = (uint16_t)p->end.number;
    slot->to = (uint16_t)to;
    slot->class_index = (uint8_t)class_index;
    slot->kind = (uint8_t)kind;
    slot->data_bytes = (uint16_t)data_bytes;
    slot->wire_bytes = (uint16_t)wire_bytes;
    slot->body_bytes = (uint16_t)body_bytes;
    slot->token = token;
    slot->address = address;
    memcpy(slot->body, body, body_bytes);
    p->n.payload_bytes_out += data_bytes;
    return true;
}

static bool send_request(peer *p)
{
    if (index_list_empty(&p->requests))
        return false;
    uint32_t i = p->requests.first;
    const peer_ask *ask = &p->asks[i];
    ls_peer_packet packet = { .address = ask->line, .kind = ask->kind, .global = ask->m[0].global };
    for (uint32_t k = 0; k < ask->count; k++) {
        uint32_t sector = (uint32_t)(ask->m[k].address - ask->line) / LS_SECTOR_BYTES;
        packet.sectors |= (uint16_t)(1u << sector);
        packet.byte_mask[sector] = ask->m[k].byte_mask;
    }
    uint32_t data_bytes = ask->kind == LS_SECTOR_READ ? 0 : ask->count * LS_SECTOR_BYTES;
    if (!peer_send(p, LS_FABRIC_REQUEST, LS_PEER_REQUEST, ask->owner, i, ask->line, data_bytes,
                   (uint32_t)p->spec->header_bytes, &packet, sizeof packet))
        return false;
    (void)index_list_pop(&p->requests, ask_links(p));
    return true;
}

static bool send_signal(peer *p)
{
    if (p->signal_count == 0)
        return false;
    const ls_peer_command *signal = &p->signals[p->signal_head];
    const uint64_t none = 0;
    if (!peer_send(p, LS_FABRIC_REQUEST, LS_PEER_SIGNAL, signal->to, signal->number, signal->number,
                   LS_SECTOR_BYTES, (uint32_t)p->spec->header_bytes, &none, sizeof none))
        return false;
    p->signal_head = (p->signal_head + 1) % LS_PEER_COMMANDS;
    p->signal_count--;
    ls_link_release(p->from_queue, 1);
    p->n.signals_sent++;
    return true;
}

static void give_serve(peer *p, uint32_t i)
{
    ls_link_release(p->serves[i].link, 1);
    index_pool_give(&p->serve_pool, serve_links(p), i);
}

static bool send_data(peer *p)
{
    if (index_list_empty(&p->answers))
        return false;
    uint32_t i = p->answers.first, data_bytes;
    const peer_serve *serve = &p->serves[i];
    const uint64_t none = 0;
    data_bytes = (uint32_t)__builtin_popcount(serve->packet.sectors) * LS_SECTOR_BYTES;
    if (!peer_send(p, LS_FABRIC_DATA, LS_PEER_DATA, serve->from, serve->token, serve->packet.address,
                   data_bytes, (uint32_t)p->spec->header_bytes, &none, sizeof none))
        return false;
    (void)index_list_pop(&p->answers, serve_links(p));
    give_serve(p, i);
    return true;
}

/* An acknowledgement waits for others only while there may be some. */
static bool is_due(const peer *p, const peer_ack_list *list, ls_cycle now)
{
    return list->count >= p->spec->ack_packets ||
           (list->count > 0 && (list->serving == 0 || now >= list->opened + p->spec->ack_cycles));
}

static bool send_acks(peer *p, ls_cycle now)
{
    for (uint32_t end = 0; end < p->end.ends && p->ack_count > 0; end++) {
        peer_ack_list *list = &p->acks[end];
        if (!is_due(p, list, now))
            continue;
        ls_peer_acks acks = { 0 };
        for (uint32_t i = list->serves.first; i != INDEX_NONE && acks.count < p->spec->ack_packets;
             i = p->serves[i].next)
            acks.tokens[acks.count++] = p->serves[i].token;
        if (!peer_send(p, LS_FABRIC_DATA, LS_PEER_ACK, end, 0, acks.tokens[0], 0, (uint32_t)p->spec->ack_bytes,
                       &acks, sizeof acks))
            return false;
        for (uint32_t k = 0; k < acks.count; k++)
            give_serve(p, index_list_pop(&list->serves, serve_links(p)));
        list->count -= acks.count;
        list->opened = now;
        p->ack_count -= acks.count;
        return true;
    }
    return false;
}

/* ------------------------------------------------------------------------------------- requests of the cores */

void peer_receive_request(void *state, ls_link *link, const void *payload, ls_cycle now)
{
    peer *p = state;
    uint32_t i = index_pool_take(&p->sector_pool, sector_links(p));
    (void)now;
    p->sectors[i].m = *(const ls_sector_message *)payload;
    remote_tap(p->tap, p->region, payload, LS_STEP_REMOTE);
    p->sectors[i].link = link;
    index_list_append(&p->input, sector_links(p), i);
    ls_ticker_wake(&p->ticker);
}

static index_links older(const peer *p)
{
    return INDEX_LINKS(p->asks, older);
}

static index_links newer(const peer *p)
{
    return INDEX_LINKS(p->asks, newer);
}

/* The packet is complete: it may leave. */
static void close_packet(peer *p, uint32_t i)
{
    const peer_ask *ask = &p->asks[i];
    p->open[ask->core * p->open_packets + ask->slot] = INDEX_NONE;
    index_order_remove(&p->opened, older(p), newer(p), i);
    index_list_append(&p->requests, ask_links(p), i);
    p->n.reads += ask->kind == LS_SECTOR_READ;
    p->n.writes += ask->kind == LS_SECTOR_WRITE;
    p->n.atomics += ask->kind == LS_SECTOR_ATOMIC;
    p->n.sectors += ask->count;
}

static bool has_sector(const peer_ask *ask, uint64_t address)
{
    for (uint32_t k = 0; k < ask->count; k++)
        if (ask->m[k].address == address)
            return true;
    return false;
}

/* The open packet of a core that the sector fits into, or a slot for a new one. A packet of the same line that it does
 * not fit into is closed, so that order is kept; so is the oldest one if all slots are taken. */
static uint32_t find_open(peer *p, const ls_sector_message *m, uint32_t *slot)
{
    uint32_t count = p->open_packets, oldest = 0;
    const uint32_t *open = &p->open[m->core * count];
    uint64_t line = m->address & ~(uint64_t)(LINE_BYTES - 1);
    *slot = count;
    for (uint32_t k = 0; k < count; k++) {
        uint32_t i = open[k];
        if (i != INDEX_NONE && p->asks[i].line == line) {
            if (p->asks[i].kind == m->kind && p->asks[i].owner == m->slice &&
                !has_sector(&p->asks[i], m->address))
                return i;
            close_packet(p, i);
            i = INDEX_NONE;
        }
        if (i == INDEX_NONE)
            *slot = *slot == count ? k : *slot;
        else if (open[oldest] == INDEX_NONE || p->asks[i].opened < p->asks[open[oldest]].opened)
            oldest = k;
    }
    if (*slot == count) {
        close_packet(p, open[oldest]);
        *slot = oldest;
    }
    return INDEX_NONE;
}

static uint32_t open_packet(peer *p, const ls_sector_message *m, uint32_t slot, ls_cycle now)
{
    uint32_t i = index_pool_take(&p->ask_pool, ask_links(p));
    p->asks[i] = (peer_ask){ .line = m->address & ~(uint64_t)(LINE_BYTES - 1),
                             .opened = now,
                             .owner = m->slice,
                             .core = m->core,
                             .kind = m->kind,
                             .slot = (uint8_t)slot };
    p->open[m->core * p->open_packets + slot] = i;
    index_order_append(&p->opened, older(p), newer(p), i);
    p->in_flight++;
    p->n.in_flight_peak = p->in_flight > p->n.in_flight_peak ? p->in_flight : p->n.in_flight_peak;
    return i;
}

/* The oldest sector joins a packet of its core or opens a new one. False if no packet is free. */
static bool combine(peer *p, ls_cycle now)
{
    if (index_list_empty(&p->input))
        return false;
    const peer_sector *sector = &p->sectors[p->input.first];
    uint32_t slot, i = find_open(p, &sector->m, &slot);
    if (i == INDEX_NONE && p->in_flight == p->ask_total) {
        p->n.in_flight_stalls++;
        return false;
    }
    if (i == INDEX_NONE)
        i = open_packet(p, &sector->m, slot, now);
    peer_ask *ask = &p->asks[i];
    ask->m[ask->count++] = sector->m;
    ls_link_release(sector->link, 1);
    index_pool_give(&p->sector_pool, sector_links(p), index_list_pop(&p->input, sector_links(p)));
    if (ask->count == LS_PEER_SECTORS)
        close_packet(p, i);
    return true;
}

static void close_old(peer *p, ls_cycle now)
{
    while (p->opened.oldest != INDEX_NONE && now >= p->asks[p->opened.oldest].opened + p->spec->combine_cycles)
        close_packet(p, p->opened.oldest);
}

/* Sectors of the oldest answered packet go back to their core. False if nothing could be sent. */
static bool answer_core(peer *p, ls_cycle now)
{
    if (index_list_empty(&p->answered) || p->ways[PEER_WAY_CORE].waits)
        return false;
    uint32_t i = p->answered.first;
    peer_ask *ask = &p->asks[i];
    ls_link *link = p->to_core[ask->core];
    for (; ask->answered < ask->count; ask->answered++) {
        ls_sector_message *slot = ls_link_send(link, 1);
        if (slot == NULL) {
            peer_wait(p, PEER_WAY_CORE, link);
            return false;
        }
        *slot = ask->m[ask->answered];
        remote_tap(p->tap, p->region, slot, LS_STEP_REPLY);
        slot->level = LS_SECTOR_REMOTE;
    }
    (void)index_list_pop(&p->answered, ask_links(p));
    p->n.answers++;
    p->n.latency_cycles += now - ask->opened;
    index_pool_give(&p->ask_pool, ask_links(p), i);
    p->in_flight--;
    ls_domain_progress(p->domain);
    return true;
}

/* ------------------------------------------------------------------------------------ requests of other GPUs */

bool peer_request_sector(peer *p, uint64_t address, uint32_t byte_mask, uint32_t token, ls_sector_kind kind,
                         bool global)
{
    if (p->ways[PEER_WAY_MEMORY].waits)
        return false;
    ls_sector_place place = mem_map_place_again(&p->map, address);
    ls_sector_message *slot = ls_link_send(p->to_memory[place.channel], 1);
    if (slot == NULL) {
        p->n.memory_waits++;
        peer_wait(p, PEER_WAY_MEMORY, p->to_memory[place.channel]);
        return false;
    }
    *slot = (ls_sector_message){ .address = address,
                                 .local = place.local,
                                 .byte_mask = byte_mask,
                                 .token = token,
                                 .core = (uint16_t)p->memory_id,
                                 .slice = LS_SECTOR_SLICE(place.slice),
                                 .kind = (uint8_t)kind,
                                 .global = global };
    return true;
}

/* The oldest packet requests its sectors. False if some of them are left. */
static bool serve_packet(peer *p)
{
    if (index_list_empty(&p->incoming))
        return false;
    uint32_t i = p->incoming.first;
    peer_serve *serve = &p->serves[i];
    while (serve->waiting != 0) {
        uint32_t sector = (uint32_t)__builtin_ctz(serve->waiting);
        uint32_t bytes = serve->is_copy ? ALL_BYTES : serve->packet.byte_mask[sector];
        if (!peer_request_sector(p, serve->packet.address + (uint64_t)sector * LS_SECTOR_BYTES, bytes, i,
                                 (ls_sector_kind)serve->packet.kind, serve->packet.global))
            return false;
        serve->waiting &= (uint16_t)(serve->waiting - 1);
    }
    (void)index_list_pop(&p->incoming, serve_links(p));
    p->n.served_reads += serve->packet.kind == LS_SECTOR_READ;
    p->n.served_writes += serve->packet.kind == LS_SECTOR_WRITE && !serve->is_copy;
    p->n.served_atomics += serve->packet.kind == LS_SECTOR_ATOMIC;
    p->n.served_copy_packets += serve->is_copy;
    return true;
}

void peer_receive_reply(void *state, ls_link *link, const void *payload, ls_cycle now)
{
    peer *p = state;
    const ls_sector_message *m = payload;
    uint32_t i = m->token;
    ls_link_release(link, 1);
    ls_ticker_wake(&p->ticker);
    if ((i & LS_PEER_COPY_TOKEN) != 0) {
        copy_engine_read(p, i & ~LS_PEER_COPY_TOKEN);
        return;
    }
    if (i == PEER_FLUSH_TOKEN) {
        flush_engine_answer(p);
        return;
    }
    peer_serve *serve = &p->serves[i];
    if (--serve->left > 0)
        return;
    p->acks[serve->from].serving--;
    if (serve->packet.kind != LS_SECTOR_WRITE) {
        index_list_append(&p->answers, serve_links(p), i);
        return;
    }
    peer_ack_list *list = &p->acks[serve->from];
    if (list->count++ == 0)
        list->opened = now;
    p->ack_count++;
    index_list_append(&list->serves, serve_links(p), i);
}

/* ------------------------------------------------------------------------------------------- from the fabric */

static void take_packet(peer *p, ls_link *link, const ls_fabric_message *message)
{
    uint32_t i = index_pool_take(&p->serve_pool, serve_links(p));
    peer_serve *serve = &p->serves[i];
    *serve = (peer_serve){ .link = link,
                           .token = message->token,
                           .from = message->from,
                           .is_copy = message->class_index == LS_FABRIC_COPY };
    memcpy(&serve->packet, message->body, sizeof serve->packet);
    serve->waiting = serve->packet.sectors;
    serve->left = (uint16_t)__builtin_popcount(serve->packet.sectors);
    if (serve->is_copy)
        serve->token |= LS_PEER_COPY_TOKEN;
    p->acks[serve->from].serving++;
    index_list_append(&p->incoming, serve_links(p), i);
}

static void take_answer(peer *p, uint32_t token)
{
    uint32_t number = token & ~LS_PEER_COPY_TOKEN;
    if (LS_UNLIKELY(number >= (number != token ? p->copy.piece_total : p->ask_total))) {
        ls_domain_fail(p->domain,
                       "the model of slot 'peer' of another GPU answered a packet that was not sent");
        return;
    }
    if ((token & LS_PEER_COPY_TOKEN) != 0)
        copy_engine_acked(p, token & ~LS_PEER_COPY_TOKEN);
    else
        index_list_append(&p->answered, ask_links(p), token);
}

void peer_receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    peer *p = self;
    const ls_fabric_message *message = payload;
    (void)now;
    if (LS_UNLIKELY(!fabric_is_mine(&p->end, message))) {
        ls_link_release(link, 1);
        return;
    }
    p->n.payload_bytes_in += message->data_bytes;
    ls_ticker_wake(&p->ticker);
    if (message->kind == LS_PEER_REQUEST || message->kind == LS_PEER_COPY) {
        take_packet(p, link, message);
        return;
    }
    if (message->kind == LS_PEER_SIGNAL) {
        p->n.signals++;
        peer_notify(p, (ls_peer_notice){ .number = message->token }, link);
        return;
    }
    ls_link_release(link, 1);
    if (message->kind == LS_PEER_DATA) {
        take_answer(p, message->token);
    } else {
        const ls_peer_acks *acks = (const ls_peer_acks *)(const void *)message->body;
        for (uint32_t i = 0; i < acks->count && i < LS_PEER_ACKS; i++)
            take_answer(p, acks->tokens[i]);
    }
}

/* -------------------------------------------------------------------------------------------- the device queue */

void peer_notify(peer *p, ls_peer_notice notice, ls_link *link)
{
    p->notices[(p->notice_head + p->notice_count++) % p->notice_total] =
        (peer_pending_notice){ .notice = notice, .link = link };
    ls_ticker_wake(&p->ticker);
}

static void send_notices(peer *p)
{
    while (p->notice_count > 0 && !p->ways[PEER_WAY_QUEUE].waits) {
        const peer_pending_notice *pending = &p->notices[p->notice_head];
        ls_peer_notice *slot = ls_link_send(p->to_queue, 1);
        if (slot == NULL) {
            peer_wait(p, PEER_WAY_QUEUE, p->to_queue);
            return;
        }
        *slot = pending->notice;
        if (pending->link != NULL)
            ls_link_release(pending->link, 1);
        p->notice_head = (p->notice_head + 1) % p->notice_total;
        p->notice_count--;
    }
}

void peer_receive_command(void *state, ls_link *link, const void *payload, ls_cycle now)
{
    peer *p = state;
    const ls_peer_command *command = payload;
    (void)now;
    ls_ticker_wake(&p->ticker);
    if (command->is_copy || command->is_flush) {
        ls_link_release(link, 1);
        if (command->is_copy)
            copy_engine_start(p, command);
        else
            flush_engine_start(p);
        return;
    }
    p->from_queue = link;
    p->signals[(p->signal_head + p->signal_count++) % LS_PEER_COMMANDS] = *command;
}

/* -------------------------------------------------------------------------------------------------- one cycle */

/* One packet to the fabric; the sources take turns. */
static bool pass_out(peer *p, ls_cycle now)
{
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t turn = (p->turn + i) % 4;
        bool sent = turn == 0   ? send_data(p)
                    : turn == 1 ? send_request(p) || send_signal(p)
                    : turn == 2 ? copy_engine_send(p)
                                : send_acks(p, now);
        if (sent) {
            p->turn = (turn + 1) % 4;
            return true;
        }
    }
    return false;
}

static bool has_work(const peer *p)
{
    const peer_way *ways = p->ways;
    return (!index_list_empty(&p->input) && p->in_flight < p->ask_total) || p->opened.oldest != INDEX_NONE ||
           ((!index_list_empty(&p->requests) || p->signal_count > 0) && !ways[LS_FABRIC_REQUEST].waits) ||
           ((!index_list_empty(&p->answers) || p->ack_count > 0) && !ways[LS_FABRIC_DATA].waits) ||
           (!index_list_empty(&p->answered) && !ways[PEER_WAY_CORE].waits) ||
           (!index_list_empty(&p->incoming) && !ways[PEER_WAY_MEMORY].waits) ||
           (p->notice_count > 0 && !ways[PEER_WAY_QUEUE].waits) || copy_engine_has_work(p) ||
           flush_engine_has_work(p);
}

bool peer_tick(void *self, ls_cycle now)
{
    peer *p = self;
    uint64_t width = p->spec->packets_per_cycle;
    for (uint64_t left = width; left > 0 && answer_core(p, now); left--) {
    }
    for (uint64_t left = width * LS_PEER_SECTORS; left > 0 && combine(p, now); left--) {
    }
    close_old(p, now);
    for (uint64_t left = width; left > 0 && pass_out(p, now); left--) {
    }
    for (uint64_t left = width; left > 0 && serve_packet(p); left--) {
    }
    for (uint64_t left = width; left > 0 && copy_engine_reads(p); left--) {
    }
    flush_engine_cycle(p);
    send_notices(p);
    return has_work(p);
}
