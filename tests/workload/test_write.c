/* test_write.c: text of Accel-Sim, written: each line and mode exactly, headers of each version, and
 * directories that exist whole or not at all, in every compression that the reader accepts. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "temp_dir.h"
#include "trace_tools.h"
#include "workload/accelsim/input.h"

#include <dirent.h>
#include <sys/stat.h>

/* --------------------------------------------------------------------------------------------- one kernel */

static const inst_words texts[] = {
    { "0000", "1 R1 MOV 0 0", "" },
    { "0010", "1 R4 LDG.E 1 R2 4", "" },
    { "12 0020", "0 STG.E 2 R2 R4 4", "-7" },
    { "0030", "1 R4 MOV 1 R2 0", "0 1 Val" },
};

static bool text_of(const trace_kernel *kernel, uint32_t inst, inst_words *out)
{
    (void)kernel;
    *out = texts[inst];
    return true;
}

static const trace_kernel_ops ops = { .text = text_of };

static trace_kernel kernel_of(uint32_t tracer_version)
{
    static char name[] = "_Z1fPf";
    return (trace_kernel){
        .ops = &ops,
        .info = { .name = name,
                  .id = 3,
                  .grid = { 4, 2, 1 },
                  .block = { 64, 1, 1 },
                  .shared_bytes = 512,
                  .registers = 24,
                  .binary_version = 80,
                  .stream = 1,
                  .shared_base = 0x7f0002000000,
                  .local_base = 0x7f0000000000,
                  .tracer_version = tracer_version },
    };
}

static void expect_text(const text_buffer *text, const char *expected)
{
    assert_false(text->failed);
    assert_string_equal(text_get(text), expected);
}

/* One line: instruction, mask, mode and words; without the frame of block and warp. */
static void expect_line(uint32_t version, uint32_t inst, uint32_t mask, uint32_t addr, const uint64_t *words,
                        const ls_cta_values *values, const char *expected)
{
    ls_dyn dyn = { inst, mask, addr };
    uint64_t addrs[32] = { 0 };
    if (words)
        memcpy(addrs, words, sizeof addrs);
    ls_warp_stream warp = { 0, 1 };
    ls_cta cta = { .id = { 1, 2, 3 },
                   .warp_count = 1,
                   .warps = &warp,
                   .dyns = &dyn,
                   .dyn_count = 1,
                   .addrs = addrs,
                   .extra = values };
    trace_kernel kernel = kernel_of(version);
    text_buffer out = { 0 };
    char whole[2048];
    assert_ok(write_cta(&out, &kernel, &kernel.info, &cta, true, err));
    snprintf(whole, sizeof whole, "#BEGIN_TB\n\nthread block = 1,2,3\n\nwarp = 0\ninsts = 1\n%s\n\n#END_TB\n",
             expected);
    expect_text(&out, whole);
    text_fini(&out);
}

static void test_lines(void **state)
{
    (void)state;
    uint64_t words[32] = { 0x7f1000000000, 4 };
    expect_line(3, 0, 0x0000ffff, LS_ADDR_NONE, NULL, NULL, "0000 0000ffff 1 R1 MOV 0 0 ");
    expect_line(2, 0, UINT32_MAX, LS_ADDR_NONE, NULL, NULL, "1 2 3 0 0000 ffffffff 1 R1 MOV 0 0 ");
    expect_line(3, 1, UINT32_MAX, LS_ADDR_STRIDE, words, NULL,
                "0010 ffffffff 1 R4 LDG.E 1 R2 4 1 0x7f1000000000 4 ");
    words[1] = (uint64_t)-4;
    expect_line(5, 2, UINT32_MAX, LS_ADDR_STRIDE, words, NULL,
                "12 0020 ffffffff 0 STG.E 2 R2 R4 4 1 0x7f1000000000 -4 -7 ");
    words[0] = words[1] = 0;
    expect_line(3, 1, 0, LS_ADDR_STRIDE, words, NULL, "0010 00000000 1 R4 LDG.E 1 R2 4 1 0x0 0 ");
    words[0] = 0x100, words[1] = 0x90, words[2] = UINT64_C(0x100000090);
    expect_line(3, 1, 0x80000011, LS_ADDR_DELTA, words, NULL,
                "0010 80000011 1 R4 LDG.E 1 R2 4 2 0x100 -112 4294967296 ");
    expect_line(3, 1, 0x80000011, LS_ADDR_LIST, words, NULL,
                "0010 80000011 1 R4 LDG.E 1 R2 4 0 0x0000000000000100 0x0000000000000090 0x0000000100000090 ");
    expect_line(3, 1, 0x00000010, LS_ADDR_DELTA, words, NULL, "0010 00000010 1 R4 LDG.E 1 R2 4 2 0x100 ");
    cta_value value = { 0, 1, 5 };
    const ls_cta_values values = { &value, 1, "x1 0x5yz" };
    expect_line(6, 3, 1, LS_ADDR_NONE, NULL, &values, "0030 00000001 1 R4 MOV 1 R2 0 0 1 Val 1 0x5 ");
}

