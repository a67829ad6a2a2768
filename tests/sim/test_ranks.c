/* test_ranks.c: a simulation of four GPUs on 1, 2 and 4 ranks, which are threads of this process, has the results of one
 * that is not divided: every time and counter, warnings and errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/local_transport.h"
#include "lockstep/sim.h"
#include "sim/session_ranks.h"
#include "workload/temp_dir.h"

#include <stdlib.h>
#include <unistd.h>

static const char *const dirs[] = { LS_SOURCE_DIR "/platforms" };
static const char platform[] = "./four.yaml", list[] = "./work.list";

static const char four[] = "machine: system\n"
                           "gpus: [{platform: rtx3070, count: 4, cores: 2, memory.channels: 2}]\n"
                           "fabric: {model: switch, planes: 2, links: 1, link_gb_s: 8}\n";
static const char amd[] = "machine: system\n"
                          "gpus: [{platform: r9nano, count: 2, clusters: 1}]\n"
                          "fabric: {model: pcie}\nhost: {model: cpu}\n";
static const char work[] = "lockstep devices 1\n"
                           "device 0\nrun synth:vector-add,n=1024\ncopy 8192 0 1\nsignal half\nwait done\n"
                           "device 1\nwait half\nrun synth:saxpy,n=1024\nsignal done\n"
                           "device 3\ndelay 700\nrun synth:vector-add,n=1024\n";

typedef struct job {
    ls_sim_options options;
    ls_sim_run_options run;
    ls_status status[LOCAL_RANKS_MAX];
    ls_error err[LOCAL_RANKS_MAX];
    const char *resumes; /* a checkpoint; NULL: from the beginning */
    char *text;          /* results of rank 0 as CSV */
    size_t bytes;
} job;

static job job_of(const char *workload)
{
    return (job){ .options = { LS_SIM_OPTIONS, .platform = platform, .platform_dirs = dirs,
                               .platform_dir_count = 1, .workload = workload },
                  .run = { LS_SIM_RUN_OPTIONS, .threads = 1 } };
}

static void run_rank(void *self, uint32_t rank, const rank_transport *transport)
{
    job *j = self;
    ls_sim *sim = NULL;
    ls_error *err = &j->err[rank];
    const ls_sim_resume_options from = { LS_SIM_RESUME_OPTIONS, .file = j->resumes };
    ls_status status = j->resumes ? ls_sim_resume(&from, &sim, err) : ls_sim_open(&j->options, &sim, err);
    bool is_lost;
    if (transport != NULL)
        status = session_ranks_divide(sim, status, transport, &is_lost, err);
    if (status == LS_OK)
        status = ls_sim_run(sim, &j->run, err);
    if (status == LS_OK && rank == 0) {
        const ls_sim_print_options print = { LS_SIM_PRINT_OPTIONS, .format = "tidy", .run_id = "test",
                                             .per_block = true };
        FILE *to = open_memstream(&j->text, &j->bytes);
        status = ls_sim_print_as(sim, &print, to, err);
        fclose(to);
        char *host = strstr(j->text, "\nhost,"); /* threads and seconds of this machine come last */
        if (host != NULL)
            *host = '\0';
    }
    j->status[rank] = status;
    ls_sim_close(sim);
}

static void check(const job *sample)
{
    static const struct {
        uint32_t ranks, threads;
    } ways[] = { { 1, 2 }, { 2, 1 }, { 2, 2 }, { 4, 1 } };
    job alone = *sample;
    char line[900], other[900];
    run_rank(&alone, 0, NULL);
    ls_error_text(&alone.err[0], line, sizeof line);
    for (size_t i = 0; i < LS_COUNT_OF(ways); i++) {
        job j = *sample;
        j.run.threads = ways[i].threads;
        local_run(ways[i].ranks, run_rank, &j);
        for (uint32_t r = 0; r < ways[i].ranks; r++) {
            assert_int_equal(j.status[r], alone.status[0]);
            assert_string_equal(ls_error_text(&j.err[r], other, sizeof other), line);
        }
        if (alone.status[0] == LS_OK && strcmp(j.text, alone.text) != 0)
            fail_msg("%s differs on %u ranks", sample->options.workload, ways[i].ranks);
        free(j.text);
    }
    if (alone.status[0] == LS_OK)
        assert_non_null(strstr(alone.text, sample->options.settings ? "wavefronts" : "warp_instructions"));
    free(alone.text);
}

