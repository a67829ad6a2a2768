/* round_robin.c: the block scheduler. It launches kernels after their latency and sends thread blocks to cores
 * that have room, by the policy of placement.h. It sends at most one per core and cycle, and one per
 * block_interval_cycles in all. Kernels of different streams may run side by side. */
#include "isa/registers.h"
#include "model/dispatch/round_robin_impl.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Blocks ahead of a core, at most: besides the running ones, with some to spare. */
#define AHEAD_LIMIT (LS_CORE_BLOCKS_AT - 96)
#define GUESSED_CYCLES 4 /* of an instruction of a warp: a dependent one after another */

static void fail(dispatch *d)
{
    d->end = true;
    ls_domain_stop(d->domain);
}

void dispatch_fail(dispatch *d, const char *fmt, ...)
{
    char text[320];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    ls_fail(&d->failure, LS_ERR_INPUT, "%s", text);
    fail(d);
}

static void tap_kernel(const dispatch *d, const kernel_state *k, ls_tap_phase phase, ls_cycle at)
{
    const ls_kernel_info *info = k->kernel.info;
    ls_tap_record(d->tap,
                  &(ls_tap_event){ .time = ls_clock_time(ls_region_clock(d->region), at),
                                   .kind = LS_TAP_KERNEL,
                                   .phase = (uint8_t)phase,
                                   .id = k->number,
                                   .value = phase == LS_TAP_BEGIN ? ls_tap_name(d->tap, info->name) : 0,
                                   .more = (uint32_t)info->id,
                                   .what = (uint16_t)info->stream });
}

/* ------------------------------------------------------------------------------------------------- launch */

static uint32_t block_warps(const ls_kernel_info *info)
{
    uint32_t warps = (ls_kernel_threads(info) + 31) / 32;
    return warps == 0 ? 1 : warps;
}

static uint32_t block_registers(const ls_core_capacity *capacity, const ls_kernel_info *info)
{
    uint64_t unit = capacity->register_unit;
    return (uint32_t)(allocation_units(info->registers, unit) * unit * block_warps(info) * 32);
}

uint32_t ls_dispatch_blocks_per_core(const ls_dispatch_rules *rules, const ls_kernel_info *info, uint64_t ctas)
{
    const ls_core_capacity *capacity = &rules->capacity;
    uint64_t most = capacity->cta_slots, registers = block_registers(capacity, info);
    uint64_t by_warps = capacity->warp_slots / block_warps(info);
    most = by_warps < most ? by_warps : most;
    if (registers > 0 && capacity->registers / registers < most)
        most = capacity->registers / registers;
    if (info->shared_bytes > 0 && capacity->shared_bytes / info->shared_bytes < most)
        most = capacity->shared_bytes / info->shared_bytes;
    if (rules->spread && most > 0 && ctas < most * rules->core_count)
        most = (ctas + rules->core_count - 1) / rules->core_count;
    return (uint32_t)most;
}

/* Cores that are filled one after another are not spread. */
bool dispatch_is_spread(const dispatch_spec *spec)
{
    return spec->spread && spec->placement.kind != PLACEMENT_GREEDY_FILL;
}

static uint32_t rank_of(const dispatch *d, uint64_t stream)
{
    uint32_t rank = 0;
    while (rank < d->priority_count && d->priorities[rank] != stream)
        rank++;
    return rank;
}

/* Behind all kernels of its priority, which were launched before. */
static void put_in_order(dispatch *d, uint32_t slot)
{
    uint32_t at = d->active;
    while (at > 0 && d->kernels[d->order[at - 1]].rank > d->kernels[slot].rank) {
        d->order[at] = d->order[at - 1];
        at--;
    }
    d->order[at] = slot;
}

static void take_from_order(dispatch *d, uint32_t slot)
{
    uint32_t at = 0;
    while (d->order[at] != slot)
        at++;
    memmove(&d->order[at], &d->order[at + 1], (d->active - at - 1) * sizeof *d->order);
}

