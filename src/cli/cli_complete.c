/* cli_complete.c: completion scripts for bash, zsh and fish, from the tables of the commands.
 *
 * A script has a fixed driver, which finds the word at the cursor, and tables, which are generated here. The
 * tables have the commands below a path, the options valid at a path, and the kind of value of an option or
 * positional argument. Values that are not known when the script is made (platforms, keys, blocks) come from
 * the program itself: `lockstep completion --values KIND`. */
#include "cli/cli.h"

#include <string.h>

const char *cli_complete_name(cli_complete kind)
{
    static const char *const names[CLI_COMPLETE_COUNT] = {
        [CLI_COMPLETE_NONE] = "none",         [CLI_COMPLETE_FILE] = "file", [CLI_COMPLETE_DIR] = "dir",
        [CLI_COMPLETE_PLATFORM] = "platform", [CLI_COMPLETE_KEY] = "key",   [CLI_COMPLETE_BLOCK] = "block",
        [CLI_COMPLETE_COMMAND] = "command",
    };
    return (unsigned)kind < CLI_COMPLETE_COUNT ? names[kind] : "none";
}

/* ---------------------------------------------------------------------------------------- shell quoting */

/* Inside single quotes; for bash and zsh '\'' leaves and enters them, for fish \' is enough. */
static void quoted(FILE *out, const char *text, bool fish)
{
    for (; *text; text++)
        if (*text == '\'')
            fputs(fish ? "\\'" : "'\\''", out);
        else if (*text == '\\' && fish)
            fputs("\\\\", out);
        else
            fputc(*text, out);
}

static void put_path(FILE *out, const cli_command *const *path, size_t depth)
{
    for (size_t i = 1; i < depth; i++)
        fprintf(out, "%s%s", i > 1 ? " " : "", path[i]->name);
}

/* Calls visit for every command of the tree, with the way to it. */
typedef void (*visit_fn)(FILE *out, const cli_command *const *path, size_t depth);
static void walk(FILE *out, const cli_command **path, size_t depth, visit_fn visit)
{
    const cli_command *command = path[depth - 1];
    visit(out, path, depth);
    for (size_t i = 0; i < command->command_count && depth < CLI_DEPTH; i++) {
        path[depth] = command->commands[i];
        walk(out, path, depth + 1, visit);
    }
}

/* ------------------------------------------------------------------------------- tables for bash and zsh */

static void sh_commands(FILE *out, const cli_command *const *path, size_t depth)
{
    const cli_command *command = path[depth - 1];
    if (!command->command_count)
        return;
    fputs("        '", out);
    put_path(out, path, depth);
    fputs("') reply=(", out);
    for (size_t i = 0; i < command->command_count; i++) {
        fprintf(out, "\n            '%s:", command->commands[i]->name);
        quoted(out, command->commands[i]->summary, false);
        fputc('\'', out);
    }
    fputs(") ;;\n", out);
}

static void sh_options(FILE *out, const cli_command *const *path, size_t depth)
{
    fputs("        '", out);
    put_path(out, path, depth);
    fputs("') reply=(", out);
    for (size_t d = depth; d-- > 0;)
        for (size_t i = 0; i < path[d]->option_count; i++) {
            fprintf(out, "\n            '--%s:", path[d]->options[i].name);
            quoted(out, path[d]->options[i].help, false);
            fputc('\'', out);
        }
    fputs(") ;;\n", out);
}

static void sh_kind(FILE *out, const char *const *choices, cli_complete complete)
{
    if (!choices) {
        fprintf(out, "REPLY=%s ;;\n", cli_complete_name(complete));
        return;
    }
    fputs("REPLY='choice", out);
    for (size_t i = 0; choices[i]; i++) {
        fputc(' ', out);
        quoted(out, choices[i], false);
    }
    fputs("' ;;\n", out);
}

static void sh_values(FILE *out, const cli_command *const *path, size_t depth)
{
    for (size_t d = depth; d-- > 0;)
        for (size_t i = 0; i < path[d]->option_count; i++) {
            const cli_option *option = &path[d]->options[i];
            if (option->type == CLI_FLAG)
                continue;
            fputs("        '", out);
            put_path(out, path, depth);
            fprintf(out, ":--%s'", option->name);
            if (option->letter) {
                fputs(" | '", out);
                put_path(out, path, depth);
                fprintf(out, ":-%c'", option->letter);
            }
            fputs(") ", out);
            sh_kind(out, option->choices, option->complete);
        }
}

static void sh_arguments(FILE *out, const cli_command *const *path, size_t depth)
{
    const cli_command *command = path[depth - 1];
    for (size_t i = 0; i < command->positional_count; i++) {
        const cli_positional *positional = &command->positionals[i];
        fputs("        '", out);
        put_path(out, path, depth);
        if (positional->repeatable)
            fputs(":'*) ", out);
        else
            fprintf(out, ":%zu') ", i);
        sh_kind(out, positional->choices, positional->complete);
    }
}

