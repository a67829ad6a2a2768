/* test_ranks.c: a machine that is divided over ranks has the bits of one that is not: random machines on 1 to 4 ranks,
 * which are threads of this process. Also the division of groups, and what is refused. */
#include "engine/fixture.h"

#include "engine/local_transport.h"
#include "engine/random_machine.h"
#include "engine/ranks_impl.h"

#include <math.h>

enum { MACHINES = 14, MESSAGES = 20 };

typedef struct trial {
    uint64_t seed;
    rm_options machine;
    ls_run_options options;
    uint32_t pieces; /* the run is cut into so many */
    ls_time end;
    rm_machine *m[LOCAL_RANKS_MAX];
    ls_status status[LOCAL_RANKS_MAX];
    ls_error err[LOCAL_RANKS_MAX];
    ls_run_result result[LOCAL_RANKS_MAX];
    rank_counts counts[LOCAL_RANKS_MAX][LOCAL_RANKS_MAX];
} trial;

static ls_status run_pieces(trial *t, uint32_t rank)
{
    ls_engine *engine = t->m[rank]->engine;
    ls_run_options options = t->options;
    for (uint32_t i = 1; i < t->pieces; i++) {
        options.until = t->end / t->pieces * i;
        ls_status status = ls_run(engine, &options, &t->result[rank], &t->err[rank]);
        if (status != LS_OK)
            return status;
    }
    options.until = t->options.until;
    return ls_run(engine, &options, &t->result[rank], &t->err[rank]);
}

static void run_rank(void *self, uint32_t rank, const rank_transport *transport)
{
    trial *t = self;
    t->m[rank] = calloc(1, sizeof *t->m[rank]);
    assert(t->m[rank] != NULL);
    rm_build_with(t->m[rank], t->seed, &t->machine);
    ls_engine *engine = t->m[rank]->engine;
    ls_status status = transport != NULL ? ranks_attach(engine, transport, &t->err[rank]) : LS_OK;
    t->status[rank] = status == LS_OK ? run_pieces(t, rank) : status;
    if (transport != NULL && status == LS_OK && ranks_report(engine, t->counts[rank], NULL) != LS_OK)
        abort();
}

static uint32_t rank_of(const trial *t, const ls_domain *domain)
{
    const rank_state *ranks = t->m[0]->engine->ranks;
    return ranks != NULL ? ranks->owner[domain->group->id] : 0;
}

/* Each part from the rank that runs it. */
static uint64_t fingerprint(const trial *t)
{
    rm_machine whole = *t->m[0];
    for (uint32_t i = 0; i < whole.node_count; i++)
        whole.nodes[i] = t->m[rank_of(t, ls_region_domain(t->m[0]->nodes[i]->region))]->nodes[i];
    for (uint32_t i = 0; i < whole.domain_count; i++) {
        const rm_machine *m = t->m[rank_of(t, t->m[0]->domains[i])];
        whole.sends[i] = m->sends[i];
        whole.deliveries[i] = m->deliveries[i];
    }
    for (uint32_t i = 0; i < whole.link_count; i++)
        whole.links[i] = t->m[rank_of(t, t->m[0]->links[i]->from->domain)]->links[i];
    return rm_fingerprint(&whole, &t->result[0]);
}

static void free_trial(trial *t)
{
    for (uint32_t i = 0; i < LOCAL_RANKS_MAX; i++)
        if (t->m[i] != NULL) {
            rm_destroy(t->m[i]);
            free(t->m[i]);
        }
}

/* Groups that have domains. */
static uint32_t used_groups(const rm_machine *m)
{
    bool used[RM_GROUPS_MAX] = { 0 };
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->domain_count; i++)
        used[ls_domain_group(m->domains[i])->id] = true;
    for (uint32_t i = 0; i < RM_GROUPS_MAX; i++)
        count += used[i];
    return count;
}

