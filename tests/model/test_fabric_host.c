/* test_fabric_host.c: the host at the end of a fabric: memory with latency and bandwidth, faults, page walks. */
#include "fabric_rig.h"

#include "base/address_space.h"
#include "lockstep/line.h"
#include "model/amd_memory/place_memory.h"
#include "model/fabric/host.h"
#include "model/migrate/migrate.h"
#include "model/memory/place.h"

#define ANSWERS 512u
#define WAY                                                                                                   \
    (20u + 280u + 20u) /* port, link and port of model `full`: cycles, and the flits behind the first */

typedef struct asker {
    frig r;
    memory_space *space;
    uint32_t asked, wanted, answers;
    ls_fabric_message script[ANSWERS], answer[ANSWERS];
    ls_cycle sent[ANSWERS], at[ANSWERS];
    uint32_t spread; /* cycles between two messages */
} asker;

static asker a;

static bool next_of_script(frig_end *end, ls_cycle now, ls_fabric_message *m)
{
    if (a.asked == a.wanted || end->id != 0 || (a.spread != 0 && now % a.spread != 0))
        return false;
    *m = a.script[a.asked];
    a.sent[a.asked++] = now;
    return true;
}

static void take_answer(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    const ls_fabric_message *m = payload;
    (void)self;
    assert_true(a.answers < ANSWERS);
    memcpy(&a.answer[a.answers], m, ls_fabric_message_bytes(m));
    a.at[a.answers++] = now;
    ls_link_release(link, 1);
}

static void open_host(uint32_t gpus, const char *const *sets)
{
    ls_error err = { 0 };
    a = (asker){ .r = { .gpus = gpus, .next = next_of_script, .stop = 4000, .has_bodies = true } };
    frig_open(&a.r);
    for (uint32_t i = 0; i < gpus; i++)
        frig_end_at(&a.r, i)->end.receive = take_answer;
    const ls_block_type *type = ls_registry_find_block(LS_HOST_SLOT, "cpu");
    assert_non_null(type);
    void *spec = ls_engine_alloc(a.r.engine, type->spec_size);
    frig_fill(type, sets, spec);
    assert_int_equal(ls_host_build(a.r.engine, type, spec, gpus, &err), LS_OK);
    assert_int_equal(frig_build(&a.r, "full", NULL, &err), LS_OK);
    const host_part *part = ls_engine_part(a.r.engine, HOST_PART, 0);
    assert_int_equal(address_space_create(UINT64_C(1) << 24, &a.space, &err), LS_OK);
    assert_int_equal(address_space_map(a.space, LS_WINDOW_BASE + 4096, 8192, LS_PAGE_READ | LS_PAGE_WRITE,
                                       &err),
                     LS_OK);
    assert_int_equal(address_space_map(a.space, LS_WINDOW_BASE + 12288, 4096, LS_PAGE_READ, &err), LS_OK);
    assert_int_equal(line_memory_attach(part->memory, a.space, &err), LS_OK);
}

static void close_host(void)
{
    frig_close(&a.r);
    address_space_destroy(a.space);
}

static void run(void)
{
    ls_error err = { 0 };
    if (frig_run(&a.r, 1, 0, &err) != LS_OK)
        fail_msg("%s", err.what);
}

static void ask_line(ls_fabric_class class, ls_line_kind kind, uint64_t offset, uint64_t mask,
                     const void *data)
{
    ls_fabric_message *m = &a.script[a.wanted];
    uint32_t bytes = kind == LS_LINE_READ ? 0 : 64;
    *m = (ls_fabric_message){ .to = (uint16_t)a.r.gpus,
                              .class_index = (uint8_t) class,
                              .data_bytes = (uint16_t)bytes,
                              .wire_bytes = (uint16_t)(bytes + LS_HOST_REQUEST_BYTES),
                              .address = LS_WINDOW_BASE + offset };
    ls_line_message line = { .address = m->address, .kind = (uint8_t)kind, .mask = { mask, 0 } };
    if (data != NULL)
        memcpy(line.data, data, 64);
    memcpy(m->body, &line, sizeof line);
    a.wanted++;
}

static const ls_line_message *line_of(uint32_t i)
{
    return (const ls_line_message *)(const void *)a.answer[i].body;
}

static void test_memory(void **state)
{
    (void)state;
    uint8_t data[64];
    for (uint32_t i = 0; i < 64; i++)
        data[i] = (uint8_t)(i + 1);
    open_host(2, NULL);
    a.spread = 1000;
    ask_line(LS_FABRIC_REQUEST, LS_LINE_WRITE, 4096, UINT64_C(0xffffffff), data);
    ask_line(LS_FABRIC_COPY, LS_LINE_READ, 4096, 0, NULL);
    ask_line(LS_FABRIC_REQUEST, LS_LINE_READ, 0, 0, NULL);               /* not mapped */
    ask_line(LS_FABRIC_REQUEST, LS_LINE_WRITE, 12288, UINT64_MAX, data); /* not for writing */
    run();
    assert_int_equal(a.answers, 4);
    assert_int_equal(a.answer[0].class_index, LS_FABRIC_DATA);
    assert_int_equal(a.answer[0].wire_bytes, LS_HOST_ANSWER_BYTES);
    assert_int_equal(a.answer[1].class_index, LS_FABRIC_COPY);
    assert_int_equal(a.answer[1].data_bytes, 64);
    assert_memory_equal(line_of(1)->data, data, 32);
    assert_int_equal(line_of(1)->data[32], 0);
    assert_int_equal(line_of(2)->flags, LS_LINE_FAULT);
    assert_int_equal(line_of(3)->flags, LS_LINE_FAULT | LS_LINE_READ_ONLY);
    /* There: a packet of 32 bytes, 2 flits of 1 cycle (16 GB/s). Memory: 64 bytes at 76.8 GB/s and 90 cycles. Back: 96
     * bytes, 6 flits. */
    assert_int_equal(a.at[1] - a.sent[1], WAY + 1 + 1 + 90 + WAY + 5);
    const ls_block *host = ls_engine_find_block(a.r.engine, "host");
    assert_non_null(host);
    close_host();
}

