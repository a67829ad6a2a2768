/* random_machine.h: random machines for property tests, all drawn from one seed. They have domains, clocks,
 * links and nodes that receive, delay, stall and forward messages at random.
 *
 * Every message carries a budget of hops and a running hash of its path. Every node folds each delivery (time,
 * link, sequence number, payload) into a log; in half of the machines every domain does so too, through the
 * hooks. Two runs of a machine are the same if their logs, counters and random streams are. */
#ifndef TESTS_RANDOM_MACHINE_H
#define TESTS_RANDOM_MACHINE_H

#include "engine/link_receiver.h"
#include "lockstep/lockstep.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RM_DOMAINS_MAX 10
#define RM_LINKS_MAX 40
#define RM_QUEUE 4096
#define RM_GROUPS_MAX 4

typedef struct rm_message {
    uint32_t hops_left;
    uint32_t id;
    uint64_t way; /* hash of the nodes it passed */
} rm_message;

typedef struct rm_held {
    rm_message message;
    ls_link *from; /* the link whose buffer entry it still holds; NULL: none */
} rm_held;

typedef struct rm_node {
    ls_region *region;
    ls_random random;
    ls_link *out[RM_LINKS_MAX];
    uint32_t out_count;
    bool ticks;        /* serves its queue by a ticker, else by events */
    bool release_late; /* gives the buffer entry back when the message leaves, else when it arrives */
    uint32_t stall;    /* per cent of cycles in which it does nothing */
    rm_held queue[RM_QUEUE];
    uint32_t head, tail;
    uint32_t choice; /* link that the head waits for */
    bool chosen, waiting;
    ls_event event;
    ls_event far; /* a timer beyond the wheel, cancelled and set again at random */
    ls_ticker ticker;
    struct rm_node *sibling; /* the node on the other clock of the same domain; NULL if there is none */
    ls_event poke;           /* scheduled by the sibling, from its own clock */
    ls_ticker nudge;         /* woken by the sibling; runs a few cycles */
    uint32_t nudges;
    uint64_t stop_after;
    uint64_t received, forwarded, ended, far_runs, pokes;
    uint64_t log; /* hash of every delivery and its cycle */
} rm_node;

typedef struct rm_log {
    uint64_t hash, count;
    char pad[48];
} rm_log;

typedef struct rm_machine {
    ls_engine *engine;
    uint32_t domain_count, link_count, node_count;
    ls_domain *domains[RM_DOMAINS_MAX];
    ls_link *links[RM_LINKS_MAX];
    rm_node *nodes[RM_DOMAINS_MAX * 2];
    rm_log sends[RM_DOMAINS_MAX], deliveries[RM_DOMAINS_MAX];
    uint64_t injected;
    uint32_t group_count; /* 1: all domains stay in the engine's own group */
} rm_machine;

/* Choices that do not follow from the seed. */
typedef struct rm_options {
    uint32_t messages;
    bool late;            /* some nodes hold the input entry while they wait for the output: may deadlock */
    bool polls;           /* nodes that tick poll while they wait, also if late: only the watchdog sees it */
    uint64_t groups_seed; /* 0: one group; the same machine otherwise */
    bool
        other_frees; /* nodes that the seed lets release entries at once leave that to the engine, and the other way */
    uint64_t stop_after; /* the first node to forward so many messages stops the run; 0: none */
} rm_options;

static inline uint64_t rm_mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ (hash >> 29);
}

static void rm_log_hook(void *self, const ls_hook_args *args)
{
    rm_log *log = &((rm_log *)self)[ls_domain_id(args->domain)];
    log->hash = rm_mix(log->hash, args->time);
    for (int i = 0; i < 3; i++)
        log->hash = rm_mix(log->hash, args->value[i]);
    if (args->data != NULL) {
        const rm_message *message = args->data;
        log->hash = rm_mix(rm_mix(log->hash, message->way), message->id);
    }
    log->count++;
}

static void rm_start(rm_node *node, uint64_t delay)
{
    if (node->ticks)
        ls_ticker_wake(&node->ticker);
    else if (!ls_event_scheduled(&node->event) && !node->waiting)
        ls_schedule(node->region, &node->event, delay);
}

