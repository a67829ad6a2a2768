/* session_position.c: positions of a simulation's workload (workload/position.h): before each kernel that ran, and the
 * text that identifies a program. */
#include "sim/session.h"

#include "base/text.h"

#include <inttypes.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------- programs */

/* The last setting of an option counts. */
static uint64_t value_of(const run_program *p, const wl_option *option)
{
    uint64_t value = option->value;
    for (size_t i = 0; i < p->request.setting_count; i++)
        if (strcmp(p->request.settings[i].name, option->name) == 0)
            value = p->request.settings[i].value;
    return value;
}

/* Everything that the commands of a workload depend on: a verified run may copy more. */
static void describe_workload(const run_program *p, const char *target, text_buffer *out)
{
    text_printf(out, "workload %s\ntarget %s\nvariant %s\ndevices %s\nverify %d\n", p->workload->name, target,
                p->request.variant ? p->request.variant : "", wl_devices_names[p->request.devices],
                p->request.check);
    text_printf(out, "gpus %zu\nspread %s\npages %s\n", ls_gpu_system_gpu_count(p->request.system),
                p->spread ? p->spread : "", p->pages ? p->pages : "");
    for (size_t i = 0; i < p->workload->option_count; i++)
        text_printf(out, "%s %" PRIu64 "\n", p->workload->options[i].name,
                    value_of(p, &p->workload->options[i]));
}

static void describe_object(const run_program *p, const char *target, text_buffer *out)
{
    const emulate_object_launch *l = &p->launch;
    text_printf(out, "object\ntarget %s\nkernel %s\ngrid %s\ngroup %s\noffset %s\n", target,
                l->kernel ? l->kernel : "", l->grid, l->group ? l->group : "", l->offset ? l->offset : "");
    for (size_t i = 0; i < l->arg_count; i++)
        text_printf(out, "%s\n", l->args[i]);
}

ls_status run_program_source(const run_program *p, source_position *out, ls_error *err)
{
    const char *target = ls_gpu_system_gpu(p->request.system, 0)->target;
    char path[4096];
    text_buffer text = { 0 };
    ls_status status = LS_OK;
    if (p->recording)
        return position_begin(p->name, out, err);
    if (p->kind == RUN_OBJECT) {
        describe_object(p, target, &text);
    } else {
        const char *kernels = p->workload->kernels ? p->workload->kernels : p->workload->name;
        describe_workload(p, target, &text);
        status = wl_kernel_path(kernels, target, p->request.variant, path, sizeof path, err);
    }
    if (status == LS_OK && text.failed)
        status = ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    if (status == LS_OK)
        status = position_begin_program(text_get(&text), p->kind == RUN_OBJECT ? p->name : path, out, err);
    if (status == LS_OK)
        out->device_count = timing_device_count(p->request.system);
    text_fini(&text);
    return status;
}

ls_status run_program_go_to(run_program *p, const source_position *from, ls_error *err)
{
    source_position source;
    ls_status status = run_program_source(p, &source, err);
    if (status == LS_OK)
        status = position_check_source(from, &source, p->name, err);
    if (status == LS_OK && p->recording)
        p->from = *from; /* timing_replay() goes there */
    else if (status == LS_OK)
        status = timing_skip(p->request.system, from, err);
    return status;
}

/* ---------------------------------------------------------------------------------------------- sessions */

/* The record of a launch, by the order of ends. */
static const timing_record *launch_at(const run_program *p, size_t kernel)
{
    for (size_t i = 0; i < p->log.records.count; i++)
        if (p->log.records.at[i].kind == DRV_WORK_LAUNCH && kernel-- == 0)
            return &p->log.records.at[i];
    return NULL;
}

/* Kernels of device 0 come first, then those of device 1, and so on. */
static ls_status before_device_kernel(ls_sim *s, size_t kernel, source_position *out, ls_error *err)
{
    uint32_t device = 0;
    for (; !s->devices.at[device].replay || kernel >= s->devices.at[device].intervals.count; device++)
        kernel -= s->devices.at[device].replay ? s->devices.at[device].intervals.count : 0;
    return run_devices_position_before(&s->devices, device, kernel, out, err);
}

ls_status session_position(ls_sim *s, size_t kernel, source_position *out, ls_error *err)
{
    ls_sim_kernel found;
    ls_status status = ls_sim_get_kernel(s, kernel, &found, err);
    if (status != LS_OK)
        return status;
    if (s->has_devices)
        return before_device_kernel(s, kernel, out, err);
    if (s->has_trace) {
        status = position_begin(s->workload, out, err);
        out->command = replay_kernel_at(s->trace.replay, kernel)->command;
        return status;
    }
    const timing_record *record = launch_at(&s->program, kernel);
    status = run_program_source(&s->program, out, err);
    out->command = record->command;
    if (status == LS_OK && out->kind == POSITION_PROGRAM)
        timing_position(s->program.request.system, record, out);
    return status;
}

ls_status session_position_at(ls_sim *s, ls_time time, source_position *out, ls_error *err)
{
    if (!s->has_devices)
        return ls_fail(err, LS_ERR_USAGE,
                       "a position at a time is for device lists: '%s' has positions before its kernels",
                       s->workload);
    return run_devices_position(&s->devices, time, out, err);
}
