/* directory.c: see directory.h: messages between the directory and the agents of GPUs. A question costs a read of the host's
 * memory, where the entries are; a change of a page costs a write. */
#include "model/migrate/directory.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void dir_fail(directory *d, const char *fmt, ...)
{
    va_list args;
    if (d->reason[0] != '\0')
        return;
    va_start(args, fmt);
    vsnprintf(d->reason, sizeof d->reason, fmt, args);
    va_end(args);
    ls_domain_fail(ls_region_domain(d->region), d->reason);
}

/* -------------------------------------------------------------------------------------------------- sending */

/* A message of a class; NULL: the link is full, and `event` runs when it is not. */
static ls_fabric_message *begin_message(directory *d, ls_fabric_class class_index, ls_event *event)
{
    ls_link *link = d->end->send[class_index];
    ls_fabric_message *m = ls_link_send(link, 1);
    if (m == NULL) {
        d->n.fabric_waits++;
        d->waits[class_index] = true;
        ls_link_wait(link, event);
    }
    return m;
}

static void fill(const directory *d, ls_fabric_message *m, ls_fabric_class class_index, migrate_kind kind,
                 uint32_t to, uint32_t token, const migrate_body *body)
{
    *m = (ls_fabric_message){ .from = (uint16_t)(d->end->ends - 1),
                              .to = (uint16_t)to,
                              .class_index = (uint8_t)class_index,
                              .kind = (uint8_t)kind,
                              .wire_bytes = MIGRATE_BODY_WIRE_BYTES,
                              .body_bytes = sizeof *body,
                              .token = token,
                              .address = body->address };
    memcpy(m->body, body, sizeof *body);
}

/* Accesses after which the GPU wants the page; 0: it does not. */
static uint16_t count_to(const directory *d, const dir_page *p, const dir_ask *a)
{
    bool counts = a->at != a->place && (a->flags & MIGRATE_STAY) == 0 && (p->flags & DIR_PINNED) == 0;
    return counts && d->spec->threshold > 1 ? (uint16_t)d->spec->threshold : 0;
}

void dir_send_grants(directory *d)
{
    while (!index_list_empty(&d->granting)) {
        const dir_ask *a = &d->asks[d->granting.first];
        const dir_page *p = &d->pages[a->unit];
        ls_fabric_message *m = begin_message(d, LS_FABRIC_WALK, &d->grant_ready);
        if (m == NULL)
            return;
        migrate_body body = { .address = p->address,
                              .frame = mem_place_physical(a->place, a->at, dir_frame(d, p, a->at)),
                              .token = a->token,
                              .to = count_to(d, p, a),
                              .size_log2 = d->sizes[a->unit],
                              .flags = (uint8_t)(MIGRATE_MANAGED | (a->is_writable ? MIGRATE_WRITE : 0)) };
        fill(d, m, LS_FABRIC_WALK, MIGRATE_GRANT, a->place, a->unit, &body);
        uint32_t i = index_list_pop(&d->granting, dir_ask_links(d));
        dir_tell(d, LS_TAP_ASK | i, (ls_tap_event){ .phase = LS_TAP_END });
        index_pool_give(&d->free_asks, dir_ask_links(d), i);
        d->asks_open--;
        ls_domain_pending(ls_region_domain(d->region), -1);
    }
}

static void shoot_body(const directory *d, const dir_transaction *t, uint32_t gpu, migrate_body *out)
{
    const dir_page *p = &d->pages[t->unit];
    bool sends = gpu == t->sender;
    uint32_t at = dir_holds(p, gpu) ? gpu : dir_first_holder(p);
    *out = (migrate_body){ .address = p->address,
                           .frame = mem_place_physical(gpu, at, dir_frame(d, p, at)),
                           .size_log2 = t->size_log2,
                           .flags = (uint8_t)((t->forget & dir_bit(gpu)) != 0 ? MIGRATE_FORGET : 0) };
    if (!sends)
        return;
    out->flags |= MIGRATE_SEND;
    out->to = (uint16_t)dir_end_of(d, t->to);
    out->to_frame = dir_frame(d, p, t->to);
}

