/* amd_walk.c: all instructions of a recording one after another, for those who count, print or check them. */
#include "workload/pack/amd_file.h"

#include "base/file.h"
#include "isa/amd/exec/tape.h"
#include "workload/pack/section.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct walk {
    const amd_file_launch *launch;
    amd_tape_code code;
    amd_tape_memory *memory;
    amd_access *access;
    amd_walk_visit visit;
    void *self;
    uint64_t waves, instructions;
    bool stopped;
} walk;

/* Waves that a work-group has: those at the end of the grid may be smaller. */
static uint64_t walk_waves(const amd_file_launch *l, uint64_t index)
{
    uint32_t id[3];
    uint64_t items = 1;
    amd_file_group_id(l, index, id);
    for (unsigned i = 0; i < 3; i++) {
        uint32_t left = l->grid[i] - id[i] * l->group[i];
        items *= left < l->group[i] ? left : l->group[i];
    }
    return (items + l->lanes - 1) / l->lanes;
}

/* Returns NULL, or the text of an error. */
static const char *walk_wave(walk *w, uint64_t group, uint32_t wave, const uint8_t **at, const uint8_t *end)
{
    amd_tape tape;
    uint64_t number = 0;
    if (!amd_tape_open(&tape, &w->code, w->memory, at, end))
        return "the tape of a wave cannot be read";
    while (tape.left > 0 && !w->stopped) {
        bool has_access = w->visit && amd_tape_access(&tape, AMD_TAPE_PRIVATE, w->access);
        if (tape.failed)
            break;
        if (w->visit) {
            amd_walk_step step = { .group = group,
                                   .wave = wave,
                                   .number = number,
                                   .pc = amd_tape_pc(&tape),
                                   .exec = tape.exec,
                                   .inst = w->code.program->ops[tape.inst].inst,
                                   .access = has_access ? w->access : NULL };
            w->stopped = !w->visit(w->self, &step);
        }
        number++;
        amd_tape_step(&tape);
    }
    w->waves++;
    w->instructions += number;
    return w->stopped || amd_tape_is_whole(&tape) ? NULL : "the tape of a wave is damaged";
}

static const char *walk_group(walk *w, uint64_t index, const amd_file_group *group)
{
    const uint8_t *at = group->at, *end = at + group->count;
    pack_record r = { at, end, false };
    uint64_t waves = pack_take_number(&r, UINT32_MAX);
    at = r.at;
    if (r.failed || waves != walk_waves(w->launch, index))
        return "a work-group has another number of waves than its size says";
    for (uint32_t i = 0; i < waves && !w->stopped; i++) {
        const char *problem = walk_wave(w, index, i, &at, end);
        if (problem)
            return problem;
    }
    return w->stopped || at == end ? NULL : "a work-group is longer than its waves";
}

ls_status amd_walk_launch(amd_file *file, size_t launch, const amd_program *program, uint64_t first,
                          uint64_t count, amd_walk_visit visit, void *self, ls_error *err)
{
    const amd_file_launch *l = amd_file_launch_at(file, launch);
    walk w = { .launch = l, .visit = visit, .self = self };
    amd_file_group group = { 0 };
    ls_status status = LS_OK;
    if (!amd_tape_code_init(&w.code, program))
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    w.memory = malloc((w.code.memory_count + 1) * sizeof *w.memory);
    w.access = malloc(sizeof *w.access);
    if (!w.memory || !w.access)
        status = ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    uint64_t end = first < l->groups && count > l->groups - first ? l->groups : first + count;
    for (uint64_t i = first; i < end && status == LS_OK && !w.stopped; i++) {
        status = amd_file_read(file, launch, i, &group, err);
        const char *problem = status == LS_OK ? walk_group(&w, i, &group) : NULL;
        if (problem)
            status = ls_fail(err, LS_ERR_INPUT, "launch %zu (%s), work-group %" PRIu64 ": %s", launch + 1,
                             l->kernel.name, i, problem);
    }
    bool all = first == 0 && end == l->groups && !w.stopped;
    if (status == LS_OK && all && (w.waves != l->waves || w.instructions != l->instructions))
        status =
            ls_fail(err, LS_ERR_INPUT,
                    "launch %zu (%s) has %" PRIu64 " instructions of %" PRIu64 " waves, but its catalog says "
                    "%" PRIu64 " of %" PRIu64,
                    launch + 1, l->kernel.name, w.instructions, w.waves, l->instructions, l->waves);
    amd_file_group_fini(&group);
    amd_tape_code_fini(&w.code);
    free(w.memory);
    free(w.access);
    return status;
}

static ls_status verify_launches(amd_file *file, ls_error *err)
{
    memory_space *address_space = NULL;
    ls_status status = amd_file_window(file, &address_space, err);
    for (size_t i = 0; i < amd_file_launch_count(file) && status == LS_OK; i++) {
        amd_program *program = NULL;
        status = amd_file_program(file, i, address_space, &program, err);
        if (status == LS_OK)
            status = amd_walk_launch(file, i, program, 0, UINT64_MAX, NULL, NULL, err);
        amd_program_destroy(program);
    }
    address_space_destroy(address_space);
    return status;
}

ls_status amd_file_verify(const char *path, ls_error *err)
{
    uint64_t size;
    pack_in in;
    amd_file *file = NULL;
    int fd;
    ls_status status = file_open(path, &fd, &size, err);
    if (status != LS_OK)
        return status;
    status = pack_in_init(&in, fd, size, path, err);
    if (status == LS_OK) {
        in.flags = LS_PACK_FLAG_AMD;
        status = pack_verify_sections(&in, err);
        pack_in_fini(&in);
    }
    close(fd);
    if (status == LS_OK)
        status = amd_file_open(path, &file, err);
    if (status == LS_OK)
        status = verify_launches(file, err);
    amd_file_close(file);
    return status;
}
