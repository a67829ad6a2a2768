/* ldst.c: the load/store unit, one per core: shared memory, the L1 data cache with its banks, requests to the
 * network and their answers. */
#include "model/core/cga.h"
#include "model/core/l1.h"

bool ldst_can_take(const core *c)
{
    if (OPTION_ON(c->analytic))
        return analytic_can_take(c);
    return c->ldst.dispatch == NO_FLIGHT;
}

/* By the first active lane. Accel-Sim has a rule of its own: windows that are no windows in most traces. */
static uint8_t generic_space(const core *c, const flight *f)
{
    const cta_state *cta = &c->blocks.at[c->front.warps[f->warp].cta];
    const ls_kernel_info *info = cta->launch.info;
    if (info->shared_base == 0 || info->local_base == 0 || f->mask == 0 || f->dyn->addr == LS_ADDR_NONE)
        return f->inst->space == LS_SPACE_GENERIC ? LS_SPACE_SHARED : f->inst->space;
    uint64_t addresses[32];
    ls_cta_addresses(cta->launch.cta, f->dyn, addresses);
    uint64_t first = addresses[__builtin_ctz(f->mask)];
    if (!c->spec->accelsim_rules)
        return (uint8_t)ls_kernel_space(info, first);
    if (first >= info->shared_base && first < info->local_base)
        return LS_SPACE_SHARED;
    if (first >= info->local_base && first < info->local_base + (16u << 10))
        return LS_SPACE_LOCAL;
    return LS_SPACE_GLOBAL;
}

/* A generic address is shared, local or global by the windows of the kernel. RED and REDG are generic as well: blocks of a
 * cluster reduce in each other's shared memory with them. Accel-Sim takes them all for global. */
uint8_t ldst_space(const core *c, const flight *f)
{
    if (f->inst->space == LS_SPACE_GENERIC ||
        (LS_UNLIKELY(ls_inst_reduces_generic(f->inst)) && !c->spec->accelsim_rules))
        return generic_space(c, f);
    return f->inst->space;
}

static inline bool is_shared(const flight *f)
{
    return f->space == LS_SPACE_SHARED;
}

static inline bool is_global(const flight *f)
{
    return f->space == LS_SPACE_GLOBAL;
}

static inline uint32_t store_token(uint32_t warp, bool global)
{
    return STORE_TOKEN | (global ? 0 : STORE_OTHER) | warp;
}

static inline bool is_store(const flight *f)
{
    return f->inst->mem_op == LS_MEM_STORE;
}

static inline bool bypasses(const core *c, const flight *f)
{
    return (f->inst->flags & (c->spec->accelsim_rules ? LS_INST_ACCEL_BYPASS : LS_INST_BYPASS_L1)) != 0 ||
           (c->spec->bypass_l1 && f->space == LS_SPACE_GLOBAL);
}

uint32_t ldst_shared_cycles(core *c, const flight *f)
{
    count_for(c, f->warp);
    c->n.memory_instructions++;
    if (f->mask == 0 || f->inst->mem_op == LS_MEM_NONE || f->dyn->addr == LS_ADDR_NONE)
        return 1;
    uint32_t cycles = shared_conflicts(c, f);
    c->n.shared_accesses++;
    c->n.bank_conflict_cycles += cycles > 1 ? cycles - 1 : 0;
    return cycles > 1 ? cycles : 1;
}

/* Bulk copies have the port of shared memory. These cycles are no conflicts of banks, and are not counted as such. */
static __attribute__((noinline)) void wait_for_port(core *c)
{
    uint32_t cycles = c->ldst.conflict_cycles > 1 ? c->ldst.conflict_cycles : 1,
             wait = tma_take_port(c, cycles);
    c->ldst.conflict_cycles = cycles + wait;
    c->n.bank_conflict_cycles -= wait;
}

