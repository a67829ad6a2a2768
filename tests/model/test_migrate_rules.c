/* test_migrate_rules.c: the tables of docs/multi-gpu.md, row by row: which messages and states follow from one access. Also
 * times of a walk, the keys of model `page`, the choice of the sender, the checker, and errors that end a run. */
#include "migrate_mix.h"

#define STEP 20000u /* cycles between two accesses of a script: more than any of them takes */

static mrig_script script[64];
static uint32_t script_count;

/* The next access of the script: of a GPU, at an offset of the first range. */
static void add(uint32_t gpu, uint64_t offset, const char *how)
{
    script[script_count] = (mrig_script){ .at = (script_count + 1) * STEP,
                                          .gpu = gpu,
                                          .offset = offset,
                                          .writes = strchr(how, 'w') != NULL,
                                          .stays = strchr(how, 's') != NULL };
    script_count++;
}

static void begin(const char *model, const char *fabric_model, uint32_t gpus, const char *const *sets)
{
    memset(&r, 0, sizeof r);
    memset(script, 0, sizeof script);
    script_count = 0;
    r.gpus = gpus;
    r.script = script;
    mrig_open(&r, model, sets, fabric_model);
}

static void start_script(void)
{
    r.threads = 1;
    for (uint32_t i = 0; i < r.gpus; i++) {
        mrig_gpu *g = mrig_gpu_at(&r, i);
        uint32_t own = 0;
        for (uint32_t k = 0; k < script_count; k++)
            own += script[k].gpu == i;
        if (own == 0)
            continue;
        g->threads[0].left = own + 1;
        ls_domain_pending(ls_region_domain(g->end.region), 1);
        mrig_next(g, &g->threads[0], 0);
        mrig_wake(g);
    }
}

static const dir_counters *run_script(void)
{
    start_script();
    mrig_run_ok(&r, 1);
    mrig_check_pages(&r);
    return &mrig_directory(&r)->n;
}

static const dir_page *page_at(uint64_t offset)
{
    const directory *d = mrig_directory(&r);
    return &d->pages[dir_find(d, r.range[0].address + offset)];
}

/* ------------------------------------------------------------------------------------------------------ rows */

typedef struct row {
    const char *before; /* accesses of GPUs to one page: "r1 w2" */
    const char *access;
    uint64_t holders; /* afterwards */
    bool is_exclusive;
    uint32_t shootdowns, migrations, copies, upgrades, drops, asks; /* by the access */
} row;

static void add_all(const char *text)
{
    for (; *text != '\0'; text++)
        if (*text >= '0' && *text <= '9') {
            char how[3] = { text[-1], 0, 0 };
            if (text[1] == 's')
                how[1] = 's';
            add((uint32_t)(*text - '0'), 0, how);
        }
}

/* Counters before and after the last access, in two runs of the same script. */
static void check_row(const char *model, const row *w)
{
    dir_counters before = { 0 };
    const char *const sets[] = { "check=true", NULL };
    if (w->before[0] != '\0') {
        begin(model, "full", 4, sets);
        add_all(w->before);
        before = *run_script();
        mrig_close(&r);
    }
    begin(model, "full", 4, sets);
    add_all(w->before);
    add_all(w->access);
    const dir_counters *n = run_script();
    assert_int_equal(page_at(0)->holders, w->holders);
    assert_int_equal(dir_is_exclusive(page_at(0)), w->is_exclusive);
    assert_int_equal(n->shootdowns - before.shootdowns, w->shootdowns);
    assert_int_equal(n->migrations - before.migrations, w->migrations);
    assert_int_equal(n->copies - before.copies, w->copies);
    assert_int_equal(n->upgrades - before.upgrades, w->upgrades);
    assert_int_equal(n->drops - before.drops, w->drops);
    assert_int_equal(n->asks - before.asks, w->asks);
    mrig_close(&r);
}

