/* test_core_l1.c: the table of slot "core.l1". A core that calls the built-in L1 through its table does the same in the
 * same cycles as one that calls it directly; models that break the rules end the run. */
#include "core_rig.h"

#include "lockstep/random.h"

/* The built-in model behind a table of its own, so that the core does not recognise it. */
static ls_l1_ops disguised_ops;
static ls_port_decl disguised_port;
static ls_block_type disguised_type;

static const ls_block_type *disguised(void)
{
    const ls_block_type *type = ls_registry_find_block(LS_L1_SLOT, "sectored");
    assert_non_null(type);
    memcpy(&disguised_ops, type->ports[0].ops, sizeof disguised_ops);
    disguised_port = type->ports[0];
    disguised_port.ops = &disguised_ops;
    disguised_type = *type;
    disguised_type.ports = &disguised_port;
    return &disguised_type;
}

/* Loads and stores of four warps to few lines, so that misses, merges, evictions and write-backs all occur. */
static void random_program(rig *r, uint32_t seed)
{
    ls_random random;
    ls_random_init(&random, seed);
    uint32_t load = rig_memory(r, LS_SPACE_GLOBAL, LS_MEM_LOAD, 4, 10, 0);
    uint32_t local = rig_memory(r, LS_SPACE_LOCAL, LS_MEM_LOAD, 4, 12, 0);
    uint32_t store = rig_memory(r, LS_SPACE_GLOBAL, LS_MEM_STORE, 4, 0, 0);
    uint32_t use = rig_alu(r, LS_CLASS_fp32, 11, 10);
    for (uint32_t warp = 0; warp < 4; warp++) {
        rig_warp(r);
        for (uint32_t i = 0; i < 60; i++) {
            uint64_t draw = ls_random_next(&random);
            uint64_t at = 0x1000 + draw % 64 * 128 + draw / 64 % 4 * 32;
            uint32_t kind = (uint32_t)(draw >> 32) % 8;
            rig_access(r, kind < 5 ? load : kind < 7 ? store : local, RIG_ALL, at, (draw >> 40) % 2 ? 4 : 32);
            if (kind == 0)
                rig_do(r, use);
        }
    }
}

static rig *run_random(const ls_block_type *type, uint32_t policy, bool prefetch, uint64_t *cycles)
{
    rig *r = rig_create();
    if (type != NULL)
        r->l1_type = type;
    r->l1_spec.cache.sets = 4;
    r->l1_spec.cache.ways = 4;
    r->l1_spec.cache.write_policy = policy;
    r->l1_spec.cache.mshr_entries = 24;
    r->l1_spec.cache.mshr_merge = 4;
    r->l1_spec.cache.miss_queue = 4;
    r->l1_spec.cache.prefetch.kind = prefetch ? PREFETCH_NEXT_LINE : PREFETCH_NONE;
    random_program(r, 7 + policy);
    *cycles = rig_run(r);
    return r;
}

static void compare(uint32_t policy, bool prefetch)
{
    uint64_t direct_cycles, table_cycles;
    rig *direct = run_random(NULL, policy, prefetch, &direct_cycles);
    rig *table = run_random(disguised(), policy, prefetch, &table_cycles);
    assert_non_null(direct->core->ldst.l1);
    assert_null(table->core->ldst.l1);
    assert_int_equal(table_cycles, direct_cycles);
    assert_true(direct->logged > 100);
    assert_int_equal(table->logged, direct->logged);
    assert_memory_equal(table->log, direct->log, direct->logged * sizeof direct->log[0]);
    const sector_cache_counters *a = &table->core->n.l1, *b = &direct->core->n.l1;
    assert_int_equal(a->accesses, b->accesses);
    assert_int_equal(a->reads, b->reads);
    assert_int_equal(a->writes, b->writes);
    assert_int_equal(a->global.read_hits, b->global.read_hits);
    assert_int_equal(a->other.read_hits, b->other.read_hits);
    assert_int_equal(a->fills, b->fills);
    rig_destroy(direct);
    rig_destroy(table);
}

static void the_table_does_what_direct_calls_do(void **state)
{
    (void)state;
    for (uint32_t policy = WRITE_THROUGH; policy <= WRITE_AROUND; policy++)
        compare(policy, false);
}

static void prefetches_pass_the_table(void **state)
{
    (void)state;
    compare(WRITE_THROUGH, true);
}

/* ------------------------------------------------------------------------------------------------ mistakes */

static ls_l1_outcome no_outcome(void *self, const ls_l1_access *access, ls_cycle now)
{
    (void)self;
    (void)access;
    (void)now;
    return (ls_l1_outcome)7;
}

static bool made_up_answer(void *self, uint32_t *token, ls_cycle now)
{
    (void)self;
    (void)now;
    *token = 1500;
    return true;
}

static bool made_up_store(void *self, ls_l1_request *out, ls_cycle now)
{
    (void)self;
    (void)now;
    *out = (ls_l1_request){ .address = 0x1000, .token = 3, .write = true };
    return true;
}

static void fails_with(const char *line)
{
    rig *r = rig_create();
    r->l1_type = &disguised_type;
    random_program(r, 3);
    rig_prepare(r);
    ls_run_result result;
    ls_error error = { 0 };
    assert_int_not_equal(ls_run(r->engine, &(ls_run_options){ .threads = 1 }, &result, &error), LS_OK);
    assert_non_null(strstr(error.what, line));
    rig_destroy(r);
}

static void a_model_that_breaks_the_rules_ends_the_run(void **state)
{
    (void)state;
    disguised();
    disguised_ops.access = no_outcome;
    fails_with("the model of slot 'core.l1' returned no outcome of an access");
    disguised();
    disguised_ops.answer = made_up_answer;
    fails_with("the model of slot 'core.l1' answered a load that does not wait");
    disguised();
    disguised_ops.request = made_up_store;
    fails_with("the model of slot 'core.l1' sent a store that no warp made");
}

static void many_banks(const void *self, ls_l1_shape *out)
{
    (void)self;
    *out = (ls_l1_shape){ .banks = LS_L1_BANKS + 1, .latency_cycles = 20 };
}

static void a_shape_that_cannot_be_is_refused(void **state)
{
    (void)state;
    rig *r = rig_create();
    ls_error error = { 0 };
    r->l1_type = disguised();
    disguised_ops.describe = many_banks;
    assert_int_not_equal(rig_try_build(r, &error), LS_OK);
    assert_non_null(strstr(error.what, "has 9 banks"));
    rig_destroy(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_does_what_direct_calls_do),
        cmocka_unit_test(prefetches_pass_the_table),
        cmocka_unit_test(a_model_that_breaks_the_rules_ends_the_run),
        cmocka_unit_test(a_shape_that_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
