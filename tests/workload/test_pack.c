/* test_pack.c: packed files: text comes back byte for byte, any thread block can be had alone, kernels share
 * what they have in common, and damage has a name. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "temp_dir.h"
#include "trace_tools.h"
#include "workload/accelsim/same.h"
#include "workload/pack/section.h"

#include <dirent.h>
#include <endian.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <xxhash.h>

/* ------------------------------------------------------------------------------------------- made-up text */

#define HEADER(version, more)                                                                                 \
    "-kernel name = _Z1fPf\n-kernel id = 1\n-grid dim = (2,1,1)\n-block dim = (64,1,1)\n-shmem = 0\n"         \
    "-nregs = 16\n-binary version = 80\n-cuda stream id = 0\n-shmem base_addr = 0x00007f0002000000\n"         \
    "-local mem base_addr = 0x00007f0000000000\n-nvbit version = 1.x\n-accelsim tracer version = " version    \
    "\n" more "\n#traces format = x\n\n\n\n"

#define BLOCK(id, warp0, warp1)                                                                               \
    "#BEGIN_TB\n\nthread block = " id ",0,0\n\nwarp = 0\n" warp0 "\nwarp = 1\n" warp1 "\n#END_TB\n"

/* clang-format off */
static const char v3[] = HEADER("3", "")
    BLOCK("0",
          "insts = 4\n"
          "0000 ffffffff 1 R1 MOV 0 0 \n"
          "0010 ffffffff 1 R4 LDG.E 1 R2 4 1 0x7f1000000000 4 \n"
          "0020 00000005 1 R4 LDG.E 1 R2 4 2 0x7f1000000000 96 \n"
          "0030 ffffffff 0 EXIT 0 0 \n",
          "insts = 2\n"
          "0020 00000000 1 R4 LDG.E 1 R2 4 1 0x0 0 \n"
          "0030 ffffffff 0 EXIT 0 0 \n") "\n"
    BLOCK("1", "insts = 1\n0030 ffffffff 0 EXIT 0 0 \n", "insts = 0\n");

static const char v4_lines[] = HEADER("4", "-enable lineinfo = 1\n")
    BLOCK("0",
          "insts = 2\n17 0000 ffffffff 1 R1 MOV 0 0 \n18 0010 ffffffff 0 EXIT 0 0 \n",
          "insts = 2\n17 0000 ffffffff 1 R1 MOV 0 0 \n3 0010 ffffffff 0 EXIT 0 0 \n") "\n"
    BLOCK("1", "insts = 1\n18 0010 ffffffff 0 EXIT 0 0 \n", "insts = 1\n18 0010 ffffffff 0 EXIT 0 0 \n");

static const char v5[] = HEADER("5", "-enable lineinfo = 0\n")
    BLOCK("0",
          "insts = 3\n"
          "0000 ffffffff 0 DEPBAR.LE 0 0 -3 \n"
          "0010 00000003 1 R4 LDG.E.64 1 R2 8 0 0x00007f1000000000 0x0000000000000010 7 \n"
          "0020 ffffffff 0 EXIT 0 0 0 \n",
          "insts = 2\n"
          "0000 ffffffff 0 DEPBAR.LE 0 0 2 \n" /* another immediate at the same place */
          "0020 ffffffff 0 EXIT 0 0 0 \n") "\n"
    BLOCK("1", "insts = 1\n0020 ffffffff 0 EXIT 0 0 0 \n", "insts = 1\n0020 0000ffff 0 EXIT 0 0 0 \n");

