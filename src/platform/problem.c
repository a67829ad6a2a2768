/* problem.c: the bounded list of a platform's problems. Uses base only. */
#include "platform/problem.h"

#include "base/vec.h"

#include <string.h>

void problems_fini(config_problems *problems)
{
    vec_fini(problems);
    problems->lost = 0;
    problems->no_memory = false;
}

static config_problem *add_slot(config_problems *problems, const source_place *place)
{
    if (problems->count >= LS_PROBLEM_LIMIT) {
        problems->lost++;
        return NULL;
    }
    if (!vec_reserve(problems, 1)) {
        problems_no_memory(problems);
        return NULL;
    }
    config_problem *problem = &problems->at[problems->count++];
    *problem = (config_problem){ .rank = place->rank, .line = place->line, .column = place->column };
    return problem;
}

ls_error *problems_add(config_problems *problems, const source_place *place, ls_status status, const char *fmt,
                       ...)
{
    config_problem *problem = add_slot(problems, place);
    if (!problem)
        return NULL;
    va_list args;
    va_start(args, fmt);
    ls_failv(&problem->error, status, fmt, args);
    va_end(args);
    if (place->file)
        ls_error_at(&problem->error, place->file, place->line, place->column);
    return &problem->error;
}

void problems_copy(config_problems *problems, const source_place *place, const ls_error *error)
{
    if (error->status == LS_ERR_NOMEM) {
        problems_no_memory(problems);
        return;
    }
    config_problem *problem = add_slot(problems, place);
    if (problem)
        problem->error = *error;
}

void problems_no_memory(config_problems *problems)
{
    problems->lost++;
    problems->no_memory = true;
}

bool problems_any(const config_problems *problems)
{
    return problems->count > 0 || problems->lost > 0;
}

static bool comes_before(const config_problem *a, const config_problem *b)
{
    if (a->rank != b->rank)
        return a->rank < b->rank;
    if (a->line != b->line)
        return a->line < b->line;
    return a->column < b->column;
}

void problems_sort(config_problems *problems)
{
    /* At most LS_PROBLEM_LIMIT elements: insertion is stable and needs no memory. */
    for (size_t i = 1; i < problems->count; i++) {
        config_problem moving = problems->at[i];
        size_t to = i;
        while (to > 0 && comes_before(&moving, &problems->at[to - 1])) {
            problems->at[to] = problems->at[to - 1];
            to--;
        }
        problems->at[to] = moving;
    }
}

static bool is_repeated(const config_problems *problems, size_t kept, const ls_error *error)
{
    for (size_t i = 0; i < kept; i++)
        if (strcmp(problems->at[i].error.where, error->where) == 0 &&
            strcmp(problems->at[i].error.what, error->what) == 0)
            return true;
    return false;
}

void problems_unique(config_problems *problems)
{
    size_t kept = 0;
    for (size_t i = 0; i < problems->count; i++)
        if (!is_repeated(problems, kept, &problems->at[i].error))
            problems->at[kept++] = problems->at[i];
    problems->count = kept;
}

ls_status problems_first(const config_problems *problems, ls_error *err)
{
    if (problems->no_memory)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    if (problems->count == 0)
        return problems->lost > 0 ? ls_fail(err, LS_ERR_INTERNAL, "a problem was lost") : LS_OK;
    if (err)
        *err = problems->at[0].error;
    return problems->at[0].error.status;
}
