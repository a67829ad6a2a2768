/* Cells of our pages: numbers at the right, texts at the left, everything escaped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/html.h"

#include <stdlib.h>

static void test_cells(void **state)
{
    char *text = NULL;
    size_t bytes;
    (void)state;
    FILE *to = open_memstream(&text, &bytes);
    assert_non_null(to);
    html_cell(to, "td", "12.5 %");
    html_cell(to, "td", "-3");
    html_cell(to, "td", "a<b");
    html_cell(to, "td", "");
    html_head_cell(to, "cycles", "100");
    html_head_cell(to, "name", "x");
    html_head_cell(to, "none", NULL);
    fclose(to);
    assert_string_equal(text, "<td>12.5 %</td><td>-3</td><td class=\"text\">a&lt;b</td><td></td>"
                              "<th>cycles</th><th class=\"text\">name</th><th>none</th>");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_cells) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