/* A cooperative launch: its blocks wait for each other, so all must be there at once. */
static bool is_resident(dispatch *d, const kernel_state *k)
{
    const ls_dispatch_rules rules = { .capacity = d->capacity, .core_count = d->core_count };
    uint64_t most =
        (uint64_t)ls_dispatch_blocks_per_core(&rules, k->kernel.info, k->kernel.ctas) * d->core_count;
    if (k->kernel.ctas <= most)
        return true;
    dispatch_fail(d, "cooperative kernel '%s' has %llu blocks, and %llu of them fit on %u cores at once",
                  k->kernel.info->name, (unsigned long long)k->kernel.ctas, (unsigned long long)most,
                  d->core_count);
    return false;
}

static bool launch(dispatch *d, const ls_dispatch_kernel *kernel, ls_cycle begin)
{
    bool busy;
    const kernel_state *before = dispatch_stream_before(d, kernel->info->stream, &busy);
    uint32_t slot = 0;
    while (d->kernels[slot].used)
        slot++;
    kernel_state *k = &d->kernels[slot];
    *k = (kernel_state){ .kernel = *kernel, .used = true, .begin = begin };
    k->kernel.slot = slot;
    k->warps = block_warps(kernel->info);
    k->registers = block_registers(&d->capacity, kernel->info);
    k->shared_bytes = kernel->info->shared_bytes;
    ls_dispatch_rules rules = { .capacity = d->capacity,
                                .core_count = d->core_count,
                                .spread = dispatch_is_spread(d->spec) };
    k->per_core = ls_dispatch_blocks_per_core(&rules, kernel->info, kernel->ctas);
    k->cores = kernel->ctas < d->core_count ? (uint32_t)kernel->ctas : d->core_count;
    if (k->per_core == 0) {
        ls_fail(
            &d->failure, LS_ERR_INPUT,
            "kernel '%s' does not fit on a core: its blocks have %u warps, %u registers and %llu bytes of shared "
            "memory; a core has %llu, %llu and %llu",
            kernel->info->name, k->warps, k->registers, (unsigned long long)k->shared_bytes,
            (unsigned long long)d->capacity.warp_slots, (unsigned long long)d->capacity.registers,
            (unsigned long long)d->capacity.shared_bytes);
        fail(d);
        return false;
    }
    if (kernel->info->cooperative && !is_resident(d, k))
        return false;
    uint64_t latency =
        kernel->continues ? 0 : d->spec->launch_latency_cycles + d->spec->block_latency_cycles * kernel->ctas;
    k->ready = begin + (latency > d->link_latency ? latency - d->link_latency : 0);
    if (before != NULL)
        dispatch_begin_after(d, k, before);
    d->slots = slot >= d->slots ? slot + 1 : d->slots;
    if (d->sorted) {
        k->rank = rank_of(d, kernel->info->stream);
        put_in_order(d, slot);
    }
    if (d->active++ == 0)
        d->active_since = begin;
    k->number = ++d->launch_count;
    ls_dispatch_set_kernel(d->launches, &k->kernel);
    if (ls_tap_wants(d->tap, LS_TAP_KERNEL))
        tap_kernel(d, k, LS_TAP_BEGIN, begin);
    ls_domain_pending(d->domain, 1);
    return true;
}

/* The first of the waiting kernels whose stream is free, so kernels of a stream keep their order. waiting_count: none. */
static uint32_t next_launch(dispatch *d)
{
    for (uint32_t i = 0; i < d->waiting_count; i++) {
        bool busy;
        (void)dispatch_stream_before(d, d->waiting[i].info->stream, &busy);
        if (!busy)
            return i;
    }
    return d->waiting_count;
}

/* One more kernel of the list; false if there is none now. */
static bool read_ahead(dispatch *d)
{
    ls_dispatch_kernel *next = &d->waiting[d->waiting_count];
    bool end = false;
    if (d->work.next_kernel(d->work.self, next, &end, &d->failure) != LS_OK) {
        fail(d);
        return false;
    }
    d->end = d->end || end;
    if (end || next->info == NULL) /* resume() is called when there is one */
        return false;
    d->waiting_count++;
    return true;
}

