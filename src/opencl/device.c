/* device.c: answers of clGetDeviceInfo for a simulated GPU. Sizes come from its model; limits that no model
 * has are those of the emulator. */
#include "opencl/ocl.h"

#include "opencl/compile.h"
#include "opencl/image_format.h"
#include "opencl/svm.h"

#include <stdio.h>

#define C_VERSION_MAX CL_MAKE_VERSION(3, 0, 0)

static const cl_name_version extensions[] = {
    { CL_MAKE_VERSION(1, 0, 0), "cl_khr_byte_addressable_store" },
    { CL_MAKE_VERSION(1, 0, 0), "cl_khr_fp16" },
    { CL_MAKE_VERSION(1, 0, 0), "cl_khr_fp64" },
    { CL_MAKE_VERSION(1, 0, 0), "cl_khr_global_int32_base_atomics" },
    { CL_MAKE_VERSION(1, 0, 0), "cl_khr_global_int32_extended_atomics" },
    { CL_MAKE_VERSION(1, 0, 0), "cl_khr_local_int32_base_atomics" },
    { CL_MAKE_VERSION(1, 0, 0), "cl_khr_local_int32_extended_atomics" },
    { CL_MAKE_VERSION(1, 0, 0), "cl_khr_int64_base_atomics" },
    { CL_MAKE_VERSION(1, 0, 0), "cl_khr_int64_extended_atomics" },
    { CL_MAKE_VERSION(1, 0, 0), "cl_khr_3d_image_writes" },
    { CL_MAKE_VERSION(1, 0, 0), "cl_khr_depth_images" },
    { CL_MAKE_VERSION(1, 0, 0), "cl_khr_subgroups" },
    { CL_MAKE_VERSION(1, 0, 0), "cl_khr_icd" },
    { CL_MAKE_VERSION(1, 0, 0), "cl_khr_extended_versioning" },
};

/* The macros of -cl-std=CL3.0: those of the compiler itself and those that compile.c adds. */
static const cl_name_version features[] = {
    { C_VERSION_MAX, "__opencl_c_3d_image_writes" },
    { C_VERSION_MAX, "__opencl_c_atomic_order_acq_rel" },
    { C_VERSION_MAX, "__opencl_c_atomic_order_seq_cst" },
    { C_VERSION_MAX, "__opencl_c_atomic_scope_device" },
    { C_VERSION_MAX, "__opencl_c_fp64" },
    { C_VERSION_MAX, "__opencl_c_generic_address_space" },
    { C_VERSION_MAX, "__opencl_c_images" },
    { C_VERSION_MAX, "__opencl_c_int64" },
    { C_VERSION_MAX, "__opencl_c_program_scope_global_variables" },
    { C_VERSION_MAX, "__opencl_c_read_write_images" },
    { C_VERSION_MAX, "__opencl_c_subgroups" },
    { C_VERSION_MAX, "__opencl_c_work_group_collective_functions" },
};

static const cl_name_version languages[] = {
    { CL_MAKE_VERSION(1, 0, 0), "OpenCL C" },
    { CL_MAKE_VERSION(1, 1, 0), "OpenCL C" },
    { CL_MAKE_VERSION(1, 2, 0), "OpenCL C" },
    { CL_MAKE_VERSION(3, 0, 0), "OpenCL C" },
};

/* ------------------------------------------------------------------------------------------------ listing */

cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint room, cl_device_id *devices,
                      cl_uint *count)
{
    const cl_device_type known = CL_DEVICE_TYPE_DEFAULT | CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU |
                                 CL_DEVICE_TYPE_ACCELERATOR | CL_DEVICE_TYPE_CUSTOM;
    cl_uint found;
    if (!ocl_is(platform, OCL_PLATFORM))
        return CL_INVALID_PLATFORM;
    if (type == 0 || (type != CL_DEVICE_TYPE_ALL && (type & ~known)))
        return CL_INVALID_DEVICE_TYPE;
    if ((room == 0 && devices) || (!devices && !count))
        return CL_INVALID_VALUE;
    found = (type & CL_DEVICE_TYPE_GPU) ? ocl.device_count : (type & CL_DEVICE_TYPE_DEFAULT) ? 1 : 0;
    if (count)
        *count = found;
    for (cl_uint i = 0; devices && i < found && i < room; i++)
        devices[i] = &ocl.devices[i];
    return found > 0 ? CL_SUCCESS : CL_DEVICE_NOT_FOUND;
}

/* Both timers show simulated time, so that profiling, too, can be compared with them. Each query takes a nanosecond:
 * a clock that stands still would look broken. */
static cl_ulong query_timer(cl_device_id device)
{
    static cl_ulong last; /* under ocl.lock */
    pthread_mutex_lock(&ocl.lock);
    cl_ulong now = ocl_now(device->root);
    last = now > last ? now : last + 1;
    now = last;
    pthread_mutex_unlock(&ocl.lock);
    return now;
}

