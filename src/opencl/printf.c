/* printf.c: printf of a launch's kernel: a buffer before the launch, text on standard output after it. */
#include "opencl/printf.h"

#include "opencl/ocl.h"

#include <stdio.h>
#include <stdlib.h>

/* The build that a launch's kernel comes from. */
static ocl_build *build_of(const ocl_launch *launch)
{
    cl_program program = launch->kernel->program;
    for (cl_uint i = 0; i < program->device_count; i++)
        if (launch->kernel->of_device[i] == launch->gpu_kernel)
            return &program->builds[i];
    return NULL;
}

/* Checked once per module, so that a launch does not pay for it. */
static bool uses_printf(ocl_build *build)
{
    ls_gpu_address address;
    uint64_t bytes;
    if (build->printf_asked != build->module) {
        build->printf_used =
            ls_gpu_module_variable(build->module, OCL_PRINTF_MARK, &address, &bytes, NULL) == LS_OK;
        build->printf_asked = build->module;
    }
    return build->printf_used;
}

cl_int ocl_printf_begin(cl_event command, ocl_launch *launch, ls_error *err)
{
    ocl_build *build = build_of(launch);
    ocl_printf_head head = { .used = sizeof head, .bytes = OCL_PRINTF_BYTES };
    cl_context context = command->context;
    if (!build || !build->module || !uses_printf(build))
        return CL_SUCCESS;
    cl_int code = ocl_gpu_alloc(context, OCL_PRINTF_BYTES, &launch->launch.printf_buffer);
    if (code != CL_SUCCESS) {
        launch->launch.printf_buffer = 0;
        return code;
    }
    ls_status status = ls_gpu_poke(context->gpu, launch->launch.printf_buffer, &head, sizeof head, err);
    return status == LS_OK ? CL_SUCCESS : ocl_code_of(status, CL_OUT_OF_RESOURCES);
}

static size_t fetch(void *self, uint64_t address, char *out, size_t room)
{
    uint64_t reach = ls_gpu_reach(self, address);
    size_t bytes = reach < room ? (size_t)reach : room;
    if (ls_gpu_peek(self, out, address, bytes, NULL) != LS_OK)
        return 0;
    return strnlen(out, bytes);
}

static ls_status show(cl_context context, ls_gpu_address buffer, text_buffer *text, ls_error *err)
{
    ocl_printf_head head;
    ls_status status = ls_gpu_peek(context->gpu, &head, buffer, sizeof head, err);
    if (status != LS_OK || head.used <= sizeof head)
        return status;
    size_t bytes = (head.used < OCL_PRINTF_BYTES ? head.used : OCL_PRINTF_BYTES) - sizeof head;
    void *records = malloc(bytes);
    if (!records)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    status = ls_gpu_peek(context->gpu, records, buffer + sizeof head, bytes, err);
    if (status == LS_OK)
        status = ocl_printf_format(records, bytes, fetch, context->gpu, text, err);
    free(records);
    return status;
}

void ocl_printf_end(cl_event command, ocl_launch *launch)
{
    text_buffer text = { 0 };
    ls_error error;
    char line[512];
    if (launch->launch.printf_buffer == 0)
        return;
    if (show(command->context, launch->launch.printf_buffer, &text, &error) != LS_OK)
        client_complain("printf of kernel '%s': %s", launch->kernel->name,
                        ls_error_text(&error, line, sizeof line));
    if (text.count > 0) {
        fwrite(text.at, 1, text.count, stdout);
        fflush(stdout);
    }
    text_fini(&text);
    ocl_gpu_free(command->context, launch->launch.printf_buffer);
    launch->launch.printf_buffer = 0;
}
