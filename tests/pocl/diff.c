/* diff.c: the same OpenCL kernels on the simulator and on PoCL: equal integers, floats within the limits of
 * the specification. `pocl_diff THEME [KERNEL]` runs kernels/THEME.cl in every variant that the build
 * compiled; exit code 77 (skipped) without PoCL or without compiled kernels. */
#include "diff.h"
#include "ocl.h"

#include "base/arena.h"
#include "base/file.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SKIPPED 77
#define ITEMS 2048
#define SLOTS 32 /* results of a work-item */
#define LOCAL_BYTES 1024

typedef struct variant {
    const char *name, *gpu;
    bool flushes; /* 32-bit floats below the normal range become 0, the compiler's setting for this target */
} variant;

static const variant variants[] = {
    { "gfx803", "gfx803", true },
    { "gfx1010", "gfx1010", false },
    { "gfx1030-O0", "gfx1030", false },
    { "gfx1030-wave64", "gfx1030", false },
};

typedef enum arg_role { ARG_IN, ARG_OUT, ARG_VALUE, ARG_LOCAL } arg_role;

typedef struct diff_arg {
    const char *name;
    arg_role role;
    value_type type;
    size_t bytes;
    uint8_t *data;   /* inputs and values */
    uint8_t *shared; /* PoCL's copy; after the run its results */
    uint8_t *got;    /* the simulator's results */
} diff_arg;

typedef struct job {
    mem_arena arena;
    ocl_kernel_info info;
    diff_arg args[OCL_ARGS_MAX];
    size_t arg_count;
    uint32_t grid[3], group[3];
} job;

/* ---------------------------------------------------------------------------------------------- preparing */

static ls_status prepare(job *j, ocl_device *cpu, ls_error *err)
{
    ls_random random;
    ls_random_init(&random, 7);
    unsigned inputs = 0;
    j->arg_count = j->info.arg_count;
    for (size_t i = 0; i < j->arg_count; i++) {
        diff_arg *a = &j->args[i];
        a->name = j->info.args[i].name;
        if (!value_type_parse(j->info.args[i].type, &a->type))
            return ls_fail(err, LS_ERR_INPUT, "%s: unknown type %s", j->info.name, j->info.args[i].type);
        const bool is_buffer = j->info.args[i].space == OCL_GLOBAL || j->info.args[i].space == OCL_CONSTANT;
        const bool is_out = strncmp(a->name, "out", 3) == 0;
        a->role = is_buffer                            ? (is_out ? ARG_OUT : ARG_IN)
                  : j->info.args[i].space == OCL_LOCAL ? ARG_LOCAL
                                                       : ARG_VALUE;
        if (strncmp(a->name, "out_half", 8) == 0)
            a->type.kind = 'f';
        const size_t elements =
            (size_t)a->type.width * (is_buffer ? ITEMS : 1) * (is_buffer && is_out ? SLOTS : 1);
        a->bytes = a->role == ARG_LOCAL ? LOCAL_BYTES : elements * a->type.bytes;
        a->data = arena_alloc(&j->arena, a->bytes);
        a->got = arena_alloc(&j->arena, a->bytes);
        a->shared = is_buffer ? ocl_alloc(cpu, a->bytes) : NULL;
        if (!a->data || !a->got || (is_buffer && !a->shared))
            return ls_fail(err, LS_ERR_NOMEM, "no memory for %s of %s", a->name, j->info.name);
        if (a->role == ARG_IN || a->role == ARG_VALUE)
            value_fill(a->name, a->type, inputs++, a->data, elements, &random);
        if (is_buffer)
            memcpy(a->shared, a->data, a->bytes);
    }
    const uint32_t *required = j->info.required_group;
    for (int d = 0; d < 3; d++)
        j->group[d] = required[0] ? required[d] : d == 0 ? 64 : 1;
    const bool is_line = j->group[1] * j->group[2] == 1;
    j->grid[0] = is_line ? ITEMS : j->group[0] * 4;
    for (int d = 1; d < 3; d++)
        j->grid[d] = j->group[d] > 1 ? j->group[d] * 2 : 1;
    return LS_OK;
}

