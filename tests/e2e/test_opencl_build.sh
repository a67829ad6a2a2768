#!/usr/bin/env bash
# Compiling OpenCL programs leaves only complete files in the cache: when it works, when the compiler fails or
# crashes, and when the program is killed in the middle.
# shellcheck source=lib.bash
source "$(dirname "$0")/lib.bash"

[[ -e $(dirname "$LOCKSTEP")/liblockstep-opencl.so ]] || skip 'the OpenCL driver is not built'
[[ -z $SANITIZE ]] || skip 'a sanitized driver does not load into other programs'
for tool in clang-15 ld.lld-15; do
    command -v "$tool" >/dev/null || skip "$tool is not there"
done
cat >build.c <<'C'
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <string.h>

/* build SOURCE OPTIONS: the code that clBuildProgram returns, and the log. */
int main(int argc, char **argv)
{
    const char *text = argv[1];
    char log[4096] = "";
    cl_platform_id platform;
    cl_device_id device;
    cl_int e;
    if (argc < 3 || clGetPlatformIDs(1, &platform, NULL) ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL))
        return 10;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &e);
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &e);
    e = clBuildProgram(program, 0, NULL, argv[2], NULL, NULL);
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
    printf("%d\n%s", e, log);
    return 0;
}
C
"$CC" build.c -o build -lOpenCL 2>stderr || skip 'there is no OpenCL loader to link with'
mkdir tmp
export LOCKSTEP_CACHE_DIR=$work/cache TMPDIR=$work/tmp

nothing_left() {
    [[ -z $(find tmp -mindepth 1) ]] || fail "$1: a temporary file is left: $(find tmp -mindepth 1 | head -1)"
    [[ $(find cache -type f ! -name '*.lscl') == '' ]] || fail "$1: the cache has something incomplete"
}
files() {
    find cache -name '*.lscl' | wc -l
}

source_text='kernel void k(global float *o) { o[get_global_id(0)] = VALUE; }'
run 0 exec -- ./build "$source_text" '-DVALUE=1'
[[ $(head -1 stdout) == 0 ]] || fail 'the program is not built'
nothing_left 'after a build'
[[ $(files) == 1 ]] || fail 'the result is not in the cache'
run 0 exec -- ./build "$source_text" '-DVALUE=1'
[[ $(files) == 1 ]] || fail 'the same program is in the cache twice'
# Options are a part of the key.
run 0 exec -- ./build "$source_text" '-DVALUE=2'
[[ $(files) == 2 ]] || fail 'another option gives the same result'
run 0 exec -- ./build "$source_text" ''
[[ $(head -1 stdout) == -11 ]] || fail 'a program with a mistake is built'
says "undeclared identifier 'VALUE'"
run 0 exec -- ./build "$source_text" '-DVALUE=1 -cl-no-such-option'
[[ $(head -1 stdout) == -43 ]] || fail 'an option that there is not is accepted'
[[ $(files) == 2 ]] || fail 'a failure is in the cache'
nothing_left 'after failures'

# A compiler that crashes is a failed build.
run 0 exec -- ./build '#pragma clang __debug parser_crash' ''
[[ $(head -1 stdout) == -11 ]] || fail 'a crash of the compiler is not a failed build'
nothing_left 'after a crash'

# Killed at any moment: the cache holds only complete files.
for i in 1 2 3 4 5 6; do
    "$LOCKSTEP" exec -- ./build "$source_text" "-DVALUE=1$i" >/dev/null 2>&1 &
    sleep "0.0$((i * 4 / 3))"
    kill -KILL $! 2>/dev/null
    wait $! 2>/dev/null
done
nothing_left 'after being killed'
before=$(files)
for i in 1 2 3 4 5 6; do
    run 0 exec -- ./build "$source_text" "-DVALUE=1$i"
    [[ $(head -1 stdout) == 0 ]] || fail 'the cache has something wrong'
done
(($(files) == 8 && before >= 2)) || fail 'the cache does not have all programs'
nothing_left 'at the end'