void dir_send_shoots(directory *d)
{
    while (!index_list_empty(&d->shooting)) {
        uint32_t i = d->shooting.first;
        dir_transaction *t = &d->transactions[i];
        while (t->shoot != 0) {
            uint32_t gpu = (uint32_t)__builtin_ctzll(t->shoot);
            ls_fabric_message *m = begin_message(d, LS_FABRIC_INVALIDATE, &d->shoot_ready);
            if (m == NULL)
                return;
            migrate_body body;
            shoot_body(d, t, gpu, &body);
            fill(d, m, LS_FABRIC_INVALIDATE, MIGRATE_SHOOT, gpu, i, &body);
            t->shoot &= t->shoot - 1;
            d->n.shootdowns += (body.flags & MIGRATE_FORGET) != 0;
        }
        index_list_pop(&d->shooting, dir_transaction_links(d));
        t->is_shooting = false;
    }
}

void dir_update(directory *d, ls_cycle now)
{
    d->n.updates++;
    host_memory_time(d->host, d->line_bytes, now);
}

/* ------------------------------------------------------------------------------------------------ receiving */

/* A question: an entry of the directory is read. */
static bool begin_look(directory *d, uint32_t gpu, const migrate_body *body, dir_ask_kind kind, ls_cycle taken,
                       ls_cycle now)
{
    if (dir_find_range(d, body->address) == NULL)
        return false;
    if (index_pool_empty(&d->free_asks, d->ask_count) || d->reason[0] != '\0') {
        dir_fail(d, "%s holds %u page walks, and no more: migrate.asks is too small", d->name, d->ask_count);
        return true;
    }
    uint32_t i = index_pool_take(&d->free_asks, dir_ask_links(d));
    d->asks[i] = (dir_ask){ .address = body->address,
                            .taken = taken,
                            .ready = host_memory_time(d->host, d->line_bytes, now),
                            .token = body->token,
                            .place = (uint8_t)gpu,
                            .kind = (uint8_t)kind,
                            .flags = body->flags };
    dir_tell_ask(d, i);
    d->n.asks += kind == DIR_WALK;
    d->n.counted += kind == DIR_COUNTED;
    d->n.lookups++;
    d->asks_open++;
    d->n.asks_peak = d->n.asks_peak < d->asks_open ? d->asks_open : d->n.asks_peak;
    ls_domain_pending(ls_region_domain(d->region), 1);
    index_list_append(&d->looking, dir_ask_links(d), i);
    dir_arm(d, &d->look_event, d->asks[d->looking.first].ready);
    return true;
}

static bool walked(void *self, uint32_t gpu, const void *body, ls_cycle taken, ls_cycle now)
{
    return begin_look(self, gpu, body, DIR_WALK, taken, now);
}

static void look_event(void *self, ls_cycle now)
{
    directory *d = self;
    if (d->spec->sender != 0 && d->hops == NULL && dir_measure_hops(d, NULL) != LS_OK)
        dir_fail(d, "no memory for '%s'", d->name);
    while (!index_list_empty(&d->looking) && d->asks[d->looking.first].ready <= now)
        dir_enqueue(d, index_list_pop(&d->looking, dir_ask_links(d)), now);
    if (!index_list_empty(&d->looking))
        dir_arm(d, &d->look_event, d->asks[d->looking.first].ready);
}

static void taken(directory *d, const ls_fabric_message *m, ls_cycle now)
{
    if (m->token >= d->unit_room || d->sizes[m->token] == 0 || d->pages[m->token].grants == 0) {
        dir_fail(d, "%s was told that GPU %u has taken grant %u, which is not open", d->name, m->from,
                 m->token);
        return;
    }
    d->pages[m->token].grants--;
    dir_step(d, m->token, now);
    dir_start_waiting(d, now);
}

static void message(void *self, ls_link *link, const ls_fabric_message *m, ls_cycle now)
{
    directory *d = self;
    const migrate_body *body = (const void *)m->body;
    if (m->kind == MIGRATE_PIECE) {
        dir_host_piece(d, link, m, now);
        return;
    }
    switch (m->kind) {
    case MIGRATE_TAKEN:
        taken(d, m, now);
        break;
    case MIGRATE_COUNTED:
        begin_look(d, m->from, body, DIR_COUNTED, now, now);
        break;
    case MIGRATE_SHOT:
        dir_shot(d, m->token, m->from, now);
        break;
    case MIGRATE_ARRIVED:
        dir_arrived(d, m->token, m->from, now);
        break;
    default:
        dir_fail(d, "%s got a message of kind %u of GPU %u, which it does not know", d->name, m->kind,
                 m->from);
    }
    ls_link_release(link, 1);
}

