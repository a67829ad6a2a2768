/* timing_replay.c: a recording in place of a program: its commands become packets again, its wavefronts read
 * tapes instead of executing. Everything is at the addresses that it had, and no data moves. */
#include "runtime/timing/timing_impl.h"

#include "isa/amd/exec/fault.h"
#include "runtime/driver/drv.h"
#include "runtime/record/tapes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct replay_program {
    amd_program *program;
    cu_code *code;
} replay_program;

typedef struct replay_command {
    const amd_file_command *command;
    ls_command_packet packet;
    tapes *tapes;
    uint64_t staged; /* frame of the host, of a copy over the fabric; 0: none */
    uint64_t number; /* of others than launches, among them */
    inst_counts *counts;
    bool submitted, over;
} replay_command;

typedef struct timing_leftover {
    timing *t;
    amd_file *file;
    replay_command *commands;
    size_t count, launch_count;
    size_t next;      /* the first that is not submitted */
    size_t over_upto; /* all before it are over */
    size_t over_count;
    replay_program *programs;       /* of each launch; launches of one kernel share them */
    bool is_of_several, has_memory; /* GPUs; commands that say where memory is */
    uint64_t others;
    ls_gpu_counts *counts;
    const kernel_selection *selection; /* NULL: all launches */
} replay;

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

/* --------------------------------------------------------------------------------------- simulated memory */

/* Maps every range that was ever mapped, for the whole replay. The replay's own allocations lie elsewhere. */
static ls_status map_extent(memory_space *address_space, uint64_t start, uint64_t end, ls_error *err)
{
    address_space_view view = address_space_look(address_space);
    while (start < end) {
        uint64_t stop = start;
        bool is_mapped = address_space_state(&view, start) != 0;
        while (stop < end && (address_space_state(&view, stop) != 0) == is_mapped)
            stop += LS_PAGE_BYTES;
        if (!is_mapped) {
            ls_status status =
                address_space_map(address_space, start, stop - start, LS_PAGE_READ | LS_PAGE_WRITE, err);
            if (status != LS_OK)
                return ls_error_prefix(err, "the memory of the recording");
        }
        start = stop;
    }
    return LS_OK;
}

static ls_status map_frames(memory_space *space, uint64_t start, uint64_t end, ls_error *err)
{
    uint64_t most = LS_WINDOW_BASE + address_space_bytes(space);
    if (end > most)
        return ls_fail(err, LS_ERR_UNSUPPORTED,
                       "the recording uses memory up to 0x%" PRIx64 ", but the GPU's ends at 0x%" PRIx64
                       ": a platform with more memory is needed",
                       end, most);
    return map_extent(space, start, end, err);
}

static timing_gpu *gpu_of(const replay *r, const replay_command *c)
{
    return &r->t->gpus[c->command->gpu];
}

/* The memory of a place, by the number of its GPU. */
static memory_space *space_of(const replay *r, uint32_t place)
{
    const timing *t = r->t;
    return place == MEM_PLACE_HOST ? t->host_space : t->gpus[t->index_of[place]].space;
}

static ls_status map_all(replay *r, ls_error *err)
{
    const amd_file_launch *last = NULL;
    ls_status status = LS_OK;
    for (size_t i = 0; i < r->count && status == LS_OK; i++) {
        const replay_command *c = &r->commands[i];
        const amd_file_command *f = c->command;
        if (f->kind == AMD_FILE_MAP)
            status = map_frames(space_of(r, f->gpu), f->to, f->to + f->bytes, err);
        if (f->kind != AMD_FILE_LAUNCH)
            continue;
        const amd_file_launch *l = amd_file_launch_at(r->file, f->launch);
        for (size_t n = 0; n < l->extent_count && status == LS_OK; n++) {
            const memory_extent *e = &l->extents[n];
            /* Most launches have what the one before had. */
            if (!last || n >= last->extent_count || memcmp(e, &last->extents[n], sizeof *e) != 0)
                status = map_frames(gpu_of(r, c)->space, e->start, e->end, err);
        }
        last = r->t->gpu_count == 1 ? l : NULL;
    }
    return status;
}

