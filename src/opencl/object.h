/* object.h: the header of all OpenCL objects: the loader's dispatch table, a mark of their kind, and a count
 * of references. Independent of the kinds. */
#ifndef OPENCL_OBJECT_H
#define OPENCL_OBJECT_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <CL/cl_icd.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Unlikely as the content of anything else; 0 once the object is gone. */
typedef enum ocl_magic {
    OCL_GONE = 0,
    OCL_PLATFORM = 0x4c4f1001,
    OCL_DEVICE,
    OCL_CONTEXT,
    OCL_QUEUE,
    OCL_MEM,
    OCL_SAMPLER,
    OCL_PROGRAM,
    OCL_KERNEL,
    OCL_EVENT,
} ocl_magic;

/* The first member of every object; the dispatch table must be its first word. */
typedef struct ocl_object {
    const cl_icd_dispatch *dispatch;
    uint32_t magic; /* ocl_magic */
    atomic_uint references;
    atomic_uint watchers; /* users that may read the magic; the live object counts as one */
} ocl_object;

extern const cl_icd_dispatch ocl_dispatch; /* icd.c */

static inline void ocl_object_init(ocl_object *object, ocl_magic magic)
{
    object->dispatch = &ocl_dispatch;
    object->magic = magic;
    atomic_init(&object->references, 1);
    atomic_init(&object->watchers, 1);
}

static inline bool ocl_is(const void *object, ocl_magic magic)
{
    return object && ((const ocl_object *)object)->magic == (uint32_t)magic;
}

static inline void ocl_retain(void *object)
{
    atomic_fetch_add_explicit(&((ocl_object *)object)->references, 1, memory_order_relaxed);
}

/* Whether this was the last reference: the caller then destroys the object. */
static inline bool ocl_drop(void *object)
{
    ocl_object *o = object;
    if (atomic_fetch_sub_explicit(&o->references, 1, memory_order_acq_rel) != 1)
        return false;
    o->magic = OCL_GONE;
    return true;
}

/* By the standard a kernel holds no references to its arguments, but it must detect that one is gone. So the
 * memory of a watched object stays, with the magic OCL_GONE. `object` may be NULL. */
static inline void ocl_watch(void *object)
{
    if (object)
        atomic_fetch_add_explicit(&((ocl_object *)object)->watchers, 1, memory_order_relaxed);
}

/* For the last watcher the memory is freed; a destroyed object calls it in place of free(). */
static inline void ocl_unwatch(void *object)
{
    if (object && atomic_fetch_sub_explicit(&((ocl_object *)object)->watchers, 1, memory_order_acq_rel) == 1)
        free(object);
}

static inline cl_uint ocl_references(const void *object)
{
    return atomic_load_explicit(&((ocl_object *)(uintptr_t)object)->references, memory_order_relaxed);
}

#endif
