#!/bin/bash
# Missing wait states of gfx90a and gfx942 under --strict: kernels as clang-19 compiles them are clean; the same ones without
# the compiler's s_nop are stopped, with the instruction before, its address and the number that is missing.
. "$(dirname "$0")/lib.bash"

for tool in clang-19 ld.lld-19; do
    command -v "$tool" >/dev/null || skip "no $tool"
done

cat >matrix.cl <<'END'
typedef float f4 __attribute__((ext_vector_type(4)));
typedef half h4 __attribute__((ext_vector_type(4)));
typedef double d4 __attribute__((ext_vector_type(4)));
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
__attribute__((reqd_work_group_size(64, 1, 1))) __kernel void products(__global f4 *out, __global const h4 *in)
{
    int i = (int)__builtin_amdgcn_workitem_id_x();
    f4 sum = { 0, 0, 0, 0 };
    for (int k = 0; k < 3; k++)
        sum = __builtin_amdgcn_mfma_f32_16x16x16f16(in[i + 64 * k], in[64 * k + 63 - i], sum, 0, 0, 0);
    sum *= 2.0f;
    out[i] = __builtin_amdgcn_mfma_f32_16x16x16f16((h4){ 1, 2, 3, 4 }, in[i], sum, 0, 0, 0);
}
__attribute__((reqd_work_group_size(64, 1, 1))) __kernel void doubles(__global d4 *out, __global const double *in)
{
    int i = (int)__builtin_amdgcn_workitem_id_x();
    d4 sum = { 0, 0, 0, 0 };
    sum = __builtin_amdgcn_mfma_f64_16x16x4f64(in[i], in[63 - i], sum, 0, 0, 0);
    out[i] = sum * in[i];
}
END

emulated() { # emulated CODE KERNEL INPUT FILE
    run "$1" emulate "$4" --strict --kernel "$2" --grid 64 --group 64 -a buffer:2048:zero -a "buffer:2048:$3"
}
for gpu in gfx90a gfx942; do
    clang-19 -target amdgcn-amd-amdhsa -mcpu=$gpu -x cl -cl-std=CL2.0 -O2 -w -nogpulib -S matrix.cl -o matrix.s ||
        fail "clang-19 for $gpu"
    grep -q 's_nop' matrix.s || fail "no wait states in the code of $gpu"
    sed '/^[[:space:]]*s_nop/d' matrix.s >bare.s
    for name in matrix bare; do
        clang-19 -target amdgcn-amd-amdhsa -mcpu=$gpu -c $name.s -o $name.o || fail "$name.s of $gpu is not assembled"
    done
    emulated 0 products f32=0.5 matrix.o
    emulated 0 doubles f64=1.5 matrix.o
    emulated 5 products f32=0.5 bare.o
    grep -qE 'wave 0: .* wait states are missing after pc products\+0x[0-9a-f]+ \(v_' stderr || fail 'no finding in products'
    # gfx942 needs some between ordinary instructions, too, and those come first.
    [ $gpu = gfx942 ] || grep -q '(v_mfma_f32_16x16x16f16' stderr || fail 'the finding does not name the matrix instruction'
    grep -q 'are needed, ' stderr || fail 'the finding does not say how many are needed'
    emulated 5 doubles f64=1.5 bare.o
    grep -q 'wait states are missing after pc doubles' stderr || fail 'no finding in doubles'
    # Without checks the code computes: emulation has no such delays.
    run 0 emulate bare.o --kernel products --grid 64 --group 64 -a buffer:2048:zero -a buffer:2048:f32=0.5
done
