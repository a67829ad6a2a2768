/* run_program_save.c: the host side of programs in checkpoints (session_checkpoint.h). */
#include "sim/run_program.h"

ls_status run_program_check_save(const run_program *p, ls_error *err)
{
    return ls_fail(err, LS_ERR_UNSUPPORTED, "'%s' is an AMD program, whose checkpoints are not implemented",
                   p->name);
}

ls_status run_program_save(run_program *p, checkpoint_writer *writer, ls_error *err)
{
    (void)writer;
    return run_program_check_save(p, err);
}

ls_status run_program_resume(run_program *p, checkpoint_reader *reader, ls_error *err)
{
    (void)reader;
    return run_program_check_save(p, err);
}
