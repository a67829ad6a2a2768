#!/usr/bin/env bash
# Slots of the NVIDIA machine: a plug-in for each, built against an installed Lockstep, runs and changes the result
# as it should, for any number of threads. Models that lack something are refused by name, and models that
# misbehave end the run with an error.
# shellcheck source=lib.bash
source "$(dirname "$0")/lib.bash"

for tool in cmake pkg-config "$CC"; do
    command -v "$tool" >/dev/null || skip "$tool is not there"
done
[[ -z $SANITIZE ]] || skip 'plug-ins of another build do not mix with sanitizers'

DESTDIR=$work/root cmake --install "$BINARY_DIR" --prefix /opt/lockstep >log 2>&1 || fail "$(tail -3 log)"
prefix=$work/root/opt/lockstep
LOCKSTEP=$prefix/bin/lockstep
pc=$(find "$prefix" -name lockstep.pc)
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
read -ra flags <<<"$(pkg-config --cflags lockstep) $(pkg-config --variable=plugin_cflags lockstep)"
build() { # FILE NAME
    "$CC" -std=c17 -O2 -Wall -Wextra -Wconversion -Wshadow -Werror "${flags[@]}" "$1" -o "$2.so" 2>stderr ||
        fail "$1 does not compile against the installed headers"
}
plugins=()
for name in greedy_youngest dram_md1 dispatch_fill core_inorder l1_perfect l2_fixed; do
    (($(wc -l <"$SOURCE_DIR/examples/plugins/$name.c") < 150)) || fail "$name.c has 150 lines or more"
    build "$SOURCE_DIR/examples/plugins/$name.c" "$name"
    plugins+=(--plugin "./$name.so")
done

trace=(run --all "synth:gemm,m=128,n=128,k=64" -p rtx3070)
cycles() {
    run 0 "${plugins[@]}" "${trace[@]}" "$@"
    sed -nE 's/^ +cycles +([0-9,]+)$/\1/p' stdout | head -1 | tr -d ,
}
base=$(cycles)
fill=$(cycles -s dispatch=fill)
wide=$(cycles -s l2=fixed)
slow=$(cycles -s l2=fixed -s l2.latency_cycles=1000)
perfect=$(cycles -s core.l1=perfect)
distant=$(cycles -s core.l1=perfect -s core.l1.latency_cycles=200)
inorder=$(cycles -s core=inorder)
inorder_slow=$(cycles -s core=inorder -s l2=fixed -s l2.latency_cycles=1000)
# Few busy cores take longer than many. An L2 that always hits is faster, a slow one slower. A core that does
# one thing at a time is slower, and suffers from a slow L2.
((fill > base)) || fail "filling core by core takes $fill cycles, spreading $base"
((wide < base)) || fail "an L2 that always hits takes $wide cycles, one with misses $base"
((slow > wide)) || fail "an L2 of 1000 cycles takes $slow cycles, one of 100 $wide"
((perfect < base)) || fail "an L1 that always hits takes $perfect cycles, one with misses $base"
((distant > perfect)) || fail "an L1 of 200 cycles takes $distant cycles, one of 20 $perfect"
((inorder > base)) || fail "a core without overlap takes $inorder cycles, the built-in one $base"
((inorder_slow > inorder)) || fail "the core without L1 does not feel a slow L2: $inorder_slow, $inorder"

# No load of a perfect L1 reaches L2, and every store does. The core counts by the outcomes that it is given.
run 0 "${plugins[@]}" "${trace[@]}" -s core.l1=perfect
awk '$1 == "l1_reads" { r = $2 } $1 == "l1_hits" { h = $2 } $1 == "l1_misses" { m = $2 } $1 == "l1_writes" { w = $2 }
    END { exit !(r != "" && r == h && w != "" && w == m) }' stdout || fail 'the counters of a perfect L1 do not add up'

# Every thread block runs, every instruction once, wherever it runs.
run 0 "${plugins[@]}" "${trace[@]}" -o base.json
run 0 "${plugins[@]}" "${trace[@]}" -s dispatch=fill -o fill.json
run 0 compare base.json fill.json --metric 'core/*warp_instructions'
says 'same'

# The same results for any number of threads, all plug-ins together.
all=(-s core.scheduler=lrr -s dispatch=fill -s core=inorder -s l2=fixed -s dram=md1)
run 0 "${plugins[@]}" "${trace[@]}" "${all[@]}" -j 1 -o one.json
run 0 "${plugins[@]}" "${trace[@]}" -s core.l1=perfect -j 1 -o one_l1.json
for threads in 2 3 8; do
    run 0 "${plugins[@]}" "${trace[@]}" "${all[@]}" -j $threads -o more.json
    run 0 compare one.json more.json --per-block --check
    run 0 "${plugins[@]}" "${trace[@]}" -s core.l1=perfect -j $threads -o more.json
    run 0 compare one_l1.json more.json --per-block --check
