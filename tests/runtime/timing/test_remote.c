/* test_remote.c: GPUs of a system use each other's memory: programs and copies get the right bytes, in the time that the
 * parts of the way add up to, with any number of threads. The simplest fabric is one wire in each direction. */
#include "remote_rig.h"

#include "lockstep/fabric.h"
#include "model/amd_memory/place_memory.h"
#include "model/fabric/host.h"

#define WIRE 500u /* cycles */
#define ITEMS 1024u
#define NETWORK (42 + 42) /* cycles: noc.request_latency_cycles and noc.reply_latency_cycles */
#define RDMA 1            /* rdma.latency_cycles */
#define L2_FILL 1         /* l2.fill_cycles */
#define FABRIC "fabric.model: wires"
#define PCIE "fabric: {model: pcie, port_latency_ns: 20}"
#define RING "fabric: {model: ring}"

/* ------------------------------------------------------------------------------------------- a fabric of wires */

static ls_status join(ls_engine *engine, ls_fabric_end *from, const ls_fabric_end *to, ls_error *err)
{
    ls_status status = LS_OK;
    char name[64];
    from->ends = 2;
    for (uint32_t i = 0; i < LS_FABRIC_CLASSES && status == LS_OK; i++) {
        if (to->receive_credits[i] == 0)
            continue;
        snprintf(name, sizeof name, "wire.%u.%u", from->number, i);
        const ls_link_spec spec = { .name = name,
                                    .from = from->region,
                                    .to = to->region,
                                    .latency_cycles = WIRE,
                                    .credits = 2048,
                                    .payload_bytes = sizeof(ls_fabric_message),
                                    .receive = to->receive,
                                    .receiver = to->receiver };
        status = ls_link_create(engine, &spec, &from->send[i], err);
    }
    return status;
}

static ls_status build(ls_engine *engine, const void *spec, const ls_fabric_plan *plan, ls_error *err)
{
    ls_fabric_end *a = plan->ends[0], *b = plan->ends[1];
    (void)spec;
    assert_int_equal(plan->gpus, 2);
    assert_int_equal(a->number, 0);
    assert_int_equal(b->number, 1);
    ls_status status = join(engine, a, b, err);
    return status == LS_OK ? join(engine, b, a, err) : status;
}

static const ls_fabric_ops wires_ops = { .build = build };
static const ls_port_decl wires_ports[] = {
    { .name = LS_FABRIC_PORT, .interface = LS_FABRIC_INTERFACE, .ops = &wires_ops },
};
static const ls_block_type wires = { .abi = LS_ABI_VERSION,
                                     .slot = LS_FABRIC_SLOT,
                                     .name = "wires",
                                     .help = "one wire each way between two GPUs",
                                     .ports = wires_ports,
                                     .port_count = LS_COUNT_OF(wires_ports) };
LS_REGISTER_BLOCK(wires);

/* ------------------------------------------------------------------------------------------------------ programs */

/* Arguments a, b, c: b[i] = a[i] + 1; atomic c[0] += 1. i: the work-item's number. For gfx803. */
static const uint32_t add_one[] = {
    0xc00a0100, 0x00000000, 0xc0060200, 0x00000010, 0x8e038602, 0x32000003, 0x24020082, 0xbf8c007f, 0x7e060205,
    0x32040204, 0x38060680, 0xdc500000, 0x04000002, 0x7e0c0207, 0x320a0206, 0x380c0c80, 0xbf8c0070, 0x32080881,
    0xdc700000, 0x00000405, 0x7e0e0208, 0x7e100209, 0x7e120281, 0xdd080000, 0x00000907, 0xbf810000,
};

/* Arguments p, n: n times p = *p, past L1 (glc). For gfx803. */
static const uint32_t chase[] = {
    0xc0060100, 0x00000000, 0xc0020180, 0x00000008, 0xbf8c007f, 0x7e000204, 0x7e020205,
    0xdc550000, 0x00000000, 0xbf8c0070, 0x80868106, 0xbf078006, 0xbf85fffa, 0xbf810000,
};

