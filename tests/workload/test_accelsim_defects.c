/* test_accelsim_defects.c: each possible defect of a kernel file: whether it stops a simulation, its message,
 * and its entry in a report. */
#include "kernel_text.h"

#include <inttypes.h>

#define ONE_LINE(line)                                                                                        \
    HEADER("3", "80", "(1,1,1)", "(32,1,1)") BLOCK("warp = 0\ninsts = 1\n" line "\n") /* line 19 */
#define ONE_LINE_V5(line) HEADER("5", "80", "(1,1,1)", "(32,1,1)") BLOCK("warp = 0\ninsts = 1\n" line "\n")
#define ONE_LINE_SM90(line) HEADER("3", "90", "(1,1,1)", "(32,1,1)") BLOCK("warp = 0\ninsts = 1\n" line "\n")
#define NOP "0000 ffffffff 0 NOP 0 0 \n"

typedef struct defect_case {
    const char *text;
    acc_kind kind;
    uint64_t line;
    const char *what;
} defect_case;

/* Strictly read, an error stops with place and words; anything less does not. A report has exactly this
 * defect. */
static void check(const defect_case *c)
{
    char expected[1024] = "";
    const char *said = read_all(c->text);
    if (acc_kind_severity(c->kind) == ACC_ERROR && c->line)
        snprintf(expected, sizeof expected, "k.traceg:%" PRIu64 ": %s", c->line, c->what);
    else if (acc_kind_severity(c->kind) == ACC_ERROR)
        snprintf(expected, sizeof expected, "k.traceg: %s", c->what);
    assert_string_equal(said, expected);
    acc_report report = { 0 };
    report_all(c->text, &report);
    if (report.defects.count != 1)
        for (size_t i = 0; i < report.defects.count; i++)
            print_message("%" PRIu64 ": %s: %s\n", report.defects.at[i].line,
                          acc_kind_name(report.defects.at[i].kind), report.defects.at[i].text);
    assert_int_equal(report.defects.count, 1);
    const acc_defect *d = &report.defects.at[0];
    assert_string_equal(acc_kind_name(d->kind), acc_kind_name(c->kind));
    assert_int_equal(d->severity, acc_kind_severity(c->kind));
    assert_string_equal(d->file, "k.traceg");
    assert_int_equal(d->line, c->line);
    assert_string_equal(d->text, c->what);
    assert_int_equal(report.counts[c->kind], 1);
    acc_report_fini(&report);
}

/* --- lines ---------------------------------------------------------------------------------------------- */

