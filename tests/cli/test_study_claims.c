/* test_study_claims.c: verdicts about claims of the literature: ranges, workloads by label, traffic, the geometric mean. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/study/study.h"

static const study_workload aes = { .label = "AES" }, mm = { .label = "MM" }, m = { .label = "M" };
static const study two = { .config_count = 2 };

/* Configuration 1 is 2, 8 and 4 times as fast as 0, with a half, none and all of its traffic. */
static const study_row rows[] = {
    { .workload = &aes,
      .results = { { .kernel_seconds = 4, .remote_bytes = 100 },
                   { .kernel_seconds = 2, .remote_bytes = 50 } } },
    { .workload = &mm, .results = { { .kernel_seconds = 8, .remote_bytes = 100 }, { .kernel_seconds = 1 } } },
    { .workload = &m, .results = { { .kernel_seconds = 4 }, { .kernel_seconds = 1 } } },
};
static const study_result result = { .study = &two, .rows = rows, .row_count = 3 };

static void judged(const study_claim *claim, study_verdict verdict, const char *numbers)
{
    char text[128];
    assert_int_equal(study_judge(&result, claim, text, sizeof text), verdict);
    assert_string_equal(text, numbers);
}

static void test_ranges(void **state)
{
    (void)state;
    study_claim claim = { .workloads = "AES MM", .config = 1, .low = 2, .high = 8 };
    judged(&claim, STUDY_AGREES, "AES 2.00, MM 8.00");
    claim.high = 7;
    judged(&claim, STUDY_PARTLY, "AES 2.00, MM 8.00");
    claim.needed = 1;
    judged(&claim, STUDY_AGREES, "AES 2.00, MM 8.00");
    claim.needed = 2;
    judged(&claim, STUDY_DIFFERS, "AES 2.00, MM 8.00");
    claim = (study_claim){ .workloads = "AES", .config = 1, .low = 3, .high = 4 };
    judged(&claim, STUDY_DIFFERS, "AES 2.00");
}

static void test_labels_are_whole(void **state)
{
    (void)state;
    judged(&(study_claim){ .workloads = "MM M", .config = 1, .high = 99 }, STUDY_AGREES, "MM 8.00, M 4.00");
    judged(&(study_claim){ .workloads = "MM", .config = 1, .high = 99 }, STUDY_AGREES, "MM 8.00");
    judged(&(study_claim){ .workloads = "KM", .config = 1, .high = 99 }, STUDY_UNKNOWN, "");
}

static void test_traffic_needs_a_base(void **state)
{
    (void)state;
    judged(&(study_claim){ .workloads = "AES MM M", .metric = STUDY_TRAFFIC, .config = 1, .high = 0.5 },
           STUDY_AGREES, "AES 0.50, MM 0.00");
    assert_int_equal(study_traffic_base(&result), 0);
}

static void test_mean(void **state)
{
    (void)state;
    judged(&(study_claim){ .config = 1, .low = 3.9, .high = 4.1 }, STUDY_AGREES, "geometric mean 4.00");
    judged(&(study_claim){ .config = 1, .low = 4.1, .high = 5 }, STUDY_DIFFERS, "geometric mean 4.00");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_labels_are_whole),
        cmocka_unit_test(test_traffic_needs_a_base),
        cmocka_unit_test(test_mean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