/* One machine on one process and on up to four ranks. Returns the status of all of them. */
static ls_status check_machine(const trial *sample)
{
    trial *alone = calloc(1, sizeof *alone);
    assert_non_null(alone);
    *alone = *sample;
    alone->pieces = 0;
    run_rank(alone, 0, NULL);
    uint64_t expected = fingerprint(alone);
    uint32_t most = used_groups(alone->m[0]);
    for (uint32_t ranks = 1; ranks <= 4 && ranks <= most; ranks++) {
        trial *t = calloc(1, sizeof *t);
        assert_non_null(t);
        *t = *sample;
        t->end = alone->result[0].end_time;
        t->options.threads = 1 + (uint32_t)(t->seed + ranks) % 3;
        local_run(ranks, run_rank, t);
        for (uint32_t r = 0; r < ranks; r++) {
            assert_int_equal(t->status[r], alone->status[0]);
            assert_string_equal(t->err[r].what, alone->err[0].what);
            assert_string_equal(ls_engine_report(t->m[r]->engine), ls_engine_report(alone->m[0]->engine));
            assert_int_equal(t->result[r].end_time, alone->result[0].end_time);
            assert_int_equal(t->result[r].messages, alone->result[0].messages);
            assert_int_equal(t->result[r].limited, alone->result[0].limited);
        }
        if (fingerprint(t) != expected)
            fail_msg("machine %u differs on %u ranks", (unsigned)t->seed, ranks);
        free_trial(t);
        free(t);
    }
    ls_status status = alone->status[0];
    free_trial(alone);
    free(alone);
    return status;
}

static unsigned check_machines(trial t, unsigned machines)
{
    unsigned deadlocks = 0;
    for (uint64_t seed = 1; seed <= machines; seed++) {
        t.seed = seed;
        t.machine.messages = MESSAGES;
        t.machine.groups_seed = seed * 13 + 5;
        deadlocks += check_machine(&t) == LS_ERR_DEADLOCK;
    }
    return deadlocks;
}

static void test_same_bits(void **state)
{
    (void)state;
    assert_int_equal(check_machines((trial){ 0 }, MACHINES), 0);
}

/* The line and the whole report name waiters of all ranks, in the order of one process. */
static void test_deadlocks(void **state)
{
    (void)state;
    unsigned deadlocks = check_machines((trial){ .machine = { .late = true } }, MACHINES);
    assert_in_range(deadlocks, 1, MACHINES - 1);
}

static void test_watchdog(void **state)
{
    (void)state;
    trial t = { .machine = { .late = true, .polls = true },
                .options = { .watchdog_fs = UINT64_C(3000000000) } };
    unsigned deadlocks = check_machines(t, MACHINES / 2);
    assert_in_range(deadlocks, 1, MACHINES / 2 - 1);
}

static void test_pieces_and_stops(void **state)
{
    (void)state;
    check_machines((trial){ .pieces = 5 }, MACHINES / 2);
    check_machines((trial){ .machine = { .stop_after = 7 } }, MACHINES / 2);
}

/* ------------------------------------------------------------------------------------------------- division */

/* Four GPUs of `gpu_domains` domains, two at each switch, a root between the switches, and a host. */
typedef struct tree {
    ls_engine *engine;
    ls_region *region[16];
    uint32_t regions;
} tree;

static ls_region *add_group(tree *t, const char *name, uint32_t domains)
{
    ls_group *group;
    ls_region *first = NULL;
    assert_int_equal(ls_group_create(t->engine, name, &group, NULL), LS_OK);
    for (uint32_t i = 0; i < domains; i++) {
        char own[32];
        snprintf(own, sizeof own, "%s.%u", name, i);
        ls_region *region = new_domain(t->engine, own, GHZ);
        assert_int_equal(ls_domain_set_group(ls_region_domain(region), group, NULL), LS_OK);
        first = first != NULL ? first : region;
    }
    return first;
}

static void nothing(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    (void)self;
    (void)link;
    (void)payload;
    (void)now;
}

