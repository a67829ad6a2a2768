/* emulate_output.c: the tables of `lockstep emulate`. */
#include "sim/emulate_output.h"

#include <inttypes.h>

static double seconds(const ls_gpu_counts *c)
{
    return (double)c->host_ns / 1e9;
}

static void line(FILE *out, const char *what, uint64_t value)
{
    char text[LS_FORMAT_BYTES];
    fprintf(out, "  %-16s %18s\n", what, format_count(value, text, sizeof text));
}

static void access_line(FILE *out, const char *what, uint64_t count, uint64_t bytes)
{
    char text[LS_FORMAT_BYTES], size[LS_FORMAT_BYTES];
    if (count > 0)
        fprintf(out, "  %-16s %18s  %s\n", what, format_count(count, text, sizeof text),
                format_si((double)bytes, "B", size, sizeof size));
}

void emulate_print_counts(FILE *out, bool color, const ls_gpu_counts *c)
{
    char text[LS_FORMAT_BYTES];
    double all = c->instructions ? (double)c->instructions : 1;
    line(out, "launches", c->launches);
    line(out, "work-groups", c->work_groups);
    line(out, "wavefronts", c->wavefronts);
    line(out, "instructions", c->instructions);
    for (size_t i = 0; i < LS_GPU_CLASS_MAX && ls_gpu_class_name(i); i++)
        if (c->classes[i])
            fprintf(out, "    %-14s %18s  %5.1f %%\n", ls_gpu_class_name(i),
                    format_count(c->classes[i], text, sizeof text), 100 * (double)c->classes[i] / all);
    access_line(out, "loads", c->loads, c->load_bytes);
    access_line(out, "stores", c->stores, c->store_bytes);
    access_line(out, "atomics", c->atomics, c->atomic_bytes);
    fprintf(out, "  %-16s %16.3f s\n", "time", seconds(c));
    if (c->host_ns > 0)
        fprintf(out, "  %-16s %18s%s of wavefront instructions%s\n", "rate",
                format_si((double)c->instructions / seconds(c), "/s", text, sizeof text),
                color ? "\033[2m" : "", color ? "\033[0m" : "");
}

void emulate_json_counts(json_writer *j, const ls_gpu_counts *c)
{
    json_put_u64(j, "launches", c->launches);
    json_put_u64(j, "work_groups", c->work_groups);
    json_put_u64(j, "wavefronts", c->wavefronts);
    json_put_u64(j, "instructions", c->instructions);
    json_key(j, "classes");
    json_begin_object(j);
    for (size_t i = 0; i < LS_GPU_CLASS_MAX && ls_gpu_class_name(i); i++)
        json_put_u64(j, ls_gpu_class_name(i), c->classes[i]);
    json_end(j);
    json_put_u64(j, "active_lanes", c->active_lanes);
    json_put_u64(j, "loads", c->loads);
    json_put_u64(j, "load_bytes", c->load_bytes);
    json_put_u64(j, "stores", c->stores);
    json_put_u64(j, "store_bytes", c->store_bytes);
    json_put_u64(j, "atomics", c->atomics);
    json_put_u64(j, "atomic_bytes", c->atomic_bytes);
    json_put_u64(j, "barriers", c->barriers);
    json_put_u64(j, "flops_half", c->flops_half);
    json_put_u64(j, "flops_single", c->flops_single);
    json_put_u64(j, "flops_double", c->flops_double);
    json_key(j, "host_seconds");
    json_real(j, seconds(c));
    json_key(j, "instructions_per_second");
    json_real(j, c->host_ns ? (double)c->instructions / seconds(c) : 0);
}
