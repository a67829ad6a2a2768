#!/usr/bin/env bash
# `lockstep debug`: sessions to the byte, break points, watch points, faults, scripts, refusals.
# Dollar signs are registers of the debugger.
# shellcheck disable=SC2016
# shellcheck source=lib.bash
source "$(dirname "$0")/lib.bash"
data=$SOURCE_DIR/tests/data/debug
cp "$data"/reverse.{cl,co} .
reverse=(debug reverse.co --grid 128 -a buffer:512:f32=1.5 -a buffer:512 -a f32:2 -a u32:128)

# session NAME ARG...: runs the script NAME.gdb and compares with NAME.out, to the byte.
session() {
    local name=$1
    shift
    run 0 "$@" --batch -x "$data/$name.gdb"
    cmp -s stdout "$data/$name.out" || {
        diff "$data/$name.out" stdout | head -20 >&2
        fail "the session $name is another one"
    }
}
# The same bits of output each time, by source lines and by instructions.
session reverse "${reverse[@]}"
session reverse "${reverse[@]}"
session fir debug fir --gpu gfx1030 --size 128
session commands "${reverse[@]}"

# A condition: the second wave of the second work-group; the same line from standard input is echoed.
printf 'break reverse if $group_x == 1 && $wave == 1\nrun\ninfo break\nkill\nrun\nquit\n' |
    "$LOCKSTEP" "${reverse[@]}" >stdout 2>stderr || fail 'not from standard input'
grep -qx 'Breakpoint 1, reverse+0x0 in work-group 1,0,0 wave 1' stdout || fail 'the condition does not hold'
grep -qx '(lockstep) info break' stdout || fail 'the line is not shown'
[[ $(grep -c '^Breakpoint 1, ' stdout) == 2 ]] || fail 'the program did not run twice'
# Changing a register changes the result.
run 0 "${reverse[@]}" --batch -ex 'break reverse+0x6c' -ex run -ex 'set $s4 = 0' -ex delete -ex continue --print out:f32:64
grep -q '^out:.* 0 0$' stdout || fail 'the register was not changed'
grep -q '^out: 3 3' stdout || fail 'the other wave was changed too'
# The debugger changes nothing by itself.
run 0 emulate reverse.co "${reverse[@]:2}" --json
hash=$(grep -A9 '"buffers"' stdout | grep -o '"name": "out".*')
run 0 "${reverse[@]}" --batch -ex 'break reverse.cl:16' -ex run -ex 'delete' -ex 'stepi 5' -ex c
out=$(grep -o 'buffer 1 .*' stdout | grep -oE '[0-9a-f]{32}')
[[ $hash == *"$out"* ]] || fail 'the debugger changed the result'

# A fault: where, why, the nearest allocation, the source line, the registers; exit code 5 as of emulate.
fault=(reverse.co --grid 4096 -a buffer:16384 -a buffer:64 -a f32:2 -a u32:4096)
run 2 debug "${fault[@]}" --batch -ex run -ex 'print $pc' -ex stepi
says 'Fault: kernel reverse, pc reverse+0xcc, work-group 16,0,0, wave 0: global_store_dword v[0:1], v3, off: lane 0 writes 4 bytes at '
says 'which is not mapped; it is 4032 bytes past the end of the nearest allocation, 64 bytes of argument out at '
says ' (reverse.cl:17)'
says '17	        out[i] = tile[63 - l];'
says '$pc = reverse+0xcc'
grep -q 'v0\[0\] = 0x' stdout || fail 'the registers are not shown'
grep -q 'the wave faulted' stderr || fail 'a wrong line of a script is not the error'
run 5 debug "${fault[@]}" --batch -ex run -ex continue
sentence=$(sed 's/^lockstep: //' stderr)
run 5 emulate "${fault[@]}"
[[ $(sed 's/^lockstep: //' stderr) == "$sentence" ]] || fail 'emulate says something else'
run 5 run "${fault[@]}" -p w6800
grep -q 'pc reverse+0xcc.*bytes of argument out at.*(reverse.cl:17)' stderr || fail 'run does not explain the fault'

# Frames of real calls, emulated and in simulated time: the second call of a function that has returned once.
cp "$data"/calls.{cl,co} .
for platform in '' '--platform w6800'; do
    # shellcheck disable=SC2086
    run 0 debug calls.co $platform --grid 32 -a buffer:256:iota -a buffer:256 -a buffer:256 --batch -ex 'break calls.cl:5' -ex run -ex c -ex bt
    grep -A2 '^#0  .* in square () at calls.cl:5$' stdout >frames
    grep -qE '^#0  square\+0x8 in square' frames || fail "the function has no name: $platform"
    grep -qE '^#1  twice\+0x\w+ in twice \(\) at calls.cl:10$' frames || fail "the caller is not known: $platform"
    grep -qE '^#2  calls\+0xa0 in calls \(\) at calls.cl:16$' frames || fail "the kernel is no frame: $platform"
    [[ $(grep -c '^#' stdout) == 3 ]] || fail "a function that has returned is a frame: $platform"
done

run 0 debug calls.co --grid 32 -a buffer:256:iota -a buffer:256 -a buffer:256 --batch -ex 'break calls' -ex run -ex 'break twice+0x4' -ex c \
    -ex 'break square' -ex c
says 'Breakpoint 2, twice+0x4 in work-group 0,0,0 wave 0'
says 'Breakpoint 3, square+0x0 in work-group 0,0,0 wave 0'

# The same pcs in the disassembly.
run 0 amd disasm --offsets reverse.co
grep -q 'global_store_dword v\[0:1\], v3, off *// reverse+0xcc: ' stdout || fail 'disasm --offsets shows other pcs'

# Wrong lines.
refuse() {
    run 2 "${reverse[@]}" --batch -ex "$2"
    grep -qF -- "$1" stderr || fail "'$2' does not say: $1"
}
refuse 'there is no command' 'frobnicate'
refuse 'is not running' 'stepi'
refuse 'is not running' 'info waves'
refuse 'info knows' 'info nonsense'
refuse 'is no format' 'x/4q 0'
refuse "'out' is no number" 'print out'
refuse 'nowhere.gdb' 'source nowhere.gdb'
run 0 "${reverse[@]}" --batch -ex 'break nowhere' -ex run
says '[Breakpoint 1: no launch had an instruction at nowhere]'
refused 2 'needs --grid' debug reverse.co --batch
refused 2 'is for workloads' debug reverse.co --size 3 --batch
refused 2 'nearest: fir' debug fri --batch
# Lines that go on after a wrong one.
printf 'wrong\nbreak reverse\nrun\np $v200\nwave 7\ngroup 9\nbreak other\n' | "$LOCKSTEP" "${reverse[@]}" >stdout 2>stderr || fail 'no end'
for text in "there is no command 'wrong'" 'the kernel has no v200' "there is no wave '7'" 'there is no work-group 9,0,0' \
    "has no kernel 'other'"; do
    says "$text"
done
# A terminal: libedit completes and an empty line repeats.
if command -v python3 >/dev/null; then
    python3 "$SOURCE_DIR/tests/e2e/debug_terminal.py" "$LOCKSTEP" "${reverse[@]}" || fail 'not on a terminal'
else
    left_out 'the terminal: there is no python3'
fi
