/* test_accelsim.c: the result of reading well-formed kernel files: every tracer version, every address format,
 * and the freedom that files may take with their layout. */
#include "kernel_text.h"

#include "workload/sink.h"

/* --- the header ----------------------------------------------------------------------------------------- */

static void test_header(void **state)
{
    (void)state;
    reading r;
    assert_int_equal(reading_open(&r, HEADER_V5, NULL), LS_OK);
    const ls_kernel_info *info = kernel_get_info(r.kernel);
    assert_string_equal(info->name, "_Z3fooPf");
    assert_int_equal(info->id, 7);
    assert_int_equal(info->grid[0], 1);
    assert_int_equal(info->block[0], 64);
    assert_int_equal(info->shared_bytes, 1024);
    assert_int_equal(info->registers, 32);
    assert_int_equal(info->binary_version, 80);
    assert_int_equal(info->stream, 3);
    assert_int_equal(info->shared_base, 0x7f0002000000);
    assert_int_equal(info->local_base, 0x7f0000000000);
    assert_int_equal(info->tracer_version, 5);
    assert_false(info->line_info);
    assert_string_equal(info->file, "k.traceg");
    size_t bytes;
    const char *header = r.kernel->ops->header(r.kernel, &bytes);
    assert_int_equal(bytes, strlen(HEADER_V5));
    assert_memory_equal(header, HEADER_V5, bytes);
    reading_close(&r);
}

/* Any order, unknown keys, odd spacing, a name with spaces, a grid that needs 64 bits. */
static void test_header_freedom(void **state)
{
    (void)state;
    reading r;
    const char *text = "-accelsim tracer version=4\n-favourite colour = blue\n-binary version =  86 \n"
                       "-enable lineinfo = 1\n\n-block dim = ( 16 , 8 , 2 )\n-grid dim = (65536,65535,3)\n"
                       "-kernel name = void f<int, 3>(float*)\n";
    assert_int_equal(reading_open(&r, text, NULL), LS_OK);
    const ls_kernel_info *info = kernel_get_info(r.kernel);
    assert_string_equal(info->name, "void f<int, 3>(float*)");
    assert_int_equal(ls_kernel_cta_count(info), 65536ull * 65535 * 3);
    assert_int_equal(ls_kernel_threads(info), 256);
    assert_int_equal(info->binary_version, 86);
    assert_int_equal(info->tracer_version, 4);
    assert_true(info->line_info);
    assert_int_equal(info->shared_base, 0);
    reading_close(&r);
}

/* --- instructions --------------------------------------------------------------------------------------- */

static void test_version_3(void **state)
{
    (void)state;
    reading r;
    read_block(&r, HEADER_V3 BLOCK("warp = 0\ninsts = 3\n0000 ffffffff 1 R1 IMAD.MOV.U32 2 R255 R254 0 \n"
                                   "0010 0000ffff 0 ISETP.GE.AND 1 R6 0 \n0020 00000000 0 EXIT 0 0 \n"
                                   "warp = 1\ninsts = 1\n0020 ffffffff 0 EXIT 0 0 \n"));
    assert_int_equal(r.cta.warp_count, 2);
    assert_int_equal(r.cta.dyn_count, 4);
    assert_int_equal(r.cta.warps[0].first, 0);
    assert_int_equal(r.cta.warps[0].count, 3);
    assert_int_equal(r.cta.warps[1].first, 3);
    assert_int_equal(r.cta.warps[1].count, 1);
    assert_int_equal(kernel_inst_count(r.kernel), 3);
    const ls_inst *inst = inst_of(&r, 0);
    assert_int_equal(inst->pc, 0);
    assert_int_equal(inst->class_, LS_CLASS_int_mul);
    assert_int_equal(inst->dst_count, 1);
    assert_int_equal(inst->dst[0], 1);
    assert_int_equal(inst->src_count, 2);
    assert_int_equal(inst->src[0], LS_REG_ZERO);
    assert_int_equal(inst->src[1], 254);
    assert_int_equal(r.cta.dyns[0].mask, UINT32_MAX);
    assert_int_equal(r.cta.dyns[0].addr, LS_ADDR_NONE);
    assert_int_equal(r.cta.dyns[1].mask, 0xffff);
    assert_int_equal(inst_of(&r, 1)->pc, 0x10);
    assert_int_equal(r.cta.dyns[2].mask, 0);
    assert_int_equal(r.cta.dyns[2].inst, r.cta.dyns[3].inst); /* the same static instruction */
    assert_int_equal(reading_next(&r), LS_OK);
    assert_true(r.end);
    assert_int_equal(reading_next(&r), LS_OK); /* and stays there */
    assert_true(r.end);
    reading_close(&r);
}

