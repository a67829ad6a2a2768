/* tag_store_state.c: the state tables of the tag store and of its replacement policy. */
#include "model/cache/tag_store_state.h"

static uint64_t distance_length(const void *self)
{
    const replacement *r = self;
    return r->set_count * r->ways;
}

static uint64_t tree_length(const void *self)
{
    const replacement *r = self;
    return r->set_count * r->words;
}

static uint64_t plugin_bytes(const void *self)
{
    const replacement *r = self;
    return r->set_count * r->set_bytes;
}

/* A plug-in's states are plain data by its interface. */
static const ls_state_row replacement_rows[] = {
    LS_STATE_FIXED_SPAN(replacement, kind, leaves),
    LS_STATE_ARRAY(replacement, distance, distance_length),
    LS_STATE_ARRAY(replacement, tree, tree_length),
    LS_STATE_DATA(replacement, random),
    LS_STATE_FIXED(replacement, ops),
    LS_STATE_ARRAY(replacement, sets, plugin_bytes),
    LS_STATE_FIXED_SPAN(replacement, set_bytes, domain),
};

static uint64_t entry_count(const void *self)
{
    return tag_store_count(self);
}

static uint64_t set_count(const void *self)
{
    return ((const tag_store *)self)->set_count;
}

static uint64_t head_count(const void *self)
{
    return UINT64_C(1) << (64 - ((const tag_store *)self)->head_shift);
}

const ls_state_row tag_store_rows[TAG_STORE_ROWS] = {
    LS_STATE_ARRAY(tag_store, entries, entry_count),    LS_STATE_ARRAY(tag_store, sets, set_count),
    LS_STATE_ARRAY(tag_store, heads, head_count),       LS_STATE_FIXED_SPAN(tag_store, hash, hash_plugin),
    LS_STATE_FIXED_SPAN(tag_store, set_count, kind),    LS_STATE_DATA_SPAN(tag_store, limit, present),
    LS_STATE_PART(tag_store, policy, replacement_rows),
};
