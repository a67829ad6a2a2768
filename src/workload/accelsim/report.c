/* report.c: the table of defects and the list of those found. */
#include "workload/accelsim/report.h"

#include <stdarg.h>
#include <string.h>

static const struct {
    const char *name;
    acc_severity severity;
    const char *help;
} kinds[ACC_KIND_COUNT] = {
#define DEFECT(name, severity, help) { #name, ACC_##severity, help },
#include "workload/accelsim/defects.def"
#undef DEFECT
};

const char *acc_kind_name(acc_kind kind)
{
    return (unsigned)kind < ACC_KIND_COUNT ? kinds[kind].name : "?";
}

const char *acc_kind_help(acc_kind kind)
{
    return (unsigned)kind < ACC_KIND_COUNT ? kinds[kind].help : "?";
}

acc_severity acc_kind_severity(acc_kind kind)
{
    return kinds[kind].severity;
}

const char *acc_severity_name(acc_severity severity)
{
    static const char *const names[ACC_SEVERITY_COUNT] = { "note", "warning", "error" };
    return (unsigned)severity < ACC_SEVERITY_COUNT ? names[severity] : "?";
}

void acc_report_fini(acc_report *report)
{
    vec_fini(&report->defects);
    arena_fini(&report->arena);
}

static ls_status add(acc_report *report, acc_kind kind, acc_severity severity, const char *file, uint64_t line,
                     const char *text)
{
    if (!report->file || strcmp(report->file, file) != 0) {
        report->file = arena_strdup(&report->arena, file);
        memset(report->file_counts, 0, sizeof report->file_counts);
    }
    report->counts[kind]++;
    report->by_severity[severity]++;
    if (report->limit && ++report->file_counts[kind] > report->limit)
        return LS_OK;
    acc_defect defect = {
        .kind = kind,
        .severity = severity,
        .file = report->file,
        .line = line,
        .text = arena_strdup(&report->arena, text),
    };
    if (!defect.file || !defect.text || !vec_push(&report->defects, defect)) {
        report->failed = true;
        return LS_ERR_NOMEM;
    }
    return LS_OK;
}

ls_status acc_defect_at(acc_report *report, acc_kind kind, const char *file, uint64_t line, ls_error *err,
                        const char *fmt, ...)
{
    ls_error said = { .status = LS_OK };
    acc_severity severity = kinds[kind].severity;
    if (!report && severity != ACC_ERROR)
        return LS_OK;
    va_list args;
    va_start(args, fmt);
    ls_failv(&said, kind == ACC_unsupported ? LS_ERR_UNSUPPORTED : LS_ERR_INPUT, fmt, args);
    va_end(args);
    if (report) {
        if (add(report, kind, severity, file, line, said.what) == LS_OK)
            return LS_OK;
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    }
    ls_error_at(&said, file, line, 0);
    if (err)
        *err = said;
    return said.status;
}

ls_status acc_defect_error(acc_report *report, acc_kind kind, const char *file, uint64_t line, ls_error *err)
{
    char text[1024];
    ls_error said = *err;
    if (said.status == LS_ERR_NOMEM)
        return LS_ERR_NOMEM;
    if (!report)
        return ls_error_at(err, file, line, 0);
    said.where[0] = '\0';
    if (add(report, kind, kinds[kind].severity, file, line, ls_error_text(&said, text, sizeof text)) == LS_OK)
        return LS_OK;
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}
