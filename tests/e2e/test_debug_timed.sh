#!/usr/bin/env bash
# `lockstep debug --platform`: the debugger in simulated time, on GCN and RDNA: stops, time and place, counters with what is
# outstanding, levels of memory, waves of other work-groups, faults. A run that was stopped ends at the time of one that was not.
# shellcheck disable=SC2016
# shellcheck source=lib.bash
source "$(dirname "$0")/lib.bash"
data=$SOURCE_DIR/tests/data/debug
cp "$data"/reverse.{cl,co} .
args=(reverse.co --grid 512 -a buffer:2048:f32=1.5 -a buffer:2048 -a f32:2 -a u32:512)
timed=(debug "${args[@]}" --platform w6800)

# The same end, the same instructions, the same buffers: never stopped, stopped often, and without a debugger.
run 0 "${timed[@]}" --batch -ex run
end=$(grep -o 'at [0-9.]* ns' stdout)
[[ -n $end ]] || fail 'the end has no time'
hash=$(grep -oE '[0-9a-f]{32}' stdout | sort | md5sum)
run 0 "${timed[@]}" --batch -ex 'break reverse.cl:15' -ex 'awatch lds:0' -ex run -ex 'info waves' -ex 'info groups' -ex c -ex c \
    -ex 'info registers v' -ex 'info memory in' -ex 'stepi 9' -ex next -ex 'info waits' -ex delete -ex barrier -ex finish -ex c
says "$end]"
[[ $(grep -oE '[0-9a-f]{32}' stdout | sort | md5sum) == "$hash" ]] || fail 'the result is another one'
run 0 run "${args[@]}" -p w6800 -o result.json
fs=$(grep -o '"end_time_fs": *[0-9]*' result.json | grep -oE '[0-9]+$')
[[ $end == "at ${fs%??????}.${fs: -6} ns" ]] || fail "run ends at $fs fs, the debugger $end"

# Where and when: a break point by group and wave, one line with time, compute unit, SIMD and slot.
run 0 "${timed[@]}" --batch -ex 'break reverse+0x68 if $group_x == 2 && $wave == 1' -ex run -ex 'info time' -ex 'info waits' \
    -ex 'info registers' -ex 'print *in:f32' -ex 'print $v3[0]' -ex stepi -ex 'print $v3[0]:f32' -ex 'info memory in'
says 'Breakpoint 1, reverse+0x68 in work-group 2,0,0 wave 1'
grep -qE '^\[[0-9.]+ ns, gpu0\.cluster[0-9]+\.cu[0-9]+, SIMD [0-3], slot 0\]$' stdout || fail 'the place is not shown'
grep -qE '^simulated time [0-9.]+ ns, cycle [0-9]+ of the compute units; the wave is on gpu0' stdout || fail 'info time'
# The load is under way when the wave comes to its wait.
says 'wave 2,0,0.1: it waits: vmcnt is 1, it may be 0'
grep -qE 'vmcnt +reverse\+0x5c: global_load_dword v3, v\[3:4\], off, for [0-9]+ cycles; 1 line, [01] sent, 0 answered' stdout ||
    fail 'the load is not outstanding'
says 'vmcnt 1  expcnt 0  lgkmcnt 0  vscnt 0'
says '*in = 1.5'
says '$v3[0] = 1.5'
# After the load its line is in the caches and in memory, with the same bytes.
[[ $(grep -cE '^  gpu0\..* 3fc00000$' stdout) -ge 3 ]] || fail 'the levels of memory are not shown'

# A store: the new value is under way, then in L2, later in memory; other work-groups run at the same time.
run 2 "${timed[@]}" --batch -ex 'tbreak reverse' -ex run -ex 'watch out' -ex c -ex 'info memory out' -ex 'info waits' -ex 'info groups' -ex 'wave 3,0,0.0' \
    -ex 'info waits' -ex 'wave 9,0,0.0'