static void sh_table(FILE *out, const cli_command *root, const char *function, const char *subject,
                     const char *otherwise, visit_fn visit)
{
    const cli_command *path[CLI_DEPTH] = { root };
    fprintf(out, "%s() {\n    case \"%s\" in\n", function, subject);
    walk(out, path, 1, visit);
    fprintf(out, "        *) %s ;;\n    esac\n}\n", otherwise);
}

static void sh_tables(FILE *out, const cli_command *root)
{
    fputs("# 'name:what it is' of the commands below a path, in reply\n", out);
    sh_table(out, root, "__lockstep_commands", "$1", "reply=()", sh_commands);
    fputs("# 'name:what it is' of the options valid at a path, in reply\n", out);
    sh_table(out, root, "__lockstep_options", "$1", "reply=()", sh_options);
    fputs("# the kind of value an option takes, in REPLY; fails for a flag\n", out);
    sh_table(out, root, "__lockstep_value", "$1:$2", "return 1", sh_values);
    fputs("# the kind of the n-th positional argument, in REPLY\n", out);
    sh_table(out, root, "__lockstep_argument", "$1:$2", "REPLY=none", sh_arguments);
}

/* --------------------------------------------------------------------------------------------- drivers */

/* bash splits words at '=' (COMP_WORDBREAKS): --name=value is three of them. */
static const char bash_driver[] =
    "# offers values of kind $1 for $cur\n"
    "__lockstep_offer() {\n"
    "    case \"$1\" in\n"
    "        choice*) mapfile -t COMPREPLY < <(compgen -W \"${1#choice}\" -- \"$cur\") ;;\n"
    "        file) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$cur\") ;;\n"
    "        dir) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- \"$cur\") ;;\n"
    "        command)\n"
    "            __lockstep_commands \"${rest[*]}\"\n"
    "            mapfile -t COMPREPLY < <(compgen -W \"${reply[*]%%:*}\" -- \"$cur\") ;;\n"
    "        platform | key | block)\n"
    "            local names\n"
    "            names=$(\"${COMP_WORDS[0]}\" completion \"${globals[@]}\" --" CLI_VALUES_OPTION
    " \"$1\" 2>/dev/null)\n"
    "            mapfile -t COMPREPLY < <(compgen -W \"$names\" -- \"$cur\")\n"
    "            if [[ $1 == key ]]; then compopt -o nospace; COMPREPLY=(\"${COMPREPLY[@]/%/=}\"); fi\n"
    "            if [[ $1 == platform ]]; then\n"
    "                local -a files\n"
    "                compopt -o filenames\n"
    "                mapfile -t files < <(compgen -f -- \"$cur\")\n"
    "                COMPREPLY+=(\"${files[@]}\")\n"
    "            fi ;;\n"
    "    esac\n"
    "}\n"
    "_lockstep() {\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} at='' option='' word value REPLY i=1 over=''\n"
    "    local -a reply=() globals=() rest=()\n"
    "    COMPREPLY=()\n"
    "    while ((i < COMP_CWORD)); do\n"
    "        word=${COMP_WORDS[i]} option=''\n"
    "        if [[ $word == -- ]]; then\n"
    "            over=1\n"
    "        elif [[ $word == -* && ! $over ]]; then\n"
    "            if __lockstep_value \"$at\" \"$word\"; then\n"
    "                option=$word\n"
    "                [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))\n"
    "                value=${COMP_WORDS[i + 1]}\n"
    "                ((++i >= COMP_CWORD)) && break\n"
    "                case $option in\n"
    "                    --plugin | --platform | --platform-dir) globals+=(\"$option=$value\") ;;\n"
    "                    -p) globals+=(\"--platform=$value\") ;;\n"
    "                esac\n"
    "                option=''\n"
    "                if [[ ${COMP_WORDS[i + 1]} == = ]]; then # the '=' of --set key=value\n"
    "                    ((i += 2))\n"
    "                    ((i >= COMP_CWORD)) && return\n"
    "                fi\n"
    "            fi\n"
    "        else\n"
    "            __lockstep_commands \"$at\"\n"
    "            if [[ \" ${reply[*]%%:*} \" == *\" $word \"* ]]; then\n"
    "                at=\"${at:+$at }$word\"\n"
    "            else\n"
    "                rest+=(\"$word\")\n"
    "            fi\n"
    "        fi\n"
    "        ((i++))\n"
    "    done\n"
    "    if [[ $option ]]; then\n"
    "        [[ $cur == = ]] && cur=''\n"
    "        __lockstep_value \"$at\" \"$option\" && __lockstep_offer \"$REPLY\"\n"
    "    elif [[ $cur == -* && ! $over ]]; then\n"
    "        __lockstep_options \"$at\"\n"
    "        mapfile -t COMPREPLY < <(compgen -W \"${reply[*]%%:*}\" -- \"$cur\")\n"
    "    else\n"
    "        __lockstep_commands \"$at\"\n"
    "        if ((${#reply[@]})); then\n"
    "            mapfile -t COMPREPLY < <(compgen -W \"${reply[*]%%:*}\" -- \"$cur\")\n"
    "        else\n"
    "            __lockstep_argument \"$at\" \"${#rest[@]}\"\n"
    "            __lockstep_offer \"$REPLY\"\n"
    "        fi\n"
    "    fi\n"
    "}\n"
    "complete -F _lockstep lockstep\n";

