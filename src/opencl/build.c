/* build.c: compiling, linking and building programs for their devices. Devices with the same target share the
 * work. */
#include "opencl/build.h"

#include "opencl/compile.h"

#include <stdlib.h>

#define LIBRARY_MAGIC "LSCLLIB1" /* before the bitcode of a library, so that its binary is known as one */
#define MAGIC_BYTES 8

typedef void(CL_CALLBACK *build_notify)(cl_program program, void *user_data);

static bool is_elf(const unsigned char *data, size_t bytes)
{
    static const char bundle[] = "__CLANG_OFFLOAD_BUNDLE__";
    return (bytes > 4 && memcmp(data, "\177ELF", 4) == 0) ||
           (bytes > sizeof bundle && memcmp(data, bundle, sizeof bundle - 1) == 0);
}

static bool is_bitcode(const unsigned char *data, size_t bytes)
{
    return bytes > 4 && memcmp(data, "BC\xc0\xde", 4) == 0;
}

static bool is_library(const unsigned char *data, size_t bytes)
{
    return bytes > MAGIC_BYTES && memcmp(data, LIBRARY_MAGIC, MAGIC_BYTES) == 0;
}

/* ------------------------------------------------------------------------------------------------ results */

static void unload(ocl_build *build)
{
    if (!build->module)
        return;
    pthread_mutex_lock(&ocl.gpu_lock);
    ls_gpu_module_unload(build->module);
    ls_gpu_module_unload(build->wide);
    pthread_mutex_unlock(&ocl.gpu_lock);
    build->module = build->wide = NULL;
    build->has_tried_wide = false;
}

static void clear(ocl_build *build)
{
    unload(build);
    free(build->binary);
    build->binary = NULL;
    build->binary_bytes = 0;
    build->binary_type = CL_PROGRAM_BINARY_TYPE_NONE;
}

void ocl_build_fini(ocl_build *build)
{
    clear(build);
    free(build->options);
    free(build->log);
}

static ls_status load(cl_program program, cl_uint index, ls_error *err)
{
    ocl_build *build = &program->builds[index];
    ls_gpu_context *gpu = program->context->gpu;
    ls_status status;
    pthread_mutex_lock(&ocl.gpu_lock);
    status = ls_gpu_select(gpu, program->devices[index]->gpu, err);
    if (status == LS_OK)
        status = ls_gpu_module_load(gpu, build->binary, build->binary_bytes, &build->module, err);
    pthread_mutex_unlock(&ocl.gpu_lock);
    return status;
}

cl_int ocl_build_adopt(cl_program program, cl_uint index, const unsigned char *data, size_t bytes)
{
    ocl_build *build = &program->builds[index];
    ls_error err;
    if (!is_elf(data, bytes) && !is_bitcode(data, bytes) && !is_library(data, bytes))
        return CL_INVALID_BINARY;
    build->binary = malloc(bytes);
    if (!build->binary)
        return CL_OUT_OF_HOST_MEMORY;
    memcpy(build->binary, data, bytes);
    build->binary_bytes = bytes;
    if (is_elf(data, bytes)) {
        ls_status status = load(program, index, &err);
        build->binary_type = CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
        return status == LS_ERR_NOMEM ? CL_OUT_OF_HOST_MEMORY
               : status == LS_OK      ? CL_SUCCESS
                                      : CL_INVALID_BINARY;
    }
    build->binary_type =
        is_library(data, bytes) ? CL_PROGRAM_BINARY_TYPE_LIBRARY : CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT;
    return CL_SUCCESS;
}

static void set_text(char **text, const char *to)
{
    char *copy = strdup(to);
    if (copy) {
        free(*text);
        *text = copy;
    }
}

/* --------------------------------------------------------------------------------------------- one device */

static cl_program_binary_type type_of(ocl_stage stage)
{
    switch (stage) {
    case OCL_COMPILE:
        return CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT;
    case OCL_LIBRARY:
        return CL_PROGRAM_BINARY_TYPE_LIBRARY;
    default:
        return CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
    }
}

static cl_int failure_of(ocl_stage stage)
{
    switch (stage) {
    case OCL_COMPILE:
        return CL_COMPILE_PROGRAM_FAILURE;
    case OCL_BUILD:
        return CL_BUILD_PROGRAM_FAILURE;
    default:
        return CL_LINK_PROGRAM_FAILURE;
    }
}