static void both_ways(const tree *t, ls_region *a, ls_region *b, uint32_t width)
{
    for (int i = 0; i < 2; i++)
        new_link(t->engine, &(ls_link_spec){ .name = "wire",
                                             .from = i == 0 ? a : b,
                                             .to = i == 0 ? b : a,
                                             .latency_cycles = 50,
                                             .width_bytes = width,
                                             .credits = 4,
                                             .payload_bytes = 8,
                                             .receive = nothing });
}

/* Groups: 0 is the engine's own and empty; gpu0 is 1, switch0 is 5, switch1 is 6, root is 7, host is 8. */
static tree build_tree(void)
{
    tree t = { .engine = new_engine() };
    ls_region *gpu[4], *host, *hub[2], *root;
    for (uint32_t i = 0; i < 4; i++) {
        char name[8];
        snprintf(name, sizeof name, "gpu%u", i);
        gpu[i] = add_group(&t, name, 6);
    }
    hub[0] = add_group(&t, "switch0", 1);
    hub[1] = add_group(&t, "switch1", 1);
    root = add_group(&t, "root", 1);
    host = add_group(&t, "host", 1);
    for (uint32_t i = 0; i < 4; i++)
        both_ways(&t, gpu[i], hub[i % 2], 16); /* gpu0 and gpu2 are neighbours */
    both_ways(&t, hub[0], root, 16);
    both_ways(&t, hub[1], root, 16);
    both_ways(&t, host, root, 16);
    return t;
}

static void test_division(void **state)
{
    (void)state;
    static const uint32_t expected[][9] = {
        { 0, 0, 0, 0, 0, 0, 0, 0, 0 },
        /* gpu0 with its neighbour gpu2; each switch beside its GPUs */
        { 0, 0, 1, 0, 1, 0, 1, 0, 0 },
        { 0, 0, 1, 2, 1, 0, 1, 0, 0 },
        { 0, 0, 1, 2, 3, 0, 1, 0, 0 },
    };
    tree t = build_tree();
    uint32_t owner[9];
    for (uint32_t ranks = 1; ranks <= 4; ranks++) {
        assert_int_equal(ranks_divide(t.engine, ranks, owner, NULL), LS_OK);
        for (uint32_t g = 1; g < 9; g++)
            if (owner[g] != expected[ranks - 1][g])
                fail_msg("group %u of %u ranks is on rank %u", g, ranks, owner[g]);
    }
    ls_error err;
    assert_int_equal(ranks_divide(t.engine, 9, owner, &err), LS_ERR_USAGE);
    assert_string_equal(err.what, "the machine has 8 parts that can run alone (GPUs, switches, the host), too "
                                  "few for 9 ranks");
    ls_engine_destroy(t.engine);
}

static void near(double value, double expected)
{
    if (fabs(value - expected) > 1e-9 * expected)
        fail_msg("%.17g is not %.17g", value, expected);
}

/* The work of the busiest rank, and the bytes of links between ranks: gpu0 and gpu2 are neighbours, so traffic between
 * them does not leave their rank. */
