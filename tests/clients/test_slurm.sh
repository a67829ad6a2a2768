#!/usr/bin/env bash
# Sweeps on a cluster: Debian's Slurm on loopback with two nodes on this host. One of them dies in the middle. The
# daemons run in a directory of their own and are ended by their process numbers.
# shellcheck source=../e2e/lib.bash
source "${BASH_SOURCE[0]%/*}/../e2e/lib.bash"
for tool in slurmctld slurmd sbatch squeue scontrol sinfo; do
    command -v $tool >/dev/null || skip "Slurm is not there: $tool"
done
((EUID == 0)) || skip "slurmd needs root"

host=$(hostname -s)
port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
controller=$(port) first=$(port) second=$(port)
mkdir state spool-n1 spool-n2
cat >slurm.conf <<END
ClusterName=lockstep
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$controller
SlurmUser=root
AuthType=auth/none
CredType=cred/none
MpiDefault=none
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=2,batch_sched_delay=0,sched_min_interval=100000
SlurmdTimeout=10
InactiveLimit=0
KillWait=5
MinJobAge=30
ReturnToService=2
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool-%n
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd-%n.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd-%n.log
NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$first CPUs=2 State=UNKNOWN
NodeName=n2 NodeHostname=$host NodeAddr=127.0.0.1 Port=$second CPUs=2 State=UNKNOWN
PartitionName=work Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF=$work/slurm.conf

# Processes of a node: those that name its spool, or whose environment does.
processes_of() {
    local dir environment
    for dir in /proc/[0-9]*; do
        environment=$({ tr '\0' '\n' <"$dir/environ"; } 2>/dev/null) || continue
        grep -qx "SLURM_CONF=$work/slurm.conf" <<<"$environment" || continue
        if grep -qx "SLURMD_NODENAME=$1" <<<"$environment" || grep -qx "LOCKSTEP_NODE=$1" <<<"$environment"; then
            echo "${dir#/proc/}"
        fi
    done
}
daemons=()
end() {
    local node pid
    for node in n1 n2; do
        for pid in $(processes_of "$node"); do kill -9 "$pid" 2>/dev/null; done
    done
    for pid in "${daemons[@]}"; do kill -9 "$pid" 2>/dev/null; wait "$pid" 2>/dev/null; done
    cd /
    rm -rf "$work"
}
trap end EXIT

slurmctld -D -i >controller.out 2>&1 &
daemons+=($!)
node_pids=()
for node in n1 n2; do
    LOCKSTEP_NODE=$node slurmd -D -N $node >$node.out 2>&1 &
    daemons+=($!)
    node_pids+=($!)
done
for ((i = 0; i < 200; i++)); do
    [[ $(sinfo -h -o %T -p work 2>/dev/null | sort -u) == idle && $(sinfo -h -o %D -t idle 2>/dev/null) == 2 ]] && break
    sleep 0.2
done
[[ $(sinfo -h -o %D -t idle 2>/dev/null) == 2 ]] ||
    skip "Slurm does not start: $(tail -1 slurmctld.log 2>/dev/null) $(tail -1 slurmd-n1.log 2>/dev/null)"

small=("synth:vector-add,n=4096" -p rtx3070 --set cores=4)
grid=("${small[@]}" --vary "core.scheduler=gto,lrr" --vary memory.channels=8..32*2)

# A sweep in three shards equals one that was not divided.
run 0 sweep "${grid[@]}" -o grid.db --slurm --partition work --array-size 3 --sbatch=--time=5
grep -q 'job [0-9]*: 3 of 3 shards' stderr || fail "nothing was submitted"
says 'fastest first'
cp stdout ranking
[[ -s grid.csv && -s grid.html ]] || fail "no table or page"
[[ -z $(ls grid.*-of-*.db 2>/dev/null) ]] || fail "files of shards are left"
run 0 sweep "${grid[@]}" -o whole.db
cmp -s stdout ranking || fail "the ranking differs from that of a sweep here"
for table in runs metrics blocks scopes totals readings point_keys; do
    [[ $(sqlite3 grid.db "SELECT * FROM $table") == "$(sqlite3 whole.db "SELECT * FROM $table")" ]] || fail "$table differs"
done

# The same command submits nothing; a larger grid submits what is missing.
run 0 sweep "${grid[@]}" -o grid.db --slurm --array-size 3
grep -q 'job ' stderr && fail "a finished sweep was submitted"
run 0 sweep "${small[@]}" --vary core.scheduler=gto,lrr,oldest --vary memory.channels=8..32*2 -o grid.db --slurm --array-size 9
grep -q 'job [0-9]*: 3 of 9 shards' stderr || fail "not only the missing points were submitted"

# A point that fails is tried three times and listed with its reason.
run 5 sweep synth:gemm,m=64,n=64,k=32 -p rtx3070 --vary core.registers=1024,65536 -o failed.db --slurm
says 'failed core.registers=1024: '
run 0 sweep --status failed.db
says '2 points: 1 done, 0 running, 1 failed, 0 to run'

# A partition that is not there.
run 2 sweep "${grid[@]}" -o no.db --slurm --partition nowhere
grep -q 'Slurm did not take the job' stderr || fail "the error of sbatch is not told"

# A node dies with its shards in the middle.
long=("synth:gemm,m=256,n=256,k=256" -p rtx3070 --vary cores=2..17 --vary "core.scheduler=gto,lrr" --top 0)
"$LOCKSTEP" sweep "${long[@]}" -o node.db --slurm --array-size 4 >node.stdout 2>node.stderr </dev/null &
sweep=$!
for ((i = 0; i < 300; i++)); do
    [[ -n $(processes_of n2) && -n $(squeue -h -t R -w n2 -o %i 2>/dev/null) ]] && (($(find . -maxdepth 1 -name 'node.*-of-4.db' | wc -l) >= 3)) && break
    sleep 0.1
done
[[ -n $(squeue -h -t R -w n2 -o %i) ]] || fail "nothing ran on the second node"
kill -9 "${node_pids[1]}"
for pid in $(processes_of n2); do kill -9 "$pid" 2>/dev/null; done
run 0 sweep --status node.db
says '32 points: '
grep -q '32 done' stdout && fail "the node died too late"
scontrol update NodeName=n2 State=DOWN Reason=died # as the controller finds by itself after its timeout
wait $sweep || fail "the sweep did not survive: $(cat node.stderr)"
grep -q 'shards are submitted again' node.stderr || fail "no shard was submitted again"
run 0 sweep --status node.db
says '32 points: 32 done'
run 0 sweep "${long[@]}" -o alone.db -j2
[[ $(sqlite3 node.db 'SELECT run_id, end_time_fs, cycles FROM runs JOIN host USING(run) ORDER BY 1') == \
    "$(sqlite3 alone.db 'SELECT run_id, end_time_fs, cycles FROM runs JOIN host USING(run) ORDER BY 1')" ]] || fail "results differ"

# Ended by Ctrl-C, the jobs go on, and the next call waits for them.
"$LOCKSTEP" sweep "${long[@]}" --seed 2 -o stop.db --slurm --array-size 2 >stop.stdout 2>stop.stderr </dev/null &
sweep=$!
for ((i = 0; i < 100; i++)); do
    grep -q 'job ' stop.stderr && break
    sleep 0.1
done
kill -INT $sweep
wait $sweep
grep -q 'goes on' stop.stderr || fail "an interrupted sweep does not say what becomes of its jobs"
run 0 sweep "${long[@]}" --seed 2 -o stop.db --slurm --array-size 2
grep -q 'still runs' stderr || fail "the job was not waited for"
exit 0
