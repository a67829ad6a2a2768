#!/usr/bin/env bash
# Policies of caches, DRAM and placement: each can be chosen on both machines, acts, and gives the same numbers for any
# number of threads. Old spellings are refused with the new ones. Plug-ins bring policies of every kind.
# shellcheck source=lib.bash
source "${BASH_SOURCE[0]%/*}/lib.bash"
export LOCKSTEP_PLATFORM_PATH=$SOURCE_DIR/platforms

# acts NAME COMMAND...: runs with 1, 2, 3 and 8 threads, all the same, and other cycles than base.json has.
all_threads=(2 3 8)
acts() {
    local name=$1 threads
    shift
    run 0 "$@" -j 1 -o "$name.json"
    for threads in "${all_threads[@]}"; do
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

# Policies of plug-ins: built against the headers alone.
compile() { # compile FILE OUT
    "$CC" -std=c17 -shared -fPIC ${SANITIZE:+-fsanitize=$SANITIZE} -DLOCKSTEP_PLUGIN -I "$SOURCE_DIR/include" "$1" -o "$2" ||
        fail "$1 does not compile"
}
plugins=()
for name in replace_nru prefetch_block hash_prime dram_reads_first place_halves; do
    (($(wc -l <"$SOURCE_DIR/examples/plugins/$name.c") < 150)) || fail "$name.c has 150 lines or more"
    compile "$SOURCE_DIR/examples/plugins/$name.c" "$name.so"
    plugins+=(--plugin "./$name.so")
done
all_threads=(3)
run 0 "${nvidia[@]}" -o base.json
for set in l2.replacement=nru l2.prefetch=block core.l1.prefetch=block l2.hash=prime core.l1.hash=prime \
    dram.scheduler=reads-first dispatch.placement=halves; do
    acts n-plugin "${plugins[@]}" "${nvidia[@]}" -s $set
done
acts n-plugin "${plugins[@]}" "${nvidia[@]}" -s dram.scheduler=reads-first -s dram.write_queue_entries=16
run 0 "${amd[@]}" -o base.json
for set in l2.replacement=nru vector_cache.replacement=nru l2.prefetch=block l2.hash=prime vector_cache.hash=prime \
    dram.scheduler=reads-first command.placement=halves; do
    acts a-plugin "${plugins[@]}" "${amd[@]}" -s $set
done
run 0 "${plugins[@]}" config explain l2.replacement -p rtx3070
says 'nru: the first line that was not used recently'
run 0 "${plugins[@]}" config explain dram.scheduler -p rtx3070
says 'reads-first: reads before writes, then open rows, then the oldest'
refused 2 "but must be one of lru, fifo, random, plru, srrip" "${nvidia[@]}" -s l2.replacement=nru
run 0 blocks
grep -qE '^    dram.scheduler +dram-scheduler/1 +lockstep/policy.h$' stdout || fail 'the policy slots are not listed'

# A policy that leaves out a function, and a policy whose answer cannot be: both are named. bad FILE SED SET CODE LINE
bad() {
    sed -E "$2" "$SOURCE_DIR/examples/plugins/$1.c" >bad.c
    ! cmp -s bad.c "$SOURCE_DIR/examples/plugins/$1.c" || fail "'$2' changes nothing in $1.c"
    "$CC" -std=c17 -w -shared -fPIC ${SANITIZE:+-fsanitize=$SANITIZE} -DLOCKSTEP_PLUGIN -I "$SOURCE_DIR/include" bad.c \
        -o bad.so || fail "$1.c with '$2' does not compile"
    refused "$4" "$5" --plugin ./bad.so "${nvidia[@]}" -s "$3" -j 3
}
bad replace_nru 's/, \.victim = victim//' l2.replacement=nru 3 "replacement policy 'nru' leaves out the function 'victim'"
bad replace_nru 's/return i \* 64 \+ .*/return ways;/' l2.replacement=nru 2 \
    "replacement policy 'nru' chose a line that may not go"
bad prefetch_block 's/, \.train = train//' l2.prefetch=block 3 "prefetch policy 'block' leaves out the function 'train'"
bad prefetch_block 's/= i;/= i + 64;/' l2.prefetch=block 2 \
    "prefetch policy 'block' named more lines than its degree, or a line of another page"
bad hash_prime 's/\.set = set_of/.set = NULL/' l2.hash=prime 3 "hash 'prime' leaves out the function 'set'"
bad hash_prime 's/% prime_below/+ prime_below/' l2.hash=prime 2 "hash 'prime' named a set that is not there"
bad dram_reads_first 's/, \.choose = choose//' dram.scheduler=reads-first 3 \
    "DRAM scheduler 'reads-first' leaves out the function 'choose'"
bad dram_reads_first 's/return best;/return count;/' dram.scheduler=reads-first 2 \
    "DRAM scheduler 'reads-first' chose a request that is not there"
bad place_halves 's/= \{ \.next = next \}/= { 0 }/' dispatch.placement=halves 3 \
    "placement policy 'halves' leaves out the function 'next'"
bad place_halves 's/\+\+state\[0\] % cores/cores * 2/' dispatch.placement=halves 2 \
    "placement policy 'halves' named a core that is not there"
# The formulas of memory know built-in policies only.
refused 3 "l2.hash is a plug-in's, but hit rates are counted" "${plugins[@]}" "${nvidia[@]}" --fidelity memory -s l2.hash=prime
refused 3 "dram.scheduler is a plug-in's, which the formulas of memory do not know" "${plugins[@]}" "${nvidia[@]}" \
    --fidelity memory -s dram.scheduler=reads-first

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
exit 0
