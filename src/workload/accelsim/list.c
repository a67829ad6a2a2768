/* list.c: kernelslist.g, its directory and the files it names. */
#include "workload/accelsim/list.h"

#include "base/file.h"
#include "base/map.h"
#include "workload/accelsim/input.h"
#include "workload/accelsim/reader.h"
#include "workload/accelsim/tracez.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LIST_NAME "kernelslist.g"
#define RAW_LIST_NAME "kernelslist"
#define CONTEXT_LIST "kernelslist_ctx_" /* further contexts: kernelslist_ctx_0x55d0.g */
#define LIST_MAX (64u << 20)

static const char *const suffixes[] = { "", ".xz", ".zst", ".gz" };
#define SUFFIX_COUNT (sizeof suffixes / sizeof *suffixes)

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

/* ----------------------------------------------------------------------------------------------- commands */

/* "MemcpyHtoD,0x7f...,4096" */
static bool read_copy(const char *line, trace_cmd *command)
{
    const char *address = strchr(line, ','), *bytes = address ? strchr(address + 1, ',') : NULL;
    if (!bytes || strchr(bytes + 1, ','))
        return false;
    return parse_u64(address + 1, (size_t)(bytes - address - 1), &command->address, NULL) == LS_OK &&
           parse_u64(bytes + 1, strlen(bytes + 1), &command->bytes, NULL) == LS_OK;
}

static ls_status read_command(acc_trace *t, acc_report *report, char *line, uint64_t number,
                              trace_cmd *command, ls_error *err)
{
    char quoted[80];
    *command = (trace_cmd){ .kind = LS_COMMAND_OTHER, .text = line, .line = number };
    if (starts_with(line, "kernel")) {
        command->kind = LS_COMMAND_KERNEL;
        return LS_OK;
    }
    if (starts_with(line, "MemcpyHtoD")) {
        command->kind = LS_COMMAND_COPY_IN;
        if (read_copy(line, command))
            return LS_OK;
        command->kind = LS_COMMAND_OTHER;
        return acc_defect_at(report, ACC_bad_command, t->list, number, err,
                             "'%s' is not 'MemcpyHtoD,address,bytes'",
                             quote_text(line, strlen(line), quoted, sizeof quoted));
    }
    if (starts_with(line, "Memcpy"))
        return LS_OK;
    return acc_defect_at(report, ACC_unknown_command, t->list, number, err, "'%s' is skipped",
                         quote_text(line, strlen(line), quoted, sizeof quoted));
}

/* A list whose every line would be skipped is some other file. */
static ls_status check_list(const acc_trace *t, ls_error *err)
{
    const trace_cmd *commands = t->trace.commands;
    char quoted[80];
    for (uint64_t i = 0; i < t->trace.command_count; i++)
        if (commands[i].kind != LS_COMMAND_OTHER || starts_with(commands[i].text, "Memcpy"))
            return LS_OK;
    if (t->trace.command_count == 0) {
        ls_fail(err, LS_ERR_INPUT, "the list of kernels is empty");
        return ls_error_at(err, t->list, 0, 0);
    }
    ls_fail(err, LS_ERR_INPUT, "this is neither a list of kernels nor a kernel: it begins with '%s'",
            quote_text(commands[0].text, strlen(commands[0].text), quoted, sizeof quoted));
    return ls_error_at(err, t->list, commands[0].line, 0);
}

/* Cuts the text into lines, in place, and adds its commands to those of earlier lists. */
static ls_status read_list(acc_trace *t, acc_report *report, char *text, ls_error *err)
{
    LS_VEC(trace_cmd)
    commands = { .at = t->trace.commands,
                 .count = t->trace.command_count,
                 .capacity = t->trace.command_count };
    ls_status status = LS_OK;
    uint64_t number = 0;
    for (char *line = text, *next; line && status == LS_OK; line = next) {
        trace_cmd command;
        char *end = strchr(line, '\n');
        next = end ? end + 1 : NULL;
        if (!end)
            end = line + strlen(line);
        while (end > line && (end[-1] == '\r' || end[-1] == ' ' || end[-1] == '\t'))
            end--;
        *end = '\0';
        number++;
        line += strspn(line, " \t");
        if (!*line)
            continue;
        status = read_command(t, report, line, number, &command, err);
        command.context = t->contexts;
        if (status == LS_OK && !vec_push(&commands, command))
            status = no_memory(err);
    }
    t->trace.commands = commands.at;
    t->trace.command_count = commands.count;
    return status == LS_OK ? check_list(t, err) : status;
}

