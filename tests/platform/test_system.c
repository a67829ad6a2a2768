/* test_system.c: a platform of several GPUs: which GPU a key is for, which layer wins, hashes of parts and of the whole,
 * and one line for each mistake. */
#include "platform/load.h"
#include "platform/tiny.h"

#include "lockstep/fabric.h"
#include "platform/machine.h"
#include "platform/needs.h"
#include "platform/system.h"

/* A machine of another kind, with one key in common and one need. */
typedef struct other_spec {
    uint64_t sms, depth;
    bool deep;
} other_spec;
/* clang-format off */
static const ls_param other_params[] = {
    LS_PARAM_UINT(other_spec, sms, "SMs", 2, 1, 16, "multiprocessors"),
    LS_PARAM_UINT(other_spec, depth, "levels", 3, 1, 9, "how deep"),
    LS_PARAM_BOOL(other_spec, deep, false, "whether it is deep"),
};
static const ls_need other_needs[] = { { "depth", "deep=true" } };
/* clang-format on */

/* A fabric with one key. */
typedef struct test_fabric_spec {
    uint64_t link;
} test_fabric_spec;
static const ls_param test_fabric_params[] = {
    LS_PARAM_UINT(test_fabric_spec, link, "GB/s", 16, 1, 99, "bandwidth of a link"),
};
static uint64_t built_link;
static uint32_t built_gpus, parts_with_fabric;
static ls_status test_fabric_build(ls_engine *engine, const void *spec, const ls_fabric_plan *plan,
                                   ls_error *err)
{
    built_link = ((const test_fabric_spec *)spec)->link;
    built_gpus = plan->gpus;
    return engine != NULL ? LS_OK : ls_fail(err, LS_ERR_INTERNAL, "no engine");
}
static const ls_fabric_ops test_fabric_ops = { .build = test_fabric_build };
static const ls_port_decl test_fabric_ports[] = {
    { .name = LS_FABRIC_PORT, .interface = LS_FABRIC_INTERFACE, .ops = &test_fabric_ops },
};
static const ls_block_type test_fabric = {
    .abi = LS_ABI_VERSION,
    .slot = LS_FABRIC_SLOT,
    .name = "test",
    .help = "for this test",
    LS_BLOCK_PARAMS(test_fabric_spec, test_fabric_params),
    .ports = test_fabric_ports,
    .port_count = LS_COUNT_OF(test_fabric_ports),
};
LS_REGISTER_BLOCK(test_fabric);

/* One domain with a link to itself through a second one, so that the GPU has a lookahead. */
static void receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    (void)self;
    (void)link;
    (void)payload;
    (void)now;
}

static ls_status other_build(ls_machine *machine, const void *spec, ls_error *err)
{
    const other_spec *s = spec;
    ls_engine *engine = ls_machine_engine(machine);
    ls_clock clock;
    ls_domain *domains[2];
    ls_link *link;
    char name[32];
    ls_status status = ls_clock_init(&clock, (ls_ratio){ 1000000000, 1 }, err);
    parts_with_fabric += ls_machine_fabric(machine);
    for (uint32_t i = 0; i < 2 && status == LS_OK; i++) {
        snprintf(name, sizeof name, "gpu%u.d%u", ls_machine_number(machine), i);
        status = ls_domain_create(engine, name, clock, &domains[i], err);
    }
    if (status != LS_OK)
        return status;
    snprintf(name, sizeof name, "gpu%u.wire", ls_machine_number(machine));
    const ls_link_spec wire = { .name = name,
                                .from = ls_domain_region(domains[0], 0),
                                .to = ls_domain_region(domains[1], 0),
                                .latency_cycles = (uint32_t)s->sms * 10,
                                .credits = 4,
                                .payload_bytes = 8,
                                .receive = receive,
                                .receiver = engine };
    return s->depth == 9 ? ls_fail(err, LS_ERR_INPUT, "too deep") : ls_link_create(engine, &wire, &link, err);
}

