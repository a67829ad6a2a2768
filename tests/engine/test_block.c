/* test_block.c: blocks are created, connected through ports, refused with a clear sentence, and ended in
 * reverse. */
#include "engine/fixture.h"

/* -------------------------------------------------------------------------------- two types and a machine */

typedef struct memory_ops {
    uint64_t (*read)(void *self, uint64_t address);
} memory_ops;

typedef struct cache_spec {
    uint64_t latency, salt;
} cache_spec;

typedef struct cache_state {
    uint64_t reads;
    const cache_spec *spec;
    ls_block *block;
} cache_state;

static char ended[64]; /* the names of ended blocks, in order */

static ls_status cache_init(ls_block *block, void *state, const void *spec, ls_error *err)
{
    cache_state *cache = state;
    cache->spec = spec;
    cache->block = block;
    if (cache->spec->salt == 13)
        return ls_fail(err, LS_ERR_UNSUPPORTED, "salt 13 brings bad luck");
    return LS_OK;
}

static void cache_fini(void *state)
{
    strncat(ended, ls_block_name(((cache_state *)state)->block), sizeof ended - strlen(ended) - 1);
}

static uint64_t cache_read(void *self, uint64_t address)
{
    cache_state *cache = self;
    cache->reads++;
    return address + cache->spec->salt;
}

static const memory_ops cache_ops = { cache_read };
static const ls_port_decl cache_ports[] = {
    { .name = "top", .interface = "memory/1", .ops = &cache_ops },
    { .name = "admin", .interface = "admin/1", .ops = &cache_ops },
};

static void cache_waits(const void *self, ls_wait_sink *sink)
{
    const cache_state *cache = self;
    ls_wait_report(sink, ls_block_name(cache->block), "nobody", "it likes waiting");
}

static const ls_block_type cache_type = {
    .abi = LS_ABI_VERSION,
    .slot = "l1",
    .name = "toy",
    .help = "a toy",
    .spec_size = sizeof(cache_spec),
    .state_size = sizeof(cache_state),
    .ports = cache_ports,
    .port_count = LS_COUNT_OF(cache_ports),
    .init = cache_init,
    .fini = cache_fini,
    .waits = cache_waits,
};

typedef struct core_state {
    ls_port l1, backup;
} core_state;

static const ls_port_decl core_ports[] = {
    { .name = "l1", .interface = "memory/1", .offset = offsetof(core_state, l1) },
    { .name = "backup", .interface = "memory/1", .offset = offsetof(core_state, backup) },
};

static const ls_block_type core_type = {
    .abi = LS_ABI_VERSION,
    .slot = "core",
    .name = "toy",
    .help = "a toy",
    .state_size = sizeof(core_state),
    .ports = core_ports,
    .port_count = LS_COUNT_OF(core_ports),
};

typedef struct machine {
    ls_engine *engine;
    ls_region *region;
    ls_block *core, *cache;
} machine;

static int setup(void **state)
{
    machine *m = test_calloc(1, sizeof *m);
    ended[0] = '\0';
    m->engine = new_engine();
    m->region = new_domain(m->engine, "sm0", GHZ);
    assert_int_equal(ls_block_create(m->region, "core0", &core_type, NULL, &m->core, NULL), LS_OK);
    assert_int_equal(ls_block_create(m->region, "l1-0", &cache_type, &(cache_spec){ 3, 1000 }, &m->cache,
                                     NULL),
                     LS_OK);
    *state = m;
    return 0;
}

static int teardown(void **state)
{
    machine *m = *state;
    ls_engine_destroy(m->engine);
    test_free(m);
    return 0;
}

static void refused(machine *m, ls_block *user, const char *used, ls_block *provider, const char *provided,
                    const char *what, const char *nearest)
{
    ls_error err = { 0 };
    (void)m;
    assert_int_equal(ls_block_connect(user, used, provider, provided, &err), LS_ERR_USAGE);
    assert_string_equal(err.what, what);
    assert_string_equal(err.nearest, nearest);
    assert_int_equal(ls_block_connect(user, used, provider, provided, NULL), LS_ERR_USAGE);
}

