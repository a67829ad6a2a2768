#!/usr/bin/env bash
# Atomics and reductions in shared memory of other blocks of a cluster, in closed forms: their latency, the wire, the port of
# shared memory that they have twice, REDAS with its mbarrier, a full queue; threads and checkpoints.
# shellcheck source=lib.bash
source "${BASH_SOURCE[0]%/*}/lib.bash"
# shellcheck source=hopper_trace.bash
source "$SOURCE_DIR/tests/e2e/hopper_trace.bash"
# shellcheck source=checkpoint.bash
source "$SOURCE_DIR/tests/e2e/checkpoint.bash"

# --- latency: a chain of atomics with a result takes as long as one of loads
chase() {
    (($1 == 0)) && times "$COUNT" "1 R2 $ATOMIC 2 R2 R3 4 1 $ADDRESS 0 0 0 NoVal"
    echo "$EXIT"
}
ATOMIC=ATOMS.ADD ADDRESS=0x100 per own '4 1' '4 1' 1 chase 29
ATOMIC=ATOMS.ADD ADDRESS=0x1000100 per tpc '4 1' '4 1' 1 chase $((29 - 1 + 2 * 76))
ATOMIC=ATOM.E.ADD.S32.STRONG.GPU ADDRESS=0x7f0003000100 per gpc '4 1' '4 1' 1 chase $((29 - 1 + 2 * 88))
run 0 run gpc.many "${small[@]}" -f tidy
(($(metric cluster_atomics) == 30 && $(metric cluster_reductions) == 0)) || fail 'other counts of atomics'

# --- bandwidth: the answers of atomics take the wire, those of reductions have no bytes; both have the banks twice
independent() {
    local i
    for ((i = 0; i < COUNT && $1 == 0; i++)); do
        echo "1 R$((4 + i)) ATOMS.ADD 2 R2 R3 4 1 0x1000100 $STRIDE 0 0 NoVal"
    done
    echo "$EXIT"
}
posted() {
    (($1 == 0)) && times "$COUNT" "0 $REDUCTION 2 R2 R3 4 1 $ADDRESS $STRIDE 0 0 NoVal"
    echo "$EXIT"
}
STRIDE=4 per wire '2 1' '2 1' 1 independent 8
STRIDE=64 per banks '2 1' '2 1' 1 independent 32
for opcode in ATOMS.ADD REDS.ADD; do
    REDUCTION=$opcode ADDRESS=0x1000100 STRIDE=4 per "posted.$opcode" '2 1' '2 1' 1 posted 8
    REDUCTION=$opcode ADDRESS=0x1000100 STRIDE=64 per "banks.$opcode" '2 1' '2 1' 1 posted 32
done
run 0 run banks.REDS.ADD.many "${small[@]}" -f tidy
(($(metric cluster_reductions) == 30 && $(metric cluster_bytes) == 30 * 128)) || fail 'answers of reductions have bytes'
# RED is generic: by its address it goes to another block, to the own one, or to global memory. The warp waits as for a
# reduction in its own shared memory, not for the answer.
for opcode in RED.E.ADD.S32.STRONG.GPU REDG.E.ADD; do
    REDUCTION=$opcode ADDRESS=0x7f0001000100 STRIDE=4 per "red.$opcode" '2 1' '2 1' 1 posted 29
    REDUCTION=$opcode ADDRESS=0x7f0001000100 STRIDE=64 per "away.$opcode" '2 1' '2 1' 1 posted 32
    run 0 run "away.$opcode.many" "${small[@]}" -f tidy
    (($(metric cluster_reductions) == 30)) || fail "$opcode: $(metric cluster_reductions) reductions"
done
REDUCTION=RED.E.ADD ADDRESS=0x7f0000000100 STRIDE=4 per here '2 1' '2 1' 1 posted 29
run 0 run here.many "${small[@]}" -f tidy
(($(metric cluster_reductions) == 0 && $(metric memory_sectors) == 0)) || fail 'RED to the own block left it'
COUNT=30 REDUCTION=RED.E.ADD ADDRESS=0x7e0000000100 STRIDE=4 trace global '2 1' '2 1' 1 posted
run 0 run global "${small[@]}" -f tidy
(($(metric cluster_reductions) == 0 && $(metric memory_sectors) == 30 * 4)) || fail "RED to global memory: $(metric memory_sectors) sectors"
cp -r red.RED.E.ADD.S32.STRONG.GPU.many shared
run 0 trace info shared
grep -qE '^ *shared +30 ' stdout || fail 'trace info takes RED in shared memory for global'