static const char v6_values[] = HEADER("6", "-enable lineinfo = 0\n")
    BLOCK("0",
          "insts = 3\n"
          "0000 ffffffff 1 UR4 ULDC 0 0 0 0 NoVal \n"
          "0010 ffffffff 1 R4 MOV 2 R2 UR63 0 0 1 Val 1 0x00000001 2 0x00000002 0x00000007 \n"
          "0020 ffffffff 0 EXIT 0 0 0 0 NoVal \n",
          "insts = 2\n"
          "0010 ffffffff 1 R4 MOV 2 R2 UR63 0 0 1 Val 1 0x00000003 \n"
          "0020 ffffffff 0 EXIT 0 0 0 0 NoVal \n") "\n"
    BLOCK("1",
          "insts = 1\n0020 ffffffff 0 EXIT 0 0 0 0 NoVal \n",
          "insts = 1\n0010 ffffffff 1 R4 MOV 2 R2 UR63 0 0 1 Val 1 0x00000005 \n");

static const char v2[] = HEADER("2", "")
    BLOCK("0",
          "insts = 1\n0 0 0 0 0000 ffffffff 0 EXIT 0 0 \n",
          "insts = 1\n0 0 0 1 0000 ffffffff 0 EXIT 0 0 \n") "\n"
    BLOCK("1",
          "insts = 1\n1 0 0 0 0000 ffffffff 0 EXIT 0 0 \n",
          "insts = 1\n1 0 0 1 0000 ffffffff 0 EXIT 0 0 \n");

/* Lines with unknown opcodes and unusual spelling, but valid. */
static const char odd[] = HEADER("3", "")
    BLOCK("0",
          "insts = 1\n00000 ffffffff 1 R007 FROB.X 1 R2 0 \n",
          "insts = 1\n0010 ffffffff 0 EXIT 0 0 \n") "\n"
    BLOCK("1", "insts = 1\n0010 ffffffff 0 EXIT 0 0 \n", "insts = 1\n0010 ffffffff 0 EXIT 0 0 \n");
/* clang-format on */

static void make_dir(const char *dir, const char *list, const char *kernel)
{
    char path[96];
    assert_int_equal(mkdir(dir, 0777), 0);
    snprintf(path, sizeof path, "%s/kernelslist.g", dir);
    write_text(path, list);
    snprintf(path, sizeof path, "%s/kernel-1.traceg", dir);
    write_text(path, kernel);
}

/* -------------------------------------------------------------------------------------------- round trips */

static void round_trip(const char *name, const char *text)
{
    char in[32], packed[32], out[32], a[64], b[64];
    const copy_options options = { .compare = true };
    const trace_options as_is = { .unknown_opcodes_as_alu = true };
    copy_result result;
    sass_trace *trace;
    trace_sink *sink;
    snprintf(in, sizeof in, "%s-in", name);
    snprintf(packed, sizeof packed, "%s.lspk", name);
    snprintf(out, sizeof out, "%s-out", name);
    make_dir(in, "MemcpyHtoD,0x00007f1000000000,4096\nMemcpyDtoH,1,2\nkernel-1.traceg\n", text);
    assert_ok(trace_open(in, &as_is, &trace, err));
    assert_ok(pack_create(packed, 3, &sink, err));
    assert_ok(trace_copy_to(trace, &options, sink, &result, err));
    trace_close(trace);
    assert_int_equal(result.normalised, 0);
    assert_int_equal(result.kernels, 1);
    assert_int_equal(result.ctas, 2);
    assert_int_equal(result.text_bytes, strlen(text));
    assert_ok(pack_file_verify(packed, err));
    assert_ok(trace_open(packed, &as_is, &trace, err));
    assert_ok(write_dir_create(out, LS_COMPRESS_NONE, &sink, err));
    assert_ok(trace_copy_to(trace, &(copy_options){ 0 }, sink, &result, err));
    trace_close(trace);
    for (int i = 0; i < 2; i++) {
        snprintf(a, sizeof a, "%s/%s", in, i ? "kernelslist.g" : "kernel-1.traceg");
        snprintf(b, sizeof b, "%s/%s", out, i ? "kernelslist.g" : "kernel-1.traceg");
        compare_files(a, b);
    }
}

