#!/usr/bin/env bash
# Recordings of programs that use several GPUs: launches, parts of launches, copies, places of pages. A replay gives the
# same cycles and counters as the program, for any number of threads.
# shellcheck source=lib.bash
source "${BASH_SOURCE[0]%/*}/lib.bash"

machine=(-p r9nano-x4 -s gpus.clusters=2)

# Everything except the host's part.
result() {
    sed '/"host": {/,$d' stdout
}

# replays HOW WORKLOAD SIZE
replays() {
    run 0 run "$2" --size "$3" "${machine[@]}" --devices "$1" --format json --record run.lspk
    result >recorded
    for threads in 1 3; do
        run 0 run run.lspk "${machine[@]}" -j "$threads" --format json
        result >replayed
        cmp -s recorded replayed || fail "$2, $1: $threads threads replay it otherwise"
    done
    run 0 trace check run.lspk
    says 'no errors'
}

replays discrete fir 4096
run 0 run run.lspk "${machine[@]}"
says '4 launches, GPUs 0 to 3'
refused 3 "the recording uses GPU 1, but it runs on 1 GPU of platform 'r9nano'" run run.lspk -p r9nano
replays unified matrixtranspose 64 # pages in turn, parts of a grid, copies of the code
run 0 trace info run.lspk
says 'place '
refused 3 "no fabric joins the GPUs of platform '4 x r9nano'" run run.lspk -p r9nano --gpus 4
replays locality fir 4096
replays discrete peer_bandwidth 4096 # copies between GPUs

# Pages that move while a program runs have no recording.
refused 3 'a recording has pages that stay where they are: migrate.model must be none' run fir --size 1024 "${machine[@]}" -s migrate.model=page \
    --devices discrete --record no.lspk
refused 3 'spread must be blocked or interleaved' run fir --size 1024 "${machine[@]}" --devices unified --spread central \
    --record no.lspk
[[ ! -e no.lspk ]] || fail 'a refused recording left a file'
exit 0
