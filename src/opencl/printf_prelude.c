/* printf_prelude.c: the lines that make printf a macro in a kernel's source. OpenCL C, as text. */
#include "opencl/printf.h"

#include <string.h>

/* The line marker with its 3 keeps warnings about this text out of the user's log. An argument has the type
 * of a sum with 0, so small integers arrive as int, and arrays as pointers; it is evaluated once. The hidden
 * argument 24 bytes after the first is the buffer, see ls_gpu_launch.printf_buffer. */
static const char printf_prelude[] =
    "# 1 \"printf\" 3\n"
    "__attribute__((weak, used, visibility(\"protected\"))) constant uint __lockstep_printf = 1;\n"
    "__attribute__((always_inline, internal_linkage)) global uint *__lockstep_printf_room(uint bytes)\n"
    "{\n"
    "    global uint *buffer =\n"
    "        *(global uint *constant *)((constant char *)__builtin_amdgcn_implicitarg_ptr() + 24);\n"
    "    if (!buffer)\n"
    "        return 0;\n"
    "    uint from = atomic_add((volatile global uint *)buffer, bytes);\n"
    "    return from + bytes > buffer[1] || from + bytes < from ? 0 : buffer + from / 4;\n"
    "}\n"
    "#define __LS_0(m, f)\n"
    "#define __LS_1(m, f, a) m(a)\n"
    "#define __LS_2(m, f, a, ...) m(a) __LS_1(m, f, __VA_ARGS__)\n"
    "#define __LS_3(m, f, a, ...) m(a) __LS_2(m, f, __VA_ARGS__)\n"
    "#define __LS_4(m, f, a, ...) m(a) __LS_3(m, f, __VA_ARGS__)\n"
    "#define __LS_5(m, f, a, ...) m(a) __LS_4(m, f, __VA_ARGS__)\n"
    "#define __LS_6(m, f, a, ...) m(a) __LS_5(m, f, __VA_ARGS__)\n"
    "#define __LS_7(m, f, a, ...) m(a) __LS_6(m, f, __VA_ARGS__)\n"
    "#define __LS_8(m, f, a, ...) m(a) __LS_7(m, f, __VA_ARGS__)\n"
    "#define __LS_9(m, f, a, ...) m(a) __LS_8(m, f, __VA_ARGS__)\n"
    "#define __LS_10(m, f, a, ...) m(a) __LS_9(m, f, __VA_ARGS__)\n"
    "#define __LS_11(m, f, a, ...) m(a) __LS_10(m, f, __VA_ARGS__)\n"
    "#define __LS_12(m, f, a, ...) m(a) __LS_11(m, f, __VA_ARGS__)\n"
    "#define __LS_13(m, f, a, ...) m(a) __LS_12(m, f, __VA_ARGS__)\n"
    "#define __LS_14(m, f, a, ...) m(a) __LS_13(m, f, __VA_ARGS__)\n"
    "#define __LS_15(m, f, a, ...) m(a) __LS_14(m, f, __VA_ARGS__)\n"
    "#define __LS_16(m, f, a, ...) m(a) __LS_15(m, f, __VA_ARGS__)\n"
    "#define __LS_17(m, f, a, ...) m(a) __LS_16(m, f, __VA_ARGS__)\n"
    "#define __LS_18(m, f, a, ...) m(a) __LS_17(m, f, __VA_ARGS__)\n"
    "#define __LS_19(m, f, a, ...) m(a) __LS_18(m, f, __VA_ARGS__)\n"
    "#define __LS_20(m, f, a, ...) m(a) __LS_19(m, f, __VA_ARGS__)\n"
    "#define __LS_21(m, f, a, ...) m(a) __LS_20(m, f, __VA_ARGS__)\n"
    "#define __LS_22(m, f, a, ...) m(a) __LS_21(m, f, __VA_ARGS__)\n"
    "#define __LS_23(m, f, a, ...) m(a) __LS_22(m, f, __VA_ARGS__)\n"
    "#define __LS_24(m, f, a, ...) m(a) __LS_23(m, f, __VA_ARGS__)\n"
    "#define __LS_25(m, f, a, ...) m(a) __LS_24(m, f, __VA_ARGS__)\n"
    "#define __LS_26(m, f, a, ...) m(a) __LS_25(m, f, __VA_ARGS__)\n"
    "#define __LS_27(m, f, a, ...) m(a) __LS_26(m, f, __VA_ARGS__)\n"
    "#define __LS_28(m, f, a, ...) m(a) __LS_27(m, f, __VA_ARGS__)\n"
    "#define __LS_29(m, f, a, ...) m(a) __LS_28(m, f, __VA_ARGS__)\n"
    "#define __LS_30(m, f, a, ...) m(a) __LS_29(m, f, __VA_ARGS__)\n"
    "#define __LS_31(m, f, a, ...) m(a) __LS_30(m, f, __VA_ARGS__)\n"
    "#define __LS_32(m, f, a, ...) m(a) __LS_31(m, f, __VA_ARGS__)\n"
    "#define __LS_PICK(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, "
    "_17, _18, _19, _20, _21, _22, _23, _24, _25, _26, _27, _28, _29, _30, _31, _32, n, ...) n\n"
    "#define __LS_JOIN_(a, b) a##b\n"
    "#define __LS_JOIN(a, b) __LS_JOIN_(a, b)\n"
    "#define __LS_EACH(m, ...) __LS_JOIN(__LS_, __LS_PICK(__VA_ARGS__, 32, 31, 30, 29, 28, 27, 26, "
    "25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, "
    "4, 3, 2, 1, 0))(m, __VA_ARGS__)\n"
    "#define __LS_FORMAT(f, ...) f\n"
    "#define __LS_TYPE(x) __typeof__((x) + (char)0)\n"
    "#define __LS_SIZE(x) +4 + ((sizeof(__LS_TYPE(x)) + 3) & ~3u)\n"
    "#define __LS_PUT(x) { __LS_TYPE(x) __v = (x); *__p++ = sizeof __v; "
    "__builtin_memcpy(__p, &__v, sizeof __v); "
    "__p += (sizeof __v + 3) / 4; }\n"
    "#define printf(...) ({ uint __n = 16 __LS_EACH(__LS_SIZE, __VA_ARGS__); "
    "global uint *__p = __lockstep_printf_room(__n); if (__p) { "
    "ulong __f = (ulong)(__LS_FORMAT(__VA_ARGS__, 0)); "
    "*__p++ = __n; *__p++ = 0; __builtin_memcpy(__p, &__f, 8); __p += 2; __LS_EACH(__LS_PUT, __VA_ARGS__) } "
    "__p ? 0 : -1; })\n"
    "# 1 \"<stdin>\"\n";

const char *ocl_printf_prelude(void)
{
    return printf_prelude;
}

bool ocl_printf_wanted(const char *source)
{
    return strstr(source, "printf") != NULL || strstr(source, "#include") != NULL ||
           strstr(source, "# include") != NULL;
}
