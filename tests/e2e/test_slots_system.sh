#!/usr/bin/env bash
# The slots of systems of several GPUs: fabric, host and migrate of the system, rdma and peer of its GPUs. Plug-ins built
# against an installed Lockstep fill them, change the result as they should, and give the same numbers on any number of
# threads. A model that leaves something out is refused by name before the run; one that errs ends the run with a line.
# shellcheck source=lib.bash
source "${BASH_SOURCE[0]%/*}/lib.bash"

for tool in cmake pkg-config python3 "$CC"; do
    command -v "$tool" >/dev/null || skip "$tool is not there"
done
[[ -z $SANITIZE ]] || skip 'plug-ins of another build do not mix with sanitizers'

DESTDIR=$work/root cmake --install "$BINARY_DIR" --prefix /opt/lockstep >log 2>&1 || fail "$(tail -3 log)"
LOCKSTEP=$work/root/opt/lockstep/bin/lockstep
PKG_CONFIG_PATH=$(dirname "$(find "$work/root" -name lockstep.pc)")
export PKG_CONFIG_PATH
read -ra flags <<<"$(pkg-config --cflags lockstep) $(pkg-config --variable=plugin_cflags lockstep)"
plugins=()
for name in fabric_ideal host_fixed migrate_writers rdma_serial peer_serial; do
    (($(wc -l <"$SOURCE_DIR/examples/plugins/$name.c") < 150)) || fail "$name.c has 150 lines or more"
    "$CC" -std=c17 -O2 -Wall -Wextra -Wconversion -Wshadow -Werror "${flags[@]}" "$SOURCE_DIR/examples/plugins/$name.c" \
        -o "$name.so" 2>stderr || fail "$name.c does not compile against the installed headers"
    plugins+=(--plugin "./$name.so")
done

# fs SET...: the simulated time of a program on two GPUs that share memory, in fs; its results are right, and three threads
# give the same numbers.
amd=(run fir --size 2048 -p r9nano --gpus 2 --devices unified -s gpus.tlb.model=cycle)
fs() {
    local sets=() set
    for set in "$@"; do sets+=(-s "$set"); done
    run 0 "${plugins[@]}" "${amd[@]}" --verify "${sets[@]}" -o one.json
    says 'correct'
    run 0 "${plugins[@]}" "${amd[@]}" "${sets[@]}" -j 3 -o three.json
    run 0 compare one.json three.json --per-block --check
    python3 -c 'import json; print(json.load(open("one.json"))["run"]["end_time_fs"])' >fs
}

# A fabric: its latency is felt.
fs fabric.model=pcie
pcie=$(cat fs)
fs fabric.model=ideal fabric.latency_ns=100
fast=$(cat fs)
fs fabric.model=ideal fabric.latency_ns=4000
(($(cat fs) > fast + 4000000000)) || fail "$(cat fs) fs over a fabric of 4 us, $fast over one of 100 ns"

# An RDMA engine without overlap is slower by far. It also works beside an engine of the other model.
fs fabric.model=pcie gpus.rdma.model=serial
(($(cat fs) > 2 * pcie)) || fail "$(cat fs) fs with one remote access at a time, $pcie with many"
fs fabric.model=pcie gpu1.rdma.model=serial
(($(cat fs) > pcie)) || fail "$(cat fs) fs with one serial engine, $pcie with none"

# A host: its latency is felt by copies. Page walks of GPUs go to it, too.
fs fabric.model=pcie host.model=fixed
fast=$(cat fs)
fs fabric.model=pcie host.model=fixed host.latency_ns=4000
(($(cat fs) > fast + 4000000000)) || fail "$(cat fs) fs with a slow host, $fast with a fast one"
fs fabric.model=pcie host.model=fixed gpus.mmu.walks=host
grep -q '"walks"' one.json || fail 'walks are not counted'

# Pages that move to their writers, and pages that stay.
fs fabric.model=pcie host.model=cpu migrate.model=page
page=$(cat fs)
fs fabric.model=pcie host.model=cpu migrate.model=writers migrate.check=true
(($(cat fs) != page)) || fail "pages that move to writers take the time of pages that move to all: $page fs"
fs fabric.model=pcie host.model=cpu migrate.model=writers migrate.moves_most=0 migrate.check=true
[[ $(cat fs) != "$page" ]] || fail 'pages that never move take the time of pages that do'
refused 3 "host.model is 'fixed', which has no directory for pages that migrate" "${plugins[@]}" "${amd[@]}" \
    -s fabric.model=pcie -s host.model=fixed -s migrate.model=writers

# NVIDIA GPUs: sectors one by one, signals, and copies that the model does not make.
cat >two.yaml <<'YAML'
machine: system
gpus:
  - {platform: rtx3070, count: 2, cores: 4, memory.channels: 2}
