/* synth.c: generators as a source of traces: the table of kinds, and kernels whose thread blocks are made on
 * request. Touches no file. */
#include "workload/synth/synth.h"

#include "base/map.h"
#include "base/text.h"
#include "workload/accelsim/write.h"
#include "workload/devices/devices.h"
#include "workload/inst_text.h"
#include "workload/synth/params.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const synth_kind *const kinds[] = {
    &synth_vector_add,      &synth_saxpy,       &synth_gemm,          &synth_gemm_tensor,
    &synth_reduction,       &synth_transpose,   &synth_stencil,       &synth_gather,
    &synth_pointer_chase,   &synth_bandwidth,   &synth_chain,         &synth_throughput,
    &synth_shared_conflict, &synth_atomics,     &synth_graph_walk,    &synth_barrier_storm,
    &synth_peer_copy,       &synth_application, &synth_gemm_hopper,   &synth_attention_hopper,
    &synth_all_reduce,      &synth_bulk_copy,   &synth_cluster_chase,
};

/* ------------------------------------------------------------------------------------------------- kinds */

size_t synth_kind_count(void)
{
    return LS_COUNT_OF(kinds);
}

const synth_kind *synth_kind_at(size_t index)
{
    return index < LS_COUNT_OF(kinds) ? kinds[index] : NULL;
}

const synth_kind *synth_kind_find(const char *name)
{
    for (size_t i = 0; i < LS_COUNT_OF(kinds); i++)
        if (strcmp(kinds[i]->name, name) == 0)
            return kinds[i];
    return NULL;
}

const char *synth_kind_name(const synth_kind *kind)
{
    return kind->name;
}

const char *synth_kind_help(const synth_kind *kind)
{
    return kind->help;
}

size_t synth_param_count(const synth_kind *kind)
{
    return kind->param_count + synth_common_param_count;
}

const ls_param *synth_param_at(const synth_kind *kind, size_t index)
{
    return index < kind->param_count ? &kind->params[index] : &synth_common_params[index - kind->param_count];
}

/* ------------------------------------------------------------------------------------------------ kernels */

typedef struct synth_trace {
    sass_trace base;
    const synth_kind *kind;
    void *spec;
    mem_arena arena;       /* spec, commands, names */
    uint32_t launch_count; /* that differ; they are repeated */
    uint64_t first_launch; /* its command */
    uint32_t *launch_of;   /* per command */
    string_map sizes;      /* of parts: warp instructions by kind and parameters */
} synth_trace;

/* One launch: of the trace's kind, or of one of its parts. */
typedef struct synth_own {
    const synth_kind *kind;
    const void *spec;
    uint32_t launch;
} synth_own;

typedef struct synth_kernel {
    trace_kernel base;
    synth_own own;
    synth_program program;
    mem_arena arena; /* instructions, name */
    text_buffer header;
    uint64_t next;
    uint32_t cluster[3]; /* blocks of a cluster; 0: no clusters */
    bool wants_values;
    synth_values values; /* of the block that was read last */
    ls_cta_values given; /* the same as ls_cta.extra */
} synth_kernel;

static ls_status fail_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

/* Its place in a cluster. */
static void synth_place(const trace_kernel *base, uint64_t index, ls_cta *cta)
{
    const synth_kernel *k = (const synth_kernel *)base;
    const uint32_t *grid = base->info.grid;
    const uint32_t id[3] = { (uint32_t)(index % grid[0]), (uint32_t)(index / grid[0] % grid[1]),
                             (uint32_t)(index / grid[0] / grid[1]) };
    cta->in_cluster = k->cluster[0] != 0;
    for (unsigned i = 0; i < 3; i++) {
        uint32_t size = cta->in_cluster ? k->cluster[i] : 1;
        cta->cluster[i] = cta->in_cluster ? id[i] / size : 0;
        cta->cluster_cta[i] = id[i] % size;
    }
    cta->cluster_rank =
        cta->in_cluster
            ? cta->cluster_cta[0] + k->cluster[0] * (cta->cluster_cta[1] + k->cluster[1] * cta->cluster_cta[2])
            : 0;
}