static void begin(core *c, uint16_t index)
{
    flight *f = &c->flights.at[index];
    c->ldst.dispatch = index;
    count_and_tell(c, index, LS_TAP_STEP, LS_STEP_MEMORY);
    c->n.memory_instructions++;
    f->space = ldst_space(c, f);
    f->taken = (uint32_t)c->now;
    c->ldst.sector_count = 0;
    c->ldst.conflict_cycles = 0;
    c->ldst.hold = 0;
    if (f->mask == 0 || f->inst->mem_op == LS_MEM_NONE || f->dyn->addr == LS_ADDR_NONE)
        return;
    if (is_shared(f)) {
        if (OPTION_ON(c->options.cga) && cga_access(c, index))
            return;
        c->ldst.conflict_cycles = shared_conflicts(c, f);
        if (OPTION_ON(c->async))
            wait_for_port(c);
        c->n.shared_accesses++;
        if (LS_UNLIKELY(c->apart))
            core_counts_memory(c, f);
        return;
    }
    coalesce(c, f);
    c->n.memory_sectors += c->ldst.sector_count;
    c->n.memory_bytes += (uint64_t)lane_count(f->mask) * f->inst->width_bytes;
    if (LS_UNLIKELY(c->apart))
        core_counts_memory(c, f);
    if (!is_store(f))
        f->requests = (uint16_t)c->ldst.sector_count;
}

void ldst_take(core *c, uint16_t index)
{
    begin(c, index);
    if (OPTION_ON(c->analytic)) {
        analytic_take(c, index);
        return;
    }
    uint32_t conflicts = c->ldst.conflict_cycles > 1 ? c->ldst.conflict_cycles - 1 : 0;
    c->ldst.dispatch_until = c->now + 1 + conflicts + c->ldst.hold;
    c->n.bank_conflict_cycles += conflicts;
}

/* --------------------------------------------------------------------------------------------- completion */

/* The last sector of a load has arrived. */
static void load_arrived(core *c, uint16_t index)
{
    flight *f = &c->flights.at[index];
    warp_state *w = &c->front.warps[f->warp];
    if (f->inst->mem_op == LS_MEM_ASYNC_COPY) {
        w->async_pending[f->group % ASYNC_GROUPS]--;
        front_sub *s = &c->front.subs[f->sub];
        if (OPTION_ON(c->async))
            mbarrier_copy_ends(c, f->warp, index);
        if ((s->async & ~s->elsewhere & warp_bit(c, f->warp)) != 0 && !core_async_open(w)) {
            s->async &= ~warp_bit(c, f->warp);
            c->front.changed |= 1u << f->sub;
        }
        count_for(c, f->warp);
        c->n.async_copy_misses += f->missed;
    }
    ldst_atomic_done(c, f);
    flight_release_registers(c, index);
    if (f->counted) {
        uint32_t warp = f->warp;
        w->in_flight--;
        flight_free(c, index);
        cta_warp_maybe_done(c, warp);
    } else if (c->ldst.dispatch != index) {
        flight_complete(c, index);
    }
}

static inline void sector_arrived(core *c, uint16_t index)
{
    flight *f = &c->flights.at[index];
    if (--f->requests > 0)
        return;
    ls_histogram_add_fine(&c->n.latency[f->level], (uint32_t)c->now - f->taken);
    load_arrived(c, index);
}

/* Where memory is a formula, no level is known. */
void ldst_arrived(core *c, uint16_t index)
{
    if (--c->flights.at[index].requests == 0)
        load_arrived(c, index);
}

void ldst_atomic_done(core *c, const flight *f)
{
    bool atomic = f->inst->mem_op == LS_MEM_ATOMIC || f->inst->mem_op == LS_MEM_REDUCTION;
    if (atomic && f->inst->space != LS_SPACE_SHARED && f->mask != 0)
        c->front.warps[f->warp].atomics--;
}

