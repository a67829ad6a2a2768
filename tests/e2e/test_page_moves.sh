#!/usr/bin/env bash
# Pages that move between GPUs with a shader array's L1 above L2 (RDNA): results are right, and the same on any number of
# threads. Walks to the host without migration likewise.
# shellcheck source=lib.bash
source "${BASH_SOURCE[0]%/*}/lib.bash"

system=(-p rx5500xt --gpus 2 --devices unified -s fabric.model=pcie -s host.model=cpu -s gpus.tlb.model=cycle)

moves() { # moves WORKLOAD SET...
    local workload=$1 sets=() set
    shift
    for set in "$@"; do sets+=(-s "$set"); done
    run 0 run "$workload" "${system[@]}" "${sets[@]}" --verify --all -o one.json
    says 'correct'
    cp stdout text
    run 0 run "$workload" "${system[@]}" "${sets[@]}" -j 3 --verify -o three.json
    run 0 compare one.json three.json --check
}

counted() { # counted NAME: a counter of that name is not 0
    awk -v name="$1" '$1 == name && $2 != "0" { found = 1 } END { exit !found }' text || fail "$1 is 0"
}

moves matrixtranspose migrate.model=esi migrate.check=true
for name in pages_in shootdowns migrations taken; do counted "$name"; done
moves matrixtranspose gpus.mmu.walks=host
counted walk_latency