/* ------------------------------------------------------------------------------------------------- blocks */

static void test_what_a_block_knows(void **state)
{
    machine *m = *state;
    assert_string_equal(ls_block_name(m->cache), "l1-0");
    assert_ptr_equal(ls_block_type_of(m->cache), &cache_type);
    assert_ptr_equal(ls_block_region(m->cache), m->region);
    const cache_spec *spec = ls_block_spec(m->cache);
    assert_int_equal(spec->latency, 3); /* a copy: the one given is gone */
    assert_int_equal(spec->salt, 1000);
    const cache_state *cache = ls_block_state(m->cache);
    assert_ptr_equal(cache->spec, spec);
    assert_int_equal(cache->reads, 0);

    assert_int_equal(ls_engine_block_count(m->engine), 2);
    assert_ptr_equal(ls_engine_block(m->engine, 0), m->core);
    assert_ptr_equal(ls_engine_block(m->engine, 1), m->cache);
    assert_null(ls_engine_block(m->engine, 2));
    assert_ptr_equal(ls_engine_find_block(m->engine, "l1-0"), m->cache);
    assert_null(ls_engine_find_block(m->engine, "l1-1"));
}

static void test_refused_blocks(void **state)
{
    machine *m = *state;
    ls_block *block = m->core;
    ls_error err = { 0 };
    assert_int_equal(ls_block_create(m->region, "core0", &core_type, NULL, &block, &err), LS_ERR_USAGE);
    assert_string_equal(err.what, "there are two blocks named 'core0'");
    assert_null(block);
    assert_int_equal(ls_block_create(m->region, "bad", &cache_type, &(cache_spec){ 0, 13 }, &block, &err),
                     LS_ERR_UNSUPPORTED);
    assert_string_equal(err.what, "salt 13 brings bad luck");
    assert_null(block);
    assert_int_equal(ls_engine_block_count(m->engine), 2);
    assert_null(ls_engine_find_block(m->engine, "bad"));
    run_all(m->engine);
    assert_int_equal(ls_block_create(m->region, "late", &core_type, NULL, &block, &err), LS_ERR_USAGE);
    assert_string_equal(err.what, "block 'late' comes after the run began");
    assert_null(block);
}

/* The last created block ends first; refused blocks are not ended. */
static void test_order_of_the_end(void **state)
{
    (void)state;
    ended[0] = '\0';
    ls_engine *engine = new_engine();
    ls_region *a = new_domain(engine, "a", GHZ), *b = new_domain(engine, "b", GHZ);
    ls_block *block;
    assert_int_equal(ls_block_create(a, "1", &cache_type, &(cache_spec){ 0, 0 }, &block, NULL), LS_OK);
    assert_int_equal(ls_block_create(b, "2", &cache_type, &(cache_spec){ 0, 0 }, &block, NULL), LS_OK);
    assert_int_equal(ls_block_create(b, "x", &cache_type, &(cache_spec){ 0, 13 }, &block, NULL),
                     LS_ERR_UNSUPPORTED);
    assert_int_equal(ls_block_create(a, "3", &cache_type, &(cache_spec){ 0, 0 }, &block, NULL), LS_OK);
    ls_engine_destroy(engine);
    assert_string_equal(ended, "321");
}

static void test_blocks_tell_their_waits(void **state)
{
    machine *m = *state;
    ls_domain_pending(ls_region_domain(m->region), 1);
    ls_error err = { 0 };
    assert_int_equal(ls_run(m->engine, NULL, NULL, &err), LS_ERR_DEADLOCK);
    assert_string_equal(err.what, "deadlock at 0 fs: nothing can happen any more and work is pending; "
                                  "l1-0 waits for nobody (it likes waiting)");
}

/* -------------------------------------------------------------------------------------------------- ports */

