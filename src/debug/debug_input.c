/* debug_input.c: see debug_input.h. libedit is loaded at the first prompt on a terminal: no other command needs it. It
 * was chosen over readline for its licence (BSD). Without it lines are read as they are. */
#include "debug/debug_input.h"

#include "base/file.h"
#include "base/library.h"
#include "debug/debug_command.h"
#include "debug/debug_expr.h"

#include <editline/readline.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY "libedit.so.2"
#define SCRIPT_LIMIT (1u << 20)

/* --------------------------------------------------------------------------------------------- terminal */

/* The words that can stand where the cursor is. */
typedef enum words { WORDS_COMMANDS, WORDS_TOPICS, WORDS_REGISTERS, WORDS_NAMES } words;

static struct {
    bool tried;
    __typeof__(&readline) readline;
    __typeof__(&add_history) add_history;
    __typeof__(&rl_completion_matches) rl_completion_matches;
    char **line; /* that is being edited */
    const struct debug_input *input;
    words words; /* that fit */
} edit;

static const char *const topics[] = { "allocations", "args",   "breakpoints", "groups", "kernel",
                                      "line",        "memory", "registers",   "source", "time",
                                      "waits",       "waves",  NULL };

static words words_at(int start)
{
    const char *line = edit.line ? *edit.line : "";
    while (*line == ' ')
        line++, start--;
    size_t first = strcspn(line, " ");
    if (start <= 0)
        return WORDS_COMMANDS;
    debug_line command;
    char word[40];
    snprintf(word, sizeof word, "%.*s", (int)(first < 39 ? first : 39), line);
    if (line[start - 1] == '$')
        return WORDS_REGISTERS;
    if (debug_line_parse(word, &command, NULL) != LS_OK)
        return WORDS_NAMES;
    return command.id == DEBUG_CMD_INFO   ? WORDS_TOPICS
           : command.id == DEBUG_CMD_HELP ? WORDS_COMMANDS
                                          : WORDS_NAMES;
}

static const char *word_of(words kind, size_t i)
{
    const debug_input *input = edit.input;
    switch (kind) {
    case WORDS_COMMANDS:
        return i < DEBUG_CMD_COUNT ? debug_commands[i].name : NULL;
    case WORDS_TOPICS:
        return topics[i];
    case WORDS_REGISTERS:
        return i < DEBUG_SPECIAL_COUNT ? debug_special_name((debug_special)i) : NULL;
    default:
        return input && input->name ? input->name(input->name_self, i) : NULL;
    }
}

/* libedit asks again and again for the next match and frees each. */
static char *next_match(const char *text, int state)
{
    static size_t at;
    size_t bytes = strlen(text);
    if (state == 0)
        at = 0;
    for (const char *name; (name = word_of(edit.words, at)) != NULL;) {
        at++;
        if (strncmp(name, text, bytes) == 0)
            return strdup(name);
    }
    return NULL;
}

static char **complete(const char *text, int start, int end)
{
    (void)end;
    edit.words = words_at(start);
    return edit.rl_completion_matches(text, next_match);
}

static void load_edit(void)
{
    static rl_completion_func_t **completion;
    static char *(*read)(const char *);
    static const library_call calls[] = { { "add_history", &edit.add_history },
                                          { "rl_completion_matches", &edit.rl_completion_matches },
                                          { "rl_attempted_completion_function", &completion },
                                          { "rl_line_buffer", &edit.line },
                                          { "readline", &read } };
    edit.tried = true;
    if (!library_load(LIBRARY, calls, sizeof calls / sizeof *calls))
        return;
    *completion = complete;
    edit.readline = read;
}

/* ------------------------------------------------------------------------------------------------ input */

void debug_input_init(debug_input *input)
{
    *input = (debug_input){ .is_terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) };
}

void debug_input_fini(debug_input *input)
{
    free(input->line);
    arena_fini(&input->arena);
}

static ls_status push(debug_input *input, const char *path, const char *text, ls_error *err)
{
    if (input->depth == DEBUG_SCRIPT_DEPTH)
        return ls_fail(err, LS_ERR_USAGE, "scripts call each other more than %d deep", DEBUG_SCRIPT_DEPTH);
    input->scripts[input->depth++] = (debug_script_state){ .at = text, .path = path };
    return LS_OK;
}

ls_status debug_input_push_text(debug_input *input, const char *text, ls_error *err)
{
    return push(input, NULL, text, err);
}

ls_status debug_input_push_file(debug_input *input, const char *path, ls_error *err)
{
    char *data;
    size_t bytes;
    ls_status status = file_read(&input->arena, path, SCRIPT_LIMIT, &data, &bytes, err);
    if (status != LS_OK)
        return status;
    const char *name = arena_strdup(&input->arena, path);
    return name ? push(input, name, data, err) : ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

void debug_input_drop(debug_input *input)
{
    input->depth = 0;
}

/* Keeps a line that was read. */
static const char *keep(debug_input *input, const char *text, size_t bytes)
{
    if (bytes + 1 > input->line_capacity) {
        char *more = realloc(input->line, bytes + 1);
        if (!more)
            return NULL;
        input->line = more;
        input->line_capacity = bytes + 1;
    }
    memcpy(input->line, text, bytes);
    input->line[bytes] = '\0';
    return input->line;
}

const char *debug_input_script_line(debug_input *input, FILE *out)
{
    while (input->depth > 0) {
        debug_script_state *s = &input->scripts[input->depth - 1];
        if (*s->at == '\0') {
            input->depth--;
            continue;
        }
        size_t n = strcspn(s->at, "\n");
        const char *line = keep(input, s->at, n);
        s->at += n + (s->at[n] == '\n');
        s->line++;
        input->from_script = true;
        if (s->path)
            snprintf(input->where, sizeof input->where, "%s:%u", s->path, (unsigned)s->line);
        else
            snprintf(input->where, sizeof input->where, "-ex");
        if (line)
            fprintf(out, "%s%s\n", DEBUG_PROMPT, line);
        return line;
    }
    return NULL;
}

static const char *terminal_line(debug_input *input)
{
    char *line = edit.readline(DEBUG_PROMPT);
    if (!line)
        return NULL;
    if (*line)
        edit.add_history(line);
    const char *kept = keep(input, line, strlen(line));
    free(line);
    return kept;
}

const char *debug_input_user_line(debug_input *input, FILE *out)
{
    input->from_script = false;
    input->where[0] = '\0';
    fflush(out);
    if (input->is_terminal && !edit.tried)
        load_edit();
    edit.input = input;
    if (input->is_terminal && edit.readline)
        return terminal_line(input);
    if (input->is_terminal) {
        fputs(DEBUG_PROMPT, out);
        fflush(out);
    }
    ssize_t n = getline(&input->line, &input->line_capacity, stdin);
    if (n < 0)
        return NULL;
    if (n > 0 && input->line[n - 1] == '\n')
        input->line[n - 1] = '\0';
    if (!input->is_terminal)
        fprintf(out, "%s%s\n", DEBUG_PROMPT, input->line);
    return input->line;
}