/* Arguments a, b: b[i] = a[i % 64]. i: the work-item's number. For gfx803. */
static const uint32_t read_same[] = {
    0xc00a0100, 0x00000000, 0x8e038602, 0x24020082, 0x32000003, 0x240e0082, 0xbf8c007f,
    0x7e060205, 0x32040204, 0x38060680, 0xdc500000, 0x04000002, 0x7e0c0207, 0x320a0e06,
    0x380c0c80, 0xbf8c0070, 0xdc700000, 0x00000405, 0xbf810000,
};

#define OUT 65536u
#define COUNTER (128u << 10)

static uint32_t word_at(const remote_rig *r, uint32_t gpu, uint64_t offset)
{
    uint32_t word;
    memcpy(&word, remote_bytes(r, gpu, offset), 4);
    return word;
}

/* Copies the data of a GPU out, so that bytes of its L2 count. */
static void fetch(remote_rig *r, uint32_t gpu, uint32_t from, uint64_t offset, uint32_t *to, uint32_t words)
{
    ls_command_packet packet;
    remote_transfer(r, gpu, LS_DMA_OUT, 0, mem_place_physical(gpu, from, r->gpus[from].data + offset),
                    words * 4, to, &packet);
    remote_run(r, 1, 1);
}

typedef struct outcome {
    ls_time end[4];
    line_rdma_counters n[4];
} outcome;

/* GPU 0 reads GPU 1's data, writes some of it and adds to its counter, while GPU 1 does the same to GPU 0. */
static void exchange(uint32_t threads, const char *const *sets, outcome *out)
{
    remote_rig r;
    ls_command_packet packets[2];
    uint32_t values[ITEMS];
    remote_open(&r, 2, FABRIC, sets);
    uint32_t program = remote_program(&r, add_one, LS_COUNT_OF(add_one));
    for (uint32_t g = 0; g < 2; g++)
        for (uint32_t i = 0; i < ITEMS; i++) {
            uint32_t value = 1000 * (g + 1) + i;
            memcpy(remote_bytes(&r, g, i * 4), &value, 4);
        }
    for (uint32_t g = 0; g < 2; g++) {
        const uint64_t args[] = { remote_at(&r, 1 - g, 0), remote_at(&r, 1 - g, OUT),
                                  remote_at(&r, 1 - g, COUNTER) };
        remote_launch(&r, g, program, ITEMS, args, 3, &packets[g]);
    }
    remote_run(&r, 2, threads);
    for (uint32_t g = 0; g < 2; g++) {
        assert_false(packets[g].has_fault);
        assert_int_equal(packets[g].waves, ITEMS / 64);
        fetch(&r, g, g, OUT, values, ITEMS);
        for (uint32_t i = 0; i < ITEMS; i++)
            assert_int_equal(values[i], 1000 * (g + 1) + i + 1);
        fetch(&r, g, g, COUNTER, values, 1);
        assert_int_equal(values[0], ITEMS);
        assert_int_equal(word_at(&r, g, 0), 1000 * (g + 1)); /* inputs are as before */
        out->end[g] = packets[g].end;
        out->n[g] = *remote_counters(&r, g);
        assert_int_equal(out->n[g].answers, out->n[g].reads + out->n[g].writes + out->n[g].atomics);
        assert_true(out->n[g].reads >= ITEMS * 4 / 64 && out->n[g].writes >= ITEMS * 4 / 64);
    }
    assert_int_equal(out->n[0].reads, out->n[1].served_reads);
    assert_int_equal(out->n[1].reads, out->n[0].served_reads); /* with the fetches of code in GPU 0 */
    assert_int_equal(out->n[0].atomics, out->n[1].served_atomics);
    assert_int_equal(out->n[0].bytes_out, out->n[1].bytes_in);
    remote_close(&r);
}

/* Where the RDMA engine takes requests, and the lines that L2 keeps. */
static const char *const modes[][3] = {
    { NULL },
    { "gpus.rdma.at=memory", NULL },
    { "gpus.rdma.at=memory", "gpus.rdma.cache=read-only", NULL },
    { "gpus.rdma.at=memory", "gpus.rdma.cache=partitioned", NULL },
};
#define MODES LS_COUNT_OF(modes)