static void write_back(core *c)
{
    /* A wide network brings several sectors of one load per cycle: they are put together before the register
     * is written, so only the last one needs its bank. */
    if (c->ldst.next_wb != NO_FLIGHT &&
        ((c->spec->network_width > 1 && c->flights.at[c->ldst.next_wb].requests > 1) ||
         collect_take_banks(c, &c->flights.at[c->ldst.next_wb]))) {
        uint16_t index = c->ldst.next_wb;
        c->ldst.next_wb = NO_FLIGHT;
        if (is_shared(&c->flights.at[index])) {
            ldst_atomic_done(c, &c->flights.at[index]);
            flight_release_registers(c, index);
            flight_complete(c, index);
        } else {
            sector_arrived(c, index);
        }
    }
    /* Clients in turn: shared memory, answers that bypassed L1, L1. */
    uint32_t client = c->ldst.wb_turn;
    for (uint32_t i = 0; i < 3 && c->ldst.next_wb == NO_FLIGHT; i++) {
        uint32_t token;
        if (client == 0 && !ring_empty(&c->ldst.shared_ring)) {
            uint32_t front = ring_front(&c->ldst.shared_ring);
            if (c->ldst.shared_pipe[front].ready <= c->now) {
                c->ldst.next_wb = c->ldst.shared_pipe[front].flight;
                (void)ring_pop(&c->ldst.shared_ring);
                if (!ring_empty(&c->ldst.shared_ring)) {
                    uint32_t next = ring_front(&c->ldst.shared_ring);
                    if (c->ldst.shared_pipe[next].ready <= c->now)
                        c->ldst.shared_pipe[next].ready = c->now + 1;
                }
            }
        } else if (client == 1 && c->ldst.next_global != NO_FLIGHT) {
            c->ldst.next_wb = c->ldst.next_global;
            c->ldst.next_global = NO_FLIGHT;
        } else if (client == 2 && l1_answer(c, &token)) {
            c->ldst.next_wb = (uint16_t)token;
        }
        client = client == 2 ? 0 : client + 1;
        if (c->ldst.next_wb != NO_FLIGHT)
            c->ldst.wb_turn = client;
    }
}

/* ------------------------------------------------------------------------------------------------ network */

static inline bool network_full(const core *c)
{
    return ring_full(&c->ldst.out_ring) || (OPTION_ON(c->options.translate) && translate_full(c));
}

/* sectors: as in ls_sector_message. */
static inline ls_sector_message request_to(const core *c, const ls_sector_place *place, uint64_t address,
                                           uint32_t sectors, uint32_t byte_mask, uint32_t token,
                                           ls_sector_kind kind, bool global, uint32_t how, bool away)
{
    return (ls_sector_message){ .address = address,
                                .local = place->local,
                                .byte_mask = byte_mask,
                                .token = token,
                                .core = (uint16_t)c->id,
                                .slice = LS_SECTOR_SLICE(place->slice),
                                .sectors = (uint16_t)(sectors & 0xfu),
                                .global = global,
                                .away = away,
                                .system = (how & REQUEST_SYSTEM) != 0,
                                .semaphore = (how & REQUEST_SEMAPHORE) != 0,
                                .kind = (uint8_t)kind };
}

static inline void network_push_line(core *c, uint64_t address, uint32_t sectors, uint32_t byte_mask,
                                     uint32_t token, ls_sector_kind kind, bool global, uint32_t how)
{
    ls_sector_place place = mem_map_place_again(&c->ldst.map, address);
    ls_sector_message message =
        request_to(c, &place, address, sectors, byte_mask, token, kind, global, how, false);
    if (LS_UNLIKELY(c->ldst.owners != NULL || c->ldst.half_channels != 0) || OPTION_ON(c->options.translate) ||
        ls_tap_wants(c->tap, LS_TAP_REQUEST))
        request_apart(c, message, place.channel, how);
    else
        ldst_queue(c, message, place.channel);
}

static inline void network_push(core *c, uint64_t address, uint32_t byte_mask, uint32_t token,
                                ls_sector_kind kind, bool global, uint32_t how)
{
    network_push_line(c, address, 0, byte_mask, token, kind, global, how);
}

bool ldst_request(core *c, uint64_t address, uint32_t token)
{
    if (OPTION_ON(c->analytic))
        return analytic_request(c, token);
    if (ring_full(&c->ldst.out_ring))
        return false;
    network_push(c, address, 0, token, LS_SECTOR_READ, false, 0);
    return true;
}

/* Into the network; false if there is no room. */
static inline bool link_send(core *c, ls_link *link, uint32_t front)
{
    ls_sector_message *message = ls_link_send(link, 1);
    if (message == NULL)
        return false;
    *message = c->ldst.out[front];
    if (LS_UNLIKELY(message->number != 0))
        core_tap_step(c, message->number, LS_TAP_STEP, LS_STEP_NETWORK);
    (void)ring_pop(&c->ldst.out_ring);
    c->n.requests_sent++;
    return true;
}

