/* test_hopper.c: traces of Hopper as newer tracers write them: each part of a line, text, packed files and .tracez
 * files that say the same byte for byte, random access, and one clear line for each kind of damage. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <inttypes.h>

#include "temp_dir.h"
#include "trace_tools.h"
#include "workload/accelsim/accelsim.h"
#include "workload/share.h"

#include <unistd.h>

#define HOPPER LS_SOURCE_DIR "/tests/workload/hopper"
#define KERNEL "kernel-1-ctx_0x1"
#define OLD LS_SOURCE_DIR "/tests/workload/old"

/* --------------------------------------------------------------------------------------------------- lines */

typedef struct opened {
    sass_trace *trace;
    trace_kernel *kernel;
    ls_cta cta;
} opened;

static void open_first(opened *o, const char *path)
{
    bool end;
    *o = (opened){ .trace = open_trace(path) };
    uint64_t i = 0;
    while (o->trace->commands[i].kind != LS_COMMAND_KERNEL)
        i++;
    assert_ok(trace_open_kernel(o->trace, i, &o->kernel, err));
    assert_ok(kernel_next_cta(o->kernel, &o->cta, &end, err));
    assert_false(end);
}

static void close_opened(opened *o)
{
    kernel_close(o->kernel);
    trace_close(o->trace);
    ls_cta_fini(&o->cta);
}

static const ls_inst *inst_at(const opened *o, uint32_t warp, uint32_t i, const uint64_t **record)
{
    const ls_dyn *dyn = &o->cta.dyns[o->cta.warps[warp].first + i];
    *record = ls_cta_record(&o->cta, dyn);
    return &o->kernel->insts[dyn->inst];
}

/* Everything that the machine gets from the lines, from text and from both kinds of files. */
static void check_content(const char *path)
{
    opened o;
    const uint64_t *r, *addresses;
    uint64_t operand, lanes[32] = { 0 };
    uint32_t count;
    open_first(&o, path);
    assert_true(o.cta.in_cluster);
    assert_int_equal(o.cta.cluster_rank, 0);
    const ls_inst *init = inst_at(&o, 0, 0, &r);
    assert_int_equal(init->mbarrier_op, LS_MBARRIER_INIT);
    assert_true(init->flags & LS_INST_MBARRIER);
    assert_true(r && ls_cta_operand(r, 1, 0, &operand));
    assert_int_equal(operand, 0x1fffc2); /* the pair of registers as one number */
    ls_cta_addresses(&o.cta, &o.cta.dyns[o.cta.warps[0].first], lanes);
    assert_int_equal(lanes[0], 0x400);
    assert_int_equal(inst_at(&o, 0, 1, &r)->mbarrier_op, LS_MBARRIER_ARRIVE_EXPECT);
    assert_true(ls_cta_operand(r, 1, 0, &operand) && operand == 0x2000);
    const ls_inst *load = inst_at(&o, 0, 2, &r);
    assert_true(load->flags & LS_INST_BULK);
    assert_int_equal(load->bulk_op, LS_BULK_LOAD);
    addresses = ls_cta_bulk_addresses(r, &count);
    assert_int_equal(count, 4);
    assert_int_equal(addresses[3], 0x7f0010000000 + 3 * 128);
    assert_int_equal(r[LS_BULK_WORD_PLACE], 0x400);
    assert_int_equal(r[LS_BULK_WORD_BYTES], 8192);
    inst_at(&o, 0, 3, &r); /* multicast, and fewer differences than its count */
    addresses = ls_cta_bulk_addresses(r, &count);
    assert_int_equal(count, 3);
    assert_int_equal(r[LS_BULK_WORD_COUNT], 4);
    assert_int_equal(r[LS_BULK_WORD_OUTSIDE], 2048);
    assert_int_equal(r[LS_BULK_WORD_PLACE] >> 32, 3);
    assert_int_equal(addresses[2] - addresses[1], 4096);
    inst_at(&o, 0, 4, &r); /* a list */
    addresses = ls_cta_bulk_addresses(r, &count);
    assert_int_equal(count, 2);
    assert_int_equal(addresses[1] - addresses[0], 16);
    inst_at(&o, 0, 5, &r); /* its address is lost */
    ls_cta_bulk_addresses(r, &count);
    assert_int_equal(count, 0);
    assert_int_equal(r[LS_BULK_WORD_COUNT], 1);
    inst_at(&o, 0, 6, &r); /* predicated off */
    ls_cta_bulk_addresses(r, &count);
    assert_int_equal(count, 0);
    assert_int_equal(inst_at(&o, 0, 8, &r)->mbarrier_op, LS_MBARRIER_WAIT);
    assert_int_equal(inst_at(&o, 0, 10, &r)->bulk_op, LS_BULK_STORE);
    addresses = ls_cta_bulk_addresses(r, &count);
    assert_int_equal(addresses[0] - addresses[1], 64); /* differences are signed */
    assert_int_equal(inst_at(&o, 0, 12, &r)->flags & LS_INST_GROUP_COMMIT, 0);
    assert_true(inst_at(&o, 0, 13, &r)->flags & LS_INST_GROUP_COMMIT);
    const ls_inst *bar = inst_at(&o, 0, 15, &r);
    assert_int_equal(bar->barrier_form, LS_BARRIER_NUMBER);
    assert_int_equal(bar->barrier_id, 1);
    assert_int_equal(bar->barrier_warps, 2);
    bar = inst_at(&o, 0, 16, &r);
    assert_int_equal(bar->barrier_form, LS_BARRIER_REGISTER);
    assert_int_equal(bar->barrier_warps, 2);
    assert_int_equal(bar->dst_count, 0); /* the register is read */
    assert_int_equal(bar->src[0], 9);
    assert_true(bar->flags & LS_INST_ARRIVE);
    assert_int_equal(r[1], 3);
    assert_int_equal(inst_at(&o, 1, 0, &r)->mbarrier_op, LS_MBARRIER_ARRIVE); /* a value for each lane */
    assert_true(ls_cta_operand(r, 0xffff, 0, &operand) && operand == 1);
    assert_true(ls_cta_operand(r, 0xffff, 15, &operand) && operand == 16);
    assert_int_equal(inst_at(&o, 1, 1, &r)->mbarrier_op, LS_MBARRIER_ASYNC_ARRIVE);
    inst_at(&o, 1, 3, &r);
    assert_int_equal(r[1], 3);
    close_opened(&o);
}

