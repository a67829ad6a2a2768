#!/bin/bash
# NVIDIA GPUs whose way to other GPUs is behind L2 (rdma.at: memory): latencies as closed forms, what each policy of L2 sends,
# ends of kernels and fences of system scope, the same numbers for any number of threads, and clear errors.
# shellcheck source=tests/e2e/lib.bash
source "$SOURCE_DIR/tests/e2e/lib.bash"

cat >pair.yaml <<'YAML'
machine: system
gpus:
  - {platform: rtx3070, count: 2, cores: 4, memory.channels: 4}
fabric: {model: full, links: 2, link_gb_s: 50, queue_messages: 256}
YAML
behind=(-s gpus.rdma.at=memory)
declare -A policy=([l1]="" [never]="-s gpus.rdma.at=memory"
    [read-only]="-s gpus.rdma.at=memory -s gpus.rdma.cache=read-only"
    [partitioned]="-s gpus.rdma.at=memory -s gpus.rdma.cache=partitioned")
printf '0x7f0000000000 0x100000000 1\n' >ranges # the first array is gpu1's

# trace NAME: one warp; standard input has its instructions.
trace() {
    local rows
    rows=$(cat)
    mkdir -p "$1"
    echo kernel-1.traceg >"$1/kernelslist.g"
    {
        printf -- '-%s\n' "kernel name = $1" "kernel id = 1" "grid dim = (1,1,1)" "block dim = (32,1,1)" "shmem = 0" \
            "nregs = 16" "binary version = 86" "cuda stream id = 0" "shmem base_addr = 0x7f8000000000" \
            "local mem base_addr = 0x7f7ffe000000" "nvbit version = 1.7" "accelsim tracer version = 5" "enable lineinfo = 0"
        printf '#traces format = ...\n#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = %d\n%s\n#END_TB\n' \
            "$(wc -l <<<"$rows")" "$rows"
    } >"$1/kernel-1.traceg"
}

# list NAME LINE...: a device list with memory of gpu1.
list() {
    local name=$1
    shift
    printf '%s\n' 'lockstep devices 1' 'owners ranges' "$@" >"$name.list"
}

# measure NAME POLICY LIST OPTION...: runs it into NAME.json.
measure() {
    # shellcheck disable=SC2086
    run 0 run "$3.list" -p ./pair.yaml ${policy[$2]} "${@:4}" -o "$1.json" --per-block
}

# ------------------------------------------------------------------------------------------------------------- latencies
# A chain of 64 lines, past L1: two laps and three.
for loads in 128 192; do
    list near 'device 0' "run synth:pointer-chase,footprint_kib=8,loads=$loads,bypass_l1=true"
    list far 'device 0' "run synth:pointer-chase,footprint_kib=8,loads=$loads,bypass_l1=true"
    sed -i '/^owners/d' near.list
    measure near$loads l1 near
    for p in l1 never read-only partitioned; do
        measure $p$loads $p far
    done
done

# -------------------------------------------------------------------------- policies, ends of kernels, conservation of bytes
# Four stores to one sector, an atomic on another one.
trace mix <<'ROWS'
0010 00000001 0 STG.E 2 R2 R4 4 1 0x7f0000000000 4 0
0020 00000001 0 STG.E 2 R2 R4 4 1 0x7f0000000004 4 0
0030 00000001 0 STG.E 2 R2 R4 4 1 0x7f0000000008 4 0
0040 00000001 0 STG.E 2 R2 R4 4 1 0x7f000000000c 4 0
0050 00000001 1 R6 ATOMG.E.ADD.STRONG.SYS 2 R2 R4 4 1 0x7f0000000100 4 0
0060 00000001 1 R7 IADD3 2 R6 R6 0 0
0090 ffffffff 0 EXIT 0 0 0
ROWS
list mix 'device 0' 'run mix/kernelslist.g' 'signal written' 'device 1' 'wait written'
for p in l1 never read-only partitioned; do
    measure mix-$p $p mix
done

