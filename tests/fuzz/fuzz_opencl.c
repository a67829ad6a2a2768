/* fuzz_opencl.c: the OpenCL functions, called in any order with any numbers. Bytes of the input choose a function
 * and its arguments; handles are live objects or NULL, because the standard leaves other pointers undefined.
 * Nothing crashes, hangs or leaks, and a call that fails gives nothing. */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    SLOTS = 8,           /* objects of a kind that live at once */
    MOST_CALLS = 200,    /* of one input */
    BUFFER_BYTES = 8192, /* largest buffer that can be had */
    SIDE = 32,           /* largest region of a rectangle or an image */
    PITCH = 1024,        /* largest distance of its rows on the host */
    HOST_BYTES = SIDE * SIDE * PITCH + 65536
};

static cl_device_id device;
static cl_context context;
static cl_program programs[3];
static cl_uint idle_references; /* of the context, with no objects but the programs */
static uint8_t *host;           /* HOST_BYTES that calls may read and write */

typedef struct input {
    const uint8_t *at, *end;
} input;

typedef struct objects {
    cl_command_queue queues[2];
    cl_mem mems[SLOTS];
    cl_kernel kernels[SLOTS];
    cl_event events[SLOTS];
    cl_event users[SLOTS]; /* user events that have not ended */
    cl_sampler samplers[2];
} objects;

/* Names the line: an optimised build joins all aborts. */
#define require(condition_) require_at((condition_), __LINE__)
static void require_at(bool condition, int line)
{
    if (condition)
        return;
    fprintf(stderr, "fuzz_opencl.c:%d: this must hold\n", line);
    abort();
}

/* ------------------------------------------------------------------------------------------------- input */

static uint32_t byte(input *in)
{
    return in->at < in->end ? *in->at++ : 0;
}

static uint32_t word(input *in)
{
    uint32_t low = byte(in);
    return low | byte(in) << 8;
}

/* A size: small, at a border, or absurd. */
static size_t a_size(input *in)
{
    static const size_t borders[] = { 0,
                                      1,
                                      3,
                                      4,
                                      16,
                                      63,
                                      64,
                                      256,
                                      4095,
                                      4096,
                                      BUFFER_BYTES,
                                      SIZE_MAX,
                                      SIZE_MAX - 15,
                                      (size_t)1 << 31,
                                      (size_t)1 << 40 };
    uint32_t how = byte(in);
    return how < 128 ? borders[how % (sizeof borders / sizeof *borders)] : word(in) % (BUFFER_BYTES + 64);
}

/* Origins, regions and pitches whose accesses stay inside of `host` for every call. */
static void three(input *in, size_t out[3], size_t most)
{
    for (int i = 0; i < 3; i++)
        out[i] = byte(in) % (most + 1);
}

#define PICK(list_, in_) ((list_)[byte(in_) % (sizeof(list_) / sizeof *(list_))])

/* ------------------------------------------------------------------------------------------------ objects */

static cl_event *free_event(objects *o)
{
    for (int i = 0; i < SLOTS; i++)
        if (!o->events[i])
            return &o->events[i];
    return NULL;
}

/* Up to two events that live. The count may not fit the list, which is an error that must be found. */
static cl_uint wait_list(objects *o, input *in, cl_event list[2])
{
    cl_uint count = 0;
    uint32_t how = byte(in);
    for (int i = 0; i < 2; i++)
        if (o->events[(how >> (3 * i)) % SLOTS] && (how & 64))
            list[count++] = o->events[(how >> (3 * i)) % SLOTS];
    return count;
}

/* A call may wait for ever for a user event that is never set. */
static void end_users(objects *o, cl_int status)
{
    for (int i = 0; i < SLOTS; i++)
        if (o->users[i]) {
            clSetUserEventStatus(o->users[i], status);
            clReleaseEvent(o->users[i]);
            o->users[i] = NULL;
        }
    for (int i = 0; i < 2; i++)
        clFlush(o->queues[i]);
}

static void put_mem(objects *o, input *in, cl_mem mem, cl_int error)
{
    require((mem != NULL) == (error == CL_SUCCESS));
    cl_mem *slot = &PICK(o->mems, in);
    if (*slot)
        require(clReleaseMemObject(*slot) == CL_SUCCESS);
    *slot = mem;
}

/* -------------------------------------------------------------------------------------------------- calls */