/* The values of the block's executions, for writers. */
static void give_values(synth_kernel *k, ls_cta *cta)
{
    k->given = (ls_cta_values){ .values = k->values.list.at,
                                .count = k->values.list.count,
                                .text = text_get(&k->values.text) };
    cta->extra = k->given.count > 0 ? &k->given : NULL;
}

static ls_status synth_next(trace_kernel *base, ls_cta *cta, bool *end, ls_error *err)
{
    synth_kernel *k = (synth_kernel *)base;
    const ls_kernel_info *info = &base->info;
    uint32_t warps = ls_kernel_warps(info), threads = ls_kernel_threads(info);
    *end = k->next >= ls_kernel_cta_count(info);
    if (*end)
        return LS_OK;
    cta->dyn_count = cta->addr_count = 0;
    cta->warp_count = 0;
    cta->extra = NULL;
    if (!cta_reserve(cta, warps, 0, 0))
        return fail_memory(err);
    cta->index = k->next;
    cta->warp_count = warps;
    cta->id[0] = (uint32_t)(k->next % info->grid[0]);
    cta->id[1] = (uint32_t)(k->next / info->grid[0] % info->grid[1]);
    cta->id[2] = (uint32_t)(k->next / info->grid[0] / info->grid[1]);
    synth_place(base, k->next, cta);
    k->values.list.count = 0;
    text_clear(&k->values.text);
    for (uint32_t i = 0; i < warps; i++) {
        uint32_t left = threads - i * SYNTH_WARP;
        synth_warp w = {
            .program = &k->program,
            .cta = cta,
            .values = k->wants_values ? &k->values : NULL,
            .index = i,
            .id = { cta->id[0], cta->id[1], cta->id[2] },
            .mask = left >= SYNTH_WARP ? SYNTH_FULL : (UINT32_C(1) << left) - 1,
            .thread = k->next * threads + i * SYNTH_WARP,
        };
        uint64_t first = cta->dyn_count;
        k->own.kind->warp(k->own.spec, k->own.launch, &w);
        if (w.failed)
            return fail_memory(err);
        if (cta->dyn_count > UINT32_MAX || cta->addr_count >= UINT32_C(1) << 30)
            return ls_fail(err, LS_ERR_UNSUPPORTED, "thread block %" PRIu64 " of '%s' is too long for one",
                           cta->index, info->file);
        cta->warps[i] = (ls_warp_stream){ (uint32_t)first, (uint32_t)(cta->dyn_count - first) };
    }
    give_values(k, cta);
    k->next++;
    return LS_OK;
}

static ls_status synth_seek(trace_kernel *base, uint64_t index, ls_error *err)
{
    synth_kernel *k = (synth_kernel *)base;
    uint64_t count = ls_kernel_cta_count(&base->info);
    if (index > count)
        return ls_fail(err, LS_ERR_USAGE, "thread block %" PRIu64 " of kernel '%s', which has %" PRIu64, index,
                       base->info.file, count);
    k->next = index;
    return LS_OK;
}

static uint64_t synth_shape(const trace_kernel *base, uint64_t index)
{
    const synth_kernel *k = (const synth_kernel *)base;
    const uint32_t *grid = base->info.grid;
    const uint32_t id[3] = { (uint32_t)(index % grid[0]), (uint32_t)(index / grid[0] % grid[1]),
                             (uint32_t)(index / grid[0] / grid[1]) };
    const synth_own *own = &k->own;
    return own->kind->shape == NULL ? LS_SHAPE_ALONE : own->kind->shape(own->spec, own->launch, id);
}

static void synth_kernel_close(trace_kernel *base)
{
    synth_kernel *k = (synth_kernel *)base;
    vec_fini(&k->program.rows);
    arena_fini(&k->program.arena);
    arena_fini(&k->arena);
    text_fini(&k->header);
    vec_fini(&k->values.list);
    text_fini(&k->values.text);
    free(k);
}

