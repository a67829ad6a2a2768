/* problem.h: everything that is wrong with a platform, not only the first of it.
 *
 * A reader adds what it finds and goes on while going on makes sense. The list is bounded, so that a file
 * full of garbage costs neither memory nor patience. */
#ifndef PLATFORM_PROBLEM_H
#define PLATFORM_PROBLEM_H

#include "lockstep/status.h"

#include <stdbool.h>

#define LS_PROBLEM_LIMIT 100

/* Where in a platform something stands: ranks sort the named file (0) before its bases (1, 2, ...) before
 * --set. line and column count from 1, 0 means that there is none. */
typedef struct source_place {
    const char *file;
    uint32_t rank;
    uint32_t line, column;
} source_place;

typedef struct config_problem {
    ls_error error;
    uint32_t rank, line, column;
} config_problem;

/* All zero is a valid empty list. */
typedef struct config_problems {
    config_problem *at;
    size_t count, capacity;
    size_t lost; /* found after LS_PROBLEM_LIMIT, or when the host had no memory left */
    bool no_memory;
} config_problems;

void problems_fini(config_problems *problems);
/* Records one; returns it so that the caller can add the nearest name, or NULL when it was only counted. */
ls_error *problems_add(config_problems *problems, const source_place *place, ls_status status, const char *fmt,
                       ...) LS_PRINTF(4, 5);
/* Records a copy of an error that has its place already; rank and line only sort it. */
void problems_copy(config_problems *problems, const source_place *place, const ls_error *error);
void problems_no_memory(config_problems *problems);
bool problems_any(const config_problems *problems);
/* By rank, line and column; equal ones stay in the order in which they were found. */
void problems_sort(config_problems *problems);
/* Of a sorted list: removes duplicates of the same text at the same place. */
void problems_unique(config_problems *problems);
/* Copies the first one into err and returns its status; LS_OK if there is none. */
ls_status problems_first(const config_problems *problems, ls_error *err);

#endif
