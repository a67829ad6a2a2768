/* svm.c: shared virtual memory, allocations and commands. An allocation has simulated pages and host pages with the
 * same numerical address. Coarse-grained: mapping copies the device's bytes to the host pages, unmapping copies
 * them back. Fine-grained: both are made equal when a command begins and when it ends (svm_fine.c). */
#include "opencl/svm.h"

#include "opencl/transfer.h"

#include <stdlib.h>
#include <sys/mman.h>

#define SVM_PROBE_BYTES 4096u
#define SVM_ALIGN_MAX 4096u

/* A part that is mapped at present. */
typedef struct svm_map {
    struct svm_map *next;
    uintptr_t start;
    size_t bytes;
    bool is_written;
} svm_map;

typedef struct svm_range {
    struct svm_range *next;
    cl_context context;
    uintptr_t start;
    size_t bytes, host_bytes;
    svm_map *maps; /* newest first */
    bool is_fine;
} svm_range;

static svm_range *ranges; /* under ocl.lock */

static bool take_host_pages(uintptr_t address, size_t bytes)
{
    void *at = mmap((void *)address, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (at == MAP_FAILED)
        return false;
    if ((uintptr_t)at == address)
        return true;
    munmap(at, bytes); /* kernels that do not know the flag */
    return false;
}

bool ocl_svm_possible(void)
{
    static atomic_int known; /* 0: not yet, 1: yes, 2: no */
    int state = atomic_load(&known);
    if (state == 0) {
        const uintptr_t probe = 0x100000000u + 0x10000000u; /* a place among the first simulated addresses */
        state = 2;
        if (take_host_pages(probe, SVM_PROBE_BYTES)) {
            munmap((void *)probe, SVM_PROBE_BYTES);
            state = 1;
        }
        atomic_store(&known, state);
    }
    return state == 1;
}

static svm_range *find_locked(cl_context context, const void *pointer, size_t bytes)
{
    uintptr_t at = (uintptr_t)pointer;
    for (svm_range *r = ranges; r; r = r->next)
        if (r->context == context && at - r->start < r->bytes && bytes <= r->bytes - (at - r->start))
            return r;
    return NULL;
}

bool ocl_svm_find(cl_context context, const void *pointer, size_t bytes)
{
    bool found;
    pthread_mutex_lock(&ocl.lock);
    found = find_locked(context, pointer, bytes) != NULL;
    pthread_mutex_unlock(&ocl.lock);
    return found;
}

/* --------------------------------------------------------------------------------------------- allocating */

void *clSVMAlloc(cl_context context, cl_svm_mem_flags flags, size_t bytes, cl_uint align)
{
    const cl_svm_mem_flags access = flags & (CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY);
    const bool is_fine = (flags & CL_MEM_SVM_FINE_GRAIN_BUFFER) != 0;
    size_t whole = (bytes + 4095) & ~(size_t)4095;
    ls_gpu_address address;
    cl_ulong most = 0;
    svm_range *range;
    if (!ocl_is(context, OCL_CONTEXT) || !ocl_svm_possible())
        return NULL;
    clGetDeviceInfo(context->devices[0], CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most, NULL);
    /* Atomics that the host sees at once are not supported. */
    if ((flags & ~(cl_svm_mem_flags)CL_MEM_SVM_FINE_GRAIN_BUFFER) != access || (access & (access - 1)) ||
        bytes == 0 || bytes > most || (align & (align - 1)) || align > SVM_ALIGN_MAX)
        return NULL;
    range = malloc(sizeof *range);
    if (!range)
        return NULL;
    if (ocl_gpu_alloc(context, bytes, &address) != CL_SUCCESS) {
        free(range);
        return NULL;
    }
    bool has_pages = take_host_pages((uintptr_t)address, whole);
    if (has_pages && is_fine && !ocl_svm_fine_add(context, (uintptr_t)address, bytes)) {
        munmap((void *)(uintptr_t)address, whole);
        has_pages = false;
    }
    if (!has_pages) {
        ocl_gpu_free(context, address);
        free(range);
        return NULL;
    }
    ocl_retain(context);
    pthread_mutex_lock(&ocl.lock);
    *range = (svm_range){ ranges, context, (uintptr_t)address, bytes, whole, NULL, is_fine };
    ranges = range;
    pthread_mutex_unlock(&ocl.lock);
    return (void *)(uintptr_t)address;
}

void clSVMFree(cl_context context, void *pointer)
{
    svm_range *found = NULL;
    if (!ocl_is(context, OCL_CONTEXT) || !pointer)
        return;
    pthread_mutex_lock(&ocl.lock);
    for (svm_range **link = &ranges; *link; link = &(*link)->next)
        if ((*link)->start == (uintptr_t)pointer && (*link)->context == context) {
            found = *link;
            *link = found->next;
            break;
        }
    pthread_mutex_unlock(&ocl.lock);
    if (!found)
        return;
    if (found->is_fine)
        ocl_svm_fine_remove(found->start);
    munmap(pointer, found->host_bytes);
    ocl_gpu_free(context, found->start);
    while (found->maps) {
        svm_map *map = found->maps;
        found->maps = map->next;
        free(map);
    }
    free(found);
    ocl_context_release(context);
}

/* ----------------------------------------------------------------------------------------------- commands */

/* One side of a copy: SVM is on the device, anything else is the host's. */
static ocl_box side(cl_context context, const void *pointer, size_t bytes)
{
    if (ocl_svm_find(context, pointer, bytes))
        return (ocl_box){ .address = (uintptr_t)pointer };
    return (ocl_box){ .host = (void *)(uintptr_t)pointer };
}

cl_int clEnqueueSVMMemcpy(cl_command_queue queue, cl_bool is_blocking, void *to, const void *from,
                          size_t bytes, cl_uint wait_count, const cl_event *wait_list, cl_event *event)
{
    const ocl_order order = { is_blocking != CL_FALSE, wait_count, wait_list, event };
    cl_int status = ocl_check_enqueue(queue, wait_count, wait_list);
    ocl_transfer t = { .region = { bytes, 1, 1 } };
    if (status != CL_SUCCESS)
        return status;
    if (!to || !from)
        return CL_INVALID_VALUE;
    if ((uintptr_t)to < (uintptr_t)from + bytes && (uintptr_t)from < (uintptr_t)to + bytes)
        return CL_MEM_COPY_OVERLAP;
    t.to = side(queue->context, to, bytes);
    t.from = side(queue->context, from, bytes);
    return ocl_transfer_submit(queue, CL_COMMAND_SVM_MEMCPY, &t, NULL, NULL, &order);
}

typedef struct svm_fill {
    ls_gpu_address to;
    size_t bytes, pattern_bytes;
    unsigned char pattern[128];
} svm_fill;

static cl_int run_fill(cl_event command, ls_error *err)
{
    svm_fill *f = ocl_payload(command);
    command->cost_ns = ocl_copy_ns(f->bytes);
    return ocl_code_of(ls_gpu_fill(command->context->gpu, f->to, f->pattern, f->pattern_bytes, f->bytes, err),
                       CL_OUT_OF_RESOURCES);
}

cl_int clEnqueueSVMMemFill(cl_command_queue queue, void *to, const void *pattern, size_t pattern_bytes,
                           size_t bytes, cl_uint wait_count, const cl_event *wait_list, cl_event *event)
{
    cl_int status = ocl_check_enqueue(queue, wait_count, wait_list);
    cl_event command;
    svm_fill *f;
    if (status != CL_SUCCESS)
        return status;
    if (!to || !pattern || pattern_bytes == 0 || pattern_bytes > 128 ||
        (pattern_bytes & (pattern_bytes - 1)) || bytes % pattern_bytes || (uintptr_t)to % pattern_bytes ||
        !ocl_svm_find(queue->context, to, bytes))
        return CL_INVALID_VALUE;
    command = ocl_command_create(queue, CL_COMMAND_SVM_MEMFILL, run_fill, sizeof *f);
    if (!command)
        return CL_OUT_OF_HOST_MEMORY;
    f = ocl_payload(command);
    f->to = (uintptr_t)to;
    f->bytes = bytes;
    f->pattern_bytes = pattern_bytes;
    memcpy(f->pattern, pattern, pattern_bytes);
    return ocl_command_submit(command, wait_count, wait_list, false, event);
}

static cl_int add_map(cl_context context, void *pointer, size_t bytes, bool is_written)
{
    svm_map *map = malloc(sizeof *map);
    svm_range *range;
    if (!map)
        return CL_OUT_OF_HOST_MEMORY;
    pthread_mutex_lock(&ocl.lock);
    range = find_locked(context, pointer, bytes);
    if (range) {
        *map = (svm_map){ range->maps, (uintptr_t)pointer, bytes, is_written };
        range->maps = map;
        map = NULL;
    }
    pthread_mutex_unlock(&ocl.lock);
    free(map);
    return range ? CL_SUCCESS : CL_INVALID_VALUE;
}

/* The map that begins at the pointer, taken out; bytes 0 if there is none. */
static svm_map take_map(cl_context context, void *pointer)
{
    svm_map found = { 0 }, *taken = NULL;
    svm_range *range;
    pthread_mutex_lock(&ocl.lock);
    range = find_locked(context, pointer, 0);
    for (svm_map **link = range ? &range->maps : NULL; link && *link; link = &(*link)->next)
        if ((*link)->start == (uintptr_t)pointer) {
            taken = *link;
            *link = taken->next;
            found = *taken;
            break;
        }
    pthread_mutex_unlock(&ocl.lock);
    free(taken);
    return found;
}

cl_int clEnqueueSVMMap(cl_command_queue queue, cl_bool is_blocking, cl_map_flags flags, void *pointer,
                       size_t bytes, cl_uint wait_count, const cl_event *wait_list, cl_event *event)
{
    const ocl_order order = { is_blocking != CL_FALSE, wait_count, wait_list, event };
    cl_int status = ocl_check_enqueue(queue, wait_count, wait_list);
    ocl_transfer t = { .region = { bytes, 1, 1 } };
    if (status != CL_SUCCESS)
        return status;
    if (!pointer || bytes == 0 ||
        (flags & ~(cl_map_flags)(CL_MAP_READ | CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)))
        return CL_INVALID_VALUE;
    status = add_map(queue->context, pointer, bytes,
                     (flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)) != 0);
    if (status != CL_SUCCESS)
        return status;
    t.to.host = pointer;
    t.from.address = (uintptr_t)pointer;
    if (flags & CL_MAP_WRITE_INVALIDATE_REGION)
        t.region[1] = 0;
    return ocl_transfer_submit(queue, CL_COMMAND_SVM_MAP, &t, NULL, NULL, &order);
}

