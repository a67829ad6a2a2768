/* replacement.c: random, PLRU and SRRIP replacement, and the way to a plug-in's. See replacement.h. */
#include "model/policy/replacement.h"

#include <stdio.h>
#include <string.h>

const char *const replacement_names[] = { "lru", "fifo", "random", "plru", "srrip", NULL };

#define FAR 3u      /* srrip: goes first */
#define INSERTED 2u /* srrip: a new line; a used line becomes 0 */

/* ------------------------------------------------------------------------------------------------- set-up */

static ls_status find_plugin(replacement *r, uint32_t number, ls_error *err)
{
    policy_found found;
    char of[40];
    ls_status status = policy_find(POLICY_REPLACEMENT, number, &found, err);
    if (status != LS_OK)
        return status;
    r->ops = found.ops;
    r->set_bytes = r->ops->set_bytes(r->ways);
    snprintf(of, sizeof of, "a set of %u ways", r->ways);
    status = policy_alloc(POLICY_REPLACEMENT, &found, r->domain, &r->set_bytes, LS_REPLACEMENT_BYTES_MAX,
                          r->set_count, of, &r->sets, err);
    if (status != LS_OK)
        return status;
    return policy_failure(POLICY_REPLACEMENT, &found, r->domain, "chose a line that may not go", &r->failure,
                          err);
}

ls_status replacement_init(replacement *r, uint32_t kind, uint32_t sets, uint32_t ways, ls_domain *domain,
                           ls_error *err)
{
    bool ok = true;
    *r = (replacement){ .kind = kind, .ways = ways, .leaves = 1, .set_count = sets, .domain = domain };
    while (r->leaves < ways)
        r->leaves *= 2;
    if (kind >= REPLACEMENT_KINDS) {
        ls_status status = find_plugin(r, kind - REPLACEMENT_KINDS, err);
        if (status != LS_OK)
            return status;
    } else if (kind == REPLACEMENT_PLRU) {
        r->words = (r->leaves + 63) / 64;
        ok = (r->tree = ls_domain_alloc(domain, sets * r->words * sizeof *r->tree)) != NULL;
    } else if (kind == REPLACEMENT_SRRIP) {
        ok = (r->distance = ls_domain_alloc(domain, (size_t)sets * ways)) != NULL;
    } else if (kind == REPLACEMENT_RANDOM) {
        r->random =
            ls_random_next(ls_domain_random(domain)) | 1; /* not zero: the generator would stay there */
    }
    return ok ? LS_OK : ls_fail(err, LS_ERR_NOMEM, "no memory for a replacement policy");
}

void replacement_clear(replacement *r)
{
    if (r->tree != NULL)
        memset(r->tree, 0, r->set_count * r->words * sizeof *r->tree);
    if (r->distance != NULL)
        memset(r->distance, 0, r->set_count * r->ways);
    if (r->sets != NULL)
        memset(r->sets, 0, r->set_count * r->set_bytes);
}

/* --------------------------------------------------------------------------------------------------- plru */

/* A node's bit: the half that goes next. `toward`: that of this way, or the other one. */
static void point_tree(replacement *r, uint32_t set, uint32_t way, bool toward)
{
    uint64_t *tree = &r->tree[set * r->words];
    for (uint32_t node = way + r->leaves; node > 1; node /= 2) {
        uint32_t parent = node / 2;
        uint64_t bit = UINT64_C(1) << parent % 64;
        bool upper = (node % 2 != 0) == toward;
        tree[parent / 64] = upper ? tree[parent / 64] | bit : tree[parent / 64] & ~bit;
    }
}

static bool any_allowed(const uint64_t *allowed, uint32_t first, uint32_t count, uint32_t ways)
{
    for (uint32_t way = first; way < first + count && way < ways; way++)
        if ((allowed[way / 64] >> way % 64 & 1) != 0)
            return true;
    return false;
}

