/* transfer.h: the command that moves a box of bytes, which all reads, writes and copies of buffers are. */
#ifndef OPENCL_TRANSFER_H
#define OPENCL_TRANSFER_H

#include "opencl/ocl.h"

typedef struct ocl_transfer {
    ocl_box to, from;
    size_t region[3]; /* bytes, rows, slices */
    void *copy;       /* of the host's bytes, while it is under way; NULL: none */
} ocl_transfer;

/* Where an enqueue function puts its last arguments. */
typedef struct ocl_order {
    bool is_blocking;
    cl_uint wait_count;
    const cl_event *wait_list;
    cl_event *event;
} ocl_order;

/* Enqueues it; a and b (NULL is fine) are kept until it is complete. */
cl_int ocl_transfer_submit(cl_command_queue queue, cl_command_type type, const ocl_transfer *transfer,
                           cl_mem a, cl_mem b, const ocl_order *order);
/* Whether a buffer of the queue's context. */
cl_int ocl_check_buffer(cl_command_queue queue, cl_mem buffer);
/* CL_INVALID_OPERATION if the host may not read (write) it. */
cl_int ocl_check_host_read(cl_mem mem);
cl_int ocl_check_host_write(cl_mem mem);

#endif
