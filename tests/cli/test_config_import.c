/* test_config_import.c: `lockstep config import` with the real machine. Its output is a valid platform, and
 * the three configurations of Accel-Sim in the project's references keep their numbers. */
#include "platform/load.h"

#include "base/file.h"
#include "cli/run_words.h"

#define CONFIGS LS_SOURCE_DIR "/../shared/formats/accelsim-configs"

/* The words after `lockstep config`. */
#define run(...) run_words((const char *const[WORDS]){ "lockstep", "config", __VA_ARGS__ })

static int tear_down(void **state)
{
    free_texts();
    return test_dir_leave(state);
}

/* An invented GPU with everything that an import needs. */
static const char gpu_config[] = "-gpgpu_n_clusters 6\n-gpgpu_n_cores_per_cluster 1\n"
                                 "-gpgpu_clock_domains 1000.0:1000.0:1000.0:2500.25\n"
                                 "-gpgpu_n_mem 4\n-gpgpu_n_sub_partition_per_mchannel 2\n"
                                 "-gpgpu_num_sched_per_core 4\n-gpgpu_shader_core_pipeline 2048:32\n"
                                 "-gpgpu_shader_registers 65536\n-gpgpu_shmem_size 65536\n"
                                 "-gpgpu_operand_collector_num_units_gen 8\n"
                                 "-gpgpu_cache:dl1 S:4:128:64,L:T:m:L:L,A:256:32,16:0,32\n"
                                 "-gpgpu_cache:dl2 S:64:128:16,L:B:m:L:P,A:192:4,32:0,32\n"
                                 "-gpgpu_dram_buswidth 2\n-gpgpu_dram_burst_length 16\n"
                                 "-dram_data_command_freq_ratio 4\n"
                                 "-gpgpu_dram_timing_opt 16:4:12:24:55:24:78:24:8:10:24:4:6:4\n"
                                 "-gpgpu_mem_addr_mapping dramid@8;0000RRRR.RRRRRRRR.RBBBCCCC.BCCSSSSS\n";

static void test_writes_a_platform(void **state)
{
    (void)state;
    write_file("gpu.config", gpu_config);
    write_file("trace.config", "-trace_opcode_latency_initiation_sp 2,1\n");
    assert_int_equal(run("import", "gpu.config", "trace.config", "-o", "gpu.yaml"), 0);
    assert_string_equal(out_text, "");
    assert_ptr_equal(strstr(err_text, "not modelled:\n  OPTION "), err_text);
    assert_int_equal(run("check", "gpu.yaml"), 0);
    assert_int_equal(run("explain", "core.class.fp32.latency_cycles", "--platform", "gpu.yaml"), 0);
    assert_non_null(strstr(out_text, "from -trace_opcode_latency_initiation_sp"));
    /* To standard output, and without a word. */
    assert_int_equal(run("import", "-q", "gpu.config", "trace.config"), 0);
    assert_ptr_equal(strstr(out_text, "title: \"gpu.config, as Accel-Sim has it\"\n"), out_text);
    assert_string_equal(err_text, "");
}

static void test_warns_of_unknown_options(void **state)
{
    (void)state;
    write_file("gpu.config", gpu_config);
    write_file("more.config", "\n-gpgpu_l1_latncy 7\n");
    assert_int_equal(run("import", "-q", "gpu.config", "more.config"), 0);
    assert_string_equal(err_text,
                        "lockstep: warning: more.config:2: unknown option '-gpgpu_l1_latncy' (nearest: "
                        "-gpgpu_l1_latency)\n");
}

static void test_nothing_is_written_on_failure(void **state)
{
    (void)state;
    write_file("gpu.config", gpu_config);
    write_file("bad.config", "-gpgpu_l1_latency many\n");
    assert_int_equal(run("import", "gpu.config", "bad.config", "-o", "gpu.yaml"), 2);
    assert_non_null(strstr(err_text,
                           "lockstep: bad.config:1: -gpgpu_l1_latency: 'many' is not a whole number"));
    assert_false(file_exists("gpu.yaml"));
    assert_int_equal(run("import", "gpu.config", "bad.config"), 2);
    assert_string_equal(out_text, "");
    /* A number that is one, but that no machine can have. */
    write_file("bad.config", "\n\n-gpgpu_shader_cta 100000\n");
    assert_int_equal(run("import", "gpu.config", "bad.config", "-o", "gpu.yaml"), 2);
    assert_non_null(strstr(err_text,
                           "lockstep: bad.config:3: -gpgpu_shader_cta: 'core.cta_slots' is 100000, but must "
                           "be from 1 to "));
    assert_false(file_exists("gpu.yaml"));
    assert_int_equal(run("import", "gpu.config", "no-such.config"), 2);
}

/* -------------------------------------------------------------------------------- Accel-Sim's own files */

typedef struct expectation {
    const char *key;
    const char *values[3]; /* RTX 3070, RTX 2060, QV100 */
} expectation;

static const char *const names[3] = { "SM86_RTX3070", "SM75_RTX2060", "SM7_QV100" };

