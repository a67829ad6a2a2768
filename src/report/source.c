/* source.c: see source.h. The book of counts; source_text.c prints it. */
#include "report/source.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t source_reasons(source_machine machine, const char *const **names)
{
    /* In the order of stall_reason (model/core/core.h) and cu_why (model/cu/cu.h). */
    static const char *const nvidia[] = { "idle",     "fetch",  "barrier",    "fence", "async",
                                          "mbarrier", "memory", "dependence", "unit" };
    static const char *const amd[] = { "vmcnt",      "lgkmcnt", "expcnt", "vscnt", "fetch", "barrier", "sleep",
                                       "dependence", "valu",    "scalar", "vmem",  "lds",   "branch" };
    *names = machine == SOURCE_AMD ? amd : nvidia;
    return machine == SOURCE_AMD ? sizeof amd / sizeof *amd : sizeof nvidia / sizeof *nvidia;
}

source_book *source_create(source_machine machine, uint32_t request_bytes)
{
    source_book *book = calloc(1, sizeof *book);
    if (book) {
        book->machine = machine;
        book->request_bytes = request_bytes;
    }
    return book;
}

void source_destroy(source_book *book)
{
    if (!book)
        return;
    for (size_t i = 0; i < book->kernels.count; i++)
        vec_fini(&book->kernels.at[i].insts);
    vec_fini(&book->kernels);
    vec_fini(&book->lines);
    map_fini(&book->names);
    arena_fini(&book->arena);
    free(book);
}

/* ------------------------------------------------------------------------------------------------- adding */

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left for counts of instructions");
}

bool source_has(const source_book *book, const char *kernel)
{
    return map_get(&book->names, kernel) != NULL;
}

static source_kernel *find_kernel(source_book *book, const char *name)
{
    void *place = map_get(&book->names, name);
    if (place)
        return &book->kernels.at[(uintptr_t)place - 1];
    char *copy = arena_strdup(&book->arena, name);
    if (!copy || !vec_push(&book->kernels, ((source_kernel){ .name = copy })) ||
        !map_put(&book->names, copy, (void *)(uintptr_t)book->kernels.count))
        return NULL;
    return &book->kernels.at[book->kernels.count - 1];
}

/* The first instruction that is not before the pc. Instructions often come in order: the end is tried first. */
static size_t place_of(const source_kernel *k, uint64_t pc)
{
    size_t low = 0, high = k->insts.count;
    if (high == 0 || k->insts.at[high - 1].pc < pc)
        return high;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (k->insts.at[middle].pc < pc)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_zero(const inst_count *n)
{
    static const inst_count zero;
    return memcmp(n, &zero, sizeof zero) == 0;
}

static bool insert(source_book *book, source_kernel *k, size_t at, const inst_counted *inst)
{
    inst_counted copy = *inst;
    copy.text = arena_strdup(&book->arena, inst->text ? inst->text : "");
    copy.file = inst->file ? arena_strdup(&book->arena, inst->file) : NULL;
    if (!copy.text || (inst->file && !copy.file) || !vec_push(&k->insts, copy))
        return false;
    memmove(&k->insts.at[at + 1], &k->insts.at[at], (k->insts.count - 1 - at) * sizeof copy);
    k->insts.at[at] = copy;
    return true;
}

ls_status source_add(source_book *book, const char *kernel, uint64_t launches, const inst_counted *insts,
                     size_t count, ls_error *err)
{
    source_kernel *k = find_kernel(book, kernel);
    if (!k)
        return no_memory(err);
    k->launches += launches;
    for (size_t i = 0; i < count; i++) {
        if (launches > 0 && is_zero(&insts[i].n))
            continue;
        size_t at = place_of(k, insts[i].pc);
        if (at < k->insts.count && k->insts.at[at].pc == insts[i].pc)
            inst_count_add(&k->insts.at[at].n, &insts[i].n);
        else if (!insert(book, k, at, &insts[i]))
            return no_memory(err);
    }
    return LS_OK;
}

ls_status source_add_line(source_book *book, const char *file, uint32_t line, const char *text, ls_error *err)
{
    const source_line copy = { .file = arena_strdup(&book->arena, file),
                               .text = arena_strdup(&book->arena, text),
                               .line = line };
    return copy.file && copy.text && vec_push(&book->lines, copy) ? LS_OK : no_memory(err);
}

/* ------------------------------------------------------------------------------------------------ numbers */

uint64_t source_stalls(const source_book *book, const inst_count *n)
{
    const char *const *names;
    uint64_t sum = 0;
    for (size_t i = source_reasons(book->machine, &names); i-- > 0;)
        sum += n->stalls[i];
    return sum;
}

uint64_t source_cost(const source_book *book, const inst_count *n)
{
    return n->executed + source_stalls(book, n);
}

double source_coalescing(const source_book *book, const inst_count *n)
{
    if (n->requests == 0 || n->bytes == 0) /* an instruction that empties caches asks for no bytes */
        return (double)NAN;
    double share = (double)n->bytes / ((double)n->requests * book->request_bytes);
    return share < 1 ? share : 1; /* lanes that ask for the same bytes */
}

const char *source_main_stall(const source_book *book, const inst_count *n)
{
    const char *const *names;
    size_t count = source_reasons(book->machine, &names), best = 0;
    for (size_t i = 1; i < count; i++)
        best = n->stalls[i] > n->stalls[best] ? i : best;
    return n->stalls[best] > 0 ? names[best] : NULL;
}

size_t source_costliest(const source_book *book, source_top *out, size_t room)
{
    size_t used = 0;
    uint64_t all = 0;
    for (size_t k = 0; k < book->kernels.count; k++)
        for (size_t i = 0; i < book->kernels.at[k].insts.count; i++) {
            source_top top = { &book->kernels.at[k], &book->kernels.at[k].insts.at[i], 0 };
            uint64_t cost = source_cost(book, &top.inst->n);
            all += cost;
            size_t at = used;
            while (at > 0 && source_cost(book, &out[at - 1].inst->n) < cost)
                at--;
            if (at == room)
                continue;
            used += used < room;
            memmove(&out[at + 1], &out[at], (used - 1 - at) * sizeof *out);
            out[at] = top;
        }
    for (size_t i = 0; i < used; i++)
        out[i].share = all > 0 ? (double)source_cost(book, &out[i].inst->n) / (double)all : 0;
    return used;
}
