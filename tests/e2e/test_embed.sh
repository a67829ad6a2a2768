#!/usr/bin/env bash
# examples/embed: a C program against an installed Lockstep, found by pkg-config alone. Its numbers are those of the
# command; errors are its lines; nothing leaks.
# shellcheck source=lib.bash
source "$(dirname "$0")/lib.bash"

for tool in cmake pkg-config "$CC"; do
    command -v "$tool" >/dev/null || skip "$tool is not there"
done
[[ -z $SANITIZE ]] || skip 'a program of another build does not mix with sanitizers'

DESTDIR=$work/root cmake --install "$BINARY_DIR" --prefix /opt/lockstep >log 2>&1 || fail "$(tail -3 log)"
prefix=$work/root/opt/lockstep
pc=$(find "$prefix" -name lockstep.pc)
[[ $pc ]] || fail 'lockstep.pc was not installed'
PKG_CONFIG_PATH=$(dirname "$pc")
LD_LIBRARY_PATH=$(dirname "$PKG_CONFIG_PATH")
export PKG_CONFIG_PATH LD_LIBRARY_PATH
read -ra flags <<<"$(pkg-config --cflags --libs lockstep)"
"$CC" -std=c17 -Wall -Wextra -Werror "$SOURCE_DIR/examples/embed/embed.c" "${flags[@]}" -o embed 2>stderr ||
    fail 'the example does not compile against the installed library'

# An NVIDIA trace: the platforms are found beside the library. Cycles are those of the command.
./embed rtx2060 synth:gemm,m=64,n=64,k=64 core.scheduler=lrr >stdout 2>stderr || fail 'the example fails'
cycles=$(sed -nE 's/^.*: ([0-9]+) cycles$/\1/p' stdout)
grep -q '^memory ' stdout || fail 'no stall stack'
[[ -s embed.json && -s embed.json.platform.yaml ]] || fail 'no export'
LOCKSTEP=$prefix/bin/lockstep
run 0 run synth:gemm,m=64,n=64,k=64 -p rtx2060 -s core.scheduler=lrr -f json
expected=$(sed -nE 's/^ *"cycles": ([0-9]+),?$/\1/p' stdout | head -1)
[[ $cycles == "$expected" ]] || fail "the example has '$cycles' cycles, the command '$expected'"

# An AMD program: its kernels are found beside the library, too.
./embed r9nano fir >stdout 2>stderr || fail 'the example fails with a workload'
grep -qE '^fir: [0-9]+ cycles$' stdout || fail 'no kernel'
grep -q '^active ' stdout || fail 'no stall stack'

./embed rtx2060 synth:gemm l2.way=3 >stdout 2>stderr
code=$?
((code == 2)) || fail "a wrong key exits with $code"
grep -q "^embed: .*l2.way.*nearest: l2.ways" stderr || fail 'the error does not name the nearest key'

if command -v valgrind >/dev/null; then
    valgrind -q --leak-check=full --error-exitcode=9 ./embed rtx2060 synth:gemm,m=64,n=64,k=16 >stdout 2>stderr ||
        fail 'the example leaks'
fi
exit 0
