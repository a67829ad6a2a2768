/* fuzz_debug.c: any line of the debugger: parsing it never crashes, and a refusal is one line. */
#include "debug/debug_command.h"
#include "debug/debug_expr.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static ls_status read(void *self, const debug_register *from, uint64_t *out, ls_error *err)
{
    (void)self, (void)err;
    *out = from->first;
    return LS_OK;
}

static ls_status name(void *self, const char *text, size_t bytes, uint64_t *out, ls_error *err)
{
    (void)self, (void)text, (void)err;
    *out = bytes;
    return LS_OK;
}

static ls_status load(void *self, uint64_t address, uint32_t bytes, uint64_t *out, ls_error *err)
{
    (void)self, (void)bytes, (void)err;
    *out = ~address;
    return LS_OK;
}

static void check(ls_status status, const ls_error *err)
{
    char text[1024];
    if (status != LS_OK && (err->status != status || strchr(ls_error_text(err, text, sizeof text), '\n')))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const debug_scope scope = { .read = read, .name = name, .load = load };
    char *text = malloc(size + 1);
    debug_line line;
    debug_location location;
    const char *end;
    uint32_t id[3];
    uint64_t value = 0;
    ls_error err;
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    ls_status status = debug_line_parse(text, &line, &err);
    check(status, &err);
    if (status == LS_OK && line.id > DEBUG_CMD_COUNT)
        abort();
    check(debug_location_parse(line.args, line.args_bytes, &location, &err), &err);
    check(debug_triple_parse(line.args, line.args_bytes, id, &err), &err);
    check(debug_eval(line.args, &scope, &value, &end, &err), &err);
    free(text);
    return 0;
}
