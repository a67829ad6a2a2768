/* status.c: the table of statuses and the bounded texts of an error. Nothing allocates, prints or exits. */
#include "lockstep/status.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The table of statuses: name, exit code of the command, and text of the man page. */
static const struct {
    const char *name;
    int exit_code;
    const char *help;
} table[LS_STATUS_COUNT] = {
    [LS_OK] = { "ok", 0, "success" },
    [LS_ERR_USAGE] = { "usage", 2, "the command line is wrong" },
    [LS_ERR_INPUT] = { "input", 2, "the content of a file or a value is wrong" },
    [LS_ERR_IO] = { "io", 2, "a file cannot be read or written" },
    [LS_ERR_UNSUPPORTED] = { "unsupported", 3, "valid input that names something Lockstep does not have" },
    [LS_ERR_DEADLOCK] = { "deadlock", 4, "the simulated machine stopped with work pending" },
    [LS_ERR_CHECK] = { "check", 5, "a comparison or validation found a difference" },
    [LS_ERR_INTERRUPTED] = { "interrupted", 130, "stopped on request; results are partial" },
    [LS_ERR_NOMEM] = { "nomem", 1, "the host ran out of memory or threads" },
    [LS_ERR_INTERNAL] = { "internal", 1, "an invariant broke: a bug in Lockstep" },
};

/* Status of this thread's last ls_fail(), so that `return ls_error_at(err, ...)` after it is a failure of the
 * right kind even for a caller that passed no ls_error. */
static _Thread_local ls_status last_failure = LS_ERR_INTERNAL;

static ls_status status_of(const ls_error *err)
{
    return err != NULL ? err->status : last_failure;
}

/* Copies s into out as one line. A text that does not fit is cut before a whole UTF-8 character and ends
 * with "...". */
static void put_line(char *out, size_t out_bytes, const char *s)
{
    size_t bytes = strnlen(s, out_bytes);
    bool cut = bytes == out_bytes;
    if (cut) {
        bytes = out_bytes - sizeof "...";
        while (bytes > 0 && ((unsigned char)s[bytes] & 0xC0) == 0x80)
            bytes--;
    }
    for (size_t i = 0; i < bytes; i++) {
        unsigned char c = (unsigned char)s[i];
        out[i] = (char)(c == '\n' || c == '\t' || c == '\r' ? ' ' : c < 0x20 || c == 0x7F ? '?' : c);
    }
    memcpy(out + bytes, "...", cut ? 4 : 0);
    if (!cut)
        out[bytes] = '\0';
}

void ls_error_clear(ls_error *err)
{
    if (err == NULL)
        return;
    err->status = LS_OK;
    err->what[0] = err->where[0] = err->nearest[0] = '\0';
}

ls_status ls_failv(ls_error *err, ls_status status, const char *fmt, va_list args)
{
    last_failure = status;
    if (err == NULL)
        return status;
    /* Formatted aside because an argument may be err->what itself. */
    char line[sizeof err->what + 8];
    if (vsnprintf(line, sizeof line, fmt, args) < 0)
        snprintf(line, sizeof line, "%s", fmt);
    ls_error_clear(err);
    err->status = status;
    put_line(err->what, sizeof err->what, line);
    return status;
}

ls_status(ls_fail)(ls_error *err, ls_status status, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    ls_failv(err, status, fmt, args);
    va_end(args);
    return status;
}

ls_status ls_error_at(ls_error *err, const char *file, uint64_t line, uint64_t column)
{
    if (err == NULL)
        return last_failure;
    /* A long path is cut at its front: the reader needs the end of it, the line and the column. */
    char place[48] = "";
    if (line > 0 && column > 0)
        snprintf(place, sizeof place, ":%llu:%llu", (unsigned long long)line, (unsigned long long)column);
    else if (line > 0)
        snprintf(place, sizeof place, ":%llu", (unsigned long long)line);
    else if (column > 0)
        snprintf(place, sizeof place, ":%llu", (unsigned long long)column);
    if (file == NULL || file[0] == '\0') {
        file = line > 0 ? "line" : column > 0 ? "column" : "";
        if (place[0] != '\0')
            place[0] = ' ';
    }
    size_t room = sizeof err->where - strlen(place) - 1;
    size_t length = strlen(file);
    char name[sizeof err->where];
    if (length > room) {
        const char *tail = file + (length - (room - 3));
        while (((unsigned char)*tail & 0xC0) == 0x80)
            tail++;
        snprintf(name, sizeof name, "...%s", tail);
        file = name;
    }
    char where[sizeof err->where + sizeof place];
    snprintf(where, sizeof where, "%s%s", file, place);
    put_line(err->where, sizeof err->where, where);
    return err->status;
}

ls_status ls_error_nearest(ls_error *err, const char *name)
{
    if (err != NULL)
        put_line(err->nearest, sizeof err->nearest, name != NULL ? name : "");
    return status_of(err);
}

ls_status ls_error_prefix(ls_error *err, const char *fmt, ...)
{
    if (err == NULL)
        return last_failure;
    char line[2 * sizeof err->what];
    va_list args;
    va_start(args, fmt);
    int written = vsnprintf(line, sizeof err->what, fmt, args);
    va_end(args);
    size_t used = written < 0 ? 0 : strlen(line);
    snprintf(line + used, sizeof line - used, used > 0 ? ": %s" : "%s", err->what);
    put_line(err->what, sizeof err->what, line);
    return err->status;
}

const char *ls_error_text(const ls_error *err, char *out, size_t out_bytes)
{
    if (out_bytes == 0)
        return "";
    snprintf(out, out_bytes, "%s%s%s%s%s%s", err->where, err->where[0] != '\0' ? ": " : "",
             err->what[0] != '\0' ? err->what : ls_status_help(err->status),
             err->nearest[0] != '\0' ? " (nearest: " : "", err->nearest, err->nearest[0] != '\0' ? ")" : "");
    return out;
}

static bool known(ls_status status)
{
    return (unsigned)status < LS_STATUS_COUNT;
}

const char *ls_status_name(ls_status status)
{
    return known(status) ? table[status].name : "unknown";
}

int ls_status_exit_code(ls_status status)
{
    return known(status) ? table[status].exit_code : table[LS_ERR_INTERNAL].exit_code;
}

const char *ls_status_help(ls_status status)
{
    return known(status) ? table[status].help : table[LS_ERR_INTERNAL].help;
}
