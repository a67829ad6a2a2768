/* jobs.c: see jobs.h. A process for each piece of work writes its result into a pipe and ends. */
#include "cli/validate/jobs.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef enum { WAITING, RUNNING, ENDED } job_state;

typedef struct job {
    job_state state;
    pid_t pid;
    int pipe;  /* its end for reading */
    int ended; /* as of waitpid(), if it left no result */
    bool has_result;
} job;

typedef struct jobs {
    const jobs_request *request;
    job *each;
    uint8_t *results;
    size_t started, running, told; /* told: given to done() */
} jobs;

static void *result_of(const jobs *j, size_t index)
{
    return j->results + index * j->request->result_bytes;
}

static ls_status start(jobs *j, ls_error *err)
{
    const jobs_request *request = j->request;
    const size_t index = j->started;
    int ends[2];
    if (pipe(ends) != 0)
        return ls_fail(err, LS_ERR_IO, "no pipe for a process: %s", strerror(errno));
    const pid_t pid = fork();
    if (pid < 0) {
        close(ends[0]);
        close(ends[1]);
        return ls_fail(err, LS_ERR_IO, "no process for a part of the work: %s", strerror(errno));
    }
    if (pid == 0) {
        close(ends[0]);
        request->work(request->self, index, result_of(j, index));
        const ssize_t written = write(ends[1], result_of(j, index), request->result_bytes);
        _exit(written == (ssize_t)request->result_bytes ? 0
                                                        : 1); /* the parent's buffers are not ours to flush */
    }
    close(ends[1]);
    j->each[index] = (job){ .state = RUNNING, .pid = pid, .pipe = ends[0] };
    j->started++;
    j->running++;
    return LS_OK;
}

static void take_result(jobs *j, size_t index)
{
    job *one = &j->each[index];
    const size_t bytes = j->request->result_bytes;
    one->has_result = read(one->pipe, result_of(j, index), bytes) == (ssize_t)bytes;
    if (!one->has_result)
        memset(result_of(j, index), 0, bytes);
    close(one->pipe);
    while (waitpid(one->pid, &one->ended, 0) < 0 && errno == EINTR)
        ;
    one->state = ENDED;
    j->running--;
}

/* Waits until one of them has a result or has ended. */
static void wait_for_one(jobs *j)
{
    struct pollfd fds[JOBS_AT_ONCE_MAX];
    size_t of[JOBS_AT_ONCE_MAX];
    nfds_t count = 0;
    for (size_t i = 0; i < j->started; i++)
        if (j->each[i].state == RUNNING) {
            of[count] = i;
            fds[count++] = (struct pollfd){ .fd = j->each[i].pipe, .events = POLLIN };
        }
    if (poll(fds, count, -1) <= 0)
        return;
    for (nfds_t i = 0; i < count; i++)
        if (fds[i].revents != 0)
            take_result(j, of[i]);
}

static ls_status tell(jobs *j, ls_error *err)
{
    const jobs_request *request = j->request;
    ls_status status = LS_OK;
    for (; j->told < j->started && j->each[j->told].state == ENDED && status == LS_OK; j->told++) {
        const job *one = &j->each[j->told];
        char text[64];
        if (WIFSIGNALED(one->ended))
            snprintf(text, sizeof text, "its process was ended by signal %d", WTERMSIG(one->ended));
        else
            snprintf(text, sizeof text, "its process ended without a result");
        status =
            request->done(request->self, j->told, result_of(j, j->told), one->has_result ? NULL : text, err);
    }
    return status;
}

static void stop_all(jobs *j)
{
    for (size_t i = 0; i < j->started; i++)
        if (j->each[i].state == RUNNING) {
            kill(j->each[i].pid, SIGKILL);
            take_result(j, i);
        }
}

static ls_status run_here(const jobs_request *request, ls_error *err)
{
    ls_status status = LS_OK;
    for (size_t i = 0; i < request->count && status == LS_OK; i++) {
        _Alignas(16) uint8_t result[JOBS_RESULT_MAX] = { 0 };
        request->work(request->self, i, result);
        status = request->done(request->self, i, result, NULL, err);
    }
    return status;
}

ls_status jobs_run(const jobs_request *request, ls_error *err)
{
    if (request->at_once <= 1)
        return run_here(request, err);
    jobs j = { .request = request,
               .each = calloc(request->count + 1, sizeof *j.each),
               .results = calloc(request->count + 1, request->result_bytes) };
    ls_status status =
        j.each && j.results ? LS_OK : ls_fail(err, LS_ERR_NOMEM, "no memory for %zu jobs", request->count);
    while (status == LS_OK && j.told < request->count) {
        while (status == LS_OK && j.started < request->count && j.running < request->at_once &&
               j.running < JOBS_AT_ONCE_MAX)
            status = start(&j, err);
        if (status == LS_OK && j.running > 0)
            wait_for_one(&j);
        if (status == LS_OK)
            status = tell(&j, err);
    }
    stop_all(&j);
    free(j.each);
    free(j.results);
    return status;
}