/* ------------------------------------------------------------------------------------------------- set-up */

static bool same_kernel(const amd_file_launch *a, const amd_file_launch *b)
{
    const amd_kernel *x = &a->kernel, *y = &b->kernel;
    return x->target == y->target && x->code == y->code && x->code_bytes == y->code_bytes &&
           x->entry == y->entry && x->rsrc1 == y->rsrc1 && x->rsrc2 == y->rsrc2 && x->rsrc3 == y->rsrc3 &&
           x->properties == y->properties && x->lds_bytes == y->lds_bytes &&
           x->scratch_bytes == y->scratch_bytes && a->code == b->code && a->lanes == b->lanes;
}

/* A kernel that was launched before is not decoded again. */
static ls_status find_program(replay *r, const timing_gpu *g, size_t launch, replay_program *out,
                              ls_error *err)
{
    const amd_file_launch *l = amd_file_launch_at(r->file, launch);
    for (size_t i = launch; i-- > 0 && launch - i < 64;)
        if (r->programs[i].program && same_kernel(amd_file_launch_at(r->file, i), l)) {
            *out = r->programs[i];
            return LS_OK;
        }
    const timing_gpu *home = r->is_of_several ? timing_home(r->t, l->kernel.code) : g;
    ls_status status = amd_file_program(r->file, launch, home ? home->space : g->space, &out->program, err);
    if (status == LS_OK)
        status = cu_code_create(out->program, &out->code, err);
    if (status == LS_OK)
        status = timing_warn_foreign(r->t, g, amd_target_name(l->kernel.target), err);
    return status;
}

static ls_status place_scratch(const timing_gpu *g, const amd_file_launch *l, ls_command_packet *p,
                               ls_error *err)
{
    ls_cu_kernel *k = &p->kernel;
    uint32_t items = k->group[0] * k->group[1] * k->group[2];
    k->scratch_bytes = (l->kernel.scratch_bytes + 15) & ~15u;
    k->scratch_place_bytes = (uint64_t)((items + l->lanes - 1) / l->lanes) * l->lanes * k->scratch_bytes;
    if (k->scratch_place_bytes == 0)
        return LS_OK;
    uint64_t bytes = k->scratch_place_bytes * g->command->places(g->command_self, p), frame;
    k->scratch = l->scratch;
    if (bytes <= l->scratch_bytes)
        return LS_OK;
    ls_status status =
        address_space_alloc(g->space, bytes, LS_PAGE_BYTES, LS_PAGE_READ | LS_PAGE_WRITE, &frame, err);
    if (status == LS_OK)
        k->scratch = mem_place_virtual(mem_place_home(l->packet), frame);
    return status;
}

static ls_status fill_launch(replay *r, replay_command *c, ls_error *err)
{
    size_t number = c->command->launch;
    const amd_file_launch *l = amd_file_launch_at(r->file, number);
    replay_program *program = &r->programs[number];
    ls_command_packet *p = &c->packet;
    const timing_gpu *g = gpu_of(r, c);
    ls_status status = find_program(r, g, number, program, err);
    if (status == LS_OK)
        status = tapes_create(r->file, number, program->program, &c->tapes, err);
    if (status != LS_OK)
        return status;
    *p = timing_packet_of(&l->kernel);
    p->kernel = (ls_cu_kernel){ .program = program->program,
                                .code = program->code,
                                .number = (uint32_t)number,
                                .dims = l->dims,
                                .lds_bytes = l->lds_bytes,
                                .kernarg = l->kernarg,
                                .packet = l->packet,
                                .queue = l->queue,
                                .dispatch_id = l->dispatch_id,
                                .lenient_barriers = true, /* it ran to its end */
                                .tapes = tapes_of(c->tapes) };
    memcpy(p->kernel.grid, l->grid, sizeof l->grid);
    memcpy(p->kernel.group, l->group, sizeof l->group);
    p->kernel.which =
        (ls_groups){ .first = l->part != 0 ? l->first : 0, .stride = l->stride, .count = l->part };
    status = timing_counts_begin(r->t, c->command->gpu, &p->kernel, &c->counts, err);
    if (status != LS_OK)
        return status;
    /* The packet and the arguments. A GPU in simulated time puts the arguments after the packet. */
    bool joined = l->kernarg > l->packet && l->kernarg - l->packet <= LS_PAGE_BYTES;
    uint64_t to = joined ? l->packet : l->kernarg;
    p->transfer = (ls_dma_job){
        .kind = LS_DMA_IN, .local = true, .to = timing_frame(to), .bytes = l->kernarg - to + l->argument_bytes
    };
    return place_scratch(g, l, p, err);
}

