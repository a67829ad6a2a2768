/* bank_queue.c: requests that wait for their bank to become free.
 *
 * FR-FCFS: first the oldest request of the open row, else the oldest request of the bank. Once a row is open,
 * its requests are served until none is left, also requests that arrive meanwhile. A cap bounds that: after
 * this many requests from a row, while others of the bank wait, the oldest request of the bank is next. FCFS:
 * in the order of arrival, independent of banks. The oldest request waits for its bank, and all others wait
 * for it. A plug-in's scheduler (lockstep/policy.h) chooses among all requests whose bank is free.
 *
 * Writes may wait apart: they are served once write_high of them wait, until fewer than write_low do, and
 * whenever there is no read. */
#include "model/dram/bank.h"

/* ------------------------------------------------------------------------------- a plug-in's scheduler */

ls_status bank_queue_init(bank_channel *c, ls_error *err)
{
    uint32_t most = c->limit[0] > c->limit[1] ? c->limit[0] : c->limit[1];
    policy_found found;
    c->arrived[0] = c->arrived[1] = INDEX_LIST_EMPTY;
    if (c->spec->scheduler < BANK_SCHEDULERS)
        return LS_OK;
    ls_status status = policy_find(POLICY_DRAM_SCHEDULER, c->spec->scheduler - BANK_SCHEDULERS, &found, err);
    if (status != LS_OK)
        return status;
    c->scheduler = found.ops;
    c->scheduler_bytes = c->scheduler->state_bytes(c->bank_mask + 1);
    status = policy_alloc(POLICY_DRAM_SCHEDULER, &found, c->domain, &c->scheduler_bytes,
                          LS_DRAM_SCHEDULER_BYTES_MAX, 1, "a channel", &c->scheduler_state, err);
    if (status != LS_OK)
        return status;
    c->waiting_view = ls_domain_alloc(c->domain, most * sizeof *c->waiting_view);
    c->waiting_numbers = ls_domain_alloc(c->domain, most * sizeof *c->waiting_numbers);
    if (c->waiting_view == NULL || c->waiting_numbers == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for DRAM channel '%s'", c->name);
    return policy_failure(POLICY_DRAM_SCHEDULER, &found, c->domain, "chose a request that is not there",
                          &c->failure, err);
}

/* The requests whose bank is free, the oldest first; at least one is. */
static uint32_t view_waiting(bank_channel *c, uint32_t kind, ls_cycle t)
{
    uint32_t count = 0;
    for (uint32_t i = c->arrived[kind].first; i != BANK_NONE; i = c->requests[i].next) {
        const bank_request *r = &c->requests[i];
        const bank *b = &c->banks[r->bank];
        if ((c->busy & b->bit) != 0)
            continue;
        c->waiting_numbers[count] = i;
        c->waiting_view[count++] = (ls_dram_waiting){ .waited_cycles = t > r->pushed ? t - r->pushed : 0,
                                                      .row = r->row,
                                                      .bank = r->bank,
                                                      .row_hit = b->open && b->row == r->row,
                                                      .write = r->write };
    }
    return count;
}

/* Takes a request out of the order of arrival, and its bank out of those with requests if it was the last. */
static void remove_arrived(bank_channel *c, uint32_t kind, uint32_t request)
{
    bool more = false;
    index_list_remove(&c->arrived[kind], INDEX_LINKS(c->requests, next), request);
    for (uint32_t i = c->arrived[kind].first; i != BANK_NONE && !more; i = c->requests[i].next)
        more = c->requests[i].bank == c->requests[request].bank;
    if (!more)
        c->queued[kind] &= ~c->banks[c->requests[request].bank].bit;
}

static __attribute__((noinline)) uint32_t take_chosen(bank_channel *c, uint32_t kind, ls_cycle t)
{
    uint32_t count = view_waiting(c, kind, t);
    uint32_t chosen = c->scheduler->choose(c->scheduler_state, c->waiting_view, count);
    if (LS_UNLIKELY(chosen >= count)) {
        ls_domain_fail(c->domain, c->failure);
        chosen = 0;
    }
    uint32_t request = c->waiting_numbers[chosen];
    remove_arrived(c, kind, request);
    return request;
}

/* --------------------------------------------------------------------------------------------------- FCFS */

/* The mask has all banks with requests for a plug-in's scheduler, and that of the oldest request for FCFS. */
static void arrived_add(bank_channel *c, uint32_t kind, uint32_t request)
{
    if (c->scheduler != NULL || index_list_empty(&c->arrived[kind]))
        c->queued[kind] |= UINT64_C(1) << c->requests[request].bank;
    index_list_append(&c->arrived[kind], INDEX_LINKS(c->requests, next), request);
}

static uint32_t arrived_take(bank_channel *c, uint32_t kind, ls_cycle t)
{
    if (c->scheduler != NULL)
        return take_chosen(c, kind, t);
    uint32_t request = index_list_pop(&c->arrived[0], INDEX_LINKS(c->requests, next));
    c->queued[0] = index_list_empty(&c->arrived[0]) ? 0 : UINT64_C(1) << c->requests[c->arrived[0].first].bank;
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
    bank_queue_count(c, kind, 1);
    if (LS_UNLIKELY(kind != 0) && c->waiting[1] >= c->write_high)
        c->draining = true;
    if (c->in_order) {
        arrived_add(c, kind, request);
        return;
    }
    if (r->waiting++ != 0)
        return;
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
    index_order_append(&rows->order, INDEX_LINKS(c->requests, older), INDEX_LINKS(c->requests, newer),
                       request);
}

uint32_t bank_queue_take_any(bank_channel *c, uint32_t kind, bank *b, ls_cycle t)
{
    c->waiting[kind]--;
    if (LS_UNLIKELY(kind != 0) && c->waiting[1] < c->write_low)
        c->draining = false;
    if (c->in_order)
        return arrived_take(c, kind, t);
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
    return bank_queue_take_first(c, kind, b, 1);
}
