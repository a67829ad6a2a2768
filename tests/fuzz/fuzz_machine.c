/* fuzz_machine.c: any bytes as a platform file of the real machines: a clear error, or a configuration whose
 * canonical text reads back as itself. A machine can be built from it or is refused by name. */
#include "platform/machine.h"
#include "platform/show.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void check_error(const ls_error *error)
{
    char text[1024];
    require(error->status != LS_OK && error->status != LS_ERR_INTERNAL);
    require(error->what[0] != '\0' && !strchr(ls_error_text(error, text, sizeof text), '\n'));
}

static void check_config(const platform_config *config)
{
    const char *yaml = config_yaml(config);
    config_request request = { .platform = "again.yaml", .text = yaml, .text_bytes = strlen(yaml) };
    platform_config *again;
    ls_error error;
    ls_machine *machine = NULL;
    require(config_load(&request, &again, NULL, NULL) == LS_OK);
    require(strcmp(config_yaml(again), yaml) == 0);
    require(hash_same(config_hash_of(again), config_hash_of(config)));
    config_destroy(again);
    if (machine_create(config, 1, &machine, &error) != LS_OK)
        check_error(&error);
    machine_destroy(machine);
}

static bool has_machine(const platform_config *config, const char *name)
{
    bool has = strcmp(config_machine(config)->name, name) == 0;
    for (size_t i = 0; i < config_part_count(config) && !has; i++)
        has = has_machine(config_part(config, i), name);
    return has;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* Two compute units and two channels: the rules are those of a large machine, the memory is not. */
    static const char *const small_amd[] = { "memory.channels=2", "clusters=2", "memory.size_mib=64" };
    const char *sets[4] = { "memory.channels=2" };
    static const char *const dirs[] = { LS_SOURCE_DIR "/platforms" };
    const char *text = size > 0 ? (const char *)data : "";
    config_request request = { .platform = "/nowhere/fuzz.yaml",
                               .text = text,
                               .text_bytes = size,
                               .platform_dirs = dirs,
                               .platform_dir_count = 1 };
    config_problems problems = { 0 };
    platform_config *config;
    ls_error error;
    ls_status status = config_load(&request, &config, &problems, &error);
    if (status == LS_OK) {
        request.sets = sets;
        request.set_count = 1;
        if (has_machine(config, "gpu"))
            sets[request.set_count++] = "cores=2";
        for (size_t i = 1; i < LS_COUNT_OF(small_amd) && has_machine(config, "amd"); i++)
            sets[request.set_count++] = small_amd[i];
        request.general_count = request.set_count;
        config_destroy(config);
        status = config_load(&request, &config, NULL, &error);
    }
    if (status == LS_OK)
        check_config(config);
    else
        check_error(&error);
    config_destroy(config);
    problems_fini(&problems);
    return 0;
}
