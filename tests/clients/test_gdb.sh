#!/usr/bin/env bash
# gdb-multiarch of Debian attaches to `lockstep debug --gdb`: registers, threads, break points, watch points, steps, source lines.
set -uo pipefail
command -v gdb-multiarch >/dev/null || {
    echo 'skipped: there is no gdb-multiarch'
    exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
cp "$SOURCE_DIR"/tests/data/debug/reverse.{cl,co} .
fail() {
    echo "FAILED: $*" >&2
    cat server client >&2
    exit 1
}
# session GDB-COMMAND...: a server in simulated time, and gdb's output in `client`.
session() {
    "$LOCKSTEP" debug reverse.co --grid 128 -a buffer:512:f32=1.5 -a buffer:512 -a f32:2 -a u32:128 --platform w6800 --gdb 0 >server &
    local server=$! commands=() port=
    for _ in $(seq 100); do
        port=$(sed -n 's/^Waiting for gdb: target remote 127.0.0.1:\([0-9]*\)$/\1/p' server)
        [[ -n $port ]] && break
        sleep 0.1
    done
    [[ -n $port ]] || fail 'no server'
    for c in "$@"; do
        commands+=(-ex "$c")
    done
    timeout 60 gdb-multiarch -nx -batch -ex 'maint set dwarf unwinders off' -ex "target remote :$port" "${commands[@]}" >client 2>&1 ||
        fail 'gdb failed'
    wait $server || fail 'the server failed'
}
says() {
    grep -qF -- "$1" client || fail "gdb does not show: $1"
}

# By instructions. Dollar signs are gdb's.
# shellcheck disable=SC2016
session 'info registers pc exec' 'p $v0' 'info threads' 'monitor info time' 'stepi' 'break *($pc+0x64)' 'continue' 'p/f $s4' \
    'thread 2' 'monitor info waits' 'delete' 'awatch *(int*)0x100008000' 'continue' 'x/2fw 0x100006000' 'set var $s4 = 7' 'p $s4' 'kill'
says 'exec           0xffffffff'
says '{0, 1, 2, 3, 4, 5,'
says 'work-group 1,0,0 wave 1, gpu0.cluster1.cu0 SIMD 1 slot 0'
says 'simulated time '
says 'Thread 1 hit Breakpoint 1, 0x000000010000396c'
says 'wave 0,0,0.1: it waits: vmcnt is 1, it may be 0'
says 'hit Hardware access (read/write) watchpoint 2'
says '0x100006000:	1.5	1.5'
says '= 7'
says 'killed]'
grep -q 'rejected' client && fail 'gdb does not accept the description'

# By source lines: the code object has a line table, which gdb reads itself.
session 'monitor info allocations' 'add-symbol-file reverse.co -o 0x100002000' 'tbreak reverse.cl:15' 'continue' 'next' 'detach'
says '0x100002000         11056 bytes  code object'
says 'reverse.cl:15'
says '15	    barrier(CLK_LOCAL_MEM_FENCE);'
says '16	    if (i < count)'
says 'detached]'
exit 0
