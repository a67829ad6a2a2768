#!/usr/bin/env bash
# Instruction traces with data: the packed form gives back the lines of JSON and is ten times smaller; `lockstep trace view`.
# shellcheck source=lib.bash
source "$(dirname "$0")/lib.bash"

# ratio NAME ARG...: both forms of a trace; sizes, and the same lines from both.
ratio() {
    local name=$1 plain packed
    shift
    run 0 emulate "$@" --trace-instructions "$name.jsonl"
    run 0 emulate "$@" --trace-instructions "$name.lsit"
    run 0 trace view "$name.lsit" --json
    cmp -s stdout "$name.jsonl" || fail "$name: the packed trace has other lines"
    plain=$(stat -c %s "$name.jsonl")
    packed=$(stat -c %s "$name.lsit")
    echo "$name: $plain bytes of JSON, $packed packed, $((plain * 10 / packed))/10 times smaller"
    ((plain >= 10 * packed)) || fail "$name: not ten times smaller"
}
ratio fir fir --gpu gfx1030 --size 256
ratio sources fir --gpu gfx803 --size 256 --trace-filter with=sources
ratio histogram histogram --gpu gfx1010 --size 1024
ratio reverse "$SOURCE_DIR/tests/data/debug/reverse.co" --grid 128 -a buffer:512:iota -a buffer:512 -a f32:2 -a u32:128

# Loads, stores, atomics and LDS have addresses and data; scalars too.
grep -q '"text":"ds_write_b32 v4, v3",.*"access":{"kind":"store","space":"lds","bytes":4,"pieces":1,"lanes":"0xffffffff","address":\["0x0","0x4",' \
    reverse.jsonl || fail 'no store to LDS'
grep -q '"text":"s_load_dword s4.*"access":{"kind":"load","space":"scalar","bytes":4,"pieces":1,"lanes":"0x1","address":\["0x1[0-9a-f]*"\],"data":\["0x10040"\]}' \
    reverse.jsonl || fail 'no scalar load'
grep -q '"kind":"atomic".*"old":\["0x' histogram.jsonl || fail 'no atomic with the old value'
grep -q '"reads":{"s4":"0x' sources.jsonl || fail 'no source values'
grep -q '"reads"' fir.jsonl && fail 'source values that nobody asked for'
# The data of a load are those of the buffer: iota.
grep -q '"text":"global_load_dword v3.*"data":\["0x0","0x1","0x2","0x3",' reverse.jsonl || fail 'other data'

# The viewer.
view() {
    run 0 trace view "$@"
}
view reverse.lsit --wave 0 --group 1,0,0 --find ds_
grep -qx 'launch 1: reverse' stdout || fail 'no launch'
[[ $(grep -c '^#' stdout) == 2 ]] || fail 'not two LDS instructions'
grep -q '^#.* 1,0,0\.0 .*reverse+0x70 .*ds_write_b32 v4, v3 .*store lds 1\*4 B at 0x0\.\.$' stdout || fail 'the store is not shown'
view reverse.lsit --at-pc reverse+0xd4
[[ $(grep -c s_endpgm stdout) == 4 ]] || fail 'not every wave ends'
view reverse.lsit --writes v3 -n 3
grep -q 'global_load_dword v3' stdout || fail 'not the writer'
view reverse.lsit --touches 0x4:4 --find ds_read -n 3
grep -q 'reverse+0xac' stdout || fail 'no access to the address'
view reverse.lsit --kernel nothing
grep -qx 'none of the 148 instructions matches' stdout || fail 'nothing is said about no match'
at=$("$LOCKSTEP" trace view reverse.lsit --at-pc reverse+0x70 -n 1 | grep -o '^#[0-9]*' | tr -d '#')
view reverse.lsit --follow v3 --at "$at"
head -1 stdout | grep -q "^#$at .*ds_write_b32" || fail 'the place is not shown'
grep -qx "v3 <- #$((at - 1)) reverse+0x6c: v_mul_f32_e32 v3, s4, v3" stdout || fail 'the writer is not found'
grep -qE '^  s4 <- #[0-9]+ reverse\+0x3c: s_load_dwordx2 s\[4:5\], s\[6:7\], 0x10$' stdout || fail 'the writer of a source is not found'
grep -qE '^    s6 was there when the trace began$' stdout || fail 'the begin is not found'

# One line about a filter that lets nothing through, and refusals.
run 0 emulate fir --size 64 --trace-instructions none.jsonl --trace-filter wave=9
grep -q 'warning: the instruction trace is empty: no executed instruction matches the filter wave=9' stderr || fail 'nothing is said'
[[ $(wc -l <stderr) == 1 ]] || fail 'more than one line'
refused 2 'with=sources' emulate fir --trace-instructions x.lsit --trace-filter with=all
[[ ! -e x.lsit ]] || fail 'a refused run left a file'
refused 2 'is no register' trace view reverse.lsit --writes q4
refused 2 'needs --at' trace view reverse.lsit --follow v3
refused 2 'there is no instruction 999' trace view reverse.lsit --follow v3 --at 999
refused 2 'no packed instruction trace' trace view reverse.jsonl
head -c 500 reverse.lsit >cut.lsit
run 2 trace view cut.lsit
grep -q 'cut.lsit: the instruction trace is damaged or cut off' stderr || fail 'a cut file is not refused'