/* Launches what may be launched now. */
static void launch_all(dispatch *d, ls_cycle begin)
{
    while (d->failure.status == LS_OK && d->active < d->spec->concurrent_kernels) {
        uint32_t i = next_launch(d);
        if (i == d->waiting_count) {
            if (d->end || d->waiting_count >= d->spec->window || !read_ahead(d))
                return;
            continue;
        }
        ls_dispatch_kernel kernel = d->waiting[i];
        d->waiting_count--;
        memmove(&d->waiting[i], &d->waiting[i + 1], (d->waiting_count - i) * sizeof kernel);
        if (!launch(d, &kernel, begin))
            return;
    }
}

/* ------------------------------------------------------------------------------------------------- blocks */

/* As many blocks wait at a core as will end there during one round trip to the dispatcher. That is: the blocks
 * that it runs at once, divided by the time of one, times the round trip. They are at most as many as the
 * dispatcher sends in that time. */
static void set_ahead(dispatch *d, kernel_state *k, uint64_t block_cycles)
{
    const ls_ratio interval = d->spec->block_interval;
    uint64_t there_and_back = 2 * (uint64_t)d->link_latency;
    uint64_t most = k->per_core * there_and_back / (block_cycles + d->refill_cycles);
    if (interval.num > 0) {
        uint64_t sent = there_and_back * interval.den / (interval.num * d->core_count);
        most = sent < most ? sent : most;
    }
    most = most < AHEAD_LIMIT ? most : AHEAD_LIMIT;
    k->ahead = 1 + (uint32_t)most;
}

/* Before the first block has ended nothing is known but its instructions. */
static void guess_ahead(dispatch *d, kernel_state *k, const ls_cta *cta)
{
    uint32_t longest = 0;
    for (uint32_t i = 0; i < cta->warp_count; i++)
        longest = cta->warps[i].count > longest ? cta->warps[i].count : longest;
    set_ahead(d, k, (uint64_t)longest * GUESSED_CYCLES);
}

/* Unless the core runs blocks of another kernel. */
static bool has_place_ahead(const dispatch *d, const core_load *load, const kernel_state *k, uint32_t slot)
{
    return d->refill_cycles > 0 && d->active == 1 && load->by_kernel[slot] == load->ctas &&
           load->ctas >= k->per_core && load->ctas < k->per_core + k->ahead;
}

bool dispatch_has_room(const dispatch *d, const core_load *load, const kernel_state *k, uint32_t slot)
{
    if (has_place_ahead(d, load, k, slot))
        return true;
    if (d->spec->sharing == SHARING_EXCLUSIVE && load->by_kernel[slot] != load->ctas)
        return false;
    return load->by_kernel[slot] < k->per_core && load->ctas < d->capacity.cta_slots &&
           load->warps + k->warps <= d->capacity.warp_slots &&
           load->registers + k->registers <= d->capacity.registers &&
           load->shared_bytes + k->shared_bytes <= d->capacity.shared_bytes;
}

spare_cta *dispatch_take_cta(dispatch *d)
{
    spare_cta *spare = d->spare;
    if (spare != NULL) {
        d->spare = spare->next;
        return spare;
    }
    spare = d->made_count < d->launches->block_count ? ls_domain_alloc(d->domain, sizeof *spare) : NULL;
    if (spare != NULL) {
        spare->block = d->made_count++;
        d->made[spare->block] = spare;
        d->launches->blocks[spare->block] = &spare->cta;
    }
    return spare;
}

void dispatch_add_load(core_load *load, const kernel_state *k, uint32_t slot)
{
    load->ctas++;
    load->warps += k->warps;
    load->registers += k->registers;
    load->shared_bytes += k->shared_bytes;
    load->by_kernel[slot]++;
}

void dispatch_take_load(core_load *load, const kernel_state *k, uint32_t slot)
{
    load->ctas--;
    load->warps -= k->warps;
    load->registers -= k->registers;
    load->shared_bytes -= k->shared_bytes;
    load->by_kernel[slot]--;
}