static void test_connected_port_calls(void **state)
{
    machine *m = *state;
    ls_error err = { 0 };
    assert_int_equal(ls_block_connect(m->core, "l1", m->cache, "top", &err), LS_OK);
    const core_state *core = ls_block_state(m->core);
    const memory_ops *ops = core->l1.ops;
    assert_ptr_equal(ops, &cache_ops);
    assert_int_equal(ops->read(core->l1.self, 5), 1005);
    assert_int_equal(((cache_state *)ls_block_state(m->cache))->reads, 1);
}

static void test_refused_connections(void **state)
{
    machine *m = *state;
    refused(m, m->core, "l2", m->cache, "top", "block 'core0' (core/toy) has no port 'l2'", "l1");
    refused(m, m->core, "backpu", m->cache, "top", "block 'core0' (core/toy) has no port 'backpu'", "backup");
    refused(m, m->core, "l1", m->cache, "tap", "block 'l1-0' (l1/toy) has no port 'tap'", "top");
    refused(m, m->core, "l1", m->cache, "elsewhere", "block 'l1-0' (l1/toy) has no port 'elsewhere'", "");
    refused(m, m->cache, "top", m->cache, "top", "port 'top' of block 'l1-0' is provided, not used", "");
    refused(m, m->core, "l1", m->core, "backup", "port 'backup' of block 'core0' is used, not provided", "");
    refused(m, m->core, "l1", m->cache, "admin",
            "port 'l1' of 'core0' speaks 'memory/1', port 'admin' of 'l1-0' speaks 'admin/1'", "");

    ls_block *far;
    ls_region *other = new_domain(m->engine, "sm1", GHZ);
    assert_int_equal(ls_block_create(other, "l1-1", &cache_type, &(cache_spec){ 0, 0 }, &far, NULL), LS_OK);
    refused(m, m->core, "l1", far, "top",
            "blocks 'core0' and 'l1-1' live in different domains: only a link joins them", "");
    const core_state *core = ls_block_state(m->core);
    assert_null(core->l1.ops); /* none of these left a trace */

    assert_int_equal(ls_block_connect(m->core, "l1", m->cache, "top", NULL), LS_OK);
    refused(m, m->core, "l1", m->cache, "top", "port 'l1' of block 'core0' is connected twice", "");
}

static void test_regions_of_one_domain_may_connect(void **state)
{
    machine *m = *state;
    ls_block *cache;
    ls_region *dram = new_region(m->region, GHZ / 2);
    assert_int_equal(ls_block_create(dram, "slow", &cache_type, &(cache_spec){ 0, 7 }, &cache, NULL), LS_OK);
    assert_int_equal(ls_block_connect(m->core, "backup", cache, "top", NULL), LS_OK);
}

static void test_unconnected_ports(void **state)
{
    machine *m = *state;
    ls_error err = { 0 };
    assert_int_equal(ls_engine_check_ports(m->engine, &err), LS_ERR_USAGE);
    assert_string_equal(err.what, "port 'l1' of block 'core0' is connected to nothing");
    assert_int_equal(ls_block_connect(m->core, "l1", m->cache, "top", NULL), LS_OK);
    assert_int_equal(ls_engine_check_ports(m->engine, &err), LS_ERR_USAGE);
    assert_string_equal(err.what, "port 'backup' of block 'core0' is connected to nothing");
    assert_int_equal(ls_block_connect(m->core, "backup", m->cache, "top", NULL), LS_OK);
    assert_int_equal(ls_engine_check_ports(m->engine, &err), LS_OK); /* a provided port may stay unused */
    assert_int_equal(ls_engine_check_ports(m->engine, NULL), LS_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_what_a_block_knows, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refused_blocks, setup, teardown),
        cmocka_unit_test(test_order_of_the_end),
        cmocka_unit_test_setup_teardown(test_blocks_tell_their_waits, setup, teardown),
        cmocka_unit_test_setup_teardown(test_connected_port_calls, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refused_connections, setup, teardown),
        cmocka_unit_test_setup_teardown(test_regions_of_one_domain_may_connect, setup, teardown),
        cmocka_unit_test_setup_teardown(test_unconnected_ports, setup, teardown),
    };
    return cmocka_run_group_tests_name("block", tests, NULL, NULL);
}
