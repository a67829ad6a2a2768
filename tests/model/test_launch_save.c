/* test_launch_save.c: launches on their way are plain data. A machine is saved while messages of both GPUs' launch
 * links are under way, and goes on in another process, whose tables of kernels and blocks lie elsewhere. It ends
 * with the same sums as a machine that was never interrupted.
 *
 * The test starts itself again: `test FILE THREADS` loads the state in FILE, runs to the end and prints the sums. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lockstep/command.h"
#include "lockstep/dispatch.h"
#include "lockstep/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCKS 300u
#define KERNELS 5u
#define LINK 40u /* cycles */
#define ROWS 64u

/* Blocks and kernels by number. Both processes make the same ones, at other addresses. */
typedef struct tables {
    ls_launch_table launches;
    ls_cta *rows[ROWS], ctas[ROWS];
    ls_kernel_info infos[KERNELS];
    ls_cu_kernel kernels[KERNELS];
    ls_cu_kernels by_number;
} tables;

typedef struct sender {
    tables *t;
    ls_region *region;
    ls_link *launches, *orders;
    ls_event event;
    uint64_t sent, ended, sum;
} sender;

typedef struct receiver {
    const tables *t;
    ls_link *dones;
    uint64_t received, sum;
} receiver;

/* Sums depend on the order of additions. */
static void add(uint64_t *sum, uint64_t value)
{
    *sum = (*sum ^ value) * 1099511628211u;
}

static void send(void *self, ls_cycle now)
{
    sender *s = self;
    (void)now;
    while (s->sent < BLOCKS && ls_link_ready(s->launches) && ls_link_ready(s->orders)) {
        uint32_t i = (uint32_t)s->sent++;
        ls_core_launch *launch = ls_link_send(s->launches, 1);
        *launch = (ls_core_launch){ .block = i % ROWS, .kernel = i % KERNELS, .number = i, .cores = 1 };
        ls_cluster_order *order = ls_link_send(s->orders, 1);
        *order =
            (ls_cluster_order){ .kind = LS_CLUSTER_LAUNCH, .launch = { .kernel = i % KERNELS, .id = { i } } };
        if (i % 7 == 0)
            break;
    }
    if (s->sent < BLOCKS)
        ls_schedule(s->region, &s->event, 3);
}

static void receive_done(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    sender *s = self;
    const ls_core_done *done = payload;
    add(&s->sum, s->t->launches.blocks[done->block]->index + now);
    s->ended++;
    ls_link_release(link, 1);
}

static void receive_launch(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    receiver *r = self;
    const ls_core_launch *launch = payload;
    const ls_launch_table *table = &r->t->launches;
    add(&r->sum, table->blocks[launch->block]->index + table->kernels[launch->kernel].info->id + now);
    r->received++;
    ls_core_done *done = ls_link_send(r->dones, 1);
    assert_non_null(done);
    *done = (ls_core_done){ .block = launch->block, .kernel = launch->kernel, .cycle = now };
    ls_link_release(link, 1);
}

static void receive_order(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    receiver *r = self;
    const ls_cluster_order *order = payload;
    add(&r->sum, r->t->by_number.at[order->launch.kernel]->number + order->launch.id[0] + now);
    ls_link_release(link, 1);
}

static const ls_state_row sender_rows[] = {
    LS_STATE_FIXED_SPAN(sender, t, orders),
    LS_STATE_EVENT(sender, event),
    LS_STATE_DATA_SPAN(sender, sent, sum),
};
static const ls_state_row receiver_rows[] = {
    LS_STATE_FIXED_SPAN(receiver, t, dones),
    LS_STATE_DATA_SPAN(receiver, received, sum),
};
static const ls_block_type sender_type = { .abi = LS_ABI_VERSION,
                                           .slot = "test",
                                           .name = "sender",
                                           .state_size = sizeof(sender),
                                           .rows = sender_rows,
                                           .row_count = LS_COUNT_OF(sender_rows) };
static const ls_block_type receiver_type = { .abi = LS_ABI_VERSION,
                                             .slot = "test",
                                             .name = "receiver",
                                             .state_size = sizeof(receiver),
                                             .rows = receiver_rows,
                                             .row_count = LS_COUNT_OF(receiver_rows) };

/* ------------------------------------------------------------------------------------------------- machine */

typedef struct machine {
    ls_engine *engine;
    tables *t;
    sender *s;
    receiver *r;
} machine;

static void must(ls_status status, const ls_error *err)
{
    if (status != LS_OK) {
        fprintf(stderr, "%s\n", err->what);
        abort();
    }
}

static tables *make_tables(void)
{
    tables *t = calloc(1, sizeof *t);
    if (t == NULL)
        abort();
    t->launches.blocks = t->rows;
    t->launches.block_count = ROWS;
    for (uint32_t i = 0; i < ROWS; i++) {
        t->ctas[i].index = 1000 + i;
        t->rows[i] = &t->ctas[i];
    }
    for (uint32_t i = 0; i < KERNELS; i++) {
        t->infos[i].id = 77 * i;
        t->launches.kernels[i].info = &t->infos[i];
        t->kernels[i].number = 13 * i;
        t->by_number.at[i] = &t->kernels[i];
    }
    return t;
}

