/* pack_read.c: packed files as a source of traces. Opening the file reads the catalog and the directory.
 * Opening a kernel reads its index and table. Blocks are read one at a time, as thread blocks are
 * requested. */
#include "workload/pack/pack.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/map.h"
#include "workload/pack/table.h"
#include "workload/rules.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

/* The file's information about a kernel. */
typedef struct packed_kernel {
    ls_kernel_info info;
    const char *header;
    size_t header_bytes;
    bool normalised;
    uint64_t cta_count, dyn_count;
    uint64_t index; /* offset */
} packed_kernel;

typedef struct pack_trace {
    sass_trace base;
    pack_in in; /* for opening; lent to one kernel at a time */
    bool in_lent;
    mem_arena arena;     /* names, commands, kernels */
    uint64_t *kernel_of; /* per command */
    packed_kernel *kernels;
    uint64_t kernel_count;
    string_map tables; /* by offset and versions: pack_table, kept until the trace is closed */
    hash128 content;
} pack_trace;

typedef struct pack_block {
    uint64_t offset;
    uint64_t bytes, value_bytes; /* of its sections */
    uint64_t first_cta, cta_count, dyn_count;
} pack_block;

typedef struct pack_kernel {
    trace_kernel base;
    pack_trace *trace;
    const packed_kernel *packed;
    pack_table *table; /* of the trace */
    pack_in own, *in;  /* the trace's, or its own if another kernel has that */
    mem_arena arena;
    pack_block *blocks;
    uint64_t block_count;
    pack_decoder decoder;
    uint64_t block, in_block; /* the next thread block: its block and its place in it */
    bool loaded;              /* `block` is in in->payload, and the decoder is at thread block `at` of it */
    uint64_t at;              /* not after in_block */
    /* Register values of `block`, if the caller keeps them. */
    pack_bytes value_bytes;
    pack_record value_record;
    cta_value *value_array;
    size_t value_capacity;
    ls_cta_values values;
} pack_kernel;

static ls_status fail_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

/* ------------------------------------------------------------------------------------------------- blocks */

static ls_status fail_block(const pack_kernel *k, ls_error *err, const char *problem)
{
    ls_fail(err, LS_ERR_INPUT, "kernel %" PRIu64 " ('%s'), block %" PRIu64 " at offset %" PRIu64 ": %s",
            (uint64_t)(k->packed - k->trace->kernels) + 1, k->base.info.file, k->block,
            k->blocks[k->block].offset, problem);
    return ls_error_at(err, k->trace->in.path, 0, 0);
}

/* The name of a section in messages; without `what` it is the present block. */
static void write_name(const pack_kernel *k, const char *what, char *text, size_t bytes)
{
    if (what)
        snprintf(text, bytes, "kernel '%.200s': %s", k->packed->info.file, what);
    else
        snprintf(text, bytes, "kernel %" PRIu64 " ('%.200s'): block %" PRIu64,
                 (uint64_t)(k->packed - k->trace->kernels) + 1, k->base.info.file, k->block);
}

/* pack_get_section() with a name that is made only if it is needed: then the section is read again. */
static ls_status get_section(pack_kernel *k, uint32_t kind, uint64_t offset, uint64_t whole, const char *what,
                             ls_error *err)
{
    ls_error unnamed;
    if (LS_LIKELY(pack_get_section(k->in, kind, offset, whole, "", &unnamed) == LS_OK))
        return LS_OK;
    char text[320];
    write_name(k, what, text, sizeof text);
    return pack_get_section(k->in, kind, offset, whole, text, err);
}

static ls_status load_values(pack_kernel *k, const pack_block *block, ls_error *err)
{
    k->value_record = (pack_record){ 0 };
    if (block->value_bytes == 0)
        return LS_OK;
    ls_status status =
        get_section(k, LS_PACK_VALUES, block->offset + block->bytes, block->value_bytes, NULL, err);
    if (status != LS_OK)
        return status;
    k->value_bytes.count = 0;
    if (!pack_add_bytes(&k->value_bytes, k->in->payload.at, k->in->payload.count))
        return fail_memory(err);
    k->value_record = (pack_record){ k->value_bytes.at, k->value_bytes.at + k->value_bytes.count, false };
    return LS_OK;
}

