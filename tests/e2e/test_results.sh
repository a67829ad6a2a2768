#!/usr/bin/env bash
# Results are never lost: programs that write one database at once, sweeps that share one, ids, a killed run, a full
# disk.
# shellcheck source=lib.bash
source "${BASH_SOURCE[0]%/*}/lib.bash"

small=('synth:vector-add,n=1024' -p rtx3070 --set cores=2)
command -v sqlite3 >/dev/null || skip 'no sqlite3'

# Eight programs make one database. (tests/report/test_export_sqlite.c repeats this a hundred times.)
for ((try = 0; try < 3; try++)); do
    pids=()
    for ((i = 0; i < 8; i++)); do
        "$LOCKSTEP" run "${small[@]}" --run-id "run $i" -o "many$try.db" >/dev/null 2>"stderr$i" &
        pids+=($!)
    done
    for ((i = 0; i < 8; i++)); do
        wait "${pids[i]}" || fail "a writer failed: $(cat "stderr$i")"
    done
    runs=$(sqlite3 "many$try.db" 'SELECT count(*) || " " || count(DISTINCT run_id) FROM host')
    [[ $runs == '8 8' ]] || fail "8 programs left runs: $runs"
done

# The same id again is refused before anything is simulated, and at once.
refused 2 "already has a run with the id 'run 3'" run "${small[@]}" --run-id 'run 3' -o many0.db
refused 2 "already has a run with the id 'run 3'" run "${small[@]}" --run-id 'run 3' -o other.json -o many0.db
[[ ! -e other.json ]] || fail 'a refused run left a file'
(($(sqlite3 many0.db 'SELECT count(*) FROM runs') == 8)) || fail 'a refused run is in the database'

# Two sweeps of the same grid at once share the work: each point is there once, and both show all of them.
grid=('synth:gemm,m=64,n=64,k=64' -p rtx3070 --vary "cores=2..9" --top 0)
for ((try = 0; try < 3; try++)); do
    "$LOCKSTEP" sweep "${grid[@]}" -o "shared$try.db" >first 2>first.err &
    pid=$!
    "$LOCKSTEP" sweep "${grid[@]}" -o "shared$try.db" >second 2>second.err || fail "a sweep failed: $(cat second.err)"
    wait $pid || fail "a sweep failed: $(cat first.err)"
    cmp -s first second || fail 'two sweeps of one grid show different results'
    points=$(sqlite3 "shared$try.db" 'SELECT count(*) || " " || count(DISTINCT run_id) FROM host')
    [[ $points == '8 8' ]] || fail "two sweeps left points: $points"
    (($(sqlite3 "shared$try.db" 'SELECT count(*) FROM point_claims') == 0)) || fail 'a claim is left'
done
(($(grep -c '^ *[0-9]' first) == 8)) || fail 'not every point is shown'

# The claim of a killed sweep does not stop the next one.
sqlite3 shared0.db "DELETE FROM host WHERE run = 1; DELETE FROM runs WHERE run = 1;
    INSERT INTO point_claims SELECT id, '$(hostname)', 999999999, '1', 0 FROM points"
run 0 sweep "${grid[@]}" -o shared0.db
grep -q '7 are done, 1 to run' stderr || fail 'the missing point is not run'

# A partial run of a point is not its result.
sqlite3 shared0.db 'UPDATE runs SET partial = 1 WHERE run = 2'
run 0 sweep "${grid[@]}" -o shared0.db
(($(sqlite3 shared0.db 'SELECT count(*) FROM host') == 8)) || fail 'a partial run stays beside its successor'

# Temporary files of a killed run are removed by the next one.
touch .x.json.99999-1.tmp
run 0 run --all "${small[@]}" -o x.json
[[ ! -e .x.json.99999-1.tmp ]] || fail 'the temporary file of a killed run stays'

# A full disk is named, nothing half-written stays, and the summary is printed all the same.
ln -s /dev/full full.json
run 2 run --all "${small[@]}" -o full.json -o after.csv
grep -q 'full.json: cannot write the file: No space left on device' stderr || fail 'the reason is missing'
says 'simulated time'
[[ -s after.csv ]] || fail 'one file that fails takes the others with it'
for file in limit.json limit.db; do
    (
        trap '' XFSZ
        ulimit -f 8
        exec "$LOCKSTEP" run "${small[@]}" -o $file >limited 2>stderr
    )
    code=$?
    ((code == 2)) || fail "$file beyond the limit: exit code $code"
    grep -q "$file: cannot write the .*: File too large" stderr || fail 'the reason is missing'
    [[ ! -e $file ]] || fail 'half a file'
done
# The same on a real disk of 4 KiB, where root may mount one: also when the write that failed is long past.
mkdir disk
if mount -t tmpfs -o size=4k tmpfs disk 2>/dev/null; then
    trap 'umount "$work/disk"; rm -rf "$work"' EXIT
    run 2 run --all "${small[@]}" -o disk/r.json
    grep -q 'disk/r.json: cannot write the file: No space left on device' stderr || fail 'the reason is missing'
    [[ -z $(ls -A disk) ]] || fail "half a file: $(ls -A disk)"
    "$LOCKSTEP" run "${small[@]}" -f json >disk/out 2>stderr && fail 'standard output on a full disk is a success'
    grep -q 'could not be written: No space left on device' stderr || fail "the reason is missing: $(cat stderr)"
    "$LOCKSTEP" run --all "${small[@]}" >disk/out 2>stderr && fail 'standard output on a full disk is a success'
    grep -q 'cannot write standard output: No space left on device' stderr || fail "the reason is missing: $(cat stderr)"
    run 2 emulate fir --trace-instructions disk/steps
    grep -q 'instruction trace could not be written: No space left' stderr || fail 'the reason is missing'
else
    left_out 'no tmpfs can be mounted: a full disk was not tried'
fi

# Metrics over time: the same bytes for any number of threads, in each format, and sums that are the run's counters.
over=(run 'synth:gather,n=4096,table_kib=64' -p rtx3070 -s cores=2 --series-every 1000cycles --series 'core/*.issued')
run 0 "${over[@]}" -o time1.csv -o time1.json -o time1.db
run 0 "${over[@]}" -o time3.csv -j 3
cmp time1.csv.series.csv time3.csv.series.csv || fail 'metrics over time depend on threads'
[[ $(head -n 1 time1.csv.series.csv | tr -d '\r') == 'begin_ns,gpu0 core/cycle.issued [issue slots]' ]] || fail 'the head'
[[ ! -e time1.json.series.csv ]] || fail 'JSON has metrics over time inside'
python3 - <<'END' || fail 'metrics over time do not add up'
import json, sqlite3
r = json.load(open("time1.json"))
total = r["values"]["types"]["core/cycle"]["issued"]
[values] = r["series"]["values"]
rows = sqlite3.connect("time1.db").execute("SELECT value FROM series ORDER BY interval").fetchall()
assert sum(values) == total and [v for (v,) in rows] == values and len(values) == r["series"]["intervals"] > 3
END
refused 2 "'1000cycle' is no interval of time: write it as in 500ns" run synth:vector-add,n=64 -p rtx3070 --series-every 1000cycle
left=$(find . -name '.*.tmp' -o -name '*-journal')
[[ -z $left ]] || fail "temporary files stay: $left"
exit 0