static void finish(job *j, ocl_device *cpu)
{
    for (size_t i = 0; i < j->arg_count; i++)
        ocl_free(cpu, j->args[i].shared);
    arena_fini(&j->arena);
    memset(j, 0, sizeof *j);
}

/* ------------------------------------------------------------------------------------------------ running */

static ls_status run_cpu(job *j, ocl_program *program, ls_error *err)
{
    ls_gpu_arg args[OCL_ARGS_MAX];
    for (size_t i = 0; i < j->arg_count; i++) {
        const diff_arg *a = &j->args[i];
        args[i] = a->role == ARG_VALUE   ? (ls_gpu_arg){ a->data, a->bytes }
                  : a->role == ARG_LOCAL ? LS_GPU_LOCAL(a->bytes)
                                         : LS_GPU_ARG(a->shared);
    }
    return ocl_run(program, j->info.name, j->grid, j->group, args, j->arg_count, err);
}

static ls_status run_gpu(job *j, ls_gpu_context *gpu, ls_gpu_module *module, ls_error *err)
{
    ls_gpu_address buffers[OCL_ARGS_MAX] = { 0 };
    ls_gpu_arg args[OCL_ARGS_MAX];
    ls_gpu_kernel *kernel;
    ls_status status = ls_gpu_module_find(module, j->info.name, &kernel, err);
    for (size_t i = 0; i < j->arg_count && status == LS_OK; i++) {
        const diff_arg *a = &j->args[i];
        args[i] = a->role == ARG_VALUE   ? (ls_gpu_arg){ a->data, a->bytes }
                  : a->role == ARG_LOCAL ? LS_GPU_LOCAL(a->bytes)
                                         : LS_GPU_ARG(buffers[i]);
        if (a->role == ARG_VALUE || a->role == ARG_LOCAL)
            continue;
        status = ls_gpu_alloc(gpu, a->bytes, &buffers[i], err);
        if (status == LS_OK)
            status = ls_gpu_copy_in(gpu, buffers[i], a->data, a->bytes, err);
    }
    const ls_gpu_launch launch = { .grid = { j->grid[0], j->grid[1], j->grid[2] },
                                   .group = { j->group[0], j->group[1], j->group[2] },
                                   .args = args,
                                   .arg_count = j->arg_count };
    if (status == LS_OK)
        status = ls_gpu_run(gpu, kernel, &launch, err);
    for (size_t i = 0; i < j->arg_count && status == LS_OK; i++)
        if (j->args[i].role == ARG_OUT)
            status = ls_gpu_copy_out(gpu, j->args[i].got, buffers[i], j->args[i].bytes, err);
    for (size_t i = 0; i < j->arg_count; i++)
        ls_gpu_free(gpu, buffers[i], NULL);
    return status;
}

/* ---------------------------------------------------------------------------------------------- comparing */

/* A target that flushes may take a subnormal input for 0: these work-items are not compared. */
static bool item_is_free(const job *j, size_t item)
{
    for (size_t i = 0; i < j->arg_count; i++) {
        const diff_arg *a = &j->args[i];
        for (size_t k = 0; k < a->type.width && a->role == ARG_IN && a->type.kind == 'f' && a->type.bytes == 4;
             k++)
            if (value_is_subnormal(a->type, a->data, item * a->type.width + k))
                return true;
    }
    return false;
}

static long double expected_of(const job *j, const reference *ref, size_t item)
{
    const diff_arg *a = &j->args[0], *b = &j->args[1];
    const long double x = value_get(a->type, a->data, item);
    return ref->one ? ref->one(x) : ref->two(x, value_get(b->type, b->data, item));
}

/* The result or the input was below the normal range, or rounding may have taken it there. */
static bool is_flushed(const job *j, double got, long double expected, double ulps, size_t item)
{
    return item_is_free(j, item) || (got == 0 && fabsl(expected) < 0x1p-126L + (long double)ulps * 0x1p-149L);
}

