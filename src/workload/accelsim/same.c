/* same.c: a file compared with text that arrives in pieces. Reads the file once more, so that the comparison
 * uses the bytes on the disk, not the reader's interpretation of them. */
#include "workload/accelsim/same.h"

#include "workload/accelsim/input.h"
#include "workload/accelsim/list.h"

#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES (128u << 10)

struct text_check {
    acc_input *input;
    uint64_t line; /* that the next byte belongs to */
    bool differs;  /* in that line */
    char buffer[BUFFER_BYTES];
};

ls_status same_open(const char *path, text_check **out, ls_error *err)
{
    *out = NULL;
    text_check *same = malloc(sizeof *same);
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

void same_close(text_check *same)
{
    if (!same)
        return;
    acc_input_close(same->input);
    free(same);
}

/* Counts the lines up to the first difference. */
static void compare(text_check *same, const char *a, const char *b, size_t bytes)
{
    same->differs = memcmp(a, b, bytes) != 0;
    for (size_t i = 0; i < bytes && (!same->differs || a[i] == b[i]); i++)
        same->line += a[i] == '\n';
}

ls_status same_feed(text_check *same, const void *text, size_t bytes, ls_error *err)
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

ls_status same_end(text_check *same, uint64_t *line, ls_error *err)
{
    size_t got = 0;
    ls_status status = LS_OK;
    if (!same->differs)
        status = acc_input_read(same->input, same->buffer, 1, &got, err);
    *line = same->differs || got > 0 ? same->line : 0;
    return status;
}

ls_status same_list(const sass_trace *trace, uint64_t *line, ls_error *err)
{
    const acc_trace *listed = (const acc_trace *)trace;
    text_check *same = NULL;
    *line = 0;
    if (!listed->list)
        return LS_OK;
    ls_status status = same_open(listed->list, &same, err);
    if (!same)
        return status;
    for (uint64_t i = 0; i < trace->command_count && status == LS_OK; i++) {
        const char *text = trace->commands[i].text;
        status = same_feed(same, text, strlen(text), err);
        if (status == LS_OK)
            status = same_feed(same, "\n", 1, err);
    }
    if (status == LS_OK)
        status = same_end(same, line, err);
    same_close(same);
    return status;
}