cl_int clEnqueueSVMUnmap(cl_command_queue queue, void *pointer, cl_uint wait_count, const cl_event *wait_list,
                         cl_event *event)
{
    const ocl_order order = { false, wait_count, wait_list, event };
    cl_int status = ocl_check_enqueue(queue, wait_count, wait_list);
    ocl_transfer t = { .to.address = (uintptr_t)pointer, .from.host = pointer };
    svm_map map;
    if (status != CL_SUCCESS)
        return status;
    map = take_map(queue->context, pointer);
    if (map.bytes == 0)
        return CL_INVALID_VALUE;
    t.region[0] = map.bytes;
    t.region[1] = map.is_written;
    t.region[2] = 1;
    return ocl_transfer_submit(queue, CL_COMMAND_SVM_UNMAP, &t, NULL, NULL, &order);
}

cl_int clEnqueueSVMMigrateMem(cl_command_queue queue, cl_uint count, const void **pointers,
                              const size_t *sizes, cl_mem_migration_flags flags, cl_uint wait_count,
                              const cl_event *wait_list, cl_event *event)
{
    cl_int status = ocl_check_enqueue(queue, wait_count, wait_list);
    cl_event command;
    if (status != CL_SUCCESS)
        return status;
    if (count == 0 || !pointers ||
        (flags &
         ~(cl_mem_migration_flags)(CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED)))
        return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < count; i++)
        if (!ocl_svm_find(queue->context, pointers[i], sizes ? sizes[i] : 0))
            return CL_INVALID_VALUE;
    command = ocl_command_create(queue, CL_COMMAND_SVM_MIGRATE_MEM, NULL, 0);
    return command ? ocl_command_submit(command, wait_count, wait_list, false, event) : CL_OUT_OF_HOST_MEMORY;
}

