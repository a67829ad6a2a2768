#!/usr/bin/env bash
# Every command that a help text or the README shows succeeds. A command that takes longer than the test's
# limit must at least start: a wrong name, option or value would be refused at once.
# shellcheck source=lib.bash
source "$(dirname "$0")/lib.bash"
# shellcheck source=world.bash
source "$SOURCE_DIR/tests/e2e/world.bash"

seconds=2
world=$work/world
world_make "$world" >stdout 2>stderr || fail 'the files that the examples name cannot be made'

ran=0 started=0
try() { # try WHERE COMMAND
    local code
    world_run "$world" $seconds "$2" >stdout 2>stderr
    code=$?
    case $code in
        0) ((ran += 1)) ;;
        124) ((started += 1)) ;;
        2) grep -q 'the reference data is not there\|which are not shipped' stderr || fail "$1: '$2' exited with 2" ;;
        *) fail "$1: '$2' exited with $code" ;;
    esac
}

# The commands of a help text, one per line.
commands_of() {
    "$LOCKSTEP" help "$@" | sed -n '/^Commands/,/^Options/s/^  \([a-z][a-z-]*\)  .*/\1/p'
}
examples_of() {
    "$LOCKSTEP" help "$@" | sed -n '/^Examples/,$s/^  \([^ #].*\)/\1/p'
}
topics=('')
while read -r command; do
    topics+=("$command")
    while read -r sub; do
        topics+=("$command $sub")
    done < <(commands_of "$command")
done < <(commands_of)
((${#topics[@]} > 25)) || fail "only ${#topics[@]} help texts were found"
for topic in "${topics[@]}"; do
    # shellcheck disable=SC2086
    mapfile -t lines < <(examples_of $topic)
    for line in "${lines[@]}"; do
        # Another program shows or keeps what these print.
        [[ $line == *'| man -l -' || $line == *'fish | source' ]] && line=${line%%|*}
        rm -rf "$world"/{bfs,small,chase,gemm.lspk,some.lspk,small.lspk}
        try "help $topic" "$line"
    done
done
[[ $SANITIZE ]] || ((ran > 50)) || fail "only $ran examples ran to their end"
helped=$((ran + started))

# Blocks of commands in the README; an alias would not be known in the next shell.
# shellcheck disable=SC2016
while read -r line; do
    rm -f "$world"/{sweep.db,bfs.lspk}
    [[ $line == *sweep.db#* || $line == *"--status sweep.db"* ]] && cp "$world/cores.db" "$world/sweep.db" && line=${line//#4/#3}
    try README.md "$line"
done < <(sed -n '/^```sh/,/^```/p' "$SOURCE_DIR/README.md" | grep -E '^(\$ )?lockstep ' | sed 's/ *# .*//')
((ran + started > helped + 20)) || fail 'the README has no commands any more'
echo "$ran commands ran to their end, $started were started"
