/* cu_rig.h: a rig for the tests of compute units. It has one compute unit, plain memory with a fixed latency
 * over an address space, and a command processor that sends work-groups and logs the reports. All of it runs
 * on one clock of 1 GHz. */
#ifndef TESTS_MODEL_CU_RIG_H
#define TESTS_MODEL_CU_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lockstep/lockstep.h"
#include "model/cu/cu.h"
#include "model/amd_memory/atomic.h"

#include <stdlib.h>
#include <string.h>

#define RIG_HZ UINT64_C(1000000000)
#define RIG_WIRE 10u /* cycles of the links to and from the command processor */

/* --- memory: answers `latency` cycles later; slow_latency for addresses below slow_end --- */

#define RIG_QUEUE 2048u
#define RIG_LOG 16u
typedef struct rig_queue {
    uint32_t head, count;
    struct {
        ls_line_message m;
        ls_cycle due;
    } at[RIG_QUEUE];
} rig_queue;

typedef struct rig_memory {
    memory_space *address_space;
    ls_region *region;
    ls_event event;
    const ls_line_client_ops *client;
    void *client_self;
    uint32_t line_bytes, latency, refuse_every; /* refuse_every n: each nth request is refused once */
    uint32_t slow_latency;
    uint64_t slow_end;
    uint32_t asked;
    bool refused;
    uint64_t reads, writes, atomics, invalidates;
    uint64_t log[RIG_LOG]; /* addresses of the first requests */
    uint32_t logged;
    rig_queue queue[2]; /* [1]: slow */
} rig_memory;

static inline void rig_memory_perform(rig_memory *r, ls_line_message *m)
{
    if (m->kind == LS_LINE_INVALIDATE || m->kind == LS_LINE_FLUSH) {
        r->invalidates++;
        return;
    }
    address_space_view view = address_space_look(r->address_space);
    uint32_t need = m->kind == LS_LINE_READ ? LS_PAGE_READ : LS_PAGE_WRITE;
    if ((address_space_state(&view, m->address) & need) == 0) {
        m->flags |= LS_LINE_FAULT | (address_space_state(&view, m->address) != 0 ? LS_LINE_READ_ONLY : 0);
        return;
    }
    uint8_t *line = view.host + (m->address - LS_WINDOW_BASE);
    if (m->kind == LS_LINE_READ) {
        r->reads++;
        memcpy(m->data, line, r->line_bytes);
    } else if (m->kind == LS_LINE_ATOMIC) {
        r->atomics++;
        line_atomic_apply(m, line);
    } else {
        r->writes++;
        for (unsigned i = 0; i < r->line_bytes; i++)
            if (m->mask[i / 64] >> i % 64 & 1)
                line[i] = m->data[i];
    }
}

static inline ls_cycle rig_memory_next(const rig_memory *r)
{
    ls_cycle next = LS_CYCLE_MAX;
    for (unsigned i = 0; i < 2; i++)
        if (r->queue[i].count != 0 && r->queue[i].at[r->queue[i].head].due < next)
            next = r->queue[i].at[r->queue[i].head].due;
    return next;
}

static inline void rig_memory_answer(void *self, ls_cycle now)
{
    rig_memory *r = self;
    for (unsigned i = 0; i < 2; i++) {
        rig_queue *q = &r->queue[i];
        while (q->count != 0 && q->at[q->head].due <= now) {
            ls_line_message *m = &q->at[q->head].m;
            rig_memory_perform(r, m);
            r->client->reply(r->client_self, m, now);
            q->head = (q->head + 1) % RIG_QUEUE;
            q->count--;
        }
    }
    if (r->refused) {
        r->refused = false;
        r->client->retry(r->client_self, now);
    }
    if (!ls_event_scheduled(&r->event) && rig_memory_next(r) != LS_CYCLE_MAX)
        ls_schedule_at(r->region, &r->event, rig_memory_next(r));
}

static inline bool rig_memory_request(void *self, uint32_t client, const ls_line_message *m, ls_cycle now)
{
    rig_memory *r = self;
    (void)client;
    assert_int_equal(m->address % r->line_bytes, 0);
    r->asked++;
    if (r->refuse_every != 0 && r->asked % r->refuse_every == 0 && r->queue[0].count != 0) {
        r->refused = true; /* until the next answer */
        return false;
    }
    if (r->logged < RIG_LOG)
        r->log[r->logged++] = m->address;
    bool slow = m->address < r->slow_end;
    rig_queue *q = &r->queue[slow];
    assert_true(q->count < RIG_QUEUE);
    uint32_t at = (q->head + q->count++) % RIG_QUEUE;
    q->at[at].m = *m;
    q->at[at].due = now + (slow ? r->slow_latency : r->latency);
    ls_cancel(&r->event);
    ls_schedule_at(r->region, &r->event, rig_memory_next(r));
    return true;
}

