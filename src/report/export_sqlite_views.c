/* export_sqlite_views.c: the views `totals` and `readings`, which show each number of the tables per type of block as a
 * row, and the trigger that deletes the values of a scope. They name every metric, so new metrics renew them. */
#include "report/export_sqlite.h"

#include <string.h>

void sqlite_add_quoted(text_buffer *sql, char quote, const char *name, const char *suffix)
{
    text_addn(sql, &quote, 1);
    for (const char *next; (next = strchr(name, quote)) != NULL; name = next + 1) {
        text_addn(sql, name, (size_t)(next - name) + 1);
        text_addn(sql, &quote, 1);
    }
    text_add(sql, name);
    text_add(sql, suffix);
    text_addn(sql, &quote, 1);
}

ls_status sqlite_run_text(const sqlite_out *o, text_buffer *sql, ls_error *err)
{
    ls_status status = sql->failed ? ls_fail(err, LS_ERR_NOMEM, "no memory left for the database")
                                   : sqlite_run_sql(o, text_get(sql), err);
    text_clear(sql);
    return status;
}

/* One type of `totals` and `readings`: the rows of its table times its metrics. */
typedef struct view_text {
    text_buffer totals, readings, trigger;
} view_text;

static void begin_type(view_text *v, bool first)
{
    static const char head[] = "SELECT s.run, s.scope, s.kernel, s.name AS kernel_name, ";
    text_add(&v->totals, first ? head : " UNION ALL SELECT s.run, s.scope, s.kernel, s.name, ");
    text_add(&v->readings, first ? head : " UNION ALL SELECT s.run, s.scope, s.kernel, s.name, ");
    text_add(&v->totals, "m.type, m.name AS metric, m.kind, CASE m.name");
    text_add(&v->readings, "b.gpu, b.path AS block, m.type, m.name AS metric, m.kind, CASE m.name");
}

static void add_case(text_buffer *sql, const char *metric)
{
    text_add(sql, " WHEN ");
    sqlite_add_quoted(sql, '\'', metric, "");
    text_add(sql, " THEN v.");
    sqlite_add_quoted(sql, '"', metric, "");
}

static void end_type(view_text *v, const char *type)
{
    text_add(&v->totals, " END AS value, m.unit FROM scopes s JOIN metrics m ON m.run = s.run AND m.type = ");
    sqlite_add_quoted(&v->totals, '\'', type, "");
    text_add(&v->totals, " JOIN ");
    sqlite_add_quoted(&v->totals, '"', type, "");
    text_add(&v->totals, " v ON v.scope = s.scope");
    text_add(&v->readings,
             " END AS value, m.unit FROM scopes s JOIN metrics m ON m.run = s.run AND m.type = ");
    sqlite_add_quoted(&v->readings, '\'', type, "");
    text_add(&v->readings, " JOIN ");
    sqlite_add_quoted(&v->readings, '"', type, SQLITE_BLOCKS_SUFFIX);
    text_add(&v->readings, " v ON v.scope = s.scope JOIN blocks b ON b.block = v.block");
    text_add(&v->trigger, " DELETE FROM ");
    sqlite_add_quoted(&v->trigger, '"', type, "");
    text_add(&v->trigger, " WHERE scope = OLD.scope; DELETE FROM ");
    sqlite_add_quoted(&v->trigger, '"', type, SQLITE_BLOCKS_SUFFIX);
    text_add(&v->trigger, " WHERE scope = OLD.scope;");
}

static ls_status write_types(const sqlite_out *o, view_text *v, bool *any, ls_error *err)
{
    /* The metrics of a single run have an index in this order. */
    static const char of_one[] = "SELECT type, name FROM metrics ORDER BY run, type, name";
    static const char of_many[] =
        "SELECT type, name FROM metrics GROUP BY type, name ORDER BY type, min(metric)";
    sqlite3_stmt *s = NULL;
    ls_status status = sqlite_prepare(o, o->is_new ? of_one : of_many, &s, err);
    if (status != LS_OK)
        return status;
    text_buffer type = { 0 };
    int code;
    while ((code = sqlite.step(s)) == SQLITE_ROW) {
        const char *now = (const char *)sqlite.column_text(s, 0);
        if (!*any || strcmp(now, text_get(&type)) != 0) {
            if (*any)
                end_type(v, text_get(&type));
            begin_type(v, !*any);
            text_clear(&type);
            text_add(&type, now);
            *any = true;
        }
        const char *metric = (const char *)sqlite.column_text(s, 1);
        add_case(&v->totals, metric);
        add_case(&v->readings, metric);
    }
    if (*any)
        end_type(v, text_get(&type));
    if (code != SQLITE_DONE)
        status = sqlite_fail(o, code, err);
    sqlite.finalize(s);
    text_fini(&type);
    return status;
}

ls_status sqlite_types_views(const sqlite_out *o, ls_error *err)
{
    static const char none[] = "SELECT NULL AS run, NULL AS scope, NULL AS kernel, NULL AS kernel_name, ";
    view_text v = { 0 };
    bool any = false;
    text_add(&v.totals, "DROP VIEW IF EXISTS totals; CREATE VIEW totals AS ");
    text_add(&v.readings, "DROP VIEW IF EXISTS readings; CREATE VIEW readings AS ");
    text_add(&v.trigger,
             "DROP TRIGGER IF EXISTS scope_deleted; CREATE TRIGGER scope_deleted AFTER DELETE ON scopes"
             " BEGIN DELETE FROM buckets WHERE scope = OLD.scope;");
    ls_status status = write_types(o, &v, &any, err);
    if (!any) {
        text_add(&v.totals, none);
        text_add(&v.totals, "NULL AS type, NULL AS metric, NULL AS kind, NULL AS value, NULL AS unit WHERE 0");
        text_add(&v.readings, none);
        text_add(&v.readings, "NULL AS gpu, NULL AS block, NULL AS type, NULL AS metric, NULL AS kind,"
                              " NULL AS value, NULL AS unit WHERE 0");
    }
    text_add(&v.trigger, " END");
    if (status == LS_OK)
        status = sqlite_run_text(o, &v.totals, err);
    if (status == LS_OK)
        status = sqlite_run_text(o, &v.readings, err);
    if (status == LS_OK)
        status = sqlite_run_text(o, &v.trigger, err);
    text_fini(&v.totals);
    text_fini(&v.readings);
    text_fini(&v.trigger);
    return status;
}
