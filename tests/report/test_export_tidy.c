/* Tidy CSV: the rows, the quoting, and a reader that gets back what was written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/fixture.h"

enum { COLUMNS = 12 };

/* Reads one cell at *p into out; returns the character that ended it: ',' or '\n'. */
static char read_cell(const char **p, char *out, size_t bytes)
{
    size_t used = 0;
    const char *s = *p;
    if (*s == '"') {
        for (s++; *s != '"' || s[1] == '"'; s++) {
            assert_true(*s != '\0' && used + 1 < bytes);
            s += *s == '"';
            out[used++] = *s;
        }
        s++;
    } else
        for (; *s != ',' && *s != '\r'; s++) {
            assert_true(*s != '\0' && *s != '"' && *s != '\n' && used + 1 < bytes);
            out[used++] = *s;
        }
    out[used] = '\0';
    if (*s == ',') {
        *p = s + 1;
        return ',';
    }
    assert_memory_equal(s, "\r\n", 2);
    *p = s + 2;
    return '\n';
}

static void test_rows(void **state)
{
    (void)state;
    fixture *f = fixture_create();
    fixture_warn(f);
    const export_options blocks = { .per_block = true };
    char *text = fixture_export(f, LS_EXPORT_TIDY, &blocks);
    const char *expected[] = {
        "run,,,,,,run,platform,fact,value,rtx2060,\r\n",
        "run,,,,,,run,partial,fact,value,0,\r\n",
        "run,,,,,,run,seed,fact,value,42,\r\n",
        "run,,,,,,run,end_time,fact,value,4000000,fs\r\n",
        "run,,,,,,run,cycles,fact,value,4,cycles\r\n",
        "run,,,,,,run,engine.region_cycles,fact,value,77,cycles\r\n",
        "run,,,,,,warning,key,fact,value,\"'a.b' has no effect: it needs \"\"c\"\", not \"\"d\"\"\",\r\n",
        "run,,,,,,warning,unmodelled,fact,value,\"7 instructions, of 2 kinds\",\r\n",
        "kernel,0,0,\"void add<int, 4>(int*, \"\"x\"\")\",7,,kernel,end,fact,value,2500000,fs\r\n",
        "run,,,,,,dram/bank,refreshes,counter,untouched,1,\r\n",
        "run,0,,,,gpu0.l1[0],l1/cycle,hits,counter,value,1500000,sectors\r\n",
        "run,0,,,,gpu0.l1[0],l1/cycle,hit_rate,ratio,value,0.75,\r\n",
        "run,0,,,,gpu0.l1[0],l1/cycle,wait,histogram,count,2,\r\n",
        "run,0,,,,gpu0.l1[0],l1/cycle,wait,histogram,max,5,cycles\r\n",
        "run,0,,,,gpu0.l1[0],l1/cycle,wait,histogram,bucket_4,1,\r\n",
        "run,,,,,dram,dram/bank,reads,counter,value,18446744073709551615,bursts\r\n",
        "run,,,,,dram,dram/bank,refreshes,counter,value,0,\r\n",
        "run,,,,,dram,dram/bank,refresh_rate,ratio,denominator,0,\r\n",
        "kernel,0,1,,7,gpu0.l1[1],l1/cycle,queue_peak,peak,value,12,entries\r\n",
        "kernel,0,1,,7,dram,dram/bank,open_rows,level,value,3,rows\r\n",
        "run,,,,,,l1/cycle,hits,counter,value,2000000,sectors\r\n",
        "kernel,0,1,,7,,l1/cycle,hit_rate,ratio,value,0.25,\r\n",
        "kernel,0,0,\"void add<int, 4>(int*, \"\"x\"\")\",7,,l1/cycle,wait,histogram,max,5,cycles\r\n",
        "host,,,,,,host,command,fact,value,\"lockstep run a,b\",\r\n",
        "host,,,,,,host,wall_time,fact,value,1.5,s\r\n",
    };
    for (size_t i = 0; i < LS_COUNT_OF(expected); i++)
        assert_contains(text, expected[i]);
    assert_null(strstr(text, "refresh_rate,ratio,value")); /* 0 / 0 is absent */
    assert_null(strstr(text, "kernel,0,1,,7,gpu0.l1[0]")); /* it did nothing in this kernel */
    assert_null(strstr(text, "kernel,0,1,,7,dram,dram/bank,refreshes"));
    free(text);
    /* Without a request, kernels have no blocks; the run has. */
    text = fixture_export(f, LS_EXPORT_TIDY, NULL);
    assert_null(strstr(text, "kernel,0,1,,7,gpu0.l1[1]"));
    assert_contains(text, "kernel,0,1,,7,,l1/cycle,queue_peak,peak,value,12,entries\r\n");
    assert_contains(text, "run,0,,,,gpu0.l1[1],l1/cycle,queue_peak,peak,value,12,entries\r\n");
    free(text);
    fixture_destroy(f);
}

static void test_reads_back(void **state)
{
    (void)state;
    fixture *f = fixture_create();
    f->results.partial = true;
    f->results.partial_reason = "a \"quoted\",\nreason";
    fixture_mark(f->m, 2, "line\r\nend,\"\"", 0, 1);
    char *text = fixture_export(f, LS_EXPORT_TIDY, NULL);
    const char *p = text;
    size_t rows = 0;
    bool reason = false, name = false;
    while (*p) {
        char cell[COLUMNS][128];
        for (int i = 0; i < COLUMNS; i++)
            assert_int_equal(read_cell(&p, cell[i], sizeof cell[i]), i + 1 < COLUMNS ? ',' : '\n');
        if (rows == 0)
            assert_string_equal(cell[10], "value");
        reason |= strcmp(cell[7], "partial_reason") == 0 && strcmp(cell[10], f->results.partial_reason) == 0;
        name |= strcmp(cell[3], "line\r\nend,\"\"") == 0 && strcmp(cell[2], "2") == 0;
        rows++;
    }
    assert_true(reason);
    assert_true(name);
    assert_contains(text, "run,,,,,,run,partial,fact,value,1,\r\n");
    free(text);
    fixture_destroy(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_reads_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
