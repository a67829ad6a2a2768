/* bank_queue.c: requests that wait for their bank to become free.
 *
 * FR-FCFS: first the oldest request of the open row, else the oldest request of the bank. Once a row is open,
 * its requests are served until none is left, also requests that arrive meanwhile. A cap bounds that: after
 * this many requests from a row, while others of the bank wait, the oldest request of the bank is next. FCFS:
 * in the order of arrival, independent of banks. The oldest request waits for its bank, and all others wait
 * for it.
 *
 * Writes may wait apart: they are served once write_high of them wait, until fewer than write_low do, and
 * whenever there is no read. */
#include "model/dram/bank.h"

/* --------------------------------------------------------------------------------------------------- FCFS */

static void fcfs_add(bank_channel *c, uint32_t request)
{
    if (index_list_empty(&c->fcfs))
        c->queued[0] = UINT64_C(1) << c->requests[request].bank;
    index_list_append(&c->fcfs, INDEX_LINKS(c->requests, next), request);
}

static uint32_t fcfs_take(bank_channel *c)
{
    uint32_t request = index_list_pop(&c->fcfs, INDEX_LINKS(c->requests, next));
    c->queued[0] = index_list_empty(&c->fcfs) ? 0 : UINT64_C(1) << c->requests[c->fcfs.first].bank;
    return request;
}

/* ------------------------------------------------------------------------------------------------ FR-FCFS */

/* Inserts a row into the order of rows, after `older` (BANK_NONE: as the oldest). */
static void insert_row(bank_channel *c, bank_rows *rows, uint32_t first, uint32_t older)
{
    index_order_insert(&rows->order, INDEX_LINKS(c->requests, older), INDEX_LINKS(c->requests, newer), first,
                       older);
}

static void remove_row(bank_channel *c, bank_rows *rows, uint32_t first)
{
    index_order_remove(&rows->order, INDEX_LINKS(c->requests, older), INDEX_LINKS(c->requests, newer), first);
}

static void serve_row(bank_channel *c, bank_rows *rows, uint32_t first)
{
    remove_row(c, rows, first);
    rows->first = first;
    rows->last = c->requests[first].last;
    rows->row = c->requests[first].row;
    rows->served = 0;
}

/* The row being served goes back among the others, by the age of its remaining requests. */
static void put_row_back(bank_channel *c, bank_rows *rows)
{
    uint32_t first = rows->first, older = rows->order.newest;
    c->requests[first].last = rows->last;
    while (older != BANK_NONE && c->requests[older].enter > c->requests[first].enter)
        older = c->requests[older].older;
    insert_row(c, rows, first, older);
    rows->first = BANK_NONE;
}

void bank_queue_add(bank_channel *c, uint32_t kind, uint32_t request)
{
    bank_request *r = &c->requests[request];
    c->waiting[kind]++;
    if (LS_UNLIKELY(kind != 0) && c->waiting[1] >= c->write_high)
        c->draining = true;
    if (c->waiting[0] + c->waiting[1] > c->n.queue_peak)
        c->n.queue_peak = c->waiting[0] + c->waiting[1];
    if (c->in_order) {
        fcfs_add(c, request);
        return;
    }
    bank *b = &c->banks[r->bank];
    bank_rows *rows = &b->rows[kind];
    c->queued[kind] |= b->bit;
    r->next = BANK_NONE;
    if (rows->first != BANK_NONE && rows->row == r->row) {
        c->requests[rows->last].next = request;
        rows->last = request;
        return;
    }
    for (uint32_t first = rows->order.newest; first != BANK_NONE; first = c->requests[first].older) {
        if (c->requests[first].row == r->row) {
            c->requests[c->requests[first].last].next = request;
            c->requests[first].last = request;
            return;
        }
    }
    r->last = request;
    insert_row(c, rows, request, rows->order.newest);
}

uint32_t bank_queue_take(bank_channel *c, uint32_t kind, bank *b)
{
    c->waiting[kind]--;
    if (LS_UNLIKELY(kind != 0) && c->waiting[1] < c->write_low)
        c->draining = false;
    if (c->in_order)
        return fcfs_take(c);
    bank_rows *rows = &b->rows[kind];
    if (rows->first == BANK_NONE) {
        uint32_t first = rows->order.oldest;
        while (first != BANK_NONE && c->requests[first].row != b->row)
            first = c->requests[first].newer;
        serve_row(c, rows, first != BANK_NONE ? first : rows->order.oldest);
    } else if (LS_UNLIKELY(rows->served == c->cap && rows->order.oldest != BANK_NONE)) {
        put_row_back(c, rows);
        serve_row(c, rows, rows->order.oldest);
    }
    if (rows->order.oldest != BANK_NONE)
        rows->served++;
    uint32_t request = rows->first;
    rows->first = c->requests[request].next;
    if (rows->first == BANK_NONE && rows->order.oldest == BANK_NONE)
        c->queued[kind] &= ~b->bit;
    return request;
}
