/* page_source.c: counts per instruction as data of a report: the costliest kernels, each with its costliest instructions in
 * the order of addresses. Rows are arrays, because these are smaller than objects. */
#include "report/page/page.h"

#include "base/demangle.h"
#include "report/source.h"

#include <stdlib.h>
#include <string.h>

typedef struct ranked {
    const source_kernel *kernel;
    uint64_t cost;
} ranked;

static int by_cost(const void *left, const void *right)
{
    const ranked *a = left, *b = right;
    if (a->cost != b->cost)
        return a->cost > b->cost ? -1 : 1;
    return a->kernel < b->kernel ? -1 : a->kernel > b->kernel;
}

static int larger_first(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return *a > *b ? -1 : *a < *b;
}

/* Instructions below this cost are left out, so that at most `room` are shown; those of the cost itself come first come
 * first served: *equal of them. */
static uint64_t least_cost(const source_book *book, const source_kernel *k, size_t room, size_t *equal)
{
    uint64_t *costs = calloc(k->insts.count + 1, sizeof *costs), least = 0;
    *equal = SIZE_MAX;
    if (!costs)
        return 0;
    for (size_t i = 0; i < k->insts.count; i++)
        costs[i] = source_cost(book, &k->insts.at[i].n);
    qsort(costs, k->insts.count, sizeof *costs, larger_first);
    if (k->insts.count > room) {
        size_t above = 0;
        least = room > 0 ? costs[room - 1] : UINT64_MAX;
        while (above < room && costs[above] > least)
            above++;
        *equal = room - above;
    }
    free(costs);
    return least;
}

/* The place of a file in the list of names, from 0; -1: the instruction has none. */
static int64_t file_of(string_map *files, json_writer *j, const char *file)
{
    if (!file)
        return -1;
    uintptr_t found = (uintptr_t)map_get(files, file);
    if (!found) {
        found = files->count + 1;
        if (!map_put(files, file, (void *)found))
            j->misuse = "no memory for a report";
    }
    return (int64_t)found - 1;
}

static void put_row(json_writer *j, const source_book *book, string_map *files, const inst_counted *inst)
{
    const char *const *reasons;
    const inst_count *n = &inst->n;
    const uint64_t fixed[] = { n->executed, n->lanes, n->bytes, n->requests, n->hits, n->conflicts };
    size_t count = source_reasons(book->machine, &reasons), last = 0;
    for (size_t i = 0; i < count; i++)
        last = n->stalls[i] > 0 ? i + 1 : last;
    json_array(j);
    json_u64(j, inst->pc);
    json_string(j, inst->text);
    json_i64(j, file_of(files, j, inst->file));
    json_u64(j, inst->line);
    for (size_t i = 0; i < LS_COUNT_OF(fixed); i++)
        json_u64(j, fixed[i]);
    for (size_t i = 0; i < last; i++)
        json_u64(j, n->stalls[i]);
    json_end(j);
}

/* Returns how many rows it took. */
static size_t put_kernel(json_writer *j, const source_book *book, string_map *files, const ranked *r,
                         size_t room)
{
    const source_kernel *k = r->kernel;
    char plain[512];
    size_t equal, rows = 0, most = room < PAGE_SOURCE_ROWS ? room : PAGE_SOURCE_ROWS;
    uint64_t least = least_cost(book, k, most, &equal);
    (void)demangle(k->name, false, plain, sizeof plain);
    json_begin_object(j);
    json_put_text(j, "name", plain);
    json_put_u64(j, "launches", k->launches);
    json_put_u64(j, "instructions", k->insts.count);
    json_put_u64(j, "cost", r->cost);
    json_key(j, "rows");
    json_array(j);
    for (size_t i = 0; i < k->insts.count; i++) {
        uint64_t cost = source_cost(book, &k->insts.at[i].n);
        if (cost < least || (cost == least && equal == 0))
            continue;
        if (cost == least && equal != SIZE_MAX)
            equal--;
        put_row(j, book, files, &k->insts.at[i]);
        rows++;
    }
    json_end(j);
    json_end(j);
    return rows;
}

static void put_texts(json_writer *j, const source_book *book, const string_map *files)
{
    size_t left = PAGE_SOURCE_LINES;
    json_key(j, "files");
    json_array(j);
    for (size_t i = 0; i < files->count; i++)
        json_string(j, files->entries[i].key);
    json_end(j);
    json_key(j, "lines");
    json_array(j);
    for (size_t i = 0; i < book->lines.count && left > 0; i++) {
        const source_line *line = &book->lines.at[i];
        uintptr_t file = (uintptr_t)map_get(files, line->file);
        if (!file)
            continue;
        char text[PAGE_SOURCE_TEXT + 1];
        size_t bytes = strlen(line->text) < PAGE_SOURCE_TEXT ? strlen(line->text) : PAGE_SOURCE_TEXT;
        while (bytes > 0 && bytes < strlen(line->text) && ((unsigned char)line->text[bytes] & 0xc0) == 0x80)
            bytes--; /* whole characters */
        memcpy(text, line->text, bytes);
        text[bytes] = '\0';
        json_array(j);
        json_u64(j, file - 1);
        json_u64(j, line->line);
        json_string(j, text);
        json_end(j);
        left--;
    }
    json_end(j);
}

void page_put_source(json_writer *j, const saved_results *s)
{
    const source_book *book = s->source;
    const char *const *reasons;
    if (!book || book->kernels.count == 0)
        return;
    string_map files = { 0 };
    size_t room = PAGE_SOURCE_ALL, count = source_reasons(book->machine, &reasons);
    ranked *order = calloc(book->kernels.count + 1, sizeof *order);
    if (!order) {
        j->misuse = "no memory for a report";
        return;
    }
    for (size_t k = 0; k < book->kernels.count; k++) {
        order[k].kernel = &book->kernels.at[k];
        for (size_t i = 0; i < order[k].kernel->insts.count; i++)
            order[k].cost += source_cost(book, &order[k].kernel->insts.at[i].n);
    }
    qsort(order, book->kernels.count, sizeof *order, by_cost);
    json_key(j, "source");
    json_begin_object(j);
    json_put_u64(j, "request_bytes", book->request_bytes);
    json_key(j, "reasons");
    json_array(j);
    for (size_t i = 0; i < count; i++)
        json_string(j, reasons[i]);
    json_end(j);
    json_key(j, "kernels");
    json_array(j);
    size_t shown = 0;
    for (; shown < book->kernels.count && room > 0; shown++)
        room -= put_kernel(j, book, &files, &order[shown], room);
    json_end(j);
    json_put_u64(j, "kernels_left_out", book->kernels.count - shown);
    put_texts(j, book, &files);
    json_end(j);
    map_fini(&files);
    free(order);
}
