/* test_page_moves.c: two GPUs work on the same pages, which move between them while kernels run: results are right, under
 * every model and with any number of threads. */
#include "remote_rig.h"

#include "model/amd_memory/cache.h"
#include "model/amd_memory/page_agent.h"
#include "model/amd_memory/place_memory.h"
#include "model/fabric/host.h"
#include "model/migrate/migrate.h"

#define ITEMS 512u
#define FABRIC "fabric: {model: pcie}\nhost.model: cpu"
#define RANGE (UINT64_C(2) << 20)
#define OUT 16384u
#define COUNTER 65536u

/* Arguments a, b, c: b[i] = a[i] + 1; atomic c[0] += 1. i: the work-item's number. For gfx803. */
static const uint32_t add_one[] = {
    0xc00a0100, 0x00000000, 0xc0060200, 0x00000010, 0x8e038602, 0x32000003, 0x24020082, 0xbf8c007f, 0x7e060205,
    0x32040204, 0x38060680, 0xdc500000, 0x04000002, 0x7e0c0207, 0x320a0206, 0x380c0c80, 0xbf8c0070, 0x32080881,
    0xdc700000, 0x00000405, 0x7e0e0208, 0x7e100209, 0x7e120281, 0xdd080000, 0x00000907, 0xbf810000,
};

typedef struct outcome {
    ls_time end[2];
    page_agent_counters agents[2];
    line_rdma_counters rdmas[2];
    uint64_t passed; /* reads that passed an L2 on purpose: those of pages that leave */
} outcome;

typedef struct moves {
    remote_rig r;
    memory_space *host_space;
    migrate_range range;
} moves;

static void open_moves(moves *m, const char *const *sets)
{
    const uint32_t pages = LS_PAGE_READ | LS_PAGE_WRITE;
    remote_rig *r = &m->r;
    remote_open(r, 2, FABRIC, sets);
    const host_part *host = ls_engine_part(r->engine, HOST_PART, 0);
    m->range = (migrate_range){ .bytes = RANGE };
    OK(address_space_create(REMOTE_SPACE, &m->host_space, &err));
    OK(address_space_alloc(m->host_space, RANGE, RANGE, pages, &m->range.frames[MEM_PLACE_HOST], &err));
    OK(line_memory_attach(host->memory, m->host_space, &err));
    for (uint32_t g = 0; g < 2; g++) {
        const ls_pages table = page_view_pages(&r->gpus[g].view);
        assert_true(amd_gpu_dma_is_virtual(r->gpus[g].gpu));
        OK(host_set_pages(host->host, g, &table, &err));
        uint64_t frame;
        if (g == 1) /* elsewhere than on GPU 0 */
            OK(address_space_alloc(r->gpus[g].space, RANGE, RANGE, pages, &frame, &err));
        OK(address_space_alloc(r->gpus[g].space, RANGE, RANGE, pages, &m->range.frames[g], &err));
        const ls_page_change change = { .address = m->range.frames[g],
                                        .bytes = RANGE,
                                        .state = (uint8_t)pages };
        amd_gpu_change_pages(r->gpus[g].gpu, &change);
    }
    m->range.address = m->range.frames[0];
    assert_int_not_equal(m->range.frames[0], m->range.frames[1]);
    OK(migrate_add_range(ls_engine_part(r->engine, MIGRATE_PART, 0), &m->range, 0, &err));
    for (uint32_t i = 0; i < 2 * ITEMS; i++)
        OK(amd_gpu_load(r->gpus[0].gpu, m->range.frames[0] + 4 * i, &(uint32_t){ 7000 + i }, 4, &err));
}

static const void *counters(const remote_rig *r, const char *name)
{
    ls_block *block = ls_engine_find_block(r->engine, name);
    assert_non_null(block);
    return (const char *)ls_block_state(block) + ls_block_type_of(block)->counters_offset;
}

static uint64_t passed_reads(const remote_rig *r)
{
    uint64_t sum = 0;
    char name[32];
    for (uint32_t i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "gpu%u.partition%u.l2_0", i / 2, i % 2);
        sum += ((const line_cache_counters *)counters(r, name))->passed_reads;
    }
    return sum;
}

