/* peer_server.c: services for models of slot `peer` (lockstep/peer.h): packets of one sector, signals, and a server that
 * answers packets of other GPUs one at a time. */
#include "lockstep/peer.h"

#include <string.h>

/* A message on the fabric; NULL: its link has no room. */
static ls_fabric_message *place(const ls_fabric_end *from, ls_fabric_class class, ls_peer_kind kind,
                                uint32_t to, uint32_t token, uint32_t data_bytes)
{
    ls_fabric_message *m = ls_link_send(from->send[class], 1);
    if (m == NULL)
        return NULL;
    *m = (ls_fabric_message){ .from = (uint16_t)from->number,
                              .to = (uint16_t)to,
                              .class_index = (uint8_t) class,
                              .kind = (uint8_t)kind,
                              .data_bytes = (uint16_t)data_bytes,
                              .wire_bytes = (uint16_t)(LS_PEER_HEADER_BYTES + data_bytes),
                              .body_bytes = sizeof(ls_peer_acks),
                              .token = token };
    return m;
}

_Static_assert(sizeof(ls_peer_packet) <= sizeof(ls_peer_acks), "body_bytes hold both");

bool ls_peer_send_sector(const ls_fabric_end *from, uint32_t token, const ls_sector_message *a)
{
    uint32_t sector = (uint32_t)(a->address / LS_SECTOR_BYTES % LS_PEER_SECTORS);
    ls_peer_packet packet = { .address = a->address - (uint64_t)sector * LS_SECTOR_BYTES,
                              .sectors = (uint16_t)(1u << sector),
                              .kind = a->kind,
                              .global = a->global };
    ls_fabric_message *m = place(from, LS_FABRIC_REQUEST, LS_PEER_REQUEST, a->slice, token,
                                 a->kind == LS_SECTOR_READ ? 0 : LS_SECTOR_BYTES);
    if (m == NULL)
        return false;
    packet.byte_mask[sector] = a->byte_mask;
    m->address = packet.address;
    memcpy(m->body, &packet, sizeof packet);
    return true;
}

bool ls_peer_send_signal(const ls_fabric_end *from, const ls_peer_command *signal)
{
    ls_fabric_message *m =
        place(from, LS_FABRIC_REQUEST, LS_PEER_SIGNAL, signal->to, signal->number, LS_SECTOR_BYTES);
    if (m != NULL)
        m->address = signal->number;
    return m != NULL;
}

/* --------------------------------------------------------------------------------------------------- server */

static bool is_copy(const ls_peer_server *server, const ls_peer_served *v)
{
    return v == &server->served[1];
}

void ls_peer_serve_receive(ls_peer_server *server, ls_link *link, const ls_fabric_message *message)
{
    ls_peer_served *v = &server->served[message->class_index == LS_FABRIC_COPY];
    ls_peer_packet packet;
    memcpy(&packet, message->body, sizeof packet);
    *v = (ls_peer_served){ .message = *message, .link = link };
    if (message->kind != LS_PEER_SIGNAL) {
        v->sectors = packet.sectors;
        v->left = (uint32_t)__builtin_popcount(packet.sectors);
    }
}

void ls_peer_serve_reply(ls_peer_server *server, ls_link *link, const ls_sector_message *reply)
{
    ls_link_release(link, 1);
    server->served[reply->token & 1].left--;
}

/* Asks L2 for the next sector of a packet. */
static void ask_memory(const ls_peer_server *server, ls_peer_served *v, const ls_peer_packet *packet)
{
    uint32_t sector = (uint32_t)__builtin_ctz(v->sectors);
    uint64_t address = packet->address + (uint64_t)sector * LS_SECTOR_BYTES;
    ls_sector_place at = ls_address_map_place(server->wiring->map, address);
    ls_sector_message *ask = ls_link_send(server->wiring->to_memory[at.channel], 1);
    if (ask == NULL)
        return;
    *ask = (ls_sector_message){ .address = address,
                                .local = at.local,
                                .byte_mask = is_copy(server, v) ? UINT32_MAX
                                                                : packet->byte_mask[sector % LS_PEER_SECTORS],
                                .token = is_copy(server, v),
                                .core = (uint16_t)server->wiring->core_count,
                                .slice = LS_SECTOR_SLICE(at.slice),
                                .kind = packet->kind,
                                .global = packet->global };
    v->sectors &= v->sectors - 1;
}

/* False: there is no room now. */
static bool send_answer(const ls_peer_server *server, const ls_peer_served *v, const ls_peer_packet *packet)
{
    bool writes = packet->kind == LS_SECTOR_WRITE;
    uint32_t bytes = writes ? 0 : (uint32_t)__builtin_popcount(packet->sectors) * LS_SECTOR_BYTES;
    const ls_peer_acks acks = {
        .count = 1, .tokens = { v->message.token | (is_copy(server, v) ? LS_PEER_COPY_TOKEN : 0) }
    };
    ls_fabric_message *m = place(server->end, LS_FABRIC_DATA, writes ? LS_PEER_ACK : LS_PEER_DATA,
                                 v->message.from, v->message.token, bytes);
    if (m == NULL)
        return false;
    m->address = packet->address;
    memcpy(m->body, &acks, sizeof acks);
    return true;
}

/* Whether it has left. */
static bool serve(const ls_peer_server *server, ls_peer_served *v)
{
    ls_peer_packet packet;
    memcpy(&packet, v->message.body, sizeof packet);
    if (v->message.kind == LS_PEER_SIGNAL) {
        ls_peer_notice *notice = ls_link_send(server->wiring->to_queue, 1);
        if (notice != NULL)
            *notice = (ls_peer_notice){ .number = v->message.token };
        return notice != NULL;
    }
    if (v->sectors != 0)
        ask_memory(server, v, &packet);
    return v->sectors == 0 && v->left == 0 && send_answer(server, v, &packet);
}

bool ls_peer_serve_tick(ls_peer_server *server)
{
    bool again = false;
    for (uint32_t i = 0; i < 2; i++) {
        ls_peer_served *v = &server->served[i];
        if (v->link == NULL)
            continue;
        if (serve(server, v)) {
            ls_link_release(v->link, 1);
            v->link = NULL;
        } else {
            again |= v->message.kind == LS_PEER_SIGNAL || v->sectors != 0 || v->left == 0;
        }
    }
    return again;
}
