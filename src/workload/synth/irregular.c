/* irregular.c: generators whose addresses or paths depend on random numbers: gather, pointer-chase and
 * graph-walk. The numbers come from a hash of the seed and the element, so that any thread block can be made
 * alone. */
#include "workload/synth/kind.h"

#include <inttypes.h>

#define FLOAT 4u

/* ------------------------------------------------------------------------------------------------- gather */

typedef struct gather_spec {
    synth_common common;
    uint64_t n, table_kib, block;
} gather_spec;

static const ls_param gather_params[] = {
    LS_PARAM_UINT(gather_spec, n, "elements", 65536, 1, 1073741824, "elements to gather, 4 bytes each"),
    LS_PARAM_UINT(gather_spec, table_kib, "KiB", 16384, 1, 4194304, "size of the table they come from"),
    LS_PARAM_UINT(gather_spec, block, "threads", 256, 32, 1024, "threads of a block"),
};

static ls_status gather_check(const void *spec, ls_error *err)
{
    return synth_check_block(((const gather_spec *)spec)->block, err);
}

static unsigned gather_copies(const void *spec, synth_copy *copies)
{
    const gather_spec *s = spec;
    copies[0] = (synth_copy){ synth_array(0), FLOAT * s->n };
    copies[1] = (synth_copy){ synth_array(1), 1024 * s->table_kib };
    return 2;
}

static void gather_launch(const void *spec, uint32_t launch, synth_launch *out)
{
    const gather_spec *s = spec;
    (void)launch;
    out->name = "_Z6gatherPKiPKfPfi";
    out->grid[0] = (uint32_t)synth_ceil_div(s->n, s->block);
    out->block[0] = (uint32_t)s->block;
    out->registers = 12;
}

enum { G_EXIT, G_INDEX, G_TABLE, G_STORE };

static void gather_assemble(const void *spec, uint32_t launch, synth_program *p)
{
    (void)spec;
    (void)launch;
    synth_begin(p);
    synth_thread_id(p, 6);
    p->mark[G_EXIT] = synth_bounds(p, 6);
    synth_constant(p, 9);
    synth_address(p, 2, 6, 9);
    p->mark[G_INDEX] = synth_op(p, "1 R2 %s 1 R2 4", synth_ldg(p));
    synth_address(p, 4, 2, 9);
    p->mark[G_TABLE] = synth_op(p, "1 R5 %s 1 R4 4", synth_ldg(p));
    synth_address(p, 6, 6, 9);
    p->mark[G_STORE] = synth_op(p, "0 STG.E 2 R6 R5 4");
    synth_exit(p);
}

static void gather_warp(const void *spec, uint32_t launch, synth_warp *w)
{
    const gather_spec *s = spec;
    const uint32_t *mark = w->program->mark;
    uint64_t lanes[SYNTH_WARP];
    (void)launch;
    if (!synth_within(w, 0, mark[G_EXIT], s->n))
        return;
    synth_run(w, mark[G_EXIT] + 1, mark[G_INDEX]);
    synth_lanes(w, mark[G_INDEX], synth_array(0) + FLOAT * w->thread, FLOAT);
    synth_run(w, mark[G_INDEX] + 1, mark[G_TABLE]);
    const uint64_t words = 256 * s->table_kib;
    const bool power =
        (words & (words - 1)) == 0; /* most are, and a division takes longer than all the rest */
    for (uint32_t i = 0; i < SYNTH_WARP; i++) {
        uint64_t hash = synth_hash(s->common.seed, w->thread + i, 0);
        lanes[i] = synth_array(1) + (power ? hash & (words - 1) : hash % words) * FLOAT;
    }
    synth_list(w, mark[G_TABLE], lanes);
    synth_run(w, mark[G_TABLE] + 1, mark[G_STORE]);
    synth_lanes(w, mark[G_STORE], synth_array(2) + FLOAT * w->thread, FLOAT);
    synth_run(w, mark[G_STORE] + 1, synth_here(w->program));
}

