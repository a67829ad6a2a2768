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

static void check_error(const ls_problems *problems, const ls_error *error)
{
    require(error->status != LS_OK && error->status != LS_ERR_INTERNAL);
    require(error->what[0] != '\0' && !strchr(error->what, '\n'));
    require(problems->count > 0 && problems->count <= LS_PROBLEM_LIMIT);
}

static void check_config(const ls_config *config)
{
    const char *yaml = ls_config_yaml(config);
    ls_config_request request = { .platform = "again.yaml", .text = yaml, .text_bytes = strlen(yaml) };
    ls_config *again;
    require(ls_config_load(&request, &again, NULL, NULL) == LS_OK);
    require(strcmp(ls_config_yaml(again), yaml) == 0);
    require(ls_hash_same(ls_config_hash(again), ls_config_hash(config)));
    ls_config_destroy(again);
    tiny_spec spec;
    require(ls_config_spec(config, NULL, &spec, sizeof spec, NULL) == LS_OK);
    FILE *nowhere = fopen("/dev/null", "w");
    require(nowhere != NULL);
    for (ls_show_format format = LS_SHOW_TABLE; format <= LS_SHOW_JSON; format++)
        require(ls_show_config(nowhere, config, format, NULL) == LS_OK);
    fclose(nowhere);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = size > 0 ? (const char *)data : "";
    /* In a directory that does not exist, so that a base that the input names is hardly ever found. */
    ls_config_request request = { .platform = "/nowhere/fuzz.yaml", .text = text, .text_bytes = size };
    ls_problems problems = { 0 };
    ls_config *config;
    ls_error error;
    if (ls_config_load(&request, &config, &problems, &error) == LS_OK)
        check_config(config);
    else
        check_error(&problems, &error);
    ls_config_destroy(config);
    ls_problems_fini(&problems);
    return 0;
}
