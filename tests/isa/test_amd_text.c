/* The tables of facts: bytes and the text that LLVM prints for them (15; 19 for gfx9), written by tools/amd-enumerate.
 * Each must be decoded to its last byte and printed the same. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "isa/amd/amd.h"

#include <stdio.h>
#include <string.h>

#define LINE_BYTES 640
#define CODE_BYTES 24

static unsigned hex_digit(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* Checks one line; returns true if it holds. */
static bool holds(amd_target target, unsigned lanes, const char *line)
{
    uint8_t code[CODE_BYTES];
    size_t count = 0;
    char text[LINE_BYTES] = "<unknown>";
    amd_inst inst;
    for (; line[0] != '\t' && count < sizeof code; line += 2)
        code[count++] = (uint8_t)(hex_digit(line[0]) << 4 | hex_digit(line[1]));
    line++;
    if (amd_decode(target, lanes, code, count, &inst))
        amd_print(target, lanes, &inst, text, sizeof text);
    if (strcmp(text, line) == 0 && inst.bytes == count)
        return true;
    print_message("%s, %u lanes: expected \"%s\"\n  got \"%s\" from %u of %zu bytes\n",
                  amd_target_name(target), lanes, line, text, inst.bytes, count);
    return false;
}

static void check_file(amd_target target, const char *name, size_t at_least)
{
    char path[512], line[LINE_BYTES];
    unsigned lanes = 0;
    size_t facts = 0, wrong = 0;
    snprintf(path, sizeof path, "%s/tests/isa/amd_%s.txt", LS_SOURCE_DIR, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        if (sscanf(line, "lanes %u", &lanes) == 1)
            continue;
        facts++;
        if (!holds(target, lanes, line) && ++wrong == 10)
            break;
    }
    fclose(file);
    assert_int_equal(wrong, 0);
    assert_true(facts >= at_least);
}

static void test_gfx803(void **state)
{
    (void)state;
    check_file(AMD_GFX803, "gfx803", 8000);
}

static void test_gfx1010(void **state)
{
    (void)state;
    check_file(AMD_GFX1010, "gfx10", 8000);
    check_file(AMD_GFX1010, "gfx1010", 100);
}

static void test_gfx1030(void **state)
{
    (void)state;
    check_file(AMD_GFX1030, "gfx10", 8000);
    check_file(AMD_GFX1030, "gfx1030", 100);
}

static void test_gfx90a(void **state)
{
    (void)state;
    check_file(AMD_GFX90A, "gfx9", 8000);
    check_file(AMD_GFX90A, "gfx90a", 1000);
}

static void test_gfx942(void **state)
{
    (void)state;
    check_file(AMD_GFX942, "gfx9", 8000);
    check_file(AMD_GFX942, "gfx942", 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gfx803), cmocka_unit_test(test_gfx1010), cmocka_unit_test(test_gfx1030),
        cmocka_unit_test(test_gfx90a), cmocka_unit_test(test_gfx942),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
