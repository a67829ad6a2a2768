/* Tests of src/report/timeline/spans.c and spans_pack.c: rows in their order, texts with numbers, columns, limits. */
#include "report/timeline/spans.h"

#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const timeline_track process = { .id = 1, .process = 1, .name = "gpu0", .type = TRACK_PROCESS };
static const timeline_track block = {
    .id = 2, .process = 1, .parent = &process, .name = "core0", .order = 5, .type = TRACK_BLOCK
};

static timeline_track lane(uint32_t id, const char *word, const char *name, uint32_t order, uint32_t number)
{
    return (timeline_track){ .id = id,
                             .process = 1,
                             .parent = &block,
                             .name = name,
                             .word = word,
                             .order = order,
                             .lane = number,
                             .type = TRACK_LANE };
}

static void put(timeline_spans *s, const timeline_track *track, ls_tap_kind kind, slice_part part,
                const char *name, ls_time begin_ps, ls_time end_ps, uint64_t id, uint64_t parent)
{
    const timeline_slice slice = { .id = id,
                                   .parent = parent,
                                   .kind = (uint8_t)kind,
                                   .part = part,
                                   .track = track,
                                   .name = name,
                                   .begin = begin_ps * 1000,
                                   .end = end_ps * 1000 };
    writer_spans.end(s, &slice);
}

static char *json_of(timeline_spans *s, ls_time end_ps)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&text, &bytes);
    assert_non_null(to);
    assert_int_equal(timeline_spans_finish(s, end_ps * 1000, NULL), LS_OK);
    assert_int_equal(timeline_spans_write(s, to, NULL), LS_OK);
    fclose(to);
    return text;
}

static void assert_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("%s is not in %s", part, text);
}

/* Lanes come as they are used; the page has them by kind and number, and the most used text first. */
static void test_rows_and_labels_are_sorted(void **state)
{
    timeline_spans s = { 0 };
    timeline_track second = lane(3, "warp", "warp 1", 3, 1), first = lane(4, "warp", "warp 0", 3, 0),
                   group = lane(5, "group", "group 0", 2, 0);
    (void)state;
    writer_spans.track(&s, &second);
    writer_spans.track(&s, &first);
    writer_spans.track(&s, &group);
    put(&s, &second, LS_TAP_WARP, SLICE_STATE, "active", 10, 20, 4, 3);
    put(&s, &second, LS_TAP_WARP, SLICE_STATE, "memory", 20, 30, 5, 3);
    put(&s, &second, LS_TAP_WARP, SLICE_STATE, "memory", 30, 40, 6, 3);
    put(&s, &second, LS_TAP_WARP, SLICE_WHOLE, "warp 1 of group 17", 10, 40, 3, 2);
    put(&s, &first, LS_TAP_WARP, SLICE_WHOLE, "warp 0 of group 17", 10, 41, 2, 1);
    put(&s, &group, LS_TAP_GROUP, SLICE_WHOLE, "group 17", 10, 41, 1, 0);
    char *text = json_of(&s, 50);
    assert_has(text,
               "\"rows\":[[\"gpu0\",\"core0\",\"group\",\"group 0\",1,0],[\"gpu0\",\"core0\",\"warp\",\"warp "
               "0\",1,0],[\"gpu0\",\"core0\",\"warp\",\"warp 1\",1,3]]");
    /* Both warps share a text, as both waits for memory do. */
    assert_has(
        text,
        "\"labels\":[[\"memory\",3,1,0,null,false,false],[\"warp # of group #\",3,0,2,null,false,false],");
    assert_has(text, "\"spans\":6,\"left_out\":0,\"end_ps\":50");
    /* Gaps are signed: 10 10 10, then 10 0 0 of the states. */
    assert_has(text, "\"gap\":\"FBQUFAAA\"");
    /* 31 31 30 10 10 10 */
    assert_has(text, "\"length\":\"Hx8eCgoK\"");
    /* 17; 0 17; 1 17 */
    assert_has(text, "\"numbers\":\"EQARARE=\"");
    free(text);
    timeline_spans_fini(&s);
}

