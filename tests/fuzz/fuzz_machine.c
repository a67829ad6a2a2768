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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* Two compute units and two channels: the rules are those of a large machine, the memory is not. */
    static const char *const small_nvidia[] = { "cores=2", "memory.channels=2" };
    static const char *const small_amd[] = { "clusters=2", "memory.channels=2", "memory.size_mib=64" };
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
        bool is_amd = strcmp(config_machine(config)->name, "amd") == 0;
        config_destroy(config);
        request.sets = is_amd ? small_amd : small_nvidia;
        request.set_count = is_amd ? LS_COUNT_OF(small_amd) : LS_COUNT_OF(small_nvidia);
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