cl_int clGetHostTimer(cl_device_id device, cl_ulong *host)
{
    if (!ocl_is(device, OCL_DEVICE))
        return CL_INVALID_DEVICE;
    if (!host)
        return CL_INVALID_VALUE;
    *host = query_timer(device);
    return CL_SUCCESS;
}

cl_int clGetDeviceAndHostTimer(cl_device_id device, cl_ulong *of_device, cl_ulong *of_host)
{
    if (!ocl_is(device, OCL_DEVICE))
        return CL_INVALID_DEVICE;
    if (!of_device || !of_host)
        return CL_INVALID_VALUE;
    *of_device = *of_host = query_timer(device);
    return CL_SUCCESS;
}

/* ------------------------------------------------------------------------------------------------- asking */

static cl_int give_name(const ocl_answer *to, cl_device_id device)
{
    char text[64];
    snprintf(text, sizeof text, "%s (Lockstep)", device->model->name);
    return ocl_give_text(to, text);
}

static cl_int give_extensions(const ocl_answer *to)
{
    char text[1024];
    size_t n = 0;
    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", i > 0 ? " " : "", extensions[i].name);
    return ocl_give_text(to, text);
}

static cl_int text_info(cl_device_id device, cl_device_info what, const ocl_answer *to)
{
    switch (what) {
    case CL_DEVICE_NAME:
        return give_name(to, device);
    case CL_DEVICE_VENDOR:
        return ocl_give_text(to, "Lockstep");
    case CL_DRIVER_VERSION:
        return ocl_give_text(to, LS_VERSION_STRING);
    case CL_DEVICE_PROFILE:
        return ocl_give_text(to, "FULL_PROFILE");
    case CL_DEVICE_VERSION:
        return ocl_give_text(to, ls_gpu_system_is_timed(ocl.system)
                                     ? "OpenCL 3.0 Lockstep " LS_VERSION_STRING " (simulated time)"
                                     : "OpenCL 3.0 Lockstep " LS_VERSION_STRING " (times are estimates)");
    case CL_DEVICE_OPENCL_C_VERSION:
        return ocl_give_text(to, "OpenCL C 1.2 clang");
    case CL_DEVICE_EXTENSIONS:
        return give_extensions(to);
    case CL_DEVICE_EXTENSIONS_WITH_VERSION:
        return ocl_give(to, extensions, sizeof extensions);
    case CL_DEVICE_OPENCL_C_FEATURES:
        return ocl_give(to, features, sizeof features);
    case CL_DEVICE_OPENCL_C_ALL_VERSIONS:
        return ocl_give(to, languages, sizeof languages);
    case CL_DEVICE_BUILT_IN_KERNELS:
    case CL_DEVICE_IL_VERSION:
        return ocl_give_text(to, "");
    case CL_DEVICE_ILS_WITH_VERSION:
    case CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION:
        return ocl_give(to, NULL, 0);
    case CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED:
        return ocl_give_text(to,
                             "v0000-01-01-00"); /* none: the form is the standard's, the date is no suite's */
    default:
        return CL_INVALID_VALUE;
    }
}

