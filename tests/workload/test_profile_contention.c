/* test_profile_contention.c: stall times of slices when cores request the same sector, in closed form. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include "model/core/rates.h"
#include "workload/profile/contention.h"

#define LATENCY 512u

#define CORES_MAX 8u
#define LINES 16u

static const contention_rules rules = {
    .latency_cycles = LATENCY, .slice_cycle = RATES_ONE, .merge = 4, .set_bits = 3
};

/* Two slices; odd lines belong to the second. Settled as one part or as two. */
typedef struct place {
    contention m;
    uint32_t cores, parts;
    sent_list sent[CORES_MAX];
} place;

static place make(uint32_t cores, uint32_t parts)
{
    place p = { .cores = cores, .parts = parts };
    assert_true(contention_init(&p.m, cores, 2, LINES));
    assert_true(contention_divide(&p.m, parts));
    for (uint32_t i = 0; i < cores; i++)
        p.sent[i].to = calloc(parts, sizeof *p.sent[i].to);
    return p;
}

static void dispose(place *p)
{
    for (uint32_t i = 0; i < p->cores; i++) {
        for (uint32_t part = 0; part < p->parts; part++)
            vec_fini(&p->sent[i].to[part]);
        vec_fini(&p->sent[i].requests);
        free(p->sent[i].to);
    }
    contention_fini(&p->m);
}

static void ask_as(place *p, uint32_t core, uint32_t line, uint8_t sectors, uint8_t pending, uint8_t flags)
{
    sent_list *sent = &p->sent[core];
    const sent_request request = { .l2 = line,
                                   .set = (line % 2) << 3 | line / 2,
                                   .at = sent->sectors,
                                   .sectors = sectors,
                                   .pending = pending,
                                   .flags = flags };
    assert_true(vec_push(&sent->to[line % p->parts], (uint32_t)sent->requests.count));
    assert_true(vec_push(&sent->requests, request));
    if ((flags & SENT_BYPASS) == 0)
        sent->sectors += (uint32_t)__builtin_popcount(sectors);
}

static void ask(place *p, uint32_t core, uint32_t line, uint8_t sectors, uint8_t pending)
{
    ask_as(p, core, line, sectors, pending, SENT_FETCH);
}

/* Ends the epoch; cycles for which slices stood still. Parts from the last one on. */
static uint64_t settle(place *p, uint32_t epoch)
{
    uint64_t still = 0;
    contention_begin(&p->m, p->sent);
    for (uint32_t part = p->parts; part-- > 0;)
        still += contention_settle(&p->m, part, p->sent, &rules, epoch);
    contention_end(&p->m);
    for (uint32_t i = 0; i < p->cores; i++) {
        for (uint32_t part = 0; part < p->parts; part++)
            p->sent[i].to[part].count = 0;
        p->sent[i].requests.count = 0;
        p->sent[i].sectors = 0;
    }
    return still;
}

/* As many as the MSHR holds wait; one more stops the slice until DRAM has answered the first. */
static void test_merge(void **state)
{
    (void)state;
    for (uint32_t cores = 1; cores <= CORES_MAX; cores++) {
        place p = make(cores, 1 + cores % 2);
        for (uint32_t i = 0; i < cores; i++)
            ask(&p, i, 0, 1, 1);
        /* The first is served in cycle 1 and answered LATENCY later; the fifth comes in cycle 5. */
        assert_int_equal(settle(&p, 1), cores > 4 ? LATENCY - 4 : 0);
        dispose(&p);
    }
}

/* Sectors that are already in L2 cause no contention, and other sectors and slices do not count. Requests past
 * L1 do not count either, and do not delay others. */
static void test_apart(void **state)
{
    (void)state;
    place p = make(8, 2);
    for (uint32_t i = 0; i < 8; i++)
        ask(&p, i, 0, 1, 0);
    assert_int_equal(settle(&p, 1), 0);
    for (uint32_t i = 0; i < 8; i++)
        ask(&p, i, i % 2, (uint8_t)(1u << i / 4), (uint8_t)(1u << i / 4));
    assert_int_equal(settle(&p, 2), 0);
    for (uint32_t i = 0; i < 8; i++)
        ask_as(&p, i, 0, 1, 1, i < 4 ? SENT_BYPASS : SENT_FETCH);
    assert_int_equal(settle(&p, 3), 0);
    dispose(&p);
}

/* Cores that got their data late send later in the next epoch: the sectors of the others have then arrived, or
 * nearly. */
static void test_later(void **state)
{
    (void)state;
    place p = make(6, 1);
    for (uint32_t i = 0; i < 6; i++)
        ask(&p, i, i, 1, i >= 4); /* four find it in L2, two wait for DRAM */
    assert_int_equal(settle(&p, 1), 0);
    for (uint32_t i = 0; i < 6; i++)
        ask(&p, i, 7, 1, 1);
    assert_true(settle(&p, 2) < 8); /* LATENCY - 4 if all came at once */
    dispose(&p);
}

/* A core without requests for an epoch is not late, and a core that is ahead stays ahead. */
static void test_absent(void **state)
{
    (void)state;
    place p = make(6, 2);
    ask(&p, 0, 0, 15, 15); /* in cycles 1 to 4, answered LATENCY later */
    ask(&p, 1, 1, 1, 0);
    assert_int_equal(settle(&p, 1), 0);
    assert_int_equal(p.m.done[0], LATENCY + 4);
    assert_int_equal(p.m.done[1], 1);
    ask(&p, 1, 1, 1, 0); /* the slice is free from cycle 1 on, where this core's epoch begins */
    assert_int_equal(settle(&p, 2), 0);
    assert_int_equal(p.m.done[0], LATENCY + 3);
    assert_int_equal(p.m.done[1], 1);
    dispose(&p);
}

/* Threads may settle parts in any order: nothing depends on how L2 is divided. */
static void test_parts(void **state)
{
    (void)state;
    place one = make(8, 1), two = make(8, 2);
    uint64_t seed = 1, stood = 0;
    for (uint32_t epoch = 1; epoch <= 40; epoch++) {
        for (uint32_t i = 0; i < 200; i++) {
            seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            uint32_t core = seed >> 40 & 7, line = seed >> 44 & 7;
            uint8_t sectors = (uint8_t)(1 + (seed >> 50) % 15), pending = sectors & (uint8_t)(seed >> 54 & 15);
            ask(&one, core, line, sectors, pending);
            ask(&two, core, line, sectors, pending);
        }
        uint64_t still = settle(&one, epoch);
        assert_int_equal(settle(&two, epoch), still);
        assert_memory_equal(one.m.done, two.m.done, 8 * sizeof *one.m.done);
        assert_memory_equal(one.m.time, two.m.time, 2 * sizeof *one.m.time);
        stood += still;
    }
    assert_true(stood > 1000);
    dispose(&one);
    dispose(&two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_merge),  cmocka_unit_test(test_apart), cmocka_unit_test(test_later),
        cmocka_unit_test(test_absent), cmocka_unit_test(test_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
