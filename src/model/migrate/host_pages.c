/* host_pages.c: see directory.h: the host as a holder of pages. Pages that leave it are read line by line, one page after
 * another, with at most migrate.host_lines lines read or waiting for the fabric. Lines that come are written. Both take
 * turns in the host's memory with all other accesses. */
#include "model/migrate/directory.h"

#include <string.h>

static uint32_t take_line(directory *d, uint32_t transaction)
{
    uint32_t i = index_pool_take(&d->free_lines, dir_line_links(d));
    d->lines[i] = (dir_line){ .transaction = transaction };
    return i;
}

static void begin_access(directory *d, uint32_t i, ls_cycle now)
{
    d->lines[i].ready = host_memory_time(d->host, d->line_bytes, now);
    index_list_append(&d->accessing, dir_line_links(d), i);
    dir_arm(d, &d->access_event, d->lines[d->accessing.first].ready);
    ls_domain_pending(ls_region_domain(d->region), 1);
}

/* -------------------------------------------------------------------------------------------------- sending */

static uint32_t line_total(const directory *d, const dir_transaction *t)
{
    return (uint32_t)((UINT64_C(1) << t->size_log2) / d->line_bytes);
}

static void read_more(directory *d, ls_cycle now)
{
    while (!index_list_empty(&d->sending) && d->lines_open < d->spec->host_lines) {
        uint32_t which = d->sending.first;
        dir_transaction *t = &d->transactions[which];
        uint32_t i = take_line(d, which);
        ls_line_message *m = &d->lines[i].line;
        m->kind = LS_LINE_READ;
        m->flags = LS_LINE_SYSTEM;
        m->address =
            dir_frame(d, &d->pages[t->unit], MEM_PLACE_HOST) + (uint64_t)t->lines_read * d->line_bytes;
        m->token = t->lines_read++;
        d->lines_open++;
        begin_access(d, i, now);
        if (t->lines_read == line_total(d, t))
            index_list_pop(&d->sending, INDEX_LINKS(d->transactions, next_send));
    }
}

void dir_host_send(directory *d, uint32_t i, ls_cycle now)
{
    index_list_append(&d->sending, INDEX_LINKS(d->transactions, next_send), i);
    read_more(d, now);
}

static void fill_piece(const directory *d, const dir_line *line, ls_fabric_message *to)
{
    const dir_transaction *t = &d->transactions[line->transaction];
    ls_line_message piece = line->line;
    piece.kind = LS_LINE_WRITE;
    piece.flags = 0;
    piece.mask[0] = UINT64_MAX;
    piece.mask[1] = d->line_bytes == LS_LINE_BYTES_MAX ? UINT64_MAX : 0;
    piece.address = dir_frame(d, &d->pages[t->unit], t->to) + (uint64_t)line->line.token * d->line_bytes;
    piece.token = line_total(d, t);
    *to = (ls_fabric_message){ .from = (uint16_t)(d->end->ends - 1),
                               .to = (uint16_t)dir_end_of(d, t->to),
                               .class_index = LS_FABRIC_MIGRATE,
                               .kind = MIGRATE_PIECE,
                               .data_bytes = (uint16_t)d->line_bytes,
                               .wire_bytes = (uint16_t)(d->line_bytes + MIGRATE_PIECE_HEAD_BYTES),
                               .body_bytes = (uint16_t)(LS_LINE_HEAD_BYTES + d->line_bytes),
                               .token = line->transaction,
                               .address = piece.address };
    memcpy(to->body, &piece, to->body_bytes);
}

void dir_send_pieces(directory *d, ls_cycle now)
{
    while (!index_list_empty(&d->pieces)) {
        ls_fabric_message *m = ls_link_send(d->end->send[LS_FABRIC_MIGRATE], 1);
        if (m == NULL) {
            d->n.fabric_waits++;
            d->waits[LS_FABRIC_MIGRATE] = true;
            ls_link_wait(d->end->send[LS_FABRIC_MIGRATE], &d->piece_ready);
            break;
        }
        uint32_t i = index_list_pop(&d->pieces, dir_line_links(d)), which = d->lines[i].transaction;
        dir_transaction *t = &d->transactions[which];
        fill_piece(d, &d->lines[i], m);
        index_pool_give(&d->free_lines, dir_line_links(d), i);
        d->lines_open--;
        ls_domain_pending(ls_region_domain(d->region), -1);
        if (++t->lines_moved == line_total(d, t))
            dir_host_sent(d, which, now);
    }
    read_more(d, now);
}

/* ---------------------------------------------------------------------------------------------------- coming */

void dir_host_piece(directory *d, ls_link *link, const ls_fabric_message *m, ls_cycle now)
{
    if (m->token >= d->spec->in_flight || !d->transactions[m->token].is_active ||
        d->transactions[m->token].to != MEM_PLACE_HOST || !d->transactions[m->token].awaits_data) {
        dir_fail(d, "%s got a piece of a page of GPU %u that it does not await", d->name, m->from);
        ls_link_release(link, 1);
        return;
    }
    uint32_t i = take_line(d, m->token); /* credits say that there is one */
    d->lines[i].link = link;
    memcpy(&d->lines[i].line, m->body, LS_LINE_HEAD_BYTES + d->line_bytes);
    d->lines[i].line.flags = LS_LINE_SYSTEM;
    begin_access(d, i, now);
}

static void end_write(directory *d, uint32_t i, ls_cycle now)
{
    dir_line *line = &d->lines[i];
    uint32_t which = line->transaction, total = line->line.token;
    ls_link_release(line->link, 1);
    index_pool_give(&d->free_lines, dir_line_links(d), i);
    ls_domain_pending(ls_region_domain(d->region), -1);
    if (++d->transactions[which].lines_moved == total)
        dir_arrived(d, which, MEM_PLACE_HOST, now);
}

void dir_access_event(void *self, ls_cycle now)
{
    directory *d = self;
    while (!index_list_empty(&d->accessing) && d->lines[d->accessing.first].ready <= now) {
        uint32_t i = index_list_pop(&d->accessing, dir_line_links(d));
        dir_line *line = &d->lines[i];
        host_memory_line(d->host, &line->line);
        if ((line->line.flags & LS_LINE_FAULT) != 0)
            dir_fail(d, "the host has no memory at 0x%llx for a page that migrates",
                     (unsigned long long)line->line.address);
        if (line->link != NULL)
            end_write(d, i, now);
        else
            index_list_append(&d->pieces, dir_line_links(d), i);
    }
    if (!index_list_empty(&d->pieces) && !d->waits[LS_FABRIC_MIGRATE])
        dir_send_pieces(d, now);
    if (!index_list_empty(&d->accessing))
        dir_arm(d, &d->access_event, d->lines[d->accessing.first].ready);
}