/* Whether element `at` of the output is as it must be. */
static bool is_right(const job *j, const diff_arg *a, const reference *ref, const variant *v, size_t at)
{
    const size_t offset = at * a->type.bytes;
    const bool is_slot0 = at % SLOTS == 0;
    const bool is_same = memcmp(a->got + offset, a->shared + offset, a->type.bytes) == 0;
    if (is_same && !(ref && is_slot0))
        return true;
    if (a->type.kind != 'f')
        return v->flushes && item_is_free(j, at / a->type.width / SLOTS);
    const bool flushes = v->flushes && a->type.bytes == 4;
    if (v->flushes && item_is_free(j, at / a->type.width / SLOTS))
        return true;
    const double got = value_get(a->type, a->got, at), cpu = value_get(a->type, a->shared, at);
    if (ref && is_slot0) {
        const long double expected = expected_of(j, ref, at / SLOTS);
        const double ulps = a->type.bytes == 4 ? ref->ulps32 : ref->ulps64;
        if ((flushes || (ref->may_flush && a->type.bytes == 4)) &&
            is_flushed(j, got, expected, ulps, at / SLOTS))
            return true;
        return reference_ulps(got, expected, a->type.bytes) <= ulps;
    }
    if (isnan(got) && isnan(cpu))
        return true;
    if (flushes && got == 0 && value_is_subnormal(a->type, a->shared, at))
        return true;
    if (strstr(a->name, "_zero"))
        return got == 0 && cpu == 0;
    if (strncmp(a->name, "out_ulp", 7) == 0)
        return reference_ulps(got, cpu, a->type.bytes) <= strtod(a->name + 7, NULL);
    return false;
}

static void tell(const job *j, const diff_arg *a, const reference *ref, const variant *v, size_t at,
                 size_t wrong)
{
    char got[64], cpu[64], in[64];
    const size_t item = at / a->type.width / SLOTS;
    printf("%s [%s]: %s[%zu] (item %zu, slot %zu) is %s, PoCL has %s", j->info.name, v->name, a->name, at,
           item, at / a->type.width % SLOTS, value_text(a->type, a->got, at, got, sizeof got),
           value_text(a->type, a->shared, at, cpu, sizeof cpu));
    if (ref)
        printf(", the reference %.17Lg", expected_of(j, ref, item));
    for (size_t i = 0; i < j->arg_count; i++)
        if (j->args[i].role == ARG_IN && item < ITEMS) {
            const diff_arg *b = &j->args[i];
            printf("; %s %s", b->name,
                   value_text(b->type, b->data, item * b->type.width + at % b->type.width, in, sizeof in));
        }
    printf("; %zu differ\n", wrong);
}

static bool compare(const job *j, const reference *ref, const variant *v)
{
    bool is_good = true;
    for (size_t i = 0; i < j->arg_count; i++) {
        const diff_arg *a = &j->args[i];
        size_t wrong = 0, first = 0;
        if (a->role != ARG_OUT || (!ref && memcmp(a->got, a->shared, a->bytes) == 0))
            continue;
        for (size_t at = a->bytes / a->type.bytes; at-- > 0;)
            if (!is_right(j, a, ref, v, at)) {
                wrong++;
                first = at;
            }
        if (wrong)
            tell(j, a, ref, v, first, wrong);
        is_good = is_good && wrong == 0;
    }
    return is_good;
}

/* --------------------------------------------------------------------------------------------------- main */

typedef struct side {
    const variant *variant;
    ls_gpu_system *system;
    ls_gpu_context *gpu;
    ls_gpu_module *module;
} side;

static ls_status open_side(side *s, const variant *v, const char *theme, ls_error *err)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/tests/pocl/%s/%s.co", LS_BINARY_DIR, v->name, theme);
    if (!file_exists(path))
        return LS_ERR_UNSUPPORTED;
    s->variant = v;
    ls_status status =
        ls_gpu_system_create(&(ls_gpu_options){ .gpus = &v->gpu, .gpu_count = 1, .strict = true }, &s->system,
                             err);
    if (status == LS_OK)
        status = ls_gpu_context_create(s->system, &s->gpu, err);
    if (status == LS_OK)
        status = ls_gpu_module_load_file(s->gpu, path, &s->module, err);
    return status;
}