/* Both read the same words, write words of the same pages, and add to one counter; then again, with each other's. */
static void share(uint32_t threads, const char *const *sets, outcome *out)
{
    static moves m;
    ls_command_packet packets[2], copy;
    uint32_t values[2 * ITEMS + 1];
    char name[32];
    memset(out, 0, sizeof *out);
    open_moves(&m, sets);
    uint32_t program = remote_program(&m.r, add_one, LS_COUNT_OF(add_one));
    uint64_t at = m.range.address;
    for (uint32_t turn = 0; turn < 2; turn++) {
        uint64_t from = at + turn * OUT;
        for (uint32_t g = 0; g < 2; g++) {
            uint32_t part = turn == 0 ? g : 1 - g;
            const uint64_t args[] = { from + part * ITEMS * 4, at + (turn + 1) * OUT + part * ITEMS * 4,
                                      at + COUNTER };
            remote_launch(&m.r, g, program, ITEMS, args, 3, &packets[g]);
        }
        remote_run(&m.r, 2, threads);
        for (uint32_t g = 0; g < 2; g++) {
            assert_false(packets[g].has_fault);
            out->end[g] = packets[g].end;
        }
    }
    for (uint32_t g = 0; g < 2; g++) {
        snprintf(name, sizeof name, "gpu%u.agent", g);
        out->agents[g] = *(const page_agent_counters *)counters(&m.r, name);
        out->rdmas[g] = *remote_counters(&m.r, g);
    }
    out->passed = passed_reads(&m.r);
    for (uint32_t g = 0; g < 2; g++) { /* each GPU copies all of it out, wherever it lies */
        remote_transfer(&m.r, g, LS_DMA_OUT, 0, at + 2 * OUT, 2 * ITEMS * 4, values, &copy);
        remote_run(&m.r, 1, 1);
        for (uint32_t i = 0; i < 2 * ITEMS; i++)
            assert_int_equal(values[i], 7000 + i + 2);
        remote_transfer(&m.r, g, LS_DMA_OUT, 0, at + COUNTER, 4, values, &copy);
        remote_run(&m.r, 1, 1);
        assert_int_equal(values[0], 4 * ITEMS);
    }
    remote_close(&m.r);
    address_space_destroy(m.host_space);
}

static void pages_move_while_kernels_run(void **state)
{
    (void)state;
    static const struct {
        const char *sets[4];
        bool moves, counts;
    } cases[] = {
        { { "migrate.model=page" }, true, false },
        { { "migrate.model=page", "migrate.threshold=8" }, true, true },
        { { "migrate.model=esi" }, true, false },
        { { "migrate.model=split" }, true, false },
        { { "migrate.model=page", "gpus.memory.copies_in_l2=true" }, true, false },
        { { "migrate.model=esi", "gpus.rdma.at=memory", "gpus.tlb.latency_cycles=7" }, true, false },
    };
    static const uint32_t threads[] = { 2, 3, 8 };
    for (size_t i = 0; i < LS_COUNT_OF(cases); i++) {
        outcome first, more;
        share(1, cases[i].sets, &first);
        for (size_t k = 0; k < LS_COUNT_OF(threads); k++) {
            share(threads[k], cases[i].sets, &more);
            assert_memory_equal(&more, &first, sizeof first);
        }
        assert_true((first.agents[1].pages_in > 0) == cases[i].moves);
        assert_true((first.agents[0].counted + first.agents[1].counted > 0) == cases[i].counts);
        assert_true(first.agents[0].shootdowns > 0);
        assert_true(first.passed >
                    0); /* L2 forgets the lines of a page that leaves, also if copies stay in it */
        for (uint32_t g = 0; g < 2; g++)
            assert_true(first.agents[g].taken <= first.agents[g].walks);
    }
}

/* Copies find pages wherever they are, and leave them there. */
static void copies_follow_pages(void **state)
{
    (void)state;
    static const char *const models[] = { "migrate.model=page", "migrate.model=esi", "migrate.model=split" };
    for (size_t i = 0; i < LS_COUNT_OF(models); i++) {
        static moves m;
        const char *const sets[] = { models[i], NULL };
        ls_command_packet copy;
        uint32_t in[300], out[300];
        open_moves(&m, sets);
        for (uint32_t k = 0; k < 300; k++)
            in[k] = 0x1000 + k;
        uint64_t at = m.range.address + 8 * 4096 - 100; /* over the edge of a page */
        remote_transfer(&m.r, 1, LS_DMA_IN, at, 0, sizeof in, in, &copy);
        remote_run(&m.r, 1, 1);
        remote_transfer(&m.r, 1, LS_DMA_COPY, at + 65536, at, sizeof in, NULL, &copy);
        remote_run(&m.r, 1, 1);
        remote_transfer(&m.r, 0, LS_DMA_OUT, 0, at + 65536, sizeof out, out, &copy);
        remote_run(&m.r, 1, 1);
        assert_memory_equal(in, out, sizeof in);
        const page_agent_counters *n = counters(&m.r, "gpu1.agent");
        assert_int_equal(n->pages_in, 0);
        assert_true(remote_counters(&m.r, 1)->writes > 0);
        remote_close(&m.r);
        address_space_destroy(m.host_space);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_move_while_kernels_run),
        cmocka_unit_test(copies_follow_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
