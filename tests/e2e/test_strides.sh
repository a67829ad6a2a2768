#!/usr/bin/env bash
# Rows whose distance is a power of two are no worse for the caches of a platform than rows of a neighbouring size.
# shellcheck source=lib.bash
source "${BASH_SOURCE[0]%/*}/lib.bash"

[[ -f $BINARY_DIR/share/lockstep/kernels/gfx803/atax.co ]] || skip "the workloads' kernels are not built"

# walk PLATFORM SIZE OPTION...: kernel cycles, and hits of the first cache in tenths of a percent
walk() {
    run 0 run --all "$program" -p "$1" --size "$2" "${@:3}"
    cycles=$(awk '$1 == "kernel_cycles" { gsub(",", "", $2); print $2; exit }' stdout)
    hits=$(awk '$1 == "vector" { gsub(/[%.]/, "", $3); print $3 + 0; exit }' stdout)
    [[ $cycles =~ ^[0-9]+$ && $hits =~ ^[0-9]+$ ]] || fail "no cycles or no hit rate: '$cycles', '$hits'"
}

for platform in r9nano navisim-p3 rx5500xt w6800 rx6900xt; do
    for program in atax bicg; do
        walk "$platform" 516
        near_cycles=$cycles near_hits=$hits
        walk "$platform" 512
        # The rows of the waves on a compute unit fill its first cache exactly: some sets are short of a line or two.
        ((hits * 2 >= near_hits)) || fail "$platform, $program: $hits hits of 1000 with 512 rows, $near_hits with 516"
        ((cycles * 10 <= near_cycles * 12)) || fail "$platform, $program: $cycles cycles with 512 rows, $near_cycles with 516"
    done
    # The same with the lowest bits alone: the defaults avoid this.
    program=atax
    walk "$platform" 512 -s vector_cache.hash=none -s l2.hash=none -s memory.slice_hash=none
    ((hits < near_hits / 4)) || fail "$platform: $hits hits of 1000 without a hash: this test shows nothing"
done
