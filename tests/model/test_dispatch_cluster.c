/* test_dispatch_cluster.c: the dispatcher sends the blocks of a cluster in one cycle, to cores of one GPC, whatever else is
 * there; and it refuses clusters and cooperative launches that can never fit. Cores here hold a block for a time of its own
 * and do nothing else. One clock of 1 GHz. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "lockstep/lockstep.h"
#include "model/dispatch/dispatch.h"

#include <stdio.h>
#include <string.h>

#define CORES_MAX 24u
#define BLOCKS_MAX 1024u
#define LINK 50u

typedef struct machine machine;

typedef struct holder {
    ls_region *region;
    ls_link *to_dispatch;
    ls_event event;
    const machine *of;
    uint16_t id;
    uint32_t count, most;
    struct {
        ls_core_done done;
        bool held;
    } at[BLOCKS_MAX];
    uint32_t arrived;
    /* By the block's place in its kernel. */
    ls_cycle arrivals[BLOCKS_MAX];
    bool here[BLOCKS_MAX];
    uint32_t rows[BLOCKS_MAX];
} holder;

typedef struct setup {
    uint32_t cores, gpcs, tpc_cores, places;
    uint32_t grid[3], cluster[3];
    bool told; /* the kernel says how large its clusters are */
    bool cooperative;
    uint64_t seed;
    uint32_t threads;
} setup;

struct machine {
    const setup *s;
    ls_dispatch_kernel kernel;
    ls_kernel_info info;
    uint64_t next;
    bool launched, ended;
    ls_launch_table table;
    uint32_t wrong_cores; /* blocks that are not where their cluster's row says */
};

static uint32_t scramble(uint64_t x)
{
    x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return (uint32_t)(x >> 40);
}

static void plan_end(holder *c)
{
    ls_cycle next = LS_CYCLE_MAX;
    for (uint32_t i = 0; i < c->arrived; i++)
        if (c->at[i].held && c->at[i].done.cycle < next)
            next = c->at[i].done.cycle;
    if (ls_event_scheduled(&c->event))
        ls_cancel(&c->event);
    if (next != LS_CYCLE_MAX)
        ls_schedule_at(c->region, &c->event, next);
}

static void finish(void *self, ls_cycle now)
{
    holder *c = self;
    for (uint32_t i = 0; i < c->arrived; i++)
        if (c->at[i].held && c->at[i].done.cycle <= now) {
            ls_core_done *message = ls_link_send(c->to_dispatch, 1);
            assert_non_null(message);
            *message = c->at[i].done;
            c->at[i].held = false;
            c->count--;
            ls_domain_pending(ls_region_domain(c->region), -1);
        }
    plan_end(c);
}

static void receive(void *state, ls_link *link, const void *payload, ls_cycle now)
{
    holder *c = state;
    machine *m = (machine *)(uintptr_t)c->of;
    const ls_core_launch *launch = payload;
    const ls_cta *cta = m->table.blocks[launch->block];
    uint64_t index = cta->index;
    ls_domain_pending(ls_region_domain(c->region), 1);
    c->here[index] = true;
    c->arrivals[index] = now;
    c->rows[index] = launch->cluster;
    if (launch->cluster != 0 && m->table.clusters[launch->cluster - 1].cores[cta->cluster_rank] != c->id)
        m->wrong_cores++;
    c->at[c->arrived].held = true;
    c->at[c->arrived++].done = (ls_core_done){ .block = launch->block,
                                               .kernel = launch->kernel,
                                               .core = c->id,
                                               .start = now,
                                               .cycle = now + 1 + scramble(m->s->seed + index) % 300 };
    c->count++;
    c->most = c->count > c->most ? c->count : c->most;
    ls_link_release(link, 1);
    plan_end(c);
}

static const ls_block_type holder_type = {
    .abi = LS_ABI_VERSION, .slot = "test", .name = "cluster-holder", .state_size = sizeof(holder)
};

static ls_status next_kernel(void *self, ls_dispatch_kernel *out, bool *end, ls_error *err)
{
    machine *m = self;
    (void)err;
    *end = m->launched;
    if (!m->launched)
        *out = m->kernel;
    m->launched = true;
    return LS_OK;
}