static const ls_machine_type other_machine = {
    .abi = LS_ABI_VERSION,
    .name = "other",
    .help = "another machine for tests",
    .spec_size = sizeof(other_spec),
    .params = other_params,
    .param_count = LS_COUNT_OF(other_params),
    .needs = other_needs,
    .need_count = LS_COUNT_OF(other_needs),
    .build = other_build,
};
LS_REGISTER_MACHINE(other_machine);

#define SETS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* Two tiny GPUs of a file and one of the other kind. */
#define MIXED                                                                                                 \
    "machine: system\n"                                                                                       \
    "gpus:\n"                                                                                                 \
    "  - {platform: a, count: 2, name: left}\n"                                                               \
    "  - machine: other\n"                                                                                    \
    "    sms: 5  # ours\n"

static int enter(void **state)
{
    int failed = test_dir_enter(state);
    write_file("family.yaml", "machine: tiny\nsms: 3\nscale: 2\ndram.banks: 4\n");
    write_file("a.yaml", "base: family\ntitle: A card\nnet.model: ideal\nsms: 7  # measured\n");
    return failed;
}

static void a_system_has_the_values_of_its_gpus(void **state)
{
    (void)state;
    platform_config *config = load_text(MIXED, NULL);
    assert_int_equal(config_part_count(config), 3);
    assert_ptr_equal(config_machine(config), &system_machine);
    value_is(config, "gpu0.sms", "7");
    value_is(config, "gpu1.scale", "2");
    value_is(config, "gpu2.sms", "5");
    assert_null(config_find(config, "gpu2.scale"));
    assert_null(config_find(config, "sms"));
    assert_int_equal(config_value_count(config), 2 * config_value_count(config_part(config, 0)) + 3 + 3);
    assert_int_equal(config_own_count(config), 3);
    value_is(config, "fabric.model", "none");
    value_is(config, "host.model", "none");
    value_is(config, "migrate.model", "none");
    origin_is(&config_find(config, "gpu1.sms")->origins[0], "a.yaml:4", "7");
    origin_is(&config_find(config, "gpu1.sms")->origins[1], "family.yaml:2", "3");
    origin_is(&config_find(config, "gpu2.sms")->origins[0], "t.yaml:5", "5");
    origin_is(&config_find(config, "gpu2.depth")->origins[0], "default", "3");
    assert_string_equal(config_find(config, "gpu2.sms")->origins[0].comment, "ours");
    assert_string_equal(config_title(config_part(config, 1)), "A card");
    assert_string_equal(config_name(config_part(config, 1)), "a");
    assert_string_equal(config_name(config_part(config, 2)), "other");
    assert_string_equal(config_part_name(config, 1), "left");
    assert_string_equal(config_part_name(config, 2), "");
    config_destroy(config);
}

/* --------------------------------------------------------------------------------------------- precedence */

typedef struct precedence {
    const char *more; /* lines of the system's file */
    const char *sets[4];
    const char *sms[3]; /* of each GPU */
    const char *origin; /* of gpu1's */
} precedence;

static const precedence precedences[] = {
    { "", { NULL }, { "7", "7", "5" }, "a.yaml:4" },
    { "gpus.sms: 11\n", { NULL }, { "11", "11", "5" }, "t.yaml:6 (gpus)" },
    { "gpus.sms: 11\nleft.sms: 12\n", { NULL }, { "12", "12", "5" }, "t.yaml:7 (left)" },
    { "left.sms: 12\ngpus.sms: 11\n", { NULL }, { "12", "12", "5" }, "t.yaml:6 (left)" },
    { "gpu1.sms: 13\nleft.sms: 12\ngpus.sms: 11\n", { NULL }, { "12", "13", "5" }, "t.yaml:6 (gpu1)" },
    { "gpu1-2.sms: 14\nleft.sms: 12\n", { NULL }, { "12", "12", "14" }, "t.yaml:7 (left)" },
    { "left.sms: 12\ngpu1-2.sms: 14\n", { NULL }, { "12", "14", "14" }, "t.yaml:7 (gpu1-2)" },
    { "gpu1: {sms: 13}\n", { "gpus.sms=9" }, { "9", "9", "9" }, "--set (gpus)" },
    { "", { "gpu1.sms=8", "gpus.sms=9" }, { "9", "8", "9" }, "--set (gpu1)" },
    { "", { "gpus.sms=9", "gpu1.sms=8", "gpu1.sms=6" }, { "9", "6", "9" }, "--set (gpu1)" },
    { "", { "gpu0-1.sms=9", "left.sms=8" }, { "8", "8", "5" }, "--set (left)" },
    { "", { "left.sms=8", "gpu0-1.sms=9" }, { "9", "9", "5" }, "--set (gpu0-1)" },
};