/* -------------------------------------------------------------------------------------------------- files */

/* All of a small file, with a terminator; NUL bytes in it become spaces, so that they do not end the text
 * early. */
static ls_status slurp(mem_arena *arena, acc_input *input, const char *path, text_buffer *head, char **out,
                       ls_error *err)
{
    char chunk[4096];
    size_t got = 1;
    while (got) {
        ls_status status = acc_input_read(input, chunk, sizeof chunk, &got, err);
        if (status != LS_OK)
            return status;
        text_addn(head, chunk, got);
        if (head->count > LIST_MAX) {
            ls_fail(err, LS_ERR_INPUT, "a list of more than %u bytes", LIST_MAX);
            return ls_error_at(err, path, 0, 0);
        }
    }
    for (size_t i = 0; i < head->count; i++)
        if (!head->at[i])
            head->at[i] = ' ';
    *out = arena_strndup(arena, text_get(head), head->count);
    return head->failed || !*out ? no_memory(err) : LS_OK;
}

/* A kernel's header begins with '-' (or a comment); a list does not. */
static ls_status open_file(acc_trace *t, const char *path, acc_report *report, ls_error *err)
{
    acc_input *input;
    text_buffer head = { 0 };
    char chunk[512], *text = NULL;
    size_t got = 0;
    ls_status status = acc_input_open(path, &input, err);
    if (status != LS_OK)
        return status;
    status = acc_input_read(input, chunk, sizeof chunk, &got, err);
    text_addn(&head, chunk, got);
    const char *first = text_get(&head);
    first += strspn(first, " \t\r\n");
    bool kernel = *first == '-' || *first == '#';
    t->dir = path_dir(&t->arena, path);
    if (status == LS_OK && !t->dir)
        status = no_memory(err);
    if (status == LS_OK && kernel) {
        t->trace.commands = calloc(1, sizeof *t->trace.commands);
        char *name = arena_strdup(&t->arena, path_base(path));
        if (!t->trace.commands || !name)
            status = no_memory(err);
        else {
            t->trace.commands[0] = (trace_cmd){ .kind = LS_COMMAND_KERNEL, .text = name };
            t->trace.command_count = 1;
        }
    } else if (status == LS_OK) {
        t->list = arena_strdup(&t->arena, path);
        status = t->list ? slurp(&t->arena, input, path, &head, &text, err) : no_memory(err);
        if (status == LS_OK)
            status = read_list(t, report, text, err);
    }
    text_fini(&head);
    acc_input_close(input);
    return status;
}

static int by_name(const void *a, const void *b)
{
    return strverscmp(*(char *const *)a, *(char *const *)b);
}

/* The names of a directory that `wanted` accepts, sorted. A directory that cannot be read has none. */
static ls_status find_names(const char *dir, bool (*wanted)(const char *name), mem_arena *arena, char ***names,
                            size_t *count, ls_error *err)
{
    LS_VEC(char *) found = { 0 };
    DIR *stream = opendir(dir);
    bool failed = false;
    *names = NULL;
    *count = 0;
    if (!stream)
        return LS_OK;
    for (struct dirent *entry; !failed && (entry = readdir(stream));) {
        if (!wanted(entry->d_name))
            continue;
        char *name = arena_strdup(arena, entry->d_name);
        failed = !name || !vec_push(&found, name);
    }
    closedir(stream);
    if (found.count)
        qsort(found.at, found.count, sizeof *found.at, by_name);
    *names = arena_array(arena, found.count + 1, sizeof **names);
    failed |= !*names;
    if (!failed && found.count)
        memcpy(*names, found.at, found.count * sizeof *found.at);
    *count = found.count;
    vec_fini(&found);
    return failed ? no_memory(err) : LS_OK;
}

