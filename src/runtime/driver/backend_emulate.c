/* backend_emulate.c: the driver's commands on the emulator: one simulated address space for all GPUs, one
 * emulator per GPU. */
#include "base/address_space.h"
#include "runtime/driver/backend.h"
#include "runtime/driver/debugger.h"
#include "runtime/driver/fault.h"
#include "runtime/driver/trace.h"
#include "runtime/emulate/emulate.h"
#include "runtime/record/record.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)AMD_CLASS_COUNT <= LS_GPU_CLASS_MAX, "the public counts have room for every class");

#define WINDOW_EXTRA ((uint64_t)4 << 30) /* of addresses, for scratch and the emulator's own data */

/* HSA gives arguments whole pieces of 16 bytes; compilers load the rest of the last one along. */
#define KERNARG_WHOLE(bytes) (((uint64_t)(bytes) + 15) & ~(uint64_t)15)

typedef struct emu_gpu {
    emulate *emulator;
    uint64_t kernarg; /* where the arguments of the running launch are */
    uint32_t kernarg_bytes;
} emu_gpu;

typedef struct emu {
    memory_space *address_space;
    emu_gpu *gpus;
    size_t gpu_count;
    uint64_t max_instructions;
    bool lenient_barriers;
    bool host_addresses;  /* the program writes memory by itself, unseen */
    pthread_mutex_t lock; /* of the address space's table */
    drv_trace trace;
    recorder *record;                /* NULL: nothing is recorded */
    strict *strict;                  /* NULL: no strict checks */
    const ls_gpu_debugger *debugger; /* NULL: none */
    uint64_t launches;               /* that the debugger saw */
} emu;

/* ----------------------------------------------------------------------------------------- life and death */

static void emu_destroy(void *self)
{
    emu *e = self;
    if (!e)
        return;
    drv_trace_abort(&e->trace);
    record_abort(e->record);
    for (size_t i = 0; e->gpus && i < e->gpu_count; i++)
        emulate_destroy(e->gpus[i].emulator);
    strict_destroy(e->strict);
    address_space_destroy(e->address_space);
    pthread_mutex_destroy(&e->lock);
    pthread_mutex_destroy(&e->trace.lock);
    free(e->gpus);
    free(e);
}

/* Each allocation is followed by a page that stays unmapped, so addresses are twice as many as bytes. */
static uint64_t window_bytes(const drv_machine *machine)
{
    uint64_t bytes = WINDOW_EXTRA;
    for (size_t i = 0; i < machine->gpu_count; i++)
        bytes += 2 * machine->memory_bytes[i];
    return bytes;
}

/* The structures that dispatch and queue pointers of kernels refer to. */
static ls_status start_strict(emu *e, ls_error *err)
{
    ls_status status = strict_create(e->address_space, &e->strict, err);
    for (size_t i = 0; i < e->gpu_count && status == LS_OK; i++) {
        const uint64_t places[2][2] = { { emulate_packet_address(e->gpus[i].emulator), 64 },
                                        { emulate_queue_address(e->gpus[i].emulator), 256 } };
        for (size_t k = 0; k < 2 && status == LS_OK; k++) {
            status = strict_alloc(e->strict, places[k][0], places[k][1], err);
            if (status == LS_OK)
                status = strict_define(e->strict, places[k][0], places[k][1], err);
        }
    }
    return status;
}

static ls_status emu_create(const drv_machine *machine, void **self, ls_error *err)
{
    emu *e = calloc(1, sizeof *e);
    ls_status status;
    *self = NULL;
    if (!e)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    pthread_mutex_init(&e->lock, NULL);
    pthread_mutex_init(&e->trace.lock, NULL);
    e->gpu_count = machine->gpu_count + machine->unified; /* all of them as one have an emulator, too */
    e->max_instructions = machine->max_instructions;
    e->lenient_barriers = machine->lenient_barriers;
    e->host_addresses = machine->host_addresses;
    e->debugger = machine->debugger;
    e->gpus = calloc(e->gpu_count, sizeof *e->gpus);
    status = e->gpus ? LS_OK : ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    if (status == LS_OK)
        status = machine->host_addresses
                     ? address_space_create_here(window_bytes(machine), &e->address_space, err)
                     : address_space_create(window_bytes(machine), &e->address_space, err);
    for (size_t i = 0; i < e->gpu_count && status == LS_OK; i++)
        status = emulate_create(e->address_space, machine->threads ? machine->threads : 1,
                                &e->gpus[i].emulator, err);
    if (status == LS_OK && machine->strict)
        status = start_strict(e, err);
    if (status == LS_OK)
        status = drv_trace_open(&e->trace, machine->trace_path, machine->trace_filter, err);
    if (status == LS_OK && machine->record_path)
        status = record_create(machine->record_path, "emulate", &e->record, err);
    if (status == LS_OK)
        *self = e;
    else
        emu_destroy(e);
    return status;
}