static void test_scaling(void **state)
{
    (void)state;
    tree t = build_tree();
    ls_error err;
    ls_scaling_ranks r;
    assert_false(ls_scaling_report_ranks(t.engine, 0, &r));
    assert_int_equal(engine_prepare(t.engine, &err), LS_OK);
    assert_int_equal(scaling_start(t.engine, &err), LS_OK);
    static const uint64_t work_us[] = { 10, 20, 30, 40 };
    for (uint32_t g = 0; g < 4; g++) {
        ls_domain *first = t.engine->domains.at[(size_t)6 * g];
        first->host_ns = work_us[g] * 1000;
        scaling_window(t.engine->groups.at[g + 1], &first, 1);
    }
    uint64_t slot = t.engine->links.at[0]->slot_bytes;
    t.engine->links.at[0]->tail = 5; /* gpu0 to switch0 */
    t.engine->links.at[2]->tail = 3; /* gpu1 to switch1 */
    t.engine->links.at[8]->tail = 2; /* switch0 to root */
    scaling_meeting(t.engine);
    /* 2 ranks: gpu0, gpu2, switch0, root and host; gpu1, gpu3 and switch1. */
    assert_true(ls_scaling_report_ranks(t.engine, 0, &r));
    assert_int_equal(r.ranks, 2);
    near(r.busy_seconds, 60e-6);
    assert_int_equal(r.bytes, 0);
    for (int n = 0; n < LS_SCALING_NETWORKS; n++)
        near(r.speedup[n], 100e-6 / (60e-6 + 2 * ls_scaling_networks[n].latency_seconds));
    /* 8 ranks: every group has its own. */
    assert_true(ls_scaling_report_ranks(t.engine, 2, &r));
    assert_int_equal(r.ranks, 8);
    near(r.busy_seconds, 40e-6);
    assert_int_equal(r.bytes, 10 * (slot + sizeof(ls_cycle)));
    for (int n = 0; n < LS_SCALING_NETWORKS; n++) {
        const ls_scaling_network *net = &ls_scaling_networks[n];
        double bytes = (double)(5 * slot); /* of gpu0 */
        near(r.speedup[n], 100e-6 / (40e-6 + 4 * net->latency_seconds + bytes / net->bytes_per_second));
    }
    assert_false(ls_scaling_report_ranks(t.engine, 3, &r)); /* there are 8 groups */
    ls_engine_destroy(t.engine);
}

/* ------------------------------------------------------------------------------------------------- packing */

/* A transport whose bytes the test chooses. */
typedef struct fake_rank {
    uint8_t bytes[256];
    size_t count;
    bool fails;
} fake_rank;

static ls_status fake_exchange(void *self, const rank_bytes *out, rank_bytes *in, const uint8_t *with,
                               ls_error *err)
{
    const fake_rank *fake = self;
    (void)out;
    (void)with;
    in[1] = (rank_bytes){ fake->bytes, fake->count };
    return fake->fails ? ls_fail(err, LS_ERR_IO, "rank 1 does not answer") : LS_OK;
}

static ls_status fake_values(void *self, uint64_t *values, size_t count, ls_error *err)
{
    (void)self;
    (void)values;
    (void)count;
    (void)err;
    return LS_OK;
}

static void test_wrong_bytes(void **state)
{
    (void)state;
    static const struct {
        uint32_t words[6];
        size_t bytes;
    } cases[] = {
        { { 0, 1, 0, 0 }, 8 },        /* half of a head */
        { { 999, 1, 0, 0 }, 16 },     /* no such link */
        { { 0, 1, 0, 0 }, 16 },       /* a message without its slot */
        { { 0, 5000, 1, 0, 0 }, 24 }, /* more credits than there are */
        { { 0, UINT32_MAX, 0, 0 }, 16 },
    };
    for (size_t i = 0; i < LS_COUNT_OF(cases); i++) {
        tree t = build_tree();
        fake_rank fake = { .count = cases[i].bytes };
        memcpy(fake.bytes, cases[i].words, cases[i].bytes);
        const rank_transport transport = {
            .self = &fake, .ranks = 2, .exchange = fake_exchange, .least = fake_values, .sum = fake_values
        };
        ls_error err;
        assert_int_equal(ranks_attach(t.engine, &transport, &err), LS_OK);
        assert_int_equal(ls_run(t.engine, NULL, NULL, &err), LS_ERR_INPUT);
        assert_string_equal(err.what, "rank 1 sent bytes that fit no link of this machine");
        ls_engine_destroy(t.engine);
    }
}

