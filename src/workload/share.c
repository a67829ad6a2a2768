/* share.c: finds thread blocks that differ from an earlier one only by where their addresses lie. Touches the
 * kernel it reads from, and memory. */
#include "workload/share.h"

#include "workload/trace.h"

#include <stdlib.h>
#include <string.h>

/* Smaller blocks of files are not worth a look: even 16 of them on each of 144 cores are 75 MB. */
#define SMALL_BYTES (32u << 10)
#define FILE_BODIES 4u
#define SHAPES 16u

/* A block that others are like. */
typedef struct body {
    uint64_t shape;
    ls_cta cta;
    uint32_t insts;
    uint64_t *slope
        [3]; /* of a generator: how far each instruction's addresses move with x, y and z; NULL: not known */
    bool alone; /* another block was announced as alike and was not */
    struct body *next;
} body;

struct shared_streams {
    trace_kernel *kernel;
    body *bodies;
    uint32_t body_count;
    ls_cta spare; /* memory for the next block that is read */
    uint64_t *distance;
    uint8_t *seen;
    uint32_t capacity; /* of distance and seen */
    share_counts n;
};

static ls_status fail_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "no memory for a thread block");
}

/* ---------------------------------------------------------------------------------------------- comparing */

static bool room_for_distances(shared_streams *s, uint32_t insts)
{
    if (insts <= s->capacity)
        return true;
    uint64_t *distance = realloc(s->distance, insts * sizeof *distance);
    if (distance != NULL)
        s->distance = distance;
    uint8_t *seen = realloc(s->seen, insts);
    if (seen != NULL)
        s->seen = seen;
    if (distance == NULL || seen == NULL)
        return false;
    s->capacity = insts;
    return true;
}

/* Records are alike if only the addresses of bulk copies differ, all by the same. */
static bool alike_records(shared_streams *s, const ls_dyn *dyn, const uint64_t *mine, const uint64_t *its)
{
    uint32_t words = ls_record_words(mine[0]), count = 0;
    if (mine[0] != its[0])
        return false;
    const uint64_t *addresses = mine + words;
    if (ls_record_kind_of(mine[0]) == LS_RECORD_BULK)
        addresses = ls_cta_bulk_addresses(mine, &count);
    uint32_t fixed = (uint32_t)(addresses - mine);
    for (uint32_t i = 0; i < fixed; i++)
        if (mine[i] != its[i])
            return false;
    uint64_t distance = count > 0 ? its[fixed] - mine[fixed] : 0;
    for (uint32_t i = 0; i < count; i++)
        if (its[fixed + i] - mine[fixed + i] != distance)
            return false;
    if (count == 0)
        return true;
    if (!s->seen[dyn->inst]) {
        s->seen[dyn->inst] = 1;
        s->distance[dyn->inst] = distance;
    }
    return s->distance[dyn->inst] == distance;
}

/* Fills s->distance, if every instruction's addresses lie equally far from those of the body. */
static bool alike(shared_streams *s, const body *b, const ls_cta *other)
{
    const ls_cta *cta = &b->cta;
    if (cta->warp_count != other->warp_count || cta->dyn_count != other->dyn_count ||
        cta->addr_count != other->addr_count || other->extra != NULL || !room_for_distances(s, b->insts) ||
        memcmp(cta->warps, other->warps, cta->warp_count * sizeof *cta->warps) != 0 ||
        memcmp(cta->dyns, other->dyns, (size_t)cta->dyn_count * sizeof *cta->dyns) != 0)
        return false;
    memset(s->seen, 0, b->insts);
    memset(s->distance, 0, b->insts * sizeof *s->distance);
    for (uint64_t i = 0; i < cta->dyn_count; i++) {
        const ls_dyn *dyn = &cta->dyns[i];
        if (dyn->addr == LS_ADDR_NONE || (dyn->mask == 0 && (dyn->addr & 3) != LS_ADDR_RECORD))
            continue;
        const uint64_t *record = ls_cta_record(cta, dyn);
        if (record != NULL) {
            if (!alike_records(s, dyn, record, ls_cta_record(other, dyn)))
                return false;
            continue;
        }
        const uint64_t *mine = &cta->addrs[dyn->addr >> 2], *its = &other->addrs[dyn->addr >> 2];
        uint64_t distance = its[0] - mine[0], differ = 0;
        if (!s->seen[dyn->inst]) {
            s->seen[dyn->inst] = 1;
            s->distance[dyn->inst] = distance;
        }
        if ((dyn->addr & 3) == LS_ADDR_STRIDE) {
            differ = mine[1] ^ its[1];
        } else {
            uint32_t lanes = (uint32_t)__builtin_popcount(dyn->mask);
            for (uint32_t k = 0; k < lanes; k++)
                differ |= (its[k] - mine[k]) ^ distance;
        }
        if ((differ | (distance ^ s->distance[dyn->inst])) != 0)
            return false;
    }
    return true;
}

