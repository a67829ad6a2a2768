/* sweep_words.c: a point of a sweep as a command line, and the program that runs it. */
#include "base/file.h"
#include "sim/sweep/session.h"
#include "workload/identity.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* In the order of their hash; flags come last. A change of this list changes the names of points. */
static const char *const passed_on[] = {
    "kernels", "ctas",       "unknown-opcodes",  "unmodelled", "seed", "fidelity", "gpu",    "size", "param",
    "variant", "memory-mib", "max-instructions", "kernel",     "grid", "group",    "offset", "arg"
};
static const char *const passed_flags[] = { "warm-l2", "verify" };
/* Of systems. They are hashed only if they are given: points without them keep their names. */
static const char *const passed_on_systems[] = { "gpus", "on" };

/* ----------------------------------------------------------------------------------------- options as words */

typedef struct word_list {
    mem_arena *arena;
    sweep_word *at;
    size_t count;
    bool failed; /* no memory */
} word_list;

static void add_text(word_list *l, const char *option, const char *value)
{
    if (value)
        l->at[l->count++] = (sweep_word){ option, value };
}

static void add_flag(word_list *l, const char *option, bool is_set)
{
    if (is_set)
        l->at[l->count++] = (sweep_word){ option, NULL };
}

static void add_number(word_list *l, const char *option, uint64_t value, uint64_t otherwise)
{
    if (value == otherwise)
        return;
    const char *text = arena_printf(l->arena, "%" PRIu64, value);
    l->failed |= text == NULL;
    add_text(l, option, text);
}

/* The size of a workload is the setting without a name. */
static void add_settings(word_list *l, const ls_sim_options *o)
{
    for (size_t i = 0; i < o->setting_count; i++) {
        const ls_sim_setting *s = &o->settings[i];
        const char *text = s->name ? arena_printf(l->arena, "%s=%" PRIu64, s->name, s->value)
                                   : arena_printf(l->arena, "%" PRIu64, s->value);
        l->failed |= text == NULL;
        add_text(l, s->name ? "param" : "size", text);
    }
}

static ls_status check(const ls_sim_options *o, ls_error *err)
{
    const char *refused = o->record         ? "record"
                          : o->profile      ? "profile"
                          : o->sample       ? "sample"
                          : o->strict       ? "strict"
                          : o->check_memory ? "check-memory"
                          : o->print_count  ? "print"
                          : o->dump_count   ? "dump"
                                            : NULL;
    if (refused)
        return ls_fail(err, LS_ERR_USAGE, "a sweep does not take the option %s", refused);
    if (o->memory_bytes % (UINT64_C(1) << 20))
        return ls_fail(err, LS_ERR_USAGE, "a sweep takes memory_bytes as a whole number of MiB");
    return LS_OK;
}

ls_status sweep_words(mem_arena *arena, const ls_sim_options *o, sweep_word **out, size_t *count,
                      ls_error *err)
{
    size_t room = LS_COUNT_OF(passed_on) + LS_COUNT_OF(passed_flags) + LS_COUNT_OF(passed_on_systems) +
                  o->setting_count + o->arg_count;
    word_list l = { .arena = arena, .at = arena_array(arena, room, sizeof *l.at) };
    ls_status status = check(o, err);
    if (status != LS_OK)
        return status;
    if (l.at) {
        add_text(&l, "kernels", o->kernels);
        add_number(&l, "ctas", o->cta_limit, 0);
        add_text(&l, "unknown-opcodes", o->unknown_as_alu ? "alu" : NULL);
        add_text(&l, "unmodelled", o->skip_unmodelled ? "skip" : NULL);
        add_number(&l, "seed", o->seed, 1);
        add_text(&l, "fidelity", o->fidelity);
        add_text(&l, "gpu", o->gpu);
        add_settings(&l, o);
        add_text(&l, "variant", o->variant);
        add_number(&l, "memory-mib", o->memory_bytes >> 20, 0);
        add_number(&l, "max-instructions", o->max_instructions, 0);
        add_text(&l, "kernel", o->kernel);
        add_text(&l, "grid", o->grid);
        add_text(&l, "group", o->group);
        add_text(&l, "offset", o->offset);
        for (size_t i = 0; i < o->arg_count; i++)
            add_text(&l, "arg", o->args[i]);
        add_number(&l, "gpus", o->gpus, 0);
        add_text(&l, "on", o->on);
        add_text(&l, "devices", o->devices);
        add_text(&l, "spread", o->spread);
        add_text(&l, "pages", o->pages);
        add_flag(&l, "warm-l2", o->warm_l2);
        add_flag(&l, "verify", o->verify);
    }
    if (!l.at || l.failed)
        return ls_fail(err, LS_ERR_NOMEM, "no memory left for the sweep");
    *out = l.at;
    *count = l.count;
    return LS_OK;
}

