#!/usr/bin/env bash
# lockstep exec: metrics over time and the live page of an OpenCL program. A program that is watched, paused and stepped has the
# same times.
# shellcheck source=lib.bash
source "$(dirname "$0")/lib.bash"

[[ -e $(dirname "$LOCKSTEP")/liblockstep-opencl.so ]] || skip 'the OpenCL driver is not built'
[[ -z $SANITIZE ]] || skip 'a sanitized driver does not load into other programs'

refused 2 'exec: --series-every is about simulated time' exec --series-every 1us --series-out s.csv -- true
refused 2 'exec: --monitor is about simulated time' exec --monitor 0 -- true
refused 2 'exec: --series-every needs --series-out FILE or --monitor PORT' exec -p r9nano --series-every 1us -- true
refused 2 'exec: --series-out needs the length of an interval' exec -p r9nano --series-out s.csv -- true
refused 2 'exec: --series needs the length of an interval' exec -p r9nano --series 'dram/*.reads' -- true
refused 2 "'1parsec' is no interval of time" exec -p r9nano --series-every 1parsec --series-out s.csv -- true
refused 2 "'70000' is no port for the monitor" exec -p r9nano --monitor 70000 -- true
refused 2 "exec: a monitor's token needs --monitor PORT" exec -p r9nano --monitor-token auto -- true

for tool in clang-15 ld.lld-15; do
    command -v "$tool" >/dev/null || skip "$tool is not there"
done
cat >launches.c <<'C'
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    const char *text = "kernel void k(global int *o) { o[get_global_id(0)] += get_global_id(0); }";
    size_t grid = 4096;
    cl_platform_id platform;
    cl_device_id device;
    cl_int e;
    if (argc < 2 || clGetPlatformIDs(1, &platform, NULL) ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL))
        return 10;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &e);
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &e);
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &e);
    if (clBuildProgram(program, 1, &device, "", NULL, NULL))
        return 11;
    cl_kernel kernel = clCreateKernel(program, "k", &e);
    cl_mem mem = clCreateBuffer(context, CL_MEM_READ_WRITE, grid * 4, NULL, &e);
    clSetKernelArg(kernel, 0, sizeof mem, &mem);
    for (int i = atoi(argv[1]); i > 0; i--)
        if (clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &grid, NULL, 0, NULL, NULL) || clFinish(queue))
            return 12;
    return 0;
}
C
"$CC" launches.c -o launches -lOpenCL 2>stderr || skip 'there is no OpenCL loader to link with'
export LOCKSTEP_CACHE_DIR=$work/cache

# One row per interval, the same for any number of threads; the sum is that of the run.
for threads in 1 2 3 8; do
    run 0 exec -p r9nano -j $threads --series-every 5us --series-out "s$threads.csv" --rocprof r.csv -- ./launches 6
    cmp s1.csv "s$threads.csv" || fail "other metrics over time with $threads threads"
done
python3 - <<'END' || fail 'the sum over time is not that of the launches'
import csv
rows = list(csv.DictReader(open("s1.csv")))
key = next(k for k in rows[0] if "cu/" in k and ".wave_cycles" in k)
launches = list(csv.DictReader(open("r.csv")))
assert len(rows) > 3 and float(rows[1]["begin_ns"]) == 5000
assert sum(float(r[key]) for r in rows) == sum(float(r["SQ_WAVE_CYCLES"]) for r in launches), key
END
run 0 exec -p r9nano --series-every 1000cycles --series 'dram/*.reads' --series-out d.csv -- ./launches 2
[[ $(head -1 d.csv) == 'begin_ns,gpu0 dram/'*'.reads'* ]] || fail "columns: $(head -1 d.csv)"
run 0 exec -p r9nano --series-every 1us --series nothing --series-out no.csv -- ./launches 1
grep -q "some results will be missing: no counter.*'nothing'" stderr || fail 'an unknown metric is silent'
[[ ! -e no.csv ]] || fail 'a file without metrics was written'

cat >client.py <<'END'
import json, re, subprocess, sys, time, urllib.request

end, *command = sys.argv[1:]
run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
line = run.stderr.readline()
port, token = re.fullmatch(r"lockstep-opencl: monitor: http://127\.0\.0\.1:(\d+)/#token=(\w+)\n", line).groups()
base = f"http://127.0.0.1:{port}"


def state():
    return json.load(urllib.request.urlopen(base + "/api/state"))


def command(what):
    urllib.request.urlopen(urllib.request.Request(base + what, b"", {"X-Lockstep-Token": token})).read()


def wait(done):
    for _ in range(1000):
        now = state()
        if done(now):
            return now
        time.sleep(0.02)
    raise SystemExit(f"the monitor never said so: {now}")


command("/api/pause")
first = wait(lambda s: s["state"] == "paused" and s["kernels_done"] > 0)
command("/api/step?time=3us")
second = wait(lambda s: s["state"] == "paused" and s["time_fs"] > first["time_fs"])
assert second["time_fs"] == first["time_fs"] + 3 * 10**9, (first["time_fs"], second["time_fs"])
assert second["workload"] == "launches" and second["platform"] == "r9nano"
assert second["last_kernels"][-1]["name"] == "k" and second["series"]["columns"]
command("/api/" + end)
rest = run.stderr.read()
open("watched", "w").write(rest)
sys.exit(0 if run.wait() == (0 if end == "continue" else 12) else 1)
END
run 0 exec -p r9nano -- ./launches 1000
grep 'kernel time' stderr >plain
python3 client.py continue "$LOCKSTEP" exec -p r9nano --monitor 0 --monitor-token auto -- ./launches 1000 || fail 'the watched program'
grep 'kernel time' watched | cmp -s - plain || fail "a watched program takes another time: $(grep 'kernel time' watched)"
python3 client.py stop "$LOCKSTEP" exec -p r9nano --monitor 0 --monitor-token auto -- ./launches 4000 || fail 'stop'
exit 0