static void programs_use_each_others_memory(void **state)
{
    (void)state;
    for (uint32_t mode = 0; mode <= MODES; mode++) {
        const char *const none[] = { "gpus.tlb.model=none", NULL };
        const char *const *sets = mode < MODES ? modes[mode] : none;
        outcome first = { 0 }, more = { 0 };
        exchange(1, sets, &first);
        for (uint32_t threads = 2; threads <= 8; threads += threads == 3 ? 5 : 1) {
            exchange(threads, sets, &more);
            assert_memory_equal(&more, &first, sizeof first);
        }
    }
}

static void limits_slow_programs_down(void **state)
{
    (void)state;
    static const char *const sets[] = { "gpus.rdma.in_flight=4", "gpus.rdma.served_in_flight=2", NULL };
    outcome wide, narrow;
    exchange(1, NULL, &wide);
    exchange(1, sets, &narrow);
    assert_true(wide.n[0].in_flight_peak > 4);
    assert_int_equal(narrow.n[0].in_flight_peak, 4);
    assert_int_equal(narrow.n[1].served_peak, 2);
    assert_true(narrow.n[0].refused > 0);
    assert_true(narrow.end[0] > wide.end[0]);
}

/* Both GPUs wait for lines of each other, with one of everything. */
static void small_machines_do_not_deadlock(void **state)
{
    (void)state;
    for (uint32_t mode = 0; mode < MODES; mode++) {
        const char *sets[12] = { "gpus.rdma.in_flight=1",
                                 "gpus.rdma.served_in_flight=1",
                                 "gpus.rdma.buffer_messages=1",
                                 "gpus.l2.mshr_entries=1",
                                 "gpus.l2.pending=1",
                                 "gpus.l2.queue_entries=2",
                                 "gpus.l2.ways=5",
                                 "gpus.l2.size_kib=10" };
        size_t count = 8;
        for (uint32_t i = 0; modes[mode][i] != NULL; i++)
            sets[count++] = modes[mode][i];
        outcome out = { 0 };
        exchange(1, sets, &out);
        assert_int_equal(out.n[0].in_flight_peak, 1);
    }
}

/* Of one load of GPU 0, past L1, of a line that the owner's L2 has. */
static uint64_t load_cycles(uint32_t gpus, const char *fabric, uint32_t owner, const char *const *sets)
{
    uint64_t cycles[2];
    for (uint32_t k = 0; k < 2; k++) {
        remote_rig r;
        ls_command_packet packet;
        remote_open(&r, gpus, fabric, sets);
        uint32_t program = remote_program(&r, chase, LS_COUNT_OF(chase));
        const uint64_t args[] = { remote_at(&r, owner, 0), 8 + 32 * k };
        memcpy(remote_bytes(&r, owner, 0), &args[0], 8);
        remote_launch(&r, 0, program, 64, args, 2, &packet);
        remote_run(&r, 1, 1);
        assert_false(packet.has_fault);
        cycles[k] = remote_cycles(&r, &packet);
        assert_int_equal(remote_counters(&r, 0)->reads, owner == 0 ? 0 : args[1]);
        remote_close(&r);
    }
    assert_int_equal((cycles[1] - cycles[0]) % 32, 0);
    return (cycles[1] - cycles[0]) / 32;
}

static void a_remote_load_is_a_local_one_and_the_way(void **state)
{
    (void)state;
    static const char *const slow[] = { "gpus.rdma.latency_cycles=25", "gpus.noc.rdma_latency_cycles=60",
                                        NULL };
    uint64_t local = load_cycles(2, FABRIC, 0, NULL);
    assert_int_equal(load_cycles(2, FABRIC, 1, NULL), local + NETWORK + 4 * RDMA + 2 * WIRE);
    /* To the RDMA engine of the requester, and from that of the owner to L2; local: to L2. */
    assert_int_equal(load_cycles(2, FABRIC, 1, slow), local - NETWORK + 4 * 60 + 4 * 25 + 2 * WIRE);
}

/* Behind L2 a request passes the own partition too, with a look (directory_cycles) and fill_cycles. A load with glc
 * passes lines that are there. The sum is a multiple of 4, as the turns of a SIMD are. */
