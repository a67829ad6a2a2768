#!/bin/bash
# The fabric of a system: keys in show, explain, diff and the hash; graphs of the platform file; one line for each mistake.
# shellcheck source=tests/e2e/lib.bash
source "$SOURCE_DIR/tests/e2e/lib.bash"

# --------------------------------------------------------------------------------------------------------------- keys
run 0 config show r9nano-x4
says 'fabric.generation'
says 'mgpusim, table 1: PCIe-v3'
says 'host.walks'
hash=$(grep '^hash' stdout)
run 0 config show r9nano-x4 -s fabric.generation=4
[[ $(grep '^hash' stdout) != "$hash" ]] || fail 'the hash does not cover keys of the fabric'
run 0 config show r9nano-x4 -s host.walks=8
[[ $(grep '^hash' stdout) != "$hash" ]] || fail 'the hash does not cover keys of the host'
run 0 config show r9nano-x4 -s fabric.lanes=16 -s host.walks=16
[[ $(grep '^hash' stdout) == "$hash" ]] || fail 'the hash depends on where a value comes from'
run 0 config explain fabric.lanes -p r9nano-x4
says 'lanes of a link'
says '1 to 16 lanes'
says 'mgpusim, table 1: 16 GB/s'
run 0 config explain fabric -p r9nano-x4
says 'fabric.switch_latency_ns'
sed 's/generation: 3 /generation: 4 /' "$SOURCE_DIR/platforms/r9nano-x4.yaml" >four.yaml
run 0 config diff r9nano-x4 ./four.yaml
says 'fabric.generation  3'
[[ $(wc -l <stdout) == 2 ]] || fail 'more than one difference'
run 0 config show r9nano --gpus 2 -s fabric=ring --format yaml
cp stdout ring.yaml
run 0 config diff ./ring.yaml ./ring.yaml
says 'no differences'

refused 2 "--set: unknown key 'fabric.lane' for machine 'system' (nearest: fabric.lanes)" config show r9nano-x4 -s fabric.lane=8
refused 2 "'fabric.lanes' is 17, but must be from 1 to 16 lanes" config show r9nano-x4 -s fabric.lanes=17
refused 2 "'fabric.planes' belongs to model 'switch', but fabric.model is 'pcie'" config show r9nano-x4 -s fabric.planes=2
refused 2 "'fabric.model' is 'mesh', but must be one of full, graph, none, pcie, ring, switch" config show r9nano-x2 -s fabric=mesh
refused 2 "the host is reached over the fabric, but fabric.model is 'none'" run fir -p r9nano-x2 -s host=cpu --size 1024

# -------------------------------------------------------------------------------------------------------------- graphs
graph() { # LINKS...: a platform with these links and the switches a and b
    printf 'machine: system\ngpus: [{platform: r9nano, count: 3}]\nfabric:\n  model: graph\n  switches: [a, b]\n  links:\n' >graph.yaml
    printf '    - %s\n' "$@" >>graph.yaml
}
work=(run fir -p ./graph.yaml --size 1024)
graph 'gpu0 a 25' 'gpu1 a 25 100' 'a b 50 10 2' 'gpu2 b 12.5'
run 0 "${work[@]}" --verify --per-block
says 'fabric.gpu0-a'
says 'fabric.a-b.1'
run 0 config show ./graph.yaml --format yaml
grep -q '^fabric.links: \["gpu0 a 25", "gpu1 a 25 100", "a b 50 10 2", "gpu2 b 12.5"\]' stdout || fail 'links are not listed'

graph 'gpu0 a 25' 'gpu1 a 25' 'gpu2 b 25'
refused 2 "no links of the fabric lead from 'gpu2' to 'gpu0'" "${work[@]}"
graph 'gpu0 a 25' 'gpu1 a 25' 'gpu2 a 25' 'a gpu1 12'
refused 2 "fabric.links: 'a gpu1 12': 'a' and 'gpu1' are linked twice" "${work[@]}"
graph 'gpu0 a 25' 'gpu1 a 25' 'gpu2 bb 25'
refused 2 "fabric.links: 'gpu2 bb 25': there is no node 'bb' (nearest: b)" "${work[@]}"
graph 'gpu0 a 25' 'gpu1 a 0' 'gpu2 a 25'
refused 2 "fabric.links: 'gpu1 a 0': a link of 0 GB/s carries nothing" "${work[@]}"
graph 'gpu0 a 25' 'gpu1 a fast' 'gpu2 a 25'
refused 2 "'fast' is not a number of GB/s from 0 to 100000" "${work[@]}"
graph 'gpu0 a 25' 'gpu1 gpu1 25' 'gpu2 a 25'
refused 2 "a link of the fabric joins 'gpu1' with itself" "${work[@]}"
graph 'gpu0 a 25' 'gpu1 a' 'gpu2 a 25'
refused 2 "fabric.links: 'gpu1 a' is not 'NODE NODE GB/s [ns [count]]'" "${work[@]}"
graph 'gpu0 a 25' 'gpu1 a 25 1 99' 'gpu2 a 25'
refused 2 "the count is '99', but must be from 1 to 32" "${work[@]}"
graph 'gpu0 gpu1 25' 'gpu1 gpu2 25'
refused 2 "no links of the fabric lead from 'gpu2' to 'gpu0'" "${work[@]}"
run 0 "${work[@]}" -s fabric.gpus_forward=true # a row of GPUs that forward
refused 2 "required key 'fabric.links' is missing" run fir -p r9nano-x2 -s fabric=graph --size 1024

# ------------------------------------------------------------------------------------------------------------ windows
run 0 run fir -p r9nano-x4 --size 1024 --scaling
says 'fabric.root'
says 'The shortest link between them, fabric.'
says 'allows 70.0 ns'