# --- REDAS: its bytes complete the phase of an mbarrier of the other block. 31 of 32 leave it waiting.
redas() {
    if (($2 == 1)); then
        echo '0 SYNCS.EXCH.64 2 UR4 UR6 8 1 0x1000400 0 0 0 Val 1 01000400 1 00000000001ffffe'
        echo '0 SYNCS.ARRIVE.TRANS64 2 R2 R3 8 1 0x1000400 0 0 0 Val 1 01000400 1 00001000'
    fi
    printf '0 UCGABAR_ARV 0 0 0 0 NoVal\n0 UCGABAR_WAIT 0 0 0 0 NoVal\n'
    if (($2 == 0)); then
        times "$COUNT" "0 $OPCODE 2 R2 R4 4 1 0x0100040001000800 $STRIDE 0 0 NoVal"
    else
        echo '0 SYNCS.PHASECHK.TRANS64.TRYWAIT 2 R2 R5 8 1 0x1000400 0 0 0 Val 1 01000400 1 00000000'
    fi
    echo "$EXIT"
}
# completing NAME OPCODE STRIDE COUNT
completing() {
    OPCODE=$2 STRIDE=$3 COUNT=$4 trace "$1" '2 1' '2 1' 1 redas
    one_lane "$1"
}
completing all REDAS.ADD 4 32
completing fewer REDAS.ADD 4 31
run 0 run all "${small[@]}" -f tidy
(($(metric cluster_reductions) == 32)) || fail "$(metric cluster_reductions) reductions of REDAS"
run 4 run fewer "${small[@]}"
grep -q 'mbarrier 0x400 of block 1: phase 0 lacks 0 of 1 arrivals and 128 bytes' stderr || fail 'another reason'
refused 3 'REDAS' run all -p h100 -s core.async=none -s cores=16 -s cluster.gpcs=2
# A load of the other block behind the phase waits for the port: 16 words in one bank, once for STAS and twice for REDAS.
last() {
    redas "$@" | sed '$d'
    (($2 == 1)) && echo '1 R2 LDS 1 R2 4 1 0x100 4 0 0 NoVal'
    echo "$EXIT"
}
declare -A takes
for opcode in STAS REDAS.ADD; do
    OPCODE=$opcode STRIDE=64 COUNT=32 trace "$opcode" '2 1' '2 1' 1 last
    one_lane "$opcode"
    takes[$opcode]=$(cycles "$opcode" "${small[@]}")
done
reduces=${takes[REDAS.ADD]} stores=${takes[STAS]}
((reduces - stores == 32 * 16)) || fail "REDAS takes $reduces cycles, STAS $stores"

# --- more messages than the core's queue holds: they leave one after the other, 8 cycles each
burst() {
    (($1 == 0)) && times "$COUNT" "0 STS.128 2 R2 R4 16 1 0x1000100 16 0 0 NoVal"
    echo "$EXIT"
}
per full '2 1' '2 1' 16 burst $((16 * 4 * 8))
REDUCTION=REDS.ADD ADDRESS=0x1000100 STRIDE=4 per more '2 1' '2 1' 32 posted $((32 * 8))

# --- threads, and checkpoints at several moments
trace mixed '4 8' '2 2' 4 cluster_atomics
one_lane mixed
numbers one run mixed "${small[@]}" -j 1
for threads in 2 3 8; do
    numbers more run mixed "${small[@]}" -j "$threads"
    cmp -s one more || fail "other numbers with $threads threads: $(diff one more | head -3)"
done
(($(metric cluster_late) == 0)) || fail 'messages for blocks that had ended'
# An address of rank 0 has no bits of a rank: ATOMS of rank 2 stay in their block.
(($(metric cluster_atomics) == 24 * 4 * 6 && $(metric cluster_reductions) == 32 * (4 + 1) * 6)) || fail 'other counts'
for at in 2000 2200 2400 2600; do
    check "mixed.$at" "at=${at}ns" 1 3 mixed "${small[@]}"
done
