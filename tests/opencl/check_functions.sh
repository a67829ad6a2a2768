#!/usr/bin/env bash
# check_functions.sh DIR: tests in DIR call each function of the OpenCL 1.2 core, deprecated ones too. One
# test expects it to succeed and one expects an error, unless it has none.
set -uo pipefail
cd "$1" || exit 1

functions='
clGetPlatformIDs clGetPlatformInfo clGetDeviceIDs clGetDeviceInfo clCreateSubDevices clRetainDevice clReleaseDevice
clCreateContext clCreateContextFromType clRetainContext clReleaseContext clGetContextInfo
clCreateCommandQueue clRetainCommandQueue clReleaseCommandQueue clGetCommandQueueInfo
clCreateBuffer clCreateSubBuffer clCreateImage clRetainMemObject clReleaseMemObject clGetSupportedImageFormats
clGetMemObjectInfo clGetImageInfo clSetMemObjectDestructorCallback
clCreateSampler clRetainSampler clReleaseSampler clGetSamplerInfo
clCreateProgramWithSource clCreateProgramWithBinary clCreateProgramWithBuiltInKernels clRetainProgram clReleaseProgram
clBuildProgram clCompileProgram clLinkProgram clUnloadPlatformCompiler clGetProgramInfo clGetProgramBuildInfo
clCreateKernel clCreateKernelsInProgram clRetainKernel clReleaseKernel clSetKernelArg clGetKernelInfo
clGetKernelArgInfo clGetKernelWorkGroupInfo
clWaitForEvents clGetEventInfo clCreateUserEvent clRetainEvent clReleaseEvent clSetUserEventStatus clSetEventCallback
clGetEventProfilingInfo clFlush clFinish
clEnqueueReadBuffer clEnqueueReadBufferRect clEnqueueWriteBuffer clEnqueueWriteBufferRect clEnqueueFillBuffer
clEnqueueCopyBuffer clEnqueueCopyBufferRect clEnqueueReadImage clEnqueueWriteImage clEnqueueFillImage
clEnqueueCopyImage clEnqueueCopyImageToBuffer clEnqueueCopyBufferToImage clEnqueueMapBuffer clEnqueueMapImage
clEnqueueUnmapMemObject clEnqueueMigrateMemObjects clEnqueueNDRangeKernel clEnqueueTask clEnqueueNativeKernel
clEnqueueMarkerWithWaitList clEnqueueBarrierWithWaitList clGetExtensionFunctionAddressForPlatform
clSetCommandQueueProperty clCreateImage2D clCreateImage3D clEnqueueMarker clEnqueueWaitForEvents clEnqueueBarrier
clUnloadCompiler clGetExtensionFunctionAddress'

# Always an error here, as the standard wants of such devices; or never one.
only_errors=' clCreateSubDevices clCreateProgramWithBuiltInKernels clEnqueueNativeKernel '
no_errors=' clUnloadCompiler '

# One statement per line, so that an expectation and its call stand together despite line breaks.
statements=$(cat test_*.c fixture.c | tr '\n' ' ' | tr ';' '\n')
wrong=0 count=0
for function in $functions; do
    ((count += 1))
    calls=$(grep -E "(^|[^A-Za-z_])$function\(" <<<"$statements")
    if [[ $only_errors != *" $function "* ]] &&
        ! grep -qvE 'refused|nothing|CL_(INVALID|[A-Z_]*(FAILURE|NOT_AVAILABLE|NOT_FOUND|OVERLAP|MISMATCH))' <<<"$calls"; then
        echo "$function: no test expects it to succeed"
        ((wrong += 1))
    fi
    if [[ $no_errors != *" $function "* ]] &&
        ! grep -qE 'refused|nothing|CL_INVALID|assert_null|return cl|ask' <<<"$calls"; then
        echo "$function: no test expects an error"
        ((wrong += 1))
    fi
done
echo "$count functions, $wrong gaps"
((wrong == 0))
