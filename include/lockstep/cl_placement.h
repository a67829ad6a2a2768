/* cl_placement.h: the OpenCL extension cl_lockstep_placement: parts of a buffer on chosen devices of its context. Programs get
 * the functions from clGetExtensionFunctionAddressForPlatform(). docs/opencl.md has an example. */
#ifndef LOCKSTEP_CL_PLACEMENT_H
#define LOCKSTEP_CL_PLACEMENT_H

#include <CL/cl.h>

#define CL_LOCKSTEP_PLACEMENT_EXTENSION "cl_lockstep_placement"

/* Moves whole pages of a buffer to the queue's device, with their content; bytes may end with the buffer.
 * CL_INVALID_VALUE: the range is outside of the buffer or has half pages. CL_INVALID_MEM_OBJECT: no buffer, a
 * sub-buffer, or one in memory of the host. */
typedef cl_int (*clEnqueuePlaceBufferLOCKSTEP_fn)(cl_command_queue queue, cl_mem buffer, size_t offset,
                                                  size_t bytes, cl_uint wait_count, const cl_event *wait_list,
                                                  cl_event *event);
/* The device that has the byte of the buffer, and the bytes of a page; either may be NULL. */
typedef cl_int (*clGetBufferPlaceLOCKSTEP_fn)(cl_mem buffer, size_t offset, cl_device_id *device,
                                              size_t *page_bytes);

#endif
