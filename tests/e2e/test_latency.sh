#!/usr/bin/env bash
# Latency histograms by level, and FLOPs of AMD programs: closed forms, the same for any number of threads and in all files.
# shellcheck source=lib.bash
source "${BASH_SOURCE[0]%/*}/lib.bash"

# check SCRIPT FILE: m(type, name) is a metric of the run, of all blocks together.
check() {
    python3 - "$2" "$1" <<'END' || fail "$2: $1"
import json, sys
types = json.load(open(sys.argv[1]))["values"]["types"]
def m(family, name):
    return next(v for t, v in types.items() if t.split("/")[0] == family)[name]
def one_bucket(h):  # all values are equal, and in the bucket that has them
    (least, count), = h["buckets"].items()
    least = int(least)
    end = least + max(1, 2 ** (least.bit_length() - 3)) if least >= 8 else least + 1
    return count == h["count"] and h["min"] == h["max"] and least <= h["min"] < end and h["sum"] == h["count"] * h["min"]
assert eval(sys.argv[2])
END
}

# A chain of loads that wait for each other, over a footprint of half as many sectors: the second half hits. Nothing else is on
# its way, so that every hit takes the same time: the latency of L1 and a cycle in the queue of its bank.
chase=synth:pointer-chase,footprint_kib=4,loads=64,warps=1,ctas=1
run 0 run "$chase" -p rtx3070 -o l1.json
check 'one_bucket(m("core", "latency_l1")) and m("core", "latency_l1")["count"] == m("core", "latency_dram")["count"] == 32' l1.json
run 0 run "$chase" -p rtx3070 -s core.l1.latency_cycles=130 -o slow.json
check 'one_bucket(m("core", "latency_l1")) and m("core", "latency_l1")["min"] == 130 + 1' slow.json
run 0 run synth:pointer-chase,footprint_kib=16384,loads=64,warps=1,ctas=1 -p rtx3070 -o far.json
check 'm("core", "latency_l1")["count"] == 0 and m("core", "latency_dram")["count"] > 0' far.json
check 'm("core", "latency_dram")["min"] > m("dram", "latency")["min"]' far.json
for threads in 1 2 3 8; do
    run 0 run synth:gather,n=16384,table_kib=64 -p rtx3070 -s cores=4 -j $threads -o "gather$threads.json"
    diff <(sed '/"host"/,$d' gather1.json) <(sed '/"host"/,$d' "gather$threads.json") >/dev/null ||
        fail "other latencies with $threads threads"
done
check 'all(m("core", "latency_" + level)["count"] > 0 for level in ("l2", "dram"))' gather1.json

[[ -e ${LOCKSTEP%/*}/share/lockstep/kernels/gfx803/micro_load.co ]] || left_out 'the kernels of the workloads are not built'
if [[ -e ${LOCKSTEP%/*}/share/lockstep/kernels/gfx803/micro_load.co ]]; then
    # The loads of micro_l1 are one line: the first comes from DRAM, all others take the same time.
    run 0 run micro_l1 -p r9nano -o amd1.json
    check 'one_bucket(m("cu", "latency_l1")) and m("cu", "latency_dram")["count"] == 1 and m("cu", "latency_l2")["count"] == 0' amd1.json
    check 'abs(m("cu", "latency_l1")["sum"] + m("cu", "latency_dram")["sum"] - m("cu", "vector_load_cycles")) == 0' amd1.json
    run 0 run micro_dram -p r9nano --size 256 -o amd2.json
    check 'm("cu", "latency_dram")["count"] > 0 and m("cu", "latency_l1")["count"] == 0' amd2.json
    for threads in 1 2 3 8; do
        run 0 run micro_l2 -p r9nano --size 1024 -j $threads -o "l2_$threads.json"
        diff <(sed '/"host"/,$d' l2_1.json) <(sed '/"host"/,$d' "l2_$threads.json") >/dev/null ||
            fail "other latencies with $threads threads"
    done
    # Operations: two for each product of matrices, two for each tap of the filter; timing and emulation agree.
    run 0 run matrixmultiplication -p r9nano --size 64 -o mm.json
    check 'm("cu", "flops_single") == 2 * 64**3 and m("cu", "flops_double") == 0' mm.json
    run 0 run fir -p r9nano --size 4096 -o fir.json
    run 0 emulate fir --gpu gfx803 --size 4096 --json
    cp stdout emulated.json
    python3 -c 'import json, re
timed = json.load(open("fir.json"))["values"]["types"]
single = next(v for t, v in timed.items() if t.startswith("cu/"))["flops_single"]
text = open("emulated.json").read()
assert int(re.search("\"flops_single\": (\\d+)", text).group(1)) == single, text
assert single == 2 * 16 * 4096, single' || fail 'the operations of fir'
    # A pair of bodies has 3 differences, 5 for their square, 4 more products and sums, and 3 multiply-adds.
    run 0 run nbody -p r9nano --size 128 -o nbody.json
    check 'm("cu", "flops_single") == 18 * 128**2 + 20 * 128' nbody.json
    # Two GPUs: loads of another GPU'"'"'s memory.
    run 0 run vector_add -p r9nano-x4 --devices unified --size 4096 -o remote.json
    check 'm("cu", "latency_remote")["count"] > 0' remote.json
fi
exit 0