says 'Value in memory = 0x0'
says 'New value = 0x40400000, under way'
grep -qE 'vscnt +reverse\+0xcc: global_store_dword' stdout || fail 'the store is not outstanding'
says 'work-groups on compute units'
says '[Wave 3,0,0.0]'
grep -q 'wave 9,0,0.0 is not on a compute unit now' stderr || fail 'a wave that is not there was selected'

# At a barrier: who is there; one step executes the instruction that is shown, also emulated.
for platform in '' '--platform w6800'; do
    # shellcheck disable=SC2086
    run 0 debug "${args[@]}" $platform --batch -ex 'break reverse if $wave == 0 && $group_x == 0' -ex run -ex delete -ex barrier -ex 'info waves' \
        -ex stepi -ex 'print $pc'
    says 'At a barrier, reverse+0x84 in work-group 0,0,0 wave 0'
    says '$pc = reverse+0x88'
    [[ -z $platform ]] || says 'it waits at a barrier: 1 of 2 waves that run are there'
done

# Until a time, in nanoseconds and cycles; a time that is over is refused.
run 2 "${timed[@]}" --batch -ex 'break reverse' -ex run -ex delete -ex 'until 33us' -ex 'info time' -ex 'until 77000cycles' -ex 'until 1ns'
grep -qE '^\[33[0-9]{3}(\.[0-9]+)? ns, ' stdout || fail 'it did not stop at the time'
grep -q '1ns is over: it is' stderr || fail 'a time that is over is no mistake'
run 0 "${timed[@]}" --batch -ex 'break reverse' -ex run -ex delete -ex 'until 1s'
says '[No instruction was executed at 1000000000 ns or later]'
# A fault stops once, with registers, line and allocation; then the launch ends.
fault=(reverse.co --grid 4096 -a buffer:16384 -a buffer:64 -a f32:2 -a u32:4096)
run 5 debug "${fault[@]}" --platform w6800 --batch -ex run -ex 'print $v0[0]' -ex continue
[[ $(grep -c '^Fault: ' stdout) == 1 ]] || fail 'not one fault'
says '5056 bytes past the end of the nearest allocation, 64 bytes of argument out at '
says ' (reverse.cl:17)'
says '   v0[0] = 0x0000c400'
run 5 run "${fault[@]}" -p w6800
grep -q '(reverse.cl:17); registers: exec 0xffffffff, v0\[0\] 0xc000, v1\[0\] 0x1' stderr ||
    fail 'run shows no registers'
# GCN.
run 0 debug fir --size 256 --platform r9nano --batch -ex 'break fir' -ex run -ex 'until 51us' -ex 'info waves' -ex 'info registers' -ex delete -ex c
says 'vmcnt '
grep -qE '^\[The program ended after 1 launch with [0-9,]+ instructions at [0-9]+ ns\]$' stdout || fail 'no end on r9nano'
# Every access to watched bytes stops once, also where the memory unit is full and instructions are tried again and again.
hits() {
    {
        printf 'tbreak fir\nrun\nawatch in:2048\n'
        yes c | head -250
    } | "$LOCKSTEP" debug fir --gpu gfx803 --size 1024 "$@" 2>&1 | grep -c '^Read watchpoint 2: .* reads 4 bytes at '
}
emulated=$(hits)
((emulated > 50)) || fail "only $emulated accesses"
small=(--platform r9nano --set clusters=1 --set cus_per_cluster=1 --set cu.vector_queue=1 --set cu.vector_in_flight=2)
[[ $(hits "${small[@]}") == "$emulated" ]] || fail 'accesses to watched bytes were missed'
# Refusals.
refused 2 '--strict is for emulation' debug "${args[@]}" --platform w6800 --strict --batch
refused 2 'needs a platform' debug "${args[@]}" --set clock.core_mhz=500 --batch
refused 2 "nearest: w6800" debug "${args[@]}" --platform w6801 --batch
run 2 debug "${args[@]}" --batch -ex 'break reverse' -ex run -ex 'info waits'
grep -q 'has no simulated time: --platform simulates it' stderr || fail 'emulation has waits'