static ls_status next_cta(void *self, const ls_dispatch_kernel *kernel, ls_cta *cta, bool *end, ls_error *err)
{
    machine *m = self;
    const setup *s = m->s;
    (void)err;
    *end = m->next == kernel->ctas;
    if (*end)
        return LS_OK;
    uint64_t rest = m->next;
    *cta = (ls_cta){ .index = m->next++, .in_cluster = true };
    uint32_t scale = 1;
    for (uint32_t axis = 0; axis < 3; axis++) {
        cta->id[axis] = (uint32_t)(rest % s->grid[axis]);
        rest /= s->grid[axis];
        cta->cluster[axis] = cta->id[axis] / s->cluster[axis];
        cta->cluster_cta[axis] = cta->id[axis] % s->cluster[axis];
        cta->cluster_rank += cta->cluster_cta[axis] * scale;
        scale *= s->cluster[axis];
    }
    return LS_OK;
}

static void kernel_done(void *self, const ls_dispatch_kernel *kernel, ls_cycle begin, ls_cycle end)
{
    (void)kernel;
    (void)begin;
    (void)end;
    ((machine *)self)->ended = true;
}

static void check(ls_status status, const ls_error *err)
{
    if (status != LS_OK)
        fail_msg("%s", err->what);
}

static holder *make_core(ls_engine *engine, ls_region *front, const ls_port *dispatch, machine *m, uint32_t i,
                         ls_link **launch)
{
    ls_clock clock;
    ls_domain *domain;
    ls_block *block;
    ls_error err = { 0 };
    char name[32], to[32], back[32];
    snprintf(name, sizeof name, "core%u", i);
    snprintf(to, sizeof to, "launch%u", i);
    snprintf(back, sizeof back, "done%u", i);
    check(ls_clock_init(&clock, ls_ratio_make(1000000000, 1), &err), &err);
    check(ls_domain_create(engine, name, clock, &domain, &err), &err);
    ls_region *region = ls_domain_region(domain, 0);
    check(ls_block_create(region, name, &holder_type, NULL, &block, &err), &err);
    holder *c = ls_block_state(block);
    c->region = region;
    c->of = m;
    c->id = (uint16_t)i;
    ls_event_init(&c->event, finish, c);
    ls_link_spec link = { .name = to,
                          .from = front,
                          .to = region,
                          .latency_cycles = LINK,
                          .credits = 64,
                          .payload_bytes = sizeof(ls_core_launch),
                          .receive = receive,
                          .receiver = c };
    check(ls_link_create(engine, &link, launch, &err), &err);
    link = (ls_link_spec){ .name = back,
                           .from = region,
                           .to = front,
                           .latency_cycles = LINK,
                           .credits = 64,
                           .payload_bytes = sizeof(ls_core_done),
                           .receive = ((const ls_dispatch_ops *)dispatch->ops)->receive,
                           .receiver = dispatch->self };
    check(ls_link_create(engine, &link, &c->to_dispatch, &err), &err);
    return c;
}

/* Where the block is, and that it is there once. */
static const holder *core_of(holder *const *cores, const setup *s, uint64_t index)
{
    const holder *found = NULL;
    for (uint32_t i = 0; i < s->cores; i++)
        if (cores[i]->here[index]) {
            assert_null(found);
            found = cores[i];
        }
    assert_non_null(found);
    return found;
}

static uint64_t first_of_cluster(const setup *s, uint64_t index)
{
    uint64_t first = 0, scale = 1;
    for (uint32_t axis = 0; axis < 3; axis++) {
        uint64_t at = index / scale % s->grid[axis];
        first += at / s->cluster[axis] * s->cluster[axis] * scale;
        scale *= s->grid[axis];
    }
    return first;
}

static uint32_t placed[BLOCKS_MAX]; /* cores of the last run, by block */

