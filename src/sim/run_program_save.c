/* run_program_save.c: programs and recordings in checkpoints (session_checkpoint.h): the sections of
 * runtime/timing/timing_checkpoint.c. */
#include "sim/run_program.h"

static const char *const names[] = { "program.log", "program.host", "program.memory", "engine" };

/* The four sections of an image, in the order of their names. */
static timing_section *section_at(timing_image *image, size_t i)
{
    timing_section *const sections[] = { &image->log, &image->host, &image->memory, &image->machine };
    return sections[i];
}

ls_status run_program_begin_save(run_program *p, ls_error *err)
{
    ls_status status = timing_checkpoint_begin(p->request.system, err);
    return status == LS_OK ? LS_OK : ls_error_prefix(err, "--checkpoint with '%s'", p->name);
}

ls_status run_program_save(run_program *p, checkpoint_writer *writer, ls_error *err)
{
    timing_image image;
    ls_status status = timing_checkpoint_save(p->request.system, &image, err);
    for (size_t i = 0; i < LS_COUNT_OF(names) && status == LS_OK; i++)
        checkpoint_add(writer, names[i], section_at(&image, i)->at, section_at(&image, i)->bytes);
    timing_image_free(&image);
    return status;
}

/* The machine has its state: the sections are not needed any more. */
static ls_status arrived(void *self, ls_error *err)
{
    run_program *p = self;
    for (size_t i = 0; i < LS_COUNT_OF(names); i++)
        checkpoint_drop(p->reader, names[i]);
    return p->resumed(p->resumed_self, err);
}

ls_status run_program_resume(run_program *p, checkpoint_reader *reader, ls_error *err)
{
    timing_image image = { .arrived = arrived, .arrived_self = p };
    ls_status status = LS_OK;
    p->reader = reader;
    for (size_t i = 0; i < LS_COUNT_OF(names) && status == LS_OK; i++) {
        const void *bytes;
        timing_section *section = section_at(&image, i);
        status = checkpoint_find(reader, names[i], &bytes, &section->bytes, err);
        section->at = bytes;
    }
    return status == LS_OK ? timing_checkpoint_resume(p->request.system, &image, err) : status;
}
