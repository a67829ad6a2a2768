#!/usr/bin/env bash
# Kernels of two streams side by side. Each has the same work as alone, and sums are the totals. The run's
# cycles count overlapping time once, and nothing depends on threads.
# shellcheck source=lib.bash
source "$(dirname "$0")/lib.bash"
command -v sqlite3 >/dev/null || skip 'no sqlite3'

run 0 trace synth reduction,n=8192 -o a
run 0 trace synth gemm,m=64,n=64,k=32 -o b
mkdir two
cp a/kernel-1.traceg two/
sed 's/^-cuda stream id = .*/-cuda stream id = 7/; s/^-kernel id = .*/-kernel id = 2/' b/kernel-1.traceg >two/kernel-2.traceg
printf 'kernel-1.traceg\nkernel-2.traceg\n' >two/kernelslist.g
printf 'kernel-1.traceg\n' >a/kernelslist.g
printf 'kernel-1.traceg\n' >b/kernelslist.g

# Metrics that a kernel has independent of its place.
work="('warp_instructions', 'thread_instructions', 'ctas', 'issued', 'memory_instructions', 'memory_sectors',
    'shared_accesses', 'bank_conflict_cycles', 'register_reads', 'l1_accesses', 'l1_reads', 'l1_writes')"
per_kernel() {
    sqlite3 "$1" "SELECT k.name, t.metric, sum(t.value) FROM totals t JOIN kernels k USING(scope)
        WHERE k.shared = 0 AND t.type LIKE 'core/%' AND t.kind = 'counter' AND t.value > 0
        AND (t.metric IN $work OR t.metric LIKE 'flops_%' OR t.metric LIKE 'issued_%') GROUP BY 1, 2 ORDER BY 1, 2"
}

on=(-p rtx3070 -s cores=2 -s dispatch.concurrent_kernels=4)
for fidelity in detailed basic memory; do
    for trace in a b two; do
        run 0 run --all "$trace" "${on[@]}" --fidelity "$fidelity" -o "$trace-$fidelity.db"
    done
    db=two-$fidelity.db
    [[ $(sqlite3 "$db" 'SELECT group_concat(overlapped || shared) FROM kernels') == 10,10,11 ]] ||
        fail "$fidelity: the kernels are not marked as overlapping, with one shared interval"
    { per_kernel "a-$fidelity.db" && per_kernel "b-$fidelity.db"; } | sort >alone
    per_kernel "$db" | sort >together
    [[ $(wc -l <alone) -gt 20 ]] || fail "$fidelity: nothing to compare"
    cmp -s alone together || fail "$fidelity: a kernel counts other work beside another one:
