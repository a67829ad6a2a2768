#!/usr/bin/env bash
# The completion scripts: bash really completes, zsh and fish at least read their script if they are there.
# shellcheck source=lib.bash
source "$(dirname "$0")/lib.bash"

PATH="$(dirname "$LOCKSTEP"):$PATH"
run 0 completion bash
cp stdout completion.bash
bash -n completion.bash || fail 'bash does not like the script'

# complete WORD...: bash's offers for the last word; '=' is a word of its own, as readline cuts it.
complete_words() {
    bash --norc -c '
        compopt() { :; } # exists only while readline completes
        source completion.bash
        COMP_WORDS=("$@")
        COMP_CWORD=$(($# - 1))
        _lockstep
        printf "%s\n" "${COMPREPLY[@]}"' _ lockstep "$@" 2>stderr
    [[ -s stderr ]] && fail "completing $*"
}
offers() {
    local expected=$1
    shift
    complete_words "$@" >stdout
    grep -qxF -- "$expected" stdout || fail "completing '$*' does not offer $expected"
}
offers_not() {
    local unexpected=$1
    shift
    complete_words "$@" >stdout
    ! grep -qxF -- "$unexpected" stdout || fail "completing '$*' offers $unexpected"
}

mkdir platforms somewhere
printf 'machine: pingpong\n' >platforms/table.yaml

offers run r
offers_not blocks r
offers --threads run --th
offers --plugin run --p
offers --plugin --p
offers_not --threads --t
offers dynamic run --assignment dy
offers dynamic run --assignment = dy
offers shuffled run --assignment =
offers never --color ''
offers bash completion b
offers run help r
offers somewhere run --platform-dir some
offers run --plugin run r # the value of an option is not the command; after it the command follows
offers player/steady --plugin "$PINGPONG" blocks player/
offers pingpong --plugin = "$PINGPONG" blocks ping
offers table --plugin "$PINGPONG" run --platform ta
offers hits= --plugin "$PINGPONG" run --platform table --set hi
offers_not --threads run --set hits = --th

run 0 completion zsh
cp stdout _lockstep
if command -v zsh >/dev/null; then
    zsh -n _lockstep || fail 'zsh does not like the script'
else
    left_out 'zsh is not there: its script was not tried'
fi
run 0 completion fish
cp stdout lockstep.fish
if command -v fish >/dev/null; then
    fish -n lockstep.fish || fail 'fish does not like the script'
    fish -c "source lockstep.fish; complete -C 'lockstep run --thr'" | grep -q -- '--threads' ||
        fail 'fish does not complete --threads'
else
    left_out 'fish is not there: its script was not tried'
fi
exit 0
