/* farm.c: see farm.h. */
#include "sim/sweep/farm.h"

#include "sim/sweep/fork_server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define IDLE_MS 100
#define MESSAGE_BYTES 1024

typedef struct slot {
    pid_t pid; /* 0: free */
    size_t job;
    int fd;                      /* its standard error */
    char message[MESSAGE_BYTES]; /* the first line of it that has anything */
    size_t used;
    bool line_ended;
} slot;

/* ------------------------------------------------------------------------------------------------ a child */

static void be_child(const char *const *argv, int error_fd, pid_t parent)
{
    /* Dies with its parent, and hears no Ctrl-C that was meant for it. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(127);
    setpgid(0, 0);
    int nothing = open("/dev/null", O_RDWR);
    if (nothing < 0 || dup2(nothing, 0) < 0 || dup2(nothing, 1) < 0 || dup2(error_fd, 2) < 0)
        _exit(127);
    execv(argv[0], (char *const *)(uintptr_t)argv);
    dprintf(2, "cannot run %s: %s\n", argv[0], strerror(errno));
    _exit(127);
}

static ls_status start(slot *s, size_t job, const char *const *argv, const fork_server *server, ls_error *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return ls_fail(err, LS_ERR_IO, "cannot make a pipe: %s", strerror(errno));
    pid_t parent = getpid(), pid = 0;
    ls_status status = server != NULL ? fork_server_fork(server, argv, ends[1], &pid, err) : LS_OK;
    if (status != LS_OK) {
        close(ends[0]);
        close(ends[1]);
        return status;
    }
    if (server == NULL && (pid = fork()) == 0)
        be_child(argv, ends[1], parent);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return ls_fail(err, LS_ERR_IO, "cannot start a process: %s", strerror(errno));
    }
    *s = (slot){ .pid = pid, .job = job, .fd = ends[0] };
    fcntl(s->fd, F_SETFL, O_NONBLOCK);
    return LS_OK;
}

/* Keeps the first line; reads on so that the child never waits. */
static void listen_to(slot *s)
{
    char piece[4096];
    for (;;) {
        ssize_t bytes = read(s->fd, piece, sizeof piece);
        if (bytes <= 0)
            return;
        for (ssize_t i = 0; i < bytes && !s->line_ended; i++) {
            if (piece[i] == '\n')
                s->line_ended = s->used > 0;
            else if (s->used + 1 < sizeof s->message)
                s->message[s->used++] = piece[i];
        }
    }
}

/* Why it failed, in one line; NULL if it did not. */
static const char *verdict(slot *s, int status)
{
    static const char prefix[] = "lockstep: ";
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return NULL;
    if (WIFSIGNALED(status))
        snprintf(s->message, sizeof s->message, "ended by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else if (!s->message[0])
        snprintf(s->message, sizeof s->message, "ended with exit code %d", WEXITSTATUS(status));
    size_t skip = strncmp(s->message, prefix, sizeof prefix - 1) == 0 ? sizeof prefix - 1 : 0;
    return s->message + skip;
}

/* ----------------------------------------------------------------------------------------------- the farm */

static void kill_all(slot *slots, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!slots[i].pid)
            continue;
        kill(slots[i].pid, SIGKILL);
        while (waitpid(slots[i].pid, NULL, 0) < 0 && errno == EINTR) {
        }
        close(slots[i].fd);
        slots[i].pid = 0;
    }
}

static ls_status reap(slot *slots, size_t count, size_t *running, const farm_hooks *hooks, ls_error *err)
{
    ls_status status = LS_OK;
    for (size_t i = 0; i < count && status == LS_OK; i++) {
        int code;
        if (!slots[i].pid)
            continue;
        listen_to(&slots[i]);
        if (waitpid(slots[i].pid, &code, WNOHANG) != slots[i].pid)
            continue;
        listen_to(&slots[i]);
        close(slots[i].fd);
        slots[i].pid = 0;
        (*running)--;
        status = hooks->done(hooks->self, slots[i].job, verdict(&slots[i], code), err);
    }
    return status;
}

static void wait_a_little(slot *slots, size_t count, struct pollfd *polls)
{
    nfds_t used = 0;
    for (size_t i = 0; i < count; i++)
        if (slots[i].pid)
            polls[used++] = (struct pollfd){ .fd = slots[i].fd, .events = POLLIN };
    poll(polls, used, IDLE_MS);
    for (nfds_t i = 0; i < used; i++)
        if (polls[i].revents & POLLHUP) { /* it is about to end: waitpid will see it in a moment */
            struct timespec moment = { .tv_nsec = 1000000 };
            nanosleep(&moment, NULL);
            return;
        }
}

/* Starts jobs while slots are free. *more: there may be jobs to come. */
static ls_status start_jobs(slot *slots, size_t count, size_t *running, bool *more, const farm_hooks *hooks,
                            ls_error *err)
{
    for (size_t i = 0; i < count && *more; i++) {
        size_t job = 0;
        const char *const *argv = NULL;
        if (slots[i].pid)
            continue;
        farm_next next = hooks->next(hooks->self, &job, &argv, err);
        *more = next != FARM_END;
        if (next == FARM_FAILED)
            return err ? err->status : LS_ERR_INTERNAL;
        if (next != FARM_JOB)
            return LS_OK;
        ls_status status = start(&slots[i], job, argv, hooks->server, err);
        if (status != LS_OK)
            return status;
        (*running)++;
    }
    return LS_OK;
}

ls_status farm_run(size_t slot_count, const farm_hooks *hooks, ls_error *err)
{
    slot *slots = calloc(slot_count, sizeof *slots);
    struct pollfd *polls = calloc(slot_count, sizeof *polls);
    ls_status status = LS_OK;
    if (!slots || !polls) {
        free(slots);
        free(polls);
        return ls_fail(err, LS_ERR_NOMEM, "no memory left for the processes");
    }
    size_t running = 0;
    bool more = true;
    while (status == LS_OK && (more || running > 0)) {
        status = start_jobs(slots, slot_count, &running, &more, hooks, err);
        if (status == LS_OK && (more || running > 0))
            wait_a_little(slots, slot_count, polls);
        if (status == LS_OK)
            status = reap(slots, slot_count, &running, hooks, err);
        if (status == LS_OK && hooks->idle(hooks->self, running))
            status = ls_fail(err, LS_ERR_INTERRUPTED, "interrupted");
    }
    kill_all(slots, slot_count);
    free(slots);
    free(polls);
    return status;
}
