#!/usr/bin/env bash
# The slots of machine `amd`: plug-ins built against an installed Lockstep fill them. They change the result
# as they should and give the same numbers on any number of threads. A model that leaves something out is
# refused by name before anything runs.
# shellcheck source=lib.bash
source "${BASH_SOURCE[0]%/*}/lib.bash"

for tool in cmake pkg-config "$CC"; do
    command -v "$tool" >/dev/null || skip "$tool is not there"
done
[[ -z $SANITIZE ]] || skip 'plug-ins of another build do not mix with sanitizers'

DESTDIR=$work/root cmake --install "$BINARY_DIR" --prefix /opt/lockstep >log 2>&1 || fail "$(tail -3 log)"
LOCKSTEP=$work/root/opt/lockstep/bin/lockstep
pc=$(find "$work/root" -name lockstep.pc)
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
read -ra flags <<<"$(pkg-config --cflags lockstep) $(pkg-config --variable=plugin_cflags lockstep)"

build() { # build SOURCE OUT
    "$CC" -std=c17 -Wall -Wextra -Werror "${flags[@]}" "$1" -o "$2" 2>stderr || fail "$1 does not compile"
}
plugins=()
for name in cache_none channel_fixed command_serial cu_fixed cu_inorder dma_serial greedy_youngest l2_serial mmu_fixed noc_halves tlb_fixed; do
    build "$SOURCE_DIR/examples/plugins/$name.c" "$name.so"
    plugins+=(--plugin "./$name.so")
done

check=--verify
cycles() { # cycles SET...: of the kernel; the program's results are checked unless $check is empty
    local sets=() set
    for set in "$@"; do sets+=(-s "$set"); done
    run 0 "${plugins[@]}" run fir -p r9nano ${check:+"$check"} "${sets[@]}" --all -o one.json
    [[ -z $check ]] || says 'correct'
    cp stdout text
    run 0 "${plugins[@]}" run fir -p r9nano -j 3 "${sets[@]}" -o three.json
    run 0 compare one.json three.json --check
    awk '$1 == 1 && $2 == "fir" { gsub(",", "", $3); print $3 }' text >cycles
    [[ -s cycles ]] || fail 'the run has no kernel row'
}
reads_of_l2() { awk '$1 == "L2" { gsub(",", "", $2); print $2 }' text; }

cycles tlb=none
plain=$(cat cycles)
l2=$(reads_of_l2)

# Every read of a vector cache without lines goes on to L2.
cycles tlb=none vector_cache=none
(($(reads_of_l2) > l2)) || fail "L2 has $(reads_of_l2) reads without a vector cache, $l2 with one"

# A translation costs its latency; without any it is as if there were none.
cycles tlb=fixed tlb.latency_cycles=0
(($(cat cycles) == plain)) || fail "$(cat cycles) cycles with a TLB that takes no time, $plain without one"
cycles tlb=fixed tlb.latency_cycles=200
(($(cat cycles) > plain + 200)) || fail "$(cat cycles) cycles with a slow TLB, $plain without one"

# The kernel waits for its channel.
cycles tlb=none channel=fixed channel.latency_cycles=100
fast=$(cat cycles)
cycles tlb=none channel=fixed channel.latency_cycles=5100
(($(cat cycles) > fast + 5000)) || fail "$(cat cycles) cycles with a channel of 5100 cycles, $fast with one of 100"

# An L2 without lines waits for memory with each request. Atomics are right in it, in lines of 64 and of 128 bytes.
cycles tlb=none l2=serial
(($(cat cycles) > 4 * plain)) || fail "$(cat cycles) cycles with an L2 without lines, $plain with one that has them"
for platform in r9nano rx6900xt; do
    run 0 "${plugins[@]}" run histogram -p $platform -s l2=serial --verify
    says 'correct'
done

# Waves are chosen by a scheduler of a plug-in.
cycles tlb=none cu.scheduler=greedy-youngest
grep -q '"cu.scheduler/greedy-youngest"' one.json || fail 'the plug-in did not choose waves'

# Translations wait for the MMU, some of them one after another.
cycles mmu=fixed mmu.latency_cycles=100
fast=$(cat cycles)
cycles mmu=fixed mmu.latency_cycles=1100
(($(cat cycles) > fast + 1000)) || fail "$(cat cycles) cycles with an MMU of 1100 cycles, $fast with one of 100"

# All 1,024 work-groups of the kernel are on compute units at once, or one after another.
cycles tlb=none command=serial
(($(cat cycles) > 100 * plain)) || fail "$(cat cycles) cycles with one work-group at a time, $plain with all"
# A compute unit of a plug-in executes: programs compute what they should, and its own numbers give the time.
cycles tlb=none cu=inorder
inorder=$(cat cycles)
((inorder > plain)) || fail "$inorder cycles with one instruction per cycle, $plain with the built-in model"
cycles tlb=none cu=inorder cu.valu_cycles=8
(($(cat cycles) > inorder)) || fail "$(cat cycles) cycles with a slow vector unit, $inorder with a fast one"
for platform in r9nano rx6900xt; do
    run 0 "${plugins[@]}" run histogram -p $platform -s cu=inorder --verify -j 3
    says 'correct'
done
run 5 "${plugins[@]}" run fir -p r9nano -s cu=inorder --max-instructions 10
refused 2 "the model of slot 'cu' executes its waves: it neither makes nor plays recordings" \
    "${plugins[@]}" run fir -p r9nano -s cu=inorder --record never.lsr
