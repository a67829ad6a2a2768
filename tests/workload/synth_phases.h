/* synth_phases.h: the warps of a generated kernel on a machine without time. A warp runs until one of its waits is not over;
 * copies end when they begin. Mbarriers, named barriers and barriers of clusters are those of PTX. Include after
 * cmocka. */
#ifndef TESTS_WORKLOAD_SYNTH_PHASES_H
#define TESTS_WORKLOAD_SYNTH_PHASES_H

#include "isa/sass/sass.h"
#include "trace_tools.h"

#include <inttypes.h>

#define PHASES_BLOCKS 16u   /* of a cluster */
#define PHASES_WORDS 32768u /* of 8 bytes: shared memory */
#define PHASES_NAMES 16u

typedef struct phases_mbarrier {
    int64_t count, pending, bytes;
    uint64_t phase;
} phases_mbarrier;

typedef struct phases_block {
    ls_cta cta;
    phases_mbarrier *mbarriers;
    uint32_t *next;                    /* of each warp */
    bool *arrived;                     /* each warp, at the barrier where it stands */
    uint32_t warps_at[PHASES_NAMES];   /* that wait or arrived there */
    uint64_t generation[PHASES_NAMES]; /* of named barriers */
    uint64_t *seen;                    /* generation of the barrier when the warp came */
} phases_block;

/* Values of semaphores, which all blocks share. */
typedef struct phases_semaphores {
    uint64_t address[256], value[256];
    uint32_t count;
} phases_semaphores;

typedef struct phases_cluster {
    const char *text;
    phases_semaphores *semaphores;
    const trace_kernel *kernel;
    phases_block blocks[PHASES_BLOCKS];
    uint32_t block_count, warps;
    uint32_t cluster_arrivals;
    uint64_t cluster_generation, *cluster_seen;
} phases_cluster;

static inline phases_mbarrier *phases_at(phases_cluster *c, uint64_t address)
{
    uint64_t rank = address >> 24, offset = address & 0xffffff;
    if (rank >= c->block_count || offset % 8 || offset / 8 >= PHASES_WORDS)
        fail_msg("%s: an mbarrier at 0x%" PRIx64, c->text, address);
    return &c->blocks[rank].mbarriers[offset / 8];
}

static inline void phases_change(phases_cluster *c, phases_mbarrier *m, int64_t arrivals, int64_t bytes)
{
    if (m->count == 0 || arrivals > m->pending)
        fail_msg("%s: more arrivals in a phase than its mbarrier counts (%" PRId64 ")", c->text, m->count);
    m->pending -= arrivals;
    m->bytes += bytes;
    if (m->pending == 0 && m->bytes == 0) {
        m->phase++;
        m->pending = m->count;
    }
}

static inline void phases_load(phases_cluster *c, const uint64_t *record)
{
    uint64_t place = record[LS_BULK_WORD_PLACE], address = place & UINT32_MAX;
    uint32_t blocks = (uint32_t)(place >> 32);
    if (blocks == 0)
        blocks = 1u << (address >> 24);
    for (; blocks; blocks &= blocks - 1)
        phases_change(c, phases_at(c, (uint64_t)__builtin_ctz(blocks) << 24 | (address & 0xffffff)), 0,
                      -(int64_t)record[LS_BULK_WORD_BYTES]);
}

/* False: the wait is not over. */
static inline bool phases_mbarrier_op(phases_cluster *c, const ls_inst *inst, const ls_cta *cta,
                                      const ls_dyn *dyn)
{
    uint64_t lanes[32] = { 0 }, operand = 0;
    const uint64_t *record = ls_cta_record(cta, dyn);
    ls_cta_addresses(cta, dyn, lanes);
    for (uint32_t mask = dyn->mask; mask; mask &= mask - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(mask);
        phases_mbarrier *m = phases_at(c, lanes[lane]);
        if (record)
            assert_true(ls_cta_operand(record, dyn->mask, lane, &operand));
        switch ((ls_mbarrier_op)inst->mbarrier_op) {
        case LS_MBARRIER_INIT:
            assert_int_equal(m->count, 0);
            m->count = m->pending = 0x100000 - (int64_t)((operand & UINT32_MAX) >> 1);
            break;
        case LS_MBARRIER_ARRIVE:
            phases_change(c, m, (int64_t)operand, 0);
            break;
        case LS_MBARRIER_ARRIVE_ONE:
            phases_change(c, m, 1, 0);
            break;
        case LS_MBARRIER_ARRIVE_EXPECT:
            m->bytes += (int64_t)operand;
            phases_change(c, m, 1, 0);
            break;
        case LS_MBARRIER_WAIT:
            assert_true(m->count > 0 && operand < 2);
            if ((m->phase & 1) == operand)
                return false;
            break;
        default:
            fail_msg("%s: an operation on mbarriers that the test does not know", c->text);
        }
    }
    return true;
}

