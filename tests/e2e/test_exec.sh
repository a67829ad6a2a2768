#!/usr/bin/env bash
# lockstep exec: an unchanged OpenCL program runs on the requested GPU.
# shellcheck source=lib.bash
source "$(dirname "$0")/lib.bash"

[[ -e $(dirname "$LOCKSTEP")/liblockstep-opencl.so ]] || skip 'the OpenCL driver is not built'
[[ -z $SANITIZE ]] || skip 'a sanitized driver does not load into other programs'

refused 2 'there is no GPU' exec --gpu gfx1011 -- true
refused 2 'nearest: time' exec --mode tim -- true
refused 2 'cannot run' exec -- ./not-there
run 3 exec -- sh -c 'exit 3'
# shellcheck disable=SC2016 # the program expands them
run 0 exec --gpu gfx1010 --gpu gfx803 --gpus 2 --threads 2 --memory-mib 64 --trace-instructions t.jsonl --trace-filter wave=0 \
    --trace-filter kernel=k -- sh -c 'echo "$LOCKSTEP_GPU $LOCKSTEP_GPUS $LOCKSTEP_THREADS $LOCKSTEP_MEMORY" -- \
    "$LOCKSTEP_TRACE_FILTER"; test -e "$OCL_ICD_VENDORS"'
says 'gfx1010,gfx803 2 2 64M -- wave=0 kernel=k'

for tool in clang-15 ld.lld-15; do
    command -v "$tool" >/dev/null || skip "$tool is not there"
done
cat >add.c <<'C'
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>

int main(void)
{
    const char *text = "kernel void k(global int *o) { o[get_global_id(0)] += get_global_id(0); }";
    int data[64] = { 5 };
    size_t grid = 64;
    char name[64];
    cl_platform_id platform;
    cl_device_id device;
    cl_int e;
    if (clGetPlatformIDs(1, &platform, NULL) || clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL))
        return 10;
    clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL);
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &e);
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &e);
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &e);
    if (clBuildProgram(program, 0, NULL, "", NULL, NULL))
        return 11;
    cl_kernel kernel = clCreateKernel(program, "k", &e);
    cl_mem mem = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof data, data, &e);
    clSetKernelArg(kernel, 0, sizeof mem, &mem);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &grid, NULL, 0, NULL, NULL);
    clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, sizeof data, data, 0, NULL, NULL);
    printf("%s: %d %d\n", name, data[0], data[63]);
    return 0; /* without releasing anything */
}
C
"$CC" add.c -o add -lOpenCL 2>stderr || skip 'there is no OpenCL loader to link with'
export LOCKSTEP_CACHE_DIR=$work/cache
run 0 exec --gpu gfx1010 --metrics counts.json --trace-instructions trace.jsonl -- ./add
[[ $(<stdout) == 'gfx1010 (Lockstep): 5 63' ]] || fail 'the program printed something else'
grep -q '"launches": 1, "work_groups": 1' counts.json || fail 'the counts are not those of one launch'
[[ -s trace.jsonl ]] || fail 'the trace is empty'
[[ $(find cache -type f | wc -l) == 1 ]] || fail 'the cache has something else than one program'
run 0 exec --strict -- ./add
[[ ! -s stderr ]] || fail 'strict checks found something in a program without defects'
sed 's/CL_MEM_COPY_HOST_PTR, sizeof data, data/0, sizeof data, NULL/' add.c >undefined.c
"$CC" undefined.c -o undefined -lOpenCL || fail 'undefined.c'
run 0 exec -- ./undefined
run 5 exec --strict -- ./undefined
grep -q 'kernel k, pc k+0x.*, work-group 0,0,0, wave 0: .*lane 0: what is stored depends on .*nothing has written' stderr ||
    fail 'the finding is not told'
refused 2 '--strict is for emulation, but time is simulated' exec --strict --platform r9nano -- ./add
run 0 exec --gpu gfx1010 --record add.lspk -- ./add
run 0 trace check add.lspk
says '1 launches, '
run 0 run add.lspk -p rx5500xt
says 'recorded by'
run 0 exec --gpu gfx803 -- ./add
[[ $(<stdout) == 'gfx803 (Lockstep): 5 63' ]] || fail 'the program printed something else'

# A program that does not wait: submitted commands still run, but not those that wait for an event that is
# never set.
cat >leave.c <<'C'
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

