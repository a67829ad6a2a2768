/* compile.c: runs clang and the linker for each stage, unless the result is already cached. */
#include "opencl/compile.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/vec.h"
#include "opencl/printf.h"
#include "opencl/sampler_prelude.h"
#include "opencl/tool.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define HEADER_FOLDER "/lockstep-headers" /* exists only in the compiler's view */

typedef LS_VEC(const char *) arguments;

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

static bool add(arguments *to, const char *word)
{
    if (!vec_reserve(to, 1))
        return false;
    to->at[to->count++] = word;
    return true;
}

static bool add_all(arguments *to, const char *const *words)
{
    for (; *words; words++)
        if (!add(to, *words))
            return false;
    return true;
}

/* -------------------------------------------------------------------------------------------- environment */

/* Paths of the compiler and its libraries. Found once per call, so that a change of the environment takes
 * effect. */
typedef struct toolchain {
    char clang[1024], lld[1024], libraries[1024];
    char library_option[1100];
} toolchain;

static bool find_libraries(toolchain *t)
{
    static const char *const places[] = { "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode",
                                          "/usr/lib/aarch64-linux-gnu/amdgcn/bitcode",
                                          "/usr/lib/amdgcn/bitcode", "/opt/rocm/amdgcn/bitcode" };
    const char *given = getenv("LOCKSTEP_DEVICE_LIBS");
    char file[1100];
    for (size_t i = given && *given ? 0 : 1; i <= sizeof places / sizeof *places; i++) {
        snprintf(t->libraries, sizeof t->libraries, "%s", i == 0 ? given : places[i - 1]);
        snprintf(file, sizeof file, "%s/opencl.bc", t->libraries);
        if (file_exists(file))
            return true;
        if (i == 0)
            return false;
    }
    return false;
}

static ls_status find_toolchain(toolchain *t, ls_error *err)
{
    static const char *const clangs[] = { "clang-15", "/usr/lib/llvm-15/bin/clang", NULL };
    static const char *const llds[] = { "ld.lld-15", "/usr/lib/llvm-15/bin/ld.lld", NULL };
    if (!ocl_tool_find("LOCKSTEP_CLANG", clangs, t->clang, sizeof t->clang))
        return ls_fail(err, LS_ERR_UNSUPPORTED,
                       "there is no clang-15 to compile with (LOCKSTEP_CLANG can name one)");
    if (!ocl_tool_find("LOCKSTEP_LLD", llds, t->lld, sizeof t->lld))
        return ls_fail(err, LS_ERR_UNSUPPORTED,
                       "there is no ld.lld-15 to link with (LOCKSTEP_LLD can name one)");
    if (!find_libraries(t))
        return ls_fail(err, LS_ERR_UNSUPPORTED,
                       "there are no ROCm device libraries (LOCKSTEP_DEVICE_LIBS can name their folder)");
    snprintf(t->library_option, sizeof t->library_option, "--rocm-device-lib-path=%s", t->libraries);
    return LS_OK;
}

/* ------------------------------------------------------------------------------------------ command lines */

static bool is_from_source(ocl_stage stage)
{
    return stage == OCL_COMPILE || stage == OCL_BUILD;
}

static bool gives_bitcode(ocl_stage stage)
{
    return stage == OCL_COMPILE || stage == OCL_LIBRARY;
}

/* Bitcode is linked by compiling nothing with it: that is where clang takes further modules. The device
 * libraries are in the bitcode already. */
static bool common_arguments(arguments *to, const toolchain *t, const ocl_job *job, const char *cpu)
{
    const char *const first[] = { t->clang,
                                  "-target",
                                  "amdgcn-amd-amdhsa",
                                  cpu,
                                  "-O2",
                                  "-fno-color-diagnostics",
                                  "-fno-crash-diagnostics", /* which would be files */
                                  "-Wno-unused-command-line-argument",
                                  "-x",
                                  "cl",
                                  "-cl-std=CL1.2",
                                  is_from_source(job->stage) ? t->library_option : "-nogpulib",
                                  "-cl-kernel-arg-info",
                                  "-D__OPENCL_VERSION__=300",
                                  "-D__IMAGE_SUPPORT__=1",
                                  NULL };
    return add_all(to, first);
}

/* Optional parts of OpenCL C 3.0 that the device supports beyond clang's own list for this target; device.c
 * lists the same. */
static const char *const c30_features[] = {
    "-Xclang",
    ("-cl-ext=+__opencl_c_generic_address_space,+__opencl_c_program_scope_global_variables,"
     "+__opencl_c_atomic_order_acq_rel,+__opencl_c_atomic_order_seq_cst,"
     "+__opencl_c_subgroups,+__opencl_c_read_write_images"),
    "-D__opencl_c_work_group_collective_functions=1", /* these two only the headers know */
    "-D__opencl_c_atomic_scope_device=1",
    NULL,
};

