#!/usr/bin/env bash
# A sweep: its grid, its results, going on after it was killed, points that fail; and two of its runs compared.
# shellcheck source=lib.bash
source "${BASH_SOURCE[0]%/*}/lib.bash"

small=("synth:vector-add,n=4096" -p rtx3070 --set cores=4)

# Every combination, ranked; a database, a table and a page.
run 0 sweep "${small[@]}" --vary core.scheduler=gto,lrr --vary memory.channels=8..32*2 -j2 -o grid.db
grep -q '6 points: 0 are done, 6 to run' stderr || fail "the plan is not told"
says 'fastest first'
(($(grep -c 'gto\|lrr' stdout) == 6)) || fail "not six lines"
[[ -s grid.csv && -s grid.html ]] || fail "no table or page beside the database"
(($(wc -l <grid.csv) == 7)) || fail "the table has not six rows"
grep -q '<svg' grid.html || fail "the page has no plot"
[[ ! -e grid.db.platform.yaml ]] || fail "one configuration lies beside, as if it were everybody's"
cp stdout first

# Finished points are not run again, for any -j; the ranking is the same.
run 0 sweep "${small[@]}" --vary core.scheduler=gto,lrr --vary memory.channels=8..32*2 -o grid.db
grep -q '6 are done, 0 to run' stderr || fail "finished points run again"
cmp -s first stdout || fail "the ranking changed"

# A larger grid runs what is new; another configuration is another point.
run 0 sweep "${small[@]}" --vary core.scheduler=gto,lrr,oldest --vary memory.channels=8..32*2 -o grid.db
grep -q '9 points: 6 are done, 3 to run' stderr || fail "the larger grid does not keep the smaller one"
run 0 sweep "${small[@]}" --set dispatch.launch_latency_cycles=100 --vary core.scheduler=gto -o grid.db
grep -q '1 points: 0 are done, 1 to run; grid.db also holds 9 points' stderr || fail "mixed with another sweep"

# A trace that changed is another trace.
run 0 trace synth saxpy,n=2048 -o trace.lspk
run 0 sweep trace.lspk -p rtx3070 --vary cores=2,4 -o trace.db
run 0 trace synth saxpy,n=4096 -o other.lspk
mv other.lspk trace.lspk
run 0 sweep trace.lspk -p rtx3070 --vary cores=2,4 -o trace.db
grep -q '2 points: 0 are done, 2 to run; trace.db also holds 2' stderr || fail "took another trace for the same"

# Killed without warning, it goes on; the result is that of an undisturbed sweep.
long=("synth:gemm,m=128,n=128,k=64" -p rtx3070 --vary cores=2..9 --vary "core.scheduler=gto,lrr" --top 0)
"$LOCKSTEP" sweep "${long[@]}" -j2 -o killed.db >/dev/null 2>&1 &
pid=$!
for ((i = 0; i < 200; i++)); do
    sleep 0.05
    # The plan and some points are there.
    [[ -s killed.db ]] && (($(stat -c %s killed.db) > 700000)) && break
done
kill -9 $pid
wait $pid 2>/dev/null
run 0 sweep "${long[@]}" -j2 -o killed.db
ranking() { # without the numbers of the runs, which say in which order they ended
    awk 'NF > 3 { $2 = "" } { print }' stdout
}
ranking >resumed
run 0 sweep "${long[@]}" -j1 -o whole.db
ranking | cmp -s - resumed || fail "an interrupted sweep gives another ranking"

# A point that fails does not stop the others and is reported with its reason.
run 5 sweep synth:gemm,m=64,n=64,k=32 -p rtx3070 --vary core.registers=1024,65536 -o failed.db
says 'failed core.registers=1024: '
(($(wc -l <stderr) == 2)) || fail "the plan and one error line"
grep -q '1 of 2 points failed' stderr || fail "the error does not count"
(($(grep -c '65536' stdout) == 1)) || fail "the other point has no result"

# Nothing runs if any point is wrong.
refused 2 'core.schedule' sweep "${small[@]}" --vary core.schedule=gto -o no.db
refused 2 'nearest: gto' sweep "${small[@]}" --vary core.scheduler=gto,gtoo -o no.db
refused 2 'nothing is varied' sweep "${small[@]}" -o no.db
refused 2 'database' sweep "${small[@]}" --vary cores=1 -o no.json
refused 2 'does not exist' sweep "${small[@]}" --vary cores=1 -o missing/no.db
echo something >text.db
refused 2 'not an SQLite database' sweep "${small[@]}" --vary cores=1 -o text.db
[[ ! -e no.db && $(cat text.db) == something ]] || fail "an error left something"

# Two points of it side by side.
run 0 compare 'grid.db#1' 'grid.db#2'
says 'simulated time'
says 'memory.channels'
run 0 compare 'grid.db#1' 'grid.db#1' --check
says 'are the same'
run 5 compare 'grid.db#1' 'grid.db#6' --check
run 0 run "${small[@]}" -o a.json -o a.csv
run 0 compare a.json a.csv --check
run 0 compare a.json 'grid.db#1' --metric 'l2/*' --format json
if command -v python3 >/dev/null; then
    python3 -m json.tool stdout >/dev/null 2>&1 || fail "not valid JSON"
else
    left_out 'python3 is not there: the JSON was not read'
fi
refused 2 'nearest: resident_cycles' compare a.json a.csv --metric resident_cycle
refused 2 'no run 99' compare a.json 'grid.db#99'
head -c 1000 a.json >cut.json
refused 2 'cut.json' compare a.json cut.json