/* The oldest request enters the network; false if there is no room. */
static inline bool network_send(core *c)
{
    if (LS_UNLIKELY(c->spec->perfect_memory))
        return request_answer(c);
    uint32_t front = ring_front(&c->ldst.out_ring);
    ls_link *link = c->ldst.to_memory[c->ldst.out_channel[front]];
    if (LS_LIKELY(link_send(c, link, front)))
        return true;
    c->ldst.network_waiting = true;
    c->ldst.network_since = c->now;
    c->n.network_stalls++;
    ls_link_wait(link, &c->ldst.network_event);
    return false;
}

void ldst_bulk_request(core *c, uint64_t address, uint32_t sectors, uint32_t byte_mask, uint32_t token,
                       ls_sector_kind kind)
{
    network_push_line(c, address, sectors, byte_mask, token, kind, true, REQUEST_VIRTUAL);
    ls_ticker_wake(&c->ticker);
}

void ldst_network_event(void *self, ls_cycle now)
{
    core *c = self;
    c->n.network_stall_cycles += now - c->ldst.network_since;
    c->ldst.network_waiting = false;
    c->ldst.memory_next = 0;
    ls_ticker_wake(&c->ticker);
    if (OPTION_ON(c->async))
        async_look(c, now + 1);
}

static inline void queue_reply(core *c, const void *payload)
{
    /* The queue is as large as all links' credits together: it cannot overflow. */
    c->ldst.replies[ring_push(&c->ldst.reply_ring)] = *(const ls_sector_message *)payload;
    c->ldst.memory_next = 0;
    ls_ticker_wake(&c->ticker);
}

/* Apart, so that the common way saves no registers for it. */
static __attribute__((noinline)) void offer_reply(core *c, const void *payload, ls_cycle now)
{
    if (!c->alu->reply(c, payload, now))
        queue_reply(c, payload);
}

/* Apart for the same reason. */
static __attribute__((noinline)) void receive_one(core *c, const void *payload, ls_cycle now)
{
    c->n.replies++;
    if (c->alu->reply != NULL)
        offer_reply(c, payload, now);
    else
        queue_reply(c, payload);
}

static inline void take_message(core *c, const ls_sector_message *message, ls_cycle now)
{
    if (message->sectors != 0)
        tma_line_reply(c, message, now);
    else
        receive_one(c, message, now);
}

/* Apart for the same reason. */
static __attribute__((noinline)) void tell_and_take(core *c, const ls_sector_message *message, ls_cycle now)
{
    core_tap_step(c, message->number, LS_TAP_END, 0);
    take_message(c, message, now);
}

/* Keeps no buffer entry of the link: core_port.c says so to the engine. */
void ldst_receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    const ls_sector_message *message = payload;
    (void)link;
    if (LS_UNLIKELY(message->number != 0))
        tell_and_take(self, message, now);
    else
        take_message(self, message, now);
}

/* False if the oldest answer has to wait. */
static inline bool take_reply(core *c)
{
    const ls_sector_message *reply = &c->ldst.replies[ring_front(&c->ldst.reply_ring)];
    if (reply->kind == LS_SECTOR_WRITE) {
        if (LS_LIKELY(reply->token < TMA_STORE_TOKEN)) {
            uint32_t warp = reply->token & STORE_WARP;
            c->front.warps[warp].stores--;
            cta_warp_maybe_done(c, warp);
        } else if (reply->token != SECTOR_CACHE_NONE) { /* else L1 wrote a line back: no warp waits for it */
            tma_reply(c, reply->token & TMA_TOKEN_OP);
        }
    } else if (reply->token != SECTOR_CACHE_NONE) {
        if (reply->token >= READONLY_TOKEN) {
            options_reply(c, reply->token);
            (void)ring_pop(&c->ldst.reply_ring);
            return true;
        }
        if (c->ldst.next_global != NO_FLIGHT)
            return false;
        flight_came_from(c, reply->token, (ls_sector_level)reply->level);
        c->ldst.next_global = (uint16_t)reply->token;
    } else {
        count_for_all(c); /* several may have asked for it */
        l1_fill(c, reply->address, (ls_sector_level)reply->level);
    }
    (void)ring_pop(&c->ldst.reply_ring);
    return true;
}

