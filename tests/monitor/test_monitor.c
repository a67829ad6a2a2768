/* test_monitor.c: who may ask the live page for what, commands, snapshots, many clients, malformed requests. The "run" is a
 * loop of this test; its clients are sockets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "monitor/monitor.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static ls_error err;

typedef struct fake {
    monitor *m;
    ls_run_control control;
    atomic_int stops, is_over;
    _Atomic ls_time now;
    pthread_t thread;
} fake;

static void describe(void *self, json_writer *j)
{
    (void)self;
    json_key(j, "platform");
    json_string(j, "a \"quoted\" <platform>");
}

static void stop(void *self)
{
    fake *f = self;
    f->stops++;
    atomic_store(&f->control.stop, 1);
}

/* Time passes 1,000 fs at a time, as windows do; a step's end is met exactly. */
static void *run(void *self)
{
    fake *f = self;
    ls_run_sampler *sampler = monitor_sampler(f->m);
    while (!f->is_over && atomic_load(&f->control.stop) == 0) {
        ls_time next = f->now + 1000;
        if (sampler->next <= next) {
            f->now = sampler->next;
            sampler->look(sampler, f->now, f->now);
            continue;
        }
        f->now = next;
        monitor_tick(f->m, &(ls_run_progress){ .now = f->now, .events = f->now / 10 });
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    }
    return NULL;
}

static void begin(fake *f, const char *token)
{
    *f = (fake){ 0 };
    const monitor_options o = {
        .token = token, .self = f, .describe = describe, .stop = stop, .control = &f->control
    };
    if (monitor_start(&o, &f->m, &err) != LS_OK)
        fail_msg("%s", err.what);
    assert_true(monitor_port(f->m) != 0);
    assert_int_equal(pthread_create(&f->thread, NULL, run, f), 0);
}

static void end(fake *f)
{
    f->is_over = 1;
    atomic_store(&f->control.stop, 1);
    pthread_join(f->thread, NULL);
    monitor_end(f->m, "done");
    monitor_close(f->m);
}

static int dial(uint16_t port)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    const struct sockaddr_in to = { .sin_family = AF_INET,
                                    .sin_port = htons(port),
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof to), 0);
    const struct timeval limit = { .tv_sec = 5 };
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    return fd;
}

/* Sends bytes as they are, and reads until the server closes. Returns the status code; 0: no answer. */
static int exchange(uint16_t port, const char *request, size_t bytes, char *answer, size_t room)
{
    int fd = dial(port);
    size_t got = 0;
    (void)send(fd, request, bytes, MSG_NOSIGNAL);
    for (ssize_t n; got + 1 < room && (n = recv(fd, answer + got, room - 1 - got, 0)) > 0;)
        got += (size_t)n;
    answer[got] = '\0';
    close(fd);
    return strncmp(answer, "HTTP/1.", 7) == 0 ? atoi(answer + 9) : 0;
}

/* A good request but for `lines`, which replace the Host line if they have one. */
static int ask(const fake *f, const char *method, const char *url, const char *lines, char *answer,
               size_t room)
{
    char request[1024], host[64] = "";
    if (!strstr(lines, "Host:"))
        snprintf(host, sizeof host, "Host: 127.0.0.1:%u\r\n", (unsigned)monitor_port(f->m));
    int bytes = snprintf(request, sizeof request, "%s %s HTTP/1.1\r\n%s%sConnection: close\r\n\r\n", method,
                         url, host, lines);
    return exchange(monitor_port(f->m), request, (size_t)bytes, answer, room);
}

static char answer[1 << 16];