/* Warps without instructions stay; blocks after the first begin with an empty line. */
static void test_blocks(void **state)
{
    (void)state;
    ls_dyn dyns[] = { { 0, 1, LS_ADDR_NONE }, { 0, 2, LS_ADDR_NONE } };
    ls_warp_stream warps[] = { { 1, 1 },
                               { 0, 0 },
                               { 0, 1 } }; /* the order in the block is not that of the warps */
    ls_cta cta = { .warp_count = 3, .warps = warps, .dyns = dyns, .dyn_count = 2 };
    trace_kernel kernel = kernel_of(4);
    text_buffer out = { 0 };
    assert_ok(write_cta(&out, &kernel, &kernel.info, &cta, false, err));
    expect_text(&out,
                "\n#BEGIN_TB\n\nthread block = 0,0,0\n\nwarp = 0\ninsts = 1\n0000 00000002 1 R1 MOV 0 0 \n"
                "\nwarp = 1\ninsts = 0\n\nwarp = 2\ninsts = 1\n0000 00000001 1 R1 MOV 0 0 \n\n#END_TB\n");
    text_fini(&out);
}

static void test_headers(void **state)
{
    (void)state;
    text_buffer out = { 0 };
    trace_kernel kernel = kernel_of(5);
    write_header(&out, &kernel.info);
    expect_text(
        &out,
        "-kernel name = _Z1fPf\n-kernel id = 3\n-grid dim = (4,2,1)\n-block dim = (64,1,1)\n-shmem = 512\n"
        "-nregs = 24\n-binary version = 80\n-cuda stream id = 1\n-shmem base_addr = 0x00007f0002000000\n"
        "-local mem base_addr = 0x00007f0000000000\n-nvbit version = 1.7\n-accelsim tracer version = 5\n"
        "-enable lineinfo = 0\n\n#traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num "
        "[reg_srcs] mem_width [adrrescompress?] [mem_addresses] immediate\n\n\n\n");
    const uint32_t grid[3] = { 3, 1, 1 };
    text_buffer cut = { 0 };
    write_header_grid(&cut, text_get(&out), out.count, grid);
    assert_int_equal(cut.count, out.count);
    assert_non_null(strstr(text_get(&cut), "-kernel id = 3\n-grid dim = (3,1,1)\n-block dim = (64,1,1)\n"));
    text_clear(&out);
    kernel = kernel_of(3);
    write_header(&out, &kernel.info);
    assert_null(strstr(text_get(&out), "lineinfo"));
    text_fini(&out);
    text_fini(&cut);
}

static void test_source_without_text(void **state)
{
    (void)state;
    static const trace_kernel_ops none = { 0 };
    trace_kernel kernel = kernel_of(5);
    ls_cta cta = { 0 };
    text_buffer out = { 0 };
    ls_error said;
    kernel.ops = &none;
    assert_int_equal(write_cta(&out, &kernel, &kernel.info, &cta, true, &said), LS_ERR_UNSUPPORTED);
    text_fini(&out);
}