static cl_int wrong_options(ocl_stage stage)
{
    switch (stage) {
    case OCL_COMPILE:
        return CL_INVALID_COMPILER_OPTIONS;
    case OCL_BUILD:
        return CL_INVALID_BUILD_OPTIONS;
    default:
        return CL_INVALID_LINKER_OPTIONS;
    }
}

/* Takes over the blob. */
static ls_status keep(cl_program program, cl_uint index, ocl_stage stage, ocl_blob *blob, ls_error *err)
{
    ocl_build *build = &program->builds[index];
    if (stage == OCL_LIBRARY) {
        unsigned char *marked = malloc(blob->bytes + MAGIC_BYTES);
        if (!marked)
            return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
        memcpy(marked, LIBRARY_MAGIC, MAGIC_BYTES);
        memcpy(marked + MAGIC_BYTES, blob->at, blob->bytes);
        free(blob->at);
        *blob = (ocl_blob){ marked, blob->bytes + MAGIC_BYTES };
    }
    build->binary = blob->at;
    build->binary_bytes = blob->bytes;
    build->binary_type = type_of(stage);
    *blob = (ocl_blob){ 0 };
    return build->binary_type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE ? load(program, index, err) : LS_OK;
}

static cl_int code_of(ocl_stage stage, ls_status status)
{
    switch (status) {
    case LS_OK:
        return CL_SUCCESS;
    case LS_ERR_NOMEM:
        return CL_OUT_OF_HOST_MEMORY;
    case LS_ERR_USAGE:
        return wrong_options(stage);
    default:
        return failure_of(stage);
    }
}

/* The result of an earlier device with the same target, or NULL. */
static const ocl_build *twin_of(cl_program program, cl_uint index, const bool *is_done)
{
    for (cl_uint i = 0; i < index; i++)
        if (is_done[i] &&
            strcmp(program->devices[i]->model->target, program->devices[index]->model->target) == 0)
            return &program->builds[i];
    return NULL;
}

static cl_int build_one(cl_program program, cl_uint index, const ocl_job *job, const ocl_build *twin)
{
    ocl_build *build = &program->builds[index];
    ocl_blob blob = { 0 };
    text_buffer log = { 0 };
    ls_error err = { .status = LS_OK };
    ls_status status = LS_OK;
    char text[1024];
    clear(build);
    set_text(&build->options, job->options);
    build->has_arg_info = job->has_arg_info;
    if (twin && twin->status == CL_BUILD_SUCCESS) {
        blob.bytes = twin->binary_bytes;
        blob.at = malloc(blob.bytes);
        text_add(&log, twin->log);
        if (!blob.at)
            status = ls_fail(&err, LS_ERR_NOMEM, "the host has no memory left");
        else
            memcpy(blob.at, twin->binary, blob.bytes);
    } else {
        status = ocl_compile(job, &blob, &log, &err);
    }
    if (status == LS_OK) {
        status = keep(program, index,
                      twin && twin->status == CL_BUILD_SUCCESS && job->stage == OCL_LIBRARY
                          ? OCL_COMPILE /* it has its mark */
                          : job->stage,
                      &blob, &err);
        build->binary_type = type_of(job->stage);
        if (status == LS_ERR_USAGE)
            status = LS_ERR_INPUT; /* no option's fault */
    }
    if (status != LS_OK && (status != LS_ERR_INPUT || log.count == 0))
        text_printf(&log, "%s\n", ls_error_text(&err, text, sizeof text));
    build->status = status == LS_OK ? CL_BUILD_SUCCESS : CL_BUILD_ERROR;
    set_text(&build->log, text_get(&log));
    if (status != LS_OK)
        clear(build);
    free(blob.at);
    text_fini(&log);
    return status == LS_ERR_UNSUPPORTED && job->stage != OCL_LINK ? CL_COMPILER_NOT_AVAILABLE
                                                                  : code_of(job->stage, status);
}

/* ---------------------------------------------------------------------------------------------- arguments */

static bool wants_arg_info(const char *options)
{
    return strstr(options, "-cl-kernel-arg-info") != NULL;
}

