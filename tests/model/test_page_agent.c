/* test_page_agent.c: a GPU's side of page migration: TLBs, MMU and page agent together. Shootdowns wait for requests in
 * flight, writes ask for permission, pages of all sizes are found, lines of pages leave and come, accesses are counted. */
#include "page_rig_host.h"

#include "lockstep/random.h"

/* ------------------------------------------------------------------------------------------------- shootdowns */

/* A read is in flight when its page is shot down: the answer waits for it, then for both caches. */
static void a_shootdown_waits_for_requests_in_flight(void **state)
{
    (void)state;
    enum { LATENCY = 400 };
    prig r;
    prig_open(&r, LATENCY);
    const prig_op *first = prig_add(&r, 0, 1, LS_LINE_READ, 3, 64),
                  *other = prig_add(&r, 0, 300, LS_LINE_READ, 4, 0),
                  *again = prig_add(&r, 0, 600, LS_LINE_READ, 3, 128);
    const prig_shoot *shoot = prig_add_shoot(&r, 200, 3, MIGRATE_FORGET);
    prig_run(&r, 1);
    const prig_memory *cache = r.caches[0];
    assert_true(shoot->sent < first->done && first->done < shoot->answered);
    assert_int_equal(first->physical, prig_frame(3, 0) + 64);
    assert_int_equal(again->physical, prig_frame(3, 1) + 128);
    assert_int_equal(other->physical, prig_frame(4, 0));
    /* The lower cache first, each for the page alone, after the last answer. */
    assert_int_equal(cache->invalidates, 2);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(cache->invalidate_level[i], 1 - i);
        assert_int_equal(cache->invalidate_address[i], prig_frame(3, 0));
        assert_int_equal(cache->invalidate_bytes[i], 4096);
        assert_true(cache->invalidate_at[i] >= first->done + i * LATENCY);
    }
    assert_int_equal(shoot->answered, first->done + 2 * LATENCY + 3 * PRIG_LINK);
    assert_int_equal(r.caches[PRIG_STAY]->invalidates, 0); /* a copy engine has no cache */
    const line_tlb_counters *n = prig_counters(r.tlbs[0]);
    assert_int_equal(n->shootdowns, 1);
    assert_true(n->drain_cycles > 0);
    assert_int_equal(((const line_mmu_counters *)prig_counters(r.mmu))->shootdowns, 1);
    prig_close(&r);
}

/* A TLB that never used the page answers at once. */
static void an_unknown_page_is_shot_down_too(void **state)
{
    (void)state;
    prig r;
    prig_open(&r, 10);
    const prig_shoot *shoot = prig_add_shoot(&r, 50, 7, MIGRATE_FORGET);
    prig_run(&r, 1);
    assert_int_equal(shoot->answered - shoot->sent, 6 * PRIG_LINK + 2 * 10);
    prig_close(&r);
}

/* 40 pages at once: more than the MMU has room for. */
static void many_shootdowns_at_once(void **state)
{
    (void)state;
    prig r;
    prig_open(&r, 10);
    for (uint32_t k = 0; k < 3; k++)
        for (uint32_t i = 0; i < PRIG_PAGES; i++)
            (void)prig_add_shoot(&r, 50, i, MIGRATE_FORGET);
    prig_run(&r, 1);
    assert_int_equal(r.host->shots, 3 * PRIG_PAGES);
    prig_close(&r);
}

/* ------------------------------------------------------------------------------------------------- permission */

static void a_write_to_a_read_only_page_asks(void **state)
{
    (void)state;
    prig r;
    prig_open(&r, 20);
    r.host->pages[2].writable = 0;
    const prig_op *ops[4];
    ops[0] = prig_add(&r, 0, 1, LS_LINE_READ, 2, 0);
    ops[1] = prig_add(&r, 0, 2, LS_LINE_WRITE, 2, 64); /* waits with the read, then asks again */
    ops[2] = prig_add(&r, 0, 3, LS_LINE_READ, 2, 64);  /* does not pass the write */
    ops[3] = prig_add(&r, 0, 1000, LS_LINE_WRITE, 2, 128);
    prig_run(&r, 1);
    assert_int_equal(r.host->ask_tail, 2);
    assert_int_equal(r.host->asks[0].flags, 0);
    assert_int_equal(r.host->asks[1].flags, MIGRATE_WRITE);
    assert_int_equal(r.host->asks[1].address, prig_address(2, 64));
    assert_true(ops[0]->done < ops[1]->done && ops[1]->done <= ops[2]->done);
    assert_int_equal(ops[2]->value, 1);        /* as the write, which is request 1, said */
    assert_int_equal(ops[3]->done, 1000 + 20); /* its entry is writable now */
    assert_int_equal(((const line_tlb_counters *)prig_counters(r.tlbs[0]))->again, 2);
    prig_close(&r);
}