static void the_layer_counts_first_then_the_scope(void **state)
{
    (void)state;
    for (size_t i = 0; i < LS_COUNT_OF(precedences); i++) {
        const precedence *p = &precedences[i];
        char text[1024];
        snprintf(text, sizeof text, "%s%s", MIXED, p->more);
        platform_config *config = load_text(text, p->sets);
        for (size_t k = 0; k < 3; k++) {
            const config_value *value = config_find(config_part(config, k), "sms");
            if (strcmp(value->text, p->sms[k]) != 0)
                fail_msg("row %zu, gpu%zu: %s", i, k, value->text);
        }
        const config_value *second = config_find(config, "gpu1.sms");
        origin_is(&second->origins[0], p->origin, p->sms[1]);
        config_destroy(config);
    }
}

static void a_base_of_a_system_has_the_list_and_the_file_has_changes(void **state)
{
    (void)state;
    write_file("pair.yaml",
               "machine: system\ngpus: [a, {platform: a, sms: 20}]\ngpu0.scale: 3\ngpus.label: x\n");
    platform_config *config = load_text("base: pair\ngpu1.sms: 21\ngpus.scale: 4\n", NULL);
    value_is(config, "gpu0.sms", "7");
    value_is(config, "gpu1.sms", "21");
    value_is(config, "gpu0.scale", "4"); /* the later layer, though it is for all */
    value_is(config, "gpu1.label", "x");
    origin_is(&config_find(config, "gpu1.sms")->origins[1], "pair.yaml:2", "20");
    origin_is(&config_find(config, "gpu1.sms")->origins[2], "a.yaml:4", "7");
    config_destroy(config);
    config = load_text("base: pair\ngpus: [a]\n", NULL);
    assert_int_equal(config_part_count(config), 1);
    config_destroy(config);
}

/* A key for several GPUs is for those that have it. */
static void general_keys_skip_gpus_that_lack_them(void **state)
{
    (void)state;
    platform_config *config = load_text(MIXED "gpus.depth: 4\ngpus.dram.banks: 8\ngpu1.dram: hbm\n", NULL);
    value_is(config, "gpu2.depth", "4");
    value_is(config, "gpu0.dram.banks", "8");
    value_is(config, "gpu1.dram.model", "hbm");
    assert_int_equal(config_dropped_count(config_part(config, 1)), 2); /* gpus.dram.banks and the family's */
    config_destroy(config);
    config_request request = { .platform = "t.yaml",
                               .text = MIXED,
                               .text_bytes = strlen(MIXED),
                               .sets = SETS("depth=5", "gpu0.sms=6"),
                               .set_count = 2,
                               .general_count = 1 };
    assert_int_equal(config_load(&request, &config, NULL, NULL), LS_OK);
    origin_is(&config_find(config, "gpu2.depth")->origins[0], "--set (gpus)", "5");
    value_is(config, "gpu0.sms", "6");
    config_destroy(config);
}

/* ------------------------------------------------------------------------------------------------- hashes */

static hash128 hash_of(const char *text, const char *const *sets)
{
    platform_config *config = load_text(text, sets);
    hash128 hash = config_hash_of(config);
    config_destroy(config);
    return hash;
}

