/* pingpong.c: the smallest machine, for the end-to-end tests: two domains and one ball that crosses the net.
 *
 * `deadlock_at` makes the player that holds the ball keep it after so many hits while both still count on the
 * next one; 0 plays on to the end. Built with PINGPONG_OTHER_ABI it claims an ABI that does not exist. */
#include "lockstep/lockstep.h"

#include <inttypes.h>
#include <stdio.h>

#ifdef PINGPONG_OTHER_ABI
#define PINGPONG_ABI 9999u
#else
#define PINGPONG_ABI LS_ABI_VERSION
#endif

typedef struct ball {
    uint64_t hits;
} ball;

typedef struct spec {
    uint64_t think_cycles;
} spec;

typedef struct counters {
    uint64_t hits;
    uint64_t thinking;
    uint64_t last_hit;
    uint64_t misses;
    ls_histogram flight;
} counters;

typedef struct player {
    counters counted;
    ls_region *region;
    ls_link *net;
    const char *name, *opponent;
    ls_event hit;
    uint64_t think_cycles;
    uint64_t hits;   /* of the ball being held */
    uint64_t end_at; /* hits of a whole game */
    uint64_t deadlock_at;
    ls_cycle sent;
    bool waits;
} player;

static void send_ball(void *self, ls_cycle now)
{
    player *p = self;
    p->hits++;
    p->counted.hits++;
    p->counted.last_hit = p->hits;
    ls_domain_pending(ls_region_domain(p->region), -1);
    p->waits = false;
    if (p->hits >= p->end_at)
        return;
    ball *b = ls_link_send(p->net, 1);
    if (!b) {
        p->counted.misses++;
        return;
    }
    b->hits = p->hits;
    p->sent = now;
}

static void receive_ball(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    player *p = self;
    p->hits = ((const ball *)payload)->hits;
    ls_link_release(link, 1);
    ls_domain_pending(ls_region_domain(p->region), 1);
    if (p->sent)
        ls_histogram_add(&p->counted.flight, now - p->sent);
    if (p->deadlock_at && p->hits >= p->deadlock_at) {
        p->waits = true; /* and never plays it */
        return;
    }
    p->counted.thinking += p->think_cycles;
    ls_schedule(p->region, &p->hit, p->think_cycles);
}

static ls_status init(ls_block *block, void *state, const void *given, ls_error *err)
{
    player *p = state;
    (void)err;
    p->region = ls_block_region(block);
    p->name = ls_block_name(block);
    p->think_cycles = ((const spec *)given)->think_cycles;
    ls_event_init(&p->hit, send_ball, p);
    return LS_OK;
}

static void waits(const void *self, ls_wait_sink *sink)
{
    const player *p = self;
    if (p->waits)
        ls_wait_report(sink, p->name, p->opponent, "holds the ball and waits for a smile");
}

static const ls_param player_params[] = {
    LS_PARAM_UINT(spec, think_cycles, "cycles", 3, 1, 1000, "from catching the ball to hitting it"),
};

static const ls_metric player_metrics[] = {
    LS_METRIC_COUNTER(counters, hits, "hits", "how often the ball was hit"),
    LS_METRIC_COUNTER(counters, thinking, "cycles", "time with the ball in hand"),
    LS_METRIC_PEAK(counters, last_hit, "hits", "number of the last hit"),
    LS_METRIC_COUNTER(counters, misses, "hits", "hits that found the net busy"),
    LS_METRIC_RATIO(counters, "cycles_per_hit", thinking, hits, "cycles", "thinking / hits"),
    LS_METRIC_HISTOGRAM(counters, flight, "cycles", "from hitting the ball to its return"),
};

static const ls_block_type player_type = {
    .abi = PINGPONG_ABI,
    .slot = "player",
    .name = "steady",
    .help = "returns every ball after a fixed time",
    .spec_size = sizeof(spec),
    .params = player_params,
    .param_count = LS_COUNT_OF(player_params),
    .state_size = sizeof(player),
    .metrics = player_metrics,
    .metric_count = LS_COUNT_OF(player_metrics),
    .counters_offset = offsetof(player, counted),
    .init = init,
    .waits = waits,
};
LS_REGISTER_BLOCK(player_type);

/* --------------------------------------------------------------------------------------------- machine */

typedef struct machine_spec {
    ls_ratio clock;
    uint64_t hits, net_cycles, deadlock_at;
} machine_spec;

static const ls_param machine_params[] = {
    LS_PARAM_FREQ(machine_spec, clock, "clock_mhz", "1000", "clock of both players"),
    LS_PARAM_UINT(machine_spec, hits, "hits", 1000, 1, 1000000000000, "hits of a whole game"),
    LS_PARAM_UINT(machine_spec, net_cycles, "cycles", 10, 1, 1000, "latency from player to player"),
    LS_PARAM_UINT(machine_spec, deadlock_at, "hits", 0, 0, 1000000000000,
                  "keep the ball for ever after so many hits; 0: never"),
};

static const ls_section machine_sections[] = {
    { .path = "player", .slot = "player", .default_model = "steady", .help = "both players" },
};

static ls_status build(ls_machine *machine, const void *given, ls_error *err)
{
    static const char *const names[2] = { "ping", "pong" };
    const machine_spec *s = given;
    ls_engine *engine = ls_machine_engine(machine);
    player *players[2];
    ls_clock clock;
    ls_status status = ls_clock_init(&clock, s->clock, err);
    for (int i = 0; i < 2 && status == LS_OK; i++) {
        ls_domain *domain;
        ls_block *block;
        status = ls_domain_create(engine, i ? "right" : "left", clock, &domain, err);
        if (status == LS_OK)
            status = ls_machine_block(machine, ls_domain_region(domain, 0), names[i], "player", &block, err);
        if (status != LS_OK)
            break;
        players[i] = ls_block_state(block);
        players[i]->opponent = names[1 - i];
        players[i]->end_at = s->hits;
        players[i]->deadlock_at = s->deadlock_at;
    }
    for (int i = 0; i < 2 && status == LS_OK; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s->%s", names[i], names[1 - i]);
        const ls_link_spec net = {
            .name = name,
            .from = players[i]->region,
            .to = players[1 - i]->region,
            .latency_cycles = (uint32_t)s->net_cycles,
            .credits = 4,
            .payload_bytes = sizeof(ball),
            .receive = receive_ball,
            .receiver = players[1 - i],
        };
        status = ls_link_create(engine, &net, &players[i]->net, err);
    }
    if (status != LS_OK)
        return status;
    ls_domain_pending(ls_region_domain(players[0]->region), 1);
    ls_schedule(players[0]->region, &players[0]->hit, 1);
    return LS_OK;
}

static const ls_machine_type machine_type = {
    .abi = PINGPONG_ABI,
    .name = "pingpong",
    .help = "two players and one ball",
    .spec_size = sizeof(machine_spec),
    .params = machine_params,
    .param_count = LS_COUNT_OF(machine_params),
    .sections = machine_sections,
    .section_count = LS_COUNT_OF(machine_sections),
    .build = build,
};
LS_REGISTER_MACHINE(machine_type);
