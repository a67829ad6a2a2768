/* test_import.c: Accel-Sim's option files as text in, platform text and notes out. That the machine accepts
 * what is written is tested with the command, where the machine is linked. */
#include "platform/load.h"

#include "platform/import.h"

static mem_arena arena;

static int tear_down(void **state)
{
    (void)state;
    arena_fini(&arena);
    return 0;
}

/* The smallest file that an import takes: everything else has a default of Accel-Sim's that can be taken. */
#define GPU                                                                                                   \
    "-gpgpu_num_sched_per_core 4\n"                                                                           \
    "-gpgpu_operand_collector_num_units_gen 8\n"                                                              \
    "-gpgpu_cache:dl1 S:4:128:64,L:T:m:L:L,A:256:32,16:0,32\n"                                                \
    "-gpgpu_cache:dl2 S:64:128:16,L:B:m:L:P,A:192:4,32:0,32\n"                                                \
    "-gpgpu_dram_buswidth 2\n-gpgpu_dram_burst_length 16\n"
#define GPU_LINES 6

static ls_status import_two(const char *first, const char *second, platform_import *out, ls_error *error)
{
    import_file files[2] = { { .path = "dir/gpu.config", .text = first, .text_bytes = strlen(first) },
                             { .path = "trace.config", .text = second, .text_bytes = strlen(second) } };
    return import_accelsim(&arena, files, 2, out, error);
}

static platform_import import_good(const char *first, const char *second)
{
    platform_import out;
    ls_error error = { .status = LS_OK };
    char line[1024];
    if (import_two(first, second, &out, &error) != LS_OK)
        fail_msg("%s", ls_error_text(&error, line, sizeof line));
    return out;
}

static void import_error(const char *text, const char *expected)
{
    platform_import out;
    ls_error error;
    char line[1024];
    ls_status status = import_two(text, "", &out, &error);
    assert_string_equal(ls_error_text(&error, line, sizeof line), expected);
    assert_int_equal(ls_status_exit_code(status), 2);
    assert_null(out.yaml);
}

/* The value of a key of the text, without its comment; "" if it has none. */
static const char *value_of(const platform_import *import, const char *key)
{
    static char value[256];
    size_t bytes = strlen(key);
    for (const char *line = import->yaml; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, bytes) != 0 || strncmp(line + bytes, ": ", 2) != 0)
            continue;
        const char *start = line + bytes + 2, *end = strstr(start, " #");
        while (end > start && end[-1] == ' ')
            end--;
        snprintf(value, sizeof value, "%.*s", (int)(end - start), start);
        return value;
    }
    return "";
}

static void key_is(const platform_import *import, const char *key, const char *expected)
{
    const char *value = value_of(import, key);
    if (strcmp(value, expected) != 0)
        fail_msg("%s is '%s', not '%s'", key, value, expected);
}

static const import_remark *find_note(const platform_import *import, const char *option)
{
    for (size_t i = 0; i < import->note_count; i++)
        if (strcmp(import->notes[i].option, option) == 0)
            return &import->notes[i];
    return NULL;
}

static void note_is(const platform_import *import, const char *option, import_fate fate)
{
    const import_remark *note = find_note(import, option);
    if (!note)
        fail_msg("no note about %s", option);
    else
        assert_int_equal(note->fate, fate);
}

/* ---------------------------------------------------------------------------------------------- reading */

static void test_words(void **state)
{
    (void)state;
    platform_import out = import_good(GPU "# -gpgpu_n_mem 3\r\n"
                                          "-gpgpu_n_clusters\t7 # seven\r\n"
                                          "-gpgpu_n_cores_per_cluster 1 -gpgpu_n_mem 12#no space\n"
                                          "-gpgpu_dram_timing_opt \"nbk=16:CCD=1:RRD=3:RCD=12: # half\n"
                                          "   RAS=28:RP=12:RC=40:CL=12:WL=2:CDLR=3:WR=10:nbkgrp=4:\n"
                                          "   CCDL=2:RTPL=3\"",
                                      "");
    key_is(&out, "cores", "7");
    key_is(&out, "memory.channels", "12");
    key_is(&out, "dram.ras_cycles", "28");
    key_is(&out, "dram.rtpl_cycles", "3");
}

