/* wide.c: kernels for work-groups of up to 1,024 work-items. The compiler assumes at most 256 unless a kernel says
 * otherwise, and allocates registers accordingly. A launch of a larger work-group gets a second build of its program,
 * which is made when it is first needed. All other launches use the usual code. */
#include "opencl/ocl.h"

#include "opencl/build.h"
#include "opencl/compile.h"

static ls_status build_wide(cl_program program, cl_uint index, ls_error *err)
{
    ocl_build *build = &program->builds[index];
    ls_gpu_context *gpu = program->context->gpu;
    ocl_job job = { .stage = OCL_BUILD,
                    .target = program->devices[index]->model->target,
                    .options = build->options,
                    .source = program->source,
                    .group_size = program->devices[index]->model->group_size_max };
    ocl_blob blob = { 0 };
    text_buffer log = { 0 };
    ls_status status = ocl_compile(&job, &blob, &log, err);
    if (status == LS_OK) {
        pthread_mutex_lock(&ocl.gpu_lock);
        status = ls_gpu_select(gpu, program->devices[index]->gpu, err);
        if (status == LS_OK)
            status = ls_gpu_module_load(gpu, blob.at, blob.bytes, &build->wide, err);
        pthread_mutex_unlock(&ocl.gpu_lock);
    }
    free(blob.at);
    text_fini(&log);
    return status;
}

ls_gpu_kernel *ocl_wide_kernel(cl_program program, cl_uint index, const char *name)
{
    ocl_build *build = &program->builds[index];
    ls_gpu_kernel *found = NULL;
    ls_error err;
    /* Variables of the program would be there twice. */
    if (!program->source || build->binary_type != CL_PROGRAM_BINARY_TYPE_EXECUTABLE || !build->module ||
        ls_gpu_module_variable_bytes(build->module) > 0)
        return NULL;
    pthread_mutex_lock(&program->lock);
    if (!build->wide && !build->has_tried_wide)
        build_wide(program, index, &err);
    build->has_tried_wide = true;
    if (build->wide && ls_gpu_module_find(build->wide, name, &found, &err) != LS_OK)
        found = NULL;
    pthread_mutex_unlock(&program->lock);
    return found;
}
