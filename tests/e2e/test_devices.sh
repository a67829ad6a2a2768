#!/usr/bin/env bash
# Several GPUs as devices: workloads that divide themselves, the table of launches, the files of results, and an OpenCL
# program for all devices of one context, with and without a fabric.
# shellcheck source=lib.bash
source "$(dirname "$0")/lib.bash"

small=(--size 4096 -s gpus.clusters=4 --verify)

# The same times for any number of threads; each launch names its GPU.
for how in discrete locality unified; do
    for threads in 1 2 3 8; do
        run 0 run --all fir -p r9nano-x4 --devices "$how" "${small[@]}" -j "$threads" -o "$how$threads.json"
        grep -q "^fir on 4 GPUs of r9nano-x4, $how$" stdout || fail "the table does not say $how"
        grep -qE 'verification +correct' stdout || fail "wrong with $how and $threads threads"
        sed -n '/kernel time/,/IPC/p; /GPU 3/p' stdout >"table$threads"
        cmp -s table1 "table$threads" || fail "$how differs with $threads threads"
    done
    grep -qE '^ +4 +fir +GPU 3 ' stdout || fail "no row of GPU 3 with $how"
done
grep -q '"gpu": *3' unified1.json || fail 'the results do not name GPU 3'

# GPU 0's dispatcher gives every compute unit of all GPUs a work-group in turn: 70 for 32 units.
central=(--devices unified --spread central -s gpus.clusters=2 --verify)
for threads in 1 2 3 8; do
    run 0 run --all fir -p r9nano-x4 "${central[@]}" --size 4480 -j "$threads" -o "central$threads.json" --per-block
    sed -n '/kernel time/,/IPC/p; /GPU 3/p' stdout >"table$threads"
    cmp -s table1 "table$threads" || fail "central differs with $threads threads"
done
python3 - <<'PY' || fail 'work-groups of central are not in turn'
import json
blocks = [json.load(open(f"central{n}.json"))["values"]["blocks"] for n in (1, 2, 3, 8)]
assert all(b == blocks[0] for b in blocks)
units = {n: b["work_groups"] for n, b in blocks[0].items() if n.split(".")[-1][:2] == "cu"}
assert len(units) == 32 and set(units.values()) == {2, 3}, units
assert sorted(n for n in units if units[n] == 3) == [f"gpu0.cluster{i % 2}.cu{i // 2}" for i in (0, 2, 4, 1, 3, 5)], units
assert blocks[0]["gpu0.central"]["sent"] == blocks[0]["gpu0.central"]["done"] == 48
assert [blocks[0][f"gpu{g}.central"]["received"] for g in (1, 2, 3)] == [16, 16, 16]
PY
# A compute unit that is done early gets the next one: GPU 0 has all data, GPU 1 is at the same switch. All end together.
run 0 run --all matrixmultiplication -p r9nano-x4 --devices unified --spread central --pages one -s gpus.clusters=1 \
    -s gpus.cu.groups=2 --size 192 --param columns=1024 --param inner=16 -o tail.json --per-block
python3 - <<'PY' || fail 'the tail of central is not balanced'
import json
data = json.load(open("tail.json"))
groups = [data["values"]["blocks"][f"gpu{g}.command"]["work_groups"] for g in range(4)]
assert sum(groups) == 192 and groups[0] > groups[1] > groups[2] and abs(groups[2] - groups[3]) <= 4, groups
cycles = [k["cycles"] for k in data["kernels"] if not k["name"].startswith("(")]
assert min(cycles) > 0.85 * max(cycles), cycles
PY

refused 2 '--on gpu1 chooses one GPU, but --devices discrete uses all' \
    run fir -p r9nano-x4 --devices discrete --on gpu1
refused 2 "'spread' is about the unified device" run fir -p r9nano-x4 --spread blocked
refused 2 "the spread of the unified device cannot be 'middle': blocked, interleaved or central" \
    run fir -p r9nano-x4 --devices unified --spread middle
