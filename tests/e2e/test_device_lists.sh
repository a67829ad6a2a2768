#!/bin/bash
# Several NVIDIA GPUs at the same time: device lists, remote memory, copies, signals and collectives over a fabric.
# shellcheck source=tests/e2e/lib.bash
source "$SOURCE_DIR/tests/e2e/lib.bash"

# Four small GPUs and two switches; 4 x 8 GB/s per GPU, 25.6 GB/s of payload with 128 bytes per packet.
cat >four.yaml <<'YAML'
machine: system
gpus:
  - {platform: rtx3070, count: 4, cores: 8, memory.channels: 4}
fabric: {model: switch, planes: 2, links: 2, link_gb_s: 8, packet_payload_bytes: 256, queue_messages: 256}
YAML
platform=(-p ./four.yaml)

# Femtoseconds of a collective.
fs_of() {
    run 0 run --all "synth:$1" "${platform[@]}" "${@:2}" -o out.json
    python3 -c 'import json; print(json.load(open("out.json"))["run"]["end_time_fs"])'
}

# ------------------------------------------------------------- lists: kernels, copies, signals; the same for any threads
cat >work.list <<'LIST'
lockstep devices 1
device 0
run synth:vector-add,n=4096
copy 65536 0 1
signal half
wait done
device 1
wait half
run synth:saxpy,n=4096         # its arrays are declared by itself
signal done
device 3
delay 700
run synth:vector-add,n=4096
LIST
for threads in 1 2 3 8; do
    run 0 run --all work.list "${platform[@]}" -j "$threads" -o "out$threads.json" --per-block
    says 'gpu0           1       1        1'
    says 'gpu1           1       0        1'
    python3 - "out$threads.json" >"numbers$threads" <<'PY'
import json, sys
data = json.load(open(sys.argv[1]))
data["run"].pop("host", None)
print(json.dumps([data["kernels"], data["values"], data["run"]["cycles"], data["run"]["end_time_fs"]], sort_keys=True))
PY
    cmp -s numbers1 "numbers$threads" || fail "work.list differs with $threads threads"
done
python3 - <<'PY' || fail "kernels without their GPU"
import json
data = json.load(open("out1.json"))
assert sorted(k["gpu"] for k in data["kernels"] if not k["name"].startswith("(")) == [0, 1, 3], data["kernels"]
PY

# A kernel that uses no other GPU takes the cycles that it takes alone.
run 0 run --all synth:vector-add,n=4096 -p rtx3070 -s cores=8 -s memory.channels=4
alone=$(awk '/kernel .* cycles/ {found = 1; next} found {print $3; exit}' stdout)
run 0 run --all work.list "${platform[@]}"
grep -q "gpu0 .* $alone\$" stdout || fail "vector-add takes other cycles than alone ($alone)"

# ------------------------------------------------------------------------------------------------------------ remote memory
printf '0x7f0000000000 0x100000000 1\n' >ranges # the first array is gpu1's
printf 'lockstep devices 1\nowners ranges\ndevice 0\nrun synth:vector-add,n=4096\n' >remote.list
run 0 run --all remote.list "${platform[@]}" -o remote.json --per-block
python3 - <<'PY' || fail "reads of gpu0 in gpu1's memory"
import json
blocks = json.load(open("remote.json"))["values"]["blocks"]
own, other = blocks["gpu0.peer"], blocks["gpu1.peer"]
assert own["reads"] == other["served_reads"] == own["answers"] > 0, own
assert own["sectors"] == 4096 * 4 // 32, own
assert other["reads"] == 0 and own["served_reads"] == 0
PY