static void close_side(side *s)
{
    ls_gpu_context_destroy(s->gpu);
    ls_gpu_system_destroy(s->system);
}

/* How many variants of the kernel are wrong. */
static int run_kernel(ocl_device *cpu, ocl_program *program, size_t index, const char *only, const side *sides,
                      size_t side_count, int *runs)
{
    job j = { 0 };
    ls_error err;
    char text[900];
    bool is_known = true;
    int failures = 0;
    ls_status status = ocl_kernel_get_info(program, index, &j.info, &err);
    if (status == LS_OK && only && strcmp(only, j.info.name) != 0)
        return 0;
    const reference *ref = reference_find(j.info.name, &is_known);
    if (!is_known)
        status = ls_fail(&err, LS_ERR_INPUT, "%s: there is no reference of this name", j.info.name);
    if (status == LS_OK)
        status = prepare(&j, cpu, &err);
    if (status == LS_OK)
        status = run_cpu(&j, program, &err);
    if (status != LS_OK) {
        printf("PoCL: %s\n", ls_error_text(&err, text, sizeof text));
        failures++;
    }
    for (size_t i = 0; i < side_count && status == LS_OK; i++, ++*runs) {
        if (run_gpu(&j, sides[i].gpu, sides[i].module, &err) != LS_OK) {
            printf("%s [%s]: %s\n", j.info.name, sides[i].variant->name,
                   ls_error_text(&err, text, sizeof text));
            failures++;
        } else if (!compare(&j, ref, sides[i].variant)) {
            failures++;
        }
    }
    finish(&j, cpu);
    return failures;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        printf("usage: pocl_diff THEME [KERNEL]\n");
        return 2;
    }
    ls_error err;
    char text[900], *source;
    size_t bytes, side_count = 0;
    mem_arena arena = { 0 };
    ocl_device *cpu = NULL;
    ocl_program *program = NULL;
    side sides[LS_COUNT_OF(variants)] = { 0 };
    ls_status status = ocl_open(&cpu, &err);
    for (size_t i = 0; i < LS_COUNT_OF(variants) && status == LS_OK; i++) {
        const ls_status opened = open_side(&sides[side_count], &variants[i], argv[1], &err);
        if (opened != LS_ERR_UNSUPPORTED || sides[side_count].system)
            side_count++, status = opened;
    }
    if (status == LS_OK && side_count == 0)
        status = ls_fail(&err, LS_ERR_UNSUPPORTED,
                         "the build has compiled no kernels (clang-15, rocm-device-libs)");
    const char *path = arena_printf(&arena, "%s/tests/pocl/kernels/%s.cl", LS_SOURCE_DIR, argv[1]);
    if (status == LS_OK)
        status = file_read(&arena, path, 1 << 20, &source, &bytes, &err);
    if (status == LS_OK)
        status = ocl_build(cpu, source, bytes, "-cl-opt-disable", &program, &err);
    int failures = 0, runs = 0;
    if (status != LS_OK)
        printf("%s%s\n", status == LS_ERR_UNSUPPORTED ? "skipped: " : "",
               ls_error_text(&err, text, sizeof text));
    for (size_t i = 0; status == LS_OK && i < ocl_kernel_count(program); i++)
        failures += run_kernel(cpu, program, i, argc > 2 ? argv[2] : NULL, sides, side_count, &runs);
    if (status == LS_OK)
        printf("%s: %d runs of kernels on the simulator and PoCL, %d differ\n", argv[1], runs, failures);
    for (size_t i = 0; i < side_count; i++)
        close_side(&sides[i]);
    ocl_program_free(program);
    ocl_close(cpu);
    arena_fini(&arena);
    return status == LS_ERR_UNSUPPORTED ? SKIPPED : status != LS_OK || failures != 0 || runs == 0;
}