[[ ! -e never.lsr ]] || fail 'a recording was written'
check=
cycles tlb=none cu=fixed cu.group_cycles=1000
fast=$(cat cycles)
cycles tlb=none cu=fixed cu.group_cycles=2500
(($(cat cycles) == fast + 1500)) || fail "$(cat cycles) cycles with work-groups of 2500 cycles, $fast of 1000"
cycles tlb=none command=serial cu=fixed cu.group_cycles=1000
fast=$(cat cycles)
cycles tlb=none command=serial cu=fixed cu.group_cycles=2500
(($(cat cycles) == fast + 1500 * 1024)) || fail "$(cat cycles) cycles, one after another, of 2500 cycles; $fast of 1000"
check=--verify

# A network of two halves: without a bridge it is a crossbar, a slow bridge costs time.
cycles tlb=none noc=halves noc.near_latency_cycles=42 noc.far_latency_cycles=42 noc.credits=116
(($(cat cycles) == plain)) || fail "$(cat cycles) cycles with halves without a bridge, $plain with a crossbar"
cycles tlb=none noc=halves noc.near_latency_cycles=42 noc.far_latency_cycles=400
(($(cat cycles) > plain)) || fail "$(cat cycles) cycles with a slow bridge, $plain with a crossbar"

# Copies are slower by far; the kernel's time hardly changes.
grep 'copy time' text | grep ' us' >/dev/null || fail 'copies do not take microseconds'
cycles tlb=none dma=serial
grep 'copy time' text | grep ' ms' >/dev/null || fail 'serial copies do not take milliseconds'

# Models that leave something out: refused by name, before the run.
broken() { # broken NAME FROM TO TEXT...: a plug-in with FROM replaced by TO
    sed "s|$2|$3|" "$SOURCE_DIR/examples/plugins/$1.c" >broken.c
    cmp -s broken.c "$SOURCE_DIR/examples/plugins/$1.c" && fail "$1.c has no '$2'"
    "$CC" -std=c17 "${flags[@]}" broken.c -o broken.so 2>stderr || fail "$1 with '$3' does not compile"
    refused 2 "$4" --plugin ./broken.so run fir -p r9nano -o never.json
    [[ ! -e never.json ]] || fail 'a result was written'
}
broken channel_fixed '{ attach, set_memory }' '{ attach }' \
    "model 'channel/fixed' lacks function 'set_memory' of its port 'channel' (see lockstep/channel.h)"
broken channel_fixed '.name = LS_CHANNEL_PORT' '.name = "other"' "model 'channel/fixed' lacks port 'channel'"
broken cache_none '.request = request' '.delay = NULL' "model 'vector_cache/none' lacks function 'request' of its port 'memory'"
broken cache_none '.slot = LS_VECTOR_CACHE_SLOT' '.slot = LS_L2_CACHE_SLOT' "model 'l2/none' lacks function 'set_home'"
broken cache_none '.slot = LS_VECTOR_CACHE_SLOT' '.slot = "vector-cache"' \
    "names slot 'vector-cache', which no machine has"
grep -q 'nearest: vector_cache' stderr || fail 'vector_cache is not named'
broken channel_fixed '.slot = LS_CHANNEL_SLOT' '.slot = "line-home"' "names slot 'line-home', which no machine has"
grep -q 'nearest: channel' stderr || fail 'channel is not named'
broken l2_serial '.slot = LS_L2_CACHE_SLOT' '.slot = "amd.l2"' "names slot 'amd.l2', which no machine has"
grep -q 'nearest: l2' stderr || fail 'l2 is not named'
refused 2 "'l2.model' is 'cycle', an old spelling: write 'l2.model: lines'" run fir -p r9nano -s l2=cycle
refused 2 "'l2.model' is 'lines', but must be one of cycle" run synth:gemm -p rtx3070 -s l2=lines
broken cu_fixed 'receive_launch, cancel, ls_cu_takes_no_kernel' 'receive_launch' "model 'cu/fixed' lacks function 'cancel' of its port 'cu'"
broken mmu_fixed '.discard = discard };' '};' "model 'mmu/fixed' lacks function 'discard' of its port 'mmu'"
broken command_serial 'receive_done, ' 'NULL,  ' "model 'command/serial' lacks function 'receive_done' of its port 'command'"
broken l2_serial ', .set_home = set_home' '' "model 'l2/serial' lacks function 'set_home' of its port 'cache'"
broken tlb_fixed '.interface = LS_TLB_INTERFACE' '.interface = "line-tlb/0"' \
    "port 'tlb' of model 'tlb/fixed' speaks 'line-tlb/0', its slot speaks 'line-tlb/2'"
broken dma_serial '.abi = LS_ABI_VERSION' '.abi = LS_ABI_VERSION + 1' "block 'serial' was built for ABI version"
refused 3 "cannot delay requests" "${plugins[@]}" run fir -p r9nano -s tlb=fixed -s vector_cache=none

# Models without the functions for page migration: refused by name where pages migrate.
system=("${plugins[@]}" run fir -p r9nano --gpus 2 -s fabric.model=pcie -s host.model=cpu -s migrate.model=esi)
refused 3 "tlb.model is 'fixed', which knows no shootdowns" "${system[@]}" -s gpus.tlb.model=fixed
refused 3 "mmu.model is 'fixed', which cannot send page walks to the host" "${system[@]}" -s gpus.tlb.model=cycle -s gpus.mmu.model=fixed
refused 3 "vector_cache.model is 'none', which cannot forget the lines of a page" "${system[@]}" -s gpus.tlb.model=cycle -s gpus.vector_cache.model=none