static uint64_t look_at_blocks(const machine *m, holder *const *cores)
{
    const setup *s = m->s;
    uint64_t digest = 14695981039346656037u;
    bool clusters = s->cluster[0] * s->cluster[1] * s->cluster[2] > 1;
    for (uint64_t i = 0; i < m->kernel.ctas; i++) {
        const holder *c = core_of(cores, s, i);
        uint64_t first = first_of_cluster(s, i);
        const holder *leader = core_of(cores, s, first);
        placed[i] = c->id;
        digest = (digest ^ c->arrivals[i] ^ (uint64_t)c->id << 48) * 1099511628211u;
        assert_true((c->rows[i] != 0) == clusters);
        if (!clusters)
            continue;
        assert_int_equal(c->arrivals[i], leader->arrivals[first]);
        assert_int_equal(c->rows[i], leader->rows[first]);
        assert_int_equal(ls_core_gpc(c->id, s->tpc_cores, s->gpcs),
                         ls_core_gpc(leader->id, s->tpc_cores, s->gpcs));
    }
    assert_int_equal(m->wrong_cores, 0);
    for (uint32_t i = 0; i < s->cores; i++)
        assert_true(cores[i]->most <= s->places);
    return digest;
}

/* Runs it; 0 if the dispatcher refused, with its text in *why. */
static uint64_t run(const setup *s, ls_error *why)
{
    static ls_cta *rows[CORES_MAX * 32 + BLOCKS_MAX];
    ls_engine *engine;
    ls_clock clock;
    ls_domain *domain;
    ls_block *block;
    ls_error err = { 0 };
    ls_port port;
    holder *cores[CORES_MAX];
    ls_link *launches[CORES_MAX];
    const dispatch_spec spec = { .launch_latency_cycles = 100,
                                 .concurrent_kernels = 4,
                                 .window = 1,
                                 .block_interval = ls_ratio_make(1, 1) };
    machine m = { .s = s,
                  .info = { .name = "clusters", .block = { 32, 1, 1 }, .cooperative = s->cooperative },
                  .table = { .blocks = rows, .block_count = LS_COUNT_OF(rows) } };
    memset(rows, 0, sizeof rows);
    memcpy(m.info.grid, s->grid, sizeof m.info.grid);
    if (s->told)
        memcpy(m.info.cluster, s->cluster, sizeof m.info.cluster);
    m.kernel = (ls_dispatch_kernel){ .info = &m.info, .ctas = ls_kernel_cta_count(&m.info) };
    check(ls_clock_init(&clock, ls_ratio_make(1000000000, 1), &err), &err);
    check(ls_engine_create(1, &engine, &err), &err);
    check(ls_domain_create(engine, "front", clock, &domain, &err), &err);
    ls_region *front = ls_domain_region(domain, 0);
    check(ls_block_create(front, "dispatch", ls_registry_find_block("dispatch", "round-robin"), &spec, &block,
                          &err),
          &err);
    check(ls_block_port(block, LS_DISPATCH_INTERFACE, &port, &err), &err);
    for (uint32_t i = 0; i < s->cores; i++)
        cores[i] = make_core(engine, front, &port, &m, i, &launches[i]);
    const ls_dispatch_ops *ops = port.ops;
    const ls_dispatch_wiring wiring = { .capacity = { .warp_slots = s->places,
                                                      .cta_slots = s->places,
                                                      .registers = 65536,
                                                      .register_unit = 1 },
                                        .to_core = launches,
                                        .core_count = s->cores,
                                        .link_latency_cycles = LINK,
                                        .launches = &m.table,
                                        .gpcs = s->gpcs,
                                        .tpc_cores = s->tpc_cores };
    check(ops->attach(port.self, &wiring, &err), &err);
    ops->start(port.self,
               &(ls_dispatch_work){
                   .self = &m, .next_kernel = next_kernel, .next_cta = next_cta, .kernel_done = kernel_done });
    ls_status status = ls_run(engine, &(ls_run_options){ .threads = s->threads }, NULL, &err);
    ls_dispatch_progress progress;
    ops->progress(port.self, &progress);
    if (progress.failure == NULL) /* else nothing goes on */
        check(status, &err);
    uint64_t digest = 0;
    if (progress.failure != NULL) {
        *why = *progress.failure;
    } else {
        assert_true(m.ended && progress.idle);
        digest = look_at_blocks(&m, cores);
    }
    ls_engine_destroy(engine);
    return digest;
}