static void test_who_may_ask(void **state)
{
    (void)state;
    fake f;
    begin(&f, "secret");
    char own[64];
    snprintf(own, sizeof own, "Host: localhost:%u\r\n", (unsigned)monitor_port(f.m));
    assert_int_equal(ask(&f, "GET", "/", "", answer, sizeof answer), 200);
    assert_non_null(strstr(answer, "Content-Security-Policy: default-src 'none'"));
    assert_non_null(strstr(answer, "<html lang=\"en\">"));
    assert_int_equal(ask(&f, "GET", "/api/state", own, answer, sizeof answer), 200);
    assert_non_null(strstr(answer, "\"platform\":\"a \\\"quoted\\\" <platform>\""));
    assert_int_equal(ask(&f, "GET", "/page.js", "", answer, sizeof answer), 200);
    assert_int_equal(ask(&f, "GET", "/page.css", "", answer, sizeof answer), 200);
    assert_int_equal(ask(&f, "HEAD", "/", "", answer, sizeof answer), 200);
    /* A name that resolves to this host, another port, another origin, a request of another site. */
    assert_int_equal(ask(&f, "GET", "/", "Host: evil.example\r\n", answer, sizeof answer), 403);
    assert_int_equal(ask(&f, "GET", "/", "Host: 127.0.0.1:1\r\n", answer, sizeof answer), 403);
    assert_int_equal(ask(&f, "GET", "/api/state", "Origin: http://evil.example\r\n", answer, sizeof answer),
                     403);
    assert_int_equal(ask(&f, "GET", "/api/state", "Origin: null\r\n", answer, sizeof answer), 403);
    assert_int_equal(ask(&f, "GET", "/", "Sec-Fetch-Site: cross-site\r\n", answer, sizeof answer), 403);
    assert_int_equal(ask(&f, "GET", "/etc/passwd", "", answer, sizeof answer), 404);
    assert_int_equal(ask(&f, "GET", "/../page.js", "", answer, sizeof answer), 404);
    assert_int_equal(ask(&f, "DELETE", "/", "", answer, sizeof answer), 405);
    assert_int_equal(ask(&f, "GET", "/api/pause", "", answer, sizeof answer), 405);
    end(&f);
}

static int post(const fake *f, const char *url, const char *token)
{
    char lines[128];
    snprintf(lines, sizeof lines, "X-Lockstep-Token: %s\r\nContent-Length: 0\r\n", token);
    return ask(f, "POST", url, lines, answer, sizeof answer);
}

static bool wait_for(const fake *f, const char *word)
{
    for (int i = 0; i < 200; i++) {
        if (ask(f, "GET", "/api/state", "", answer, sizeof answer) == 200 && strstr(answer, word))
            return true;
        nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
    }
    return false;
}

static void test_commands_need_the_token(void **state)
{
    (void)state;
    fake f;
    begin(&f, NULL);
    assert_int_equal(post(&f, "/api/stop", "anything"), 403);
    assert_non_null(strstr(answer, "only shows"));
    end(&f);
    assert_int_equal(f.stops, 0);
    begin(&f, "secret");
    assert_int_equal(post(&f, "/api/stop", "wrong!"), 403);
    assert_int_equal(post(&f, "/api/stop", ""), 403);
    assert_int_equal(post(&f, "/api/stop", "secrets"), 403);
    assert_int_equal(post(&f, "/api/explode", "secret"), 404);
    assert_int_equal(post(&f, "/api/step", "secret"), 400);
    assert_int_equal(post(&f, "/api/step?time=5apples", "secret"), 400);
    assert_int_equal(f.stops, 0);
    assert_int_equal(post(&f, "/api/stop", "secret"), 200);
    pthread_join(f.thread, NULL);
    assert_int_equal(f.stops, 1);
    monitor_end(f.m, "stopped");
    assert_true(wait_for(&f, "\"state\":\"stopped\""));
    monitor_close(f.m);
}

static void test_pause_step_continue(void **state)
{
    (void)state;
    fake f;
    begin(&f, "t");
    assert_int_equal(post(&f, "/api/pause", "t"), 200);
    assert_true(wait_for(&f, "\"state\":\"paused\""));
    ls_time paused = f.now;
    nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
    assert_int_equal(f.now, paused);
    /* A step of 2,345 fs ends exactly there, between two of the run's own times. */
    assert_int_equal(post(&f, "/api/step?time=2345fs", "t"), 200);
    char time[64];
    snprintf(time, sizeof time, "\"time_fs\":%llu,", (unsigned long long)(paused + 2345));
    assert_true(wait_for(&f, time));
    assert_int_equal(f.now, paused + 2345);
    assert_true(wait_for(&f, "\"state\":\"paused\""));
    assert_int_equal(post(&f, "/api/continue", "t"), 200);
    assert_true(wait_for(&f, "\"state\":\"running\""));
    assert_true(f.now > paused + 2345);
    end(&f);
}