static const char zsh_driver[] =
    "# offers values of kind $1\n"
    "__lockstep_offer() {\n"
    "    case $1 in\n"
    "        (choice*) compadd -- ${=1#choice} ;;\n"
    "        (file) _files ;;\n"
    "        (dir) _files -/ ;;\n"
    "        (command) __lockstep_commands \"${rest[*]}\"; _describe command reply ;;\n"
    "        (key) compadd -S = -- ${(f)\"$($words[1] completion $globals --" CLI_VALUES_OPTION
    " key 2>/dev/null)\"} ;;\n"
    "        (platform | block)\n"
    "            compadd -- ${(f)\"$($words[1] completion $globals --" CLI_VALUES_OPTION
    " $1 2>/dev/null)\"}\n"
    "            [[ $1 == platform ]] && _files ;;\n"
    "    esac\n"
    "}\n"
    "_lockstep() {\n"
    "    local at='' option='' word REPLY over=''\n"
    "    local -a reply globals rest\n"
    "    integer i=2\n"
    "    while (( i < CURRENT )); do\n"
    "        word=$words[i] option=''\n"
    "        if [[ $word == -- ]]; then\n"
    "            over=1\n"
    "        elif [[ $word == --(plugin|platform|platform-dir)=* ]]; then\n"
    "            globals+=($word)\n"
    "        elif [[ $word == -* && -z $over ]]; then\n"
    "            if __lockstep_value \"$at\" $word; then\n"
    "                option=$word\n"
    "                (( ++i >= CURRENT )) && break\n"
    "                [[ $option == -p ]] && option=--platform\n"
    "                [[ $option == --(plugin|platform|platform-dir) ]] && globals+=($option=$words[i])\n"
    "                option=''\n"
    "            fi\n"
    "        else\n"
    "            __lockstep_commands \"$at\"\n"
    "            if (( ${reply[(I)$word:*]} )); then at=\"${at:+$at }$word\"; else rest+=($word); fi\n"
    "        fi\n"
    "        (( i++ ))\n"
    "    done\n"
    "    if [[ -n $option ]]; then\n"
    "        __lockstep_value \"$at\" $option && __lockstep_offer $REPLY\n"
    "    elif [[ $PREFIX == --*=* && -z $over ]]; then\n"
    "        option=${PREFIX%%=*}\n"
    "        compset -P '*='\n"
    "        __lockstep_value \"$at\" $option && __lockstep_offer $REPLY\n"
    "    elif [[ $PREFIX == -* && -z $over ]]; then\n"
    "        __lockstep_options \"$at\"\n"
    "        _describe -o option reply\n"
    "    else\n"
    "        __lockstep_commands \"$at\"\n"
    "        if (( $#reply )); then\n"
    "            _describe command reply\n"
    "        else\n"
    "            __lockstep_argument \"$at\" $#rest\n"
    "            __lockstep_offer $REPLY\n"
    "        fi\n"
    "    fi\n"
    "}\n"
    "if [[ $funcstack[1] == _lockstep ]]; then _lockstep \"$@\"; else compdef _lockstep lockstep; fi\n";

static const char fish_driver[] =
    "# the command words before the cursor, one per line, without options and their values\n"
    "function __lockstep_words\n"
    "    set -l tokens (commandline -opc)\n"
    "    set -l skip 1\n"
    "    for token in $tokens\n"
    "        if test $skip = 1\n"
    "            set skip 0\n"
    "        else if string match -q -- '-*' $token\n"
    "            contains -- $token $__lockstep_valued; and set skip 1\n"
    "        else\n"
    "            echo $token\n"
    "        end\n"
    "    end\n"
    "end\n"
    "# exactly this path / this path and anything after it\n"
    "function __lockstep_at\n"
    "    test \"$(__lockstep_words)\" = \"$argv\"\n"
    "end\n"
    "function __lockstep_in\n"
    "    test (count $argv) = 0; and return 0\n"
    "    set -l words (__lockstep_words)\n"
    "    test (count $words) -ge (count $argv); and test \"$words[1..$(count $argv)]\" = \"$argv\"\n"
    "end\n"
    "function __lockstep_values\n"
    "    set -l tokens (commandline -opc)\n"
    "    set -l globals\n"
    "    for i in (seq (count $tokens))\n"
    "        switch $tokens[$i]\n"
    "            case '--plugin=*' '--platform=*' '--platform-dir=*'\n"
    "                set -a globals $tokens[$i]\n"
    "            case --plugin --platform --platform-dir -p\n"
    "                set -l name (string replace -r '^-p\\$' -- --platform $tokens[$i])\n"
    "                set -l next (math $i + 1)\n"
    "                test $next -le (count $tokens); and set -a globals $name=$tokens[$next]\n"
    "        end\n"
    "    end\n"
    "    $tokens[1] completion $globals --" CLI_VALUES_OPTION " $argv[1] 2>/dev/null\n"
    "end\n"
    "complete -c lockstep -f\n";

