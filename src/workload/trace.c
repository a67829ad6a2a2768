/* trace.c: functions that all sources of traces share: choosing the source, the calls through its tables, and
 * the memory of static instructions and thread blocks. Independent of file formats. */
#include "base/file.h"
#include "isa/sass/sass.h"
#include "workload/trace.h"

#include "workload/pack/pack.h"
#include "workload/synth/synth.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------ sources */

static const trace_source *const sources[] = {
    &synth_source,
    &pack_source,
    &accelsim_source,
};

/* The first bytes, which identify the format. A file that cannot be read gives none; opening it will report
 * the reason. */
static size_t read_head(const char *path, unsigned char *head, size_t bytes)
{
    int fd;
    if (file_open(path, &fd, NULL, NULL) != LS_OK)
        return 0;
    ssize_t got = read(fd, head, bytes);
    close(fd);
    return got > 0 ? (size_t)got : 0;
}

const trace_source *trace_source_of(const char *path)
{
    unsigned char head[16];
    size_t head_bytes = read_head(path, head, sizeof head);
    size_t last = sizeof sources / sizeof *sources - 1, i = 0;
    while (i < last && !sources[i]->accepts(path, head, head_bytes))
        i++;
    return sources[i];
}

ls_status trace_open(const char *path, const trace_options *options, sass_trace **out, ls_error *err)
{
    static const trace_options defaults = { 0 };
    unsigned char head[16];
    *out = NULL;
    if (read_head(path, head, sizeof head) == sizeof head &&
        memcmp(head, "lockstep devices", sizeof head) == 0)
        return ls_fail(err, LS_ERR_INPUT, "'%s' is a list of several devices: only `lockstep run` takes one",
                       path);
    return trace_source_of(path)->open(path, options ? options : &defaults, out, err);
}

void trace_close(sass_trace *trace)
{
    if (!trace)
        return;
    free(trace->described);
    trace->ops->close(trace);
}

uint64_t trace_command_count(const sass_trace *trace)
{
    return trace->command_count;
}

const trace_cmd *trace_command_at(const sass_trace *trace, uint64_t index)
{
    return index < trace->command_count ? &trace->commands[index] : NULL;
}

ls_status trace_open_kernel(sass_trace *trace, uint64_t index, trace_kernel **out, ls_error *err)
{
    *out = NULL;
    if (index >= trace->command_count || trace->commands[index].kind != LS_COMMAND_KERNEL)
        return ls_fail(err, LS_ERR_USAGE, "command %llu of the trace is not a kernel",
                       (unsigned long long)index);
    return trace->ops->open_kernel(trace, index, out, err);
}

/* Reads a kernel to its end. */
static ls_status count_insts(trace_kernel *kernel, uint64_t *warp_insts, ls_error *err)
{
    ls_cta cta = { 0 };
    bool end = false;
    ls_status status = LS_OK;
    *warp_insts = 0;
    while (status == LS_OK && !end) {
        status = kernel_next_cta(kernel, &cta, &end, err);
        *warp_insts += status == LS_OK && !end ? cta.dyn_count : 0;
    }
    ls_cta_fini(&cta);
    return status;
}

ls_status trace_describe(sass_trace *trace, uint64_t index, ls_kernel_info *info, uint64_t *warp_insts,
                         ls_error *err)
{
    if (trace->ops->describe)
        return trace->ops->describe(trace, index, info, warp_insts, err);
    trace_kernel *kernel;
    ls_status status = trace_open_kernel(trace, index, &kernel, err);
    if (status != LS_OK)
        return status;
    *info = kernel->info;
    free(trace->described);
    trace->described = strdup(kernel->info.name ? kernel->info.name : "");
    info->name = trace->described;
    info->file = "";
    status = trace->described ? count_insts(kernel, warp_insts, err)
                              : ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    kernel_close(kernel);
    return status;
}

/* ------------------------------------------------------------------------------------------------ kernels */

const ls_kernel_info *kernel_get_info(const trace_kernel *kernel)
{
    return &kernel->info;
}

bool kernel_is_parallel(const trace_kernel *kernel)
{
    return kernel->ops->parallel && kernel->ops->seek != NULL;
}

const ls_inst *kernel_inst_table(const trace_kernel *kernel)
{
    return kernel->insts;
}

uint32_t kernel_inst_count(const trace_kernel *kernel)
{
    return kernel->inst_count;
}

/* The instructions of the last block: no caller has their numbers yet. */
static void class_as_accelsim(trace_kernel *kernel)
{
    for (; kernel->classed < kernel->inst_count; kernel->classed++) {
        ls_inst *inst = &kernel->insts[kernel->classed];
        inst->class_ = sass_class_in_accelsim(inst);
    }
}

