/* banks.c: counters of work by kernel, on a machine that runs kernels side by side. May touch its core only.
 *
 * Counters themselves are not per kernel: they add to core.n. While one kernel has the core to itself, all
 * counts belong to it. While several have blocks there (core.mixed), the code that handles an instruction
 * names its kernel (count_for). When the kernel changes, the difference since the last change goes to the bank
 * of the kernel before. The sums over banks equal core.n by construction. */
#include "model/core/flow.h"
#include "model/core/formula.h"

#include <string.h>

#define WORK_BEGIN offsetof(core_counters, issued)
#define WORK_WORDS ((sizeof(core_counters) - WORK_BEGIN) / sizeof(uint64_t))
_Static_assert((sizeof(core_counters) - WORK_BEGIN) % sizeof(uint64_t) == 0, "counters are words");

typedef struct bank {
    uint32_t number; /* of the launch that has the slot */
    bool counted;    /* some of words[] are not 0 */
    uint64_t words[WORK_WORDS];
} bank;

struct core_banks {
    uint32_t slots, counting;
    uint64_t seen[WORK_WORDS]; /* of core.n, when `counting` was set */
    bank shared;
    bank at[];
};

static bank *bank_of(core_banks *b, uint32_t kernel)
{
    return kernel == BANKS_SHARED ? &b->shared : &b->at[kernel];
}

/* The counts since the last call go to their bank. */
static void settle(core *c)
{
    core_banks *b = c->kernel_banks;
    if (c->analytic != NULL)
        formula_count(c);
    const uint64_t *now = (const uint64_t *)(const void *)((const char *)&c->n + WORK_BEGIN);
    if (memcmp(now, b->seen, sizeof b->seen) == 0)
        return; /* most cores did nothing for a small kernel */
    bank *to = bank_of(b, b->counting);
    uint64_t *words = to->words;
    to->counted = true;
    for (size_t i = 0; i < WORK_WORDS; i++) {
        words[i] += now[i] - b->seen[i];
        b->seen[i] = now[i];
    }
}

void banks_count_for(core *c, uint32_t kernel)
{
    core_banks *b = c->kernel_banks;
    if (b->counting == kernel)
        return;
    settle(c);
    b->counting = kernel;
}

/* While one kernel is resident it is counted for, and after it until another one comes. */
void banks_blocks_changed(core *c, const core_launch *of)
{
    core_banks *b = c->kernel_banks;
    uint32_t kernel = BANKS_SHARED;
    /* One more or one less of the only kernel here, which is counted for already. */
    if (!c->mixed && b->counting == of->kernel && b->at[of->kernel].number == of->number)
        return;
    c->mixed = false;
    for (uint32_t i = 0; i < CORE_CTAS_MAX; i++) {
        if (!c->blocks.at[i].used)
            continue;
        const core_launch *launch = &c->blocks.at[i].launch;
        b->at[launch->kernel].number = launch->number;
        c->mixed = c->mixed || (kernel != BANKS_SHARED && kernel != launch->kernel);
        kernel = launch->kernel;
    }
    core_set_apart(c);
    if (!c->mixed && kernel != BANKS_SHARED)
        banks_count_for(c, kernel);
}

/* Instructions of flow.c are counted per static one, which knows its launch by number. */
uint32_t banks_count_for_number(core *c, uint32_t number)
{
    core_banks *b = c->kernel_banks;
    uint32_t before = b->counting, kernel = 0;
    while (kernel < b->slots && b->at[kernel].number != number)
        kernel++;
    banks_count_for(c, kernel < b->slots ? kernel : BANKS_SHARED);
    return before;
}

uint64_t banks_bytes(const void *self)
{
    const core_banks *b = ((const core *)self)->kernel_banks;
    return sizeof *b + b->slots * sizeof b->at[0];
}

bool banks_init(core *c, uint32_t slots)
{
    if (slots <= 1)
        return true;
    core_banks *b = ls_domain_alloc(c->domain, sizeof *b + slots * sizeof b->at[0]);
    if (b == NULL)
        return false;
    b->slots = slots;
    b->counting = BANKS_SHARED;
    c->kernel_banks = b;
    return true;
}

bool banks_take(core *c, uint32_t kernel, void *counters, size_t bytes)
{
    core_banks *b = c->kernel_banks;
    if (b == NULL || bytes < sizeof(core_counters))
        return false;
    if (c->flow != NULL)
        flow_count_uses(c);
    settle(c);
    bank *from = &b->at[kernel];
    memset(counters, 0, sizeof(core_counters));
    if (from->counted) {
        memcpy((char *)counters + WORK_BEGIN, from->words, sizeof from->words);
        memset(from->words, 0, sizeof from->words);
        from->counted = false;
    }
    if (b->counting == kernel && c->blocks.resident == 0)
        b->counting = BANKS_SHARED; /* later counts belong to a kernel that has ended */
    return true;
}
