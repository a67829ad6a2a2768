/* shipped.c: looks a file up in the tables of shipped.h and copies its entries. Reads only these tables. */
#include "platform/shipped.h"

static const shipped_file *find(hash128 hash)
{
    for (size_t i = 0; i < shipped_platforms.file_count; i++)
        if (hash_same(shipped_platforms.files[i].hash, hash))
            return &shipped_platforms.files[i];
    return NULL;
}

bool shipped_read(mem_arena *arena, const char *text, size_t bytes, yaml_document *out,
                  config_problems *problems)
{
    const shipped_tables *t = &shipped_platforms;
    const shipped_file *file = find(hash128_of(text, bytes));
    *out = (yaml_document){ 0 };
    if (!file)
        return false;
    size_t item_count = 0, next = 0;
    const shipped_entry *from = &t->entries[file->first_entry];
    for (size_t i = 0; i < file->entry_count; i++)
        item_count += from[i].item_count;
    yaml_entry *entries = arena_array(arena, file->entry_count + (size_t)1, sizeof *entries);
    yaml_item *items = arena_array(arena, item_count + 1, sizeof *items);
    if (!entries || !items) {
        problems_no_memory(problems);
        return true;
    }
    for (size_t i = 0; i < file->entry_count; i++, from++) {
        entries[i] = (yaml_entry){ .path = t->texts + from->path,
                                   .element = from->element,
                                   .items = &items[next],
                                   .item_count = from->item_count,
                                   .list = from->list != 0,
                                   .line = from->line,
                                   .column = from->column,
                                   .comment = t->texts + from->comment };
        for (size_t k = 0; k < from->item_count; k++) {
            const shipped_item *item = &t->items[from->first_item + k];
            items[next++] = (yaml_item){ .text = t->texts + item->text,
                                         .quoted = item->quoted != 0,
                                         .line = item->line,
                                         .column = item->column };
        }
    }
    *out = (yaml_document){ .entries = entries, .count = file->entry_count, .complete = true };
    return true;
}