static ls_link *join(machine *m, const char *name, ls_region *from, ls_region *to, uint32_t bytes,
                     ls_receive_fn receive, void *self)
{
    ls_error err = { 0 };
    ls_link *link;
    ls_link_spec spec = { .name = name,
                          .from = from,
                          .to = to,
                          .latency_cycles = LINK,
                          .credits = 32,
                          .payload_bytes = bytes,
                          .receive = receive,
                          .receiver = self };
    must(ls_link_create(m->engine, &spec, &link, &err), &err);
    return link;
}

static machine build(void)
{
    machine m = { .t = make_tables() };
    ls_error err = { 0 };
    ls_clock clock;
    ls_domain *front, *back;
    ls_block *block;
    must(ls_clock_init(&clock, ls_ratio_make(1000000000, 1), &err), &err);
    must(ls_engine_create(1, &m.engine, &err), &err);
    must(ls_domain_create(m.engine, "front", clock, &front, &err), &err);
    must(ls_domain_create(m.engine, "back", clock, &back, &err), &err);
    ls_region *from = ls_domain_region(front, 0), *to = ls_domain_region(back, 0);
    must(ls_block_create(from, "sender", &sender_type, NULL, &block, &err), &err);
    m.s = ls_block_state(block);
    must(ls_block_create(to, "receiver", &receiver_type, NULL, &block, &err), &err);
    m.r = ls_block_state(block);
    m.s->t = m.t;
    m.r->t = m.t;
    m.s->region = from;
    ls_event_init(&m.s->event, send, m.s);
    m.s->launches = join(&m, "launches", from, to, sizeof(ls_core_launch), receive_launch, m.r);
    m.s->orders = join(&m, "orders", from, to, sizeof(ls_cluster_order), receive_order, m.r);
    m.r->dones = join(&m, "dones", to, from, sizeof(ls_core_done), receive_done, m.s);
    return m;
}

static void finish(machine *m, uint32_t threads, char print[128])
{
    ls_error err = { 0 };
    must(ls_run(m->engine, &(ls_run_options){ .threads = threads }, NULL, &err), &err);
    snprintf(print, 128, "%llu sent, %llu ended, %llx; %llu received, %llx", (unsigned long long)m->s->sent,
             (unsigned long long)m->s->ended, (unsigned long long)m->s->sum,
             (unsigned long long)m->r->received, (unsigned long long)m->r->sum);
    ls_engine_destroy(m->engine);
    memset(m->t, 0xa5, sizeof *m->t);
    free(m->t);
}

static int go_on(const char *path, const char *threads)
{
    static char bytes[1 << 20];
    char print[128];
    void *elsewhere = malloc(1234567); /* tables lie at other addresses */
    FILE *file = fopen(path, "rb");
    size_t count = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    ls_error err = { 0 };
    machine m = build();
    must(ls_engine_load(m.engine, bytes, count, &err), &err);
    finish(&m, (uint32_t)strtoul(threads, NULL, 10), print);
    puts(print);
    free(elsewhere);
    return file == NULL || fclose(file) != 0;
}

static void continue_elsewhere(const char *path, uint32_t threads, char print[128])
{
    char self[512], command[1024];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(length > 0);
    self[length] = '\0';
    snprintf(command, sizeof command, "'%s' '%s' %u", self, path, threads);
    FILE *from = popen(command, "r");
    assert_non_null(from);
    char *line = fgets(print, 128, from);
    assert_int_equal(pclose(from), 0);
    assert_non_null(line);
    print[strcspn(print, "\n")] = '\0';
}

static void launches_under_way_go_on_in_another_process(void **state)
{
    (void)state;
    char path[] = "lockstep-launch-XXXXXX", whole[128], part[128];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    machine m = build();
    ls_schedule(m.s->region, &m.s->event, 0);
    finish(&m, 1, whole);
    assert_non_null(strstr(whole, "300 sent, 300 ended"));
    ls_random random;
    ls_random_init(&random, 4);
    for (uint32_t k = 0; k < 6; k++) {
        ls_error err = { 0 };
        void *bytes;
        size_t count;
        ls_time cut = (LINK + ls_random_below(&random, 300)) * 1000000;
        m = build();
        ls_schedule(m.s->region, &m.s->event, 0);
        must(ls_run(m.engine, &(ls_run_options){ .threads = 1 + k % 2, .until = cut }, NULL, &err), &err);
        assert_true(m.s->sent > m.s->ended && m.s->ended < BLOCKS); /* messages are under way */
        must(ls_engine_save(m.engine, &bytes, &count, &err), &err);
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(bytes, 1, count, file), count);
        assert_int_equal(fclose(file), 0);
        free(bytes);
        continue_elsewhere(path, 1 + (k + 1) % 3, part);
        assert_string_equal(part, whole);
        finish(&m, 2, part);
        assert_string_equal(part, whole);
    }
    unlink(path);
}

int main(int argc, char **argv)
{
    if (argc == 3)
        return go_on(argv[1], argv[2]);
    const struct CMUnitTest tests[] = { cmocka_unit_test(launches_under_way_go_on_in_another_process) };
    return cmocka_run_group_tests_name("launch_save", tests, NULL, NULL);
}