static void fill_transfer(replay_command *c)
{
    static const uint8_t kinds[] = { [AMD_FILE_COPY_IN] = LS_DMA_IN,
                                     [AMD_FILE_COPY_OUT] = LS_DMA_OUT,
                                     [AMD_FILE_COPY] = LS_DMA_COPY,
                                     [AMD_FILE_FILL] = LS_DMA_FILL };
    static const uint8_t zero[4];
    const amd_file_command *f = c->command;
    c->packet = (ls_command_packet){ .kind = LS_PACKET_TRANSFER,
                                     .transfer = { .kind = kinds[f->kind],
                                                   .local = f->local,
                                                   .to = f->to,
                                                   .from = f->from,
                                                   .bytes = f->bytes,
                                                   .pattern = zero,
                                                   .pattern_bytes = sizeof zero } };
}

/* Pages get another place: the machine forgets what it has of them, as in the recorded run. */
static ls_status move_pages(timing *t, const amd_file_command *f, ls_error *err)
{
    ls_status status = LS_OK;
    uint64_t run;
    for (uint64_t at = 0; at < f->bytes; at += run)
        timing_discard_frames(t, page_table_run(t->pages, f->to + at, f->bytes - at, &run), run);
    if (f->from == 0)
        page_table_clear(t->pages, f->to, f->bytes);
    else
        status = page_table_map(t->pages, f->to, f->bytes, (page_place){ f->gpu, f->from }, err);
    for (size_t i = 0; i < t->gpu_count; i++)
        amd_gpu_discard_pages(t->gpus[i].gpu, f->to, f->bytes);
    return status;
}

static ls_status copy_pages(timing *t, const amd_file_command *f, ls_error *err)
{
    timing_gpu *g = &t->gpus[t->index_of[f->gpu]];
    const page_copy copy = { .address = f->to, .bytes = f->bytes, .frame = f->from };
    if (!vec_push(&g->copies, copy))
        return no_memory(err);
    g->view.copies = g->copies.at;
    g->view.copy_count = g->copies.count;
    return LS_OK;
}

static ls_status submit(replay *r, replay_command *c, ls_error *err)
{
    const timing_gpu *g;
    ls_status status;
    if (c->command->kind == AMD_FILE_PLACE) { /* it takes no time */
        c->over = true;
        r->over_count++;
        return move_pages(r->t, c->command, err);
    }
    g = gpu_of(r, c);
    if (c->command->kind == AMD_FILE_LAUNCH) {
        status = fill_launch(r, c, err);
    } else {
        fill_transfer(c);
        c->number = r->others++;
        uint64_t host = c->command->kind == AMD_FILE_COPY_IN ? c->command->from : c->command->to;
        status = c->command->local ? LS_OK : timing_stage(r->t, g, &c->packet.transfer, host, &c->staged, err);
    }
    if (status != LS_OK)
        return status;
    c->packet.client = c;
    c->submitted = true;
    return timing_submit_packet(r->t, g, &c->packet, err);
}