/* Reads follow each other at the bandwidth of the memory: 64 bytes at 4 GB/s are 16 cycles. */
static void test_bandwidth(void **state)
{
    (void)state;
    open_host(1, (const char *const[]){ "memory_gb_s=4", NULL });
    for (uint32_t i = 0; i < 100; i++)
        ask_line(LS_FABRIC_REQUEST, LS_LINE_READ, 4096 + i % 64 * 64, 0, NULL);
    run();
    assert_int_equal(a.answers, 100);
    assert_int_equal(a.at[99] - a.at[1], 98 * 16);
    close_host();
}

static void ask_walk(uint64_t address)
{
    ls_fabric_message *m = &a.script[a.wanted];
    migrate_body walk = { .address = address + 40, .token = a.wanted };
    *m = (ls_fabric_message){ .to = (uint16_t)a.r.gpus,
                              .class_index = LS_FABRIC_WALK,
                              .kind = MIGRATE_ASK,
                              .wire_bytes = MIGRATE_BODY_WIRE_BYTES,
                              .body_bytes = sizeof walk,
                              .address = address };
    memcpy(m->body, &walk, sizeof walk);
    a.wanted++;
}

static ls_page look(void *self, uint64_t address)
{
    (void)self;
    return (ls_page){ .physical = address + 7, .gpu = 3 };
}

static const migrate_body *walk_of(uint32_t i)
{
    return (const migrate_body *)(const void *)a.answer[i].body;
}

static void test_walks(void **state)
{
    (void)state;
    open_host(2, (const char *const[]){ "walks=4", NULL });
    for (uint32_t i = 0; i < 40; i++)
        ask_walk(mem_place_virtual(i % 2, LS_WINDOW_BASE + i * 4096));
    run();
    assert_int_equal(a.answers, 40);
    for (uint32_t i = 0; i < 40; i++) {
        assert_int_equal(walk_of(i)->token, i);
        assert_int_equal(a.answer[i].kind, MIGRATE_GRANT);
        assert_int_equal(walk_of(i)->address, a.script[i].address);
        assert_int_equal(walk_of(i)->frame, mem_place_at_home(0, a.script[i].address));
        assert_int_equal(walk_of(i)->size_log2, 12);
        assert_int_equal(walk_of(i)->flags, MIGRATE_WRITE);
    }
    /* Four walks of 100 cycles at once: the 37th begins after nine rounds. Its packets of 2 flits come one per 2 cycles. */
    assert_int_equal(a.at[0] - a.sent[0], WAY + 1 + 100 + WAY + 1);
    assert_int_equal(a.at[36] - a.at[0], 900);
    close_host();
    open_host(2, NULL);
    const host_part *part = ls_engine_part(a.r.engine, HOST_PART, 0);
    assert_int_equal(host_set_pages(part->host, 0, &(ls_pages){ .look = look }, NULL), LS_OK);
    ask_walk(4096);
    run();
    assert_int_equal(walk_of(0)->frame, 4096 + 7);
    ls_error err = { 0 };
    assert_int_equal(host_set_pages(part->host, 64, &(ls_pages){ .look = look }, &err), LS_ERR_INTERNAL);
    close_host();
}

/* The same bits for any number of threads, and after saving and going on in another machine. */
static void test_threads_and_save(void **state)
{
    (void)state;
    ls_cycle at[200];
    void *saved = NULL;
    size_t bytes = 0;
    for (uint32_t turn = 0; turn < 6; turn++) {
        static const uint32_t threads[] = { 1, 2, 3, 8, 1, 1 };
        ls_error err = { 0 };
        open_host(3, (const char *const[]){ "walks=2", "requests=3", "memory_gb_s=3", NULL });
        for (uint32_t i = 0; i < 200; i++)
            if (i % 3 == 0)
                ask_walk(i * 4096);
            else
                ask_line(i % 3 == 1 ? LS_FABRIC_REQUEST : LS_FABRIC_COPY, LS_LINE_READ, 4096 + i % 50 * 64, 0,
                         NULL);
        static asker half;
        if (turn == 4) {
            assert_int_equal(frig_run(&a.r, 1, 900, &err), LS_OK);
            if (ls_engine_save(a.r.engine, &saved, &bytes, &err) != LS_OK)
                fail_msg("%s", err.what);
            half = a;
            close_host();
            continue;
        }
        if (turn == 5) {
            a.asked = half.asked;
            a.answers = half.answers;
            memcpy(a.at, half.at, sizeof a.at);
            if (ls_engine_load(a.r.engine, saved, bytes, &err) != LS_OK)
                fail_msg("%s", err.what);
            free(saved);
            assert_true(a.answers < 200 && a.asked > a.answers);
        }
        assert_int_equal(frig_run(&a.r, threads[turn], 0, &err), LS_OK);
        assert_int_equal(a.answers, 200);
        if (turn == 0)
            memcpy(at, a.at, sizeof at);
        assert_memory_equal(at, a.at, sizeof at);
        close_host();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_bandwidth),
        cmocka_unit_test(test_walks),
        cmocka_unit_test(test_threads_and_save),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
