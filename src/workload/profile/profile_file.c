/* profile_file.c: profiles as text files, one line per static instruction, and where they are kept.
 *
 *     lockstep-profile 2
 *     hash 0123456789abcdef0123456789abcdef
 *     method cache
 *     kernel COMMAND ID L2_SECTORS SLICE_SECTORS DRAM_ATOMS CHANNEL_CYCLES READS CLOSED CONFLICTS WALKED
 *     INSTS
 *            SLICE_STALLS BURSTS BURSTS_STALLED NAME
 *     pc HEX  INSTS SECTORS L2 DRAM  (four times: for hits in L1, waits for others, L2 and DRAM)
 *     end */
#include "workload/profile/profile.h"

#include "base/file.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FILE_LIMIT ((size_t)1 << 30)
#define KERNEL_NUMBERS 12
#define VERSION_LINE "lockstep-profile 3"

/* ------------------------------------------------------------------------------------------------ writing */

static void write_kernel(FILE *to, const kernel_profile *k)
{
    const uint64_t numbers_of[KERNEL_NUMBERS] = { k->command,       k->id,         k->l2_sectors,
                                                  k->slice_sectors, k->dram_atoms, k->channel_cycles,
                                                  k->reads,         k->closed,     k->conflicts,
                                                  k->walked,        k->insts,      k->slice_stalls };
    fprintf(to, "kernel");
    for (int i = 0; i < KERNEL_NUMBERS; i++)
        fprintf(to, " %" PRIu64, numbers_of[i]);
    fprintf(to, " %s\n", k->name);
    for (uint32_t i = 0; i < k->count; i++) {
        fprintf(to, "pc %" PRIx64, k->at[i].pc);
        for (int depth = 0; depth < RATES_LEVELS; depth++) {
            const profile_count *c = &k->at[i].level[depth];
            fprintf(to, "  %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, c->insts, c->sectors, c->l2,
                    c->dram);
        }
        fputc('\n', to);
    }
}

ls_status profile_write(const trace_profile *profile, const char *path, ls_error *err)
{
    file_writer writer;
    char hash[LS_HASH_TEXT_BYTES];
    ls_status status = file_writer_open(&writer, path, err);
    if (status != LS_OK)
        return status;
    fprintf(writer.stream, VERSION_LINE "\nhash %s\nmethod %s\n", hash128_text(profile->hash, hash),
            profile_method_names[profile->method]);
    for (size_t i = 0; i < profile->kernels.count; i++)
        write_kernel(writer.stream, &profile->kernels.at[i]);
    fprintf(writer.stream, "end\n");
    return file_writer_commit(&writer, err);
}

/* ------------------------------------------------------------------------------------------------ reading */

typedef struct reader {
    const char *path;
    char *at; /* the rest; every line ends with NUL once it is taken */
    uint64_t line;
} reader;

static char *next_line(reader *r)
{
    if (*r->at == '\0')
        return NULL;
    char *line = r->at, *end = strchr(line, '\n');
    r->line++;
    if (end == NULL) {
        r->at = line + strlen(line);
        return line;
    }
    *end = '\0';
    r->at = end + 1;
    return line;
}

static ls_status bad(const reader *r, const char *what, ls_error *err)
{
    return ls_fail(err, LS_ERR_INPUT, "%s:%" PRIu64 ": %s; `lockstep profile` makes it anew", r->path, r->line,
                   what);
}

/* Numbers separated by blanks; where they end, or NULL if there are fewer or something else stands there. */
static char *numbers(char *text, uint64_t *out, int count, int base)
{
    for (int i = 0; i < count; i++) {
        char *end;
        while (*text == ' ')
            text++;
        if (*text < '0' || (*text > '9' && (base != 16 || *text < 'a' || *text > 'f')))
            return NULL;
        errno = 0;
        out[i] = strtoull(text, &end, base);
        if (errno != 0 || (*end != ' ' && *end != '\0'))
            return NULL;
        text = end;
    }
    return text;
}

