/* bundle.c: clang's offload bundles: several code objects, one per target, after one header. The header has
 * "__CLANG_OFFLOAD_BUNDLE__", a count, and per entry offset, size, length of the id, id. */
#include "workload/hsa/hsa.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MAGIC "__CLANG_OFFLOAD_BUNDLE__"
#define MAGIC_BYTES 24
#define ENTRY_BYTES 24 /* without the id */
#define ID_LIMIT 256

bool hsa_is_bundle(const void *data, size_t bytes)
{
    return bytes >= MAGIC_BYTES && memcmp(data, MAGIC, MAGIC_BYTES) == 0;
}

static uint64_t long_word(const uint8_t *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

/* "hip-amdgcn-amd-amdhsa--gfx906:sramecc+:xnack-" is for gfx906; "host-x86_64-unknown-linux--" for no GPU. */
static const char *target_of_id(mem_arena *arena, const char *id)
{
    const char *gfx = strstr(id, "gfx");
    return gfx ? arena_strndup(arena, gfx, strcspn(gfx, ":")) : "";
}

ls_status hsa_bundle_list(mem_arena *arena, const void *data, size_t bytes, const hsa_bundle_entry **entries,
                          size_t *count, ls_error *err)
{
    const uint8_t *at = data, *end = at + bytes;
    hsa_bundle_entry *list;
    uint64_t claimed;
    *entries = NULL;
    *count = 0;
    if (!hsa_is_bundle(data, bytes) || bytes < MAGIC_BYTES + 8)
        return ls_fail(err, LS_ERR_INPUT, "this is no offload bundle");
    claimed = long_word(at + MAGIC_BYTES);
    at += MAGIC_BYTES + 8;
    if (claimed > (uint64_t)(end - at) / ENTRY_BYTES)
        return ls_fail(err, LS_ERR_INPUT, "the offload bundle claims %" PRIu64 " entries, but ends before",
                       claimed);
    list = arena_array(arena, (size_t)claimed + 1, sizeof *list);
    if (!list)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    for (uint64_t i = 0; i < claimed; i++) {
        uint64_t offset, size, id_bytes;
        if (end - at < ENTRY_BYTES)
            return ls_fail(err, LS_ERR_INPUT, "the offload bundle ends inside of entry %" PRIu64, i + 1);
        offset = long_word(at);
        size = long_word(at + 8);
        id_bytes = long_word(at + 16);
        at += ENTRY_BYTES;
        if (id_bytes > ID_LIMIT || id_bytes > (uint64_t)(end - at) || offset > bytes || size > bytes - offset)
            return ls_fail(err, LS_ERR_INPUT,
                           "entry %" PRIu64 " of the offload bundle lies outside of the file", i + 1);
        list[i].offset = offset;
        list[i].bytes = size;
        list[i].id = arena_strndup(arena, (const char *)at, (size_t)id_bytes);
        list[i].target = list[i].id ? target_of_id(arena, list[i].id) : NULL;
        if (!list[i].target)
            return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
        at += id_bytes;
    }
    *entries = list;
    *count = (size_t)claimed;
    return LS_OK;
}

/* The available targets: "gfx803, gfx1010". */
static void list_targets(const hsa_bundle_entry *entries, size_t count, char *out, size_t out_bytes)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        char quoted[48];
        int n;
        if (!*entries[i].target)
            continue;
        quote_text(entries[i].target, strlen(entries[i].target), quoted, sizeof quoted);
        n = snprintf(out + used, out_bytes - used, "%s%s", used ? ", " : "", quoted);
        if (n < 0 || (size_t)n >= out_bytes - used)
            return;
        used += (size_t)n;
    }
}

ls_status hsa_bundle_pick(const void *data, size_t bytes, const char *target, const void **object,
                          size_t *object_bytes, ls_error *err)
{
    mem_arena arena = { 0 };
    const hsa_bundle_entry *entries, *found = NULL;
    size_t count, matches = 0;
    ls_status status;
    char there[256];
    *object = data;
    *object_bytes = bytes;
    if (!hsa_is_bundle(data, bytes))
        return LS_OK;
    status = hsa_bundle_list(&arena, data, bytes, &entries, &count, err);
    for (size_t i = 0; status == LS_OK && i < count; i++)
        if (*entries[i].target && (!target || hsa_target_runs(entries[i].target, target))) {
            /* Code for the target itself goes before code for its family. */
            if (!found ||
                (target && strcmp(entries[i].target, target) == 0 && strcmp(found->target, target) != 0))
                found = &entries[i];
            matches++;
        }
    if (status == LS_OK) {
        list_targets(entries, count, there, sizeof there);
        if (!found && target)
            status = ls_fail(err, LS_ERR_INPUT, "the offload bundle has no code object for %s, only for: %s",
                             target, *there ? there : "nothing");
        else if (!found)
            status = ls_fail(err, LS_ERR_INPUT, "the offload bundle has no code object for a GPU");
        else if (matches > 1 && !target)
            status = ls_fail(err, LS_ERR_USAGE,
                             "the offload bundle has several code objects, choose one of: %s", there);
    }
    if (status == LS_OK) {
        *object = (const uint8_t *)data + found->offset;
        *object_bytes = (size_t)found->bytes;
    }
    arena_fini(&arena);
    return status;
}
