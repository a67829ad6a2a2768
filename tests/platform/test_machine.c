/* test_machine.c: a configuration becomes an engine full of blocks, or an error that names the machine. */
#include "platform/load.h"

#include "lockstep/block.h"
#include "platform/machine.h"

#include <string.h>

/* A box: one domain with a core that uses a memory. */

typedef struct memory_ops {
    uint64_t (*read)(void *self);
} memory_ops;

typedef struct memory_spec {
    uint64_t latency;
    const char *vendor;
} memory_spec;

static uint64_t memory_read(void *self)
{
    return *(const uint64_t *)self;
}

static ls_status memory_init(ls_block *block, void *state, const void *spec, ls_error *err)
{
    (void)block;
    (void)err;
    *(uint64_t *)state = ((const memory_spec *)spec)->latency;
    return LS_OK;
}

/* clang-format off */
static const memory_ops memory_table = { .read = memory_read };
static const ls_port_decl memory_ports[] = {
    { .name = "in", .interface = "box-memory/1", .ops = &memory_table },
};
static const ls_param memory_params[] = {
    LS_PARAM_UINT(memory_spec, latency, "cycles", 7, 1, 100, "time of a read"),
    LS_PARAM_TEXT(memory_spec, vendor, "vendor", "", "who made it"),
};
static const ls_block_type memory_plain = {
    .abi = LS_ABI_VERSION, .slot = "box.memory", .name = "plain", .help = "", .spec_size = sizeof(memory_spec),
    .params = memory_params, .param_count = LS_COUNT_OF(memory_params), .state_size = sizeof(uint64_t),
    .ports = memory_ports, .port_count = 1, .init = memory_init,
};
LS_REGISTER_BLOCK(memory_plain);

/* clang-format on */

typedef struct core_state {
    ls_port memory;
} core_state;
/* clang-format off */
static const ls_port_decl core_ports[] = {
    { .name = "memory", .interface = "box-memory/1", .offset = offsetof(core_state, memory) },
};
static const ls_block_type core_plain = {
    .abi = LS_ABI_VERSION, .slot = "box.core", .name = "plain", .help = "", .state_size = sizeof(core_state),
    .ports = core_ports, .port_count = 1,
};
LS_REGISTER_BLOCK(core_plain);

/* clang-format on */

typedef struct box_spec {
    ls_ratio clock;
    bool connected, misnamed;
} box_spec;
/* clang-format off */
static const ls_param box_params[] = {
    LS_PARAM_FREQ(box_spec, clock, "clock_mhz", "500", "the clock"),
    LS_PARAM_BOOL(box_spec, connected, true, "connect the ports"),
    LS_PARAM_BOOL(box_spec, misnamed, false, "ask for a section that is not there"),
};
static const ls_section box_sections[] = {
    { .path = "core", .slot = "box.core", .default_model = "plain", .help = "the core" },
    { .path = "memory", .slot = "box.memory", .default_model = "plain", .help = "the memory" },
};
/* clang-format on */

static ls_status box_build(ls_machine *machine, const void *spec_, ls_error *err)
{
    const box_spec *spec = spec_;
    ls_clock clock;
    ls_domain *domain;
    ls_block *core, *memory;
    ls_status status = ls_clock_init(&clock, spec->clock, err);
    if (status == LS_OK)
        status = ls_domain_create(ls_machine_engine(machine), "box", clock, &domain, err);
    if (status != LS_OK)
        return status;
    ls_region *region = ls_domain_region(domain, 0);
    status = ls_machine_block(machine, region, "core", "core", &core, err);
    if (status == LS_OK)
        status =
            ls_machine_block(machine, region, "memory", spec->misnamed ? "memroy" : "memory", &memory, err);
    if (status == LS_OK && spec->connected)
        status = ls_block_connect(core, "memory", memory, "in", err);
    return status;
}

/* clang-format off */
static const ls_machine_type box = {
    .abi = LS_ABI_VERSION, .name = "box", .help = "", .spec_size = sizeof(box_spec), .params = box_params,
    .param_count = LS_COUNT_OF(box_params), .sections = box_sections,
    .section_count = LS_COUNT_OF(box_sections), .build = box_build,
};
LS_REGISTER_MACHINE(box);
/* clang-format on */

static void test_build(void **state)
{
    (void)state;
    platform_config *config =
        load_text("machine: box\nmemory: {latency: 42, vendor: acme}\nclock_mhz: 250\n", NULL);
    ls_machine *machine;
    assert_int_equal(machine_create(config, 1, &machine, NULL), LS_OK);
    assert_ptr_equal(machine_config(machine), config);
    assert_ptr_equal(ls_machine_model(machine, "memory"), &memory_plain);
    assert_null(ls_machine_model(machine, "none"));
    assert_null(ls_machine_spec(machine, "none"));
    const box_spec *spec = ls_machine_spec(machine, NULL);
    assert_int_equal(spec->clock.num, 250000000);

    ls_engine *engine = ls_machine_engine(machine);
    assert_int_equal(ls_engine_block_count(engine), 2);
    const memory_spec *memory = ls_block_spec(ls_engine_find_block(engine, "memory"));
    assert_string_equal(memory->vendor, "acme");
    const core_state *core = ls_block_state(ls_engine_find_block(engine, "core"));
    assert_int_equal(((const memory_ops *)core->memory.ops)->read(core->memory.self), 42);
    machine_destroy(machine);
    config_destroy(config);
}

static void expect_build_error(const char *set, const char *expected)
{
    const char *sets[] = { set, NULL };
    platform_config *config = load_text("machine: box\n", sets);
    ls_machine *machine;
    ls_error error;
    char line[512];
    assert_true(machine_create(config, 1, &machine, &error) != LS_OK);
    assert_null(machine);
    assert_string_equal(ls_error_text(&error, line, sizeof line), expected);
    config_destroy(config);
}

static void test_build_errors(void **state)
{
    (void)state;
    expect_build_error("misnamed=true",
                       "t.yaml: machine 'box': block 'memory' wants section 'memroy', which the "
                       "machine does not declare (nearest: memory)");
    const char *sets[] = { "connected=false", NULL };
    platform_config *config = load_text("machine: box\n", sets);
    ls_machine *machine;
    ls_error error;
    assert_int_not_equal(machine_create(config, 1, &machine, &error), LS_OK);
    assert_null(machine);
    assert_non_null(strstr(error.what, "machine 'box': "));
    assert_non_null(strstr(error.what, "'memory'"));
    config_destroy(config);
    machine_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_build),
        cmocka_unit_test(test_build_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