static void gather_facts(const void *spec, uint32_t launch, const synth_program *p, synth_facts *f)
{
    const gather_spec *s = spec;
    uint64_t warps = synth_ceil_div(s->n, s->block) * (s->block / SYNTH_WARP);
    (void)launch;
    synth_facts_each(f, p, p->mark[G_EXIT], warps, s->n);
    f->global_loads += 2 * synth_ceil_div(s->n, SYNTH_WARP);
    f->global_stores += synth_ceil_div(s->n, SYNTH_WARP);
    f->store_sectors += synth_ceil_div(FLOAT * s->n, SYNTH_SECTOR);
    f->load_sectors = f->global_bytes = LS_SYNTH_UNKNOWN;
}

const synth_kind synth_gather = {
    .name = "gather",
    .help = "out[i] = table[index[i]] with random indices",
    .spec_size = sizeof(gather_spec),
    .params = gather_params,
    .param_count = LS_COUNT_OF(gather_params),
    .check = gather_check,
    .copies = gather_copies,
    .launch = gather_launch,
    .assemble = gather_assemble,
    .warp = gather_warp,
    .facts = gather_facts,
};

/* ------------------------------------------------------------------------------------------ pointer-chase */

#define POINTER 8u

static const char *const orders[] = { "forward", "random", NULL };
enum { FORWARD, RANDOM };

typedef struct chase_spec {
    synth_common common;
    uint64_t footprint_kib, stride_bytes, loads, unroll, lanes, warps, ctas;
    uint32_t order;
    bool bypass_l1;
} chase_spec;

static const ls_param chase_params[] = {
    LS_PARAM_UINT(chase_spec, footprint_kib, "KiB", 1024, 1, 4194304,
                  "memory that the chain of pointers lies in"),
    LS_PARAM_UINT(chase_spec, stride_bytes, "bytes", 128, 8, 1048576, "distance of neighbouring pointers"),
    LS_PARAM_UINT(chase_spec, loads, "", 4096, 1, 16777216, "loads in the chain, rounded up to whole loops"),
    LS_PARAM_UINT(chase_spec, unroll, "loads", 16, 1, 64, "loads in the body of the loop"),
    LS_PARAM_CHOICE(chase_spec, order, "order", "random", orders,
                    "order in which the pointers follow each other"),
    LS_PARAM_UINT(chase_spec, lanes, "", 1, 1, 32, "lanes that follow the same chain"),
    LS_PARAM_UINT(chase_spec, warps, "", 1, 1, 32, "warps of a block, each from its own start"),
    LS_PARAM_UINT(chase_spec, ctas, "blocks", 1, 1, 65536, "thread blocks, each from its own start"),
    LS_PARAM_BOOL(chase_spec, bypass_l1, false, "load past the first-level cache"),
};

static uint64_t chase_slots(const chase_spec *s)
{
    return synth_ceil_div(s->footprint_kib * 1024, s->stride_bytes);
}
static uint64_t chase_loops(const chase_spec *s)
{
    return synth_ceil_div(s->loads, s->unroll);
}

static unsigned chase_copies(const void *spec, synth_copy *copies)
{
    const chase_spec *s = spec;
    copies[0] = (synth_copy){ synth_array(0), chase_slots(s) * s->stride_bytes };
    return 1;
}

static void chase_launch(const void *spec, uint32_t launch, synth_launch *out)
{
    const chase_spec *s = spec;
    (void)launch;
    out->name = "_Z5chasePPvi";
    out->grid[0] = (uint32_t)s->ctas;
    out->block[0] = (uint32_t)(s->warps * SYNTH_WARP);
    out->registers = 12;
}

enum { C_EXIT, C_LOOP, C_NEXT, C_END, C_STORE };

