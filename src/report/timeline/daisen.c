/* daisen.c: timelines as Daisen's SQLite (.sqlite3), versions 4 and 5 of akita. A task is a row of `trace`; states of warps
 * and stages of requests are milestones: each says what its task has waited for until then.
 *
 * Version 4 has text ids and seconds, version 5 integers, a table of locations, picoseconds and the topology. Daisen
 * 4.9.2 reads milestones from `trace_milestones` while akita writes `milestone`: a view serves both. */
#include "base/file.h"
#include "base/map.h"
#include "base/text.h"
#include "report/sqlite.h"
#include "report/timeline/writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ROOT_ID 1u /* of the task of the whole run; slices follow */

typedef struct daisen {
    writer_file file;
    temp_file temp;
    sqlite3 *db;
    sqlite3_stmt *task, *milestone, *location;
    string_map locations; /* number, from 1 */
    uint64_t location_count, milestone_count;
    int version;
    ls_status status; /* of the first failure */
    ls_error failure;
} daisen;

static const char tables4[] =
    "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN;"
    "CREATE TABLE trace (ID text UNIQUE, ParentID text, Kind text, What text, Location text, StartTime real, EndTime real);"
    "CREATE TABLE milestone (ID text UNIQUE, TaskID text, Time real, Kind text, What text, Location text);"
    "CREATE VIEW trace_milestones AS SELECT * FROM milestone;"
    "CREATE TABLE daisen$segments (StartTime real, EndTime real);"
    "CREATE TABLE exec_info (Property text, Value text);";
static const char tables5[] =
    "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN;"
    "CREATE TABLE location (ID integer PRIMARY KEY, Locale text);"
    "CREATE TABLE trace (ID integer PRIMARY KEY, ParentID integer, Kind text, What text, Location integer, StartTime real, "
    "EndTime real);"
    "CREATE TABLE milestone (ID integer PRIMARY KEY, TaskID integer, Time real, Kind text, What text);"
    "CREATE TABLE tag (ID integer PRIMARY KEY, TaskID integer, Time real, What text);"
    "CREATE TABLE daisen$segments (StartTime real, EndTime real);"
    "CREATE TABLE exec_info (Property text, Value text);"
    "CREATE TABLE component_spec (Name text, Type text, Spec text);"
    "CREATE TABLE port (Component text, Port text, Connection text);";

static bool check(daisen *d, int code)
{
    if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW)
        return true;
    if (d->status == LS_OK)
        d->status = ls_fail(&d->failure, LS_ERR_IO, "timeline '%s': SQLite: %s", d->file.path,
                            d->db != NULL ? sqlite.errmsg(d->db) : "no memory");
    return false;
}

static void prepare(daisen *d, const char *text, sqlite3_stmt **out)
{
    if (d->status == LS_OK)
        (void)check(d, sqlite.prepare_v2(d->db, text, -1, out, NULL));
}

static void run(daisen *d, sqlite3_stmt *statement)
{
    (void)check(d, sqlite.step(statement));
    (void)check(d, sqlite.reset(statement));
}

static void bind_text(daisen *d, sqlite3_stmt *statement, int place, const char *text)
{
    (void)check(d, sqlite.bind_text(statement, place, text, -1, SQLITE_TRANSIENT));
}

static void bind_id(daisen *d, sqlite3_stmt *statement, int place, uint64_t id)
{
    char text[24];
    if (d->version == 5) {
        (void)check(d, sqlite.bind_int64(statement, place, (sqlite3_int64)id));
        return;
    }
    snprintf(text, sizeof text, "%" PRIu64, id);
    bind_text(d, statement, place, id != 0 ? text : "");
}

static void bind_time(daisen *d, sqlite3_stmt *statement, int place, ls_time time)
{
    (void)check(d, sqlite.bind_double(statement, place, (double)time * (d->version == 5 ? 1e-3 : 1e-15)));
}

/* A location of version 5 is a number. */
static void bind_location(daisen *d, sqlite3_stmt *statement, int place, const char *location)
{
    if (d->version == 4) {
        bind_text(d, statement, place, location);
        return;
    }
    uintptr_t number = (uintptr_t)map_get(&d->locations, location);
    if (number == 0) {
        number = ++d->location_count;
        if (!map_put(&d->locations, location, (void *)number))
            (void)check(d, SQLITE_NOMEM);
        (void)check(d, sqlite.bind_int64(d->location, 1, (sqlite3_int64)number));
        bind_text(d, d->location, 2, location);
        run(d, d->location);
    }
    (void)check(d, sqlite.bind_int64(statement, place, (sqlite3_int64)number));
}