static ls_status load_block(pack_kernel *k, ls_error *err)
{
    const pack_block *block = &k->blocks[k->block];
    ls_status status = load_values(k, block, err);
    if (status == LS_OK)
        status = get_section(k, LS_PACK_BLOCK, block->offset, block->bytes, NULL, err);
    if (status != LS_OK)
        return status;
    const char *problem = pack_decoder_begin(&k->decoder, k->in->payload.at, k->in->payload.count);
    if (problem)
        return fail_block(k, err, problem);
    k->loaded = true;
    return LS_OK;
}

/* The values of the thread block that was just read. */
static ls_status take_values(pack_kernel *k, ls_cta *cta, ls_error *err)
{
    pack_record *r = &k->value_record;
    uint64_t count = pack_take_number(r, (uint64_t)(r->end - r->at)), dyn = 0;
    if (count > k->value_capacity) {
        cta_value *array = realloc(k->value_array, count * sizeof *array);
        if (!array)
            return fail_memory(err);
        k->value_array = array;
        k->value_capacity = count;
    }
    for (uint64_t i = 0; i < count && !r->failed; i++) {
        size_t bytes;
        dyn += pack_take_number(r, UINT32_MAX);
        const char *text = pack_take_text(r, &bytes);
        if (r->failed || dyn >= cta->dyn_count)
            return fail_block(k, err, "its register values are wrong");
        k->value_array[i] =
            (cta_value){ (uint32_t)dyn, (uint32_t)(text - (const char *)k->value_bytes.at), (uint32_t)bytes };
    }
    if (r->failed)
        return fail_block(k, err, "its register values are wrong");
    k->values = (ls_cta_values){ k->value_array, count, (const char *)k->value_bytes.at };
    cta->extra = count > 0 && !k->trace->base.options.drop_values ? &k->values : NULL;
    return LS_OK;
}

static ls_status pack_next(trace_kernel *base, ls_cta *cta, bool *end, ls_error *err)
{
    pack_kernel *k = (pack_kernel *)base;
    *end = k->block >= k->block_count;
    if (*end)
        return LS_OK;
    char text[200];
    ls_status status = LS_OK;
    if (!k->loaded) {
        status = load_block(k, err);
        k->at = 0;
    }
    const pack_block *block = &k->blocks[k->block];
    /* Thread blocks before the wanted one, after a seek, are read over. */
    for (bool done = false; status == LS_OK && !done; k->at++) {
        const char *problem;
        done = k->at == k->in_block;
        if (!pack_decode(&k->decoder, block->first_cta + k->at, cta, &problem))
            status = fail_memory(err);
        else if (problem || (problem = rules_cta(&k->base.info, cta, text, sizeof text)))
            status = fail_block(k, err, problem);
        else if (k->value_record.at)
            status = take_values(k, cta, err);
    }
    k->in_block = k->at;
    if (status == LS_OK && k->in_block == block->cta_count) {
        if (!pack_decoder_at_end(&k->decoder))
            status = fail_block(k, err, "it goes on after its last thread block");
        k->block++;
        k->in_block = 0;
        k->loaded = false;
    }
    k->loaded = k->loaded && status == LS_OK;
    return status;
}

static ls_status pack_seek(trace_kernel *base, uint64_t index, ls_error *err)
{
    pack_kernel *k = (pack_kernel *)base;
    uint64_t low = 0, high = k->block_count;
    if (index > k->packed->cta_count) {
        ls_fail(err, LS_ERR_USAGE, "thread block %" PRIu64 " of kernel '%s', which has %" PRIu64, index,
                base->info.file, k->packed->cta_count);
        return ls_error_at(err, k->trace->in.path, 0, 0);
    }
    while (low < high) { /* the first block that ends after it */
        uint64_t middle = low + (high - low) / 2;
        if (k->blocks[middle].first_cta + k->blocks[middle].cta_count <= index)
            low = middle + 1;
        else
            high = middle;
    }
    uint64_t in_block = low < k->block_count ? index - k->blocks[low].first_cta : 0;
    k->loaded = k->loaded && k->block == low && k->at <= in_block;
    k->block = low;
    k->in_block = in_block;
    return LS_OK;
}

static bool pack_text(const trace_kernel *base, uint32_t inst, inst_words *out)
{
    const inst_words *texts = pack_table_texts(((const pack_kernel *)base)->table);
    if (!texts)
        return false;
    *out = texts[inst];
    return true;
}

static const char *pack_header(const trace_kernel *base, size_t *bytes)
{
    const packed_kernel *packed = ((const pack_kernel *)base)->packed;
    *bytes = packed->header_bytes;
    return packed->header;
}

