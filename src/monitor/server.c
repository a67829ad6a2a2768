/* server.c: the server's half of the monitor: who may ask, pages, snapshots and commands. */
#include "monitor/monitor_impl.h"

#include "base/pool.h"
#include "base/text.h"
#include "monitor/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define CONNECTIONS 128u
#define IDLE_SECONDS 10u

typedef struct MHD_Connection connection;

/* ------------------------------------------------------------------------------------------------- answers */

static enum MHD_Result answer(connection *c, unsigned code, const char *type, const void *data, size_t bytes)
{
    struct MHD_Response *r =
        http.create_response_from_buffer(bytes, (void *)(uintptr_t)data, MHD_RESPMEM_MUST_COPY);
    if (r == NULL)
        return MHD_NO;
    http.add_response_header(r, "Content-Type", type);
    http.add_response_header(r, "Cache-Control", "no-store");
    http.add_response_header(r, "X-Content-Type-Options", "nosniff");
    http.add_response_header(r, "Referrer-Policy", "no-referrer");
    http.add_response_header(r, "Content-Security-Policy",
                             "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
                             "img-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'");
    if (code == MHD_HTTP_METHOD_NOT_ALLOWED)
        http.add_response_header(r, "Allow", "GET, HEAD, POST");
    enum MHD_Result result = http.queue_response(c, code, r);
    http.destroy_response(r);
    return result;
}

static enum MHD_Result say(connection *c, unsigned code, const char *text)
{
    return answer(c, code, "text/plain; charset=utf-8", text, strlen(text));
}

/* A text of the run. The client's wish is noted, so that the next one is fresh. */
static enum MHD_Result answer_text(monitor *m, connection *c, monitor_text *text, const char *type)
{
    pthread_mutex_lock(&m->lock);
    text->wanted_ns = host_clock_ns();
    size_t bytes = text->bytes;
    char *copy = text->data != NULL ? malloc(bytes + 1) : NULL;
    if (copy != NULL)
        memcpy(copy, text->data, bytes);
    pthread_mutex_unlock(&m->lock);
    enum MHD_Result result = copy != NULL ? answer(c, MHD_HTTP_OK, type, copy, bytes)
                                          : say(c, MHD_HTTP_ACCEPTED, "not there yet: ask again\n");
    free(copy);
    return result;
}

/* ---------------------------------------------------------------------------------------------- permission */

static const char *header(connection *c, const char *name)
{
    return http.lookup_connection_value(c, MHD_HEADER_KIND, name);
}

/* "127.0.0.1:PORT" or "localhost:PORT", after a prefix. */
static bool is_own(const monitor *m, const char *text, const char *prefix)
{
    static const char *const names[] = { "127.0.0.1", "localhost" };
    for (size_t i = 0; i < LS_COUNT_OF(names); i++) {
        char own[64];
        snprintf(own, sizeof own, "%s%s:%u", prefix, names[i], (unsigned)m->port);
        if (strcmp(text, own) == 0)
            return true;
    }
    return false;
}

/* A page of another origin can make a browser send requests here, also under a name that resolves to this host. */
static bool is_from_here(const monitor *m, connection *c)
{
    const char *host = header(c, "Host"), *origin = header(c, "Origin"), *site = header(c, "Sec-Fetch-Site");
    if (host == NULL || !is_own(m, host, ""))
        return false;
    if (site != NULL && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0)
        return false;
    return origin == NULL || is_own(m, origin, "http://");
}

/* In a time that does not depend on how much of it is right. */
static bool is_token(const monitor *m, const char *text)
{
    size_t length = strlen(m->options.token);
    if (text == NULL || strlen(text) != length)
        return false;
    unsigned char difference = 0;
    for (size_t i = 0; i < length; i++)
        difference |= (unsigned char)(m->options.token[i] ^ text[i]);
    return difference == 0;
}

/* ------------------------------------------------------------------------------------------------ commands */

static const struct {
    const char *url;
    monitor_command command;
} commands[] = {
    { "/api/pause", MONITOR_PAUSE },
    { "/api/continue", MONITOR_CONTINUE },
    { "/api/step", MONITOR_STEP },
    { "/api/stop", MONITOR_STOP },
};