/* Which of the program's devices are meant; all without a list. */
static cl_int choose(cl_program program, cl_uint count, const cl_device_id *devices, bool chosen[OCL_GPUS_MAX])
{
    if ((count == 0) != (devices == NULL))
        return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < program->device_count; i++)
        chosen[i] = count == 0;
    for (cl_uint k = 0; k < count; k++) {
        bool found = false;
        for (cl_uint i = 0; i < program->device_count; i++)
            if (ocl_device_is_part(program->devices[i], devices[k]))
                found = chosen[i] = true;
        if (!found)
            return CL_INVALID_DEVICE;
    }
    return CL_SUCCESS;
}

/* The bitcode in a binary, without the mark of libraries. Borrowed. */
static ocl_blob bitcode_of(const ocl_build *build)
{
    if (is_library(build->binary, build->binary_bytes))
        return (ocl_blob){ build->binary + MAGIC_BYTES, build->binary_bytes - MAGIC_BYTES };
    return (ocl_blob){ build->binary, build->binary_bytes };
}

/* ----------------------------------------------------------------------------------------- build, compile */

/* From binaries: code objects are ready, bitcode is linked. */
static cl_int build_binary(cl_program program, cl_uint index, const char *options)
{
    ocl_build *build = &program->builds[index];
    ocl_blob copy, input;
    cl_int status;
    if (!build->binary)
        return CL_INVALID_BINARY;
    if (build->binary_type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE) {
        build->status = CL_BUILD_SUCCESS;
        set_text(&build->options, options);
        return CL_SUCCESS;
    }
    input = bitcode_of(build);
    copy = (ocl_blob){ malloc(input.bytes), input.bytes };
    if (!copy.at)
        return CL_OUT_OF_HOST_MEMORY;
    memcpy(copy.at, input.at, input.bytes);
    status = build_one(program, index,
                       &(ocl_job){ .stage = OCL_LINK,
                                   .target = program->devices[index]->model->target,
                                   .options = "",
                                   .inputs = &copy,
                                   .input_count = 1 },
                       NULL);
    free(copy.at);
    return status;
}

static cl_int build_all(cl_program program, ocl_job *job, const bool *chosen)
{
    cl_int status = CL_SUCCESS;
    bool is_done[OCL_GPUS_MAX] = { false };
    pthread_mutex_lock(&program->lock);
    for (cl_uint i = 0; i < program->device_count; i++) {
        cl_int one;
        if (!chosen[i])
            continue;
        job->target = program->devices[i]->model->target;
        one = program->source ? build_one(program, i, job, twin_of(program, i, is_done))
                              : build_binary(program, i, job->options);
        is_done[i] = true;
        status = status == CL_SUCCESS ? one : status;
    }
    pthread_mutex_unlock(&program->lock);
    return status;
}

cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                      build_notify notify, void *user_data)
{
    bool chosen[OCL_GPUS_MAX] = { false };
    ocl_job job = { .stage = OCL_BUILD, .options = options ? options : "" };
    cl_int status;
    job.has_arg_info = wants_arg_info(job.options);
    if (!ocl_is(program, OCL_PROGRAM))
        return CL_INVALID_PROGRAM;
    if (!notify && user_data)
        return CL_INVALID_VALUE;
    status = choose(program, count, devices, chosen);
    if (status != CL_SUCCESS)
        return status;
    if (atomic_load(&program->kernel_count) > 0)
        return CL_INVALID_OPERATION;
    job.source = program->source;
    status = build_all(program, &job, chosen);
    if (notify)
        notify(program, user_data);
    return status;
}

cl_int clCompileProgram(cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                        cl_uint header_count, const cl_program *headers, const char **names,
                        build_notify notify, void *user_data)
{
    bool chosen[OCL_GPUS_MAX] = { false };
    ocl_job job = { .stage = OCL_COMPILE, .options = options ? options : "", .header_count = header_count };
    const char **texts;
    cl_int status;
    job.has_arg_info = wants_arg_info(job.options);
    if (!ocl_is(program, OCL_PROGRAM))
        return CL_INVALID_PROGRAM;
    if ((!notify && user_data) || (header_count == 0) != (headers == NULL) ||
        (header_count == 0) != (names == NULL))
        return CL_INVALID_VALUE;
    status = choose(program, count, devices, chosen);
    if (status != CL_SUCCESS)
        return status;
    if (!program->source || atomic_load(&program->kernel_count) > 0)
        return CL_INVALID_OPERATION;
    for (cl_uint i = 0; i < header_count; i++)
        if (!ocl_is(headers[i], OCL_PROGRAM) || !headers[i]->source)
            return CL_INVALID_PROGRAM;
        else if (!names[i])
            return CL_INVALID_VALUE;
    texts = malloc((header_count + 1) * sizeof *texts);
    if (!texts)
        return CL_OUT_OF_HOST_MEMORY;
    for (cl_uint i = 0; i < header_count; i++)
        texts[i] = headers[i]->source;
    job.source = program->source;
    job.header_names = names;
    job.header_texts = texts;
    status = build_all(program, &job, chosen);
    free(texts);
    if (notify)
        notify(program, user_data);
    return status;
}