static void test_versions(void **state)
{
    (void)state;
    round_trip("v2", v2);
    round_trip("v3", v3);
    round_trip("v4", v4_lines);
    round_trip("v5", v5);
    round_trip("v6", v6_values);
    round_trip("odd", odd);
    compare_traces("v3-in", "v3.lspk");
    compare_traces("v5-in", "v5.lspk");
}

/* Values are dropped where they are not needed, and then nothing is read for them. */
static void test_drop_values(void **state)
{
    (void)state;
    const trace_options options = { .drop_values = true };
    sass_trace *trace = NULL;
    trace_kernel *kernel = NULL;
    ls_cta cta = { 0 };
    bool end;
    assert_ok(trace_open("v6.lspk", &options, &trace, err));
    assert_ok(trace_open_kernel(trace, 2, &kernel, err));
    assert_ok(kernel_next_cta(kernel, &cta, &end, err));
    assert_null(cta.extra);
    kernel_close(kernel);
    trace_close(trace);
    trace = open_trace("v6.lspk");
    assert_ok(trace_open_kernel(trace, 2, &kernel, err));
    assert_ok(kernel_next_cta(kernel, &cta, &end, err));
    const ls_cta_values *values = cta.extra;
    assert_non_null(values);
    assert_int_equal(values->count, 2);
    assert_int_equal(values->values[1].dyn, 3);
    assert_memory_equal(values->text + values->values[1].at, "1 0x00000003", values->values[1].bytes);
    kernel_close(kernel);
    trace_close(trace);
    ls_cta_fini(&cta);
}

/* `differs` is where in the text of the kernel, or NULL if it is the list. */
static void expect_normalised(const char *name, const char *list, const char *text, const char *differs)
{
    char in[32], packed[32];
    uint64_t line = 1;
    for (const char *at = text; differs && at < differs; at++)
        line += *at == '\n';
    snprintf(in, sizeof in, "%s-in", name);
    snprintf(packed, sizeof packed, "%s.lspk", name);
    make_dir(in, list, text);
    copy_result result = pack_trace(in, packed);
    assert_int_equal(result.normalised, 1);
    assert_non_null(strstr(result.first_file, differs ? "kernel-1.traceg" : "kernelslist.g"));
    assert_int_equal(result.first_line, line);
    compare_traces(in, packed);
}

/* A trace that cannot come back byte for byte is reported, and has the same meaning. */
static void test_normalised(void **state)
{
    (void)state;
    sass_trace *trace;
    trace_kernel *kernel = NULL;
    char text[sizeof v3 + 8];
    strcpy(text, v3);
    char *number = strstr(text, "0x7f1000000000 4");
    memmove(number + 4, number + 2, strlen(number + 2) + 1);
    memcpy(number, "0x00", 4); /* zeros before an address */
    expect_normalised("zeros", "kernel-1.traceg\n", text, number);
    strcpy(text, v3);
    strcat(text, "\n\n"); /* empty lines at the end */
    expect_normalised("tail", "kernel-1.traceg\n", text, text + strlen(v3));
    expect_normalised("list", "\nkernel-1.traceg\n", v3, NULL);
    trace = open_trace("zeros.lspk");
    assert_ok(trace_open_kernel(trace, 0, &kernel, err));
    assert_true(pack_kernel_normalised(kernel));
    kernel_close(kernel);
    trace_close(trace);
}

/* -------------------------------------------------------------------------------------------- real traces */

/* Unpacked text against the file as it lies there, decompressed; returns the bytes of text. */
static uint64_t compare_real(const char *dir, const char *out, const char *name)
{
    char real[256], mine[256];
    size_t stem = strlen(name) - (ends_with(name, ".xz") ? 3 : 0), bytes;
    uint64_t line = 1;
    text_check *same = NULL;
    snprintf(real, sizeof real, "%s/%s", dir, name);
    snprintf(mine, sizeof mine, "%s/%.*s", out, (int)stem, name);
    char *text = read_bytes(mine, &bytes);
    assert_ok(same_open(real, &same, err));
    assert_ok(same_feed(same, text, bytes, err));
    assert_ok(same_end(same, &line, err));
    if (line > 0)
        fail_msg("%s differs in line %llu", real, (unsigned long long)line);
    same_close(same);
    free(text);
    return bytes;
}

