#!/usr/bin/env bash
# Many cores that request one sector from L2: a full merge list stalls a request on native platforms and its
# slice on imported ones, for any number of threads.
# shellcheck source=lib.bash
source "${BASH_SOURCE[0]%/*}/lib.bash"

gemm=synth:gemm-tensor,m=512,n=512,k=128

# cycles OPTION...: of the kernel on h100.
cycles() {
    run 0 run "$gemm" -p h100 "$@" --all
    awk '$2 ~ /hgemm/ { gsub(",", "", $3); print $3; exit }' stdout
}
roomy=$(cycles)
few=$(cycles -s l2.mshr_merge=2)
one=$(cycles -s l2.mshr_merge=1)
slice=$(cycles -s l2.mshr_merge=2 -s l2.merge_stall=slice)
[[ $roomy =~ ^[0-9]+$ ]] || fail "no cycles: '$roomy'"
((few < roomy * 110 / 100)) || fail "2 merged requests cost $few cycles, 256 only $roomy"
((one < roomy * 110 / 100)) || fail "1 merged request costs $one cycles, 256 only $roomy"
((slice > roomy * 150 / 100)) || fail "a slice that stalls takes $slice cycles, $roomy without"

# Results and counters do not depend on threads, also with stalls.
for threads in 1 2 3 8; do
    run 0 run "$gemm" -p h100 -s l2.mshr_merge=1 --threads "$threads" -o out.tidy.csv
    grep ',counter,' out.tidy.csv >"counters.$threads"
    grep -qE ',l2/cycle,merge_stalls,counter,value,[1-9]' "counters.$threads" || fail "no request stalled"
    cmp counters.1 "counters.$threads" || fail "$threads threads count otherwise than 1"
done

# Reads that meet in front of a slice are answered with the first; few entries make requests wait.
counter() {
    awk -F, -v name="$1" '$1 == "run" && $7 == "l2/cycle" && $8 == name && $10 == "value" { print $11; exit }' "$2"
}
for entries in 1024 8; do
    for threads in 1 2 3 8; do
        run 0 run "$gemm" -p h100 -s memory.halves=1 -s l2.coalesce_entries=$entries --threads "$threads" -o out.tidy.csv
        grep ',counter,' out.tidy.csv >"counters.$threads"
        cmp counters.1 "counters.$threads" || fail "$entries entries: $threads threads count otherwise than 1"
    done
    met=$(counter coalesced counters.1)
    looked=$(counter accesses counters.1) requests=$(counter requests counters.1)
    ((met > 0 && looked + met == requests)) || fail "$requests requests, $looked looked up and $met met another one"
    stalls=$(counter coalesce_stalls counters.1)
    (((entries == 8) == (stalls > 0))) || fail "$entries entries: $stalls requests waited"
done

# A full input queue is noticed in the cycle in which a request should enter it, also while the tags are busy with a line: 42 times. Requests
# that stayed in the delay until then would find it full 18 times.
run 0 run synth:gemm-hopper,m=256,n=256,k=256 -p h100 -s l2.input_queue=2 --unmodelled skip -o out.tidy.csv
stalls=$(counter input_stalls out.tidy.csv)
((stalls > 30)) || fail "$stalls requests found the input queue full"

# A queue that is full and empty again in one cycle takes the next request, and none of them is forgotten.
for threads in 1 3; do
    run 0 run synth:gather -p h100-sxm -s l2.input_queue=1 --threads "$threads" -o out.tidy.csv
    grep ',counter,' out.tidy.csv >"counters.$threads"
done
cmp counters.1 counters.3 || fail "a short input queue: 3 threads count otherwise than 1"
