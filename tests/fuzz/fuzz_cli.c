/* fuzz_cli.c: any command line, one word per line: parsing it never crashes, and a refusal is one line. */
#include "cli/cli.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MOST_WORDS 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *argv[MOST_WORDS] = { "lockstep" };
    int argc = 1;
    cli_args args;
    ls_error err;
    char *words = malloc(size + 1), text[1024];
    if (!words)
        return 0;
    memcpy(words, data, size);
    words[size] = '\0';
    for (char *word = strtok(words, "\n"); word && argc < MOST_WORDS; word = strtok(NULL, "\n"))
        argv[argc++] = word;
    if (cli_parse(cli_root(), argc, argv, &args, &err) == LS_OK) {
        char path[128];
        if (!strstr(cli_args_path(&args, path, sizeof path), "lockstep"))
            abort();
    } else if (err.status == LS_OK || strchr(ls_error_text(&err, text, sizeof text), '\n'))
        abort();
    cli_args_fini(&args);
    free(words);
    return 0;
}
