/* info.h: the common part of every clGet*Info: returns the size if requested, and the value if there is room
 * for it. */
#ifndef OPENCL_INFO_H
#define OPENCL_INFO_H

#include "opencl/object.h"

#include <string.h>

/* Where the answer goes; the last three arguments of every clGet*Info. */
typedef struct ocl_answer {
    size_t room;
    void *value;
    size_t *size_ret;
} ocl_answer;

static inline ocl_answer ocl_answer_of(size_t room, void *value, size_t *size_ret)
{
    return (ocl_answer){ room, value, size_ret };
}

#define OCL_ANSWER(room_, value_, size_ret_)                                                                  \
    ((const ocl_answer[]){ ocl_answer_of((room_), (value_), (size_ret_)) })

static inline cl_int ocl_give(const ocl_answer *to, const void *data, size_t bytes)
{
    if (to->value && to->room < bytes)
        return CL_INVALID_VALUE;
    if (to->value && bytes > 0)
        memcpy(to->value, data, bytes);
    if (to->size_ret)
        *to->size_ret = bytes;
    return CL_SUCCESS;
}

static inline cl_int ocl_give_text(const ocl_answer *to, const char *text)
{
    return ocl_give(to, text, strlen(text) + 1);
}

/* Returns from the calling function with a value of the given type. */
#define OCL_GIVE(to_, type_, ...)                                                                             \
    do {                                                                                                      \
        type_ given_ = (__VA_ARGS__);                                                                         \
        return ocl_give((to_), &given_, sizeof given_);                                                       \
    } while (0)

#endif