/* Whether everything is over that was over when the command was submitted. */
static bool may_start(const replay *r, size_t index)
{
    const amd_file_command *c = r->commands[index].command;
    for (size_t i = r->over_upto, n = 0; i < index; i++) {
        while (n < c->beside_count && c->beside[n] < i)
            n++;
        if (!r->commands[i].over && !(n < c->beside_count && c->beside[n] == i))
            return false;
    }
    return true;
}

/* --------------------------------------------------------------------------------------------------- ends */

static ls_status report(const replay *r, const replay_command *c, ls_error *err)
{
    static const drv_work_kind kinds[] = { [AMD_FILE_LAUNCH] = DRV_WORK_LAUNCH,
                                           [AMD_FILE_COPY_IN] = DRV_WORK_IN,
                                           [AMD_FILE_COPY_OUT] = DRV_WORK_OUT,
                                           [AMD_FILE_COPY] = DRV_WORK_COPY,
                                           [AMD_FILE_FILL] = DRV_WORK_FILL };
    const ls_command_packet *p = &c->packet;
    bool launch = c->command->kind == AMD_FILE_LAUNCH;
    timing_record over = { .kind = kinds[c->command->kind],
                           .gpu = gpu_of(r, c)->number,
                           .command = (uint64_t)(c - r->commands),
                           .kernel = launch ? p->kernel.program->name : NULL,
                           .number = launch ? c->command->launch : c->number,
                           .begin = p->begin,
                           .end = p->end,
                           .bytes = c->command->bytes,
                           .groups = p->groups,
                           .waves = p->waves,
                           .instructions = p->tally.instructions,
                           .groups_per_cu = p->groups_per_cu,
                           .waves_per_cu = p->waves_per_cu,
                           .limit = launch ? p->limit : NULL };
    timing_describe_launch(&over, launch ? p : NULL);
    if (r->t->over && !c->command->local)
        timing_log_counters(r->t->log);
    return r->t->over && !(c->command->local) ? r->t->over(r->t->over_self, &over, err) : LS_OK;
}

static ls_status end_command(replay *r, replay_command *c, ls_error *err)
{
    const ls_command_packet *p = &c->packet;
    ls_status status = LS_OK;
    c->over = true;
    r->over_count++;
    timing_unstage(r->t, &p->transfer, &c->staged);
    while (r->over_upto < r->count && r->commands[r->over_upto].over)
        r->over_upto++;
    if (c->command->kind == AMD_FILE_LAUNCH) {
        if (r->t->sample)
            timing_sample_measured(r->t, selection_find(r->selection, c->command->launch), c->command->gpu, p,
                                   NULL);
        timing_add_counts(r->counts, p);
        uint32_t rank = timing_rank_of(r->t, c->command->gpu);
        status = timing_share_status(r->t, rank, tapes_status(c->tapes, err), err);
        if (status == LS_OK && p->has_fault) {
            amd_fault_place place = { .pc = p->fault.fault_pc, .wave = p->fault.fault_wave };
            memcpy(place.work_group, p->fault.id, sizeof place.work_group);
            status = amd_fault_report(p->kernel.program, &p->fault.fault, &place, NULL, 0, err);
        }
        uint64_t recorded = amd_file_launch_at(r->file, c->command->launch)->instructions;
        if (status == LS_OK && p->tally.instructions != recorded)
            status =
                ls_fail(err, LS_ERR_INTERNAL,
                        "kernel %s: %" PRIu64 " instructions were replayed, but %" PRIu64 " were recorded",
                        p->kernel.program->name, p->tally.instructions, recorded);
        tapes_destroy(c->tapes);
        c->tapes = NULL;
    }
    ls_status reported = report(r, c, status == LS_OK ? err : NULL);
    timing_counts_end(&c->counts);
    return status == LS_OK ? reported : status;
}

