#!/usr/bin/env bash
# The network between compute units and memory partitions of machine `amd`: crossbar, mesh and ring. Hops and flits cost
# their cycles exactly, programs compute the same, and no result depends on threads.
# shellcheck source=lib.bash
source "${BASH_SOURCE[0]%/*}/lib.bash"

# cycles OPTION...: of the only kernel.
cycles() {
    run 0 run "$@" --all
    awk '$1 == 1 && $3 ~ /^[0-9,]+$/ { gsub(",", "", $3); print $3; exit }' stdout
}

# Loads that depend on each other and hit in L2: 1024 more of them take 1024 times the latency of one.
chase=(pointer_chasing_linear -p r9nano --size 65536 --param stride=64 -s clusters=1 -s memory.channels=1 -s tlb=none)
latency() {
    local short long
    short=$(cycles "${chase[@]}" --param steps=2048 "$@")
    long=$(cycles "${chase[@]}" --param steps=3072 "$@")
    ((short > 0 && (long - short) % 1024 == 0)) || fail "$* take $short and $long cycles"
    latency=$(((long - short) / 1024))
}
expect() { # expect CYCLES OPTION...: that a load takes
    latency "${@:2}"
    ((latency == $1)) || fail "a load takes $latency cycles with ${*:2}, not $1"
}
latency -s noc=crossbar
crossbar=$latency
# A line and its header fit into one flit of 72 bytes.
wide=(-s noc.flit_bytes=72)
# Two by two switches: the cluster is in one corner, the partition in the opposite one.
expect $((crossbar + 2 * 2 * 10)) -s noc=mesh "${wide[@]}" -s noc.hop_latency_cycles=10
expect $((crossbar + 2 * 2 * 50)) -s noc=mesh "${wide[@]}" -s noc.hop_latency_cycles=50
# A row of nine: the partition is in the middle.
expect $((crossbar + 2 * 4 * 10)) -s noc=mesh "${wide[@]}" -s noc.hop_latency_cycles=10 -s noc.columns=9 -s noc.rows=1
# A ring of three: all are neighbours.
expect $((crossbar + 2 * 1 * 10)) -s noc=ring "${wide[@]}" -s noc.hop_latency_cycles=10
# A reply of nine flits comes eight cycles after its first one.
expect $((crossbar + 2 * 1 * 10 + 8)) -s noc=ring -s noc.flit_bytes=8 -s noc.buffer_flits=32 -s noc.hop_latency_cycles=10
# Other wires.
expect $((crossbar + 2 * 30)) -s noc.request_latency_cycles=72 -s noc.reply_latency_cycles=72

# Programs compute the same: atomics, a kernel per pass, shader arrays with an L1.
value() {
    awk -v name="$1" '$1 == name { gsub(",", "", $2); print $2; exit }' stdout
}
correct() { # correct NOC WORKLOAD PLATFORM
    run 0 run "$2" -p "$3" -s "noc=$1" --verify --all
    says 'correct'
    requests=$(value request_messages)
    [[ $requests =~ ^[1-9][0-9]*$ ]] || fail "no requests in the $1: '$requests'"
    [[ $requests == "$(value reply_messages)" ]] || fail "$requests requests, $(value reply_messages) replies"
}
correct mesh histogram r9nano
correct mesh reduction r9nano
correct mesh spmv rx6900xt
correct ring matrixtranspose rx6900xt

# Narrow wires cost time.
plain=$(cycles fir -p r9nano)
mesh=$(cycles fir -p r9nano -s noc=mesh)
narrow=$(cycles fir -p r9nano -s noc=mesh -s noc.flit_bytes=4)
((mesh > plain)) || fail "the mesh takes $mesh cycles, the crossbar $plain"
((narrow > mesh)) || fail "flits of 4 bytes take $narrow cycles, of 40 bytes $mesh"

for model in mesh ring; do
    for threads in 1 2 3 8; do
        run 0 run fir -p r9nano -s noc=$model --threads $threads -o "$model.$threads.json"
        run 0 compare "$model.1.json" "$model.$threads.json" --per-block --check
    done
done

refused 2 "'noc.hop_latency_cycles' belongs to model 'mesh' or 'ring'" run fir -p r9nano -s noc.hop_latency_cycles=2