static void a_part_has_the_hash_of_its_platform_alone(void **state)
{
    (void)state;
    platform_config *config = load_text(MIXED "gpu1.sms: 9\n", NULL);
    hash128 alone = hash_of("base: a\n", NULL), changed = hash_of("base: a\n", SETS("sms=9"));
    assert_true(hash_same(config_hash_of(config_part(config, 0)), alone));
    assert_true(hash_same(config_hash_of(config_part(config, 1)), changed));
    assert_false(hash_same(alone, changed));
    assert_true(hash_same(config_hash_of(config_part(config, 2)), hash_of("machine: other\nsms: 5\n", NULL)));
    config_destroy(config);
}

static void the_hash_covers_order_and_names(void **state)
{
    (void)state;
#define S "machine: system\n"
    hash128 two = hash_of(S "gpus: [a, {platform: a, sms: 9}]\n", NULL);
    assert_true(hash_same(two, hash_of(S "gpus: [{platform: a, count: 2}]\ngpu1.sms: 9\n", NULL)));
    assert_true(hash_same(two, hash_of(S "gpus: [a, a]\n", SETS("gpu1.sms=9"))));
    assert_false(hash_same(two, hash_of(S "gpus: [{platform: a, sms: 9}, a]\n", NULL)));
    assert_false(hash_same(two, hash_of(S "gpus: [a, {platform: a, sms: 9, name: b}]\n", NULL)));
    assert_false(hash_same(two, hash_of(S "gpus: [a, {platform: a, sms: 9}, a]\n", NULL)));
    assert_false(hash_same(hash_of(S "gpus: [a]\n", NULL), hash_of("base: a\n", NULL)));
}

static void the_canonical_text_reads_back_as_itself(void **state)
{
    (void)state;
    platform_config *config = load_text(MIXED "gpu1.label: 'a: b'\n", NULL);
    platform_config *again = load_text(config_yaml(config), NULL);
    assert_string_equal(config_yaml(again), config_yaml(config));
    assert_true(hash_same(config_hash_of(again), config_hash_of(config)));
    assert_string_equal(config_part_name(again, 1), "left");
    config_destroy(config);
    config_destroy(again);
}

/* ----------------------------------------------------------------------------------------------- --gpus N */

static void a_count_makes_a_system_of_any_platform(void **state)
{
    (void)state;
    platform_config *config;
    config_request request = {
        .platform = "./a.yaml", .gpus = 3, .sets = SETS("gpu2.sms=5", "gpus.scale=3"), .set_count = 2
    };
    assert_int_equal(config_load(&request, &config, NULL, NULL), LS_OK);
    assert_int_equal(config_part_count(config), 3);
    value_is(config, "gpu0.sms", "7");
    value_is(config, "gpu2.sms", "5");
    value_is(config, "gpu1.scale", "3");
    assert_string_equal(config_name(config), "3 x a");
    assert_true(hash_same(config_hash_of(config),
                          hash_of("machine: system\ngpus: [a, a, {platform: a, sms: 5}]\n"
                                  "gpus.scale: 3\n",
                                  NULL)));
    config_destroy(config);
    write_file("pair.yaml", "machine: system\ngpus: [a, a]\n");
    ls_error error;
    char line[1024];
    request = (config_request){ .platform = "./pair.yaml", .gpus = 2 };
    assert_int_equal(config_load(&request, &config, NULL, &error), LS_ERR_INPUT);
    assert_string_equal(ls_error_text(&error, line, sizeof line),
                        "./pair.yaml: platform 'pair' is a system itself: each GPU of a system has a "
                        "platform of one GPU");
    request = (config_request){ .platform = "nothing", .gpus = 2 };
    assert_int_equal(config_load(&request, &config, NULL, &error), LS_ERR_INPUT);
    assert_non_null(strstr(error.what, "there is no platform 'nothing'"));
}

/* ------------------------------------------------------------------------------------------------- errors */

