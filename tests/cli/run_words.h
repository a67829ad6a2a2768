/* run_words.h: the command from its words to its exit code; its two streams are texts afterwards. Included after
 * cmocka.h. */
#ifndef TESTS_CLI_RUN_WORDS_H
#define TESTS_CLI_RUN_WORDS_H

#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>

#define WORDS 16

static char *out_text, *err_text;

static inline void free_texts(void)
{
    free(out_text);
    free(err_text);
    out_text = err_text = NULL;
}

/* The words end with a null pointer. */
static inline int run_words(const char *const words[WORDS])
{
    int count = 0;
    size_t out_bytes, err_bytes;
    free_texts();
    while (words[count])
        count++;
    FILE *out = open_memstream(&out_text, &out_bytes), *err = open_memstream(&err_text, &err_bytes);
    assert_non_null(out);
    assert_non_null(err);
    int code = cli_main(cli_root(), count, words, out, err);
    fclose(out);
    fclose(err);
    return code;
}

#endif