static void test_lines(void **state)
{
    (void)state;
    static const defect_case cases[] = {
        { ONE_LINE("xyz"), ACC_bad_line, 19, "the pc 'xyz' is not a hexadecimal number" },
        { ONE_LINE("123456789 ffffffff 0 NOP 0 0"), ACC_bad_line, 19,
          "the pc '123456789' is not a hexadecimal number" },
        { ONE_LINE("0000"), ACC_bad_line, 19, "the line ends before its mask" },
        { ONE_LINE("0000 fffffffff 0 NOP 0 0"), ACC_bad_line, 19,
          "the mask 'fffffffff' is not a hexadecimal number" },
        { ONE_LINE("0000 ffffffff"), ACC_bad_line, 19, "the line ends before its number of destinations" },
        { ONE_LINE("0000 ffffffff 5 NOP 0 0"), ACC_bad_line, 19,
          "the number of destinations '5' is not a number that is possible here" },
        { ONE_LINE("0000 ffffffff 1 R256 NOP 0 0"), ACC_bad_line, 19,
          "the register 'R256' is not R0 to R255, UR0 to UR63, P0 to P7 or UP0 to UP7" },
        { ONE_LINE("0000 ffffffff 1 UR64 NOP 0 0"), ACC_bad_line, 19,
          "the register 'UR64' is not R0 to R255, UR0 to UR63, P0 to P7 or UP0 to UP7" },
        { ONE_LINE("0000 ffffffff 1 R NOP 0 0"), ACC_bad_line, 19,
          "the register 'R' is not R0 to R255, UR0 to UR63, P0 to P7 or UP0 to UP7" },
        { ONE_LINE("0000 ffffffff 1 R4 1 0 0"), ACC_bad_line, 19,
          "the opcode '1' is not one: it must begin with a capital letter" },
        { ONE_LINE("0000 ffffffff 0 NOP 9 0"), ACC_bad_line, 19,
          "the number of sources '9' is not a number that is possible here" },
        { ONE_LINE("0000 ffffffff 0 NOP 1 R2"), ACC_bad_line, 19, "the line ends before its access width" },
        { ONE_LINE("0000 ffffffff 0 NOP 0 -1"), ACC_bad_line, 19,
          "the access width '-1' is not a number that is possible here" },
        { ONE_LINE("0000 ffffffff 0 NOP 0 0 7"), ACC_bad_line, 19,
          "'7' stands behind the end of the instruction" },
        { ONE_LINE("0000 00000003 1 R1 LDG.E 1 R2 4"), ACC_bad_line, 19,
          "the line ends before its address format" },
        { ONE_LINE("0000 00000003 1 R1 LDG.E 1 R2 4 1 0x10"), ACC_bad_line, 19,
          "the line ends before its stride" },
        { ONE_LINE("0000 00000003 1 R1 LDG.E 1 R2 4 0 0x10"), ACC_bad_line, 19,
          "the line ends before its addresses" },
        { ONE_LINE("0000 00000007 1 R1 LDG.E 1 R2 4 2 0x10 4"), ACC_bad_line, 19,
          "the line ends before its addresses" },
        { ONE_LINE("0000 00000001 1 R1 LDG.E 1 R2 4 0 0x11112222333344445"), ACC_bad_line, 19,
          "the address '0x11112222333344445' is not a hexadecimal number of up to 16 digits" },
        { ONE_LINE("0000 00000001 1 R1 LDG.E 1 R2 4 1 0x10 4x"), ACC_bad_line, 19,
          "the stride '4x' is not a decimal number of 64 bits" },
        { ONE_LINE("0000 00000001 0 UTMALDG.2D 0 4 0x400 0 32 0 2 0x10 4"), ACC_bad_line, 19,
          "the address format of a bulk copy '2' is not 3 or 4" },
        { ONE_LINE("0000 00000001 0 UTMALDG.2D 0 4 0x400 2 32 0 3 2 0x10 0x20"), ACC_bad_line, 19,
          "the multicast flag '2' is not a number that is possible here" },
        { ONE_LINE("0000 00000001 0 UTMALDG.2D 0 4 0x400 0 32 0 4 0x10"), ACC_bad_line, 19,
          "the line ends before its number of addresses" },
        { ONE_LINE("0000 00000001 0 UTMALDG.2D 0 4 0x400 1 0x3 32 0 4 0x10 2 x 0 0"), ACC_bad_line, 19,
          "the addresses 'x' is not a decimal number of 64 bits" },
        { ONE_LINE_SM90("0000 00000001 0 UBLKCP.S.G 0 0 0x0 0 0 0 4 0x0 0"), ACC_unmodelled_opcode, 19,
          "UBLKCP.S.G at pc 0x0 is not modelled" },
        { ONE_LINE_SM90("0000 00000001 0 UTMALDG.2D 0 16 0x400 1 0x3 32 0 3 2 0x10 0x20"),
          ACC_unmodelled_opcode, 19, "UTMALDG.2D at pc 0x0 is not modelled" },
        { ONE_LINE("0000 00000001 1 R1 LDG.E 1 R2 4 3 2 0x10 0x20"), ACC_unsupported, 19,
          "address format 3 of bulk copies is not supported" },
        { ONE_LINE("0000 00000001 0 ARRIVES.LDGSTSBAR.64 1 R2 0"), ACC_unmodelled_opcode, 19,
          "ARRIVES.LDGSTSBAR.64 at pc 0x0 is not modelled" },
        { ONE_LINE("0000 ffffffff 0 CCTL.IVALL 0 0"), ACC_ignored_opcode, 19,
          "CCTL.IVALL at pc 0x0 is not modelled" },
        { ONE_LINE("0000 00000001 1 R1 LDG.E 1 R2 0"), ACC_no_addresses, 19,
          "LDG.E at pc 0x0 has no addresses" },
        { ONE_LINE("0000 00000005 1 R1 LDG.E 1 R2 4 1 0x10 4"), ACC_stride_holes, 19,
          "a stride for the lanes 00000005" },
        { ONE_LINE("0000 ffffffff 1 R1 XMAD.MRG 0 0"), ACC_foreign_opcode, 19,
          "no document lists XMAD for sm_80" },
        { ONE_LINE_V5("0000 ffffffff 0 NOP 0 0"), ACC_bad_line, 19, "the line ends before its immediate" },
        { ONE_LINE_V5("0000 ffffffff 0 NOP 0 0 1e5"), ACC_bad_line, 19,
          "the immediate '1e5' is not a decimal number of 64 bits" },
        { ONE_LINE_V5("0000 ffffffff 0 NOP 0 0 1 2 3"), ACC_bad_line, 19,
          "'3' stands behind the end of the instruction" },
        { ONE_LINE_V5("0000 ffffffff 0 NOP 0 0 1 2x"), ACC_bad_line, 19,
          "the second immediate '2x' is not a decimal number of 64 bits" },
        { ONE_LINE("0000 00000001 0 UTMALDG.2D 0 4 0x400 0 32 0 3 1 0x10 0x20"), ACC_bad_line, 19,
          "the bulk copy has 2 addresses, its count says 1" },
        { ONE_LINE("0000 00000001 0 UTMALDG.2D 0 4 0x123456789 0 32 0 3 1 0x10"), ACC_bad_line, 19,
          "the mbarrier or the mask of a bulk copy has too many digits" },
        { ONE_LINE_V5("0000 00000001 0 UTMALDG.2D 0 4 0x400 0 32 0 3 1 0"), ACC_bad_line, 19,
          "the line ends before its immediates" },
    };
    for (size_t i = 0; i < LS_COUNT_OF(cases); i++)
        check(&cases[i]);
}