static bool synth_text(const trace_kernel *base, uint32_t inst, inst_words *out)
{
    *out = ((const synth_kernel *)base)->program.rows.at[inst];
    return true;
}

static const char *synth_header(const trace_kernel *base, size_t *bytes)
{
    const text_buffer *header = &((const synth_kernel *)base)->header;
    *bytes = header->count;
    return text_get(header);
}

static const trace_kernel_ops kernel_ops = {
    .next_cta = synth_next,
    .seek = synth_seek,
    .parallel = true,
    .shape = synth_shape,
    .place = synth_place,
    .close = synth_kernel_close,
    .text = synth_text,
    .header = synth_header,
};

static const synth_common *common_of(const synth_trace *t)
{
    return t->spec; /* its first member */
}

/* The launch's kind and spec; a part's spec is in the arena. text (SYNTH_PART_BYTES) gets the parameters of a part. */
static ls_status find_own(const synth_trace *t, uint32_t launch, mem_arena *arena, char *text, synth_own *out,
                          ls_error *err)
{
    *out = (synth_own){ .kind = t->kind, .spec = t->spec, .launch = launch };
    text[0] = '\0';
    if (!t->kind->part)
        return LS_OK;
    out->kind = t->kind->part(t->spec, launch, text, SYNTH_PART_BYTES);
    out->launch = 0;
    void *spec = arena_alloc(arena, out->kind->spec_size);
    out->spec = spec;
    return spec ? synth_params_read(out->kind, text, spec, err) : fail_memory(err);
}

static void assemble(const synth_own *own, synth_program *p)
{
    const synth_common *common = own->spec;
    p->version = synth_versions[common->binary_version];
    p->tracer_version = (uint32_t)common->tracer_version;
    own->kind->assemble(own->spec, own->launch, p);
}

static synth_launch fill_info(const synth_own *own, ls_kernel_info *info)
{
    synth_launch l = { .grid = { 1, 1, 1 }, .block = { 1, 1, 1 }, .registers = 32 };
    own->kind->launch(own->spec, own->launch, &l);
    info->name = (char *)(uintptr_t)l.name; /* the kind's own; an opened kernel copies it */
    info->id = own->launch + 1;
    memcpy(info->grid, l.grid, sizeof info->grid);
    memcpy(info->block, l.block, sizeof info->block);
    const synth_common *common = own->spec;
    uint64_t shared = common->block_shared_kib << 10;
    info->shared_bytes = shared > l.shared_bytes ? shared : l.shared_bytes;
    info->registers =
        common->thread_registers > l.registers ? (uint32_t)common->thread_registers : l.registers;
    info->binary_version = synth_versions[common->binary_version];
    info->tracer_version = (uint32_t)common->tracer_version;
    info->shared_base = SYNTH_SHARED_BASE;
    info->local_base = SYNTH_LOCAL_BASE;
    memcpy(info->cluster, l.cluster, sizeof info->cluster);
    info->cooperative = l.cooperative;
    return l;
}

/* Adds the facts of one launch. */
static bool add_facts(const synth_own *own, const ls_kernel_info *info, synth_facts *out)
{
    synth_program p = { 0 };
    assemble(own, &p);
    out->kernels++;
    out->ctas += ls_kernel_cta_count(info);
    out->warps += ls_kernel_cta_count(info) * ls_kernel_warps(info);
    if (!p.failed)
        own->kind->facts(own->spec, own->launch, &p, out);
    vec_fini(&p.rows);
    arena_fini(&p.arena);
    return !p.failed;
}