static void test_last_one_counts(void **state)
{
    (void)state;
    platform_import out =
        import_good(GPU "-gpgpu_l1_latency 20\n-gpgpu_smem_latency 5\n-gpgpu_l1_latency 39\n",
                    "-gpgpu_smem_latency 29\n");
    key_is(&out, "core.l1.latency_cycles", "39");
    key_is(&out, "core.shared_latency_cycles", "29");
    assert_non_null(strstr(out.yaml, "# from -gpgpu_l1_latency\n"));
}

static void test_defaults_are_accelsims(void **state)
{
    (void)state;
    platform_import out = import_good(GPU, "");
    key_is(&out, "cores", "30"); /* 10 clusters of 3 */
    key_is(&out, "clock.dram_mhz", "2000");
    key_is(&out, "core.scheduler.model", "gto");
    key_is(&out, "core.class.fp32", "{unit: sp, latency_cycles: 4, interval_cycles: 1}");
    assert_non_null(strstr(out.yaml, "# Accel-Sim's default of -gpgpu_scheduler\n"));
}

static void test_broken_words(void **state)
{
    (void)state;
    import_error("-gpgpu_n_mem\n", "dir/gpu.config:1: option '-gpgpu_n_mem' has no value");
    import_error("\n-gpgpu_n_mem -gpgpu_n_clusters 1\n",
                 "dir/gpu.config:2: option '-gpgpu_n_mem' has no value");
    import_error("-gpgpu_n_mem 8 9\n", "dir/gpu.config:1: '9' does not belong to an option");
    import_error("-gpgpu_n_mem \"8\n", "dir/gpu.config:1: the quotation mark of '\"8\\x0A' is never closed");
    import_error("\n\n-config other.config\n",
                 "dir/gpu.config:3: option '-config' is not followed: name that file on the command line");
}

static void test_zero_bytes(void **state)
{
    (void)state;
    static const char text[] = "-gpgpu_n_mem 8\0\n";
    import_file file = { .path = "z", .text = text, .text_bytes = sizeof text - 1 };
    platform_import out;
    ls_error error;
    char line[256];
    assert_int_equal(import_accelsim(&arena, &file, 1, &out, &error), LS_ERR_INPUT);
    assert_string_equal(ls_error_text(&error, line, sizeof line), "z:1: '8\\x00' contains a zero byte");
}

/* ---------------------------------------------------------------------------------------------- numbers */

static void test_broken_values(void **state)
{
    (void)state;
    import_error(
        GPU "-gpgpu_l1_latency fast\n",
        "dir/gpu.config:7: -gpgpu_l1_latency: 'fast' is not a whole number: unexpected 'f' at character 1");
    import_error(GPU "-gpgpu_shmem_size 1000\n",
                 "dir/gpu.config:7: -gpgpu_shmem_size: 1000 bytes are no whole number of KiB");
    import_error(GPU "-gpgpu_shader_core_pipeline 2048:16\n",
                 "dir/gpu.config:7: -gpgpu_shader_core_pipeline: warps have 32 threads, not 16");
    import_error(GPU "-gpgpu_pipeline_widths 4,4,4\n",
                 "dir/gpu.config:7: -gpgpu_pipeline_widths: '4,4,4' has 3 fields, 13 are needed");
    import_error(GPU "-gpgpu_dram_partition_queues 8:8:8:8:8\n",
                 "dir/gpu.config:7: -gpgpu_dram_partition_queues: '8:8:8:8:8' has more than 4 fields");
    import_error(GPU "-gpgpu_flush_l1_cache 2\n",
                 "dir/gpu.config:7: -gpgpu_flush_l1_cache: 2 is neither 0 nor 1");
    import_error(GPU "-gpgpu_clock_domains 1:2:3\n",
                 "dir/gpu.config:7: -gpgpu_clock_domains: it must have four clocks, core:network:L2:DRAM");
    import_error(GPU "-gpgpu_scheduler fastest\n",
                 "dir/gpu.config:7: -gpgpu_scheduler: Accel-Sim has no scheduler 'fastest'");
    import_error(GPU "-gpgpu_num_reg_banks 6\n",
                 "dir/gpu.config:7: -gpgpu_num_reg_banks: 6 cannot be shared out to 4 schedulers");
    import_error(GPU "-trace_opcode_latency_initiation_int 2\n",
                 "dir/gpu.config:7: -trace_opcode_latency_initiation_int: '2' has 1 fields, 2 are needed");
    import_error(GPU "-trace_opcode_latency_initiation_sfu 0,4\n",
                 "dir/gpu.config:7: -trace_opcode_latency_initiation_sfu: its latency is 0");
    import_error(
        GPU "-gpgpu_memory_partition_indexing 9\n",
        "dir/gpu.config:7: -gpgpu_memory_partition_indexing: Accel-Sim has indexing functions 0 to 6, not 9");
    import_error(GPU "-dram_bnk_indexing_policy 7\n",
                 "dir/gpu.config:7: -dram_bnk_indexing_policy: 7 is none of the 3 that can be imported");
}

