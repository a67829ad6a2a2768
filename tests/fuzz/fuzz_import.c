/* fuzz_import.c: any bytes as an option file of Accel-Sim, after a valid one: a clear error, or a platform
 * that the machine accepts. */
#include "platform/config.h"
#include "platform/import.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char good[] = "-gpgpu_num_sched_per_core 4\n-gpgpu_operand_collector_num_units_gen 8\n"
                           "-gpgpu_cache:dl1 S:4:128:64,L:T:m:L:L,A:256:32,16:0,32\n"
                           "-gpgpu_cache:dl2 S:64:128:16,L:B:m:L:P,A:192:4,32:0,32\n"
                           "-gpgpu_dram_buswidth 2\n-gpgpu_dram_burst_length 16\n"
                           "-gpgpu_dram_timing_opt 16:4:12:24:55:24:78:24:8:10:24:4:6:4\n";

static void require(bool condition)
{
    if (!condition)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = size > 0 ? (const char *)data : "";
    import_file files[2] = { { .path = "good.config", .text = good, .text_bytes = sizeof good - 1 },
                             { .path = "fuzz.config", .text = text, .text_bytes = size } };
    mem_arena arena = { 0 };
    platform_import import;
    ls_error error;
    if (import_accelsim(&arena, files, 2, &import, &error) == LS_OK) {
        config_request request = { .platform = "fuzz.yaml",
                                   .text = import.yaml,
                                   .text_bytes = import.yaml_bytes };
        platform_config *config;
        require(config_load(&request, &config, NULL, &error) == LS_OK);
        config_destroy(config);
        FILE *nowhere = fopen("/dev/null", "w");
        require(nowhere != NULL);
        size_t count;
        for (import_fate fate = LS_IMPORT_UNKNOWN; fate <= LS_IMPORT_QUIET; fate++)
            require(import_print_notes(&import, fate, nowhere, &count, NULL) == LS_OK);
        fclose(nowhere);
    } else {
        require(error.status == LS_ERR_INPUT);
        require(error.what[0] != '\0' && !strchr(error.what, '\n') && error.where[0] != '\0');
        require(import.yaml == NULL);
    }
    arena_fini(&arena);
    return 0;
}
