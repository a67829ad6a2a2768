#!/usr/bin/env bash
# Running a machine: results, outputs with their configuration, deadlock, refused plug-ins, the same bits.
# shellcheck source=lib.bash
source "$(dirname "$0")/lib.bash"

printf 'machine: pingpong\nhits: 500\n' >game.yaml
play=(--plugin "$PINGPONG" run --platform game.yaml)

run 0 "${play[@]}"
[[ ! -s stderr ]] || fail 'something on stderr'
says 'player/steady'
grep -qE 'hits +500' stdout || fail 'the players did not hit 500 times'

# One format per extension, the configuration beside each, nothing else.
mkdir results
run 0 "${play[@]}" --out results/a.json --out results/a.csv --out results/a.db --set hits=600
(cd results && ls) >files
printf '%s\n' a.csv a.csv.platform.yaml a.db a.json a.json.platform.yaml | cmp -s - files ||
    fail "other files than expected: $(tr '\n' ' ' <files)"
grep -qx 'hits: 600' results/a.json.platform.yaml || fail 'the resolved configuration is not beside the result'
hash=$(sed -n 's/.*"config_hash": "\([0-9a-f]*\)".*/\1/p' results/a.json)
run 0 --plugin "$PINGPONG" run --platform results/a.json.platform.yaml --format json
says "\"config_hash\": \"$hash\""

# Mistakes are found before anything runs, and leave no files.
refused 2 'a.what' "${play[@]}" --out results/a.what
refused 2 'nowhere' "${play[@]}" --out nowhere/a.json
refused 2 'named twice' "${play[@]}" --out results/b.json --out results/b.json
refused 2 'hit' "${play[@]}" --set hit=3
refused 2 'hits' "${play[@]}" --set hits=many
refused 2 'a platform is missing' --plugin "$PINGPONG" run
refused 2 'no-such-platform' --plugin "$PINGPONG" run --platform no-such-platform
[[ ! -e results/b.json ]] || fail 'a refused run left a file'

run 0 "${play[@]}" --dry-run --out results/c.json
says 'lookahead'
[[ ! -e results/c.json ]] || fail 'a dry run wrote a file'

# A deadlock: one line, then the report; exit code 4; no file.
run 4 "${play[@]}" --set deadlock_at=20 --out results/d.json
head -1 stderr | grep -q '^lockstep: .*deadlock' || fail 'the first line does not name the deadlock'
grep -q 'waits for a smile' stderr || fail 'the report does not say who waits for what'
[[ ! -e results/d.json && ! -e results/d.json.platform.yaml ]] || fail 'a deadlock left a result'
[[ ! -s stdout ]] || fail 'a deadlock printed results'

# Plug-ins that do not fit.
refused 2 'ABI' --plugin "$OTHER_ABI" blocks
refused 2 'missing.so' --plugin ./missing.so blocks
echo text >text.so
refused 2 'text.so' --plugin ./text.so blocks

# The same bits for any number of threads, window and assignment; different ones for another configuration.
data() {
    run 0 "${play[@]}" --format tidy "$@"
    grep -v '^host,' stdout
}
data >reference.csv
for threads in 2 3 8; do
    for how in static fixed dynamic shuffled; do
        data --threads "$threads" --assignment "$how" | cmp -s - reference.csv ||
            fail "$threads threads, $how: other bits"
    done
done
data --window 1ns --threads 2 | cmp -s - reference.csv || fail 'a small window: other bits'
data --set hits=501 | cmp -s - reference.csv && fail 'another game, the same bits'

# The first hit is in cycle 1, then one every 10 + 3 cycles of 1 ns: 8 before 100 ns.
run 0 "${play[@]}" --until 100ns
grep -qE '^ *hits +8 ' stdout || fail '--until 100ns: not 8 hits'
run 0 "${play[@]}" --scaling --threads 2
says 'scaling'
exit 0