static ls_status read_kernel(const reader *r, char *text, trace_profile *profile, ls_error *err)
{
    uint64_t n[KERNEL_NUMBERS];
    char *name = numbers(text, n, KERNEL_NUMBERS, 10);
    if (name == NULL || *name != ' ')
        return bad(r, "a kernel has twelve numbers and a name", err);
    if (n[3] > n[2] || n[7] + n[8] > n[6] || n[9] > n[10])
        return bad(r, "the numbers of the kernel contradict each other", err);
    kernel_profile kernel = { .command = n[0],
                              .id = n[1],
                              .l2_sectors = n[2],
                              .slice_sectors = n[3],
                              .dram_atoms = n[4],
                              .channel_cycles = n[5],
                              .reads = n[6],
                              .closed = n[7],
                              .conflicts = n[8],
                              .walked = n[9],
                              .insts = n[10],
                              .slice_stalls = n[11],
                              .name = strdup(name + 1) };
    if (kernel.name == NULL || !vec_push(&profile->kernels, kernel)) {
        profile_kernel_fini(&kernel);
        return ls_fail(err, LS_ERR_NOMEM, "no memory for profile '%s'", r->path);
    }
    return LS_OK;
}

static ls_status read_inst(const reader *r, char *text, trace_profile *profile, ls_error *err)
{
    uint64_t n[4 * RATES_LEVELS];
    profile_inst inst = { 0 };
    if (profile->kernels.count == 0)
        return bad(r, "an instruction stands before the first kernel", err);
    kernel_profile *k = &profile->kernels.at[profile->kernels.count - 1];
    char *rest = numbers(text, &inst.pc, 1, 16);
    if (rest == NULL || (rest = numbers(rest, n, 4 * RATES_LEVELS, 10)) == NULL || *rest != '\0')
        return bad(r, "an instruction has a pc and sixteen numbers", err);
    if (inst.pc >> 27 != 0 || (k->count > 0 && k->at[k->count - 1].pc >= inst.pc))
        return bad(r, "the pcs of a kernel must ascend and fit into 27 bits", err);
    for (int depth = 0; depth < RATES_LEVELS; depth++)
        inst.level[depth] =
            (profile_count){ n[4 * depth], n[4 * depth + 1], n[4 * depth + 2], n[4 * depth + 3] };
    if ((k->count & (k->count - 1)) == 0) { /* full at each power of two */
        profile_inst *more = realloc(k->at, (k->count == 0 ? 1 : 2 * (size_t)k->count) * sizeof *more);
        if (more == NULL)
            return ls_fail(err, LS_ERR_NOMEM, "no memory for profile '%s'", r->path);
        k->at = more;
    }
    k->at[k->count++] = inst;
    return LS_OK;
}

static ls_status read_lines(reader *r, trace_profile *out, ls_error *err)
{
    char *line = next_line(r);
    if (line == NULL || strcmp(line, VERSION_LINE) != 0)
        return bad(r, "this is no profile of this version (its first line is not '" VERSION_LINE "')", err);
    line = next_line(r);
    if (line == NULL || strncmp(line, "hash ", 5) != 0 || !hash_parse(line + 5, &out->hash))
        return bad(r, "the hash of trace and platform is missing", err);
    line = next_line(r);
    if (line == NULL || strncmp(line, "method ", 7) != 0)
        return bad(r, "the method is missing", err);
    int method = 0;
    while (profile_method_names[method] != NULL && strcmp(line + 7, profile_method_names[method]) != 0)
        method++;
    if (profile_method_names[method] == NULL)
        return bad(r, "the method is neither 'cache' nor 'reuse'", err);
    out->method = (profile_method)method;
    while ((line = next_line(r)) != NULL) {
        ls_status status;
        if (strcmp(line, "end") == 0)
            return next_line(r) == NULL ? LS_OK : bad(r, "something follows the end", err);
        if (strncmp(line, "kernel ", 7) == 0)
            status = read_kernel(r, line + 7, out, err);
        else if (strncmp(line, "pc ", 3) == 0)
            status = read_inst(r, line + 3, out, err);
        else
            status = bad(r, "expected 'kernel', 'pc' or 'end'", err);
        if (status != LS_OK)
            return status;
    }
    return bad(r, "the file is cut off: it has no 'end'", err);
}