void kernel_as_accelsim(trace_kernel *kernel)
{
    kernel->as_accelsim = true;
    class_as_accelsim(kernel);
}

ls_status kernel_next_cta(trace_kernel *kernel, ls_cta *cta, bool *end, ls_error *err)
{
    if (kernel->cta_limit && kernel->cta_next >= kernel->cta_limit) {
        *end = true;
        return LS_OK;
    }
    cta_own(cta);
    ls_status status = kernel->ops->next_cta(kernel, cta, end, err);
    kernel->cta_next += status == LS_OK && !*end;
    if (kernel->as_accelsim)
        class_as_accelsim(kernel);
    return status;
}

void kernel_drop_marks(trace_kernel *kernel, ls_cta *cta)
{
    for (; kernel->looked < kernel->inst_count; kernel->looked++)
        kernel->has_marks |= sass_opcode_is_mark(kernel->insts[kernel->looked].opcode);
    if (!kernel->has_marks || cta->like)
        return;
    for (uint32_t w = 0; w < cta->warp_count; w++) {
        ls_dyn *to = cta->dyns + cta->warps[w].first, *from = to, *end = to + cta->warps[w].count;
        for (; from < end; from++)
            if (!sass_opcode_is_mark(kernel->insts[from->inst].opcode)) {
                ls_dyn moved = *from;
                *from = *to; /* marks gather behind the warp */
                *to++ = moved;
            }
        cta->warps[w].count = (uint32_t)(to - (cta->dyns + cta->warps[w].first));
    }
}

void kernel_limit(trace_kernel *kernel, uint64_t ctas)
{
    kernel->cta_limit = ctas;
}

uint64_t kernel_blocks(const trace_kernel *kernel)
{
    uint64_t blocks = ls_kernel_cta_count(&kernel->info);
    return kernel->cta_limit && kernel->cta_limit < blocks ? kernel->cta_limit : blocks;
}

ls_status kernel_seek(trace_kernel *kernel, uint64_t index, ls_error *err)
{
    if (!kernel->ops->seek) {
        ls_fail(err, LS_ERR_UNSUPPORTED, "text has no random access to thread blocks; pack the trace first");
        return ls_error_at(err, kernel->info.file, 0, 0);
    }
    ls_status status = kernel->ops->seek(kernel, index, err);
    if (status == LS_OK)
        kernel->cta_next = index;
    return status;
}

void kernel_close(trace_kernel *kernel)
{
    if (kernel)
        kernel->ops->close(kernel);
}

/* ------------------------------------------------------------------------------------------------- memory */

/* More than any real kernel has: the largest known ones stay below 100,000. */
#define MAX_INSTS (1u << 20)

ls_status insts_reserve(trace_kernel *kernel, ls_error *err)
{
    void *at = mmap(NULL, MAX_INSTS * sizeof(ls_inst), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return ls_fail(err, LS_ERR_NOMEM, "no address space for static instructions: %s", strerror(errno));
    kernel->insts = at;
    kernel->inst_count = 0;
    kernel->inst_capacity = MAX_INSTS;
    return LS_OK;
}

void insts_release(trace_kernel *kernel)
{
    if (kernel->insts)
        munmap(kernel->insts, kernel->inst_capacity * sizeof(ls_inst));
    kernel->insts = NULL;
    kernel->inst_count = kernel->inst_capacity = 0;
}

/* Makes room for `need` elements in all, at least doubling. */
static bool grow(void **at, size_t *capacity, size_t need, size_t element_bytes)
{
    if (need <= *capacity)
        return true;
    size_t size = *capacity > SIZE_MAX / 2 ? SIZE_MAX : *capacity * 2;
    if (size < need)
        size = need;
    if (size < 64)
        size = 64;
    if (size > SIZE_MAX / 2 / element_bytes)
        return false;
    void *moved = realloc(*at, size * element_bytes);
    if (!moved)
        return false;
    *at = moved;
    *capacity = size;
    return true;
}

bool cta_reserve(ls_cta *cta, size_t warps, size_t more_dyns, size_t more_addrs)
{
    size_t dyns = (size_t)cta->dyn_count, addrs = (size_t)cta->addr_count;
    if (more_dyns > SIZE_MAX - dyns || more_addrs > SIZE_MAX - addrs)
        return false;
    return grow((void **)&cta->warps, &cta->warp_capacity, warps, sizeof *cta->warps) &&
           grow((void **)&cta->dyns, &cta->dyn_capacity, dyns + more_dyns, sizeof *cta->dyns) &&
           grow((void **)&cta->addrs, &cta->addr_capacity, addrs + more_addrs, sizeof *cta->addrs);
}