static void pack_kernel_close(trace_kernel *base)
{
    pack_kernel *k = (pack_kernel *)base;
    if (k->in == &k->trace->in)
        k->trace->in_lent = false;
    pack_in_fini(&k->own);
    pack_decoder_fini(&k->decoder);
    arena_fini(&k->arena);
    free(k->value_bytes.at);
    free(k->value_array);
    free(k);
}

static const trace_kernel_ops kernel_ops = {
    .next_cta = pack_next,
    .seek = pack_seek,
    .close = pack_kernel_close,
    .text = pack_text,
    .header = pack_header,
};

/* ------------------------------------------------------------------------------------------------ kernels */

static ls_status fail_file(const pack_trace *t, ls_error *err, const char *what)
{
    ls_fail(err, LS_ERR_INPUT, "%s", what);
    return ls_error_at(err, t->in.path, 0, 0);
}

/* Fills k->blocks from the index in k->in->payload. */
static ls_status read_index(pack_kernel *k, uint64_t *table, ls_error *err)
{
    const pack_in *in = k->in;
    pack_record r = { in->payload.at, in->payload.at + in->payload.count, false };
    uint64_t number = pack_take_varint(&r), ctas = 0, dyns = 0;
    *table = pack_take_varint(&r);
    uint64_t offset = pack_take_varint(&r);
    k->block_count = pack_take_number(&r, in->payload.count);
    if (r.failed || number != (uint64_t)(k->packed - k->trace->kernels))
        return fail_file(k->trace, err, "the index of a kernel is wrong");
    k->blocks = arena_array(&k->arena, k->block_count + 1, sizeof *k->blocks);
    if (!k->blocks)
        return fail_memory(err);
    for (uint64_t i = 0; i < k->block_count; i++) {
        pack_block *block = &k->blocks[i];
        block->offset = offset;
        block->first_cta = ctas;
        block->cta_count = pack_take_number(&r, UINT32_MAX);
        block->dyn_count = pack_take_number(&r, UINT64_MAX >> 8);
        block->bytes = pack_take_number(&r, in->bytes);
        block->value_bytes = pack_take_number(&r, in->bytes);
        offset += block->bytes + block->value_bytes;
        ctas += block->cta_count;
        dyns += block->dyn_count;
        r.failed =
            r.failed || block->cta_count == 0 || block->bytes < LS_PACK_SECTION_BYTES || offset > in->bytes;
    }
    if (r.failed || r.at != r.end || ctas != k->packed->cta_count || dyns != k->packed->dyn_count)
        return fail_file(k->trace, err, "the index of a kernel does not fit the catalog");
    return LS_OK;
}

/* The table at `offset`, decoded for this kernel; kernels of one kind share it. */
static ls_status find_table(pack_kernel *k, uint64_t offset, ls_error *err)
{
    pack_trace *t = k->trace;
    const ls_kernel_info *info = &k->packed->info;
    const uint64_t key[] = { offset, info->binary_version, info->tracer_version };
    pack_table *table = map_getn(&t->tables, (const char *)key, sizeof key);
    if (!table) {
        ls_status status = get_section(k, LS_PACK_TABLE, offset, 0, "instruction table", err);
        if (status != LS_OK)
            return status;
        status = pack_table_create(k->in->payload.at, k->in->payload.count, info, &t->base.options,
                                   t->in.version, &table, err);
        if (status != LS_OK) {
            if (status != LS_ERR_NOMEM)
                ls_error_at(err, info->file, 0, 0);
            return status;
        }
        if (!map_putn(&t->tables, (const char *)key, sizeof key, table)) {
            pack_table_destroy(table);
            return fail_memory(err);
        }
    }
    k->table = table;
    k->base.insts = table->insts;
    k->base.inst_count = k->base.inst_capacity = table->count;
    return LS_OK;
}

/* Compares the kernel with its entry in the catalog. */
static ls_status check_kernel(const pack_kernel *k, ls_error *err)
{
    ls_status status = rules_kernel(&k->base.info, err);
    if (status == LS_OK)
        status = rules_blocks(&k->base.info, k->packed->cta_count, err);
    return status == LS_OK ? LS_OK : ls_error_at(err, k->base.info.file, 0, 0);
}