static void pack_real(const char *name)
{
    char dir[200], packed[64], out[64], list[256], mine[128];
    struct stat file;
    uint64_t bytes = 0;
    snprintf(dir, sizeof dir, TRACES "/%s", name);
    snprintf(packed, sizeof packed, "%s.lspk", name);
    snprintf(out, sizeof out, "%s-out", name);
    copy_result result = pack_trace(dir, packed);
    assert_int_equal(result.normalised, 0);
    assert_ok(pack_file_verify(packed, err));
    compare_traces(dir, packed);
    unpack_trace(packed, out, LS_COMPRESS_NONE);
    sass_trace *trace = open_trace(packed);
    for (uint64_t i = 0; i < trace->command_count; i++)
        if (trace->commands[i].kind == LS_COMMAND_KERNEL)
            bytes += compare_real(dir, out, trace->commands[i].text);
    trace_close(trace);
    assert_int_equal(bytes, result.text_bytes);
    if (bytes < 500000) { /* compressing again takes its time */
        snprintf(out, sizeof out, "%s-same", name);
        unpack_trace(packed, out, LS_COMPRESS_SAME);
        snprintf(list, sizeof list, "%s/kernelslist.g", dir);
        snprintf(mine, sizeof mine, "%s/kernelslist.g", out);
        compare_files(list, mine);
        compare_traces(dir, out);
    }
    assert_int_equal(stat(packed, &file), 0);
    print_message("%s: %.1f times smaller\n", name, (double)bytes / (double)file.st_size);
    if (bytes > 100000)
        assert_true(bytes / 8 > (uint64_t)file.st_size);
}

static void test_real(void **state)
{
    (void)state;
    DIR *dir = opendir(TRACES);
    if (!dir) {
        print_message("%s is not there\n", TRACES);
        skip();
        return;
    }
    for (const struct dirent *entry; (entry = readdir(dir));)
        if (strchr(entry->d_name, '-'))
            pack_real(entry->d_name);
    closedir(dir);
}

/* --------------------------------------------------------------------------------------------------- seek */

static void test_seek(void **state)
{
    (void)state;
    pack_trace("synth:vector-add,n=300000", "seek.lspk"); /* 1,172 thread blocks in several blocks */
    sass_trace *trace = open_trace("seek.lspk"), *made = open_trace("synth:vector-add,n=300000");
    trace_kernel *a = NULL, *b = NULL;
    ls_cta ca = { 0 }, cb = { 0 };
    bool end_a, end_b;
    ls_error said;
    assert_ok(trace_open_kernel(trace, 2, &a, err));
    assert_ok(trace_open_kernel(made, 2, &b, err));
    static const uint64_t order[] = {
        0, 1171, 5, 6, 7, 500, 499, 499, 501, 1170, 1171, 0, 300, 200, 240, 250
    };
    for (size_t i = 0; i < LS_COUNT_OF(order); i++) {
        assert_ok(kernel_seek(a, order[i], err));
        assert_ok(kernel_seek(b, order[i], err));
        assert_ok(kernel_next_cta(a, &ca, &end_a, err));
        assert_ok(kernel_next_cta(b, &cb, &end_b, err));
        assert_false(end_a);
        assert_int_equal(ca.index, order[i]);
        compare_cta(a, &ca, b, &cb);
    }
    assert_ok(kernel_seek(a, 1172, err));
    assert_ok(kernel_next_cta(a, &ca, &end_a, err));
    assert_true(end_a);
    assert_int_equal(kernel_seek(a, 1173, &said), LS_ERR_USAGE);
    kernel_close(a);
    kernel_close(b);
    trace_close(trace);
    trace_close(made);
    ls_cta_fini(&ca);
    ls_cta_fini(&cb);
}

