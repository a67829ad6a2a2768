/* test_machine.c: the functions that build() may call: the engine, models and specs by section, and blocks of
 * them. */
#include "engine/fixture.h"

#include "engine/machine.h"

typedef struct toy_spec {
    uint64_t size;
} toy_spec;

static const ls_block_type gto = {
    .abi = LS_ABI_VERSION, .slot = "scheduler", .name = "gto", .help = "", .spec_size = sizeof(toy_spec)
};
static const ls_block_type bank = {
    .abi = LS_ABI_VERSION, .slot = "dram", .name = "bank", .help = "", .spec_size = sizeof(toy_spec)
};
static const ls_section sections[] = {
    { .path = "core.scheduler", .slot = "scheduler", .help = "" },
    { .path = "dram", .slot = "dram", .help = "" },
};
static const ls_machine_type toy = { .abi = LS_ABI_VERSION,
                                     .name = "toy",
                                     .help = "",
                                     .sections = sections,
                                     .section_count = LS_COUNT_OF(sections) };

static const ls_block_type *const models[] = { &gto, &bank };
static const toy_spec own_spec = { 1 }, scheduler_spec = { 2 }, dram_spec = { 3 };
static const void *const specs[] = { &scheduler_spec, &dram_spec };

static void test_sections(void **state)
{
    (void)state;
    ls_engine *engine = new_engine();
    ls_machine machine = {
        .type = &toy, .engine = engine, .spec = &own_spec, .models = models, .specs = specs
    };
    assert_ptr_equal(ls_machine_engine(&machine), engine);
    assert_ptr_equal(ls_machine_model(&machine, "core.scheduler"), &gto);
    assert_ptr_equal(ls_machine_model(&machine, "dram"), &bank);
    assert_null(ls_machine_model(&machine, "core"));
    assert_ptr_equal(ls_machine_spec(&machine, "core.scheduler"), &scheduler_spec);
    assert_ptr_equal(ls_machine_spec(&machine, "dram"), &dram_spec);
    assert_ptr_equal(ls_machine_spec(&machine, NULL), &own_spec);
    assert_null(ls_machine_spec(&machine, "dram.bank"));
    ls_engine_destroy(engine);
}

static void test_blocks_of_sections(void **state)
{
    (void)state;
    ls_engine *engine = new_engine();
    ls_region *region = new_domain(engine, "d", GHZ);
    ls_machine machine = {
        .type = &toy, .engine = engine, .spec = &own_spec, .models = models, .specs = specs
    };
    ls_block *block = NULL;
    ls_error err = { 0 };
    assert_int_equal(ls_machine_block(&machine, region, "dram0", "dram", &block, &err), LS_OK);
    assert_ptr_equal(ls_block_type_of(block), &bank);
    assert_int_equal(((const toy_spec *)ls_block_spec(block))->size, 3);
    assert_ptr_equal(ls_engine_find_block(engine, "dram0"), block);

    assert_int_equal(ls_machine_block(&machine, region, "x", "dran", &block, &err), LS_ERR_INTERNAL);
    assert_string_equal(err.what, "block 'x' wants section 'dran', which the machine does not declare");
    assert_string_equal(err.nearest, "dram");
    assert_null(block);
    assert_int_equal(ls_machine_block(&machine, region, "x", "dran", &block, NULL), LS_ERR_INTERNAL);
    assert_int_equal(ls_machine_block(&machine, region, "dram0", "dram", &block, &err), LS_ERR_USAGE);
    assert_string_equal(err.what, "there are two blocks named 'dram0'");
    ls_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sections),
        cmocka_unit_test(test_blocks_of_sections),
    };
    return cmocka_run_group_tests_name("machine", tests, NULL, NULL);
}
