/* test_platforms.c: every platform that is shipped loads without a problem, becomes a machine, and says where
 * its numbers come from. */
#include "platform/load.h"

#include "base/file.h"
#include "platform/catalog.h"
#include "platform/machine.h"

#include <sys/resource.h>
#include <time.h>

#define PLATFORMS LS_SOURCE_DIR "/platforms"
#define MILLISECONDS_MAX 1000 /* of processor time for all with one or two GPUs, in an optimised build */
#define MILLISECONDS_PER_GPU_MAX                                                                              \
    20 /* of it, without the kernel's, which gives the pages: each GPU of larger systems */

typedef struct shipped {
    const char *name;
    const char *cores, *channels, *warp_slots; /* NULL: a family */
} shipped;

/* Numbers of data sheets; the rest is in docs/platforms-nvidia.md. */
static const shipped nvidia[] = {
    { "rtx2060", "30", "12", "32" },   { "rtx2080ti", "68", "22", "32" }, { "rtx3060", "28", "12", "48" },
    { "rtx3070", "46", "16", "48" },   { "rtx3080ti", "80", "24", "48" }, { "rtx3090", "82", "24", "48" },
    { "v100", "80", "32", "64" },      { "a100", "108", "40", "64" },     { "h100", "114", "40", "64" },
    { "h100-sxm", "132", "40", "64" }, { "h200", "132", "48", "64" },     { "b200", "148", "64", "64" },
    { "l40s", "142", "24", "48" },     { "rtx4090", "128", "24", "48" },  { "rtx5090", "170", "32", "48" },
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

static long user_ms(void)
{
    struct rusage used;
    assert_int_equal(getrusage(RUSAGE_SELF, &used), 0);
    return used.ru_utime.tv_sec * 1000 + used.ru_utime.tv_usec / 1000;
}

static void test_all_build(void **state)
{
    (void)state;
    mem_arena arena = { 0 };
    const char *const dirs[] = { PLATFORMS };
    platform_entry *platforms;
    size_t count, built = 0, gpus = 0; /* gpus: of larger systems */
    clock_t spent = 0;
    long large = 0;
    assert_int_equal(catalog_platforms(&arena, dirs, 1, &platforms, &count, NULL), LS_OK);
    for (size_t i = 0; i < count; i++) {
        if (strncmp(platforms[i].path, PLATFORMS "/", sizeof PLATFORMS) != 0)
            continue; /* of the search path */
        assert_string_not_equal(platforms[i].title, "");
        clock_t start = clock();
        long user_start = user_ms();
        platform_config *config = load_platform(platforms[i].name);
        ls_machine *machine;
        ls_error error = { .status = LS_OK };
        char line[1024];
        if (machine_create(config, 1, &machine, &error) != LS_OK)
            fail_msg("%s: %s", platforms[i].name, ls_error_text(&error, line, sizeof line));
        size_t parts = config_part_count(config);
        if (parts > 2) {
            large += user_ms() - user_start;
            gpus += parts;
        } else {
            spent += clock() - start;
        }
        built++;
        machine_destroy(machine);
        config_destroy(config);
    }
    arena_fini(&arena);
    assert_true(built >= sizeof nvidia / sizeof nvidia[0]);
    long milliseconds = (long)(spent * 1000 / CLOCKS_PER_SEC);
    print_message("%zu machines: %ld ms, %zu GPUs of large ones: %ld ms\n", built, milliseconds, gpus, large);
#ifndef LS_CHECKED
    assert_true(milliseconds < MILLISECONDS_MAX);
    assert_true(large < (long)gpus * MILLISECONDS_PER_GPU_MAX);
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