/* Tries to send the oldest message on; true if it left. */
static bool rm_forward(rm_node *node)
{
    rm_held *held = &node->queue[node->head % RM_QUEUE];
    if (held->message.hops_left == 0) {
        node->ended++;
    } else {
        if (!node->chosen) {
            node->choice = (uint32_t)ls_random_below(&node->random, node->out_count);
            node->chosen = true;
        }
        ls_link *link = node->out[node->choice];
        rm_message *out = ls_link_send(link, 1 + (uint32_t)ls_random_below(&node->random, 70));
        if (out == NULL)
            return false;
        *out = held->message;
        out->hops_left--;
        out->way = rm_mix(out->way, node->forwarded);
        node->forwarded++;
        if (node->forwarded == node->stop_after)
            ls_domain_stop(ls_region_domain(node->region));
    }
    if (held->from != NULL)
        ls_link_release(held->from, 1);
    node->chosen = false;
    node->head++;
    ls_domain_pending(ls_region_domain(node->region), -1);
    ls_domain_progress(ls_region_domain(node->region));
    return true;
}

static void rm_event(void *self, ls_cycle now)
{
    rm_node *node = self;
    (void)now;
    node->waiting = false;
    while (node->head != node->tail) {
        if (ls_random_below(&node->random, 100) < node->stall) {
            ls_schedule(node->region, &node->event, 1 + ls_random_below(&node->random, 40));
            return;
        }
        if (!rm_forward(node)) {
            node->waiting = true;
            ls_link_wait(node->out[node->choice], &node->event);
            return;
        }
    }
}

static bool rm_tick(void *self, ls_cycle now)
{
    rm_node *node = self;
    (void)now;
    if (node->head != node->tail && ls_random_below(&node->random, 100) >= node->stall)
        rm_forward(node);
    return node->head != node->tail;
}

static void rm_far(void *self, ls_cycle now)
{
    rm_node *node = self;
    (void)now;
    node->far_runs++;
}

static void rm_poke(void *self, ls_cycle now)
{
    rm_node *node = self;
    node->pokes = rm_mix(node->pokes, now);
}

static bool rm_nudge(void *self, ls_cycle now)
{
    rm_node *node = self;
    node->pokes = rm_mix(node->pokes, ~now);
    return --node->nudges > 0;
}

/* Crosses from one clock of the domain to the other. */
static void rm_touch_sibling(rm_node *node)
{
    rm_node *sibling = node->sibling;
    if (sibling == NULL)
        return;
    if (ls_random_below(&node->random, 2) == 0 && !ls_event_scheduled(&sibling->poke))
        ls_schedule(sibling->region, &sibling->poke, ls_random_below(&node->random, 1500));
    if (ls_random_below(&node->random, 2) == 0) {
        sibling->nudges += 1 + (uint32_t)ls_random_below(&node->random, 3);
        ls_ticker_wake(&sibling->nudge);
    }
}

static void rm_take(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    rm_node *node = self;
    node->received++;
    assert(node->tail - node->head < RM_QUEUE);
    rm_held *held = &node->queue[node->tail++ % RM_QUEUE];
    held->message = *(const rm_message *)payload;
    held->message.way = rm_mix(held->message.way, now);
    node->log = rm_mix(rm_mix(rm_mix(node->log, ls_link_id(link)), held->message.way), held->message.id);
    held->from = node->release_late ? link : NULL;
    ls_domain_pending(ls_region_domain(node->region), 1);
    if (ls_random_below(&node->random, 4) == 0) {
        ls_cancel(&node->far);
        ls_schedule(node->region, &node->far, 900 + ls_random_below(&node->random, 3000));
    }
    rm_touch_sibling(node);
    rm_start(node, ls_random_below(&node->random, 12));
}

static void rm_receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    if (!((rm_node *)self)->release_late)
        ls_link_release(link, 1);
    rm_take(self, link, payload, now);
}

/* The engine releases the entry. */
static void rm_receive_freed(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    rm_take(self, link, payload, now);
}

static const uint64_t rm_hertz[] = { 1365000000, 1000000000, 3500500000, 850000000, 1132000000, 333333333 };