static const expectation expectations[] = {
    { "cores", { "46", "30", "80" } },
    { "clock.core_mhz", { "1132", "1365", "1132" } },
    { "clock.dram_mhz", { "3500.5", "3500.5", "850" } },
    { "noc.request_latency_cycles", { "93", "97", "80" } },
    { "noc.reply_latency_cycles", { "93", "97", "80" } },
    { "l2.delay_cycles", { "5", "4", "4" } },
    { "dispatch.launch_latency_cycles", { "5000", "5000", "5000" } },
    { "dispatch.concurrent_kernels", { "1", "1", "1" } },
    { "core.sub_cores", { "4", "4", "4" } },
    { "core.warp_slots", { "48", "32", "64" } },
    { "core.cta_slots", { "32", "16", "32" } },
    { "core.shared_kib", { "100", "64", "96" } },
    { "core.scheduler.model", { "lrr", "lrr", "lrr" } },
    { "core.collectors", { "2", "2", "2" } },
    { "core.register_banks", { "2", "2", "4" } },
    { "core.collect_steps", { "2", "2", "2" } },
    { "core.result_buses", { "8", "8", "8" } },
    { "core.fetch_rounds", { "4", "4", "4" } },
    { "core.fetch", { "perfect", "perfect", "perfect" } },
    { "core.translation", { "none", "none", "none" } },
    { "core.track_spans", { "false", "false", "false" } },
    { "core.accelsim_rules", { "true", "true", "true" } },
    { "core.shared_first_word", { "true", "true", "true" } },
    { "core.shared_latency_cycles", { "29", "30", "20" } },
    { "core.unified_kib", { "128", "96", "128" } },
    { "core.shared_options_kib", { "[0, 8, 16, 32, 64, 100]", "[32, 64]", "[0, 8, 16, 32, 64, 96]" } },
    { "core.l1.latency_cycles", { "39", "32", "20" } },
    { "core.l1.ways", { "256", "192", "256" } },
    { "core.l1.mshr_entries", { "384", "256", "512" } },
    { "core.l1.mshr_merge", { "48", "32", "8" } },
    { "l2.mshr_merge", { "4", "4", "4" } },
    { "l2.merge_stall", { "slice", "slice", "slice" } },
    { "core.l1.dirty_limit_percent", { "25", "25", "25" } },
    { "core.class.fp32.interval_cycles", { "1", "2", "2" } },
    { "core.class.half.interval_cycles", { "1", "1", "1" } },
    { "core.class.int_alu.latency_cycles", { "2", "2", "2" } },
    { "core.class.fp64.latency_cycles", { "64", "64", "8" } },
    { "core.class.sfu.latency_cycles", { "21", "21", "20" } },
    { "core.class.tensor_half.latency_cycles", { "32", "16", "2" } },
    { "core.class.branch.unit", { "branch", "branch", "branch" } },
    { "core.class.texture.latency_cycles", { "200", "200", "200" } },
    { "core.class.uniform.interval_cycles", { "1", "1", "1" } },
    { "memory.channels", { "16", "12", "32" } },
    { "memory.slices_per_channel", { "2", "2", "2" } },
    { "memory.slice_hash", { "ipoly", "none", "ipoly" } },
    { "memory.bit_map",
      { "0000RRRR.RRRRRRRR.RBBBCCCC.BCCSSSSS", "0000RRRR.RRRRRRRR.RBBBCCCC.BCCSSSSS",
        "0000RRRR.RRRRRRRR.RBBBCCCB.CCCSSSSS" } },
    { "l2.sets", { "64", "64", "32" } },
    { "l2.ways", { "16", "16", "24" } },
    { "dram.rcd_cycles", { "24", "24", "12" } },
    { "dram.bus_bytes", { "2", "2", "16" } },
    { "dram.command_bus", { "accelsim", "accelsim", "dual" } },
    { "dram.front_latency_cycles", { "254", "96", "100" } },
    { "dram.front_clock_mhz", { "1132", "1365", "1132" } },
};

static void test_accelsims_configurations(void **state)
{
    (void)state;
    if (!file_is_dir(CONFIGS))
        skip();
    for (size_t i = 0; i < 3; i++) {
        char gpu[512], trace[512];
        snprintf(gpu, sizeof gpu, CONFIGS "/%s/gpgpusim.config", names[i]);
        snprintf(trace, sizeof trace, CONFIGS "/%s/trace.config", names[i]);
        assert_int_equal(run("import", gpu, trace, "-o", "gpu.yaml"), 0);
        assert_null(strstr(err_text, "unknown option"));
        platform_config *config;
        ls_error error = { .status = LS_OK };
        config_request request = { .platform = "./gpu.yaml" };
        assert_int_equal(config_load(&request, &config, NULL, &error), LS_OK);
        for (size_t k = 0; k < sizeof expectations / sizeof expectations[0]; k++)
            value_is(config, expectations[k].key, expectations[k].values[i]);
        /* Only keys that Accel-Sim has no option for keep our defaults. */
        for (size_t k = 0; k < config_value_count(config); k++) {
            const config_value *value = config_at(config, k);
            if (value->origins[0].kind == LS_ORIGIN_FILE)
                assert_string_not_equal(value->origins[0].comment, "");
        }
        config_destroy(config);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, test_dir_enter, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_writes_a_platform),
        TEST(test_warns_of_unknown_options),
        TEST(test_nothing_is_written_on_failure),
        TEST(test_accelsims_configurations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