static void a_load_behind_l2_passes_the_own_partition(void **state)
{
    (void)state;
    static const char *const never[] = { "gpus.rdma.at=memory", "gpus.l2.directory_cycles=11", NULL };
    static const char *const keeps[] = { "gpus.rdma.at=memory", "gpus.rdma.cache=partitioned",
                                         "gpus.l2.directory_cycles=11", NULL };
    uint64_t local = load_cycles(2, FABRIC, 0, never);
    uint64_t remote = local + 2 * NETWORK + 11 + L2_FILL + 4 * RDMA + 2 * WIRE;
    assert_int_equal(load_cycles(2, FABRIC, 1, never), remote);
    assert_int_equal(load_cycles(2, FABRIC, 0, keeps), local);
    assert_int_equal(load_cycles(2, FABRIC, 1, keeps), remote);
}

/* Every compute unit reads the same lines of GPU 1: 16 work-groups on 4 compute units. */
static void l2_keeps_lines_of_other_gpus(void **state)
{
    (void)state;
    for (uint32_t mode = 0; mode < MODES; mode++) {
        remote_rig r;
        ls_command_packet packets[3];
        uint32_t value;
        uint64_t reads[3];
        remote_open(&r, 2, FABRIC, modes[mode]);
        uint32_t program = remote_program(&r, read_same, LS_COUNT_OF(read_same));
        const uint64_t args[] = { remote_at(&r, 1, 0), remote_at(&r, 0, OUT) };
        for (uint32_t k = 0; k < 3; k++) {
            value = 70 + k;
            for (uint32_t i = 0; i < 64; i++) /* GPU 1's own copy engine writes it: GPU 0 does not know */
                remote_set(&r, 1, i * 4, &value, 4);
            amd_gpu_discard(r.gpus[1].gpu, r.gpus[1].data, 256);
            remote_launch(&r, 0, program, ITEMS, args, 2, &packets[k]);
            remote_run(&r, 1, 1);
            assert_false(packets[k].has_fault);
            reads[k] = remote_counters(&r, 0)->reads;
            uint32_t values[ITEMS];
            fetch(&r, 0, 0, OUT, values, ITEMS);
            for (uint32_t i = 0; i < ITEMS; i++)
                assert_int_equal(values[i], value);
        }
        /* 64 words are 4 lines: once for each compute unit and kernel, or once for each kernel. */
        uint64_t each = mode < 2 ? 4 * 4 : 4;
        assert_int_equal(reads[0], each);
        assert_int_equal(reads[2], 3 * each);
        remote_close(&r);
    }
}

/* PCI Express 3: 20 cycles from an end to its port, 140 per switch. A request is one flit. An answer of 68 bytes and a
 * quarter is five flits of 17 bytes, of which the last is 4 cycles behind the first. */
static void a_load_over_pcie_takes_its_hops(void **state)
{
    (void)state;
    uint64_t near = load_cycles(4, PCIE, 0, NULL) + NETWORK + 4 * RDMA + 4 * 20 + 4;
    assert_int_equal(load_cycles(4, PCIE, 1, NULL), near + 2 * 140);
    assert_int_equal(load_cycles(4, PCIE, 2, NULL), near + 2 * 3 * 140);
    uint64_t next = load_cycles(4, RING, 1, NULL), over = load_cycles(4, RING, 2, NULL);
    assert_int_equal(over - next, 2 * 250); /* a hop more each way */
    assert_int_equal(load_cycles(4, RING, 3, NULL), next);
}

