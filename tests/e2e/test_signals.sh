#!/usr/bin/env bash
# SIGUSR1 prints the state of the run; SIGINT, SIGTERM and SIGHUP end the run with partial results and exit
# code 130.
# shellcheck source=lib.bash
source "$(dirname "$0")/lib.bash"

[[ -r /proc/self/status ]] || skip 'no /proc'
printf 'machine: pingpong\nhits: 1000000000000\n' >long.yaml

# Waits (up to 20 s) until a condition holds.
await() {
    for ((i = 0; i < 400; i++)); do
        "$@" && return 0
        sleep 0.05
    done
    return 1
}
# Whether the process is past exec (a waiting shell catches signals too) and has its handlers: SIGUSR1 is number 10,
# bit 9 of the mask of caught signals.
handles_signals() {
    local mask
    [[ /proc/$1/exe -ef $LOCKSTEP ]] || return 1
    mask=$(sed -n 's/^SigCgt:[[:space:]]*//p' "/proc/$1/status" 2>/dev/null)
    [[ $mask ]] && ((0x$mask & 0x200))
}
dumped() {
    grep -q 'right' stderr
}

for signal in INT TERM HUP; do
    for threads in 1 2; do
        "$LOCKSTEP" --plugin "$PINGPONG" run --platform long.yaml --threads "$threads" \
            --out "$signal.json" >stdout 2>stderr </dev/null &
        pid=$!
        await handles_signals "$pid" || fail 'the run did not start'
        kill -USR1 "$pid"
        await dumped || fail 'SIGUSR1 wrote nothing'
        kill -0 "$pid" || fail 'SIGUSR1 ended the run'
        kill -"$signal" "$pid"
        wait "$pid"
        code=$?
        ((code == 130)) || fail "SIG$signal: exit code $code instead of 130"
        tail -1 stderr | grep -q '^lockstep: interrupted .* partial' || fail 'the last line does not say partial'
        grep -q '"partial": true' "$signal.json" || fail 'the result is not marked as partial'
        [[ -s $signal.json.platform.yaml ]] || fail 'no configuration beside a partial result'
        grep -qi partial stdout || fail 'the summary does not say that it is partial'
    done
done

# nohup ignores the end of the terminal.
(
    trap '' HUP
    exec "$LOCKSTEP" --plugin "$PINGPONG" run --platform long.yaml >stdout 2>stderr </dev/null
) &
pid=$!
await handles_signals "$pid" || fail 'the run did not start'
kill -HUP "$pid"
sleep 0.2
kill -0 "$pid" || fail 'SIGHUP ended a run that ignores it'
kill -INT "$pid"
wait "$pid"
exit 0