static ls_status emu_close_trace(void *self, ls_error *err)
{
    emu *e = self;
    ls_status status = drv_trace_close(&e->trace, err);
    recorder *rec = e->record;
    e->record = NULL;
    if (rec && status == LS_OK)
        return record_finish(rec, err);
    record_abort(rec);
    return status;
}

/* ------------------------------------------------------------------------------------------------- memory */

static ls_status emu_alloc(void *self, size_t gpu, uint64_t bytes, uint64_t *address, ls_error *err)
{
    emu *e = self;
    ls_status status;
    (void)gpu;
    pthread_mutex_lock(&e->lock);
    status = address_space_alloc(e->address_space, bytes, LS_PAGE_BYTES, LS_PAGE_READ | LS_PAGE_WRITE, address,
                                 err);
    pthread_mutex_unlock(&e->lock);
    return status;
}

static ls_status emu_bound(void *self, uint64_t address, uint64_t bytes, ls_error *err)
{
    emu *e = self;
    if (!e->strict)
        return LS_OK;
    ls_status status = strict_alloc(e->strict, address, bytes, err);
    return status == LS_OK && e->host_addresses ? strict_define(e->strict, address, bytes, err) : status;
}

static ls_status emu_zeroed(void *self, uint64_t address, uint64_t bytes, ls_error *err)
{
    emu *e = self;
    return e->strict ? strict_define(e->strict, address, bytes, err) : LS_OK;
}

static ls_status emu_free(void *self, uint64_t address, ls_error *err)
{
    emu *e = self;
    ls_status status;
    if (e->strict)
        strict_free(e->strict, address);
    pthread_mutex_lock(&e->lock);
    status = address_space_free(e->address_space, address, err);
    pthread_mutex_unlock(&e->lock);
    return status;
}

static ls_status emu_protect(void *self, uint64_t address, uint64_t bytes, ls_error *err)
{
    emu *e = self;
    ls_status status;
    pthread_mutex_lock(&e->lock);
    status = address_space_protect(e->address_space, address, bytes, LS_PAGE_READ, err);
    pthread_mutex_unlock(&e->lock);
    return status;
}

/* After a command succeeded: its bytes are defined, and the recording takes it. */
static ls_status keep(emu *e, amd_file_command command, ls_status status, ls_error *err)
{
    if (status == LS_OK && e->strict && command.kind == AMD_FILE_COPY)
        status = strict_copy(e->strict, command.to, command.from, command.bytes, err);
    else if (status == LS_OK && e->strict && command.kind != AMD_FILE_COPY_OUT)
        status = strict_define(e->strict, command.to, command.bytes, err);
    return status == LS_OK && e->record ? record_command(e->record, &command, NULL, err) : status;
}

static ls_status emu_write(void *self, size_t gpu, uint64_t to, const void *from, uint64_t bytes,
                           ls_error *err)
{
    emu *e = self;
    return keep(e,
                (amd_file_command){
                    .kind = AMD_FILE_COPY_IN, .gpu = (uint32_t)gpu, .to = to, .from = 0, .bytes = bytes },
                address_space_write(e->address_space, to, from, bytes, err), err);
}

static ls_status emu_load(void *self, size_t gpu, uint64_t to, const void *from, uint64_t bytes, ls_error *err)
{
    emu *e = self;
    ls_status status = address_space_write(e->address_space, to, from, bytes, err);
    (void)gpu;
    return status == LS_OK && e->strict ? strict_define(e->strict, to, bytes, err) : status;
}

static ls_status emu_read(void *self, size_t gpu, void *to, uint64_t from, uint64_t bytes, ls_error *err)
{
    emu *e = self;
    return keep(e,
                (amd_file_command){
                    .kind = AMD_FILE_COPY_OUT, .gpu = (uint32_t)gpu, .to = 0, .from = from, .bytes = bytes },
                address_space_read(e->address_space, from, to, bytes, err), err);
}

static ls_status emu_host(emu *e, uint64_t address, uint64_t bytes, void **host, ls_error *err)
{
    *host = address_space_host(e->address_space, address, bytes);
    if (*host)
        return LS_OK;
    return ls_fail(err, LS_ERR_USAGE, "the %llu bytes at 0x%llx are not all mapped", (unsigned long long)bytes,
                   (unsigned long long)address);
}

static ls_status emu_copy(void *self, size_t gpu, uint64_t to, uint64_t from, uint64_t bytes, ls_error *err)
{
    void *source, *target;
    ls_status status = emu_host(self, from, bytes, &source, err);
    if (status == LS_OK)
        status = emu_host(self, to, bytes, &target, err);
    if (status == LS_OK)
        memmove(target, source, bytes);
    return keep(self,
                (amd_file_command){
                    .kind = AMD_FILE_COPY, .gpu = (uint32_t)gpu, .to = to, .from = from, .bytes = bytes },
                status, err);
}

