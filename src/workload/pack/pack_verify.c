/* pack_verify.c: everything that can be checked in a packed file: each section's checksum, the hash of the
 * content, and that every thread block decodes. */
#include "workload/pack/pack.h"

#include "base/file.h"
#include "workload/pack/section.h"

#include <inttypes.h>
#include <unistd.h>

ls_status pack_verify_sections(pack_in *in, ls_error *err)
{
    static const char *const names[LS_PACK_KIND_COUNT] = {
        [LS_PACK_BLOCK] = "a block",
        [LS_PACK_VALUES] = "values",
        [LS_PACK_TABLE] = "an instruction table",
        [LS_PACK_INDEX] = "an index",
        [LS_PACK_CATALOG] = "the catalog",
        [LS_PACK_DIRECTORY] = "the directory",
        [LS_PACK_AMD_CODE] = "code",
        [LS_PACK_AMD_GROUPS] = "work-groups",
        [LS_PACK_AMD_INDEX] = "the index of a launch",
        [LS_PACK_AMD_CATALOG] = "the catalog of launches",
    };
    uint64_t directory, offset = LS_PACK_HEADER_BYTES;
    hash128 content;
    hash_stream *hasher = NULL;
    ls_status status = pack_get_frame(in, &directory, &content, err);
    if (status == LS_OK)
        status = hasher_create(&hasher, err);
    while (status == LS_OK && offset < in->bytes - LS_PACK_TRAILER_BYTES) {
        uint32_t kind = 0;
        uint64_t whole = 0;
        status = pack_peek_section(in, offset, &kind, &whole, err);
        if (status == LS_OK)
            status = pack_get_section(in, kind, offset, whole, names[kind], err);
        if (status == LS_OK)
            pack_hash_section(hasher, kind, in->payload.at, in->payload.count);
        offset += whole;
    }
    if (status == LS_OK && !hash_same(hasher_get(hasher), content)) {
        ls_fail(err, LS_ERR_INPUT, "the hash of the content is not the one in the trailer");
        status = ls_error_at(err, in->path, 0, 0);
    }
    hasher_destroy(hasher);
    return status;
}

static ls_status verify_kernels(sass_trace *trace, ls_error *err)
{
    ls_cta cta = { 0 };
    ls_status status = LS_OK;
    for (uint64_t i = 0; i < trace->command_count && status == LS_OK; i++) {
        trace_kernel *kernel;
        bool end = false;
        if (trace->commands[i].kind != LS_COMMAND_KERNEL)
            continue;
        status = trace_open_kernel(trace, i, &kernel, err);
        if (status != LS_OK)
            break;
        while (status == LS_OK && !end)
            status = kernel_next_cta(kernel, &cta, &end, err);
        kernel_close(kernel);
    }
    ls_cta_fini(&cta);
    return status;
}

ls_status pack_file_verify(const char *path, ls_error *err)
{
    const trace_options options = { .unknown_opcodes_as_alu = true };
    uint64_t size;
    sass_trace *trace;
    pack_in in = { 0 };
    int fd;
    ls_status status = file_open(path, &fd, &size, err);
    if (status != LS_OK)
        return status;
    status = pack_in_init(&in, fd, size, path, err);
    if (status == LS_OK)
        status = pack_verify_sections(&in, err);
    pack_in_fini(&in);
    close(fd);
    if (status == LS_OK)
        status = pack_source.open(path, &options, &trace, err);
    if (status != LS_OK)
        return status;
    status = verify_kernels(trace, err);
    trace_close(trace);
    return status;
}
