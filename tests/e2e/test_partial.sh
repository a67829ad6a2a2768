#!/usr/bin/env bash
# --until: a run that leaves work undone is marked as partial in every format; a run that ends in time is not.
# shellcheck source=lib.bash
source "$(dirname "$0")/lib.bash"

# partial 0|1 ARG...: every format of the run says that it is partial, or none does.
partial() {
    local expected=$1 word=false
    ((expected)) && word=true
    shift
    rm -f r.*
    run 0 run "$@" -o r.json -o r.csv -o r.tidy.csv -o r.db
    [[ $(grep -c '^PARTIAL RESULTS: stopped by --until at .* with work left$' stdout) == "$expected" ]] ||
        fail "$*: the text does not say partial=$expected"
    grep -q "^  \"partial\": $word,$" r.json || fail "$*: JSON does not say partial=$word"
    grep -q "^run,,,,,,run,partial,fact,value,$expected,.$" r.tidy.csv || fail "$*: tidy CSV does not say partial=$expected"
    awk -F, -v wanted="$expected" '$1 == "run" && $13 == wanted { n++ } END { exit n != 1 }' r.csv ||
        fail "$*: CSV does not say partial=$expected"
    [[ $(sqlite3 r.db 'SELECT partial, partial_reason IS NOT NULL FROM runs') == "$expected|$expected" ]] ||
        fail "$*: SQLite does not say partial=$expected"
    run 0 compare r.json r.db
}

command -v sqlite3 >/dev/null || skip 'no sqlite3'
trace=('synth:vector-add,n=4096' -p rtx3070)
partial 1 "${trace[@]}" --until 1500ns
# The kernel that was cut has its cycles up to the end of the run.
(($(sqlite3 r.db 'SELECT cycles FROM runs') == 1500 * 1725 / 1000)) || fail 'the cycles of a partial run are not those up to --until'
partial 0 "${trace[@]}"
partial 0 "${trace[@]}" --until 1s
partial 1 "${trace[@]}" --until 1500ns --fidelity basic
partial 1 "${trace[@]}" --until 1500ns --fidelity memory

program=(relu --size 1024 -p r9nano)
partial 1 "${program[@]}" --until 1us
partial 0 "${program[@]}" --until 1s
run 0 run "${program[@]}" --record recorded
partial 1 recorded -p r9nano --until 1us
partial 0 recorded -p r9nano

printf 'machine: pingpong\nhits: 500\n' >game.yaml
run 0 --plugin "$PINGPONG" run -p game.yaml --until 100ns
says 'PARTIAL RESULTS: stopped by --until at 100 ns with work left'
run 0 --plugin "$PINGPONG" run -p game.yaml --until 1s
! grep -q PARTIAL stdout || fail 'a run that came to its end is called partial'

# A run that stops anywhere has counted every cycle: instructions and stalls of a core are its issue slots.
slots_add_up() {
    awk -F, '$6 ~ /core/ && $8 == "issue_slots" { slots[$6] = $11; all += $11 }
        $6 ~ /core/ && ($8 == "issued" || $8 ~ /^stall_/) { sum[$6] += $11 }
        END { for (core in slots) if (slots[core] != sum[core]) exit 1
            exit all == 0 }' stdout
}
for stop in 1us 1234ns 2us; do
    run 0 run synth:bandwidth,ctas=92 -p rtx3070 --until "$stop" -f tidy
    slots_add_up || fail "bandwidth until $stop: issue slots that are neither instructions nor stalls"
done
run 0 run synth:gemm-hopper,m=256,n=256,k=256 -p h100 --until 2501ns -f tidy
slots_add_up || fail 'gemm-hopper until 2501ns: issue slots that are neither instructions nor stalls'

# Samples leave no trace in what is counted.
counters() {
    run 0 run synth:gemm-hopper,m=256,n=256,k=256 -p h100 "$@" -f tidy
    grep -E ',core/cycle,' stdout
}
counters >whole
counters --series-every 77ns >sampled
cmp -s whole sampled || fail 'samples change the counters of cores'

# The same for AMD, where units count their cycles when they change: no interval has more of them than it is long, also while
# nothing happens.
amd() {
    run 0 run micro_dram -p r9nano --size 16 "$@"
}
amd -f tidy
grep -E ',(cu/gcn|command/cycle|dma/line),' stdout >whole
amd -f tidy --series-every 170ns
grep -E ',(cu/gcn|command/cycle|dma/line),' stdout >sampled
cmp -s whole sampled || fail 'samples change the counters of AMD blocks'
amd --series-every 100ns --series 'cu/*.resident_cycles' --series '*.busy_cycles' -o amd.json
python3 - <<'END' || fail 'metrics over time do not belong to their intervals'
import json
r = json.load(open("amd.json"))
cycles = r["series"]["every_fs"] // 10**6  # at 1 GHz
for column, values in zip(r["series"]["columns"], r["series"]["values"]):
    assert sum(values) == r["values"]["types"][column["type"]][column["name"]], column
    if column["name"] == "busy_cycles" and column["type"] in ("command/cycle", "dma/line"):
        assert max(values) == cycles, (column, max(values), cycles)
    if column["name"] == "resident_cycles":
        assert max(values) == cycles, (column, max(values), cycles)
END
exit 0
