#!/usr/bin/env bash
# Clusters and warp groups on the H100, in closed forms: shared memory of other blocks, cluster barriers, matrix
# instructions of warp groups and their groups, registers that warps pass on; threads, checkpoints, refusals.
# shellcheck source=lib.bash
source "${BASH_SOURCE[0]%/*}/lib.bash"
# shellcheck source=hopper_trace.bash
source "$SOURCE_DIR/tests/e2e/hopper_trace.bash"
# shellcheck source=checkpoint.bash
source "$SOURCE_DIR/tests/e2e/checkpoint.bash"

# --- shared memory of other blocks: a chain of loads by block 0, from a block of the same TPC, and of another one
chase() { # block: of RANK's memory
    (($1 == 0)) && times "$COUNT" "1 R2 $LOAD 1 R2 4 1 $ADDRESS 0 0 0 NoVal"
    echo "$EXIT"
}
LOAD=LDS ADDRESS=0x100 per local '4 1' '4 1' 1 chase 29
LOAD=LDS ADDRESS=0x1000100 per tpc '4 1' '4 1' 1 chase $((29 - 1 + 2 * 76))
LOAD=LDS ADDRESS=0x2000100 per gpc '4 1' '4 1' 1 chase $((29 - 1 + 2 * 88))
LOAD=LD.E ADDRESS=0x7f0003000100 per generic '4 1' '4 1' 1 chase $((29 - 1 + 2 * 88))
LOAD=LDS ADDRESS=0x1000100 per latency '4 1' '4 1' 1 chase $((29 - 1 + 2 * 100)) -s cluster.tpc_latency_cycles=100
# Independent loads of a line each: the other core sends 16 bytes per cycle.
stream() {
    local i
    for ((i = 0; i < COUNT && $1 == 0; i++)); do
        echo "1 R$((4 + i)) LDS 1 R2 4 1 0x1000100 4 0 0 NoVal"
    done
    echo "$EXIT"
}
per bandwidth '2 1' '2 1' 1 stream 8
per wide '2 1' '2 1' 1 stream 4 -s cluster.bytes_per_cycle=32
# Two lanes of one load go to different blocks; all others stay.
spread() {
    local i
    for ((i = 0; i < COUNT && $1 == 0; i++)); do
        printf '1 R2 LDS 1 R2 4 0 0x1000100 0x2000100'
        printf ' 0x%x' {256..380..4} | cut -d ' ' -f 1-31 | tr -d '\n'
        echo ' 0 0 NoVal'
    done
    echo "$EXIT"
}
per lanes '4 1' '4 1' 1 spread $((29 - 1 + 2 * 88))

# STAS: its bytes complete the phase of an mbarrier of the other block. 31 of 32 leave it waiting.
stas() {
    if (($2 == 1)); then
        echo '0 SYNCS.EXCH.64 2 UR4 UR6 8 1 0x1000400 0 0 0 Val 1 01000400 1 00000000001ffffe'
        echo '0 SYNCS.ARRIVE.TRANS64 2 R2 R3 8 1 0x1000400 0 0 0 Val 1 01000400 1 00001000'
    fi
    printf '0 UCGABAR_ARV 0 0 0 0 NoVal\n0 UCGABAR_WAIT 0 0 0 0 NoVal\n'
    if (($2 == 0)); then
        times "$COUNT" '0 STAS 2 R2 R4 4 1 0x0100040001000800 4 0 0 NoVal'
    else
        echo '0 SYNCS.PHASECHK.TRANS64.TRYWAIT 2 R2 R5 8 1 0x1000400 0 0 0 Val 1 01000400 1 00000000'
    fi
    echo "$EXIT"
}
for count in 31 32; do
    COUNT=$count trace "stas$count" '2 1' '2 1' 1 stas
    sed -i '/SYNCS.EXCH/s/ffffffff/00000001/; /SYNCS.ARRIVE/s/ffffffff/00000001/' "stas$count/kernel-1.traceg"
done
run 0 run stas32 "${small[@]}" -f tidy
(($(metric cluster_stores) == 32)) || fail "$(metric cluster_stores) stores to another block"
run 4 run stas31 "${small[@]}"
grep -q 'mbarrier 0x400 of block 1: phase 0 lacks 0 of 1 arrivals and 128 bytes' stderr || fail 'another reason'

# --- cluster barriers: the way to the farthest block; a block alone waits for its own warps
per pair '2 1' '2 1' 4 barriers 76
per four '2 2' '2 2' 4 barriers 88
# A block that has ended counts as arrived.
one_leaves() {
    (($2 == 1)) || barriers
    (($2 == 1)) && echo "$EXIT"
}
per leaves '4 1' '4 1' 2 one_leaves 88

# --- matrix instructions of warp groups: max(N/2, 16 + N/4) with A in shared memory, N/2 with A in registers
for n in 8 24 56 136 256; do
    shared=$((16 + n / 4 > n / 2 ? 16 + n / 4 : n / 2))
    OPCODE=HGMMA.64x${n}x16.F32 SOURCES='1 R24' per "ss$n" '1 1' '1 1' 4 matrices $shared
done
for n in 8 256; do
    OPCODE=HGMMA.64x${n}x16.F32 SOURCES='2 R24 R200' per "rs$n" '1 1' '1 1' 4 matrices $((n / 2))
done
OPCODE=QGMMA.64x128x32.F32.E4M3.E4M3 SOURCES='1 R24' per fp8 '1 1' '1 1' 4 matrices 64
OPCODE=HGMMA.SP.64x256x32.F32 SOURCES='1 R24' per sparse '1 1' '1 1' 4 matrices 144
# Two warp groups share the tensor cores.
OPCODE=HGMMA.64x128x16.F32 SOURCES='1 R24' per two '1 1' '1 1' 8 matrices 128

