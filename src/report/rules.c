/* rules.c: see rules.h. */
#include "report/rules.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Words of rules.def: a fact, a fact or 1 where it is not counted, and the larger of two numbers. */
#define F(name_) f[FACT_##name_]
#define OR1(name_) (isnan(F(name_)) ? 1 : F(name_))
#define OR0(name_) (isnan(F(name_)) ? 0 : F(name_))
#define MAX(a_, b_) fmax((a_), (b_))
#define BUSY (1 - OR0(launching)) /* shares of cores' time are of the time after the launch */

/* fmax() of a number and NaN is the number, so that a machine needs not have every fact. */
#define RULE(name_, title_, when_, gain_, sentence_, evidence_, nvidia_, amd_, try_)                          \
    static bool holds_##name_(const double *f)                                                                \
    {                                                                                                         \
        return (when_);                                                                                       \
    }                                                                                                         \
    static double estimate_##name_(const double *f)                                                           \
    {                                                                                                         \
        return (gain_);                                                                                       \
    }
#include "report/rules.def"
#undef RULE

const rule rule_table[] = {
#define RULE(name_, title_, when_, gain_, sentence_, evidence_, nvidia_, amd_, try_)                          \
    { .name = #name_,                                                                                         \
      .title = title_,                                                                                        \
      .sentence = sentence_,                                                                                  \
      .evidence = evidence_,                                                                                  \
      .condition = #when_,                                                                                    \
      .estimate = #gain_,                                                                                     \
      .try_nvidia = nvidia_,                                                                                  \
      .try_amd = amd_,                                                                                        \
      .try_title = try_,                                                                                      \
      .holds = holds_##name_,                                                                                 \
      .gain = estimate_##name_ },
#include "report/rules.def"
#undef RULE
};
const size_t rule_count = LS_COUNT_OF(rule_table);

static int larger_first(const void *left, const void *right)
{
    const rule_finding *a = left, *b = right;
    if (a->gain != b->gain)
        return a->gain > b->gain ? -1 : 1;
    return a->rule < b->rule ? -1 : a->rule > b->rule;
}

size_t rules_apply(const fact_set *facts, rule_finding *out)
{
    size_t found = 0;
    for (size_t i = 0; facts->machine != FACTS_NONE && i < rule_count; i++) {
        const rule *r = &rule_table[i];
        if (!r->holds(facts->at))
            continue;
        double gain = r->gain(facts->at);
        out[found++] = (rule_finding){ r, isnan(gain) || gain < 0 ? 0 : gain > 0.99 ? 0.99 : gain };
    }
    qsort(out, found, sizeof *out, larger_first);
    return found;
}

const char *rule_sentence(const rule *r, const fact_set *facts, char *out, size_t out_bytes)
{
    size_t used = 0;
    for (const char *at = r->sentence; *at && used + 1 < out_bytes;) {
        const char *close = *at == '{' ? strchr(at, '}') : NULL;
        fact which = close ? fact_find(at + 1, (size_t)(close - at - 1)) : FACT_COUNT;
        char number[64];
        if (which == FACT_COUNT) {
            out[used++] = *at++;
            continue;
        }
        int bytes =
            snprintf(out + used, out_bytes - used, "%s", fact_text(facts, which, number, sizeof number));
        used += (size_t)bytes < out_bytes - used ? (size_t)bytes : out_bytes - used - 1;
        at = close + 1;
    }
    out[used] = 0;
    return out;
}

const char *rule_experiment(const rule *r, facts_machine machine)
{
    return machine == FACTS_NVIDIA ? r->try_nvidia : machine == FACTS_AMD ? r->try_amd : NULL;
}
