# checkpoint.bash: what tests of checkpoints share; sourced after lib.bash.
# shellcheck shell=bash

# numbers NAME ARG...: runs lockstep and keeps everything but the host's part.
numbers() {
    local to=$1
    shift
    run 0 "$@" -f tidy --progress never
    grep -v '^host,' stdout >"$to"
}

# check NAME EVERY THREADS OTHERS ARG...: a run with checkpoints, and one that goes on from the last of them.
check() {
    local name=$1 every=$2 threads=$3 others=$4
    shift 4
    numbers "$name.whole" run "$@"
    numbers "$name.with" run "$@" -j "$threads" --checkpoint "$name.ck" --every "$every"
    cmp -s "$name.whole" "$name.with" || fail "$name: other numbers with checkpoints"
    [[ -s $name.ck ]] || fail "$name: no checkpoint was written"
    numbers "$name.resumed" resume "$name.ck" -j "$others"
    cmp -s "$name.whole" "$name.resumed" || fail "$name: other numbers after resume: $(diff "$name.whole" "$name.resumed" | head -3)"
}
