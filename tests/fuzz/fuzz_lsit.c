/* fuzz_lsit.c: any bytes as a packed instruction trace: as they are, and as the content of its compressed part. Nothing
 * crashes, a refusal is one line, and all that was read can be printed. */
#include "runtime/emulate/trace_file_impl.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define MOST_ITEMS 2000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const void *bytes, size_t size)
{
    FILE *file = size ? fmemopen((void *)(uintptr_t)bytes, size, "rb") : NULL, *out = fopen("/dev/null", "w");
    trace_reader *reader = NULL;
    trace_item item = TRACE_ITEM_LAUNCH;
    ls_error err;
    char text[1024];
    ls_status status = file && out ? trace_reader_create(file, &reader, &err) : LS_OK;
    for (unsigned i = 0; reader && status == LS_OK && item != TRACE_ITEM_END && i < MOST_ITEMS; i++) {
        status = trace_reader_next(reader, &item, &err);
        if (status == LS_OK && item == TRACE_ITEM_RECORD) {
            trace_print_json(out, trace_reader_launch(reader), trace_reader_record(reader));
            trace_print_text(out, trace_reader_launch(reader), trace_reader_record(reader), i);
        }
    }
    if (status != LS_OK && (err.status != status || strchr(ls_error_text(&err, text, sizeof text), '\n')))
        abort();
    trace_reader_destroy(reader);
    if (file)
        fclose(file);
    if (out)
        fclose(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t bound = ZSTD_compressBound(size) + TRACE_MAGIC_BYTES;
    char *packed = malloc(bound);
    check(data, size);
    if (!packed)
        return 0;
    memcpy(packed, TRACE_MAGIC, TRACE_MAGIC_BYTES);
    size_t n = ZSTD_compress(packed + TRACE_MAGIC_BYTES, bound - TRACE_MAGIC_BYTES, data, size, 1);
    if (!ZSTD_isError(n))
        check(packed, n + TRACE_MAGIC_BYTES);
    free(packed);
    return 0;
}