ls_status profile_read(const char *path, trace_profile *out, ls_error *err)
{
    mem_arena arena = { 0 };
    char *data;
    size_t bytes;
    *out = (trace_profile){ 0 };
    ls_status status = file_read(&arena, path, FILE_LIMIT, &data, &bytes, err);
    if (status == LS_OK) {
        reader r = { .path = path, .at = data };
        status = memchr(data, 0, bytes) != NULL ? bad(&r, "this is no text", err) : read_lines(&r, out, err);
    }
    arena_fini(&arena);
    if (status != LS_OK) {
        profile_fini(out);
        *out = (trace_profile){ 0 };
    }
    return status;
}

/* -------------------------------------------------------------------------------------------------- names */

static void add_number(hash_stream *hasher, uint64_t number)
{
    hasher_add_field(hasher, &number, sizeof number);
}

static void add_text(hash_stream *hasher, const char *text)
{
    hasher_add_field(hasher, text == NULL ? "" : text, text == NULL ? 0 : strlen(text));
}

static void add_file(hash_stream *hasher, const char *name, const struct stat *s)
{
    add_text(hasher, name);
    add_number(hasher, (uint64_t)s->st_size);
    add_number(hasher, (uint64_t)s->st_mtim.tv_sec);
    add_number(hasher, (uint64_t)s->st_mtim.tv_nsec);
}

/* The sum does not depend on the order in which the folder lists its files. */
static ls_status add_folder(hash_stream *hasher, const char *path, ls_error *err)
{
    mem_arena arena = { 0 };
    hash_stream *one = NULL;
    uint64_t high = 0, low = 0;
    DIR *dir = opendir(path);
    if (dir == NULL)
        return ls_fail(err, LS_ERR_IO, "cannot read the folder '%s': %s", path, strerror(errno));
    ls_status status = hasher_create(&one, err);
    for (struct dirent *entry; status == LS_OK && (entry = readdir(dir)) != NULL;) {
        struct stat s;
        const char *file = path_join(&arena, path, entry->d_name);
        if (file == NULL) {
            status = ls_fail(err, LS_ERR_NOMEM, "out of memory");
        } else if (stat(file, &s) == 0 && S_ISREG(s.st_mode)) {
            hasher_reset(one);
            add_file(one, entry->d_name, &s);
            hash128 hash = hasher_get(one);
            high += hash.high;
            low += hash.low;
        }
    }
    closedir(dir);
    hasher_destroy(one);
    arena_fini(&arena);
    add_number(hasher, high);
    add_number(hasher, low);
    return status;
}

static ls_status add_trace(hash_stream *hasher, const char *path, ls_error *err)
{
    struct stat s;
    if (stat(path, &s) != 0) { /* a generated one: its text says everything */
        add_text(hasher, path);
        return LS_OK;
    }
    if (S_ISDIR(s.st_mode))
        return add_folder(hasher, path, err);
    size_t length = strlen(path);
    if (length > 5 && strcmp(path + length - 5, ".lspk") == 0) {
        add_file(hasher, "", &s);
        return LS_OK;
    }
    /* A list or one kernel: the files beside it belong to it. */
    mem_arena arena = { 0 };
    char *folder = path_dir(&arena, path);
    ls_status status =
        folder == NULL ? ls_fail(err, LS_ERR_NOMEM, "out of memory") : add_folder(hasher, folder, err);
    add_text(hasher, path_base(path));
    arena_fini(&arena);
    return status;
}

static void add_cache(hash_stream *hasher, const sector_cache_spec *spec)
{
    add_number(hasher, spec->sets);
    add_number(hasher, spec->ways);
    add_number(hasher, spec->write_policy);
    add_number(hasher, spec->replacement);
    add_number(hasher, spec->hash.kind);
    for (size_t i = 0; i < spec->hash.masks.count; i++)
        add_number(hasher, spec->hash.masks.at[i]);
}

