#!/usr/bin/env bash
# --timeline: files for Perfetto, Chrome, Daisen and Konata, each opened by a reader that shares no code with the writer.
# Counts agree with the run's own, bits do not depend on threads, filters act, nothing half-written stays.
# shellcheck source=lib.bash
source "$(dirname "$0")/lib.bash"

readers=$SOURCE_DIR/tests/e2e
trace=synth:reduction,n=4096 # two launches of blocks of eight warps
# shellcheck disable=SC2034 # by name
nvidia=(run -p rtx3070 "$trace")
# shellcheck disable=SC2034
amd=(run -p r9nano fir --size 512 -s clusters=2)
python() { PYTHONPATH=$readers python3 "$@"; }

# --- every format is read, and agrees with the counters of the run ---
for name in nvidia amd; do
    declare -n command=$name
    for threads in 1 2 3 8; do
        files=(a.pftrace a.sqlite3)
        ((threads > 1)) || files+=(a.json a.json.gz b.sqlite3)
        for file in "${files[@]}"; do
            more=()
            [[ $file != b.* ]] || more=(--timeline-format daisen5)
            run 0 "${command[@]}" -j "$threads" --timeline "$threads.$file" "${more[@]}" -o "$name.json"
            cmp -s "1.$file" "$threads.$file" || fail "$name: $file differs with $threads threads"
        done
    done
    python - "$name" <<'PY' || fail "a timeline of $name is wrong"
import json, sys
import timeline_chrome, timeline_daisen, timeline_perfetto
name = sys.argv[1]
values = json.load(open(f"{name}.json"))["values"]["types"]
p = timeline_perfetto.check("1.a.pftrace")
c = timeline_chrome.check("1.a.json")
d4, d5 = timeline_daisen.check("1.a.sqlite3", 4), timeline_daisen.check("1.b.sqlite3", 5)
assert timeline_chrome.check("1.a.json.gz") == c
assert p["slices"] == c["slices"], (p["slices"], c["slices"])
if name == "nvidia":
    dispatch, core = values["dispatch/round-robin"], values["core/cycle"]
    expected = {"kernel": dispatch["kernels"], "group": core["ctas"], "warp": 8 * core["ctas"]}
    states = {"memory", "dependence", "fetch", "active"}
else:
    command, unit = values["command/cycle"], values["cu/gcn"]
    expected = {"kernel": command["kernels"], "group": unit["work_groups"], "warp": unit["waves"], "copy": command["transfers"]}
    states = {"memory", "scalar memory", "fetch", "active"}
if name == "nvidia":
    assert p["slices"]["request"] == core["requests_sent"] == core["replies"]
    assert p["flows"] == p["flows_with_reply"] == p["flows_across"] == c["flows"] == core["requests_sent"]
    reads = values["dram/bank"]["reads"]
    assert 0.9 * reads <= p["names"]["stage:dram"] <= reads, "misses of L2 have a stage of DRAM"
    assert p["names"]["stage:reply"] == p["names"]["stage:network"] == core["requests_sent"]
else:
    assert p["slices"]["request"] >= unit["vector_lines"] + unit["fetches"]
    assert p["names"]["stage:network"] == p["names"]["stage:reply"] > 0
assert p["counters"]["bandwidth"] > 0
assert d4["tasks"]["req_out"] == p["slices"]["request"] and d4["tasks"]["req_in"] == p["slices"]["service"]
for kind, count in expected.items():
    assert p["slices"][kind] == count > 0, (kind, p["slices"], count)
assert states <= {n.split(":")[1] for n in p["names"] if n.startswith("stall:")}, p["names"]
assert p["last_active"] and not any(p["last_active"]), "warps are active at the end"
for d in d4, d5:
    assert d["tasks"]["work-group"] == expected["group"] and d["tasks"]["wavefront"] == expected["warp"]
    assert d["tasks"]["Driver Command"] == expected["kernel"] + expected.get("copy", 0)
assert d4["tasks"] == d5["tasks"] and d4["milestones"] == d5["milestones"]
assert abs(d4["end"] - d5["end"]) < 1
PY
done