static bool is_context_list(const char *name)
{
    return starts_with(name, CONTEXT_LIST) && ends_with(name, ".g");
}

/* Lists of further contexts follow the first one. Their errors name them; the first list stays the trace's own. */
static ls_status open_contexts(acc_trace *t, const char *path, acc_report *report, ls_error *err)
{
    const char *first = t->list;
    char **names;
    size_t count;
    ls_status status = find_names(path, is_context_list, &t->arena, &names, &count, err);
    for (size_t i = 0; i < count && status == LS_OK; i++) {
        char *list = path_join(&t->arena, path, names[i]);
        if (++t->contexts > ACC_CONTEXTS_MAX) {
            ls_fail(err, LS_ERR_UNSUPPORTED, "the directory has lists of more than %u contexts",
                    ACC_CONTEXTS_MAX);
            return ls_error_at(err, path, 0, 0);
        }
        t->lists[t->contexts] = list;
        status = list ? open_file(t, list, report, err) : no_memory(err);
    }
    t->list = first;
    return status;
}

static ls_status open_directory(acc_trace *t, const char *path, acc_report *report, ls_error *err)
{
    char *list = path_join(&t->arena, path, LIST_NAME), *raw = path_join(&t->arena, path, RAW_LIST_NAME);
    if (!list || !raw)
        return no_memory(err);
    if (file_exists(list)) {
        ls_status status = open_file(t, list, report, err);
        return status == LS_OK ? open_contexts(t, path, report, err) : status;
    }
    if (file_exists(raw))
        ls_fail(err, LS_ERR_IO, "the directory has %s but no %s: group the trace with post-traces-processing",
                RAW_LIST_NAME, LIST_NAME);
    else
        ls_fail(err, LS_ERR_IO, "the directory has no %s", LIST_NAME);
    return ls_error_at(err, path, 0, 0);
}

/* ----------------------------------------------------------------------------------- finding kernel files */

static bool has_suffix(const char *name, size_t *stem)
{
    size_t bytes = strlen(name);
    *stem = bytes;
    for (size_t i = 1; i < SUFFIX_COUNT; i++) {
        if (ends_with(name, suffixes[i])) {
            *stem = bytes - strlen(suffixes[i]);
            return true;
        }
    }
    return false;
}

/* The name without what says how the file is written: .traceg, .traceg.xz, .tracez. *traced: it has one of these. */
static size_t kernel_stem(const char *name, bool *traced)
{
    static const char text[] = ".traceg", pages[] = TRACEZ_SUFFIX;
    const size_t bytes = sizeof text - 1;
    size_t stem;
    has_suffix(name, &stem);
    *traced = stem > bytes && (memcmp(name + stem - bytes, text, bytes) == 0 || ends_with(name, pages));
    return *traced ? stem - bytes : stem;
}

static bool is_kernel_file(const char *name)
{
    bool traced;
    kernel_stem(name, &traced);
    return starts_with(name, "kernel") && traced;
}

static ls_status fail_missing(const acc_trace *t, mem_arena *arena, const trace_cmd *command, ls_error *err)
{
    char quoted[120], **names;
    size_t count;
    ls_status status = find_names(t->dir, is_kernel_file, arena, &names, &count, err);
    if (status != LS_OK)
        return status;
    ls_fail(err, LS_ERR_IO, "the kernel file '%s' does not exist",
            quote_text(command->text, strlen(command->text), quoted, sizeof quoted));
    ls_error_nearest(err, nearest_of(command->text, (const char *const *)names, count));
    const char *list = acc_trace_list(t, command);
    return list ? ls_error_at(err, list, command->line, 0) : LS_ERR_IO;
}

