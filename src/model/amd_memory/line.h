/* line.h: the messages of lockstep/line.h under the short names that this folder and model/cu use. */
#ifndef MODEL_AMD_MEMORY_LINE_H
#define MODEL_AMD_MEMORY_LINE_H

#include "lockstep/line.h"

#define LINE_BYTES_MAX LS_LINE_BYTES_MAX
#define LINE_HEAD_BYTES LS_LINE_HEAD_BYTES
#define LINE_MEMORY_INTERFACE LS_LINE_MEMORY_INTERFACE
#define LINE_MEMORY_PORT LS_LINE_MEMORY_PORT

typedef enum line_kind {
    LINE_READ = LS_LINE_READ,
    LINE_WRITE = LS_LINE_WRITE,
    LINE_ATOMIC = LS_LINE_ATOMIC,
    LINE_INVALIDATE = LS_LINE_INVALIDATE,
    LINE_FLUSH = LS_LINE_FLUSH,
} line_kind;

enum {
    LINE_GLC = LS_LINE_GLC,
    LINE_SLC = LS_LINE_SLC,
    LINE_DLC = LS_LINE_DLC,
    LINE_RETURN = LS_LINE_RETURN,
    LINE_FAULT = LS_LINE_FAULT,
    LINE_CODE = LS_LINE_CODE,
    LINE_SCALAR = LS_LINE_SCALAR,
    LINE_SYSTEM = LS_LINE_SYSTEM,
};

typedef ls_line_message line_message;
typedef ls_line_client_ops line_client_ops;
typedef ls_line_memory_ops line_memory_ops;
typedef ls_line_port line_port;

#define line_request ls_line_request
#define line_join ls_line_join
#define line_join_below ls_line_join_below
#define line_copy_head ls_line_copy_head
#define line_copy_data ls_line_copy_data
#define line_copy ls_line_copy
#define line_request_data ls_line_request_data
#define line_reply_data ls_line_reply_data

#endif
