#!/usr/bin/env bash
# Generated kernels for Hopper on its machine: the same results for any number of threads, and from text, .lspk and .tracez
# files; no instruction is left out; memory by formula refuses semaphores by name.
# shellcheck source=lib.bash
source "${BASH_SOURCE[0]%/*}/lib.bash"

gpu=(-p h100-sxm -s cores=16)

# same_counters A B: tidy files of two runs.
same_counters() {
    cmp <(grep ',counter,' "$1") <(grep ',counter,' "$2")
}
for work in gemm-hopper,m=256,n=512,k=256,cluster_m=2,tile_n=256,blocks_n=1 attention-hopper,heads=2,queries=128,keys=256 \
    gemm-hopper,m=256,n=256,k=512,splits=3 gemm-hopper,m=384,n=128,k=192,tile_m=192,consumers=3; do
    for threads in 1 2 3 8; do
        run 0 run "synth:$work" "${gpu[@]}" --threads "$threads" -o "out$threads.tidy.csv"
        grep -q 'not modelled and ran without' stderr && fail "$work: $(cat stderr)"
        same_counters out1.tidy.csv "out$threads.tidy.csv" || fail "$work: $threads threads count otherwise than 1"
    done
    rm -rf text pages packed.lspk
    run 0 trace synth "$work" -o text
    run 0 trace synth "$work" -o packed.lspk
    run 0 trace pack text -o pages --format tracez
    for trace in text packed.lspk pages; do
        run 0 run "$trace" "${gpu[@]}" -o again.tidy.csv
        same_counters out1.tidy.csv again.tidy.csv || fail "$work: $trace counts otherwise than the generator"
    done
done
run 2 run synth:grid-all-reduce,ctas=8 -p h100 --fidelity memory
grep -q 'need a memory that is simulated' stderr || fail "no reason: $(cat stderr)"
