/* claims.c: sentences of the literature beside the numbers found here. */
#include "cli/study/study.h"

#include <math.h>
#include <string.h>

size_t study_traffic_base(const study_result *result)
{
    for (size_t c = 0; c < result->study->config_count; c++)
        for (size_t i = 0; i < result->row_count; i++)
            if (result->rows[i].results[c].remote_bytes)
                return c;
    return result->study->config_count;
}

double study_traffic(const study_row *row, size_t config, size_t base)
{
    uint64_t of = row->results[base].remote_bytes;
    return of ? (double)row->results[config].remote_bytes / (double)of : NAN;
}

double study_claim_value(const study_row *row, const study_claim *claim)
{
    if (claim->metric == STUDY_TRAFFIC)
        return study_traffic(row, claim->config, claim->versus);
    return row->results[claim->versus].kernel_seconds / row->results[claim->config].kernel_seconds;
}

const char *study_verdict_name(study_verdict verdict)
{
    static const char *const names[] = { "agrees", "partly", "differs", "not run" };
    return names[verdict];
}

static bool has_label(const char *labels, const char *label)
{
    size_t length = strlen(label);
    for (const char *at = strstr(labels, label); at; at = strstr(at + 1, label))
        if ((at == labels || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

static void append(char *out, size_t bytes, const char *label, double value)
{
    size_t length = strlen(out);
    snprintf(out + length, bytes - length, "%s%s %.2f", length ? ", " : "", label, value);
}

static bool inside(const study_claim *claim, double value)
{
    return value >= claim->low && value <= claim->high;
}

study_verdict study_judge(const study_result *result, const study_claim *claim, char *out, size_t bytes)
{
    size_t rows = 0, good = 0;
    double logs = 0;
    out[0] = '\0';
    for (size_t i = 0; i < result->row_count; i++) {
        const char *label = result->rows[i].workload->label;
        double value = study_claim_value(&result->rows[i], claim);
        if (isnan(value) || (claim->workloads && !has_label(claim->workloads, label)))
            continue;
        rows++;
        logs += log(value);
        good += inside(claim, value);
        if (claim->workloads)
            append(out, bytes, label, value);
    }
    if (rows == 0)
        return STUDY_UNKNOWN;
    if (!claim->workloads) {
        double mean = exp(logs / (double)rows);
        append(out, bytes, "geometric mean", mean);
        return inside(claim, mean) ? STUDY_AGREES : STUDY_DIFFERS;
    }
    if (good >= (claim->needed ? claim->needed : rows))
        return STUDY_AGREES;
    return good && !claim->needed ? STUDY_PARTLY : STUDY_DIFFERS;
}