#define V6_LINE(line)                                                                                         \
    HEADER("6", "90", "(1,1,1)", "(32,1,1)")                                                                  \
    BLOCK("warp = 0\ninsts = 1\n0000 ffffffff 1 R1 MOV 0 0 " line "\n")

static void test_version_6_lines(void **state)
{
    (void)state;
    static const defect_case cases[] = {
        { V6_LINE("0 0"), ACC_bad_line, 19, "the line ends before its NoVal" },
        { V6_LINE("0 0 0 NoVal"), ACC_bad_line, 19, "the word '0' is not Val or NoVal" },
        { V6_LINE("0 x NoVal"), ACC_bad_line, 19,
          "the second immediate 'x' is not a decimal number of 64 bits" },
        { V6_LINE("0 0 Val 33"), ACC_bad_line, 19, "the number of register values '33' is not 0 to 32" },
        { V6_LINE("0 0 Val 2 1"), ACC_bad_line, 19, "the line ends before its register values" },
        { V6_LINE("0 0 Val 1 xyz"), ACC_bad_line, 19, "the register value 'xyz' is not a hexadecimal number" },
    };
    for (size_t i = 0; i < LS_COUNT_OF(cases); i++)
        check(&cases[i]);
}

static void test_wrong_prefix(void **state)
{
    (void)state;
    static const defect_case c = { HEADER("2", "70", "(1,1,1)", "(32,1,1)")
                                       BLOCK("warp = 0\ninsts = 1\n1 0 0 0 0000 ffffffff 0 NOP 0 0 \n"),
                                   ACC_wrong_prefix, 19, "the line names another thread block or warp" };
    check(&c);
}

