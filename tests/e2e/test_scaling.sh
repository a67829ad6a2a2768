#!/usr/bin/env bash
# `lockstep scaling`: the table, the files, the check of equal results, refusals.
# shellcheck source=lib.bash
source "${BASH_SOURCE[0]%/*}/lib.bash"

run 0 scaling synth:vector-add,n=4096 synth:gemm,m=64,n=64,k=32 -p rtx3070 -j 2,3 -r 1 --html page.html --out rows.csv
says 'geometric mean'
says 'expected 8'
(($(grep -c ' same$' stdout) == 2)) || fail "not two rows with equal results"
(($(wc -l <rows.csv) == 15)) || fail "the table has not 1 + 2 x (1 + 3 x 2) lines"
(($(grep -c '<svg' page.html) == 3)) || fail "not one plot for each assignment"

refused 2 'is not from 2 to 1024' scaling synth:vector-add -j 2,0
refused 2 'nearest: vector-add' scaling synth:vector-ad
refused 2 'does not exist' scaling synth:vector-add,n=1024 -r 1 -j 2 --html missing/page.html
