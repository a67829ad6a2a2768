#!/usr/bin/env bash
# Policies of caches, DRAM and placement: each can be chosen on both machines, acts, and gives the same numbers for any
# number of threads. Old spellings are refused with the new ones. A plug-in brings a replacement policy.
# shellcheck source=lib.bash
source "${BASH_SOURCE[0]%/*}/lib.bash"
export LOCKSTEP_PLATFORM_PATH=$SOURCE_DIR/platforms

# acts NAME COMMAND...: runs with 1, 2, 3 and 8 threads, all the same, and other cycles than base.json has.
acts() {
    local name=$1 threads
    shift
    run 0 "$@" -j 1 -o "$name.json"
    for threads in 2 3 8; do
        run 0 "$@" -j "$threads" -o other.json
        run 0 compare "$name.json" other.json --per-block --check
    done
    run 5 compare base.json "$name.json" --per-block --check
}

# An L2 too small for the gather, so that the choice of lines matters.
nvidia=(run "synth:gather,n=8192" -p rtx3070 -s cores=4 -s memory.channels=4 -s l2.sets=16 -s l2.ways=4)
run 0 "${nvidia[@]}" -o base.json
for policy in fifo random plru srrip; do
    acts "n-$policy" "${nvidia[@]}" -s l2.replacement=$policy
done
acts n-l1 "${nvidia[@]}" -s core.l1.size_kib=8 -s core.l1.replacement=srrip
for hash in none xor; do
    acts "n-$hash" "${nvidia[@]}" -s l2.hash=$hash
done
acts n-bits "${nvidia[@]}" -s l2.hash=bits -s l2.hash_masks=0x8080,0x10100,0x20200,0x40400
for prefetch in next-line stride; do
    acts "n-l2-$prefetch" "${nvidia[@]}" -s l2.prefetch=$prefetch -s l2.prefetch_degree=2
    acts "n-l1-$prefetch" "${nvidia[@]}" -s core.l1.prefetch=$prefetch
    acts "n-issue-$prefetch" "${nvidia[@]}" -s core.l1.prefetch=$prefetch -s core.alu=issue
done
for placement in greedy-fill chunked; do
    acts "n-$placement" "${nvidia[@]}" -s dispatch.placement=$placement
done
for scheduler in fcfs frfcfs-cap; do
    acts "n-$scheduler" "${nvidia[@]}" -s dram.scheduler=$scheduler
done

amd=(run spmv --size 256 -p r9nano -s vector_cache.size_kib=1 -s l2.size_kib=1 -s l2.ways=4)
run 0 "${amd[@]}" -o base.json
for policy in fifo random plru srrip; do
    acts "a-$policy" "${amd[@]}" -s l2.replacement=$policy -s vector_cache.replacement=$policy
done
for hash in none xor; do
    acts "a-$hash" "${amd[@]}" -s l2.hash=$hash -s vector_cache.hash=$hash
done
for prefetch in next-line stride; do
    acts "a-$prefetch" "${amd[@]}" -s l2.prefetch=$prefetch -s vector_cache.prefetch=$prefetch \
        -s instruction_cache.prefetch=$prefetch
done
for placement in greedy-fill chunked; do
    acts "a-$placement" "${amd[@]}" -s command.placement=$placement
done

# Old spellings.
refused 2 "'core.alu' is 'hybrid', an old spelling: write 'core.alu: issue'" run synth:gemm -p rtx3070 -s core.alu=hybrid
refused 2 "'l2.hash' is 'linear', an old spelling: write 'l2.hash: none'" run synth:gemm -p rtx3070 -s l2.hash=linear
refused 2 "'dram.scheduler' is 'fifo', an old spelling: write 'dram.scheduler: fcfs'" run synth:gemm -p rtx3070 \
    -s dram.scheduler=fifo