/* Addresses are differences on a row, and the parts of a request in other blocks know it. */
static void test_values_and_parents(void **state)
{
    timeline_spans s = { 0 };
    timeline_track request = lane(3, "request", "request 0", 4, 0),
                   service = lane(4, "service", "service 0", 9, 0);
    (void)state;
    writer_spans.track(&s, &service);
    writer_spans.track(&s, &request);
    timeline_slice slice = {
        .id = 1, .kind = LS_TAP_REQUEST, .track = &request, .name = "read", .arg_count = 1
    };
    slice.args[0] = (slice_arg){ .name = "address", .number = 0x200, .is_address = true };
    slice.end = 100000;
    put(&s, &service, LS_TAP_REQUEST, SLICE_SERVICE, "read", 10, 50, 2, 1);
    writer_spans.end(&s, &slice);
    slice.id = 3;
    slice.begin = 100000;
    slice.end = 200000;
    slice.args[0].number = 0x1e0;
    writer_spans.end(&s, &slice);
    char *text = json_of(&s, 200);
    assert_has(text, "[\"read\",5,0,0,\"address\",true,false]");
    assert_has(text, "[\"read\",5,3,0,null,false,true]");
    /* +0x200, -0x20 with the sign in the lowest bit */
    assert_has(text, "\"value\":\"gAg/\"");
    /* The service is the third span, its request the first. */
    assert_has(text, "\"parent\":\"BA==\"");
    free(text);
    timeline_spans_fini(&s);
}

/* Names of kernels are as the source spells them; their digits are no numbers of spans. */
static void test_kernels_are_demangled(void **state)
{
    timeline_spans s = { 0 };
    timeline_track kernel = lane(3, "kernel", "kernel 0", 0, 0);
    (void)state;
    writer_spans.track(&s, &kernel);
    put(&s, &kernel, LS_TAP_KERNEL, SLICE_WHOLE, "_Z9vector<3Pf", 0, 5, 1, 0);
    put(&s, &kernel, LS_TAP_KERNEL, SLICE_WHOLE, "_Z6scale3Pf", 5, 9, 2, 0);
    char *text = json_of(&s, 9);
    assert_has(text, "\"scale3\"");
    free(text);
    timeline_spans_fini(&s);
}

/* States and requests beyond a million are left out; kernels and warps are not. */
static void test_most_spans(void **state)
{
    timeline_spans s = { 0 };
    timeline_track warp = lane(3, "warp", "warp 0", 3, 0);
    (void)state;
    writer_spans.track(&s, &warp);
    for (uint64_t i = 0; i < SPANS_MOST + 3; i++)
        put(&s, &warp, LS_TAP_WARP, SLICE_STATE, "active", i, i + 1, i + 2, 1);
    put(&s, &warp, LS_TAP_WARP, SLICE_WHOLE, "warp 0 of group 0", 0, SPANS_MOST + 3, 1, 0);
    assert_int_equal(s.left_out, 3);
    assert_int_equal(s.list.count, SPANS_MOST + 1);
    timeline_spans_fini(&s);
}

/* A counter without a unit counts spans that are there anyway. */
static void test_counters(void **state)
{
    timeline_spans s = { 0 };
    const timeline_track rate = {
        .id = 3, .process = 1, .parent = &block, .name = "bandwidth", .unit = "GB/s", .type = TRACK_COUNTER
    };
    const timeline_track active = {
        .id = 4, .process = 1, .parent = &block, .name = "active warps", .unit = "", .type = TRACK_COUNTER
    };
    (void)state;
    writer_spans.track(&s, &rate);
    writer_spans.track(&s, &active);
    writer_spans.count(&s, &rate, 1000000, 1.5);
    writer_spans.count(&s, &active, 1000000, 7);
    char *text = json_of(&s, 2000);
    /* 1000 ps, 1500 thousandths */
    assert_has(
        text,
        "\"counters\":[{\"process\":\"gpu0\",\"block\":\"core0\",\"name\":\"bandwidth\",\"unit\":\"GB/s\",\"count\":1,\"points\":\"6AfcCw==\"}]");
    free(text);
    timeline_spans_fini(&s);
}

/* Many values: neighbours merge, the largest stays. */
static void test_counters_merge(void **state)
{
    timeline_spans s = { 0 };
    const timeline_track rate = {
        .id = 3, .process = 1, .parent = &block, .name = "bandwidth", .unit = "GB/s", .type = TRACK_COUNTER
    };
    (void)state;
    writer_spans.track(&s, &rate);
    for (uint64_t i = 0; i <= SPANS_POINTS; i++)
        writer_spans.count(&s, &rate, i * 1000, i == 7 ? 9 : 1);
    assert_int_equal(s.counters.at[0].times.count, SPANS_POINTS / 2 + 1);
    assert_int_equal(s.counters.at[0].times.at[3], 6000);
    assert_true(s.counters.at[0].values.at[3] == 9 && s.counters.at[0].values.at[4] == 1);
    timeline_spans_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_and_labels_are_sorted),
        cmocka_unit_test(test_values_and_parents),
        cmocka_unit_test(test_kernels_are_demangled),
        cmocka_unit_test(test_most_spans),
        cmocka_unit_test(test_counters),
        cmocka_unit_test(test_counters_merge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