static void test_unknown_opcode(void **state)
{
    (void)state;
    const char *text = HEADER_V3 BLOCK("warp = 0\ninsts = 3\n" NOP "0010 ffffffff 0 FFMAA.FTZ 0 0 \n"
                                       "0010 ffffffff 0 FFMAA.FTZ 0 0 \nwarp = 1\ninsts = 0\n");
    assert_string_equal(read_all(text),
                        "k.traceg:20: unknown opcode 'FFMAA.FTZ' of sm_80 at pc 0x10 (nearest: FFMA)");
    acc_report report = { 0 };
    report_all(text, &report);
    assert_int_equal(report.defects.count, 2); /* once, however often it is executed; and the empty warp */
    assert_int_equal(report.defects.at[0].kind, ACC_unknown_opcode);
    assert_int_equal(report.defects.at[0].line, 20);
    assert_string_equal(report.defects.at[0].text,
                        "unknown opcode 'FFMAA.FTZ' of sm_80 at pc 0x10 (nearest: FFMA)");
    acc_report_fini(&report);
    const trace_options options = { .unknown_opcodes_as_alu = true };
    reading r;
    reading_open(&r, text, &options);
    assert_int_equal(reading_next(&r), LS_OK);
    assert_int_equal(inst_of(&r, 1)->flags, LS_INST_UNKNOWN);
    reading_close(&r);
}

static void test_long_line(void **state)
{
    (void)state;
    char *text = malloc(400000), *end = text;
    end += sprintf(end, "%s#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 1\n", HEADER_V3);
    memset(end, 'a', 300000);
    strcpy(end + 300000, "\n" NOP "#END_TB\n");
    assert_string_equal(read_all(text), "k.traceg:19: a line of more than 262144 bytes");
    acc_report report = { 0 };
    report_all(text, &report);
    assert_int_equal(report.counts[ACC_long_line], 1);
    assert_int_equal(report.by_severity[ACC_ERROR], 1);
    acc_report_fini(&report);
    free(text);
}

/* --- warps and blocks ----------------------------------------------------------------------------------- */

#define BOTH(first) HEADER_V3 BLOCK(first "warp = 1\ninsts = 1\n" NOP)

static void test_warps(void **state)
{
    (void)state;
    static const defect_case cases[] = {
        { BOTH("warp = 0\ninsts = 2\n" NOP), ACC_wrong_count, 18,
          "the warp has 1 instructions, 'insts' says 2" },
        { BOTH("warp = 0\ninsts = 1\n" NOP NOP), ACC_wrong_count, 18,
          "the warp has 2 instructions, 'insts' says 1" },
        { BOTH("warp = 0\ninsts = 0\n"), ACC_empty_warp, 18, "the warp has no instructions" },
        { BOTH("warp = 0\ninsts = 1\n" NOP "warp = 2\ninsts = 1\n" NOP), ACC_warp_range, 20,
          "warp 2: a block of 64 threads has warps 0 to 1" },
        { BOTH("warp = 0\ninsts = 1\n" NOP "warp = 0\ninsts = 1\n" NOP), ACC_duplicate_warp, 20,
          "warp 0 appears twice in its block" },
        { BOTH(""), ACC_missing_warp, 20, "warp 0 of 2 is missing" },
        { BOTH("warp = 0\n"), ACC_structure, 18, "the warp before this line has no 'insts = N'" },
        { BOTH("warp = 0\ninsts = 1\n" NOP "insts = 1\n"), ACC_structure, 20,
          "'insts' does not follow a 'warp = N'" },
        { BOTH("warp = 0\ninsts = 1\n" NOP "warp = x\n"), ACC_bad_line, 20, "'warp = x' cannot be read" },
        { BOTH("warp = 0\ninsts = 1\n" NOP "thread block = 0,0\n"), ACC_bad_line, 20,
          "'thread block = 0,0' cannot be read" },
        { BOTH("warp = 0\ninsts = 2\n0000 ffffffff 0 EXIT 0 0 \n" NOP), ACC_after_exit, 20,
          "warp 0 goes on after all its lanes have left" },
    };
    for (size_t i = 0; i < LS_COUNT_OF(cases); i++)
        check(&cases[i]);
}

