#!/usr/bin/env bash
# Counts per instruction: their sums are the counters of the run, executions are those of the emulator, and they depend on no
# thread; they change nothing else; summary, text, CSV, SQLite; source lines; mistakes.
# shellcheck source=lib.bash
source "${BASH_SOURCE[0]%/*}/lib.bash"
command -v python3 >/dev/null || skip "python3 is not there"
check() { python3 "$SOURCE_DIR/tests/e2e/source_check.py" "$@" || fail "source_check.py $*"; }

# NVIDIA: divergence and scattered loads; shared memory with conflicts.
walk=("synth:graph-walk,nodes=256" -p rtx3070 --set cores=4)
run 0 run "${walk[@]}" -o without.json
for threads in 1 2 3 8; do
    run 0 run "${walk[@]}" --source --threads $threads -o walk$threads.json
done
check --same walk{1,2,3,8}.json
check --plain without.json walk1.json
says 'costliest instructions'
says 'walk+0x110'
run 0 run synth:gemm,m=64,n=64,k=32 -p rtx3070 --set cores=2 --source -o gemm.json
grep -q 'LDS' gemm.json || fail "no load of shared memory in the counts"

# Kernels of two streams on the same cores: executions of each are those of the kernel alone.
run 0 trace synth reduction,n=4096 -o one
run 0 trace synth gemm,m=64,n=64,k=32 -o two
sed 's/^-cuda stream id = .*/-cuda stream id = 7/' two/kernel-1.traceg >one/kernel-2.traceg
printf 'kernel-1.traceg\nkernel-2.traceg\n' >one/kernelslist.g
run 0 run one -p rtx3070 -s cores=2 -s dispatch.concurrent_kernels=4 --source --threads 2 -o beside.json
check --executed beside.json gemm.json

# AMD: GCN and RDNA, LDS, atomics, several launches and GPUs.
fir=(fir -p r9nano --size 256)
run 0 run "${fir[@]}" -o without.json
for threads in 1 2 3 8; do
    run 0 run "${fir[@]}" --source --threads $threads -o fir$threads.json
done
check --plain without.json fir1.json
run 0 emulate fir -g gfx803 --size 256 --trace-instructions fir.jsonl
check fir1.json fir.jsonl
run 0 run reduction -p rx5500xt --size 512 --source -o reduction.json
run 0 emulate reduction -g gfx1010 --size 512 --trace-instructions reduction.jsonl
check reduction.json reduction.jsonl
run 0 run histogram -p r9nano --size 2048 --source -o histogram.json
run 0 run fir -p r9nano-x4 --size 256 --devices unified --source -o four.json
check --sums walk1.json gemm.json beside.json histogram.json four.json
# A recording, on the platform that made it.
run 0 run "${fir[@]}" --record fir.lspk
run 0 run fir.lspk -p r9nano --source -o recorded.json
check --same fir{1,2,3,8}.json recorded.json

# Lines of the source, and their text.
cp "$SOURCE_DIR"/tests/data/debug/reverse.{cl,co} .
reverse=(run reverse.co -p w6800 --grid 128 -a buffer:512:f32=1.5 -a buffer:512 -a f32:2 -a u32:128 --source)
run 0 "${reverse[@]}" -o lines.json -o lines.db -o lines.csv
check --csv lines.json lines.csv.source.csv
if grep -q '"file": "./reverse.cl"' lines.json; then
    grep -q '"text": "out\[i\] = tile\[63 - l\];"' lines.json || fail "a line of the source has no text"
else
    left_out "libdw is not there: instructions have no source lines"
fi
run 0 "${reverse[@]}" --all
says 'costliest instructions: executions and stalls (cycles of compute units) of all'
says 's_waitcnt'

# A database has the same, and a view with the sums.
run 0 report lines.json -o json.html
run 0 report lines.db -o db.html
for form in json db; do
    python3 "$SOURCE_DIR/tests/e2e/report_check.py" --data $form.html >$form.data || fail "no data in $form.html"
done
cmp -s json.data db.data || fail "a database gives another report than JSON"
grep -q '"kernels_left_out"' json.data || fail "the report has no counts per instruction"
run 0 explain lines.json
if command -v sqlite3 >/dev/null; then
    [[ $(sqlite3 lines.db "SELECT instruction FROM source WHERE conflicts = 0 ORDER BY pc LIMIT 1") == s_load_dword* ]] ||
        fail "the view 'source' does not begin with the first instruction"
    sum=$(sqlite3 lines.db "SELECT sum(executed) FROM source")
    (($(sqlite3 lines.db "SELECT sum(cost) - sum(stalls) FROM source") == sum)) || fail "cost is not executions and stalls"
else
    left_out "sqlite3 is not there"
fi

# Mistakes.
refused 3 'leave --source or --fidelity out' run "${walk[@]}" --source --fidelity basic
sed 's/"counts": \[[0-9]*, /"counts": [/' lines.json >short.json
refused 2 "no valid 'counts'" report short.json -o none.html
[[ ! -e none.html ]] || fail "a failed report left a file"