/* Versions 1 and 2 repeat block and warp in each line. */
static void test_version_1(void **state)
{
    (void)state;
    static const char *const texts[] = {
        HEADER("1", "70", "(2,1,1)", "(64,1,1)") "#BEGIN_TB\nthread block = 1,0,0\nwarp = 1\ninsts = 2\n"
                                                 "1 0 0 1 0010 000000ff 1 R3 LDG.E.SYS 1 R2 4 1 0x100 4 \n"
                                                 "1 0 0 1 0020 ffffffff 0 EXIT 0 0 \n#END_TB\n",
        HEADER("2", "70", "(2,1,1)", "(64,1,1)") "#BEGIN_TB\nthread block = 1,0,0\nwarp = 1\ninsts = 2\n"
                                                 "1 0 0 1 0010 000000ff 1 R3 LDG.E.SYS 1 R2 4 1 0x100 4 \n"
                                                 "1 0 0 1 0020 ffffffff 0 EXIT 0 0 \n#END_TB\n",
    };
    for (size_t i = 0; i < LS_COUNT_OF(texts); i++) {
        reading r;
        uint64_t addresses[32];
        read_block(&r, texts[i]);
        assert_int_equal(r.cta.id[0], 1);
        assert_int_equal(r.cta.warps[0].count, 0);
        assert_int_equal(r.cta.warps[1].count, 2);
        assert_int_equal(inst_of(&r, 0)->pc, 0x10);
        assert_int_equal(inst_of(&r, 0)->width_bytes, 4);
        ls_cta_addresses(&r.cta, &r.cta.dyns[0], addresses);
        assert_int_equal(addresses[7], 0x11c);
        reading_close(&r);
    }
}

/* Version 4 with line info: the source line also identifies a static instruction. */
static void test_version_4(void **state)
{
    (void)state;
    reading r;
    const char *header = "-grid dim = (1,1,1)\n-block dim = (32,1,1)\n-binary version = 86\n"
                         "-accelsim tracer version = 4\n-enable lineinfo = 1\n";
    char text[1024];
    snprintf(text, sizeof text, "%s%s", header,
             BLOCK("warp = 0\ninsts = 3\n12 0000 ffffffff 1 R1 MOV 0 0 \n13 0000 ffffffff 1 R1 MOV 0 0 \n"
                   "12 0000 0000000f 1 R1 MOV 0 0 \n"));
    read_block(&r, text);
    assert_int_equal(kernel_inst_count(r.kernel), 2);
    assert_int_equal(r.cta.dyns[0].inst, r.cta.dyns[2].inst);
    assert_int_not_equal(r.cta.dyns[0].inst, r.cta.dyns[1].inst);
    inst_words words;
    assert_true(r.kernel->ops->text(r.kernel, r.cta.dyns[1].inst, &words));
    assert_string_equal(words.pc, "13 0000");
    assert_string_equal(words.body, "1 R1 MOV 0 0");
    assert_string_equal(words.tail, "");
    reading_close(&r);
}

static void test_version_5(void **state)
{
    (void)state;
    reading r;
    read_block(&r, HEADER_V5 BLOCK("warp = 0\ninsts = 4\n0000 ffffffff 1 R1 MOV 0 0 1073742663 \n"
                                   "0010 ffffffff 0 DEPBAR.LE 0 0 1 \n0020 ffffffff 1 R4 IADD3 1 R4 0 -17 \n"
                                   "0030 0000000f 1 R4 LDG.E 1 R2 4 2 0x40 4 4 4 -5 \n"));
    assert_int_equal(inst_of(&r, 0)->imm, 1073742663);
    assert_int_equal(inst_of(&r, 1)->imm, 1);
    assert_int_equal(inst_of(&r, 2)->imm, -17);
    assert_int_equal(inst_of(&r, 3)->imm, -5); /* not a fourth difference */
    uint64_t addresses[32];
    ls_cta_addresses(&r.cta, &r.cta.dyns[3], addresses);
    assert_int_equal(addresses[3], 0x4c);
    reading_close(&r);
}