$(diff alone together)"
    different=$(sqlite3 "$db" "WITH t AS (SELECT type || ' ' || metric AS metric,
        sum(value * (kernel IS NULL)) AS total, sum(value * (kernel IS NOT NULL)) AS parts
        FROM totals WHERE kind = 'counter' GROUP BY type, metric)
        SELECT * FROM t WHERE total <> parts")
    [[ -z $different ]] || fail "$fidelity: sums over kernels are not the totals: $different"
    # Both began at once, so the longer one is the run; and all say the same.
    [[ $(sqlite3 "$db" "SELECT (SELECT cycles FROM runs) = (SELECT value FROM totals WHERE kernel IS NULL
        AND metric = 'active_cycles') AND (SELECT cycles FROM runs) = (SELECT max(value) FROM totals
        WHERE kernel IS NOT NULL AND metric = 'busy_cycles')") == 1 ]] || fail "$fidelity: cycles are not a union"
    if [[ $fidelity != memory ]]; then # whose caches do not count
        cycles=$(sqlite3 "$db" 'SELECT cycles FROM runs')
        run 0 run two "${on[@]}" --fidelity "$fidelity" --stats accelsim
        [[ $(sed -n 's/^gpu_tot_sim_cycle = //p' stdout | tail -1) == "$cycles" ]] ||
            fail "$fidelity: gpu_tot_sim_cycle is not $cycles"
        [[ $(sed -n 's/^L2_total_cache_accesses = //p' stdout | tail -1) == "$(sqlite3 "$db" "SELECT
            value FROM totals WHERE kernel IS NULL AND type LIKE 'l2/%' AND metric = 'accesses'")" ]] || fail "$fidelity: L2's totals are not the run's"
    fi
    run 0 run two "${on[@]}" --fidelity "$fidelity" -f tidy
    grep -v '^host,' stdout >one.csv
    for threads in 2 3 8; do
        run 0 run two "${on[@]}" --fidelity "$fidelity" -f tidy -j "$threads"
        grep -v '^host,' stdout | cmp -s - one.csv || fail "$fidelity: other results with $threads threads"
    done
done
run 0 run --all two "${on[@]}"
grep -qE '_Z.* shared +shared$' stdout || fail 'the table does not say that L2 and DRAM are shared'

# Kernels of one stream do not overlap, however many may: nothing is shared.
sed 's/^-cuda stream id = .*/-cuda stream id = 0/' -i two/kernel-2.traceg
run 0 run --all two "${on[@]}" -o serial.db
[[ $(sqlite3 serial.db 'SELECT group_concat(overlapped || shared) FROM kernels') == 00,00 ]] || fail 'overlap without overlap'
run 0 run --all two -p rtx3070 -s cores=2 -o single.db
for db in serial single; do
    sqlite3 $db.db "SELECT k.name, t.type, t.metric, sum(t.value) FROM totals t JOIN kernels k USING(scope)
        GROUP BY 1, 2, 3" >$db
done
cmp -s serial single || fail 'room for more kernels changes the counters of kernels that run alone'

# Two streams of two kernels each: kernels end in one cycle, and their successors are launched in it. Each kernel is
# one kernel with all of its blocks, also if successors begin at once.
mkdir four
for i in 1 2 3 4; do
    sed "s/^-cuda stream id = .*/-cuda stream id = $((i % 2))/; s/^-kernel id = .*/-kernel id = $i/" a/kernel-1.traceg >four/kernel-$i.traceg
    echo "kernel-$i.traceg" >>four/kernelslist.g
done
ctas=$(sqlite3 a-detailed.db "SELECT value FROM totals WHERE kernel IS NULL AND type LIKE 'dispatch/%' AND metric = 'ctas'")
for fidelity in detailed basic memory; do
    for latency in 1560 0; do
        rm -f four.db
        run 0 run --all four "${on[@]}" -s dispatch.launch_latency_cycles=$latency --fidelity $fidelity -o four.db
        counted=$(sqlite3 four.db "SELECT group_concat(n) FROM (SELECT k.kernel || ':' || max(t.value * (t.metric = 'kernels')) || '/' || max(t.value * (t.metric = 'ctas')) AS n
            FROM kernels k JOIN totals t USING(scope) WHERE k.shared = 0 AND t.type LIKE 'dispatch/%'
            AND t.metric IN ('kernels', 'ctas') GROUP BY k.kernel ORDER BY k.kernel)")
        [[ $counted == "1:1/$ctas,2:1/$ctas,3:1/$ctas,4:1/$ctas" ]] ||
            fail "$fidelity, latency $latency: kernels and blocks of each kernel are $counted"
    done
done

# A sweep ranks by time in which kernels side by side count once, and has GPU cycles beside it.
run 0 sweep four -p rtx3070 -s cores=2 --vary dispatch.concurrent_kernels=1,4 -o ranked.db
while IFS=, read -r _ kernels time cycles number _; do
    [[ $kernels == dispatch* ]] && continue
    expected=$(sqlite3 ranked.db "SELECT cycles FROM runs WHERE run = $number")
    awk -v t="$time" -v c="$cycles" -v e="$expected" 'BEGIN { exit !(c == e && t > c / 1.725 - 1 && t < c / 1.725 + 1) }' ||
        fail "$kernels kernels at once: $time ns and $cycles cycles instead of $expected"
done <ranked.csv
(($(sqlite3 ranked.db 'SELECT count(DISTINCT cycles) FROM runs') == 2)) || fail 'nothing ran side by side'
