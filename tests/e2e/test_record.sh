#!/usr/bin/env bash
# Recordings of AMD programs: made in simulated time and by emulation, checked, shown, replayed, refused. A
# replay gives the same cycles and counters on the same platform for any number of threads, and other ones on
# other platforms.
# shellcheck source=lib.bash
source "${BASH_SOURCE[0]%/*}/lib.bash"


# Everything except the host's part.
result() {
    sed '/"host": {/,$d' stdout
}

# replays PLATFORM WORKLOAD ARG...: a run with and one without a recording, and its replay with 1, 2, 3 and 8 threads.
replays() {
    local platform=$1 workload=$2
    shift 2
    run 0 run "$workload" -p "$platform" "$@" --format json
    result >plain
    run 0 run "$workload" -p "$platform" "$@" --format json -j 2 --record run.lspk
    result >recorded
    cmp -s plain recorded || fail "$workload on $platform: recording changes the result"
    for threads in 1 2 3 8; do
        run 0 run run.lspk -p "$platform" -j "$threads" --format json
        result >replayed
        cmp -s plain replayed || fail "$workload on $platform: $threads threads replay it otherwise"
    done
    run 0 trace check run.lspk
    says 'no errors'
}

replays r9nano fir --size 4096
cp run.lspk fir.lspk
replays r9nano bitonicsort --size 256
cp run.lspk sort.lspk
replays r9nano histogram --size 4096
replays rx5500xt matrixmultiplication --size 32
replays rx5500xt reduction --size 4096
if [[ -f $BINARY_DIR/share/lockstep/kernels/gfx803-O0/nw.co ]]; then
    replays r9nano nw --size 32 --variant O0 # private memory
else
    left_out 'the variant O0 is not compiled: no private memory was recorded'
fi

# The file does not depend on threads either.
run 0 run --all bitonicsort --size 256 -p r9nano -j 3 --record other.lspk
cmp -s sort.lspk other.lspk || fail "three threads record another file than two"

# An emulated run says the same, and its cycles are those of the run in simulated time, within 2 %.
run 0 emulate fir --gpu gfx803 --size 4096 --record emulated.lspk
run 0 trace info emulated.lspk --json
emulated=$(grep -m1 '"wave_instructions"' stdout | tr -cd 0-9)
run 0 trace info fir.lspk --json
insts=$(grep -m1 '"wave_instructions"' stdout | tr -cd 0-9)
((insts > 20000 && emulated == insts)) || fail "emulation recorded $emulated instructions instead of $insts"
cycles() {
    awk '/^ +1  fir /{ gsub(",", "", $3); print $3; exit }' stdout
}
run 0 run --all fir.lspk -p r9nano
timed=$(cycles)
run 0 run --all emulated.lspk -p r9nano
says 'replayed without data'
emulated=$(cycles)
((timed > 0 && emulated * 100 > timed * 98 && emulated * 100 < timed * 102)) ||
    fail "$emulated cycles by emulation, $timed in simulated time"

# Another platform: as many instructions, other cycles.
run 0 run --all fir.lspk -p rx5500xt
says "${insts:0:-3},${insts: -3}"
(($(cycles) != timed)) || fail "two GPUs take the same time"

# Some of its launches.
refused 2 'no kernel has such a name' run sort.lspk -p r9nano --kernels 2-4,name:nothing
run 0 run --all sort.lspk -p r9nano --kernels 2-4
says '3 launches'
run 0 trace info sort.lspk --kernels 36
says 'launches                     1'

# Its contents.
run 0 trace info fir.lspk
says 'recorded by             r9nano'
says 'bytes per instruction'
says 'copy in'
run 0 trace unpack fir.lspk -o fir.txt
grep -q '^launch 1 fir target gfx803 wave 64 grid 4096,1,1 work-group 64,1,1' fir.txt || fail "no launch in the text"
(($(grep -c '^wave ' fir.txt) == 64)) || fail "the text has another number of waves"
(($(grep -cE '^[0-9a-f]+ [0-9a-f]+ [sv]_|^[0-9a-f]+ [0-9a-f]+ (flat|global|ds|buffer)_' fir.txt) == insts)) ||
    fail "the text has another number of instructions"

# Refusals.
refused 2 'is a recording of an AMD program' run fir.lspk -p rtx3070
refused 2 'runs no traces of NVIDIA GPUs' run synth:gemm,m=64,n=64,k=64 -p r9nano
refused 2 'a recording of an AMD program, not a trace' trace pack fir.lspk -o x.lspk
refused 2 '--size is for workloads' run fir.lspk -p r9nano --size 8
refused 2 'the trace has 1 kernel' trace info fir.lspk --kernels 2
refused 2 '--ctas is for traces' run fir.lspk -p r9nano --ctas 2
head -c 900 fir.lspk >short.lspk
refused 2 'cut off' trace check short.lspk
refused 2 'cut off' run short.lspk -p r9nano
cp fir.lspk bad.lspk
printf '\x55' | dd of=bad.lspk bs=1 seek=300 conv=notrunc status=none
run 2 trace check bad.lspk
[[ ! -e x.lspk ]] || fail "a refused command left a file"
refused 2 'at least 1' emulate fir --record none.lspk --gpu gfx803 --size 0
[[ ! -e none.lspk ]] || fail "a run that failed left a recording"
exit 0