/* Pages begin at GPU 0. Columns: holders, exclusive, shootdowns, migrations, copies, upgrades, drops, walks. */
static void test_rows(void **state)
{
    (void)state;
    static const row esi[] = {
        { "", "r0", 1, true, 0, 0, 0, 0, 0, 1 },            /* the owner reads, and may write then */
        { "r0", "w0", 1, true, 0, 0, 0, 0, 0, 0 },          /* E: no walk */
        { "", "r1", 3, false, 0, 0, 1, 0, 0, 1 },           /* from E; the owner has no translation */
        { "w0", "r1", 3, false, 1, 0, 1, 0, 0, 1 },         /* the owner loses its writable translation */
        { "w0 r1", "r0", 3, false, 0, 0, 0, 0, 0, 1 },      /* and gets one for reading */
        { "w0 r1", "r2", 7, false, 0, 0, 1, 0, 0, 1 },      /* from S: nobody forgets */
        { "w0 r1 r0", "w0", 1, true, 1, 0, 0, 1, 1, 1 },    /* S to E: others drop it */
        { "w0 r1 r2 r0", "w1", 2, true, 2, 0, 0, 1, 2, 1 }, /* likewise */
        { "w0 r1 r0", "w2", 4, true, 2, 1, 0, 0, 1, 1 },    /* I to E, from S */
        { "w0", "w2", 4, true, 1, 1, 0, 0, 0, 1 },          /* I to E, from E */
        { "w0", "r1s", 1, true, 0, 0, 0, 0, 0, 1 },         /* a DMA engine leaves it there */
        { "w0", "w1s", 1, true, 0, 0, 0, 0, 0, 1 },         /* and may write */
        { "w0 r1", "r2s", 3, false, 0, 0, 0, 0, 0, 1 },     /* from the first of those that share */
        { "w0 r1", "w2s", 1, true, 1, 0, 0, 1, 1, 1 },      /* S: exclusive at the first of them */
        { "w0 w1s", "r2", 5, false, 2, 0, 1, 0, 0, 1 },     /* the DMA engine's translation goes first */
    };
    static const row page[] = {
        { "", "w0", 1, true, 0, 0, 0, 0, 0, 1 },
        { "w0", "r1", 2, true, 1, 1, 0, 0, 0, 1 }, /* a read takes it, too */
        { "w0 r1", "w1", 2, true, 0, 0, 0, 0, 0, 0 },
        { "w0", "w1s", 1, true, 0, 0, 0, 0, 0, 1 },
        { "w0 w1s", "r2", 4, true, 2, 1, 0, 0, 0, 1 },
    };
    for (uint32_t i = 0; i < LS_COUNT_OF(esi); i++)
        check_row("esi", &esi[i]);
    for (uint32_t i = 0; i < LS_COUNT_OF(page); i++)
        check_row("page", &page[i]);
}

/* ------------------------------------------------------------------------------------------------- splitting */

static uint32_t size_at(uint64_t offset)
{
    const directory *d = mrig_directory(&r);
    return d->sizes[dir_find(d, r.range[0].address + offset)];
}

static void test_split(void **state)
{
    (void)state;
    const char *const sets[] = { "check=true", "largest_kib=16", "smallest_kib=1", NULL };
    begin("split", "full", 2, sets);
    add(0, 0, "w"); /* a page of 16 KiB at GPU 0 */
    add(1, 9 * 1024, "w");
    const dir_counters *n = run_script();
    assert_int_equal(n->splits, 1);
    assert_int_equal(size_at(0), 13);
    assert_int_equal(size_at(8 * 1024), 13);
    assert_int_equal(page_at(0)->holders, 1);
    assert_int_equal(page_at(8 * 1024)->holders, 2);
    assert_int_equal(n->moved_bytes, 8 * 1024);
    mrig_close(&r);
    begin("split", "full", 2, sets);
    add(1, 9 * 1024, "w");  /* 8 KiB go to GPU 1 */
    add(0, 9 * 1024, "r");  /* 4 KiB of them are shared */
    add(0, 13 * 1024, "r"); /* and 2 KiB of the other 4 */
    add(1, 9 * 1024, "w");  /* the shared half is exclusive again: nothing is split */
    add(0, 0, "w");
    n = run_script();
    assert_int_equal(n->splits, 3);
    assert_int_equal(size_at(8 * 1024), 12);
    assert_int_equal(size_at(12 * 1024), 11);
    assert_int_equal(page_at(8 * 1024)->holders, 2);
    assert_int_equal(page_at(12 * 1024)->holders, 3);
    assert_int_equal(n->merges, 0);
    mrig_close(&r);
}

/* Half after half comes to GPU 1, down to the smallest page; the last one makes one page of all. */
static void test_merge(void **state)
{
    (void)state;
    begin("split", "full", 2, (const char *const[]){ "check=true", "largest_kib=16", NULL });
    add(1, 9 * 1024, "w");
    add(1, 0, "w");
    add(1, 4 * 1024, "w");
    add(1, 6 * 1024, "w");
    add(1, 7 * 1024, "w");
    const dir_counters *n = run_script();
    assert_int_equal(n->splits, 4);
    assert_int_equal(n->merges, 4);
    assert_int_equal(n->migrations, 5);
    assert_int_equal(n->moved_bytes, 16 * 1024);
    assert_int_equal(size_at(0), 14);
    assert_int_equal(page_at(0)->holders, 2);
    mrig_close(&r);
    begin("split", "full", 2, (const char *const[]){ "check=true", "largest_kib=16", "merge=false", NULL });
    add(1, 9 * 1024, "w");
    add(1, 0, "w");
    add(1, 4 * 1024, "w");
    assert_int_equal(run_script()->merges, 0);
    assert_int_equal(size_at(8 * 1024), 13);
    assert_int_equal(size_at(0), 12);
    mrig_close(&r);
}

