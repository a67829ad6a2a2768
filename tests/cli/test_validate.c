/* Reading of references, verdicts and messages, without any reference data. */
#include "reference.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* ---------------------------------------------------------------------------------------------- reference */

static void missing_directory(void **state)
{
    (void)state;
    mem_arena arena = { 0 };
    validate_reference ref;
    ls_error err;
    assert_int_equal(validate_reference_open(&ref, &arena, "/nowhere/at/all", &err), LS_ERR_USAGE);
    assert_int_equal(ls_status_exit_code(err.status), 2);
    assert_non_null(strstr(err.what, "--reference"));
    assert_string_equal(err.where, "/nowhere/at/all");
    arena_fini(&arena);
}

static ls_status read_bytes(mem_arena *arena, const char *text, size_t bytes, validate_csv *csv, ls_error *err)
{
    char dir[] = P_tmpdir "/lockstep-validate-XXXXXX";
    assert_non_null(mkdtemp(dir));
    char *path = path_join(arena, dir, "table.csv");
    assert_int_equal(file_write(path, text, bytes, err), LS_OK);
    validate_reference ref;
    assert_int_equal(validate_reference_open(&ref, arena, dir, err), LS_OK);
    ls_status status = validate_csv_read(&ref, "table.csv", csv, err);
    unlink(path);
    rmdir(dir);
    return status;
}

static ls_status read_text(mem_arena *arena, const char *text, validate_csv *csv, ls_error *err)
{
    return read_bytes(arena, text, strlen(text), csv, err);
}

static void broken_csv_files_have_a_line(void **state)
{
    (void)state;
    mem_arena arena = { 0 };
    validate_csv csv;
    ls_error err;
    assert_int_equal(read_text(&arena, "a,b,c\n1,2,3\n4,5,", &csv, &err), LS_ERR_INPUT);
    assert_non_null(strstr(err.where, "table.csv:3"));
    assert_non_null(strstr(err.what, "ends inside a line"));
    assert_int_equal(read_bytes(&arena, "a,b\n1,2\n\0003,4\n", 13, &csv, &err), LS_ERR_INPUT);
    assert_non_null(strstr(err.where, "table.csv:3"));
    assert_int_equal(read_text(&arena, "a,b\n1,\"2\n3,4\n", &csv, &err), LS_OK); /* quotes span lines */
    assert_int_equal(csv.rows, 1);
    assert_int_equal(read_text(&arena, "", &csv, &err), LS_OK);
    assert_int_equal(csv.rows, 0);
    arena_fini(&arena);
}

/* A good file with some of its bytes changed, removed or cut off: a table whose cells are all there, or one line. */
static void random_csv_files(void **state)
{
    (void)state;
    static const char good[] = "kernel_name,problem_size,min_ms\nvectoradd,1024,0.5\n\"fir\",16MB_taps8,1e3\n";
    static const char bytes[] = "\n\r\",\0x9-\xff";
    ls_random random;
    ls_random_init(&random, 18);
    size_t refused = 0, rows = 0;
    for (size_t i = 0; i < 400; i++) {
        mem_arena arena = { 0 };
        char text[sizeof good];
        validate_csv csv;
        ls_error err = { 0 };
        memcpy(text, good, sizeof good);
        for (uint64_t k = ls_random_below(&random, 5); k > 0; k--)
            text[ls_random_below(&random, sizeof good - 1)] =
                bytes[ls_random_below(&random, sizeof bytes - 1)];
        const size_t length = (size_t)ls_random_below(&random, sizeof good);
        if (read_bytes(&arena, text, length, &csv, &err) != LS_OK) {
            refused++;
            assert_int_equal(err.status, LS_ERR_INPUT);
            assert_non_null(strstr(err.where, "table.csv:"));
            assert_null(strchr(err.what, '\n'));
        } else {
            rows += csv.rows;
            for (size_t row = 0; row < csv.rows; row++)
                for (size_t column = 0; column < csv.columns; column++)
                    assert_non_null(validate_csv_at(&csv, row, column));
        }
        arena_fini(&arena);
    }
    assert_in_range(refused, 100, 390);
    assert_true(rows > 0);
}

static void csv_cells(void **state)
{
    (void)state;
    mem_arena arena = { 0 };
    validate_csv csv;
    ls_error err;
    size_t column;
    assert_int_equal(read_text(&arena, "a,b,c\r\n1,\"x, y\",\n-2.5,,z", &csv, &err), LS_OK);
    assert_int_equal(csv.rows, 2);
    assert_int_equal(csv.columns, 3);
    assert_string_equal(validate_csv_at(&csv, 0, 1), "x, y");
    assert_string_equal(validate_csv_at(&csv, 0, 2), "");
    assert_string_equal(validate_csv_at(&csv, 1, 2), "z");
    assert_true(validate_csv_real(&csv, 1, 0) == -2.5);
    assert_true(isnan(validate_csv_real(&csv, 1, 1)));
    assert_int_equal(validate_csv_column(&csv, "c", &column, &err), LS_OK);
    assert_int_equal(column, 2);
    assert_int_equal(validate_csv_column(&csv, "d", &column, &err), LS_ERR_INPUT);
    assert_int_equal(read_text(&arena, "a,b\n1,2\n3\n", &csv, &err), LS_ERR_INPUT);
    assert_non_null(strstr(err.where, "table.csv:3"));
    arena_fini(&arena);
}