ls_status acc_trace_find(const acc_trace *t, mem_arena *arena, const trace_cmd *command, char **path,
                         bool *other_name, ls_error *err)
{
    char *listed = path_join(arena, t->dir, command->text);
    bool traced;
    *other_name = false;
    *path = listed;
    if (!listed)
        return no_memory(err);
    if (file_exists(listed))
        return LS_OK;
    size_t stem = kernel_stem(listed, &traced);
    for (size_t i = 0; i < SUFFIX_COUNT + traced; i++) {
        *path = arena_printf(arena, "%.*s%s%s", (int)stem, listed, traced && i < SUFFIX_COUNT ? ".traceg" : "",
                             i < SUFFIX_COUNT ? suffixes[i] : TRACEZ_SUFFIX);
        if (!*path)
            return no_memory(err);
        *other_name = true;
        if (file_exists(*path))
            return LS_OK;
    }
    return fail_missing(t, arena, command, err);
}

ls_status acc_trace_unlisted(const acc_trace *t, mem_arena *arena, char ***names, size_t *count, ls_error *err)
{
    char **all;
    size_t found = 0, total, stem;
    string_map listed = { 0 };
    bool failed = false, traced;
    ls_status status = find_names(t->dir, is_kernel_file, arena, &all, &total, err);
    *names = all;
    *count = 0;
    if (status != LS_OK || !t->list)
        return status;
    for (uint64_t i = 0; i < t->trace.command_count; i++) {
        const trace_cmd *command = &t->trace.commands[i];
        if (command->kind != LS_COMMAND_KERNEL)
            continue;
        stem = kernel_stem(command->text, &traced);
        failed |= !map_putn(&listed, command->text, stem, &listed);
    }
    for (size_t i = 0; i < total; i++) {
        stem = kernel_stem(all[i], &traced);
        if (!map_getn(&listed, all[i], stem))
            all[found++] = all[i];
    }
    map_fini(&listed);
    *count = found;
    return failed ? no_memory(err) : LS_OK;
}

/* ------------------------------------------------------------------------------------------------- source */

static ls_status open_kernel(sass_trace *trace, uint64_t index, trace_kernel **out, ls_error *err)
{
    const acc_trace *t = (const acc_trace *)trace;
    acc_input *input;
    mem_arena arena = { 0 };
    char *path;
    bool other_name;
    ls_status status = acc_trace_find(t, &arena, &trace->commands[index], &path, &other_name, err);
    if (status == LS_OK)
        status = acc_input_open(path, &input, err);
    if (status == LS_OK)
        status = acc_reader_open(input, path, &trace->options, NULL, out, err);
    if (status == LS_OK && trace->commands[index].context > 0)
        (*out)->info.stream |= (uint64_t)trace->commands[index].context << TRACE_CONTEXT_SHIFT;
    arena_fini(&arena);
    return status;
}

static void close_trace(sass_trace *trace)
{
    acc_trace *t = (acc_trace *)trace;
    free(t->trace.commands);
    arena_fini(&t->arena);
    free(t);
}

static const trace_source_ops trace_ops = { .open_kernel = open_kernel, .close = close_trace };

ls_status acc_trace_open(const char *path, const trace_options *options, acc_report *report, acc_trace **out,
                         ls_error *err)
{
    acc_trace *t = calloc(1, sizeof *t);
    *out = NULL;
    if (!t)
        return no_memory(err);
    t->trace.ops = &trace_ops;
    t->trace.options = *options;
    ls_status status =
        file_is_dir(path) ? open_directory(t, path, report, err) : open_file(t, path, report, err);
    if (status != LS_OK) {
        close_trace(&t->trace);
        return status;
    }
    *out = t;
    return LS_OK;
}

void acc_trace_close(acc_trace *t)
{
    if (t)
        close_trace(&t->trace);
}

static bool accepts(const char *path, const unsigned char *head, size_t head_bytes)
{
    (void)path, (void)head, (void)head_bytes;
    return true;
}

static ls_status source_open(const char *path, const trace_options *options, sass_trace **out, ls_error *err)
{
    acc_trace *t;
    ls_status status = acc_trace_open(path, options, NULL, &t, err);
    *out = status == LS_OK ? &t->trace : NULL;
    return status;
}

const trace_source accelsim_source = { .name = "accelsim", .accepts = accepts, .open = source_open };
