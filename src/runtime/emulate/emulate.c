/* emulate.c: a launch: work-groups over host threads, the packet and the queue that kernels may read, faults
 * in a fixed order, and the counts. */
#include "runtime/emulate/emulate.h"

#include "base/pool.h"
#include "isa/amd/exec/fault.h"
#include "isa/amd/exec/gws.h"
#include "isa/amd/exec/limits.h"
#include "isa/amd/exec/memory.h"
#include "isa/amd/flops.h"
#include "runtime/emulate/emulate_impl.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define EMULATE_QUEUE_OFFSET 256u
#define EMULATE_TOGETHER_MAX 2048u /* work-groups of a cooperative launch: a thread for each */

struct emulate {
    memory_space *address_space;
    thread_pool *pool;
    uint32_t threads;
    uint64_t control; /* simulated address of a page: the packet, then the queue */
    uint64_t scratch; /* simulated address of private memory for all threads; 0: none yet */
    uint64_t scratch_bytes;
    emulate_context *contexts; /* one per thread */
    amd_memory *memories;
};

/* --- life ----------------------------------------------------------------------------------------------- */

static void emulate_free_context(emulate_context *context)
{
    free(context->vgpr_memory);
    free(context->lds);
    free(context->tally);
}

void emulate_destroy(emulate *emulator)
{
    if (!emulator)
        return;
    if (emulator->contexts)
        for (uint32_t i = 0; i < emulator->threads; i++)
            emulate_free_context(&emulator->contexts[i]);
    if (emulator->scratch != 0)
        address_space_free(emulator->address_space, emulator->scratch, NULL);
    if (emulator->control != 0)
        address_space_free(emulator->address_space, emulator->control, NULL);
    pool_destroy(emulator->pool);
    free(emulator->contexts);
    free(emulator->memories);
    free(emulator);
}

/* The part of a queue that kernels read: the upper halves of the apertures, for flat addresses of LDS and
 * private memory. */
static ls_status emulate_write_queue(emulate *emulator, ls_error *err)
{
    uint32_t queue[64] = { 0 };
    queue[64 / 4] = AMD_SHARED_BASE_HI;
    queue[68 / 4] = AMD_PRIVATE_BASE_HI;
    return address_space_write(emulator->address_space, emulate_queue_address(emulator), queue, sizeof queue,
                               err);
}

ls_status emulate_create(memory_space *address_space, uint32_t threads, emulate **out, ls_error *err)
{
    if (threads == 0)
        threads = cpu_count();
    emulate *emulator = calloc(1, sizeof *emulator);
    if (!emulator)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for the emulator");
    emulator->address_space = address_space;
    emulator->threads = threads;
    emulator->contexts = calloc(threads, sizeof *emulator->contexts);
    emulator->memories = calloc(threads, sizeof *emulator->memories);
    ls_status status = LS_OK;
    if (!emulator->contexts || !emulator->memories)
        status = ls_fail(err, LS_ERR_NOMEM, "no memory for the emulator");
    for (uint32_t i = 0; i < threads && status == LS_OK; i++) {
        emulate_context *context = &emulator->contexts[i];
        context->vgpr_block = (size_t)AMD_VGPR_ROWS_GFX9 * 64; /* the largest */
        /* With 64 lanes there are half as many waves. Zeroed pages cost nothing until they are used. */
        size_t dwords = context->vgpr_block * (AMD_WAVES_MAX / 2);
        context->vgpr_memory = calloc(dwords + 16, sizeof(uint32_t));
        context->lds = aligned_alloc(64, AMD_LDS_MAX + 64);
        if (!context->vgpr_memory || !context->lds)
            status = ls_fail(err, LS_ERR_NOMEM, "no memory for the registers of a work-group");
        else
            context->vgprs = context->vgpr_memory + (64 - (uintptr_t)context->vgpr_memory % 64) % 64 / 4;
    }
    if (status == LS_OK)
        status = pool_create(threads, &emulator->pool, err);
    if (status == LS_OK)
        status = address_space_alloc(address_space, LS_PAGE_BYTES, LS_PAGE_BYTES, LS_PAGE_READ | LS_PAGE_WRITE,
                                     &emulator->control, err);
    if (status == LS_OK)
        status = emulate_write_queue(emulator, err);
    if (status != LS_OK)
        emulate_destroy(emulator);
    else
        *out = emulator;
    return status;
}

uint64_t emulate_packet_address(const emulate *emulator)
{
    return emulator->control;
}

uint64_t emulate_queue_address(const emulate *emulator)
{
    return emulator->control + EMULATE_QUEUE_OFFSET;
}

/* --- before a launch ------------------------------------------------------------------------------------ */

