/* test_input.c: files as bytes, with any compression; cut or damaged files are reported. */
#include "kernel_text.h"
#include "temp_dir.h"

#include "workload/accelsim/input.h"

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#define TEXT_BYTES 300000u

typedef size_t (*compressor)(const char *text, size_t bytes, unsigned char *out, size_t room);

static size_t plain(const char *text, size_t bytes, unsigned char *out, size_t room)
{
    assert_true(bytes <= room);
    memcpy(out, text, bytes);
    return bytes;
}

static size_t xz(const char *text, size_t bytes, unsigned char *out, size_t room)
{
    size_t used = 0;
    assert_int_equal(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, NULL, (const uint8_t *)text, bytes, out,
                                             &used, room),
                     LZMA_OK);
    return used;
}

static size_t zstd(const char *text, size_t bytes, unsigned char *out, size_t room)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();
    assert_non_null(context);
    assert_false(ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)));
    size_t used = ZSTD_compress2(context, out, room, text, bytes);
    assert_false(ZSTD_isError(used));
    ZSTD_freeCCtx(context);
    return used;
}

static size_t gzip(const char *text, size_t bytes, unsigned char *out, size_t room)
{
    z_stream z = { 0 };
    assert_int_equal(deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (Bytef *)(uintptr_t)text;
    z.avail_in = (uInt)bytes;
    z.next_out = out;
    z.avail_out = (uInt)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    size_t used = room - z.avail_out;
    deflateEnd(&z);
    return used;
}

static const struct {
    const char *name;
    compressor compress;
} kinds[] = { { "plain", plain }, { "xz", xz }, { "zstd", zstd }, { "gzip", gzip } };

static char text[TEXT_BYTES];
static unsigned char packed[2 * TEXT_BYTES + 4096];

static void fill_text(void)
{
    uint32_t x = 1;
    for (size_t i = 0; i < TEXT_BYTES; i++) {
        x = x * 1664525 + 1013904223;
        text[i] = (char)(' ' + (x >> 26));
    }
}

/* Reads everything in pieces of `step`; returns how much came. */
/* The output of damaged data is not compared. */
static bool compare = true;

static size_t read_all_bytes(acc_input *input, size_t step, ls_status *status, ls_error *err)
{
    static char got[2 * TEXT_BYTES + 16];
    size_t total = 0, count = 1;
    while (count) {
        *status = acc_input_read(input, got + total, step, &count, err);
        if (*status != LS_OK)
            break;
        total += count;
        assert_true(total <= 2 * TEXT_BYTES);
    }
    for (size_t i = 0; compare && i < total; i += TEXT_BYTES)
        assert_memory_equal(got + i, text, total - i < TEXT_BYTES ? total - i : TEXT_BYTES);
    return total;
}

static void test_kinds(void **state)
{
    (void)state;
    static const size_t steps[] = { 1000, 65536, 262144 };
    for (size_t k = 0; k < LS_COUNT_OF(kinds); k++) {
        size_t bytes = kinds[k].compress(text, TEXT_BYTES, packed, sizeof packed);
        write_bytes("file", packed, bytes);
        for (size_t s = 0; s < LS_COUNT_OF(steps); s++) {
            acc_input *input;
            ls_status status;
            ls_error err;
            assert_int_equal(acc_input_open("file", &input, &err), LS_OK);
            assert_string_equal(acc_input_kind(input), kinds[k].name);
            assert_int_equal(read_all_bytes(input, steps[s], &status, &err), TEXT_BYTES);
            assert_int_equal(status, LS_OK);
            assert_int_equal(acc_input_file_bytes(input), bytes);
            acc_input_close(input);
        }
    }
}

/* Two concatenated compressed files are one text. */
static void test_concatenated(void **state)
{
    (void)state;
    for (size_t k = 0; k < LS_COUNT_OF(kinds); k++) {
        acc_input *input;
        ls_status status;
        ls_error err;
        size_t bytes = kinds[k].compress(text, TEXT_BYTES, packed, sizeof packed / 2);
        memcpy(packed + bytes, packed, bytes);
        assert_int_equal(acc_input_open_memory("m", packed, 2 * bytes, &input, &err), LS_OK);
        assert_int_equal(read_all_bytes(input, 65536, &status, &err), 2 * TEXT_BYTES);
        assert_int_equal(status, LS_OK);
        acc_input_close(input);
    }
}

static void test_truncated(void **state)
{
    (void)state;
    for (size_t k = 1; k < LS_COUNT_OF(kinds); k++) {
        acc_input *input;
        ls_status status;
        ls_error err;
        char expected[80];
        size_t bytes = kinds[k].compress(text, TEXT_BYTES, packed, sizeof packed);
        assert_int_equal(acc_input_open_memory("m", packed, bytes / 2, &input, &err), LS_OK);
        size_t got = read_all_bytes(input, 65536, &status, &err);
        assert_in_range(got, 1, TEXT_BYTES - 1); /* the bytes before the cut were right and were delivered */
        assert_int_equal(status, LS_ERR_INPUT);
        snprintf(expected, sizeof expected, "the %s data ends too early: the file is truncated",
                 kinds[k].name);
        assert_string_equal(err.what, expected);
        assert_string_equal(err.where, "m");
        acc_input_close(input);
    }
}

static void test_damaged(void **state)
{
    (void)state;
    for (size_t k = 1; k < LS_COUNT_OF(kinds); k++) {
        acc_input *input;
        ls_status status;
        ls_error err;
        char expected[80];
        size_t bytes = kinds[k].compress(text, TEXT_BYTES, packed, sizeof packed);
        memset(packed + bytes / 2, 0xff, 64);
        assert_int_equal(acc_input_open_memory("m", packed, bytes, &input, &err), LS_OK);
        compare = false;
        read_all_bytes(input, 512, &status, &err);
        compare = true;
        snprintf(expected, sizeof expected, "the %s data is damaged", kinds[k].name);
        assert_int_equal(status, LS_ERR_INPUT);
        assert_string_equal(err.what, expected);
        acc_input_close(input);
    }
}

static void test_empty(void **state)
{
    (void)state;
    acc_input *input;
    ls_status status;
    ls_error err;
    assert_int_equal(acc_input_open_memory("m", "", 0, &input, &err), LS_OK);
    assert_int_equal(read_all_bytes(input, 100, &status, &err), 0);
    assert_int_equal(status, LS_OK);
    acc_input_close(input);
    for (size_t k = 1; k < LS_COUNT_OF(kinds); k++) {
        size_t bytes = kinds[k].compress("", 0, packed, sizeof packed);
        assert_int_equal(acc_input_open_memory("m", packed, bytes, &input, &err), LS_OK);
        assert_int_equal(read_all_bytes(input, 100, &status, &err), 0);
        assert_int_equal(status, LS_OK);
        acc_input_close(input);
    }
}

static void test_unsupported(void **state)
{
    (void)state;
    static const struct {
        const char *head, *what;
    } cases[] = {
        { "BZh91AY", "bzip2 is not supported: compress the file with xz, zstd or gzip" },
        { "\x04\x22\x4d\x18xxxx", "lz4 is not supported: compress the file with xz, zstd or gzip" },
        { "PK\x03\x04xxxx", "zip is not supported: compress the file with xz, zstd or gzip" },
    };
    for (size_t i = 0; i < LS_COUNT_OF(cases); i++) {
        acc_input *input;
        ls_error err;
        assert_int_equal(acc_input_open_memory("m", cases[i].head, 7, &input, &err), LS_ERR_UNSUPPORTED);
        assert_string_equal(err.what, cases[i].what);
        assert_null(input);
    }
}

static void test_cannot_open(void **state)
{
    (void)state;
    acc_input *input;
    ls_error err;
    assert_int_equal(acc_input_open("nothing", &input, &err), LS_ERR_IO);
    assert_string_equal(err.what, "cannot open the file: No such file or directory");
    assert_string_equal(err.where, "nothing");
    assert_int_equal(acc_input_open(".", &input, &err), LS_ERR_IO);
    assert_string_equal(err.what, "cannot read the file: Is a directory");
    acc_input_close(NULL);
}

/* A kernel in a truncated file: the error has the line up to which it could be read. */
static void test_truncated_kernel(void **state)
{
    (void)state;
    text_buffer kernel = { 0 };
    text_printf(&kernel, "%s#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 9000\n", HEADER_V3);
    for (unsigned i = 0; i < 9000; i++)
        text_printf(&kernel, "%04x %08x 0 NOP 0 0 \n", i * 16, i * 2654435761u);
    text_add(&kernel, "#END_TB\n");
    for (size_t k = 1; k < LS_COUNT_OF(kinds); k++) {
        const trace_options options = { 0 };
        trace_kernel *reader;
        ls_cta cta = { 0 };
        ls_error err;
        bool end = false;
        unsigned line;
        size_t bytes = kinds[k].compress(text_get(&kernel), kernel.count, packed, sizeof packed);
        assert_int_equal(acc_open_memory("m", packed, bytes * 9 / 10, &options, NULL, &reader, &err), LS_OK);
        assert_int_equal(kernel_next_cta(reader, &cta, &end, &err), LS_ERR_INPUT);
        assert_int_equal(sscanf(err.where, "m:%u", &line), 1);
        assert_in_range(line, 1000, 9018);
        assert_non_null(strstr(err.what, "ends too early: the file is truncated"));
        kernel_close(reader);
        ls_cta_fini(&cta);
        acc_report report = { 0 };
        assert_int_equal(acc_open_memory("m", packed, bytes * 9 / 10, &options, &report, &reader, &err),
                         LS_OK);
        assert_int_equal(kernel_next_cta(reader, &cta, &end, &err), LS_OK);
        assert_true(end);
        assert_int_equal(report.defects.count, 1); /* and not also what follows from it */
        assert_int_equal(report.defects.at[0].kind, ACC_truncated);
        assert_int_equal(report.defects.at[0].line, line);
        acc_report_fini(&report);
        kernel_close(reader);
        ls_cta_fini(&cta);
    }
    text_fini(&kernel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),       cmocka_unit_test(test_concatenated),
        cmocka_unit_test(test_truncated),   cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_empty),       cmocka_unit_test(test_unsupported),
        cmocka_unit_test(test_cannot_open), cmocka_unit_test(test_truncated_kernel),
    };
    fill_text();
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