static ls_status add_file(hash_stream *hasher, const char *path, ls_error *err)
{
    hash128 content;
    ls_status status = trace_identity(path, &content, err);
    if (status == LS_OK)
        hasher_add(hasher, &content, sizeof content);
    return status;
}

ls_status sweep_words_hash(const ls_sim_options *o, const sweep_word *words, size_t count, hash_stream *hasher,
                           ls_error *err)
{
    static const char from_file[] = "buffer:@";
    ls_status status = LS_OK;
    for (size_t i = 0; i < LS_COUNT_OF(passed_on); i++) {
        size_t given = 0;
        for (size_t k = 0; k < count; k++)
            given += strcmp(words[k].option, passed_on[i]) == 0;
        hasher_add(hasher, &given, sizeof given);
        for (size_t k = 0; k < count; k++)
            if (strcmp(words[k].option, passed_on[i]) == 0)
                hasher_add_field(hasher, words[k].value, strlen(words[k].value));
    }
    for (size_t i = 0; i < LS_COUNT_OF(passed_flags); i++) {
        bool given = false;
        for (size_t k = 0; k < count; k++)
            given |= strcmp(words[k].option, passed_flags[i]) == 0;
        hasher_add(hasher, &given, sizeof given);
    }
    for (size_t i = 0; i < LS_COUNT_OF(passed_on_systems); i++)
        for (size_t k = 0; k < count; k++)
            if (strcmp(words[k].option, passed_on_systems[i]) == 0) {
                hasher_add_field(hasher, words[k].option, strlen(words[k].option));
                hasher_add_field(hasher, words[k].value, strlen(words[k].value));
            }
    for (size_t i = 0; i < o->arg_count && status == LS_OK; i++)
        if (strncmp(o->args[i], from_file, sizeof from_file - 1) == 0)
            status = add_file(hasher, o->args[i] + sizeof from_file - 1, err);
    for (size_t i = 0; i < o->plugin_count && status == LS_OK; i++)
        status = add_file(hasher, o->plugins[i], err);
    return status;
}

/* --------------------------------------------------------------------------------------- a point as command */

static void add_word(const char **words, size_t *count, const char *a, const char *b)
{
    words[(*count)++] = a;
    if (b)
        words[(*count)++] = b;
}

const char *const *sweep_argv(ls_sim_sweep *s, size_t index)
{
    const ls_sim_options *o = &s->base;
    const sweep_point *point = &s->sweep.points[index];
    const char *const *own = sweep_grid_sets(&s->sweep.grid, index % s->sweep.grid.points);
    size_t varied = s->sweep.grid.axes.count, count = 0, n = 0;
    sweep_word *shared = NULL;
    if (!own || sweep_words(&s->arena, o, &shared, &count, NULL) != LS_OK)
        return NULL;
    size_t room = 20 + 2 * (o->plugin_count + o->platform_dir_count + o->set_count + varied + count);
    const char **words = arena_array(&s->arena, room, sizeof *words);
    const char *threads = arena_printf(&s->arena, "%" PRIu32, s->how.threads);
    if (!words || !threads)
        return NULL;
    add_word(words, &n, s->worker, NULL);
    for (size_t i = 0; i < o->plugin_count; i++)
        add_word(words, &n, "--plugin", o->plugins[i]);
    for (size_t i = 0; i < o->platform_dir_count; i++)
        add_word(words, &n, "--platform-dir", o->platform_dirs[i]);
    if (s->options.warm) { /* the checkpoint has the other options */
        add_word(words, &n, "resume", s->options.warm);
        count = 0;
    } else {
        add_word(words, &n, "run", point->trace);
        add_word(words, &n, "--platform", o->platform);
    }
    for (size_t i = 0; i < o->set_count && !s->options.warm; i++)
        add_word(words, &n, "--set", o->sets[i]);
    for (size_t i = 0; i < varied; i++)
        add_word(words, &n, "--set", own[i]);
    for (size_t i = 0; i < count; i++) {
        const char *option = arena_printf(&s->arena, "--%s", shared[i].option);
        if (!option)
            return NULL;
        add_word(words, &n, option, shared[i].value);
    }
    add_word(words, &n, "--threads", threads);
    add_word(words, &n, "--progress", "never");
    add_word(words, &n, "--run-id", point->id);
    add_word(words, &n, "--out", s->database);
    words[n] = NULL;
    return words;
}

