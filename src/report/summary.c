/* summary.c: see summary.h. This file has the numbers that a summary shows; summary_text.c prints them. */
#include "report/summary.h"

#include "base/demangle.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------------- time */

static int by_begin(const void *left, const void *right)
{
    const summary_launch *a = *(const summary_launch *const *)left, *b = *(const summary_launch *const *)right;
    return a->begin_fs < b->begin_fs ? -1 : a->begin_fs > b->begin_fs;
}

double summary_busy(const summary_launch *launches, size_t count, int32_t gpu)
{
    const summary_launch **order = malloc((count + 1) * sizeof *order);
    double busy = 0, until = 0;
    size_t used = 0;
    if (!order)
        return 0;
    for (size_t i = 0; i < count; i++)
        if (gpu == LS_METRICS_NONE || launches[i].gpu == gpu)
            order[used++] = &launches[i];
    qsort(order, used, sizeof *order, by_begin);
    for (size_t i = 0; i < used; i++) {
        double begin = order[i]->begin_fs > until ? order[i]->begin_fs : until;
        busy += order[i]->end_fs > begin ? order[i]->end_fs - begin : 0;
        until = order[i]->end_fs > until ? order[i]->end_fs : until;
    }
    free(order);
    return busy;
}

/* ------------------------------------------------------------------------------------------------- kernels */

static int by_time(const void *left, const void *right)
{
    const summary_kernel *a = left, *b = right;
    if (a->time_fs != b->time_fs)
        return a->time_fs > b->time_fs ? -1 : 1;
    return a->longest < b->longest ? -1 : a->longest > b->longest;
}

static void add_launch(summary_kernel *k, const summary_launch *launch)
{
    double time = launch->end_fs - launch->begin_fs;
    k->launches++;
    k->time_fs += time;
    if (!k->longest || time > k->longest->end_fs - k->longest->begin_fs)
        k->longest = launch;
}

size_t summary_costliest(const summary_launch *launches, size_t count, summary_kernel *out, size_t room)
{
    string_map names = { 0 };
    summary_kernel *all = calloc(count + 1, sizeof *all);
    size_t used = 0;
    for (size_t i = 0; all && i < count; i++) {
        summary_kernel *k = map_get(&names, launches[i].name);
        if (!k) {
            k = &all[used++];
            k->name = launches[i].name;
            if (!map_put(&names, k->name, k))
                break;
        }
        add_launch(k, &launches[i]);
    }
    if (all)
        qsort(all, used, sizeof *all, by_time);
    used = used < room ? used : room;
    if (all)
        memcpy(out, all, used * sizeof *out);
    free(all);
    map_fini(&names);
    return used;
}

/* --------------------------------------------------------------------------------------------------- facts */

void summary_run_facts(const summary_input *in, fact_set *out)
{
    fact_scope scope = {
        .scope = LS_METRICS_RUN, .busy_fs = in->busy_fs, .end_fs = in->end_fs, .kernels = in->launch_count
    };
    uint64_t gpus = 0;
    char path[24];
    for (size_t i = 0; i < in->launch_count; i++) {
        scope.launched_fs += in->launches[i].end_fs - in->launches[i].begin_fs;
        gpus |= UINT64_C(1) << (in->launches[i].gpu & 63);
    }
    scope.gpus = (uint64_t)__builtin_popcountll(gpus);
    /* The other GPUs of a system are idle by the user's choice. */
    if (scope.gpus == 1 && facts_is_system(in->reader.config_text)) {
        snprintf(path, sizeof path, "gpu%d.*", __builtin_ctzll(gpus));
        scope.path = path;
    }
    facts_read(&in->reader, &scope, out);
}

void summary_launch_facts(const summary_input *in, const summary_launch *launch, fact_set *out)
{
    if (launch->scope == SUMMARY_NO_SCOPE) {
        out->machine = FACTS_NONE;
        return;
    }
    double time = launch->end_fs - launch->begin_fs;
    const fact_scope scope = {
        .scope = launch->scope, .busy_fs = time, .launched_fs = time, .kernels = 1, .gpus = 1
    };
    facts_read(&in->reader, &scope, out);
}

const char *summary_limiter(const fact_set *facts)
{
    static const struct {
        fact fact;
        const char *nvidia, *amd;
    } rows[] = { { FACT_by_grid, "the size of the grid", "the size of the grid" },
                 { FACT_by_warps, "warp slots", "wave slots" },
                 { FACT_by_slots, "slots of thread blocks", "work-group slots" },
                 { FACT_by_registers, "registers", "registers" },
                 { FACT_by_shared, "shared memory", "LDS" } };
    double most = 0;
    const char *found = "nothing that is counted";
    for (size_t i = 0; i < LS_COUNT_OF(rows); i++)
        if (facts->at[rows[i].fact] > most) {
            most = facts->at[rows[i].fact];
            found = facts->machine == FACTS_AMD ? rows[i].amd : rows[i].nvidia;
        }
    return found;
}

const char *summary_name(const char *name, size_t columns, char *out, size_t out_bytes)
{
    char plain[512], quoted[640];
    (void)demangle(name, false, plain, sizeof plain);
    quote_text(plain, strlen(plain), quoted, sizeof quoted);
    if (strlen(quoted) <= columns)
        snprintf(out, out_bytes, "%s", quoted);
    else
        snprintf(out, out_bytes, "%.*s...", (int)columns - 3, quoted);
    return out;
}
