/* options.c: the build options of the standard: splitting them into words, and which of them a stage
 * takes. */
#include "opencl/compile.h"

#include <stdlib.h>
#include <string.h>

#define STAGE(s_) (1u << (s_))
#define SOURCES (STAGE(OCL_COMPILE) | STAGE(OCL_BUILD))
#define LINKS (STAGE(OCL_LINK) | STAGE(OCL_LIBRARY))

typedef enum how {
    PASS,     /* to the compiler */
    PASS_TWO, /* with the next word, if nothing follows in the same */
    PREFIX,   /* any option with this prefix */
    DROP,     /* the option selects the default behaviour */
} how;

static const struct {
    const char *name;
    how how;
    unsigned stages;
} known[] = {
    { "-D", PASS_TWO, SOURCES },
    { "-U", PASS_TWO, SOURCES },
    { "-I", PASS_TWO, SOURCES },
    { "-cl-std=", PREFIX, SOURCES },
    { "-cl-single-precision-constant", PASS, SOURCES },
    { "-cl-denorms-are-zero", PASS, SOURCES | LINKS },
    { "-cl-fp32-correctly-rounded-divide-sqrt", PASS, SOURCES },
    { "-cl-opt-disable", PASS, SOURCES },
    { "-cl-strict-aliasing", DROP, SOURCES },
    { "-cl-mad-enable", PASS, SOURCES },
    { "-cl-no-signed-zeros", PASS, SOURCES | LINKS },
    { "-cl-unsafe-math-optimizations", PASS, SOURCES | LINKS },
    { "-cl-finite-math-only", PASS, SOURCES | LINKS },
    { "-cl-fast-relaxed-math", PASS, SOURCES | LINKS },
    { "-cl-uniform-work-group-size", PASS, SOURCES },
    { "-cl-no-subgroup-ifp", DROP, SOURCES | LINKS },
    { "-cl-kernel-arg-info", DROP, SOURCES },
    { "-cl-ext=", PREFIX, SOURCES },
    { "-create-library", DROP, LINKS },
    { "-enable-link-options", DROP, LINKS },
    { "-w", PASS, SOURCES },
    { "-Werror", PASS, SOURCES },
    { "-W", PREFIX, SOURCES },
    { "-g", PASS, SOURCES },
    { "-O", PREFIX, SOURCES },
    { "-f", PREFIX, SOURCES },
    { "-m", PREFIX, SOURCES },
};

static const char *name_at(const void *self, size_t i)
{
    (void)self;
    return known[i].name;
}

static bool is_standard(const char *word)
{
    static const char *const standards[] = { "CL1.0", "CL1.1", "CL1.2", "CL2.0", "CL3.0" };
    for (size_t i = 0; i < sizeof standards / sizeof *standards; i++)
        if (strcmp(word + strlen("-cl-std="), standards[i]) == 0)
            return true;
    return false;
}

/* Index into known, or -1. */
static int look_up(ocl_stage stage, const char *word)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        bool matches = known[i].how == PASS_TWO || known[i].how == PREFIX ? starts_with(word, known[i].name)
                                                                          : strcmp(word, known[i].name) == 0;
        if (matches && (known[i].stages & STAGE(stage)) != 0)
            return starts_with(word, "-cl-std=") && !is_standard(word) ? -1 : (int)i;
    }
    return -1;
}

/* The next word at *at, unquoted into *out (which has room for all); NULL at the end. */
static char *next_word(const char **at, char **out)
{
    const char *s = *at;
    char *word = *out, *to = word, quote = 0;
    while (*s == ' ' || *s == '\t' || *s == '\n' || *s == '\r')
        s++;
    if (*s == '\0')
        return NULL;
    for (; *s != '\0' && (quote || (*s != ' ' && *s != '\t' && *s != '\n' && *s != '\r')); s++) {
        if (quote ? *s == quote : *s == '"' || *s == '\'')
            quote = (char)(quote ? 0 : *s);
        else if (*s == '\\' && (s[1] == '"' || s[1] == '\\' || s[1] == ' ' || s[1] == '\''))
            *to++ = *++s;
        else
            *to++ = *s;
    }
    *to++ = '\0';
    *out = to;
    *at = s;
    return word;
}

ls_status ocl_options_split(ocl_stage stage, const char *options, ocl_words *out, ls_error *err)
{
    size_t length = strlen(options), most = length / 2 + 3;
    char **words = malloc(most * sizeof *words + 2 * length + 2), *text, *word;
    *out = (ocl_words){ .at = words };
    if (!words)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    text = (char *)(words + most);
    while ((word = next_word(&options, &text)) != NULL) {
        int which = look_up(stage, word);
        if (which < 0) {
            ls_fail(err, LS_ERR_USAGE, "'%s' is not a valid option here", word);
            ls_error_nearest(err, nearest_name(word, sizeof known / sizeof *known, name_at, NULL));
            free(words);
            *out = (ocl_words){ 0 };
            return LS_ERR_USAGE;
        }
        if (strcmp(word, "-create-library") == 0)
            out->is_library = true;
        if (known[which].how == DROP)
            continue;
        words[out->count++] = word;
        if (known[which].how == PASS_TWO && word[2] == '\0') {
            word = next_word(&options, &text);
            if (!word) {
                ls_fail(err, LS_ERR_USAGE, "'%s' at the end of the options lacks its value",
                        known[which].name);
                free(words);
                *out = (ocl_words){ 0 };
                return LS_ERR_USAGE;
            }
            words[out->count++] = word;
        }
    }
    words[out->count] = NULL;
    return LS_OK;
}