static ls_status open_version(daisen *d, const writer_file *file, int version, ls_error *err)
{
    d->file = *file;
    d->version = version;
    ls_status status = sqlite_load(err);
    if (status == LS_OK)
        status = file_temp_open(&d->temp, file->path, err);
    if (status != LS_OK)
        return status;
    if (check(d, sqlite.open_v2(d->temp.path, &d->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL)))
        (void)check(d, sqlite.exec(d->db, version == 5 ? tables5 : tables4, NULL, NULL, NULL));
    prepare(d, "INSERT INTO trace VALUES (?,?,?,?,?,?,?)", &d->task);
    prepare(d,
            version == 5 ? "INSERT INTO milestone VALUES (?,?,?,?,?)"
                         : "INSERT INTO milestone VALUES (?,?,?,?,?,?)",
            &d->milestone);
    if (version == 5)
        prepare(d, "INSERT INTO location VALUES (?,?)", &d->location);
    if (d->status != LS_OK && err != NULL)
        *err = d->failure;
    return d->status;
}

static void put_task(daisen *d, uint64_t id, uint64_t parent, const char *kind, const char *what,
                     const char *location, ls_time begin, ls_time end)
{
    if (d->status != LS_OK)
        return;
    bind_id(d, d->task, 1, id);
    bind_id(d, d->task, 2, parent);
    bind_text(d, d->task, 3, kind);
    bind_text(d, d->task, 4, what);
    bind_location(d, d->task, 5, location);
    bind_time(d, d->task, 6, begin);
    bind_time(d, d->task, 7, end);
    run(d, d->task);
}

static void daisen_end(void *self, const timeline_slice *slice)
{
    static const char *const kinds[LS_TAP_KINDS] = {
        [LS_TAP_KERNEL] = "Driver Command", [LS_TAP_COPY] = "Driver Command", [LS_TAP_GROUP] = "work-group",
        [LS_TAP_WARP] = "wavefront",        [LS_TAP_REQUEST] = "req_out",     [LS_TAP_TRANSFER] = "msg_e2e",
        [LS_TAP_MIGRATION] = "migration",
    };
    if (slice->part == SLICE_STATE || slice->part == SLICE_STAGE)
        return;
    const char *service = slice->kind == LS_TAP_TRANSFER ? "flit" : "req_in";
    const char *kind = slice->part == SLICE_SERVICE ? service : kinds[slice->kind];
    put_task(self, slice->id + ROOT_ID, slice->parent + ROOT_ID, kind, slice->name, slice->track->location,
             slice->begin, slice->end);
}

static void daisen_step(void *self, const timeline_slice *task, ls_time time, const char *kind,
                        const char *what)
{
    daisen *d = self;
    if (d->status != LS_OK)
        return;
    bind_id(d, d->milestone, 1, ++d->milestone_count);
    bind_id(d, d->milestone, 2, task->id + ROOT_ID);
    bind_time(d, d->milestone, 3, time);
    bind_text(d, d->milestone, 4, kind);
    bind_text(d, d->milestone, 5, what);
    if (d->version == 4)
        bind_text(d, d->milestone, 6, task->track->location);
    run(d, d->milestone);
}

/* --------------------------------------------------------------------------------------------- the end */

static void put_row(daisen *d, const char *insert, const char *a, const char *b, const char *c)
{
    sqlite3_stmt *statement = NULL;
    prepare(d, insert, &statement);
    if (statement == NULL)
        return;
    bind_text(d, statement, 1, a);
    bind_text(d, statement, 2, b);
    if (c != NULL)
        bind_text(d, statement, 3, c);
    run(d, statement);
    (void)sqlite.finalize(statement);
}

static void put_port(daisen *d, const char *component, const char *port, const char *connection)
{
    put_row(d, "INSERT INTO port VALUES (?,?,?)", component, port, connection);
}

/* The block that a used port leads to. */
static const ls_block *block_behind(const ls_engine *engine, const ls_port *port)
{
    for (uint32_t i = 0; port->self != NULL && i < ls_engine_block_count(engine); i++)
        if (ls_block_state(ls_engine_block(engine, i)) == port->self)
            return ls_engine_block(engine, i);
    return NULL;
}

