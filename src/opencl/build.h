/* build.h: functions of build.c that program.c needs. */
#ifndef OPENCL_BUILD_H
#define OPENCL_BUILD_H

#include "opencl/ocl.h"

/* An empty program for these devices; retains the context. NULL: no memory. */
cl_program ocl_program_create(cl_context context, cl_uint device_count, const cl_device_id *devices);
void ocl_build_fini(ocl_build *build);
/* A binary given by the program: a code object, or the result of an earlier compilation by this library.
 * CL_INVALID_BINARY if it is neither, or for another GPU. */
cl_int ocl_build_adopt(cl_program program, cl_uint index, const unsigned char *data, size_t bytes);

#endif