/* A copy engine's questions say so; its pages are not given to programs, but pages of programs to it. */
static void copies_leave_pages_where_they_are(void **state)
{
    (void)state;
    prig r;
    prig_open(&r, 20);
    const uint64_t pinned = mem_place_physical(0, MEM_PLACE_HOST, PRIG_FRAMES + 4096);
    (void)prig_add(&r, PRIG_STAY, 1, LS_LINE_READ, 2, 0);
    (void)prig_add(&r, 0, 500, LS_LINE_READ, 2, 0);
    (void)prig_add(&r, 1, 1000, LS_LINE_READ, 2, 0);
    (void)prig_add(&r, PRIG_STAY, 1500, LS_LINE_READ, 2, 64);
    prig_op *host = prig_add(&r, PRIG_STAY, 1600, LS_LINE_READ, 0, 0);
    host->address = pinned; /* physical already */
    (void)prig_add(&r, PRIG_STAY, 2000, LS_LINE_READ, 3, 0);
    prig_run(&r, 1);
    assert_int_equal(r.host->ask_tail, 3);
    assert_int_equal(r.host->asks[0].flags, MIGRATE_STAY);
    assert_int_equal(r.host->asks[1].flags, 0);
    assert_int_equal(r.host->asks[2].flags, MIGRATE_STAY);
    assert_int_equal(host->physical, pinned);
    prig_close(&r);
}

/* ------------------------------------------------------------------------------------------------------ sizes */

static void pages_have_sizes(void **state)
{
    (void)state;
    for (uint32_t size = MIGRATE_SIZE_MIN_LOG2; size <= MIGRATE_SIZE_MAX_LOG2; size++) {
        prig r;
        uint64_t bytes = UINT64_C(1) << size;
        prig_open(&r, 20);
        r.host->pages[1].size_log2 = (uint8_t)size;
        const prig_op *ops[] = { prig_add(&r, 0, 1, LS_LINE_READ, 1, 0),
                                 prig_add(&r, 0, 500, LS_LINE_WRITE, 1, bytes - 64),
                                 prig_add(&r, 0, 1500, LS_LINE_READ, 1, bytes / 2),
                                 prig_add(&r, 1, 2000, LS_LINE_READ, 1, bytes - 128) };
        const prig_shoot *shoot = prig_add_shoot(&r, 3000, 1, MIGRATE_FORGET);
        const prig_op *last = prig_add(&r, 0, 4000, LS_LINE_READ, 1, bytes - 64);
        prig_run(&r, 1);
        for (uint32_t i = 0; i < LS_COUNT_OF(ops); i++)
            assert_int_equal(ops[i]->physical, prig_frame(1, 0) + (ops[i]->address - prig_address(1, 0)));
        assert_int_equal(last->physical, prig_frame(1, 1) + bytes - 64);
        assert_int_equal(r.host->ask_tail, 2); /* one translation until the shootdown, for both TLBs */
        assert_int_equal(r.caches[0]->invalidate_bytes[0], bytes);
        assert_true(shoot->answered < last->done);
        prig_close(&r);
    }
}

/* Pages of 1 KiB in one page of the usual size: requests that waited together get each their own. */
static void pages_may_be_smaller_than_questions(void **state)
{
    (void)state;
    prig r;
    prig_open(&r, 20);
    r.host->pages[1].size_log2 = 10;
    for (uint32_t i = 0; i < 8; i++)
        (void)prig_add(&r, i % 2, 1, LS_LINE_READ, 1, i * 512);
    prig_run(&r, 1);
    for (uint32_t c = 0; c < 2; c++)
        for (uint32_t i = 0; i < 4; i++) {
            const prig_op *op = &r.clients[c]->ops[i];
            assert_int_equal(op->physical, prig_frame(1, 0) + (op->address - prig_address(1, 0)));
        }
    assert_int_equal(r.host->ask_tail, 4);
    prig_close(&r);
}