#define V6 HEADER("6", "90", "(1,1,1)", "(32,1,1)")

static void test_version_6(void **state)
{
    (void)state;
    reading r;
    read_block(
        &r, V6 BLOCK(
                "warp = 0\ninsts = 5\n0000 ffffffff 2 P0 R4 ISETP.GE.AND 3 R5 UR63 UP7 0 3 9 NoVal \n"
                "0010 ffffffff 1 UR4 ULDC.64 0 0 16 0 NoVal \n"
                "0020 00000003 1 R4 LDG.E 2 R2 UR4 4 1 0x100 4 0 0 Val 1 5 32 0 1 2 3 4 5 6 7 8 9 a b c d e f "
                "10 11 12 13 14 15 16 17 18 19 1a 1b 1c 1d 1e 1f 1 0xff \n"
                "0030 ffffffff 1 R5 MOV 0 0 7 NoVal \n"
                "0020 00000001 1 R4 LDG.E 2 R2 UR4 4 1 0x200 0 0 0 Val 1 6 1 7 1 8\n"));
    const ls_inst *inst = inst_of(&r, 0);
    assert_int_equal(inst->dst_count, 2);
    assert_int_equal(inst->dst[0], 4);
    assert_int_equal(inst->dst[1], LS_REG_PREDICATE);
    assert_int_equal(inst->src[1], LS_REG_UNIFORM_ZERO);
    assert_int_equal(inst->src[2], LS_REG_UNIFORM_PREDICATE_TRUE);
    assert_int_equal(inst->imm, 3); /* the first of the two */
    assert_int_equal(inst_of(&r, 1)->dst[0], LS_REG_UNIFORM + 4);
    assert_int_equal(inst_of(&r, 1)->dst_span, 2);
    assert_int_equal(inst_of(&r, 3)->imm, 7); /* older traces of this version have one immediate */
    assert_int_equal(r.cta.dyns[2].inst, r.cta.dyns[4].inst);
    const ls_cta_values *values = r.cta.extra;
    assert_non_null(values);
    assert_int_equal(values->count, 2);
    assert_int_equal(values->values[0].dyn, 2);
    assert_int_equal(values->values[1].dyn, 4);
    assert_memory_equal(values->text + values->values[0].at, "1 5 32 0 1 2", 12);
    assert_int_equal(values->values[1].bytes, 11);
    assert_memory_equal(values->text + values->values[1].at, "1 6 1 7 1 8", 11);
    inst_words words;
    assert_true(r.kernel->ops->text(r.kernel, r.cta.dyns[2].inst, &words));
    assert_string_equal(words.pc, "0020");
    assert_string_equal(words.body, "1 R4 LDG.E 2 R2 UR4 4");
    assert_string_equal(words.tail, "0 0 Val");
    reading_close(&r);
}

static void test_values_dropped(void **state)
{
    (void)state;
    const trace_options options = { .drop_values = true };
    reading r;
    reading_open(&r,
                 V6 BLOCK("warp = 0\ninsts = 2\n0000 ffffffff 1 R5 MOV 0 0 7 0 Val 1 5 \n"
                          "0000 ffffffff 1 R5 MOV 0 0 7 0 Val 1 6 \n"),
                 &options);
    assert_int_equal(reading_next(&r), LS_OK);
    assert_int_equal(r.cta.dyn_count, 2);
    assert_null(r.cta.extra);
    reading_close(&r);
}

/* --- addresses ------------------------------------------------------------------------------------------ */