/* ------------------------------------------------------------------------------------------------ telling */

static const char *const columns[] = { "test", "platform", "cycles", NULL };

static void make_report(validate_report *report)
{
    validate_section *s = validate_section_add(report, "traces", "A <title>", columns);
    assert_non_null(s);
    s->about = "About.";
    s->summary = "traces: 3 runs";
    s->plot_label = s->plot_unit = "cycles";
    const validate_row rows[] = {
        { .cells = { "a_b", "one", "10" }, .verdict = VALIDATE_PASS, .reference = 10, .ours = 10 },
        { .cells = { "c,d", "two", "12" },
          .verdict = VALIDATE_KNOWN,
          .note = "Because.",
          .reference = 10,
          .ours = 12,
          .deviation = 20 },
        { .cells = { "e&f", "two", "" }, .verdict = VALIDATE_FAIL, .note = "Because." },
    };
    for (size_t i = 0; i < LS_COUNT_OF(rows); i++)
        assert_true(vec_push(&s->rows, rows[i]));
}

static char *told(void (*tell)(const validate_report *report, FILE *to), const validate_report *report)
{
    char *text = NULL;
    size_t bytes;
    FILE *to = open_memstream(&text, &bytes);
    assert_non_null(to);
    tell(report, to);
    fclose(to);
    return text;
}

static void tell_plain(const validate_report *report, FILE *to)
{
    const cli_style style = cli_style_of(false);
    validate_render_text(report, &style, to);
}

static void text_is_aligned(void **state)
{
    (void)state;
    validate_report report = { 0 };
    make_report(&report);
    char *text = told(tell_plain, &report);
    assert_string_equal(text, "\nA <title>\n\n"
                              "  test  platform  cycles  verdict\n"
                              "  a_b   one           10  pass\n"
                              "  c,d   two           12  known [1]\n"
                              "  e&f   two               FAIL [1]\n"
                              "\n  [1] Because.\n  traces: 3 runs\n");
    free(text);
    validate_report_fini(&report);
}

static void csv_is_tidy(void **state)
{
    (void)state;
    validate_report report = { 0 };
    make_report(&report);
    char *text = told(validate_render_csv, &report);
    assert_string_equal(text, "section,test,platform,variant,reference,ours,deviation,unit,verdict,note\n"
                              "traces,a_b,one,,10,10,0.0000,percent,pass,\n"
                              "traces,\"c,d\",two,,10,12,20.0000,percent,known,Because.\n"
                              "traces,e&f,two,,,,,,FAIL,Because.\n");
    free(text);
    validate_report_fini(&report);
}

static void markdown_and_html(void **state)
{
    (void)state;
    validate_report report = { 0 };
    make_report(&report);
    char *text = told(validate_render_markdown, &report);
    assert_non_null(strstr(text, "| a\\_b | one | 10 | pass |\n"));
    assert_non_null(strstr(text, "| e&f | two |  | **FAIL** (1) |\n"));
    assert_non_null(strstr(text, "\n1. Because.\n"));
    free(text);
    text = told(validate_render_html, &report);
    assert_non_null(strstr(text, "<h2>A &lt;title&gt;</h2>"));
    assert_non_null(strstr(text, "e&amp;f</td>"));
    assert_non_null(strstr(text, "<svg"));
    assert_null(strstr(text, "src="));
    assert_null(strstr(text, "href="));
    free(text);
    validate_report_fini(&report);
}

static void counts_by_verdict(void **state)
{
    (void)state;
    validate_report report = { 0 };
    make_report(&report);
    const validate_section *s = report.sections.at[0];
    assert_int_equal(validate_count(s, VALIDATE_PASS), 1);
    assert_int_equal(validate_count(s, VALIDATE_KNOWN), 1);
    assert_int_equal(validate_count(s, VALIDATE_FAIL), 1);
    assert_int_equal(validate_count(s, VALIDATE_SKIPPED), 0);
    assert_null(validate_note("no-such-section", "x", "y", 0));
    validate_report_fini(&report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_directory),
        cmocka_unit_test(csv_cells),
        cmocka_unit_test(broken_csv_files_have_a_line),
        cmocka_unit_test(random_csv_files),
        cmocka_unit_test(text_is_aligned),
        cmocka_unit_test(csv_is_tidy),
        cmocka_unit_test(markdown_and_html),
        cmocka_unit_test(counts_by_verdict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