refused 3 "spread central needs command processors of model 'cycle' and GPUs with the same compute units" \
    run fir -p r9nano-x4 --devices unified --spread central -s gpu2.clusters=2
refused 3 'a unified device needs a fabric' run fir -p r9nano-x2 --devices unified
refused 3 'workload atax does not divide itself over GPUs' run atax -p r9nano-x4 --devices locality
refused 3 'has no TLBs' run fir -p w6800 --gpus 2 -s fabric.model=full --devices locality
run 0 run --all atax -p r9nano-x4 --devices unified "${small[@]:2}" --size 64

[[ -e $BINARY_DIR/liblockstep-opencl.so ]] || skip 'the OpenCL driver is not built'
cat >all.c <<'C'
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <lockstep/cl_placement.h>
#include <stdio.h>
#define N 2048
int main(void)
{
    static int data[N];
    const char *text = "kernel void add(global int *p, int v) { p[get_global_id(0)] += v; }";
    cl_platform_id platform;
    cl_device_id devices[16];
    cl_uint count = 0;
    cl_int code, sum = 0;
    clGetPlatformIDs(1, &platform, NULL);
    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 16, devices, &count);
    cl_context context = clCreateContext(NULL, count, devices, NULL, NULL, &code);
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &code);
    if (clBuildProgram(program, 0, NULL, "", NULL, NULL) != CL_SUCCESS)
        return 77;
    cl_kernel kernel = clCreateKernel(program, "add", &code);
    cl_mem mem = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof data, data, &code);
    cl_command_queue queues[16];
    for (cl_uint i = 0; i < count; i++)
        queues[i] = clCreateCommandQueue(context, devices[i], 0, &code);
    clEnqueuePlaceBufferLOCKSTEP_fn place = (clEnqueuePlaceBufferLOCKSTEP_fn)clGetExtensionFunctionAddressForPlatform(
        platform, "clEnqueuePlaceBufferLOCKSTEP");
    if (count > 1 && (place(queues[1], mem, 4096, 4096, 0, NULL, NULL) != CL_SUCCESS || clFinish(queues[1])))
        return 1;
    for (cl_uint i = 0; i < count; i++) {
        size_t grid = N;
        int value = 1 << i;
        clSetKernelArg(kernel, 0, sizeof mem, &mem);
        clSetKernelArg(kernel, 1, sizeof value, &value);
        if (i % 2)
            clEnqueueMigrateMemObjects(queues[i], 1, &mem, 0, 0, NULL, NULL);
        clEnqueueNDRangeKernel(queues[i], kernel, 1, NULL, &grid, NULL, 0, NULL, NULL);
        clFinish(queues[i]);
    }
    code = clEnqueueReadBuffer(queues[0], mem, CL_TRUE, 0, sizeof data, data, 0, NULL, NULL);
    for (int i = 0; i < N; i++)
        sum += data[i];
    printf("%u devices, code %d, %d\n", count, code, sum);
    return 0;
}
C
"$CC" -I "$SOURCE_DIR/include" all.c -o all -lOpenCL 2>stderr || skip 'no OpenCL headers'
[[ -z $SANITIZE ]] || exit 0 # a sanitized driver does not load into other programs
run 0 exec --gpus 3 -- ./all
[[ $(<stdout) == '3 devices, code 0, 14336' ]] || fail 'three emulated GPUs'
for fabric in none pcie; do
    run 0 exec --platform r9nano --gpus 3 --set fabric.model=$fabric --metrics "$fabric.json" -- ./all
    [[ $(<stdout) == '3 devices, code 0, 14336' ]] || fail "three GPUs, fabric $fabric"
    [[ $(grep -cE '^    gpu[0-2] +1 ' stderr) == 3 ]] || fail "the summary has not three GPUs, fabric $fabric"
done
run 0 exec --platform r9nano-x4 --devices unified -- ./all
[[ $(<stdout) == '1 devices, code 0, 2048' ]] || fail 'the unified device'