/* The second warp of 40 threads has 8 lanes; the line is known already, so the fast path reads it. */
static void test_lanes(void **state)
{
    (void)state;
    check(&(defect_case){ HEADER("3", "80", "(1,1,1)", "(40,1,1)")
                              BLOCK("warp = 0\ninsts = 1\n" NOP
                                    "warp = 1\ninsts = 3\n0000 000000ff 0 NOP 0 0 \n"
                                    "0000 000001ff 0 NOP 0 0 \n0000 00000080 0 NOP 0 0 \n"),
                          ACC_lane_range, 23,
                          "the mask 000001ff has lanes that warp 1 of a block of 40 threads does not have: it "
                          "has 000000ff" });
}

/* Lanes may exit one after another; a partial last warp has exited when its threads have. */
static void test_exits(void **state)
{
    (void)state;
    acc_report report = { 0 };
    report_all(HEADER("3", "80", "(1,1,1)", "(40,1,1)")
                   BLOCK("warp = 0\ninsts = 3\n0000 0000ffff 0 EXIT 0 0 \n" NOP "0010 ffff0000 0 EXIT 0 0 \n"
                         "warp = 1\ninsts = 2\n0000 000000ff 0 EXIT 0 0 \n0020 000000ff 0 NOP 0 0 \n"),
               &report);
    assert_int_equal(report.defects.count, 1);
    assert_int_equal(report.defects.at[0].kind, ACC_after_exit);
    assert_int_equal(report.defects.at[0].line, 25);
    acc_report_fini(&report);
}

#define WARP "warp = 0\ninsts = 1\n" NOP
#define HEADER_2 HEADER("3", "80", "(2,1,1)", "(32,1,1)")
#define NUMBERED(n) "#BEGIN_TB\nthread block = " n ",0,0\n" WARP "#END_TB\n"

static void test_blocks(void **state)
{
    (void)state;
    static const defect_case cases[] = {
        { HEADER_2 NUMBERED("0"), ACC_too_few_blocks, 21, "the file has 1 thread blocks, its grid 2" },
        { HEADER_2, ACC_too_few_blocks, 15, "the file has 0 thread blocks, its grid 2" },
        { HEADER_2 NUMBERED("0") NUMBERED("2"), ACC_block_range, 22,
          "thread block 2,0,0 is outside of the grid" },
        { HEADER_2 NUMBERED("0") NUMBERED("0"), ACC_duplicate_block, 22, "thread block 0,0,0 appears twice" },
        { HEADER_2 NUMBERED("0") "#BEGIN_TB\nthread block = 1,0,0\n" WARP, ACC_truncated, 26,
          "the file ends inside thread block 1,0,0" },
        { HEADER_2 NUMBERED("0") "#BEGIN_TB\nthread block = 1,0,0\nwarp = 0\ninsts = 1\n0000 ffff",
          ACC_truncated, 25, "the file ends inside a line" },
        { HEADER_2 NUMBERED("0") "#BEGIN_TB\nthread block = 1,0,0\n" WARP "#END_TB\n#END_TB\n", ACC_structure,
          27, "#END_TB without #BEGIN_TB" },
        { HEADER_2 NUMBERED("0") NOP NUMBERED("1"), ACC_structure, 21,
          "text outside of a thread block: a file that was not grouped by post-traces-processing?" },
        { HEADER_2 "#BEGIN_TB\nthread block = 0,0,0\n" WARP NUMBERED("1"), ACC_structure, 20,
          "a thread block begins before the last one ended" },
        { HEADER_2 "#BEGIN_TB\nthread block = 0,0,0\n" NOP WARP "#END_TB\n" NUMBERED("1"), ACC_structure, 17,
          "an instruction outside of a warp" },
    };
    for (size_t i = 0; i < LS_COUNT_OF(cases); i++)
        check(&cases[i]);
    assert_string_equal(read_all(HEADER_2 NUMBERED("0") NUMBERED("1") NUMBERED("0")),
                        "k.traceg:27: the grid has 2 thread blocks, here is one more");
    /* Out of order: both blocks are reported, because neither is the next one. */
    acc_report report = { 0 };
    report_all(HEADER_2 NUMBERED("1") NUMBERED("0"), &report);
    assert_int_equal(report.counts[ACC_block_order], 2);
    assert_int_equal(report.defects.count, 2);
    acc_report_fini(&report);
}

