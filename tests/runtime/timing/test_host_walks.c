/* test_host_walks.c: page walks that cross the fabric to the host's IOMMU (mmu.walks: host): programs get the right bytes
 * from pages that lie anywhere, each miss of the L2 TLB is one walk of the host, and a walk takes the time of its way. */
#include "remote_rig.h"

#include "model/amd_memory/mmu.h"
#include "model/amd_memory/page_agent.h"
#include "model/fabric/host.h"

#define ITEMS 1024u
#define FABRIC "fabric: {model: pcie}\nhost.model: cpu"
#define OUT 65536u
#define COUNTER (128u << 10)

/* Arguments a, b, c: b[i] = a[i] + 1; atomic c[0] += 1. i: the work-item's number. For gfx803. */
static const uint32_t add_one[] = {
    0xc00a0100, 0x00000000, 0xc0060200, 0x00000010, 0x8e038602, 0x32000003, 0x24020082, 0xbf8c007f, 0x7e060205,
    0x32040204, 0x38060680, 0xdc500000, 0x04000002, 0x7e0c0207, 0x320a0206, 0x380c0c80, 0xbf8c0070, 0x32080881,
    0xdc700000, 0x00000405, 0x7e0e0208, 0x7e100209, 0x7e120281, 0xdd080000, 0x00000907, 0xbf810000,
};

typedef struct outcome {
    ls_time end[2];
    page_agent_counters agents[2];
    line_mmu_counters mmus[2];
    uint64_t walks; /* of the host */
} outcome;

static const void *counters(const remote_rig *r, const char *name)
{
    ls_block *block = ls_engine_find_block(r->engine, name);
    assert_non_null(block);
    return (const char *)ls_block_state(block) + ls_block_type_of(block)->counters_offset;
}

static uint64_t counter(const remote_rig *r, const char *block_name, const char *metric)
{
    ls_block *block = ls_engine_find_block(r->engine, block_name);
    assert_non_null(block);
    const ls_block_type *type = ls_block_type_of(block);
    for (size_t i = 0; i < type->metric_count; i++)
        if (strcmp(type->metrics[i].name, metric) == 0)
            return *(const uint64_t *)(const void *)((const char *)counters(r, block_name) +
                                                     type->metrics[i].offset);
    fail_msg("%s has no counter '%s'", block_name, metric);
    return 0;
}

static void open_rig(remote_rig *r, const char *const *sets)
{
    remote_open(r, 2, FABRIC, sets);
    const host_part *host = ls_engine_part(r->engine, HOST_PART, 0);
    assert_non_null(host);
    for (uint32_t g = 0; g < 2; g++) {
        const ls_pages pages = page_view_pages(&r->gpus[g].view);
        OK(host_set_pages(host->host, g, &pages, &err));
    }
    for (uint32_t g = 0; g < 2; g++)
        for (uint32_t i = 0; i < ITEMS; i++) {
            uint32_t value = 1000 * (g + 1) + i;
            memcpy(remote_bytes(r, g, i * 4), &value, 4);
        }
}

static void note(const remote_rig *r, outcome *out)
{
    char name[32];
    for (uint32_t g = 0; g < 2; g++) {
        snprintf(name, sizeof name, "gpu%u.agent", g);
        out->agents[g] = *(const page_agent_counters *)counters(r, name);
        snprintf(name, sizeof name, "gpu%u.mmu.l2", g);
        out->mmus[g] = *(const line_mmu_counters *)counters(r, name);
    }
    out->walks = counter(r, "host", "walks");
}

/* Each GPU works on the other's data; page 1 of GPU 0's results lies in GPU 1. */
static void exchange(uint32_t threads, const char *const *sets, outcome *out)
{
    remote_rig r;
    ls_command_packet packets[2], copy;
    uint32_t values[ITEMS];
    memset(out, 0, sizeof *out);
    open_rig(&r, sets);
    OK(page_table_map(r.table, remote_at(&r, 0, OUT), 4096,
                      (page_place){ .place = 1, .frame = r.gpus[1].data + 8192 }, &err));
    uint32_t program = remote_program(&r, add_one, LS_COUNT_OF(add_one));
    for (uint32_t g = 0; g < 2; g++) {
        const uint64_t args[] = { remote_at(&r, 1 - g, 0), remote_at(&r, 1 - g, OUT),
                                  remote_at(&r, 1 - g, COUNTER) };
        remote_launch(&r, g, program, ITEMS, args, 3, &packets[g]);
    }
    remote_run(&r, 2, threads);
    for (uint32_t g = 0; g < 2; g++) {
        assert_false(packets[g].has_fault);
        out->end[g] = packets[g].end;
    }
    note(&r, out);
    remote_transfer(&r, 1, LS_DMA_OUT, 0, r.gpus[1].data + 8192, sizeof values, values, &copy);
    remote_run(&r, 1, 1);
    for (uint32_t i = 0; i < ITEMS; i++)
        assert_int_equal(values[i], 1000 + i + 1); /* of GPU 0, written by GPU 1 to its own memory */
    remote_transfer(&r, 0, LS_DMA_OUT, 0, mem_place_physical(0, 1, r.gpus[1].data + OUT), sizeof values,
                    values, &copy);
    remote_run(&r, 1, 1);
    for (uint32_t i = 0; i < ITEMS; i++)
        assert_int_equal(values[i], 2000 + i + 1);
    remote_close(&r);
}

