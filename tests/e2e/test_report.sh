#!/usr/bin/env bash
# Reports: whole pages that load nothing, with the numbers of their results; the same for any number of threads and from each
# format; several results, sweeps, many kernels; and mistakes.
# shellcheck source=lib.bash
source "${BASH_SOURCE[0]%/*}/lib.bash"
command -v python3 >/dev/null || skip "python3 is not there"
check() { python3 "$SOURCE_DIR/tests/e2e/report_check.py" "$@" || fail "report_check.py $*"; }
data() { python3 "$SOURCE_DIR/tests/e2e/report_check.py" --data "$1" >"$2" || fail "no data in $1"; }

walk=("synth:graph-walk,nodes=512" -p rtx3070 --set cores=4 --series-every 500ns --source)
fir=(fir -p r9nano --size 4096 --series-every 500ns --source)

# NVIDIA and AMD, from JSON and SQLite: one page each, with the same data.
for threads in 1 2 3 8; do
    run 0 run "${walk[@]}" --threads $threads -o walk$threads.json --html live$threads.html
    run 0 report walk$threads.json -o walk$threads.html
    data walk$threads.html walk$threads.data
    data live$threads.html live$threads.data
    cmp -s walk1.data walk$threads.data || fail "$threads threads make another report"
    cmp -s walk1.data live$threads.data || fail "run --html with $threads threads differs from report"
done
says 'wrote walk8.html'
run 0 run "${fir[@]}" -o fir.json -o two.db
run 0 run "${walk[@]}" -o two.db
run 0 report fir.json -o fir.html
check walk1.html walk1.json
check fir.html fir.json
run 0 report two.db#1 -o fir-db.html
run 0 report two.db -o walk-db.html
data fir.html fir.data
data fir-db.html fir-db.data
data walk-db.html walk-db.data
cmp -s fir.data fir-db.data || fail "a database gives another report than JSON"
cmp -s walk1.data walk-db.data || fail "the last run of a database gives another report than JSON"

# Four GPUs with a fabric: values of each GPU and links.
run 0 run fir -p r9nano-x4 --size 4096 --devices unified -o four.json
run 0 report four.json -o four.html
check four.html four.json
data four.html four.data
grep -q '"fabric.link/counters"' four.data || fail "no links in the report of four GPUs"
grep -q '"by_gpu"' four.data || fail "no values of single GPUs"

# Configuration: the origin of each value, and keys that the run changed.
grep -A6 '"cores",' walk1.data | grep -q '"this run"' || fail "a key of --set has no mark"
grep -q '"rtx3070.yaml:[0-9]*"' walk1.data || fail "no value comes from the platform's file"

# Several results; CSV has less and is read too.
run 0 run "${walk[@]}" --set l2.ways=4 -o other.json -o other.csv
run 0 report walk1.json other.json -o both.html
check both.html walk1.json other.json
run 0 report walk1.json other.csv --title 'A <b> & "c"' -o mixed.html
check mixed.html
grep -q '<h1>A &lt;b&gt; &amp; &quot;c&quot;</h1>' mixed.html || fail "the title is not escaped"

# A sweep: its points.
run 0 sweep synth:vector-add,n=1024 -p rtx3070 --vary cores=2,4,8 --vary core.scheduler=gto,lrr -j2 -o sweep.db
run 0 report sweep.db -o sweep.report.html
check sweep.report.html
data sweep.report.html sweep.data
(($(grep -c '"run":' sweep.data) == 6)) || fail "not six points"

# A thousand kernels are less than 2 MB, also for a page with all their metrics.
run 0 trace synth vector-add,n=512 -o trace
kernel=$(grep -m1 kernel- trace/kernelslist.g)
for ((i = 0; i < 1000; i++)); do echo "$kernel"; done >trace/kernelslist.g
run 0 run trace -p rtx3070 --set cores=4 --source -o many.json
run 0 report many.json -o many.html
(($(stat -c %s many.html) < 2000000)) || fail "the report of 1,000 kernels has $(stat -c %s many.html) bytes"
check many.html many.json

# So are a thousand names of kernels with ten instructions each: the costliest are kept, and the page says what it leaves out.
python3 - <<'END' || fail "no result with many kernels"
import json
result = json.load(open("many.json"))
kernels = result["source"]["kernels"]
insts = kernels[0]["instructions"][:10]
for i, kernel in enumerate(result["kernels"]):
    kernel["name"] = f"kernel_{i}"
result["source"]["kernels"] = [
    {"name": f"kernel_{i}", "launches": 1,
     "instructions": [dict(inst, counts=[inst["counts"][0] + i] + inst["counts"][1:]) for inst in insts]}
    for i in range(1000)]
json.dump(result, open("names.json", "w"))
END
run 0 report names.json -o names.html
(($(stat -c %s names.html) < 2000000)) || fail "the report of 1,000 names has $(stat -c %s names.html) bytes"
check names.html names.json
data names.html names.data
grep -q '"kernels_left_out": 700' names.data || fail "the report does not say which kernels it leaves out"

# Text of the data cannot end its element.
sed 's/"platform": "rtx3070"/"platform": "<\/script><b>"/' walk1.json >evil.json
run 0 report evil.json -o evil.html
check evil.html

# Mistakes are one line, and nothing is written.
refused 2 'RESULT' report
refused 2 'missing.json' report missing.json -o none.html
echo '{"format": "other"}' >foreign.json
refused 2 'lockstep-results' report foreign.json -o none.html
refused 2 'two.db#9' report 'two.db#9' -o none.html
refused 2 'directory does not exist' report walk1.json -o no/such/dir.html
[[ ! -e none.html ]] || fail "a failed report left a file"
