/* test_line_tlb.c: address translation in closed form: the cost of TLB hits, misses and page-table walks. Also
 * requests for one page that share a walk, the number of simultaneous walks, and remote pages. */
#include "line_rig.h"

/* Of the default shape: links 20, L2 TLB 5, walk 50. */
enum {
    L2_TLB = 20 + 5 + 20,
    WALK = L2_TLB + 50,
    HIT = 2 + 10, /* of the cache */
};

static const line_tlb_counters *tlb_counters(const rig *r, uint32_t client)
{
    const ls_block *tlb = r->tlb[client];
    return (const line_tlb_counters *)(const void *)((const char *)ls_block_state((ls_block *)(uintptr_t)tlb) +
                                                     ls_block_type_of(tlb)->counters_offset);
}

static const line_mmu_counters *mmu_counters(const rig *r)
{
    return (const line_mmu_counters *)(const void *)((const char *)ls_block_state(r->mmu) +
                                                     ls_block_type_of(r->mmu)->counters_offset);
}

static rig_shape translated(void)
{
    rig_shape shape = rig_shape_default(64);
    shape.translated = true;
    return shape;
}

static ls_cycle latency(const rig_op *op)
{
    return op->done - op->sent;
}

static void misses_add_what_they_take(void **state)
{
    (void)state;
    for (uint64_t added = 0; added < 3; added++) {
        rig_shape shape = translated();
        shape.tlb.latency_cycles = added;
        shape.l0 = rig_cache(16, 4, 64, WRITE_AROUND);
        rig *r = rig_create(&shape, 65536);
        rig_op ops[12];
        size_t count = 0;
        ops[count++] = rig_read(r->base);          /* 0: a walk, and the line from DRAM */
        ops[count++] = rig_read(r->base);          /* 1: everything is known */
        for (uint32_t page = 1; page <= 4; page++) /* 2 to 5: three of them in the first page's set */
            ops[count++] = rig_read(r->base + page * (4096 + 64));
        ops[count++] = rig_read(r->base); /* 6: evicted from L1, but in L2; the line is in the cache */
        ops[count++] = rig_read(r->base); /* 7 */
        for (size_t i = 0; i < count; i++)
            ops[i].fence = true;
        rig_script(r, 0, ops, count);
        rig_run(r);
        assert_int_equal(latency(&ops[1]), HIT + added);
        assert_int_equal(latency(&ops[7]), HIT + added);
        assert_int_equal(latency(&ops[6]), HIT + L2_TLB + added);
        assert_int_equal(latency(&ops[2]), latency(&ops[0]));
        assert_true(latency(&ops[0]) > WALK + 100);
        const line_tlb_counters *l1 = tlb_counters(r, 0);
        const line_mmu_counters *mmu = mmu_counters(r);
        assert_int_equal(l1->accesses, 8);
        assert_int_equal(l1->hits, 2);
        assert_int_equal(l1->misses, 6);
        assert_int_equal(l1->walk_cycles, 5 * WALK + L2_TLB);
        assert_int_equal(mmu->requests, 6);
        assert_int_equal(mmu->misses, 5);
        assert_int_equal(mmu->walks, 5);
        assert_int_equal(mmu->hits, 1);
        assert_int_equal(mmu->walk_cycles, 5 * 50);
        rig_destroy(r);
    }
}

static void requests_share_walks(void **state)
{
    (void)state;
    rig_shape shape = translated();
    shape.clusters = 3;
    shape.tlb.queue_entries = 16;
    rig *r = rig_create(&shape, 65536);
    rig_op ops[3][8];
    for (uint32_t c = 0; c < 3; c++) {
        for (uint32_t i = 0; i < 8; i++)
            ops[c][i] = rig_read(r->base + i * 64);
        rig_script(r, c, ops[c], 8);
    }
    rig_run(r);
    for (uint32_t c = 0; c < 3; c++) {
        assert_int_equal(tlb_counters(r, c)->misses, 1);
        assert_int_equal(tlb_counters(r, c)->mshr_hits, 7);
    }
    assert_int_equal(mmu_counters(r)->walks, 1);
    assert_int_equal(mmu_counters(r)->mshr_hits, 2);
    rig_destroy(r);
}

/* n pages at once take n / walkers walks one after another. */
static void walkers_are_few(void **state)
{
    (void)state;
    for (uint64_t walkers = 1; walkers <= 4; walkers++) {
        enum { N = 4 };
        rig_shape shape = translated();
        shape.clusters = N;
        shape.mmu.walkers = walkers;
        rig *r = rig_create(&shape, 65536);
        rig_op ops[N];
        for (uint32_t c = 0; c < N; c++) {
            ops[c] = rig_read(r->base + c * 4096);
            rig_script(r, c, &ops[c], 1);
        }
        rig_run(r);
        uint64_t waited = 0;
        for (uint64_t c = 0; c < N; c++)
            waited += c / walkers * 50;
        assert_int_equal(mmu_counters(r)->walk_wait_cycles, waited);
        rig_destroy(r);
    }
}