static const struct {
    const char *text, *set, *expected;
} mistakes[] = {
    { MIXED, "gpu3.sms=2", "--set: there is no 'gpu3': the system has 3 GPUs, gpu0 to gpu2" },
    { MIXED, "gpu1-3.sms=2", "--set: there is no 'gpu1-3': the system has 3 GPUs, gpu0 to gpu2" },
    { MIXED, "gpu2-1.sms=2", "--set: 'gpu2-1' is a range of no GPUs" },
    { "machine: system\ngpus: [a]\n", "gpu1.sms=2", "--set: there is no 'gpu1': the system has 1 GPU, gpu0" },
    { MIXED, "gpu1.smz=2", "--set: unknown key 'gpu1.smz' for machine 'tiny' (nearest: gpu1.sms)" },
    { MIXED, "gpu2.dept=2", "--set: unknown key 'gpu2.dept' for machine 'other' (nearest: gpu2.depth)" },
    { MIXED, "gpus.smz=2", "--set: unknown key 'gpus.smz' for machine 'tiny' (nearest: gpus.sms)" },
    { MIXED, "left.depth=2", "--set: unknown key 'left.depth' for machine 'tiny'" },
    { MIXED, "right.sms=2", "--set: unknown key 'right.sms' for machine 'system'" },
    { MIXED, "sms=2", "--set: unknown key 'sms' for machine 'system' (nearest: gpus.sms)" },
    { MIXED, "dram=hbm", "--set: unknown key 'dram' for machine 'system' (nearest: gpus.dram)" },
    { MIXED, "gpus.sms=0", "--set: 'gpus.sms' is 0, but must be from 1 to 256 SMs" },
    { MIXED, "gpu2.sms=20", "--set: 'gpu2.sms' is 20, but must be from 1 to 16 SMs" },
    { MIXED, "gpu1=2", "--set: 'gpu1' names a GPU, not a key" },
    { MIXED, "left=2", "--set: 'left' names GPUs, not a key" },
    { MIXED, "gpus=2", "--set: 'gpus' can be set in a platform file only" },
    { MIXED, "gpu1.base=b", "--set: 'gpu1.base' is not a key of a GPU in a system" },
    { MIXED, "machine=tiny", "--set: 'machine' can be set in a platform file only" },
    { MIXED, "gpu0.dram.latency_cycles=2",
      "--set: 'gpu0.dram.latency_cycles' belongs to model 'fixed', but gpu0.dram.model is 'bank'" },
    { MIXED, "left.dram.latency_cycles=2",
      "--set: 'left.dram.latency_cycles' belongs to model 'fixed', but left.dram.model is 'bank'" },
    { MIXED "fabric: {kind: pcie}\n", NULL, "t.yaml:6:10: unknown key 'fabric.kind' for machine 'system'" },
    { MIXED "fabric: wires\n", NULL, "t.yaml:6:9: 'fabric.model' is 'wires', but must be one of none, test" },
    { MIXED "fabric.link: 3\n", NULL,
      "t.yaml:6:1: 'fabric.link' belongs to model 'test', but fabric.model is 'none'" },
    { MIXED, "fabric.modle=test",
      "--set: unknown key 'fabric.modle' for machine 'system' (nearest: fabric.model)" },
    { MIXED, "host.memory_mib=3", "--set: unknown key 'host.memory_mib' for machine 'system'" },
    { MIXED "gpu1.smz: 2\n", NULL,
      "t.yaml:6:1: unknown key 'gpu1.smz' for machine 'tiny' (nearest: gpu1.sms)" },
    { MIXED "gpu1: {sms: x}\n", NULL,
      "t.yaml:6:13: 'gpu1.sms': 'x' is not a whole number: unexpected 'x' at character 1" },
    { "machine: system\n", NULL,
      "t.yaml: required key 'gpus' is missing: the list of GPUs, as in [{platform: r9nano, count: 2}]" },
    { "machine: system\ngpus: []\n", NULL, "t.yaml:2:1: 'gpus' is empty: a system has at least one GPU" },
    { "machine: system\ngpus: a\n", NULL, "t.yaml:2:7: 'gpus' needs a list of GPUs, as in [r9nano, r9nano]" },
    { "machine: system\ngpus: [[a]]\n", NULL,
      "t.yaml:2:8: an element of 'gpus' must be a single value, not a list" },
    { "machine: system\ngpus: [{}]\n", NULL, "t.yaml:2:8: an element of 'gpus' has no value" },
    { "machine: system\ngpus: [~]\n", NULL, "t.yaml:2:8: 'gpus' has no value" },
    { "machine: system\ngpus: [{sms: 3}]\n", NULL, "t.yaml:2:14: an element of 'gpus' names no platform" },
    { "machine: system\ngpus: [{platform: a, machine: tiny}]\n", NULL,
      "t.yaml:2:19: an element of 'gpus' has a 'platform' or a 'machine', not both" },
    { "machine: system\ngpus: [{platform: a, count: 0}]\n", NULL,
      "t.yaml:2:29: 'count' is 0, but must be from 1 to 64 GPUs" },
    { "machine: system\ngpus: [{platform: a, count: 60}, {platform: a, count: 5}]\n", NULL,
      "t.yaml:2:1: 'gpus' has 65 GPUs; a system has at most 64" },
    { "machine: system\ngpus: [{platform: a, name: gpu1}]\n", NULL,
      "t.yaml:2:28: 'gpu1' is not a name for GPUs: it needs a lower-case letter, then letters, digits, '_' or '-', "
      "and no name of another part" },
    { "machine: system\ngpus: [{base: a}]\n", NULL,
      "t.yaml:2:15: 'base' is not a key of a GPU in a system (nearest: platform)" },
    { "machine: system\ngpus: [{platform: a, sms: 3, sms: 4}]\n", NULL,
      "t.yaml:2:30: duplicate key 'sms', first set on line 2" },
    { "machine: system\ngpus: [{platform: a, count: 3, smz: 4}]\n", NULL,
      "t.yaml:2:32: unknown key 'smz' for machine 'tiny' (nearest: sms)" },
    { "machine: system\ngpus: [{machine: tiny, net: ideal}]\n", NULL,
      "t.yaml: gpu0: required key 'sms' is missing: streaming multiprocessors (SMs)" },
    { "machine: system\ngpus: [{platform: b.yaml}]\n", NULL,
      "t.yaml:2:19: platform 'b.yaml': cannot open the file: No such file or directory (nearest: a.yaml)" },
    { "base: a\ngpus: [a]\n", NULL, "t.yaml:2:1: unknown key 'gpus' for machine 'tiny'" },
};

