/* pack_write.c: a packed file, written from front to back: blocks as they come, then each kernel's table and
 * index, at the end the catalog and the directory. Memory is bounded by one thread block and the facts about
 * the kernels. */
#include "workload/pack/pack.h"

#include "base/file.h"
#include "base/map.h"
#include "base/vec.h"
#include "workload/pack/table.h"

#include <stdlib.h>

/* A block ends when it has this much: enough for the compressor, little enough to skip for one thread
 * block. */
#define BLOCK_DYNS 32768
#define BLOCK_BYTES 262144

typedef struct pack_sink {
    trace_sink base;
    file_writer file;
    pack_out out;
    pack_encoder encoder;
    pack_table_writer table;
    pack_bytes payload; /* scratch */
    /* The kernel that is being written. */
    pack_bytes values; /* of its present block */
    bool has_values;
    pack_bytes blocks; /* for the index */
    uint64_t block_count, first_block, cta_count, dyn_count;
    /* The file. */
    pack_bytes commands, kernels; /* for the catalog */
    uint64_t command_count;
    LS_VEC(uint64_t) indices; /* offset of each kernel's index */
    string_map names;         /* of kernels: number + 1, so that a kernel that is launched twice is written
                               * once */
    string_map tables;        /* by content: offset */
} pack_sink;

static ls_status fail_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

static void destroy(pack_sink *sink)
{
    pack_out_fini(&sink->out);
    pack_encoder_fini(&sink->encoder);
    pack_table_writer_fini(&sink->table);
    pack_bytes *const all[] = { &sink->payload, &sink->values, &sink->blocks, &sink->commands,
                                &sink->kernels };
    for (size_t i = 0; i < LS_COUNT_OF(all); i++)
        free(all[i]->at);
    vec_fini(&sink->indices);
    map_fini(&sink->names);
    map_fini(&sink->tables);
    free(sink);
}

static void pack_abort(trace_sink *base)
{
    pack_sink *sink = (pack_sink *)base;
    file_writer_abort(&sink->file);
    destroy(sink);
}

static bool add_numbers(pack_bytes *b, const uint64_t *numbers, size_t count)
{
    bool done = true;
    for (size_t i = 0; i < count; i++)
        done = done && pack_add_varint(b, numbers[i]);
    return done;
}

/* ------------------------------------------------------------------------------------------------- blocks */

static ls_status flush(pack_sink *sink, ls_error *err)
{
    uint64_t block = sink->out.offset, ctas = sink->encoder.cta_count, dyns = sink->encoder.dyn_count;
    size_t bytes = pack_encoder_bytes(&sink->encoder);
    if (ctas == 0)
        return LS_OK;
    sink->payload.count = 0;
    if (bytes > sink->payload.capacity) {
        free(sink->payload.at);
        sink->payload = (pack_bytes){ .at = malloc(bytes), .capacity = bytes };
        if (!sink->payload.at) {
            sink->payload.capacity = 0;
            return fail_memory(err);
        }
    }
    size_t split = pack_encoder_split(&sink->encoder);
    pack_encoder_take(&sink->encoder, sink->payload.at);
    ls_status status = pack_put_section(&sink->out, LS_PACK_BLOCK, sink->payload.at, bytes, split, err);
    if (status != LS_OK)
        return status;
    uint64_t values = sink->out.offset;
    if (sink->has_values)
        status = pack_put_section(&sink->out, LS_PACK_VALUES, sink->values.at, sink->values.count,
                                  sink->values.count, err);
    if (status != LS_OK)
        return status;
    if (sink->block_count++ == 0)
        sink->first_block = block;
    sink->cta_count += ctas;
    sink->dyn_count += dyns;
    sink->values.count = 0;
    sink->has_values = false;
    const uint64_t entry[] = { ctas, dyns, values - block, sink->out.offset - values };
    return add_numbers(&sink->blocks, entry, LS_COUNT_OF(entry)) ? LS_OK : fail_memory(err);
}

/* The register values of one thread block: how many, then for each the distance from the one before and its
 * text. The decoder concatenates the warps, so the numbers are computed again. */