/* Two kernels of one trace, read in turn: they must not share what they read into. */
static void test_two_at_once(void **state)
{
    (void)state;
    pack_trace("synth:stencil,nx=64,ny=64,steps=2", "two.lspk");
    sass_trace *trace = open_trace("two.lspk"), *made = open_trace("synth:stencil,nx=64,ny=64,steps=2");
    trace_kernel *packed[2], *fresh[2];
    ls_cta ca = { 0 }, cb = { 0 };
    bool end = false, end_b;
    for (uint64_t i = 0; i < 2; i++) {
        assert_ok(trace_open_kernel(trace, 1 + i, &packed[i], err));
        assert_ok(trace_open_kernel(made, 1 + i, &fresh[i], err));
    }
    assert_ptr_equal(packed[0]->insts, packed[1]->insts); /* one table */
    while (!end)
        for (int i = 0; i < 2; i++) {
            assert_ok(kernel_next_cta(packed[i], &ca, &end, err));
            assert_ok(kernel_next_cta(fresh[i], &cb, &end_b, err));
            assert_int_equal(end, end_b);
            if (!end)
                compare_cta(packed[i], &ca, fresh[i], &cb);
        }
    for (int i = 0; i < 2; i++) {
        kernel_close(packed[i]);
        kernel_close(fresh[i]);
    }
    trace_close(trace);
    trace_close(made);
    ls_cta_fini(&ca);
    ls_cta_fini(&cb);
}

/* ------------------------------------------------------------------------------------------------ sharing */

static size_t count_sections(const char *path, uint32_t wanted)
{
    struct stat file = { 0 };
    pack_in in = { 0 };
    int fd = open(path, O_RDONLY);
    size_t count = 0;
    assert_true(fd >= 0 && fstat(fd, &file) == 0);
    assert_ok(pack_in_init(&in, fd, (uint64_t)file.st_size, path, err));
    for (uint64_t at = LS_PACK_HEADER_BYTES; at < in.bytes - LS_PACK_TRAILER_BYTES;) {
        uint32_t kind = 0;
        uint64_t whole = 0;
        assert_ok(pack_peek_section(&in, at, &kind, &whole, err));
        count += kind == wanted;
        at += whole;
    }
    pack_in_fini(&in);
    close(fd);
    return count;
}

static void test_shared(void **state)
{
    (void)state;
    make_dir("twice", "kernel-1.traceg\nkernel-2.traceg\nkernel-1.traceg\n", v3);
    write_text("twice/kernel-2.traceg", v3); /* other file, same program */
    pack_trace("twice", "twice.lspk");
    assert_int_equal(count_sections("twice.lspk", LS_PACK_BLOCK), 2);
    assert_int_equal(count_sections("twice.lspk", LS_PACK_TABLE), 1);
    assert_int_equal(count_sections("twice.lspk", LS_PACK_INDEX), 2);
    compare_traces("twice", "twice.lspk");
    unpack_trace("twice.lspk", "twice-out", LS_COMPRESS_SAME);
    compare_files("twice/kernelslist.g", "twice-out/kernelslist.g");
    compare_files("twice/kernel-2.traceg", "twice-out/kernel-2.traceg");
}

static void test_content_hash(void **state)
{
    (void)state;
    hash128 hash[4];
    static const char *const texts[] = { "synth:saxpy,n=20000", "synth:saxpy,n=20000", "synth:saxpy,n=20001" };
    for (int i = 0; i < 3; i++) {
        trace_sink *sink = NULL;
        assert_ok(pack_create("hash.lspk", i == 1 ? 1 : 19, &sink, err));
        copy_trace(texts[i], sink, false);
        sass_trace *trace = open_trace("hash.lspk");
        assert_true(pack_content_hash(trace, &hash[i]));
        trace_close(trace);
    }
    assert_true(hash_same(hash[0], hash[1])); /* however well it is compressed */
    assert_false(hash_same(hash[0], hash[2]));
    sass_trace *trace = open_trace("v3-in");
    assert_false(pack_content_hash(trace, &hash[3]));
    trace_close(trace);
}