/* --------------------------------------------------------------------------------------------------- link */

/* CL_INVALID_OPERATION if some inputs have bitcode for the device and others have not. */
static cl_int gather(cl_device_id device, cl_uint count, const cl_program *inputs, ocl_blob *blobs,
                     bool *has_any, bool *has_arg_info)
{
    cl_uint found = 0;
    *has_arg_info = true;
    for (cl_uint i = 0; i < count; i++) {
        const ocl_build *build = ocl_program_build(inputs[i], device);
        if (!build || !build->binary || build->binary_type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE)
            continue;
        blobs[found++] = bitcode_of(build);
        *has_arg_info &= build->has_arg_info;
    }
    *has_any = found > 0;
    return found == 0 || found == count ? CL_SUCCESS : CL_INVALID_OPERATION;
}

static cl_int link_for(cl_program program, const char *options, cl_uint count, const cl_program *inputs)
{
    ocl_blob *blobs = malloc(count * sizeof *blobs);
    ocl_words words;
    ls_error err;
    cl_int status = CL_SUCCESS;
    bool linked_any = false;
    if (!blobs)
        return CL_OUT_OF_HOST_MEMORY;
    if (ocl_options_split(OCL_LINK, options, &words, &err) != LS_OK) {
        free(blobs);
        return CL_INVALID_LINKER_OPTIONS;
    }
    free(words.at);
    for (cl_uint i = 0; i < program->device_count && status == CL_SUCCESS; i++) {
        ocl_job job = { .stage = words.is_library ? OCL_LIBRARY : OCL_LINK,
                        .target = program->devices[i]->model->target,
                        .options = options,
                        .inputs = blobs,
                        .input_count = count };
        bool has_any;
        status = gather(program->devices[i], count, inputs, blobs, &has_any, &job.has_arg_info);
        if (status == CL_SUCCESS && has_any) {
            status = build_one(program, i, &job, NULL);
            linked_any = true;
        }
    }
    free(blobs);
    return status == CL_SUCCESS && !linked_any ? CL_INVALID_OPERATION : status;
}

cl_program clLinkProgram(cl_context context, cl_uint device_count, const cl_device_id *devices,
                         const char *options, cl_uint count, const cl_program *inputs, build_notify notify,
                         void *user_data, cl_int *error)
{
    cl_program program = NULL;
    cl_int status = CL_SUCCESS;
    if (!ocl_is(context, OCL_CONTEXT))
        status = CL_INVALID_CONTEXT;
    else if (count == 0 || !inputs || (!notify && user_data) || (device_count == 0) != (devices == NULL))
        status = CL_INVALID_VALUE;
    for (cl_uint i = 0; status == CL_SUCCESS && i < device_count; i++)
        if (!ocl_is(devices[i], OCL_DEVICE) || !ocl_context_has(context, devices[i]))
            status = CL_INVALID_DEVICE;
    for (cl_uint i = 0; status == CL_SUCCESS && i < count; i++)
        if (!ocl_is(inputs[i], OCL_PROGRAM))
            status = CL_INVALID_PROGRAM;
    if (status == CL_SUCCESS) {
        program = ocl_program_create(context, device_count ? device_count : context->device_count,
                                     device_count ? devices : context->devices);
        status = program ? link_for(program, options ? options : "", count, inputs) : CL_OUT_OF_HOST_MEMORY;
    }
    /* A program that did not link has the reason in its log. */
    if (program && status != CL_SUCCESS && status != CL_LINK_PROGRAM_FAILURE) {
        ocl_program_release(program);
        program = NULL;
    }
    if (program && notify)
        notify(program, user_data);
    if (error)
        *error = status;
    return program;
}
