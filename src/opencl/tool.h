/* tool.h: running a program whose inputs and outputs are memory: no temporary file is ever made. */
#ifndef OPENCL_TOOL_H
#define OPENCL_TOOL_H

#include "opencl/compile.h"

#define OCL_TOOL_FIRST_FD 20 /* of the inputs, as the program sees them */
#define OCL_TOOL_INPUTS_MAX 128
#define OCL_TOOL_PATH_FORMAT "/proc/self/fd/%d"

typedef struct ocl_tool {
    int fds[OCL_TOOL_INPUTS_MAX];
    char paths[OCL_TOOL_INPUTS_MAX][32];
    size_t count;
} ocl_tool;

void ocl_tool_init(ocl_tool *tool);
void ocl_tool_fini(ocl_tool *tool);
/* A further file for the program; ocl_tool_path() is its name there. */
ls_status ocl_tool_input(ocl_tool *tool, const void *data, size_t bytes, ls_error *err);
const char *ocl_tool_path(const ocl_tool *tool, size_t input);
/* Runs args[0] with the given standard input; its standard output becomes out (malloc), its standard error is
 * added to log. LS_ERR_INPUT if it exits with another code than 0. */
ls_status ocl_tool_run(const ocl_tool *tool, const char *const *args, const void *input, size_t input_bytes,
                       ocl_blob *out, text_buffer *log, ls_error *err);
/* The path of the program that the variable names, else of the first of the names that is there. */
bool ocl_tool_find(const char *variable, const char *const *names, char *out, size_t room);

#endif
