/* icd.c: the door: the dispatch table that the loader calls through, and the two functions that it looks
 * for. */
#include "opencl/ocl.h"
#include "opencl/place.h"

/* ----------------------------------------------------------------------- what this platform does not have */

static cl_mem no_gl_buffer(cl_context context, cl_mem_flags flags, cl_GLuint name, cl_int *error)
{
    (void)context, (void)flags, (void)name;
    if (error)
        *error = CL_INVALID_OPERATION;
    return NULL;
}

static cl_mem no_gl_texture(cl_context context, cl_mem_flags flags, cl_GLenum target, cl_GLint level,
                            cl_GLuint name, cl_int *error)
{
    (void)target, (void)level;
    return no_gl_buffer(context, flags, name, error);
}

static cl_int no_gl_objects(cl_command_queue queue, cl_uint count, const cl_mem *objects, cl_uint wait_count,
                            const cl_event *wait_list, cl_event *event)
{
    (void)queue, (void)count, (void)objects, (void)wait_count, (void)wait_list, (void)event;
    return CL_INVALID_OPERATION;
}

/* NOLINTBEGIN(readability-non-const-parameter): the dispatch table has these types */
static cl_int no_gl_object_info(cl_mem mem, cl_gl_object_type *type, cl_GLuint *name)
{
    (void)mem, (void)type, (void)name;
    return CL_INVALID_GL_OBJECT;
}

static cl_int no_gl_texture_info(cl_mem mem, cl_gl_texture_info what, size_t room, void *value,
                                 size_t *size_ret)
{
    (void)mem, (void)what, (void)room, (void)value, (void)size_ret;
    return CL_INVALID_GL_OBJECT;
}

static cl_int no_gl_context_info(const cl_context_properties *properties, cl_gl_context_info what, size_t room,
                                 void *value, size_t *size_ret)
{
    (void)properties, (void)what, (void)room, (void)value, (void)size_ret;
    return CL_INVALID_OPERATION;
}
/* NOLINTEND(readability-non-const-parameter) */

static cl_event no_gl_sync(cl_context context, cl_GLsync sync, cl_int *error)
{
    (void)context, (void)sync;
    if (error)
        *error = CL_INVALID_OPERATION;
    return NULL;
}

static cl_mem no_egl_image(cl_context context, CLeglDisplayKHR display, CLeglImageKHR image,
                           cl_mem_flags flags, const cl_egl_image_properties_khr *properties, cl_int *error)
{
    (void)context, (void)display, (void)image, (void)flags, (void)properties;
    if (error)
        *error = CL_INVALID_OPERATION;
    return NULL;
}

static cl_event no_egl_sync(cl_context context, CLeglSyncKHR sync, CLeglDisplayKHR display, cl_int *error)
{
    (void)context, (void)sync, (void)display;
    if (error)
        *error = CL_INVALID_OPERATION;
    return NULL;
}