static ls_status pack_open_kernel(sass_trace *base, uint64_t index, trace_kernel **out, ls_error *err)
{
    pack_trace *t = (pack_trace *)base;
    *out = NULL;
    pack_kernel *k = calloc(1, sizeof *k);
    if (!k)
        return fail_memory(err);
    k->trace = t;
    k->packed = &t->kernels[t->kernel_of[index]];
    k->base.ops = &kernel_ops;
    k->base.info = k->packed->info;
    ls_status status = LS_OK;
    if (t->in_lent) {
        k->in = &k->own;
        status = pack_in_init(&k->own, t->in.fd, t->in.bytes, t->in.path, err);
    } else {
        k->in = &t->in;
        t->in_lent = true;
    }
    uint64_t table = 0;
    if (status == LS_OK)
        status = check_kernel(k, err);
    if (status == LS_OK)
        status = get_section(k, LS_PACK_INDEX, k->packed->index, 0, "index", err);
    if (status == LS_OK)
        status = read_index(k, &table, err);
    if (status == LS_OK)
        status = find_table(k, table, err);
    if (k->table && !pack_decoder_init(&k->decoder, k->base.info.grid, k->table->plain, k->table->count))
        status = fail_memory(err);
    if (status != LS_OK) {
        pack_kernel_close(&k->base);
        return status;
    }
    *out = &k->base;
    return LS_OK;
}

/* ----------------------------------------------------------------------------------------------- the file */

static void pack_close(sass_trace *base)
{
    pack_trace *t = (pack_trace *)base;
    for (size_t i = 0; i < t->tables.count; i++)
        pack_table_destroy(t->tables.entries[i].value);
    map_fini(&t->tables);
    if (t->in.fd >= 0)
        close(t->in.fd);
    pack_in_fini(&t->in);
    arena_fini(&t->arena);
    free(t);
}

/* The catalog has both. */
static ls_status pack_describe(sass_trace *base, uint64_t index, ls_kernel_info *info, uint64_t *warp_insts,
                               ls_error *err)
{
    const pack_trace *t = (const pack_trace *)base;
    const packed_kernel *packed = &t->kernels[t->kernel_of[index]];
    (void)err;
    *info = packed->info;
    *warp_insts = packed->dyn_count;
    return LS_OK;
}

static const trace_source_ops trace_ops = { .open_kernel = pack_open_kernel,
                                            .close = pack_close,
                                            .describe = pack_describe };

/* A text of the catalog, copied; without zero bytes, which no name and no line has. */
static char *take_name(pack_trace *t, pack_record *r, size_t *bytes)
{
    const char *text = pack_take_text(r, bytes);
    r->failed = r->failed || memchr(text, '\0', *bytes) != NULL;
    return arena_strndup(&t->arena, text, *bytes);
}

static bool read_commands(pack_trace *t, pack_record *r)
{
    uint64_t count = pack_take_number(r, (uint64_t)(r->end - r->at));
    size_t bytes;
    t->base.commands = arena_array(&t->arena, count + 1, sizeof *t->base.commands);
    t->kernel_of = arena_array(&t->arena, count + 1, sizeof *t->kernel_of);
    if (!t->base.commands || !t->kernel_of)
        return false;
    t->base.command_count = count;
    for (uint64_t i = 0; i < count && !r->failed; i++) {
        trace_cmd *command = &t->base.commands[i];
        command->kind = (command_kind)pack_take_number(r, LS_COMMAND_OTHER);
        command->line = pack_take_varint(r);
        command->text = take_name(t, r, &bytes);
        if (!command->text)
            return false;
        if (command->kind == LS_COMMAND_KERNEL)
            t->kernel_of[i] = pack_take_varint(r);
        else if (command->kind == LS_COMMAND_COPY_IN) {
            command->address = pack_take_varint(r);
            command->bytes = pack_take_varint(r);
        }
    }
    return true;
}

