#!/usr/bin/env bash
# Collectives and peer tests from the command line: names of values, the bandwidth, refusals.
# shellcheck source=lib.bash
source "$(dirname "$0")/lib.bash"

small=(-s gpus.clusters=2 --size 4096 --devices discrete --verify)

run 0 run all_reduce -p r9nano-x4 "${small[@]}" --param via=load
says 'bus bandwidth'
grep -qE 'verification +correct' stdout || fail 'a wrong sum'
bandwidths() { grep -E 'bandwidth +[0-9.]+ GB/s' stdout; }
bandwidths >loads || fail 'no bandwidth is printed'
run 0 run all_reduce -p r9nano-x4 "${small[@]}" --param via=1
bandwidths | cmp - loads || fail 'via=load is not via=1'
run 0 run all_reduce -p r9nano-x4 "${small[@]}" --param via=store
! bandwidths | cmp -s - loads || fail 'stores have the bandwidth of loads'

# Copies need no fabric, kernels do.
run 0 run broadcast -p r9nano-x2 "${small[@]}" --param algorithm=tree --param via=copy
refused 3 'kernels reach other GPUs over a fabric, and there is none' run broadcast -p r9nano-x2 "${small[@]}"
refused 3 'kernels reach other GPUs over a fabric, and there is none' run peer_latency -p r9nano-x2 --devices discrete
refused 2 'there is no GPU 4: the last one is 3' run peer_latency -p r9nano-x4 -s gpus.clusters=2 --devices discrete --param to=4
refused 2 'nearest: copy' run broadcast -p r9nano-x4 --devices discrete --param via=copi
refused 2 'both directions are for two GPUs' run peer_bandwidth -p r9nano --param both=1

run 0 workload show broadcast --json
says '"names": ["flat", "ring", "tree"]'
