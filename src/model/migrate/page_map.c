/* page_map.c: ranges of managed memory, their pages, and the functions that the driver calls between runs. A range's units
 * stand in order in the arrays of all units. Ranges are whole blocks of 2 MiB there too, so a page of any size begins at a
 * multiple of its size. */
#include "model/migrate/directory.h"

#include <string.h>

#define HEX "0x%llx"
#define U(x) ((unsigned long long)(x))

#define TRY(call)                                                                                             \
    do {                                                                                                      \
        ls_status status_ = (call);                                                                           \
        if (status_ != LS_OK)                                                                                 \
            return status_;                                                                                   \
    } while (0)

/* -------------------------------------------------------------------------------------------------- finding */

/* How many ranges begin at or before the address. */
static uint32_t ranges_up_to(const directory *d, uint64_t address)
{
    uint32_t low = 0, high = d->range_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (d->ranges[middle].range.address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const dir_range *dir_find_range(const directory *d, uint64_t address)
{
    uint32_t after = ranges_up_to(d, address);
    const dir_range *r = after == 0 ? NULL : &d->ranges[after - 1];
    return r != NULL && address - r->range.address < r->range.bytes ? r : NULL;
}

static uint32_t first_of_page(const directory *d, uint32_t unit)
{
    return unit & ~((1u << (d->sizes[unit] - d->unit_log2)) - 1);
}

uint32_t dir_find(const directory *d, uint64_t address)
{
    const dir_range *r = dir_find_range(d, address);
    if (r == NULL)
        return DIR_NOWHERE;
    return first_of_page(d, r->first_unit + (uint32_t)((address - r->range.address) >> d->unit_log2));
}

uint64_t dir_frame(const directory *d, const dir_page *page, uint32_t place)
{
    const dir_range *r = dir_find_range(d, page->address);
    return r->range.frames[place] + (page->address - r->range.address);
}

/* -------------------------------------------------------------------------------------- splitting and merging */

static void set_sizes(directory *d, uint32_t unit, uint32_t size_log2)
{
    memset(&d->sizes[unit], (int)size_log2, (size_t)1 << (size_log2 - d->unit_log2));
}

uint32_t dir_split(directory *d, uint32_t unit, uint64_t address)
{
    uint32_t half_log2 = d->sizes[unit] - 1u, other = unit + (1u << (half_log2 - d->unit_log2));
    dir_page *low = &d->pages[unit], *high = &d->pages[other];
    index_list asks = low->asks;
    *high = *low;
    high->address = low->address + (UINT64_C(1) << half_log2);
    low->asks = high->asks = INDEX_LIST_EMPTY;
    while (!index_list_empty(&asks)) {
        uint32_t i = index_list_pop(&asks, dir_ask_links(d));
        bool is_high = d->asks[i].address >= high->address;
        d->asks[i].unit = is_high ? other : unit;
        index_list_append(is_high ? &high->asks : &low->asks, dir_ask_links(d), i);
    }
    set_sizes(d, unit, half_log2);
    set_sizes(d, other, half_log2);
    return address >= high->address ? other : unit;
}

static bool is_idle(const dir_page *p)
{
    return p->transaction == INDEX_NONE && p->grants == 0 && index_list_empty(&p->asks);
}

static bool may_merge(const directory *d, uint32_t unit, uint32_t other)
{
    const dir_page *a = &d->pages[unit], *b = &d->pages[other];
    return d->sizes[unit] == d->sizes[other] && is_idle(a) && is_idle(b) && dir_is_exclusive(a) &&
           dir_is_exclusive(b) && a->holders == b->holders &&
           ((a->flags ^ b->flags) & (DIR_HOST_HOLDS | DIR_PINNED | DIR_UNUSED)) == 0;
}

void dir_merge(directory *d, uint32_t unit)
{
    while (d->sizes[unit] < d->largest_log2) {
        uint32_t units = 1u << (d->sizes[unit] - d->unit_log2), low = unit & ~(2 * units - 1),
                 high = low + units;
        if (!may_merge(d, low, high))
            return;
        dir_page *a = &d->pages[low];
        const dir_page *b = &d->pages[high];
        a->mappers |= b->mappers;
        a->remote |= b->remote;
        a->held |= b->held;
        a->used |= b->used;
        a->flags |= b->flags & DIR_HOST_HELD;
        a->moves = a->moves < b->moves ? b->moves : a->moves;
        set_sizes(d, low, d->sizes[low] + 1u);
        d->n.merges++;
        unit = low;
    }
}

/* --------------------------------------------------------------------------------------------------- ranges */

/* Room for `count` elements, with the old ones. Between runs only. */
static void *grow(directory *d, const void *old, size_t old_count, size_t count, size_t bytes)
{
    void *larger = ls_domain_alloc(ls_region_domain(d->region), count * bytes);
    if (larger != NULL && old_count != 0)
        memcpy(larger, old, old_count * bytes);
    return larger;
}

static ls_status no_memory(const directory *d, ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "no memory for the managed pages of '%s'", d->name);
}

static ls_status make_unit_room(directory *d, uint64_t needed, ls_error *err)
{
    uint64_t room = d->unit_room != 0 ? d->unit_room : (UINT64_C(16) << DIR_BLOCK_LOG2) >> d->unit_log2;
    while (room < needed)
        room *= 2;
    if (room > UINT32_MAX / 2)
        return ls_fail(err, LS_ERR_INPUT, "%s has too many pages of %llu KiB", d->name,
                       U((UINT64_C(1) << d->unit_log2) / 1024));
    if (room == d->unit_room)
        return LS_OK;
    dir_page *pages = grow(d, d->pages, d->unit_room, room, sizeof *pages);
    uint8_t *sizes = grow(d, d->sizes, d->unit_room, room, sizeof *sizes);
    dir_seen *seen = d->spec->check ? grow(d, d->seen, d->seen_room, room, sizeof *seen) : NULL;
    if (pages == NULL || sizes == NULL || (d->spec->check && seen == NULL))
        return no_memory(d, err);
    d->pages = pages;
    d->sizes = sizes;
    d->seen = seen;
    d->unit_room = (uint32_t)room;
    d->seen_room = d->spec->check ? (uint32_t)room : 0;
    return LS_OK;
}

/* The first gap between the units of other ranges; it may reach past the end of the arrays. */
static uint64_t find_units(const directory *d, uint64_t units)
{
    uint32_t block = 1u << (DIR_BLOCK_LOG2 - d->unit_log2);
    uint64_t gap = 0;
    for (uint32_t unit = 0; unit < d->unit_room; unit += block)
        if (d->sizes[unit] != 0)
            gap = unit + block;
        else if (unit + block - gap == units)
            return gap;
    return gap;
}

static bool has_room(const directory *d, uint32_t place, uint64_t bytes)
{
    return place == MEM_PLACE_HOST || d->resident[place] + bytes <= d->capacity;
}

static void put(dir_page *p, uint32_t place)
{
    p->holders = dir_bit(place);
    p->held |= p->holders;
    p->mappers = p->remote = p->used = 0;
    p->flags &= (uint8_t) ~(unsigned)DIR_HOST_HOLDS;
    p->flags |= (uint8_t)(DIR_EXCLUSIVE | (place == MEM_PLACE_HOST ? DIR_HOST_HOLDS | DIR_HOST_HELD : 0));
}

static ls_status check_place(const directory *d, uint32_t place, ls_error *err)
{
    if (place != MEM_PLACE_HOST && place >= d->gpus)
        return ls_fail(err, LS_ERR_INPUT, "pages cannot lie on GPU %u: the system has %u GPU%s", place,
                       d->gpus, d->gpus == 1 ? "" : "s");
    return LS_OK;
}

static ls_status check_range(const directory *d, const migrate_range *range, ls_error *err)
{
    uint64_t block = UINT64_C(1) << DIR_BLOCK_LOG2;
    if (range->bytes == 0 || (range->address | range->bytes) % block != 0)
        return ls_fail(err, LS_ERR_INPUT, "managed memory at " HEX " of " HEX " bytes is not of whole 2 MiB",
                       U(range->address), U(range->bytes));
    uint32_t after = ranges_up_to(d, range->address + range->bytes - 1);
    const dir_range *before = after == 0 ? NULL : &d->ranges[after - 1];
    if (before != NULL && before->range.address + before->range.bytes > range->address)
        return ls_fail(err, LS_ERR_INPUT, "managed memory at " HEX " overlaps that at " HEX, U(range->address),
                       U(before->range.address));
    return LS_OK;
}

static ls_status insert_range(directory *d, const migrate_range *range, uint32_t first, uint32_t units,
                              ls_error *err)
{
    if (d->range_count == d->range_room) {
        uint32_t room = d->range_room != 0 ? 2 * d->range_room : 64;
        dir_range *ranges = grow(d, d->ranges, d->range_count, room, sizeof *ranges);
        if (ranges == NULL)
            return no_memory(d, err);
        d->ranges = ranges;
        d->range_room = room;
    }
    uint32_t at = ranges_up_to(d, range->address);
    memmove(&d->ranges[at + 1], &d->ranges[at], (d->range_count - at) * sizeof *d->ranges);
    d->ranges[at] = (dir_range){ .range = *range, .first_unit = first, .units = units };
    d->range_count++;
    return LS_OK;
}

/* Pages end where the used memory ends. */
static void mark_unused(directory *d, const migrate_range *range)
{
    uint64_t end = range->address + range->bytes, unit_bytes = UINT64_C(1) << d->unit_log2,
             from = range->address + ((range->used + unit_bytes - 1) & ~(unit_bytes - 1));
    if (range->used == 0 || from >= end)
        return;
    for (uint32_t u; d->pages[u = dir_find(d, from)].address != from && d->sizes[u] > d->unit_log2;)
        dir_split(d, u, from);
    for (uint32_t u; from < end; from += dir_page_bytes(d, u)) {
        u = dir_find(d, from);
        d->pages[u].flags |= DIR_UNUSED;
    }
}

ls_status migrate_add_range(ls_block *block, const migrate_range *range, uint32_t place, ls_error *err)
{
    directory *d = ls_block_state(block);
    uint64_t units = range->bytes >> d->unit_log2, first = find_units(d, units);
    place = d->spec->start != 0 ? MEM_PLACE_HOST : place;
    TRY(check_place(d, place, err));
    TRY(check_range(d, range, err));
    TRY(make_unit_room(d, first + units, err));
    TRY(insert_range(d, range, (uint32_t)first, (uint32_t)units, err));
    uint64_t bytes = UINT64_C(1) << d->largest_log2;
    for (uint64_t at = 0; at < range->bytes; at += bytes) {
        uint32_t unit = (uint32_t)(first + (at >> d->unit_log2)),
                 to = has_room(d, place, bytes) ? place : MEM_PLACE_HOST;
        d->pages[unit] =
            (dir_page){ .address = range->address + at, .asks = INDEX_LIST_EMPTY, .transaction = INDEX_NONE };
        put(&d->pages[unit], to);
        if (to != MEM_PLACE_HOST)
            d->resident[to] += bytes;
        set_sizes(d, unit, d->largest_log2);
        dir_check_reset(d, unit, 1u << (d->largest_log2 - d->unit_log2), to);
    }
    mark_unused(d, range);
    return LS_OK;
}

static void give_up_room(directory *d, const dir_page *p, uint64_t bytes)
{
    for (uint64_t mask = p->holders; mask != 0; mask &= mask - 1)
        d->resident[__builtin_ctzll(mask)] -= bytes;
}

static ls_status check_idle(const directory *d, const dir_page *p, ls_error *err)
{
    if (is_idle(p))
        return LS_OK;
    return ls_fail(err, LS_ERR_USAGE, "the page at " HEX " is on its way in '%s'", U(p->address), d->name);
}

ls_status migrate_remove_range(ls_block *block, uint64_t address, ls_error *err)
{
    directory *d = ls_block_state(block);
    uint32_t after = ranges_up_to(d, address);
    if (after == 0 || d->ranges[after - 1].range.address != address)
        return ls_fail(err, LS_ERR_INPUT, "no managed memory begins at " HEX, U(address));
    const dir_range *r = &d->ranges[after - 1];
    uint32_t first = r->first_unit, end = first + r->units;
    for (uint32_t i = d->order_first; i < d->order_count; i++)
        if (d->orders[i].address < address + r->range.bytes && address < d->orders[i].end)
            return ls_fail(err, LS_ERR_USAGE, "pages of the managed memory at " HEX " are on their way",
                           U(address));
    for (uint32_t u = first; u < end; u += 1u << (d->sizes[u] - d->unit_log2))
        TRY(check_idle(d, &d->pages[u], err));
    for (uint32_t u = first; u < end; u += 1u << (d->sizes[u] - d->unit_log2))
        give_up_room(d, &d->pages[u], dir_page_bytes(d, u));
    memset(&d->sizes[first], 0, end - first);
    d->range_count--;
    memmove(&d->ranges[after - 1], &d->ranges[after], (d->range_count - (after - 1)) * sizeof *d->ranges);
    return LS_OK;
}

/* -------------------------------------------------------------------------------------------------- placing */

/* Pages begin and end at these addresses, or at the end of the page in which the used memory ends. */
static ls_status cut(directory *d, uint64_t address, uint64_t bytes, ls_error *err)
{
    const dir_range *r = dir_find_range(d, address);
    uint64_t smallest = UINT64_C(1) << d->unit_log2, end = address + bytes;
    if (r == NULL || bytes == 0 || bytes > r->range.bytes - (address - r->range.address))
        return ls_fail(err, LS_ERR_INPUT, HEX " bytes at " HEX " are not inside one managed range", U(bytes),
                       U(address));
    if (r->range.used != 0 && end - r->range.address >= r->range.used) /* the last page is not used whole */
        end = (end + smallest - 1) & ~(smallest - 1);
    if ((address | end) % smallest != 0)
        return ls_fail(err, LS_ERR_INPUT, HEX " bytes at " HEX " are not whole pages: migrate.%s is %llu",
                       U(bytes), U(address), d->spec->splits ? "smallest_kib" : "page_kib",
                       U(smallest / 1024));
    for (uint32_t u = dir_find(d, address); u != DIR_NOWHERE && d->pages[u].address < end;
         u = dir_find(d, d->pages[u].address + dir_page_bytes(d, u)))
        TRY(check_idle(d, &d->pages[u], err));
    for (uint32_t u; d->pages[u = dir_find(d, address)].address != address;)
        dir_split(d, u, address);
    for (uint32_t u; u = dir_find(d, end - 1), d->pages[u].address + dir_page_bytes(d, u) != end;)
        dir_split(d, u, address);
    return LS_OK;
}

ls_status migrate_set_place(ls_block *block, uint64_t address, uint64_t bytes, uint32_t place, ls_error *err)
{
    directory *d = ls_block_state(block);
    uint64_t end = address + bytes;
    TRY(check_place(d, place, err));
    TRY(cut(d, address, bytes, err));
    for (uint64_t at = address; at < end; at += dir_page_bytes(d, dir_find(d, at)))
        if (d->pages[dir_find(d, at)].mappers != 0)
            return ls_fail(err, LS_ERR_USAGE, "the page at " HEX " is in use: it can only be moved", U(at));
    for (uint64_t at = address, size; at < end; at += size) {
        uint32_t unit = dir_find(d, at);
        size = dir_page_bytes(d, unit);
        give_up_room(d, &d->pages[unit], size);
        uint32_t to = has_room(d, place, size) ? place : MEM_PLACE_HOST;
        d->resident[to % MEM_PLACE_GPUS] += to == MEM_PLACE_HOST ? 0 : size;
        d->pages[unit].held = 0;
        put(&d->pages[unit], to);
        dir_check_reset(d, unit, (uint32_t)(size >> d->unit_log2), to);
    }
    for (uint64_t at = address; at < end;) {
        dir_merge(d, dir_find(d, at));
        uint32_t unit = dir_find(d, at);
        at = d->pages[unit].address + dir_page_bytes(d, unit);
    }
    return LS_OK;
}

ls_status migrate_move(ls_block *block, uint64_t address, uint64_t bytes, uint32_t place, ls_error *err)
{
    directory *d = ls_block_state(block);
    TRY(check_place(d, place, err));
    TRY(cut(d, address, bytes, err));
    if (d->order_first == d->order_count)
        d->order_first = d->order_count = 0;
    if (d->order_count == d->order_room) {
        uint32_t room = d->order_room != 0 ? 2 * d->order_room : 64;
        dir_order *orders = grow(d, d->orders, d->order_count, room, sizeof *orders);
        if (orders == NULL)
            return no_memory(d, err);
        d->orders = orders;
        d->order_room = room;
    }
    d->orders[d->order_count++] = (dir_order){ .address = address, .end = address + bytes, .place = place };
    if (!ls_event_scheduled(&d->order_event))
        ls_schedule(d->region, &d->order_event, 0);
    return LS_OK;
}

uint64_t migrate_page_bytes(const ls_block *block)
{
    const directory *d = ls_block_state((ls_block *)(uintptr_t)block);
    return UINT64_C(1) << d->largest_log2;
}

bool migrate_is_idle(const ls_block *block)
{
    const directory *d = ls_block_state((ls_block *)(uintptr_t)block);
    return d->active == 0 && d->asks_open == 0 && d->order_first == d->order_count;
}

bool migrate_find(const ls_block *block, uint64_t address, uint64_t bytes, uint32_t *place, uint64_t *frame,
                  uint64_t *run_bytes)
{
    const directory *d = ls_block_state((ls_block *)(uintptr_t)block);
    const dir_range *r = dir_find_range(d, address);
    if (r == NULL)
        return false;
    uint64_t offset = address - r->range.address, room = r->range.bytes - offset;
    uint32_t unit = dir_find(d, address);
    *place = dir_first_holder(&d->pages[unit]);
    *frame = r->range.frames[*place] + offset;
    bytes = bytes < room ? bytes : room;
    uint64_t run = d->pages[unit].address + dir_page_bytes(d, unit) - address;
    while (run < bytes && dir_first_holder(&d->pages[unit = dir_find(d, address + run)]) == *place)
        run += dir_page_bytes(d, unit);
    *run_bytes = run < bytes ? run : bytes;
    return true;
}
