#!/usr/bin/env bash
# Code objects in simulated time: one launch by `run`, many by `sweep`; AMD workloads and recordings in sweeps.
# shellcheck source=lib.bash
source "${BASH_SOURCE[0]%/*}/lib.bash"

object=${LOCKSTEP%/*}/share/lockstep/kernels/gfx803/vector_add.co
[[ -e $object ]] || skip 'the kernels of the workloads are not built'
launch=(--grid 256 --arg buffer:1024:f32=1.5 --arg buffer:1024:f32=2 --arg buffer:1024 --arg u32:256)

# The result is that of the emulator, and it takes time.
run 0 emulate "$object" "${launch[@]}" --print 2:f32:3
grep '^  buffer [0-9]\|^2:' stdout >emulated
run 0 run "$object" -p r9nano "${launch[@]}" --print 2:f32:3 --dump 2=sum.bin
says '2: 3.5 3.5 3.5'
says 'kernel time'
grep '^  buffer [0-9]\|^2:' stdout | cmp -s - emulated || fail 'the result differs from the emulated one'
(($(stat -c %s sum.bin) == 1024)) || fail 'the dump is not the buffer'
for threads in 1 2 3 8; do
    run 0 run "$object" -p r9nano "${launch[@]}" -f json -j $threads
    sed '/"host"/,$d' stdout >json$threads
    cmp -s json1 json$threads || fail "other results with $threads threads"
done
refused 2 'needs --grid' run "$object" -p r9nano
refused 2 '--size is for workloads' run "$object" -p r9nano --grid 64 --size 3
refused 2 'cannot open' run missing.co -p r9nano --grid 64

# Sweeps of everything that `run` takes; metrics become columns of the table.
run 0 run fir -p r9nano --size 512 --record fir.lspk
run 0 sweep fir fir.lspk -p r9nano --vary vector_cache.ways=2,4 --metric '*.read_hit_rate' -j2 -o amd.db
(($(wc -l <amd.csv) == 5)) || fail 'not four points'
head -1 amd.csv | grep -q 'vector[-_]cache/cycle.read_hit_rate' || fail 'the metric is no column'
[[ $(sed -n 2p amd.csv) =~ ^fir,2,[0-9.]+,[0-9]+,[0-9]+,[0-9.]+,0\.[0-9] ]] || fail 'no value in the column'
run 0 sweep "$object" -p r9nano "${launch[@]}" --vary vector_cache.ways=2,4 -o object.db
run 0 sweep "$object" -p r9nano "${launch[@]}" --vary vector_cache.ways=2,4 -o object.db
grep -q '2 are done, 0 to run' stderr || fail 'finished points run again'
run 0 sweep "$object" -p r9nano "${launch[@]/256/128}" --vary vector_cache.ways=2,4 -o object.db
grep -q '0 are done, 2 to run' stderr || fail 'another launch is taken for the same'
run 0 sweep fir -p r9nano --size 256 --verify --vary vector_cache.ways=2,4 -o verified.db
refused 2 '--ctas is for traces' sweep fir -p r9nano --ctas 2 --vary vector_cache.ways=2,4 -o no.db
run 2 sweep fir -p r9nano --size 512 --vary vector_cache.ways=2,4 --metric read_hit_rat -o amd.db
grep -q "no metric is called 'read_hit_rat'.*nearest: read_hit_rate" stderr || fail 'a metric that does not exist'

# A wrong result is shown, marked, and never taken for a finished point: v_add_f32 becomes v_sub_f32.
mkdir -p wrong/gfx803
LC_ALL=C sed 's/\x03\x05\x04\x02/\x03\x05\x04\x04/' "$object" >wrong/gfx803/vector_add.co
! cmp -s "$object" wrong/gfx803/vector_add.co || fail 'the kernel was not changed'
export LOCKSTEP_KERNELS=$PWD/wrong
run 5 run vector_add -p r9nano --size 256 --verify -o wrong.json
grep -q '"partial": true' wrong.json || fail 'a wrong result is not marked'
grep -q '"partial_reason": "the result is wrong"' wrong.json || fail 'the mark has no reason'
for ((i = 0; i < 2; i++)); do
    run 5 sweep vector_add -p r9nano --size 256 --verify --vary vector_cache.ways=2,4 -o wrong.db
    grep -q '0 are done, 2 to run' stderr || fail 'a wrong result counts as done'
done
exit 0