/* ----------------------------------------------------------------------------------------------------- L1 */

static __attribute__((noinline)) void send_write_back(core *c, bool virtual)
{
    uint32_t bytes;
    uint64_t address = sector_cache_pop_sector(c->ldst.l1, &bytes);
    network_push(c, address, bytes, SECTOR_CACHE_NONE, LS_SECTOR_WRITE, false, virtual);
    l1_clean_on(c->ldst.l1_port.self);
}

static inline void send_miss(core *c, const sector_cache_miss *miss)
{
    bool virtual = OPTION_ON(c->options.translate) && !translate_at_l1(c);
    if (miss->kind == SECTOR_CACHE_MISS_READ) {
        bool global =
            miss->token == SECTOR_CACHE_NONE || is_global(&c->flights.at[miss->token]); /* NONE: a prefetch */
        network_push(c, miss->address, 0, SECTOR_CACHE_NONE, LS_SECTOR_READ, global, virtual);
    } else if (LS_UNLIKELY(miss->kind == SECTOR_CACHE_MISS_WRITEBACK)) {
        send_write_back(c, virtual);
        return;
    } else
        network_push(c, miss->address, miss->byte_mask, miss->token, LS_SECTOR_WRITE,
                     (miss->token & STORE_OTHER) == 0, virtual);
    sector_cache_pop_miss(c->ldst.l1);
}

/* The same for another model than the built-in one. */
static __attribute__((noinline)) void send_of_other(core *c)
{
    bool virtual = OPTION_ON(c->options.translate) && !translate_at_l1(c);
    ls_l1_request request;
    for (uint64_t n = c->spec->network_width; n > 0 && !network_full(c) && l1_other_request(c, &request); n--)
        network_push(c, request.address, request.write ? request.byte_mask : 0, request.token,
                     request.write ? LS_SECTOR_WRITE : LS_SECTOR_READ, request.global, virtual);
}

static inline void send_misses(core *c)
{
    const sector_cache_miss *miss;
    if (LS_UNLIKELY(c->ldst.l1 == NULL)) {
        send_of_other(c);
        return;
    }
    for (uint32_t n = (uint32_t)c->spec->network_width;
         n > 0 && (miss = sector_cache_front_miss(c->ldst.l1)) != NULL && !network_full(c); n--)
        send_miss(c, miss);
}

static inline sector_cache_outcome look_into(core *c, const l1_access *access)
{
    uint32_t token = access->write ? store_token(access->warp, access->global) : access->flight;
    if (LS_UNLIKELY(c->ldst.l1 == NULL))
        return l1_other_access(c, access, token);
    sector_cache_set_global(c->ldst.l1, access->global);
    if (access->write)
        return sector_cache_write(c->ldst.l1, access->address, access->address, access->byte_mask, token);
    return sector_cache_read(c->ldst.l1, access->address, access->address, token, false);
}

/* A store that stays in L1 is complete; L2 acknowledges the others. */
static inline bool store_stays(const core *c, sector_cache_outcome outcome)
{
    if (LS_UNLIKELY(c->ldst.l1 == NULL))
        return outcome == SECTOR_CACHE_HIT;
    return LS_UNLIKELY(c->ldst.l1->spec->write_policy == WRITE_BACK);
}

/* The oldest of a bank, which is ready. */
static inline void look_up(core *c, l1_bank *bank, const l1_access *access)
{
    count_for(c, access->warp);
    sector_cache_outcome outcome = look_into(c, access);
    if (outcome == SECTOR_CACHE_FAIL)
        return;
    uint16_t index = access->flight;
    bool write = access->write;
    if (LS_UNLIKELY(c->counted) && outcome == SECTOR_CACHE_HIT && !write)
        core_counts_hit(c, &c->flights.at[index]);
    (void)ring_pop(&bank->ring);
    c->ldst.queued_accesses--;
    if (!ring_empty(&bank->ring)) {
        l1_access *next = &bank->at[ring_front(&bank->ring)];
        if (next->ready <= c->now)
            next->ready = c->now + 1;
    }
    if (write) {
        if (store_stays(c, outcome)) {
            c->front.warps[access->warp].stores--; /* popped, and still there */
            cta_warp_maybe_done(c, access->warp);
        }
        return;
    }
    if (outcome == SECTOR_CACHE_HIT)
        sector_arrived(c, index);
    else
        c->flights.at[index].missed = true;
}