/* Down the tree; a half without a line that may go is passed by. */
static uint32_t tree_victim(const replacement *r, uint32_t set, uint32_t ways, const uint64_t *allowed)
{
    const uint64_t *tree = &r->tree[set * r->words];
    uint32_t node = 1, first = 0;
    for (uint32_t half = r->leaves / 2; half > 0; half /= 2) {
        uint32_t upper = (uint32_t)(tree[node / 64] >> node % 64 & 1);
        if (!any_allowed(allowed, first + upper * half, half, ways))
            upper ^= 1;
        node = 2 * node + upper;
        first += upper * half;
    }
    return first;
}

/* -------------------------------------------------------------------------------------------------- srrip */

/* The first line that is far; all lines of the set move away until there is one. */
static uint32_t far_victim(replacement *r, uint32_t set, uint32_t ways, const uint64_t *allowed)
{
    uint8_t *distance = &r->distance[(size_t)set * r->ways];
    uint32_t found = ways;
    for (uint32_t way = 0; way < ways; way++)
        if ((allowed[way / 64] >> way % 64 & 1) != 0 && (found == ways || distance[way] > distance[found]))
            found = way;
    uint32_t step = FAR - distance[found];
    for (uint32_t way = 0; way < ways && step != 0; way++)
        distance[way] = (uint8_t)(distance[way] + step > FAR ? FAR : distance[way] + step);
    return found;
}

/* ------------------------------------------------------------------------------------------------- random */

static uint32_t random_victim(replacement *r, uint32_t ways, const uint64_t *allowed)
{
    uint32_t count = 0;
    for (uint32_t word = 0; word <= (ways - 1) / 64; word++)
        count += (uint32_t)__builtin_popcountll(allowed[word]);
    r->random ^= r->random << 13;
    r->random ^= r->random >> 7;
    r->random ^= r->random << 17;
    uint32_t left = (uint32_t)((r->random >> 32) % count);
    for (uint32_t word = 0;; word++) {
        uint32_t here = (uint32_t)__builtin_popcountll(allowed[word]);
        uint64_t mask = allowed[word];
        if (left >= here) {
            left -= here;
            continue;
        }
        for (; left > 0; left--)
            mask &= mask - 1;
        return word * 64 + (uint32_t)__builtin_ctzll(mask);
    }
}

/* ----------------------------------------------------------------------------------------------- policies */

void replacement_insert(replacement *r, uint32_t set, uint32_t way)
{
    if (r->ops != NULL)
        r->ops->insert(r->sets + set * r->set_bytes, r->ways, way);
    else if (r->kind == REPLACEMENT_PLRU)
        point_tree(r, set, way, false);
    else if (r->kind == REPLACEMENT_SRRIP)
        r->distance[(size_t)set * r->ways + way] = INSERTED;
}

void replacement_use(replacement *r, uint32_t set, uint32_t way)
{
    if (r->ops != NULL)
        r->ops->use(r->sets + set * r->set_bytes, r->ways, way);
    else if (r->kind == REPLACEMENT_PLRU)
        point_tree(r, set, way, false);
    else if (r->kind == REPLACEMENT_SRRIP)
        r->distance[(size_t)set * r->ways + way] = 0;
}

void replacement_age(replacement *r, uint32_t set, uint32_t way)
{
    if (r->kind == REPLACEMENT_PLRU)
        point_tree(r, set, way, true);
    else if (r->kind == REPLACEMENT_SRRIP)
        r->distance[(size_t)set * r->ways + way] = FAR;
}

uint32_t replacement_victim(replacement *r, uint32_t set, uint32_t ways, const uint64_t *allowed)
{
    if (r->kind == REPLACEMENT_PLRU)
        return tree_victim(r, set, ways, allowed);
    if (r->kind == REPLACEMENT_SRRIP)
        return far_victim(r, set, ways, allowed);
    if (r->ops == NULL)
        return random_victim(r, ways, allowed);
    uint32_t way = r->ops->victim(r->sets + set * r->set_bytes, r->ways, allowed);
    if (LS_LIKELY(way < ways && (allowed[way / 64] >> way % 64 & 1) != 0))
        return way;
    ls_domain_fail(r->domain, r->failure);
    return random_victim(r, ways, allowed);
}
