/* slurm_call.c: runs Slurm's own commands: sbatch and squeue. */
#include "sim/sweep/slurm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OUTPUT_BYTES = 1 << 20 }; /* of squeue: a line per task */

/* All that a command prints on both streams, up to the size of out. */
static ls_status call(const char *const *argv, char *out, size_t bytes, int *code, ls_error *err)
{
    int ends[2], status = 0;
    size_t used = 0;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return ls_fail(err, LS_ERR_IO, "cannot make a pipe: %s", strerror(errno));
    pid_t pid = fork();
    if (pid == 0) {
        setpgid(0, 0); /* a Ctrl-C is for the sweep */
        int nothing = open("/dev/null", O_RDONLY);
        if (dup2(nothing, 0) >= 0 && dup2(ends[1], 1) >= 0 && dup2(ends[1], 2) >= 0)
            execvp(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    close(ends[1]);
    char rest[4096];
    for (ssize_t got = 1; pid > 0 && got != 0;) {
        bool room = used + 1 < bytes;
        got = read(ends[0], room ? out + used : rest, room ? bytes - 1 - used : sizeof rest);
        if (got < 0 && errno != EINTR)
            break;
        used += got > 0 && room ? (size_t)got : 0;
    }
    close(ends[0]);
    out[used] = '\0';
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (pid < 0)
        return ls_fail(err, LS_ERR_IO, "cannot start a process: %s", strerror(errno));
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    if (*code == 127)
        return ls_fail(err, LS_ERR_UNSUPPORTED,
                       "the command %s is not here: is this a host of a Slurm cluster?", argv[0]);
    return LS_OK;
}

ls_status slurm_call(const char *const *argv, char *line, size_t bytes, int *code, ls_error *err)
{
    ls_status status = call(argv, line, bytes, code, err);
    line[strcspn(line, "\n")] = '\0';
    return status;
}

ls_status slurm_submit(const char *script, char *job, size_t bytes, ls_error *err)
{
    const char *const argv[] = { "sbatch", "--parsable", script, NULL };
    char line[512];
    int code = 0;
    ls_status status = slurm_call(argv, line, sizeof line, &code, err);
    if (status != LS_OK)
        return status;
    if (code != 0)
        return ls_fail(err, LS_ERR_IO, "Slurm did not take the job: %s", line[0] ? line : "sbatch failed");
    line[strcspn(line, ";")] = '\0'; /* the cluster's name follows */
    if (!line[0] || strspn(line, "0123456789") != strlen(line))
        return ls_fail(err, LS_ERR_IO, "sbatch gave no job number but '%s'", line);
    snprintf(job, bytes, "%s", line);
    return LS_OK;
}

ls_status slurm_tasks(const char *job, size_t *tasks, ls_error *err)
{
    static char out[OUTPUT_BYTES];
    char which[64];
    int code = 0;
    snprintf(which, sizeof which, "--jobs=%s", job);
    const char *const argv[] = { "squeue", "--noheader", "--array", "--format=%T", which, NULL };
    ls_status status = call(argv, out, sizeof out, &code, err);
    *tasks = 0;
    if (status != LS_OK)
        return status;
    if (code != 0) /* a job that ended some minutes ago is forgotten */
        return strstr(out, "Invalid job id")
                   ? LS_OK
                   : ls_fail(err, LS_ERR_IO, "Slurm does not answer: %.*s", (int)strcspn(out, "\n"), out);
    for (char *at = out; *at; at += strcspn(at, "\n") + (at[strcspn(at, "\n")] != '\0')) {
        /* The process of a task that completes has ended; its node may be gone. */
        size_t length = strcspn(at, "\n");
        *tasks += length > 0 && strncmp(at, "COMPLETING", 10) != 0;
    }
    return LS_OK;
}