static cl_mem_flags mem_flags(input *in)
{
    static const cl_mem_flags flags[] = { 0,
                                          CL_MEM_READ_WRITE,
                                          CL_MEM_READ_ONLY,
                                          CL_MEM_WRITE_ONLY,
                                          CL_MEM_USE_HOST_PTR,
                                          CL_MEM_ALLOC_HOST_PTR,
                                          CL_MEM_COPY_HOST_PTR,
                                          CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY,
                                          CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR,
                                          CL_MEM_HOST_NO_ACCESS,
                                          CL_MEM_HOST_READ_ONLY,
                                          (cl_mem_flags)1 << 60 };
    return PICK(flags, in);
}

static void create_buffer(objects *o, input *in)
{
    cl_int error = 1;
    size_t bytes = a_size(in);
    cl_mem mem = clCreateBuffer(context, mem_flags(in), bytes, byte(in) & 1 ? host : NULL, &error);
    put_mem(o, in, mem, error);
}

static void create_sub_buffer(objects *o, input *in)
{
    cl_int error = 1;
    const cl_buffer_region region = { a_size(in), a_size(in) };
    cl_mem mem =
        clCreateSubBuffer(PICK(o->mems, in), mem_flags(in), CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    put_mem(o, in, mem, error);
}

static void create_image(objects *o, input *in)
{
    static const cl_channel_order orders[] = { CL_R, CL_RG, CL_RGBA, CL_BGRA, CL_A, CL_DEPTH, 0 };
    static const cl_channel_type types[] = {
        CL_UNORM_INT8, CL_FLOAT, CL_HALF_FLOAT, CL_UNSIGNED_INT32, CL_SIGNED_INT16, CL_UNORM_SHORT_565, 0xffff
    };
    static const cl_mem_object_type kinds[] = { CL_MEM_OBJECT_IMAGE1D,       CL_MEM_OBJECT_IMAGE2D,
                                                CL_MEM_OBJECT_IMAGE3D,       CL_MEM_OBJECT_IMAGE1D_ARRAY,
                                                CL_MEM_OBJECT_IMAGE2D_ARRAY, CL_MEM_OBJECT_IMAGE1D_BUFFER,
                                                CL_MEM_OBJECT_BUFFER };
    const cl_image_format format = { PICK(orders, in), PICK(types, in) };
    cl_image_desc desc = { .image_type = PICK(kinds, in) };
    size_t sides[3];
    cl_int error = 1;
    three(in, sides, SIDE);
    desc.image_width = sides[0];
    desc.image_height = sides[1];
    desc.image_depth = sides[2];
    desc.image_array_size = byte(in) % SIDE;
    /* Host rows that fit into `host`. */
    bool from_host = byte(in) & 1;
    desc.image_row_pitch = from_host ? byte(in) % PITCH : 0;
    if (byte(in) & 1)
        desc.buffer = PICK(o->mems, in);
    cl_mem mem = clCreateImage(context, mem_flags(in), &format, &desc, from_host ? host : NULL, &error);
    put_mem(o, in, mem, error);
}

static void transfer_buffer(objects *o, input *in)
{
    cl_event list[2], *event = byte(in) & 1 ? free_event(o) : NULL;
    cl_command_queue queue = PICK(o->queues, in);
    cl_mem a = PICK(o->mems, in), b = PICK(o->mems, in);
    size_t from = a_size(in), to = a_size(in), bytes = a_size(in);
    uint32_t how = byte(in);
    cl_bool blocking = how & 64 ? CL_TRUE : CL_FALSE;
    if (blocking)
        end_users(o, CL_COMPLETE);
    cl_uint count = wait_list(o, in, list);
    const cl_event *waits = count ? list : NULL;
    cl_int status = CL_INVALID_VALUE;
    /* The host's side has HOST_BYTES; no buffer is larger. */
    switch (how % 4) {
    case 0:
        status = clEnqueueReadBuffer(queue, a, blocking, from, bytes, host, count, waits, event);
        break;
    case 1:
        status = clEnqueueWriteBuffer(queue, a, blocking, from, bytes, host, count, waits, event);
        break;
    case 2:
        status = clEnqueueCopyBuffer(queue, a, b, from, to, bytes, count, waits, event);
        break;
    default:
        status = clEnqueueFillBuffer(queue, a, host, a_size(in), from, bytes, count, waits, event);
        break;
    }
    require(status == CL_SUCCESS || !event || !*event);
}

static void transfer_rect(objects *o, input *in)
{
    size_t buffer_origin[3], host_origin[3], region[3];
    size_t row = byte(in) * 4u, slice = row * (byte(in) % SIDE);
    size_t host_row = byte(in) * 4u, host_slice = host_row * (byte(in) % SIDE);
    cl_command_queue queue = PICK(o->queues, in);
    cl_mem a = PICK(o->mems, in), b = PICK(o->mems, in);
    three(in, buffer_origin, 4);
    three(in, host_origin, 4);
    three(in, region, 16);
    end_users(o, CL_COMPLETE);
    switch (byte(in) % 3) {
    case 0:
        clEnqueueReadBufferRect(queue, a, CL_TRUE, buffer_origin, host_origin, region, row, slice, host_row,
                                host_slice, host, 0, NULL, NULL);
        break;
    case 1:
        clEnqueueWriteBufferRect(queue, a, CL_TRUE, buffer_origin, host_origin, region, row, slice, host_row,
                                 host_slice, host, 0, NULL, NULL);
        break;
    default:
        clEnqueueCopyBufferRect(queue, a, b, buffer_origin, host_origin, region, row, slice, host_row,
                                host_slice, 0, NULL, NULL);
        break;
    }
}

static void transfer_image(objects *o, input *in)
{
    size_t origin[3], other[3], region[3], row = byte(in) * 4u, slice = row * (byte(in) % SIDE);
    cl_command_queue queue = PICK(o->queues, in);
    cl_mem a = PICK(o->mems, in), b = PICK(o->mems, in);
    three(in, origin, 8);
    three(in, other, 8);
    three(in, region, SIDE);
    end_users(o, CL_COMPLETE);
    switch (byte(in) % 6) {
    case 0:
        clEnqueueReadImage(queue, a, CL_TRUE, origin, region, row, slice, host, 0, NULL, NULL);
        break;
    case 1:
        clEnqueueWriteImage(queue, a, CL_TRUE, origin, region, row, slice, host, 0, NULL, NULL);
        break;
    case 2:
        clEnqueueCopyImage(queue, a, b, origin, other, region, 0, NULL, NULL);
        break;
    case 3:
        clEnqueueFillImage(queue, a, host, origin, region, 0, NULL, NULL);
        break;
    case 4:
        clEnqueueCopyImageToBuffer(queue, a, b, origin, region, a_size(in), 0, NULL, NULL);
        break;
    default:
        clEnqueueCopyBufferToImage(queue, a, b, a_size(in), origin, region, 0, NULL, NULL);
        break;
    }
}

static void map_and_unmap(objects *o, input *in)
{
    static const cl_map_flags flags[] = { CL_MAP_READ, CL_MAP_WRITE, CL_MAP_WRITE_INVALIDATE_REGION, 0,
                                          1u << 20 };
    cl_command_queue queue = PICK(o->queues, in);
    cl_mem mem = PICK(o->mems, in);
    cl_int error = 1;
    end_users(o, CL_COMPLETE);
    size_t from = a_size(in), bytes = a_size(in);
    cl_map_flags how = PICK(flags, in);
    uint8_t *at = clEnqueueMapBuffer(queue, mem, CL_TRUE, how, from, bytes, 0, NULL, NULL, &error);
    require((at != NULL) == (error == CL_SUCCESS));
    if (!at)
        return;
    at[0] ^= 1;
    at[bytes - 1] ^= 1;
    require(clEnqueueUnmapMemObject(queue, mem, at, 0, NULL, NULL) == CL_SUCCESS);
    if (byte(in) & 1) /* twice is an error */
        require(clEnqueueUnmapMemObject(queue, mem, at, 0, NULL, NULL) != CL_SUCCESS || how == 0);
}

static void make_kernel(objects *o, input *in)
{
    static const char *const names[] = { "vector_add", "histogram_bytes", "scan_blocks",
                                         "scan_add",   "nothing",         "" };
    cl_int error = 1;
    cl_kernel kernel = clCreateKernel(PICK(programs, in), PICK(names, in), &error);
    require((kernel != NULL) == (error == CL_SUCCESS));
    cl_kernel *slot = &PICK(o->kernels, in);
    if (*slot)
        require(clReleaseKernel(*slot) == CL_SUCCESS);
    *slot = kernel;
}

static void set_argument(objects *o, input *in)
{
    cl_kernel kernel = PICK(o->kernels, in);
    cl_mem mem = PICK(o->mems, in);
    cl_sampler sampler = PICK(o->samplers, in);
    uint32_t number = word(in), index = byte(in) % 6, how = byte(in);
    size_t bytes = how & 8 ? a_size(in) : how % 3 == 0 ? sizeof mem : sizeof number;
    const void *value = how % 4 == 0   ? (const void *)&mem
                        : how % 4 == 1 ? (const void *)&number
                        : how % 4 == 2 ? (const void *)&sampler
                                       : NULL;
    /* The kernels have numbers of 4 bytes and handles of 8; other sizes must be refused before the value is
     * read. A number is no handle. */
    if (value == &number && bytes == sizeof mem)
        bytes = sizeof number;
    clSetKernelArg(kernel, index, bytes, value);
}

static void launch(objects *o, input *in)
{
    cl_event list[2], *event = byte(in) & 1 ? free_event(o) : NULL;
    size_t grid[3], group[3], offset[3];
    cl_uint dimensions = byte(in) % 5, count = wait_list(o, in, list);
    three(in, grid, 64);
    three(in, group, 16);
    three(in, offset, 8);
    if (byte(in) & 1)
        grid[0] *= 16;
    clEnqueueNDRangeKernel(PICK(o->queues, in), PICK(o->kernels, in), dimensions, byte(in) & 1 ? offset : NULL,
                           grid, byte(in) & 1 ? group : NULL, count, count ? list : NULL, event);
}

static void use_events(objects *o, input *in)
{
    cl_event *slot = &PICK(o->events, in);
    cl_int status = 0;
    switch (byte(in) % 6) {
    case 0: {
        cl_event *user = &PICK(o->users, in);
        if (!*user && !*slot && (*user = clCreateUserEvent(context, NULL))) {
            require(clRetainEvent(*user) == CL_SUCCESS);
            *slot = *user;
        }
        break;
    }
    case 1:
        end_users(o, byte(in) & 1 ? CL_COMPLETE : -5);
        break;
    case 2:
        end_users(o, CL_COMPLETE);
        clWaitForEvents(byte(in) % 2, slot);
        break;
    case 3:
        clGetEventInfo(*slot, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
        break;
    case 4: {
        cl_ulong time;
        clGetEventProfilingInfo(*slot, CL_PROFILING_COMMAND_END, sizeof time, &time, NULL);
        break;
    }
    default:
        if (*slot)
            require(clReleaseEvent(*slot) == CL_SUCCESS);
        *slot = NULL;
        break;
    }
}

static void ask(objects *o, input *in)
{
    uint8_t value[64];
    size_t bytes = 0, room = byte(in) % (sizeof value + 1);
    void *to = byte(in) & 1 ? value : NULL;
    cl_uint what = word(in);
    switch (byte(in) % 7) {
    case 0:
        clGetMemObjectInfo(PICK(o->mems, in), 0x1100 | (what & 0xff), room, to, &bytes);
        break;
    case 1:
        clGetImageInfo(PICK(o->mems, in), 0x1110 | (what & 0xf), room, to, &bytes);
        break;
    case 2:
        clGetKernelInfo(PICK(o->kernels, in), 0x1190 | (what & 0xf), room, to, &bytes);
        break;
    case 3:
        clGetKernelArgInfo(PICK(o->kernels, in), byte(in), 0x1196 | (what & 0xf), room, to, &bytes);
        break;
    case 4:
        clGetKernelWorkGroupInfo(PICK(o->kernels, in), device, 0x11b0 | (what & 0xf), room, to, &bytes);
        break;
    case 5:
        clGetDeviceInfo(device, 0x1000 | (what & 0xff), room, to, &bytes);
        break;
    default:
        clGetCommandQueueInfo(PICK(o->queues, in), 0x1090 | (what & 0xf), room, to, &bytes);
        break;
    }
}

static void synchronise(objects *o, input *in)
{
    cl_command_queue queue = PICK(o->queues, in);
    cl_event list[2], *event = byte(in) & 1 ? free_event(o) : NULL;
    cl_uint count = wait_list(o, in, list);
    switch (byte(in) % 4) {
    case 0:
        clFlush(queue);
        break;
    case 1:
        end_users(o, CL_COMPLETE);
        clFinish(queue);
        break;
    case 2:
        clEnqueueMarkerWithWaitList(queue, count, count ? list : NULL, event);
        break;
    default:
        clEnqueueBarrierWithWaitList(queue, count, count ? list : NULL, event);
        break;
    }
}

static void release_mem(objects *o, input *in)
{
    cl_mem *slot = &PICK(o->mems, in);
    if (*slot)
        require(clReleaseMemObject(*slot) == CL_SUCCESS);
    *slot = NULL;
}

/* ---------------------------------------------------------------------------------------------------- all */

static cl_program load_program(const char *name)
{
    char path[4096];
    static unsigned char image[1 << 16];
    const unsigned char *binary = image;
    snprintf(path, sizeof path, LS_SOURCE_DIR "/workloads/prebuilt/gfx1030/%s.co", name);
    FILE *file = fopen(path, "rb");
    require(file != NULL);
    size_t bytes = fread(image, 1, sizeof image, file);
    fclose(file);
    cl_int error, status;
    cl_program program = clCreateProgramWithBinary(context, 1, &device, &bytes, &binary, &status, &error);
    require(error == CL_SUCCESS && clBuildProgram(program, 1, &device, "", NULL, NULL) == CL_SUCCESS);
    return program;
}

/* Every object of a context holds it. */
static cl_uint context_references(void)
{
    cl_uint references = 0;
    require(clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof references, &references, NULL) ==
            CL_SUCCESS);
    return references;
}

static void set_up(void)
{
    static const char *const names[] = { "vector_add", "histogram", "scan" };
    cl_platform_id platform;
    cl_int error;
    setenv("LOCKSTEP_GPU", "gfx1030", 1);
    setenv("LOCKSTEP_MEMORY", "67108864", 1);
    setenv("LOCKSTEP_MAX_INSTRUCTIONS", "100000", 1);
    unsetenv("LOCKSTEP_PLATFORM");
    require(clGetPlatformIDs(1, &platform, NULL) == CL_SUCCESS);
    require(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) == CL_SUCCESS);
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    require(error == CL_SUCCESS);
    for (int i = 0; i < 3; i++)
        programs[i] = load_program(names[i]);
    idle_references = context_references();
    host = calloc(1, HOST_BYTES);
    require(host != NULL);
}