/* Of one type after the other, so that every value has the size that programs expect. */
static bool uint_info(cl_device_id device, cl_device_info what, cl_uint *out)
{
    const ls_gpu_model *model = device->model;
    switch (what) {
    case CL_DEVICE_VENDOR_ID:
        *out = 0x1002; /* programs that tune for these GPUs look for it */
        return true;
    case CL_DEVICE_MAX_COMPUTE_UNITS:
        *out = device->compute_units;
        return true;
    case CL_DEVICE_MAX_CLOCK_FREQUENCY:
        *out = model->clock_mhz;
        return true;
    case CL_DEVICE_ADDRESS_BITS:
        *out = 64;
        return true;
    case CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS:
        *out = 3;
        return true;
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR:
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR:
        *out = 4;
        return true;
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT:
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT:
        *out = 2;
        return true;
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT:
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG:
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT:
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE:
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF:
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_INT:
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG:
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT:
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE:
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF:
        *out = 1;
        return true;
    case CL_DEVICE_MEM_BASE_ADDR_ALIGN:
        *out = 1024; /* bits */
        return true;
    case CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE:
        *out = 128;
        return true;
    case CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE:
        *out = model->wave_size == 64 ? 64 : 128;
        return true;
    case CL_DEVICE_MAX_CONSTANT_ARGS:
        *out = 64;
        return true;
    case CL_DEVICE_MAX_READ_IMAGE_ARGS:
    case CL_DEVICE_MAX_WRITE_IMAGE_ARGS:
        *out = 128;
        return true;
    case CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS:
        *out = 64;
        return true;
    case CL_DEVICE_MAX_SAMPLERS:
        *out = 16;
        return true;
    case CL_DEVICE_MAX_NUM_SUB_GROUPS:
        *out = model->group_size_max / model->wave_size;
        return true;
    case CL_DEVICE_IMAGE_PITCH_ALIGNMENT: /* of 2D images of buffers, which there are not */
    case CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT:
    case CL_DEVICE_MAX_PIPE_ARGS:
    case CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS:
    case CL_DEVICE_PIPE_MAX_PACKET_SIZE:
    case CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE:
    case CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE:
    case CL_DEVICE_MAX_ON_DEVICE_QUEUES:
    case CL_DEVICE_MAX_ON_DEVICE_EVENTS:
    case CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT:
    case CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT:
    case CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT:
        *out = 0;
        return true;
    case CL_DEVICE_REFERENCE_COUNT:
        *out = ocl_references(device);
        return true;
    case CL_DEVICE_PARTITION_MAX_SUB_DEVICES:
        *out = ocl_device_parts_max(device);
        return true;
    case CL_DEVICE_NUMERIC_VERSION:
        *out = CL_MAKE_VERSION(3, 0, 0);
        return true;
    case CL_DEVICE_OPENCL_C_NUMERIC_VERSION_KHR:
        *out = CL_MAKE_VERSION(1, 2, 0);
        return true;
    case CL_DEVICE_GLOBAL_MEM_CACHE_TYPE:
        *out = CL_READ_WRITE_CACHE;
        return true;
    case CL_DEVICE_LOCAL_MEM_TYPE:
        *out = CL_LOCAL;
        return true;
    default:
        return false;
    }
}

static bool bool_info(cl_device_info what, cl_bool *out)
{
    switch (what) {
    case CL_DEVICE_IMAGE_SUPPORT:
    case CL_DEVICE_ENDIAN_LITTLE:
    case CL_DEVICE_AVAILABLE:
    case CL_DEVICE_PREFERRED_INTEROP_USER_SYNC:
    case CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT:
    case CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT:
    case CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT:
    case CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS: /* waves take turns; cl_khr_subgroups requires it */
        *out = CL_TRUE;
        return true;
    case CL_DEVICE_COMPILER_AVAILABLE:
    case CL_DEVICE_LINKER_AVAILABLE:
        *out = ocl_compile_possible() ? CL_TRUE : CL_FALSE;
        return true;
    case CL_DEVICE_ERROR_CORRECTION_SUPPORT:
    case CL_DEVICE_HOST_UNIFIED_MEMORY:
    case CL_DEVICE_PIPE_SUPPORT:
        *out = CL_FALSE;
        return true;
    default:
        return false;
    }
}

/* A quarter of the memory, but at least the standard's minimum if there is that much. */
static cl_ulong largest_buffer(cl_ulong memory)
{
    const cl_ulong least = 32 << 20, quarter = memory / 4 > least ? memory / 4 : least;
    return quarter < memory ? quarter : memory;
}

static bool ulong_info(cl_device_id device, cl_device_info what, cl_ulong *out)
{
    const cl_ulong largest = largest_buffer(device->memory_bytes);
    switch (what) {
    case CL_DEVICE_TYPE:
        *out = CL_DEVICE_TYPE_GPU;
        return true;
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
        *out = largest < 0x100000000 - 4096 ? largest : 0x100000000 - 4096;
        return true;
    case CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE:
        *out = largest < 0x7fffffff ? largest : 0x7fffffff;
        return true;
    case CL_DEVICE_GLOBAL_MEM_SIZE:
        *out = device->memory_bytes;
        return true;
    case CL_DEVICE_GLOBAL_MEM_CACHE_SIZE:
        *out = (cl_ulong)(device->model->wave_size == 64 ? 2 : 4) << 20;
        return true;
    case CL_DEVICE_LOCAL_MEM_SIZE:
        *out = device->model->lds_bytes;
        return true;
    case CL_DEVICE_SINGLE_FP_CONFIG:
        *out = CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST | CL_FP_ROUND_TO_ZERO | CL_FP_ROUND_TO_INF | CL_FP_FMA |
               (device->model->wave_size == 32 ? CL_FP_DENORM : 0);
        return true;
    case CL_DEVICE_DOUBLE_FP_CONFIG:
    case CL_DEVICE_HALF_FP_CONFIG:
        *out = CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST | CL_FP_ROUND_TO_ZERO | CL_FP_ROUND_TO_INF | CL_FP_FMA |
               CL_FP_DENORM;
        return true;
    case CL_DEVICE_EXECUTION_CAPABILITIES:
        *out = CL_EXEC_KERNEL;
        return true;
    case CL_DEVICE_QUEUE_ON_HOST_PROPERTIES:
        *out = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;
        return true;
    case CL_DEVICE_SVM_CAPABILITIES:
        *out = ocl_svm_possible() ? CL_DEVICE_SVM_COARSE_GRAIN_BUFFER | CL_DEVICE_SVM_FINE_GRAIN_BUFFER : 0;
        return true;
    case CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES:
    case CL_DEVICE_PARTITION_AFFINITY_DOMAIN:
    case CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES:
        *out = 0;
        return true;
    case CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES:
        *out = CL_DEVICE_ATOMIC_ORDER_RELAXED | CL_DEVICE_ATOMIC_ORDER_ACQ_REL |
               CL_DEVICE_ATOMIC_ORDER_SEQ_CST | CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP |
               CL_DEVICE_ATOMIC_SCOPE_DEVICE;
        return true;
    case CL_DEVICE_ATOMIC_FENCE_CAPABILITIES:
        *out = CL_DEVICE_ATOMIC_ORDER_RELAXED | CL_DEVICE_ATOMIC_ORDER_ACQ_REL |
               CL_DEVICE_ATOMIC_ORDER_SEQ_CST | CL_DEVICE_ATOMIC_SCOPE_WORK_ITEM |
               CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP | CL_DEVICE_ATOMIC_SCOPE_DEVICE;
        return true;
    default:
        return false;
    }
}