/* The line of the first failure stays; the transport is not used again. */
static void test_lost_rank(void **state)
{
    (void)state;
    tree t = build_tree();
    fake_rank fake = { .fails = true };
    const rank_transport transport = {
        .self = &fake, .ranks = 2, .exchange = fake_exchange, .least = fake_values, .sum = fake_values
    };
    ls_error err;
    assert_int_equal(ranks_attach(t.engine, &transport, &err), LS_OK);
    assert_int_equal(ranks_attach(t.engine, &transport, &err), LS_ERR_USAGE);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(ls_run(t.engine, NULL, NULL, &err), LS_ERR_IO);
        assert_string_equal(err.what, "rank 1 does not answer");
        fake.fails = false;
    }
    ls_engine_destroy(t.engine);
}

/* ------------------------------------------------------------------------------------------------- saving */

/* A block that sends to the next one, often faster than the link allows. */
typedef struct post {
    ls_region *region;
    ls_link *out;
    ls_event send;
    uint64_t left, sent, sum;
} post;

static const ls_state_row post_rows[] = {
    LS_STATE_FIXED_SPAN(post, region, out),
    LS_STATE_EVENT(post, send),
    LS_STATE_DATA_SPAN(post, left, sum),
};

static void post_send(void *self, ls_cycle now)
{
    post *p = self;
    (void)now;
    if (p->left == 0)
        return;
    uint64_t *payload = ls_link_send(p->out, sizeof *payload);
    if (payload == NULL) {
        ls_link_wait(p->out, &p->send);
        return;
    }
    *payload = ++p->sent;
    p->left--;
    ls_schedule(p->region, &p->send, p->sent % 5 == 0 ? 3000 : 1 + p->sent % 3);
}

static void post_receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    post *p = self;
    uint64_t value;
    memcpy(&value, payload, sizeof value);
    p->sum = rm_mix(rm_mix(p->sum, value), now);
    ls_link_release(link, 1);
}

static ls_status post_init(ls_block *block, void *state, const void *spec, ls_error *err)
{
    post *p = state;
    (void)spec;
    (void)err;
    p->region = ls_block_region(block);
    p->left = 40;
    ls_event_init(&p->send, post_send, p);
    ls_schedule(p->region, &p->send, 1);
    return LS_OK;
}

static const ls_block_type post_type = { .abi = LS_ABI_VERSION,
                                         .slot = "test",
                                         .name = "post",
                                         .state_size = sizeof(post),
                                         .init = post_init,
                                         .rows = post_rows,
                                         .row_count = LS_COUNT_OF(post_rows) };

enum { POSTS = 5 };

/* A ring of posts, each in a group of its own, except for the last two. */
static ls_engine *build_posts(void)
{
    ls_engine *engine = NULL;
    ls_region *region[POSTS];
    ls_block *block[POSTS];
    ls_status status = ls_engine_create(1, &engine, NULL);
    for (int i = 0; i < POSTS; i++) {
        char name[8];
        ls_group *group;
        ls_domain *domain;
        ls_clock clock;
        snprintf(name, sizeof name, "p%d", i);
        status |= ls_clock_init(&clock, ls_ratio_make(GHZ + (uint64_t)i * 7000000, 1), NULL);
        status |= ls_domain_create(engine, name, clock, &domain, NULL);
        if (i < POSTS - 1)
            status |= ls_group_create(engine, name, &group, NULL);
        status |= ls_domain_set_group(domain, group, NULL);
        region[i] = ls_domain_region(domain, 0);
        status |= ls_block_create(region[i], name, &post_type, NULL, &block[i], NULL);
    }
    for (int i = 0; i < POSTS; i++) {
        post *from = ls_block_state(block[i]);
        status |= ls_link_create(engine,
                                 &(ls_link_spec){ .name = "mail",
                                                  .from = region[i],
                                                  .to = region[(i + 1) % POSTS],
                                                  .latency_cycles = 60 + (uint32_t)i,
                                                  .width_bytes = 8,
                                                  .credits = 3,
                                                  .payload_bytes = sizeof(uint64_t),
                                                  .receive = post_receive,
                                                  .receiver = ls_block_state(block[(i + 1) % POSTS]) },
                                 &from->out, NULL);
    }
    if (status != LS_OK)
        abort();
    return engine;
}

