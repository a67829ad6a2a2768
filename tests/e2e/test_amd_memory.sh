#!/usr/bin/env bash
# Data in messages: programs give right results with any caches, TLBs and DRAM, down to the smallest.
# Inconsistent sizes are refused.
# shellcheck source=lib.bash
source "${BASH_SOURCE[0]%/*}/lib.bash"


# right PLATFORM OPTION...: a program of launches that read what others wrote, and one of atomics
right() {
    local platform=$1
    shift
    run 0 run --all bitonicsort --size 256 -p "$platform" --verify --watchdog 1ms "$@"
    run 0 run --all histogram --size 4096 -p "$platform" --verify --watchdog 1ms "$@"
}

for policy in through around back evict; do
    right r9nano -s vector_cache.write_policy=$policy
    right rx5500xt -s l1.write_policy=$policy -s vector_cache.write_policy=back
done
for replacement in fifo random plru srrip; do
    right r9nano -s vector_cache.replacement=$replacement -s l2.replacement=$replacement -s vector_cache.size_kib=1
done

# As small as it gets. An instruction cache has neither writes nor atomics, so it has no limit of pending ones.
tiny=(size_kib=1 ways=1 mshr_entries=1 mshr_targets=1 pending=1 queue_entries=2 accesses_per_cycle=1 banks=1)
options=()
for cache in vector_cache scalar_cache instruction_cache l2; do
    for key in "${tiny[@]}"; do
        [[ $cache.$key == instruction_cache.pending=* ]] || options+=(-s "$cache.$key")
    done
done
right r9nano "${options[@]}" -s channel.queue_entries=1
right r9nano "${options[@]}" -s dram.model=fixed -s vector_cache.write_policy=back -s vector_cache.hash=ipoly
for key in "${tiny[@]}"; do
    options+=(-s "l1.$key")
done
right rx5500xt "${options[@]}"

# Translation: none, of small and of large pages, by the smallest TLBs.
right r9nano -s tlb.model=none
right r9nano -s tlb.page_kib=2048 -s mmu.page_kib=2048
right r9nano -s tlb.entries=1 -s tlb.ways=1 -s tlb.mshr_entries=1 -s tlb.queue_entries=1 -s mmu.entries=0 \
    -s mmu.walkers=1 -s mmu.mshr_entries=1

# A cache that is too small is slower, not wrong.
cycles() {
    awk '$2 == "fir" && $3 ~ /^[0-9,]+$/ { gsub(",", "", $3); print $3; exit }' stdout
}
run 0 run --all fir --size 32768 -p r9nano
plain=$(cycles)
run 0 run --all fir --size 32768 -p r9nano -s l2.size_kib=1 -s vector_cache.size_kib=1
small=$(cycles)
((small > plain)) || fail "FIR takes $small cycles with small caches, $plain with large ones"

# Identical for any number of threads, also here.
run 0 run fir --size 4096 -p r9nano -s l2.size_kib=1 -s vector_cache.write_policy=back --format json
sed '/"host": {/,$d' stdout >one
for threads in 2 3 8; do
    run 0 run fir --size 4096 -p r9nano -s l2.size_kib=1 -s vector_cache.write_policy=back --format json -j "$threads"
    sed '/"host": {/,$d' stdout >many
    cmp -s one many || fail "$threads threads change the result"
done

refused 2 "lines of 128 bytes" run fir --size 4096 -p r9nano -s vector_cache.line_bytes=128
