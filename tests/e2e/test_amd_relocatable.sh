#!/bin/bash
# Code objects that were not linked: `clang -c` writes one, ld.lld links another from it, and both must compute the
# same bytes. Versions 2 to 6, relocations of functions, constants, variables and the table of global offsets.
. "$(dirname "$0")/lib.bash"

bitcode=
for directory in /usr/lib/x86_64-linux-gnu/amdgcn/bitcode /usr/lib/amdgcn/bitcode /opt/rocm/amdgcn/bitcode; do
    [ -d $directory ] && bitcode=$directory
done
for tool in clang-15 ld.lld-15; do
    command -v "$tool" >/dev/null || skip "no $tool"
done
[ -n "$bitcode" ] || skip "no rocm-device-libs"

cat >link.cl <<'END'
__global int counter = 7;
__global int *pointer = &counter;
__global int zeros[5];
__constant int table[4] = { 1, 2, 3, 5 };
__attribute__((visibility("default"))) __constant int shared_table[3] = { 4, 5, 6 };
__attribute__((noinline)) int inner(int x) { return x * 3 + table[x & 3]; }
__attribute__((noinline, visibility("default"))) int outer(int x) { return inner(x) + shared_table[x % 3]; }
__kernel void run(__global int *out, int n)
{
    int i = (int)get_global_id(0);
    if (i < n)
        out[i] = outer(i) + *pointer + counter + zeros[i % 5] + (int)get_local_size(0);
}
END

result() { # result FILE: the bytes of the buffer
    "$LOCKSTEP" emulate "$1" --kernel run --grid 200 --group 64 -a buffer:1024:zero -a i32:190 --dump 0=bytes >log 2>&1 ||
        fail "emulate $1: $(tail -1 log)"
    od -An -tx4 -v bytes
}

first=
for combination in gfx803:2 gfx803:3 gfx803:4 gfx803:5 gfx1010:3 gfx1010:5 gfx1030:4 gfx1030:5; do
    clang-15 -target amdgcn-amd-amdhsa -mcpu="${combination%:*}" -x cl -cl-std=CL2.0 -O2 -w -c \
        -mcode-object-version="${combination#*:}" --rocm-device-lib-path=$bitcode link.cl -o run.o ||
        fail "clang-15 for $combination"
    ld.lld-15 -shared run.o -o run.co || fail "ld.lld-15 for $combination"
    result run.co >linked
    result run.o >ours
    cmp -s linked ours || fail "$combination: the linked object computes other bytes"
    [ -n "$first" ] || first=$(cat ours)
    [ "$first" = "$(cat ours)" ] || fail "$combination computes other bytes than gfx803:2"
    [ "$("$LOCKSTEP" amd info run.o | head -1)" = "$("$LOCKSTEP" amd info run.co | head -1)" ] ||
        fail "$combination: amd info differs"
done
head -1 ours | grep -q "^ 00000053" || fail "item 0 must be 1 + 4 + 7 + 7 + 64"

# Version 6 is version 5 with another number and, for a family of GPUs, another name of the target.
cp run.co family.co
printf '\x04' | dd of=family.co bs=1 seek=8 conv=notrunc 2>/dev/null
"$LOCKSTEP" amd info family.co | grep "version 6" >/dev/null || fail "version 6 is not read"
result family.co >six
cmp -s six linked || fail "version 6 computes other bytes"
printf '\x53\x00\x00\x01' | dd of=family.co bs=1 seek=48 conv=notrunc 2>/dev/null
"$LOCKSTEP" amd info family.co | grep "gfx10-3-generic" >/dev/null || fail "gfx10-3-generic is not read"
result family.co >generic
cmp -s generic linked || fail "gfx10-3-generic computes other bytes"
"$LOCKSTEP" emulate family.co --gpu gfx1010 --kernel run --grid 1 -a buffer:4:zero -a i32:1 >log 2>&1 &&
    fail "gfx10-3-generic ran on gfx1010"
grep -q "for gfx10-3-generic" log || fail "the refusal does not name the target"

# CDNA, versions 4 to 6, from clang-19; without the device libraries, which have no file for version 6.
if command -v clang-19 >/dev/null && command -v ld.lld-19 >/dev/null; then
    sed -e 's/(int)get_global_id(0)/(int)(__builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x())/' \
        -e 's/(int)get_local_size(0)/64/' -e 's/__kernel void/__attribute__((reqd_work_group_size(64, 1, 1))) &/' link.cl >cdna.cl
    for combination in gfx90a:4 gfx90a:6 gfx942:5 gfx942:6; do
        clang-19 -target amdgcn-amd-amdhsa -mcpu="${combination%:*}" -x cl -cl-std=CL2.0 -O2 -w -c -nogpulib \
            -mcode-object-version="${combination#*:}" cdna.cl -o run.o || fail "clang-19 for $combination"
        ld.lld-19 -shared run.o -o run.co || fail "ld.lld-19 for $combination"
        "$LOCKSTEP" amd info run.o | grep -q "${combination%:*}  code object version ${combination#*:}" ||
            fail "$combination is not read"
        for file in run.o run.co; do
            [ "$first" = "$(result $file)" ] || fail "$combination: $file computes other bytes than gfx803:2"
        done
    done
else
    left_out 'clang-19 is not there: no objects of gfx90a and gfx942 were tried'
fi

# A function that is nowhere is named.
cat >missing.cl <<'END'
int nowhere(int);
__kernel void run(__global int *out) { out[0] = nowhere(1); }
END
clang-15 -target amdgcn-amd-amdhsa -mcpu=gfx1030 -x cl -cl-std=CL2.0 -O2 -w -c --rocm-device-lib-path=$bitcode \
    missing.cl -o missing.o || fail "clang-15 missing.cl"
"$LOCKSTEP" amd info missing.o >log 2>&1 && fail "an object without 'nowhere' was read"
grep -q "needs the symbol 'nowhere'" log || fail "the missing symbol is not named: $(cat log)"