static void every_mistake_is_one_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < LS_COUNT_OF(mistakes); i++) {
        if (mistakes[i].set)
            expect_set_error(mistakes[i].text, mistakes[i].set, mistakes[i].expected);
        else
            expect_error(mistakes[i].text, mistakes[i].expected);
    }
}

static void equal_gpus_have_a_problem_once(void **state)
{
    (void)state;
    platform_config *config;
    config_problems problems = { 0 };
    ls_error error;
    write_file("bad.yaml", "machine: tiny\nsms: 3\nnet.model: ideal\nscale: x\nlabl: y\n");
    static const char text[] = "machine: system\ngpus: [{platform: bad, count: 4}, a, bad]\ngpus.ways: x\n";
    assert_int_equal(load_with(text, strlen(text), NULL, &config, &problems, &error), LS_ERR_INPUT);
    assert_int_equal(problems.count, 3);
    problems_fini(&problems);
}

/* ------------------------------------------------------------------------------------------------- machine */

static void building_a_system_builds_its_gpus_in_groups(void **state)
{
    (void)state;
    platform_config *config =
        load_text("machine: system\ngpus: [{machine: other, count: 2}, {machine: other, sms: 7}]\n", NULL);
    ls_machine *machine;
    assert_int_equal(machine_create(config, 1, &machine, NULL), LS_OK);
    ls_engine *engine = ls_machine_engine(machine);
    assert_int_equal(ls_group_count(engine), 4); /* and the one of the system itself */
    assert_string_equal(ls_group_name(ls_group_at(engine, 3)), "gpu2");
    assert_true(ls_group_lookahead(ls_group_at(engine, 2), NULL) <
                ls_group_lookahead(ls_group_at(engine, 3), NULL));
    assert_int_equal(ls_machine_number(machine_part(machine, 2)), 2);
    assert_ptr_equal(ls_machine_engine(machine_part(machine, 2)), engine);
    assert_ptr_equal(machine_config(machine_part(machine, 1)), config_part(config, 1));
    assert_null(machine_part(machine, 3));
    assert_int_equal(machine_set_busy(machine, &(size_t){ 2 }, 1, NULL), LS_OK);
    assert_int_equal(ls_engine_stop_delay(engine), ls_group_lookahead(ls_group_at(engine, 3), NULL));
    machine_destroy(machine);
    config_destroy(config);
    config = load_text("machine: system\ngpus: [{machine: other, count: 2}]\ngpu1.depth: 9\n", NULL);
    ls_error error;
    char line[1024];
    assert_int_equal(machine_create(config, 1, &machine, &error), LS_ERR_INPUT);
    assert_string_equal(ls_error_text(&error, line, sizeof line), "t.yaml: gpu1: machine 'other': too deep");
    assert_null(machine);
    config_destroy(config);
}