# --- Konata: every instruction of a core ---
for threads in 1 3; do
    run 0 "${nvidia[@]}" -j "$threads" --timeline "$threads.kanata" --timeline-filter block=gpu0.core1 -o k.json
    cmp -s 1.kanata "$threads.kanata" || fail "Kanata differs with $threads threads"
done
python - <<'PY' || fail 'Kanata is wrong'
import json
import timeline_kanata
k = timeline_kanata.check("1.kanata")
core = json.load(open("k.json"))["values"]["blocks"]["gpu0.core1"]
assert k["instructions"] == core["warp_instructions"] > 0 and k["flushed"] == 0
assert k["stages"]["Is"] == k["instructions"] == k["stages"]["Ex"] + k["stages"]["Mm"] and k["labels"]["LDG"] > 0
PY
refused 2 'but 46 fit: add --timeline-filter block=gpu0.core0' "${nvidia[@]}" --timeline x.kanata
refused 2 'only cores of NVIDIA GPUs' "${amd[@]}" --timeline x.kanata

# --- filters ---
filtered() { # PYTHON FILTER...
    local test=$1 filters=()
    shift
    for filter in "$@"; do filters+=(--timeline-filter "$filter"); done
    run 0 "${nvidia[@]}" --timeline f.pftrace "${filters[@]}"
    python -c "
import timeline_perfetto
p = timeline_perfetto.check('f.pftrace'); s = p['slices']
assert $test, (s, p['begin'], p['end'])" || fail "filter $*"
}
filtered "s['kernel'] == 1 and s['group'] == 1 and s['warp'] == 8" kernel=2
filtered "s['kernel'] == 2 and s['group'] == 65" 'kernel=*reduce*'
filtered "set(s) == {'warp', 'stall'} and s['warp'] == 520" kind=stall
filtered "set(s) == {'kernel', 'group'} and s['group'] == 65" kind=kernel,group
filtered "s['group'] == 17 and s['warp'] == 136" every=4
filtered "s['group'] == 2 and not any('core1' == t for t in p['tracks'])" block=gpu0.core0
filtered "1500 <= p['begin'] and p['end'] <= 2000 and s['stall'] > 0" time=1.5us-2us
filtered "p['end'] > 2000000" unit=ps
run 0 "${nvidia[@]}" --timeline f.pftrace --timeline-filter kernel=nothing --timeline-filter block=gpu7.core0
grep -q 'warning: --timeline-filter kernel=nothing: no kernel of the run has this name' stderr || fail 'no word about the kernel'
grep -q 'warning: --timeline-filter block=gpu7.core0: the machine has no block of this name' stderr || fail 'no word about the block'
run 0 "${nvidia[@]}" --timeline f.pftrace --timeline-filter time=1s-
grep -q 'nothing was recorded in this time' stderr || fail 'no word about the time'

# --- mistakes, and runs that end early ---
refused 2 "there is no kind 'wrap' (nearest: warp)" "${nvidia[@]}" --timeline x.json --timeline-filter kind=wrap
refused 2 'is no filter' "${nvidia[@]}" --timeline x.json --timeline-filter what
refused 2 "is no range" "${nvidia[@]}" --timeline x.json --timeline-filter time=3us
refused 2 'cannot tell the format' "${nvidia[@]}" --timeline x.txt
refused 2 'has no effect without --timeline' "${nvidia[@]}" --timeline-filter kind=warp
run 2 "${nvidia[@]}" --timeline missing/x.json
[[ -z $(find . -name '*x.json*' -o -name '*x.kanata*' -o -name '*.tmp') ]] || fail 'something half-written is left'
run 0 "${nvidia[@]}" --until 1500ns --timeline part.pftrace
run 0 "${nvidia[@]}" --until 1500ns --timeline part.sqlite3
python -c "
import timeline_daisen, timeline_perfetto
p = timeline_perfetto.check('part.pftrace')
assert p['slices']['kernel'] >= 1 and p['end'] <= 1600 and any(p['last_active']), p
timeline_daisen.check('part.sqlite3', 4)" || fail 'a part of a run is wrong'
