#!/usr/bin/env bash
# `lockstep explain`: twelve kernels whose limit is known by construction, each with the right sentence first, in the summary
# and in the explanation; experiments; results that cannot be explained or repeated.
# shellcheck source=lib.bash
source "${BASH_SOURCE[0]%/*}/lib.bash"

small=(-p rtx3070 -s cores=8 -s memory.channels=4)
# limit TITLE SENTENCE WORKLOAD: a title as in the table of kernels, the begin of its sentence.
limit() {
    run 0 run "$3" "${small[@]}" -o result.json -o results.db --run-id "$1"
    grep -q "^    1. $2" stdout || fail "$1: the summary begins with $(grep '^    1. ' stdout)"
    (($(wc -l <stdout) <= 45)) || fail "$1: the summary has $(wc -l <stdout) lines"
    awk 'length > 110 { exit 1 }' stdout || fail "$1: a line of the summary is too long"
    run 0 explain result.json
    grep -q "^  1. $1: estimate " stdout || fail "$1 is not the first: $(grep '^  [0-9]. ' stdout)"
    sed 's/^[^:]*: //' stdout >from.json
    run 0 explain results.db
    sed 's/^[^:]*: //' stdout | cmp -s - from.json || fail "$1: JSON and SQLite are explained differently"
}
limit 'DRAM bandwidth' 'DRAM is busy for' synth:bandwidth,footprint_kib=1024,ctas=48
limit 'memory latency' '[0-9.]* % of the issue slots wait for data from memory' synth:pointer-chase,footprint_kib=16384,loads=16,warps=8,ctas=48
limit 'bank conflicts' 'Bank conflicts repeat' synth:shared-conflict,stride_bytes=128,count=32,warps=8,ctas=16
limit 'uncoalesced accesses' 'A memory instruction touches' synth:transpose,n=192,mode=naive
limit 'divergence' 'Only [0-9.]* % of the lanes are active' synth:throughput,op=FFMA,count=256,warps=8,ctas=48,lanes=4
limit 'registers' 'Registers limit a core' synth:pointer-chase,footprint_kib=16384,loads=16,warps=4,ctas=32,thread_registers=255
limit 'shared memory' 'Shared memory (LDS) limits' synth:pointer-chase,footprint_kib=16384,loads=16,warps=2,ctas=16,block_shared_kib=48
limit 'tail of the grid' 'Cores are without work' synth:throughput,op=FFMA,count=512,warps=32,ctas=9
limit 'barriers' '[0-9.]* % of the issue slots wait at barriers' synth:barrier-storm,ctas=8,warps=32,work=4,slow=16,barriers=32
limit 'tensor units' 'Units of matrix instructions are busy' synth:throughput,op=HMMA,count=64,warps=8,ctas=16
limit 'launches' 'Launches take' synth:vector-add,n=2048,repeat=8
limit 'atomics' '[0-9.]* % of the memory instructions are atomics' synth:atomics,ctas=16,count=4

# The limit goes, the time goes. The number of jobs changes nothing.
run 0 run synth:bandwidth,footprint_kib=512,ctas=48 "${small[@]}" -o fast.json
run 0 explain fast.json --try -j 2
cp stdout two
grep -qE '^  as it is +[0-9,]+ ' stdout || fail 'the run as it is is missing'
gain=$(sed -nE 's/^  DRAM twice as fast .* ([0-9]\.[0-9]+) x .*/\1/p' stdout)
awk "BEGIN { exit !(${gain:-0} > 1.3) }" || fail "DRAM twice as fast brings '$gain'"
run 0 explain fast.json --try
cmp -s stdout two || fail 'the number of jobs changes gains'

# AMD: a kernel that does nothing, and one that only copies.
run 0 run empty_kernel_multi -p r9nano -o empty.json
run 0 explain empty.json --try
grep -qE '^  [12]. launches: estimate ' stdout || fail "an empty kernel: $(grep '^  [0-9]. ' stdout)"
gain=$(sed -nE 's/^  launches 8 times as fast .* ([0-9]+\.[0-9]+) x .*/\1/p' stdout)
awk "BEGIN { exit !(${gain:-0} > 1.5) }" || fail "faster launches bring '$gain'"

# Results without a command line, without configuration, of nothing.
sed 's/"command": "[^"]*"/"command": "python"/' fast.json >python.json
refused 2 "the run cannot be repeated: 'python' is not a command line of lockstep run" explain python.json --try
run 0 explain python.json
sed 's/"command": "[^"]*"/"command": "lockstep run synth:nothing -p rtx3070"/' fast.json >gone.json
refused 2 "the run cannot be repeated: there is no generator 'nothing'" explain gone.json --try
run 0 run synth:vector-add,n=2048 "${small[@]}" -o rows.csv
refused 2 'it has no values of single blocks, which the rules need' explain rows.csv
refused 2 'missing.json' explain missing.json
refused 2 '--jobs has no effect without --try' explain fast.json -j 2

# Keys of experiments exist.
while IFS='|' read -r _ _ _ _ _ gpu amd _; do
    for pair in "rtx3070 $gpu" "r9nano $amd"; do
        for change in ${pair#* }; do
            change=${change//\`/}
            [[ $change == - ]] && continue
            run 0 config explain "${change%%[*/=]*}" -p "${pair%% *}"
        done
    done
done < <(sed -n '/^| limit /,/^$/p' "$SOURCE_DIR/docs/explain.md" | sed 1,2d)
exit 0
