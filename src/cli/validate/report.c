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
        if (strcmp(n->section, section) == 0 && ls_glob(n->test, test) && ls_glob(n->platform, platform) &&
            fabs(deviation) <= n->bound)
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
        ls_vec_fini(&report->sections.at[i]->rows);
    ls_vec_fini(&report->sections);
    ls_arena_fini(&report->arena);
}

validate_section *validate_section_add(validate_report *report, const char *name, const char *title,
                                       const char *const *columns)
{
    validate_section *s = ls_arena_alloc(&report->arena, sizeof *s);
    if (!s || !ls_vec_push(&report->sections, s))
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
