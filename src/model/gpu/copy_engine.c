/* copy_engine.c: the copy engine of a GPU, a part of the block of peer.h. It reads pieces of copy_bytes from the own L2
 * and sends each as one packet of class COPY. The other GPU writes it and acknowledges. One copy at a time: the device
 * queue starts the next when this one has ended. */
#include "lockstep/state.h"
#include "lockstep/timeline.h"
#include "model/gpu/peer_state.h"

static index_links piece_links(const peer *p)
{
    return INDEX_LINKS(p->copy.pieces, next);
}

ls_status copy_engine_init(peer *p, ls_error *err)
{
    copy_engine *c = &p->copy;
    c->piece_total = (uint32_t)p->spec->copy_in_flight;
    c->pieces = ls_domain_alloc(p->domain, c->piece_total * sizeof *c->pieces);
    c->piece = INDEX_NONE;
    c->pool = INDEX_POOL_NEW;
    c->ready = INDEX_LIST_EMPTY;
    return c->pieces != NULL ? LS_OK
                             : ls_fail(err, LS_ERR_NOMEM, "no memory for the copy engine of '%s'", p->name);
}

static void tell(const peer *p, ls_tap_phase phase)
{
    if (ls_tap_wants(p->tap, LS_TAP_COPY))
        ls_tap_record(p->tap, &(ls_tap_event){ .time = ls_region_time(p->region),
                                               .kind = LS_TAP_COPY,
                                               .phase = (uint8_t)phase,
                                               .id = p->n.copies,
                                               .value = p->copy.job.bytes,
                                               .what = LS_COPY_PEER });
}

void copy_engine_start(peer *p, const ls_peer_command *command)
{
    copy_engine *c = &p->copy;
    c->job = *command;
    c->is_busy = true;
    c->read_bytes = c->acked_bytes = 0;
    tell(p, LS_TAP_BEGIN);
}

/* The next piece of the copy; false if there is none, or too many are under way. */
static bool open_piece(peer *p)
{
    copy_engine *c = &p->copy;
    if (!c->is_busy || c->read_bytes == c->job.bytes || index_pool_empty(&c->pool, c->piece_total))
        return false;
    uint64_t left = c->job.bytes - c->read_bytes;
    uint32_t bytes = (uint32_t)(left < p->spec->copy_bytes ? left : p->spec->copy_bytes);
    uint32_t sectors = (bytes + LS_SECTOR_BYTES - 1) / LS_SECTOR_BYTES;
    c->piece = index_pool_take(&c->pool, piece_links(p));
    c->piece_sector = 0;
    c->piece_address = c->job.from_address + c->read_bytes;
    c->pieces[c->piece] = (copy_piece){ .to_address = c->job.to_address + c->read_bytes,
                                        .bytes = bytes,
                                        .sectors = (uint16_t)sectors,
                                        .left = (uint16_t)sectors,
                                        .to = c->job.to };
    c->read_bytes += bytes;
    return true;
}

bool copy_engine_reads(peer *p)
{
    copy_engine *c = &p->copy;
    if (c->piece == INDEX_NONE && !open_piece(p))
        return false;
    for (; c->piece_sector < c->pieces[c->piece].sectors; c->piece_sector++)
        if (!peer_request_sector(p, c->piece_address + (uint64_t)c->piece_sector * LS_SECTOR_BYTES, 0,
                                 c->piece | LS_PEER_COPY_TOKEN, LS_SECTOR_READ, true))
            return false;
    c->piece = INDEX_NONE;
    return true;
}

void copy_engine_read(peer *p, uint32_t token)
{
    if (--p->copy.pieces[token].left == 0)
        index_list_append(&p->copy.ready, piece_links(p), token);
}

bool copy_engine_send(peer *p)
{
    copy_engine *c = &p->copy;
    if (index_list_empty(&c->ready))
        return false;
    const copy_piece *piece = &c->pieces[c->ready.first];
    const ls_peer_packet packet = { .address = piece->to_address,
                                    .sectors = (uint16_t)((1u << piece->sectors) - 1),
                                    .kind = LS_SECTOR_WRITE,
                                    .global = true };
    if (!peer_send(p, LS_FABRIC_COPY, LS_PEER_COPY, piece->to, c->ready.first, piece->to_address, piece->bytes,
                   (uint32_t)p->spec->header_bytes, &packet, sizeof packet))
        return false;
    p->n.copy_packets++;
    p->n.copy_bytes += piece->bytes;
    (void)index_list_pop(&c->ready, piece_links(p));
    return true;
}

void copy_engine_acked(peer *p, uint32_t token)
{
    copy_engine *c = &p->copy;
    c->acked_bytes += c->pieces[token].bytes;
    index_pool_give(&c->pool, piece_links(p), token);
    ls_domain_progress(p->domain);
    if (c->acked_bytes < c->job.bytes)
        return;
    c->is_busy = false;
    tell(p, LS_TAP_END);
    p->n.copies++;
    peer_notify(p, (ls_peer_notice){ .is_copy = 1 }, NULL);
}

bool copy_engine_has_work(const peer *p)
{
    const copy_engine *c = &p->copy;
    bool reads = c->piece != INDEX_NONE ||
                 (c->is_busy && c->read_bytes < c->job.bytes && !index_pool_empty(&c->pool, c->piece_total));
    return (reads && !p->ways[PEER_WAY_MEMORY].waits) ||
           (!index_list_empty(&c->ready) && !p->ways[LS_FABRIC_COPY].waits);
}

static uint64_t piece_length(const void *self)
{
    return ((const copy_engine *)self)->piece_total;
}

const ls_state_row copy_engine_rows[COPY_ENGINE_ROWS] = {
    LS_STATE_DATA_SPAN(copy_engine, job, piece_address),
    LS_STATE_ARRAY(copy_engine, pieces, piece_length),
    LS_STATE_FIXED(copy_engine, piece_total),
    LS_STATE_DATA_SPAN(copy_engine, pool, ready),
};