static void test_address_formats(void **state)
{
    (void)state;
    reading r;
    uint64_t a[32];
    read_block(&r,
               HEADER_V3 BLOCK(
                   "warp = 0\ninsts = 8\n"
                   "0000 0000f000 1 R1 LDG.E 1 R2 4 1 0x7fc841520000 -4 \n"
                   "0010 80000101 1 R1 LDG.E 1 R2 4 0 0x0000000000000010 0xffffffffffffffff 0x7FC841520000 \n"
                   "0020 80000101 1 R1 LDG.E 1 R2 4 2 0x7fc841500004 4096 -4100 \n"
                   "0030 00000100 1 R1 LDG.E 1 R2 4 2 0x7fc841500004 \n"
                   "0040 00000000 1 R1 LDG.E 1 R2 4 1 0x0 0 \n"
                   "0050 00000000 1 R1 LDG.E 1 R2 4 0 \n"
                   "0060 00000000 1 R1 LDG.E 1 R2 4 2 0x0 \n"
                   "0070 00000003 1 R1 LDG.E 1 R2 4 0 1000 2000\n")); /* some tools leave 0x out */
    ls_cta_addresses(&r.cta, &r.cta.dyns[0], a);
    assert_int_equal(r.cta.dyns[0].addr & 3, LS_ADDR_STRIDE);
    assert_int_equal(a[12], 0x7fc841520000);
    assert_int_equal(a[15], 0x7fc84151fff4);
    ls_cta_addresses(&r.cta, &r.cta.dyns[1], a);
    assert_int_equal(r.cta.dyns[1].addr & 3, LS_ADDR_LIST);
    assert_int_equal(a[0], 0x10);
    assert_int_equal(a[8], UINT64_MAX);
    assert_int_equal(a[31], 0x7fc841520000);
    ls_cta_addresses(&r.cta, &r.cta.dyns[2], a);
    assert_int_equal(r.cta.dyns[2].addr & 3, LS_ADDR_DELTA);
    assert_int_equal(a[0], 0x7fc841500004);
    assert_int_equal(a[8], 0x7fc841501004);
    assert_int_equal(a[31], 0x7fc841500000);
    ls_cta_addresses(&r.cta, &r.cta.dyns[3], a);
    assert_int_equal(a[8], 0x7fc841500004);
    for (int i = 4; i < 7; i++)
        assert_int_not_equal(r.cta.dyns[i].addr, LS_ADDR_NONE);
    ls_cta_addresses(&r.cta, &r.cta.dyns[7], a);
    assert_int_equal(a[1], 0x2000);
    assert_int_equal(r.cta.addr_count, 2 + 3 + 3 + 1 + 2 + 0 + 0 + 2);
    reading_close(&r);
}

/* The second execution of a line is known by its bytes; it must read the same as the first. */
static void test_fast_equals_slow(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "0000 ffffffff 1 R1 LDG.E 1 R2 4 1 0x7fc841520000 4 0 ",
        "0010 00000181 1 R1 LDG.E 1 R2 4 0 0x0000000000000010 0x00007fc841520000 0xffffffffffffffff 0 ",
        "0020 00000181 1 R1 LDG.E 1 R2 4 2 0x7fc841500004 4096 -4100 0 ",
        "0030 00000100 1 R1 LDG.E 1 R2 4 2 0x7fc841500004 -3 ",
        "0040 00000000 1 R1 LDG.E 1 R2 4 1 0x0 0 0 ",
        "0050 00000000 1 R1 LDG.E 1 R2 4 0 0 ",
        "0060 0000abcd 0 FSETP.GE.AND 2 R1 R2 0 5 ",
        "0070 12345678 0 NOP 0 0 0",
        "123456 ffffffff 0 EXIT 0 0 0 ",
        "fffffff8 0000000f 0 BAR.SYNC 0 0 0 ",
    };
    const unsigned count = LS_COUNT_OF(lines);
    text_buffer text = { 0 };
    text_printf(&text, "%s#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = %u\n", HEADER_V5, 3 * count);
    for (unsigned round = 0; round < 3; round++)
        for (unsigned i = 0; i < count; i++)
            text_printf(&text, "%s\n", lines[i]);
    text_add(&text, "#END_TB\n");
    reading r;
    read_block(&r, text_get(&text));
    assert_int_equal(kernel_inst_count(r.kernel), count);
    for (unsigned i = count; i < 3 * count; i++) {
        uint64_t a[32] = { 0 }, b[32] = { 0 };
        const ls_dyn *first = &r.cta.dyns[i % count], *later = &r.cta.dyns[i];
        assert_int_equal(first->inst, later->inst);
        assert_int_equal(first->mask, later->mask);
        assert_int_equal(first->addr & 3, later->addr & 3);
        ls_cta_addresses(&r.cta, first, a);
        ls_cta_addresses(&r.cta, later, b);
        assert_memory_equal(a, b, sizeof a);
    }
    reading_close(&r);
    text_fini(&text);
}

