/* page_findings.c: what limits the run and its longest kernels, by the rules, as data of a report. */
#include "report/page/page.h"
#include "report/summary.h"

#include <stdlib.h>

#define FINDINGS 4u           /* of the run or of a kernel */
#define EXPLAINED_KERNELS 200 /* the longest: sentences take more room than numbers */

static void put_list(json_writer *j, const fact_set *facts, rule_finding *found)
{
    size_t count = rules_apply(facts, found);
    json_array(j);
    for (size_t i = 0; i < count && i < FINDINGS; i++) {
        char sentence[1024];
        json_begin_object(j);
        json_key(j, "title");
        json_string(j, found[i].rule->title);
        json_key(j, "sentence");
        json_string(j, rule_sentence(found[i].rule, facts, sentence, sizeof sentence));
        json_key(j, "gain");
        page_put_number(j, found[i].gain);
        json_end(j);
    }
    json_end(j);
}

static int longest_first(const void *a, const void *b)
{
    const summary_launch *x = *(const summary_launch *const *)a, *y = *(const summary_launch *const *)b;
    double p = x->end_fs - x->begin_fs, q = y->end_fs - y->begin_fs;
    return p != q ? (p < q ? 1 : -1) : x->scope < y->scope ? -1 : x->scope > y->scope;
}

static void put_kernels(json_writer *j, const summary_input *in, rule_finding *found)
{
    const summary_launch **all = calloc(in->launch_count + 1, sizeof *all);
    if (!all) {
        j->misuse = "no memory for a report";
        return;
    }
    for (size_t i = 0; i < in->launch_count; i++)
        all[i] = &in->launches[i];
    qsort(all, in->launch_count, sizeof *all, longest_first);
    json_key(j, "kernel_findings");
    json_begin_object(j);
    for (size_t i = 0; i < in->launch_count && i < EXPLAINED_KERNELS; i++) {
        fact_set facts;
        char key[24];
        summary_launch_facts(in, all[i], &facts);
        snprintf(key, sizeof key, "%zu", all[i]->scope - 1);
        json_key(j, key);
        put_list(j, &facts, found);
    }
    json_end(j);
    free(all);
}

void page_put_findings(json_writer *j, const saved_results *saved)
{
    summary_saved opened = { 0 };
    summary_input in = { 0 };
    fact_set facts;
    if (!saved->config_text || !saved->config_text[0] || !saved_has_blocks(saved, LS_SAVED_RUN))
        return; /* CSV: the rules need the configuration and single blocks */
    rule_finding *found = calloc(rule_count, sizeof *found);
    if (!found || summary_open_saved(&opened, saved, &in, NULL) != LS_OK) {
        j->misuse = "no memory for a report";
    } else {
        summary_run_facts(&in, &facts);
        json_key(j, "findings");
        put_list(j, &facts, found);
        put_kernels(j, &in, found);
    }
    summary_saved_fini(&opened);
    free(found);
}