/* --------------------------------------------------------------------------------------- freeing in order */

typedef void(CL_CALLBACK *svm_free)(cl_command_queue queue, cl_uint count, void **pointers, void *user_data);

typedef struct free_list {
    svm_free function;
    void *user_data;
    cl_uint count;
    void *pointers[];
} free_list;

static cl_int run_free(cl_event command, ls_error *err)
{
    free_list *list = ocl_payload(command);
    (void)err;
    if (list->function) {
        list->function(command->queue, list->count, list->pointers, list->user_data);
        return CL_SUCCESS;
    }
    for (cl_uint i = 0; i < list->count; i++)
        clSVMFree(command->context, list->pointers[i]);
    return CL_SUCCESS;
}

cl_int clEnqueueSVMFree(cl_command_queue queue, cl_uint count, void *pointers[], svm_free function,
                        void *user_data, cl_uint wait_count, const cl_event *wait_list, cl_event *event)
{
    cl_int status = ocl_check_enqueue(queue, wait_count, wait_list);
    cl_event command;
    free_list *list;
    if (status != CL_SUCCESS)
        return status;
    if ((count == 0) != (pointers == NULL))
        return CL_INVALID_VALUE;
    command = ocl_command_create(queue, CL_COMMAND_SVM_FREE, run_free, sizeof *list + count * sizeof(void *));
    if (!command)
        return CL_OUT_OF_HOST_MEMORY;
    list = ocl_payload(command);
    list->function = function;
    list->user_data = user_data;
    list->count = count;
    if (count > 0)
        memcpy(list->pointers, pointers, count * sizeof(void *));
    return ocl_command_submit(command, wait_count, wait_list, false, event);
}
