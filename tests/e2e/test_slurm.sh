#!/usr/bin/env bash
# A sweep with --slurm, against commands that stand for Slurm's: scripts, retries, resume, and a job that dies. The
# real Slurm is in tests/clients/test_slurm.sh.
# shellcheck source=lib.bash
source "${BASH_SOURCE[0]%/*}/lib.bash"
command -v sqlite3 >/dev/null || skip "sqlite3 is not there"

mkdir bin
export FAKE=$work/fake
mkdir "$FAKE"
# Runs the tasks of the array one after the other; those that $FAKE/dies names die before they do anything.
cat >bin/sbatch <<'END'
#!/usr/bin/env bash
[[ $1 == --parsable ]] || exit 2
[[ ! -e $FAKE/refuse ]] || { echo "sbatch: error: invalid partition specified" >&2; exit 1; }
job=$(($(cat "$FAKE/last" 2>/dev/null || echo 100) + 1))
echo $job >"$FAKE/last"
cp "$2" "$FAKE/$job.sh"
touch "$FAKE/$job.runs"
tasks=$(sed -n 's/^#SBATCH --array=//p' "$2")
(
    for task in ${tasks//,/ }; do
        if grep -qx "$task" "$FAKE/dies" 2>/dev/null; then
            sed -i "/^$task\$/d" "$FAKE/dies"
            continue
        fi
        SLURM_ARRAY_TASK_ID=$task bash "$2"
    done
    rm "$FAKE/$job.runs"
) >"$FAKE/$job.log" 2>&1 &
echo "$job;cluster"
END
cat >bin/squeue <<'END'
#!/usr/bin/env bash
for word; do [[ $word == --jobs=* ]] && job=${word#--jobs=}; done
[[ -e $FAKE/last ]] || { echo "slurm_load_jobs error: Unable to contact slurm controller" >&2; exit 1; }
if [[ -e $FAKE/$job.runs ]]; then echo RUNNING; elif ((job < 103)); then
    echo "slurm_load_jobs error: Invalid job id specified" >&2
    exit 1
fi
END
chmod +x bin/*
grid=("synth:vector-add,n=2048" -p rtx3070 --set cores=2 --vary "core.scheduler=gto,lrr" --vary memory.channels=8..32*2)

# Without Slurm: no directory of commands has its own.
env PATH="$work/nothing" "$LOCKSTEP" sweep "${grid[@]}" -o none.db --slurm >stdout 2>stderr </dev/null
code=$?
((code == 3)) || fail "without Slurm the exit code is $code"
grep -q 'the command sbatch is not here' stderr || fail "a missing Slurm is not told"
export PATH=$work/bin:$PATH

# Three shards; the second dies at first, before it has done anything.
echo 2 >"$FAKE/dies"
run 0 sweep "${grid[@]}" -o grid.db --slurm --partition fast --array-size 3 --sbatch=--time=60 -j2 --threads 2
says 'fastest first'
grep -q 'job 101: 3 of 3 shards' stderr || fail "the first job is not told"
grep -q 'job 101 ended before all its points did: 1 shards are submitted again' stderr || fail "the second job is not explained"
grep -q 'job 102: 1 of 3 shards' stderr || fail "the second job is not told"
for line in '--array=1,2,3' '--partition=fast' '--time=60' '--cpus-per-task=4' '--no-requeue' '--output=grid.slurm/%A_%a.log'; do
    grep -qxF -- "#SBATCH $line" "$FAKE/101.sh" || fail "the script has no $line"
done
grep -qx '#SBATCH --array=2' "$FAKE/102.sh" || fail "more than the lost shard is submitted"
[[ -s grid.csv && -s grid.html && -z $(ls grid.*-of-*.db 2>/dev/null) ]] || fail "files are missing, or files of shards left"
run 0 sweep "${grid[@]}" -o whole.db
# Runs are numbered in the order in which the rounds brought them; everything else is the same.
values() { sqlite3 "$1" "SELECT h.run_id, t.kernel, t.type, t.metric, t.value FROM totals t JOIN host h USING(run) ORDER BY 1, 2, 3, 4"; }
[[ $(values grid.db) == "$(values whole.db)" ]] || fail "values differ"
for table in point_keys sweeps sweep_points; do
    [[ $(sqlite3 grid.db "SELECT * FROM $table ORDER BY 1, 2") == "$(sqlite3 whole.db "SELECT * FROM $table ORDER BY 1, 2")" ]] || fail "$table differs"
done

# Nothing is submitted twice. A file of a shard that an earlier call left is merged first.
run 0 sweep "${grid[@]}" -o grid.db --slurm
grep -q '6 are done, 0 to run' stderr || fail "finished points are submitted"
run 0 sweep "${grid[@]}" -o left.db --shard 1/2
run 0 sweep "${grid[@]}" -o left.db --slurm --array-size 6
grep -q 'job 103: 3 of 6 shards' stderr || fail "points of a left file are submitted"

# Failed points: three tries each, then the list.
run 5 sweep synth:gemm,m=64,n=64,k=32 -p rtx3070 --vary core.registers=1024,65536 -o bad.db --slurm
says 'failed core.registers=1024: '
grep -q '1 of 2 points failed' stderr || fail "the error does not count"
grep -q -- "'--retries' '2'" "$FAKE/104.sh" || fail "failed points are not tried again"

# Tasks that die every time: the sweep ends and says so.
printf '%s\n' 1 1 1 1 1 >"$FAKE/dies"
# shellcheck disable=SC2016
sed -i 's|sed -i "/^$task\\$/d" "$FAKE/dies"|:|' bin/sbatch
run 5 sweep "synth:vector-add,n=2048" -p rtx3070 --vary cores=1,2 -o lost.db --slurm
says 'its job ended before it did, three times'
rm "$FAKE/dies"

# Slurm refuses.
touch "$FAKE/refuse"
run 2 sweep "${grid[@]}" -o no.db --slurm --seed 3
grep -q 'Slurm did not take the job: sbatch: error: invalid partition' stderr || fail "the reason is not told"
run 2 sweep "${grid[@]}" -o 'postgresql://me:geheim@127.0.0.1:1/x' --slurm
grep -q geheim stderr && fail "the password is shown"
exit 0
