#!/usr/bin/env bash
# Caches that are far too small for their work: every write policy, replacement and limit comes to an end.
# shellcheck source=lib.bash
source "${BASH_SOURCE[0]%/*}/lib.bash"

# The same instructions are executed with any caches.
small() {
    run 0 run synth:stencil,nx=128,ny=64 -p rtx3070 --watchdog 1ms "$@" --all
    says "$expect"
}
run 0 run synth:stencil,nx=128,ny=64 -p rtx3070 --all
expect=$(awk '$2 ~ /stencil/ { print $4 }' stdout)
[[ $expect == *,* ]] || fail "no count of warp instructions: '$expect'"

for policy in through back evict around; do
    for limit in 0 25 100; do
        small -s core.l1.write_policy=$policy -s core.l1.sets=1 -s core.unified_kib=0 -s core.l1.ways=1 -s core.l1.dirty_limit_percent=$limit
        small -s core.l1.write_policy=$policy -s core.unified_kib=0 -s core.l1.ways=2 -s core.l1.dirty_limit_percent=$limit
    done
    small -s core.l1.write_policy=$policy -s core.unified_kib=0 -s core.l1.ways=16 -s core.scheduler=gto -s core.l1.replacement=random
    small -s core.l1.write_policy=$policy -s core.unified_kib=0 -s core.l1.ways=4 --fidelity basic
    small -s core.l1.write_policy=$policy --fidelity basic
done
for limit in 0 100; do
    small -s l2.sets=1 -s l2.ways=1 -s l2.dirty_limit_percent=$limit
    small -s l2.sets=2 -s l2.ways=2 -s l2.dirty_limit_percent=$limit -s l2.miss_queue=2
done
