#!/usr/bin/env bash
# `lockstep run WORKLOAD`: programs in simulated time: summary, exports, dispatch and launch as measured, refusals.
# shellcheck source=lib.bash
source "$(dirname "$0")/lib.bash"

# Tests that need no kernels.
refused 2 '--fidelity is for traces' run fir -p r9nano --fidelity basic
refused 2 '--warm-l2 is for traces' run fir -p r9nano --warm-l2
refused 2 '--size is for workloads' run synth:vectoradd -p rtx2060 --size 64
refused 2 '--grid is for code objects' run fir -p r9nano --grid 64
refused 2 'executes no programs' run fir -p rtx2060
refused 2 'command.dispatchers' run fir -p r9nano -s command.dispatchers=0


run 0 run --all bitonicsort -p r9nano --size 256 --verify
grep -qE 'verification +correct  256 values' stdout || fail 'bitonicsort does not verify'
for line in 'kernel time' 'copy time' 'total time' occupancy CPI 'L1 TLB accesses' 'DRAM transactions'; do
    says "$line"
done
run 0 run --all floydwarshall -p rx5500xt --size 20 --verify
grep -qE 'verification +correct' stdout || fail 'floydwarshall does not verify'
grep -qE '^  L1  ' stdout || fail 'no line about L1'
refused 2 "has no option 'taps'" run bitonicsort -p r9nano --param taps=3

# A result that is wrong is shown, and is an error. Nothing makes one here: the limit stops a launch.
run 5 run --all fir -p r9nano --size 256 --max-instructions 10
grep -qF 'more instructions than the limit allows' stderr || fail 'nothing says why the launch was stopped'

# Every export, the same for any number of threads.
for j in 1 3; do
    run 0 run --all fir -p rx5500xt --gpu gfx803 --size 1000 -j "$j" -o "$j.json" -o "$j.csv" -o "$j.tidy.csv" -o "$j.sqlite"
    grep -vE 'wall_seconds|run_id|"command"|"threads"|"windows"|start' "$j.json" >"$j.bare"
    grep -E ',(vector_cache/cycle|cu/rdna|dram/bank),' "$j.tidy.csv" >"$j.rows"
    [[ -s $j.csv.platform.yaml ]] || fail 'no configuration beside the results'
done
cmp -s 1.bare 3.bare || fail 'threads change the JSON'
[[ -s 1.rows ]] || fail 'the CSV has no rows of caches'
cmp -s 1.rows 3.rows || fail 'threads change the tidy CSV'
cmp -s 1.csv 3.csv || fail 'threads change the CSV'

# cycles OPTION...: of the first kernel.
cycles() {
    run 0 run --all "$@"
    awk '$1 == "1" { gsub(",", "", $3); print $3; exit }' stdout
}

# max(4, wavefronts) cycles per work-group; a launch that takes 2.86 us. So many work-groups that the first fetch of the
# code, which comes from DRAM, is over before the last one is sent.
for waves in 1 4 8; do
    few=$(cycles empty_kernel -p r9nano --size $((512 * waves * 64)) --param group=$((waves * 64)))
    many=$(cycles empty_kernel -p r9nano --size $((1408 * waves * 64)) --param group=$((waves * 64)))
    each=$((waves > 4 ? waves : 4))
    ((many - few >= 896 * each - 4 && many - few <= 896 * each + 4)) ||
        fail "896 work-groups of $waves wavefronts take $((many - few)) cycles"
    launch=$((few - 512 * each))
    ((launch >= 2803 && launch <= 2917)) || fail "a launch takes $launch cycles"
done

refused 2 'nearest: fir' run firr -p r9nano
