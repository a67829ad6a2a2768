/* header.c: the header of a kernel file, before its first thread block. Keys may come in any order. Unknown
 * keys are kept in the header's text and otherwise ignored. */
#include "workload/accelsim/reader.h"

#include "workload/rules.h"

#include <inttypes.h>
#include <stdlib.h>

#define HEADER_MAX (1u << 20)

typedef enum key_id {
    KEY_NAME,
    KEY_ID,
    KEY_GRID,
    KEY_BLOCK,
    KEY_SHARED,
    KEY_REGISTERS,
    KEY_BINARY,
    KEY_STREAM,
    KEY_SHARED_BASE,
    KEY_LOCAL_BASE,
    KEY_NVBIT,
    KEY_TRACER,
    KEY_LINE_INFO,
    KEY_COUNT
} key_id;

/* Whether a header may lack the key. */
typedef enum key_need { REQUIRED, USUAL, OPTIONAL } key_need;

static const struct {
    const char *key;
    key_need need;
} keys[KEY_COUNT] = {
    [KEY_NAME] = { "kernel name", USUAL },
    [KEY_ID] = { "kernel id", USUAL },
    [KEY_GRID] = { "grid dim", REQUIRED },
    [KEY_BLOCK] = { "block dim", REQUIRED },
    [KEY_SHARED] = { "shmem", USUAL },
    [KEY_REGISTERS] = { "nregs", USUAL },
    [KEY_BINARY] = { "binary version", REQUIRED },
    [KEY_STREAM] = { "cuda stream id", USUAL },
    [KEY_SHARED_BASE] = { "shmem base_addr", USUAL },
    [KEY_LOCAL_BASE] = { "local mem base_addr", USUAL },
    [KEY_NVBIT] = { "nvbit version", OPTIONAL },
    [KEY_TRACER] = { "accelsim tracer version", USUAL },
    [KEY_LINE_INFO] = { "enable lineinfo", OPTIONAL },
};

/* A piece of a line, without spaces at its ends. */
typedef struct piece {
    const char *at;
    size_t bytes;
} piece;

