#!/usr/bin/env bash
# Every kind of Hopper's instructions at every fidelity: basic is within 10 % of detailed; memory is as well, or refuses by
# the name of the instruction and of the fidelities that have it. Basic gives the same bits with any number of threads.
# shellcheck source=lib.bash
source "${BASH_SOURCE[0]%/*}/lib.bash"
# shellcheck source=hopper_trace.bash
source "$SOURCE_DIR/tests/e2e/hopper_trace.bash"
# shellcheck source=checkpoint.bash
source "$SOURCE_DIR/tests/e2e/checkpoint.bash"

small+=(-s dispatch.launch_latency_cycles=100)

SHARED=114688 trace mix '4 8' '2 2' 4 cluster_mix
trace atomics '4 8' '2 2' 4 cluster_atomics
one_lane atomics
COUNT=30 trace barriers '2 2' '2 2' 4 barriers
SIGNAL=PREEXIT WAIT=ACQBULK trace dependent '8 1' '1 1' 2 first
SIGNAL=PREEXIT WAIT=ACQBULK trace dependent '8 1' '1 1' 2 second
# More stores than the core's queue holds.
burst() {
    (($1 == 0)) && times 20 "0 STS.128 2 R2 R4 16 1 0x1000100 16 0 0 NoVal"
    echo "$EXIT"
}
trace burst '2 1' '2 1' 16 burst
# Warp groups without mbarriers, A in shared memory and in registers; one and two groups in a block.
for n in 64 256; do
    COUNT=40 OPCODE=HGMMA.64x${n}x16.F32 SOURCES='1 R24' trace "shared$n" '16 1' '1 1' 4 matrices
    COUNT=40 OPCODE=HGMMA.64x${n}x16.F32 SOURCES='2 R24 R200' trace "registers$n" '16 1' '1 1' 8 matrices
done

# near NAME FIDELITY CYCLES OF: within 10 %
near() {
    ((10 * $3 >= 9 * $4 && 10 * $3 <= 11 * $4)) || fail "$1: $3 cycles with --fidelity $2, $4 with detailed"
}

# both WORKLOAD MEMORY: MEMORY is the opcode that memory refuses by name, or "near".
both() {
    local detailed basic memory
    detailed=$(cycles "$1" "${small[@]}")
    basic=$(cycles "$1" "${small[@]}" --fidelity basic)
    near "$1" basic "$basic" "$detailed"
    if [[ $2 == near ]]; then
        memory=$(cycles "$1" "${small[@]}" --fidelity memory)
        near "$1" memory "$memory" "$detailed"
    else
        refused 3 "the first is $2 at pc" run --all "$1" "${small[@]}" --fidelity memory
        grep -q -- '--fidelity basic and detailed have units for them' stderr || fail "$1: no other fidelity is named"
    fi
}
while read -r workload memory; do
    both "$workload" "$memory"
done <<'ROWS'
synth:bulk-copy,bytes=8192,ctas=16,warps=4,copies=6 SYNCS
synth:bulk-copy,bytes=4096,ctas=16,warps=4,copies=6,dimensions=2 SYNCS
synth:cluster-chase,blocks=2,rank=1 UCGABAR_ARV
synth:cluster-chase,blocks=8,rank=5 UCGABAR_ARV
synth:gemm-hopper,m=256,n=256,k=256 SYNCS
synth:gemm-hopper,m=512,n=256,k=128,cluster_m=2 SYNCS
synth:gemm-hopper,m=512,n=256,k=128,cluster_m=2,cluster_n=2 SYNCS
synth:gemm-hopper,m=256,n=256,k=512,splits=2 SYNCS
synth:gemm-hopper,m=256,n=256,k=512,stream_blocks=3 SYNCS
synth:attention-hopper,heads=2,queries=256,keys=256 SYNCS
mix UCGABAR_ARV
atomics SYNCS
barriers UCGABAR_ARV
dependent ACQBULK
shared64 near
shared256 near
registers64 near
registers256 near
ROWS
near burst basic "$(cycles burst "${small[@]}" --fidelity basic)" "$(cycles burst "${small[@]}")"
near grid basic "$(cycles synth:grid-all-reduce,ctas=16 "${small[@]}" --fidelity basic)" \
    "$(cycles synth:grid-all-reduce,ctas=16 "${small[@]}")"
refused 2 'core.memory must be cycle (--fidelity basic or detailed)' run synth:grid-all-reduce,ctas=16 "${small[@]}" --fidelity memory

# Basic: threads, and checkpoints among messages between blocks.
for workload in mix atomics dependent synth:gemm-hopper,m=512,n=256,k=128,cluster_m=2; do
    numbers one run "$workload" "${small[@]}" --fidelity basic -j 1
    for threads in 2 3 8; do
        numbers more run "$workload" "${small[@]}" --fidelity basic -j "$threads"
        cmp -s one more || fail "$workload: other numbers with $threads threads: $(diff one more | head -3)"
    done
    for at in 500 900 1300; do
        check "basic.$at" "at=${at}ns" 2 3 "$workload" "${small[@]}" --fidelity basic
    done
done
