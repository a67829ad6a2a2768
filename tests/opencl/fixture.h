/* fixture.h: helpers of the OpenCL tests: a context with a queue on the first device of our platform, and
 * programs built from text. */
#ifndef TESTS_OPENCL_FIXTURE_H
#define TESTS_OPENCL_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>

extern cl_platform_id fx_platform;
extern cl_device_id fx_devices[16];
extern cl_uint fx_device_count;
extern cl_device_id fx_device;    /* the first */
extern cl_context fx_context;     /* of all devices */
extern cl_command_queue fx_queue; /* in order, with profiling */

/* For cmocka's group set-up and tear-down. The program exits with 77 if there is no platform of ours. */
int fx_setup(void **state);
int fx_teardown(void **state);
/* Leaves with 77 and a message unless kernels can be compiled. */
void fx_need_compiler(void);

/* Built for all devices; fails the test with the log otherwise. */
cl_program fx_build(const char *source, const char *options);
cl_kernel fx_kernel(cl_program program, const char *name);
cl_mem fx_buffer(cl_mem_flags flags, size_t bytes, void *host);
/* One dimension, waits. group 0: the driver chooses. */
void fx_run(cl_kernel kernel, size_t grid, size_t group);
void fx_read(cl_mem buffer, void *to, size_t bytes);

#define fx_ok(call_) assert_int_equal((call_), CL_SUCCESS)
#define fx_set(kernel_, index_, value_) fx_ok(clSetKernelArg((kernel_), (index_), sizeof(value_), &(value_)))
/* A call that must fail with a code; and a call that creates an object and returns its code by &error. */
#define fx_refused(code_, call_) assert_int_equal((call_), (code_))
#define fx_nothing(code_, call_)                                                                              \
    do {                                                                                                      \
        cl_int error = CL_SUCCESS;                                                                            \
        assert_null(call_);                                                                                   \
        assert_int_equal(error, (code_));                                                                     \
    } while (0)

#endif