static void chase_assemble(const void *spec, uint32_t launch, synth_program *p)
{
    const chase_spec *s = spec;
    (void)launch;
    synth_begin(p);
    synth_thread_id(p, 4);
    p->mark[C_EXIT] = synth_bounds(p, 4);
    synth_constant(p, 5);
    synth_address(p, 2, 4, 5);
    synth_op(p, "1 R6 MOV 1 R255 0");
    p->mark[C_LOOP] = synth_here(p);
    for (uint64_t i = 0; i < s->unroll; i++)
        synth_op(p, "1 R2 LDG.E.64%s 1 R2 8", s->bypass_l1 ? (p->version < 70 ? ".CV" : ".STRONG.GPU") : "");
    p->mark[C_NEXT] = synth_here(p);
    synth_increment(p, 6, 1);
    synth_op(p, "0 ISETP.GE.AND 1 R6 0");
    synth_op(p, "0 BRA 0 0");
    p->mark[C_END] = synth_here(p);
    synth_address(p, 8, 4, 5);
    p->mark[C_STORE] = synth_op(p, "0 STG.E.64 2 R8 R2 8"); /* so that the chain has a use */
    synth_exit(p);
}

/* A permutation of [0, n): a Feistel network over a power of four, walked until it lands inside. */
static uint64_t shuffled(uint64_t seed, uint64_t i, uint64_t n)
{
    unsigned bits = 1;
    while ((UINT64_C(1) << 2 * bits) < n)
        bits++;
    uint64_t half = (UINT64_C(1) << bits) - 1;
    do {
        uint64_t left = i >> bits, right = i & half;
        for (uint64_t round = 0; round < 4; round++) {
            uint64_t next = left ^ (synth_hash(seed, right, round) & half);
            left = right;
            right = next;
        }
        i = left << bits | right;
    } while (i >= n);
    return i;
}

static void chase_warp(const void *spec, uint32_t launch, synth_warp *w)
{
    const chase_spec *s = spec;
    const uint32_t *mark = w->program->mark;
    uint64_t slots = chase_slots(s), loops = chase_loops(s), warp = (uint64_t)w->id[0] * s->warps + w->index;
    uint64_t at = warp * (slots / (s->ctas * s->warps) + 1); /* warps start spread over the chain */
    uint32_t lanes = SYNTH_FULL >> (SYNTH_WARP - s->lanes);
    (void)launch;
    synth_run(w, 0, mark[C_EXIT]);
    synth_one(w, mark[C_EXIT], ~lanes);
    w->mask = lanes;
    synth_run(w, mark[C_EXIT] + 1, mark[C_LOOP]);
    for (uint64_t i = 0; i < loops; i++) {
        for (uint32_t row = mark[C_LOOP]; row < mark[C_NEXT]; row++, at++) {
            uint64_t slot = s->order == RANDOM ? shuffled(s->common.seed, at % slots, slots) : at % slots;
            synth_lanes(w, row, synth_array(0) + slot * s->stride_bytes, 0);
        }
        synth_loop_end(w, mark[C_NEXT], mark[C_END], i + 1 < loops);
    }
    synth_run(w, mark[C_END], mark[C_STORE]);
    synth_lanes(w, mark[C_STORE], synth_array(1) + warp * SYNTH_WARP * POINTER, POINTER);
    synth_run(w, mark[C_STORE] + 1, synth_here(w->program));
}

static void chase_facts(const void *spec, uint32_t launch, const synth_program *p, synth_facts *f)
{
    const chase_spec *s = spec;
    const uint32_t *mark = p->mark;
    uint64_t warps = s->ctas * s->warps, loops = chase_loops(s), loads = loops * s->unroll,
             slots = chase_slots(s);
    uint64_t body = mark[C_END] - mark[C_LOOP],
             ends = mark[C_LOOP] - mark[C_EXIT] - 1 + synth_here(p) - mark[C_END];
    (void)launch;
    f->warp_insts += warps * (mark[C_EXIT] + 1 + loops * body + ends);
    f->thread_insts += warps * (SYNTH_WARP * mark[C_EXIT] + (SYNTH_WARP - s->lanes));
    f->thread_insts += warps * s->lanes * (loops * body - 1 + ends);
    f->global_loads += warps * loads;
    f->load_sectors += warps * loads;
    f->global_stores += warps;
    f->store_sectors += warps * synth_ceil_div(s->lanes * POINTER, SYNTH_SECTOR);
    /* One warp's pointers are known; those of several may or may not be the same. */
    f->global_bytes =
        warps > 1 && loads < slots ? LS_SYNTH_UNKNOWN : POINTER * (synth_min(loads, slots) + warps * s->lanes);
}

