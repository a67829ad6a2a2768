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

# timed_numbers NAME ARG...: as numbers; `took` is the host time in milliseconds.
timed_numbers() {
    local began=${EPOCHREALTIME/./}
    numbers "$@"
    took=$(((${EPOCHREALTIME/./} - began) / 1000))
}

# interval_ms TOOK: an eighth of a run, but not below the shortest interval that is allowed.
interval_ms() { echo $(($1 / 8 > 100 ? $1 / 8 : 100)); }

# sleep_ms MILLISECONDS
sleep_ms() { sleep "$(($1 / 1000)).$(printf %03d $(($1 % 1000)))"; }

# killed_and_resumed FILE THREADS MOMENT ARG...: a run is killed at that moment, in thousandths of the time `took` that
# the run took without checkpoints, but not before its first checkpoint, and goes on from the last one. It counts `resumed`; a
# run that ends before its first checkpoint lost nothing.
resumed=0
killed_and_resumed() {
    local whole=$1 threads=$2 moment=$3
    shift 3
    rm -f killed.ck
    "$LOCKSTEP" run "$@" -j "$threads" --checkpoint killed.ck --every "$(interval_ms "$took")ms" -f tidy --progress never >/dev/null 2>&1 &
    local pid=$!
    sleep_ms $((took * moment / 1000))
    while [[ ! -e killed.ck ]] && kill -0 "$pid" 2>/dev/null; do sleep 0.005; done
    kill -9 "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
    [[ -e killed.ck ]] || return 0
    numbers again resume killed.ck -j $((threads % 3 + 1))
    cmp -s "$whole" again || fail "other numbers after kill -9 at $moment thousandths of the run"
    ((++resumed))
}
