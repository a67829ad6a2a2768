/* bench_line.c: the cost of moving a cache line. One requester reads or writes a line per cycle. It has a
 * first cache of 16 KiB, links, an L2 slice of 128 KiB, and DRAM with a fixed latency.
 *
 *     bench_line l0 COUNT       reads that hit in the first cache
 *     bench_line l2 COUNT       ... that miss there and hit in L2
 *     bench_line dram COUNT     ... that miss in both
 *     bench_line write COUNT    whole lines written to L2, and back to DRAM from there
 *     bench_line atomic COUNT   64 lanes add to 16 words at L2 */
#include "bench.h"

#include "isa/amd/exec/memory.h"
#include "lockstep/dram.h"
#include "model/dram/fixed.h"
#include "model/amd_memory/cache.h"
#include "model/amd_memory/gate.h"
#include "model/amd_memory/channel.h"
#include "model/amd_memory/hub.h"
#include "model/amd_memory/place_memory.h"

#define MEMORY_BYTES (UINT64_C(16) << 20)

typedef struct requester {
    ls_line_port port;
    ls_region *region;
    ls_event event;
    ls_line_message m;
    uint64_t base, lines, next, left, sum;
} requester;

static void send_line(void *self, ls_cycle now)
{
    requester *r = self;
    r->m.address = r->base + r->next % r->lines * 64;
    if (!ls_line_request(&r->port, &r->m, now))
        return;
    r->next++;
    if (--r->left > 0)
        ls_schedule(r->region, &r->event, 1);
}

static void reply(void *self, const ls_line_message *m, ls_cycle now)
{
    requester *r = self;
    (void)now;
    r->sum += m->data[0];
}

static const ls_line_client_ops client_ops = { .reply = reply, .retry = send_line };

static ls_block *block(ls_region *region, const char *name, const char *slot, const char *model,
                       const void *spec)
{
    ls_error err = { 0 };
    ls_block *out = NULL;
    must(ls_block_create(region, name, ls_registry_find_block(slot, model), spec, &out, &err), &err);
    return out;
}

int main(int argc, char **argv)
{
    ls_error err = { 0 };
    const char *what = argc > 1 ? argv[1] : "l0";
    requester r = { .left = argument(argc, argv, 2, 10000), .m = { .mask = { UINT64_MAX } } };
    line_cache_spec l0_spec = { .size_kib = 16,
                                .ways = 4,
                                .line_bytes = 64,
                                .banks = 4,
                                .accesses_per_cycle = 1,
                                .directory_cycles = 2,
                                .data_cycles = 60,
                                .fill_cycles = 10,
                                .mshr_entries = 512,
                                .mshr_targets = 8,
                                .pending = 512,
                                .queue_entries = 64,
                                .atomic_cycles = 0,
                                .write_policy = WRITE_AROUND };
    line_cache_spec l2_spec = l0_spec;
    l2_spec.size_kib = 128;
    l2_spec.ways = 16;
    l2_spec.banks = 0;
    l2_spec.write_policy = WRITE_BACK;
    line_channel_spec home_spec = { .queue_entries = 512 };
    fixed_spec dram_spec = { .latency_cycles = 100,
                             .queue_entries = 512,
                             .atoms_per_cycle = { .num = 4, .den = 1 } };
    mem_map map;
    memory_space *address_space = NULL;
    ls_block *hub = NULL, *gate = NULL, *memory = NULL;
    must(mem_map_init(&map,
                      &(mem_map_spec){ .channels = 1,
                                       .slices_per_channel = 1,
                                       .interleave_bytes = 256,
                                       .bit_map = "0000RRRR.RRRRRRRR.RBBBBCCC.CCCSSSSS" },
                      &err),
         &err);
    must(address_space_create(2 * MEMORY_BYTES, &address_space, &err), &err);
    must(address_space_alloc(address_space, MEMORY_BYTES, 4096, LS_PAGE_READ | LS_PAGE_WRITE, &r.base, &err),
         &err);

    ls_engine *engine = bench_engine();
    ls_region *above = bench_domain(engine, 0), *below = bench_domain(engine, 1);
    ls_block *dram = block(below, "dram", LS_DRAM_SLOT, "fixed", &dram_spec);
    ls_block *home = block(below, "home", LS_CHANNEL_SLOT, "window", &home_spec);
    ls_block *l2 = block(below, "l2", LINE_CACHE_SLOT, "cycle", &l2_spec);
    ls_block *l0 = block(above, "l0", LINE_CACHE_SLOT, "cycle", &l0_spec);
    must(ls_block_connect(home, "dram", dram, "dram", &err), &err);
    must(ls_block_connect(dram, "reply", home, "reply", &err), &err);
    must(line_memory_create(below, "memory", &memory, &err), &err);
    must(line_memory_attach(memory, address_space, &err), &err);
    must(line_channel_attach(home, line_memory_of(memory), &map, 64, &err), &err);
    must(line_cache_set_below(l2, home, &err), &err);
    line_cache_set_home(l2, line_memory_of(memory));
    line_cache_set_map(l2, &map);
    must(line_gate_create(below, "gate", 1, 512, &gate, &err), &err);
    must(line_gate_set_slices(gate, &map, &l2, 1, &err), &err);
    must(line_hub_create(above, "hub", 64, &hub, &err), &err);
    must(line_cache_set_below(l0, hub, &err), &err);
    ls_link_spec link = { .name = "request",
                          .from = above,
                          .to = below,
                          .latency_cycles = 40,
                          .credits = 512,
                          .payload_bytes = sizeof(ls_line_message),
                          .receive = line_gate_receive,
                          .receiver = line_gate_receiver(gate, 0) };
    ls_link *there = bench_link(engine, &link);
    link.name = "reply";
    link.from = below;
    link.to = above;
    link.receive = line_hub_receive;
    link.receiver = ls_block_state(hub);
    line_gate_set_reply(gate, 0, bench_link(engine, &link));
    must(line_hub_set_links(hub, 0, &map, &there, 1, &err), &err);
    must(ls_line_join(l0, &client_ops, &r, &r.port, &err), &err);

    r.lines = 64;
    if (strcmp(what, "l2") == 0)
        r.lines = 1024;
    else if (strcmp(what, "dram") == 0 || strcmp(what, "write") == 0)
        r.lines = MEMORY_BYTES / 64;
    if (strcmp(what, "write") == 0)
        r.m.kind = LS_LINE_WRITE;
    if (strcmp(what, "atomic") == 0) {
        r.m.kind = LS_LINE_ATOMIC;
        r.m.atomic = AMD_ATOMIC_ADD;
        r.m.atomic_bytes = 4;
    }
    r.region = above;
    ls_event_init(&r.event, send_line, &r);
    ls_schedule(above, &r.event, 1);
    ls_run_result result = bench_run(engine, &(ls_run_options){ .threads = 1 });
    printf("%" PRIu64 " events, %" PRIu64 " messages, sum %" PRIu64 "\n", result.events, result.messages,
           r.sum);
    ls_engine_destroy(engine);
    address_space_destroy(address_space);
    return 0;
}