/* ------------------------------------------------------------------------------------------------- damage */

static const char *read_error(const char *path)
{
    static char text[1024];
    ls_error err = { 0 };
    text[0] = '\0';
    if (pack_file_verify(path, &err) != LS_OK)
        ls_error_text(&err, text, sizeof text);
    return text;
}

static void test_damage(void **state)
{
    (void)state;
    size_t bytes, unseen = 0;
    pack_trace("synth:graph-walk,nodes=256,levels=2", "good.lspk");
    char *data = read_bytes("good.lspk", &bytes);
    assert_string_equal(read_error("good.lspk"), "");
    for (size_t at = 0; at < bytes; at += 1 + at % 7) {
        data[at] ^= 0x10;
        write_bytes("bad.lspk", data, bytes);
        if (read_error("bad.lspk")[0] == '\0') {
            compare_traces("good.lspk", "bad.lspk"); /* a bit that the compressor's format does not use */
            unseen++;
        }
        data[at] ^= 0x10;
    }
    assert_true(unseen < 10);
    for (size_t length = 0; length < bytes; length += 1 + length % 11) {
        write_bytes("bad.lspk", data, length);
        assert_true(read_error("bad.lspk")[0] != '\0');
    }
    free(data);
}

/* The first byte of the first block's payload: kernel, block and offset are named. */
static void test_damage_is_named(void **state)
{
    (void)state;
    size_t bytes;
    char *data = read_bytes("good.lspk", &bytes), text[1024];
    ls_error said;
    trace_kernel *kernel = NULL;
    ls_cta cta = { 0 };
    bool end;
    data[LS_PACK_HEADER_BYTES + LS_PACK_SECTION_BYTES + 100] ^= 1;
    write_bytes("bad.lspk", data, bytes);
    sass_trace *trace = open_trace("bad.lspk");
    assert_ok(trace_open_kernel(trace, 4, &kernel, err));
    assert_int_equal(kernel_next_cta(kernel, &cta, &end, &said), LS_ERR_INPUT);
    ls_error_text(&said, text, sizeof text);
    assert_non_null(strstr(text, "bad.lspk: kernel 1 ('kernel-1.traceg'): block 0 at offset 32 is damaged: "));
    kernel_close(kernel);
    trace_close(trace);
    ls_cta_fini(&cta);
    write_bytes("bad.lspk", data, bytes / 2);
    assert_int_equal(trace_open("bad.lspk", NULL, &trace, &said), LS_ERR_INPUT);
    assert_non_null(strstr(said.what, "cut off"));
    free(data);
}

static void test_other_version(void **state)
{
    (void)state;
    size_t bytes;
    char *data = read_bytes("good.lspk", &bytes);
    sass_trace *trace;
    ls_error err;
    data[8] = 4;
    write_bytes("bad.lspk", data, bytes);
    assert_int_equal(trace_open("bad.lspk", NULL, &trace, &err), LS_ERR_INPUT); /* the checksum is first */
    free(data);
}

/* A file without columns is one of the first version, which is still read; the next one is not known. */
static void test_first_version(void **state)
{
    (void)state;
    size_t bytes;
    char *data = read_bytes("good.lspk", &bytes);
    sass_trace *trace;
    ls_error err;
    assert_int_equal(data[8], 3);
    for (char version = 1; version <= 4; version++) {
        data[8] = version;
        uint64_t hash = htole64(XXH3_64bits(data, 24));
        memcpy(data + 24, &hash, sizeof hash);
        write_bytes("bad.lspk", data, bytes);
        ls_status status = trace_open("bad.lspk", NULL, &trace, &err);
        assert_int_equal(status, version <= 3 ? LS_OK : LS_ERR_UNSUPPORTED);
        if (status == LS_OK)
            trace_close(trace);
        else
            assert_non_null(strstr(err.what, "version 4 with flags 0x0; this program reads versions 1 to 3"));
    }
    free(data);
}

