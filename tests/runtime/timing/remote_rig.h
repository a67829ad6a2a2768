/* remote_rig.h: a system of small R9 Nanos on a fabric, driven through their command processors. Each GPU has a memory
 * of its own. Programs lie in the memory of GPU 0; other GPUs fetch them from there. */
#ifndef TESTS_RUNTIME_TIMING_REMOTE_RIG_H
#define TESTS_RUNTIME_TIMING_REMOTE_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/amd/amd_gpu.h"
#include "model/amd_memory/rdma.h"
#include "model/cu/cu_api.h"
#include "model/memory/page_table.h"
#include "platform/machine.h"
#include "runtime/memcheck/memcheck.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REMOTE_GPUS_MAX 4u
#define REMOTE_SPACE (UINT64_C(64) << 20)
#define REMOTE_DATA (UINT64_C(256) << 10)
#define REMOTE_PROGRAMS 8u
#define REMOTE_ARGS 256u /* bytes of arguments of one launch */
#define REMOTE_BESIDE 8u /* launches at once whose memory is checked */

#define OK(call_)                                                                                             \
    do {                                                                                                      \
        ls_error err = { 0 };                                                                                 \
        if ((call_) != LS_OK)                                                                                 \
            fail_msg("%s: %s", #call_, err.what);                                                             \
    } while (0)

typedef struct remote_gpu {
    amd_gpu *gpu;
    ls_port command;
    memory_space *space;
    uint64_t code, args, data; /* frames; the same in all */
    uint32_t args_used;
    page_view view;
} remote_gpu;

/* A kind of GPU, and programs for it. */
typedef struct remote_kind {
    const char *platform, *keys; /* keys of a small one */
    amd_target target;
    uint16_t properties; /* of kernels, beside the pointer to arguments */
} remote_kind;

static const remote_kind remote_r9nano = {
    .platform = "r9nano",
    .keys = "clusters: 2, cus_per_cluster: 2, memory.channels: 2, command.launch_cycles: 100",
    .target = AMD_GFX803,
};

typedef struct remote_rig {
    const remote_kind *kind;
    platform_config *config;
    ls_machine *machine;
    ls_engine *engine;
    page_table *table;
    uint32_t gpu_count, program_count, code_used;
    remote_gpu gpus[REMOTE_GPUS_MAX];
    amd_program *programs[REMOTE_PROGRAMS];
    cu_code *codes[REMOTE_PROGRAMS];
    memcheck *check; /* always on: every read gets the last write that happened before it */
    uint32_t checked[REMOTE_BESIDE], checked_count;
    cu_observer observers[REMOTE_BESIDE];
} remote_rig;

static inline void remote_memory(remote_gpu *g)
{
    const uint32_t pages = LS_PAGE_READ | LS_PAGE_WRITE;
    OK(address_space_create(REMOTE_SPACE, &g->space, &err));
    OK(address_space_alloc(g->space, 65536, LS_PAGE_BYTES, pages, &g->code, &err));
    OK(address_space_alloc(g->space, 65536, LS_PAGE_BYTES, pages, &g->args, &err));
    OK(address_space_alloc(g->space, REMOTE_DATA, LS_PAGE_BYTES, pages, &g->data, &err));
    OK(amd_gpu_set_memory(g->gpu, g->space, &err));
}

/* sets: up to a NULL. */
static inline void remote_open_kind(remote_rig *r, const remote_kind *kind, uint32_t gpus, const char *fabric,
                                    const char *const *sets)
{
    char text[512];
    size_t set_count = 0;
    memset(r, 0, sizeof *r);
    r->kind = kind;
    r->gpu_count = gpus;
    snprintf(text, sizeof text, "machine: system\ngpus:\n  - {platform: %s, count: %u, %s}\n%s\n",
             kind->platform, gpus, kind->keys, fabric);
    while (sets != NULL && sets[set_count] != NULL)
        set_count++;
    const config_request request = { .platform = LS_SOURCE_DIR "/platforms/remote",
                                     .sets = sets,
                                     .set_count = set_count,
                                     .text = text,
                                     .text_bytes = strlen(text) };
    OK(config_load(&request, &r->config, NULL, &err));
    OK(machine_create(r->config, 1, &r->machine, &err));
    OK(page_table_create(&r->table, &err));
    OK(memcheck_create(&r->check, &err));
    r->engine = ls_machine_engine(r->machine);
    for (uint32_t i = 0; i < gpus; i++) {
        r->gpus[i].gpu = amd_gpu_of(r->engine, i);
        assert_non_null(r->gpus[i].gpu);
        r->gpus[i].command = amd_gpu_command(r->gpus[i].gpu);
        remote_memory(&r->gpus[i]);
        r->gpus[i].view = (page_view){ .table = r->table, .own = i };
        const ls_pages pages = page_view_pages(&r->gpus[i].view);
        (void)amd_gpu_set_pages(r->gpus[i].gpu, &pages);
    }
}

static inline void remote_open(remote_rig *r, uint32_t gpus, const char *fabric, const char *const *sets)
{
    remote_open_kind(r, &remote_r9nano, gpus, fabric, sets);
}

static inline void remote_close(remote_rig *r)
{
    for (uint32_t i = 0; i < r->program_count; i++) {
        cu_code_destroy(r->codes[i]);
        amd_program_destroy(r->programs[i]);
    }
    machine_destroy(r->machine);
    memcheck_destroy(r->check);
    config_destroy(r->config);
    page_table_destroy(r->table);
    for (uint32_t i = 0; i < r->gpu_count; i++)
        address_space_destroy(r->gpus[i].space);
}

/* The virtual address of byte `offset` of a GPU's data. */
static inline uint64_t remote_at(const remote_rig *r, uint32_t gpu, uint64_t offset)
{
    return mem_place_virtual(gpu, r->gpus[gpu].data + offset);
}

/* Its bytes in memory; a cache may have newer ones. */
static inline uint8_t *remote_bytes(const remote_rig *r, uint32_t gpu, uint64_t offset)
{
    return address_space_host(r->gpus[gpu].space, r->gpus[gpu].data + offset, 1);
}

/* Writes them between runs, past all caches. */
static inline void remote_set(remote_rig *r, uint32_t gpu, uint64_t offset, const void *data, uint64_t bytes)
{
    memcpy(remote_bytes(r, gpu, offset), data, bytes);
    memcheck_write(r->check, 0, remote_at(r, gpu, offset), data, bytes);
}

/* A program for all GPUs; returns its number. */
static inline uint32_t remote_program(remote_rig *r, const uint32_t *words, size_t count)
{
    remote_gpu *g = &r->gpus[0];
    uint32_t number = r->program_count++;
    uint64_t at = g->code + r->code_used;
    assert_true(number < REMOTE_PROGRAMS);
    r->code_used += (uint32_t)(count * 4 + 255) / 256 * 256;
    OK(address_space_write(g->space, at, words, count * 4, &err));
    const amd_kernel kernel = { .name = "remote",
                                .target = r->kind->target,
                                .code = at,
                                .code_bytes = count * 4,
                                .entry = at,
                                .rsrc1 = 7u | 12u << 6 | 0xc0u << 12, /* 32 VGPRs */
                                .rsrc2 = 2u << 1 | 1u << 7,
                                .properties = (uint16_t)(1u << 3 | r->kind->properties) };
    OK(amd_program_create(&kernel, g->space, &r->programs[number], &err));
    OK(cu_code_create(r->programs[number], &r->codes[number], &err));
    return number;
}

static inline void remote_submit(remote_rig *r, uint32_t gpu, ls_command_packet *packet)
{
    const ls_port *command = &r->gpus[gpu].command;
    OK(((const ls_command_ops *)command->ops)->submit(command->self, packet, &err));
}

/* The launch of the packet begins, with its arguments. */
static inline void remote_check(remote_rig *r, uint32_t gpu, const uint64_t *args, uint32_t arg_count,
                                ls_command_packet *packet)
{
    const memcheck_work work = { .kind = MEMCHECK_LAUNCH, .program = packet->kernel.program };
    uint32_t number = r->checked_count++;
    assert_true(number < REMOTE_BESIDE);
    r->checked[number] = memcheck_begin(r->check, &work);
    memcheck_write(r->check, r->checked[number], packet->kernel.kernarg, args, arg_count * sizeof *args);
    r->observers[number] = memcheck_observe(r->check, gpu, r->checked[number]);
    packet->kernel.observer = &r->observers[number];
}

/* A kernel with these arguments, which lie in the memory of its GPU. It runs beside those before it. */
static inline void remote_launch_beside(remote_rig *r, uint32_t gpu, uint32_t program, uint32_t items,
                                        const uint64_t *args, uint32_t arg_count, ls_command_packet *packet)
{
    remote_gpu *g = &r->gpus[gpu];
    uint64_t at = g->args + g->args_used;
    g->args_used += REMOTE_ARGS;
    OK(address_space_write(g->space, at, args, arg_count * sizeof *args, &err));
    *packet = (ls_command_packet){ .kind = LS_PACKET_KERNEL,
                                   .sgprs = 104,
                                   .kernel = { .program = r->programs[program],
                                               .code = r->codes[program],
                                               .dims = 1,
                                               .grid = { items, 1, 1 },
                                               .group = { 64, 1, 1 },
                                               .kernarg = mem_place_virtual(gpu, at) } };
    remote_check(r, gpu, args, arg_count, packet);
    remote_submit(r, gpu, packet);
}

#define remote_launch remote_launch_beside /* where only one runs on each GPU */

/* Physical addresses, as the GPU sees them. */
static inline void remote_transfer(remote_rig *r, uint32_t gpu, ls_dma_kind kind, uint64_t to, uint64_t from,
                                   uint64_t bytes, void *host, ls_command_packet *packet)
{
    *packet = (ls_command_packet){ .kind = LS_PACKET_TRANSFER,
                                   .barrier = true,
                                   .transfer = { .kind = (uint8_t)kind,
                                                 .to = to,
                                                 .from = from,
                                                 .bytes = bytes,
                                                 .host_from = host,
                                                 .host_to = host } };
    remote_submit(r, gpu, packet);
}

/* Until so many packets have ended. */
static inline void remote_run(remote_rig *r, uint32_t packets, uint32_t threads)
{
    const ls_run_options options = { .threads = threads,
                                     .between = memcheck_between,
                                     .between_self = r->check };
    uint32_t taken = 0;
    for (uint32_t runs = 0; taken < packets; runs++) {
        assert_true(runs < 100);
        OK(ls_run(r->engine, &options, NULL, &err));
        for (uint32_t i = 0; i < r->gpu_count; i++) {
            const ls_port *command = &r->gpus[i].command;
            while (((const ls_command_ops *)command->ops)->take(command->self) != NULL)
                taken++;
        }
    }
    OK(ls_run(r->engine, &options, NULL, &err)); /* to rest */
    OK(memcheck_flush(r->check, 0, &err));
    for (; r->checked_count > 0; r->checked_count--)
        memcheck_end(r->check, r->checked[r->checked_count - 1], NULL);
}

static inline uint64_t remote_cycles(const remote_rig *r, const ls_command_packet *packet)
{
    const ls_clock *clock = amd_gpu_clock(r->gpus[0].gpu);
    return ls_clock_cycle_at(clock, packet->end) - ls_clock_cycle_at(clock, packet->begin);
}

static inline const line_rdma_counters *remote_counters(const remote_rig *r, uint32_t gpu)
{
    char name[32];
    snprintf(name, sizeof name, "gpu%u.rdma", gpu);
    ls_block *block = ls_engine_find_block(r->engine, name);
    assert_non_null(block);
    return (const line_rdma_counters *)(const void *)((const char *)ls_block_state(block) +
                                                      ls_block_type_of(block)->counters_offset);
}

#endif
