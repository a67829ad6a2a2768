/* vec.h: a growing array of any type, as a macro over { T *at; size_t count, capacity; }.
 *
 *     LS_VEC(int) numbers = { 0 };
 *     if (!vec_push(&numbers, 42)) return LS_ERR_NOMEM;
 *     vec_fini(&numbers);
 *
 * Set-up code only: simulation loops use memory that was sized before the run. */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>

#define LS_VEC(T)                                                                                             \
    struct {                                                                                                  \
        T *at;                                                                                                \
        size_t count, capacity;                                                                               \
    }

/* Makes room for `more` further elements; false when the host has no memory left. */
bool vec_reserve_(void **at, size_t *capacity, size_t count, size_t more, size_t element_bytes);
#define vec_reserve(v, more)                                                                                  \
    vec_reserve_((void **)&(v)->at, &(v)->capacity, (v)->count, (more), sizeof *(v)->at)
#define vec_push(v, value)                                                                                    \
    (((v)->count < (v)->capacity || vec_reserve(v, 1)) && ((v)->at[(v)->count++] = (value), true))
#define vec_clear(v) ((v)->count = 0)
void vec_fini_(void **at);
#define vec_fini(v) (vec_fini_((void **)&(v)->at), (v)->count = (v)->capacity = 0)

#endif
