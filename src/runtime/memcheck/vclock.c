/* vclock.c: see vclock.h. */
#include "runtime/memcheck/vclock.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH_LOG2 5u
#define WIDTH (1u << WIDTH_LOG2)

/* A leaf has values, every other node children. */
typedef struct vclock_node {
    uint32_t references;
    uint32_t level; /* 0: a leaf */
    union {
        struct vclock_node *child[WIDTH];
        uint32_t value[WIDTH];
    };
} vclock_node;

static _Atomic uint64_t live; /* systems may be checked by several threads */

uint64_t vclock_nodes(void)
{
    return atomic_load(&live);
}

static size_t node_bytes(uint32_t level)
{
    return offsetof(vclock_node, child) + (level == 0 ? WIDTH * sizeof(uint32_t) : WIDTH * sizeof(void *));
}

static vclock_node *create(uint32_t level)
{
    vclock_node *n = calloc(1, node_bytes(level));
    if (!n)
        return NULL;
    n->references = 1;
    n->level = level;
    atomic_fetch_add(&live, 1);
    return n;
}

static void drop(vclock_node *n)
{
    if (!n || --n->references > 0)
        return;
    for (uint32_t i = 0; n->level > 0 && i < WIDTH; i++)
        drop(n->child[i]);
    atomic_fetch_sub(&live, 1);
    free(n);
}

static vclock_node *share(vclock_node *n)
{
    if (n)
        n->references++;
    return n;
}

/* *n becomes a node of this clock alone. */
static bool own(vclock_node **n)
{
    vclock_node *old = *n;
    if (old->references == 1)
        return true;
    vclock_node *made = create(old->level);
    if (!made)
        return false;
    memcpy(made->value, old->value, node_bytes(old->level) - offsetof(vclock_node, child));
    for (uint32_t i = 0; made->level > 0 && i < WIDTH; i++)
        (void)share(made->child[i]);
    old->references--;
    *n = made;
    return true;
}

static uint64_t reach(uint32_t height)
{
    return UINT64_C(1) << WIDTH_LOG2 * (height + 1);
}

/* Room for the wave. */
static bool grow(vclock *clock, uint32_t height)
{
    if (!clock->root) {
        clock->height = height;
        return true;
    }
    while (clock->height < height) {
        vclock_node *above = create(clock->height + 1);
        if (!above)
            return false;
        above->child[0] = clock->root;
        clock->root = above;
        clock->height++;
    }
    return true;
}

uint32_t vclock_get(const vclock *clock, uint32_t wave)
{
    const vclock_node *n = clock->root;
    if (!n || wave >= reach(clock->height))
        return 0;
    for (uint32_t level = clock->height; level > 0 && n; level--)
        n = n->child[wave >> WIDTH_LOG2 * level & (WIDTH - 1)];
    return n ? n->value[wave & (WIDTH - 1)] : 0;
}

bool vclock_raise(vclock *clock, uint32_t wave, uint32_t value)
{
    uint32_t height = clock->height;
    if (value == 0 || vclock_get(clock, wave) >= value)
        return true;
    while (wave >= reach(height))
        height++;
    if (!grow(clock, height))
        return false;
    vclock_node **at = &clock->root;
    for (uint32_t level = clock->height;; level--) {
        if (!*at && (*at = create(level)) == NULL)
            return false;
        if (!own(at))
            return false;
        if (level == 0)
            break;
        at = &(*at)->child[wave >> WIDTH_LOG2 * level & (WIDTH - 1)];
    }
    (*at)->value[wave & (WIDTH - 1)] = value;
    return true;
}

/* Whether `a` knows all that `b` knows, of two leaves. */
static bool leaf_covers(const vclock_node *a, const vclock_node *b)
{
    for (uint32_t i = 0; i < WIDTH; i++)
        if (a->value[i] < b->value[i])
            return false;
    return true;
}

static bool join_leaf(vclock_node **to, vclock_node *from)
{
    if (leaf_covers(*to, from))
        return true;
    if (leaf_covers(from, *to)) {
        drop(*to);
        *to = share(from);
        return true;
    }
    if (!own(to))
        return false;
    for (uint32_t i = 0; i < WIDTH; i++)
        if ((*to)->value[i] < from->value[i])
            (*to)->value[i] = from->value[i];
    return true;
}

/* True at once for nodes that both have: that is why joins of related clocks are cheap. */
static bool join(vclock_node **to, vclock_node *from)
{
    if (!from || *to == from)
        return true;
    if (!*to) {
        *to = share(from);
        return true;
    }
    if (from->level == 0)
        return join_leaf(to, from);
    bool same = true;
    for (uint32_t i = 0; i < WIDTH; i++) {
        if ((*to)->child[i] == from->child[i] || !from->child[i])
            continue;
        if (!own(to) || !join(&(*to)->child[i], from->child[i]))
            return false;
    }
    for (uint32_t i = 0; i < WIDTH && same; i++)
        same = (*to)->child[i] == from->child[i];
    if (same) { /* back to one node for both */
        drop(*to);
        *to = share(from);
    }
    return true;
}

bool vclock_join(vclock *clock, const vclock *other)
{
    if (!other->root || clock->root == other->root)
        return true;
    if (!clock->root) {
        vclock_copy(clock, other);
        return true;
    }
    if (!grow(clock, other->height))
        return false;
    vclock_node **at = &clock->root;
    for (uint32_t level = clock->height; level > other->height; level--) {
        if (!own(at))
            return false;
        at = &(*at)->child[0];
        if (!*at && level - 1 > other->height && (*at = create(level - 1)) == NULL)
            return false;
    }
    return join(at, other->root);
}

void vclock_copy(vclock *clock, const vclock *other)
{
    vclock_node *root = share(other->root);
    uint32_t height = other->height;
    drop(clock->root);
    clock->root = root;
    clock->height = height;
}

void vclock_drop(vclock *clock)
{
    drop(clock->root);
    *clock = (vclock){ 0 };
}