static ls_status emulate_check(const amd_program *program, const emulate_launch *launch, ls_error *err)
{
    if (launch->dims < 1 || launch->dims > 3)
        return ls_fail(err, LS_ERR_USAGE, "kernel %s: %u dimensions; there are 1 to 3", program->name,
                       launch->dims);
    return amd_limits_launch(program, launch->grid, launch->group,
                             (uint64_t)program->kernel.lds_bytes + launch->dynamic_lds_bytes, err);
}

/* The AQL packet of this dispatch, as kernels find it through their dispatch pointer. */
static ls_status emulate_write_packet(emulate *emulator, const amd_program *program,
                                      const emulate_launch *launch, ls_error *err)
{
    uint16_t half[32] = { 0 };
    uint32_t word[16];
    half[0] = 2 | 1 << 8; /* a kernel dispatch, with a barrier bit */
    half[1] = (uint16_t)launch->dims;
    for (unsigned i = 0; i < 3; i++)
        half[2 + i] = (uint16_t)launch->group[i];
    memcpy(word, half, sizeof word);
    memcpy(&word[3], launch->grid, sizeof launch->grid);
    word[6] = program->kernel.scratch_bytes;
    word[7] = program->kernel.lds_bytes + launch->dynamic_lds_bytes;
    memcpy(&word[8], &program->kernel.entry, 8);
    memcpy(&word[10], &launch->kernarg, 8);
    return address_space_write(emulator->address_space, emulator->control, word, sizeof word, err);
}

/* Private memory for every wave that can run at once. */
static ls_status emulate_scratch(emulate *emulator, const char *name, uint64_t per_thread, ls_error *err)
{
    uint64_t bytes = per_thread * emulator->threads;
    if (bytes <= emulator->scratch_bytes)
        return LS_OK;
    if (emulator->scratch != 0)
        address_space_free(emulator->address_space, emulator->scratch, NULL);
    emulator->scratch = 0;
    emulator->scratch_bytes = 0;
    ls_status status = address_space_alloc(emulator->address_space, bytes, LS_PAGE_BYTES,
                                           LS_PAGE_READ | LS_PAGE_WRITE, &emulator->scratch, err);
    if (status != LS_OK)
        return ls_error_prefix(err, "kernel %s: private memory for the waves that run at once", name);
    emulator->scratch_bytes = bytes;
    return LS_OK;
}

static ls_status emulate_prepare(emulate *emulator, const amd_program *program, const emulate_launch *launch,
                                 ls_error *err)
{
    uint32_t scratch = (program->kernel.scratch_bytes + 15) & ~15u;
    uint32_t lds = program->kernel.lds_bytes + launch->dynamic_lds_bytes;
    uint64_t waves = ((uint64_t)launch->group[0] * launch->group[1] * launch->group[2] + program->lanes - 1) /
                     program->lanes;
    uint64_t per_thread = waves * program->lanes * scratch;
    ls_status status = emulate_scratch(emulator, program->name, per_thread, err);
    for (uint32_t i = 0; i < emulator->threads && status == LS_OK; i++) {
        emulate_context *context = &emulator->contexts[i];
        amd_memory_init(&emulator->memories[i], emulator->address_space);
        context->program = program;
        context->launch = launch;
        context->memory = &emulator->memories[i];
        context->vgpr_block = amd_start_rows(program->kernel.target) * program->lanes;
        context->instructions = context->wave_total = context->barriers = 0;
        context->start = (amd_start){ .program = program,
                                      .grid = { launch->grid[0], launch->grid[1], launch->grid[2] },
                                      .group = { launch->group[0], launch->group[1], launch->group[2] },
                                      .kernarg = launch->kernarg,
                                      .packet = emulator->control,
                                      .queue = emulate_queue_address(emulator),
                                      .dispatch_id = launch->dispatch_id };
        context->group = (amd_group){ .lds = context->lds,
                                      .lds_bytes = (lds + AMD_LDS_UNIT - 1) & ~(AMD_LDS_UNIT - 1),
                                      .memory = context->memory,
                                      .shared_base = (uint64_t)AMD_SHARED_BASE_HI << 32,
                                      .private_base = (uint64_t)AMD_PRIVATE_BASE_HI << 32,
                                      .scratch = emulator->scratch + i * per_thread,
                                      .scratch_bytes = scratch };
        free(context->tally);
        context->tally = calloc((size_t)program->op_count + 2, sizeof *context->tally);
        if (!context->tally)
            status = ls_fail(err, LS_ERR_NOMEM, "no memory for the counters of kernel %s", program->name);
    }
    return status;
}

