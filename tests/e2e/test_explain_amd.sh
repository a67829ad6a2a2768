#!/usr/bin/env bash
# `lockstep explain` on AMD GPUs: twelve kernels whose limit is known by construction (workloads/limits), on GCN and RDNA, each
# with the right sentence first in the summary; on GCN also in the explanation.
# shellcheck source=lib.bash
source "${BASH_SOURCE[0]%/*}/lib.bash"

objects=${LOCKSTEP%/*}/share/lockstep/kernels
[[ -e $objects/gfx803/limits.co && -e $objects/gfx1030/limits.co ]] || skip 'the kernels of the workloads are not built'

# limit TITLE SENTENCE KERNEL LAUNCH...: a title as `explain` has it, the begin of its sentence.
limit() {
    run 0 run "$objects/$target/limits.co" --kernel "limit_$3" "${small[@]}" "${@:4}" -o result.json
    grep -q "^    1. $2" stdout || fail "$target, $1: the summary begins with $(grep '^    1. ' stdout)"
    [[ $target == gfx803 ]] || return 0
    run 0 explain result.json
    grep -q "^  1. $1: estimate " stdout || fail "$1 is not the first: $(grep '^  [0-9]. ' stdout)"
}
limits() {
    limit 'DRAM bandwidth' 'DRAM is busy for' bandwidth --grid 8192 --group 256 -a buffer:1048576 -a buffer:32768 \
        -a u32:65536 -a u32:"$passes"
    chase=(-a buffer:524288 -a buffer:32768)
    limit 'memory latency' '[0-9.]* % of the issue slots wait for data from memory' latency --grid 1024 --group 64 \
        "${chase[@]}" -a u32:256 -a u32:4112 -a u32:131071
    limit 'registers' 'Registers limit a core' registers --grid 8192 --group 64 "${chase[@]}" -a u32:64 -a u32:4112 -a u32:131071
    limit 'shared memory' 'Shared memory (LDS) limits' lds --grid 4096 --group 64 "${chase[@]}" -a u32:64 -a u32:4112 \
        -a u32:131071 -a local:32768
    limit 'bank conflicts' 'Bank conflicts repeat' conflicts --grid 2048 --group 256 -a buffer:8192 -a u32:128 -a local:8192
    limit 'uncoalesced accesses' 'A memory instruction touches' uncoalesced --grid 4096 --group 256 "${chase[@]}" \
        -a u32:48 -a u32:131071
    limit 'vector ALUs' 'Vector ALUs are busy' alu --grid 8192 --group 256 -a buffer:32768 -a u32:32
    limit 'divergence' 'Only [0-9.]* % of the lanes are active' divergence --grid 8192 --group 256 -a buffer:32768 -a u32:32
    limit 'tail of the grid' 'Cores are without work' tail --grid 2304 --group 256 -a buffer:16384 -a u32:96 -a local:65536
    limit 'barriers' '[0-9.]* % of the issue slots wait at barriers' barrier --grid 4096 --group 512 -a buffer:16384 \
        -a u32:64 -a u32:16 -a local:2048
    limit 'atomics' '[0-9.]* % of the memory instructions are atomics' atomics --grid 1024 --group 64 -a buffer:64 -a u32:8
}
target=gfx803 passes=4 small=(-p r9nano -s clusters=2 -s memory.channels=4)
limits
# Without its large cache beside memory, and with copies that take next to no time.
target=gfx1030 passes=8 small=(-p rx6900xt -s clusters=8 -s arrays=2 -s memory.channels=2 -s memory_cache.size_kib=64
    -s dma.host_bytes_per_cycle=1024 -s dma.copy_in_cycles=1 -s dma.copy_out_cycles=1)
limits
run 0 run empty_kernel_multi -p r9nano --size 64
grep -q '^    1. Launches take' stdout || fail "launches: the summary begins with $(grep '^    1. ' stdout)"
exit 0