fabric: {model: switch, planes: 2, links: 2, link_gb_s: 8, packet_payload_bytes: 256, queue_messages: 256}
YAML
nvidia_fs() {
    run 0 "${plugins[@]}" run "$@" -p ./two.yaml -o one.json
    run 0 "${plugins[@]}" run "$@" -p ./two.yaml -j 3 -o three.json
    run 0 compare one.json three.json --per-block --check
    python3 -c 'import json; print(json.load(open("one.json"))["run"]["end_time_fs"])' >fs
}
nvidia_fs synth:peer-bandwidth,bytes=16384,step_ns=0
packets=$(cat fs)
nvidia_fs synth:peer-bandwidth,bytes=16384,step_ns=0 -s gpus.peer.model=serial
(($(cat fs) > 2 * packets)) || fail "$(cat fs) fs with one sector at a time, $packets with packets"
nvidia_fs synth:peer-bandwidth,bytes=16384,step_ns=0 -s gpu0.peer.model=serial
(($(cat fs) > packets)) || fail "$(cat fs) fs with one serial GPU, $packets with none"
nvidia_fs synth:peer-latency,accesses=8 -s fabric.model=ideal -s fabric.latency_ns=100
fast=$(cat fs)
nvidia_fs synth:peer-latency,accesses=8 -s fabric.model=ideal -s fabric.latency_ns=1100
(($(cat fs) > fast + 15 * 1000000000)) || fail "8 loads take $(cat fs) fs over 1100 ns, $fast over 100 ns"
printf 'lockstep devices 1\ndevice 0\nrun synth:vector-add,n=1024\nsignal a\ndevice 1\nwait a\nrun synth:saxpy,n=1024\n' >signal.list
nvidia_fs signal.list -s gpus.peer.model=serial
printf 'lockstep devices 1\ndevice 0\ncopy 4096 0 1\n' >copy.list
refused 2 'gpu0.peers: peer/serial has no copy engine' "${plugins[@]}" run copy.list -p ./two.yaml -s gpus.peer.model=serial
run 0 "${plugins[@]}" run copy.list -p ./two.yaml -s gpu1.peer.model=serial
refused 3 "peer.model is 'serial', which flushes no L2" "${plugins[@]}" run synth:peer-latency,accesses=8 -p ./two.yaml \
    -s gpus.peer.model=serial -s gpus.rdma.at=memory -s gpus.rdma.cache=partitioned

# Models that lack something, and models that err. bad FILE SED CODE LINE COMMAND...
bad() {
    sed -E "$2" "$SOURCE_DIR/examples/plugins/$1.c" >bad.c
    ! cmp -s bad.c "$SOURCE_DIR/examples/plugins/$1.c" || fail "'$2' changes nothing in $1.c"
    "$CC" -std=c17 -O2 -w "${flags[@]}" bad.c -o bad.so 2>stderr || fail "$1.c with '$2' does not compile"
    refused "$3" "$4" --plugin ./bad.so "${@:5}"
}
bad fabric_ideal 's/\.build = build/.build = NULL/' 2 \
    "model 'fabric/ideal' lacks function 'build' of its port 'fabric' (see lockstep/fabric.h)" "${amd[@]}"
bad host_fixed 's/end_of, set_pages,/end_of, NULL,/' 2 "model 'host/fixed' lacks function 'set_pages' of its port 'host'" "${amd[@]}"
bad migrate_writers 's/, \.decide = decide//' 2 "model 'migrate/writers' lacks function 'decide' of its port 'migrate'" "${amd[@]}"
bad rdma_serial 's/, \.end = end_of//' 2 "model 'rdma/serial' lacks function 'end' of its port 'rdma' (see lockstep/rdma.h)" "${amd[@]}"
bad rdma_serial 's/= LS_RDMA_INTERFACE/= "line-rdma\/1"/' 2 "speaks 'line-rdma/1', its slot speaks 'line-rdma/2'" "${amd[@]}"
bad peer_serial 's/receive_reply, receive_command/NULL, receive_command/' 2 \
    "model 'peer/serial' lacks function 'receive_reply' of its port 'peer' (see lockstep/peer.h)" run synth:gemm -p ./two.yaml
pages=("${amd[@]}" -s fabric.model=pcie -s host.model=cpu -s migrate.model=writers)
bad migrate_writers 's/LS_MIGRATE_PAGE_KEY\(spec, directory\),//' 2 "model 'migrate/writers' leaves numbers of the directory 0" \
    "${pages[@]}"
bad migrate_writers 's/\.to = owner,/.to = 7,/' 2 "the model 'writers' of slot 'migrate' cannot have page" "${pages[@]}" -j 3
bad migrate_writers 's/is_own \|\| question->writes/false/' 2 "the model 'writers' of slot 'migrate' cannot have page" "${pages[@]}"
bad host_fixed 's/\.copies = .*\)given\)->copies/.copies = 0/' 2 "model 'host/fixed' lets GPUs have no copies open" "${amd[@]}" \
    -s fabric.model=pcie -s host.model=fixed
bad fabric_ideal 's/ls_link_create\(engine, &in, &end->send\[class\], err\)/LS_OK/' 2 \
    "model 'fabric/ideal' made no link from 'gpu0.rdma' for class 'request'" "${amd[@]}" -s fabric.model=ideal
bad fabric_ideal 's/\(queue \*\)self \+ message->to;/(queue *)self + message->from;/' 2 \
    "the model of slot 'fabric' delivered a message that is for another end" "${amd[@]}" -s fabric.model=ideal
bad rdma_serial 's/s->from, s->token, &s->served/s->from, 99999, \&s->served/' 2 \
    "the model of slot 'rdma' of another GPU answered a request that was not sent" "${amd[@]}" -s fabric.model=pcie \
    -s gpu1.rdma.model=serial
exit 0