static enum MHD_Result take_command(monitor *m, connection *c, monitor_command command)
{
    if (m->options.token == NULL)
        return say(c, MHD_HTTP_FORBIDDEN,
                   "this monitor only shows: start it with a token to control the run\n");
    if (!is_token(m, header(c, "X-Lockstep-Token")))
        return say(c, MHD_HTTP_FORBIDDEN, "the token of this run is missing or wrong\n");
    if (m->options.is_sweep && command != MONITOR_STOP)
        return say(c, MHD_HTTP_NOT_FOUND, "a sweep can only be stopped: the same command goes on later\n");
    ls_time step = 0;
    if (command == MONITOR_STEP) {
        const char *text = http.lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "time");
        if (text == NULL || parse_time(text, strlen(text), &step, NULL) != LS_OK || step == 0)
            return say(c, MHD_HTTP_BAD_REQUEST, "a step needs a time, as in /api/step?time=500ns\n");
    }
    pthread_mutex_lock(&m->lock);
    m->command = command;
    m->step_fs = step;
    m->state.wanted_ns = host_clock_ns();
    pthread_cond_broadcast(&m->changed);
    pthread_mutex_unlock(&m->lock);
    return say(c, MHD_HTTP_OK, "done\n");
}

static enum MHD_Result handle_post(monitor *m, connection *c, const char *url)
{
    for (size_t i = 0; i < LS_COUNT_OF(commands); i++)
        if (strcmp(url, commands[i].url) == 0)
            return take_command(m, c, commands[i].command);
    return say(c, MHD_HTTP_NOT_FOUND, "there is no such command: pause, continue, step or stop\n");
}

typedef struct monitor_page {
    const unsigned char *html, *js;
    size_t html_bytes, js_bytes;
} monitor_page;

/* Sizes of the files are known to the linker only: the pages are made here, not in a table. */
static monitor_page page_of(const monitor *m)
{
    if (m->options.is_sweep)
        return (monitor_page){ monitor_sweep_html, monitor_sweep_js, monitor_sweep_html_bytes,
                               monitor_sweep_js_bytes };
    return (monitor_page){ monitor_page_html, monitor_page_js, monitor_page_html_bytes,
                           monitor_page_js_bytes };
}

static enum MHD_Result handle_get(monitor *m, connection *c, const char *url)
{
    if (strcmp(url, "/") == 0)
        return answer(c, MHD_HTTP_OK, "text/html; charset=utf-8", page_of(m).html, page_of(m).html_bytes);
    if (strcmp(url, "/page.js") == 0)
        return answer(c, MHD_HTTP_OK, "text/javascript; charset=utf-8", page_of(m).js, page_of(m).js_bytes);
    if (strcmp(url, "/page.css") == 0)
        return answer(c, MHD_HTTP_OK, "text/css; charset=utf-8", monitor_page_css, monitor_page_css_bytes);
    if (strcmp(url, "/api/state") == 0)
        return answer_text(m, c, &m->state, "application/json");
    if (strcmp(url, "/api/waits") == 0)
        return answer_text(m, c, &m->waits, "text/plain; charset=utf-8");
    for (size_t i = 0; i < LS_COUNT_OF(commands); i++)
        if (strcmp(url, commands[i].url) == 0)
            return say(c, MHD_HTTP_METHOD_NOT_ALLOWED, "a command is a POST\n");
    return say(c, MHD_HTTP_NOT_FOUND, "there is no such page: /, /api/state, /api/waits\n");
}

/* ------------------------------------------------------------------------------------------------- server */

static enum MHD_Result handle(void *self, connection *c, const char *url, const char *method,
                              const char *version, const char *data, size_t *bytes, void **seen)
{
    static int first;
    monitor *m = self;
    (void)version;
    (void)data;
    if (*seen == NULL) { /* the head of a request; its body, if any, follows */
        *seen = &first;
        return MHD_YES;
    }
    if (*bytes > 0) { /* no request needs a body: it is read and forgotten */
        *bytes = 0;
        return MHD_YES;
    }
    if (!is_from_here(m, c))
        return say(c, MHD_HTTP_FORBIDDEN, "only programs and pages of this host may ask\n");
    if (strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0)
        return handle_get(m, c, url);
    if (strcmp(method, "POST") == 0)
        return handle_post(m, c, url);
    return say(c, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET, HEAD and POST\n");
}

ls_status monitor_serve(monitor *m, ls_error *err)
{
    ls_status status = http_load(err);
    if (status != LS_OK)
        return status;
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons(m->options.port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    errno = 0;
    m->daemon =
        http.start_daemon(MHD_USE_INTERNAL_POLLING_THREAD, m->options.port, NULL, NULL, handle, m,
                          MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&address, MHD_OPTION_CONNECTION_LIMIT,
                          CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS, MHD_OPTION_END);
    if (m->daemon == NULL)
        return ls_fail(err, LS_ERR_IO, "the monitor cannot listen on port %u of 127.0.0.1: %s",
                       (unsigned)m->options.port, errno != 0 ? strerror(errno) : "unknown reason");
    const union MHD_DaemonInfo *info = http.get_daemon_info(m->daemon, MHD_DAEMON_INFO_BIND_PORT);
    m->port = info != NULL ? info->port : m->options.port;
    return LS_OK;
}

void monitor_stop_serving(monitor *m)
{
    if (m->daemon != NULL)
        http.stop_daemon(m->daemon);
}