static void test_lines(void **state)
{
    (void)state;
    check_content(HOPPER);
}

static void test_forms_say_the_same(void **state)
{
    (void)state;
    copy_result packed = pack_trace(HOPPER, "h.lspk");
    assert_int_equal(packed.normalised, 0);
    check_content("h.lspk");
    unpack_trace("h.lspk", "from-pack", LS_COMPRESS_NONE);
    compare_files("from-pack/" KERNEL ".traceg", HOPPER "/" KERNEL ".traceg");
    unpack_trace("h.lspk", "pages", LS_COMPRESS_TRACEZ);
    check_content("pages");
    unpack_trace("pages", "from-pages", LS_COMPRESS_NONE);
    compare_files("from-pages/" KERNEL ".traceg", HOPPER "/" KERNEL ".traceg");
    compare_traces("pages", HOPPER);
    compare_traces("h.lspk", HOPPER);
    /* the first bytes decide, whatever the name is */
    assert_int_equal(rename("pages/" KERNEL ".tracez", "anything"), 0);
    check_content("anything");
}

/* Marks of replay regions are in the text and not in the machine. */
static void test_marks_are_dropped(void **state)
{
    (void)state;
    opened o;
    shared_streams *share;
    ls_cta cta = { 0 };
    bool end = false;
    open_first(&o, HOPPER);
    assert_ok(share_create(o.kernel, &share, err));
    assert_ok(share_next(share, &cta, &end, err));
    assert_int_equal(o.cta.warps[0].count, 18);
    assert_int_equal(cta.warps[0].count, 16);
    assert_int_equal(cta.warps[1].count, 5);
    assert_int_equal(o.kernel->insts[cta.dyns[cta.warps[0].first + 7].inst].mbarrier_op, LS_MBARRIER_WAIT);
    assert_int_equal(cta.cluster_rank, 1);
    ls_cta_fini(&cta);
    share_destroy(share);
    close_opened(&o);
}

static void test_old_packed_file(void **state)
{
    (void)state;
    unpack_trace(OLD "/version-2.lspk", "old-text", LS_COMPRESS_NONE);
    compare_files("old-text/kernel-1.traceg", OLD "/kernel-1.traceg");
    assert_ok(pack_file_verify(OLD "/version-2.lspk", err));
    pack_trace(OLD "/version-2.lspk", "new.lspk");
    unpack_trace("new.lspk", "new-text", LS_COMPRESS_NONE);
    compare_files("new-text/kernel-1.traceg", OLD "/kernel-1.traceg");
}

/* -------------------------------------------------------------------------------------------------- tracez */

#define MANY "synth:vector-add,n=70000,block=32"

static void test_random_access(void **state)
{
    (void)state;
    static const uint64_t order[] = { 5, 0, 1100, 1023, 1024, 1, 2047 };
    opened a, b;
    bool end;
    unpack_trace(MANY, "many", LS_COMPRESS_TRACEZ);
    open_first(&a, "many");
    open_first(&b, MANY);
    assert_true(kernel_blocks(a.kernel) > 2047);
    for (size_t i = 0; i < LS_COUNT_OF(order); i++) {
        assert_ok(kernel_seek(a.kernel, order[i], err));
        assert_ok(kernel_seek(b.kernel, order[i], err));
        assert_ok(kernel_next_cta(a.kernel, &a.cta, &end, err));
        assert_ok(kernel_next_cta(b.kernel, &b.cta, &end, err));
        compare_cta(a.kernel, &a.cta, b.kernel, &b.cta);
    }
    close_opened(&a);
    close_opened(&b);
}

