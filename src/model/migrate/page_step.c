/* page_step.c: see directory.h: the questions of a page in their order. A question is answered as soon as the page's state
 * allows; else it waits for a change of the page, and all later ones with it. So no question waits for ever. */
#include "model/migrate/directory.h"

static void end_ask(directory *d, uint32_t i)
{
    if (d->asks[i].kind == DIR_MOVE)
        d->order_open--;
    dir_tell(d, LS_TAP_ASK | i, (ls_tap_event){ .phase = LS_TAP_END });
    index_pool_give(&d->free_asks, dir_ask_links(d), i);
    d->asks_open--;
    ls_domain_pending(ls_region_domain(d->region), -1);
}

/* The page stays as it is until the GPU has taken the grant. */
static void grant(directory *d, uint32_t unit, uint32_t i, const dir_plan *plan, ls_cycle now)
{
    dir_page *p = &d->pages[unit];
    dir_ask *a = &d->asks[i];
    bool is_remote = plan->to != a->place;
    a->unit = unit;
    a->at = (uint8_t)plan->to;
    a->is_writable = plan->is_writable;
    p->grants++;
    p->mappers |= dir_bit(a->place);
    p->remote |= is_remote ? dir_bit(a->place) : 0;
    p->used |= dir_bit(plan->to);
    d->n.grants++;
    d->n.remote_grants += is_remote;
    d->n.ask_cycles += now - a->taken;
    dir_check_grant(d, unit, a->place, plan->to, plan->is_writable);
    dir_tell_step(d, LS_TAP_ASK | i, LS_STEP_GRANT);
    index_list_append(&d->granting, dir_ask_links(d), i);
    if (!d->waits[LS_FABRIC_WALK])
        dir_send_grants(d);
}

/* A page that is not where it is needed costs the time of a far fault first. */
static bool begin_fault(directory *d, dir_page *p, uint32_t i, ls_cycle now)
{
    dir_ask *a = &d->asks[i];
    if (d->fault_cycles == 0 || a->has_faulted || a->kind == DIR_MOVE)
        return false;
    a->has_faulted = true;
    a->ready = now + d->fault_cycles;
    p->flags |= DIR_FAULTS;
    d->n.far_faults++;
    dir_tell_step(d, LS_TAP_ASK | i, LS_STEP_FAR_FAULT);
    /* It keeps its place at the head of its page: the list of faults uses the other link. */
    a->next_waiting = INDEX_NONE;
    index_list_append(&d->faulting, INDEX_LINKS(d->asks, next_waiting), i);
    dir_arm(d, &d->fault_event, d->asks[d->faulting.first].ready);
    return true;
}

void dir_step(directory *d, uint32_t unit, ls_cycle now)
{
    dir_page *p = &d->pages[unit];
    while (!index_list_empty(&p->asks) && p->transaction == INDEX_NONE &&
           (p->flags & (DIR_WAITS | DIR_FAULTS)) == 0) {
        uint32_t i = p->asks.first;
        dir_plan plan;
        dir_plan_ask(d, p, &d->asks[i], &plan);
        if (plan.change == DIR_NONE) {
            index_list_pop(&p->asks, dir_ask_links(d));
            if (plan.grants)
                grant(d, unit, i, &plan, now);
            else
                end_ask(d, i);
            continue;
        }
        if (p->grants == 0 && !begin_fault(d, p, i, now))
            dir_wait(d, i, now);
        return;
    }
    if (d->spec->merge && p->transaction == INDEX_NONE)
        dir_merge(d, unit);
}

void dir_fault_event(void *self, ls_cycle now)
{
    directory *d = self;
    while (!index_list_empty(&d->faulting) && d->asks[d->faulting.first].ready <= now) {
        uint32_t i = index_list_pop(&d->faulting, INDEX_LINKS(d->asks, next_waiting));
        uint32_t unit = d->asks[i].unit;
        d->pages[unit].flags &= (uint8_t) ~(unsigned)DIR_FAULTS;
        dir_step(d, unit, now);
    }
    if (!index_list_empty(&d->faulting))
        dir_arm(d, &d->fault_event, d->asks[d->faulting.first].ready);
}

void dir_enqueue(directory *d, uint32_t i, ls_cycle now)
{
    uint32_t unit = dir_find(d, d->asks[i].address);
    d->asks[i].unit = unit;
    dir_tell_step(d, LS_TAP_ASK | i, LS_STEP_PAGE_WAIT);
    index_list_append(&d->pages[unit].asks, dir_ask_links(d), i);
    dir_step(d, unit, now);
}

/* --------------------------------------------------------------------------------------------------- orders */

/* At most as many pages at once as there are transactions; the next follows when one has arrived. */
void dir_order_event(void *self, ls_cycle now)
{
    directory *d = self;
    while (d->order_first < d->order_count && d->order_open < d->spec->in_flight) {
        dir_order *o = &d->orders[d->order_first];
        uint32_t unit = dir_find(d, o->address), i = index_pool_take(&d->free_asks, dir_ask_links(d));
        d->asks[i] =
            (dir_ask){ .address = o->address, .taken = now, .place = (uint8_t)o->place, .kind = DIR_MOVE };
        o->address = d->pages[unit].address + dir_page_bytes(d, unit);
        d->order_first += o->address >= o->end;
        d->order_open++;
        d->asks_open++;
        ls_domain_pending(ls_region_domain(d->region), 1);
        dir_tell_ask(d, i);
        dir_enqueue(d, i, now);
    }
}
