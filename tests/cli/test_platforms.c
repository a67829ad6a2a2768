/* test_platforms.c: every platform that is shipped loads without a problem, becomes a machine, and says where
 * its numbers come from. */
#include "platform/load.h"

#include "base/file.h"
#include "platform/catalog.h"
#include "platform/machine.h"

#include <time.h>

#define PLATFORMS LS_SOURCE_DIR "/platforms"
#define MILLISECONDS_MAX                                                                                      \
    80 /* of processor time for each GPU of them, in an optimised build on a busy machine */

typedef struct shipped {
    const char *name;
    const char *cores, *channels, *warp_slots; /* NULL: a family */
} shipped;

/* Numbers of data sheets; the rest is in docs/platforms-nvidia.md. */
static const shipped nvidia[] = {
    { "rtx2060", "30", "12", "32" }, { "rtx2080ti", "68", "22", "32" }, { "rtx3060", "28", "12", "48" },
    { "rtx3070", "46", "16", "48" }, { "rtx3080ti", "80", "24", "48" }, { "rtx3090", "82", "24", "48" },
    { "v100", "80", "32", "64" },    { "a100", "108", "40", "64" },     { "h100", "114", "40", "64" },
};

static platform_config *load_platform(const char *name)
{
    const char *const dirs[] = { PLATFORMS };
    config_request request = { .platform = name, .platform_dirs = dirs, .platform_dir_count = 1 };
    platform_config *config;
    config_problems problems = { 0 };
    ls_error error = { .status = LS_OK };
    char line[1024];
    if (config_load(&request, &config, &problems, &error) != LS_OK)
        fail_msg("%s", ls_error_text(&error, line, sizeof line));
    assert_int_equal(problems.count, 0);
    problems_fini(&problems);
    return config;
}

static void test_all_build(void **state)
{
    (void)state;
    mem_arena arena = { 0 };
    const char *const dirs[] = { PLATFORMS };
    platform_entry *platforms;
    size_t count, built = 0, gpus = 0;
    clock_t spent = 0;
    assert_int_equal(catalog_platforms(&arena, dirs, 1, &platforms, &count, NULL), LS_OK);
    for (size_t i = 0; i < count; i++) {
        if (strncmp(platforms[i].path, PLATFORMS "/", sizeof PLATFORMS) != 0)
            continue; /* of the search path */
        assert_string_not_equal(platforms[i].title, "");
        clock_t start = clock();
        platform_config *config = load_platform(platforms[i].name);
        ls_machine *machine;
        ls_error error = { .status = LS_OK };
        char line[1024];
        if (machine_create(config, 1, &machine, &error) != LS_OK)
            fail_msg("%s: %s", platforms[i].name, ls_error_text(&error, line, sizeof line));
        spent += clock() - start;
        built++;
        gpus += config_part_count(config) > 0 ? config_part_count(config) : 1;
        machine_destroy(machine);
        config_destroy(config);
    }
    arena_fini(&arena);
    assert_true(built >= sizeof nvidia / sizeof nvidia[0]);
    long milliseconds = (long)(spent * 1000 / CLOCKS_PER_SEC);
    print_message("%zu machines of %zu GPUs in %ld ms\n", built, gpus, milliseconds);
#ifndef LS_CHECKED
    assert_true(milliseconds < (long)gpus * MILLISECONDS_MAX);
#endif
}

static void test_main_numbers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof nvidia / sizeof nvidia[0]; i++) {
        platform_config *config = load_platform(nvidia[i].name);
        value_is(config, "cores", nvidia[i].cores);
        value_is(config, "memory.channels", nvidia[i].channels);
        value_is(config, "core.warp_slots", nvidia[i].warp_slots);
        value_is(config, "core.class.fp32.latency_cycles", "4");
        value_is(config, "core.forward_cycles", "5");
        value_is(config, "core.accelsim_rules", "false");
        config_destroy(config);
    }
}

/* A number without a source is a rumour. */
static void test_every_number_has_a_source(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof nvidia / sizeof nvidia[0]; i++) {
        platform_config *config = load_platform(nvidia[i].name);
        for (size_t k = 0; k < config_value_count(config); k++) {
            const config_value *value = config_at(config, k);
            const value_origin *origin = &value->origins[0];
            if (origin->kind == LS_ORIGIN_FILE && !key_is_model(value->key) && !origin->comment[0])
                fail_msg("%s:%u: %s has no source", origin->file, (unsigned)origin->line, value->key->path);
        }
        config_destroy(config);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_build),
        cmocka_unit_test(test_main_numbers),
        cmocka_unit_test(test_every_number_has_a_source),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
