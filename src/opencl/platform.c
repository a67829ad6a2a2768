/* platform.c: the library as a whole: it is started by the first question for platforms, with the system that
 * the environment describes, and ends with the process. */
#include "opencl/ocl.h"

#include "base/file.h"
#include "base/text.h"
#include "opencl/ending.h"
#include "opencl/results.h"
#include "opencl/settings.h"
#include "opencl/timeline.h"
#include "runtime/timing/timing.h"

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

void ocl_complain(const char *fmt, ...)
{
    char line[2048];
    va_list args;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    fprintf(stderr, "lockstep-opencl: %s\n", line);
}

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
    /* The child must not write the parent's metrics again. */
    ocl.metrics_path = NULL;
    ocl.is_child = true;
    pthread_mutex_unlock(&ocl.lock);
    pthread_mutex_unlock(&ocl.gpu_lock);
}

/* ---------------------------------------------------------------------------------------------- beginning */

static void add_device(cl_uint i, size_t gpu, const ocl_settings *settings)
{
    cl_device_id device = &ocl.devices[i];
    uint64_t used;
    ocl_object_init(&device->base, OCL_DEVICE);
    device->gpu = gpu;
    device->model = ls_gpu_system_gpu(ocl.system, gpu);
    ls_gpu_system_memory(ocl.system, gpu, &used, &device->memory_bytes);
    device->compute_units = settings->compute_units ? settings->compute_units : device->model->compute_units;
    pthread_cond_init(&device->work, NULL);
}

static void start(void)
{
    ocl_settings settings;
    ls_error err;
    char text[1024];
    ls_status status = ocl_settings_read(&settings, &err);
    ocl_object_init(&ocl.platform.base, OCL_PLATFORM);
    ocl.status = CL_PLATFORM_NOT_FOUND_KHR;
    if (status == LS_OK) {
        ls_gpu_options options = { .gpus = settings.gpu_count > 0 ? settings.gpus : NULL,
                                   .gpu_count = settings.gpu_count,
                                   .memory_bytes = settings.memory_bytes,
                                   .threads = settings.threads,
                                   .max_instructions = settings.max_instructions,
                                   .mode = settings.mode,
                                   .platform = settings.platform,
                                   .sets = settings.sets,
                                   .set_count = settings.set_count,
                                   .strict = settings.strict,
                                   .lenient_barriers = true, /* programs were written for hardware */
                                   .trace_path = settings.trace_path,
                                   .trace_filter = settings.trace_filter,
                                   .record_path = settings.record_path,
                                   .check_memory = settings.check_memory,
                                   .platform_gpus = settings.platform_gpus,
                                   .unified = settings.unified,
                                   .spread = settings.spread,
                                   .pages = settings.pages };
        status = ls_gpu_system_create(&options, &ocl.system, &err);
    }
    if (status == LS_OK)
        status = ocl_timeline_begin(&settings, &err);
    if (status != LS_OK) {
        ocl_complain("there is no platform: %s", ls_error_text(&err, text, sizeof text));
        return;
    }
    ocl.is_timed = ls_gpu_system_is_timed(ocl.system);
    ocl.device_count = settings.unified ? 1 : (cl_uint)ls_gpu_system_gpu_count(ocl.system);
    if (ocl.device_count > OCL_GPUS_MAX)
        ocl.device_count = OCL_GPUS_MAX; /* programs have arrays of devices */
    for (cl_uint i = 0; i < ocl.device_count; i++)
        add_device(i, settings.unified ? ls_gpu_system_unified(ocl.system) : i, &settings);
    ocl.metrics_path = settings.metrics_path;
    ocl.has_counts = settings.metrics_path || settings.summary;
    if (ocl_results_begin(&settings, &err) != LS_OK)
        ocl_complain("some results will be missing: %s", ls_error_text(&err, text, sizeof text));
    ocl.is_strict = settings.strict || settings.check_memory;
    pthread_atfork(fork_prepare, fork_parent, fork_child);
    ocl.status = CL_SUCCESS;
}

cl_int ocl_start(void)
{
    pthread_once(&once, start);
    return ocl.status;
}

/* ------------------------------------------------------------------------------------------------- ending */