spare_cta *dispatch_read(dispatch *d, uint32_t slot)
{
    kernel_state *k = &d->kernels[slot];
    if (k->all_read)
        return NULL;
    spare_cta *spare = dispatch_take_cta(d);
    if (spare == NULL) {
        ls_fail(&d->failure, LS_ERR_NOMEM, "no memory for a thread block");
        fail(d);
        return NULL;
    }
    bool end = false;
    if (d->work.next_cta(d->work.self, &k->kernel, &spare->cta, &end, &d->failure) != LS_OK) {
        fail(d);
        return NULL;
    }
    if (end) {
        k->all_read = true;
        spare->next = d->spare;
        d->spare = spare;
        return NULL;
    }
    d->sent[spare->block] = (sent_block){ .index = k->read++, .kernel = slot, .used = true };
    k->all_read = k->read >= k->kernel.ctas;
    return spare;
}

/* Blocks that were read to find clusters come first; all of the array are of kernels without clusters. */
static spare_cta *next_block(dispatch *d, uint32_t slot)
{
    for (uint32_t i = 0; i < d->held_count; i++)
        if (d->sent[d->held[i]].kernel == slot) {
            spare_cta *spare = d->made[d->held[i]];
            memmove(&d->held[i], &d->held[i + 1], (d->held_count - i - 1) * sizeof *d->held);
            d->held_count--;
            return spare;
        }
    return dispatch_read(d, slot);
}

/* Sends the kernel's next block to a core; false if there is none left or nothing can be sent. */
static bool send_block(dispatch *d, uint32_t core, uint32_t slot)
{
    kernel_state *k = &d->kernels[slot];
    ls_link *link = d->to_core[core];
    if (!ls_link_ready(link))
        return false;
    spare_cta *spare = next_block(d, slot);
    if (spare == NULL) {
        k->exhausted = d->failure.status == LS_OK;
        return false;
    }
    if (d->refill_cycles > 0 && k->sent == 0)
        guess_ahead(d, k, &spare->cta);
    ls_core_launch *message = ls_link_send(link, 1);
    *message = ls_dispatch_launch(&k->kernel, spare->block, k->number, k->per_core, k->cores);
    message->depends = k->after != 0 ? LS_DEPENDS : LS_DEPENDS_NOT;
    dispatch_add_load(&d->loads[core], k, slot);
    k->sent++;
    return true;
}

static void set_full_for(dispatch *d, uint32_t core, uint64_t number)
{
    d->loads[core].full_for = number;
    if (number == 0)
        bit_set(d->open, core);
    else
        bit_clear(d->open, core);
}

static void finish_if_done(dispatch *d, uint32_t slot)
{
    kernel_state *k = &d->kernels[slot];
    if (!k->used || !k->exhausted || k->done < k->sent)
        return;
    k->used = false;
    while (d->slots > 0 && !d->kernels[d->slots - 1].used)
        d->slots--;
    if (d->sorted)
        take_from_order(d, slot);
    d->active--;
    for (uint32_t core = 0; core < d->core_count; core++)
        set_full_for(d, core, 0);
    d->last_end = k->end;
    if (ls_tap_wants(d->tap, LS_TAP_KERNEL))
        tap_kernel(d, k, LS_TAP_END, k->end);
    d->ended_count++;
    dispatch_counters n = { .kernels = 1, .ctas = k->done, .busy_cycles = k->end - k->begin };
    d->n.kernels++;
    d->n.busy_cycles += n.busy_cycles;
    if (k->end > d->active_since) {
        n.active_cycles = k->end - d->active_since;
        d->n.active_cycles += n.active_cycles;
        d->active_since = k->end;
    }
    d->ended[slot] = n;
    ls_domain_pending(d->domain, -1);
    ls_domain_progress(d->domain);
    d->launches->kernels[slot] = (ls_launch_kernel){ 0 };
    dispatch_end_dependence(d, k);
    d->work.kernel_done(d->work.self, &k->kernel, k->begin, k->end);
    ls_domain_stop(d->domain);
    launch_all(d, k->end);
}

/* The cycle in which the next block may leave: blocks are an interval apart, fractions of cycles included. */
static ls_cycle next_turn(const dispatch *d)
{
    return d->turn / d->spec->block_interval.den;
}

