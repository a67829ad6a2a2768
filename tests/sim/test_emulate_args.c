/* test_emulate_args.c: kernel arguments and sizes as text on the command line. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "sim/emulate_args.h"

#include <string.h>

static mem_arena arena;
static ls_error err;

static emulate_arg parse(const char *text)
{
    emulate_arg arg;
    if (emulate_arg_parse(&arena, text, &arg, &err) != LS_OK)
        fail_msg("%s: %s", text, err.what);
    return arg;
}

static void refuse(const char *text, const char *part)
{
    emulate_arg arg;
    assert_int_not_equal(emulate_arg_parse(&arena, text, &arg, &err), LS_OK);
    if (!strstr(err.what, part))
        fail_msg("'%s' is not in: %s", part, err.what);
}

static void values(void **state)
{
    emulate_arg arg = parse("i16:-2");
    float f = 0;
    double d = 0;
    (void)state;
    assert_int_equal(arg.kind, EMULATE_VALUE);
    assert_int_equal(arg.bytes, 2);
    assert_memory_equal(arg.value, "\xfe\xff", 2);
    arg = parse("f32:-1.5");
    memcpy(&f, arg.value, 4);
    assert_true(arg.bytes == 4 && f == -1.5f);
    arg = parse("f64:1e300");
    memcpy(&d, arg.value, 8);
    assert_true(arg.bytes == 8 && d == 1e300);
    arg = parse("u64:0xffffffffffffffff");
    assert_memory_equal(arg.value, "\xff\xff\xff\xff\xff\xff\xff\xff", 8);
    arg = parse("i8:-128");
    assert_int_equal(arg.value[0], 0x80);
    arg = parse("hex:00fF12");
    assert_int_equal(arg.bytes, 3);
    assert_memory_equal(arg.value, "\x00\xff\x12", 3);
    arg = parse("local:256");
    assert_int_equal(arg.kind, EMULATE_LOCAL);
    assert_int_equal(arg.bytes, 256);
    refuse("i8:128", "does not fit into i8");
    refuse("i8:-129", "does not fit into i8");
    refuse("u16:65536", "does not fit into u16");
    refuse("u32:x", "x");
    refuse("f32", "KIND:VALUE");
    refuse("f23:1", "is no type");
    assert_string_equal(err.nearest, "f32");
    refuse("hex:0", "two digits each");
    refuse("hex:0g", "no hexadecimal digit");
    refuse("hex:0011223344556677889900112233445566", "1 to 16 bytes");
    refuse("local:0", "local memory of 0 bytes");
}

static void buffers(void **state)
{
    emulate_arg arg = parse("buffer:10");
    (void)state;
    assert_int_equal(arg.kind, EMULATE_BUFFER);
    assert_int_equal(arg.bytes, 10);
    assert_memory_equal(arg.content, "\0\0\0\0\0\0\0\0\0\0", 10);
    arg = parse("buffer:10:iota");
    assert_memory_equal(arg.content, "\0\0\0\0\1\0\0\0\0\0", 10); /* whole words only */
    arg = parse("buffer:5:u16=258");
    assert_memory_equal(arg.content, "\2\1\2\1\0", 5);
    arg = parse("buffer:4:f32=1");
    assert_memory_equal(arg.content, "\0\0\x80\x3f", 4);
    assert_memory_equal(parse("buffer:64:random").content, parse("buffer:64:random").content, 64);
    refuse("buffer:0", "1 byte to 16 GiB");
    refuse("buffer:8:radnom", "is no content");
    assert_string_equal(err.nearest, "random");
    refuse("buffer:8:u8=256", "does not fit");
    refuse("buffer:@/nowhere/file", "cannot open");
}

static void formats(void **state)
{
    char out[64];
    (void)state;
    assert_string_equal(emulate_format("i8", 2, "\xff", out, sizeof out), "-1");
    assert_string_equal(emulate_format("u16", 3, "\xff\xff", out, sizeof out), "65535");
    assert_string_equal(emulate_format("i64", 3, "\0\0\0\0\0\0\0\x80", out, sizeof out),
                        "-9223372036854775808");
    assert_string_equal(emulate_format("f32", 3, "\0\0\x80\xbf", out, sizeof out), "-1");
}

static void sizes(void **state)
{
    uint32_t out[3] = { 0 };
    (void)state;
    assert_int_equal(emulate_size_parse("64", "grid", true, out, &err), LS_OK);
    assert_int_equal(out[0], 64);
    assert_int_equal(emulate_size_parse("1,2,3", "grid", true, out, &err), LS_OK);
    assert_int_equal(out[2], 3);
    assert_int_not_equal(emulate_size_parse("1,2,3,4", "grid", true, out, &err), LS_OK);
    assert_non_null(strstr(err.what, "--grid: '1,2,3,4' is not X"));
    assert_int_not_equal(emulate_size_parse("4294967296", "grid", true, out, &err), LS_OK);
    assert_int_not_equal(emulate_size_parse("1,", "grid", true, out, &err), LS_OK);
}

static int finish(void **state)
{
    (void)state;
    arena_fini(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),
        cmocka_unit_test(buffers),
        cmocka_unit_test(formats),
        cmocka_unit_test(sizes),
    };
    return cmocka_run_group_tests(tests, NULL, finish);
}
