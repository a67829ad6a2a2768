#!/usr/bin/env bash
# The timeline inside of a report in a real browser: NVIDIA, AMD, four GPUs with pages that move, a million spans.
# shellcheck source=../e2e/lib.bash
source "${BASH_SOURCE[0]%/*}/../e2e/lib.bash"
command -v chromium >/dev/null || skip "chromium is not there"
command -v python3 >/dev/null || skip "python3 is not there"

run 0 run -p rtx3070 synth:reduction,n=16384 --html nvidia.html --timeline nvidia.pftrace
run 0 run -p r9nano fir --size 2048 -s clusters=2 --timeline amd.html
run 0 run fir -p r9nano-x4 --devices unified -s gpus.clusters=1 --size 1024 -s migrate.model=page --html four.html --timeline four.json
run 0 run -p rtx3070 synth:gemm,m=512,n=512,k=128 --timeline million.html
bytes=$(stat -c %s million.html)
((bytes < 24 * 1000 * 1000)) || fail "a page of a million spans has $bytes bytes"
PYTHONPATH=$SOURCE_DIR/tests/clients python3 "$SOURCE_DIR/tests/clients/check_timeline.py" nvidia.html amd.html four.html \
    --million million.html || fail "a timeline is not as it should be"
PYTHONPATH=$SOURCE_DIR/tests/clients python3 "$SOURCE_DIR/tests/clients/check_report.py" nvidia.html four.html ||
    fail "a report with a timeline is not as it should be"