int main(void)
{
    const char *text = "kernel void k(global int *o) { if (o[0]++ % 100 == 99) printf(\"after %d\\n\", o[0]); }";
    int fd = open("shared", O_RDWR | O_CREAT, 0600), gone[4];
    size_t one = 1;
    cl_platform_id platform;
    cl_device_id device;
    cl_int e;
    if (ftruncate(fd, 4096) || clGetPlatformIDs(1, &platform, NULL) ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL))
        return 10;
    int *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &e);
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &e);
    cl_command_queue other = clCreateCommandQueue(context, device, 0, &e);
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &e);
    if (clBuildProgram(program, 0, NULL, "", NULL, NULL))
        return 11;
    cl_kernel kernel = clCreateKernel(program, "k", &e);
    cl_mem mem = clCreateBuffer(context, 0, 16, NULL, &e);
    cl_event never = clCreateUserEvent(context, &e);
    clSetKernelArg(kernel, 0, sizeof mem, &mem);
    shared[1] = 700;
    clEnqueueWriteBuffer(queue, mem, CL_FALSE, 0, 4, shared + 1, 0, NULL, NULL);
    for (int i = 0; i < 300; i++)
        clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL);
    clEnqueueReadBuffer(queue, mem, CL_FALSE, 0, 4, shared, 0, NULL, NULL);
    clEnqueueReadBuffer(queue, mem, CL_FALSE, 0, 16, gone, 0, NULL, NULL); /* main will be over */
    clEnqueueReadBuffer(other, mem, CL_FALSE, 0, 4, shared + 2, 1, &never, NULL);
    return 0;
}
C
"$CC" leave.c -o leave -lOpenCL
run 0 exec -- ./leave
[[ $(<stdout) == $'after 800\nafter 900\nafter 1000' ]] || fail 'kernels that were submitted did not all run'
[[ $(od -An -td4 -N12 shared | tr -s ' ') == ' 1000 700 0' ]] || fail 'a result was lost'

# In simulated time: the same result, and how long it took.
for platform in r9nano rx5500xt; do
    run 0 exec --platform "$platform" --set command.dispatchers=2 --metrics time.json -- ./add
    [[ $(<stdout) == "$platform (Lockstep): 5 63" ]] || fail "the program printed something else on $platform"
    grep -qE '"simulated_ns": [1-9]' time.json || fail "no time on $platform"
    grep -qE '"assumptions": \[".*"\]}' time.json || fail "no assumptions of $platform"
done

# GPUs of a platform: each is a device.
run 0 exec --platform r9nano --gpus 2 -- ./add
[[ $(<stdout) == 'r9nano (Lockstep): 5 63' ]] || fail 'the program printed something else on two GPUs'
grep -q '^add on 2 GPUs of 2 x r9nano, discrete$' stderr || fail 'the summary does not name two GPUs'

# At its end a summary on standard error, which has the numbers of a recording of the program; the CSV of rocprof, too.
tables() {
    sed -n '/^  kernel time/,/^    k /p' "$1" | grep -v '^       and [0-9]* more: '
}
for threads in 1 3; do
    run 0 exec --platform r9nano -j "$threads" --record timed.lspk --rocprof "rocprof$threads.csv" -- ./add
    [[ $(<stdout) == 'r9nano (Lockstep): 5 63' ]] || fail 'the summary is in the output of the program'
    [[ $(sed -n 2p stderr) == 'add on r9nano' ]] || fail 'the summary does not begin with the program'
    grep -q 'and [0-9]* more: --record ' stderr || fail 'the summary does not say how to get every rule'
    tables stderr >"tables$threads"
done
grep -qE '^    k +1 +[0-9.]+ us +100.0 % +[0-9,]+  launches$' tables1 || fail 'the kernel is not in the summary'
cmp -s tables1 tables3 || fail 'the summary depends on threads'
cmp -s rocprof1.csv rocprof3.csv || fail 'the CSV depends on threads'
run 0 run timed.lspk -p r9nano
diff <(tables stdout | sed '/recorded by/d') tables1 >differences || fail "exec and run differ: $(<differences)"
run 0 run timed.lspk -p r9nano --stats rocprof
diff stdout rocprof1.csv >differences || fail "the CSV of exec and that of run differ: $(<differences)"
run 0 exec --platform r9nano -- ./leave
grep -q '  300 launches, GPU 0$' stderr || fail 'launches at the end of the process are not in the summary'

