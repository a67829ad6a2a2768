/* cli_parse.c: the command line into cli_args, by the tables of the commands alone. Touches nothing but its
 * arguments: no streams, no environment, so that tests can feed it anything. */
#include "cli/cli.h"

#include "base/file.h"

#include <assert.h>
#include <string.h>

/* --------------------------------------------------------------------------------------------- look-up */

const cli_command *cli_args_command(const cli_args *args)
{
    return args->path[args->depth - 1];
}

const char *cli_args_path(const cli_args *args, char *out, size_t out_bytes)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < args->depth; i++) {
        int n = snprintf(out + used, out_bytes - used, "%s%s", i ? " " : "", args->path[i]->name);
        if (n < 0 || (size_t)n >= out_bytes - used)
            break;
        used += (size_t)n;
    }
    return out;
}

/* Commands hide nothing of their parents: the innermost that knows the name decides. */
static const cli_option *find_option(const cli_args *args, const char *name, size_t bytes)
{
    for (size_t d = args->depth; d-- > 0;)
        for (size_t i = 0; i < args->path[d]->option_count; i++) {
            const cli_option *option = &args->path[d]->options[i];
            if (strlen(option->name) == bytes && memcmp(option->name, name, bytes) == 0)
                return option;
        }
    return NULL;
}

static const cli_option *find_letter(const cli_args *args, char letter)
{
    for (size_t d = args->depth; d-- > 0;)
        for (size_t i = 0; i < args->path[d]->option_count; i++)
            if (args->path[d]->options[i].letter == letter)
                return &args->path[d]->options[i];
    return NULL;
}

static const cli_command *find_command(const cli_command *parent, const char *name)
{
    for (size_t i = 0; i < parent->command_count; i++)
        if (strcmp(parent->commands[i]->name, name) == 0)
            return parent->commands[i];
    return NULL;
}

/* Whether some command knows the option; the user may only have put it too early. */
static const cli_command *owner_of(const cli_command *command, const char *name, size_t bytes)
{
    for (size_t i = 0; i < command->option_count; i++)
        if (strlen(command->options[i].name) == bytes && memcmp(command->options[i].name, name, bytes) == 0)
            return command;
    for (size_t i = 0; i < command->command_count; i++) {
        const cli_command *owner = owner_of(command->commands[i], name, bytes);
        if (owner)
            return owner;
    }
    return NULL;
}

/* ---------------------------------------------------------------------------------------------- errors */

/* "run" or "config show" in front of the sentence; nothing at the root. */
static ls_status at_command(const cli_args *args, ls_error *err)
{
    char path[128];
    cli_args_path(args, path, sizeof path);
    const char *below = strchr(path, ' ');
    return below ? ls_error_at(err, below + 1, 0, 0) : LS_ERR_USAGE;
}

static const char *option_name_at(const void *self, size_t i)
{
    const cli_args *args = self;
    for (size_t d = args->depth; d-- > 0; i -= args->path[d]->option_count)
        if (i < args->path[d]->option_count)
            return args->path[d]->options[i].name;
    return NULL;
}

static ls_status unknown_option(const cli_args *args, const char *name, size_t bytes, ls_error *err)
{
    char quoted[80], key[80], dashed[80];
    quote_text(name, bytes, quoted, sizeof quoted);
    const cli_command *owner = owner_of(cli_args_command(args), name, bytes);
    if (owner) {
        ls_fail(err, LS_ERR_USAGE, "option --%s belongs after the command '%s'", quoted, owner->name);
        return at_command(args, err), LS_ERR_USAGE;
    }
    ls_fail(err, LS_ERR_USAGE, "unknown option --%s", quoted);
    at_command(args, err);
    size_t count = 0;
    for (size_t d = 0; d < args->depth; d++)
        count += args->path[d]->option_count;
    snprintf(key, sizeof key, "%.*s", (int)(bytes < 79 ? bytes : 79), name);
    const char *nearest = nearest_name(key, count, option_name_at, args);
    if (nearest) {
        snprintf(dashed, sizeof dashed, "--%s", nearest);
        ls_error_nearest(err, dashed);
    }
    return LS_ERR_USAGE;
}

static const char *command_name_at(const void *self, size_t i)
{
    return ((const cli_command *)self)->commands[i]->name;
}

