#!/usr/bin/env bash
# A sweep in shards: the parts, their merge, which equals a sweep that was not divided, and every mistake.
# shellcheck source=lib.bash
source "${BASH_SOURCE[0]%/*}/lib.bash"
command -v sqlite3 >/dev/null || skip "sqlite3 is not there"

grid=("synth:vector-add,n=2048" -p rtx3070 --set cores=2 --vary "core.scheduler=gto,lrr" --vary memory.channels=8..32*2)

for i in 1 2 3 4; do
    run 0 sweep "${grid[@]}" -o part.db --shard $i/4
    [[ -s part.$i-of-4.db ]] || fail "shard $i has no file"
done
grep -q '1 points: 0 are done, 1 to run' stderr || fail "six points in four shards: the last has one"
[[ ! -e part.db && ! -e part.1-of-4.csv ]] || fail "a shard wrote a file of the whole sweep"
run 0 sweep --status part.db
says '6 points: 6 done, 0 running, 0 failed, 0 to run; 4 files of shards are not merged yet'

# Merged in any order: the same tables, rows, keys and views.
run 0 merge part.3-of-4.db part.1-of-4.db part.4-of-4.db part.2-of-4.db -o all.db
says 'all.db: 6 points: 6 merged, 0 were there, 0 missing'
run 0 sweep "${grid[@]}" -o undivided.db
same() { # DATABASE DATABASE
    local table
    for table in runs config warnings metrics blocks scopes buckets totals readings top_kernels point_keys sweeps sweep_points; do
        [[ $(sqlite3 "$1" "SELECT * FROM $table") == "$(sqlite3 "$2" "SELECT * FROM $table")" ]] || fail "$table of $1 and $2 differ"
    done
    [[ $(sqlite3 "$1" 'SELECT id, trace, error FROM points ORDER BY id') == "$(sqlite3 "$2" 'SELECT id, trace, error FROM points ORDER BY id')" ]] || fail "points differ"
    [[ $(sqlite3 "$1" 'SELECT run, run_id, threads, windows FROM host') == "$(sqlite3 "$2" 'SELECT run, run_id, threads, windows FROM host')" ]] || fail "host differs"
    [[ $(sqlite3 "$1" .schema | sort) == "$(sqlite3 "$2" .schema | sort)" ]] || fail "the schema differs"
}
same all.db undivided.db
# A sweep on it has nothing to do, and a shard of it neither.
run 0 sweep "${grid[@]}" -o all.db
grep -q '6 are done, 0 to run' stderr || fail "merged points run again"
run 0 sweep "${grid[@]}" -o all.db --shard 2/3
grep -q '2 points: 2 are done, 0 to run' stderr || fail "a shard runs points that the whole has"

# Different models of a slot have different metrics: tables that come later.
models=("synth:vector-add,n=2048" -p rtx3070 --set cores=2 --vary "dram.model=bank,fixed" --vary "noc.model=crossbar,ring")
run 0 sweep "${models[@]}" -o models.db
run 0 sweep "${models[@]}" -o m.db --shard 1/2
run 0 sweep "${models[@]}" -o m.db --shard 2/2
run 0 merge m.1-of-2.db m.2-of-2.db -o m.db
same m.db models.db

# Missing points are named, and the merge can be completed.
run 5 merge part.1-of-4.db part.2-of-4.db -o some.db
(($(grep -c '^lockstep: missing: synth:vector-add,n=2048  core.scheduler=' stderr) == 2)) || fail "not two points are named"
grep -q '2 of 6 points are missing' stderr || fail "they are not counted"
run 0 merge part.3-of-4.db part.4-of-4.db -o some.db
says '2 merged, 4 were there, 0 missing'
run 0 compare 'some.db#6' 'undivided.db#4' --check

# Twice is once, if the results are the same.
cp part.1-of-4.db again.db
run 5 merge part.1-of-4.db again.db -o twice.db
(($(grep -c 'twice, with the same result: .*, in part.1-of-4.db and again.db' stderr) == 2)) || fail "two points are there twice"
sqlite3 again.db 'UPDATE runs SET cycles = cycles + 1 WHERE run = 1'
refused 5 "has another result than in part.1-of-4.db" merge part.1-of-4.db again.db -o no.db

# Failed points keep their reason; --retries tries them again.
bad=("synth:gemm,m=64,n=64,k=32" -p rtx3070 --vary "core.registers=1024,65536")
run 5 sweep "${bad[@]}" -o bad.db --shard 1/2 --retries 1
run 0 sweep "${bad[@]}" -o bad.db --shard 2/2
run 5 merge bad.1-of-2.db bad.2-of-2.db -o bad.db
grep -q 'missing: synth:gemm,m=64,n=64,k=32  core.registers=1024: ' stderr || fail "the reason is lost"
run 0 sweep --status bad.db
says '2 points: 1 done, 0 running, 1 failed, 0 to run'
says 'failed synth:gemm,m=64,n=64,k=32  core.registers=1024: '

# What does not belong together is refused with one line, and nothing is written.
cp part.2-of-4.db other.db
sqlite3 other.db "UPDATE sweeps SET lockstep = '0.0.1'"
refused 2 'made by Lockstep 0.0.1' merge part.1-of-4.db other.db -o no.db
cp part.2-of-4.db other.db
sqlite3 other.db "UPDATE sweeps SET config_hash = 'x'"
refused 2 'its configurations differ' merge part.1-of-4.db other.db -o no.db
cp part.2-of-4.db other.db
sqlite3 other.db "UPDATE sweeps SET workload_hash = 'x'"
refused 2 'the content of its workloads differs' merge part.1-of-4.db other.db -o no.db
run 0 sweep "synth:vector-add,n=2048" -p rtx3070 --set cores=2 --vary core.scheduler=gto -o foreign.db
refused 2 "it has 'vary core.scheduler=gto' where part.1-of-4.db has 'vary core.scheduler=gto,lrr'" merge part.1-of-4.db foreign.db -o no.db
run 0 run "synth:vector-add,n=2048" -p rtx3070 -o plain.db
refused 2 'holds no sweep' merge part.1-of-4.db plain.db -o no.db
echo text >text.db
refused 2 'text.db' merge part.1-of-4.db text.db -o no.db
refused 2 'cannot open the file' merge part.1-of-4.db nothing.db -o no.db
refused 2 'named twice' merge part.1-of-4.db part.1-of-4.db -o no.db
refused 2 'one of the inputs' merge part.1-of-4.db -o part.1-of-4.db
refused 2 'the output is missing' merge part.1-of-4.db
refused 2 'databases of sweeps' merge part.1-of-4.db -o all.json
[[ ! -e no.db ]] || fail "an error left something"
for shard in 0/4 5/4 2 x/3 2/ 1/1000000; do
    refused 2 'write 2/8 for the second of eight' sweep "${grid[@]}" -o no.db --shard $shard
done
refused 2 'holds no sweep' sweep --status plain.db
refused 2 'takes no workload' sweep synth:saxpy --status all.db
refused 2 'a workload is missing' sweep -p rtx3070 --vary cores=1
for option in --partition=x --array-size=2 --sbatch=--time=1; do
    refused 2 'is for --slurm' sweep "${grid[@]}" -o no.db $option
done
refused 2 'leave out --shard' sweep "${grid[@]}" -o no.db --slurm --shard 1/2

# A URL: what is wrong with it is said in one line, without its password.
run 2 run synth:saxpy -p rtx3070 -o 'postgresql://me:geheim@127.0.0.1:1/x'
(($(wc -l <stderr) == 1)) || fail "not one line"
grep -q geheim stderr && fail "the password is shown"
exit 0
