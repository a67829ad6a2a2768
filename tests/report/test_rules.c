/* test_rules.c: rules over facts made by hand, names of the tables, and the table of docs/explain.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/rules.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static fact_set no_facts(facts_machine machine)
{
    fact_set f = { .machine = machine };
    for (size_t i = 0; i < FACT_COUNT; i++)
        f.at[i] = NAN;
    return f;
}

static void test_unknown_facts_fire_nothing(void **state)
{
    rule_finding *found = calloc(rule_count, sizeof *found);
    fact_set none = no_facts(FACTS_NVIDIA);
    (void)state;
    assert_non_null(found);
    assert_int_equal(rules_apply(&none, found), 0);
    free(found);
}

static void test_largest_first_with_numbers(void **state)
{
    rule_finding *found = calloc(rule_count, sizeof *found);
    fact_set f = no_facts(FACTS_NVIDIA);
    char text[1024];
    (void)state;
    assert_non_null(found);
    f.at[FACT_dram] = 0.9;
    f.at[FACT_dram_rate] = 403.2;
    f.at[FACT_launching] = 0.4;
    f.at[FACT_kernels] = 7;
    assert_int_equal(rules_apply(&f, found), 2);
    assert_string_equal(found[0].rule->name, "dram_bandwidth");
    assert_string_equal(found[1].rule->name, "launches");
    assert_true(fabs(found[0].gain - 0.9) < 1e-9);
    rule_sentence(found[0].rule, &f, text, sizeof text);
    assert_non_null(strstr(text, "busy for 90.0 % of the time and moves 403.2 GB/s"));
    assert_null(strchr(text, '{'));
    /* Bytes that no lane asked for are not DRAM's fault. */
    f.at[FACT_coalescing] = 0.25;
    assert_int_equal(rules_apply(&f, found), 2);
    assert_string_equal(found[0].rule->name, "launches");
    assert_string_equal(rule_experiment(found[0].rule, FACTS_NVIDIA), "dispatch.launch_latency_cycles/8");
    free(found);
}

/* Every name in braces and in the evidence is a fact. */
static void test_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < rule_count; i++) {
        const rule *r = &rule_table[i];
        for (const char *at = strchr(r->sentence, '{'); at; at = strchr(at + 1, '{'))
            if (fact_find(at + 1, strcspn(at + 1, "}")) == FACT_COUNT)
                fail_msg("%s: the sentence has no fact '%.20s'", r->name, at);
        for (const char *at = r->evidence; *at; at += strcspn(at, " "), at += *at == ' ')
            if (fact_find(at, strcspn(at, " ")) == FACT_COUNT)
                fail_msg("%s: the evidence has no fact '%.20s'", r->name, at);
        assert_true((r->try_nvidia || r->try_amd) == (r->try_title != NULL));
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(rule_table[k].name, r->name);
    }
}

static const char *or_dash(const char *text)
{
    return text ? text : "-";
}

static void test_page(void **state)
{
    static char page[1 << 17];
    char row[1024];
    FILE *f = fopen(LS_SOURCE_DIR "/docs/explain.md", "rb");
    (void)state;
    assert_non_null(f);
    assert_true(fread(page, 1, sizeof page - 1, f) > 1000);
    fclose(f);
    for (size_t i = 0; i < FACT_COUNT; i++) {
        snprintf(row, sizeof row, "\n| `%s` | %s | %s |\n", fact_table[i].name, fact_table[i].unit,
                 fact_table[i].help);
        if (!strstr(page, row))
            fail_msg("docs/explain.md: expected the row %s", row);
    }
    for (size_t i = 0; i < rule_count; i++) {
        const rule *r = &rule_table[i];
        snprintf(row, sizeof row, "\n| %s | `%s` | `%s` | %s | `%s` | `%s` |\n", r->title, r->condition,
                 r->estimate, or_dash(r->try_title), or_dash(r->try_nvidia), or_dash(r->try_amd));
        for (char *at = strstr(row, " || "); at; at = NULL)
            fail_msg("%s: a condition with || does not fit the table", r->name);
        if (!strstr(page, row))
            fail_msg("docs/explain.md: expected the row %s", row);
    }
}

static void test_keys_of_configurations(void **state)
{
    static const char one[] = "machine: gpu\ncores: 4\nclock.core_mhz: 1725.5\ndram.timing: gddr6\n";
    static const char system[] = "machine: system\nfabric.model: none\ngpus:\n  - count: 2\n    machine: gpu\n"
                                 "    cores: 8\n  - count: 1\n    machine: amd\n    cores: 3\n";
    char text[32];
    (void)state;
    assert_true(facts_key_number(one, FACTS_NVIDIA, "clock.core_mhz") == 1725.5);
    assert_string_equal(facts_key(one, FACTS_NVIDIA, "dram.timing", text, sizeof text), "gddr6");
    assert_null(facts_key(one, FACTS_NVIDIA, "core", text, sizeof text));
    assert_true(isnan(facts_key_number(one, FACTS_NVIDIA, "dram.timing")));
    assert_false(facts_is_system(one));
    assert_true(facts_is_system(system));
    assert_true(facts_key_number(system, FACTS_NVIDIA, "cores") == 8);
    assert_true(facts_key_number(system, FACTS_AMD, "cores") == 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unknown_facts_fire_nothing),
        cmocka_unit_test(test_largest_first_with_numbers),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_page),
        cmocka_unit_test(test_keys_of_configurations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