static void look_up_banks(core *c)
{
    ls_cycle next = LS_CYCLE_MAX;
    uint32_t count = c->ldst.l1_banks;
    for (uint32_t i = 0; i < count; i++) {
        l1_bank *bank = &c->ldst.banks[i];
        if (ring_empty(&bank->ring))
            continue;
        ls_cycle ready = bank->at[ring_front(&bank->ring)].ready;
        if (ready <= c->now) {
            look_up(c, bank, &bank->at[ring_front(&bank->ring)]);
            if (ring_empty(&bank->ring))
                continue;
            ready = bank->at[ring_front(&bank->ring)].ready;
            ready = ready <= c->now ? c->now + 1 : ready; /* it failed */
        }
        next = ready < next ? ready : next;
    }
    c->ldst.look_at = next;
}

/* Moves sectors of the instruction into the banks' queues, from the highest address down; stops at a busy
 * bank. */
static void fill_banks(core *c, const flight *f, uint16_t index)
{
    uint32_t bank_count = c->ldst.l1_banks;
    count_for(c, f->warp);
    for (uint32_t i = 0; i < bank_count && c->ldst.sector_count > 0; i++) {
        uint64_t address = c->ldst.sectors[c->ldst.sector_count - 1];
        l1_bank *bank = &c->ldst.banks[(address / SECTOR_BYTES) % bank_count];
        if (bank->last_in == c->now || ring_full(&bank->ring)) {
            c->n.l1_bank_conflicts++;
            return;
        }
        ls_cycle begin = c->now;
        if (OPTION_ON(c->options.translate)) {
            ls_cycle known;
            if (!translate_before_l1(c, address, &known))
                return;
            begin = known;
        }
        bank->last_in = c->now;
        bank->at[ring_push(&bank->ring)] =
            (l1_access){ .address = address,
                         .byte_mask = c->ldst.sector_bytes[c->ldst.sector_count - 1],
                         .flight = index,
                         .warp = f->warp,
                         .write = is_store(f),
                         .global = is_global(f),
                         .ready = begin + c->ldst.l1_latency_cycles };
        if (c->ldst.queued_accesses++ == 0 || begin + c->ldst.l1_latency_cycles < c->ldst.look_at)
            c->ldst.look_at = begin + c->ldst.l1_latency_cycles;
        c->ldst.sector_count--;
        if (is_store(f))
            c->front.warps[f->warp].stores++;
    }
}

/* ----------------------------------------------------------------------------------------------- the unit */

static void send_past_l1(core *c, const flight *f, uint16_t index)
{
    uint32_t left = ldst_past_l1_per_cycle(c);
    ls_sector_kind kind = is_store(f) ? LS_SECTOR_WRITE
                          : f->inst->mem_op == LS_MEM_ATOMIC || f->inst->mem_op == LS_MEM_REDUCTION
                              ? LS_SECTOR_ATOMIC
                              : LS_SECTOR_READ;
    uint32_t how = REQUEST_VIRTUAL | ((f->inst->flags & LS_INST_SYSTEM) != 0 ? REQUEST_SYSTEM : 0);
    if (LS_UNLIKELY((f->dyn->addr & 3) == LS_ADDR_RECORD))
        how |= REQUEST_SEMAPHORE;
    for (; left > 0 && c->ldst.sector_count > 0 && !network_full(c); left--) {
        c->ldst.sector_count--;
        network_push(c, c->ldst.sectors[c->ldst.sector_count], c->ldst.sector_bytes[c->ldst.sector_count],
                     is_store(f) ? store_token(f->warp, is_global(f)) : index, kind, is_global(f), how);
        if (is_store(f))
            c->front.warps[f->warp].stores++;
    }
}