static ls_status unknown_command(const cli_args *args, const char *name, ls_error *err)
{
    char quoted[80];
    const cli_command *parent = cli_args_command(args);
    ls_fail(err, LS_ERR_USAGE, "unknown command '%s'", quote_text(name, strlen(name), quoted, sizeof quoted));
    at_command(args, err);
    ls_error_nearest(err, nearest_name(name, parent->command_count, command_name_at, parent));
    return LS_ERR_USAGE;
}

static size_t choice_count(const char *const *choices)
{
    size_t n = 0;
    while (choices && choices[n])
        n++;
    return n;
}

/* "text, json or csv" */
static const char *choice_list(const char *const *choices, char *out, size_t out_bytes)
{
    size_t count = choice_count(choices), used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        const char *between = i == 0 ? "" : i + 1 == count ? " or " : ", ";
        int n = snprintf(out + used, out_bytes - used, "%s%s", between, choices[i]);
        if (n < 0 || (size_t)n >= out_bytes - used)
            break;
        used += (size_t)n;
    }
    return out;
}

static ls_status bad_choice(const char *value, const char *const *choices, ls_error *err)
{
    char quoted[80], list[240];
    ls_fail(err, LS_ERR_USAGE, "'%s' is not one of %s",
            quote_text(value, strlen(value), quoted, sizeof quoted), choice_list(choices, list, sizeof list));
    return ls_error_nearest(err, nearest_of(value, choices, choice_count(choices)));
}

/* ---------------------------------------------------------------------------------------------- values */

/* Checks text against the option's type and fills value->number. */
static ls_status read_value(const cli_option *option, const char *text, cli_value *value, ls_error *err)
{
    size_t bytes = strlen(text);
    *value = (cli_value){ .option = option, .text = text };
    switch (option->type) {
    case CLI_FLAG:
    case CLI_TEXT:
        return LS_OK;
    case CLI_UINT:
        if (parse_u64(text, bytes, &value->number, err) != LS_OK)
            return LS_ERR_USAGE;
        if (value->number < option->min || (option->max && value->number > option->max)) {
            if (option->max)
                return ls_fail(err, LS_ERR_USAGE, "%s is out of range: %llu to %llu", text,
                               (unsigned long long)option->min, (unsigned long long)option->max);
            return ls_fail(err, LS_ERR_USAGE, "%s is too small: at least %llu", text,
                           (unsigned long long)option->min);
        }
        return LS_OK;
    case CLI_TIME:
        return parse_time(text, bytes, &value->number, err) == LS_OK ? LS_OK : LS_ERR_USAGE;
    case CLI_CHOICE:
        for (size_t i = 0; option->choices[i]; i++)
            if (strcmp(option->choices[i], text) == 0) {
                value->number = i;
                return LS_OK;
            }
        return bad_choice(text, option->choices, err);
    case CLI_KEY_VALUE: {
        const char *equals = strchr(text, '=');
        char quoted[80];
        if (equals && equals > text)
            return LS_OK;
        return ls_fail(err, LS_ERR_USAGE, "'%s' is not of the form key=value",
                       quote_text(text, bytes, quoted, sizeof quoted));
    }
    }
    return ls_fail(err, LS_ERR_INTERNAL, "option of unknown type %d", (int)option->type);
}

static ls_status add_value(cli_args *args, const cli_option *option, const char *text, ls_error *err)
{
    cli_value value;
    char place[80];
    snprintf(place, sizeof place, "--%s", option->name);
    if (!option->repeatable && option->type != CLI_FLAG)
        for (size_t i = 0; i < args->values.count; i++)
            if (args->values.at[i].option == option) {
                ls_fail(err, LS_ERR_USAGE, "given twice; it takes one value");
                return ls_error_at(err, place, 0, 0), LS_ERR_USAGE;
            }
    if (option->type != CLI_FLAG && text[0] == '\0') {
        ls_fail(err, LS_ERR_USAGE, "its value %s is empty", option->arg);
        return ls_error_at(err, place, 0, 0), LS_ERR_USAGE;
    }
    ls_status status = read_value(option, text, &value, err);
    if (status != LS_OK) {
        if (err)
            err->status = status;
        ls_error_at(err, place, 0, 0);
        return status;
    }
    if (!vec_push(&args->values, value))
        return ls_fail(err, LS_ERR_NOMEM, "out of memory");
    if (option->type == CLI_FLAG && strcmp(option->name, "help") == 0)
        args->help = true;
    return LS_OK;
}