static void test_broken_memory(void **state)
{
    (void)state;
    import_error(GPU "-gpgpu_cache:dl2 S:48:128:16,L:B:m:L:P,A:192:4,32:0,32\n",
                 "dir/gpu.config:7: -gpgpu_cache:dl2: 48 sets are no power of two");
    import_error(GPU "-gpgpu_cache:dl2 S:64:64:16,L:B:m:L:P,A:192:4,32\n",
                 "dir/gpu.config:7: -gpgpu_cache:dl2: lines have 128 bytes, not 64");
    import_error(GPU "-gpgpu_adaptive_cache_config 1\n-gpgpu_unified_l1d_size 128\n"
                     "-gpgpu_cache:dl1 S:4:128:0,L:T:m:L:L,A:256:32,16\n",
                 "dir/gpu.config:9: -gpgpu_cache:dl1: it has no ways");
    import_error(
        GPU "-gpgpu_cache:dl1 S:4:128:64,L:Q:m:L:L,A:256:32,16\n",
        "dir/gpu.config:7: -gpgpu_cache:dl1: 'S:4:128:64,L:Q:m:L:L,A:256:32,16' is not "
        "<N|S>:sets:line:ways,<L|F>:<R|B|T|E|L>:<m|f|s>:<N|W|F|L>:<L|P|X|H|C>,<A|S|F|T>:entries:merge,"
        "queue[:fifo][,port]");
    import_error(
        GPU "-gpgpu_mem_addr_mapping 0000RRRR.DDDDBBBB\n",
        "dir/gpu.config:7: -gpgpu_mem_addr_mapping: only maps of the form dramid@B;bits can be imported");
    import_error(GPU "-gpgpu_mem_addr_mapping dramid@8;RRRRXBBB\n",
                 "dir/gpu.config:7: -gpgpu_mem_addr_mapping: 'X' in the map is none of R, B, C, S, 0");
    import_error(GPU "-gpgpu_dram_timing_opt nbk=16:CDD=4\n",
                 "dir/gpu.config:7: -gpgpu_dram_timing_opt: there is no timing 'CDD' (nearest: CCD)");
    import_error(GPU "-gpgpu_dram_timing_opt nbk=16:CCD=4\n",
                 "dir/gpu.config:7: -gpgpu_dram_timing_opt: the timing 'RRD' is missing");
    import_error(
        GPU "-gpgpu_dram_burst_length 8\n",
        "dir/gpu.config:5: -gpgpu_dram_buswidth: 2 bytes, bursts of 8 and 1 chips: a column command must "
        "move 32 bytes");
    import_error(
        GPU "-gpgpu_adaptive_cache_config 1\n-gpgpu_unified_l1d_size 100\n",
        "dir/gpu.config:3: -gpgpu_cache:dl1: 100 KiB of -gpgpu_unified_l1d_size are no multiple of its size");
}

/* ---------------------------------------------------------------------------------------------- classes */

