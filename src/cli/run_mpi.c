/* run_mpi.c: see run_mpi.h. */
#include "cli/run_mpi.h"

#include "base/log.h"
#include "sim/mpi.h"
#include "sim/session_ranks.h"

#define FS_PER_NS UINT64_C(1000000)

/* Options that look into blocks while they run, which are in several processes. */
static ls_status check_options(const cli_context *ctx, bool is_resumed, ls_error *err)
{
    static const struct {
        const char *option, *why;
        bool of_both; /* `lockstep resume` has it, too */
    } refused[] = {
        { "timeline", "events of blocks stay in their processes", false },
        { "monitor", "the page shows blocks of one process", true },
        { "source", "counts of instructions stay in their processes", false },
        { "scaling", "a run of one process predicts the times of several", true },
        { "sample", "it is for one GPU, which one process simulates", false },
    };
    for (size_t i = 0; i < LS_COUNT_OF(refused); i++)
        if ((!is_resumed || refused[i].of_both) && cli_given(ctx, refused[i].option))
            return ls_fail(err, LS_ERR_USAGE, "--%s does not work with --mpi: %s", refused[i].option,
                           refused[i].why);
    return LS_OK;
}

ls_status run_mpi_begin(run_mpi *mpi, cli_context *ctx, bool is_resumed, ls_error *err)
{
    *mpi = (run_mpi){ .is_on = cli_flag(ctx, "mpi") };
    if (!mpi->is_on)
        return cli_given(ctx, "mpi-timeout")
                   ? ls_fail(err, LS_ERR_USAGE, "--mpi-timeout has no effect without --mpi")
                   : LS_OK;
    ls_status status = check_options(ctx, is_resumed, err);
    if (status == LS_OK)
        status = mpi_begin(cli_time(ctx, "mpi-timeout") / FS_PER_NS, &mpi->transport, err);
    mpi->is_on = status == LS_OK;
    if (mpi->is_on && !run_mpi_writes(mpi))
        log_set_level(LS_LOG_ERROR); /* rank 0 has the same messages */
    return status;
}

ls_status run_mpi_divide(run_mpi *mpi, ls_sim *sim, ls_status opened, ls_error *err)
{
    if (!mpi->is_on)
        return opened;
    if (sim)
        mpi_watch(ls_sim_control(sim));
    return session_ranks_divide(sim, opened, &mpi->transport, &mpi->is_lost, err);
}

bool run_mpi_writes(const run_mpi *mpi)
{
    return !mpi->is_on || mpi->transport.rank == 0;
}

void run_mpi_end(run_mpi *mpi, const ls_sim *sim, cli_context *ctx)
{
    if (!mpi->is_on)
        return;
    mpi->is_lost = mpi->is_lost || session_ranks_lost(sim);
    ctx->is_silent = !mpi->is_lost && mpi->transport.rank != 0;
    mpi_end(!mpi->is_lost);
}
