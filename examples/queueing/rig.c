/* rig.c: see rig.h. Uses the platform and report layers as the lockstep command does. */
#include "rig.h"

#include "base/hash.h"
#include "platform/config.h"
#include "platform/machine.h"

#include <stdio.h>
#include <string.h>

#define RIG_TEXT_MAX 1024

/* Cuts a copy of `sets` at its spaces. */
static ls_status rig_split(const char *sets, char *text, const char **list, size_t *count, ls_error *err)
{
    if ((size_t)snprintf(text, RIG_TEXT_MAX, "%s", sets) >= RIG_TEXT_MAX)
        return ls_fail(err, LS_ERR_USAGE, "the settings are longer than %d characters", RIG_TEXT_MAX);
    char *save = NULL;
    for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        if (*count == RIG_SETTINGS_MAX)
            return ls_fail(err, LS_ERR_USAGE, "more than %d settings", RIG_SETTINGS_MAX);
        list[(*count)++] = word;
    }
    return LS_OK;
}

ls_status rig_open(rig *r, const char *folder, const char *file, const char *sets, ls_error *err)
{
    char text[RIG_TEXT_MAX], path[RIG_TEXT_MAX];
    const char *list[RIG_SETTINGS_MAX];
    size_t count = 0;
    *r = (rig){ 0 };
    ls_status status = rig_split(sets, text, list, &count, err);
    if (status)
        return status;
    snprintf(path, sizeof path, "%s/%s", folder, file);
    config_request request = { .platform = path, .sets = list, .set_count = count };
    if ((status = config_load(&request, &r->config, NULL, err)) ||
        (status = machine_create(r->config, 1, &r->machine, err)) ||
        (status = metrics_create(&r->metrics, err)) ||
        (status = metrics_add_engine(r->metrics, ls_machine_engine(r->machine), err))) {
        rig_close(r);
        return status;
    }
    r->engine = ls_machine_engine(r->machine);
    return LS_OK;
}

void rig_close(rig *r)
{
    metrics_destroy(r->metrics);
    machine_destroy(r->machine);
    config_destroy(r->config);
    *r = (rig){ 0 };
}

static metric_value rig_get(const rig *r, const char *slot, const char *path, const char *metric)
{
    char type[64];
    metric_value value;
    snprintf(type, sizeof type, "%s/*", slot);
    if (metrics_get(r->metrics, LS_METRICS_RUN, type, path, metric, &value, NULL))
        return (metric_value){ .value = UINT64_MAX, .histogram = { .count = UINT64_MAX } };
    return value;
}

uint64_t rig_count(const rig *r, const char *slot, const char *path, const char *metric)
{
    return rig_get(r, slot, path, metric).value;
}

ls_histogram rig_histogram(const rig *r, const char *slot, const char *path, const char *metric)
{
    return rig_get(r, slot, path, metric).histogram;
}

ls_status rig_hash(const rig *r, uint64_t *out, ls_error *err)
{
    hash_stream *hasher;
    ls_status status = hasher_create(&hasher, err);
    if (status)
        return status;
    for (uint32_t b = 0; b < ls_engine_block_count(r->engine); b++) {
        ls_block *block = ls_engine_block(r->engine, b);
        const ls_block_type *type = ls_block_type_of(block);
        const char *counters = (const char *)ls_block_state(block) + type->counters_offset;
        hasher_add_field(hasher, ls_block_name(block), strlen(ls_block_name(block)));
        for (size_t m = 0; m < type->metric_count; m++) {
            const ls_metric *metric = &type->metrics[m];
            size_t bytes = metric->kind == LS_METRIC_KIND_HISTOGRAM ? sizeof(ls_histogram) : sizeof(uint64_t);
            hasher_add(hasher, counters + metric->offset, bytes);
        }
    }
    *out = hasher_get(hasher).high;
    hasher_destroy(hasher);
    return LS_OK;
}
