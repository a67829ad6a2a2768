/* test_trace_file.c: packed instruction traces give back the records that were written; damaged ones are refused. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "lockstep/random.h"
#include "runtime/emulate/trace_file.h"

#include <stdlib.h>
#include <string.h>

#define OPS 40
#define RECORDS 400

static trace_op ops[OPS + 1];
static char texts[OPS + 1][2][32];

static trace_launch make_launch(uint64_t number, uint32_t lanes)
{
    for (unsigned i = 1; i <= OPS; i++) {
        snprintf(texts[i][0], sizeof texts[i][0], "k+0x%x", 4 * i);
        snprintf(texts[i][1], sizeof texts[i][1], "v_mov_b32 v%u, \"s1\"", i);
        ops[i] = (trace_op){ .pc = texts[i][0], .text = texts[i][1], .source_count = 1 };
        ops[i].sources[0].code = (uint16_t)(i * 12);
        ops[i].sources[0].dwords = 2;
    }
    return (trace_launch){ .number = number, .kernel = "k", .lanes = lanes, .op_count = OPS, .ops = ops };
}

/* Lanes that are equal, in steps, or anything: the three forms in the file. */
static void fill(ls_random *random, uint32_t *out, uint32_t count)
{
    uint32_t first = (uint32_t)ls_random_next(random), how = (uint32_t)(ls_random_next(random) % 3);
    for (uint32_t i = 0; i < count; i++)
        out[i] = how == 0 ? first : how == 1 ? first - 4 * i : (uint32_t)ls_random_next(random);
}

static void make_values(ls_random *random, trace_values *out, uint32_t lanes)
{
    out->scalar_count = (uint32_t)(ls_random_next(random) % 4);
    for (uint32_t i = 0; i < out->scalar_count; i++) {
        out->scalars[i].code = (uint8_t)(ls_random_next(random) % 107);
        out->scalars[i].value = (uint32_t)ls_random_next(random);
    }
    out->has_scc = ls_random_next(random) % 2;
    out->scc = ls_random_next(random) % 2;
    out->vector_count = (uint32_t)(ls_random_next(random) % 5);
    for (uint32_t i = 0; i < out->vector_count; i++) {
        out->vectors[i].number = (uint8_t)ls_random_next(random);
        fill(random, out->vectors[i].lane, lanes);
    }
}

static void make_access(ls_random *random, trace_record *r, uint32_t lanes)
{
    static const uint8_t sizes[] = { 1, 2, 4, 8, 12, 16 };
    trace_access *a = &r->access;
    a->kind = (uint8_t)(ls_random_next(random) % 4);
    if (a->kind == AMD_ACCESS_NONE)
        return;
    a->space = (uint8_t)(ls_random_next(random) % 5);
    a->pieces = (uint8_t)(1 + ls_random_next(random) % 2);
    a->piece_bytes = sizes[ls_random_next(random) % 6];
    a->lanes = ls_random_next(random) % 3 ? r->exec
                                          : ls_random_next(random) & (lanes == 32 ? UINT32_MAX : UINT64_MAX);
    a->in_lds = ls_random_next(random) % 2 ? 0 : a->lanes;
    uint64_t base = 0x100000000u + ls_random_next(random) % 65536;
    bool straight = ls_random_next(random) % 2;
    for (unsigned lane = 0; lane < lanes; lane++) {
        for (unsigned p = 0; p < a->pieces; p++)
            a->address[p][lane] = straight ? base + 4 * lane + 512 * p : ls_random_next(random);
        for (unsigned k = 0; k < AMD_DATA_DWORDS; k++)
            a->data[lane][k] = a->kind == AMD_ACCESS_LOAD && k < r->writes.vector_count
                                   ? r->writes.vectors[k].lane[lane]
                                   : (uint32_t)ls_random_next(random);
        a->old[lane][0] = lane;
        a->old[lane][1] = 0;
    }
}

static void make_record(ls_random *random, trace_record *r, uint32_t lanes)
{
    if (ls_random_next(random) % 8 == 0) {
        r->group[0] = (uint32_t)(ls_random_next(random) % 3);
        r->wave = (uint32_t)(ls_random_next(random) % 32);
    }
    r->op = ls_random_next(random) % 4 ? r->op % OPS + 1 : 1 + (uint32_t)(ls_random_next(random) % OPS);
    if (ls_random_next(random) % 4 == 0)
        r->exec = ls_random_next(random) & (lanes == 32 ? UINT32_MAX : UINT64_MAX);
    make_values(random, &r->writes, lanes);
    r->has_reads = ls_random_next(random) % 2;
    if (r->has_reads)
        make_values(random, &r->reads, lanes);
    make_access(random, r, lanes);
}