static bool add_values(pack_sink *sink, const ls_cta *cta)
{
    const ls_cta_values *values = cta->extra;
    uint64_t last = 0, start = 0, count = values ? values->count : 0;
    bool done = pack_add_varint(&sink->values, count);
    for (uint32_t w = 0; w < cta->warp_count && count > 0 && done; w++) {
        const ls_warp_stream *warp = &cta->warps[w];
        for (uint64_t i = cta_values_from(values, warp->first); i < count && done; i++) {
            const cta_value *value = &values->values[i];
            uint64_t dyn = start + value->dyn - warp->first;
            if (value->dyn - warp->first >= warp->count)
                break;
            done = pack_add_varint(&sink->values, dyn - last) &&
                   pack_add_text(&sink->values, values->text + value->at, value->bytes);
            last = dyn;
        }
        start += warp->count;
    }
    sink->has_values = sink->has_values || count > 0;
    return done;
}

static ls_status pack_cta(trace_sink *base, const sink_kernel *kernel, const ls_cta *cta, ls_error *err)
{
    pack_sink *sink = (pack_sink *)base;
    const trace_kernel *source = kernel->kernel;
    if (!source->ops->text)
        return ls_fail(err, LS_ERR_UNSUPPORTED, "kernel '%s' comes from a source without text",
                       kernel->info->name);
    while (sink->encoder.inst_count < source->inst_count) {
        inst_words text;
        bool has_addresses;
        if (!source->ops->text(source, (uint32_t)sink->encoder.inst_count, &text) ||
            !pack_table_add(&sink->table, &text, &has_addresses) ||
            !pack_encoder_inst(&sink->encoder, has_addresses))
            return fail_memory(err);
    }
    ls_status status = pack_encode(&sink->encoder, cta, err);
    if (status != LS_OK)
        return status;
    if (!add_values(sink, cta))
        return fail_memory(err);
    bool full = sink->encoder.dyn_count >= BLOCK_DYNS || pack_encoder_bytes(&sink->encoder) >= BLOCK_BYTES;
    return full ? flush(sink, err) : LS_OK;
}

/* ------------------------------------------------------------------------------------------------ kernels */

static ls_status pack_command(trace_sink *base, const trace_cmd *command, ls_error *err)
{
    pack_sink *sink = (pack_sink *)base;
    const uint64_t numbers[] = { command->kind, command->line };
    bool done = add_numbers(&sink->commands, numbers, LS_COUNT_OF(numbers)) &&
                pack_add_text(&sink->commands, command->text, strlen(command->text));
    if (command->kind == LS_COMMAND_COPY_IN) {
        const uint64_t copy[] = { command->address, command->bytes };
        done = done && add_numbers(&sink->commands, copy, LS_COUNT_OF(copy));
    }
    sink->command_count++;
    return done ? LS_OK : fail_memory(err);
}

static ls_status pack_begin(trace_sink *base, const sink_kernel *kernel, bool *known, ls_error *err)
{
    pack_sink *sink = (pack_sink *)base;
    uint64_t number = (uint64_t)(uintptr_t)map_get(&sink->names, kernel->name);
    *known = number > 0;
    if (!*known)
        number = sink->indices.count + 1;
    const trace_cmd command = { .kind = LS_COMMAND_KERNEL, .text = kernel->name, .line = kernel->line };
    ls_status status = pack_command(base, &command, err);
    if (status != LS_OK)
        return status;
    if (!pack_add_varint(&sink->commands, number - 1) ||
        (!*known && !map_put(&sink->names, kernel->name, (void *)(uintptr_t)number)))
        return fail_memory(err);
    if (*known)
        return LS_OK;
    pack_encoder_kernel(&sink->encoder, kernel->info->grid);
    pack_table_writer_clear(&sink->table);
    sink->values.count = sink->blocks.count = 0;
    sink->block_count = sink->first_block = sink->cta_count = sink->dyn_count = 0;
    sink->has_values = false;
    return LS_OK;
}

/* Writes the table, or finds the same one of an earlier kernel. */
static ls_status put_table(pack_sink *sink, const ls_kernel_info *info, uint64_t *offset, ls_error *err)
{
    if (!pack_table_payload(&sink->table, &sink->payload))
        return fail_memory(err);
    struct {
        hash128 hash;
        uint32_t binary_version, tracer_version; /* the same text may decode otherwise */
    } key = { hash128_of(sink->payload.at, sink->payload.count), info->binary_version, info->tracer_version };
    *offset = (uint64_t)(uintptr_t)map_getn(&sink->tables, (const char *)&key, sizeof key);
    if (*offset > 0)
        return LS_OK;
    *offset = sink->out.offset;
    if (!map_putn(&sink->tables, (const char *)&key, sizeof key, (void *)(uintptr_t)*offset))
        return fail_memory(err);
    return pack_put_section(&sink->out, LS_PACK_TABLE, sink->payload.at, sink->payload.count,
                            sink->payload.count, err);
}

