/* vec.c: growth of the arrays of vec.h. */
#include "base/vec.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The caller's pointer has type T *, not void *, so it is read and written as bytes. */
static void *load(void *const *at)
{
    void *memory;
    memcpy(&memory, at, sizeof memory);
    return memory;
}

bool vec_reserve_(void **at, size_t *capacity, size_t count, size_t more, size_t element_bytes)
{
    if (more <= *capacity - count)
        return true;
    size_t need, bytes;
    if (__builtin_add_overflow(count, more, &need))
        return false;
    size_t grown = *capacity < SIZE_MAX / 2 ? *capacity * 2 : need;
    if (grown < need)
        grown = need;
    if (grown < 8)
        grown = 8;
    if (__builtin_mul_overflow(grown, element_bytes, &bytes) || bytes > PTRDIFF_MAX)
        return false;
    void *memory = realloc(load(at), bytes);
    if (memory == NULL)
        return false;
    memcpy(at, &memory, sizeof memory);
    *capacity = grown;
    return true;
}

void vec_fini_(void **at)
{
    free(load(at));
    memset(at, 0, sizeof *at);
}
