/* same.c: a file compared with text that arrives in pieces. Reads the file once more, so that the comparison
 * is with what is on the disk and not with what the reader made of it. */
#include "workload/accelsim/same.h"

#include "workload/accelsim/input.h"
#include "workload/accelsim/list.h"

#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES (128u << 10)

struct ls_same {
    acc_input *input;
    uint64_t line; /* that the next byte belongs to */
    bool differs;  /* in that line */
    char buffer[BUFFER_BYTES];
};

ls_status ls_same_open(const char *path, ls_same **out, ls_error *err)
{
    *out = NULL;
    ls_same *same = malloc(sizeof *same);
    if (!same)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    same->line = 1;
    same->differs = false;
    ls_status status = acc_input_open(path, &same->input, err);
    if (status != LS_OK) {
        free(same);
        return status;
    }
    *out = same;
    return LS_OK;
}

void ls_same_close(ls_same *same)
{
    if (!same)
        return;
    acc_input_close(same->input);
    free(same);
}

/* Counts the lines up to the first difference. */
static void compare(ls_same *same, const char *a, const char *b, size_t bytes)
{
    same->differs = memcmp(a, b, bytes) != 0;
    for (size_t i = 0; i < bytes && (!same->differs || a[i] == b[i]); i++)
        same->line += a[i] == '\n';
}

ls_status ls_same_feed(ls_same *same, const void *text, size_t bytes, ls_error *err)
{
    const char *at = text;
    while (bytes > 0 && !same->differs) {
        size_t got, wanted = bytes < sizeof same->buffer ? bytes : sizeof same->buffer;
        ls_status status = acc_input_read(same->input, same->buffer, wanted, &got, err);
        if (status != LS_OK)
            return status;
        compare(same, at, same->buffer, got);
        same->differs = same->differs || got == 0;
        at += got;
        bytes -= got;
    }
    return LS_OK;
}

ls_status ls_same_end(ls_same *same, uint64_t *line, ls_error *err)
{
    size_t got = 0;
    ls_status status = LS_OK;
    if (!same->differs)
        status = acc_input_read(same->input, same->buffer, 1, &got, err);
    *line = same->differs || got > 0 ? same->line : 0;
    return status;
}

ls_status ls_same_list(const ls_trace *trace, uint64_t *line, ls_error *err)
{
    const acc_trace *listed = (const acc_trace *)trace;
    ls_same *same = NULL;
    *line = 0;
    if (!listed->list)
        return LS_OK;
    ls_status status = ls_same_open(listed->list, &same, err);
    if (!same)
        return status;
    for (uint64_t i = 0; i < trace->command_count && status == LS_OK; i++) {
        const char *text = trace->commands[i].text;
        status = ls_same_feed(same, text, strlen(text), err);
        if (status == LS_OK)
            status = ls_same_feed(same, "\n", 1, err);
    }
    if (status == LS_OK)
        status = ls_same_end(same, line, err);
    ls_same_close(same);
    return status;
}
