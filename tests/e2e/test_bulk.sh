#!/usr/bin/env bash
# Mbarriers and bulk copies by the command line: the same numbers for any number of threads and after a checkpoint within
# a copy, basic fidelity beside detailed, refusals by name, and a wait that never ends.
# shellcheck source=lib.bash
source "${BASH_SOURCE[0]%/*}/lib.bash"
# shellcheck source=checkpoint.bash
source "${BASH_SOURCE[0]%/*}/checkpoint.bash"

small=(-p h100 -s cores=8 -s memory.channels=4 -s dispatch.launch_latency_cycles=100)
gemm=synth:gemm-hopper,m=256,n=256,k=256
copies=synth:bulk-copy,bytes=8192,ctas=16,warps=4,copies=6

# Threads.
for workload in "$gemm" "$copies"; do
    for fidelity in detailed basic; do
        for threads in 1 2 3 8; do
            numbers "t$threads" run "$workload" "${small[@]}" --fidelity $fidelity -j $threads
            cmp -s t1 "t$threads" || fail "$workload, $fidelity: other numbers with $threads threads"
        done
    done
done

# Copies follow each other, so that each checkpoint is within some.
for fidelity in detailed basic; do
    check "copies-$fidelity" at=2us 2 3 "$copies" "${small[@]}" --fidelity $fidelity
    check "gemm-$fidelity" at=2500ns 1 2 "$gemm" "${small[@]}" --fidelity $fidelity
done

# Multicasts and arrivals of other blocks of a cluster.
cluster=('synth:gemm-hopper,m=512,n=256,k=128,cluster_m=2' "${small[@]}" -s cluster.gpcs=2)
numbers one run "${cluster[@]}"
grep -q 'tma_multicasts,counter,value,16,' one || fail "no multicast"
for threads in 2 3 8; do
    numbers more run "${cluster[@]}" -j $threads
    cmp -s one more || fail "clusters: other numbers with $threads threads"
done
check cluster at=2us 2 1 "${cluster[@]}"

# Requests for pages that the TLB does not know wait for room.
run 0 run "$gemm" "${small[@]}" -s core.translation=cycle -s core.tlb.waiting=1
numbers one run "$gemm" "${small[@]}" -s core.translation=cycle -s core.tlb.waiting=4
numbers more run "$gemm" "${small[@]}" -s core.translation=cycle -s core.tlb.waiting=4 -j 3
cmp -s one more || fail "a TLB: other numbers with 3 threads"

# Basic fidelity is close.
cycles() {
    run 0 run "$@" -f json -o out.json
    sed -n 's/.*"cycles": \([0-9]*\).*/\1/p' out.json | head -1
}
for workload in "$gemm" "$copies"; do
    detailed=$(cycles "$workload" "${small[@]}")
    basic=$(cycles "$workload" "${small[@]}" --fidelity basic)
    ((100 * basic > 95 * detailed && 100 * basic < 105 * detailed)) ||
        fail "$workload takes $basic cycles instead of $detailed"
done

# Machines without the unit refuse by name, and run without the effects on request.
for platform in "h100 --fidelity memory" a100 accelsim-rtx3070 "h100 -s core.async=none"; do
    # shellcheck disable=SC2086 # options
    refused 3 'instructions that are not modelled (SYNCS' run "$copies" -p $platform
done
run 0 run "$copies" "${small[@]}" -s core.async=none --unmodelled skip
grep -q 'SYNCS 880, UBLKCP 96' stdout || fail "other numbers of instructions that are not modelled"

# More bytes are expected than come: the report names the mbarrier.
run 0 trace unpack "synth:bulk-copy,copies=2" -o text
sed 's/ 1 00001000 $/ 1 00002000 /' text/kernel-1.traceg >never.traceg
run 4 run never.traceg "${small[@]}"
grep -qF 'mbarrier 0x0 of block 0: phase 0 lacks 0 of 1 arrivals and 4096 bytes' stderr || fail 'the report does not name the mbarrier'

# Requests are for lines. A coalescer that joins nothing has them sector by sector: the same sectors, and nearly the same time.
apart=(-s l2.coalesce_entries=4096 -s l2.coalesce_requests=1)
for workload in "$gemm" "$copies"; do
    together=$(cycles "$workload" "${small[@]}")
    single=$(cycles "$workload" "${small[@]}" "${apart[@]}")
    ((100 * together > 95 * single && 100 * together < 105 * single)) ||
        fail "$workload takes $together cycles with lines and $single with sectors"
    numbers lines run "$workload" "${small[@]}"
    numbers sectors run "$workload" "${small[@]}" "${apart[@]}"
    cmp -s <(grep -E '(tma_sectors|requests_sent),counter' lines) <(grep -E '(tma_sectors|requests_sent),counter' sectors) ||
        fail "$workload: other sectors with lines"
done

# The same over switches, with any number of threads and after a checkpoint.
mesh=("${small[@]}" -s noc.model=mesh)
for threads in 1 2 3 8; do
    numbers "t$threads" run "$gemm" "${mesh[@]}" -j $threads
    cmp -s t1 "t$threads" || fail "mesh: other numbers with $threads threads"
done
check mesh at=2500ns 1 2 "$gemm" "${mesh[@]}"