static bool is_c30(const ocl_words *words)
{
    bool is = false;
    for (size_t i = 0; i < words->count; i++)
        if (starts_with(words->at[i], "-cl-std="))
            is = strcmp(words->at[i], "-cl-std=CL3.0") == 0;
    return is;
}

static bool has_word(const ocl_words *words, const char *word)
{
    for (size_t i = 0; i < words->count; i++)
        if (strcmp(words->at[i], word) == 0)
            return true;
    return false;
}

/* The program's options come after ours, and so win. */
static bool clang_arguments(arguments *to, const toolchain *t, const ocl_job *job, const ocl_words *words,
                            const char *cpu, const ocl_tool *tool, bool is_preprocessing)
{
    bool ok = common_arguments(to, t, job, cpu);
    for (size_t i = 0; i < words->count && ok; i++)
        ok = add(to, words->at[i]);
    if (has_word(words, "-cl-opt-disable")) /* clang heeds it only without an option -O */
        ok = ok && add(to, "-O0");
    if (is_c30(words))
        ok = ok && add_all(to, c30_features);
    if (job->header_count > 0)
        ok = ok && add(to, "-ivfsoverlay") && add(to, ocl_tool_path(tool, 0)) && add(to, "-I" HEADER_FOLDER);
    for (size_t i = 0; i < job->input_count && ok; i++)
        ok = add(to, "-Xclang") && add(to, "-mlink-bitcode-file") && add(to, "-Xclang") &&
             add(to, ocl_tool_path(tool, i));
    ok = ok && add(to, is_preprocessing ? "-E" : "-c");
    ok = ok && (!gives_bitcode(job->stage) || is_preprocessing || add(to, "-emit-llvm"));
    return ok && add(to, "-o") && add(to, "-") && add(to, "-") && add(to, NULL);
}

