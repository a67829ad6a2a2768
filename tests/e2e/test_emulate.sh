#!/usr/bin/env bash
# `lockstep emulate` and `lockstep workload`: results that are checked, traces, arbitrary code objects, refusals.
# shellcheck source=lib.bash
source "$(dirname "$0")/lib.bash"

# Tests that need no kernels.
run 0 workload list
grep -qE '^  vector_add +sum of two vectors of floats$' stdout || fail 'vector_add is not listed'
run 0 workload show fir
grep -qE '^  taps +16 +1 to 1024' stdout || fail 'the options are not shown'
refused 2 'nearest: fir' workload show fri
refused 2 'nearest: fir' emulate fri
refused 2 'is for code objects' emulate fir --grid 64
refused 2 'is for workloads' emulate x.co --size 64
refused 2 'needs --grid' emulate x.co
refused 2 'needs --trace-instructions' emulate fir --trace-filter wave=1

kernels=$BINARY_DIR/share/lockstep/kernels
export LOCKSTEP_KERNELS=$work/none
refused 2 'clang-15' emulate vector_add --gpu gfx803
unset LOCKSTEP_KERNELS

for gpu in gfx803 gfx1010 gfx1030; do
    run 0 emulate vector_add --gpu "$gpu" --size 1000 --verify
    grep -qE 'verification +correct  1,000 values' stdout || fail "no verification on $gpu"
done

# Where the kernels are found: the environment's directory first.
mkdir -p mine/gfx1010
cp "$kernels/gfx1010/vector_add.co" mine/gfx1010/
LOCKSTEP_KERNELS=$work/mine run 0 emulate vector_add --gpu gfx1010 --size 64
LOCKSTEP_KERNELS=$work/mine refused 2 'gfx1010/fir.co' emulate fir --gpu gfx1010 --size 64

# CDNA: kernels are compiled here, where the compiler is. No platform has its timing.
bitcode=$(find /usr/lib -path '*amdgcn/bitcode' -type d 2>/dev/null | head -n 1)
if command -v clang-15 >/dev/null && [[ -x /usr/lib/llvm-15/bin/ld.lld && -n $bitcode ]]; then
    mkdir -p cdna/gfx90a
    clang-15 -B/usr/lib/llvm-15/bin -target amdgcn-amd-amdhsa -mcpu=gfx90a -x cl -cl-std=CL2.0 -O2 -cl-kernel-arg-info \
        --rocm-device-lib-path="$bitcode" "$SOURCE_DIR"/workloads/vector_add/vector_add.cl -o cdna/gfx90a/vector_add.co ||
        fail 'clang-15 does not compile for gfx90a'
    for threads in 1 2 3 8; do
        LOCKSTEP_KERNELS=$work/cdna run 0 emulate vector_add --gpu gfx90a --size 1000 --verify --json --threads "$threads"
        grep -vE 'host_seconds|instructions_per_second' stdout >"cdna$threads"
        cmp -s cdna1 "cdna$threads" || fail "another result on gfx90a with $threads threads"
    done
    grep -q '"verification": "correct"' cdna1 || fail 'not verified on gfx90a'
    LOCKSTEP_KERNELS=$work/cdna refused 3 'has no timing for gfx90a' run vector_add -p r9nano --gpu gfx90a
fi

# The same bits for any number of threads, and JSON with the number.
for threads in 1 2 8; do
    run 0 emulate fir --gpu gfx1010 --size 5000 --param taps=7 --verify --json --threads "$threads"
    grep -vE 'host_seconds|instructions_per_second' stdout >"json$threads"
    cmp -s json1 "json$threads" || fail "another result with $threads threads"
done
grep -q '"verification": "correct"' json1 || fail 'not verified'
grep -q '"taps": 7' json1 || fail 'the options are not in the JSON'
run 0 emulate fir --size 5000 --param taps=7 --seed 5 --json
grep -q "$(grep '"hash"' json1)" stdout && fail 'another seed gives the same result'
refused 2 'nearest: taps' emulate fir --param tap=7
refused 2 'at most 1024' emulate fir --param taps=1025
refused 3 'has no room' emulate fir --memory-mib 1 --size 1000000

# A kernel that does not end is stopped.
run 5 emulate fir --size 64 --max-instructions 3
grep -q 'limit' stderr || fail 'the limit is not named'

# The trace: one line per instruction, only what the filters let through.
run 0 emulate vector_add --gpu gfx1030 --size 1000 --trace-instructions t.jsonl --trace-filter group=1,0,0 --trace-filter wave=2
head -1 t.jsonl | grep -qx '{"launch":1,"kernel":"vector_add"}' || fail 'the launch is not named'
tail -n +2 t.jsonl | grep -v '^{"group":\[1,0,0\],"wave":2,"pc":"vector_add+0x' >/dev/null && fail 'another wave is in the trace'
grep -q '"text":"s_endpgm"' t.jsonl || fail 'the trace does not end'
refused 2 'nearest: wave' emulate vector_add --trace-instructions u.jsonl --trace-filter wav=2
[[ ! -e u.jsonl ]] || fail 'a refused run left a file'

# Any code object.
object=$kernels/gfx803/vector_add.co
run 0 emulate "$object" --grid 10 --group 4 --arg buffer:40:f32=1.5 --arg buffer:40:f32=-0.25 --arg buffer:64 --arg u32:10 \
    --print c:f32:12 --print 2:u32:1 --dump c=c.bin
grep -qx 'c: 1.25 1.25 1.25 1.25 1.25 1.25 1.25 1.25 1.25 1.25 0 0' stdout || fail 'wrong sum'
grep -qx '2: 1067450368' stdout || fail 'wrong bits'
[[ $(stat -c %s c.bin) == 64 ]] || fail 'the dump has another size'
run 0 emulate "$object" --grid 16 --arg buffer:@c.bin --arg buffer:@c.bin --arg buffer:64 --arg u32:16 --print 2:f32:1 --json
grep -q '"name": "c"' stdout || fail 'the buffers are not in the JSON'
refused 2 'has 4 arguments, not 1' emulate "$object" --grid 16 --arg u32:1
refused 2 'nearest: buffer' emulate "$object" --grid 16 --arg bufer:16
refused 2 'does not fit into u8' emulate "$object" --grid 16 --arg u8:256
refused 2 "'d' is neither" emulate "$object" --grid 1 --arg buffer:4 --arg buffer:4 --arg buffer:4 --arg u32:1 --dump d=x
refused 2 'nearest: vector_add' emulate "$object" --grid 16 --kernel vector_ad
refused 2 'is for gfx803' emulate "$object" --grid 16 --gpu gfx1010
run 5 emulate "$object" --grid 64 --arg u64:4096 --arg u64:4096 --arg buffer:256 --arg u32:64
grep -q 'kernel vector_add, pc vector_add+0x' stderr || fail 'the fault does not say where'

# Variants that only the tests build.
if [[ -e $kernels/gfx1030-O0-wave64/vector_add.co ]]; then
    run 0 emulate vector_add --gpu gfx1030 --variant O0-wave64 --size 500 --verify
else
    left_out 'the variant O0-wave64 is not compiled'
fi
exit 0
