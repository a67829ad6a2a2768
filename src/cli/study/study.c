/* study.c: the table of experiments, and the numbers that are derived from their results. */
#include "cli/study/study.h"

#include <math.h>
#include <string.h>

/* Rows of the .def in their order: configurations belong to the study before them. */
typedef struct entry {
    enum { ENTRY_STUDY, ENTRY_CONFIG, ENTRY_CLAIM } kind;
    study study;
    study_config config;
    study_claim claim;
} entry;

static const entry entries[] = {
#define STUDY(name_, sizes_, title_, about_, discussion_)                                                     \
    { .kind = ENTRY_STUDY, .study = { name_, title_, about_, discussion_, .sizes = STUDY_##sizes_ } },
#define CONFIG(label_, platform_, gpu_, sets_)                                                                \
    { .kind = ENTRY_CONFIG, .config = { label_, platform_, gpu_, sets_, WL_SINGLE } },
#define CONFIG_DEVICES(label_, platform_, devices_, sets_)                                                    \
    { .kind = ENTRY_CONFIG, .config = { label_, platform_, NULL, sets_, WL_##devices_, "interleaved" } },
#define CONFIG_UNIFIED(label_, platform_, spread_, sets_)                                                     \
    { .kind = ENTRY_CONFIG, .config = { label_, platform_, NULL, sets_, WL_UNIFIED, spread_ } },
#define CLAIM(text_, workloads_, metric_, config_, versus_, low_, high_, needed_)                             \
    { .kind = ENTRY_CLAIM,                                                                                    \
      .claim = { text_, workloads_, STUDY_##metric_, config_, versus_, low_, high_, needed_ } },
#define WORKLOAD(label_, name_, usual_, large_, four_, four_large_)
#include "cli/study/studies.def"
#undef STUDY
#undef CONFIG
#undef CONFIG_DEVICES
#undef CONFIG_UNIFIED
#undef CLAIM
#undef WORKLOAD
};

static const study_workload workloads[] = {
#define STUDY(name_, sizes_, title_, about_, discussion_)
#define CONFIG(label_, platform_, gpu_, sets_)
#define CONFIG_DEVICES(label_, platform_, devices_, sets_)
#define CONFIG_UNIFIED(label_, platform_, spread_, sets_)
#define CLAIM(text_, workloads_, metric_, config_, versus_, low_, high_, needed_)
#define WORKLOAD(label_, name_, usual_, large_, four_, four_large_)                                           \
    { label_, name_, { usual_, large_, four_, four_large_ } },
#include "cli/study/studies.def"
#undef STUDY
#undef CONFIG
#undef CONFIG_DEVICES
#undef CONFIG_UNIFIED
#undef CLAIM
#undef WORKLOAD
};

#define STUDIES_MAX 16
static study studies[STUDIES_MAX];
static size_t studies_count;

/* From the flat table to one record per study; the same each time, so that being called twice does no
 * harm. */
static void gather(void)
{
    if (studies_count)
        return;
    size_t count = 0;
    for (size_t i = 0; i < LS_COUNT_OF(entries); i++) {
        study *last = count ? &studies[count - 1] : NULL;
        if (entries[i].kind == ENTRY_STUDY && count < STUDIES_MAX)
            studies[count++] = entries[i].study;
        else if (entries[i].kind == ENTRY_CONFIG && last && last->config_count < STUDY_CONFIGS_MAX)
            last->configs[last->config_count++] = entries[i].config;
        else if (entries[i].kind == ENTRY_CLAIM && last && last->claim_count < STUDY_CLAIMS_MAX)
            last->claims[last->claim_count++] = entries[i].claim;
    }
    studies_count = count;
}

size_t study_count(void)
{
    gather();
    return studies_count;
}

const study *study_at(size_t index)
{
    return index < study_count() ? &studies[index] : NULL;
}

ls_status study_find(const char *name, const study **out, ls_error *err)
{
    const char *names[STUDIES_MAX];
    for (size_t i = 0; i < study_count(); i++) {
        names[i] = studies[i].name;
        if (strcmp(name, names[i]) == 0) {
            *out = &studies[i];
            return LS_OK;
        }
    }
    ls_fail(err, LS_ERR_USAGE, "there is no study '%s'", name);
    return ls_error_nearest(err, nearest_of(name, names, study_count()));
}

size_t study_workload_count(void)
{
    return LS_COUNT_OF(workloads);
}

const study_workload *study_workload_at(size_t index)
{
    return index < LS_COUNT_OF(workloads) ? &workloads[index] : NULL;
}

double study_speedup(const study_row *row, size_t config)
{
    return row->results[0].kernel_seconds / row->results[config].kernel_seconds;
}

double study_mean(const study_result *result, size_t config)
{
    double sum = 0;
    for (size_t i = 0; i < result->row_count; i++)
        sum += log(study_speedup(&result->rows[i], config));
    return exp(sum / (double)result->row_count);
}

double study_hit_rate(const program_result *result, program_level level)
{
    return result->reads[level] ? (double)result->hits[level] / (double)result->reads[level] : NAN;
}
