/* embed.c: simulates a workload on a platform and prints what its kernels and cores did. Built outside of the tree:
 *     cc embed.c $(pkg-config --cflags --libs lockstep) -o embed && ./embed rtx3070 synth:gemm l2.ways=32 */
#include <inttypes.h>
#include <lockstep/sim.h>

int main(int argc, char **argv)
{
    ls_error err = { 0 };
    ls_sim *sim = NULL;
    const ls_sim_options options = { LS_SIM_OPTIONS, .platform = argc > 1 ? argv[1] : "rtx3070",
                                     .workload = argc > 2 ? argv[2] : "synth:gemm",
                                     .sets = (const char *const *)(argv + 3),
                                     .set_count = argc > 3 ? (size_t)argc - 3 : 0 };
    const ls_sim_run_options how = { LS_SIM_RUN_OPTIONS, .threads = 2 };
    if (ls_sim_open(&options, &sim, &err) == LS_OK && ls_sim_run(sim, &how, &err) == LS_OK) {
        ls_sim_kernel kernel;
        ls_sim_stall stall;
        for (size_t i = 0; ls_sim_get_kernel(sim, i, &kernel, NULL) == LS_OK; i++)
            printf("%s: %" PRIu64 " cycles\n", kernel.name, kernel.end_cycle - kernel.begin_cycle);
        for (size_t i = 0; ls_sim_get_stall(sim, LS_SIM_RUN, i, &stall, NULL) == LS_OK; i++)
            printf("%-12s %5.1f %%\n", stall.reason, 100 * stall.share);
        (void)ls_sim_export(sim, "embed.json", NULL, &err);
    }
    ls_sim_close(sim);
    char text[1024];
    if (err.status != LS_OK)
        fprintf(stderr, "embed: %s\n", ls_error_text(&err, text, sizeof text));
    return ls_status_exit_code(err.status);
}