/* ------------------------------------------------------------------------------------------------ model page */

static void test_threshold(void **state)
{
    (void)state;
    begin("page", "full", 2, (const char *const[]){ "threshold=5", "check=true", NULL });
    for (uint32_t i = 0; i < 4; i++)
        add(1, 0, "r");
    const dir_counters *n = run_script();
    assert_int_equal(n->counted + n->migrations, 0);
    assert_int_equal(n->remote_grants, 1);
    mrig_close(&r);
    begin("page", "full", 2, (const char *const[]){ "threshold=5", "check=true", NULL });
    for (uint32_t i = 0; i < 7; i++)
        add(1, 0, "r");
    n = run_script();
    assert_int_equal(n->counted, 1);
    assert_int_equal(n->migrations, 1);
    assert_int_equal(n->grants, 2);
    assert_int_equal(n->shootdowns, 1); /* of GPU 1's remote translation */
    assert_int_equal(mrig_gpu_at(&r, 1)->remote, 5);
    mrig_close(&r);
}

static void test_pin_and_prefetch(void **state)
{
    (void)state;
    begin("page", "full", 3, (const char *const[]){ "pin=2", "check=true", NULL });
    for (uint32_t i = 0; i < 6; i++)
        add(i % 3, 0, "w");
    const dir_counters *n = run_script();
    assert_int_equal(n->migrations, 2);
    assert_int_equal(n->pinned, 1);
    assert_int_equal(page_at(0)->holders, 4);
    assert_int_equal(n->remote_grants, 2); /* GPU 0 and 1, once each */
    mrig_close(&r);
    begin("page", "full", 3, (const char *const[]){ "prefetch=3", "check=true", NULL });
    add(1, 8192, "r");
    n = run_script();
    assert_int_equal(n->prefetches, 3);
    assert_int_equal(n->migrations, 4);
    assert_int_equal(page_at(8192)->holders, 2);
    assert_int_equal(page_at(8192 + 3 * 4096)->holders, 2);
    assert_int_equal(page_at(8192 + 4 * 4096)->holders, 1);
    mrig_close(&r);
}

/* ----------------------------------------------------------------------------------------------------- times */

/* A walk of 100 cycles, then an entry: 64 bytes at 76.8 GB/s and 90 cycles. A far fault comes on top. */
static void test_times(void **state)
{
    (void)state;
    begin("esi", "full", 2, (const char *const[]){ "fault_ns=5000", NULL });
    add(0, 0, "r");
    const dir_counters *n = run_script();
    assert_int_equal(n->ask_cycles, 100 + 1 + 90);
    assert_int_equal(n->far_faults, 0);
    mrig_close(&r);
    uint64_t change = 0, ask = 0;
    for (uint32_t i = 0; i < 2; i++) {
        begin("esi", "full", 2, i == 0 ? NULL : (const char *const[]){ "fault_ns=5000", NULL });
        add(1, 0, "r");
        n = run_script();
        assert_int_equal(n->ask_cycles, 191 + n->change_cycles + 5000 * i);
        assert_int_equal(n->far_faults, i);
        change = i == 0 ? n->change_cycles : change;
        ask = n->ask_cycles;
        assert_int_equal(n->change_cycles, change);
        mrig_close(&r);
    }
    assert_true(ask > 5191);
}

/* Of several readers, the one of the lowest number sends, or the nearest on the ring. */
static void test_sender(void **state)
{
    (void)state;
    static const char *const rules[] = { "sender=lowest", "sender=nearest" };
    for (uint32_t i = 0; i < 2; i++) {
        begin("esi", "ring", 8, (const char *const[]){ rules[i], "check=true", NULL });
        add(3, 0, "r");
        add(4, 0, "r");
        run_script();
        assert_int_equal(mrig_gpu_at(&r, 0)->shots, i == 0 ? 2 : 1);
        assert_int_equal(mrig_gpu_at(&r, 3)->shots, i == 0 ? 0 : 1);
        mrig_close(&r);
    }
}

/* -------------------------------------------------------------------------------------------------- mistakes */

static void expect_reason(const char *text)
{
    if (strstr(mrig_directory(&r)->reason, text) == NULL)
        fail_msg("'%s' is not in '%s'", text, mrig_directory(&r)->reason);
    mrig_close(&r);
}

static directory *open_checked(void)
{
    begin("esi", "full", 3, (const char *const[]){ "check=true", NULL });
    directory *d = ls_block_state(r.directory);
    dir_check_grant(d, 0, 0, 0, false);
    assert_string_equal(d->reason, "");
    return d;
}