static void walks_cross_the_fabric(void **state)
{
    (void)state;
    static const char *const few[] = { "gpus.mmu.walks=host",
                                       "gpus.mmu.mshr_entries=1",
                                       "gpus.mmu.entries=0",
                                       "gpus.tlb.mshr_entries=1",
                                       "host.walk_queue=2",
                                       "host.walks=1",
                                       NULL };
    static const char *const plain[] = { "gpus.mmu.walks=host", NULL };
    const char *const *const sets[] = { plain, few };
    for (uint32_t k = 0; k < LS_COUNT_OF(sets); k++) {
        outcome first, more;
        exchange(1, sets[k], &first);
        for (uint32_t threads = 2; threads <= 8; threads += threads == 3 ? 5 : 1) {
            exchange(threads, sets[k], &more);
            assert_memory_equal(&more, &first, sizeof first);
        }
        uint64_t walks = 0;
        for (uint32_t g = 0; g < 2; g++) {
            assert_true(first.agents[g].walks > 0);
            assert_int_equal(first.agents[g].walks, first.mmus[g].misses);
            assert_int_equal(first.agents[g].walks, first.mmus[g].walks);
            assert_int_equal(first.agents[g].taken + first.agents[g].shootdowns + first.agents[g].pieces_in,
                             0);
            assert_int_equal(first.mmus[g].requests,
                             first.mmus[g].hits + first.mmus[g].misses + first.mmus[g].mshr_hits);
            walks += first.agents[g].walks;
        }
        assert_int_equal(first.walks, walks);
        assert_int_equal(first.agents[0].walks_peak > 1, k == 0);
    }
}

/* Of one walk at a time: a way to the host and back more than the same with a longer walk less its difference. */
static void a_walk_takes_its_way(void **state)
{
    (void)state;
    static const char *const sets[][4] = { { "gpus.mmu.walks=host", "gpus.mmu.mshr_entries=1", NULL },
                                           { "gpus.mmu.walks=host", "gpus.mmu.mshr_entries=1",
                                             "host.walk_latency_ns=350", NULL } };
    outcome a, b;
    exchange(1, sets[0], &a);
    exchange(1, sets[1], &b);
    /* The host's walk of 100 ns, two ways over PCIe of at least a switch of 140 ns each. */
    assert_true(a.agents[0].walk_cycles >= a.agents[0].walks * (100 + 2 * 140));
    assert_in_range(b.agents[0].walk_cycles / b.agents[0].walks - a.agents[0].walk_cycles / a.agents[0].walks,
                    245, 255);
    assert_true(b.end[0] > a.end[0]);
}

static void refuse(const char *fabric, const char *const *sets, const char *reason)
{
    char text[256];
    platform_config *config;
    ls_machine *machine;
    ls_error error = { 0 };
    size_t count = 0;
    while (sets[count] != NULL)
        count++;
    snprintf(text, sizeof text, "machine: system\ngpus:\n  - {platform: r9nano, count: 2, clusters: 1}\n%s\n",
             fabric);
    const config_request request = { .platform = LS_SOURCE_DIR "/platforms/remote",
                                     .sets = sets,
                                     .set_count = count,
                                     .text = text,
                                     .text_bytes = strlen(text) };
    OK(config_load(&request, &config, NULL, &err));
    assert_int_not_equal(machine_create(config, 1, &machine, &error), LS_OK);
    if (strstr(error.what, reason) == NULL)
        fail_msg("'%s' does not say '%s'", error.what, reason);
    config_destroy(config);
}

static void walks_need_a_host(void **state)
{
    (void)state;
    static const char *const sets[] = { "gpus.mmu.walks=host", NULL };
    refuse("fabric: {model: pcie}", sets, "mmu.walks is 'host', but host.model is 'none'");
    refuse("", sets, "mmu.walks is 'host', but the GPU is on no fabric");
}

/* Parts that cannot take part in page migration are refused by name. */
static void migration_needs_its_parts(void **state)
{
    (void)state;
    static const char *const fabric = "fabric: {model: pcie}\nhost.model: cpu\nmigrate.model: esi";
    static const struct {
        const char *sets[3], *reason;
    } cases[] = {
        { { "gpus.tlb.model=none" }, "tlb.model is 'none', which knows no shootdowns" },
        { { "gpus.rdma.at=memory", "gpus.rdma.cache=read-only" }, "rdma.cache is not never" },
        { { "gpus.l2.prefetch=next-line" }, "l2 has a prefetcher" },
        { { "gpus.vector_cache.write_policy=back" }, "a cache above L2 writes back" },
        { { "gpus.agent.counters=3" }, "agent.counters is 3, it must be a power of two" },
    };
    for (size_t i = 0; i < LS_COUNT_OF(cases); i++)
        refuse(fabric, cases[i].sets, cases[i].reason);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(walks_cross_the_fabric),
        cmocka_unit_test(a_walk_takes_its_way),
        cmocka_unit_test(walks_need_a_host),
        cmocka_unit_test(migration_needs_its_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
