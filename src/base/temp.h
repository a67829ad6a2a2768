/* temp.h: temporary files and directories beside the name they will get.
 *
 * The process that writes one holds a lock on it (flock). A process that was killed holds no lock: the next
 * writer of the same name removes its orphans. Nothing is removed that another live process is writing. */
#ifndef BASE_TEMP_H
#define BASE_TEMP_H

#include <stdbool.h>

typedef enum temp_kind { LS_TEMP_FILE, LS_TEMP_DIR } temp_kind;

/* All zero is none. */
typedef struct temp_file {
    char *path; /* "dir/.name.PID-N.tmp": hidden, in the directory of its target; NULL: none */
    int fd;     /* open for writing (a directory: for reading), and locked */
} temp_file;

/* Removes orphans of target, then makes and locks a fresh one. False sets errno. */
bool temp_create(temp_file *temp, const char *target, temp_kind kind);
/* Unlocks it and forgets its name. It stays where it is. */
void temp_release(temp_file *temp);
/* Removes it. */
void temp_discard(temp_file *temp);

#endif