done

# `blocks` shows slots with their interfaces.
run 0 blocks
grep -qE '^    core +core/2 +lockstep/core.h$' stdout || fail 'the interface of slot core is not listed'
grep -qE '^    core.l1 +l1/1 +lockstep/l1.h$' stdout || fail 'the interface of slot core.l1 is not listed'
grep -qE '^    l2 +l2/1 dram-reply/1 +lockstep/l2.h$' stdout || fail 'the interfaces of slot l2 are not listed'

# Models that the memory formulas cannot describe are refused.
refused 3 "model 'l2/fixed' cannot be described to the formulas of memory" "${plugins[@]}" "${trace[@]}" -s l2=fixed \
    -s core.memory=analytic
refused 3 "model 'core.l1/perfect' cannot be described to the formulas of memory" "${plugins[@]}" "${trace[@]}" \
    -s core.l1=perfect -s core.memory=analytic
refused 2 "'core.memory' belongs to model 'cycle', but core.model is 'inorder'" "${plugins[@]}" profile \
    synth:gemm,m=64,n=64,k=64 -p rtx3070 -s core=inorder -o none.json

# Models that lack something are refused by name when their plug-in is loaded. bad SED-COMMAND FILE CODE LINE
bad() {
    sed -E "$1" "$SOURCE_DIR/examples/plugins/$2.c" >bad.c
    ! cmp -s bad.c "$SOURCE_DIR/examples/plugins/$2.c" || fail "'$1' changes nothing in $2.c"
    "$CC" -std=c17 -O2 -w "${flags[@]}" bad.c -o bad.so 2>stderr || fail "$2.c with '$1' does not compile"
    refused "$3" "$4" --plugin ./bad.so "${trace[@]}"
}
bad 's/\.warm = warm/.warm = NULL/' l2_fixed 2 "model 'l2/fixed' lacks function 'warm' of its port 'l2' (see lockstep/l2.h)"
bad '/name = LS_L2_PORT/d' l2_fixed 2 "model 'l2/fixed' lacks port 'l2', which a model of its slot provides: lockstep/l2.h"
bad '/name = LS_DRAM_PORT/d' l2_fixed 2 "model 'l2/fixed' lacks port 'dram', which a model of its slot uses"
bad 's/= LS_CORE_INTERFACE/= "core\/7"/' core_inorder 2 "port 'core' of model 'core/inorder' speaks 'core/7', its slot speaks 'core/2'"
bad 's/ls_core_counts_no_work, NULL$/NULL, NULL/' core_inorder 2 "model 'core/inorder' lacks function 'work' of its port 'core'"
bad 's/\.answer = answer/.answer = NULL/' l1_perfect 2 "model 'core.l1/perfect' lacks function 'answer' of its port 'l1' (see lockstep/l1.h)"
bad 's/receive, start,/receive, NULL,/' dispatch_fill 2 "model 'dispatch/fill' lacks function 'start'"
bad 's/= choose/= NULL/' greedy_youngest 2 "scheduler/greedy-youngest' lacks function 'choose'"
bad 's/\.slot = LS_L2_SLOT/.slot = "l3"/' l2_fixed 2 "model 'fixed' names slot 'l3', which no machine has"

# Models that return nonsense end the run with one line, for any number of threads.
wrong() { # SED-COMMAND FILE LINE SET
    sed -E "$1" "$SOURCE_DIR/examples/plugins/$2.c" >bad.c
    ! cmp -s bad.c "$SOURCE_DIR/examples/plugins/$2.c" || fail "'$1' changes nothing in $2.c"
    "$CC" -std=c17 -O2 -w "${flags[@]}" bad.c -o bad.so 2>stderr || fail "$2.c with '$1' does not compile"
    for threads in 1 3; do
        refused 2 "$3" --plugin ./bad.so run synth:gemm,m=512,n=512,k=32 -p rtx3070 -j $threads -s "$4"
    done
}
wrong 's/return youngest;/return (youngest + 1) % 32;/' greedy_youngest \
    "gpu0.sm0: the model of slot 'core.scheduler' chose a warp that is not ready" core.scheduler=greedy-youngest
wrong 's/\.token = access->token/.token = 5/' l1_perfect \
    "the model of slot 'core.l1' sent a store that no warp made" core.l1=perfect
wrong 's/s->load\[core\]\+\+;//' dispatch_fill \
    "the model of slot 'dispatch' sent a thread block to a core that has no room for it" dispatch=fill
exit 0