static inline bool phases_semaphore(phases_cluster *c, const ls_inst *inst, const ls_cta *cta,
                                    const ls_dyn *dyn)
{
    phases_semaphores *all = c->semaphores;
    uint64_t lanes[32] = { 0 }, operand = 0;
    uint32_t i = 0;
    assert_int_equal(dyn->mask, 1);
    ls_cta_addresses(cta, dyn, lanes);
    assert_true(ls_cta_operand(ls_cta_record(cta, dyn), 1, 0, &operand));
    while (i < all->count && all->address[i] != lanes[0])
        i++;
    if (i == all->count) {
        assert_true(i < LS_COUNT_OF(all->address));
        all->address[all->count++] = lanes[0];
    }
    if (inst->mem_op == LS_MEM_LOAD)
        return all->value[i] >= operand;
    all->value[i] = inst->mem_op == LS_MEM_STORE ? operand : all->value[i] + operand;
    return true;
}

/* A named barrier; arrivals do not wait. */
static inline bool phases_barrier(phases_cluster *c, phases_block *b, uint32_t warp, const ls_inst *inst,
                                  const uint64_t *record)
{
    uint32_t id = record ? (uint32_t)record[1] : inst->barrier_id,
             needed = inst->barrier_warps ? inst->barrier_warps : b->cta.warp_count;
    assert_int_equal(inst->barrier_form, record ? LS_BARRIER_REGISTER : LS_BARRIER_NUMBER);
    if (id >= PHASES_NAMES)
        fail_msg("%s: a barrier with number %u", c->text, id);
    if (!b->arrived[warp]) {
        b->arrived[warp] = true;
        b->seen[warp] = b->generation[id];
        if (++b->warps_at[id] == needed) {
            b->warps_at[id] = 0;
            b->generation[id]++;
        }
    }
    if (!(inst->flags & LS_INST_ARRIVE) && b->generation[id] == b->seen[warp])
        return false;
    b->arrived[warp] = false;
    return true;
}

static inline bool phases_cluster_barrier(phases_cluster *c, uint32_t number, const char *name)
{
    if (strcmp(name, "UCGABAR_ARV") == 0) {
        c->cluster_seen[number] = c->cluster_generation;
        if (++c->cluster_arrivals == c->warps) {
            c->cluster_arrivals = 0;
            c->cluster_generation++;
        }
        return true;
    }
    return c->cluster_generation > c->cluster_seen[number];
}

/* One instruction of a warp; false if it has to wait. */
static inline bool phases_step(phases_cluster *c, phases_block *b, uint32_t warp, uint32_t number)
{
    const ls_dyn *dyn = &b->cta.dyns[b->cta.warps[warp].first + b->next[warp]];
    const ls_inst *inst = &c->kernel->insts[dyn->inst];
    const char *name = sass_opcode_name(inst->opcode);
    bool over = true;
    if (inst->flags & LS_INST_MBARRIER)
        over = phases_mbarrier_op(c, inst, &b->cta, dyn);
    else if ((inst->flags & LS_INST_BULK) && inst->bulk_op == LS_BULK_LOAD && dyn->mask)
        phases_load(c, ls_cta_record(&b->cta, dyn));
    else if (inst->mem_op != LS_MEM_NONE && dyn->addr != LS_ADDR_NONE && (dyn->addr & 3) == LS_ADDR_RECORD)
        over = phases_semaphore(c, inst, &b->cta, dyn);
    else if (inst->flags & LS_INST_BARRIER)
        over = phases_barrier(c, b, warp, inst, ls_cta_record(&b->cta, dyn));
    else if (strncmp(name, "UCGABAR", 7) == 0)
        over = phases_cluster_barrier(c, number, name);
    b->next[warp] += over;
    return over;
}