static void test_classes(void **state)
{
    (void)state;
    platform_import out = import_good(GPU "-gpgpu_num_int_units 4\n-gpgpu_num_dp_units 4\n",
                                      "-trace_opcode_latency_initiation_int 3,2\n"
                                      "-trace_opcode_latency_initiation_sp 5,4\n"
                                      "-trace_opcode_latency_initiation_dp 8,4\n"
                                      "-trace_opcode_latency_initiation_sfu 20,8\n"
                                      "-specialized_unit_1 1,4,4,4,4,BRA\n"
                                      "-trace_opcode_latency_initiation_spec_op_1 6,6\n"
                                      "-specialized_unit_3 1,4,4,4,4,TENSOR\n"
                                      "-trace_opcode_latency_initiation_spec_op_3 32,16\n"
                                      "-trace_opcode_latency_initiation_tensor 9,9\n");
    key_is(&out, "core.class.fp32", "{unit: sp, latency_cycles: 5, interval_cycles: 4}");
    key_is(&out, "core.class.half", "{unit: sp, latency_cycles: 5, interval_cycles: 2}");
    key_is(&out, "core.class.half_mul", "{unit: sp, latency_cycles: 5, interval_cycles: 4}");
    key_is(&out, "core.class.fp64", "{unit: dp, latency_cycles: 8, interval_cycles: 4}");
    key_is(&out, "core.class.int_mul", "{unit: int, latency_cycles: 3, interval_cycles: 2}");
    key_is(&out, "core.class.shuffle", "{unit: int, latency_cycles: 3, interval_cycles: 2}");
    key_is(&out, "core.class.barrier", "{unit: int, latency_cycles: 1, interval_cycles: 1}");
    key_is(&out, "core.class.exit", "{unit: int, latency_cycles: 1, interval_cycles: 1}");
    key_is(&out, "core.class.sfu", "{unit: sfu, latency_cycles: 20, interval_cycles: 8}");
    key_is(&out, "core.class.branch", "{unit: branch, latency_cycles: 6, interval_cycles: 6}");
    key_is(&out, "core.class.tensor_int", "{unit: tensor, latency_cycles: 32, interval_cycles: 16}");
    key_is(&out, "core.class.texture", "{unit: int, latency_cycles: 3, interval_cycles: 2}"); /* no unit 2 */
    key_is(&out, "core.class.uniform", "{unit: uniform, latency_cycles: 4, interval_cycles: 1}");
    key_is(&out, "core.class.fence", "{unit: memory, latency_cycles: 1, interval_cycles: 1}");
    note_is(&out, "-trace_opcode_latency_initiation_tensor", LS_IMPORT_QUIET);
}

static void test_missing_units(void **state)
{
    (void)state;
    platform_import out =
        import_good(GPU "-gpgpu_num_int_units 0\n-gpgpu_num_dp_units 0\n-gpgpu_num_sp_units 8\n", "");
    key_is(&out, "core.class.int_alu", "{unit: sp, latency_cycles: 4, interval_cycles: 1}");
    key_is(&out, "core.class.fp64", "{unit: sfu, latency_cycles: 4, interval_cycles: 1}");
    note_is(&out, "-gpgpu_num_sp_units", LS_IMPORT_MISSING);
    assert_null(find_note(&out, "-gpgpu_num_int_units"));
}

/* Every class of classes.def is written: a new one without a rule would have no line. */
static void test_all_classes(void **state)
{
    (void)state;
    platform_import out = import_good(GPU, "");
#define CLASS(name_, help_) assert_string_not_equal(value_of(&out, "core.class." #name_), "");
#include "lockstep/classes.def"
#undef CLASS
}

/* ----------------------------------------------------------------------------------------------- memory */

static void test_network(void **state)
{
    (void)state;
    /* request + reply + delay are the ROP latency and 15 cycles without the 11 of core and slice. */
    platform_import out = import_good(GPU "-gpgpu_l2_rop_latency 187\n", "");
    key_is(&out, "noc.request_latency_cycles", "93");
    key_is(&out, "noc.reply_latency_cycles", "93");
    key_is(&out, "l2.delay_cycles", "5");
    key_is(&out, "dispatch_latency_cycles", "93");
    out = import_good(GPU "-gpgpu_l2_rop_latency 0\n", "");
    key_is(&out, "noc.request_latency_cycles", "1");
    key_is(&out, "l2.delay_cycles", "2");
}

static void test_caches(void **state)
{
    (void)state;
    platform_import out = import_good(GPU "-gpgpu_adaptive_cache_config 1\n-gpgpu_unified_l1d_size 128\n"
                                          "-gpgpu_shmem_option 0,8,16\n"
                                          "-gpgpu_cache:dl1 N:4:128:64,F:T:s:N:H,F:256:32,16:0,64\n",
                                      "");
    key_is(&out, "core.unified_kib", "128");
    key_is(&out, "core.shared_options_kib", "[0, 8, 16]");
    key_is(&out, "core.l1.ways", "256");
    key_is(&out, "core.l1.mshr_entries", "256");
    key_is(&out, "core.l1.write_policy", "around");
    key_is(&out, "core.l1.replacement", "fifo");
    key_is(&out, "core.l1.hash", "none");
    size_t lost = 0;
    for (size_t i = 0; i < out.note_count; i++)
        lost += strcmp(out.notes[i].option, "-gpgpu_cache:dl1") == 0;
    assert_int_equal(lost, 5); /* N, s, H, F, 64 */
    key_is(&out, "l2.write_policy", "back");
    key_is(&out, "l2.hash", "ipoly");
    out = import_good(GPU "-gpgpu_unified_l1d_size 128\n", "");
    key_is(&out, "core.unified_kib", "0");
    key_is(&out, "core.l1.ways", "64");
    note_is(&out, "-gpgpu_unified_l1d_size", LS_IMPORT_QUIET);
}