# ------------------------------------------------------------- a ring: 2 (n - 1) / n bytes / bandwidth and latency terms
# The difference of two sizes: latencies of steps fall out. Both sizes fill the links and fit into L2.
ring=(-s gpus.memory.channels=16 -j2)
small=$(fs_of all-reduce,bytes=131072,step_ns=0 "${ring[@]}")
large=$(fs_of all-reduce,bytes=262144,step_ns=0 "${ring[@]}")
python3 - "$small" "$large" <<'PY' || fail "ring all-reduce is not as its closed form"
import sys
seconds = (int(sys.argv[2]) - int(sys.argv[1])) * 1e-15
expected = 2 * 3 / 4 * (262144 - 131072) / (4 * 8e9 * 128 / 160)
assert abs(seconds / expected - 1) < 0.03, (seconds, expected)
PY
# Copies have 256 bytes in a packet; gathering adds nothing up.
small=$(fs_of all-gather,engine=copy,bytes=131072,step_ns=0)
large=$(fs_of all-gather,engine=copy,bytes=524288,step_ns=0)
python3 - "$small" "$large" <<'PY' || fail "ring all-gather of copies is not as its closed form"
import sys
seconds = (int(sys.argv[2]) - int(sys.argv[1])) * 1e-15
expected = 3 / 4 * (524288 - 131072) / (4 * 8e9 * 256 / 288)
assert abs(seconds / expected - 1) < 0.03, (seconds, expected)
PY
base=$(fs_of all-reduce,bytes=65536,step_ns=0)
slow=$(fs_of all-reduce,bytes=65536,step_ns=2000)
python3 -c "import sys; d = ($slow - $base) / 1e9; sys.exit(not 11.9 < d < 12.1)" || fail "6 steps of 2 us are not 12 us"

# One way and both ways: each direction has a wire of its own.
uni=$(fs_of peer-bandwidth,bytes=524288,step_ns=0)
bi=$(fs_of peer-bandwidth,bytes=524288,step_ns=0,direction=bi)
python3 -c "import sys; sys.exit(not $bi < 1.05 * $uni)" || fail "two directions take longer than one"
for kind in reduce-scatter all-gather all-to-all broadcast broadcast,algorithm=flat broadcast,algorithm=tree; do
    fs_of "$kind,bytes=16384" >/dev/null
    says 'bus bandwidth'
done
one=$(fs_of all-to-all,bytes=65536)
for threads in 2 3 8; do
    [[ $(fs_of all-to-all,bytes=65536 -j "$threads") == "$one" ]] || fail "all-to-all differs with $threads threads"
done
run 0 run --all synth:peer-latency,accesses=32 "${platform[@]}"
says 'peer-latency: 32 loads'

# --------------------------------------------------------------------------------------------------------------- refusals
printf 'lockstep devices 1\ndevice 0\nwait a\nsignal b\ndevice 1\nwait b\nsignal a\n' >cycle.list
run 4 run --all cycle.list "${platform[@]}"
grep -qF 'cycle: gpu0.queue -> gpu1.queue -> gpu0.queue' stderr || fail "the cycle of waiters is not named"
refused 2 "cycle.list:3: devices wait for each other: device 0 for 'a' of device 1 (line 3), device 1 for 'b' of device 0 (line 6)" \
    trace check cycle.list
printf 'lockstep devices 1\ndevice 0\nwait a\nwait a\ndevice 1\nsignal a\n' >often.list
refused 2 "often.list:3: device 0 waits 2 times for signal 'a', which other devices send 1 times" trace check often.list
run 0 trace check work.list
says 'device 0: 1 run, 1 copy, 1 signal sent, 1 wait'
says 'synth:saxpy,n=4096'
mkdir torn && printf 'kernel-1.traceg\n' >torn/kernelslist.g && printf '%s\n' '-kernel name = k' >torn/kernel-1.traceg
printf 'lockstep devices 1\ndevice 0\nrun synth:saxpy,n=4096\ndevice 1\nrun torn/kernelslist.g\n' >torn.list
run 2 trace check torn.list
grep -q 'kernel-1.traceg' stdout stderr || fail 'the kernel with an error is not named'
refused 2 "has no fabric" run cycle.list -p rtx3070 --gpus 2
refused 2 "the option on is for a trace of one GPU" run cycle.list "${platform[@]}" --on gpu1
sed 's/count: 4/count: 1/' four.yaml >one.yaml
refused 2 "at least two GPUs" run synth:all-reduce -p ./one.yaml
refused 2 "'all-reduce' is for several GPUs" trace info synth:all-reduce
refused 2 "is a list of several devices" trace info work.list
printf 'lockstep devices 1\ndevice 7\n' >bad.list
refused 2 "there is no device 7: the platform has 4 GPUs that run traces" run bad.list "${platform[@]}"
printf 'lockstep devices 1\ndevice 0\nrun nothing.g\ndevice 1\nwait x\ndevice 2\nsignal x\n' >bad.list
refused 2 "bad.list:3" run bad.list "${platform[@]}"