/* Works on the instruction in the unit; true when it may leave. */
static bool advance(core *c, flight *f, uint16_t index)
{
    if (is_shared(f))
        return c->now >= c->ldst.dispatch_until;
    if (c->ldst.sector_count == 0)
        return true;
    if (bypasses(c, f) ||
        (LS_UNLIKELY(c->ldst.owners != NULL) && is_store(f) && remote_owner(c, c->ldst.sectors[0], NULL))) {
        send_past_l1(c, f, index);
    } else {
        fill_banks(c, f, index);
    }
    return c->ldst.sector_count == 0;
}

static void leave(core *c, uint16_t index)
{
    flight *f = &c->flights.at[index];
    if (is_shared(f) && !is_store(f) && f->mask != 0) {
        if (LS_UNLIKELY(f->requests != 0)) { /* answers of other blocks end it (cga_access.c) */
            c->ldst.dispatch = NO_FLIGHT;
            return;
        }
        if (c->ldst.shared_last == c->now || ring_full(&c->ldst.shared_ring))
            return;
        c->ldst.shared_last = c->now;
        uint32_t at = ring_push(&c->ldst.shared_ring);
        c->ldst.shared_pipe[at].flight = index;
        c->ldst.shared_pipe[at].ready = c->now + c->spec->shared_latency_cycles;
        c->ldst.dispatch = NO_FLIGHT;
        return;
    }
    c->ldst.dispatch = NO_FLIGHT;
    if (OPTION_ON(c->options.ccache) && ccache_holds(c, index))
        return;
    if (is_shared(f) || is_store(f) || f->requests == 0) {
        flight_release_registers(c, index);
        flight_complete(c, index);
        return;
    }
    /* A load whose requests are on their way. One without a register is done for its warp. */
    if (f->inst->dst_count == 0) {
        f->counted = true;
        count_for(c, f->warp);
        c->n.warp_instructions++;
        c->n.thread_instructions += (uint32_t)__builtin_popcount(f->mask);
    }
}

void ldst_cycle(core *c)
{
    if (OPTION_ON(c->analytic)) {
        analytic_cycle(c);
        return;
    }
    uint32_t width = (uint32_t)c->spec->network_width, n;
    /* By turns: an answer that went past L1 is taken only when the one before it has left next_global. */
    for (n = width; n > 0; n--) {
        if (c->ldst.next_wb != NO_FLIGHT || c->ldst.next_global != NO_FLIGHT ||
            !ring_empty(&c->ldst.shared_ring) || l1_may_answer(c))
            write_back(c);
        if (!ring_empty(&c->ldst.reply_ring))
            (void)take_reply(c);
    }
    send_misses(c);
    if (c->ldst.queued_accesses > 0 && c->now >= c->ldst.look_at)
        look_up_banks(c);
    if (c->ldst.dispatch != NO_FLIGHT) {
        uint16_t index = c->ldst.dispatch;
        if (advance(c, &c->flights.at[index], index))
            leave(c, index);
    }
    for (n = width; n > 0 && !ring_empty(&c->ldst.out_ring) && !c->ldst.network_waiting && network_send(c);
         n--) {
    }
}

ls_cycle ldst_next(const core *c)
{
    if (OPTION_ON(c->analytic))
        return analytic_next(c);
    if ((c->ldst.dispatch != NO_FLIGHT && c->ldst.dispatch_until <= c->now + 1) ||
        c->ldst.next_wb != NO_FLIGHT || c->ldst.next_global != NO_FLIGHT || ldst_has_messages(c))
        return c->now + 1;
    ls_cycle next = l1_next(c);
    if (next == c->now + 1)
        return next;
    if (c->ldst.dispatch != NO_FLIGHT && c->ldst.dispatch_until < next)
        next = c->ldst.dispatch_until;
    if (!ring_empty(&c->ldst.shared_ring)) {
        ls_cycle ready = c->ldst.shared_pipe[ring_front(&c->ldst.shared_ring)].ready;
        next = ready < next ? ready : next;
    }
    if (c->ldst.queued_accesses > 0) {
        ls_cycle look = c->ldst.look_at <= c->now ? c->now + 1 : c->ldst.look_at;
        next = look < next ? look : next;
    }
    return next <= c->now ? c->now + 1 : next;
}