/* Runs the engine until a packet is over. */
static ls_status run_on(replay *r, ls_error *err)
{
    timing *t = r->t;
    for (;;) {
        ls_run_result piece;
        uint64_t windows = t->result.windows;
        ls_status status = timing_run_engine(t, &t->options, &piece, err);
        t->result = piece;
        t->result.windows += windows;
        if (status == LS_OK && piece.partial)
            status = ls_fail(err, LS_ERR_INTERRUPTED, "the simulation was interrupted");
        bool any = false;
        for (ls_command_packet *p; status == LS_OK && (p = timing_take(t)) != NULL; any = true)
            status = end_command(r, p->client, err);
        if (status != LS_OK || any)
            return status;
        if (t->options.until != 0)
            return ls_fail(err, LS_ERR_INTERRUPTED, "the simulation came to its end before the recording did");
    }
}

/* A launch that another stands for is over at once. */
static bool is_left_out(replay *r, replay_command *c)
{
    if (!r->t->sample || c->command->kind != AMD_FILE_LAUNCH ||
        sample_plan_wants(r->t->sample, selection_find(r->selection, c->command->launch)))
        return false;
    c->over = true;
    r->over_count++;
    while (r->over_upto < r->count && r->commands[r->over_upto].over)
        r->over_upto++;
    return true;
}

static ls_status run_all(replay *r, ls_error *err)
{
    ls_status status = map_all(r, err);
    while (status == LS_OK && r->over_count < r->count) {
        while (status == LS_OK && r->next < r->count && (r->commands[r->next].over || may_start(r, r->next))) {
            replay_command *c = &r->commands[r->next++];
            if (!c->over && !is_left_out(r, c))
                status = submit(r, c, err);
        }
        if (status == LS_OK && r->over_count < r->count)
            status = run_on(r, err);
    }
    return status;
}

/* Launches of one kernel have one program. */
static void destroy_programs(replay *r)
{
    for (size_t i = 0; r->programs && i < r->launch_count; i++) {
        replay_program own = r->programs[i];
        if (!own.program)
            continue;
        for (size_t n = i; n < r->launch_count; n++)
            if (r->programs[n].program == own.program)
                r->programs[n] = (replay_program){ 0 };
        cu_code_destroy(own.code);
        amd_program_destroy(own.program);
    }
    free(r->programs);
}

void timing_leftover_free(struct timing_leftover *r)
{
    if (!r)
        return;
    destroy_programs(r);
    for (size_t i = 0; r->commands && i < r->count; i++)
        tapes_destroy(r->commands[i].tapes);
    for (size_t i = 0; r->commands && i < r->count; i++)
        timing_counts_end(&r->commands[i].counts);
    free(r->commands);
    free(r);
}

/* The platform has the GPUs, and the host, that the command needs. */
static ls_status check_gpu(replay *r, const amd_file_command *c, ls_error *err)
{
    const timing *t = r->t;
    bool is_memory = c->kind >= AMD_FILE_MAP;
    if (is_memory && c->gpu == MEM_PLACE_HOST)
        return t->host ? LS_OK
                       : ls_fail(err, LS_ERR_UNSUPPORTED,
                                 "the recording uses memory of a host, but platform '%s' has none on a fabric",
                                 config_name(t->config));
    r->is_of_several |= c->gpu != 0 || is_memory;
    r->has_memory |= is_memory;
    if (c->kind == AMD_FILE_PLACE && !t->has_fabric)
        return ls_fail(
            err, LS_ERR_UNSUPPORTED,
            "the recording has pages on other GPUs than those that use them, but no fabric joins the GPUs "
            "of platform '%s'",
            config_name(t->config));
    if (is_memory ? c->gpu < MEM_PLACES && t->index_of[c->gpu] != UINT32_MAX : c->gpu < t->gpu_count)
        return LS_OK;
    return ls_fail(
        err, LS_ERR_UNSUPPORTED,
        "the recording uses GPU %u, but it runs on %zu GPU%s of platform '%s': a system with more is needed",
        c->gpu, t->gpu_count, t->gpu_count == 1 ? "" : "s", config_name(t->config));
}