# Groups: after four of one instruction each, a wait for all but N of them ends with group 4 - N.
# shellcheck disable=SC2153 # OPEN and COUNT come from the caller
groups() {
    times 4 '1 R24 HGMMA.64x256x16.F32 1 R24 1 0 0 0 NoVal'
    printf '0 WARPGROUP.DEPBAR.LE 0 0 %d 0 NoVal\n' "$OPEN"
    times "$COUNT" '1 R2 MUFU.RCP 1 R2 0 0 0 NoVal'
    printf '0 WARPGROUP.DEPBAR.LE 0 0 0 0 NoVal\n%s\n' "$EXIT"
}
declare -A ends
for open in 0 1 2 3; do
    OPEN=$open COUNT=60 trace "groups$open" '1 1' '1 1' 4 groups
    ends[$open]=$(cycles "groups$open" "${small[@]}")
done
for open in 1 2; do # the chain behind the wait is longer than all matrix instructions
    ((ends[$((open - 1))] - ends[$open] == 128)) ||
        fail "waits for all but $((open - 1)) and $open groups: ${ends[$((open - 1))]} and ${ends[$open]} cycles"
done

# Accesses of other warps to shared memory have the port first: 16 + N/4 cycles of reads wait for them.
beside() {
    (($3 < 4)) && matrices && return
    times $((COUNT * 40)) '0 STS 2 R2 R3 4 1 0x100 4 0 0 NoVal'
    echo "$EXIT"
}
OPCODE=HGMMA.64x8x16.F32 SOURCES='1 R24' COUNT=20 trace beside '1 1' '1 1' 5 beside
run 0 run beside "${small[@]}" -f tidy
(($(metric wgmma_port_cycles) > 100)) || fail 'stores to shared memory do not hold up matrix instructions'

# --- registers: a warp takes what another has given back, and waits for it
registers() {
    if (($3 == 0)); then
        times "$COUNT" '1 R2 MUFU.RCP 1 R2 0 0 0 NoVal'
        echo '0 USETMAXREG.DEALLOC.CTAPOOL 0 0 24 0 NoVal'
    else
        echo '0 USETMAXREG.TRY_ALLOC.CTAPOOL 0 0 104 0 NoVal'
        times 100 '1 R2 MUFU.RCP 1 R2 0 0 0 NoVal'
    fi
    echo "$EXIT"
}
per registers '1 1' '1 1' 2 registers 23

# --- all together: clusters of 2 x 2 blocks in a grid of 4 x 8, more than the machine holds at once
SHARED=114688 trace mixed '4 8' '2 2' 4 cluster_mix
few=(-p h100 -s cores=16 -s cluster.gpcs=2 -s memory.channels=4 -s core.shared_kib=120)
numbers one run mixed "${few[@]}" -j 1
for threads in 2 3 8; do
    numbers more run mixed "${few[@]}" -j "$threads"
    cmp -s one more || fail "other numbers with $threads threads: $(diff one more | head -3)"
done
(($(metric cluster_late) == 0)) || fail 'messages for blocks that had ended'
(($(metric cluster_barriers) == 32 * 4)) || fail "$(metric cluster_barriers) phases of cluster barriers"
for at in at=1500ns at=2us; do # in the middle of clusters
    check "mixed.$at" "$at" 1 2 mixed "${few[@]}"
done
# The block limit cuts clusters: the ones that are left do not wait for others.
run 0 run mixed "${few[@]}" --ctas 6

# --- programmatic dependent launches: the second kernel starts beside the first, and waits for its end itself
# pair NAME: of both; SIGNAL and WAIT are their instructions.
pair() {
    trace "$1" '8 1' '1 1' 2 first
    trace "$1" '8 1' '1 1' 2 second
    cycles "$1" "${small[@]}"
}
apart=$(SIGNAL='' WAIT='' pair apart)
for forms in 'PREEXIT -' '- ACQBULK'; do # one of them alone changes nothing
    read -r signal wait <<<"${forms//-/}"
    [[ $forms == -* ]] && wait=ACQBULK signal=''
    now=$(SIGNAL=$signal WAIT=$wait pair "alone${forms%% *}")
    ((now - apart >= 0 && now - apart <= 10)) || fail "$forms: $now cycles, $apart without"
done
together=$(SIGNAL=PREEXIT WAIT=ACQBULK pair together)
# The second kernel's launch, and the half of it before its wait, lie beside the first kernel.
first_cycles=$(awk '$1 == "1" { gsub(",", "", $3); print $3; exit }' stdout)
((apart - together > 1900 && apart - together < first_cycles)) ||
    fail "overlapping kernels take $together cycles, $apart one after the other, the first alone $first_cycles"
numbers one run together "${small[@]}" -j 1
for threads in 2 3 8; do
    numbers more run together "${small[@]}" -j "$threads"
    cmp -s one more || fail "dependent launch: other numbers with $threads threads"
done
check dependent at=2us 1 2 together "${small[@]}"

# --- refusals
refused 2 "has clusters of 4 blocks: a GPC has room for 2" run mixed -p h100 -s cores=4 -s cluster.gpcs=4 -s cluster.tpc_cores=1 -s core.shared_kib=228
refused 2 'has 65 blocks, and 64 of them fit on 8 cores at once' run synth:grid-all-reduce,ctas=65 -p h100 -s cores=8
refused 3 "UCGABAR_ARV at pc 0x10: --fidelity basic and detailed have units for them" run mixed "${few[@]}" --fidelity memory
refused 3 'UCGABAR' run mixed -p a100 -s cores=2
refused 3 'refill_latency_cycles' run mixed "${few[@]}" -s refill_latency_cycles=10