/* Functions start at pc 0 each: one pc, several instructions. */
static void test_same_pc(void **state)
{
    (void)state;
    reading r;
    read_block(&r,
               HEADER_V3 BLOCK("warp = 0\ninsts = 6\n0000 ffffffff 1 R1 MOV 0 0 \n0010 ffffffff 0 CALL 0 0 \n"
                               "0000 ffffffff 1 R2 FADD 2 R2 R3 0 \n0010 ffffffff 0 RET 0 0 \n"
                               "0000 ffffffff 1 R1 MOV 0 0 \n0000 ffffffff 1 R2 FADD 2 R2 R3 0 \n"));
    assert_int_equal(kernel_inst_count(r.kernel), 4);
    assert_int_equal(inst_of(&r, 0)->class_, LS_CLASS_move);
    assert_int_equal(inst_of(&r, 2)->class_, LS_CLASS_fp32);
    assert_int_equal(r.cta.dyns[4].inst, r.cta.dyns[0].inst);
    assert_int_equal(r.cta.dyns[5].inst, r.cta.dyns[2].inst);
    reading_close(&r);
}

/* A line whose bytes were never learned, because its mask is short, is not taken for another one at its
 * pc. */
static void test_irregular_first(void **state)
{
    (void)state;
    reading r;
    read_block(&r, HEADER_V3 BLOCK("warp = 0\ninsts = 3\n0000 fffffff 0 NOP 0 0 \n0000 ffffffff 0 EXIT 0 0 \n"
                                   "0000 ffffffff 0 NOP 0 0 \n"));
    assert_int_equal(r.cta.dyns[0].mask, 0xfffffff);
    assert_int_equal(inst_of(&r, 0)->class_, LS_CLASS_misc);
    assert_int_equal(inst_of(&r, 1)->class_, LS_CLASS_exit);
    assert_int_equal(r.cta.dyns[2].inst, r.cta.dyns[0].inst);
    reading_close(&r);
}

/* --- layout --------------------------------------------------------------------------------------------- */

/* CR LF, tabs and double spaces, blank lines, no line break at the end of the file, comments. */
static void test_layout(void **state)
{
    (void)state;
    reading r;
    read_block(
        &r, "-grid dim = (1,1,1)\r\n-block dim = (32,1,1)\r\n-binary version = 80\r\n"
            "-accelsim tracer version = 3\r\n\r\n#BEGIN_TB\r\n\r\nthread block = 0,0,0\r\n\r\n# a remark\r\n"
            "warp=0\r\ninsts =  3\r\n\r\n0000 ffffffff 1 R1 MOV 0 0 \r\n\r\n"
            "0000  ffffffff\t1 R1  MOV 0 0\r\n0000 ffffffff 1 R1 MOV 0 0 \r\n#END_TB");
    assert_int_equal(r.cta.dyn_count, 3);
    assert_int_equal(kernel_inst_count(r.kernel), 1);
    assert_int_equal(reading_next(&r), LS_OK);
    assert_true(r.end);
    reading_close(&r);
}

/* Lines of newer tracers about clusters have no effect. */
static void test_clusters(void **state)
{
    (void)state;
    reading r;
    read_block(&r, HEADER_V3
                       BLOCK("cluster id = 0,0,0\ncluster cta = 0,0,0\ncluster rank = 0\nwarp = 0\ninsts = 1\n"
                             "c000 ffffffff 0 EXIT 0 0 \n"));
    assert_int_equal(r.cta.dyn_count, 1);
    assert_int_equal(inst_of(&r, 0)->pc, 0xc000);
    reading_close(&r);
}

