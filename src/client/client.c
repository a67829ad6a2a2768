/* client.c: see client.h. */
#include "client/client.h"

#include "base/file.h"
#include "base/text.h"
#include "client/results.h"
#include "client/timeline.h"
#include "runtime/timing/timing.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

client_state client = { .library = "lockstep", .interface = "the library" };

void client_complain(const char *fmt, ...)
{
    char line[2048];
    va_list args;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    fprintf(stderr, "%s: %s\n", client.library, line);
}

/* ---------------------------------------------------------------------------------------------- beginning */

static void apply(const client_settings *s, ls_gpu_options *options)
{
    options->gpus = s->gpu_count > 0 ? s->gpus : NULL;
    options->gpu_count = s->gpu_count;
    options->memory_bytes = s->memory_bytes;
    options->threads = s->threads;
    options->max_instructions = s->max_instructions;
    options->mode = s->mode;
    options->platform = s->platform;
    options->sets = s->sets;
    options->set_count = s->set_count;
    options->strict = s->strict;
    options->lenient_barriers = true; /* programs were written for hardware */
    options->trace_path = s->trace_path;
    options->trace_filter = s->trace_filter;
    options->record_path = s->record_path;
    options->check_memory = s->check_memory;
    options->platform_gpus = s->platform_gpus;
    options->unified = s->unified;
    options->spread = s->spread;
    options->pages = s->pages;
}

ls_status client_begin(const client_settings *settings, const ls_gpu_options *more)
{
    ls_gpu_options options = more ? *more : (ls_gpu_options){ 0 };
    ls_error err;
    char text[1024];
    apply(settings, &options);
    ls_status status = ls_gpu_system_create(&options, &client.system, &err);
    if (status == LS_OK)
        status = client_timeline_begin(settings, &err);
    if (status != LS_OK) {
        client_complain("there is no platform: %s", ls_error_text(&err, text, sizeof text));
        return status;
    }
    client.metrics_path = settings->metrics_path;
    client.has_counts = settings->metrics_path || settings->summary;
    client.is_strict = settings->strict || settings->check_memory;
    if (client_results_begin(settings, &err) != LS_OK)
        client_complain("some results will be missing: %s", ls_error_text(&err, text, sizeof text));
    return LS_OK;
}

/* ------------------------------------------------------------------------------------------------- ending */

/* Results in simulated time list the values of the platform that no source gives. */
static void add_assumptions(text_buffer *text)
{
    size_t count = 0;
    const ls_engine *engine = timing_engine(client.system);
    const ls_warning *warnings = engine != NULL ? ls_engine_warnings(engine, &count) : NULL;
    const char *before = ", \"assumptions\": [";
    for (size_t i = 0; i < count; i++)
        if (strcmp(warnings[i].kind, "assumption") == 0) {
            text_printf(text, "%s\"%.*s\"", before, (int)strcspn(warnings[i].text, " "), warnings[i].text);
            before = ", ";
        }
    if (before[2] == '\0')
        text_printf(text, "]");
}

/* Races and the number of reads that were checked, line by line. */
static void tell_checks(void)
{
    ls_error err;
    size_t count = 0;
    if (timing_memcheck(client.system) == NULL || timing_check_summary(client.system, &err) != LS_OK)
        return;
    const ls_warning *warnings = ls_engine_warnings(timing_engine(client.system), &count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(warnings[i].kind, "race") == 0 || strcmp(warnings[i].kind, "memory-check") == 0)
            client_complain("%s: %s", warnings[i].kind, warnings[i].text);
}

static ls_status write_metrics(const char *path, ls_error *err)
{
    const ls_gpu_counts *c = &client.counts;
    text_buffer text = { 0 };
    ls_status status;
    text_printf(&text,
                "{\"launches\": %" PRIu64 ", \"work_groups\": %" PRIu64 ", \"wavefronts\": %" PRIu64
                ", \"instructions\": %" PRIu64,
                c->launches, c->work_groups, c->wavefronts, c->instructions);
    for (size_t i = 0; i < LS_GPU_CLASS_MAX && ls_gpu_class_name(i); i++)
        text_printf(&text, ", \"instructions.%s\": %" PRIu64, ls_gpu_class_name(i), c->classes[i]);
    text_printf(&text,
                ", \"active_lanes\": %" PRIu64 ", \"loads\": %" PRIu64 ", \"stores\": %" PRIu64
                ", \"atomics\": %" PRIu64 ", \"load_bytes\": %" PRIu64 ", \"store_bytes\": %" PRIu64
                ", \"atomic_bytes\": %" PRIu64 ", \"barriers\": %" PRIu64 ", \"flops_half\": %" PRIu64
                ", \"flops_single\": %" PRIu64 ", \"flops_double\": %" PRIu64 ", \"simulated_ns\": %" PRIu64,
                c->active_lanes, c->loads, c->stores, c->atomics, c->load_bytes, c->store_bytes,
                c->atomic_bytes, c->barriers, c->flops_half, c->flops_single, c->flops_double,
                c->simulated_ns);
    add_assumptions(&text);
    text_printf(&text, "}\n");
    status = text.failed ? ls_fail(err, LS_ERR_NOMEM, "the host has no memory left")
                         : file_write(path, text_get(&text), text.count, err);
    text_fini(&text);
    return status;
}

static void warn(const char *text)
{
    client_complain("%s", text);
}

/* The system itself stays: threads of the program may still be in it. */
void client_end(void)
{
    ls_error err;
    char text[1024];
    if (!client.system || client.is_child)
        return;
    if (ls_gpu_system_close_trace(client.system, &err) != LS_OK)
        client_complain("%s", ls_error_text(&err, text, sizeof text));
    if (client_timeline_end(warn, &err) != LS_OK)
        client_complain("%s", ls_error_text(&err, text, sizeof text));
    if (client_results_end(&err) != LS_OK)
        client_complain("%s", ls_error_text(&err, text, sizeof text));
    tell_checks();
    if (client.metrics_path && write_metrics(client.metrics_path, &err) != LS_OK)
        client_complain("%s", ls_error_text(&err, text, sizeof text));
    /* A program that looks at no error must not make a finding a success. */
    if (client.is_strict && atomic_load(&client.has_finding)) {
        fflush(NULL);
        _exit(ls_status_exit_code(LS_ERR_CHECK));
    }
}