/* The overlay that shows the headers' texts as files of one folder; they are the tool's inputs from 1 on. */
static void describe_headers(const ocl_job *job, text_buffer *out)
{
    text_add(out, "{'version': 0, 'roots': [");
    for (size_t i = 0; i < job->header_count; i++) {
        text_printf(out, "%s{'type': 'file', 'name': \"" HEADER_FOLDER "/", i > 0 ? ", " : "");
        for (const char *c = job->header_names[i]; *c; c++)
            text_printf(out, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
        text_printf(out, "\", 'external-contents': '" OCL_TOOL_PATH_FORMAT "'}",
                    OCL_TOOL_FIRST_FD + (int)i + 1);
    }
    text_add(out, "]}\n");
}

static ls_status give_inputs(ocl_tool *tool, const ocl_job *job, ls_error *err)
{
    text_buffer overlay = { 0 };
    ls_status status = LS_OK;
    for (size_t i = 0; i < job->input_count && status == LS_OK; i++)
        status = ocl_tool_input(tool, job->inputs[i].at, job->inputs[i].bytes, err);
    if (job->header_count > 0) {
        describe_headers(job, &overlay);
        status = overlay.failed ? no_memory(err) : ocl_tool_input(tool, overlay.at, overlay.count, err);
    }
    for (size_t i = 0; i < job->header_count && status == LS_OK; i++)
        status = ocl_tool_input(tool, job->header_texts[i], strlen(job->header_texts[i]), err);
    text_fini(&overlay);
    return status;
}

static ls_status run_clang(const toolchain *t, const ocl_job *job, const ocl_words *words,
                           const text_buffer *source, bool is_preprocessing, ocl_blob *out, text_buffer *log,
                           ls_error *err)
{
    char cpu[64];
    arguments args = { 0 };
    ocl_tool tool;
    ls_status status;
    snprintf(cpu, sizeof cpu, "-mcpu=%s", job->target);
    ocl_tool_init(&tool);
    status = give_inputs(&tool, job, err);
    if (status == LS_OK && !clang_arguments(&args, t, job, words, cpu, &tool, is_preprocessing))
        status = no_memory(err);
    if (status == LS_OK)
        status = ocl_tool_run(&tool, args.at, source->at, source->count, out, log, err);
    ocl_tool_fini(&tool);
    vec_fini(&args);
    return status;
}

static ls_status run_linker(const toolchain *t, const ocl_blob *object, ocl_blob *out, text_buffer *log,
                            ls_error *err)
{
    ocl_tool tool;
    ls_status status;
    ocl_tool_init(&tool);
    status = ocl_tool_input(&tool, object->at, object->bytes, err);
    if (status == LS_OK) {
        const char *const args[] = { t->lld, "-shared", "--no-undefined", "-o", "-", ocl_tool_path(&tool, 0),
                                     NULL };
        status = ocl_tool_run(&tool, args, NULL, 0, out, log, err);
    }
    ocl_tool_fini(&tool);
    return status;
}

/* ------------------------------------------------------------------------------------------------ caching */

static bool includes(const char *source)
{
    for (const char *at = source; (at = strstr(at, "include")) != NULL; at++) {
        const char *before = at;
        while (before > source && (before[-1] == ' ' || before[-1] == '\t'))
            before--;
        if (before > source && before[-1] == '#')
            return true;
    }
    return false;
}

static void add_file(hash_stream *hasher, const char *path)
{
    struct stat st = { 0 };
    int64_t facts[3];
    stat(path, &st);
    facts[0] = st.st_size;
    facts[1] = st.st_mtim.tv_sec;
    facts[2] = st.st_mtim.tv_nsec;
    hasher_add_field(hasher, path, strlen(path));
    hasher_add_field(hasher, facts, sizeof facts);
}

/* The key contains everything that the result depends on. Included files may change, so the key uses the
 * preprocessor's output, not the source. */
static void make_key(const toolchain *t, const ocl_job *job, const ocl_words *words, const text_buffer *source,
                     ocl_cache_key *key)
{
    const char *off = getenv("LOCKSTEP_CACHE");
    const bool has_includes = job->source && includes(job->source);
    ocl_blob expanded = { 0 };
    text_buffer ignored = { 0 };
    hash_stream *hasher;
    char digits[LS_HASH_TEXT_BYTES], libraries[1100];
    key->name[0] = '\0';
    if ((off && strcmp(off, "0") == 0) || hasher_create(&hasher, NULL) != LS_OK)
        return;
    hasher_add_field(hasher, LS_VERSION_STRING, strlen(LS_VERSION_STRING));
    add_file(hasher, t->clang);
    snprintf(libraries, sizeof libraries, "%s/opencl.bc", t->libraries);
    add_file(hasher, libraries);
    hasher_add_field(hasher, &job->stage, sizeof job->stage);
    hasher_add_field(hasher, job->target, strlen(job->target));
    hasher_add_field(hasher, job->options, strlen(job->options));
    hasher_add_field(hasher, text_get(source), source->count);
    for (size_t i = 0; i < job->input_count; i++)
        hasher_add_field(hasher, job->inputs[i].at, job->inputs[i].bytes);
    if (!has_includes || run_clang(t, job, words, source, true, &expanded, &ignored, NULL) == LS_OK) {
        hasher_add_field(hasher, expanded.at, expanded.bytes);
        snprintf(key->name, sizeof key->name, "%s", hash128_text(hasher_get(hasher), digits));
    }
    free(expanded.at);
    text_fini(&ignored);
    hasher_destroy(hasher);
}

/* ------------------------------------------------------------------------------------------------- stages */

static ls_status translate(const toolchain *t, const ocl_job *job, const ocl_words *words,
                           const text_buffer *source, ocl_blob *out, text_buffer *log, ls_error *err)
{
    ocl_blob object = { 0 };
    ls_status status;
    if (gives_bitcode(job->stage))
        return run_clang(t, job, words, source, false, out, log, err);
    status = run_clang(t, job, words, source, false, &object, log, err);
    if (status == LS_OK)
        status = run_linker(t, &object, out, log, err);
    free(object.at);
    return status;
}

bool ocl_compile_possible(void)
{
    toolchain tools;
    ls_error err;
    return find_toolchain(&tools, &err) == LS_OK;
}

ls_status ocl_compile(const ocl_job *job, ocl_blob *out, text_buffer *log, ls_error *err)
{
    toolchain tools;
    ocl_words words;
    text_buffer source = { 0 };
    ocl_cache_key key;
    ls_status status = ocl_options_split(job->stage, job->options, &words, err);
    *out = (ocl_blob){ 0 };
    if (status != LS_OK)
        return status;
    status = find_toolchain(&tools, err);
    if (status == LS_OK && job->source) {
        if (ocl_sampler_prelude_wanted(job->source))
            ocl_sampler_prelude(&source);
        if (ocl_printf_wanted(job->source))
            text_add(&source, ocl_printf_prelude());
        if (job->group_size) /* the lines of the source keep their numbers */
            text_printf(&source,
                        "#pragma clang attribute push(__attribute__((amdgpu_flat_work_group_size(1, %u))), "
                        "apply_to = function)\n#line 1\n",
                        job->group_size);
        text_add(&source, job->source);
        if (job->group_size)
            text_add(&source, "\n#pragma clang attribute pop\n");
        if (source.failed)
            status = no_memory(err);
    }
    if (status == LS_OK) {
        make_key(&tools, job, &words, &source, &key);
        if (!ocl_cache_load(&key, out, log)) {
            status = translate(&tools, job, &words, &source, out, log, err);
            if (status == LS_OK)
                ocl_cache_store(&key, out, text_get(log));
        }
    }
    text_fini(&source);
    free(words.at);
    return status;
}