static ls_status prepare(replay *r, ls_error *err)
{
    r->commands = calloc(r->count + 1, sizeof *r->commands);
    r->programs = calloc(r->launch_count + 1, sizeof *r->programs);
    if (!r->commands || !r->programs)
        return no_memory(err);
    for (size_t i = 0; i < r->count; i++) {
        r->commands[i].command = amd_file_command_at(r->file, i);
        ls_status status = check_gpu(r, r->commands[i].command, err);
        if (status == LS_OK && r->commands[i].command->kind == AMD_FILE_OWN)
            status = copy_pages(r->t, r->commands[i].command, err);
        if (status != LS_OK)
            return status;
        /* Frames and copies of code are there from the start. */
        r->commands[i].over =
            r->commands[i].command->kind == AMD_FILE_MAP || r->commands[i].command->kind == AMD_FILE_OWN;
        r->over_count += r->commands[i].over;
    }
    if (r->is_of_several && !r->has_memory)
        return ls_fail(
            err, LS_ERR_UNSUPPORTED,
            "the recording is of several GPUs in emulation, which have one memory: only a recording in "
            "simulated time can be replayed");
    for (size_t i = 0; i < r->count && r->is_of_several; i++) { /* addresses have the numbers that GPUs had */
        const replay_command *c = &r->commands[i];
        if (c->command->kind == AMD_FILE_LAUNCH)
            page_table_set_home(r->t->pages,
                                mem_place_home(amd_file_launch_at(r->file, c->command->launch)->packet),
                                gpu_of(r, c)->number);
    }
    return LS_OK;
}

static bool is_selected(const kernel_selection *selection, uint64_t launch)
{
    return selection_find(selection, launch) < selection->count;
}

/* Commands before the position and launches that are not selected are over before they begin. */
static void leave_out(replay *r, const source_position *from, const kernel_selection *selection)
{
    for (size_t i = 0; i < r->count; i++) {
        replay_command *c = &r->commands[i];
        bool launch = c->command->kind == AMD_FILE_LAUNCH, before = from && i < from->command;
        bool is_memory = c->command->kind >= AMD_FILE_MAP;
        if (is_memory || (!before && !(launch && selection && !is_selected(selection, c->command->launch))))
            continue;
        r->others += !launch;
        c->over = true;
        r->over_count++;
    }
}

static ls_status check_position(const source_position *from, const amd_file *file, ls_error *err)
{
    ls_status status = position_check_start(from, err);
    return status == LS_OK ? position_check_recording(from, file, err) : status;
}

ls_status timing_replay(ls_gpu_system *system, amd_file *file, const source_position *from,
                        const kernel_selection *selection, ls_gpu_counts *counts, ls_error *err)
{
    timing *t = system->machine;
    if (system->backend != &drv_backend_time)
        return ls_fail(err, LS_ERR_USAGE, "recordings run in simulated time only");
    if (t->has_fabric && t->gpus[0].number != 0 && amd_gpu_page_bytes(t->gpus[0].gpu) == 0)
        return ls_fail(err, LS_ERR_UNSUPPORTED,
                       "gpu%u is on a fabric and has no TLBs: a recording runs on gpu0 of such a system",
                       t->gpus[0].number);
    ls_status status = from ? check_position(from, file, err) : LS_OK;
    if (status != LS_OK)
        return status;
    replay *r = calloc(1, sizeof *r);
    if (!r)
        return no_memory(err);
    *r = (replay){ .t = t,
                   .file = file,
                   .count = amd_file_command_count(file),
                   .launch_count = amd_file_launch_count(file),
                   .counts = counts,
                   .selection = selection };
    pthread_mutex_lock(&t->lock);
    page_table_set_home(t->pages, 0, t->gpus[0].number); /* recorded addresses are those of a GPU alone */
    status = prepare(r, err);
    if (status == LS_OK)
        leave_out(r, from, selection);
    if (status == LS_OK)
        status = run_all(r, err);
    if (status != LS_OK) {
        t->is_broken = true;
        t->broken = *err;
        t->leftover = r;
    } else {
        timing_leftover_free(r);
    }
    pthread_mutex_unlock(&t->lock);
    return status;
}