const synth_kind synth_pointer_chase = {
    .name = "pointer-chase",
    .help = "each load's address is what the load before it read",
    .spec_size = sizeof(chase_spec),
    .params = chase_params,
    .param_count = LS_COUNT_OF(chase_params),
    .copies = chase_copies,
    .launch = chase_launch,
    .assemble = chase_assemble,
    .warp = chase_warp,
    .facts = chase_facts,
};

/* --------------------------------------------------------------------------------------------- graph-walk
 *
 * One launch per level of a breadth-first walk. Each thread has a node; it continues if the node belongs to
 * this level, reads all its neighbours in a loop, and marks the neighbours of later levels. Which level a node
 * has, its degree and its neighbours are random; most nodes are in the levels in the middle, as in real graphs
 * of small diameter. */

#define NODE 8u /* start and number of edges */

typedef struct graph_spec {
    synth_common common;
    uint64_t nodes, degree, levels, block;
} graph_spec;

static const ls_param graph_params[] = {
    LS_PARAM_UINT(graph_spec, nodes, "", 4096, 32, 268435456, "nodes of the graph"),
    LS_PARAM_UINT(graph_spec, degree, "edges", 6, 1, 64, "edges of a node on average"),
    LS_PARAM_UINT(graph_spec, levels, "", 8, 1, 64, "levels of the walk, one launch each"),
    LS_PARAM_UINT(graph_spec, block, "threads", 256, 32, 1024, "threads of a block"),
};

static ls_status graph_check(const void *spec, ls_error *err)
{
    return synth_check_block(((const graph_spec *)spec)->block, err);
}

static uint32_t graph_launches(const void *spec)
{
    return (uint32_t)((const graph_spec *)spec)->levels;
}

static uint64_t node_level(const graph_spec *s, uint64_t node)
{
    /* The mean of three uniform numbers. */
    uint64_t sum = 0;
    for (uint64_t i = 0; i < 3; i++)
        sum += synth_hash(s->common.seed, node, i) % s->levels;
    return sum / 3;
}
static uint64_t node_edges(const graph_spec *s, uint64_t node)
{
    return 1 + synth_hash(s->common.seed, node, 3) % (2 * s->degree - 1);
}
static uint64_t neighbour(const graph_spec *s, uint64_t node, uint64_t edge)
{
    return synth_hash(s->common.seed, node, 4 + edge) % s->nodes;
}

static unsigned graph_copies(const void *spec, synth_copy *copies)
{
    const graph_spec *s = spec;
    copies[0] = (synth_copy){ synth_array(0), s->nodes * NODE };
    copies[1] = (synth_copy){ synth_array(1), s->nodes * 2 * s->degree * FLOAT };
    copies[2] = (synth_copy){ synth_array(2), 2 * s->nodes };
    copies[3] = (synth_copy){ synth_array(3), s->nodes * FLOAT };
    return 4;
}

static void graph_launch(const void *spec, uint32_t launch, synth_launch *out)
{
    const graph_spec *s = spec;
    (void)launch;
    out->name = "_Z4walkP4NodePiPbS1_i";
    out->grid[0] = (uint32_t)synth_ceil_div(s->nodes, s->block);
    out->block[0] = (uint32_t)s->block;
    out->registers = 24;
}

enum {
    W_EXIT,
    W_MINE,
    W_LEAVE,
    W_CLEAR,
    W_NODE,
    W_LOOP,
    W_EDGE,
    W_SEEN,
    W_UPDATE,
    W_COST,
    W_COST_STORE,
    W_MARK,
    W_NEXT,
    W_END
};

