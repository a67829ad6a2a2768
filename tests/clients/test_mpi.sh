#!/usr/bin/env bash
# One simulation over several processes: Debian's Open MPI on loopback. The same results with 1, 2 and 4 ranks and with 1 and
# 2 threads; one line for what all ranks refuse; one line of every rank when one of them is killed.
# shellcheck source=../e2e/lib.bash
source "${BASH_SOURCE[0]%/*}/../e2e/lib.bash"
command -v mpirun >/dev/null || skip "mpirun is not there"
run 0 run synth:vector-add,n=1024 -p rtx3070 -s cores=1 -n
"$LOCKSTEP" run synth:vector-add,n=1024 -p rtx3070 -s cores=1 -n --mpi >stdout 2>stderr ||
    skip "MPI does not start: $(head -1 stderr)"

# mpirun does not run for root unless it is told twice; everything here is in a directory of its own.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl=self,vader,tcp OMPI_MCA_btl_tcp_if_include=lo
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_vader_single_copy_mechanism=none

cat >four.yaml <<'YAML'
machine: system
gpus:
  - {platform: rtx3070, count: 4, cores: 8, memory.channels: 4}
fabric: {model: switch, planes: 2, links: 2, link_gb_s: 8, packet_payload_bytes: 256, queue_messages: 256}
YAML
cat >work.list <<'LIST'
lockstep devices 1
device 0
run synth:vector-add,n=4096
copy 65536 0 1
signal half
wait done
device 1
wait half
run synth:saxpy,n=4096
signal done
device 3
delay 700
run synth:vector-add,n=4096
LIST

# ranks N CODE ARG...: as run, on N ranks. On a busy host Open MPI's launcher has been seen to start no rank and say nothing:
# it is asked again.
ranks() {
    local count=$1 expected=$2 code try
    shift 2
    for try in 1 2 3; do
        timeout 100 mpirun -n "$count" "$LOCKSTEP" "$@" >stdout 2>stderr </dev/null
        code=$?
        if ((code != 124)) || [[ -s stdout || -s stderr ]]; then break; fi
        echo "mpirun started nothing, try $try" >&2
    done
    ((code == expected)) || fail "$count ranks of lockstep ${*:1:8} exited with $code instead of $expected"
}
data() { grep -v '^host,' "$1"; }
lines() { grep -c '^lockstep: ' stderr; }

# Device lists, collectives and a trace of one GPU: every number, and metrics over time.
trial=0
for work in work.list synth:all-reduce,bytes=65536 "synth:gemm,m=64,n=64,k=64 --on gpu2"; do
    read -ra words <<<"$work"
    trial=$((trial + 1))
    run 0 run "${words[@]}" -p ./four.yaml --per-block --series-every 500ns -o "alone$trial.tidy.csv"
    for way in '1 1' '2 1' '2 2' '4 1' '4 2'; do
        read -r count threads <<<"$way"
        ranks "$count" 0 run "${words[@]}" -p ./four.yaml --per-block --series-every 500ns -j "$threads" --mpi -o ranks.tidy.csv
        cmp -s <(data ranks.tidy.csv) <(data "alone$trial.tidy.csv") || fail "$work differs on $count ranks, $threads threads"
        cmp -s ranks.tidy.csv.series.csv "alone$trial.tidy.csv.series.csv" || fail "$work: metrics over time differ on $count ranks"
    done
done

# The report: windows, waiting and bytes of every rank.
ranks 2 0 run synth:all-reduce,bytes=65536 -p ./four.yaml --mpi -o ranks.json --html ranks.html
grep -qE '^ +rank +groups +domains +windows +time +waiting' stdout || fail 'no table of ranks'
(($(grep -c '^synth:all-reduce' stdout) == 1)) || fail 'more than one rank prints'
python3 - <<'PY' || fail 'wrong numbers of ranks'
import json
data = json.load(open("ranks.json"))
ranks = data["run"].get("host", data.get("host"))["ranks"]
assert len(ranks) == 2 and ranks[0]["meetings"] == ranks[1]["meetings"] > 10, ranks
assert sum(r["groups"] for r in ranks) == 6, ranks
for r in ranks:
    assert r["messages"] > 0 and r["link_bytes"] > 100 * r["messages"] and r["windows"] > 10, r
    assert 0 < r["wait_ns"] < r["run_ns"], r
PY