/* -------------------------------------------------------------------------------------------- directories */

static size_t count_entries(const char *path)
{
    size_t count = 0;
    DIR *dir = opendir(path);
    assert_non_null(dir);
    for (const struct dirent *entry; (entry = readdir(dir));)
        count += entry->d_name[0] != '.';
    closedir(dir);
    return count;
}

static void expect_kind(const char *path, const char *kind)
{
    acc_input *input = NULL;
    assert_ok(acc_input_open(path, &input, err));
    assert_string_equal(acc_input_kind(input), kind);
    acc_input_close(input);
}

static void test_compressions(void **state)
{
    (void)state;
    static const struct {
        text_compression compression;
        const char *dir, *file, *kind;
    } cases[] = {
        { LS_COMPRESS_NONE, "none", "none/kernel-1.traceg", "plain" },
        { LS_COMPRESS_XZ, "xz", "xz/kernel-1.traceg.xz", "xz" },
        { LS_COMPRESS_ZST, "zst", "zst/kernel-1.traceg.zst", "zstd" },
        { LS_COMPRESS_GZ, "gz", "gz/kernel-1.traceg.gz", "gzip" },
    };
    for (size_t i = 0; i < LS_COUNT_OF(cases); i++) {
        unpack_trace("synth:gemm,m=64,n=64,k=64", cases[i].dir, cases[i].compression);
        assert_int_equal(count_entries(cases[i].dir), 2);
        expect_kind(cases[i].file, cases[i].kind);
        compare_traces("synth:gemm,m=64,n=64,k=64", cases[i].dir);
    }
    /* Names that say how they are compressed keep it, or take another. */
    unpack_trace("xz", "same", LS_COMPRESS_SAME);
    expect_kind("same/kernel-1.traceg.xz", "xz");
    compare_files("xz/kernelslist.g", "same/kernelslist.g");
    unpack_trace("xz", "other", LS_COMPRESS_GZ);
    expect_kind("other/kernel-1.traceg.gz", "gzip");
    assert_int_equal(count_entries("."), 6); /* and no temporary directory */
}

static void test_places(void **state)
{
    (void)state;
    trace_sink *sink;
    ls_error said;
    write_text("a-file", "x");
    assert_int_equal(write_dir_create("a-file", LS_COMPRESS_NONE, &sink, &said), LS_ERR_USAGE);
    assert_int_equal(write_dir_create("none", LS_COMPRESS_NONE, &sink, &said), LS_ERR_USAGE);
    assert_non_null(strstr(said.what, "exists and is not empty"));
    assert_int_equal(write_dir_create("nowhere/out", LS_COMPRESS_NONE, &sink, &said), LS_ERR_IO);
    assert_int_equal(mkdir("empty", 0777), 0);
    unpack_trace("synth:chain", "empty/", LS_COMPRESS_NONE); /* an empty one is taken */
    assert_int_equal(count_entries("empty"), 2);
}

/* A name that would leave the directory, as only a damaged or evil file has it. */
static void test_names(void **state)
{
    (void)state;
    static const char *const names[] = { "../kernel-1.traceg", "kernel/../../x", "other.traceg" };
    trace_kernel kernel = kernel_of(5);
    for (size_t i = 0; i < LS_COUNT_OF(names); i++) {
        const sink_kernel k = { .kernel = &kernel, .info = &kernel.info, .name = names[i], .header = "" };
        trace_sink *sink = NULL;
        ls_error said;
        bool known;
        size_t before = count_entries(".");
        assert_ok(write_dir_create("evil", LS_COMPRESS_NONE, &sink, err));
        assert_int_equal(sink->ops->begin(sink, &k, &known, &said), LS_ERR_UNSUPPORTED);
        sink->ops->abort(sink);
        assert_int_equal(count_entries("."), before);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_headers),      cmocka_unit_test(test_source_without_text),
        cmocka_unit_test(test_compressions), cmocka_unit_test(test_places),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
