#!/usr/bin/env bash
# AMD programs over several processes (Debian's Open MPI on loopback), and checkpoints of such runs: the host program is on
# rank 0, the GPUs are divided. Every number is that of one process, with 1, 2 and 4 ranks.
# shellcheck source=../e2e/lib.bash
source "${BASH_SOURCE[0]%/*}/../e2e/lib.bash"
command -v mpirun >/dev/null || skip "mpirun is not there"
"$LOCKSTEP" run synth:vector-add,n=1024 -p rtx3070 -s cores=1 -n --mpi >stdout 2>stderr ||
    skip "MPI does not start: $(head -1 stderr)"
"$LOCKSTEP" run fir -p r9nano -n >stdout 2>stderr || skip "no kernels: $(head -1 stderr)"

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl=self,vader,tcp OMPI_MCA_btl_tcp_if_include=lo
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_vader_single_copy_mechanism=none

# ranks N CODE ARG...: as run, on N ranks.
ranks() {
    local count=$1 expected=$2 code
    shift 2
    timeout 300 mpirun -n "$count" "$LOCKSTEP" "$@" >stdout 2>stderr </dev/null
    code=$?
    ((code == expected)) || fail "$count ranks of lockstep ${*:1:8} exited with $code instead of $expected"
}
data() { grep -v '^host,' "$1"; }
lines() { grep -c '^lockstep: ' stderr; }
# same WHAT FILE: the numbers of one process.
same() { cmp -s <(data "$2") <(data alone.tidy.csv) || fail "$1 differs from one process"; }

# trial "COUNT THREADS"... -- WORK: results, bit by bit.
trial() {
    local ways=()
    while [[ $1 != -- ]]; do
        ways+=("$1")
        shift
    done
    shift
    run 0 run "$@" --per-block -o alone.tidy.csv
    for way in "${ways[@]}"; do
        read -r count threads <<<"$way"
        ranks "$count" 0 run "$@" --per-block -j "$threads" --mpi -o ranks.tidy.csv
        same "$* on $count ranks, $threads threads" ranks.tidy.csv
    done
}
trial '1 1' '2 1' '2 2' '4 1' -- fir -p r9nano-x4 --devices discrete --size 4096 --verify
trial '2 1' '4 1' -- aes -p r9nano-x4 --devices locality --size 4096 --verify
trial '2 1' -- fir -p r9nano-x4 --devices unified --size 4096 --verify
trial '4 1' -- matrixtranspose -p r9nano-x4 --devices unified --spread central --size 128 --verify
for model in page esi split; do
    trial '3 1' -- fir -p r9nano-x4 --devices unified -s migrate.model=$model --size 4096 --verify
done
trial '2 1' -- all_reduce -p r9nano-x4 --devices discrete --size 1024 --verify
trial '2 1' -- fir -p r9nano-x4 --on gpu2 --size 2048 --verify
trial '2 1' -- bitonicsort -p r9nano --gpus 2 --devices discrete --size 512 --verify

# A recording has no host program: every rank reads it.
run 0 run fir -p r9nano-x4 --devices discrete --size 2048 --record fir.lspk
trial '2 1' '4 1' -- fir.lspk -p r9nano-x4

# The report of windows, waiting and bytes; one rank prints.
ranks 4 0 run fir -p r9nano-x4 --devices discrete --size 4096 --verify --mpi -o ranks.json
grep -qE '^ +rank +groups +domains +windows +time +waiting' stdout || fail 'no table of ranks'
(($(grep -c '^fir on 4 GPUs' stdout) == 1)) || fail 'more than one rank prints'
python3 - <<'PY' || fail 'wrong numbers of ranks'
import json
data = json.load(open("ranks.json"))
ranks = data["run"].get("host", data.get("host"))["ranks"]
assert len(ranks) == 4 and ranks[0]["meetings"] == ranks[3]["meetings"] > 10, ranks
assert all(r["windows"] > 10 and r["other_bytes"] > 4096 for r in ranks), ranks
PY

# An error of a program is the line of one process, and one line.
"$LOCKSTEP" run fir -p r9nano-x4 --devices discrete --size 4096 --max-instructions 50 >stdout 2>alone.err
code=$?
((code != 0)) || fail 'the limit of instructions does not end the run'
ranks 4 $code run fir -p r9nano-x4 --devices discrete --size 4096 --max-instructions 50 --mpi
(($(lines) == 1)) || fail 'not one line'
cmp -s <(grep '^lockstep: ' stderr) <(grep '^lockstep: ' alone.err) || fail 'another line than that of one process'

# Observers of one process are refused by name.
for option in --check-memory '--record x.lspk' '--sample sieve' --source; do
    read -ra words <<<"$option"
    timeout 100 mpirun -n 2 "$LOCKSTEP" run fir -p r9nano-x4 --devices discrete --mpi "${words[@]}" >stdout 2>stderr &&
        fail "$option works with --mpi"
    grep -q -- "${words[0]}" stderr || fail "$option is not refused by name"
done

# Only rank 0 writes the file; all end if it cannot.
ranks 2 2 run fir -p r9nano-x4 --devices discrete --size 4096 --mpi --mpi-timeout 60s --checkpoint missing/run.ckpt --every 60s
(($(lines) == 1)) || fail 'not one line'
grep -q 'missing/run.ckpt' stderr || fail 'the file is not named'

# resumed WRITERS "READERS" EVERY WORK: a checkpoint of WRITERS ranks, resumed by READERS ranks.
resumed() {
    local writers=$1 readers=$2 every=$3
    shift 3
    run 0 run "$@" --per-block -o alone.tidy.csv
    rm -f run.ckpt
    ranks "$writers" 0 run "$@" --per-block --mpi --checkpoint run.ckpt --every "$every" -o ranks.tidy.csv
    same "$* with checkpoints on $writers ranks" ranks.tidy.csv
    [[ -s run.ckpt ]] || fail "$*: no checkpoint on $writers ranks"
    for count in $readers; do
        rm -f ranks.tidy.csv
        ranks "$count" 0 resume run.ckpt --per-block --mpi -o ranks.tidy.csv
        same "$*: checkpoint of $writers ranks, resumed on $count" ranks.tidy.csv
    done
}
cat >four.yaml <<'YAML'
machine: system
gpus:
  - {platform: rtx3070, count: 4, cores: 8, memory.channels: 4}
fabric: {model: switch, planes: 2, links: 2, link_gb_s: 8, packet_payload_bytes: 256, queue_messages: 256}
YAML
resumed 2 '1 2 4' at=3us synth:all-reduce,bytes=65536 -p ./four.yaml
resumed 4 '1 2' 3kernels synth:all-reduce,bytes=65536 -p ./four.yaml
resumed 1 '2 4' at=30us fir -p r9nano-x4 --devices discrete --size 4096 --verify
resumed 4 '1 2' at=50us fir -p r9nano-x4 --devices discrete --size 4096 --verify
resumed 2 '1 4' at=80us fir -p r9nano-x4 --devices unified -s migrate.model=page --size 4096 --verify
resumed 2 '1 2' 1kernels fir.lspk -p r9nano-x4
exit 0
