/* packets.c: the queue of a command processor and the packets that have ended: ls_packets of lockstep/command.h. */
#include "model/amd/command_impl.h"

static void on_rest(void *self, ls_cycle now)
{
    (void)self;
    (void)now;
}

void ls_packets_init(ls_packets *packets, ls_region *region)
{
    *packets = (ls_packets){ .region = region };
    ls_event_init(&packets->rest, on_rest, packets);
}

void ls_packets_submit(ls_packets *s, ls_command_packet *p)
{
    p->next = NULL;
    p->has_begun = false;
    p->groups = p->waves = 0;
    p->tally = (ls_cu_tally){ 0 };
    p->has_fault = false;
    if (s->tail != NULL)
        s->tail->next = p;
    else
        s->head = p;
    s->tail = p;
    ls_domain_pending(ls_region_domain(s->region), 1);
}

ls_command_packet *ls_packets_begin(ls_packets *s, bool kernels)
{
    for (ls_command_packet *p = s->head; p != NULL; p = p->next) {
        if (p->has_begun)
            continue;
        if (p->barrier && p != s->head)
            return NULL;
        if (p->kind == LS_PACKET_TRANSFER || kernels) {
            p->has_begun = true;
            p->begin = ls_region_time(s->region);
            return p;
        }
    }
    return NULL;
}

static void take_out(ls_packets *s, ls_command_packet *p)
{
    ls_command_packet *before = NULL;
    for (ls_command_packet *at = s->head; at != p; at = at->next)
        before = at;
    *(before != NULL ? &before->next : &s->head) = p->next;
    if (s->tail == p)
        s->tail = before;
    p->next = NULL;
}

/* Cycles after which the stop that follows a packet's end is certainly past. */
static uint64_t rest_cycles(const ls_packets *s)
{
    ls_time delay = ls_engine_stop_delay(ls_domain_engine(ls_region_domain(s->region)));
    return delay / ls_clock_span(ls_region_clock(s->region), 1) + 2;
}

void ls_packets_end(ls_packets *s, ls_command_packet *p)
{
    ls_domain *domain = ls_region_domain(s->region);
    p->end = ls_region_time(s->region);
    take_out(s, p);
    if (s->done_tail != NULL)
        s->done_tail->next = p;
    else
        s->done_head = p;
    s->done_tail = p;
    ls_domain_pending(domain, -1);
    ls_domain_progress(domain);
    ls_domain_stop(domain); /* its waiters look */
    if (s->rest_cycles == 0)
        s->rest_cycles = rest_cycles(s);
    ls_cancel(&s->rest);
    ls_schedule(s->region, &s->rest, s->rest_cycles);
}

ls_command_packet *ls_packets_take(void *self)
{
    ls_packets *s = self;
    ls_command_packet *p = s->done_head;
    if (p != NULL) {
        s->done_head = p->next;
        if (s->done_head == NULL)
            s->done_tail = NULL;
        p->next = NULL;
    }
    return p;
}

bool ls_packets_unfinished(const void *self, ls_time *begin)
{
    const ls_packets *s = self;
    *begin = LS_TIME_MAX;
    for (const ls_command_packet *p = s->head; p != NULL; p = p->next)
        if (p->has_begun && p->kind == LS_PACKET_KERNEL && p->begin < *begin)
            *begin = p->begin;
    for (const ls_command_packet *p = s->done_head; p != NULL; p = p->next)
        if (p->kind == LS_PACKET_KERNEL && p->begin < *begin)
            *begin = p->begin;
    return *begin != LS_TIME_MAX;
}

static bool is_before(const uint32_t a[3], const uint32_t b[3])
{
    for (uint32_t i = 3; i-- > 0;)
        if (a[i] != b[i])
            return a[i] < b[i];
    return false;
}

void ls_packet_add_done(ls_command_packet *p, const ls_cu_done *done)
{
    LS_COUNTS_ADD(&p->tally, &done->tally);
    if (done->fault.kind == LS_FAULT_NONE)
        return;
    if (!p->has_fault || is_before(done->id, p->fault.id))
        p->fault = *done;
    p->has_fault = true;
}

uint64_t ls_cu_kernel_groups(const ls_cu_kernel *k)
{
    uint64_t groups = 1;
    if (k->which.count != 0)
        return k->which.count;
    for (uint32_t i = 0; i < 3; i++)
        groups *= (k->grid[i] + k->group[i] - 1) / k->group[i];
    return groups;
}

void ls_packet_launch(ls_command_packet *p, const ls_cu_capacity *capacity, ls_cu_launch *launch)
{
    const ls_cu_kernel *k = &p->kernel;
    uint32_t items = 1, lanes = ls_cu_kernel_lanes(k);
    uint32_t simds = p->one_half ? capacity->simds / capacity->halves : capacity->simds;
    uint64_t index = ls_groups_at(&k->which, p->groups++);
    *launch = (ls_cu_launch){ .kernel = 0 };
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t groups = (k->grid[i] + k->group[i] - 1) / k->group[i];
        launch->id[i] = (uint32_t)(index % groups);
        index /= groups;
        uint32_t left = k->grid[i] - launch->id[i] * k->group[i]; /* the last ones may be smaller */
        items *= left < k->group[i] ? left : k->group[i];
    }
    launch->wave_count = (uint16_t)((items + lanes - 1) / lanes);
    for (uint32_t i = 0; i < launch->wave_count; i++)
        launch->simd[i] = (uint8_t)(i % simds);
    p->waves += launch->wave_count;
}

place_need command_need_of(const place_spec *spec, const ls_command_packet *p)
{
    const ls_cu_kernel *k = &p->kernel;
    uint32_t items = k->group[0] * k->group[1] * k->group[2], lanes = ls_cu_kernel_lanes(k);
    return place_need_of(spec, (items + lanes - 1) / lanes, ls_cu_kernel_vgprs(k), lanes, p->sgprs,
                         k->lds_bytes, p->one_half);
}

ls_status ls_packet_fit(ls_command_packet *p, const ls_cu_capacity *capacity, ls_error *err)
{
    place_spec spec;
    place_limit limit = PLACE_FITS;
    ls_status status = p->kind == LS_PACKET_KERNEL ? place_init(&spec, capacity, err) : LS_OK;
    if (status != LS_OK || p->kind != LS_PACKET_KERNEL)
        return status;
    place_need need = command_need_of(&spec, p);
    p->groups_per_cu = need.waves > LS_CU_WAVES_PER_GROUP_MAX ? 0 : place_most(&spec, &need, &limit);
    p->limit = place_limit_name(limit);
    p->waves_per_cu = p->groups_per_cu * need.waves;
    if (p->groups_per_cu > 0)
        return LS_OK;
    return ls_fail(err, LS_ERR_UNSUPPORTED,
                   "kernel %s: a work-group of %u waves with %u registers and %u bytes of LDS does not fit on "
                   "a compute unit of the platform",
                   ls_cu_kernel_name(&p->kernel), need.waves, ls_cu_kernel_vgprs(&p->kernel),
                   p->kernel.lds_bytes);
}