/* --- headers -------------------------------------------------------------------------------------------- */

#define REST                                                                                                  \
    "-kernel name = k\n-kernel id = 1\n-shmem = 0\n-nregs = 1\n-cuda stream id = 0\n-shmem base_addr = 0\n"   \
    "-local mem base_addr = 0\n-nvbit version = 1\n" /* 8 lines */
#define SHAPE "-grid dim = (1,1,1)\n-block dim = (32,1,1)\n"
#define TRACER "-accelsim tracer version = 3\n"
#define BINARY "-binary version = 80\n"
#define ONE_BLOCK NUMBERED("0")

static void test_headers(void **state)
{
    (void)state;
    static const defect_case cases[] = {
        { REST TRACER SHAPE ONE_BLOCK, ACC_missing_key, 12, "the header has no '-binary version'" },
        { REST TRACER BINARY "-grid dim = (1,1,1)\n" ONE_BLOCK, ACC_missing_key, 12,
          "the header has no '-block dim'" },
        { REST TRACER SHAPE BINARY "-colour = blue\n" ONE_BLOCK, ACC_unknown_key, 13,
          "the key 'colour' is not known" },
        { REST TRACER SHAPE BINARY BINARY ONE_BLOCK, ACC_duplicate_key, 13,
          "the key 'binary version' appears twice" },
        { REST TRACER SHAPE BINARY "-nonsense\n" ONE_BLOCK, ACC_bad_line, 13,
          "'-nonsense' is no '-key = value'" },
        { REST TRACER BINARY "-block dim = (32,1,1)\n-grid dim = (1,1)\n" ONE_BLOCK, ACC_bad_value, 12,
          "grid dim: '(1,1)' is not three sizes such as (8,1,1)" },
        { REST TRACER BINARY "-block dim = (32,1,1)\n-grid dim = (1,0,1)\n" ONE_BLOCK, ACC_bad_value, 12,
          "grid dim: '(1,0,1)' is not three sizes such as (8,1,1)" },
        { REST TRACER BINARY "-grid dim = (1,1,1)\n-block dim = (32,33,1)\n" ONE_BLOCK, ACC_bad_value, 13,
          "block dim: (32,33,1) is more than 1024 threads" },
        { REST TRACER BINARY "-block dim = (32,1,1)\n-grid dim = (4294967295,4294967295,2)\n" ONE_BLOCK,
          ACC_bad_value, 13, "grid dim: more than 2^63 thread blocks" },
        { REST TRACER SHAPE "-binary version = 20\n" ONE_BLOCK, ACC_unsupported, 13,
          "binary version 20 is no architecture that is known" },
        { REST SHAPE BINARY "-accelsim tracer version = 7\n" ONE_BLOCK, ACC_unsupported, 13,
          "tracer version 7 is not supported; 1 to 6 are" },
        { REST SHAPE BINARY "-accelsim tracer version = 0\n" ONE_BLOCK, ACC_unsupported, 13,
          "tracer version 0 is not supported; 1 to 6 are" },
        { REST TRACER SHAPE BINARY "-enable lineinfo = 2\n" ONE_BLOCK, ACC_bad_value, 13,
          "enable lineinfo: '2' is not 0 or 1" },
        { REST TRACER SHAPE BINARY "hello\n" ONE_BLOCK, ACC_structure, 13,
          "'hello' stands where the header is expected: a file that was not grouped by post-traces-processing?" },
        { "-kernel id = 1\n-shmem = 0\n-nregs = 1\n-cuda stream id = 0\n-shmem base_addr = 0\n"
          "-local mem base_addr = 0\n" TRACER SHAPE BINARY ONE_BLOCK,
          ACC_default_key, 11, "the header has no '-kernel name'" },
    };
    for (size_t i = 0; i < LS_COUNT_OF(cases); i++)
        check(&cases[i]);
    assert_string_equal(read_all(""), "k.traceg:1: the header has no '-grid dim'");
    assert_string_equal(read_all("hello\n"), "k.traceg:1: 'hello' stands where the header is expected");
}