/* ----------------------------------------------------------------------------------------------- parse */

typedef struct cursor {
    int argc;
    const char *const *argv;
    int i; /* the word being read */
} cursor;

static ls_status missing_value(const cli_option *option, const char *as_given, ls_error *err)
{
    ls_fail(err, LS_ERR_USAGE, "needs a value: %s %s", as_given, option->arg);
    return ls_error_at(err, as_given, 0, 0), LS_ERR_USAGE;
}

static ls_status parse_long(cli_args *args, cursor *c, const char *name, ls_error *err)
{
    const char *equals = strchr(name, '=');
    size_t bytes = equals ? (size_t)(equals - name) : strlen(name);
    const cli_option *option = find_option(args, name, bytes);
    if (!option)
        return unknown_option(args, name, bytes, err);
    if (option->type == CLI_FLAG) {
        if (equals) {
            char place[80];
            snprintf(place, sizeof place, "--%s", option->name);
            ls_fail(err, LS_ERR_USAGE, "takes no value");
            return ls_error_at(err, place, 0, 0), LS_ERR_USAGE;
        }
        return add_value(args, option, "", err);
    }
    if (equals)
        return add_value(args, option, equals + 1, err);
    if (c->i + 1 >= c->argc)
        return missing_value(option, c->argv[c->i], err);
    return add_value(args, option, c->argv[++c->i], err);
}

static ls_status parse_short(cli_args *args, cursor *c, ls_error *err)
{
    const char *word = c->argv[c->i];
    const cli_option *whole = find_option(args, word + 1, strlen(word + 1));
    if (whole && whole->one_dash)
        return parse_long(args, c, word + 1, err);
    for (const char *p = word + 1; *p; p++) {
        const cli_option *option = find_letter(args, *p);
        if (!option) {
            char quoted[16];
            ls_fail(err, LS_ERR_USAGE, "unknown option -%s", quote_text(p, 1, quoted, sizeof quoted));
            return at_command(args, err), LS_ERR_USAGE;
        }
        if (option->type == CLI_FLAG) {
            ls_status status = add_value(args, option, "", err);
            if (status != LS_OK)
                return status;
            continue;
        }
        if (p[1])
            return add_value(args, option, p + 1, err);
        if (c->i + 1 >= c->argc) {
            char as_given[3] = { '-', *p, '\0' };
            return missing_value(option, as_given, err);
        }
        return add_value(args, option, c->argv[++c->i], err);
    }
    return LS_OK;
}

static ls_status parse_word(cli_args *args, const char *word, ls_error *err)
{
    const cli_command *command = cli_args_command(args);
    if (command->command_count) {
        const cli_command *below = find_command(command, word);
        if (!below)
            return unknown_command(args, word, err);
        if (args->depth == CLI_DEPTH)
            return ls_fail(err, LS_ERR_INTERNAL, "commands nest deeper than %d", CLI_DEPTH);
        args->path[args->depth++] = below;
        return LS_OK;
    }
    if (!vec_push(&args->positionals, word))
        return ls_fail(err, LS_ERR_NOMEM, "out of memory");
    return LS_OK;
}

static ls_status check_positionals(const cli_args *args, ls_error *err)
{
    const cli_command *command = cli_args_command(args);
    size_t given = args->positionals.count, expected = command->positional_count;
    bool open_ended = expected && command->positionals[expected - 1].repeatable;
    char quoted[120];
    if (given > expected && !open_ended) {
        const char *extra = args->positionals.at[expected];
        quote_text(extra, strlen(extra), quoted, sizeof quoted);
        if (command->no_positionals)
            ls_fail(err, LS_ERR_USAGE, "unexpected argument '%s': %s", quoted, command->no_positionals);
        else
            ls_fail(err, LS_ERR_USAGE, "unexpected argument '%s'", quoted);
        return at_command(args, err), LS_ERR_USAGE;
    }
    if (given < expected && !command->positionals[given].optional) {
        ls_fail(err, LS_ERR_USAGE, "the argument %s is missing", command->positionals[given].name);
        return at_command(args, err), LS_ERR_USAGE;
    }
    for (size_t i = 0; i < given; i++) {
        const cli_positional *positional = &command->positionals[i < expected ? i : expected - 1];
        const char *word = args->positionals.at[i];
        size_t k = 0;
        if (!positional->choices)
            continue;
        while (positional->choices[k] && strcmp(positional->choices[k], word) != 0)
            k++;
        if (!positional->choices[k]) {
            bad_choice(word, positional->choices, err);
            return at_command(args, err), LS_ERR_USAGE;
        }
    }
    return LS_OK;
}

