#!/usr/bin/env bash
# Checkpoints of AMD programs: workloads, code objects and recordings go on in another process with the same numbers, on
# one GPU and several, for other threads, after kill -9; refusals. `LONG=1` kills at 100 moments.
# shellcheck source=tests/e2e/lib.bash
source "$SOURCE_DIR/tests/e2e/lib.bash"
# shellcheck source=tests/e2e/checkpoint.bash
source "$SOURCE_DIR/tests/e2e/checkpoint.bash"

small=(-p r9nano -s clusters=2)
check kernel at=24us 2 1 fir "${small[@]}" --size 2048 --verify --series-every 1us
check kernels 3kernels 1 8 bitonicsort "${small[@]}" --size 64
system=(-p r9nano --gpus 2 -s gpus.clusters=2 -s fabric.model=pcie -s host.model=cpu)
check pair at=30us 2 3 fir "${system[@]}" --size 1024 --devices unified -s migrate.model=esi

# A recording, and a code object. Files are named from the root.
run 0 run fir "${small[@]}" --size 2048 --record fir.lspk
check recording at=24us 1 2 fir.lspk "${small[@]}"
cp "$SOURCE_DIR/tests/data/debug/reverse.co" .
check object at=7us 1 2 reverse.co -p w6800 -s clusters=6 --grid 128 -a buffer:512:f32=1.5 -a buffer:512 -a f32:2 -a u32:128
# In the middle of work-groups that wait for each other.
grid=$BINARY_DIR/tests/kernels/gfx803-v5/grid.co
if [[ -e $grid ]]; then
    cp "$grid" .
    check together at=200us 1 3 grid.co -p r9nano -s clusters=2 --kernel rounds --grid 5120 --group 256 -a buffer:1600 -a buffer:32000 -a u32:400 -a u32:4294967295
else
    left_out 'no compiled kernels: clang-15, lld-15 or rocm-device-libs is missing'
fi
mkdir elsewhere
(cd elsewhere && "$LOCKSTEP" resume ../recording.ck -f tidy --progress never 2>/dev/null | grep -v '^host,') | cmp -s - recording.whole ||
    fail 'another directory gives other numbers'

# Warm starts: other costs from the checkpoint on, alone and in a sweep that forks from one loaded file.
numbers warm resume kernel.ck -s cu.branch_cycles=40 -s mmu.walk_latency_cycles=900
cmp -s warm kernel.whole && fail 'slower branches and walks change nothing'
refused 3 "key 'l2.mshr_entries' cannot change at a checkpoint" resume kernel.ck -s l2.mshr_entries=128
run 0 sweep fir "${small[@]}" --size 2048 --verify --warm kernel.ck -v cu.branch_cycles=4,40 --progress never -o warm.db
says 'fastest first'
run 0 resume kernel.ck -s cu.branch_cycles=40 --run-id alone -o alone.json
python3 - <<'END' || fail 'points of a warm sweep differ from resume'
import json, sqlite3
ends = [row[0] for row in sqlite3.connect("warm.db").execute("SELECT end_time_fs FROM runs ORDER BY 1")]
assert len(ends) == 2 and ends[0] < ends[1] == json.load(open("alone.json"))["run"]["end_time_fs"], ends
END

# ---------------------------------------------------------------------------------------------------- kill -9
program=(fir "${small[@]}" --size 131072)
timed_numbers whole run "${program[@]}"
kills=2
[[ ${LONG-} ]] && kills=100
for ((i = 0; i < kills; i++)); do
    killed_and_resumed whole $((i % 2 + 1)) $((500 + (i * 37) % 600)) "${program[@]}"
done
((resumed * 2 >= kills)) || fail "only $resumed of $kills killed runs had a checkpoint"

# ---------------------------------------------------------------------------------------------------- refusals
refused 3 'a recording that is written (--record) cannot be part of a checkpoint' run "${program[@]}" --checkpoint a.ck --every 60s --record a.lspk
refused 3 'a memory check (--check-memory) cannot be part of a checkpoint' run "${program[@]}" --checkpoint a.ck --every 60s --check-memory
[[ ! -e a.ck && ! -e a.lspk ]] || fail 'a refused run wrote a file'
cp fir.lspk recording.lspk
run 0 run fir "${small[@]}" --size 1024 --record fir.lspk
refused 2 'has changed since checkpoint' resume recording.ck
