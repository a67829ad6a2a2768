/* enqueue.c: launches: from an NDRange to a command that has its own copy of the arguments. */
#include "opencl/ocl.h"

#include <stdlib.h>

/* Work-items of a group if the program does not choose: some waves, never half of one. */
#define GROUP_AIM 256u
#define LAUNCH_NS 1000u          /* to begin with */
#define INSTRUCTIONS_PER_CLOCK 1 /* of a compute unit, in wavefront instructions */

/* ------------------------------------------------------------------------------------------------ running */

/* An estimate of the duration where time is not simulated: each compute unit executes one wavefront
 * instruction per clock. */
static uint64_t estimate_ns(cl_device_id device, const ls_gpu_counts *counts)
{
    uint64_t per_us = (uint64_t)device->compute_units * device->model->clock_mhz * INSTRUCTIONS_PER_CLOCK;
    return LAUNCH_NS + counts->instructions / per_us * 1000 + counts->instructions % per_us * 1000 / per_us;
}

static void add_counts(const ls_gpu_counts *c)
{
    pthread_mutex_lock(&ocl.lock);
    ls_gpu_counts_add(&client.counts, c);
    pthread_mutex_unlock(&ocl.lock);
}

static cl_int code_of(const ocl_launch *l, ls_status status, ls_error *err)
{
    if (status != LS_OK)
        ls_error_prefix(err, "kernel '%s' failed", l->kernel->name);
    return ocl_code_of(status, CL_OUT_OF_RESOURCES);
}

/* GPUs that do not reach each other's memory: the buffers of a launch come to its device. */
static cl_int bring(cl_event command, ls_error *err)
{
    cl_int code = CL_SUCCESS;
    if (command->context->device_count == 1 || ls_gpu_system_reaches(ocl.system))
        return code;
    for (ocl_object **held = command->more_held; held && *held && code == CL_SUCCESS; held++)
        if (ocl_is(*held, OCL_MEM))
            code = ocl_mem_move((cl_mem)(void *)*held, command->queue->device, err);
    return code;
}

static cl_int begin_launch(cl_event command, ls_gpu_queue *queue, ls_gpu_event **under_way, ls_error *err)
{
    ocl_launch *l = ocl_payload(command);
    cl_int code = bring(command, err);
    if (code == CL_SUCCESS)
        code = ocl_printf_begin(command, l, err);
    if (code != CL_SUCCESS)
        return code;
    const cl_device_id device = command->queue->device;
    if (device->parent) {
        l->launch.first_unit = device->first_unit;
        l->launch.unit_count = device->compute_units;
    }
    ls_status status = ls_gpu_queue_launch(queue, l->gpu_kernel, &l->launch, under_way, err);
    if (status != LS_OK)
        ocl_printf_end(command, l);
    return code_of(l, status, err);
}

static cl_int run_launch(cl_event command, ls_error *err)
{
    ocl_launch *l = ocl_payload(command);
    ls_gpu_counts counts;
    ls_status status;
    if (command->under_way) {
        status = ls_gpu_event_wait(command->under_way, err);
        ls_gpu_event_get_counts(command->under_way, &counts);
    } else {
        cl_int code = ocl_printf_begin(command, l, err);
        if (code != CL_SUCCESS)
            return code;
        status = ls_gpu_run_counted(command->context->gpu, l->gpu_kernel, &l->launch, &counts, err);
    }
    ocl_printf_end(command, l);
    command->cost_ns = estimate_ns(command->queue->device, &counts);
    if (client.has_counts)
        add_counts(&counts);
    return code_of(l, status, err);
}

/* ------------------------------------------------------------------------------------------------- shapes */

typedef struct shape {
    cl_uint dims;
    size_t grid[3], group[3], offset[3];
    bool is_empty;
} shape;

static size_t largest_divisor(size_t of, size_t most)
{
    for (size_t d = most < of ? most : of; d > 1; d--)
        if (of % d == 0)
            return d;
    return 1;
}

static void choose_group(shape *s, const ls_gpu_kernel_info *info)
{
    size_t left = info->group_size_max < GROUP_AIM ? info->group_size_max : GROUP_AIM;
    for (cl_uint i = 0; i < s->dims; i++) {
        s->group[i] = info->required_group[0] ? info->required_group[i] : largest_divisor(s->grid[i], left);
        left /= s->group[i];
    }
}

/* Whether work-groups at the end of a dimension may be smaller. */
static bool allows_remainders(const ocl_build *build)
{
    return (strstr(build->options, "-cl-std=CL2") || strstr(build->options, "-cl-std=CL3")) &&
           !strstr(build->options, "-cl-uniform-work-group-size");
}