cl_mem clCreatePipe(cl_context context, cl_mem_flags flags, cl_uint packet_size, cl_uint max_packets,
                    const cl_pipe_properties *properties, cl_int *error)
{
    (void)flags, (void)packet_size, (void)max_packets, (void)properties;
    if (error)
        *error = ocl_is(context, OCL_CONTEXT) ? CL_INVALID_OPERATION : CL_INVALID_CONTEXT;
    return NULL;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the header declares it so */
cl_int clGetPipeInfo(cl_mem pipe, cl_pipe_info what, size_t room, void *value, size_t *size_ret)
{
    (void)pipe, (void)what, (void)room, (void)value, (void)size_ret;
    return CL_INVALID_MEM_OBJECT; /* no mem is a pipe */
}

/* -------------------------------------------------------------------------------------------------- table */

#define SAME(function_) .function_ = function_

const cl_icd_dispatch ocl_dispatch = {
    SAME(clGetPlatformIDs),
    SAME(clGetPlatformInfo),
    SAME(clGetDeviceIDs),
    SAME(clGetDeviceInfo),
    SAME(clCreateContext),
    SAME(clCreateContextFromType),
    SAME(clRetainContext),
    SAME(clReleaseContext),
    SAME(clGetContextInfo),
    SAME(clCreateCommandQueue),
    SAME(clRetainCommandQueue),
    SAME(clReleaseCommandQueue),
    SAME(clGetCommandQueueInfo),
    SAME(clSetCommandQueueProperty),
    SAME(clCreateBuffer),
    SAME(clCreateImage2D),
    SAME(clCreateImage3D),
    SAME(clRetainMemObject),
    SAME(clReleaseMemObject),
    SAME(clGetSupportedImageFormats),
    SAME(clGetMemObjectInfo),
    SAME(clGetImageInfo),
    SAME(clCreateSampler),
    SAME(clRetainSampler),
    SAME(clReleaseSampler),
    SAME(clGetSamplerInfo),
    SAME(clCreateProgramWithSource),
    SAME(clCreateProgramWithBinary),
    SAME(clRetainProgram),
    SAME(clReleaseProgram),
    SAME(clBuildProgram),
    SAME(clUnloadCompiler),
    SAME(clGetProgramInfo),
    SAME(clGetProgramBuildInfo),
    SAME(clCreateKernel),
    SAME(clCreateKernelsInProgram),
    SAME(clRetainKernel),
    SAME(clReleaseKernel),
    SAME(clSetKernelArg),
    SAME(clGetKernelInfo),
    SAME(clGetKernelWorkGroupInfo),
    SAME(clWaitForEvents),
    SAME(clGetEventInfo),
    SAME(clRetainEvent),
    SAME(clReleaseEvent),
    SAME(clGetEventProfilingInfo),
    SAME(clFlush),
    SAME(clFinish),
    SAME(clEnqueueReadBuffer),
    SAME(clEnqueueWriteBuffer),
    SAME(clEnqueueCopyBuffer),
    SAME(clEnqueueReadImage),
    SAME(clEnqueueWriteImage),
    SAME(clEnqueueCopyImage),
    SAME(clEnqueueCopyImageToBuffer),
    SAME(clEnqueueCopyBufferToImage),
    SAME(clEnqueueMapBuffer),
    SAME(clEnqueueMapImage),
    SAME(clEnqueueUnmapMemObject),
    SAME(clEnqueueNDRangeKernel),
    SAME(clEnqueueTask),
    SAME(clEnqueueNativeKernel),
    SAME(clEnqueueMarker),
    SAME(clEnqueueWaitForEvents),
    SAME(clEnqueueBarrier),
    SAME(clGetExtensionFunctionAddress),
    .clCreateFromGLBuffer = no_gl_buffer,
    .clCreateFromGLTexture2D = no_gl_texture,
    .clCreateFromGLTexture3D = no_gl_texture,
    .clCreateFromGLRenderbuffer = no_gl_buffer,
    .clGetGLObjectInfo = no_gl_object_info,
    .clGetGLTextureInfo = no_gl_texture_info,
    .clEnqueueAcquireGLObjects = no_gl_objects,
    .clEnqueueReleaseGLObjects = no_gl_objects,
    .clGetGLContextInfoKHR = no_gl_context_info,
    SAME(clSetEventCallback),
    SAME(clCreateSubBuffer),
    SAME(clSetMemObjectDestructorCallback),
    SAME(clCreateUserEvent),
    SAME(clSetUserEventStatus),
    SAME(clEnqueueReadBufferRect),
    SAME(clEnqueueWriteBufferRect),
    SAME(clEnqueueCopyBufferRect),
    .clRetainDeviceEXT = clRetainDevice,
    .clReleaseDeviceEXT = clReleaseDevice,
    .clCreateEventFromGLsyncKHR = no_gl_sync,
    SAME(clCreateSubDevices),
    SAME(clRetainDevice),
    SAME(clReleaseDevice),
    SAME(clCreateImage),
    SAME(clCreateProgramWithBuiltInKernels),
    SAME(clCompileProgram),
    SAME(clLinkProgram),
    SAME(clUnloadPlatformCompiler),
    SAME(clGetKernelArgInfo),
    SAME(clEnqueueFillBuffer),
    SAME(clEnqueueFillImage),
    SAME(clEnqueueMigrateMemObjects),
    SAME(clEnqueueMarkerWithWaitList),
    SAME(clEnqueueBarrierWithWaitList),
    SAME(clGetExtensionFunctionAddressForPlatform),
    .clCreateFromGLTexture = no_gl_texture,
    .clCreateFromEGLImageKHR = no_egl_image,
    .clEnqueueAcquireEGLObjectsKHR = no_gl_objects,
    .clEnqueueReleaseEGLObjectsKHR = no_gl_objects,
    .clCreateEventFromEGLSyncKHR = no_egl_sync,
    SAME(clCreateCommandQueueWithProperties),
    SAME(clCreatePipe),
    SAME(clGetPipeInfo),
    SAME(clSVMAlloc),
    SAME(clSVMFree),
    SAME(clEnqueueSVMFree),
    SAME(clEnqueueSVMMemcpy),
    SAME(clEnqueueSVMMemFill),
    SAME(clEnqueueSVMMap),
    SAME(clEnqueueSVMUnmap),
    SAME(clCreateSamplerWithProperties),
    SAME(clSetKernelArgSVMPointer),
    SAME(clSetKernelExecInfo),
    .clGetKernelSubGroupInfoKHR = clGetKernelSubGroupInfo,
    SAME(clCloneKernel),
    SAME(clCreateProgramWithIL),
    SAME(clEnqueueSVMMigrateMem),
    SAME(clGetDeviceAndHostTimer),
    SAME(clGetHostTimer),
    SAME(clGetKernelSubGroupInfo),
    SAME(clSetDefaultDeviceCommandQueue),
    SAME(clSetProgramReleaseCallback),
    SAME(clSetProgramSpecializationConstant),
    SAME(clCreateBufferWithProperties),
    SAME(clCreateImageWithProperties),
    SAME(clSetContextDestructorCallback),
};

/* --------------------------------------------------------------------------------------------- extensions */

#define EXPORTED __attribute__((visibility("default")))

EXPORTED cl_int clIcdGetPlatformIDsKHR(cl_uint room, cl_platform_id *platforms, cl_uint *count)
{
    return clGetPlatformIDs(room, platforms, count);
}

typedef void (*any_function)(void);

EXPORTED void *clGetExtensionFunctionAddress(const char *name)
{
    static const struct {
        const char *name;
        any_function function;
    } functions[] = {
        { "clIcdGetPlatformIDsKHR", (any_function)clIcdGetPlatformIDsKHR },
        { "clGetKernelSubGroupInfoKHR", (any_function)clGetKernelSubGroupInfo },
        { "clEnqueuePlaceBufferLOCKSTEP", (any_function)clEnqueuePlaceBufferLOCKSTEP },
        { "clGetBufferPlaceLOCKSTEP", (any_function)clGetBufferPlaceLOCKSTEP },
        { "clGetPlatformInfo", (any_function)clGetPlatformInfo }, /* for loaders that check for a function
                                                                   * before they request it */
    };
    for (size_t i = 0; name && i < sizeof functions / sizeof *functions; i++)
        if (strcmp(functions[i].name, name) == 0) {
            void *address;
            memcpy(&address, &functions[i].function, sizeof address);
            return address;
        }
    return NULL;
}

void *clGetExtensionFunctionAddressForPlatform(cl_platform_id platform, const char *name)
{
    return ocl_is(platform, OCL_PLATFORM) ? clGetExtensionFunctionAddress(name) : NULL;
}