/* A packed trace of two launches, and its lines of JSON. */
static void make(char **packed, size_t *packed_bytes, char **json, size_t *json_bytes)
{
    static trace_record record;
    ls_random random;
    FILE *file = open_memstream(packed, packed_bytes), *lines = open_memstream(json, json_bytes);
    trace_writer *writer;
    ls_random_init(&random, 7);
    assert_int_equal(trace_writer_create(file, &writer, NULL), LS_OK);
    for (uint64_t number = 1; number <= 2; number++) {
        trace_launch launch = make_launch(number, number == 1 ? 32 : 64);
        record = (trace_record){ .op = 1, .exec = UINT32_MAX };
        trace_writer_launch(writer, &launch);
        trace_print_launch(lines, &launch);
        for (unsigned i = 0; i < RECORDS; i++) {
            make_record(&random, &record, launch.lanes);
            trace_writer_put(writer, &record);
            trace_print_json(lines, &launch, &record);
        }
    }
    assert_int_equal(trace_writer_finish(writer, NULL), LS_OK);
    fclose(file);
    fclose(lines);
}

/* The lines of a packed trace; how the reading ended. */
static ls_status read(const char *packed, size_t bytes, char **json, size_t *json_bytes, ls_error *err)
{
    FILE *file = fmemopen((void *)(uintptr_t)packed, bytes, "rb"), *lines = open_memstream(json, json_bytes);
    trace_reader *reader;
    trace_item item = TRACE_ITEM_LAUNCH;
    ls_status status = trace_reader_create(file, &reader, err);
    while (status == LS_OK && (status = trace_reader_next(reader, &item, err)) == LS_OK &&
           item != TRACE_ITEM_END) {
        if (item == TRACE_ITEM_LAUNCH)
            trace_print_launch(lines, trace_reader_launch(reader));
        else
            trace_print_json(lines, trace_reader_launch(reader), trace_reader_record(reader));
    }
    trace_reader_destroy(reader);
    fclose(file);
    fclose(lines);
    return status;
}

static void round_trip(void **state)
{
    (void)state;
    char *packed, *json, *again;
    size_t packed_bytes, json_bytes, again_bytes;
    ls_error err;
    make(&packed, &packed_bytes, &json, &json_bytes);
    if (read(packed, packed_bytes, &again, &again_bytes, &err) != LS_OK)
        fail_msg("%s", err.what);
    assert_int_equal(json_bytes, again_bytes);
    assert_memory_equal(json, again, json_bytes);
    free(packed);
    free(json);
    free(again);
}

static void damaged(void **state)
{
    (void)state;
    char *packed, *json, *again;
    size_t packed_bytes, json_bytes, again_bytes;
    ls_error err;
    make(&packed, &packed_bytes, &json, &json_bytes);
    const size_t cuts[] = { 1, 7, 8, 9, 100, packed_bytes / 2, packed_bytes - 1 };
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
        assert_int_equal(read(packed, cuts[i], &again, &again_bytes, &err), LS_ERR_INPUT);
        free(again);
    }
    packed[packed_bytes / 3] ^= 1;
    assert_int_equal(read(packed, packed_bytes, &again, &again_bytes, &err), LS_ERR_INPUT);
    assert_non_null(strstr(err.what, "damaged"));
    free(again);
    packed[0] ^= 1;
    assert_int_equal(read(packed, packed_bytes, &again, &again_bytes, &err), LS_ERR_INPUT);
    assert_non_null(strstr(err.what, "no packed instruction trace"));
    free(again);
    free(packed);
    free(json);
}

static void registers(void **state)
{
    (void)state;
    char name[16];
    unsigned code;
    for (unsigned i = 0; i < 512; i++) {
        bool exists =
            i < 106 || i == AMD_VCC_LO || i == AMD_EXEC_HI || i == AMD_M0 || i == AMD_SCC || i >= AMD_VGPR;
        if (!exists)
            continue;
        assert_true(trace_register_find(trace_register_name(i, name, sizeof name), &code));
        assert_int_equal(code, i);
    }
    const char *wrong[] = { "s106", "v256", "x1", "s", "", "v-1" };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(trace_register_find(wrong[i], &code));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip),
        cmocka_unit_test(damaged),
        cmocka_unit_test(registers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