/* Equal launches are computed once: an application has thousands of them. */
static ls_status synth_describe(sass_trace *base, uint64_t index, ls_kernel_info *info, uint64_t *warp_insts,
                                ls_error *err)
{
    synth_trace *t = (synth_trace *)base;
    mem_arena arena = { 0 };
    char text[SYNTH_PART_BYTES], key[SYNTH_PART_BYTES + 48];
    synth_own own;
    synth_facts facts = { 0 };
    ls_status status = find_own(t, t->launch_of[index], &arena, text, &own, err);
    if (status == LS_OK) {
        fill_info(&own, info);
        snprintf(key, sizeof key, "%s,%s,%u", own.kind->name, text, own.launch);
        uintptr_t known = (uintptr_t)map_get(&t->sizes, key);
        if (known == 0) {
            if (!add_facts(&own, info, &facts) ||
                !map_put(&t->sizes, key, (void *)(uintptr_t)facts.warp_insts))
                status = fail_memory(err);
            known = facts.warp_insts;
        }
        *warp_insts = known;
    }
    arena_fini(&arena);
    return status;
}

static ls_status synth_open_kernel(sass_trace *base, uint64_t index, trace_kernel **out, ls_error *err)
{
    const synth_trace *t = (const synth_trace *)base;
    *out = NULL;
    synth_kernel *k = calloc(1, sizeof *k);
    if (!k)
        return fail_memory(err);
    k->base.ops = &kernel_ops;
    char text[SYNTH_PART_BYTES];
    ls_status status = find_own(t, t->launch_of[index], &k->arena, text, &k->own, err);
    if (status != LS_OK) {
        synth_kernel_close(&k->base);
        return status;
    }
    synth_launch launch = fill_info(&k->own, &k->base.info);
    memcpy(k->cluster, launch.cluster, sizeof k->cluster);
    k->wants_values = !base->options.drop_values;
    k->base.info.id = index - t->first_launch + 1;
    k->base.info.name = arena_strdup(&k->arena, k->base.info.name);
    k->base.info.file = base->commands[index].text;
    assemble(&k->own, &k->program);
    k->base.inst_count = k->base.inst_capacity = (uint32_t)k->program.rows.count;
    k->base.insts = arena_alloc_aligned(&k->arena, (k->program.rows.count + 1) * sizeof *k->base.insts, 64);
    if (!k->base.info.name || !k->base.insts || k->program.failed)
        status = fail_memory(err);
    for (uint32_t i = 0; i < k->base.inst_count && status == LS_OK; i++)
        status = inst_text_decode(&k->program.rows.at[i], &k->base.info, base->options.unknown_opcodes_as_alu,
                                  &k->base.insts[i], err);
    if (status == LS_OK) {
        write_header(&k->header, &k->base.info);
        if (k->header.failed)
            status = fail_memory(err);
    }
    if (status != LS_OK) {
        synth_kernel_close(&k->base);
        return status;
    }
    *out = &k->base;
    return LS_OK;
}

/* ------------------------------------------------------------------------------------------------- traces */

static void synth_close(sass_trace *base)
{
    synth_trace *t = (synth_trace *)base;
    map_fini(&t->sizes);
    arena_fini(&t->arena);
    free(t);
}

static const trace_source_ops trace_ops = { .open_kernel = synth_open_kernel,
                                            .close = synth_close,
                                            .describe = synth_describe };

/* Copies of the inputs, then the launches. */
static bool make_commands(synth_trace *t)
{
    synth_copy copies[SYNTH_COPIES];
    unsigned copy_count = t->kind->copies ? t->kind->copies(t->spec, copies) : 0;
    uint64_t count = copy_count + (uint64_t)t->launch_count * common_of(t)->repeat;
    t->first_launch = copy_count;
    t->base.commands = arena_array(&t->arena, count, sizeof *t->base.commands);
    t->launch_of = arena_array(&t->arena, count, sizeof *t->launch_of);
    if (!t->base.commands || !t->launch_of)
        return false;
    t->base.command_count = count;
    for (uint64_t i = 0; i < count; i++) {
        trace_cmd *command = &t->base.commands[i];
        command->line = i + 1;
        if (i < copy_count) {
            command->kind = LS_COMMAND_COPY_IN;
            command->address = copies[i].address;
            command->bytes = copies[i].bytes;
            command->text = arena_printf(&t->arena, "MemcpyHtoD,0x%016" PRIx64 ",%" PRIu64, copies[i].address,
                                         copies[i].bytes);
        } else {
            command->kind = LS_COMMAND_KERNEL;
            t->launch_of[i] = (uint32_t)((i - copy_count) % t->launch_count);
            command->text = arena_printf(&t->arena, "kernel-%" PRIu64 ".traceg", i - copy_count + 1);
        }
        if (!command->text)
            return false;
    }
    return true;
}