/* One instruction of each warp that can; false if none can. */
static inline bool phases_turn(phases_cluster *c)
{
    bool moved = false;
    uint32_t number = 0;
    for (uint32_t i = 0; i < c->block_count; i++) {
        phases_block *b = &c->blocks[i];
        for (uint32_t w = 0; w < b->cta.warp_count; w++, number++)
            if (b->next[w] < b->cta.warps[w].count && phases_step(c, b, w, number))
                moved = true; /* one by one: warps that share a barrier by mistake meet there */
    }
    return moved;
}

static inline void phases_end(const phases_cluster *c)
{
    for (uint32_t i = 0; i < c->block_count; i++) {
        const phases_block *b = &c->blocks[i];
        for (uint32_t w = 0; w < b->cta.warp_count; w++)
            if (b->next[w] != b->cta.warps[w].count)
                fail_msg("%s: warp %u of block %u waits for ever (instruction %u)", c->text, w, i, b->next[w]);
        for (uint32_t k = 0; k < PHASES_WORDS; k++)
            if (b->mbarriers[k].pending != b->mbarriers[k].count || b->mbarriers[k].bytes != 0)
                fail_msg("%s: mbarrier %u ends within a phase", c->text, 8 * k);
        for (uint32_t k = 0; k < PHASES_NAMES; k++)
            assert_int_equal(b->warps_at[k], 0);
    }
}

static inline void phases_clear(phases_cluster *c)
{
    for (uint32_t i = 0; i < c->block_count; i++) {
        ls_cta_fini(&c->blocks[i].cta);
        free(c->blocks[i].mbarriers);
        free(c->blocks[i].next);
        free(c->blocks[i].arrived);
        free(c->blocks[i].seen);
    }
    free(c->cluster_seen);
}

/* All blocks of cluster `wanted` (or block `wanted`, without clusters); false if there are none. */
static inline bool phases_read(phases_cluster *c, trace_kernel *kernel, uint64_t wanted)
{
    const ls_kernel_info *info = kernel_get_info(kernel);
    for (uint64_t i = 0; i < ls_kernel_cta_count(info); i++) {
        ls_cta cta = { 0 };
        bool end;
        assert_ok(kernel_seek(kernel, i, err));
        assert_ok(kernel_next_cta(kernel, &cta, &end, err));
        uint64_t cluster = cta.in_cluster ? cta.cluster[0] + 1000u * (uint64_t)cta.cluster[1] : i;
        uint32_t rank = cta.in_cluster ? cta.cluster_rank : 0;
        if (cluster != wanted) {
            ls_cta_fini(&cta);
            continue;
        }
        assert_true(rank < PHASES_BLOCKS);
        phases_block *b = &c->blocks[rank];
        b->cta = cta;
        b->mbarriers = calloc(PHASES_WORDS, sizeof *b->mbarriers);
        b->next = calloc(cta.warp_count, sizeof *b->next);
        b->arrived = calloc(cta.warp_count, sizeof *b->arrived);
        b->seen = calloc(cta.warp_count, sizeof *b->seen);
        c->block_count = rank + 1 > c->block_count ? rank + 1 : c->block_count;
        c->warps += cta.warp_count;
    }
    return c->block_count > 0;
}

static inline void check_phases(const char *text)
{
    const trace_options options = { .drop_values = true };
    sass_trace *trace = NULL;
    trace_kernel *kernel = NULL;
    assert_ok(synth_open(text, &options, &trace, err));
    assert_ok(trace_open_kernel(trace, trace->command_count - 1, &kernel, err));
    enum { CLUSTERS = 64 };
    phases_cluster *clusters = calloc(CLUSTERS, sizeof *clusters);
    phases_semaphores *semaphores = calloc(1, sizeof *semaphores);
    uint32_t count = 0;
    for (uint64_t wanted = 0; wanted < 2000 && count < CLUSTERS; wanted++) {
        clusters[count] = (phases_cluster){ .text = text, .kernel = kernel, .semaphores = semaphores };
        if (wanted % 1000 < 50 && phases_read(&clusters[count], kernel, wanted)) {
            clusters[count].cluster_seen = calloc(clusters[count].warps, sizeof(uint64_t));
            count++;
        }
    }
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t i = 0; i < count; i++)
            moved |= phases_turn(&clusters[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        phases_end(&clusters[i]);
        phases_clear(&clusters[i]);
    }
    free(clusters);
    free(semaphores);
    kernel_close(kernel);
    trace_close(trace);
}

#endif
