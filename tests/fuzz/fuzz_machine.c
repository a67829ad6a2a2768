/* fuzz_machine.c: any bytes as a platform file of the real machines: a clear error, or a configuration whose
 * canonical text reads back as itself and from which a machine can be built or is refused by name. */
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

static void check_config(const ls_config *config)
{
    const char *yaml = ls_config_yaml(config);
    ls_config_request request = { .platform = "again.yaml", .text = yaml, .text_bytes = strlen(yaml) };
    ls_config *again;
    ls_error error;
    ls_machine *machine = NULL;
    require(ls_config_load(&request, &again, NULL, NULL) == LS_OK);
    require(strcmp(ls_config_yaml(again), yaml) == 0);
    require(ls_hash_same(ls_config_hash(again), ls_config_hash(config)));
    ls_config_destroy(again);
    if (ls_machine_create(config, 1, &machine, &error) != LS_OK)
        check_error(&error);
    ls_machine_destroy(machine);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* Two compute units and two channels: the rules are those of a large machine, the memory is not. */
    static const char *const small_nvidia[] = { "cores=2", "memory.channels=2" };
    static const char *const small_amd[] = { "clusters=2", "memory.channels=2", "memory.size_mib=64" };
    static const char *const dirs[] = { LS_SOURCE_DIR "/platforms" };
    const char *text = size > 0 ? (const char *)data : "";
    ls_config_request request = { .platform = "/nowhere/fuzz.yaml",
                                  .text = text,
                                  .text_bytes = size,
                                  .platform_dirs = dirs,
                                  .platform_dir_count = 1 };
    ls_problems problems = { 0 };
    ls_config *config;
    ls_error error;
    ls_status status = ls_config_load(&request, &config, &problems, &error);
    if (status == LS_OK) {
        bool is_amd = strcmp(ls_config_machine(config)->name, "amd") == 0;
        ls_config_destroy(config);
        request.sets = is_amd ? small_amd : small_nvidia;
        request.set_count = is_amd ? LS_COUNT_OF(small_amd) : LS_COUNT_OF(small_nvidia);
        status = ls_config_load(&request, &config, NULL, &error);
    }
    if (status == LS_OK)
        check_config(config);
    else
        check_error(&error);
    ls_config_destroy(config);
    ls_problems_fini(&problems);
    return 0;
}
