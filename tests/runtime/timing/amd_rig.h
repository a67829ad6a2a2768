/* amd_rig.h: an AMD GPU in an engine that it may share, with a fill, a kernel and a copy out to do. */
#ifndef TESTS_RUNTIME_TIMING_AMD_RIG_H
#define TESTS_RUNTIME_TIMING_AMD_RIG_H

#include "model/amd/amd_gpu.h"
#include "model/cu/cu_api.h"
#include "platform/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ITEMS 4096u
#define RESULT 65536u /* the kernel's output, after its input */
#define DATA_BYTES (RESULT + ITEMS * 4)
#define SPACE_BYTES (UINT64_C(64) << 20)
#define PACKETS 3u

#define OK(call_)                                                                                             \
    do {                                                                                                      \
        ls_error err = { 0 };                                                                                 \
        if ((call_) != LS_OK)                                                                                 \
            fail_msg("%s: %s", #call_, err.what);                                                             \
    } while (0)

/* Both read word i of the argument, add 1 and write it to RESULT + 4 * i: tests/model/test_cu_memory.c. */
static const uint32_t add8[] = {
    0xc0060100, 0x00000000, 0x8e068602, 0x32000006, 0x24020082, 0xbf8c007f, 0x7e040205,
    0x32020204, 0x38040480, 0xdc500000, 0x03000001, 0x320802ff, 0x00010000, 0x380a0480,
    0xbf8c0070, 0x32060681, 0xdc700000, 0x00000304, 0xbf810000,
};
static const uint32_t add10[] = {
    0xf4040100, 0xfa000000, 0x8f068502, 0x4a000006, 0x34020082, 0xbf8cc07f, 0xdc308000, 0x03040001,
    0x4a0802ff, 0x00010000, 0xbf8c3f70, 0x4a060681, 0xdc708000, 0x00040304, 0xbf810000,
};

typedef struct rig_kind {
    const char *platform;
    amd_target target;
    const uint32_t *words;
    size_t count;
    uint32_t group, start;
} rig_kind;

static const rig_kind amd_kinds[2] = {
    { LS_SOURCE_DIR "/platforms/r9nano.yaml", AMD_GFX803, add8, LS_COUNT_OF(add8), 64, 7 },
    { LS_SOURCE_DIR "/platforms/rx5500xt.yaml", AMD_GFX1010, add10, LS_COUNT_OF(add10), 32, 1000 },
};

typedef struct rig_gpu {
    const rig_kind *kind;
    platform_config *config;
    ls_machine *machine;
    ls_port command;
    memory_space *space;
    uint64_t code_at, args, data;
    amd_program *program;
    cu_code *code;
    ls_command_packet packets[PACKETS];
    uint32_t taken, values[ITEMS];
} rig_gpu;

static void load(rig_gpu *g)
{
    const bool wave32 = g->kind->target != AMD_GFX803;
    const uint32_t pages = LS_PAGE_READ | LS_PAGE_WRITE;
    OK(address_space_create(SPACE_BYTES, &g->space, &err));
    OK(address_space_alloc(g->space, 4096, LS_PAGE_BYTES, pages, &g->code_at, &err));
    OK(address_space_alloc(g->space, 4096, LS_PAGE_BYTES, pages, &g->args, &err));
    OK(address_space_alloc(g->space, DATA_BYTES, LS_PAGE_BYTES, pages, &g->data, &err));
    OK(address_space_write(g->space, g->args, &g->data, sizeof g->data, &err));
    OK(address_space_write(g->space, g->code_at, g->kind->words, g->kind->count * 4, &err));
    const amd_kernel kernel = { .name = "add",
                                .target = g->kind->target,
                                .code = g->code_at,
                                .code_bytes = g->kind->count * 4,
                                .entry = g->code_at,
                                .rsrc1 = (wave32 ? 3 : 7) | 12u << 6 | 0xc0u << 12, /* 32 VGPRs */
                                .rsrc2 = 2u << 1 | 1u << 7,
                                .properties = (uint16_t)(1u << 3 | (wave32 ? 1u << 10 : 0)) };
    OK(amd_program_create(&kernel, g->space, &g->program, &err));
    OK(cu_code_create(g->program, &g->code, &err));
}

/* In `engine` as instance `number`, the index-th of its kind, or in one of its own. sets: up to a NULL. */
static void open_gpu(rig_gpu *g, const rig_kind *of, const char *const *sets, ls_engine *engine,
                     uint32_t number, uint32_t index)
{
    *g = (rig_gpu){ .kind = of };
    size_t set_count = 0;
    while (sets[set_count] != NULL)
        set_count++;
    const config_request request = { .platform = of->platform, .sets = sets, .set_count = set_count };
    OK(config_load(&request, &g->config, NULL, &err));
    if (engine == NULL)
        OK(machine_create(g->config, 1, &g->machine, &err));
    else
        OK(machine_add(g->config, engine, number, &g->machine, &err));
    amd_gpu *built = amd_gpu_of(ls_machine_engine(g->machine), index);
    assert_non_null(built);
    assert_null(amd_gpu_of(ls_machine_engine(g->machine), index + 1));
    g->command = amd_gpu_command(built);
    load(g);
    OK(amd_gpu_set_memory(built, g->space, &err));
}

static void submit(rig_gpu *g)
{
    const ls_command_ops *command = g->command.ops;
    g->packets[0] = (ls_command_packet){ .kind = LS_PACKET_TRANSFER,
                                         .transfer = { .kind = LS_DMA_FILL,
                                                       .to = g->data,
                                                       .bytes = ITEMS * 4,
                                                       .pattern = (const uint8_t *)&g->kind->start,
                                                       .pattern_bytes = 4 } };
    g->packets[1] = (ls_command_packet){ .kind = LS_PACKET_KERNEL,
                                         .barrier = true,
                                         .sgprs = 104,
                                         .kernel = { .program = g->program,
                                                     .code = g->code,
                                                     .dims = 1,
                                                     .grid = { ITEMS, 1, 1 },
                                                     .group = { g->kind->group, 1, 1 },
                                                     .kernarg = g->args } };
    g->packets[2] = (ls_command_packet){ .kind = LS_PACKET_TRANSFER,
                                         .barrier = true,
                                         .transfer = { .kind = LS_DMA_OUT,
                                                       .from = g->data + RESULT,
                                                       .bytes = ITEMS * 4,
                                                       .host_to = (uint8_t *)g->values } };
    for (uint32_t i = 0; i < PACKETS; i++)
        OK(command->submit(g->command.self, &g->packets[i], &err));
}

/* How many packets have ended since the last call. */
static uint32_t take_packets(rig_gpu *g)
{
    uint32_t taken = 0;
    while (((const ls_command_ops *)g->command.ops)->take(g->command.self) != NULL)
        taken++;
    return taken;
}

static void close_gpu(rig_gpu *g)
{
    cu_code_destroy(g->code);
    amd_program_destroy(g->program);
    machine_destroy(g->machine);
    config_destroy(g->config);
    address_space_destroy(g->space);
}

static void is_right(const rig_gpu *g)
{
    assert_false(g->packets[1].has_fault);
    for (uint32_t i = 0; i < ITEMS; i++)
        assert_int_equal(g->values[i], g->kind->start + 1);
}

static inline void is_same(const rig_gpu *a, const rig_gpu *b)
{
    is_right(b);
    for (uint32_t i = 0; i < PACKETS; i++) {
        assert_int_equal(a->packets[i].begin, b->packets[i].begin);
        assert_int_equal(a->packets[i].end, b->packets[i].end);
        assert_int_equal(a->packets[i].waves, b->packets[i].waves);
        assert_memory_equal(&a->packets[i].tally, &b->packets[i].tally, sizeof a->packets[i].tally);
    }
}

#endif