/* Reads a whole file from memory; "" or what is wrong. */
static const char *read_pages(const char *data, size_t bytes)
{
    static char said[600];
    const trace_options options = { 0 };
    trace_kernel *kernel;
    ls_cta cta = { 0 };
    ls_error error = { 0 };
    bool end = false;
    ls_status status = acc_open_memory("k.tracez", data, bytes, &options, NULL, &kernel, &error);
    if (status == LS_OK) {
        while (status == LS_OK && !end)
            status = kernel_next_cta(kernel, &cta, &end, &error);
        kernel_close(kernel);
    }
    ls_cta_fini(&cta);
    said[0] = '\0';
    if (status != LS_OK)
        snprintf(said, sizeof said, "%s", error.what);
    return said;
}

static uint64_t number_at(const char *p, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)(unsigned char)p[i] << 8 * i;
    return value;
}

static void set_number(char *p, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        p[i] = (char)(value >> 8 * i & 0xff);
}

static void test_damage(void **state)
{
    (void)state;
    size_t bytes;
    unpack_trace(HOPPER, "damage", LS_COMPRESS_TRACEZ);
    char *good = read_bytes("damage/" KERNEL ".tracez", &bytes), *bad = malloc(bytes);
    assert_non_null(bad);
    assert_string_equal(read_pages(good, bytes), "");
    size_t sizes = strlen(good) + 1, index = number_at(good + bytes - 8, 8), data = sizes + 8;
    size_t warp =
        index + 4 + 44; /* the first warp's entry: instructions, pages, offset, instructions of the page */
    const struct {
        size_t at;
        uint64_t value;
        unsigned bytes;
        const char *said;
    } cases[] = {
        { sizes, 1u << 30, 4, "a dictionary of 1073741824 bytes does not fit into the file" },
        { bytes - 8, bytes, 8, "outside of the file: it is cut off or damaged" },
        { bytes - 8, 0, 8, "the index is said to be at 0" },
        { index, 3, 4, "the index ends after 2 of 3 blocks" },
        { index, 1, 4, "bytes behind its last block" },
        { index + 4 + 40, 33, 4, "block 0 has 33 warps: 32 are possible" },
        { warp, 17, 4, "warp 0 of block 0 has 17 instructions, its pages have 18" },
        { warp + 4, 1u << 31, 4, "warp 0 of block 0 has 2147483648 pages, more than the index" },
        { warp + 8, 3, 8, "warp 0 of block 0 begins at 3, outside of the data" },
        { data, 5, 4, "warp 0 of block 0 has 5 instructions in 1 pages, the index says 18 in 1" },
        { data + 8, 1u << 20, 4,
          "page 0 of warp 0 of block 0 has 1048576 bytes and does not fit before the index" },
        { data + 8, 0, 4, "page 0 of warp 0 of block 0 has 0 bytes" },
        { data + 12, 0, 4, "page 0 of warp 0 of block 0 is no zstd frame" },
        { data + 8, number_at(good + data + 8, 4) - 1, 4,
          "page 0 of warp 0 of block 0 ends inside its frame" },
        { data + 8, number_at(good + data + 8, 4) + 1, 4,
          "page 0 of warp 0 of block 0 goes on behind its frame" },
    };
    for (size_t i = 0; i < LS_COUNT_OF(cases); i++) {
        memcpy(bad, good, bytes);
        set_number(bad + cases[i].at, cases[i].value, cases[i].bytes);
        const char *said = read_pages(bad, bytes);
        if (!strstr(said, cases[i].said))
            fail_msg("case %zu: '%s' instead of '%s'", i, said, cases[i].said);
    }
    for (uint64_t lines = 17; lines <= 19; lines += 2) { /* all counts agree, but the page has 18 lines */
        char said[100];
        snprintf(said, sizeof said, "page 0 of warp 0 of block 0 has 18 lines, the index says %" PRIu64,
                 lines);
        memcpy(bad, good, bytes);
        set_number(bad + warp, lines, 4);
        set_number(bad + warp + 16, lines, 4);
        set_number(bad + data, lines, 4);
        if (!strstr(read_pages(bad, bytes), said))
            fail_msg("'%s' instead of '%s'", read_pages(bad, bytes), said);
    }
    for (size_t cut = 0; cut < bytes; cut += cut < sizes ? 97 : 7) /* any length is refused with one line */
        if (!*read_pages(good, cut))
            fail_msg("a file of %zu of %zu bytes is read", cut, bytes);
    free(bad);
    free(good);
}

/* Any changed byte gives blocks or one line: most of the file is compressed or an offset. */
static void test_flipped_bytes(void **state)
{
    (void)state;
    size_t bytes, refused = 0;
    unpack_trace(HOPPER, "flip", LS_COMPRESS_TRACEZ);
    char *good = read_bytes("flip/" KERNEL ".tracez", &bytes);
    for (size_t i = 0; i < bytes; i++) {
        good[i] ^= (char)(1 << i % 8);
        const char *said = read_pages(good, bytes);
        assert_null(strchr(said, '\n'));
        refused += *said != '\0';
        good[i] ^= (char)(1 << i % 8);
    }
    assert_true(refused > bytes / 4);
    free(good);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_forms_say_the_same),
        cmocka_unit_test(test_marks_are_dropped),
        cmocka_unit_test(test_old_packed_file),
        cmocka_unit_test(test_random_access),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_flipped_bytes),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
