/* svm_fine.c: fine-grained shared virtual memory. The program and the device have bytes of their own at the same
 * addresses. Before a command runs, the device gets the bytes that the program has changed; after it the program
 * gets those that the device has changed. Both sides may change different bytes at the same time. The copies take no
 * simulated time. */
#include "opencl/svm.h"

#include <stdlib.h>

#define BLOCK 4096u

typedef struct fine_range {
    struct fine_range *next;
    cl_context context;
    uint8_t *host;
    size_t bytes;
    uint8_t *agreed;  /* the bytes when both sides were last equal */
    uint8_t *fetched; /* room for the device's bytes */
} fine_range;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* never taken with ocl.lock held */
static fine_range *ranges;
static atomic_uint range_count;

bool ocl_svm_fine_add(cl_context context, uintptr_t start, size_t bytes)
{
    fine_range *range = malloc(sizeof *range);
    uint8_t *agreed = calloc(2, bytes);
    if (!range || !agreed) {
        free(range);
        free(agreed);
        return false;
    }
    /* Fresh host pages are 0; what the device has there is not known. */
    ls_error err;
    if (ls_gpu_patch(context->gpu, start, agreed, bytes, &err) != LS_OK) {
        free(range);
        free(agreed);
        return false;
    }
    pthread_mutex_lock(&lock);
    *range = (fine_range){ ranges, context, (uint8_t *)start, bytes, agreed, agreed + bytes };
    ranges = range;
    atomic_fetch_add(&range_count, 1);
    pthread_mutex_unlock(&lock);
    return true;
}

void ocl_svm_fine_remove(uintptr_t start)
{
    fine_range *found = NULL;
    pthread_mutex_lock(&lock);
    for (fine_range **link = &ranges; *link && !found; link = found ? link : &(*link)->next)
        if ((uintptr_t)(*link)->host == start) {
            found = *link;
            *link = found->next;
        }
    pthread_mutex_unlock(&lock);
    if (!found)
        return;
    atomic_fetch_sub(&range_count, 1);
    free(found->agreed);
    free(found);
}

static size_t block_bytes(const fine_range *r, size_t at)
{
    return r->bytes - at < BLOCK ? r->bytes - at : BLOCK;
}

static ls_status give(const fine_range *r, ls_error *err)
{
    ls_status status = LS_OK;
    for (size_t at = 0; at < r->bytes && status == LS_OK; at += BLOCK) {
        size_t bytes = block_bytes(r, at);
        if (memcmp(r->host + at, r->agreed + at, bytes) == 0)
            continue;
        memcpy(r->agreed + at, r->host + at, bytes);
        status = ls_gpu_patch(r->context->gpu, (uintptr_t)r->host + at, r->agreed + at, bytes, err);
    }
    return status;
}

static ls_status take(const fine_range *r, ls_error *err)
{
    ls_status status = ls_gpu_look(r->context->gpu, r->fetched, (uintptr_t)r->host, r->bytes, err);
    for (size_t at = 0; at < r->bytes && status == LS_OK; at += BLOCK) {
        size_t bytes = block_bytes(r, at);
        if (memcmp(r->fetched + at, r->agreed + at, bytes) == 0)
            continue;
        for (size_t i = at; i < at + bytes; i++)
            if (r->fetched[i] != r->agreed[i])
                r->host[i] = r->agreed[i] = r->fetched[i];
    }
    return status;
}

static cl_int exchange(cl_context context, ls_status (*way)(const fine_range *r, ls_error *err), ls_error *err)
{
    ls_status status = LS_OK;
    if (atomic_load(&range_count) == 0)
        return CL_SUCCESS;
    pthread_mutex_lock(&lock);
    for (const fine_range *r = ranges; r && status == LS_OK; r = r->next)
        if (r->context == context)
            status = way(r, err);
    pthread_mutex_unlock(&lock);
    return ocl_code_of(status, CL_OUT_OF_RESOURCES);
}

cl_int ocl_svm_fine_give(cl_context context, ls_error *err)
{
    return exchange(context, give, err);
}

cl_int ocl_svm_fine_take(cl_context context, ls_error *err)
{
    return exchange(context, take, err);
}
