#!/bin/bash
# `lockstep amd disasm` against llvm-objdump: every kernel of workloads/ (or a small one), three targets, -O0 and
# -O2, wave32 and wave64. Text, addresses and words must be the same, line for line.
. "$(dirname "$0")/lib.bash"

bitcode=
for directory in /usr/lib/x86_64-linux-gnu/amdgcn/bitcode /usr/lib/amdgcn/bitcode /opt/rocm/amdgcn/bitcode; do
    [ -d $directory ] && bitcode=$directory
done
for tool in clang-15 llvm-objdump-15 ld.lld-15; do
    command -v "$tool" >/dev/null || skip "no $tool"
done
[ -n "$bitcode" ] || skip "no rocm-device-libs"

# Only instruction lines, one space between text and comment, without the names of branch targets.
lines='/\/\/ [0-9A-F]+:/ { sub(/^[ \t]+/, ""); sub(/ *\/\/ /, " // "); sub(/ <[^>]*>$/, ""); print }'

compared=0
compare() { # compare SOURCE OUTPUT OPTIONS...
    local source=$1 object=$2
    shift 2
    clang-15 -B"$(dirname "$(readlink -f "$(command -v ld.lld-15)")")" -target amdgcn-amd-amdhsa -x cl -cl-std=CL2.0 \
        -w --rocm-device-lib-path=$bitcode "$@" "$source" -o "$object" || fail "clang-15 $* $source"
    # The object dump does not read the kernel's wave size; it needs an option.
    local lanes=()
    [[ $* == *wavefrontsize64* ]] && lanes=("--mattr=+wavefrontsize64,-wavefrontsize32")
    llvm-objdump-15 -d "${lanes[@]}" "$object" | awk "$lines" >expected
    "$LOCKSTEP" amd disasm "$object" | awk "$lines" >all || true
    # The object dump leaves out runs of zeros between functions; they are no instructions of a kernel.
    awk -F' // ' 'NR == FNR { split($2, a, ":"); wanted[a[1]] = 1; next }
                  { split($2, a, ":"); if (a[1] in wanted) print }' expected all >got
    [ -s expected ] || fail "nothing in $object"
    if ! cmp -s expected got; then
        diff expected got | head -6
        fail "$(basename "$source") $*"
    fi
    compared=$((compared + $(wc -l <expected)))
}

cat >small.cl <<'END'
__kernel void small(__global float *out, __global const double *in, __local uint *scratch, int n, half2 h)
{
    int i = get_global_id(0);
    scratch[get_local_id(0)] = n;
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum = fma((float)sin(in[i] * k), native_exp(sum), sum / (k + 3)) + scratch[k % 7] % (i + 1);
    out[i] = atomic_add((__global int *)out + 1, 5) + sum + popcount(n) + mul_hi(n, i) + rotate(n, i);
}
END

# All of them take minutes: only with AMD_DISASM_ALL=1.
sources=(small.cl)
if [ -n "${AMD_DISASM_ALL:-}" ]; then
    sources+=("$SOURCE_DIR"/workloads/*/*.cl)
else
    sources+=("$SOURCE_DIR"/workloads/{fft,kmeans}/*.cl)
fi
for source in "${sources[@]}"; do
    [ -f "$source" ] || continue
    for level in -O0 -O2; do
        compare "$source" a.co $level -mcpu=gfx803
        compare "$source" a.co $level -mcpu=gfx1010 -mwavefrontsize64
        compare "$source" a.co $level -mcpu=gfx1030
    done
done
compare small.cl a.co -O2 -mcpu=gfx1010
compare small.cl a.co -O2 -mcpu=gfx1030 -mwavefrontsize64
echo "$compared instructions are the same"