static const char *kind_name_at(const void *self, size_t i)
{
    (void)self;
    return kinds[i]->name;
}

ls_status synth_open(const char *text, const trace_options *options, sass_trace **out, ls_error *err)
{
    char name[40], quoted[64];
    const char *comma = strchr(text, ',');
    size_t bytes = comma ? (size_t)(comma - text) : strlen(text);
    *out = NULL;
    snprintf(name, sizeof name, "%.*s", (int)synth_min(bytes, sizeof name - 1), text);
    const synth_kind *kind = synth_kind_find(name);
    if (!kind && collective_is(text))
        return ls_fail(err, LS_ERR_USAGE,
                       "'%s' is for several GPUs: only `lockstep run` takes it, on a system", name);
    if (!kind) {
        ls_fail(err, LS_ERR_USAGE, "there is no generator '%s'",
                quote_text(name, strlen(name), quoted, sizeof quoted));
        return ls_error_nearest(err, nearest_name(name, LS_COUNT_OF(kinds), kind_name_at, NULL));
    }
    synth_trace *t = calloc(1, sizeof *t);
    if (!t)
        return fail_memory(err);
    t->base.ops = &trace_ops;
    if (options)
        t->base.options = *options;
    t->kind = kind;
    t->spec = arena_alloc(&t->arena, kind->spec_size);
    ls_status status =
        t->spec ? synth_params_read(kind, comma ? comma + 1 : NULL, t->spec, err) : fail_memory(err);
    if (status == LS_OK) {
        t->launch_count = kind->launches ? kind->launches(t->spec) : 1;
        if (!make_commands(t))
            status = fail_memory(err);
    }
    if (status != LS_OK) {
        synth_close(&t->base);
        return status;
    }
    *out = &t->base;
    return LS_OK;
}

static bool synth_accepts(const char *path, const unsigned char *head, size_t head_bytes)
{
    (void)head;
    (void)head_bytes;
    return starts_with(path, LS_SYNTH_PREFIX);
}

static ls_status open_path(const char *path, const trace_options *options, sass_trace **out, ls_error *err)
{
    return synth_open(path + strlen(LS_SYNTH_PREFIX), options, out, err);
}

const trace_source synth_source = { .name = "generated trace", .accepts = synth_accepts, .open = open_path };

bool synth_get_facts(const sass_trace *trace, synth_facts *out)
{
    *out = (synth_facts){ 0 };
    if (trace->ops != &trace_ops)
        return false;
    const synth_trace *t = (const synth_trace *)trace;
    bool good = true;
    for (uint64_t n = 0; n < t->launch_count * common_of(t)->repeat && good; n++) {
        uint64_t bytes = out->global_bytes;
        char text[SYNTH_PART_BYTES];
        mem_arena arena = { 0 };
        ls_kernel_info info = { 0 };
        synth_own own;
        good = find_own(t, (uint32_t)(n % t->launch_count), &arena, text, &own, NULL) == LS_OK;
        if (good) {
            fill_info(&own, &info);
            good = add_facts(&own, &info, out);
        }
        if (n >= t->launch_count) /* the same bytes again */
            out->global_bytes = bytes;
        arena_fini(&arena);
    }
    if (t->kind->part) /* launches share arrays and tables */
        out->load_sectors = out->store_sectors = out->global_bytes = LS_SYNTH_UNKNOWN;
    return good;
}
