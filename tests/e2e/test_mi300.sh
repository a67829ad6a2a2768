#!/usr/bin/env bash
# A GPU of several dies (XCDs): programs are right on all platforms of CDNA, work-groups go to the dies in turn, numbers do
# not depend on threads, checkpoints go on, sizes that do not fit are refused.
# shellcheck source=tests/e2e/lib.bash
source "$SOURCE_DIR/tests/e2e/lib.bash"
# shellcheck source=tests/e2e/checkpoint.bash
source "$SOURCE_DIR/tests/e2e/checkpoint.bash"

# Launches that read what other dies wrote, atomics, and LDS.
run 0 run bitonicsort --size 1024 -p mi300a --verify
run 0 run histogram --size 4096 -p mi300x --verify
run 0 run matrixmultiplication --size 32 -p mi210 --verify
small=(-p mi300a -s clusters=12 -s memory.channels=8)
run 0 run bitonicsort --size 1024 "${small[@]}" -s snoop.entries=64 -s l2.size_kib=2 -s memory_cache.size_kib=4 --verify
run 0 run fastwalshtransform --size 1024 "${small[@]}" -s xcd.line_cycles=4 -s vector_cache.write_policy=back --verify

# 26 work-groups of one wave: the first two dies take five, the others four.
run 0 run empty_kernel --size 1664 --param group=64 "${small[@]}" -f tidy
waves=$(awk -F, '$6 ~ /^gpu0\.cluster[0-9]+\.cu[0-9]+$/ && $8 == "waves" { sub(/.*cluster/, "", $6); xcd[int($6) % 6] += $11 }
    END { for (i = 0; i < 6; i++) printf "%d ", xcd[i] }' stdout)
[[ $waves == "5 5 4 4 4 4 " ]] || fail "waves of the dies: $waves"

# Any number of threads.
numbers one run fastwalshtransform --size 2048 -p mi300a --verify
for threads in 2 3 8; do
    numbers many run fastwalshtransform --size 2048 -p mi300a --verify -j "$threads"
    cmp -s one many || fail "other numbers with $threads threads"
done

# The rate of packed arithmetic acts. A GPU without such instructions warns about it.
end_time() {
    numbers end run "$@"
    grep ',end_time,' end
}
product=(matrixmultiplication --size 64 -p mi300a)
[[ $(end_time "${product[@]}") != $(end_time "${product[@]}" -s cu.packed_rate=1) ]] || fail "cu.packed_rate has no effect"
run 0 run vector_add --size 64 -p r9nano -s cu.packed_rate=2
grep -q 'cu.packed_rate has no effect' stderr || fail "no warning: $(cat stderr)"

# Message passing by a program: release and acquire are enough, and needed.
said() {
    run 0 run "$SOURCE_DIR/tests/data/mi300/pass.co" --kernel "$1" -p mi300a --grid 768 --group 64 -a buffer:1024:u32=0 -a buffer:4:u32=0 \
        -a buffer:3072:u32=0 --dump 2=sums
    od -An -t u4 -v -w4 sums | sort -n | uniq -c | awk '{ printf "%d of %d, ", $1, $2 }'
}
[[ $(said pass) == "768 of 98176, " ]] || fail "with release and acquire: $(said pass)"
[[ $(said race) == "704 of 0, 64 of 98176, " ]] || fail "without: $(said race)"

# In a launch, and between launches.
check dies at=28us 2 1 fastwalshtransform "${small[@]}" --size 2048 --verify
check launches 3kernels 1 3 bitonicsort "${small[@]}" --size 256

# A host with fewer addresses than twice the GPU's memory: it gives what it can.
if grep -qa __asan_init "$LOCKSTEP"; then
    left_out "few addresses: AddressSanitizer takes more than the limit"
else
    (ulimit -v $((64 << 20)) && run 0 run mi300a_vectoradd --size 1024 -p mi300a --verify) || fail "64 GiB of addresses are too few"
    (ulimit -v $((4 << 20)) && refused 1 'addresses for simulated memory' run mi300a_vectoradd --size 1024 -p mi300a) ||
        fail "4 GiB of addresses are enough"
fi

refused 2 'XCDs' run fir -p mi300a -s clusters=13
refused 2 'memory.cached' run fir -p mi300a -s memory.cached=false
refused 2 'cu.model' run fir -p mi210 -s cu.model=gcn