/* Random grids, clusters and machines, with GPCs of different sizes and blocks that end at any time. */
static void clusters_are_never_split(void **state)
{
    static const uint32_t shapes[][3] = { { 1, 1, 1 }, { 2, 1, 1 }, { 4, 1, 1 }, { 2, 2, 1 },
                                          { 1, 4, 1 }, { 2, 2, 2 }, { 8, 1, 1 }, { 1, 2, 4 } };
    ls_error why;
    (void)state;
    for (uint64_t seed = 0; seed < 24; seed++) {
        const uint32_t *shape = shapes[scramble(seed) % LS_COUNT_OF(shapes)];
        setup s = { .gpcs = 1 + scramble(seed * 3 + 1) % 4,
                    .tpc_cores = 1 + scramble(seed * 5 + 2) % 2,
                    .told = scramble(seed * 7 + 3) % 2 == 0,
                    .seed = seed * 1000,
                    .threads = 1 };
        uint32_t size = shape[0] * shape[1] * shape[2];
        s.cores = s.gpcs * s.tpc_cores * (1 + scramble(seed * 11 + 4) % 3) + scramble(seed * 13 + 5) % 2;
        s.places = 1 + scramble(seed * 17 + 6) % 4;
        s.places = s.places * s.tpc_cores < size ? size : s.places; /* it fits somewhere */
        for (uint32_t axis = 0; axis < 3; axis++) {
            s.cluster[axis] = shape[axis];
            s.grid[axis] = shape[axis] * (1 + scramble(seed * 19 + axis) % 3);
        }
        uint64_t digest = run(&s, &why);
        assert_int_not_equal(digest, 0);
        for (uint32_t threads = 2; threads <= 8; threads = threads == 3 ? 8 : threads + 1) {
            s.threads = threads;
            assert_int_equal(run(&s, &why), digest);
        }
    }
}

/* As it was measured with seven GPCs: ranks 0 to 4 on SMs 0, 1, 14, 15, 28. The next cluster goes to the next GPC, and the
 * last one to cores that have the fewest blocks. */
static void ranks_follow_the_cores_of_a_gpc(void **state)
{
    static const uint32_t expected[] = { 0, 1, 6, 7, 12, 2, 3, 8, 9, 14, 4, 5, 10, 11, 16, 13, 18, 19, 0, 1 };
    ls_error why;
    (void)state;
    setup s = { .cores = 24,
                .gpcs = 3,
                .tpc_cores = 2,
                .places = 2,
                .grid = { 20, 1, 1 },
                .cluster = { 5, 1, 1 },
                .threads = 1 };
    assert_int_not_equal(run(&s, &why), 0);
    for (uint32_t i = 0; i < LS_COUNT_OF(expected); i++)
        assert_int_equal(placed[i], expected[i]);
}

static void too_large_ones_are_refused(void **state)
{
    ls_error why = { 0 };
    (void)state;
    setup s = { .cores = 8,
                .gpcs = 4,
                .tpc_cores = 2,
                .places = 3,
                .grid = { 16, 1, 1 },
                .cluster = { 8, 1, 1 },
                .threads = 1 };
    assert_int_equal(run(&s, &why), 0);
    assert_non_null(strstr(why.what, "clusters of 8 blocks: a GPC has room for 6"));
    s = (setup){ .cores = 8,
                 .gpcs = 1,
                 .tpc_cores = 2,
                 .places = 32,
                 .grid = { 32, 1, 1 },
                 .cluster = { 32, 1, 1 },
                 .threads = 1 };
    assert_int_equal(run(&s, &why), 0);
    assert_non_null(strstr(why.what, "at most 16"));
}

static void cooperative_launches_are_resident(void **state)
{
    ls_error why = { 0 };
    (void)state;
    setup s = { .cores = 4,
                .gpcs = 1,
                .tpc_cores = 2,
                .places = 2,
                .grid = { 8, 1, 1 },
                .cluster = { 1, 1, 1 },
                .cooperative = true,
                .threads = 1 };
    assert_int_not_equal(run(&s, &why), 0);
    s.grid[0] = 9;
    assert_int_equal(run(&s, &why), 0);
    assert_non_null(strstr(why.what, "has 9 blocks, and 8 of them fit on 4 cores at once"));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(clusters_are_never_split),
                                        cmocka_unit_test(ranks_follow_the_cores_of_a_gpc),
                                        cmocka_unit_test(too_large_ones_are_refused),
                                        cmocka_unit_test(cooperative_launches_are_resident) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