static void gpus_know_whether_there_is_a_fabric(void **state)
{
    (void)state;
    static const char text[] = "machine: system\ngpus: [{machine: other, count: 3}]\n";
    for (int with = 0; with < 2; with++) {
        platform_config *config = load_text(text, with ? (const char *const[]){ "fabric=test", NULL } : NULL);
        ls_machine *machine;
        parts_with_fabric = built_gpus = 0;
        assert_int_equal(machine_create(config, 1, &machine, NULL), LS_OK);
        assert_int_equal(parts_with_fabric, with ? 3 : 0);
        assert_int_equal(built_gpus, with ? 3 : 0);
        assert_int_equal(ls_machine_parts(machine), 3);
        assert_false(ls_machine_fabric(machine));
        machine_destroy(machine);
        config_destroy(config);
    }
    assert_int_equal(built_link, 16);
}

/* The hash, the canonical text and a comparison cover the keys of the system itself. */
static void keys_of_the_fabric_are_keys_of_the_system(void **state)
{
    (void)state;
    static const char text[] = "machine: system\nfabric: {model: test, link: 32}\ngpus: [{machine: other}]\n";
    platform_config *config = load_text(text, NULL),
                    *other = load_text(text, (const char *const[]){ "fabric.link=33", NULL });
    value_is(config, "fabric.link", "32");
    assert_non_null(strstr(config_yaml(config), "fabric.link: 32\n"));
    assert_false(hash_same(config_hash_of(config), config_hash_of(other)));
    platform_config *again = load_text(config_yaml(config), NULL);
    assert_true(hash_same(config_hash_of(config), config_hash_of(again)));
    config_destroy(again);
    config_destroy(other);
    config_destroy(config);
}

static void keys_without_effect_are_told_with_their_gpu(void **state)
{
    (void)state;
    char text[256];
    size_t next = 0;
    platform_config *config = load_text("machine: system\ngpus: [{machine: other, count: 3}]\n",
                                        SETS("gpus.depth=4", "gpu1.depth=5"));
    assert_true(config_next_idle(config, &next, text, sizeof text));
    assert_string_equal(text, "--set gpus.depth has no effect: it needs deep=true, which is false");
    assert_true(config_next_idle(config, &next, text, sizeof text));
    assert_string_equal(text, "--set gpu1.depth has no effect: it needs deep=true, which is false");
    assert_false(config_next_idle(config, &next, text, sizeof text));
    config_destroy(config);
    /* One of them makes use of it. */
    config = load_text("machine: system\ngpus: [{machine: other, count: 3}]\n",
                       SETS("gpus.depth=4", "gpu2.deep=true"));
    next = 0;
    assert_false(config_next_idle(config, &next, text, sizeof text));
    config_destroy(config);
}

/* A platform file is read by its path; false: no key of it is without effect. */
static bool idle_key_of(const char *path, char *text, size_t bytes)
{
    platform_config *config;
    size_t next = 0;
    assert_int_equal(config_load(&(config_request){ .platform = path }, &config, NULL, NULL), LS_OK);
    bool found = config_next_idle(config, &next, text, bytes);
    config_destroy(config);
    return found;
}

