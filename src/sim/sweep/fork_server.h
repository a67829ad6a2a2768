/* fork_server.h: a process that has loaded a checkpoint and forks once for every point of a sweep (`lockstep resume
 * --serve`). Points then share the file and its unpacked sections, which stay in memory once, and no program is started
 * for them. The forked processes are children of the sweep (CLONE_PARENT), so the farm waits for them as for others.
 *
 * The two processes talk over a socket that is the server's standard input: a request is the words of a command, each with
 * its terminator, and the descriptor that becomes the point's standard error; the answer is the number of the process. */
#ifndef SIM_SWEEP_FORK_SERVER_H
#define SIM_SWEEP_FORK_SERVER_H

#include "lockstep/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define FORK_SERVER_BYTES 65536 /* of a request */

typedef struct fork_server {
    pid_t pid; /* 0: there is none */
    int socket;
} fork_server;

/* argv: the command of the server. */
ls_status fork_server_start(fork_server *server, const char *const *argv, ls_error *err);
/* One more process, whose standard error is error_fd. */
ls_status fork_server_fork(const fork_server *server, const char *const *argv, int error_fd, pid_t *pid,
                           ls_error *err);
void fork_server_end(fork_server *server);

/* --- the server's side --- */

/* The next request: its words, NULL-terminated, in memory of the caller, and the descriptor. False: the sweep is gone. */
bool fork_server_hear(int socket, char *bytes, size_t room, const char **words, size_t words_max,
                      int *error_fd);
/* Forks for the request and answers it. Returns 0 in the new process, which has its standard streams and dies with the
 * sweep, and the number of the process in the server. */
pid_t fork_server_answer(int socket, int error_fd);

#endif