# What all refuse is one line; a rank that differs is named.
ranks 2 2 run synth:vector-add,n=1024 -p rtx3070 -s cores=1 --mpi
grep -q 'has 1 part that can run alone' stderr || fail 'one GPU is divided'
(($(lines) == 1)) || fail 'not one line'
ranks 2 2 run nosuch.list -p ./four.yaml --mpi
(($(lines) == 1)) || fail 'not one line'
timeout 100 mpirun -n 1 "$LOCKSTEP" run work.list -p ./four.yaml --mpi : -n 1 "$LOCKSTEP" run work.list -p ./four.yaml \
    -s gpus.core.scheduler=lrr --mpi >stdout 2>stderr && fail 'two configurations run'
grep -q 'rank 1 has another configuration than rank 0' stderr || fail 'the other configuration is not named'

# An error of the machine: the line of one process.
printf 'lockstep devices 1\ndevice 1\nrun synth:gemm,m=64,n=64,k=64,block_shared_kib=227\n' >large.list
"$LOCKSTEP" run large.list -p ./four.yaml >stdout 2>alone.err
code=$?
((code != 0)) || fail 'the kernel fits'
ranks 2 $code run large.list -p ./four.yaml --mpi
cmp -s <(grep '^lockstep: ' stderr) alone.err || fail 'another line than that of one process'

# A rank is killed: every other one says so, and nothing is written. By default mpirun ends all of them; with recovery the
# time without an answer ends the run.
# The first kernels are short, so that the log tells soon that the run goes on. The others are long, because mpirun does not
# read the log while it ends ranks.
{
    echo 'lockstep devices 1'
    for device in 0 1 2 3; do
        printf 'device %d\nrun synth:vector-add,n=4096\n' "$device"
        for ((i = 0; i < 100; i++)); do echo 'run synth:vector-add,n=1048576'; done
    done
} >long.list
long=(run long.list -p ./four.yaml --mpi --mpi-timeout 4s -o dead.json)
# mpirun waits as long before it asks ranks to stop, and again before it kills them: one second by default, which is little
# on a busy host.
export OMPI_MCA_odls_base_sigkill_timeout=10
# A rank writes its process number before it becomes lockstep.
# shellcheck disable=SC2016
as_rank=(bash -c 'echo $$ >"pid.$OMPI_COMM_WORLD_RANK.new"; mv "pid.$OMPI_COMM_WORLD_RANK.new" "pid.$OMPI_COMM_WORLD_RANK"; exec "$@"' -)

# launched ARG...: starts mpirun ARG... in the background as `job`, and waits until a kernel has ended. A launcher that starts no
# rank within 20 s is ended and asked again. In the foreground `timeout` signals mpirun alone; otherwise it signals its process
# group, too, and a second signal makes mpirun end all ranks at once.
launched() {
    local try i
    for try in 1 2 3; do
        rm -f pid.* stdout stderr # before the job begins: those of the job before are not to be read
        timeout --foreground 120 mpirun "$@" >stdout 2>stderr </dev/null &
        job=$!
        for ((i = 0; i < 900; i++)); do
            grep -q 'has ended: cycles' stderr 2>/dev/null && return
            ((i == 200)) && [[ ! -e pid.0 && ! -e pid.1 ]] && break
            sleep 0.1
        done
        ((i == 200)) || fail 'no kernel has ended for 90 s'
        echo "mpirun started nothing, try $try" >&2
        kill -KILL "$(ps -o pid= --ppid "$job")" "$job"
        wait "$job"
    done
    fail 'mpirun starts no rank'
}

for recovery in 0 1; do
    export OMPI_MCA_orte_enable_recovery=$recovery
    launched -n 3 "${as_rank[@]}" "$LOCKSTEP" --log-level info "${long[@]}"
    kill -KILL "$(cat pid.1)" || fail 'the rank is gone before it is killed'
    wait "$job"
    for rank in 0 2; do
        (($(grep -c "^lockstep: rank $rank of 3: .* has not answered for .* the run is over" stderr) == 1)) ||
            fail "rank $rank does not say that rank 1 is gone (recovery $recovery)"
    done
    [[ ! -e dead.json ]] || fail 'results of a run without one of its ranks'
done

# Ctrl-C: all ranks stop at the same meeting, and rank 0 writes what there is.
unset OMPI_MCA_orte_enable_recovery
launched -n 2 "${as_rank[@]}" "$LOCKSTEP" --log-level info "${long[@]:0:5}" -o part.json
kill -TERM "$job"
wait "$job"
grep -q '"partial": true' part.json || fail 'no partial results'
exit 0