/* Assigns the domains to groups. */
static void rm_group(rm_machine *m, uint64_t groups_seed)
{
    ls_error err = { 0 };
    ls_random random;
    ls_random_init(&random, groups_seed);
    ls_group *groups[RM_GROUPS_MAX];
    m->group_count = 2 + (uint32_t)ls_random_below(&random, RM_GROUPS_MAX - 1);
    ls_status status = LS_OK;
    for (uint32_t g = 0; g < m->group_count; g++) {
        char name[16];
        snprintf(name, sizeof name, "g%u", g);
        groups[g] = ls_group_at(m->engine, 0);
        if (g > 0) /* the engine's own is one of them */
            status = ls_group_create(m->engine, name, &groups[g], &err);
        assert(status == LS_OK);
    }
    bool by_halves = ls_random_below(&random, 2) == 0; /* then all links between the groups are long */
    for (uint32_t d = 0; d < m->domain_count; d++) {
        uint64_t g = by_halves ? d % 2 : ls_random_below(&random, m->group_count);
        status = ls_domain_set_group(m->domains[d], groups[g], &err);
        assert(status == LS_OK);
    }
}

/* Domains of different halves are far apart: a link between them is as long as several short ones. */
static uint32_t rm_latency(ls_random *random, uint64_t range, const rm_node *from, const rm_node *to)
{
    uint32_t cycles = 12 + (uint32_t)ls_random_below(random, range);
    bool far =
        ls_domain_id(ls_region_domain(from->region)) % 2 != ls_domain_id(ls_region_domain(to->region)) % 2;
    return far ? cycles * 6 : cycles;
}

#define RM_STOP_DELAY_FS UINT64_C(400000000)

static void rm_build_with(rm_machine *m, uint64_t seed, const rm_options *options)
{
    uint32_t messages = options->messages;
    bool late = options->late;
    ls_error err = { 0 };
    ls_random random;
    ls_random_init(&random, seed);
    memset(m, 0, sizeof *m);
    ls_status status = ls_engine_create(seed, &m->engine, &err);
    assert(status == LS_OK);
    const bool frees = (seed / 2 % 2 != 0) != options->other_frees;
    status = link_receiver_frees(m->engine, rm_receive_freed, &err);
    assert(status == LS_OK);
    m->domain_count = 2 + (uint32_t)ls_random_below(&random, RM_DOMAINS_MAX - 1);
    for (uint32_t d = 0; d < m->domain_count; d++) {
        char name[16];
        ls_clock clock;
        snprintf(name, sizeof name, "d%u", d);
        ls_clock_init(&clock, ls_ratio_make(rm_hertz[ls_random_below(&random, 6)], 1), &err);
        status = ls_domain_create(m->engine, name, clock, &m->domains[d], &err);
        assert(status == LS_OK);
        uint32_t regions = 1 + (ls_random_below(&random, 3) == 0);
        for (uint32_t r = 0; r < regions; r++) {
            ls_region *region = ls_domain_region(m->domains[d], 0);
            if (r > 0) {
                ls_clock_init(&clock, ls_ratio_make(rm_hertz[ls_random_below(&random, 6)], 1), &err);
                status = ls_domain_add_region(m->domains[d], clock, &region, &err);
                assert(status == LS_OK);
            }
            rm_node *node = calloc(1, sizeof *node);
            assert(node != NULL);
            node->region = region;
            node->random = ls_random_split(ls_domain_random(m->domains[d]), r + 100);
            /* A ticker polls: a deadlock of such nodes never comes to rest, only the watchdog sees it. */
            node->ticks = ls_random_below(&random, 2) == 0 && (!late || options->polls);
            node->stop_after = options->stop_after;
            node->release_late = late && ls_random_below(&random, 2) == 0;
            node->stall = (uint32_t)ls_random_below(&random, 60);
            ls_event_init(&node->event, rm_event, node);
            ls_event_init(&node->far, rm_far, node);
            ls_event_init(&node->poke, rm_poke, node);
            status = ls_ticker_add(region, &node->ticker, rm_tick, node, &err);
            assert(status == LS_OK);
            status = ls_ticker_add(region, &node->nudge, rm_nudge, node, &err);
            assert(status == LS_OK);
            if (r > 0) {
                node->sibling = m->nodes[m->node_count - 1];
                node->sibling->sibling = node;
            }
            m->nodes[m->node_count++] = node;
        }
    }
    m->link_count = m->node_count + (uint32_t)ls_random_below(&random, RM_LINKS_MAX - m->node_count + 1);
    for (uint32_t l = 0; l < m->link_count; l++) {
        /* The first links make a ring through all nodes, so that everybody can send. */
        rm_node *from = m->nodes[l < m->node_count ? l : ls_random_below(&random, m->node_count)];
        rm_node *to =
            m->nodes[l < m->node_count ? (l + 1) % m->node_count : ls_random_below(&random, m->node_count)];
        ls_link_spec spec = { .name = "link",
                              .from = from->region,
                              .to = to->region,
                              .latency_cycles = rm_latency(&random, 30, from, to),
                              .width_bytes = (uint32_t)ls_random_below(&random, 4) * 24,
                              .width_cycles = 1 + (uint32_t)ls_random_below(&random, 3),
                              .flit_bytes = (uint32_t)ls_random_below(&random, 3) * 8,
                              .credits = 1 + (uint32_t)ls_random_below(&random, 12),
                              .credit_latency_cycles =
                                  ls_random_below(&random, 2) == 0 ? 0 : rm_latency(&random, 20, from, to),
                              .payload_bytes = sizeof(rm_message),
                              .receive = frees && !to->release_late ? rm_receive_freed : rm_receive,
                              .receiver = to };
        status = ls_link_create(m->engine, &spec, &m->links[l], &err);
        assert(status == LS_OK);
        from->out[from->out_count++] = m->links[l];
    }
    for (uint32_t i = 0; i < messages; i++) {
        rm_node *node = m->nodes[ls_random_below(&random, m->node_count)];
        node->queue[node->tail++ % RM_QUEUE].message =
            (rm_message){ .hops_left = 1 + (uint32_t)ls_random_below(&random, 12), .id = i };
        ls_domain_pending(ls_region_domain(node->region), 1);
        m->injected++;
        rm_start(node, ls_random_below(&random, 2000));
    }
    status = ls_engine_set_stop_delay(m->engine, RM_STOP_DELAY_FS, &err);
    assert(status == LS_OK);
    m->group_count = 1;
    if (options->groups_seed != 0)
        rm_group(m, options->groups_seed);
    /* Links take a slower path while a hook is set: half of the machines use the fast one. */
    if (seed % 2 != 0)
        return;
    status = ls_hook_subscribe(m->engine, "link.send", rm_log_hook, m->sends, &err);
    assert(status == LS_OK);
    status = ls_hook_subscribe(m->engine, "link.deliver", rm_log_hook, m->deliveries, &err);
    assert(status == LS_OK);
}