static void test_collective(void **state)
{
    (void)state;
    const job j = job_of("synth:all-reduce,bytes=4096");
    check(&j);
}

/* Metrics over time, a limit and a list with copies and signals. */
static void test_device_list(void **state)
{
    (void)state;
    job j = job_of(list);
    j.run.series_every = "700ns";
    check(&j);
    j.run.until = UINT64_C(3000000000);
    check(&j);
}

static void test_one_trace(void **state)
{
    (void)state;
    job j = job_of("synth:gemm");
    j.options.cta_limit = 4;
    j.options.on = "gpu2";
    check(&j);
}

/* One rank's GPU fails: all have its line. */
static void test_errors(void **state)
{
    (void)state;
    job j = job_of("synth:gemm");
    j.options.on = "gpu3";
    j.options.sets = (const char *const[]){ "gpus.core.shared_kib=1" };
    j.options.set_count = 1;
    check(&j);
}

/* A program's host code on rank 0, its GPUs on all; then the same from a checkpoint of these ranks, on another number. Each
 * rank reserves addresses for all memories: a process under a checker may have too few. */
static void test_program(void **state)
{
    static const ls_sim_setting size = { NULL, 512 };
    (void)state;
    if (access(LS_BINARY_DIR "/share/lockstep/kernels/gfx803/fir.co", R_OK) != 0)
        skip();
    job j = job_of("fir"), alone;
    j.options.platform = "./amd.yaml";
    j.options.settings = &size;
    j.options.setting_count = 1;
    j.options.devices = "discrete";
    j.options.verify = true;
    alone = j;
    run_rank(&alone, 0, NULL);
    assert_int_equal(alone.status[0], LS_OK);
    for (uint32_t ranks = 2; ranks <= 3; ranks++) {
        job divided = j;
        divided.run.checkpoint = "fir.ckpt";
        divided.run.checkpoint_every = "at=25us";
        local_run(ranks, run_rank, &divided);
        if (divided.status[0] == LS_ERR_NOMEM) {
            free(alone.text);
            skip();
        }
        for (uint32_t r = 0; r < ranks; r++)
            assert_int_equal(divided.status[r], LS_OK);
        assert_string_equal(divided.text, alone.text);
        free(divided.text);
        job resumed = j;
        resumed.resumes = "fir.ckpt";
        local_run(4 - ranks, run_rank, &resumed);
        if (resumed.status[0] == LS_ERR_NOMEM) {
            free(alone.text);
            skip();
        }
        assert_int_equal(resumed.status[0], LS_OK);
        assert_string_equal(resumed.text, alone.text);
        free(resumed.text);
        assert_int_equal(remove("fir.ckpt"), 0);
    }
    free(alone.text);
}

static void write_file(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static int set_up(void **state)
{
    if (temp_dir_enter(state) != 0)
        return -1;
    write_file(platform, four);
    write_file(list, work);
    write_file("./amd.yaml", amd);
    return setenv("LOCKSTEP_KERNELS", LS_BINARY_DIR "/share/lockstep/kernels", 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_collective), cmocka_unit_test(test_device_list),
        cmocka_unit_test(test_one_trace),  cmocka_unit_test(test_errors),
        cmocka_unit_test(test_program),
    };
    return cmocka_run_group_tests_name("ranks of a simulation", tests, set_up, temp_dir_leave);
}