static bool add_kernel(pack_sink *sink, const sink_kernel *kernel)
{
    const ls_kernel_info *info = kernel->info;
    const uint64_t numbers[] = {
        info->id,           info->grid[0],     info->grid[1],      info->grid[2],        info->block[0],
        info->block[1],     info->block[2],    info->shared_bytes, info->registers,      info->binary_version,
        info->stream,       info->shared_base, info->local_base,   info->tracer_version, info->line_info,
        kernel->normalised, sink->cta_count,   sink->dyn_count,
    };
    return pack_add_text(&sink->kernels, info->name, strlen(info->name)) &&
           add_numbers(&sink->kernels, numbers, LS_COUNT_OF(numbers)) &&
           pack_add_text(&sink->kernels, kernel->header, kernel->header_bytes);
}

static ls_status pack_end(trace_sink *base, const sink_kernel *kernel, ls_error *err)
{
    pack_sink *sink = (pack_sink *)base;
    uint64_t table = 0;
    ls_status status = flush(sink, err);
    if (status == LS_OK)
        status = put_table(sink, kernel->info, &table, err);
    if (status != LS_OK)
        return status;
    const uint64_t numbers[] = { sink->indices.count, table, sink->first_block, sink->block_count };
    sink->payload.count = 0;
    if (!add_kernel(sink, kernel) || !vec_push(&sink->indices, sink->out.offset) ||
        !add_numbers(&sink->payload, numbers, LS_COUNT_OF(numbers)) ||
        !pack_add_bytes(&sink->payload, sink->blocks.at, sink->blocks.count))
        return fail_memory(err);
    return pack_put_section(&sink->out, LS_PACK_INDEX, sink->payload.at, sink->payload.count,
                            sink->payload.count, err);
}

/* ------------------------------------------------------------------------------------------------ the end */

static ls_status put_end(pack_sink *sink, ls_error *err)
{
    pack_bytes *b = &sink->payload;
    uint64_t catalog = sink->out.offset;
    b->count = 0;
    if (!pack_add_varint(b, sink->command_count) ||
        !pack_add_bytes(b, sink->commands.at, sink->commands.count) ||
        !pack_add_varint(b, sink->indices.count) || !pack_add_bytes(b, sink->kernels.at, sink->kernels.count))
        return fail_memory(err);
    ls_status status = pack_put_section(&sink->out, LS_PACK_CATALOG, b->at, b->count, b->count, err);
    if (status != LS_OK)
        return status;
    uint64_t directory = sink->out.offset;
    b->count = 0;
    if (!pack_add_varint(b, catalog) || !pack_add_varint(b, sink->indices.count) ||
        !add_numbers(b, sink->indices.at, sink->indices.count))
        return fail_memory(err);
    status = pack_put_section(&sink->out, LS_PACK_DIRECTORY, b->at, b->count, b->count, err);
    return status == LS_OK ? pack_put_trailer(&sink->out, directory, err) : status;
}

static ls_status pack_finish(trace_sink *base, ls_error *err)
{
    pack_sink *sink = (pack_sink *)base;
    ls_status status = put_end(sink, err);
    if (status != LS_OK) {
        pack_abort(base);
        return status;
    }
    status = file_writer_commit(&sink->file, err);
    destroy(sink);
    return status;
}

static const sink_ops pack_ops = {
    .command = pack_command,
    .begin = pack_begin,
    .cta = pack_cta,
    .end = pack_end,
    .finish = pack_finish,
    .abort = pack_abort,
};

ls_status pack_create(const char *path, int level, trace_sink **out, ls_error *err)
{
    *out = NULL;
    pack_sink *sink = calloc(1, sizeof *sink);
    if (!sink)
        return fail_memory(err);
    sink->base.ops = &pack_ops;
    ls_status status = file_writer_open(&sink->file, path, err);
    if (status != LS_OK) {
        free(sink);
        return status;
    }
    status = pack_out_init(&sink->out, sink->file.stream, sink->file.path, level, err);
    if (status != LS_OK) {
        file_writer_abort(&sink->file);
        free(sink);
        return status;
    }
    *out = &sink->base;
    return LS_OK;
}
