#!/usr/bin/env bash
# Reports in a real browser: NVIDIA, AMD, four GPUs, two results, a sweep. Chromium comes with `make test-clients`.
# shellcheck source=../e2e/lib.bash
source "${BASH_SOURCE[0]%/*}/../e2e/lib.bash"
command -v chromium >/dev/null || skip "chromium is not there"
command -v python3 >/dev/null || skip "python3 is not there"

traces=$SOURCE_DIR/../shared/traces
bfs=$traces/bfs-sm80-v3
[[ -e $bfs ]] || bfs=synth:graph-walk,nodes=2048
run 0 run "$bfs" -p rtx3070 --series-every 500ns --source -o nvidia.json
run 0 run "$bfs" -p rtx3070 --series-every 500ns --set core.l1.latency_cycles=60 --set l2.ways=4 -o slow.json
run 0 run bitonicsort -p r9nano --series-every 1us --source --html amd.html
cp "$SOURCE_DIR"/tests/data/debug/reverse.{cl,co} .
run 0 run reverse.co -p w6800 --grid 128 -a buffer:512:f32=1.5 -a buffer:512 -a f32:2 -a u32:128 --source --html lines.html
run 0 run fir -p r9nano-x4 --devices unified --series-every 500ns --html four.html
run 0 run synth:gemm,m=128,n=128,k=64 -p rtx3070 --html gemm.html
run 0 sweep "$bfs" -p rtx3070 --vary cores=8,16,46 --vary core.l1.latency_cycles=20,60 --vary core.scheduler=gto,lrr -j2 -o sweep.db
run 0 report nvidia.json -o nvidia.html
run 0 report nvidia.json slow.json -o both.html
run 0 report sweep.db -o sweep.report.html
# axe-core, a checker of accessibility, comes from npm's registry.
axe=()
if command -v npm >/dev/null && npm pack --silent axe-core@4 >/dev/null 2>&1 && tar xzf axe-core-4*.tgz package/axe.min.js; then
    axe=(--axe package/axe.min.js)
else
    left_out 'axe-core cannot be had here: only our own rules of accessibility are checked'
fi
PYTHONPATH=$SOURCE_DIR/tests/clients python3 "$SOURCE_DIR/tests/clients/check_report.py" "${axe[@]}" \
    nvidia.html amd.html lines.html four.html gemm.html both.html sweep.report.html || fail "a report is not as it should be"