static void test_crlf_noted(void **state)
{
    (void)state;
    acc_report report = { 0 };
    report_all(
        "-kernel name = k\r\n-kernel id = 1\n-shmem = 0\n-nregs = 1\n-cuda stream id = 0\n-shmem base_addr = 0\n"
        "-local mem base_addr = 0\n" TRACER SHAPE BINARY ONE_BLOCK,
        &report);
    assert_int_equal(report.defects.count, 1);
    assert_int_equal(report.defects.at[0].kind, ACC_line_ends);
    acc_report_fini(&report);
}

/* Without a tracer version lines have prefixes, as Accel-Sim reads them. */
static void test_no_tracer_version(void **state)
{
    (void)state;
    reading r;
    read_block(&r, REST SHAPE BINARY BLOCK("warp = 0\ninsts = 1\n0 0 0 0 0000 ffffffff 0 EXIT 0 0 \n"));
    assert_int_equal(kernel_get_info(r.kernel)->tracer_version, 1);
    reading_close(&r);
}

/* --- the report ----------------------------------------------------------------------------------------- */

/* One file with many defects: all are found, those of a kind beyond the limit are counted only. */
static void test_many(void **state)
{
    (void)state;
    acc_report report = { .limit = 2 };
    report_all(HEADER_V3
                   BLOCK("warp = 0\ninsts = 6\nx\ny\nz\n0000 ffffffff 0 QQQ 0 0\n0010 ffffffff 0 QQR 0 0\n" NOP
                         "warp = 5\ninsts = 1\n" NOP "warp = 1\ninsts = 9\n" NOP),
               &report);
    assert_int_equal(report.counts[ACC_bad_line], 3);
    assert_int_equal(report.counts[ACC_unknown_opcode], 2);
    assert_int_equal(report.counts[ACC_warp_range], 1);
    assert_int_equal(report.counts[ACC_wrong_count], 1);
    assert_int_equal(report.by_severity[ACC_ERROR], 7);
    assert_int_equal(report.defects.count, 6);
    acc_report_fini(&report);
}

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(acc_kind_name(ACC_wrong_count), "wrong_count");
    assert_string_equal(acc_kind_name(ACC_KIND_COUNT), "?");
    assert_string_equal(acc_kind_help(ACC_KIND_COUNT), "?");
    assert_string_equal(acc_severity_name(ACC_WARNING), "warning");
    assert_string_equal(acc_severity_name(ACC_SEVERITY_COUNT), "?");
    for (int i = 0; i < ACC_KIND_COUNT; i++)
        assert_true(strlen(acc_kind_help((acc_kind)i)) > 10);
}

/* docs/traces.md lists every kind with its severity. */
static void test_documented(void **state)
{
    (void)state;
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = fopen(LS_SOURCE_DIR "/docs/traces.md", "r");
    assert_non_null(file);
    assert_true(getdelim(&text, &bytes, '\0', file) > 0);
    fclose(file);
    for (int i = 0; i < ACC_KIND_COUNT; i++) {
        char row[80];
        snprintf(row, sizeof row, "| `%s` | %s |", acc_kind_name((acc_kind)i),
                 acc_severity_name(acc_kind_severity((acc_kind)i)));
        if (!strstr(text, row))
            fail_msg("docs/traces.md has no '%s'", row);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),        cmocka_unit_test(test_version_6_lines),
        cmocka_unit_test(test_wrong_prefix), cmocka_unit_test(test_unknown_opcode),
        cmocka_unit_test(test_long_line),    cmocka_unit_test(test_warps),
        cmocka_unit_test(test_lanes),        cmocka_unit_test(test_exits),
        cmocka_unit_test(test_blocks),       cmocka_unit_test(test_headers),
        cmocka_unit_test(test_crlf_noted),   cmocka_unit_test(test_no_tracer_version),
        cmocka_unit_test(test_many),         cmocka_unit_test(test_names),
        cmocka_unit_test(test_documented),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