# ------------------------------------------------------------------------------------------------------ fences, scopes
# Two loads of one sector past L1, with a fence between them.
fence() { # NAME LOAD FENCE
    trace "$1" <<ROWS
0010 00000001 1 R4 $2 1 R2 4 1 0x7f0000000000 4 0
0020 00000001 1 R5 IADD3 2 R4 R4 0 0
0030 00000001 0 STG.E 2 R2 R4 4 1 0x7f0000000100 4 0
0040 ffffffff 0 $3 0 0 0
0050 00000001 1 R4 $2 1 R2 4 1 0x7f0000000000 4 0
0060 00000001 1 R5 IADD3 2 R4 R4 0 0
0090 ffffffff 0 EXIT 0 0 0
ROWS
    list "$1" 'device 0' "run $1/kernelslist.g"
}
fence device-fence LDG.E.STRONG.GPU MEMBAR.SC.GPU
fence system-fence LDG.E.STRONG.GPU MEMBAR.SC.SYS
fence system-load LDG.E.STRONG.SYS MEMBAR.SC.GPU
for preset in detailed basic; do
    for p in read-only partitioned; do
        for kind in device-fence system-fence system-load; do
            measure $kind-$preset-$p $p $kind --fidelity $preset
        done
    done
    measure system-fence-$preset-never never system-fence --fidelity $preset
done

# ------------------------------------------------------------------- both GPUs at once, small limits, numbers of threads
list both 'device 0' 'run synth:gemm,m=64,n=256,k=16' 'device 1' 'run synth:atomics,ctas=8,target=spread' \
    'run synth:vector-add,n=2048'
printf '0x7f0000000000 0x100000000 1\n0x7f0100000000 0x100000000 0\n' >ranges
for p in never read-only partitioned; do
    for threads in 1 2 3 8; do
        measure both-$p-$threads $p both -j $threads -s gpus.peer.in_flight=8 -s gpus.peer.served_in_flight=4 \
            -s gpus.l2.mshr_entries=4 -s gpus.l2.input_queue=2 -s gpus.l2.output_queue=2
    done
done

python3 - 2>stderr <<'PY' || fail 'numbers are not as expected'
import json, re

class Run:
    def __init__(self, name):
        self.name, data = name, json.load(open(name + ".json"))
        self.numbers = [data["kernels"], data["values"], data["run"]["cycles"], data["run"]["end_time_fs"]]
        self.blocks = data["values"]["blocks"]
        self.cycles = [k["cycles"] for k in data["kernels"] if not k["name"].startswith("(")][-1]

    def of(self, pattern, counter):
        return sum(values.get(counter, 0) for block, values in self.blocks.items() if re.fullmatch(pattern, block))

    def part(self, counter):
        return self.of(r"gpu0\.l2_\d+\.remote", counter)

    def has(self, what, got, expected):
        assert got == expected, f"{self.name}: {what}: {got}, not {expected}"

# A lap of 64 loads.
lap = {name: Run(f"{name}192").cycles - Run(f"{name}128").cycles
       for name in ("near", "l1", "never", "read-only", "partitioned")}
# Behind L2: the way to the own slice, its delay, and the way from it to the RDMA engine: 94 + 9 + 94 cycles more each.
assert abs((lap["never"] - lap["l1"]) / 64 - 197) <= 2, lap
for keeps in ("read-only", "partitioned"):
    run = Run(keeps + "192")
    assert lap[keeps] == lap["near"], f"sectors that L2 keeps take other cycles than local hits: {lap}"
    run.has("sectors read", run.part("reads_out"), 64)
    run.has("hits", run.part("hits"), 128)

