/* report.c: sections and rows of a validation, verdicts, and the notes on known deviations. */
#include "cli/validate/validate.h"

#include <math.h>
#include <string.h>

static const char *const verdicts[] = { "pass", "known", "FAIL", "skipped" };

typedef struct note {
    const char *section, *test, *platform; /* the last two with wildcards */
    double bound;                          /* of the deviation */
    const char *text;
} note;

static const note notes[] = {
#define NOTE(section_, test_, platform_, bound_, text_) { section_, test_, platform_, bound_, text_ },
#include "cli/validate/notes.def"
#undef NOTE
    { NULL, NULL, NULL, 0, NULL },
};

const char *validate_note(const char *section, const char *test, const char *platform, double deviation)
{
    for (const note *n = notes; n->section; n++)
        if (strcmp(n->section, section) == 0 && glob_match(n->test, test) &&
            glob_match(n->platform, platform) && fabs(deviation) <= n->bound)
            return n->text;
    return NULL;
}

const char *validate_verdict_name(validate_verdict verdict)
{
    return verdicts[verdict];
}

void validate_report_fini(validate_report *report)
{
    for (size_t i = 0; i < report->sections.count; i++)
        vec_fini(&report->sections.at[i]->rows);
    vec_fini(&report->sections);
    arena_fini(&report->arena);
}

validate_section *validate_section_add(validate_report *report, const char *name, const char *title,
                                       const char *const *columns)
{
    validate_section *s = arena_alloc(&report->arena, sizeof *s);
    if (!s || !vec_push(&report->sections, s))
        return NULL;
    s->name = name;
    s->title = title;
    s->summary = "";
    for (; columns[s->column_count]; s->column_count++)
        s->columns[s->column_count] = columns[s->column_count];
    return s;
}

size_t validate_count(const validate_section *section, validate_verdict verdict)
{
    size_t count = 0;
    for (size_t i = 0; i < section->rows.count; i++)
        count += section->rows.at[i].verdict == verdict;
    return count;
}

ls_status validate_add_measured(validate_report *report, validate_section *section, validate_row *row,
                                ls_status measured, double value, double expected, double tolerance,
                                const char *unit, ls_error *err)
{
    mem_arena *arena = &report->arena;
    if (measured == LS_ERR_NOMEM)
        return measured;
    if (measured != LS_OK) { /* a platform that is not there is a result, too */
        char text[512];
        row->verdict = VALIDATE_FAIL;
        row->note = arena_strdup(arena, ls_error_text(err, text, sizeof text));
    } else {
        row->reference = expected;
        row->ours = value;
        row->deviation = 100 * (value / expected - 1);
        row->cells[3] = arena_printf(arena, value < 10 ? "%.2f %s" : "%.1f %s", value, unit);
        row->cells[5] = arena_printf(arena, "%+.1f %%", row->deviation);
        if (fabs(row->deviation) > tolerance || !isfinite(row->deviation)) {
            row->note = validate_note(section->name, row->cells[0], row->cells[1], row->deviation);
            row->verdict = row->note ? VALIDATE_KNOWN : VALIDATE_FAIL;
        }
    }
    row->cells[4] = arena_printf(arena, expected < 10 ? "%.2f %s" : "%.1f %s", expected, unit);
    row->cells[6] = arena_printf(arena, "%.3g %%", tolerance);
    for (size_t i = 0; i < section->column_count; i++)
        if (!row->cells[i])
            return ls_fail(err, LS_ERR_NOMEM, "no memory for a row");
    return vec_push(&section->rows, *row) ? LS_OK : ls_fail(err, LS_ERR_NOMEM, "no memory for a row");
}
