/* render.c: prints a validation as text, Markdown and CSV. */
#include "cli/validate/validate.h"

#include <string.h>

/* Words go left, numbers right: a column is words if its first row begins with a letter. */
static bool is_words(const validate_section *s, size_t column)
{
    if (s->rows.count == 0 || column < 2 || column >= LS_COUNT_OF(s->rows.at[0].cells))
        return true;
    char c = s->rows.at[0].cells[column][0];
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static size_t width_of(const validate_section *s, size_t column)
{
    size_t width = strlen(s->columns[column]);
    for (size_t i = 0; i < s->rows.count; i++)
        if (strlen(s->rows.at[i].cells[column]) > width)
            width = strlen(s->rows.at[i].cells[column]);
    return width;
}

/* Distinct notes count from 1 in the order of the rows; 0 for a row without one. */
static size_t note_number(const validate_section *s, size_t row)
{
    size_t number = 0;
    if (!s->rows.at[row].note)
        return 0;
    for (size_t i = 0; i <= row; i++) {
        const char *note = s->rows.at[i].note;
        bool seen = !note;
        for (size_t j = 0; j < i && !seen; j++)
            seen = s->rows.at[j].note && strcmp(s->rows.at[j].note, note) == 0;
        if (seen)
            continue;
        number++;
        if (strcmp(note, s->rows.at[row].note) == 0)
            return number;
    }
    return number;
}

/* Calls back for each distinct note with its number. */
static void each_note(const validate_section *s, void (*render)(FILE *to, size_t number, const char *note),
                      FILE *to)
{
    size_t printed = 0;
    for (size_t i = 0; i < s->rows.count; i++) {
        size_t number = note_number(s, i);
        if (number == printed + 1) {
            render(to, number, s->rows.at[i].note);
            printed = number;
        }
    }
}

/* --------------------------------------------------------------------------------------------------- text */

static void note_text(FILE *to, size_t number, const char *note)
{
    fprintf(to, "  [%zu] ", number);
    cli_help_fill(to, note, 6, 100, false);
}

static void render_section(const validate_section *s, const cli_style *style, FILE *to)
{
    size_t width[VALIDATE_COLUMNS];
    fprintf(to, "\n%s%s%s\n\n", style->title, s->title, style->off);
    for (size_t c = 0; c < s->column_count; c++) {
        width[c] = width_of(s, c);
        fprintf(to, is_words(s, c) ? "  %-*s" : "  %*s", (int)width[c], s->columns[c]);
    }
    fputs("  verdict\n", to);
    for (size_t i = 0; i < s->rows.count; i++) {
        const validate_row *row = &s->rows.at[i];
        bool bad = row->verdict == VALIDATE_FAIL;
        for (size_t c = 0; c < s->column_count; c++)
            fprintf(to, is_words(s, c) ? "  %-*s" : "  %*s", (int)width[c], row->cells[c]);
        fprintf(to, "  %s%s%s",
                bad                             ? style->bad
                : row->verdict == VALIDATE_PASS ? style->good
                                                : style->dim,
                validate_verdict_name(row->verdict), style->off);
        if (row->note)
            fprintf(to, " [%zu]", note_number(s, i));
        fputc('\n', to);
    }
    fputc('\n', to);
    each_note(s, note_text, to);
    fprintf(to, "  %s\n", s->summary);
}

void validate_render_text(const validate_report *report, const cli_style *style, FILE *to)
{
    for (size_t i = 0; i < report->sections.count; i++)
        render_section(report->sections.at[i], style, to);
}

/* ----------------------------------------------------------------------------------------------- Markdown */

static void markdown_cell(FILE *to, const char *cell)
{
    for (; *cell; cell++) {
        if (*cell == '|' || *cell == '_' || *cell == '*')
            fputc('\\', to);
        fputc(*cell, to);
    }
}

static void note_markdown(FILE *to, size_t number, const char *note)
{
    fprintf(to, "%zu. %s\n", number, note);
}

static void markdown_table(const validate_section *s, FILE *to)
{
    fputc('|', to);
    for (size_t c = 0; c < s->column_count; c++)
        fprintf(to, " %s |", s->columns[c]);
    fputs(" verdict |\n|", to);
    for (size_t c = 0; c < s->column_count; c++)
        fputs(is_words(s, c) ? "---|" : "---:|", to);
    fputs("---|\n", to);
    for (size_t i = 0; i < s->rows.count; i++) {
        const validate_row *row = &s->rows.at[i];
        fputc('|', to);
        for (size_t c = 0; c < s->column_count; c++) {
            fputc(' ', to);
            markdown_cell(to, row->cells[c]);
            fputs(" |", to);
        }
        fprintf(to, row->verdict == VALIDATE_FAIL ? " **%s**" : " %s", validate_verdict_name(row->verdict));
        if (row->note)
            fprintf(to, " (%zu)", note_number(s, i));
        fputs(" |\n", to);
    }
}

static const char about_parts[] =
    "This page is written by `lockstep validate --markdown docs/validation.md`; nothing in it is typed by hand. The "
    "command uses the tables and platforms that are shipped (`data/reference`, `platforms/accelsim-*.yaml`). Traces are "
    "not shipped: parts that need them are skipped unless they lie in `DIR/../traces` of `--reference DIR` or "
    "`$" VALIDATE_VARIABLE
    "`, or in `../shared/traces`. It takes a minute or two, exits with 5 if a check fails, and "
    "`--only micro`, `traces`, `determinism`, `hardware`, `amd` or `interconnect` runs one part of it. ";
static const char about_fidelity[] =
    "This page is written by `lockstep validate --fidelity all --markdown docs/validation-fidelity.md`; nothing in it is "
    "typed by hand. [Fidelity](fidelity.md) says what the presets are. Real traces are compared too where there are some "
    "(`--reference DIR`, or `../shared`). ";

void validate_render_markdown(const validate_report *report, FILE *to)
{
    fprintf(to, "# Validation%s\n\n%s", report->is_fidelity ? " of simpler models" : "",
            report->is_fidelity ? about_fidelity : about_parts);
    fputs(
        "`--html FILE` writes the same with plots, `--out FILE.csv` as data.\n\n"
        "A verdict is *pass* (within the limit), *known* (outside it, within the bound of a note that says why), *FAIL*, "
        "or *skipped*. A note on a row that passes explains what is left of the deviation.\n\n"
        "## Summary\n\n",
        to);
    for (size_t i = 0; i < report->sections.count; i++)
        fprintf(to, "- %s\n", report->sections.at[i]->summary);
    for (size_t i = 0; i < report->sections.count; i++) {
        const validate_section *s = report->sections.at[i];
        fprintf(to, "\n## %s\n\n%s\n\n", s->title, s->about);
        markdown_table(s, to);
        fputc('\n', to);
        each_note(s, note_markdown, to);
    }
}

/* ---------------------------------------------------------------------------------------------------- CSV */

static void csv_cell(FILE *to, const char *cell)
{
    if (!strpbrk(cell, ",\"\n")) {
        fputs(cell, to);
        return;
    }
    fputc('"', to);
    for (; *cell; cell++) {
        if (*cell == '"')
            fputc('"', to);
        fputc(*cell, to);
    }
    fputc('"', to);
}

void validate_render_csv(const validate_report *report, FILE *to)
{
    fputs("section,test,platform,variant,reference,ours,deviation,unit,verdict,note\n", to);
    for (size_t i = 0; i < report->sections.count; i++) {
        const validate_section *s = report->sections.at[i];
        for (size_t r = 0; r < s->rows.count; r++) {
            const validate_row *row = &s->rows.at[r];
            fprintf(to, "%s,", s->name);
            csv_cell(to, row->cells[0]);
            fputc(',', to);
            csv_cell(to, row->cells[1]);
            fputc(',', to);
            csv_cell(to, strcmp(s->columns[2], "variant") == 0 ? row->cells[2] : "");
            if (row->reference > 0)
                fprintf(to, ",%.10g,%.10g,%.4f,%s,", row->reference, row->ours, row->deviation,
                        strcmp(s->name, "micro") == 0 ? "cycles" : "percent");
            else
                fputs(",,,,,", to);
            fprintf(to, "%s,", validate_verdict_name(row->verdict));
            csv_cell(to, row->note ? row->note : "");
            fputc('\n', to);
        }
    }
}