static piece trim(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    while (end > at && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    return (piece){ at, (size_t)(end - at) };
}

/* ------------------------------------------------------------------------------------------------- values */

static ls_status bad_value(acc_reader *r, key_id id, piece value, const char *need, ls_error *err)
{
    char quoted[80];
    return acc_reader_defect(r, ACC_bad_value, err, "%s: '%s' is not %s", keys[id].key,
                             quote_text(value.at, value.bytes, quoted, sizeof quoted), need);
}

/* Decimal, or hexadecimal with 0x: addresses are. */
static bool number(piece value, uint64_t most, uint64_t *out)
{
    return parse_u64(value.at, value.bytes, out, NULL) == LS_OK && *out <= most;
}

static bool triple(piece value, uint32_t out[3])
{
    const char *at = value.at, *end = at + value.bytes;
    if (value.bytes < 2 || *at != '(' || end[-1] != ')')
        return false;
    at++, end--;
    for (int i = 0; i < 3; i++) {
        const char *comma = i < 2 ? memchr(at, ',', (size_t)(end - at)) : end;
        uint64_t size;
        if (!comma || !number(trim(at, comma), UINT32_MAX, &size) || size == 0)
            return false;
        out[i] = (uint32_t)size;
        at = comma + 1;
    }
    return true;
}

static ls_status read_name(acc_reader *r, piece value, ls_error *err)
{
    free(r->kernel.info.name);
    r->kernel.info.name = strndup(value.at, value.bytes);
    return r->kernel.info.name ? LS_OK : ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

static ls_status read_value(acc_reader *r, key_id id, piece value, ls_error *err)
{
    ls_kernel_info *info = &r->kernel.info;
    uint64_t n;
    switch (id) {
    case KEY_NAME:
        return read_name(r, value, err);
    case KEY_NVBIT:
    case KEY_COUNT:
        return LS_OK;
    case KEY_GRID:
        if (triple(value, info->grid))
            return LS_OK;
        info->grid[0] = 0;
        return bad_value(r, id, value, "three sizes such as (8,1,1)", err);
    case KEY_BLOCK:
        if (triple(value, info->block))
            return LS_OK;
        info->block[0] = 0;
        return bad_value(r, id, value, "three sizes such as (256,1,1)", err);
    case KEY_ID:
        return number(value, UINT64_MAX, &info->id) ? LS_OK : bad_value(r, id, value, "a number", err);
    case KEY_STREAM:
        return number(value, UINT64_MAX, &info->stream) ? LS_OK : bad_value(r, id, value, "a number", err);
    case KEY_SHARED:
        return number(value, 1u << 30, &info->shared_bytes)
                   ? LS_OK
                   : bad_value(r, id, value, "a number of bytes", err);
    case KEY_SHARED_BASE:
        return number(value, UINT64_MAX, &info->shared_base) ? LS_OK
                                                             : bad_value(r, id, value, "an address", err);
    case KEY_LOCAL_BASE:
        return number(value, UINT64_MAX, &info->local_base) ? LS_OK
                                                            : bad_value(r, id, value, "an address", err);
    case KEY_REGISTERS:
        if (!number(value, 1024, &n))
            return bad_value(r, id, value, "a number of registers", err);
        info->registers = (uint32_t)n;
        return LS_OK;
    case KEY_BINARY:
        if (!number(value, 10000, &n))
            return bad_value(r, id, value, "an architecture such as 80", err);
        info->binary_version = (uint32_t)n;
        return LS_OK;
    case KEY_TRACER:
        if (!number(value, 1000, &n))
            return bad_value(r, id, value, "a version such as 5", err);
        info->tracer_version = (uint32_t)n;
        return LS_OK;
    case KEY_LINE_INFO:
        if (!number(value, 1, &n))
            return bad_value(r, id, value, "0 or 1", err);
        info->line_info = n == 1;
        return LS_OK;
    }
    return LS_OK;
}

/* -------------------------------------------------------------------------------------------------- lines */

static ls_status read_key(acc_reader *r, const char *end, bool seen[KEY_COUNT], ls_error *err)
{
    char quoted[80];
    const char *equals = memchr(r->at, '=', (size_t)(end - r->at));
    piece whole = trim(r->at, end);
    if (!equals)
        return acc_reader_defect(r, ACC_bad_line, err, "'%s' is no '-key = value'",
                                 quote_text(whole.at, whole.bytes, quoted, sizeof quoted));
    piece key = trim(r->at + 1, equals), value = trim(equals + 1, end);
    for (int i = 0; i < KEY_COUNT; i++) {
        if (strlen(keys[i].key) != key.bytes || memcmp(keys[i].key, key.at, key.bytes) != 0)
            continue;
        ls_status status = LS_OK;
        if (seen[i])
            status = acc_reader_defect(r, ACC_duplicate_key, err, "the key '%s' appears twice", keys[i].key);
        seen[i] = true;
        return status == LS_OK ? read_value(r, (key_id)i, value, err) : status;
    }
    return acc_reader_defect(r, ACC_unknown_key, err, "the key '%s' is not known",
                             quote_text(key.at, key.bytes, quoted, sizeof quoted));
}

static ls_status read_line(acc_reader *r, const char *end, bool seen[KEY_COUNT], ls_error *err)
{
    char quoted[80];
    piece line = trim(r->at, end);
    if (line.bytes == 0 || *r->at == '#')
        return LS_OK;
    if (*r->at == '-')
        return read_key(r, end, seen, err);
    return acc_reader_defect(r, ACC_structure, err, "'%s' stands where the header is expected%s",
                             quote_text(line.at, line.bytes, quoted, sizeof quoted),
                             r->line > 1 ? ": a file that was not grouped by post-traces-processing?" : "");
}

/* Whether the block of the file's marks begins here; the header's text ends before it. */
static bool is_block(const acc_reader *r, const char *end)
{
    return end - r->at >= 9 && memcmp(r->at, "#BEGIN_TB", 9) == 0;
}

/* A report continues after every defect except a header without a shape: such a file cannot be read
 * further. */
static ls_status stop(ls_error *err, ls_status status)
{
    if (status == LS_OK) {
        ls_fail(err, LS_ERR_CHECK, "the header is not usable");
        return LS_ERR_CHECK;
    }
    return status;
}

static ls_status check_header(acc_reader *r, const bool seen[KEY_COUNT], ls_error *err)
{
    ls_kernel_info *info = &r->kernel.info;
    ls_error said = { .status = LS_OK };
    ls_status status = LS_OK;
    for (int i = 0; i < KEY_COUNT && status == LS_OK; i++) {
        if (seen[i] || keys[i].need == OPTIONAL)
            continue;
        status = acc_reader_defect(r, keys[i].need == REQUIRED ? ACC_missing_key : ACC_default_key, err,
                                   "the header has no '-%s'", keys[i].key);
    }
    if (status != LS_OK)
        return status;
    if (!seen[KEY_TRACER])
        info->tracer_version = 1; /* as Accel-Sim reads it */
    if (!info->name && !(info->name = strdup("")))
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    if (info->grid[0] == 0 || info->block[0] == 0 || !seen[KEY_BINARY])
        return stop(err, status);
    if (rules_kernel(info, &said) == LS_OK)
        return LS_OK;
    return stop(err, acc_reader_defect(r, said.status == LS_ERR_UNSUPPORTED ? ACC_unsupported : ACC_bad_value,
                                       err, "%s", said.what));
}

ls_status acc_header_read(acc_reader *r, ls_error *err)
{
    bool seen[KEY_COUNT] = { false };
    ls_status status = LS_OK;
    while (status == LS_OK && acc_reader_line(r)) {
        const char *next, *end = acc_reader_line_end(r, &next);
        if (!next)
            return stop(err, acc_reader_defect(r, ACC_long_line, err, "a line of more than %u bytes",
                                               ACC_LINE_MAX));
        if (is_block(r, end))
            break;
        if (r->header.count + (size_t)(next - r->at) > HEADER_MAX)
            return stop(err, acc_reader_defect(r, ACC_structure, err, "no thread block begins within %u bytes",
                                               HEADER_MAX));
        if (*end == '\r' && r->line == 1)
            status = acc_reader_defect(r, ACC_line_ends, err, "lines end with CR LF");
        text_addn(&r->header, r->at, (size_t)(next - r->at));
        if (status == LS_OK)
            status = read_line(r, end, seen, err);
        r->line++;
        r->at = next;
    }
    if (r->header.failed)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    if (status == LS_OK && r->at >= r->end && r->read_error.status != LS_OK) {
        ls_error said = r->read_error;
        status = acc_defect_error(r->report, ACC_truncated, r->path, r->line, &said);
        if (status != LS_OK && err)
            *err = said;
        return stop(err, status);
    }
    return status == LS_OK ? check_header(r, seen, err) : status;
}