static void graph_assemble(const void *spec, uint32_t launch, synth_program *p)
{
    (void)spec;
    (void)launch;
    synth_begin(p);
    synth_thread_id(p, 6);
    p->mark[W_EXIT] = synth_bounds(p, 6);
    synth_constant(p, 9);
    synth_address(p, 4, 6, 9);
    p->mark[W_MINE] = synth_op(p, p->version == 70 || p->version == 75 ? "1 R0 LDG.E.U8.SYS 1 R4 1"
                                                                       : "1 R0 LDG.E.U8 1 R4 1");
    synth_op(p, "0 ISETP.NE.AND 2 R0 R255 0");
    p->mark[W_LEAVE] = synth_op(p, "0 EXIT 0 0");
    p->mark[W_CLEAR] = synth_op(p, "0 STG.E.U8 2 R4 R255 1");
    synth_address(p, 2, 6, 9);
    p->mark[W_NODE] = synth_op(p, "1 R10 LDG.E.64%s 1 R2 8", synth_ldg(p) + 5);
    synth_address(p, 12, 10, 9);
    p->mark[W_LOOP] = synth_here(p);
    p->mark[W_EDGE] = synth_op(p, "1 R14 %s 1 R12 4", synth_ldg(p));
    synth_address(p, 16, 14, 9);
    p->mark[W_SEEN] = synth_op(p, p->version == 70 || p->version == 75 ? "1 R18 LDG.E.U8.SYS 1 R16 1"
                                                                       : "1 R18 LDG.E.U8 1 R16 1");
    synth_op(p, "0 ISETP.NE.AND 2 R18 R255 0");
    p->mark[W_UPDATE] = synth_here(p); /* predicated from here */
    p->mark[W_COST] = synth_op(p, "1 R7 %s 1 R4 4", synth_ldg(p));
    synth_increment(p, 7, 1);
    p->mark[W_COST_STORE] = synth_op(p, "0 STG.E 2 R20 R7 4");
    p->mark[W_MARK] = synth_op(p, "0 STG.E.U8 2 R16 R9 1");
    p->mark[W_NEXT] = synth_here(p);
    synth_increment(p, 12, FLOAT);
    synth_increment(p, 10, 1);
    synth_op(p, "0 ISETP.GE.AND 2 R10 R11 0");
    synth_op(p, "0 BRA 0 0");
    p->mark[W_END] = synth_here(p);
    synth_exit(p);
}

static void graph_warp(const void *spec, uint32_t launch, synth_warp *w)
{
    const graph_spec *s = spec;
    const uint32_t *mark = w->program->mark;
    uint64_t to[SYNTH_WARP] = { 0 }, edges[SYNTH_WARP] = { 0 }, lanes[SYNTH_WARP], start = w->thread;
    uint32_t mine = 0;
    if (!synth_within(w, 0, mark[W_EXIT], s->nodes))
        return;
    synth_run(w, mark[W_EXIT] + 1, mark[W_MINE]);
    synth_lanes(w, mark[W_MINE], synth_array(2) + start, 1);
    for (uint32_t i = 0; i < SYNTH_WARP; i++)
        if (w->mask >> i & 1 && node_level(s, start + i) == launch) {
            mine |= UINT32_C(1) << i;
            edges[i] = node_edges(s, start + i);
        }
    synth_run(w, mark[W_MINE] + 1, mark[W_LEAVE]);
    synth_one(w, mark[W_LEAVE], w->mask & ~mine);
    w->mask = mine;
    if (!mine)
        return;
    synth_lanes(w, mark[W_CLEAR], synth_array(2) + start, 1);
    synth_run(w, mark[W_CLEAR] + 1, mark[W_NODE]);
    synth_lanes(w, mark[W_NODE], synth_array(0) + start * NODE, NODE);
    synth_run(w, mark[W_NODE] + 1, mark[W_LOOP]);
    for (uint64_t edge = 0; w->mask; edge++) {
        uint32_t all = w->mask, fresh = 0, again = 0;
        for (uint32_t i = 0; i < SYNTH_WARP; i++) {
            if (!(all >> i & 1))
                continue;
            to[i] = neighbour(s, start + i, edge);
            fresh |= (uint32_t)(node_level(s, to[i]) > launch) << i;
            again |= (uint32_t)(edge + 1 < edges[i]) << i;
        }
        /* Each node's edges have room for the largest number. */
        synth_lanes(w, mark[W_EDGE], synth_array(1) + (start * 2 * s->degree + edge) * FLOAT,
                    (int64_t)(2 * s->degree * FLOAT));
        synth_run(w, mark[W_EDGE] + 1, mark[W_SEEN]);
        for (uint32_t i = 0; i < SYNTH_WARP; i++)
            lanes[i] = synth_array(2) + s->nodes + to[i]; /* after the marks of this level: nodes seen in any
                                                           * level */
        synth_list(w, mark[W_SEEN], lanes);
        synth_run(w, mark[W_SEEN] + 1, mark[W_UPDATE]);
        w->mask = fresh;
        synth_lanes(w, mark[W_COST], synth_array(3) + start * FLOAT, FLOAT);
        synth_run(w, mark[W_COST] + 1, mark[W_COST_STORE]);
        for (uint32_t i = 0; i < SYNTH_WARP; i++)
            lanes[i] = synth_array(3) + to[i] * FLOAT;
        synth_list(w, mark[W_COST_STORE], lanes);
        for (uint32_t i = 0; i < SYNTH_WARP; i++)
            lanes[i] = synth_array(2) + to[i];
        synth_list(w, mark[W_MARK], lanes);
        w->mask = all;
        synth_run(w, mark[W_NEXT], mark[W_END] - 1);
        synth_one(w, mark[W_END] - 1, again);
        synth_one(w, mark[W_END], all & ~again); /* lanes without another edge leave */
        w->mask = again;
    }
}