/* Requests to a page that shares its set, its miss chain and all limits with pages that come and go are answered. */
static void collisions_do_not_starve(void **state)
{
    (void)state;
    prig r;
    prig_open(&r, 60);
    for (uint32_t i = 0; i < 120; i++)
        (void)prig_add(&r, i % 2, 1, i % 3 == 0 ? LS_LINE_WRITE : LS_LINE_READ, i % 12, i * 64 % 4096);
    for (uint32_t i = 0; i < 100; i++)
        (void)prig_add_shoot(&r, 20 + i * 7, i % 3, MIGRATE_FORGET);
    prig_run(&r, 1);
    prig_close(&r);
}

/* ---------------------------------------------------------------------------------------------- pages that move */

static void a_page_is_sent_after_its_shootdown(void **state)
{
    (void)state;
    prig r;
    prig_open(&r, 300);
    const prig_op *op = prig_add(&r, 1, 1, LS_LINE_READ, 2, 0);
    const prig_shoot *shoot = prig_add_shoot(&r, 150, 2, MIGRATE_FORGET | MIGRATE_SEND),
                     *copy = prig_add_shoot(&r, 150, 5, MIGRATE_SEND);
    prig_run(&r, 1);
    const page_agent_counters *n = prig_counters(r.agent);
    assert_int_equal(r.host->pieces, 2 * 64);
    assert_int_equal(n->pages_out, 2);
    assert_int_equal(n->bytes_out, 2 * 4096);
    assert_int_equal(r.memory->reads, 2 * 64);
    assert_true(op->done < shoot->answered);
    assert_true(copy->answered < shoot->answered); /* a page that only is sent waits for no TLB */
    assert_int_equal(n->shootdowns, 1);
    assert_int_equal(((const line_tlb_counters *)prig_counters(r.tlbs[0]))->shootdowns, 1);
    prig_close(&r);
}

static void a_page_comes_line_by_line(void **state)
{
    (void)state;
    prig r;
    prig_open(&r, 20);
    r.host->push_count = 32;
    prig_run(&r, 1);
    assert_int_equal(r.host->arrived, 1);
    for (uint32_t i = 0; i < 32 * PRIG_LINE; i++)
        assert_int_equal(r.memory->bytes[PRIG_MEMORY / 16 + i], 0x40 + i / PRIG_LINE);
    assert_int_equal(((const page_agent_counters *)prig_counters(r.agent))->pages_in, 1);
    prig_close(&r);
}

typedef struct user {
    ls_event event;
    ls_region *region;
    void *agent;
    uint64_t physical;
    uint32_t left;
} user;

static void use(void *self, ls_cycle now)
{
    user *u = self;
    (void)now;
    page_agent_used(u->agent, u->physical + 64 * u->left);
    if (--u->left > 0)
        ls_schedule(u->region, &u->event, 3);
}

static void accesses_to_far_pages_are_counted(void **state)
{
    (void)state;
    for (uint32_t far = 0; far < 2; far++) {
        prig r;
        prig_open(&r, 20);
        r.host->pages[6] = (prig_page){ .size_log2 = 12, .writable = 1, .limit = 10, .far = (uint16_t)far };
        (void)prig_add(&r, 0, 1, LS_LINE_READ, 6, 0);
        user u = { .region = ls_block_region(r.agent),
                   .agent = ls_block_state(r.agent),
                   .physical = mem_place_physical(0, 5, prig_frame(6, 0)),
                   .left = 29 };
        ls_event_init(&u.event, use, &u);
        ls_schedule_at(u.region, &u.event, 500);
        prig_run(&r, 1);
        assert_int_equal(r.host->counted, far ? 2 : 0);
        if (far)
            assert_int_equal(r.host->counted_address, prig_address(6, 0));
        prig_close(&r);
    }
}

/* ------------------------------------------------------------------------------------------------ any threads */