/* ------------------------------------------------------------------------------------- tables for fish */

static void fish_valued(FILE *out, const cli_command *const *path, size_t depth)
{
    for (size_t i = 0; i < path[depth - 1]->option_count; i++) {
        const cli_option *option = &path[depth - 1]->options[i];
        if (option->type == CLI_FLAG)
            continue;
        fprintf(out, " --%s", option->name);
        if (option->letter)
            fprintf(out, " -%c", option->letter);
    }
}

static void fish_kind(FILE *out, const char *const *choices, cli_complete complete)
{
    if (choices) {
        fputs(" -x -a '", out);
        for (size_t i = 0; choices[i]; i++) {
            fputs(i ? " " : "", out);
            quoted(out, choices[i], true);
        }
        fputc('\'', out);
        return;
    }
    switch (complete) {
    case CLI_COMPLETE_FILE:
        fputs(" -r -F", out);
        break;
    case CLI_COMPLETE_DIR:
        fputs(" -x -a '(__fish_complete_directories)'", out);
        break;
    case CLI_COMPLETE_PLATFORM:
        fputs(" -r -F -a '(__lockstep_values platform)'", out);
        break;
    case CLI_COMPLETE_KEY:
        fputs(" -x -a '(__lockstep_values key)='", out);
        break;
    case CLI_COMPLETE_BLOCK:
    case CLI_COMPLETE_COMMAND:
        fprintf(out, " -x -a '(__lockstep_values %s)'", cli_complete_name(complete));
        break;
    case CLI_COMPLETE_NONE:
    case CLI_COMPLETE_COUNT:
        fputs(" -x", out);
        break;
    }
}

static void fish_condition(FILE *out, const char *function, const cli_command *const *path, size_t depth)
{
    fprintf(out, "complete -c lockstep -n '%s", function);
    for (size_t i = 1; i < depth; i++)
        fprintf(out, " %s", path[i]->name);
    fputc('\'', out);
}

static void fish_command(FILE *out, const cli_command *const *path, size_t depth)
{
    const cli_command *command = path[depth - 1];
    for (size_t i = 0; i < command->command_count; i++) {
        fish_condition(out, "__lockstep_at", path, depth);
        fprintf(out, " -a %s -d '", command->commands[i]->name);
        quoted(out, command->commands[i]->summary, true);
        fputs("'\n", out);
    }
    for (size_t i = 0; i < command->option_count; i++) {
        const cli_option *option = &command->options[i];
        fish_condition(out, "__lockstep_in", path, depth);
        fprintf(out, " -l %s", option->name);
        if (option->letter)
            fprintf(out, " -s %c", option->letter);
        if (option->type != CLI_FLAG)
            fish_kind(out, option->choices, option->complete);
        fputs(" -d '", out);
        quoted(out, option->help, true);
        fputs("'\n", out);
    }
    for (size_t i = 0; i < command->positional_count; i++) {
        fish_condition(out, "__lockstep_in", path, depth);
        fish_kind(out, command->positionals[i].choices, command->positionals[i].complete);
        fputc('\n', out);
    }
}

void cli_completion_print(const cli_command *root, cli_shell shell, FILE *out)
{
    const cli_command *path[CLI_DEPTH] = { root };
    if (shell == CLI_FISH) {
        fputs("# fish completion for lockstep: lockstep completion fish | source\nset -g __lockstep_valued",
              out);
        walk(out, path, 1, fish_valued);
        fprintf(out, "\n%s", fish_driver);
        walk(out, path, 1, fish_command);
        return;
    }
    if (shell == CLI_ZSH)
        fputs("#compdef lockstep\n# zsh completion for lockstep: source <(lockstep completion zsh)\n", out);
    else
        fputs("# bash completion for lockstep: source <(lockstep completion bash)\n", out);
    sh_tables(out, root);
    fputs(shell == CLI_ZSH ? zsh_driver : bash_driver, out);
}