static const ls_line_memory_ops rig_memory_ops = { .request = rig_memory_request };

static inline ls_line_port rig_memory_init(rig_memory *r, memory_space *address_space, ls_region *region,
                                           uint32_t line_bytes, uint32_t latency,
                                           const ls_line_client_ops *client, void *self)
{
    r->address_space = address_space;
    r->region = region;
    r->client = client;
    r->client_self = self;
    r->line_bytes = line_bytes;
    r->latency = latency;
    ls_event_init(&r->event, rig_memory_answer, r);
    return (ls_line_port){ .ops = &rig_memory_ops, .self = r, .line_bytes = line_bytes };
}

/* --- the rig --- */

typedef struct rig {
    ls_engine *engine;
    ls_domain *command, *cluster;
    ls_block *block;
    cu *cu;
    cu_spec spec;
    const char *policy; /* of the scheduler; NULL: oldest */
    ls_link *launches, *reports;
    ls_event start;
    rig_memory *vector[2], *scalar, *code;
    /* the launch */
    memory_space *address_space;
    uint64_t code_at, data, args;
    amd_program *program;
    cu_code *timing;
    ls_cu_kernel kernel;
    uint32_t scratch_bytes; /* per lane */
    uint32_t groups[3], total, next, done, free_groups;
    uint32_t free_slots[LS_CU_SIMDS_MAX];
    uint8_t simd_of[256][LS_CU_WAVES_PER_GROUP_MAX];
    uint16_t waves_of[256];
    bool busy[256];
    ls_cycle first_launch, last_done;
    ls_cu_done last;
    ls_cu_kernels kernels;
    ls_cu_tally tally;
    ls_fault fault;
    ls_run_result result;
} rig;

#define RIG_DATA_BYTES (1u << 20)

static inline void rig_dispatch(rig *r, ls_cycle now)
{
    ls_cu_capacity capacity = cu_get_capacity(r->block);
    while (r->next < r->total && ls_link_ready(r->launches)) {
        uint32_t id[3] = { r->next % r->groups[0], r->next / r->groups[0] % r->groups[1],
                           r->next / r->groups[0] / r->groups[1] };
        amd_start start = { .program = r->program };
        memcpy(start.grid, r->kernel.grid, sizeof start.grid);
        memcpy(start.group, r->kernel.group, sizeof start.group);
        uint32_t size[3], waves = amd_start_size(&start, id, size), slot = 0, room = 0;
        while (slot < capacity.groups && r->busy[slot])
            slot++;
        for (uint32_t s = 0; s < capacity.simds; s++)
            room += r->free_slots[s];
        if (slot == capacity.groups || room < waves)
            return;
        ls_cu_launch launch = { .scratch_place = slot, .slot = (uint16_t)slot };
        memcpy(launch.id, id, sizeof id);
        launch.wave_count = (uint16_t)waves;
        for (uint32_t i = 0, s = r->next % capacity.simds; i < waves; s = (s + 1) % capacity.simds)
            if (r->free_slots[s] != 0) {
                r->free_slots[s]--;
                launch.simd[i] = r->simd_of[slot][i] = (uint8_t)s;
                i++;
            }
        r->busy[slot] = true;
        r->waves_of[slot] = (uint16_t)waves;
        void *payload = ls_link_send(r->launches, 64);
        assert_non_null(payload);
        memcpy(payload, &launch, sizeof launch);
        if (r->next++ == 0)
            r->first_launch = now + RIG_WIRE;
    }
}

static inline void rig_start(void *self, ls_cycle now)
{
    rig_dispatch(self, now);
}

static inline void rig_report(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    rig *r = self;
    memcpy(&r->last, payload, sizeof r->last);
    ls_link_release(link, 1);
    uint16_t slot = r->last.slot;
    assert_true(r->busy[slot]);
    r->busy[slot] = false;
    for (uint32_t i = 0; i < r->waves_of[slot]; i++)
        r->free_slots[r->simd_of[slot][i]]++;
    r->done++;
    r->last_done = now;
    if (r->last.fault.kind != LS_FAULT_NONE && r->fault.kind == LS_FAULT_NONE)
        r->fault = r->last.fault;
    const ls_cu_tally *t = &r->last.tally;
    LS_COUNTS_ADD(&r->tally, t);
    rig_dispatch(r, now);
}

static inline void rig_launch(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    rig *r = self;
    ls_cu_launch launch;
    memcpy(&launch, payload, sizeof launch);
    ls_link_release(link, 1);
    cu_receive_launch(r->cu, &launch, now);
}

