#!/bin/bash
# GPUs of a system use each other's memory: every place of the RDMA engine and policy of L2 gives right data, the same
# numbers for any number of threads, and clear errors.
# shellcheck source=tests/e2e/lib.bash
source "$SOURCE_DIR/tests/e2e/lib.bash"

for gpu in r9nano rx5500xt; do
    printf 'machine: system\ngpus: [{platform: %s, count: 2, tlb.model: cycle}]\nfabric.model: full\n' "$gpu" >"$gpu-pair.yaml"
done
behind=(-s gpus.rdma.at=memory)
keeps=("${behind[@]}" -s gpus.rdma.cache=partitioned)

work=(matrixtranspose --devices unified --spread interleaved --size 64 --verify)
kernel_time() {
    sed -n 's/^  kernel time *\([0-9.]* [mu]s\).*/\1/p' stdout
}

# ----------------------------------------------------------------------------------------------- data and threads
for gpu in r9nano rx5500xt; do
    run 0 run "${work[@]}" -p "./$gpu-pair.yaml"
    says 'verification                  correct'
    first=$(kernel_time)
    run 0 run "${work[@]}" -p "./$gpu-pair.yaml" "${behind[@]}" \
        -s gpus.rdma.cache=read-only
    says 'verification                  correct'
    [[ $(kernel_time) != "$first" ]] || fail "rdma.at: memory takes the time of l1 on $gpu"
    for threads in 1 3; do
        run 0 run "${work[@]}" -p "./$gpu-pair.yaml" "${keeps[@]}" -j "$threads" \
            -o "j$threads.json"
        says 'verification                  correct'
    done
    python3 -c 'import json
one, three = (json.load(open(name, encoding="utf-8")) for name in ("j1.json", "j3.json"))
assert one["values"] == three["values"] and one["kernels"] == three["kernels"]' || fail "threads change $gpu"
done

# Answers that wait for a slow fabric hold their entries: a small limit fills, and none is used twice.
run 0 run matrixtranspose --size 128 --devices unified --verify -p r9nano-x4 -s gpus.rdma.served_in_flight=16 \
    -s gpus.rdma.buffer_messages=1 -s fabric.queue_messages=1 -s fabric.lanes=1 -s fabric.generation=1
says 'verification                  correct'

# ------------------------------------------------------------------------------------------------------------ errors
refused 2 'rdma.ways is 16, but l2.ways is 16: some remain for the own memory' \
    run fir -p ./r9nano-pair.yaml "${keeps[@]}" -s gpus.rdma.ways=16
refused 2 'rdma.ways is 3: 3 of 16 ways of 1 KiB are no whole KiB' run fir -p ./r9nano-pair.yaml "${keeps[@]}" \
    -s gpus.rdma.ways=3 -s gpus.l2.size_kib=1
printf 'machine: system\ngpus: [r9nano, rx5500xt]\nfabric.model: full\n' >mixed.yaml
refused 2 'line_bytes is 128 here and 64 in gpu0: AMD GPUs on one fabric have lines of one size' run fir -p ./mixed.yaml
