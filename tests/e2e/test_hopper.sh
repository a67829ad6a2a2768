#!/usr/bin/env bash
# Traces of Hopper by the command line: text, packed files and .tracez files give the same, damage has one line, and
# named barriers in every fidelity.
# shellcheck source=lib.bash
source "${BASH_SOURCE[0]%/*}/lib.bash"

hopper=$SOURCE_DIR/tests/workload/hopper
kernel="kernel-1-ctx_0x1"

# The same text from every form.
run 0 trace pack "$hopper" -o h.lspk
run 0 trace pack h.lspk -o z --format tracez
run 0 trace unpack z -o text
cmp text/$kernel.traceg "$hopper/$kernel.traceg" || fail "the text of z differs"
run 0 trace unpack h.lspk -o zz --compress tracez
cmp z/$kernel.tracez zz/$kernel.tracez || fail "the two .tracez files differ"
run 0 trace check z
says 'bulk_fewer: UTMALDG.2D has 3 addresses for 4 transfers, with 2048 bytes out of bounds'
says 'bulk_lost: the address of UBLKCP.S.G, a bulk copy of one transfer, is 0'
refused 2 '--compress is for text, but --format tracez has its own compression' \
    trace cut z -o cut --format tracez --compress xz
refused 2 '--format tracez writes a directory, not standard output' trace pack z -o - --format tracez
for form in "$hopper" h.lspk z; do
    run 0 run "$form" -p h100 -s cores=2 -s core.async=none -s core.tensor.groups=warps --unmodelled skip -f json -o out.json
    cycles=$(sed -n 's/.*"cycles": \([0-9]*\).*/\1/p' out.json | head -1)
    [[ ${first:=$cycles} == "$cycles" ]] || fail "$form takes $cycles cycles instead of $first"
done

# Damage, and a file of another name.
head -c 900 z/$kernel.tracez >cut.tracez
refused 2 'outside of the file: it is cut off or damaged' trace info cut.tracez
cp z/$kernel.tracez other-name
run 0 trace info other-name
says 'hopper_pipeline'

# Two warps meet at a barrier of their own, beside a third that runs for long.
warp() { # number, lines
    printf '\nwarp = %d\ninsts = %d\n' "$1" $(($# - 1))
    shift
    printf '%s\n' "$@"
}
chain() { # pc, register
    for ((i = 0; i < 200; i++)); do printf '%04x ffffffff 1 R%d FFMA 2 R%d R%d 0 0 0 NoVal\n' $(($1 + 16 * i)) "$2" "$2" "$2"; done
}
exit='8000 ffffffff 0 EXIT 0 0 0 0 NoVal'
mapfile -t long < <(chain 256 2)
mapfile -t short < <(chain 8192 4)
cycles_with() { # line of the barrier
    {
        sed '/^#BEGIN_TB/,$d; s/(2,1,1)/(1,1,1)/; s/(64,1,1)/(96,1,1)/' "$hopper/$kernel.traceg"
        printf '#BEGIN_TB\n\nthread block = 0,0,0\n'
        warp 0 "$1" "${short[@]}" "$exit"
        warp 1 "$1" "${short[@]}" "$exit"
        warp 2 "${long[@]}" "$exit"
        printf '\n#END_TB\n'
    } >k.traceg
    run 0 run k.traceg -p h100 --fidelity "$fidelity" -s cores=1 -s dispatch.launch_latency_cycles=0 -f json -o k.json
    sed -n 's/.*"cycles": \([0-9]*\).*/\1/p' k.json | head -1
}
for fidelity in detailed memory basic; do
    two=$(cycles_with '1010 ffffffff 0 BAR.SYNC 0 0 1 64 NoVal')
    register=$(cycles_with '1010 ffffffff 1 R9 BAR.SYNC 0 0 64 0 Val 1 00000001')
    all=$(cycles_with '1010 ffffffff 0 BAR.SYNC 0 0 0 0 NoVal')
    named=$(cycles_with '1010 ffffffff 0 BAR.SYNC 0 0 5 0 NoVal')
    ((two == register)) || fail "$fidelity: $two cycles with a number, $register with a register"
    ((all == named)) || fail "$fidelity: $all cycles with barrier 0, $named with barrier 5"
    # a chain of 200 after another one takes 200 times the latency longer than beside it
    ((all - two > 780 && all - two < 820)) || fail "$fidelity: $two cycles for two warps, $all for all"
done