static void emulate_strict(const emulate *emulator, const amd_program *program, const emulate_launch *launch)
{
    const amd_group *group = &emulator->contexts[0].group;
    uint64_t items = (uint64_t)launch->group[0] * launch->group[1] * launch->group[2];
    uint64_t waves = (items + program->lanes - 1) / program->lanes;
    const strict_launch what = { .program = program,
                                 .lds_bytes = program->kernel.lds_bytes + launch->dynamic_lds_bytes,
                                 .scratch = group->scratch,
                                 .scratch_bytes = waves * program->lanes * group->scratch_bytes };
    strict_begin(launch->strict, &what);
}

/* --- the launch ----------------------------------------------------------------------------------------- */

typedef struct emulate_job {
    emulate *emulator;
    uint64_t groups[3], total;
    uint64_t limit; /* instructions of all; 0: none */
    _Atomic uint64_t next;
    _Atomic uint64_t instructions;
    _Atomic uint64_t fault_group; /* the first work-group that faulted, or UINT64_MAX */
    atomic_flag lock;             /* guards *fault */
    emulate_fault *fault;
} emulate_job;

static void emulate_keep_fault(emulate_job *job, const emulate_context *context, uint64_t group)
{
    while (atomic_flag_test_and_set(&job->lock))
        ;
    if (group < atomic_load(&job->fault_group)) {
        atomic_store(&job->fault_group, group);
        job->fault->fault = context->waves[context->fault_wave].fault;
        job->fault->pc = context->fault_pc;
        job->fault->wave = context->fault_wave;
        memcpy(job->fault->work_group, context->group.id, sizeof job->fault->work_group);
        amd_fault_registers(context->program, &context->waves[context->fault_wave], &job->fault->fault,
                            context->fault_pc, job->fault->registers);
        if (job->fault->fault.kind == LS_FAULT_STRICT)
            snprintf(job->fault->why, sizeof job->fault->why, "%s", strict_why(context->launch->strict));
    }
    atomic_flag_clear(&job->lock);
}

/* Work-groups are taken in order, and after a fault those before it still finish: which fault is the first
 * one does not depend on the threads. */
static void emulate_work(void *self, uint32_t thread)
{
    emulate_job *job = self;
    emulate_context *context = &job->emulator->contexts[thread];
    if (thread != 0 && emulate_is_watched(context->launch))
        return;
    for (;;) {
        uint64_t index = atomic_fetch_add(&job->next, 1);
        if (index >= job->total || index > atomic_load(&job->fault_group))
            return;
        if (job->limit != 0 && atomic_load(&job->instructions) > job->limit)
            return;
        uint64_t number = ls_groups_at(&context->launch->which, index);
        uint32_t id[3] = { (uint32_t)(number % job->groups[0]),
                           (uint32_t)(number / job->groups[0] % job->groups[1]),
                           (uint32_t)(number / job->groups[0] / job->groups[1]) };
        uint64_t before = context->instructions;
        bool good = emulate_group_run(context, id, index);
        if (job->limit != 0)
            atomic_fetch_add(&job->instructions, context->instructions - before);
        if (!good)
            emulate_keep_fault(job, context, index);
        if (!good && context->group.gws)
            amd_gws_break(context->group.gws);
    }
}

static void emulate_flops(const amd_inst *inst, uint64_t lanes, ls_gpu_counts *counts)
{
    amd_flops flops = amd_op_flops((amd_op)inst->op);
    uint64_t *of[] = { &counts->flops_half, &counts->flops_single, &counts->flops_double };
    *of[flops.type] += lanes * flops.count;
}

static void emulate_sum(const emulate *emulator, const amd_program *program, uint64_t groups,
                        ls_gpu_counts *counts)
{
    *counts = (ls_gpu_counts){ .work_groups = groups };
    for (uint32_t i = 0; i < emulator->threads; i++) {
        const emulate_context *context = &emulator->contexts[i];
        counts->wavefronts += context->wave_total;
        counts->barriers += context->barriers;
        uint64_t count = 0, lanes = 0;
        for (uint32_t j = 1; j <= program->op_count; j++) {
            count += context->tally[j].count;
            lanes += context->tally[j].lanes;
            if (count == 0)
                continue;
            const amd_inst *inst = program->ops[j].inst;
            counts->instructions += count;
            counts->classes[inst->class_] += count;
            bool scalar = inst->format <= AMD_SMEM;
            if (!scalar)
                counts->active_lanes += lanes;
            emulate_flops(inst, lanes, counts);
            uint64_t accesses = scalar ? count : lanes, bytes = amd_mem_bytes(inst);
            switch (amd_mem_kind(inst)) {
            case AMD_ACCESS_LOAD:
                counts->loads += accesses;
                counts->load_bytes += accesses * bytes;
                break;
            case AMD_ACCESS_STORE:
                counts->stores += accesses;
                counts->store_bytes += accesses * bytes;
                break;
            case AMD_ACCESS_ATOMIC:
                counts->atomics += accesses;
                counts->atomic_bytes += accesses * bytes;
                break;
            default:
                break;
            }
        }
    }
}