static void put_topology(daisen *d)
{
    const ls_engine *engine = d->file.engine;
    const char *name, *from, *to;
    char text[320];
    for (uint32_t i = 0; i < ls_engine_block_count(engine); i++) {
        ls_block *block = ls_engine_block(engine, i);
        const ls_block_type *type = ls_block_type_of(block);
        snprintf(text, sizeof text, "%s/%s", type->slot, type->name);
        put_row(d, "INSERT INTO component_spec VALUES (?,?,?)", ls_block_name(block), text, "{}");
        for (size_t k = 0; k < type->port_count; k++) {
            if (type->ports[k].ops != NULL)
                continue;
            const ls_port *port =
                (const ls_port *)(const void *)((const char *)ls_block_state(block) + type->ports[k].offset);
            const ls_block *other = block_behind(engine, port);
            if (other == NULL)
                continue;
            snprintf(text, sizeof text, "%s.%s", ls_block_name(block), type->ports[k].name);
            put_port(d, ls_block_name(block), type->ports[k].name, text);
            put_port(d, ls_block_name(other), type->ports[k].name, text);
        }
    }
    for (uint32_t i = 0; ls_engine_link_at(engine, i, &name, &from, &to); i++) {
        put_port(d, from, "out", name);
        put_port(d, to, "in", name);
    }
}

static void put_facts(daisen *d, ls_time end)
{
    char text[64];
    sqlite3_stmt *segment = NULL;
    static const char insert[] = "INSERT INTO exec_info VALUES (?,?)";
    put_task(d, ROOT_ID, 0, "Simulation", "Simulation", "Simulation", 0, end);
    prepare(d, "INSERT INTO daisen$segments VALUES (?,?)", &segment);
    if (segment != NULL) {
        bind_time(d, segment, 1, 0);
        bind_time(d, segment, 2, end);
        run(d, segment);
        (void)sqlite.finalize(segment);
    }
    /* Simulated times, so that the file is the same in every run. */
    put_row(d, insert, "Start Time", "0 s", NULL);
    put_row(d, insert, "Command", d->file.command != NULL ? d->file.command : "lockstep", NULL);
    put_row(d, insert, "Working Directory", ".", NULL);
    put_row(d, insert, "End Time", format_time(end, text, sizeof text), NULL);
    if (d->version == 5)
        put_topology(d);
}

static void free_all(daisen *d)
{
    (void)sqlite.finalize(d->task);
    (void)sqlite.finalize(d->milestone);
    (void)sqlite.finalize(d->location);
    (void)sqlite.close(d->db);
    map_fini(&d->locations);
    d->db = NULL;
}

static void daisen_abort(void *self)
{
    daisen *d = self;
    free_all(d);
    temp_discard(&d->temp);
}

static ls_status daisen_close(void *self, ls_time end, ls_error *err)
{
    daisen *d = self;
    if (d->status == LS_OK)
        put_facts(d, end);
    if (d->status == LS_OK)
        (void)check(d, sqlite.exec(d->db, "COMMIT", NULL, NULL, NULL));
    ls_status status = d->status;
    if (status != LS_OK && err != NULL)
        *err = d->failure;
    free_all(d);
    if (status == LS_OK && rename(d->temp.path, d->file.path) != 0)
        status = ls_fail(err, LS_ERR_IO, "cannot write '%s': %s", d->file.path, strerror(errno));
    if (status == LS_OK)
        temp_release(&d->temp);
    else
        temp_discard(&d->temp);
    return status;
}

static ls_status daisen4_open(void *self, const writer_file *file, ls_error *err)
{
    ls_status status = open_version(self, file, 4, err);
    if (status != LS_OK)
        daisen_abort(self);
    return status;
}

static ls_status daisen5_open(void *self, const writer_file *file, ls_error *err)
{
    ls_status status = open_version(self, file, 5, err);
    if (status != LS_OK)
        daisen_abort(self);
    return status;
}

#define DAISEN(open_)                                                                                         \
    {                                                                                                         \
        .open = (open_), .end = daisen_end, .step = daisen_step, .close = daisen_close,                       \
        .abort = daisen_abort, .size = sizeof(daisen),                                                        \
        .kinds = ~(LS_TAP_BIT(LS_TAP_INSTRUCTION) | LS_TAP_BIT(LS_TAP_DRAM))                                  \
    }
const timeline_writer writer_daisen4 = DAISEN(daisen4_open);
const timeline_writer writer_daisen5 = DAISEN(daisen5_open);