typedef struct outcome {
    prig_op ops[PRIG_TLBS][PRIG_OPS];
    prig_shoot shoots[PRIG_LOG];
    page_agent_counters agent;
    line_mmu_counters mmu;
    line_tlb_counters tlbs[PRIG_TLBS];
} outcome;

static void script(prig *r, uint32_t seed)
{
    ls_random random;
    ls_random_init(&random, seed);
    for (uint32_t i = 0; i < PRIG_PAGES; i++) {
        r->host->pages[i].size_log2 = (uint8_t)(10 + ls_random_below(&random, 6));
        r->host->pages[i].writable = i % 2 == 0;
    }
    for (uint32_t i = 0; i < 240; i++) {
        uint32_t page = (uint32_t)ls_random_below(&random, PRIG_PAGES),
                 kind = ls_random_below(&random, 3) == 0;
        uint64_t bytes = UINT64_C(1) << r->host->pages[page].size_log2;
        (void)prig_add(r, i % PRIG_TLBS, 1 + i / PRIG_TLBS * 9, kind ? LS_LINE_WRITE : LS_LINE_READ, page,
                       ls_random_below(&random, (uint32_t)(bytes / 64)) * 64);
    }
    for (uint32_t i = 0; i < 60; i++)
        (void)prig_add_shoot(r, 30 + i * 17, (uint32_t)ls_random_below(&random, PRIG_PAGES),
                             i % 3 == 0 ? MIGRATE_FORGET | MIGRATE_SEND : MIGRATE_FORGET);
    r->host->push_count = 32;
}

static void note(const prig *r, outcome *out)
{
    memset(out, 0, sizeof *out);
    memcpy(out->shoots, r->host->shoots, sizeof out->shoots);
    for (uint32_t i = 0; i < PRIG_TLBS; i++) {
        memcpy(out->ops[i], r->clients[i]->ops, sizeof out->ops[i]);
        out->tlbs[i] = *(const line_tlb_counters *)prig_counters(r->tlbs[i]);
    }
    out->agent = *(const page_agent_counters *)prig_counters(r->agent);
    out->mmu = *(const line_mmu_counters *)prig_counters(r->mmu);
}

/* The same with any number of threads, and if it is saved on the way and goes on in another machine. */
static void random_moves_are_the_same_everywhere(void **state)
{
    (void)state;
    static outcome first, more;
    static const uint32_t threads[] = { 1, 2, 3, 8, 1 };
    for (uint32_t seed = 1; seed <= 6; seed++)
        for (uint32_t k = 0; k < LS_COUNT_OF(threads); k++) {
            prig r;
            prig_open(&r, 50);
            script(&r, seed);
            if (k == 4) {
                void *saved;
                size_t bytes;
                const ls_run_options some = { .threads = 1, .until = 600u * 1000000u };
                prig_start(&r);
                PRIG_OK(ls_run(r.engine, &some, NULL, err));
                assert_true(r.clients[0]->answered < r.clients[0]->count);
                PRIG_OK(ls_engine_save(r.engine, &saved, &bytes, err));
                prig_close(&r);
                prig_open(&r, 50);
                PRIG_OK(ls_engine_load(r.engine, saved, bytes, err));
                free(saved);
                PRIG_OK(ls_run(r.engine, &(ls_run_options){ .threads = 1 }, NULL, err));
                prig_check(&r);
            } else {
                prig_run(&r, threads[k]);
            }
            note(&r, k == 0 ? &first : &more);
            if (k > 0)
                assert_memory_equal(&more, &first, sizeof first);
            prig_close(&r);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_shootdown_waits_for_requests_in_flight),
        cmocka_unit_test(an_unknown_page_is_shot_down_too),
        cmocka_unit_test(many_shootdowns_at_once),
        cmocka_unit_test(a_write_to_a_read_only_page_asks),
        cmocka_unit_test(copies_leave_pages_where_they_are),
        cmocka_unit_test(pages_have_sizes),
        cmocka_unit_test(pages_may_be_smaller_than_questions),
        cmocka_unit_test(collisions_do_not_starve),
        cmocka_unit_test(a_page_is_sent_after_its_shootdown),
        cmocka_unit_test(a_page_comes_line_by_line),
        cmocka_unit_test(accesses_to_far_pages_are_counted),
        cmocka_unit_test(random_moves_are_the_same_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
