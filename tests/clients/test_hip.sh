#!/usr/bin/env bash
# HIP programs of tests/clients/hip, compiled by Debian's hipcc and run as they are: test_hip.sh emulated|timed|faults|tools.
# They compare their results with the CPU's; the last line of a program is "good".
set -uo pipefail
command -v hipcc >/dev/null || {
    echo 'skipped: there is no hipcc (scripts/deps clients installs it)'
    exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
unset "${!LOCKSTEP_@}" 2>/dev/null || true
LOCKSTEP=${BINARY_DIR:?}/lockstep

fail() {
    echo "FAILED: $*" >&2
    [[ -e out ]] && tail -n 20 out >&2
    exit 1
}
# Programs are compiled once for all tests. hipcc exits with 0 even after errors.
compile() {
    local name=$1 kept=$BINARY_DIR/tests/hip
    shift
    mkdir -p "$kept"
    if [[ ! -e $kept/$name || $SOURCE_DIR/tests/clients/hip/$name.hip -nt $kept/$name ]]; then
        local targets=(--offload-arch=gfx1030)
        [[ $name == matrix ]] && targets=(--offload-arch=gfx90a)
        [[ $name == streams || $name == memory || $name == peers ]] && targets+=(--offload-arch=gfx803)
        hipcc -std=c++17 -O1 "${targets[@]}" "$SOURCE_DIR/tests/clients/hip/$name.hip" -o "$name.new" "$@" >out 2>&1
        [[ -e $name.new ]] || fail "hipcc does not compile $name.hip"
        mv "$name.new" "$kept/$name"
    fi
    ln -sf "$kept/$name" "$name"
}
# runs OPTION... -- PROGRAM: it ends well.
runs() {
    timeout 300 "$LOCKSTEP" exec "$@" >out 2>&1 || fail "lockstep exec $*: exit code $?"
    [[ $(tail -n 1 out) == good ]] || fail "lockstep exec $*"
}
says() {
    grep -qE -- "$1" out || fail "no line like: $1"
}

case ${1:?} in
    emulated)
        for name in streams memory kernels prim rtc cooperative; do
            compile $name
            runs --gpu gfx1030 -- ./$name
        done
        compile random -lrocrand
        runs --gpu gfx1030 -- ./random
        for name in streams memory; do
            runs --gpu gfx803 -- ./$name
        done
        runs --gpu gfx1030 --threads 3 -- ./kernels
        says '^thread 1 of block 1 says hello 0.50$'
        compile peers
        runs --gpu gfx1030 --gpus 2 -- ./peers
        # Matrix instructions; hipcc's wait states are enough.
        compile matrix
        runs --gpu gfx90a -- ./matrix
        runs --gpu gfx90a --strict -- ./matrix
        ;;
    timed)
        for name in memory kernels prim rtc; do
            compile $name
            runs --platform w6800 --no-summary -- ./$name
        done
        # GPUs on a fabric use each other's memory.
        compile peers
        runs --platform r9nano-x4 --no-summary -- ./peers
        # The times of events are the same in every run, for any number of threads.
        compile streams
        runs --platform w6800 --no-summary -- ./streams
        says '^times 0\.00[0-9]* 0\.0[0-9]*$'
        mv out first
        for threads in 1 2 3 8; do
            runs --platform w6800 --no-summary --threads $threads -- ./streams
            cmp first out || fail "other times with $threads threads"
        done
        # Work-groups that wait for each other, and a GPU that is full of them.
        compile cooperative
        runs --platform w6800 --no-summary -- ./cooperative
        mv out first
        for threads in 2 3 8; do
            runs --platform w6800 --no-summary --threads $threads -- ./cooperative
            cmp first out || fail "other times of a cooperative launch with $threads threads"
        done
        timeout 300 "$LOCKSTEP" exec --platform w6800 --metrics counts.json -- ./streams >out 2>&1 || fail 'metrics'
        says 'on w6800$'
        says 'costliest kernels'
        grep -q '"launches": [1-9]' counts.json || fail 'no launches were counted'
        ;;
    faults)
        compile fault
        for options in '--gpu gfx1030' '--platform w6800 --no-summary'; do
            # shellcheck disable=SC2086
            timeout 300 "$LOCKSTEP" exec $options -- ./fault >out 2>&1
            code=$?
            [[ $code == 5 ]] || fail "a fault ends with $code, not with 5"
            says '^before$'
            says '^lockstep-hsa: kernel _Z5strayPi, pc .* lane 0 writes 4 bytes at 0x1234000, which is not mapped'
            ! grep -q after out || fail 'the program went on after a fault'
        done
        compile texture
        timeout 300 "$LOCKSTEP" exec -- ./texture >out 2>&1 || fail 'a texture was created'
        says '^lockstep-hsa: hsa_.*: textures and surfaces are not supported'
        says '^no texture$'
        compile cooperative
        timeout 300 "$LOCKSTEP" exec --platform w6800 --no-summary --check-memory -- ./cooperative >out 2>&1 &&
            fail 'a grid barrier with a memory check'
        says 'the memory check knows no barriers over the grid'
        ;;
    tools)
        command -v rocminfo >/dev/null || {
            echo 'skipped: there is no rocminfo'
            exit 77
        }
        timeout 60 "$LOCKSTEP" exec --gpu gfx1030 --gpu gfx803 -- rocminfo >out 2>&1 || fail 'rocminfo'
        for what in 'Name: +gfx1030 *$' 'Name: +gfx803 *$' 'Marketing Name: +Lockstep gfx803' 'Device Type: +CPU' \
            'Name: +amdgcn-amd-amdhsa--gfx1030'; do
            says "$what"
        done
        [[ $(grep -cE 'Device Type: +GPU' out) == 2 ]] || fail 'rocminfo does not show two GPUs'
        ;;
    *) fail "no test '$1'" ;;
esac