static void tear_down(objects *o)
{
    end_users(o, CL_COMPLETE);
    for (int i = 0; i < 2; i++) {
        clFinish(o->queues[i]);
        require(clReleaseCommandQueue(o->queues[i]) == CL_SUCCESS);
        if (o->samplers[i])
            require(clReleaseSampler(o->samplers[i]) == CL_SUCCESS);
    }
    for (int i = 0; i < SLOTS; i++) {
        if (o->events[i])
            require(clReleaseEvent(o->events[i]) == CL_SUCCESS);
        if (o->kernels[i])
            require(clReleaseKernel(o->kernels[i]) == CL_SUCCESS);
    }
    /* Later ones may be parts of earlier ones. */
    for (int i = SLOTS; i-- > 0;)
        if (o->mems[i])
            require(clReleaseMemObject(o->mems[i]) == CL_SUCCESS);
    /* More references: an object was not freed. The driver's own threads may need a moment to let go. */
    for (int ms = 0; ms < 2000 && context_references() != idle_references; ms++)
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    require(context_references() == idle_references);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const calls[])(objects * o, input * in) = {
        create_buffer, create_sub_buffer, create_image, transfer_buffer, transfer_rect, transfer_image,
        map_and_unmap, make_kernel,       set_argument, launch,          use_events,    ask,
        synchronise,   release_mem,
    };
    objects o = { 0 };
    input in = { data, data + size };
    cl_int error;
    if (!context)
        set_up();
    o.queues[0] = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &error);
    require(error == CL_SUCCESS);
    o.queues[1] = clCreateCommandQueue(context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &error);
    require(error == CL_SUCCESS);
    o.samplers[0] = clCreateSampler(context, CL_TRUE, CL_ADDRESS_REPEAT, CL_FILTER_LINEAR, &error);
    require(error == CL_SUCCESS);
    for (int i = 0; i < MOST_CALLS && in.at < in.end; i++)
        PICK(calls, &in)(&o, &in);
    tear_down(&o);
    return 0;
}