# Its timeline, with filters, written when it ends; the same for any number of threads.
timeline() { # THREADS OPTION...
    run 0 exec --platform r9nano --no-summary -j "$1" --timeline "t$1.pftrace" "${@:2}" -- ./add
    [[ ! -s stderr ]] || fail 'a timeline says something'
}
timeline 1
timeline 3
cmp -s t1.pftrace t3.pftrace || fail 'the timeline of exec depends on threads'
run 0 exec --platform r9nano --no-summary --timeline t.html --timeline-filter kind=kernel,group --timeline-filter 'kernel=k*' -- ./add
run 0 run timed.lspk -p r9nano --timeline recorded.pftrace
PYTHONPATH=$SOURCE_DIR/tests/e2e python3 - <<'PY' || fail 'the timeline of exec is wrong'
import timeline_page, timeline_perfetto
p, r = timeline_perfetto.check("t1.pftrace"), timeline_perfetto.check("recorded.pftrace")
assert p["names"]["kernel:k"] == 1 and p["slices"]["request"] > 0 and p["names"]["copy:GPU to host"] >= 1, p["slices"]
for kind in ("kernel", "group", "warp", "copy"):
    assert p["slices"][kind] == r["slices"][kind] > 0, (kind, p["slices"], r["slices"])
h = timeline_page.check("t.html")["slices"]
assert h == {"kernel": 1, "group": p["slices"]["group"]}, h
PY
run 0 exec --platform r9nano --no-summary --timeline t.json --timeline-filter kernel=nothing -- ./add
grep -q 'lockstep-opencl: .*kernel=nothing: no kernel of the run has this name' stderr || fail 'no word about a filter of exec'
refused 2 'exec: --timeline shows simulated time: add --platform' exec --timeline t.json -- ./add
refused 2 '--timeline-filter has no effect without --timeline' exec --platform r9nano --timeline-filter kind=warp -- ./add
refused 2 "there is no kind 'wrap' (nearest: warp)" exec --platform r9nano --timeline no.json --timeline-filter kind=wrap -- ./add
refused 3 'only cores of NVIDIA GPUs' exec --platform r9nano --timeline no.kanata -- ./add
run 2 exec --platform r9nano --timeline missing/no.json -- ./add
LOCKSTEP_TIMELINE=no.txt run 2 exec --platform r9nano --no-summary -- ./add
LOCKSTEP_TIMELINE=t.json LOCKSTEP_TIMELINE_FILTER=what OCL_ICD_VENDORS="$BINARY_DIR/liblockstep-opencl.so" LOCKSTEP_PLATFORM=r9nano ./add 2>stderr
grep -q 'there is no platform: LOCKSTEP_TIMELINE: .*is no filter' stderr || fail 'a wrong filter of the environment is accepted'
[[ -z $(find . -name 'no.*') ]] || fail 'a timeline that was refused is there'

# It can be switched off, by the option and the environment; emulation has one on request, with counts.
run 0 exec --platform r9nano --no-summary -- ./add
[[ ! -s stderr ]] || fail 'a summary with --no-summary'
LOCKSTEP_SUMMARY=0 run 0 exec --platform r9nano -- ./add
[[ ! -s stderr ]] || fail 'a summary with LOCKSTEP_SUMMARY=0'
LOCKSTEP_SUMMARY=0 run 0 exec --platform r9nano --summary -- ./add
grep -q '^add on r9nano$' stderr || fail 'the option is not stronger than the environment'
LOCKSTEP_SUMMARY=2 run 10 exec --platform r9nano -- ./add
grep -q 'LOCKSTEP_SUMMARY: .*too large' stderr || fail 'a wrong LOCKSTEP_SUMMARY is accepted'
run 0 exec -- ./add
[[ ! -s stderr ]] || fail 'a summary of emulation that nobody asked for'
run 0 exec --summary -- ./add
grep -qE '^  launches +1$' stderr || fail 'no counts of emulation'
run 0 exec --platform r9nano --rocprof none/r.csv --no-summary -- ./add
grep -q 'lockstep-opencl: .*none/r.csv' stderr || fail 'a file that cannot be written is not reported'
OCL_ICD_VENDORS="$BINARY_DIR/liblockstep-opencl.so" LOCKSTEP_ROCPROF=r.csv ./add 2>stderr
grep -q 'there is no platform: LOCKSTEP_ROCPROF: .*set LOCKSTEP_PLATFORM' stderr || fail 'counters without time are accepted'

# A wrong setting is one line, and no platform.
LOCKSTEP_GPU=gfx9 run 10 exec -- ./add
[[ $(grep -c 'lockstep-opencl: there is no platform' stderr) == 1 ]] || fail 'nothing says why there is no platform'
# A compiler that is not there.
LOCKSTEP_CLANG=/not/there run 11 exec -- ./add

# A missing platform is reported before the program starts: the program might count a system without OpenCL as
# success.
refused 2 'nearest: r9nano' exec --platform r9nan -- true
refused 2 'nearest: l2.ways' exec --platform r9nano --set l2.way=4 -- true
