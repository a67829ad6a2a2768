/* reference.h: tests against the tables of data/reference. Tests that need traces are skipped where there are
 * none. */
#ifndef TESTS_CLI_REFERENCE_H
#define TESTS_CLI_REFERENCE_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/file.h"
#include "cli/validate/validate.h"

#include <stdlib.h>

typedef struct reference_fixture {
    mem_arena arena;
    validate_reference ref;
    validate_report report;
    ls_error err;
} reference_fixture;

static const char *const reference_platforms[] = { LS_SOURCE_DIR "/platforms" };

/* The tables and platforms of the source, as a clone alone has them: no traces. */
static inline void reference_begin(reference_fixture *f)
{
    *f = (reference_fixture){ 0 };
    assert_int_equal(validate_reference_open(&f->ref, &f->arena, LS_SOURCE_DIR "/data/reference", &f->err),
                     LS_OK);
    f->ref.traces = f->ref.configs = NULL;
    f->ref.platform_dirs = reference_platforms;
    f->ref.platform_dir_count = 1;
}

/* The traces beside the source tree, or of $LOCKSTEP_REFERENCE; NULL: there are none. */
static inline const char *reference_traces(reference_fixture *f)
{
    const char *dir = getenv(VALIDATE_VARIABLE);
    const char *traces = path_join(&f->arena, dir ? dir : LS_SOURCE_DIR "/../shared/reference", "../traces");
    assert_non_null(traces);
    return file_is_dir(traces) ? traces : NULL;
}

/* With them; skips the test without. */
static inline void reference_begin_traces(reference_fixture *f)
{
    reference_begin(f);
    f->ref.traces = reference_traces(f);
    if (!f->ref.traces) {
        print_message("no traces beside the source\n");
        arena_fini(&f->arena);
        skip();
    }
}

static inline void reference_end(reference_fixture *f)
{
    validate_report_fini(&f->report);
    arena_fini(&f->arena);
}

/* So that a failure says what the error is. */
static inline void reference_ok(const reference_fixture *f, ls_status status)
{
    char text[1024];
    if (status != LS_OK)
        fail_msg("%s", ls_error_text(&f->err, text, sizeof text));
}

#endif
