/* Lines of the debugger become commands; wrong ones get one clear sentence. */
#include "debug/debug_command.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static debug_line good(const char *text)
{
    debug_line line;
    ls_error err;
    assert_int_equal(debug_line_parse(text, &line, &err), LS_OK);
    return line;
}

static void bad(const char *text, const char *says)
{
    debug_line line;
    ls_error err;
    assert_int_equal(debug_line_parse(text, &line, &err), LS_ERR_USAGE);
    if (!strstr(err.what, says))
        fail_msg("'%s' does not say '%s'", err.what, says);
}

static void test_names(void **state)
{
    (void)state;
    assert_int_equal(good("break fir").id, DEBUG_CMD_BREAK);
    assert_int_equal(good("b").id, DEBUG_CMD_BREAK);
    assert_int_equal(good("c").id, DEBUG_CMD_CONTINUE);
    assert_int_equal(good("s").id, DEBUG_CMD_STEP);
    assert_int_equal(good("si 3").id, DEBUG_CMD_STEPI);
    assert_int_equal(good("cont").id, DEBUG_CMD_CONTINUE);
    assert_int_equal(good("where").id, DEBUG_CMD_BACKTRACE);
    assert_int_equal(good("").id, DEBUG_CMD_COUNT);
    assert_int_equal(good("  # a comment").id, DEBUG_CMD_COUNT);
    bad("ste", "'ste' is not clear: stepi, step");
    bad("brake", "there is no command 'brake'");
    bad("!", "there is no command '!'");
}

static void test_formats(void **state)
{
    (void)state;
    debug_line line = good("x/4xw  lds:16  ");
    assert_int_equal(line.id, DEBUG_CMD_EXAMINE);
    assert_int_equal(line.count, 4);
    assert_int_equal(line.letter, 'x');
    assert_int_equal(line.unit, 'w');
    assert_int_equal(line.args_bytes, 6);
    assert_memory_equal(line.args, "lds:16", 6);
    line = good("p/f $v3[0]");
    assert_int_equal(line.letter, 'f');
    assert_int_equal(line.count, 0);
    assert_string_equal(line.args, "$v3[0]");
    bad("x/4q 0", "'/4q' is no format");
    bad("x/xx 0", "'/xx' is no format");
}

static debug_location at(const char *text)
{
    debug_location location;
    assert_int_equal(debug_location_parse(text, strlen(text), &location, NULL), LS_OK);
    return location;
}

static void test_locations(void **state)
{
    (void)state;
    debug_location l = at("fir+0x40");
    assert_int_equal(l.kind, DEBUG_AT_KERNEL);
    assert_string_equal(l.name, "fir");
    assert_int_equal(l.number, 0x40);
    l = at("src/fir.cl:12");
    assert_int_equal(l.kind, DEBUG_AT_LINE);
    assert_string_equal(l.name, "src/fir.cl");
    assert_int_equal(l.number, 12);
    l = at("12");
    assert_int_equal(l.kind, DEBUG_AT_LINE);
    assert_string_equal(l.name, "");
    l = at("*0x100");
    assert_int_equal(l.kind, DEBUG_AT_ADDRESS);
    assert_int_equal(l.number, 0x100);
    assert_int_equal(at("").kind, DEBUG_AT_HERE);
    const char *wrong[] = { "fir+x", "fir.cl:0", "fir.cl:", "*", "9x" };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(debug_location_parse(wrong[i], strlen(wrong[i]), &l, NULL), LS_ERR_USAGE);
}

static void test_triples(void **state)
{
    (void)state;
    uint32_t id[3];
    assert_int_equal(debug_triple_parse("3,1", 3, id, NULL), LS_OK);
    assert_int_equal(id[0], 3);
    assert_int_equal(id[1], 1);
    assert_int_equal(id[2], 0);
    assert_int_equal(debug_triple_parse("1,2,3,4", 7, id, NULL), LS_ERR_USAGE);
    assert_int_equal(debug_triple_parse("4294967296", 10, id, NULL), LS_ERR_USAGE);
    assert_int_equal(debug_triple_parse("", 0, id, NULL), LS_ERR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_locations),
        cmocka_unit_test(test_triples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
