#!/usr/bin/env bash
# The network between cores and memory: crossbar, mesh and ring, and one from a plug-in. Hops cost their latency, narrow
# wires cost bandwidth, and no result depends on threads.
# shellcheck source=lib.bash
source "${BASH_SOURCE[0]%/*}/lib.bash"

# cycles OPTION...: of the only kernel on rtx3070.
cycles() {
    run 0 run "$@" --all
    awk '$1 == "all" && $2 ~ /^[0-9,]+$/ { gsub(",", "", $2); print $2; exit }' stdout
}

# One core, one channel, one hop between them: a load that depends on the one before pays both ways.
loads=4096
chase=(synth:pointer-chase -p rtx3070 -s cores=1 -s memory.channels=1)
crossbar=$(cycles "${chase[@]}")
[[ $crossbar =~ ^[0-9]+$ ]] || fail "no cycles: '$crossbar'"
for model in mesh ring; do
    near=$(cycles "${chase[@]}" -s noc.model=$model -s noc.hop_latency_cycles=10)
    far=$(cycles "${chase[@]}" -s noc.model=$model -s noc.hop_latency_cycles=50)
    ((near > crossbar)) || fail "$model takes $near cycles, the crossbar $crossbar"
    added=$((far - near)) expected=$((loads * 2 * 40))
    ((added > expected * 95 / 100 && added < expected * 105 / 100)) ||
        fail "$model: 40 more cycles per hop add $added cycles to $loads loads, not about $expected"
done

# Many cores: hops, a narrow wire and a narrow grid cost time.
gemm=('synth:gemm-tensor,m=256,n=256,k=64' -p rtx3070)
crossbar=$(cycles "${gemm[@]}")
mesh=$(cycles "${gemm[@]}" -s noc.model=mesh)
narrow=$(cycles "${gemm[@]}" -s noc.model=mesh -s noc.flit_bytes=8)
row=$(cycles "${gemm[@]}" -s noc.model=mesh -s noc.columns=2)
((mesh > crossbar)) || fail "the mesh takes $mesh cycles, the crossbar $crossbar"
((narrow > mesh * 120 / 100)) || fail "flits of 8 bytes take $narrow cycles, of 40 bytes $mesh"
((row > mesh)) || fail "two columns take $row cycles, a square $mesh"

# Counters of the network: as many replies as requests, and links that carried them.
run 0 run "${gemm[@]}" -s noc.model=mesh --all
value() {
    awk -v name="$1" '$1 == name { gsub(",", "", $2); print $2; exit }' stdout
}
requests=$(value request_messages)
[[ $requests =~ ^[1-9][0-9]*$ ]] || fail "no requests in the mesh: '$requests'"
[[ $requests == "$(value reply_messages)" ]] || fail "$requests requests, $(value reply_messages) replies"
(($(value request_flits) > requests)) || fail 'requests passed no links'

for model in crossbar mesh ring; do
    for threads in 1 2 3 8; do
        run 0 run "${gemm[@]}" -s noc.model=$model --threads $threads -o "$model.$threads.json"
        run 0 compare "$model.1.json" "$model.$threads.json" --per-block --check
    done
done

# Memory by formula has the latency of the network, not its queues.
basic=(synth:pointer-chase -p rtx3070 --fidelity memory)
short=$(cycles "${basic[@]}" -s noc.model=mesh -s noc.hop_latency_cycles=1)
long=$(cycles "${basic[@]}" -s noc.model=mesh -s noc.hop_latency_cycles=100)
((long > short)) || fail "100 cycles per hop take $long cycles, 1 takes $short"
run 0 run "${basic[@]}" -s noc.model=mesh -s noc.flit_bytes=16 --all
grep -q 'noc.flit_bytes has no effect' stderr || fail 'no warning of a key without effect'

refused 2 "'noc.hop_latency_cycles' belongs to model 'mesh' or 'ring'" run synth:gemm -p rtx3070 -s noc.hop_latency_cycles=2
refused 2 'nearest: mesh' run synth:gemm -p rtx3070 -s noc.model=mash
refused 2 'at most 1024 are possible' run synth:gemm -p rtx3070 -s noc.model=mesh -s noc.columns=99 -s noc.rows=99

# A network from a plug-in: the bridge between the halves costs its latency.
"$CC" ${SANITIZE:+-fsanitize=$SANITIZE} -shared -fPIC -DLOCKSTEP_PLUGIN -I"$SOURCE_DIR/include" \
    "$SOURCE_DIR/examples/plugins/noc_halves.c" -o halves.so || fail 'the plug-in does not build'
plugin() {
    cycles "${gemm[@]}" -s noc=halves "$@"
}
LOCKSTEP_PLAIN=$LOCKSTEP
printf '#!/bin/sh\nexec "%s" --plugin "%s/halves.so" "$@"\n' "$LOCKSTEP_PLAIN" "$PWD" >with-plugin
chmod +x with-plugin
LOCKSTEP=./with-plugin
equal=$(plugin -s noc.near_latency_cycles=94 -s noc.far_latency_cycles=94 -s noc.credits=256)
[[ $equal == "$crossbar" ]] || fail "halves without a bridge take $equal cycles, the crossbar $crossbar"
bridge=$(plugin -s noc.near_latency_cycles=94 -s noc.far_latency_cycles=400)
((bridge > crossbar)) || fail "a slow bridge takes $bridge cycles, the crossbar $crossbar"
