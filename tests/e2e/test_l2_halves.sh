#!/usr/bin/env bash
# L2 of two halves: the latencies of a chain of loads by its footprint, the same results for any number of threads, and
# blocks that wait for each other through both halves.
# shellcheck source=lib.bash
source "${BASH_SOURCE[0]%/*}/lib.bash"

halves=(-p h100 -s memory.halves=2 -s memory.half_latency_cycles=45 -s l2.sets=8 -s cores=16) # 3.1 MiB of L2

# latency KIB FIRST SECOND OPTION...: cycles of a load, from chains of two lengths; tenths.
latency() {
    local kib=$1 a b loads=("$2" "$3")
    for i in 0 1; do
        run 0 run "synth:pointer-chase,footprint_kib=$kib,loads=${loads[i]}" "${@:4}"
        eval "$([[ $i == 0 ]] && echo a || echo b)=$(awk '$1 == "cycles" { gsub(",", "", $2); print $2; exit }' stdout)"
    done
    echo $(((b - a) * 10 / ($3 - $2)))
}
near=$(latency 1024 8192 16384 "${halves[@]}")
middle=$(latency 2304 18432 36864 "${halves[@]}")
dram=$(latency 65536 2048 6144 "${halves[@]}")
one_dram=$(latency 65536 2048 6144 "${halves[@]}" -s memory.halves=1)
# In half of L2: copies of all of it. More: sectors at home here come from DRAM, others from the other half.
((near >= 2600 && near <= 2690)) || fail "near: $near tenths of a cycle"
expected=$(((one_dram + near + 2 * 450 + 40) / 2))
((middle > expected * 97 / 100 && middle < expected * 103 / 100)) || fail "middle: $middle, expected $expected"
# Every second sector of DRAM is at home in the other half.
((dram - one_dram > 420 && dram - one_dram < 500)) || fail "DRAM: $dram with two halves, $one_dram with one"

for work in synth:stencil,nx=256,ny=128,steps=2 synth:grid-all-reduce,ctas=30,rounds=3 synth:atomics,target=spread,ctas=32; do
    for threads in 1 2 3 8; do
        run 0 run "$work" "${halves[@]}" --threads "$threads" -o out.tidy.csv
        grep ',counter,' out.tidy.csv >"counters.$threads"
        cmp counters.1 "counters.$threads" || fail "$work: $threads threads count otherwise than 1"
    done
    grep -qE ',l2/cycle,far_(reads|others),counter,value,[1-9]' counters.1 || fail "$work: nothing went to the other half"
done
grep -qE ',l2/cycle,parked,counter,value,0' counters.1 || fail "atomics wait for no semaphore"

# Blocks wait for each other: without the semaphore, the launch would be shorter than a round trip for each round.
for work in grid-all-reduce,ctas=30,rounds=4 gemm-hopper,m=256,n=256,k=512,splits=4 gemm-hopper,m=256,n=512,k=512,stream_blocks=7; do
    for threads in 1 3; do
        run 0 run "synth:$work" -p h100-sxm --unmodelled skip --threads "$threads" -o out.tidy.csv
        grep ',counter,' out.tidy.csv >"counters.$threads"
        [[ $work == *stream* ]] || grep -qE ',l2/cycle,parked,counter,value,[1-9]' "counters.$threads" ||
            fail "$work: no block waited"
    done
    cmp counters.1 counters.3 || fail "$work: 3 threads count otherwise than 1"
done

expect_error() {
    local status=$1 text=$2
    shift 2
    run "$status" "$@"
    grep -qF -- "$text" stderr || fail "$*: $(cat stderr)"
}
expect_error 2 'that needs an even number of memory.channels, not 5' run synth:gemm -p h100 -s memory.halves=2 -s memory.channels=5
expect_error 2 'l2.mshr_entries is 13: with memory.halves 2 it must be at least 14' run synth:gemm -p h100 -s l2.mshr_entries=13
expect_error 2 'l2.ways is 1: with memory.halves 2 it must be at least 2' run synth:gemm -p h100 -s l2.ways=1