static inline void rm_build(rm_machine *m, uint64_t seed, uint32_t messages, bool late)
{
    rm_build_with(m, seed, &(rm_options){ .messages = messages, .late = late });
}

static void rm_destroy(rm_machine *m)
{
    ls_engine_destroy(m->engine);
    for (uint32_t i = 0; i < m->node_count; i++)
        free(m->nodes[i]);
}

/* Everything that must not depend on threads, windows or assignment. */
static uint64_t rm_fingerprint(rm_machine *m, const ls_run_result *result)
{
    uint64_t hash = rm_mix(rm_mix(0, result->events), result->messages);
    hash = rm_mix(rm_mix(rm_mix(hash, result->ticks), result->region_cycles), result->end_time);
    for (uint32_t i = 0; i < m->domain_count; i++) {
        hash = rm_mix(rm_mix(hash, m->sends[i].hash), m->sends[i].count);
        hash = rm_mix(rm_mix(hash, m->deliveries[i].hash), m->deliveries[i].count);
    }
    for (uint32_t i = 0; i < m->node_count; i++) {
        rm_node *node = m->nodes[i];
        hash = rm_mix(rm_mix(rm_mix(hash, node->received), node->forwarded), node->ended);
        hash = rm_mix(rm_mix(rm_mix(hash, node->far_runs), node->pokes), ls_random_next(&node->random));
        hash = rm_mix(hash, node->log);
    }
    for (uint32_t i = 0; i < m->link_count; i++)
        hash = rm_mix(hash, ls_link_credits(m->links[i]));
    return hash;
}

#endif