/* Every GPU works on the data of the one `step` further. */
static void turn(const char *fabric, uint32_t step, uint32_t threads, outcome *out)
{
    remote_rig r;
    ls_command_packet packets[4];
    uint32_t values[ITEMS];
    remote_open(&r, 4, fabric, NULL);
    uint32_t program = remote_program(&r, add_one, LS_COUNT_OF(add_one));
    for (uint32_t g = 0; g < 4; g++) {
        const uint32_t to = (g + step) % 4;
        const uint64_t args[] = { remote_at(&r, to, 0), remote_at(&r, to, OUT), remote_at(&r, 0, COUNTER) };
        for (uint32_t i = 0; i < ITEMS; i++)
            memcpy(remote_bytes(&r, to, i * 4), &(uint32_t){ 100 * to + i }, 4);
        remote_launch(&r, g, program, ITEMS, args, 3, &packets[g]);
    }
    remote_run(&r, 4, threads);
    for (uint32_t g = 0; g < 4; g++) {
        out->end[g] = packets[g].end;
        out->n[g] = *remote_counters(&r, g);
    }
    for (uint32_t g = 0; g < 4; g++) {
        assert_false(packets[g].has_fault);
        fetch(&r, (g + 1) % 4, g, OUT, values, ITEMS); /* as another GPU sees it */
        for (uint32_t i = 0; i < ITEMS; i++)
            assert_int_equal(values[i], 100 * g + i + 1);
    }
    fetch(&r, 0, 0, COUNTER, values, 1);
    assert_int_equal(values[0], 4 * ITEMS);
    remote_close(&r);
}

static void four_gpus_use_each_others_memory(void **state)
{
    (void)state;
    static const char *const fabrics[] = { PCIE, RING, "fabric: {model: full}",
                                           "fabric: {model: switch, planes: 2}" };
    for (uint32_t f = 0; f < LS_COUNT_OF(fabrics); f++) {
        outcome first = { 0 }, more = { 0 };
        uint64_t sent = 0, served = 0, out = 0, in = 0;
        turn(fabrics[f], 1 + f % 3, 1, &first);
        for (uint32_t threads = 2; threads <= 8; threads += threads == 3 ? 5 : 1) {
            turn(fabrics[f], 1 + f % 3, threads, &more);
            assert_memory_equal(&more, &first, sizeof first);
        }
        for (uint32_t g = 0; g < 4; g++) {
            const line_rdma_counters *n = &first.n[g];
            sent += n->reads + n->writes + n->atomics;
            served += n->served_reads + n->served_writes + n->served_atomics;
            out += n->bytes_out;
            in += n->bytes_in;
        }
        assert_int_equal(sent, served);
        assert_int_equal(out, in);
    }
}

static void copies_cross_the_fabric(void **state)
{
    (void)state;
    remote_rig r;
    ls_command_packet packets[3];
    uint32_t in[300], out[300];
    remote_open(&r, 2, FABRIC, NULL);
    for (uint32_t i = 0; i < 300; i++)
        in[i] = 0x1000 + i;
    /* Host to GPU 1 through GPU 0; from there to GPU 0 by GPU 0; out of GPU 0 by GPU 1. */
    uint64_t far = mem_place_physical(0, 1, r.gpus[1].data + 4), near = r.gpus[0].data + 512;
    remote_transfer(&r, 0, LS_DMA_IN, far, 0, sizeof in, in, &packets[0]);
    remote_transfer(&r, 0, LS_DMA_COPY, near, far, sizeof in, NULL, &packets[1]);
    remote_run(&r, 2, 1);
    remote_transfer(&r, 1, LS_DMA_OUT, 0, mem_place_physical(1, 0, near), sizeof out, out, &packets[2]);
    remote_run(&r, 1, 1);
    assert_memory_equal(in, out, sizeof in);
    assert_int_equal(remote_counters(&r, 0)->writes, (4 + sizeof in + 63) / 64);
    assert_int_equal(remote_counters(&r, 0)->reads, (4 + sizeof in + 63) / 64);
    assert_int_equal(remote_counters(&r, 1)->reads, (sizeof in + 63) / 64);
    remote_close(&r);
}

static void unmapped_memory_of_another_gpu_is_a_fault(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < 2; k++) {
        remote_rig r;
        ls_command_packet packet;
        remote_open(&r, 2, FABRIC, NULL);
        uint32_t program = remote_program(&r, chase, LS_COUNT_OF(chase));
        uint64_t args[] = { remote_at(&r, 1, REMOTE_DATA),
                            1 }; /* behind its data; in a GPU that is not there */
        if (k == 1)
            args[0] = mem_place_virtual(7, r.gpus[1].data);
        remote_launch(&r, 0, program, 64, args, 2, &packet);
        remote_run(&r, 1, 1);
        assert_true(packet.has_fault);
        assert_int_equal(remote_counters(&r, 0)->faults, 1);
        assert_int_equal(remote_counters(&r, 1)->served_reads, k == 0);
        remote_close(&r);
    }
}

