/* platform.c: the library as a whole: it is started by the first question for platforms, with the system that
 * the environment describes, and ends with the process. */
#include "opencl/ocl.h"

#include "client/client.h"
#include "opencl/ending.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

ocl_library ocl = { .lock = PTHREAD_MUTEX_INITIALIZER,
                    .gpu_lock = PTHREAD_MUTEX_INITIALIZER,
                    .done = PTHREAD_COND_INITIALIZER };

static pthread_once_t once = PTHREAD_ONCE_INIT;

cl_int ocl_code_of(ls_status status, cl_int otherwise)
{
    switch (status) {
    case LS_OK:
        return CL_SUCCESS;
    case LS_ERR_NOMEM:
        return CL_OUT_OF_HOST_MEMORY;
    default:
        return otherwise;
    }
}

/* --------------------------------------------------------------------------------------------------- fork */

/* While the process is copied, no thread executes and no driver call is under way. The copy has no workers and
 * starts its own. A running command may need gpu_lock, so gpu_lock is taken when none runs. */
static void fork_prepare(void)
{
    pthread_mutex_lock(&ocl.lock);
    ocl.is_forking = true;
    for (cl_uint i = 0; i < ocl.device_count; i++)
        while (ocl.devices[i].is_executing && !pthread_equal(ocl.devices[i].executor, pthread_self())) {
            ocl.waiters++;
            pthread_cond_wait(&ocl.done, &ocl.lock);
            ocl.waiters--;
        }
    pthread_mutex_unlock(&ocl.lock);
    pthread_mutex_lock(&ocl.gpu_lock);
    pthread_mutex_lock(&ocl.lock);
}

static void fork_parent(void)
{
    ocl.is_forking = false;
    pthread_cond_broadcast(&ocl.done);
    ocl_wake_workers();
    pthread_mutex_unlock(&ocl.lock);
    pthread_mutex_unlock(&ocl.gpu_lock);
}

static void fork_child(void)
{
    for (cl_uint i = 0; i < ocl.device_count; i++) {
        ocl.devices[i].has_worker = ocl.devices[i].worker_sleeps = false;
        pthread_cond_init(&ocl.devices[i].work, NULL);
    }
    ocl.waiters = 0;
    pthread_cond_init(&ocl.done, NULL);
    ocl.is_forking = false;
    client.is_child = true;
    pthread_mutex_unlock(&ocl.lock);
    pthread_mutex_unlock(&ocl.gpu_lock);
}

/* ---------------------------------------------------------------------------------------------- beginning */

static void add_device(cl_uint i, size_t gpu, const client_settings *settings)
{
    cl_device_id device = &ocl.devices[i];
    uint64_t used;
    ocl_object_init(&device->base, OCL_DEVICE);
    device->root = device;
    device->gpu = gpu;
    device->model = ls_gpu_system_gpu(ocl.system, gpu);
    ls_gpu_system_memory(ocl.system, gpu, &used, &device->memory_bytes);
    device->compute_units = settings->compute_units ? settings->compute_units : device->model->compute_units;
    pthread_cond_init(&device->work, NULL);
}

static void start(void)
{
    client_settings settings;
    ls_error err;
    char text[1024];
    client.library = "lockstep-opencl";
    client.interface = "OpenCL";
    ls_status status = client_settings_read(&settings, &err);
    ocl_object_init(&ocl.platform.base, OCL_PLATFORM);
    ocl.status = CL_PLATFORM_NOT_FOUND_KHR;
    if (status != LS_OK) {
        client_complain("there is no platform: %s", ls_error_text(&err, text, sizeof text));
        return;
    }
    if (client_begin(&settings, NULL) != LS_OK)
        return;
    ocl.system = client.system;
    ocl.is_timed = ls_gpu_system_is_timed(ocl.system);
    ocl.device_count = settings.unified ? 1 : (cl_uint)ls_gpu_system_gpu_count(ocl.system);
    if (ocl.device_count > OCL_GPUS_MAX)
        ocl.device_count = OCL_GPUS_MAX; /* programs have arrays of devices */
    for (cl_uint i = 0; i < ocl.device_count; i++)
        add_device(i, settings.unified ? ls_gpu_system_unified(ocl.system) : i, &settings);
    pthread_atfork(fork_prepare, fork_parent, fork_child);
    ocl.status = CL_SUCCESS;
}

cl_int ocl_start(void)
{
    pthread_once(&once, start);
    return ocl.status;
}

/* ------------------------------------------------------------------------------------------------- ending */

__attribute__((destructor)) static void end(void)
{
    if (!ocl.system || client.is_child)
        return;
    if (ocl_stop())
        client_end();
    else
        client_complain(
            "the process ends while a kernel runs; traces, metrics, timeline and summary are not written");
}

/* ----------------------------------------------------------------------------------------------- platform */

cl_int clGetPlatformIDs(cl_uint room, cl_platform_id *platforms, cl_uint *count)
{
    cl_int status = ocl_start();
    if ((room == 0 && platforms) || (!platforms && !count))
        return CL_INVALID_VALUE;
    if (count)
        *count = status == CL_SUCCESS ? 1 : 0;
    if (status == CL_SUCCESS && platforms)
        platforms[0] = &ocl.platform;
    return status;
}

cl_int clGetPlatformInfo(cl_platform_id platform, cl_platform_info what, size_t room, void *value,
                         size_t *size_ret)
{
    const ocl_answer *to = OCL_ANSWER(room, value, size_ret);
    if (!ocl_is(platform, OCL_PLATFORM))
        return CL_INVALID_PLATFORM;
    switch (what) {
    case CL_PLATFORM_PROFILE:
        return ocl_give_text(to, "FULL_PROFILE");
    case CL_PLATFORM_VERSION:
        return ocl_give_text(to, "OpenCL 3.0 Lockstep " LS_VERSION_STRING);
    case CL_PLATFORM_NUMERIC_VERSION:
        OCL_GIVE(to, cl_version, CL_MAKE_VERSION(3, 0, 0));
    case CL_PLATFORM_NAME:
        return ocl_give_text(to, "Lockstep");
    case CL_PLATFORM_VENDOR:
        return ocl_give_text(to, "Lockstep");
    case CL_PLATFORM_EXTENSIONS:
        return ocl_give_text(to, "cl_khr_icd cl_khr_extended_versioning cl_lockstep_placement");
    case CL_PLATFORM_EXTENSIONS_WITH_VERSION: {
        static const cl_name_version extensions[] = { { CL_MAKE_VERSION(1, 0, 0), "cl_khr_icd" },
                                                      { CL_MAKE_VERSION(1, 0, 0),
                                                        "cl_khr_extended_versioning" },
                                                      { CL_MAKE_VERSION(1, 0, 0), "cl_lockstep_placement" } };
        return ocl_give(to, extensions, sizeof extensions);
    }
    case CL_PLATFORM_ICD_SUFFIX_KHR:
        return ocl_give_text(to, "LOCKSTEP");
    case CL_PLATFORM_HOST_TIMER_RESOLUTION:
        OCL_GIVE(to, cl_ulong, 1);
    default:
        return CL_INVALID_VALUE;
    }
}

cl_int clUnloadPlatformCompiler(cl_platform_id platform)
{
    return ocl_is(platform, OCL_PLATFORM) ? CL_SUCCESS : CL_INVALID_PLATFORM;
}

cl_int clUnloadCompiler(void)
{
    return CL_SUCCESS;
}