/* Everything that the numbers of a profile depend on, field by field: structs have gaps. */
static void add_shape(hash_stream *hasher, const gpu_shape *shape)
{
    const uint64_t kib = 1024;
    add_number(hasher, shape->cores);
    add_number(hasher, shape->rules.spread);
    add_number(hasher, shape->rules.capacity.warp_slots);
    add_number(hasher, shape->rules.capacity.cta_slots);
    add_number(hasher, shape->rules.capacity.registers);
    add_number(hasher, shape->rules.capacity.register_unit);
    add_number(hasher, shape->rules.capacity.shared_bytes);
    add_cache(hasher, &shape->l2);
    add_number(hasher, shape->l2.merge_stall == SECTOR_CACHE_STALL_QUEUE ? shape->l2.mshr_merge : 0);
    for (uint64_t shared = 0; shared <= 256; shared += 8) {
        core_l1 l1 = gpu_shape_l1(shape, shared * kib);
        add_cache(hasher, &l1.cache);
        add_number(hasher, l1.flush);
        add_number(hasher, l1.accelsim_rules);
    }
    const dram_service *d = &shape->dram;
    const uint64_t numbers_of_dram[] = { d->open_cycles, d->close_cycles,    d->atom_num,    d->atom_den,
                                         d->banks,       d->column_cycles,   d->read_row,    d->write_row,
                                         d->row_cycles,  d->activate_cycles, d->turn_cycles, d->queue,
                                         d->hash,        d->bank_bits,       d->in_order };
    for (size_t i = 0; i < LS_COUNT_OF(numbers_of_dram); i++)
        add_number(hasher, numbers_of_dram[i]);
    /* The address map, by its effect on addresses. */
    add_number(hasher, shape->map.channels);
    add_number(hasher, shape->map.slice_count);
    for (uint32_t bit = 5; bit < 48; bit++) {
        ls_sector_place place = mem_map_place(&shape->map, UINT64_C(1) << bit);
        ls_dram_place at = mem_map_dram(&shape->map, UINT64_C(1) << bit);
        add_number(hasher, (uint64_t)place.channel << 32 | place.slice);
        add_number(hasher, place.local);
        add_number(hasher, (uint64_t)at.bank << 32 | at.row);
    }
}

ls_status profile_hash(const char *trace_path, const char *kernels, uint64_t cta_limit, const gpu_shape *shape,
                       profile_method method, hash128 *out, ls_error *err)
{
    hash_stream *hasher;
    ls_status status = hasher_create(&hasher, err);
    if (status != LS_OK)
        return status;
    status = add_trace(hasher, trace_path, err);
    add_text(hasher, kernels);
    add_number(hasher, cta_limit);
    add_number(hasher, (uint64_t)method);
    add_shape(hasher, shape);
    *out = hasher_get(hasher);
    hasher_destroy(hasher);
    return status;
}

char *profile_cache_path(mem_arena *arena, hash128 hash)
{
    char text[LS_HASH_TEXT_BYTES];
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    hash128_text(hash, text);
    if (xdg != NULL && xdg[0] == '/')
        return arena_printf(arena, "%s/lockstep/profiles/%s.profile", xdg, text);
    if (home != NULL && home[0] == '/')
        return arena_printf(arena, "%s/.cache/lockstep/profiles/%s.profile", home, text);
    return NULL;
}

ls_status profile_make_folders(mem_arena *arena, const char *path, ls_error *err)
{
    char *folder = path_dir(arena, path);
    if (folder == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "out of memory");
    for (char *slash = strchr(folder + 1, '/');; slash = strchr(slash + 1, '/')) {
        if (slash != NULL)
            *slash = '\0';
        if (mkdir(folder, 0777) != 0 && errno != EEXIST)
            return ls_fail(err, LS_ERR_IO, "cannot make the folder '%s': %s", folder, strerror(errno));
        if (slash == NULL)
            return LS_OK;
        *slash = '/';
    }
}
