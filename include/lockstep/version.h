/* version.h: the version of Lockstep and of its binary interface to plug-ins.
 *
 * LS_ABI_VERSION changes whenever a struct, a function or the meaning of one in include/lockstep changes, so
 * that a plug-in built against other headers is refused by name instead of crashing. */
#ifndef LOCKSTEP_VERSION_H
#define LOCKSTEP_VERSION_H

#define LS_VERSION_MAJOR 0
#define LS_VERSION_MINOR 2
#define LS_VERSION_PATCH 0
#define LS_VERSION_STRING "0.2.0"

#define LS_ABI_VERSION 11u

/* Marks exported names of the library and the lockstep command; all others stay hidden. */
#define LS_API __attribute__((visibility("default")))

#if defined(__GNUC__)
#define LS_PRINTF(fmt_index, first_arg) __attribute__((format(printf, fmt_index, first_arg)))
#define LS_LIKELY(x) __builtin_expect(!!(x), 1)
#define LS_UNLIKELY(x) __builtin_expect(!!(x), 0)
#else
#define LS_PRINTF(fmt_index, first_arg)
#define LS_LIKELY(x) (x)
#define LS_UNLIKELY(x) (x)
#endif

#define LS_COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#endif
