/* place.h: functions of the extension cl_lockstep_placement, for icd.c. */
#ifndef OPENCL_PLACE_H
#define OPENCL_PLACE_H

#include "opencl/ocl.h"

cl_int clEnqueuePlaceBufferLOCKSTEP(cl_command_queue queue, cl_mem buffer, size_t offset, size_t bytes,
                                    cl_uint wait_count, const cl_event *wait_list, cl_event *event);
cl_int clGetBufferPlaceLOCKSTEP(cl_mem buffer, size_t offset, cl_device_id *device, size_t *page_bytes);

#endif