/* Page 0 and page 1 have changed places. */
static ls_page swapped(void *self, uint64_t address)
{
    uint64_t base = *(const uint64_t *)self, page = (address - base) / 4096;
    return (ls_page){ .physical = page < 2 ? base + (1 - page) * 4096 : address };
}

static void pages_lie_where_the_table_says(void **state)
{
    (void)state;
    static uint64_t base;
    rig_shape shape = translated();
    shape.pages = (ls_pages){ .look = swapped, .self = &base };
    rig *r = rig_create(&shape, 65536);
    base = r->base;
    memset(address_space_host(r->address_space, r->base, 4096), 0x11, 4096);
    memset(address_space_host(r->address_space, r->base + 4096, 4096), 0x22, 4096);
    rig_op ops[] = { rig_read(r->base + 64),           rig_read(r->base + 4096 + 64),
                     rig_write(r->base + 64, 0, 4, 9), rig_write(r->base + 128, 0, 4, 9),
                     rig_read(r->base + 64),           { .m = { .kind = LS_LINE_FLUSH, .atomic = 1 } } };
    for (size_t i = 1; i < LS_COUNT_OF(ops); i++)
        ops[i].fence = true;
    rig_script(r, 0, ops, LS_COUNT_OF(ops));
    rig_run(r);
    assert_int_equal(ops[0].reply.data[5], 0x22);
    assert_int_equal(ops[1].reply.data[5], 0x11);
    assert_int_equal(ops[4].reply.data[0], 9);
    assert_int_equal(*(uint8_t *)address_space_host(r->address_space, r->base + 4096 + 64, 1), 9);
    assert_int_equal(*(uint8_t *)address_space_host(r->address_space, r->base + 64, 1), 0x11);
    /* Changes of the table are visible after the TLBs have dropped the pages. */
    base = UINT64_MAX / 2;
    line_tlb_discard(r->tlb[0], r->base, 8192);
    line_mmu_discard(r->mmu, r->base, 8192);
    line_cache_discard(r->l0[0], r->base, 8192);
    line_cache_discard(r->l2[0], r->base, 8192);
    rig_op again[] = { rig_read(r->base + 64) };
    rig_script(r, 0, again, 1);
    rig_run(r);
    assert_int_equal(again[0].reply.data[5], 0x11);
    rig_destroy(r);
}

static void large_pages_cover_more(void **state)
{
    (void)state;
    static const uint64_t sizes[] = { 4, 16, 64, 2048 };
    for (size_t k = 0; k < LS_COUNT_OF(sizes); k++) {
        rig_shape shape = translated();
        shape.tlb.page_kib = shape.mmu.page_kib = sizes[k];
        rig *r = rig_create(&shape, 65536);
        rig_op ops[16];
        for (uint32_t i = 0; i < 16; i++) {
            ops[i] = rig_read(r->base + i * 4096);
            ops[i].fence = true;
        }
        rig_script(r, 0, ops, 16);
        rig_run(r);
        uint64_t pages = (r->base + 65535) / (sizes[k] * 1024) - r->base / (sizes[k] * 1024) + 1;
        assert_int_equal(tlb_counters(r, 0)->misses, pages);
        rig_destroy(r);
    }
}

/* Model "none" is the cache itself. */
static void no_translation_costs_nothing(void **state)
{
    (void)state;
    rig_shape shape = rig_shape_default(64);
    rig *r = rig_create(&shape, 65536);
    ls_block *none = NULL;
    ls_line_port port;
    ls_error error = { 0 };
    rig_block(r->clients[0].region, "none", LS_TLB_SLOT, "none", NULL, &none);
    assert_int_equal(ls_line_join(none, &rig_client_ops, &r->clients[0], &port, &error), LS_ERR_USAGE);
    RIG_OK(line_tlb_set_below(none, r->l0[0], err));
    RIG_OK(ls_line_join(none, &rig_client_ops, &r->clients[0], &port, err));
    assert_ptr_equal(port.self, ls_block_state(r->l0[0]));
    assert_int_equal(line_tlb_questions(none), 0);
    assert_int_equal(line_tlb_page_bytes(none), 0);
    rig_destroy(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(misses_add_what_they_take), cmocka_unit_test(requests_share_walks),
        cmocka_unit_test(walkers_are_few),           cmocka_unit_test(pages_lie_where_the_table_says),
        cmocka_unit_test(large_pages_cover_more),    cmocka_unit_test(no_translation_costs_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