static void take_turn(dispatch *d, ls_cycle now)
{
    const ls_ratio interval = d->spec->block_interval;
    uint64_t from = now * interval.den;
    d->turn = (d->turn > from ? d->turn : from) + interval.num;
}

/* Clusters as long as there is room and it is their turn; true: some were sent. */
static bool pump_clusters(dispatch *d, uint32_t slot, ls_cycle now)
{
    kernel_state *k = &d->kernels[slot];
    bool sent = false;
    while (!k->exhausted && next_turn(d) <= now && k->no_room != d->n.ctas + 1 &&
           dispatch_send_cluster(d, slot)) {
        for (uint32_t i = 0; i < k->cluster_size; i++)
            take_turn(d, now);
        sent = true;
    }
    return sent;
}

void dispatch_pump(void *self, ls_cycle now)
{
    dispatch *d = self;
    bool again = d->gpcs != 0 && d->active > 0 && dispatch_tell_cores(d);
    ls_cycle earliest = LS_CYCLE_MAX;
    for (uint32_t n = 0; n < (d->sorted ? d->active : d->slots) && next_turn(d) <= now; n++) {
        uint32_t slot = d->sorted ? d->order[n] : n;
        kernel_state *k = &d->kernels[slot];
        if (!k->used || k->exhausted)
            continue;
        if (k->ready > now) {
            earliest = k->ready < earliest ? k->ready : earliest;
            continue;
        }
        if (k->early || k->after != 0) {
            if (!dispatch_look_at_dependent(d, slot)) {
                if (d->failure.status != LS_OK)
                    break;
                continue;
            }
        }
        if (d->gpcs != 0 && !k->looked) {
            k->looked = true;
            if (!dispatch_find_clusters(d, slot))
                break;
        }
        const bool clusters = k->cluster_size > 1;
        if (clusters)
            again |= pump_clusters(d, slot, now);
        uint32_t first = d->next_core;
        for (uint32_t i = 0, core = first; !clusters && i < d->core_count && next_turn(d) <= now;
             i++, core++) {
            core = core == d->core_count ? 0 : core;
            if (d->active == 1 && !bit_test(d->open, core)) {
                /* The core is full for this kernel: on to the next core that may have room. */
                size_t next = bit_next(d->open, d->core_count, core);
                uint32_t skipped = (uint32_t)(next == LS_BITSET_NONE ? d->core_count : next) - core;
                i += skipped - 1;
                core += skipped - 1;
                continue;
            }
            if (d->loads[core].full_for == k->number)
                continue;
            if (!dispatch_has_room(d, &d->loads[core], k, slot)) {
                set_full_for(d, core, k->number);
            } else if (send_block(d, core, slot)) {
                d->next_core = placement_next(&d->place, &d->placement_rule, core, d->core_count);
                take_turn(d, now);
                again = true;
                if (d->spec->placement.kind != PLACEMENT_ROUND_ROBIN)
                    break; /* the next block may be the same core's, which takes one per cycle */
            }
            if (k->exhausted || d->failure.status != LS_OK)
                break;
        }
        /* The workload reports its end only when one more block is requested. */
        if (!k->exhausted && k->sent >= k->kernel.ctas)
            k->exhausted = true;
        if (k->exhausted) {
            uint64_t ended = d->ended_count;
            finish_if_done(d, slot);
            if (d->sorted && d->ended_count != ended) { /* the order has changed */
                again = true;
                break;
            }
        } else if (d->spec->sharing == SHARING_LEFTOVER) {
            break;
        }
    }
    for (uint32_t slot = 0; slot < d->slots; slot++)
        if (d->kernels[slot].used && !d->kernels[slot].exhausted && d->kernels[slot].ready > now)
            earliest = d->kernels[slot].ready < earliest ? d->kernels[slot].ready : earliest;
    if (d->failure.status != LS_OK || ls_event_scheduled(&d->pump))
        return;
    if (next_turn(d) > now)
        ls_schedule_at(d->region, &d->pump, next_turn(d));
    else if (again)
        ls_schedule(d->region, &d->pump, 1);
    else if (earliest != LS_CYCLE_MAX)
        ls_schedule_at(d->region, &d->pump, earliest);
}