ls_status cli_parse(const cli_command *root, int argc, const char *const *argv, cli_args *args, ls_error *err)
{
    *args = (cli_args){ .path = { root }, .depth = 1 };
    ls_error_clear(err);
    bool options_over = false;
    for (cursor c = { argc, argv, 1 }; c.i < argc; c.i++) {
        const char *word = argv[c.i];
        ls_status status;
        if (args->help) { /* only the commands that follow matter: `lockstep --help run` */
            const cli_command *below = find_command(cli_args_command(args), word);
            if (below && args->depth < CLI_DEPTH)
                args->path[args->depth++] = below;
            continue;
        }
        if (!options_over && strcmp(word, "--") == 0) {
            options_over = true;
            continue;
        }
        if (!options_over && word[0] == '-' && word[1] == '-')
            status = parse_long(args, &c, word + 2, err);
        else if (!options_over && word[0] == '-' && word[1])
            status = parse_short(args, &c, err);
        else
            status = parse_word(args, word, err);
        if (status != LS_OK)
            return status;
    }
    return args->help ? LS_OK : check_positionals(args, err);
}

void cli_args_fini(cli_args *args)
{
    vec_fini(&args->values);
    vec_fini(&args->positionals);
}

/* ------------------------------------------------------------------------------------------- accessors */

static const cli_option *must_find(const cli_context *ctx, const char *name)
{
    const cli_option *option = find_option(ctx->args, name, strlen(name));
    assert(option && "a command asked for an option that it does not declare");
    return option;
}

static const cli_value *value_at(const cli_context *ctx, const cli_option *option, size_t i)
{
    for (size_t v = 0; v < ctx->args->values.count; v++)
        if (ctx->args->values.at[v].option == option && i-- == 0)
            return &ctx->args->values.at[v];
    return NULL;
}

size_t cli_count(const cli_context *ctx, const char *name)
{
    const cli_option *option = must_find(ctx, name);
    size_t count = 0;
    for (size_t v = 0; v < ctx->args->values.count; v++)
        count += ctx->args->values.at[v].option == option;
    return count;
}

bool cli_given(const cli_context *ctx, const char *name)
{
    return cli_count(ctx, name) > 0;
}

bool cli_flag(const cli_context *ctx, const char *name)
{
    return cli_count(ctx, name) > 0;
}

const char *cli_text_at(const cli_context *ctx, const char *name, size_t i)
{
    const cli_value *value = value_at(ctx, must_find(ctx, name), i);
    return value ? value->text : NULL;
}

const char *cli_text(const cli_context *ctx, const char *name)
{
    const char *given = cli_text_at(ctx, name, 0);
    return given ? given : must_find(ctx, name)->default_text;
}

/* Defaults are checked by a test that reads each with its own type, so reading one here does not fail. */
static uint64_t number_of(const cli_context *ctx, const char *name)
{
    const cli_option *option = must_find(ctx, name);
    const cli_value *given = value_at(ctx, option, 0);
    if (given)
        return given->number;
    cli_value value = { 0 };
    if (option->default_text && read_value(option, option->default_text, &value, NULL) != LS_OK)
        assert(false && "an option's default is not valid for its type");
    return value.number;
}

uint64_t cli_uint(const cli_context *ctx, const char *name)
{
    return number_of(ctx, name);
}

ls_time cli_time(const cli_context *ctx, const char *name)
{
    return number_of(ctx, name);
}

size_t cli_choice(const cli_context *ctx, const char *name)
{
    return (size_t)number_of(ctx, name);
}

const char *const *cli_texts(const cli_context *ctx, const char *name)
{
    size_t count = cli_count(ctx, name);
    const char **list = arena_array(ctx->arena, count + 1, sizeof *list);
    for (size_t i = 0; list && i < count; i++)
        list[i] = cli_text_at(ctx, name, i);
    return list;
}

ls_status cli_check_outputs(const cli_context *ctx, const char *const *options, ls_error *err)
{
    ls_status status = LS_OK;
    for (; *options && status == LS_OK; options++)
        if (cli_text(ctx, *options))
            status = file_check_writable(cli_text(ctx, *options), err);
    return status;
}
