/* postgres.c: see postgres.h. */
#include "report/postgres.h"

#include "base/library.h"
#include "base/text.h"

#include <pthread.h>
#include <string.h>
#include <strings.h>

/* ---------------------------------------------------------------------------------------------------- URLs */

static const char *const schemes[] = { "postgresql://", "postgres://" };

bool postgres_is_url(const char *path)
{
    for (size_t i = 0; path && i < LS_COUNT_OF(schemes); i++)
        if (strncasecmp(path, schemes[i], strlen(schemes[i])) == 0)
            return true;
    return false;
}

/* The password between "user:" and "@"; false: the part before the host has none. A password may itself hold an
 * unescaped '@': the last one before the path ends it. */
static bool find_password(const char *url, size_t *begin, size_t *end)
{
    const char *authority = strstr(url, "://") + 3;
    size_t bytes = strcspn(authority, "?#"), host = 0;
    for (size_t i = 0; i < bytes; i++)
        host = authority[i] == '@' ? i : host;
    const char *colon = memchr(authority, ':', host);
    if (host == 0 || !colon)
        return false;
    *begin = (size_t)(colon - url);
    *end = (size_t)(authority - url) + host;
    return true;
}

/* Parameters after '?' that are secrets: "password=...", "sslpassword=...". */
static bool is_secret(const char *parameter)
{
    return strncasecmp(parameter, "password=", 9) == 0 || strncasecmp(parameter, "sslpassword=", 12) == 0;
}

static const char *next_parameter(const char *at)
{
    at += strcspn(at, "?&");
    return *at ? at + 1 : NULL;
}

bool postgres_has_password(const char *url)
{
    size_t begin, end;
    if (!postgres_is_url(url))
        return false;
    if (find_password(url, &begin, &end))
        return true;
    for (const char *at = strchr(url, '?') ? strchr(url, '?') + 1 : NULL; at; at = next_parameter(at))
        if (is_secret(at))
            return true;
    return false;
}

const char *postgres_public_url(mem_arena *arena, const char *url)
{
    text_buffer text = { 0 };
    size_t begin = 0, end = 0;
    if (!postgres_is_url(url))
        return arena_strdup(arena, url);
    if (find_password(url, &begin, &end))
        text_addn(&text, url, begin);
    const char *rest = url + end, *query = strchr(rest, '?');
    text_addn(&text, rest, query ? (size_t)(query - rest) : strlen(rest));
    char separator = '?';
    for (const char *at = query ? query + 1 : NULL; at; at = next_parameter(at)) {
        if (is_secret(at))
            continue;
        text_addn(&text, &separator, 1);
        text_addn(&text, at, strcspn(at, "&"));
        separator = '&';
    }
    const char *out = text.failed ? NULL : arena_strdup(arena, text_get(&text));
    text_fini(&text);
    return out;
}

const char *postgres_database(mem_arena *arena, const char *url)
{
    const char *authority = strstr(url, "://") + 3;
    size_t bytes = strcspn(authority, "?#"), slash = bytes;
    for (size_t i = 0; i < bytes; i++)
        slash = authority[i] == '/' ? i : slash;
    if (slash + 1 >= bytes)
        return "sweep";
    char *name = arena_strndup(arena, authority + slash + 1, bytes - slash - 1);
    for (char *at = name; at && *at; at++)
        *at = (*at == '%' || *at == '"' || *at == '\'') ? '_' : *at;
    return name;
}

/* ------------------------------------------------------------------------------------------------- loading */

#ifdef LOCKSTEP_LIBPQ

#define LIBRARY "libpq.so.5" /* the name of its interface since 2006 */

postgres_calls postgres;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool loaded;

static void load(void)
{
#define X(name) { #name, &postgres.name },
    static const library_call calls[] = { POSTGRES_CALLS(X) };
#undef X
    loaded = library_load(LIBRARY, calls, sizeof calls / sizeof *calls);
}

ls_status postgres_load(ls_error *err)
{
    pthread_once(&once, load);
    if (loaded)
        return LS_OK;
    return ls_fail(err, LS_ERR_UNSUPPORTED,
                   "PostgreSQL's client library (%s) cannot be loaded: install libpq5, or use a file (.db)",
                   LIBRARY);
}

#else

ls_status postgres_load(ls_error *err)
{
    return ls_fail(err, LS_ERR_UNSUPPORTED,
                   "this Lockstep was built without PostgreSQL's client library: use a file (.db)");
}

#endif