/* Defaults of the model; tests change r->spec before rig_build(). */
static inline void rig_spec(rig *r, const char *model)
{
    const ls_block_type *type = ls_registry_find_block("cu", model);
    assert_non_null(type);
    memset(&r->spec, 0, sizeof r->spec);
    for (size_t i = 0; i < type->param_count; i++) {
        const ls_param *p = &type->params[i];
        if (p->type == LS_PARAM_TYPE_UINT) {
            uint64_t value = strtoull(p->default_text, NULL, 0);
            memcpy((uint8_t *)&r->spec + p->offset, &value, sizeof value);
        }
    }
}

static inline void rig_build(rig *r, const char *model, uint32_t line_bytes, uint32_t latency)
{
    ls_clock clock;
    assert_int_equal(ls_clock_init(&clock, (ls_ratio){ RIG_HZ, 1 }, NULL), LS_OK);
    assert_int_equal(ls_engine_create(1, &r->engine, NULL), LS_OK);
    assert_int_equal(ls_domain_create(r->engine, "command", clock, &r->command, NULL), LS_OK);
    assert_int_equal(ls_domain_create(r->engine, "cluster", clock, &r->cluster, NULL), LS_OK);
    ls_region *region = ls_domain_region(r->cluster, 0);
    ls_error error;
    ls_status status =
        ls_block_create(region, "cu", ls_registry_find_block("cu", model), &r->spec, &r->block, &error);
    if (status != LS_OK)
        print_message("%s\n", error.what);
    assert_int_equal(status, LS_OK);
    r->cu = ls_block_state(r->block);
    ls_block *scheduler;
    const ls_block_type *policy =
        ls_registry_find_block(LS_WAVE_SCHEDULER_SLOT, r->policy ? r->policy : "oldest");
    assert_int_equal(ls_block_create(region, "scheduler", policy, NULL, &scheduler, NULL), LS_OK);
    assert_int_equal(ls_block_connect(r->block, "scheduler", scheduler, LS_SCHEDULER_PORT, NULL), LS_OK);
    ls_link_spec down = { .name = "launches",
                          .from = ls_domain_region(r->command, 0),
                          .to = region,
                          .latency_cycles = RIG_WIRE,
                          .credits = 256,
                          .payload_bytes = sizeof(ls_cu_launch),
                          .receive = rig_launch,
                          .receiver = r };
    ls_link_spec up = { .name = "reports",
                        .from = region,
                        .to = ls_domain_region(r->command, 0),
                        .latency_cycles = RIG_WIRE,
                        .credits = 4,
                        .payload_bytes = sizeof(ls_cu_done),
                        .receive = rig_report,
                        .receiver = r };
    assert_int_equal(ls_link_create(r->engine, &down, &r->launches, NULL), LS_OK);
    assert_int_equal(ls_link_create(r->engine, &up, &r->reports, NULL), LS_OK);
    cu_wires wires = { .vector_count = (uint32_t)r->spec.halves,
                       .to_command = r->reports,
                       .kernels = &r->kernels };
    r->kernels.at[0] = &r->kernel;
    for (uint32_t i = 0; i < wires.vector_count; i++)
        wires.vector[i] = rig_memory_init(r->vector[i], r->address_space, region, line_bytes, latency,
                                          &cu_vector_client[i], r->cu);
    wires.scalar =
        rig_memory_init(r->scalar, r->address_space, region, line_bytes, latency, &cu_scalar_client, r->cu);
    wires.code = rig_memory_init(r->code, r->address_space, region, line_bytes, 4, &cu_code_client, r->cu);
    assert_int_equal(cu_attach(r->block, &wires, NULL), LS_OK);
    for (uint32_t s = 0; s < r->spec.simds; s++)
        r->free_slots[s] = (uint32_t)r->spec.waves_per_simd;
    ls_event_init(&r->start, rig_start, r);
}

/* An address space with code, data and an argument that points to the data. */
static inline rig *rig_create(void)
{
    rig *r = calloc(1, sizeof *r);
    assert_non_null(r);
    uint32_t both = LS_PAGE_READ | LS_PAGE_WRITE;
    assert_int_equal(address_space_create(1u << 26, &r->address_space, NULL), LS_OK);
    assert_int_equal(address_space_alloc(r->address_space, 1u << 18, 0, LS_PAGE_READ, &r->code_at, NULL),
                     LS_OK);
    assert_int_equal(address_space_alloc(r->address_space, RIG_DATA_BYTES, 0, both, &r->data, NULL), LS_OK);
    assert_int_equal(address_space_alloc(r->address_space, 4096, 0, LS_PAGE_READ, &r->args, NULL), LS_OK);
    assert_int_equal(address_space_write(r->address_space, r->args, &r->data, 8, NULL), LS_OK);
    for (unsigned i = 0; i < 2; i++)
        assert_non_null(r->vector[i] = calloc(1, sizeof *r->vector[i]));
    assert_non_null(r->scalar = calloc(1, sizeof *r->scalar));
    assert_non_null(r->code = calloc(1, sizeof *r->code));
    return r;
}