static void test_address_map(void **state)
{
    (void)state;
    platform_import out = import_good(GPU "-gpgpu_mem_addr_mapping "
                                          "dramid@9;00000000.00000000.0000RRRR.RRRRRRRR.RBBBCCCC.BCCSSSSS\n"
                                          "-gpgpu_memory_partition_indexing 4\n",
                                      "");
    key_is(&out, "memory.interleave_bytes", "512");
    key_is(&out, "memory.bit_map", "0000RRRR.RRRRRRRR.RBBBCCCC.BCCSSSSS");
    key_is(&out, "memory.slice_hash", "ipoly");
    note_is(&out, "-gpgpu_memory_partition_indexing", LS_IMPORT_MISSING);
}

static void test_dram(void **state)
{
    (void)state;
    platform_import out =
        import_good(GPU "-gpgpu_dram_timing_opt 16:4:12:24:55:24:78:24:8:10:24:4:6:4\n"
                        "-gpgpu_clock_domains 1132:1132:1000:3500.5\n-dram_latency 254\n"
                        "-dram_dual_bus_interface 1\n-dram_bnkgrp_indexing_policy 1\n"
                        "-dram_seperate_write_queue_enable 1\n-dram_write_queue_size 64:56:32\n"
                        "-dram_elimnate_rw_turnaround 1\n",
                    "");
    key_is(&out, "dram.timing", "custom");
    key_is(&out, "dram.ccdl_cycles", "6");
    key_is(&out, "dram.cdlr_cycles", "10");
    key_is(&out, "dram.bus_bytes", "2");
    key_is(&out, "dram.command_bus", "dual");
    key_is(&out, "dram.bank_group_bits", "low");
    key_is(&out, "dram.queue_entries", "65536"); /* 0 in Accel-Sim: no limit */
    key_is(&out, "dram.write_queue_high", "56");
    key_is(&out, "dram.turnaround", "false");
    key_is(&out, "dram.front_latency_cycles", "254");
    key_is(&out, "dram.front_clock_mhz", "1132");
    key_is(&out, "clock.dram_mhz", "3500.5");
    note_is(&out, "-gpgpu_clock_domains", LS_IMPORT_MISSING); /* the network has no clock of its own */
}

/* ------------------------------------------------------------------------------------------------ notes */

static void test_notes(void **state)
{
    (void)state;
    platform_import out = import_good(GPU "-gpgpu_l1_latncy 3\n-quite_else 1\n-gpgpu_stack_size_limit 1024\n"
                                          "-gpgpu_sub_core_model 1\n-icnt_subnets 1\n",
                                      "");
    const import_remark *note = find_note(&out, "-gpgpu_l1_latncy");
    assert_non_null(note);
    assert_int_equal(note->fate, LS_IMPORT_UNKNOWN);
    assert_string_equal(note->why, "-gpgpu_l1_latency");
    assert_string_equal(note->value, "3");
    assert_string_equal(note->file, "dir/gpu.config");
    assert_int_equal(note->line, GPU_LINES + 1);
    assert_ptr_equal(note, &out.notes[0]);
    assert_string_equal(find_note(&out, "-quite_else")->why, "");
    note_is(&out, "-gpgpu_stack_size_limit", LS_IMPORT_QUIET);
    note_is(&out, "-icnt_subnets", LS_IMPORT_MISSING);
    assert_null(find_note(&out, "-gpgpu_sub_core_model"));
    /* A default that we cannot do is lost, too. */
    note = find_note(&out, "-gpgpu_coalesce_arch");
    assert_non_null(note);
    assert_int_equal(note->line, 0);
    assert_non_null(strstr(out.yaml, "\n# not known:\n"
                                     "#   -gpgpu_l1_latncy 3 (gpu.config:7) nearest: -gpgpu_l1_latency\n"
                                     "#   -quite_else 1 (gpu.config:8)\n\n# not modelled:\n"));
    assert_non_null(strstr(out.yaml, "#   -gpgpu_coalesce_arch 13 (default): accesses are coalesced"));
    assert_non_null(strstr(out.yaml,
                           "\n# no effect on timing in trace mode:\n#   -gpgpu_stack_size_limit 1024 "
                           "(gpu.config:9): a limit of the CUDA runtime\n"));
}

