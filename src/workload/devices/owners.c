/* owners.c: which device an address belongs to: from a file of ranges, from the copies of traces, or by first touch. */
#include "workload/devices/devices.h"

#include "base/file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define RANGES_BYTES (16u << 20)

/* ------------------------------------------------------------------------------------------------- the file */

/* "0x7f0000000000 65536 1" */
static bool read_range(char *line, devices_range *out, bool *is_empty)
{
    char *save = NULL, *words[4] = { 0 };
    size_t count = 0;
    line[strcspn(line, "#")] = '\0';
    for (char *word = strtok_r(line, " \t\r", &save); word != NULL && count < 4;
         word = strtok_r(NULL, " \t\r", &save))
        words[count++] = word;
    *is_empty = count == 0;
    uint64_t bytes = 0, device = 0;
    if (count != 3 || parse_u64(words[0], strlen(words[0]), &out->begin, NULL) != LS_OK ||
        parse_u64(words[1], strlen(words[1]), &bytes, NULL) != LS_OK ||
        parse_u64(words[2], strlen(words[2]), &device, NULL) != LS_OK)
        return false;
    out->end = out->begin + bytes;
    out->device = (uint32_t)device;
    return bytes > 0 && out->end > out->begin && device < DEVICES_MAX;
}

static int by_begin(const void *a, const void *b)
{
    const devices_range *x = a, *y = b;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

ls_status devices_read_ranges(devices_list *list, const char *path, ls_error *err)
{
    char *text;
    size_t bytes;
    uint64_t number = 0;
    ls_status status = file_read(&list->arena, path, RANGES_BYTES, &text, &bytes, err);
    for (char *line = text, *next; status == LS_OK && line != NULL; line = next) {
        char *end = strchr(line, '\n');
        next = end != NULL ? end + 1 : NULL;
        if (end != NULL)
            *end = '\0';
        number++;
        devices_range range;
        bool is_empty;
        if (read_range(line, &range, &is_empty)) {
            if (!vec_push(&list->ranges, range))
                return devices_no_memory(err);
        } else if (!is_empty) {
            ls_fail(err, LS_ERR_INPUT, "a range is an address, a number of bytes and a device from 0 to %u",
                    DEVICES_MAX - 1);
            return ls_error_at(err, path, number, 0);
        }
    }
    if (status != LS_OK)
        return status;
    if (list->ranges.count > 0)
        qsort(list->ranges.at, list->ranges.count, sizeof *list->ranges.at, by_begin);
    for (size_t i = 1; i < list->ranges.count; i++)
        if (list->ranges.at[i].begin < list->ranges.at[i - 1].end) {
            ls_fail(err, LS_ERR_INPUT, "two ranges have address 0x%" PRIx64, list->ranges.at[i].begin);
            return ls_error_at(err, path, 0, 0);
        }
    return LS_OK;
}

/* -------------------------------------------------------------------------------------------- declared ranges */

/* The copies of one device's traces, sorted and merged. */
static bool declared(const devices_device *d, uint32_t device, devices_range **out, size_t *count)
{
    LS_VEC(devices_range) found = { 0 };
    bool good = true;
    for (uint64_t i = 0; i < d->trace->command_count && good; i++) {
        const trace_cmd *c = &d->trace->commands[i];
        if (c->kind == LS_COMMAND_COPY_IN && c->bytes > 0 && c->address + c->bytes > c->address)
            good = vec_push(&found, ((devices_range){ c->address, c->address + c->bytes, device }));
    }
    if (found.count > 0)
        qsort(found.at, found.count, sizeof *found.at, by_begin);
    size_t kept = 0;
    for (size_t i = 0; i < found.count; i++) {
        if (kept > 0 && found.at[i].begin <= found.at[kept - 1].end) {
            if (found.at[i].end > found.at[kept - 1].end)
                found.at[kept - 1].end = found.at[i].end;
        } else {
            found.at[kept++] = found.at[i];
        }
    }
    *out = found.at;
    *count = kept;
    return good;
}

typedef struct owner_list {
    LS_VEC(ls_owner_range) at;
} owner_list;

/* Neighbours of one owner become one. */
static bool add_range(owner_list *list, uint64_t begin, uint64_t end, uint32_t owner)
{
    size_t count = list->at.count;
    if (count > 0 && list->at.at[count - 1].end == begin && list->at.at[count - 1].owner == owner) {
        list->at.at[count - 1].end = end;
        return true;
    }
    return vec_push(&list->at, ((ls_owner_range){ begin, end, owner }));
}

/* Goes through all ranges in the order of addresses: from one border to the next the owner is the device itself if it
 * has declared the address, else the lowest one that has. */
static bool sweep(devices_range *const *ranges, const size_t *counts, uint32_t devices, uint32_t own,
                  owner_list *out)
{
    size_t next[DEVICES_MAX] = { 0 };
    uint64_t at = 0;
    for (;;) {
        uint64_t border = UINT64_MAX;
        uint32_t owner = UINT32_MAX;
        for (uint32_t d = 0; d < devices; d++) {
            while (next[d] < counts[d] && ranges[d][next[d]].end <= at)
                next[d]++;
            if (next[d] == counts[d])
                continue;
            const devices_range *range = &ranges[d][next[d]];
            if (range->begin > at) {
                border = range->begin < border ? range->begin : border;
                continue;
            }
            border = range->end < border ? range->end : border;
            if (d == own || owner == UINT32_MAX)
                owner = d;
        }
        if (border == UINT64_MAX)
            return true;
        if (owner != UINT32_MAX && owner != own && !add_range(out, at, border, owner))
            return false;
        at = border;
    }
}

static bool from_copies(const devices_list *list, uint32_t device, owner_list *out)
{
    devices_range *ranges[DEVICES_MAX] = { 0 };
    size_t counts[DEVICES_MAX] = { 0 };
    bool good = true;
    for (uint32_t d = 0; d < list->count && good; d++)
        good = declared(&list->at[d], d, &ranges[d], &counts[d]);
    if (good)
        good = sweep(ranges, counts, list->count, device, out);
    for (uint32_t d = 0; d < list->count; d++)
        free(ranges[d]);
    return good;
}

/* ------------------------------------------------------------------------------------------------ first touch */

typedef struct touch_table {
    uint64_t *pages; /* page + 1; 0: free. A power of two of them, at most half in use */
    uint8_t *device;
    size_t size, count;
} touch_table;

static bool touch(touch_table *t, uint64_t page, uint32_t device)
{
    if (2 * t->count >= t->size) {
        touch_table larger = { .size = t->size > 0 ? 2 * t->size : 4096 };
        larger.pages = calloc(larger.size, sizeof *larger.pages);
        larger.device = calloc(larger.size, 1);
        bool good = larger.pages != NULL && larger.device != NULL;
        for (size_t i = 0; i < t->size && good; i++)
            if (t->pages[i] != 0)
                (void)touch(&larger, t->pages[i] - 1, t->device[i]);
        free(t->pages);
        free(t->device);
        *t = larger;
        if (!good)
            return false;
    }
    size_t at = (size_t)(page * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (t->size - 1);
    while (t->pages[at] != 0 && t->pages[at] != page + 1)
        at = (at + 1) & (t->size - 1);
    if (t->pages[at] == 0) {
        t->pages[at] = page + 1;
        t->device[at] = (uint8_t)device;
        t->count++;
    }
    return true;
}

/* Bulk copies have global addresses; other records have none. */
static bool touch_record(touch_table *t, const devices_list *list, uint32_t device, const uint64_t *record)
{
    uint32_t count = 0;
    const uint64_t *addresses =
        ls_record_kind_of(record[0]) == LS_RECORD_BULK ? ls_cta_bulk_addresses(record, &count) : NULL;
    for (uint32_t i = 0; i < count; i++)
        if (!touch(t, addresses[i] / list->page_bytes, device))
            return false;
    return true;
}

static ls_status touch_block(touch_table *t, const devices_list *list, uint32_t device,
                             const trace_kernel *kernel, const ls_cta *cta, ls_error *err)
{
    const ls_inst *insts = kernel_inst_table(kernel);
    const ls_kernel_info *info = kernel_get_info(kernel);
    for (uint64_t i = 0; i < cta->dyn_count; i++) {
        const ls_dyn *dyn = &cta->dyns[i];
        uint64_t addresses[32];
        if (dyn->addr == LS_ADDR_NONE || insts[dyn->inst].space == LS_SPACE_SHARED)
            continue;
        const uint64_t *record = ls_cta_record(cta, dyn);
        if (record != NULL) {
            if (!touch_record(t, list, device, record))
                return devices_no_memory(err);
            continue;
        }
        ls_cta_addresses(cta, dyn, addresses);
        for (uint32_t lane = 0; lane < 32; lane++)
            if ((dyn->mask >> lane & 1) != 0 && ls_kernel_space(info, addresses[lane]) == LS_SPACE_GLOBAL &&
                !touch(t, addresses[lane] / list->page_bytes, device))
                return devices_no_memory(err);
    }
    return LS_OK;
}

static ls_status touch_kernel(touch_table *t, const devices_list *list, uint32_t device, uint64_t command,
                              ls_error *err)
{
    trace_kernel *kernel;
    ls_cta cta = { 0 };
    ls_status status = trace_open_kernel(list->at[device].trace, command, &kernel, err);
    if (status != LS_OK)
        return status;
    for (bool end = false; status == LS_OK && !end;) {
        status = kernel_next_cta(kernel, &cta, &end, err);
        if (status == LS_OK && !end)
            status = touch_block(t, list, device, kernel, &cta, err);
    }
    ls_cta_fini(&cta);
    kernel_close(kernel);
    return status;
}

/* In the order of the lists: the first kernels of all devices, then their second ones, and so on. */
static ls_status touch_all(touch_table *t, const devices_list *list, ls_error *err)
{
    uint64_t next[DEVICES_MAX] = { 0 };
    ls_status status = LS_OK;
    for (bool more = true; more && status == LS_OK;) {
        more = false;
        for (uint32_t d = 0; d < list->count && status == LS_OK; d++) {
            const sass_trace *trace = list->at[d].trace;
            while (next[d] < trace->command_count && trace->commands[next[d]].kind != LS_COMMAND_KERNEL)
                next[d]++;
            if (next[d] < trace->command_count) {
                status = touch_kernel(t, list, d, next[d]++, err);
                more = true;
            }
        }
    }
    return status;
}

static ls_status find_touches(devices_list *list, ls_error *err)
{
    touch_table t = { 0 };
    ls_status status = touch_all(&t, list, err);
    for (size_t i = 0; i < t.size && status == LS_OK; i++)
        if (t.pages[i] != 0 &&
            !vec_push(&list->ranges, ((devices_range){ (t.pages[i] - 1) * list->page_bytes,
                                                       t.pages[i] * list->page_bytes, t.device[i] })))
            status = devices_no_memory(err);
    if (list->ranges.count > 0)
        qsort(list->ranges.at, list->ranges.count, sizeof *list->ranges.at, by_begin);
    free(t.pages);
    free(t.device);
    return status;
}

/* ------------------------------------------------------------------------------------------------------- all */

ls_status devices_owner_ranges(devices_list *list, uint32_t device, const ls_owner_range **out,
                               uint32_t *count, ls_error *err)
{
    owner_list found = { 0 };
    bool good = true;
    *out = NULL;
    *count = 0;
    if (list->owners == DEVICES_FIRST_TOUCH && list->ranges.count == 0) {
        ls_status status = find_touches(list, err);
        if (status != LS_OK)
            return status;
    }
    if (list->owners == DEVICES_DECLARED)
        good = from_copies(list, device, &found);
    for (size_t i = 0; i < list->ranges.count && good && list->owners != DEVICES_DECLARED; i++) {
        const devices_range *range = &list->ranges.at[i];
        if (range->device != device)
            good = add_range(&found, range->begin, range->end, range->device);
    }
    ls_owner_range *copy = good ? arena_array(&list->arena, found.at.count + 1, sizeof *copy) : NULL;
    if (copy != NULL && found.at.count > 0)
        memcpy(copy, found.at.at, found.at.count * sizeof *copy);
    *out = copy;
    *count = (uint32_t)found.at.count;
    vec_fini(&found.at);
    return copy != NULL ? LS_OK : devices_no_memory(err);
}