refused 2 "'dram.row_hit_limit' is an old key: write 'dram.scheduler: frfcfs-cap and dram.scheduler_cap'" \
    run synth:gemm -p rtx3070 -s dram.row_hit_limit=4
refused 2 "'vector_cache.hashed_sets' is an old key: write 'vector_cache.hash: ipoly'" run fir -p r9nano \
    -s vector_cache.hashed_sets=true
refused 2 "but must be one of lru, fifo, random, plru, srrip" run fir -p r9nano -s l2.replacement=lur

# Masks that do not fit.
refused 2 "hash_masks has 1 masks, but 64 sets need 6" run synth:gemm -p rtx3070 -s l2.hash=bits -s l2.hash_masks=0x80

# A plug-in's policy: built against the headers alone.
"$CC" -std=c17 -shared -fPIC ${SANITIZE:+-fsanitize=$SANITIZE} -DLOCKSTEP_PLUGIN -I "$SOURCE_DIR/include" \
    "$SOURCE_DIR/examples/plugins/replace_nru.c" -o nru.so || fail "the example does not compile"
run 0 "${nvidia[@]}" -o base.json
acts n-nru --plugin ./nru.so "${nvidia[@]}" -s l2.replacement=nru
run 0 "${amd[@]}" -o base.json
acts a-nru --plugin ./nru.so "${amd[@]}" -s l2.replacement=nru -s vector_cache.replacement=nru
run 0 --plugin ./nru.so config explain l2.replacement -p rtx3070
says 'nru: the first line that was not used recently'
refused 2 "but must be one of lru, fifo, random, plru, srrip" "${nvidia[@]}" -s l2.replacement=nru

# A policy that leaves out a function, and a policy that chooses a line that must not be evicted.
sed 's/, .victim = victim//; s/static uint32_t victim/uint32_t victim(void *, uint32_t, const uint64_t *); uint32_t victim/' \
    "$SOURCE_DIR/examples/plugins/replace_nru.c" >half.c
sed 's/return i \* 64 + .*/return ways;/' "$SOURCE_DIR/examples/plugins/replace_nru.c" >wrong.c
for name in half wrong; do
    "$CC" -std=c17 -shared -fPIC ${SANITIZE:+-fsanitize=$SANITIZE} -DLOCKSTEP_PLUGIN -I "$SOURCE_DIR/include" $name.c \
        -o $name.so || fail "$name.c does not compile"
done
refused 3 "replacement policy 'nru' leaves out the function 'victim'" --plugin ./half.so "${nvidia[@]}" \
    -s l2.replacement=nru
refused 2 "replacement policy 'nru' chose a line that may not go" --plugin ./wrong.so "${nvidia[@]}" -s l2.replacement=nru
exit 0

# A plug-in's policy has a name of its own.
sed 's/\.name = "nru"/.name = "srrip"/' "$SOURCE_DIR/examples/plugins/replace_nru.c" >same.c
"$CC" ${SANITIZE:+-fsanitize=$SANITIZE} -shared -fPIC -DLOCKSTEP_PLUGIN -I"$SOURCE_DIR/include" same.c -o same.so ||
    fail "the policy with a taken name does not compile"
refused 2 "policy 'srrip' of slot 'replacement' has the name of a built-in one" --plugin ./same.so "${nvidia[@]}"

# Hit rates that are counted without time know lru and fifo.
run 0 "${nvidia[@]}" --fidelity memory -s l2.replacement=fifo
refused 3 "l2.replacement is 'srrip', but hit rates are counted without time, with lru or fifo" \
    "${nvidia[@]}" --fidelity memory -s l2.replacement=srrip
refused 3 "core.l1.replacement is 'random', but hit rates are counted" "${nvidia[@]}" --fidelity memory \
    -s core.l1.replacement=random
refused 3 "l2.replacement is 'fifo', but hit rates are counted by reuse distances, which assume lru" \
    profile synth:gemm -p rtx3070 -m reuse -s l2.replacement=fifo
