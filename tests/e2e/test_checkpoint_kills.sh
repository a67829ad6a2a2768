#!/usr/bin/env bash
# kill -9 at 100 random moments: the run is resumed each time, and its numbers are those of a run without interruption. A
# checkpoint loses at most the last interval.
# shellcheck source=tests/e2e/lib.bash
source "$SOURCE_DIR/tests/e2e/lib.bash"
# shellcheck source=tests/e2e/checkpoint.bash
source "$SOURCE_DIR/tests/e2e/checkpoint.bash"
KILLS=${KILLS:-100}
RANDOM=17

# chain NAME ARG...: a run that is killed and resumed until it comes to its end. Moments and the interval of checkpoints
# follow the time that the whole run takes on this host, so that most moments lie between the first checkpoint and the end,
# on a fast host as on a slow one. After 25 kills the run is left alone.
kills=0
declare -A takes
chain() {
    local name=$1 threads killed=0 code command=()
    shift
    rm -f "$name.ck"
    if [[ ! -s $name.whole ]]; then
        timed_numbers "$name.whole" run "$@"
        takes[$name]=$took
    fi
    local moments=$((takes[$name] / 2 + 100)) every
    every=$(interval_ms "${takes[$name]}")
    for ((;;)); do
        threads=$((RANDOM % 3 + 1))
        if [[ -e $name.ck ]]; then command=(resume "$name.ck"); else command=(run "$@" --checkpoint "$name.ck" --every "${every}ms"); fi
        "$LOCKSTEP" "${command[@]}" -j "$threads" -f tidy --progress never >"$name.out" 2>"$name.err" &
        local pid=$!
        ((killed < 25)) && sleep_ms $((RANDOM % moments + 5)) && kill -9 "$pid" 2>/dev/null
        wait "$pid" 2>/dev/null
        code=$?
        ((code == 137)) && ((++killed, ++kills)) && continue
        ((code == 0)) || fail "$name: exit code $code: $(head -1 "$name.err")"
        break
    done
    grep -v '^host,' "$name.out" | cmp -s - "$name.whole" || fail "$name: other numbers after $killed kills"
}

small=(-p rtx3070 -s cores=8)
for ((round = 0; kills < KILLS && round < 200; round++)); do
    case $((round % 4)) in
    0) chain detailed synth:gemm,m=512,n=512,k=256 "${small[@]}" --series-every 1us ;;
    1) chain basic synth:gemm,m=1024,n=512,k=256 "${small[@]}" --fidelity basic ;;
    2) chain memory synth:gemm,m=1024,n=1024,k=512 "${small[@]}" --fidelity memory ;;
    3) chain reduction synth:reduction,n=4194304 "${small[@]}" ;;
    esac
done
((kills >= KILLS)) || fail "only $kills kills"
echo "$kills kills"