const ls_host_directory_ops dir_host_ops = { .walked = walked, .message = message };

/* --------------------------------------------------------------------------------------------------- events */

static void grant_ready(void *self, ls_cycle now)
{
    directory *d = self;
    (void)now;
    d->waits[LS_FABRIC_WALK] = false;
    dir_send_grants(d);
}

static void shoot_ready(void *self, ls_cycle now)
{
    directory *d = self;
    (void)now;
    d->waits[LS_FABRIC_INVALIDATE] = false;
    dir_send_shoots(d);
}

static void piece_ready(void *self, ls_cycle now)
{
    directory *d = self;
    d->waits[LS_FABRIC_MIGRATE] = false;
    dir_send_pieces(d, now);
}

void dir_init_events(directory *d)
{
    ls_event_init(&d->look_event, look_event, d);
    ls_event_init(&d->fault_event, dir_fault_event, d);
    ls_event_init(&d->access_event, dir_access_event, d);
    ls_event_init(&d->order_event, dir_order_event, d);
    ls_event_init(&d->grant_ready, grant_ready, d);
    ls_event_init(&d->shoot_ready, shoot_ready, d);
    ls_event_init(&d->piece_ready, piece_ready, d);
}

/* ---------------------------------------------------------------------------------------------------- waits */

static const char *end_name(const directory *d, uint32_t number)
{
    const ls_engine *engine = ls_domain_engine(ls_region_domain(d->region));
    const ls_fabric_end *end;
    for (uint32_t i = 0; (end = ls_engine_part(engine, LS_FABRIC_END_PART, i)) != NULL; i++)
        if (end->number == number)
            return end->name;
    return d->end->name;
}

static void report_transaction(const directory *d, const dir_transaction *t, ls_wait_sink *sink)
{
    char text[96];
    unsigned long long address = d->pages[t->unit].address;
    for (uint64_t mask = t->awaited & ~t->shoot; mask != 0; mask &= mask - 1) {
        snprintf(text, sizeof text, "the page at 0x%llx: its shootdown is not done", address);
        ls_wait_report(sink, d->name, end_name(d, (uint32_t)__builtin_ctzll(mask)), text);
    }
    if (t->awaited == 0 && t->awaits_data) {
        snprintf(text, sizeof text, "the page at 0x%llx: it has not arrived", address);
        ls_wait_report(sink, d->name, end_name(d, t->to), text);
    }
}

void dir_waits(const void *self, ls_wait_sink *sink)
{
    const directory *d = self;
    static const ls_fabric_class classes[] = { LS_FABRIC_WALK, LS_FABRIC_INVALIDATE, LS_FABRIC_MIGRATE };
    for (uint32_t i = 0; i < d->spec->in_flight; i++)
        if (d->transactions[i].is_active)
            report_transaction(d, &d->transactions[i], sink);
    for (uint32_t i = 0; i < LS_COUNT_OF(classes); i++)
        if (d->waits[classes[i]])
            ls_wait_report(sink, d->name, ls_link_name(d->end->send[classes[i]]),
                           "a message waits for the fabric");
    for (uint32_t unit = 0; unit < d->unit_room; unit++) {
        const dir_page *p = &d->pages[unit];
        if (d->sizes[unit] == 0 || (unit & ((1u << (d->sizes[unit] - d->unit_log2)) - 1)) != 0)
            continue;
        if (p->grants == 0 || index_list_empty(&p->asks))
            continue;
        char text[96];
        snprintf(text, sizeof text, "the page at 0x%llx: %u grants were not taken",
                 (unsigned long long)p->address, p->grants);
        ls_wait_report(sink, d->name, end_name(d, (uint32_t)__builtin_ctzll(p->mappers)), text);
    }
}