static void a_file_is_compared_with_its_base(void **state)
{
    (void)state;
    char text[256];
    write_file("idle_base.yaml", "machine: other\ndepth: 4\n");
    write_file("same.yaml", "base: idle_base\ndepth: 4\n");
    write_file("changed.yaml", "base: idle_base\ndepth: 5\n");
    assert_false(idle_key_of("./same.yaml", text, sizeof text));
    assert_true(idle_key_of("./changed.yaml", text, sizeof text));
    assert_string_equal(text, "./changed.yaml:2: depth has no effect: it needs deep=true, which is false");
}

/* A system has no keys of its own: its spec has no bytes, and those of its GPUs must not be written there. */
static void keys_of_gpus_stay_out_of_the_spec_of_the_system(void **state)
{
    (void)state;
    platform_config *config;
    unsigned char around[64];
    write_file("spec.yaml", "machine: system\ngpus: [{machine: other, sms: 7}, {machine: other, depth: 5}]\n");
    assert_int_equal(config_load(&(config_request){ .platform = "./spec.yaml" }, &config, NULL, NULL), LS_OK);
    memset(around, 0xa5, sizeof around);
    assert_int_equal(config_spec(config, NULL, around, 0, NULL), LS_OK);
    for (size_t i = 0; i < sizeof around; i++)
        assert_int_equal(around[i], 0xa5);
    other_spec part;
    assert_int_equal(config_spec(config_part(config, 1), NULL, &part, sizeof part, NULL), LS_OK);
    assert_int_equal(part.depth, 5);
    assert_int_equal(part.sms, 2);
    config_destroy(config);
}

static void a_gpu_is_found_by_number_or_name(void **state)
{
    (void)state;
    size_t number;
    ls_error error;
    platform_config *config =
        load_text("machine: system\ngpus: [{platform: a, count: 2, name: left}, {platform: a, name: right}]\n",
                  NULL);
    assert_int_equal(config_find_part(config, "gpu1", &number, NULL), LS_OK);
    assert_int_equal(number, 1);
    assert_int_equal(config_find_part(config, "2", &number, NULL), LS_OK);
    assert_int_equal(number, 2);
    assert_int_equal(config_find_part(config, "right", &number, NULL), LS_OK);
    assert_int_equal(number, 2);
    assert_int_equal(config_find_part(config, "left", &number, &error), LS_ERR_USAGE);
    assert_string_equal(error.what, "'left' names 2 GPUs of platform 't', the first is gpu0");
    assert_int_equal(config_find_part(config, "3", &number, &error), LS_ERR_USAGE);
    assert_string_equal(error.what, "there is no GPU 3: platform 't' has 3, from gpu0 to gpu2");
    assert_int_equal(config_find_part(config, "middle", &number, &error), LS_ERR_USAGE);
    config_destroy(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_system_has_the_values_of_its_gpus),
        cmocka_unit_test(the_layer_counts_first_then_the_scope),
        cmocka_unit_test(a_base_of_a_system_has_the_list_and_the_file_has_changes),
        cmocka_unit_test(general_keys_skip_gpus_that_lack_them),
        cmocka_unit_test(a_part_has_the_hash_of_its_platform_alone),
        cmocka_unit_test(the_hash_covers_order_and_names),
        cmocka_unit_test(the_canonical_text_reads_back_as_itself),
        cmocka_unit_test(a_count_makes_a_system_of_any_platform),
        cmocka_unit_test(every_mistake_is_one_line),
        cmocka_unit_test(equal_gpus_have_a_problem_once),
        cmocka_unit_test(building_a_system_builds_its_gpus_in_groups),
        cmocka_unit_test(gpus_know_whether_there_is_a_fabric),
        cmocka_unit_test(keys_of_the_fabric_are_keys_of_the_system),
        cmocka_unit_test(keys_without_effect_are_told_with_their_gpu),
        cmocka_unit_test(a_file_is_compared_with_its_base),
        cmocka_unit_test(keys_of_gpus_stay_out_of_the_spec_of_the_system),
        cmocka_unit_test(a_gpu_is_found_by_number_or_name),
    };
    return cmocka_run_group_tests(tests, enter, test_dir_leave);
}