/* The options of the sweep that are not those of its points come last. */
const char *const *sweep_shard_argv(ls_sim_sweep *s, uint32_t retries)
{
    const ls_sim_options *o = &s->base;
    const ls_sim_sweep_options *sw = &s->options;
    size_t count = 0, n = 0;
    sweep_word *shared = NULL;
    if (sweep_words(&s->arena, o, &shared, &count, NULL) != LS_OK)
        return NULL;
    size_t room = 26 + sw->workload_count +
                  2 * (o->plugin_count + o->platform_dir_count + o->set_count + sw->vary_count + count);
    const char **words = arena_array(&s->arena, room, sizeof *words);
    const char *numbers[] = { arena_printf(&s->arena, "%" PRIu32, s->how.threads),
                              arena_printf(&s->arena, "%" PRIu32, s->how.jobs),
                              arena_printf(&s->arena, "%" PRIu32, retries) };
    if (!words || !numbers[0] || !numbers[1] || !numbers[2])
        return NULL;
    add_word(words, &n, s->worker, NULL);
    for (size_t i = 0; i < o->plugin_count; i++)
        add_word(words, &n, "--plugin", o->plugins[i]);
    for (size_t i = 0; i < o->platform_dir_count; i++)
        add_word(words, &n, "--platform-dir", o->platform_dirs[i]);
    add_word(words, &n, "sweep", NULL);
    for (size_t i = 0; i < sw->workload_count; i++)
        add_word(words, &n, sw->workloads[i], NULL);
    add_word(words, &n, "--platform", o->platform);
    for (size_t i = 0; i < o->set_count; i++)
        add_word(words, &n, "--set", o->sets[i]);
    for (size_t i = 0; i < sw->vary_count; i++)
        add_word(words, &n, "--vary", sw->vary[i]);
    for (size_t i = 0; i < count; i++) {
        const char *option = arena_printf(&s->arena, "--%s", shared[i].option);
        if (!option)
            return NULL;
        add_word(words, &n, option, shared[i].value);
    }
    if (sw->warm)
        add_word(words, &n, "--warm", sw->warm);
    add_word(words, &n, "--threads", numbers[0]);
    add_word(words, &n, "--jobs", numbers[1]);
    add_word(words, &n, "--retries", numbers[2]);
    add_word(words, &n, "--progress", "never");
    add_word(words, &n, "--out", sw->database);
    words[n] = NULL;
    return words;
}

const char *sweep_description(ls_sim_sweep *s)
{
    const ls_sim_options *o = &s->base;
    text_buffer text = { 0 };
    sweep_word *shared = NULL;
    size_t count = 0;
    if (sweep_words(&s->arena, o, &shared, &count, NULL) != LS_OK)
        return NULL;
    for (size_t i = 0; i < s->sweep.trace_count; i++)
        text_printf(&text, "workload %s\n", s->sweep.traces[i]);
    text_printf(&text, "platform %s\n", o->platform);
    for (size_t i = 0; i < o->set_count; i++)
        text_printf(&text, "set %s\n", o->sets[i]);
    for (size_t i = 0; i < s->options.vary_count; i++)
        text_printf(&text, "vary %s\n", s->options.vary[i]);
    if (s->options.warm)
        text_printf(&text, "warm %s\n", s->options.warm);
    for (size_t i = 0; i < count; i++)
        text_printf(&text, "%s %s\n", shared[i].option, shared[i].value ? shared[i].value : "yes");
    for (size_t i = 0; i < o->plugin_count; i++)
        text_printf(&text, "plugin %s\n", o->plugins[i]);
    const char *out = text.failed ? NULL : arena_strdup(&s->arena, text_get(&text));
    text_fini(&text);
    return out;
}