/* ---------------------------------------------------------------------------------------------- wholeness */

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

/* A trace that breaks off leaves no file, packed or not. */
static void test_nothing_half_written(void **state)
{
    (void)state;
    const copy_options options = { 0 };
    copy_result result;
    trace_sink *sink;
    ls_error said;
    char text[sizeof v3];
    strcpy(text, v3);
    *strstr(text, "thread block = 1") = '\0';
    assert_int_equal(mkdir("whole", 0777), 0);
    make_dir("whole/in", "kernel-1.traceg\n", text);
    for (int packed = 0; packed < 2; packed++) {
        sass_trace *trace = open_trace("whole/in");
        assert_ok(packed ? pack_create("whole/out.lspk", 3, &sink, err)
                         : write_dir_create("whole/out", LS_COMPRESS_XZ, &sink, err));
        assert_int_equal(trace_copy_to(trace, &options, sink, &result, &said), LS_ERR_INPUT);
        trace_close(trace);
        assert_int_equal(count_entries("whole"), 1);
    }
}

/* ------------------------------------------------------------------------------------------------ cutting */

static void expect_cut(const char *from, uint64_t limit, uint32_t x, uint32_t y, uint32_t z, uint32_t last_x)
{
    const copy_options options = { .cta_limit = limit };
    copy_result result;
    trace_sink *sink = NULL;
    trace_kernel *kernel = NULL;
    ls_cta cta = { 0 };
    bool end = false;
    uint64_t count = 0, index = 0;
    sass_trace *trace = open_trace(from);
    assert_ok(pack_create("cut.lspk", 3, &sink, err));
    assert_ok(trace_copy_to(trace, &options, sink, &result, err));
    trace_close(trace);
    trace = open_trace("cut.lspk");
    while (trace->commands[index].kind != LS_COMMAND_KERNEL)
        index++;
    assert_ok(trace_open_kernel(trace, index, &kernel, err));
    const uint32_t grid[3] = { x, y, z };
    size_t bytes;
    char line[64];
    assert_memory_equal(kernel->info.grid, grid, sizeof grid);
    snprintf(line, sizeof line, "-grid dim = (%u,%u,%u)\n", x, y, z);
    assert_non_null(strstr(kernel->ops->header(kernel, &bytes), line));
    while (!end) {
        assert_ok(kernel_next_cta(kernel, &cta, &end, err));
        count += !end;
    }
    assert_int_equal(count, (uint64_t)x * y * z);
    assert_int_equal(cta.id[0], last_x);
    kernel_close(kernel);
    trace_close(trace);
    ls_cta_fini(&cta);
}

static void test_cut(void **state)
{
    (void)state;
    static const char from[] = "synth:transpose,n=128"; /* 4 * 4 thread blocks */
    expect_cut(from, 3, 3, 1, 1, 2);
    expect_cut(from, 8, 4, 2, 1, 3); /* two whole rows */
    expect_cut(from, 7, 7, 1, 1, 6); /* becomes one row */
    expect_cut(from, 16, 4, 4, 1, 3);
    expect_cut(from, 99, 4, 4, 1, 3);
    pack_trace(from, "whole.lspk");
    expect_cut("whole.lspk", 8, 4, 2, 1, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_drop_values),
        cmocka_unit_test(test_normalised),
        cmocka_unit_test(test_real),
        cmocka_unit_test(test_seek),
        cmocka_unit_test(test_two_at_once),
        cmocka_unit_test(test_shared),
        cmocka_unit_test(test_content_hash),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_damage_is_named),
        cmocka_unit_test(test_other_version),
        cmocka_unit_test(test_first_version),
        cmocka_unit_test(test_nothing_half_written),
        cmocka_unit_test(test_cut),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