/* Accepted silently: instructions after EXIT, missing and empty warps, blocks in any order. */
static void test_accepted(void **state)
{
    (void)state;
    reading r;
    const char *text = HEADER(
        "3", "80", "(2,1,1)",
        "(96,1,1)") "#BEGIN_TB\nthread block = 1,0,0\nwarp = 2\ninsts = 2\n0010 ffffffff 0 EXIT 0 0 \n0020 ffffffff 0 NOP 0 0 \n"
                    "warp = 0\ninsts = 0\n#END_TB\n#BEGIN_TB\nthread block = 0,0,0\n#END_TB\n";
    read_block(&r, text);
    assert_int_equal(r.cta.id[0], 1);
    assert_int_equal(r.cta.index, 0);
    assert_int_equal(r.cta.warp_count, 3);
    assert_int_equal(r.cta.warps[0].count, 0);
    assert_int_equal(r.cta.warps[1].count, 0);
    assert_int_equal(r.cta.warps[2].count, 2);
    assert_int_equal(reading_next(&r), LS_OK);
    assert_int_equal(r.cta.id[0], 0);
    assert_int_equal(r.cta.index, 1);
    assert_int_equal(r.cta.dyn_count, 0);
    assert_int_equal(r.cta.warps[2].count, 0);
    assert_int_equal(reading_next(&r), LS_OK);
    assert_true(r.end);
    reading_close(&r);
}

/* Blocks much larger than the reader's buffer, lines across its edges. */
static void test_large(void **state)
{
    (void)state;
    enum { LINES = 20000 };
    text_buffer text = { 0 };
    text_printf(&text, "%s#BEGIN_TB\nthread block = 0,0,0\nwarp = 1\ninsts = %d\n", HEADER_V5, LINES);
    for (unsigned i = 0; i < LINES; i++) {
        if (i % 3 == 0)
            text_printf(&text, "%04x ffffffff 1 R1 LDG.E 1 R2 4 1 0x7f%08x %u 0 \n", i % 500 * 16, i * 64,
                        i % 7);
        else
            text_printf(&text, "%04x %08x 1 R1 FFMA 3 R1 R2 R3 0 0 \n", i % 500 * 16, i);
    }
    text_add(&text, "#END_TB\n");
    assert_false(text.failed);
    reading r;
    read_block(&r, text_get(&text));
    assert_int_equal(r.cta.dyn_count, LINES);
    assert_int_equal(r.cta.warps[1].count, LINES);
    for (unsigned i = 0; i < LINES; i++) {
        const ls_dyn *dyn = &r.cta.dyns[i];
        assert_int_equal(inst_of(&r, i)->pc, i % 500 * 16);
        if (i % 3 == 0) {
            assert_int_equal(r.cta.addrs[dyn->addr >> 2], 0x7f00000000ull + i * 64);
            assert_int_equal(r.cta.addrs[(dyn->addr >> 2) + 1], i % 7);
        } else {
            assert_int_equal(dyn->mask, i);
            assert_int_equal(dyn->addr, LS_ADDR_NONE);
        }
    }
    reading_close(&r);
    text_fini(&text);
}

/* A count that no host could allocate takes no memory; reading ends after the limit, not after the file. */
static void test_counts_not_trusted(void **state)
{
    (void)state;
    assert_string_equal(read_all(HEADER_V3 BLOCK("warp = 0\ninsts = 4000000000\n0000 ffffffff 0 EXIT 0 0 \n")),
                        "k.traceg:18: the warp has 1 instructions, 'insts' says 4000000000");
}

static void test_limit(void **state)
{
    (void)state;
    reading r;
    const char *text = HEADER("3", "80", "(5,1,1)", "(32,1,1)") BLOCK("") BLOCK("") "garbage\n";
    reading_open(&r, text, NULL);
    assert_int_equal(kernel_blocks(r.kernel), 5);
    kernel_limit(r.kernel, 2);
    assert_int_equal(kernel_blocks(r.kernel), 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(reading_next(&r), LS_OK);
        assert_false(r.end);
    }
    assert_int_equal(reading_next(&r), LS_OK);
    assert_true(r.end);
    assert_int_equal(kernel_seek(r.kernel, 0, &r.err), LS_ERR_UNSUPPORTED);
    reading_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_header),
        cmocka_unit_test(test_header_freedom),
        cmocka_unit_test(test_version_1),
        cmocka_unit_test(test_version_3),
        cmocka_unit_test(test_version_4),
        cmocka_unit_test(test_version_5),
        cmocka_unit_test(test_version_6),
        cmocka_unit_test(test_values_dropped),
        cmocka_unit_test(test_address_formats),
        cmocka_unit_test(test_fast_equals_slow),
        cmocka_unit_test(test_same_pc),
        cmocka_unit_test(test_irregular_first),
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_clusters),
        cmocka_unit_test(test_accepted),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_counts_not_trusted),
        cmocka_unit_test(test_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
