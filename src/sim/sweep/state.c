/* state.c: see state.h. */
#include "sim/sweep/state.h"

#include "base/file.h"
#include "base/text.h"
#include "report/points.h"
#include "report/postgres.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "no memory left for the sweep");
}

/* --------------------------------------------------------------------------------------------------- files */

typedef struct shard_file {
    const char *path;
    unsigned shard, shards;
} shard_file;

static int by_number(const void *left, const void *right)
{
    const shard_file *l = left, *r = right;
    if (l->shards != r->shards)
        return l->shards < r->shards ? -1 : 1;
    return l->shard < r->shard ? -1 : l->shard > r->shard;
}

/* Whether a name is stem + ".2-of-8" + extension. */
static bool is_shard(const char *name, const char *stem, size_t stem_bytes, const char *extension,
                     shard_file *out)
{
    int used = 0;
    if (strncmp(name, stem, stem_bytes) != 0)
        return false;
    const char *rest = name + stem_bytes;
    return sscanf(rest, ".%u-of-%u%n", &out->shard, &out->shards, &used) == 2 && used > 0 &&
           strcmp(rest + used, extension) == 0;
}

ls_status state_shard_files(mem_arena *arena, const char *database, path_list *out, ls_error *err)
{
    LS_VEC(shard_file) found = { 0 };
    const char *base = path_base(database), *dot = strrchr(base, '.'), *folder = path_dir(arena, database);
    ls_status status = folder ? LS_OK : no_memory(err);
    if (postgres_is_url(database) || !dot || status != LS_OK)
        return status;
    DIR *dir = opendir(*folder ? folder : ".");
    for (const struct dirent *e; dir && status == LS_OK && (e = readdir(dir)) != NULL;) {
        shard_file file;
        if (!is_shard(e->d_name, base, (size_t)(dot - base), dot, &file))
            continue;
        file.path =
            strchr(database, '/') ? path_join(arena, folder, e->d_name) : arena_strdup(arena, e->d_name);
        if (!file.path || !vec_push(&found, file))
            status = no_memory(err);
    }
    if (dir)
        closedir(dir);
    if (found.count)
        qsort(found.at, found.count, sizeof *found.at, by_number);
    for (size_t i = 0; i < found.count && status == LS_OK; i++)
        if (!vec_push(out, found.at[i].path))
            status = no_memory(err);
    vec_fini(&found);
    return status;
}

/* --------------------------------------------------------------------------------------------------- points */

typedef struct reader {
    sweep_state *state;
    point_store *store;
    size_t sweeps; /* of the database */
    bool first;    /* the database itself: it lists the points */
} reader;

static ls_status add_point(reader *r, const point_state *p, ls_error *err)
{
    sweep_state *s = r->state;
    text_buffer keys = { 0 };
    ls_status status = points_describe(r->store, p->id, "", &keys, err);
    const state_point point = { .id = arena_strdup(&s->arena, p->id),
                                .trace = arena_strdup(&s->arena, p->trace),
                                .keys = keys.failed ? NULL : arena_strdup(&s->arena, text_get(&keys)) };
    text_fini(&keys);
    if (status == LS_OK && (!point.id || !point.trace || !point.keys || !vec_push(&s->points, point)))
        status = no_memory(err);
    return status;
}

static ls_status take_point(void *self, const point_state *p, ls_error *err)
{
    reader *r = self;
    sweep_state *s = r->state;
    if (!s->sweep) {
        s->sweep = arena_strdup(&s->arena, p->sweep);
        if (!s->sweep)
            return no_memory(err);
    }
    if (strcmp(s->sweep, p->sweep) != 0)
        return LS_OK;
    if (r->first) {
        ls_status status = add_point(r, p, err);
        if (status != LS_OK)
            return status;
    }
    if (p->position >= s->points.count)
        return LS_OK;
    state_point *point = &s->points.at[p->position];
    point->done |= p->run != 0;
    point->running |= p->running;
    if (p->error) {
        point->error = arena_strdup(&s->arena, p->error);
        if (!point->error)
            return no_memory(err);
    }
    return LS_OK;
}

static ls_status read_one(sweep_state *s, const char *path, bool first, ls_error *err)
{
    reader r = { .state = s, .first = first };
    ls_status status = points_open_read(path, &r.store, err);
    if (status == LS_OK)
        status = points_each(r.store, take_point, &r, err);
    points_close(r.store);
    return status;
}

ls_status state_read(sweep_state *s, const char *database, const char *sweep, const path_list *files,
                     ls_error *err)
{
    *s = (sweep_state){ 0 };
    s->sweep = sweep ? arena_strdup(&s->arena, sweep) : NULL;
    ls_status status = read_one(s, database, true, err);
    /* A shard that has just begun may not have its tables yet. */
    for (size_t i = 0; files && i < files->count && status == LS_OK; i++)
        (void)read_one(s, files->at[i], false, NULL);
    for (size_t i = 0; i < s->points.count; i++) {
        const state_point *p = &s->points.at[i];
        s->done += p->done;
        s->failed += !p->done && p->error && !p->running;
        s->running += !p->done && p->running;
    }
    return status;
}

void state_fini(sweep_state *s)
{
    vec_fini(&s->points);
    arena_fini(&s->arena);
}
