/* fuzz_platform.c: any bytes as a platform file: a clear error, or a configuration whose canonical text reads
 * back as itself. */
#include "platform/show.h"

#include "../platform/tiny.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void check_error(const config_problems *problems, const ls_error *error)
{
    require(error->status != LS_OK && error->status != LS_ERR_INTERNAL);
    require(error->what[0] != '\0' && !strchr(error->what, '\n'));
    require(problems->count > 0 && problems->count <= LS_PROBLEM_LIMIT);
}

static void check_config(const platform_config *config)
{
    const char *yaml = config_yaml(config);
    config_request request = { .platform = "again.yaml", .text = yaml, .text_bytes = strlen(yaml) };
    platform_config *again;
    require(config_load(&request, &again, NULL, NULL) == LS_OK);
    require(strcmp(config_yaml(again), yaml) == 0);
    require(hash_same(config_hash_of(again), config_hash_of(config)));
    config_destroy(again);
    size_t parts = config_part_count(config);
    for (size_t i = 0; i < (parts > 0 ? parts : 1); i++) {
        const platform_config *gpu = parts > 0 ? config_part(config, i) : config;
        tiny_spec spec;
        if (config_machine(gpu) == &tiny_machine)
            require(config_spec(gpu, NULL, &spec, sizeof spec, NULL) == LS_OK);
    }
    FILE *nowhere = fopen("/dev/null", "w");
    require(nowhere != NULL);
    for (show_format format = LS_SHOW_TABLE; format <= LS_SHOW_JSON; format++)
        require(show_config(nowhere, config, format, NULL) == LS_OK);
    size_t differences;
    require(show_diff(nowhere, config, config, &differences, NULL) == LS_OK && differences == 0);
    for (size_t i = 0; parts > 0 && i < config_value_count(config); i++)
        require(show_key(nowhere, config_at(config, i)->key->path, config, NULL) == LS_OK);
    fclose(nowhere);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = size > 0 ? (const char *)data : "";
    /* In a directory that does not exist, so that a base that the input names is hardly ever found. */
    config_request request = { .platform = "/nowhere/fuzz.yaml", .text = text, .text_bytes = size };
    config_problems problems = { 0 };
    platform_config *config;
    ls_error error;
    if (config_load(&request, &config, &problems, &error) == LS_OK)
        check_config(config);
    else
        check_error(&problems, &error);
    config_destroy(config);
    problems_fini(&problems);
    return 0;
}
