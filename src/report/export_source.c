/* export_source.c: counts per instruction as JSON, and as tables of a database. */
#include "report/export_source.h"

#include <inttypes.h>

static const char *machine_name(const source_book *book)
{
    return book->machine == SOURCE_AMD ? "amd" : "nvidia";
}

/* --------------------------------------------------------------------------------------------------- JSON */

static void put_columns(json_writer *j, const source_book *book)
{
    static const char *const names[] = { "executed", "lanes", "bytes", "requests", "hits", "conflicts" };
    const char *const *reasons;
    size_t count = source_reasons(book->machine, &reasons);
    char name[40];
    json_key(j, "columns");
    json_flat(j);
    json_array(j);
    for (size_t i = 0; i < LS_COUNT_OF(names); i++)
        json_string(j, names[i]);
    for (size_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "stall_%s", reasons[i]);
        json_string(j, name);
    }
    json_end(j);
}

static void put_inst(json_writer *j, const source_book *book, const inst_counted *inst)
{
    const char *const *reasons;
    const inst_count *n = &inst->n;
    const uint64_t fixed[] = { n->executed, n->lanes, n->bytes, n->requests, n->hits, n->conflicts };
    size_t stalls = source_reasons(book->machine, &reasons);
    json_flat(j);
    json_begin_object(j);
    json_put_u64(j, "pc", inst->pc);
    json_put_text(j, "text", inst->text);
    if (inst->file) {
        json_put_text(j, "file", inst->file);
        json_put_u64(j, "line", inst->line);
    }
    json_key(j, "counts");
    json_array(j);
    for (size_t i = 0; i < LS_COUNT_OF(fixed); i++)
        json_u64(j, fixed[i]);
    for (size_t i = 0; i < stalls; i++)
        json_u64(j, n->stalls[i]);
    json_end(j);
    json_end(j);
}

void export_source_json(json_writer *j, const source_book *book)
{
    json_key(j, "source");
    json_begin_object(j);
    json_put_text(j, "machine", machine_name(book));
    json_put_u64(j, "request_bytes", book->request_bytes);
    put_columns(j, book);
    json_key(j, "kernels");
    json_array(j);
    for (size_t k = 0; k < book->kernels.count; k++) {
        const source_kernel *kernel = &book->kernels.at[k];
        json_begin_object(j);
        json_put_text(j, "name", kernel->name);
        json_put_u64(j, "launches", kernel->launches);
        json_key(j, "instructions");
        json_array(j);
        for (size_t i = 0; i < kernel->insts.count; i++)
            put_inst(j, book, &kernel->insts.at[i]);
        json_end(j);
        json_end(j);
    }
    json_end(j);
    json_key(j, "lines");
    json_array(j);
    for (size_t i = 0; i < book->lines.count; i++) {
        json_flat(j);
        json_begin_object(j);
        json_put_text(j, "file", book->lines.at[i].file);
        json_put_u64(j, "line", book->lines.at[i].line);
        json_put_text(j, "text", book->lines.at[i].text);
        json_end(j);
    }
    json_end(j);
    json_end(j);
}

/* ------------------------------------------------------------------------------------------------- SQLite */

static const char tables[] =
    "CREATE TABLE IF NOT EXISTS source_kernels(source INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES runs(run),"
    " kernel TEXT NOT NULL, launches NOT NULL, machine TEXT NOT NULL, request_bytes NOT NULL);"
    "CREATE TABLE IF NOT EXISTS source_instructions(source INTEGER NOT NULL REFERENCES source_kernels(source),"
    " pc NOT NULL, instruction TEXT NOT NULL, file TEXT, line INTEGER, executed NOT NULL, lanes NOT NULL,"
    " bytes NOT NULL, requests NOT NULL, hits NOT NULL, conflicts NOT NULL, PRIMARY KEY(source, pc)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS source_stalls(source INTEGER NOT NULL REFERENCES source_kernels(source),"
    " pc NOT NULL, reason TEXT NOT NULL, stalls NOT NULL, PRIMARY KEY(source, pc, reason)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS source_lines(run INTEGER NOT NULL REFERENCES runs(run), file TEXT NOT NULL,"
    " line INTEGER NOT NULL, text TEXT NOT NULL);"
    "CREATE VIEW IF NOT EXISTS source AS SELECT k.run, k.kernel, k.launches, i.pc, i.instruction, i.file, i.line,"
    " i.executed, i.lanes, i.executed + coalesce(s.all_stalls, 0) AS cost, coalesce(s.all_stalls, 0) AS stalls,"
    " i.bytes, i.requests, min(1.0, i.bytes * 1.0 / nullif(i.requests * k.request_bytes, 0)) AS coalescing, i.hits,"
    " i.conflicts FROM source_kernels k JOIN source_instructions i USING(source) LEFT JOIN"
    " (SELECT source, pc, sum(stalls) AS all_stalls FROM source_stalls GROUP BY source, pc) s"
    " ON s.source = i.source AND s.pc = i.pc;";

