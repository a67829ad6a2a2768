/* subdevice.c: parts of a device: some of its compute units under a name of their own. A sub-device has the root's memory,
 * and the root executes its commands. In simulated time its work-groups run on its own compute units only; in emulation
 * estimated times count only those. A device that stands for several GPUs, or says another number of compute units than
 * it has, cannot be divided in simulated time. */
#include "opencl/ocl.h"

bool ocl_device_divides(cl_device_id device)
{
    const cl_device_id root = device->root;
    if (ocl.is_timed && (root->gpu >= ls_gpu_system_gpu_count(ocl.system) ||
                         root->compute_units != root->model->compute_units))
        return false;
    return device->compute_units > 1;
}

cl_uint ocl_device_parts_max(cl_device_id device)
{
    if (!ocl_device_divides(device))
        return 0;
    return device->compute_units < OCL_GPUS_MAX ? device->compute_units : OCL_GPUS_MAX;
}

bool ocl_device_is_part(cl_device_id device, cl_device_id whole)
{
    while (device && device != whole)
        device = device->parent;
    return device != NULL;
}

/* The sizes of the parts that the properties ask for. */
static cl_int plan(cl_device_id device, const cl_device_partition_property *properties,
                   cl_uint units[OCL_GPUS_MAX], cl_uint *count, size_t *words)
{
    const cl_uint most = ocl_device_parts_max(device);
    uint64_t all = 0;
    *count = 0;
    if (!properties)
        return CL_INVALID_VALUE;
    if (properties[0] == CL_DEVICE_PARTITION_EQUALLY) {
        if (properties[1] <= 0 || properties[2] != 0)
            return CL_INVALID_VALUE;
        if ((uint64_t)properties[1] > device->compute_units)
            return CL_INVALID_DEVICE_PARTITION_COUNT;
        *words = 3;
        *count = device->compute_units / (cl_uint)properties[1];
        for (cl_uint i = 0; i < *count && i < most; i++)
            units[i] = (cl_uint)properties[1];
        return *count > 1 && *count <= most ? CL_SUCCESS : CL_DEVICE_PARTITION_FAILED;
    }
    if (properties[0] != CL_DEVICE_PARTITION_BY_COUNTS)
        return CL_INVALID_VALUE;
    for (size_t i = 1; properties[i] != CL_DEVICE_PARTITION_BY_COUNTS_LIST_END; i++) {
        if (properties[i] < 0 || *count == most || (all += (uint64_t)properties[i]) > device->compute_units)
            return CL_INVALID_DEVICE_PARTITION_COUNT;
        units[(*count)++] = (cl_uint)properties[i];
    }
    *words = *count + 2;
    return *count > 0 ? CL_SUCCESS : CL_INVALID_DEVICE_PARTITION_COUNT;
}

static cl_device_id make(cl_device_id parent, cl_uint first, cl_uint units,
                         const cl_device_partition_property *how, size_t words)
{
    cl_device_id part = calloc(1, sizeof *part);
    cl_device_partition_property *copy = malloc((words + 1) * sizeof *copy);
    if (!part || !copy) {
        free(part);
        free(copy);
        return NULL;
    }
    memcpy(copy, how, words * sizeof *copy);
    ocl_object_init(&part->base, OCL_DEVICE);
    part->gpu = parent->gpu;
    part->model = parent->model;
    part->memory_bytes = parent->memory_bytes;
    part->compute_units = units;
    part->first_unit = parent->first_unit + first;
    part->root = parent->root;
    part->parent = parent;
    part->partition = copy;
    part->partition_words = words;
    ocl_device_retain(parent);
    return part;
}

cl_int clCreateSubDevices(cl_device_id device, const cl_device_partition_property *properties, cl_uint room,
                          cl_device_id *out, cl_uint *count_ret)
{
    cl_uint units[OCL_GPUS_MAX], count;
    size_t words = 0;
    if (!ocl_is(device, OCL_DEVICE))
        return CL_INVALID_DEVICE;
    if (!ocl_device_divides(device))
        return properties && properties[0] && device->compute_units == 1 ? CL_DEVICE_PARTITION_FAILED
                                                                         : CL_INVALID_VALUE;
    cl_int status = plan(device, properties, units, &count, &words);
    if (status != CL_SUCCESS && status != CL_DEVICE_PARTITION_FAILED)
        return status;
    if ((out && room < count) || (!out && !count_ret))
        return CL_INVALID_VALUE;
    if (status != CL_SUCCESS)
        return status;
    for (cl_uint i = 0, first = 0; out && i < count; first += units[i], i++) {
        out[i] = make(device, first, units[i], properties, words);
        if (!out[i]) {
            while (i > 0)
                ocl_device_release(out[--i]);
            return CL_OUT_OF_HOST_MEMORY;
        }
    }
    if (count_ret)
        *count_ret = count;
    return CL_SUCCESS;
}

/* Root devices are there as long as the process. */
void ocl_device_retain(cl_device_id device)
{
    if (device->parent)
        ocl_retain(device);
}

void ocl_device_release(cl_device_id device)
{
    cl_device_id parent = device->parent;
    if (!parent || !ocl_drop(device))
        return;
    free(device->partition);
    free(device);
    ocl_device_release(parent);
}

cl_int clRetainDevice(cl_device_id device)
{
    if (!ocl_is(device, OCL_DEVICE))
        return CL_INVALID_DEVICE;
    ocl_device_retain(device);
    return CL_SUCCESS;
}

cl_int clReleaseDevice(cl_device_id device)
{
    if (!ocl_is(device, OCL_DEVICE))
        return CL_INVALID_DEVICE;
    ocl_device_release(device);
    return CL_SUCCESS;
}
