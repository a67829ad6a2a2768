/* fork_server.c: see fork_server.h. */
#include "sim/sweep/fork_server.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------ the sweep */

static ls_status cannot(const char *what, ls_error *err)
{
    return ls_fail(err, LS_ERR_IO, "%s: %s", what, strerror(errno));
}

ls_status fork_server_start(fork_server *s, const char *const *argv, ls_error *err)
{
    int ends[2];
    *s = (fork_server){ 0 };
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return cannot("cannot make a socket for the points of a checkpoint", err);
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        int nothing = open("/dev/null", O_WRONLY);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent || nothing < 0 || dup2(ends[1], 0) < 0 || dup2(nothing, 1) < 0)
            _exit(127);
        setpgid(0, 0);
        execv(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return cannot("cannot start a process", err);
    }
    *s = (fork_server){ .pid = pid, .socket = ends[0] };
    return LS_OK;
}

/* One message with a descriptor. */
static bool send_with(int socket, const char *bytes, size_t count, int fd)
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    memset(&control, 0, sizeof control);
    struct iovec piece = { .iov_base = (char *)(uintptr_t)bytes, .iov_len = count };
    struct msghdr message = {
        .msg_iov = &piece, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control.room
    };
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(head), &fd, sizeof fd);
    return sendmsg(socket, &message, MSG_NOSIGNAL) == (ssize_t)count;
}

ls_status fork_server_fork(const fork_server *s, const char *const *argv, int error_fd, pid_t *pid,
                           ls_error *err)
{
    static char bytes[FORK_SERVER_BYTES];
    size_t used = 0;
    int32_t answer = 0;
    for (size_t i = 0; argv[i] != NULL; i++) {
        size_t count = strlen(argv[i]) + 1;
        if (count > sizeof bytes - used)
            return ls_fail(err, LS_ERR_UNSUPPORTED, "the command of a point has more than %d bytes",
                           FORK_SERVER_BYTES);
        memcpy(bytes + used, argv[i], count);
        used += count;
    }
    bool told = send_with(s->socket, bytes, used, error_fd);
    ssize_t got = -1;
    while (told && (got = recv(s->socket, &answer, sizeof answer, 0)) < 0 && errno == EINTR) {
    }
    if (got != sizeof answer || answer <= 0)
        return ls_fail(err, LS_ERR_IO, "the process that has loaded the checkpoint does not answer");
    *pid = answer;
    return LS_OK;
}

void fork_server_end(fork_server *s)
{
    if (s->pid == 0)
        return;
    close(s->socket); /* it ends when nobody can ask any more */
    while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR) {
    }
    *s = (fork_server){ 0 };
}

/* ------------------------------------------------------------------------------------------------ the server */

static ssize_t receive_with(int socket, char *bytes, size_t room, int *fd)
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec piece = { .iov_base = bytes, .iov_len = room };
    struct msghdr message = {
        .msg_iov = &piece, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control.room
    };
    ssize_t got = -1;
    *fd = -1;
    while ((got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) {
    }
    const struct cmsghdr *head = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (head != NULL && head->cmsg_type == SCM_RIGHTS && head->cmsg_len == CMSG_LEN(sizeof *fd))
        memcpy(fd, CMSG_DATA(head), sizeof *fd);
    return got;
}

bool fork_server_hear(int socket, char *bytes, size_t room, const char **words, size_t words_max,
                      int *error_fd)
{
    ssize_t got = receive_with(socket, bytes, room, error_fd);
    size_t count = 0;
    if (got <= 0 || *error_fd < 0 || bytes[got - 1] != '\0')
        return false;
    for (size_t at = 0; at < (size_t)got; at += strlen(bytes + at) + 1) {
        if (count + 1 >= words_max)
            return false;
        words[count++] = bytes + at;
    }
    words[count] = NULL;
    return count > 0;
}

pid_t fork_server_answer(int socket, int error_fd)
{
    fflush(NULL);
    pid_t sweep = getppid();
    /* This process has one thread, so the system call alone is enough. */
    pid_t pid = (pid_t)syscall(SYS_clone, (unsigned long)(CLONE_PARENT | SIGCHLD), NULL, NULL, NULL, NULL);
    if (pid == 0) {
        int nothing = open("/dev/null", O_RDWR);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != sweep)
            _exit(127);
        setpgid(0, 0);
        if (nothing < 0 || dup2(nothing, 0) < 0 || dup2(nothing, 1) < 0 || dup2(error_fd, 2) < 0)
            _exit(127);
        return 0;
    }
    int32_t answer = pid;
    close(error_fd);
    if (send(socket, &answer, sizeof answer, MSG_NOSIGNAL) != sizeof answer)
        return -1;
    return pid;
}