static ls_status emu_fill(void *self, size_t gpu, uint64_t to, const void *pattern, size_t pattern_bytes,
                          uint64_t bytes, ls_error *err)
{
    void *target;
    ls_status status = emu_host(self, to, bytes, &target, err);
    if (status != LS_OK)
        return status;
    /* The filled part is the source of the next copy, which doubles it. */
    memcpy(target, pattern, pattern_bytes);
    for (uint64_t done = pattern_bytes; done < bytes;) {
        uint64_t n = done < bytes - done ? done : bytes - done;
        memcpy((uint8_t *)target + done, target, n);
        done += n;
    }
    return keep(self,
                (amd_file_command){
                    .kind = AMD_FILE_FILL, .gpu = (uint32_t)gpu, .to = to, .from = 0, .bytes = bytes },
                LS_OK, err);
}

/* ----------------------------------------------------------------------------------------------- launches */

static void emu_facts(void *self, size_t gpu, drv_facts *out)
{
    emu *e = self;
    *out = (drv_facts){ .shared_base_hi = AMD_SHARED_BASE_HI,
                        .private_base_hi = AMD_PRIVATE_BASE_HI,
                        .queue_address = emulate_queue_address(e->gpus[gpu].emulator) };
}

static ls_status emu_prepare(void *self, size_t gpu, const drv_code *code, void **program, ls_error *err)
{
    const amd_kernel kernel = {
        .name = code->name,
        .target = code->target,
        .code = code->code,
        .code_bytes = code->code_bytes,
        .entry = code->entry,
        .rsrc1 = code->rsrc1,
        .rsrc2 = code->rsrc2,
        .rsrc3 = code->rsrc3,
        .properties = (uint16_t)code->properties,
        .lds_bytes = code->lds_bytes,
        .scratch_bytes = code->scratch_bytes,
        .kernarg_bytes = code->kernarg_bytes,
    };
    amd_program *out = NULL;
    ls_status status = amd_program_create(&kernel, ((emu *)self)->address_space, &out, err);
    (void)gpu;
    *program = out;
    return status;
}

static void emu_release(void *self, void *program)
{
    (void)self;
    amd_program_destroy(program);
}

static ls_status place_kernarg(emu *e, emu_gpu *gpu, const drv_dispatch *dispatch, ls_error *err)
{
    if (gpu->kernarg == 0 || gpu->kernarg_bytes < dispatch->kernarg_bytes) {
        uint32_t bytes = dispatch->kernarg_bytes > LS_PAGE_BYTES ? dispatch->kernarg_bytes : LS_PAGE_BYTES;
        ls_status status = gpu->kernarg ? emu_free(e, gpu->kernarg, err) : LS_OK;
        gpu->kernarg = 0;
        if (status == LS_OK)
            status = emu_alloc(e, 0, bytes, &gpu->kernarg, err);
        if (status != LS_OK)
            return status;
        gpu->kernarg_bytes = bytes;
    }
    ls_status status =
        address_space_write(e->address_space, gpu->kernarg, dispatch->kernarg, dispatch->kernarg_bytes, err);
    if (status == LS_OK && e->strict)
        status = strict_alloc(e->strict, gpu->kernarg, KERNARG_WHOLE(dispatch->kernarg_bytes), err);
    if (status == LS_OK && e->strict)
        status = strict_define(e->strict, gpu->kernarg, dispatch->kernarg_bytes, err);
    return status;
}

static ls_status run_plain(const emu_gpu *gpu, const amd_program *program, const drv_dispatch *dispatch,
                           const emulate_launch *launch, ls_gpu_counts *counts, ls_error *err)
{
    emulate_fault fault = { .wave = 0 };
    ls_status status = emulate_run(gpu->emulator, program, launch, counts, &fault, err);
    if (status == LS_ERR_CHECK && fault.pc != 0)
        drv_fault_explain(dispatch, &fault.fault, fault.pc, err);
    if (status == LS_ERR_CHECK && fault.fault.bytes != 0)
        amd_fault_add_registers(fault.registers, err);
    return status;
}

