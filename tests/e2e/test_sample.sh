#!/usr/bin/env bash
# Sampled simulation: the estimate against the full run, in every form of results, with any number of threads, for
# traces, AMD programs and recordings; and every combination that is refused.
# shellcheck source=lib.bash
source "${BASH_SOURCE[0]%/*}/lib.bash"

small=(-p rtx3070 -s cores=4)
app=('synth:application,kernels=60,kinds=2,blocks=1,seed=6' "${small[@]}")

number() { # NAME: of the type sample/run in run.json
    python3 -c "import json,sys
m = json.load(open('$2'))
def find(o):
    if isinstance(o, dict):
        if '$1' in o and isinstance(o['$1'], (int, float)): return o['$1']
        for v in o.values():
            r = find(v)
            if r is not None: return r
    if isinstance(o, list):
        for v in o:
            r = find(v)
            if r is not None: return r
print(find(m))"
}

# --- the estimate holds the truth -----------------------------------------------------------------------------
run 0 run "${app[@]}" -f csv
truth=$(tail -1 stdout | cut -d, -f8)
run 0 run "${app[@]}" --sample sieve -o s.json -o s.csv -o s.db -o s.txt -o s.tidy.csv --html s.html
says 'of 60 kernels in'
grep -Eq '^  estimate +[0-9,]+  cycles \+- [0-9.]+ %: [0-9,]+ to [0-9,]+ with 95 % confidence' stdout || fail "no estimate in the summary"
low=$(number low_cycles s.json) high=$(number high_cycles s.json) cycles=$(number estimated_cycles s.json)
((low <= truth && truth <= high)) || fail "the full run has $truth cycles, the interval is $low to $high"
((cycles * 100 > truth * 94 && cycles * 100 < truth * 106)) || fail "$cycles cycles instead of $truth"
(($(number simulated_kernels s.json) < 30)) || fail "most kernels were simulated"

# --- every form of results has it -------------------------------------------------------------------------------
for file in s.json s.csv s.tidy.csv s.txt s.html; do
    grep -q "estimated_cycles\|all numbers are of a sample" $file || fail "$file does not say that it is of a sample"
done
grep -aq 'all numbers are of a sample' s.db || fail "s.db does not say that it is of a sample"

# --- the same for any number of threads ---------------------------------------------------------------------------
for threads in 1 2 3 8; do
    run 0 run synth:application,kernels=24,kinds=2,blocks=1 "${small[@]}" --sample error=5%,blocks -j $threads -f tidy
    grep -v '^host,' stdout >t$threads
    cmp -s t1 t$threads || fail "$threads threads give other results"
done

# --- thread blocks in a steady state ------------------------------------------------------------------------------
steady=('synth:barrier-storm,ctas=200,barriers=8' -p rtx3070 -s cores=1)
run 0 run "${steady[@]}" -f csv
truth=$(tail -1 stdout | cut -d, -f8)
run 0 run "${steady[@]}" --sample blocks -o b.json
says '1 of them cut short'
cycles=$(number estimated_cycles b.json)
((cycles * 100 > truth * 96 && cycles * 100 < truth * 104)) || fail "$cycles cycles instead of $truth"

# --- text is scanned, packed files know: the same plan ------------------------------------------------------------
run 0 trace synth application,kernels=12,kinds=2,blocks=1 -o text
run 0 trace pack text -o packed.lspk
for source in text packed.lspk; do
    run 0 run $source "${small[@]}" --sample sieve
    grep -E '^  (estimate|sampled)' stdout >plan.$source
done
cmp -s plan.text plan.packed.lspk || fail "text and packed file have other plans"

# --- AMD programs: data stay right; recordings --------------------------------------------------------------------
if [[ -e $BINARY_DIR/share/lockstep/kernels/gfx803/bitonicsort.co ]]; then
    run 0 run bitonicsort -p r9nano --size 256 --verify --sample sieve
    says 'of 36 kernels in'
    grep -q 'verification *correct' stdout || fail "emulated launches leave wrong data"
    for threads in 1 2; do
        run 0 run floydwarshall -p r9nano --size 16 --verify --sample error=5% -j $threads
        grep -q 'verification *correct' stdout || fail "emulated launches leave wrong data"
        grep -E '^  (estimate|sampled)' stdout >amd$threads
    done
    cmp -s amd1 amd2 || fail "an AMD program with 2 threads gives another estimate"
    run 0 run bitonicsort -p r9nano --size 256 --record r.lsar
    run 0 run r.lsar -p r9nano --sample sieve
    says 'of 36 kernels in'
    refused 2 'platform' run bitonicsort --size 256 --sample sieve
    refused 3 'a recording of an AMD program is replayed with all of its work-groups' run r.lsar -p r9nano --sample blocks
    for threads in 1 2 3 8; do
        run 0 run relu -p r9nano -s clusters=1 --size 131072 --verify --sample sieve,blocks -j $threads
        grep -q 'verification *correct' stdout || fail "work-groups that are left out leave wrong data"
        grep -q '1 of them cut short' stdout || fail "a kernel of 12 waves is not cut"
        grep -E '^  (estimate|sampled)' stdout >groups$threads
        cmp -s groups1 groups$threads || fail "work-groups left out with $threads threads give another estimate"
    done
    run 0 run relu -p r9nano -s clusters=1 --size 131072 -o whole.json
    python3 - "$(sed -nE 's/.*cycles .*: ([0-9,]+) to ([0-9,]+) with.*/\1 \2/p' groups1)" <<'END' || fail "the interval misses the full run"
import json, sys
low, high = (int(n.replace(",", "")) for n in sys.argv[1].split())
assert low <= json.load(open("whole.json"))["run"]["cycles"] <= high, (low, high)
END
    refused 2 'a recording has every launch' run bitonicsort -p r9nano --sample sieve --record x.lsar
    refused 2 '--check-memory follows every access' run bitonicsort -p r9nano --sample sieve --check-memory
    refused 2 '--sample is for one GPU' run bitonicsort -p r9nano --gpus 2 --devices unified --sample sieve
else
    left_out "AMD programs: no compiled kernels"
fi

# --- mistakes -------------------------------------------------------------------------------------------------------
refused 2 "(nearest: sieve)" run "${app[@]}" --sample sive
refused 2 'the error is 0.1% to 50% of the total' run "${app[@]}" --sample error=2
refused 2 '--ctas cuts every kernel' run "${app[@]}" --sample sieve --ctas 4
refused 2 '--warm-l2 fills L2' run "${app[@]}" --sample sieve --warm-l2
refused 2 '--until is a time of the whole run' run "${app[@]}" --sample sieve --until 1us
refused 2 'add sieve or error=2%' run "${app[@]}" --sample blocks,cold
mkdir streams
cp -r text/. streams
sed -i 's/^-cuda stream id = .*/-cuda stream id = 7/' streams/kernel-2.traceg
refused 3 'kernel 2 is of stream 7' run streams "${small[@]}" --sample sieve
run 0 run streams "${small[@]}" -s dispatch.concurrent_kernels=1 --sample sieve
