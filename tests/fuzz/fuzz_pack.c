/* fuzz_pack.c: packed traces: any bytes as a file, and any bytes as the inside of a block, a table or a
 * catalog, where no checksum protects the decoder. Nothing crashes, a refusal is one line, and memory stays
 * in proportion. */
#include "workload/pack/pack.h"
#include "workload/pack/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define INSTS 24u
#define MOST_BLOCKS 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_error(ls_status status, const ls_error *err)
{
    char text[1024];
    if (status == LS_OK)
        return;
    if (err->status != status || err->what[0] == '\0' || strchr(ls_error_text(err, text, sizeof text), '\n'))
        abort();
}

/* Every instruction that a thread block names must exist, and so must its addresses. */
static void check_cta(const ls_cta *cta, uint32_t inst_count)
{
    uint64_t lanes[32];
    for (uint32_t w = 0; w < cta->warp_count; w++) {
        if ((uint64_t)cta->warps[w].first + cta->warps[w].count > cta->dyn_count)
            abort();
        for (uint32_t i = 0; i < cta->warps[w].count; i++) {
            const ls_dyn *dyn = &cta->dyns[cta->warps[w].first + i];
            if (dyn->inst >= inst_count)
                abort();
            const uint64_t *record = ls_cta_record(cta, dyn);
            if (record && !cta_record_is_valid(record, ls_cta_words(cta, dyn), dyn->mask))
                abort();
            ls_cta_addresses(cta, dyn, lanes);
        }
    }
}

static void read_kernel(sass_trace *trace, uint64_t index)
{
    trace_kernel *kernel;
    ls_error err;
    ls_cta cta = { 0 };
    bool end = false;
    ls_status status = trace_open_kernel(trace, index, &kernel, &err);
    for (int n = 0; n < MOST_BLOCKS && status == LS_OK && !end; n++) {
        status = kernel_next_cta(kernel, &cta, &end, &err);
        if (status == LS_OK && !end)
            check_cta(&cta, kernel->inst_count);
    }
    check_error(status, &err);
    kernel_close(kernel);
    ls_cta_fini(&cta);
}

static void read_path(const char *path)
{
    const trace_options options = { .unknown_opcodes_as_alu = true };
    sass_trace *trace;
    ls_error err;
    ls_status status = pack_source.open(path, &options, &trace, &err);
    check_error(status, &err);
    for (uint64_t i = 0; status == LS_OK && i < trace->command_count; i++)
        if (trace->commands[i].kind == LS_COMMAND_KERNEL)
            read_kernel(trace, i);
    if (status == LS_OK)
        trace_close(trace);
    check_error(pack_file_verify(path, &err), &err);
}

static void read_file(const uint8_t *data, size_t size)
{
    char path[64];
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0)
        return;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (write(fd, data, size) == (ssize_t)size)
        read_path(path);
    close(fd);
}

/* A good file around the catalog; its kernels' indices are this catalog too, and so always wrong. */
static void read_catalog(const uint8_t *data, size_t size)
{
    char path[64];
    ls_error err;
    pack_out out;
    uint8_t directory[16] = { LS_PACK_HEADER_BYTES, size > 0 ? data[0] & 7 : 0 };
    memset(directory + 2, LS_PACK_HEADER_BYTES, 7);
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    FILE *stream = fd < 0 ? NULL : fdopen(fd, "wb");
    if (!stream)
        return;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (pack_out_init(&out, stream, path, 1, &err) == LS_OK) {
        uint64_t at;
        if (pack_put_section(&out, LS_PACK_CATALOG, data, size, size, &err) == LS_OK &&
            (at = out.offset) > 0 &&
            pack_put_section(&out, LS_PACK_DIRECTORY, directory, 2 + directory[1], 2 + directory[1], &err) ==
                LS_OK &&
            pack_put_trailer(&out, at, &err) == LS_OK && fflush(stream) == 0)
            read_path(path);
        pack_out_fini(&out);
    }
    fclose(stream);
}

static void read_table(const uint8_t *data, size_t size)
{
    const ls_kernel_info info = { .binary_version = 80 };
    const trace_options options = { .unknown_opcodes_as_alu = true };
    pack_table *table;
    ls_error err;
    ls_status status = pack_table_create(data, size, &info, &options, 3, &table, &err);
    check_error(status, &err);
    if (status != LS_OK)
        return;
    const inst_words *texts = pack_table_texts(table);
    for (uint32_t i = 0; i < table->count; i++)
        if (!texts || !texts[i].pc || !texts[i].body || !texts[i].tail)
            abort();
    pack_table_destroy(table);
}

static void read_block(const uint8_t *data, size_t size)
{
    static const uint32_t grid[3] = { 4, 4, 4 };
    uint32_t plain[INSTS + 1] = { 0 };
    pack_decoder decoder;
    ls_cta cta = { 0 };
    uint8_t *payload = calloc(1, size + LS_PACK_SLACK);
    for (uint32_t i = INSTS; i-- > 0;)
        plain[i] = i % 3 == 1 ? 0 : plain[i + 1] + 1;
    if (payload && pack_decoder_init(&decoder, grid, plain, INSTS)) {
        if (size > 0)
            memcpy(payload, data, size);
        const char *problem = pack_decoder_begin(&decoder, payload, size);
        for (uint64_t i = 0; i < MOST_BLOCKS && !problem && !pack_decoder_at_end(&decoder); i++) {
            if (!pack_decode(&decoder, i, &cta, &problem))
                abort();
            if (!problem)
                check_cta(&cta, INSTS);
        }
        pack_decoder_fini(&decoder);
    }
    ls_cta_fini(&cta);
    free(payload);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (data[0] == (uint8_t)LS_PACK_MAGIC[0])
        read_file(data, size);
    else if (data[0] == 'T')
        read_table(data + 1, size - 1);
    else if (data[0] == 'C')
        read_catalog(data + 1, size - 1);
    else
        read_block(data + 1, size - 1);
    return 0;
}