for policy in ("l1", "never", "read-only", "partitioned"):
    run = Run("mix-" + policy)
    writes = 1 if policy == "partitioned" else 4  # written back at the end of the kernel
    if policy != "l1":
        run.has("sectors written", run.part("writes_out"), writes)
        run.has("atomics", run.part("atomics_out"), 1)
    run.has("sectors of packets", run.of("gpu0.peer", "sectors"), writes + 1)
    run.has("atomics at the owner", run.of("gpu1.peer", "served_atomics"), 1)
    packets = run.of("gpu0.peer", "writes")
    run.has("writes at the owner", run.of("gpu1.peer", "served_writes"), packets)
    run.has("answers", run.of("gpu0.peer", "answers"), packets + 1)
    run.has("bytes to gpu1", run.of("gpu0.peer", "payload_bytes_out"), run.of("gpu1.peer", "payload_bytes_in"))
    run.has("bytes from gpu1", run.of("gpu1.peer", "payload_bytes_out"), run.of("gpu0.peer", "payload_bytes_in"))
    # Per link and class: writes, the atomic, its answer and the signal carry 32 bytes each; packets have 32 more.
    run.has("requests on the links", run.of(r"fabric\.gpu0-gpu1\..*", "request_bytes"), 32 * (writes + 2) + 32 * (packets + 2))
    answers = run.of(r"fabric\.gpu1", "data_messages")
    run.has("data on the links", run.of(r"fabric\.gpu1-gpu0\..*", "data_bytes"), 32 + 32 * answers)
    run.has("other bytes back", run.of(r"fabric\.gpu1-gpu0\..*", "request_bytes"), 0)
    run.has("flushes", run.of("gpu0.queue", "flushes"), int(policy in ("read-only", "partitioned")))

for preset in ("detailed", "basic"):
    for policy in ("read-only", "partitioned"):
        device, system, load = (Run(f"{kind}-{preset}-{policy}") for kind in ("device-fence", "system-fence", "system-load"))
        device.has("reads", device.part("reads_out"), 1)
        device.has("flushes", device.of("gpu0.peer", "flushes"), 1)
        system.has("reads", system.part("reads_out"), 2)  # L2 has forgotten the first
        system.has("flushes", system.of("gpu0.peer", "flushes"), 2)
        system.has("writes", system.part("writes_out"), 1)
        assert system.cycles > device.cycles + 500, (preset, policy, system.cycles, device.cycles)
        load.has("reads", load.part("reads_out"), 2)
        load.has("accesses to sectors that L2 keeps", load.part("accesses"), int(policy == "partitioned"))
    never = Run(f"system-fence-{preset}-never")
    never.has("flushes", never.of("gpu0.peer", "flushes"), 0)

reads = {}
for policy in ("never", "read-only", "partitioned"):
    one = Run(f"both-{policy}-1")
    for threads in (2, 3, 8):
        assert Run(f"both-{policy}-{threads}").numbers == one.numbers, f"{policy} differs with {threads} threads"
    parts, peers = r"gpu[01]\.l2_\d+\.remote", r"gpu[01]\.peer"
    one.has("answers to requests", one.of(parts, "replies"), one.of(parts, "requests"))
    one.has("answers to packets", one.of(peers, "answers"), sum(one.of(peers, n) for n in ("reads", "writes", "atomics")))
    assert one.of(peers, "in_flight_peak") <= 16
    reads[policy] = one.part("reads_out")
assert reads["read-only"] < reads["never"], reads
PY

# --------------------------------------------------------------------------------------------------------------- refusals
refused 2 'rdma.ways is 16, but l2.ways is 16: some remain for the own memory' run mix.list -p ./pair.yaml "${behind[@]}" \
    -s gpus.rdma.cache=partitioned -s gpus.rdma.ways=16
refused 2 "'gpus.rdma.at' is 'dram', but must be one of l1, memory" run mix.list -p ./pair.yaml -s gpus.rdma.at=dram
refused 2 "'gpus.rdma.cache' is 'all', but must be one of never, read-only, partitioned" run mix.list -p ./pair.yaml \
    "${behind[@]}" -s gpus.rdma.cache=all
run 0 run mix.list -p ./pair.yaml -s gpus.rdma.cache=read-only
grep -qF 'gpus.rdma.cache has no effect: it needs rdma.at=memory' stderr || fail 'a policy without effect is not named'
for model in page esi split; do
    refused 3 'pages of a GPU that replays traces stay where they are: migrate.model must be none' run mix.list \
        -p ./pair.yaml -s host.model=cpu -s migrate.model=$model
done
