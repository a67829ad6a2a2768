/* library.h: shared libraries that are loaded on first use, so that programs start without them and run where they are not
 * installed. A loaded library stays until the program ends. */
#ifndef BASE_LIBRARY_H
#define BASE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

typedef struct library_call {
    const char *name; /* of the function */
    void *pointer;    /* where the pointer to it is kept */
} library_call;

/* True: the library is there and has all functions. `name` is that of its interface, as in libsqlite3.so.0. Callers use it
 * once, under pthread_once(). */
bool library_load(const char *name, const library_call *calls, size_t count);

#endif