/* A page of GPU 1 lies in host memory, and one of GPU 0 in GPU 1: TLBs say so. */
static void pages_may_lie_on_the_host_or_on_another_gpu(void **state)
{
    (void)state;
    remote_rig r;
    memory_space *space;
    ls_command_packet packet;
    uint64_t frame;
    uint32_t values[ITEMS];
    remote_open(&r, 2, PCIE "\nhost.model: cpu", NULL);
    const host_part *host = ls_engine_part(r.engine, HOST_PART, 0);
    assert_non_null(host);
    OK(address_space_create(REMOTE_SPACE, &space, &err));
    OK(address_space_alloc(space, 4096, LS_PAGE_BYTES, LS_PAGE_READ | LS_PAGE_WRITE, &frame, &err));
    OK(line_memory_attach(host->memory, space, &err));
    for (uint32_t i = 0; i < ITEMS; i++)
        OK(address_space_write(space, frame + 4 * i, &(uint32_t){ 9000 + i }, 4, &err));
    uint64_t in = remote_at(&r, 1, 0), out = remote_at(&r, 0, OUT);
    OK(page_table_map(r.table, in, 4096, (page_place){ .place = MEM_PLACE_HOST, .frame = frame }, &err));
    OK(page_table_map(r.table, out, 4096, (page_place){ .place = 1, .frame = r.gpus[1].data + 8192 }, &err));
    uint32_t program = remote_program(&r, add_one, LS_COUNT_OF(add_one));
    const uint64_t args[] = { in, out, in + 4 * ITEMS - 4 };
    remote_launch(&r, 0, program, ITEMS - 1, args, 3, &packet);
    remote_run(&r, 1, 2);
    assert_false(packet.has_fault);
    fetch(&r, 1, 1, 8192, values, ITEMS - 1);
    for (uint32_t i = 0; i < ITEMS - 1; i++)
        assert_int_equal(values[i], 9000 + i + 1);
    OK(address_space_read(space, frame + 4 * ITEMS - 4, values, 4, &err)); /* atomics of 1,023 work-items */
    assert_int_equal(values[0], 9000 + 2 * (ITEMS - 1));
    assert_true(remote_counters(&r, 0)->reads >= 64);
    assert_int_equal(remote_counters(&r, 1)->served_reads, 0);
    remote_close(&r);
    address_space_destroy(space);
}

static size_t idle_keys(const char *fabric)
{
    static const char *const sets[] = { "gpus.rdma.in_flight=4", "gpus.noc.rdma_latency_cycles=60", NULL };
    remote_rig r;
    size_t count, found = 0;
    remote_open(&r, 2, fabric, sets);
    const ls_warning *warnings = ls_engine_warnings(r.engine, &count);
    for (size_t i = 0; i < count; i++)
        found +=
            strstr(warnings[i].text, " has no effect: it needs fabric.model!=none, which is none") != NULL;
    remote_close(&r);
    return found;
}

static void keys_need_a_fabric(void **state)
{
    (void)state;
    assert_int_equal(idle_keys(FABRIC), 0);
    assert_int_equal(idle_keys(""), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_use_each_others_memory),
        cmocka_unit_test(limits_slow_programs_down),
        cmocka_unit_test(small_machines_do_not_deadlock),
        cmocka_unit_test(a_remote_load_is_a_local_one_and_the_way),
        cmocka_unit_test(a_load_over_pcie_takes_its_hops),
        cmocka_unit_test(a_load_behind_l2_passes_the_own_partition),
        cmocka_unit_test(l2_keeps_lines_of_other_gpus),
        cmocka_unit_test(four_gpus_use_each_others_memory),
        cmocka_unit_test(copies_cross_the_fabric),
        cmocka_unit_test(unmapped_memory_of_another_gpu_is_a_fault),
        cmocka_unit_test(pages_may_lie_on_the_host_or_on_another_gpu),
        cmocka_unit_test(keys_need_a_fabric),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