/* At the end of a kernel cores run out of blocks: the remaining ones share the freed bandwidth. */
static void announce_busy_cores(dispatch *d, uint32_t slot)
{
    kernel_state *k = &d->kernels[slot];
    k->cores -= k->cores > 1;
    for (uint32_t core = 0; core < d->core_count; core++)
        if (d->loads[core].by_kernel[slot] > 0 && ls_link_ready(d->to_core[core])) {
            ls_core_launch *message = ls_link_send(d->to_core[core], 1);
            *message = (ls_core_launch){ .block = LS_LAUNCH_NONE, .kernel = slot, .cores = k->cores };
        }
}

void dispatch_receive(void *state, ls_link *link, const void *payload, ls_cycle now)
{
    dispatch *d = state;
    const ls_core_done *done = payload;
    kernel_state *k = &d->kernels[done->kernel];
    dispatch_block_signals(d, done->block);
    if (done->signals) {
        ls_link_release(link, 1);
        dispatch_resume(d, now);
        return;
    }
    core_load *load = &d->loads[done->core];
    set_full_for(d, done->core, 0);
    dispatch_take_load(load, k, done->kernel);
    dispatch_end_cluster(d, d->sent[done->block].cluster);
    k->done++;
    d->n.ctas++;
    k->run_cycles += done->cycle - done->start;
    if (d->work.block_done != NULL)
        d->work.block_done(d->work.self, &k->kernel, done->start, done->cycle);
    if (d->refill_cycles > 0 && !k->exhausted)
        set_ahead(d, k, k->run_cycles / k->done);
    if (k->kernel.rates != NULL && k->exhausted && load->by_kernel[done->kernel] == 0)
        announce_busy_cores(d, done->kernel);
    k->end = done->cycle > k->end ? done->cycle : k->end;
    spare_cta *spare = d->made[done->block];
    spare->next = d->spare;
    d->spare = spare;
    d->sent[done->block].used = false;
    ls_link_release(link, 1);
    finish_if_done(d, done->kernel);
    if (d->failure.status != LS_OK)
        return;
    if (ls_event_scheduled(&d->pump) && d->pump.cycle > now)
        ls_cancel(&d->pump);
    if (!ls_event_scheduled(&d->pump))
        ls_schedule(d->region, &d->pump, 0);
}

/* ------------------------------------------------------------------------------------------------- set-up */

void dispatch_start(void *state, const ls_dispatch_work *work)
{
    dispatch *d = state;
    d->work = *work;
    launch_all(d, 0);
    ls_schedule(d->region, &d->pump, 0);
}

void dispatch_resume(void *state, ls_cycle now)
{
    dispatch *d = state;
    launch_all(d, now);
    if (d->failure.status != LS_OK || d->active == 0)
        return;
    if (ls_event_scheduled(&d->pump) && d->pump.cycle > now)
        ls_cancel(&d->pump);
    if (!ls_event_scheduled(&d->pump))
        ls_schedule(d->region, &d->pump, 0);
}

void dispatch_progress(const void *state, ls_dispatch_progress *out)
{
    const dispatch *d = state;
    *out = (ls_dispatch_progress){ .ended = d->ended_count,
                                   .idle = d->active == 0 && d->waiting_count == 0 && d->end,
                                   .oldest = LS_CYCLE_MAX,
                                   .failure = d->failure.status == LS_OK ? NULL : &d->failure };
    for (uint32_t k = 0; k < d->slots; k++)
        if (d->kernels[k].used && d->kernels[k].begin < out->oldest)
            out->oldest = d->kernels[k].begin;
}

bool dispatch_take_kernel(void *state, uint32_t slot, void *counters, size_t bytes)
{
    const dispatch *d = state;
    if (bytes < sizeof d->ended[slot])
        return false;
    memcpy(counters, &d->ended[slot], sizeof d->ended[slot]);
    return true;
}