/* Runs to each of the times in turn and saves there; begins with a saved state, if there is one. */
typedef struct saving {
    const ls_time *until;
    size_t times;
    void *from;
    size_t from_bytes;
    void *bytes[4];
    size_t count[4];
} saving;

static void save_rank(void *self, uint32_t rank, const rank_transport *transport)
{
    saving *s = self;
    ls_engine *engine = build_posts();
    ls_status status = transport != NULL ? ranks_attach(engine, transport, NULL) : LS_OK;
    if (s->from != NULL)
        status |= ls_engine_load(engine, s->from, s->from_bytes, NULL);
    for (size_t i = 0; i < s->times; i++) {
        status |= ls_run(engine, &(ls_run_options){ .until = s->until[i] }, NULL, NULL);
        status |= ranks_collect(engine, NULL);
        if (rank == 0)
            status |= ls_engine_save(engine, &s->bytes[i], &s->count[i], NULL);
    }
    if (status != LS_OK)
        abort();
    ls_engine_destroy(engine);
}

static void free_saving(saving *s)
{
    for (size_t i = 0; i < s->times; i++)
        free(s->bytes[i]);
}

static void compare_saved(const saving *a, size_t first, const saving *b)
{
    for (size_t i = 0; i < b->times; i++) {
        assert_int_equal(a->count[first + i], b->count[i]);
        assert_memory_equal(a->bytes[first + i], b->bytes[i], b->count[i]);
    }
}

/* What rank 0 saves in the middle of a run are the bytes of one process; from them any number of ranks goes on. */
static void test_saved_states(void **state)
{
    (void)state;
    static const ls_time until[] = { 150000000, 3330000000, 9000000000, 0 };
    saving alone = { .until = until, .times = 4 };
    save_rank(&alone, 0, NULL);
    for (uint32_t ranks = 2; ranks <= 4; ranks++) {
        saving s = { .until = until, .times = 4 };
        local_run(ranks, save_rank, &s);
        compare_saved(&alone, 0, &s);
        free_saving(&s);
        saving later = {
            .until = until + 2, .times = 2, .from = alone.bytes[1], .from_bytes = alone.count[1]
        };
        local_run(ranks, save_rank, &later);
        compare_saved(&alone, 2, &later);
        free_saving(&later);
    }
    free_saving(&alone);
}

/* Every rank has the numbers of all, and what one counts as sent the others have received. */
static void test_report(void **state)
{
    (void)state;
    trial *t = calloc(1, sizeof *t);
    assert_non_null(t);
    t->seed = 3;
    t->machine = (rm_options){ .messages = MESSAGES, .groups_seed = 5 };
    t->options.threads = 1;
    local_run(2, run_rank, t);
    assert_int_equal(t->status[0], LS_OK);
    for (int r = 0; r < 2; r++) {
        const rank_counts *n = t->counts[r];
        assert_memory_equal(n, t->counts[0], 2 * sizeof *n);
        assert_int_equal(n[0].domains + n[1].domains, t->m[0]->domain_count);
        assert_int_equal(n[0].meetings, n[1].meetings);
        assert_int_equal(n[0].windows + n[1].windows, t->result[0].windows);
        assert_true(n[r].messages > 0 && n[r].credits > 0);
        assert_true(n[r].link_bytes > n[r].messages * (SLOT_HEADER_BYTES + sizeof(rm_message)));
        assert_true(n[r].run_ns >= n[r].wait_ns);
    }
    free_trial(t);
    free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits),    cmocka_unit_test(test_deadlocks),
        cmocka_unit_test(test_watchdog),     cmocka_unit_test(test_pieces_and_stops),
        cmocka_unit_test(test_division),     cmocka_unit_test(test_scaling),
        cmocka_unit_test(test_wrong_bytes),  cmocka_unit_test(test_lost_rank),
        cmocka_unit_test(test_saved_states), cmocka_unit_test(test_report),
    };
    return cmocka_run_group_tests_name("ranks", tests, NULL, NULL);
}