/* Nobody looks: no snapshot is written. */
static void test_no_snapshots_for_nobody(void **state)
{
    (void)state;
    fake f;
    begin(&f, NULL);
    nanosleep(&(struct timespec){ .tv_nsec = 600000000 }, NULL);
    assert_int_equal(ask(&f, "GET", "/api/state", "", answer, sizeof answer), 200);
    assert_non_null(strstr(answer, "\"time_fs\":0,")); /* the one of the start */
    assert_true(wait_for(&f, "\"state\":\"running\"") && f.now > 0);
    end(&f);
}

typedef struct client {
    const fake *f;
    pthread_t thread;
    int good;
} client;

static void *ask_often(void *self)
{
    client *c = self;
    char *text = malloc(1 << 16);
    for (int i = 0; text && i < 10; i++)
        c->good += ask(c->f, "GET", i % 2 ? "/api/state" : "/", "", text, 1 << 16) == 200;
    free(text);
    return NULL;
}

static void test_fifty_clients(void **state)
{
    (void)state;
    enum { CLIENTS = 50 };
    fake f;
    begin(&f, "t");
    static client clients[CLIENTS];
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = (client){ .f = &f };
        assert_int_equal(pthread_create(&clients[i].thread, NULL, ask_often, &clients[i]), 0);
    }
    for (int i = 0; i < CLIENTS; i++) {
        pthread_join(clients[i].thread, NULL);
        assert_int_equal(clients[i].good, 10);
    }
    end(&f);
}

/* Whatever comes, the server answers the next good request. */
static void test_malformed_requests(void **state)
{
    (void)state;
    fake f;
    begin(&f, "t");
    static const char *const requests[] = {
        "\r\n\r\n",
        "GET\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "GET / HTTP/1.1\r\nHost\r\n\r\n",
        "GET /%zz%00 HTTP/1.1\r\nConnection: close\r\n\r\n",
        "POST /api/stop HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
        "POST /api/stop HTTP/1.1\r\nContent-Length: 99999999999999999999\r\nConnection: close\r\n\r\n",
        "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    };
    uint32_t random = 12345;
    for (size_t i = 0; i < LS_COUNT_OF(requests) + 64; i++) {
        char noise[256];
        for (size_t k = 0; k < sizeof noise; k++) {
            random = random * 1664525 + 1013904223;
            noise[k] = (char)(random >> 24);
        }
        bool is_noise = i >= LS_COUNT_OF(requests);
        const char *bytes = is_noise ? noise : requests[i];
        int fd = dial(monitor_port(f.m));
        (void)send(fd, bytes, is_noise ? sizeof noise : strlen(bytes), MSG_NOSIGNAL);
        close(fd);
    }
    /* A client that never ends its request does not hold up the others. */
    int slow = dial(monitor_port(f.m));
    (void)send(slow, "GET / HT", 8, MSG_NOSIGNAL);
    assert_int_equal(ask(&f, "GET", "/api/state", "", answer, sizeof answer), 200);
    close(slow);
    assert_int_equal(f.stops, 0);
    end(&f);
}

static void test_taken_port(void **state)
{
    (void)state;
    fake f;
    begin(&f, NULL);
    const monitor_options o = { .port = monitor_port(f.m), .self = &f, .describe = describe, .stop = stop };
    monitor *second;
    assert_int_equal(monitor_start(&o, &second, &err), LS_ERR_IO);
    assert_null(second);
    assert_non_null(strstr(err.what, "cannot listen on port"));
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_may_ask),         cmocka_unit_test(test_commands_need_the_token),
        cmocka_unit_test(test_pause_step_continue), cmocka_unit_test(test_no_snapshots_for_nobody),
        cmocka_unit_test(test_fifty_clients),       cmocka_unit_test(test_malformed_requests),
        cmocka_unit_test(test_taken_port),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