static void graph_facts(const void *spec, uint32_t launch, const synth_program *p, synth_facts *f)
{
    const graph_spec *s = spec;
    const uint32_t *mark = p->mark;
    uint64_t warps = synth_ceil_div(s->nodes, s->block) * (s->block / SYNTH_WARP);
    uint64_t before = mark[W_EXIT], look = mark[W_LEAVE] - before, setup = mark[W_LOOP] - mark[W_LEAVE] - 1;
    uint64_t body = synth_here(p) - mark[W_LOOP], update = mark[W_NEXT] - mark[W_UPDATE];
    f->warp_insts += warps * (before + 1);
    f->thread_insts += warps * SYNTH_WARP * before + (warps * SYNTH_WARP - s->nodes);
    for (uint64_t first = 0; first < s->nodes; first += SYNTH_WARP) { /* sums over the nodes of each warp */
        uint64_t count = synth_min(SYNTH_WARP, s->nodes - first), mine = 0, longest = 0, updates = 0;
        f->warp_insts += look;
        f->global_loads++;
        f->thread_insts += count * (look - 1);
        for (uint64_t node = first; node < first + count; node++) {
            if (node_level(s, node) != launch) {
                f->thread_insts++;
                continue;
            }
            uint64_t edges = node_edges(s, node), fresh = 0;
            for (uint64_t e = 0; e < edges; e++)
                fresh += node_level(s, neighbour(s, node, e)) > launch;
            mine++;
            longest = edges > longest ? edges : longest;
            /* Each edge: the body without the updates, one of branch and exit; and the updates of fresh
             * nodes. */
            f->thread_insts += setup + edges * (body - update - 1) + fresh * update;
        }
        for (uint64_t e = 0; e < longest; e++) {
            bool any = false;
            for (uint64_t node = first; node < first + count && !any; node++)
                any = node_level(s, node) == launch && e < node_edges(s, node) &&
                      node_level(s, neighbour(s, node, e)) > launch;
            updates += any;
        }
        f->warp_insts += mine ? setup + longest * body : 0;
        f->global_stores += (mine > 0) + 2 * updates;
        f->global_loads += (mine > 0) + 2 * longest + updates;
    }
    f->load_sectors = f->store_sectors = f->global_bytes = LS_SYNTH_UNKNOWN;
}

const synth_kind synth_graph_walk = {
    .name = "graph-walk",
    .help = "breadth-first walk over a random graph: divergent paths, scattered accesses",
    .spec_size = sizeof(graph_spec),
    .params = graph_params,
    .param_count = LS_COUNT_OF(graph_params),
    .check = graph_check,
    .launches = graph_launches,
    .copies = graph_copies,
    .launch = graph_launch,
    .assemble = graph_assemble,
    .warp = graph_warp,
    .facts = graph_facts,
};