/* ---------------------------------------------------------------------------------------------- borrowing */

/* Memory of a block that is no longer needed is reused to read the next one. */
static void keep_memory(shared_streams *s, ls_cta *cta)
{
    if (cta->like != NULL || cta->dyns == NULL)
        return;
    ls_cta_fini(&s->spare);
    s->spare = *cta;
    s->spare.moves = NULL;
    s->spare.move_capacity = 0;
    cta->warps = NULL;
    cta->dyns = NULL;
    cta->addrs = NULL;
    cta->warp_capacity = cta->dyn_capacity = cta->addr_capacity = 0;
}

/* Turns cta into a block like b, `distance` away; NULL: into the same. */
static bool borrow(shared_streams *s, ls_cta *cta, const body *b, const uint64_t *distance)
{
    if (distance != NULL && cta->move_capacity < b->insts) {
        uint64_t *moves = realloc(cta->moves, b->insts * sizeof *moves);
        if (moves == NULL)
            return false;
        cta->moves = moves;
        cta->move_capacity = b->insts;
    }
    keep_memory(s, cta);
    if (distance == NULL) {
        free(cta->moves);
        cta->moves = NULL;
        cta->move_capacity = 0;
    } else {
        memcpy(cta->moves, distance, b->insts * sizeof *distance);
    }
    cta->like = &b->cta;
    cta->warp_count = b->cta.warp_count;
    cta->warps = b->cta.warps;
    cta->dyns = b->cta.dyns;
    cta->dyn_count = b->cta.dyn_count;
    cta->addrs = b->cta.addrs;
    cta->addr_count = b->cta.addr_count;
    cta->warp_capacity = cta->dyn_capacity = cta->addr_capacity = 0;
    cta->extra = NULL;
    s->n.borrowed++;
    return true;
}

/* Reads into cta, which then owns its streams. */
static ls_status read_own(shared_streams *s, ls_cta *cta, bool *end, ls_error *err)
{
    cta_own(cta);
    if (cta->dyns == NULL && s->spare.dyns != NULL) {
        ls_cta_fini(cta);
        *cta = s->spare;
        s->spare = (ls_cta){ 0 };
    }
    ls_status status = kernel_next_cta(s->kernel, cta, end, err);
    if (status == LS_OK && !*end)
        kernel_drop_marks(s->kernel, cta);
    s->n.read += status == LS_OK && !*end;
    return status;
}

/* The streams of cta go to a new body, and it borrows them back. */
static bool make_body(shared_streams *s, ls_cta *cta, uint64_t shape)
{
    body *b = calloc(1, sizeof *b);
    if (b == NULL)
        return false;
    b->shape = shape;
    b->cta = *cta;
    b->cta.moves = NULL;
    b->cta.move_capacity = 0;
    b->insts = kernel_inst_count(s->kernel);
    b->next = s->bodies;
    s->bodies = b;
    s->body_count++;
    cta->like = &b->cta;
    cta->warp_capacity = cta->dyn_capacity = cta->addr_capacity = 0;
    return true;
}

/* --------------------------------------------------------------------------------------------- generators */

static void place_of(const ls_kernel_info *info, uint64_t index, uint32_t id[3])
{
    id[0] = (uint32_t)(index % info->grid[0]);
    id[1] = (uint32_t)(index / info->grid[0] % info->grid[1]);
    id[2] = (uint32_t)(index / info->grid[0] / info->grid[1]);
}

/* s->distance of a block at `id` as far as the slopes are known; the axis whose slope is missing, 3 if none
 * is, 4 if several are. */
static unsigned distances_at(shared_streams *s, const body *b, const uint32_t id[3])
{
    unsigned missing = 3;
    memset(s->distance, 0, b->insts * sizeof *s->distance);
    for (unsigned axis = 0; axis < 3; axis++) {
        uint64_t steps = (uint64_t)id[axis] - b->cta.id[axis];
        if (steps == 0)
            continue;
        if (b->slope[axis] == NULL) {
            missing = missing == 3 ? axis : 4;
            continue;
        }
        for (uint32_t i = 0; i < b->insts; i++)
            s->distance[i] += steps * b->slope[axis][i];
    }
    return missing;
}

/* cta, at position `id`, has the shape of b, and its other distances are known. Learns the effect of one step
 * on `axis`. */