/* Results in simulated time list the values of the platform that no source gives. */
static void add_assumptions(text_buffer *text)
{
    size_t count = 0;
    const ls_engine *engine = timing_engine(ocl.system);
    const ls_warning *warnings = engine != NULL ? ls_engine_warnings(engine, &count) : NULL;
    const char *before = ", \"assumptions\": [";
    for (size_t i = 0; i < count; i++)
        if (strcmp(warnings[i].kind, "assumption") == 0) {
            text_printf(text, "%s\"%.*s\"", before, (int)strcspn(warnings[i].text, " "), warnings[i].text);
            before = ", ";
        }
    if (before[2] == '\0')
        text_printf(text, "]");
}

/* Races and the number of reads that were checked, line by line. */
static void tell_checks(void)
{
    ls_error err;
    size_t count = 0;
    if (timing_memcheck(ocl.system) == NULL || timing_check_summary(ocl.system, &err) != LS_OK)
        return;
    const ls_warning *warnings = ls_engine_warnings(timing_engine(ocl.system), &count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(warnings[i].kind, "race") == 0 || strcmp(warnings[i].kind, "memory-check") == 0)
            ocl_complain("%s: %s", warnings[i].kind, warnings[i].text);
}

static ls_status write_metrics(const char *path, ls_error *err)
{
    const ls_gpu_counts *c = &ocl.counts;
    text_buffer text = { 0 };
    ls_status status;
    text_printf(&text,
                "{\"launches\": %" PRIu64 ", \"work_groups\": %" PRIu64 ", \"wavefronts\": %" PRIu64
                ", \"instructions\": %" PRIu64,
                c->launches, c->work_groups, c->wavefronts, c->instructions);
    for (size_t i = 0; i < LS_GPU_CLASS_MAX && ls_gpu_class_name(i); i++)
        text_printf(&text, ", \"instructions.%s\": %" PRIu64, ls_gpu_class_name(i), c->classes[i]);
    text_printf(&text,
                ", \"active_lanes\": %" PRIu64 ", \"loads\": %" PRIu64 ", \"stores\": %" PRIu64
                ", \"atomics\": %" PRIu64 ", \"load_bytes\": %" PRIu64 ", \"store_bytes\": %" PRIu64
                ", \"atomic_bytes\": %" PRIu64 ", \"barriers\": %" PRIu64 ", \"flops_half\": %" PRIu64
                ", \"flops_single\": %" PRIu64 ", \"flops_double\": %" PRIu64 ", \"simulated_ns\": %" PRIu64,
                c->active_lanes, c->loads, c->stores, c->atomics, c->load_bytes, c->store_bytes,
                c->atomic_bytes, c->barriers, c->flops_half, c->flops_single, c->flops_double,
                c->simulated_ns);
    add_assumptions(&text);
    text_printf(&text, "}\n");
    status = text.failed ? ls_fail(err, LS_ERR_NOMEM, "the host has no memory left")
                         : file_write(path, text_get(&text), text.count, err);
    text_fini(&text);
    return status;
}

static void warn(const char *text)
{
    ocl_complain("%s", text);
}

/* The system itself stays: threads of the program may still be in it. */
__attribute__((destructor)) static void end(void)
{
    ls_error err;
    char text[1024];
    if (!ocl.system || ocl.is_child)
        return;
    if (!ocl_stop()) {
        ocl_complain(
            "the process ends while a kernel runs; traces, metrics, timeline and summary are not written");
        return;
    }
    if (ls_gpu_system_close_trace(ocl.system, &err) != LS_OK)
        ocl_complain("%s", ls_error_text(&err, text, sizeof text));
    if (ocl_timeline_end(warn, &err) != LS_OK)
        ocl_complain("%s", ls_error_text(&err, text, sizeof text));
    if (ocl_results_end(&err) != LS_OK)
        ocl_complain("%s", ls_error_text(&err, text, sizeof text));
    tell_checks();
    if (ocl.metrics_path && write_metrics(ocl.metrics_path, &err) != LS_OK)
        ocl_complain("%s", ls_error_text(&err, text, sizeof text));
    /* A program that looks at no error must not make a finding a success. */
    if (ocl.is_strict && atomic_load(&ocl.has_finding)) {
        fflush(NULL);
        _exit(ls_status_exit_code(LS_ERR_CHECK));
    }
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