static bool read_kernels(pack_trace *t, pack_record *r)
{
    uint64_t count = pack_take_number(r, (uint64_t)(r->end - r->at));
    size_t bytes;
    t->kernels = arena_array(&t->arena, count + 1, sizeof *t->kernels);
    if (!t->kernels)
        return false;
    t->kernel_count = count;
    for (uint64_t i = 0; i < count && !r->failed; i++) {
        packed_kernel *kernel = &t->kernels[i];
        ls_kernel_info *info = &kernel->info;
        info->name = take_name(t, r, &bytes);
        info->id = pack_take_varint(r);
        for (int d = 0; d < 3; d++)
            info->grid[d] = (uint32_t)pack_take_number(r, UINT32_MAX);
        for (int d = 0; d < 3; d++)
            info->block[d] = (uint32_t)pack_take_number(r, UINT32_MAX);
        info->shared_bytes = pack_take_varint(r);
        info->registers = (uint32_t)pack_take_number(r, UINT32_MAX);
        info->binary_version = (uint32_t)pack_take_number(r, UINT32_MAX);
        info->stream = pack_take_varint(r);
        info->shared_base = pack_take_varint(r);
        info->local_base = pack_take_varint(r);
        info->tracer_version = (uint32_t)pack_take_number(r, UINT32_MAX);
        info->line_info = pack_take_number(r, 1) != 0;
        kernel->normalised = pack_take_number(r, 1) != 0;
        kernel->cta_count = pack_take_varint(r);
        kernel->dyn_count = pack_take_varint(r);
        kernel->header = take_name(t, r, &kernel->header_bytes);
        if (!info->name || !kernel->header)
            return false;
    }
    return true;
}

static ls_status read_catalog(pack_trace *t, ls_error *err)
{
    pack_record r = { t->in.payload.at, t->in.payload.at + t->in.payload.count, false };
    if (!read_commands(t, &r) || !read_kernels(t, &r))
        return fail_memory(err);
    if (r.failed || r.at != r.end)
        return fail_file(t, err, "the catalog is wrong");
    for (uint64_t i = 0; i < t->base.command_count; i++) {
        if (t->base.commands[i].kind != LS_COMMAND_KERNEL)
            continue;
        if (t->kernel_of[i] >= t->kernel_count)
            return fail_file(t, err, "the catalog is wrong: it launches a kernel that it does not have");
        t->kernels[t->kernel_of[i]].info.file = t->base.commands[i].text;
    }
    for (uint64_t i = 0; i < t->kernel_count; i++)
        if (!t->kernels[i].info.file)
            t->kernels[i].info.file = t->in.path;
    return LS_OK;
}

static ls_status read_directory(pack_trace *t, uint64_t directory, ls_error *err)
{
    pack_directory d;
    ls_status status = pack_get_directory(&t->in, &t->arena, directory, &d, err);
    if (status == LS_OK)
        status = pack_get_section(&t->in, LS_PACK_CATALOG, d.catalog, 0, "the catalog", err);
    if (status == LS_OK)
        status = read_catalog(t, err);
    if (status == LS_OK && t->kernel_count != d.count)
        return fail_file(t, err, "catalog and directory have different numbers of kernels");
    for (uint64_t i = 0; i < t->kernel_count && status == LS_OK; i++)
        t->kernels[i].index = d.indices[i];
    return status;
}

static ls_status pack_open(const char *path, const trace_options *options, sass_trace **out, ls_error *err)
{
    *out = NULL;
    uint64_t size;
    int fd;
    ls_status status = file_open(path, &fd, &size, err);
    if (status != LS_OK)
        return status;
    pack_trace *t = calloc(1, sizeof *t);
    if (!t) {
        close(fd);
        return fail_memory(err);
    }
    t->base.ops = &trace_ops;
    if (options)
        t->base.options = *options;
    uint64_t directory = 0;
    char *name = arena_strdup(&t->arena, path);
    status = pack_in_init(&t->in, fd, size, name, err);
    if (status == LS_OK && !name)
        status = fail_memory(err);
    if (status == LS_OK)
        status = pack_get_frame(&t->in, &directory, &t->content, err);
    if (status == LS_OK)
        status = pack_check_content(&t->in, t->content, err);
    if (status == LS_OK)
        status = read_directory(t, directory, err);
    if (status != LS_OK) {
        pack_close(&t->base);
        return status;
    }
    *out = &t->base;
    return LS_OK;
}

static bool pack_accepts(const char *path, const unsigned char *head, size_t head_bytes)
{
    (void)path;
    return head_bytes >= LS_PACK_MAGIC_BYTES && memcmp(head, LS_PACK_MAGIC, LS_PACK_MAGIC_BYTES) == 0;
}

const trace_source pack_source = { .name = "packed trace", .accepts = pack_accepts, .open = pack_open };

/* --------------------------------------------------------------------------------------------- questions */

bool pack_content_hash(const sass_trace *trace, hash128 *out)
{
    if (trace->ops != &trace_ops)
        return false;
    *out = ((const pack_trace *)trace)->content;
    return true;
}

bool pack_kernel_normalised(const trace_kernel *kernel)
{
    return kernel->ops == &kernel_ops && ((const pack_kernel *)kernel)->packed->normalised;
}