static bool learn(shared_streams *s, body *b, const ls_cta *cta, unsigned axis)
{
    int64_t steps = (int64_t)cta->id[axis] - b->cta.id[axis];
    uint64_t *known = malloc(b->insts * sizeof *known);
    if (known == NULL)
        return false;
    memcpy(known, s->distance, b->insts * sizeof *known);
    b->alone = !alike(s, b, cta);
    for (uint32_t i = 0; i < b->insts && !b->alone; i++) {
        int64_t rest = (int64_t)(s->distance[i] - known[i]);
        b->alone = rest % steps != 0;
        known[i] = (uint64_t)(rest / steps);
    }
    if (b->alone)
        free(known);
    else
        b->slope[axis] = known;
    return true;
}

static ls_status next_of_shape(shared_streams *s, uint64_t shape, ls_cta *cta, bool *end, ls_error *err)
{
    body *b = s->bodies;
    while (b != NULL && b->shape != shape)
        b = b->next;
    uint64_t index = s->kernel->cta_next;
    uint32_t id[3];
    place_of(&s->kernel->info, index, id);
    unsigned missing = 4;
    if (b != NULL && !b->alone) {
        if (!room_for_distances(s, b->insts))
            return fail_memory(err);
        missing = distances_at(s, b, id);
    }
    if (missing == 3) {
        if (!borrow(s, cta, b, s->distance))
            return fail_memory(err);
        memcpy(cta->id, id, sizeof id);
        cta->index = index;
        cta->in_cluster = false;
        if (s->kernel->ops->place != NULL)
            s->kernel->ops->place(s->kernel, index, cta);
        return kernel_seek(s->kernel, index + 1, err);
    }
    ls_status status = read_own(s, cta, end, err);
    if (status != LS_OK || *end)
        return status;
    if (b == NULL)
        return s->body_count == SHAPES || make_body(s, cta, shape) ? LS_OK : fail_memory(err);
    if (missing == 4)
        return LS_OK;
    if (!learn(s, b, cta, missing))
        return fail_memory(err);
    return b->alone || borrow(s, cta, b, s->distance) ? LS_OK : fail_memory(err);
}

/* -------------------------------------------------------------------------------------------------- files */

static ls_status next_of_file(shared_streams *s, ls_cta *cta, bool *end, ls_error *err)
{
    ls_status status = read_own(s, cta, end, err);
    uint64_t bytes = cta->dyn_count * sizeof *cta->dyns + cta->addr_count * sizeof *cta->addrs;
    if (status != LS_OK || *end || cta->extra != NULL || bytes < SMALL_BYTES)
        return status;
    for (body *b = s->bodies; b != NULL; b = b->next)
        if (b->insts * 4 * sizeof *cta->moves < bytes && alike(s, b, cta))
            return borrow(s, cta, b, s->distance) ? LS_OK : fail_memory(err);
    if (s->body_count < FILE_BODIES && !make_body(s, cta, 0))
        return fail_memory(err);
    return LS_OK;
}

/* -------------------------------------------------------------------------------------------- the outside */

ls_status share_create(trace_kernel *kernel, shared_streams **out, ls_error *err)
{
    *out = calloc(1, sizeof **out);
    if (*out == NULL)
        return fail_memory(err);
    (*out)->kernel = kernel;
    return LS_OK;
}

static uint64_t next_shape(const trace_kernel *k)
{
    return k->ops->shape == NULL || k->cta_next >= kernel_blocks(k) ? LS_SHAPE_ALONE
                                                                    : k->ops->shape(k, k->cta_next);
}

bool share_is_known(const shared_streams *s)
{
    return next_shape(s->kernel) != LS_SHAPE_ALONE;
}

ls_status share_next(shared_streams *s, ls_cta *cta, bool *end, ls_error *err)
{
    uint64_t shape = next_shape(s->kernel);
    ls_status status = s->kernel->ops->shape == NULL ? next_of_file(s, cta, end, err)
                       : shape == LS_SHAPE_ALONE     ? read_own(s, cta, end, err)
                                                     : next_of_shape(s, shape, cta, end, err);
    s->n.blocks += status == LS_OK && !*end;
    return status;
}

void share_destroy(shared_streams *s)
{
    if (s == NULL)
        return;
    for (body *b = s->bodies, *next; b != NULL; b = next) {
        next = b->next;
        ls_cta_fini(&b->cta);
        for (unsigned axis = 0; axis < 3; axis++)
            free(b->slope[axis]);
        free(b);
    }
    ls_cta_fini(&s->spare);
    free(s->distance);
    free(s->seen);
    free(s);
}

share_counts share_count(const shared_streams *s)
{
    return s->n;
}