/* s[0:1] is the address of the argument, s2 the work-group's number; wave32 for gfx10 unless `wave64`. */
static inline void rig_program(rig *r, amd_target target, bool wave64, const uint32_t *words, size_t count)
{
    assert_int_equal(address_space_write(r->address_space, r->code_at, words, count * 4, NULL), LS_OK);
    bool wave32 = target != AMD_GFX803 && !wave64;
    amd_kernel kernel = { .name = "test",
                          .target = target,
                          .code = r->code_at,
                          .code_bytes = count * 4,
                          .entry = r->code_at,
                          .rsrc1 = (wave32 ? 3 : 7) | 12u << 6 | 0xc0u << 12, /* 32 VGPRs */
                          .rsrc2 = 2u << 1 | 1u << 7,
                          .rsrc3 = amd_target_is_gfx9(target) ? 15 : 0, /* CDNA: all 64 are VGPRs */
                          .properties = (uint16_t)(1u << 3 | (wave32 ? 1u << 10 : 0)) };
    ls_error error;
    ls_status status = amd_program_create(&kernel, r->address_space, &r->program, &error);
    if (status != LS_OK)
        print_message("%s\n", error.what);
    assert_int_equal(status, LS_OK);
    assert_int_equal(cu_code_create(r->program, &r->timing, NULL), LS_OK);
}

/* Runs a grid to its end. */
static inline void rig_run(rig *r, uint32_t grid, uint32_t group, uint32_t lds_bytes)
{
    r->kernel = (ls_cu_kernel){ .program = r->program,
                                .code = r->timing,
                                .dims = 1,
                                .grid = { grid, 1, 1 },
                                .group = { group, 1, 1 },
                                .lds_bytes = lds_bytes,
                                .kernarg = r->args,
                                .max_instructions = r->kernel.max_instructions,
                                .lenient_barriers = r->kernel.lenient_barriers,
                                .tapes = r->kernel.tapes,
                                .recorder = r->kernel.recorder };
    if (r->scratch_bytes != 0) {
        uint32_t waves = (group + r->program->lanes - 1) / r->program->lanes;
        uint64_t place = (uint64_t)waves * r->program->lanes * ((r->scratch_bytes + 15) & ~15u);
        r->kernel.scratch_bytes = r->scratch_bytes;
        r->kernel.scratch_place_bytes = place;
        assert_int_equal(address_space_alloc(r->address_space, place * r->spec.groups, 0,
                                             LS_PAGE_READ | LS_PAGE_WRITE, &r->kernel.scratch, NULL),
                         LS_OK);
    }
    r->groups[0] = (grid + group - 1) / group;
    r->groups[1] = r->groups[2] = 1;
    r->total = r->groups[0];
    ls_schedule(ls_domain_region(r->command, 0), &r->start, 0);
    ls_error error;
    ls_status status = ls_run(r->engine, &(ls_run_options){ .threads = 1 }, &r->result, &error);
    if (status != LS_OK)
        print_message("%s\n%s\n", error.what, ls_engine_report(r->engine));
    assert_int_equal(status, LS_OK);
    assert_int_equal(r->done, r->total);
}

/* From the arrival of the first work-group to when the last one was reported. */
static inline uint64_t rig_cycles(const rig *r)
{
    return r->last_done - RIG_WIRE - r->first_launch;
}

static inline uint32_t *rig_data(const rig *r)
{
    return address_space_host(r->address_space, r->data, RIG_DATA_BYTES);
}

static inline void rig_destroy(rig *r)
{
    cu_code_destroy(r->timing);
    amd_program_destroy(r->program);
    if (r->engine)
        ls_engine_destroy(r->engine);
    address_space_destroy(r->address_space);
    for (unsigned i = 0; i < 2; i++)
        free(r->vector[i]);
    free(r->scalar);
    free(r->code);
    free(r);
}

/* Everything at once, for programs that need nothing special. Returns the cycles. */
static inline rig *rig_simple(const char *model, amd_target target, const uint32_t *words, size_t count,
                              uint32_t grid, uint32_t group)
{
    rig *r = rig_create();
    rig_spec(r, model);
    rig_build(r, model, strcmp(model, "gcn") == 0 ? 64 : 128, 100);
    rig_program(r, target, false, words, count);
    rig_run(r, grid, group, 4096);
    return r;
}

#endif