static cl_int check_group(const shape *s, const ls_gpu_kernel_info *info, bool may_have_remainders)
{
    size_t all = 1;
    for (cl_uint i = 0; i < s->dims; i++) {
        if (s->group[i] == 0)
            return CL_INVALID_WORK_GROUP_SIZE;
        if (s->group[i] > 1024)
            return CL_INVALID_WORK_ITEM_SIZE;
        if (info->required_group[0] && s->group[i] != info->required_group[i])
            return CL_INVALID_WORK_GROUP_SIZE;
        if (s->grid[i] % s->group[i] != 0 && !may_have_remainders)
            return CL_INVALID_WORK_GROUP_SIZE;
        all *= s->group[i];
    }
    for (cl_uint i = s->dims; i < 3; i++)
        if (info->required_group[0] && info->required_group[i] != 1)
            return CL_INVALID_WORK_GROUP_SIZE;
    return all <= info->group_size_max ? CL_SUCCESS : CL_INVALID_WORK_GROUP_SIZE;
}

static cl_int read_shape(shape *s, cl_uint dims, const size_t *offset, const size_t *grid, const size_t *group)
{
    if (dims < 1 || dims > 3)
        return CL_INVALID_WORK_DIMENSION;
    *s = (shape){ .dims = dims, .grid = { 1, 1, 1 }, .group = { 1, 1, 1 }, .is_empty = !grid };
    for (cl_uint i = 0; i < dims; i++) {
        s->grid[i] = grid ? grid[i] : 0;
        s->group[i] = group ? group[i] : 1;
        s->offset[i] = offset ? offset[i] : 0;
        if (s->grid[i] == 0)
            s->is_empty = true;
        if (s->grid[i] > UINT32_MAX)
            return CL_INVALID_GLOBAL_WORK_SIZE;
        if (s->offset[i] > SIZE_MAX - s->grid[i])
            return CL_INVALID_GLOBAL_OFFSET;
    }
    return CL_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------- arguments */

static bool is_gone(const ocl_object *object)
{
    return object && object->magic == OCL_GONE;
}

/* Copies the arguments as they are now, and takes references to the objects among them: by_arg has one entry
 * per argument, held only the objects. With ocl.lock held. */
static cl_int capture(cl_kernel kernel, uint8_t *packed, ocl_object **by_arg, ocl_object **held)
{
    for (size_t i = 0; i < kernel->info->arg_count; i++)
        if (!kernel->args[i].is_set || is_gone(kernel->args[i].object))
            return CL_INVALID_KERNEL_ARGS;
    memcpy(packed, kernel->packed, kernel->info->packed_bytes);
    for (size_t i = 0; i < kernel->info->arg_count; i++) {
        by_arg[i] = kernel->args[i].object;
        if (by_arg[i]) {
            ocl_retain(by_arg[i]);
            *held++ = by_arg[i];
        }
    }
    return CL_SUCCESS;
}

/* Replaces images and samplers by the addresses of their descriptors on the device. Without locks. */
static cl_int resolve(const ls_gpu_kernel_info *info, cl_device_id device, ocl_object **by_arg,
                      uint8_t *packed)
{
    for (size_t i = 0; i < info->arg_count; i++) {
        const ls_gpu_arg_kind kind = info->args[i].kind;
        uint64_t value = 0;
        cl_int status;
        if (kind != LS_GPU_ARG_IMAGE && kind != LS_GPU_ARG_SAMPLER)
            continue;
        status = kind == LS_GPU_ARG_IMAGE
                     ? ocl_image_argument((cl_mem)(void *)by_arg[i], device, &value)
                     : ocl_sampler_argument((cl_sampler)(void *)by_arg[i], device, &value);
        if (status != CL_SUCCESS)
            return status;
        memcpy(packed + info->args[i].offset, &value, sizeof value);
    }
    return CL_SUCCESS;
}

static cl_int check_lds(cl_kernel kernel, const ls_gpu_kernel_info *info, const ls_gpu_model *model)
{
    uint64_t all = info->lds_bytes;
    for (size_t i = 0; i < info->arg_count; i++)
        all += kernel->args[i].local_bytes;
    return all <= model->lds_bytes ? CL_SUCCESS : CL_OUT_OF_RESOURCES;
}

/* ---------------------------------------------------------------------------------------------- launching */

static ls_gpu_kernel *kernel_on(cl_kernel kernel, cl_device_id device, cl_uint *index)
{
    cl_program program = kernel->program;
    for (cl_uint i = 0; i < program->device_count; i++)
        if (program->devices[i] == device) {
            *index = i;
            return kernel->of_device[i];
        }
    return NULL;
}

/* Whether a launch is refused only because the kernel was compiled for smaller work-groups. */
static bool is_wide(const shape *s, const ls_gpu_kernel_info *info, const ls_gpu_model *model)
{
    size_t all = 1;
    for (cl_uint i = 0; i < s->dims; i++)
        all *= s->group[i] <= model->group_size_max ? s->group[i] : 0;
    return !info->required_group[0] && all > info->group_size_max && all <= model->group_size_max;
}

static size_t align_up(size_t bytes)
{
    return (bytes + OCL_ARG_ALIGN - 1) / OCL_ARG_ALIGN * OCL_ARG_ALIGN;
}

static void describe(ocl_launch *l, const shape *s, const uint8_t *packed, const ls_gpu_kernel_info *info)
{
    l->launch = (ls_gpu_launch){ .dims = s->dims, .packed = packed, .packed_bytes = info->packed_bytes };
    for (cl_uint i = 0; i < 3; i++) {
        l->launch.grid[i] = (uint32_t)s->grid[i];
        l->launch.group[i] = (uint32_t)s->group[i];
        l->launch.offset[i] = s->offset[i];
    }
}

static cl_int submit(cl_command_queue queue, cl_kernel kernel, ls_gpu_kernel *gpu_kernel, const shape *s,
                     cl_command_type type, cl_uint wait_count, const cl_event *wait_list, cl_event *event)
{
    const ls_gpu_kernel_info *info = ls_gpu_kernel_get_info(gpu_kernel);
    size_t packed_at = align_up(sizeof(ocl_launch)), held_at = packed_at + align_up(info->packed_bytes + 1);
    cl_event command = ocl_command_create(queue, type, s->is_empty ? NULL : run_launch,
                                          held_at + (2 * info->arg_count + 1) * sizeof(ocl_object *));
    uint8_t *packed;
    ocl_launch *l;
    ocl_object **held, **by_arg;
    cl_int status;
    if (!command)
        return CL_OUT_OF_HOST_MEMORY;
    l = ocl_payload(command);
    packed = (uint8_t *)ocl_payload(command) + packed_at;
    held = (ocl_object **)(void *)((uint8_t *)ocl_payload(command) + held_at);
    by_arg = held + info->arg_count + 1;
    l->kernel = kernel;
    l->gpu_kernel = gpu_kernel;
    command->begin = s->is_empty ? NULL : begin_launch;
    command->poisons = true;
    ocl_command_hold(command, kernel);
    pthread_mutex_lock(&ocl.lock);
    status = check_lds(kernel, info, queue->device->model);
    if (status == CL_SUCCESS)
        status = capture(kernel, packed, by_arg, held);
    pthread_mutex_unlock(&ocl.lock);
    command->more_held = held;
    if (status == CL_SUCCESS)
        status = resolve(info, queue->device, by_arg, packed);
    if (status != CL_SUCCESS) {
        ocl_command_discard(command);
        return status;
    }
    describe(l, s, packed, info);
    return ocl_command_submit(command, wait_count, wait_list, false, event);
}

static cl_int enqueue(cl_command_queue queue, cl_kernel kernel, cl_uint dims, const size_t *offset,
                      const size_t *grid, const size_t *group, cl_command_type type, cl_uint wait_count,
                      const cl_event *wait_list, cl_event *event)
{
    cl_uint index = 0;
    const ls_gpu_kernel_info *info;
    ls_gpu_kernel *gpu_kernel;
    shape s;
    cl_int status;
    if (!ocl_is(queue, OCL_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    if (!ocl_is(kernel, OCL_KERNEL))
        return CL_INVALID_KERNEL;
    if (kernel->program->context != queue->context)
        return CL_INVALID_CONTEXT;
    status = ocl_check_waits(queue->context, wait_count, wait_list);
    if (status != CL_SUCCESS)
        return status;
    gpu_kernel = kernel_on(kernel, queue->device, &index);
    if (!gpu_kernel)
        return CL_INVALID_PROGRAM_EXECUTABLE;
    info = ls_gpu_kernel_get_info(gpu_kernel);
    status = read_shape(&s, dims, offset, grid, group);
    if (status != CL_SUCCESS)
        return status;
    if (!group && !s.is_empty)
        choose_group(&s, info);
    if (group && !s.is_empty && is_wide(&s, info, queue->device->model)) {
        ls_gpu_kernel *wide = ocl_wide_kernel(kernel->program, index, kernel->name);
        gpu_kernel = wide ? wide : gpu_kernel;
        info = ls_gpu_kernel_get_info(gpu_kernel);
    }
    status =
        s.is_empty ? CL_SUCCESS : check_group(&s, info, allows_remainders(&kernel->program->builds[index]));
    if (status != CL_SUCCESS)
        return status;
    return submit(queue, kernel, gpu_kernel, &s, type, wait_count, wait_list, event);
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dims, const size_t *offset,
                              const size_t *grid, const size_t *group, cl_uint wait_count,
                              const cl_event *wait_list, cl_event *event)
{
    return enqueue(queue, kernel, dims, offset, grid, group, CL_COMMAND_NDRANGE_KERNEL, wait_count, wait_list,
                   event);
}

cl_int clEnqueueTask(cl_command_queue queue, cl_kernel kernel, cl_uint wait_count, const cl_event *wait_list,
                     cl_event *event)
{
    const size_t one = 1;
    return enqueue(queue, kernel, 1, NULL, &one, &one, CL_COMMAND_TASK, wait_count, wait_list, event);
}