/* ------------------------------------------------------------------------------------------------ the worker */

#define OWN_PROGRAM "/proc/self/exe"

/* The first line that a program prints for --version. */
static bool read_version(const char *program, char *out, size_t bytes)
{
    int ends[2], code = -1;
    size_t used = 0;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    pid_t pid = fork();
    if (pid == 0) {
        if (dup2(ends[1], STDOUT_FILENO) >= 0)
            execl(program, program, "--version", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    for (ssize_t got = 1; pid > 0 && got > 0 && used + 1 < bytes; used += got > 0 ? (size_t)got : 0)
        got = read(ends[0], out + used, bytes - 1 - used);
    close(ends[0]);
    out[used] = '\0';
    out[strcspn(out, "\n")] = '\0';
    while (pid > 0 && waitpid(pid, &code, 0) < 0 && errno == EINTR) {
    }
    return pid > 0 && WIFEXITED(code) && WEXITSTATUS(code) == 0;
}

static const char *if_program(const char *path)
{
    return path && access(path, X_OK) == 0 && !file_is_dir(path) ? path : NULL;
}

/* Beside the library (a build tree), or in bin/ of the prefix whose lib/ or lib/TRIPLET/ it lies in. */
static const char *find_near(mem_arena *arena)
{
    static const char *const places[] = { "lockstep", "../bin/lockstep", "../../bin/lockstep" };
    static const char here = 0;
    Dl_info info;
    const char *found = NULL;
    if (!dladdr(&here, &info) || !info.dli_fname || !strchr(info.dli_fname, '/'))
        return NULL;
    const char *dir = path_dir(arena, info.dli_fname);
    for (size_t i = 0; dir && i < LS_COUNT_OF(places) && !found; i++)
        found = if_program(path_join(arena, dir, places[i]));
    return found;
}

static const char *find_on_path(mem_arena *arena)
{
    const char *path = getenv("PATH"), *found = NULL;
    for (const char *at = path; at && *at && !found; at += *at == ':') {
        size_t bytes = strcspn(at, ":");
        found = bytes ? if_program(arena_printf(arena, "%.*s/lockstep", (int)bytes, at)) : NULL;
        at += bytes;
    }
    return found;
}

ls_status sweep_find_worker(ls_sim_sweep *s, ls_error *err)
{
    char line[128];
    const char *named = s->options.worker ? s->options.worker : getenv("LOCKSTEP_COMMAND");
    s->worker = named && *named ? named : find_near(&s->arena);
    if (!s->worker)
        s->worker = find_on_path(&s->arena);
    if (!s->worker)
        return ls_fail(err, LS_ERR_IO,
                       "the lockstep command, which runs the points of a sweep, is not installed: name it in "
                       "LOCKSTEP_COMMAND");
    if (strcmp(s->worker, OWN_PROGRAM) == 0)
        return LS_OK;
    if (!read_version(s->worker, line, sizeof line)) {
        ls_fail(err, LS_ERR_IO, "this is no lockstep command: it cannot run the points of a sweep");
        return ls_error_at(err, s->worker, 0, 0);
    }
    const char *version = strrchr(line, ' ');
    if (!version || strcmp(version + 1, LS_VERSION_STRING) != 0) {
        ls_fail(err, LS_ERR_USAGE, "it is '%s', but the points of a sweep need lockstep %s", line,
                LS_VERSION_STRING);
        return ls_error_at(err, s->worker, 0, 0);
    }
    return LS_OK;
}
