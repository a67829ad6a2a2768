#!/bin/bash
# A platform of several GPUs: one has the work and does what it does alone, keys and results name their GPU.
# shellcheck source=tests/e2e/lib.bash
source "$SOURCE_DIR/tests/e2e/lib.bash"

trace='synth:gemm,m=64,n=64,k=32'
cat >mixed.yaml <<'YAML'
machine: system
gpus:
  - {platform: r9nano, name: amd}
  - {platform: rtx3070, count: 2, cores: 4, memory.channels: 4}
YAML

# The rows of kernels and metrics without names, numbers of GPUs and host data.
numbers() {
    "$SOURCE_DIR/tests/e2e/system_numbers.py" "$@" || fail "no numbers in $1"
}

# ------------------------------------------------------------------ traces: as on the GPU alone, for any thread count
run 0 run "$trace" -p rtx3070 -s cores=4 -s memory.channels=4 -o alone.json --per-block
numbers alone.json 0 >alone
[[ $(wc -l <alone) -gt 20 ]] || fail "no metrics of the GPU alone"
for threads in 1 2 3 8; do
    run 0 run "$trace" -p ./mixed.yaml --on gpu2 -j "$threads" -o "system$threads.json" --per-block
    numbers "system$threads.json" 2 >system
    cmp -s alone system || fail "gpu2 of a system differs from the same GPU alone with $threads threads"
done
run 0 run "$trace" -p ./mixed.yaml -o first.json --per-block
numbers first.json 1 >system # the first that runs traces
cmp -s alone system || fail "gpu1 of a system differs from the same GPU alone"

# ------------------------------------------------------------------------------------------------------- programs
size=(--size 1024 --verify)
run 0 run fir -p r9nano "${size[@]}" -o alone.json --per-block
numbers alone.json 0 >alone
for threads in 1 2 3 8; do
    run 0 run fir -p ./mixed.yaml -j "$threads" "${size[@]}" -o amd.json --per-block
    says 'fir on gpu0 (r9nano) of mixed'
    numbers amd.json 0 >system
    cmp -s alone system || fail "fir on gpu0 of a system differs from r9nano with $threads threads"
done
run 0 run fir -p r9nano --gpus 3 --on 2 "${size[@]}" -o amd.json --per-block
says '1 launches, GPU 2'
numbers amd.json 2 >system
cmp -s alone system || fail "fir on gpu2 of 3 x r9nano differs from r9nano"

# ------------------------------------------------------------------------- on a fabric: as alone, with idle neighbours
numbers alone.json 0 | grep -v '^\[' >alone_blocks # blocks; the kernel's line has its times
numbers alone.json 0 | grep '^\[' >alone_kernels
for gpu in 0 1 2; do
    fabric=$(cut -d' ' -f$((gpu + 1)) <<<"switch ring pcie")
    printf 'machine: system\ngpus: [{platform: r9nano, count: 3}]\nfabric.model: %s\n' "$fabric" >fabric.yaml
    run 0 run fir -p ./fabric.yaml --on "$gpu" -j $((gpu + 1)) "${size[@]}" -o amd.json --per-block
    numbers amd.json "$gpu" | grep -v '^rdma\|^port\|^central' >system
    grep '^\[' system | cmp -s - alone_kernels || fail "fir on gpu$gpu of a $fabric takes other cycles than alone"
    grep -v '^\[' system | cmp -s - alone_blocks || fail "fir on gpu$gpu of a $fabric counts otherwise than alone"
done

# -------------------------------------------------------------------------------- keys, sweeps, the configuration beside
run 0 run fir -p r9nano --gpus 2 --on gpu1 -s gpu1.l2.ways=8 --size 1024 -o ways.json
grep -q 'l2.ways: 8' ways.json.platform.yaml || fail "the configuration has no gpu1.l2.ways"
run 0 config check ways.json.platform.yaml
hash=$(grep -o 'hash [0-9a-f]*' stdout)
run 0 config show r9nano --gpus 2 -s gpu1.l2.ways=8
says "${hash/hash /hash      }"
run 0 sweep fir -p r9nano --gpus 2 --on 1 -s gpu0.l2.ways=4 --size 1024 -v gpu1.l2.ways=4,16 -o sweep.db
run 0 run "$trace" -p ./mixed.yaml --fidelity memory --dry-run

# ------------------------------------------------------------------------------------------------------------- refusals
refused 2 "gpu0 of platform 'mixed' is a machine of type 'amd', which runs no traces" run "$trace" -p ./mixed.yaml --on amd
refused 2 "there is no GPU 5: platform 'mixed' has 3, from gpu0 to gpu2" run "$trace" -p ./mixed.yaml --on gpu5
refused 2 "gpu1 of platform 'mixed' is a machine of type 'gpu', which runs no programs" run fir -p ./mixed.yaml --on 1
refused 2 "platform 'r9nano' is one GPU, gpu0: there is no 'gpu1'" run fir -p r9nano --on gpu1
refused 2 "platform 'r9nano-x2' is a system of AMD GPUs, which run no traces" run "$trace" -p r9nano-x2
refused 2 "a workload is missing: platform 'mixed' has GPUs, which make no work" run -p ./mixed.yaml
refused 2 "unknown key 'fabric.kind'" run fir -p r9nano-x2 -s fabric.kind=pcie
refused 2 "platform 'r9nano-x2' is a system itself" config show r9nano-x2 --gpus 2
refused 2 "profile: platform 'mixed' is a machine of type 'system'" profile "$trace" -p ./mixed.yaml