static void test_checker(void **state)
{
    (void)state;
    directory *d = open_checked();
    dir_check_moved(d, 0, 12, 0, 1);
    dir_check_grant(d, 0, 1, 1, false);
    assert_string_equal(d->reason, "");
    dir_check_grant(d, 0, 1, 1, true);
    expect_reason("GPU 1 writes it at place 1, while GPU 0 reads it at place 0");
    d = open_checked();
    dir_check_grant(d, 0, 0, 0, true);
    dir_check_moved(d, 0, 12, 0, 1);
    dir_check_grant(d, 0, 1, 1, false);
    expect_reason("GPU 1 reads it at place 1, while GPU 0 writes it at place 0");
    d = open_checked();
    dir_check_grant(d, 0, 1, 1, false);
    expect_reason("GPU 1 is sent to place 1, which has not its newest bytes");
    d = open_checked();
    dir_check_moved(d, 0, 12, 0, 1);
    dir_check_grant(d, 0, 0, 0, true); /* the copy of GPU 1 is old now */
    dir_check_forgot(d, 0, 12, 0);
    dir_check_grant(d, 0, 1, 1, false);
    expect_reason("which has not its newest bytes");
    d = open_checked();
    dir_check_grant(d, 0, 2, 0, true); /* remote */
    dir_check_moved(d, 0, 12, 0, 1);
    expect_reason("it moved while GPU 2 could write it");
    d = open_checked();
    dir_check_moved(d, 0, 12, 0, MEM_PLACE_HOST);
    dir_check_grant(d, 0, 0, MEM_PLACE_HOST, true);
    expect_reason("GPU 0 is sent to place 64, but has a translation to place 0");
}

static void tell(uint32_t kind, uint32_t token)
{
    begin("esi", "full", 2, NULL);
    ls_fabric_message *m = mrig_push(mrig_gpu_at(&r, 1), LS_FABRIC_INVALIDATE, 2, kind, 0, token);
    m->class_index = LS_FABRIC_INVALIDATE;
    ls_error err = { 0 };
    assert_int_equal(mrig_run(&r, 1, 0, &err), LS_ERR_INPUT);
    assert_non_null(strstr(err.what, "migrate"));
}

/* Messages that no protocol allows end the run. */
static void test_wrong_messages(void **state)
{
    (void)state;
    tell(MIGRATE_SHOT, 3);
    expect_reason("transaction 3, which is not under way");
    tell(MIGRATE_ARRIVED, 5000);
    expect_reason("transaction 5000, which is not under way");
    tell(MIGRATE_TAKEN, 7);
    expect_reason("GPU 1 has taken grant 7, which is not open");
    tell(MIGRATE_PIECE, 0);
    expect_reason("a piece of a page of GPU 1 that it does not await");
    tell(99, 0);
    expect_reason("a message of kind 99 of GPU 1");
}

static void test_limits(void **state)
{
    (void)state;
    ls_error err = { 0 };
    const mix crowd = { "page", "full", 4, 20, 50, 0, 64, 4096, 1, SETS("asks=1", "in_flight=1") };
    open_mix(&crowd);
    assert_int_equal(mrig_run(&r, 1, 0, &err), LS_ERR_INPUT);
    assert_non_null(strstr(err.what, "migrate.asks is too small"));
    mrig_close(&r);
    /* Host memory that nobody mapped. */
    begin("page", "full", 2, NULL);
    migrate_range lost = r.range[0];
    lost.address = mem_place_virtual(5, LS_WINDOW_BASE);
    lost.frames[MEM_PLACE_HOST] = LS_WINDOW_BASE + 7 * MRIG_BLOCK;
    assert_int_equal(migrate_add_range(r.directory, &lost, MEM_PLACE_HOST, &err), LS_OK);
    assert_int_equal(migrate_move(r.directory, lost.address, 4096, 0, &err), LS_OK);
    assert_int_equal(mrig_run(&r, 1, 0, &err), LS_ERR_INPUT);
    assert_non_null(strstr(err.what, "the host has no memory at"));
    mrig_close(&r);
}

/* A GPU that does not answer is named. */
static void test_stuck(void **state)
{
    (void)state;
    ls_error err = { 0 };
    begin("esi", "full", 3, NULL);
    add(2, 0, "w");
    add(1, 0, "w");
    r.stuck = true;
    start_script();
    assert_int_equal(mrig_run(&r, 1, 0, &err), LS_ERR_DEADLOCK);
    const char *report = ls_engine_report(r.engine);
    assert_non_null(strstr(report, "migrate"));
    if (strstr(report, "its shootdown is not done") == NULL || strstr(report, "gpu0") == NULL)
        fail_msg("%s", report);
    mrig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_split),
        cmocka_unit_test(test_merge),
        cmocka_unit_test(test_threshold),
        cmocka_unit_test(test_pin_and_prefetch),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_sender),
        cmocka_unit_test(test_checker),
        cmocka_unit_test(test_wrong_messages),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_stuck),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