static ls_status run_traced(emu *e, emu_gpu *gpu, const amd_program *program, const drv_dispatch *dispatch,
                            emulate_launch *launch, ls_gpu_counts *counts, ls_error *err)
{
    drv_trace *t = &e->trace;
    emulate_trace *trace;
    ls_error trace_err;
    ls_status status, trace_status;
    pthread_mutex_lock(&t->lock);
    const emulate_trace_to to = { .file = t->writer.stream, .packed = t->packed, .launch = ++t->launches };
    status = emulate_trace_create(&to, program, &t->filter, &trace, err);
    if (status == LS_OK) {
        emulate_trace_attach(trace, launch);
        status = run_plain(gpu, program, dispatch, launch, counts, err);
        t->matched += emulate_trace_count(trace);
        trace_status = emulate_trace_finish(trace, &trace_err);
        if (status == LS_OK && trace_status != LS_OK) {
            status = trace_status;
            if (err)
                *err = trace_err;
        }
    }
    pthread_mutex_unlock(&t->lock);
    return status;
}

/* Runs the launch, into the recording if there is one. */
static ls_status run_recorded(emu *e, size_t index, const amd_program *program, const drv_dispatch *dispatch,
                              emulate_launch *launch, ls_gpu_counts *counts, ls_error *err)
{
    const emulate *emulator = e->gpus[index].emulator;
    amd_start start = { .program = program,
                        .kernarg = launch->kernarg,
                        .packet = emulate_packet_address(emulator),
                        .queue = emulate_queue_address(emulator),
                        .dispatch_id = launch->dispatch_id };
    record_launch *recorded = NULL;
    memcpy(start.grid, launch->grid, sizeof start.grid);
    memcpy(start.group, launch->group, sizeof start.group);
    bool traced = e->trace.is_open && (!*e->trace.kernel || strcmp(e->trace.kernel, dispatch->kernel) == 0);
    ls_status status = LS_OK;
    if (e->record) {
        const record_what what = { .start = &start,
                                   .address_space = e->address_space,
                                   .gpu = (uint32_t)index,
                                   .dims = launch->dims,
                                   .lds_bytes = program->kernel.lds_bytes + launch->dynamic_lds_bytes,
                                   .argument_bytes = dispatch->kernarg_bytes };
        status = record_begin(e->record, &what, &recorded, err);
        launch->before = record_hook;
        launch->before_self = recorded;
    }
    if (status == LS_OK && traced)
        status = run_traced(e, &e->gpus[index], program, dispatch, launch, counts, err);
    else if (status == LS_OK)
        status = run_plain(&e->gpus[index], program, dispatch, launch, counts, err);
    if (recorded) {
        ls_status record_status = record_end(recorded, status == LS_OK, status == LS_OK ? err : NULL);
        status = status == LS_OK ? record_status : status;
    }
    return status;
}

static ls_status emu_run(void *self, size_t index, void *program, const drv_dispatch *dispatch,
                         ls_gpu_counts *counts, ls_error *err)
{
    emu *e = self;
    emu_gpu *gpu = &e->gpus[index];
    emulate_launch launch = { .dims = dispatch->dims,
                              .dynamic_lds_bytes = dispatch->dynamic_lds_bytes,
                              .max_instructions = e->max_instructions,
                              .lenient_barriers = e->lenient_barriers,
                              .strict = e->strict };
    ls_gpu_counts run = { 0 };
    launch.which = dispatch->which;
    if (e->record && dispatch->which.count != 0)
        return ls_fail(err, LS_ERR_UNSUPPORTED,
                       "a recording has whole launches: kernel %s runs %llu of its work-groups",
                       dispatch->kernel, (unsigned long long)dispatch->which.count);
    ls_status status = place_kernarg(e, gpu, dispatch, err);
    if (status != LS_OK)
        return status;
    memcpy(launch.grid, dispatch->grid, sizeof launch.grid);
    memcpy(launch.group, dispatch->group, sizeof launch.group);
    launch.kernarg = gpu->kernarg;
    if (e->debugger) {
        const drv_launched launched = { .number = ++e->launches,
                                        .gpu = index,
                                        .program = program,
                                        .dispatch = dispatch,
                                        .kernarg = gpu->kernarg,
                                        .address_space = e->address_space };
        launch.debugger = &e->debugger->hooks;
        e->debugger->begin(e->debugger->hooks.self, &launched);
    }
    status = run_recorded(e, index, program, dispatch, &launch, &run, err);
    if (e->debugger)
        e->debugger->end(e->debugger->hooks.self, status, &run);
    run.launches = 1;
    ls_gpu_counts_add(counts, &run);
    return status;
}

const drv_backend drv_backend_emulate = {
    .name = "emulate",
    .create = emu_create,
    .destroy = emu_destroy,
    .close_trace = emu_close_trace,
    .alloc = emu_alloc,
    .bound = emu_bound,
    .zeroed = emu_zeroed,
    .free = emu_free,
    .protect = emu_protect,
    .load = emu_load,
    .write = emu_write,
    .read = emu_read,
    .copy = emu_copy,
    .fill = emu_fill,
    .facts = emu_facts,
    .prepare = emu_prepare,
    .release = emu_release,
    .run = emu_run,
};