static int done(sqlite3_stmt *s, int code)
{
    if (code == SQLITE_OK)
        code = sqlite.step(s);
    int reset = sqlite.reset(s);
    return code == SQLITE_DONE ? reset : code;
}

static int bind_text(sqlite3_stmt *s, int at, const char *text)
{
    return text ? sqlite.bind_text(s, at, text, -1, SQLITE_STATIC) : sqlite.bind_null(s, at);
}

static int put_kernel(const sqlite_out *o, sqlite3_stmt *s, const source_book *book, const source_kernel *k)
{
    int code = sqlite.bind_int64(s, 1, o->run);
    if (code == SQLITE_OK)
        code = bind_text(s, 2, k->name);
    if (code == SQLITE_OK)
        code = sqlite_bind_u64(s, 3, k->launches);
    if (code == SQLITE_OK)
        code = bind_text(s, 4, machine_name(book));
    if (code == SQLITE_OK)
        code = sqlite_bind_u64(s, 5, book->request_bytes);
    return done(s, code);
}

static int put_counts(sqlite3_stmt *s, sqlite3_int64 key, const inst_counted *inst)
{
    const inst_count *n = &inst->n;
    const uint64_t counts[] = { n->executed, n->lanes, n->bytes, n->requests, n->hits, n->conflicts };
    int code = sqlite.bind_int64(s, 1, key);
    if (code == SQLITE_OK)
        code = sqlite_bind_u64(s, 2, inst->pc);
    if (code == SQLITE_OK)
        code = bind_text(s, 3, inst->text);
    if (code == SQLITE_OK)
        code = bind_text(s, 4, inst->file);
    if (code == SQLITE_OK)
        code = inst->file ? sqlite.bind_int64(s, 5, inst->line) : sqlite.bind_null(s, 5);
    for (int i = 0; i < (int)LS_COUNT_OF(counts) && code == SQLITE_OK; i++)
        code = sqlite_bind_u64(s, 6 + i, counts[i]);
    return done(s, code);
}

static int put_stalls(sqlite3_stmt *s, sqlite3_int64 key, const source_book *book, const inst_counted *inst)
{
    const char *const *reasons;
    size_t count = source_reasons(book->machine, &reasons);
    int code = SQLITE_OK;
    for (size_t i = 0; i < count && code == SQLITE_OK; i++) {
        if (inst->n.stalls[i] == 0)
            continue;
        code = sqlite.bind_int64(s, 1, key);
        if (code == SQLITE_OK)
            code = sqlite_bind_u64(s, 2, inst->pc);
        if (code == SQLITE_OK)
            code = bind_text(s, 3, reasons[i]);
        if (code == SQLITE_OK)
            code = sqlite_bind_u64(s, 4, inst->n.stalls[i]);
        code = done(s, code);
    }
    return code;
}

static int put_line(const sqlite_out *o, sqlite3_stmt *s, const source_line *line)
{
    int code = sqlite.bind_int64(s, 1, o->run);
    if (code == SQLITE_OK)
        code = bind_text(s, 2, line->file);
    if (code == SQLITE_OK)
        code = sqlite.bind_int64(s, 3, line->line);
    if (code == SQLITE_OK)
        code = bind_text(s, 4, line->text);
    return done(s, code);
}

ls_status export_source_sqlite(const sqlite_out *o, const source_book *book, ls_error *err)
{
    sqlite3_stmt *kernel = NULL, *inst = NULL, *stall = NULL, *line = NULL;
    ls_status status = sqlite_run_sql(o, tables, err);
    if (status == LS_OK)
        status = sqlite_prepare(o, "INSERT INTO source_kernels VALUES(NULL, ?, ?, ?, ?, ?)", &kernel, err);
    if (status == LS_OK)
        status = sqlite_prepare(o, "INSERT INTO source_instructions VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                                &inst, err);
    if (status == LS_OK)
        status = sqlite_prepare(o, "INSERT INTO source_stalls VALUES(?, ?, ?, ?)", &stall, err);
    if (status == LS_OK)
        status = sqlite_prepare(o, "INSERT INTO source_lines VALUES(?, ?, ?, ?)", &line, err);
    int code = SQLITE_OK;
    for (size_t k = 0; k < book->kernels.count && status == LS_OK && code == SQLITE_OK; k++) {
        const source_kernel *of = &book->kernels.at[k];
        code = put_kernel(o, kernel, book, of);
        sqlite3_int64 key = sqlite.last_insert_rowid(o->db);
        for (size_t i = 0; i < of->insts.count && code == SQLITE_OK; i++) {
            code = put_counts(inst, key, &of->insts.at[i]);
            if (code == SQLITE_OK)
                code = put_stalls(stall, key, book, &of->insts.at[i]);
        }
    }
    for (size_t i = 0; i < book->lines.count && status == LS_OK && code == SQLITE_OK; i++)
        code = put_line(o, line, &book->lines.at[i]);
    if (status == LS_OK && code != SQLITE_OK)
        status = sqlite_fail(o, code, err);
    sqlite.finalize(kernel);
    sqlite.finalize(inst);
    sqlite.finalize(stall);
    sqlite.finalize(line);
    return status;
}
