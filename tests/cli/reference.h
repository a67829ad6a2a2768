/* reference.h: tests against the reference data beside the source tree, skipped where it is not there. */
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
    ls_arena arena;
    validate_reference ref;
    validate_report report;
    ls_error err;
} reference_fixture;

/* $LOCKSTEP_REFERENCE counts here as well. Skips the test without data. */
static inline void reference_begin(reference_fixture *f)
{
    const char *dir = getenv(VALIDATE_VARIABLE);
    *f = (reference_fixture){ 0 };
    if (!dir)
        dir = LS_SOURCE_DIR "/../shared/reference";
    if (!ls_file_is_dir(dir)) {
        print_message("no reference data at %s\n", dir);
        skip();
    }
    assert_int_equal(validate_reference_open(&f->ref, &f->arena, dir, &f->err), LS_OK);
}

static inline void reference_end(reference_fixture *f)
{
    validate_report_fini(&f->report);
    ls_arena_fini(&f->arena);
}

/* So that a failure says what the error is. */
static inline void reference_ok(const reference_fixture *f, ls_status status)
{
    char text[1024];
    if (status != LS_OK)
        fail_msg("%s", ls_error_text(&f->err, text, sizeof text));
}

#endif
