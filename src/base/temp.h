/* temp.h: temporary files and directories beside the name they will get.
 *
 * The process that writes one holds a lock on it (flock). A process that was killed holds no lock: the next
 * writer of the same name removes its orphans. Nothing is removed that another live process is writing. */
#ifndef BASE_TEMP_H
#define BASE_TEMP_H

#include <stdbool.h>

typedef enum ls_temp_kind { LS_TEMP_FILE, LS_TEMP_DIR } ls_temp_kind;

/* All zero is none. */
typedef struct ls_temp {
    char *path; /* "dir/.name.PID-N.tmp": hidden, in the directory of its target; NULL: none */
    int fd;     /* open for writing (a directory: for reading), and locked */
} ls_temp;

/* Removes orphans of target, then makes and locks a fresh one. False sets errno. */
bool ls_temp_create(ls_temp *temp, const char *target, ls_temp_kind kind);
/* Unlocks it and forgets its name. It stays where it is. */
void ls_temp_release(ls_temp *temp);
/* Removes it. */
void ls_temp_discard(ls_temp *temp);

#endif