static bool size_info(cl_device_id device, cl_device_info what, size_t *out)
{
    switch (what) {
    case CL_DEVICE_MAX_WORK_GROUP_SIZE: /* a kernel's own limit may be lower: see wide.c */
        *out = device->model->group_size_max;
        return true;
    case CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE:
        *out = device->model->wave_size;
        return true;
    case CL_DEVICE_MAX_PARAMETER_SIZE:
        *out = 4096;
        return true;
    case CL_DEVICE_PROFILING_TIMER_RESOLUTION:
        *out = 1;
        return true;
    case CL_DEVICE_PRINTF_BUFFER_SIZE:
        *out = 1u << 20;
        return true;
    case CL_DEVICE_IMAGE2D_MAX_WIDTH:
    case CL_DEVICE_IMAGE2D_MAX_HEIGHT:
    case CL_DEVICE_IMAGE3D_MAX_WIDTH:
    case CL_DEVICE_IMAGE3D_MAX_HEIGHT:
        *out = OCL_IMAGE_SIDE_MAX;
        return true;
    case CL_DEVICE_IMAGE3D_MAX_DEPTH:
        *out = OCL_IMAGE_DEPTH_MAX;
        return true;
    case CL_DEVICE_IMAGE_MAX_ARRAY_SIZE:
        *out = OCL_IMAGE_LAYERS_MAX;
        return true;
    case CL_DEVICE_IMAGE_MAX_BUFFER_SIZE:
        *out = OCL_IMAGE_BUFFER_MAX;
        return true;
    case CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE:
    case CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE:
        *out = 16u << 20; /* code objects are read up to more than that */
        return true;
    default:
        return false;
    }
}

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t room, void *value, size_t *size_ret)
{
    const ocl_answer *to = OCL_ANSWER(room, value, size_ret);
    cl_uint small;
    cl_ulong large;
    cl_bool yes;
    size_t size;
    if (!ocl_is(device, OCL_DEVICE))
        return CL_INVALID_DEVICE;
    if (uint_info(device, what, &small))
        return ocl_give(to, &small, sizeof small);
    if (bool_info(what, &yes))
        return ocl_give(to, &yes, sizeof yes);
    if (ulong_info(device, what, &large))
        return ocl_give(to, &large, sizeof large);
    if (size_info(device, what, &size))
        return ocl_give(to, &size, sizeof size);
    switch (what) {
    case CL_DEVICE_PLATFORM:
        OCL_GIVE(to, cl_platform_id, &ocl.platform);
    case CL_DEVICE_PARENT_DEVICE:
        OCL_GIVE(to, cl_device_id, device->parent);
    case CL_DEVICE_MAX_WORK_ITEM_SIZES: {
        const size_t most = device->model->group_size_max, sizes[3] = { most, most, most };
        return ocl_give(to, sizes, sizeof sizes);
    }
    case CL_DEVICE_PARTITION_PROPERTIES: {
        static const cl_device_partition_property ways[] = { CL_DEVICE_PARTITION_EQUALLY,
                                                             CL_DEVICE_PARTITION_BY_COUNTS };
        if (ocl_device_divides(device))
            return ocl_give(to, ways, sizeof ways);
        OCL_GIVE(to, cl_device_partition_property, 0);
    }
    case CL_DEVICE_PARTITION_TYPE:
        return ocl_give(to, device->partition, device->partition_words * sizeof *device->partition);
    default:
        return text_info(device, what, to);
    }
}
