#!/usr/bin/env bash
# Checkpoints in the middle of Hopper's machine: semaphores, both halves of L2, clusters, dependent launches, warp groups, bulk
# copies. Each run is saved at several moments, and goes on with another number of threads to the same bits.
# shellcheck source=lib.bash
source "${BASH_SOURCE[0]%/*}/lib.bash"
# shellcheck source=hopper_trace.bash
source "$SOURCE_DIR/tests/e2e/hopper_trace.bash"
# shellcheck source=checkpoint.bash
source "$SOURCE_DIR/tests/e2e/checkpoint.bash"

small+=(-s dispatch.launch_latency_cycles=100)

# moments NAME WORKLOAD ARG...: at a quarter, the half and three quarters of the run; METRIC must not be zero in it.
moments() {
    local name=$1 end part threads=(0 1 3 8)
    shift
    numbers "$name.whole" run "$@"
    [[ -z ${METRIC:-} ]] || (($(metric "$METRIC") > 0)) || fail "$name: $METRIC is 0"
    end=$(awk -F, '$1 == "run" && $8 == "end_time" { print int($11 / 1000000); exit }' "$name.whole")
    for part in 1 2 3; do
        numbers "$name.with" run "$@" -j 2 --checkpoint "$name.ck" --every "at=$((end * part / 4))ns"
        cmp -s "$name.whole" "$name.with" || fail "$name: other numbers with a checkpoint"
        numbers "$name.resumed" resume "$name.ck" -j "${threads[$part]}"
        cmp -s "$name.whole" "$name.resumed" ||
            fail "$name, $part/4, ${threads[$part]} threads: $(diff "$name.whole" "$name.resumed" | head -3)"
    done
}

for fidelity in detailed basic; do
    like=(--fidelity "$fidelity")
    METRIC=parked moments grid synth:grid-all-reduce,ctas=32 "${small[@]}" "${like[@]}"
    METRIC=parked moments split synth:gemm-hopper,m=256,n=256,k=256,splits=4 "${small[@]}" "${like[@]}"
    METRIC=tma_loads moments stream synth:gemm-hopper,m=256,n=256,k=256,stream_blocks=3 "${small[@]}" "${like[@]}"
    METRIC=tma_multicasts moments cluster synth:gemm-hopper,m=512,n=256,k=128,cluster_m=2 "${small[@]}" "${like[@]}"
    METRIC=tma_loads moments copies synth:bulk-copy,bytes=8192,ctas=32,warps=4,copies=6 "${small[@]}" "${like[@]}"
    METRIC=far_reads moments halves synth:bandwidth,footprint_kib=256,ctas=16 "${small[@]}" "${like[@]}"
done
METRIC='' moments attention synth:attention-hopper,heads=2,queries=256,keys=256 "${small[@]}"
SIGNAL=PREEXIT WAIT=ACQBULK trace dependent '8 1' '1 1' 2 first
SIGNAL=PREEXIT WAIT=ACQBULK trace dependent '8 1' '1 1' 2 second
moments dependent dependent "${small[@]}"
COUNT=40 OPCODE=HGMMA.64x64x16.F32 SOURCES='1 R24' trace groups '16 1' '1 1' 8 matrices
moments groups groups "${small[@]}"
SHARED=114688 trace mix '4 8' '2 2' 4 cluster_mix
METRIC=cluster_loads moments mix mix "${small[@]}"