static ls_status emulate_report(const amd_program *program, emulate_fault *fault, ls_error *err)
{
    amd_fault_place place = { .pc = fault->pc,
                              .wave = fault->wave,
                              .why = fault->fault.kind == LS_FAULT_STRICT ? fault->why : NULL };
    memcpy(place.work_group, fault->work_group, sizeof place.work_group);
    return amd_fault_report(program, &fault->fault, &place, fault->text, sizeof fault->text, err);
}

static ls_status run(emulate *emulator, const amd_program *program, const emulate_launch *launch, amd_gws *gws,
                     ls_gpu_counts *counts, emulate_fault *fault, ls_error *err)
{
    emulate_fault own = { .wave = 0 };
    emulate_job job = { .emulator = emulator,
                        .limit = launch->max_instructions,
                        .total = 1,
                        .lock = ATOMIC_FLAG_INIT,
                        .fault_group = UINT64_MAX,
                        .fault = &own };
    ls_status status = emulate_check(program, launch, err);
    if (status == LS_OK)
        status = emulate_write_packet(emulator, program, launch, err);
    if (status == LS_OK)
        status = emulate_prepare(emulator, program, launch, err);
    if (status != LS_OK)
        return status;
    for (uint32_t i = 0; i < emulator->threads && gws; i++)
        emulator->contexts[i].group.gws = gws;
    for (unsigned i = 0; i < 3; i++) {
        job.groups[i] = ((uint64_t)launch->grid[i] + launch->group[i] - 1) / launch->group[i];
        job.total *= job.groups[i];
    }
    if (launch->which.count != 0)
        job.total = launch->which.count;
    if (launch->strict)
        emulate_strict(emulator, program, launch);
    pool_run(emulator->pool, emulate_work, &job);
    if (launch->strict)
        strict_end(launch->strict);
    if (counts)
        emulate_sum(emulator, program, job.total, counts);
    if (atomic_load(&job.fault_group) != UINT64_MAX)
        status = emulate_report(program, &own, err);
    else if (job.limit != 0 && atomic_load(&job.instructions) > job.limit)
        status =
            ls_fail(err, LS_ERR_CHECK, "kernel %s: its waves execute more than the limit of %llu instructions",
                    program->name, (unsigned long long)job.limit);
    if (status != LS_OK && own.fault.kind == LS_FAULT_NONE)
        own.fault.kind = LS_FAULT_LIMIT;
    if (fault)
        *fault = own;
    return status;
}

/* --- cooperative launches ------------------------------------------------------------------------------- */

/* All work-groups run at once, each in a thread of its own: they wait for each other. */
static ls_status run_together(const emulate *emulator, const amd_program *program,
                              const emulate_launch *launch, ls_gpu_counts *counts, emulate_fault *fault,
                              ls_error *err)
{
    uint64_t groups = 1;
    emulate *own = NULL;
    amd_gws gws;
    ls_status status = emulate_check(program, launch, err);
    for (unsigned i = 0; i < 3 && status == LS_OK; i++)
        groups *= ((uint64_t)launch->grid[i] + launch->group[i] - 1) / launch->group[i];
    if (status == LS_OK && (groups > EMULATE_TOGETHER_MAX || launch->which.count != 0))
        status = ls_fail(
            err, LS_ERR_UNSUPPORTED,
            "kernel %s: a barrier over the grid needs all of its work-groups at once: 1 to %u, not %llu",
            program->name, EMULATE_TOGETHER_MAX, (unsigned long long)groups);
    if (status == LS_OK && emulate_is_watched(launch))
        status = ls_fail(err, LS_ERR_UNSUPPORTED,
                         "kernel %s: a barrier over the grid works neither with traces, recordings and strict "
                         "checks nor in a debugger",
                         program->name);
    if (status == LS_OK)
        status = emulate_create(emulator->address_space, (uint32_t)groups, &own, err);
    if (status != LS_OK)
        return status;
    amd_gws_init(&gws);
    status = run(own, program, launch, &gws, counts, fault, err);
    amd_gws_fini(&gws);
    emulate_destroy(own);
    return status;
}

ls_status emulate_run(emulate *emulator, const amd_program *program, const emulate_launch *launch,
                      ls_gpu_counts *counts, emulate_fault *fault, ls_error *err)
{
    return program->uses_gws ? run_together(emulator, program, launch, counts, fault, err)
                             : run(emulator, program, launch, NULL, counts, fault, err);
}