/* Reads that meet in front of a slice of L2: off unless it is switched on. */
static void test_coalescer(void **state)
{
    (void)state;
    platform_import out =
        import_good(GPU "-gpgpu_lrc_enabled 1\n-gpgpu_lrc_max_entries 1024\n-gpgpu_lrc_max_merged 4\n", "");
    key_is(&out, "l2.coalesce_entries", "1024");
    key_is(&out, "l2.coalesce_requests", "4");
    out = import_good(GPU "-gpgpu_lrc_enabled 1\n", ""); /* its own defaults */
    key_is(&out, "l2.coalesce_entries", "256");
    key_is(&out, "l2.coalesce_requests", "32");
    out = import_good(GPU "-gpgpu_lrc_max_entries 1024\n", "");
    assert_null(strstr(out.yaml, "coalesce_entries"));
}

/* Switches that change what memory does, and kernels side by side. */
static void test_switches(void **state)
{
    (void)state;
    platform_import out = import_good(GPU "-l2_ideal 1\n-gpgpu_flush_l2_cache 1\n-gpgpu_gmem_skip_L1D 1\n"
                                          "-gpgpu_perfect_mem 1\n-gpgpu_concurrent_kernel_sm 1\n"
                                          "-gpgpu_max_concurrent_kernel 8\n",
                                      "");
    key_is(&out, "l2.ideal", "true");
    key_is(&out, "l2.flush", "true");
    key_is(&out, "core.bypass_l1", "true");
    key_is(&out, "core.perfect_memory", "true");
    key_is(&out, "dispatch.concurrent_kernels", "8");
    key_is(&out, "dispatch.window", "8");
    key_is(&out, "dispatch.sharing", "leftover");
    out = import_good(GPU, "");
    assert_null(strstr(out.yaml, "l2.ideal"));
    assert_null(strstr(out.yaml, "dispatch.window"));
}

static void test_note_table(void **state)
{
    (void)state;
    platform_import out = import_good(GPU "-keep 1\n", "");
    char *text = NULL;
    size_t bytes, count;
    FILE *stream = open_memstream(&text, &bytes);
    assert_int_equal(import_print_notes(&out, LS_IMPORT_QUIET, stream, &count, NULL), LS_OK);
    assert_int_equal(count, 1);
    assert_int_equal(import_print_notes(&out, LS_IMPORT_UNKNOWN, stream, &count, NULL), LS_OK);
    assert_int_equal(count, 0);
    fclose(stream);
    assert_string_equal(text, "no effect on timing in trace mode:\n"
                              "  OPTION  VALUE  FROM          WHY\n"
                              "  -keep   1      gpu.config:7  for functional simulation of PTX\n");
    free(text);
}

static void test_head(void **state)
{
    (void)state;
    platform_import out = import_good(GPU, "");
    assert_ptr_equal(strstr(out.yaml,
                            "title: \"dir, as Accel-Sim has it\"\nsource: \"gpu.config, trace.config\"\n"
                            "machine: gpu\n"),
                     out.yaml);
    assert_int_equal(out.yaml_bytes, strlen(out.yaml));
    assert_int_equal(import_accelsim(&arena, NULL, 0, &out, NULL), LS_ERR_USAGE);
    import_file missing = { .path = "no-such-file.config" };
    assert_int_equal(import_accelsim(&arena, &missing, 1, &out, NULL), LS_ERR_IO);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_words),
        TEST(test_last_one_counts),
        TEST(test_defaults_are_accelsims),
        TEST(test_broken_words),
        TEST(test_zero_bytes),
        TEST(test_broken_values),
        TEST(test_broken_memory),
        TEST(test_classes),
        TEST(test_missing_units),
        TEST(test_all_classes),
        TEST(test_network),
        TEST(test_caches),
        TEST(test_address_map),
        TEST(test_dram),
        TEST(test_notes),
        TEST(test_coalescer),
        TEST(test_switches),
        TEST(test_note_table),
        TEST(test_head),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
