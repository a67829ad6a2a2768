/* trace_tools.h: opening, copying and comparing whole traces in tests. Include after cmocka. */
#ifndef TESTS_WORKLOAD_TRACE_TOOLS_H
#define TESTS_WORKLOAD_TRACE_TOOLS_H

#include "base/file.h"
#include "base/text.h"
#include "workload/accelsim/write.h"
#include "workload/copy.h"
#include "workload/pack/pack.h"
#include "workload/synth/synth.h"

#include <stdlib.h>
#include <string.h>

#define TRACES LS_SOURCE_DIR "/../shared/traces"

#define assert_ok(call)                                                                                       \
    do {                                                                                                      \
        ls_error err_ = { 0 };                                                                                \
        ls_error *err = &err_;                                                                                \
        if ((call) != LS_OK)                                                                                  \
            fail_msg("%s: %s", err_.where, err_.what);                                                        \
    } while (0)

static inline sass_trace *open_trace(const char *path)
{
    const trace_options options = { 0 };
    sass_trace *trace = NULL;
    assert_ok(trace_open(path, &options, &trace, err));
    return trace;
}

static inline copy_result copy_trace(const char *from, trace_sink *sink, bool compare)
{
    const copy_options options = { .compare = compare };
    copy_result result;
    sass_trace *trace = open_trace(from);
    assert_ok(trace_copy_to(trace, &options, sink, &result, err));
    trace_close(trace);
    return result;
}

static inline copy_result pack_trace(const char *from, const char *to)
{
    trace_sink *sink = NULL;
    assert_ok(pack_create(to, LS_PACK_LEVEL, &sink, err));
    return copy_trace(from, sink, trace_source_of(from) == &accelsim_source);
}

static inline void unpack_trace(const char *from, const char *to, text_compression compression)
{
    trace_sink *sink = NULL;
    assert_ok(write_dir_create(to, compression, &sink, err));
    copy_trace(from, sink, false);
}

/* ---------------------------------------------------------------------------------------------- comparing */

static inline void compare_dyn(const trace_kernel *a, const ls_cta *ca, const ls_dyn *da,
                               const trace_kernel *b, const ls_cta *cb, const ls_dyn *db)
{
    uint64_t wa[32] = { 0 }, wb[32] = { 0 };
    assert_int_equal(da->mask, db->mask);
    assert_memory_equal(&a->insts[da->inst], &b->insts[db->inst], sizeof(ls_inst));
    assert_int_equal(da->addr == LS_ADDR_NONE, db->addr == LS_ADDR_NONE);
    if (da->addr == LS_ADDR_NONE)
        return;
    assert_int_equal(da->addr & 3, db->addr & 3);
    if ((da->addr & 3) == LS_ADDR_RECORD) {
        assert_int_equal(ls_cta_words(ca, da), ls_cta_words(cb, db));
        assert_memory_equal(ls_cta_record(ca, da), ls_cta_record(cb, db),
                            ls_cta_words(ca, da) * sizeof(uint64_t));
        return;
    }
    ls_cta_addresses(ca, da, wa);
    ls_cta_addresses(cb, db, wb);
    assert_memory_equal(wa, wb, sizeof wa);
}

static inline void compare_cta(const trace_kernel *a, const ls_cta *ca, const trace_kernel *b,
                               const ls_cta *cb)
{
    assert_int_equal(ca->index, cb->index);
    assert_memory_equal(ca->id, cb->id, sizeof ca->id);
    assert_int_equal(ca->warp_count, cb->warp_count);
    assert_int_equal(ca->in_cluster, cb->in_cluster);
    if (ca->in_cluster) {
        assert_memory_equal(ca->cluster, cb->cluster, sizeof ca->cluster);
        assert_memory_equal(ca->cluster_cta, cb->cluster_cta, sizeof ca->cluster_cta);
        assert_int_equal(ca->cluster_rank, cb->cluster_rank);
    }
    for (uint32_t w = 0; w < ca->warp_count; w++) {
        assert_int_equal(ca->warps[w].count, cb->warps[w].count);
        for (uint32_t i = 0; i < ca->warps[w].count; i++)
            compare_dyn(a, ca, &ca->dyns[ca->warps[w].first + i], b, cb, &cb->dyns[cb->warps[w].first + i]);
    }
}

static inline void compare_info(const ls_kernel_info *a, const ls_kernel_info *b)
{
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->id, b->id);
    assert_memory_equal(a->grid, b->grid, sizeof a->grid);
    assert_memory_equal(a->block, b->block, sizeof a->block);
    assert_int_equal(a->shared_bytes, b->shared_bytes);
    assert_int_equal(a->registers, b->registers);
    assert_int_equal(a->binary_version, b->binary_version);
    assert_int_equal(a->stream, b->stream);
    assert_int_equal(a->shared_base, b->shared_base);
    assert_int_equal(a->local_base, b->local_base);
    assert_int_equal(a->tracer_version, b->tracer_version);
    assert_int_equal(a->line_info, b->line_info);
}

static inline void compare_kernels(trace_kernel *a, trace_kernel *b)
{
    ls_cta ca = { 0 }, cb = { 0 };
    compare_info(kernel_get_info(a), kernel_get_info(b));
    for (;;) {
        bool end_a, end_b;
        assert_ok(kernel_next_cta(a, &ca, &end_a, err));
        assert_ok(kernel_next_cta(b, &cb, &end_b, err));
        assert_int_equal(end_a, end_b);
        if (end_a)
            break;
        compare_cta(a, &ca, b, &cb);
    }
    ls_cta_fini(&ca);
    ls_cta_fini(&cb);
}

/* The same kernels that execute the same, however each source numbers its instructions. */
static inline void compare_traces(const char *path_a, const char *path_b)
{
    sass_trace *a = open_trace(path_a), *b = open_trace(path_b);
    assert_int_equal(a->command_count, b->command_count);
    for (uint64_t i = 0; i < a->command_count; i++) {
        trace_kernel *ka = NULL, *kb = NULL;
        assert_int_equal(a->commands[i].kind, b->commands[i].kind);
        assert_int_equal(a->commands[i].address, b->commands[i].address);
        assert_int_equal(a->commands[i].bytes, b->commands[i].bytes);
        if (a->commands[i].kind != LS_COMMAND_KERNEL)
            continue;
        assert_ok(trace_open_kernel(a, i, &ka, err));
        assert_ok(trace_open_kernel(b, i, &kb, err));
        compare_kernels(ka, kb);
        kernel_close(ka);
        kernel_close(kb);
    }
    trace_close(a);
    trace_close(b);
}

/* A file's bytes, terminated; the caller frees them. */
static inline char *read_bytes(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("%s is not there", path);
    size_t room = 1 << 16, count = 0;
    char *data = malloc(room);
    for (size_t got = 1; got > 0; count += got) {
        if (room - count < 2)
            data = realloc(data, room *= 2);
        assert_non_null(data);
        got = fread(data + count, 1, room - count - 1, file);
    }
    fclose(file);
    data[count] = '\0';
    *bytes = count;
    return data;
}

static inline void compare_files(const char *path_a, const char *path_b)
{
    size_t bytes_a, bytes_b;
    char *a = read_bytes(path_a, &bytes_a), *b = read_bytes(path_b, &bytes_b);
    if (bytes_a != bytes_b || memcmp(a, b, bytes_a) != 0)
        fail_msg("%s and %s differ", path_a, path_b);
    free(a);
    free(b);
}

#endif
