#!/usr/bin/env bash
# Timelines of several GPUs: messages on the fabric, pages that move, copies and remote requests, in every format and as a
# page, with the counts of the run's own counters; the same bits for any number of threads.
# shellcheck source=lib.bash
source "$(dirname "$0")/lib.bash"

readers=$SOURCE_DIR/tests/e2e
python() { PYTHONPATH=$readers python3 "$@"; }

# all_formats NAME COMMAND...: 1.NAME.EXT of each format and NAME.json; other numbers of threads give the same.
all_formats() {
    local name=$1 file more threads
    shift
    run 0 "$@" --timeline "1.$name.pftrace" --html "$name.report.html" -o "$name.json"
    for file in json sqlite3 html; do run 0 "$@" --timeline "1.$name.$file"; done
    run 0 "$@" --timeline "1.$name.db.sqlite3" --timeline-format daisen5
    for threads in 2 3 8; do
        more=(pftrace)
        ((threads != 3)) || more=(html)
        run 0 "$@" -j "$threads" --timeline "$threads.$name.${more[0]}"
        cmp -s "1.$name.${more[0]}" "$threads.$name.${more[0]}" || fail "$name differs with $threads threads"
    done
}

# check_formats NAME: all readers find the same. The report has the spans of the page.
cat >same.py <<'PY'
import timeline_chrome, timeline_daisen, timeline_page, timeline_perfetto
def same(name):
    p = timeline_perfetto.check(f"1.{name}.pftrace")
    c = timeline_chrome.check(f"1.{name}.json")
    h = timeline_page.check(f"1.{name}.html")
    assert p["slices"] == c["slices"] == h["slices"], (p["slices"], c["slices"], h["slices"])
    assert timeline_page.data_of(f"1.{name}.html")[0] == timeline_page.data_of(f"{name}.report.html")[0]
    d4, d5 = timeline_daisen.check(f"1.{name}.sqlite3", 4), timeline_daisen.check(f"1.{name}.db.sqlite3", 5)
    assert d4["tasks"] == d5["tasks"] and d4["milestones"] == d5["milestones"]
    assert h["left_out"] == 0 and h["bytes_per_span"] < 40, h["bytes_per_span"]
    return p, h, d4
PY
cp "$readers"/timeline_*.py .

# --- AMD: pages that move, over a fabric with switches ---
all_formats amd run fir -p r9nano-x4 --devices unified -s gpus.clusters=1 --size 256 -s migrate.model=page
python - <<'PY' || fail 'the timeline of four AMD GPUs is wrong'
import json
from same import same
p, h, d = same("amd")
values = json.load(open("amd.json"))["values"]["types"]
messages = {k[:-9]: v for k, v in values["fabric.switch/cut-through"].items() if k.endswith("_messages")}
told = {}
for name, count in h["names"].items():
    if name.startswith("transfer:"):
        told[name[9:].split(",")[0]] = told.get(name[9:].split(",")[0], 0) + count
assert told == {k: v for k, v in messages.items() if v}, (told, messages)
assert {"walk", "invalidate", "migrate", "copy"} <= set(told)
assert any(n.startswith("transfer:migrate, ") and n.endswith("to gpu0") for n in h["names"]), h["names"]
directory = next(v for k, v in values.items() if k.startswith("migrate.directory"))
pages = sum(c for n, c in h["names"].items() if n.startswith("migration:move page"))
assert pages == directory["migrations"] > 0, (pages, directory["migrations"])
questions = sum(c for n, c in h["names"].items() if n.startswith("migration:question"))
assert questions == directory["asks"] > 0
assert p["names"]["stage:directory"] == p["names"]["stage:grant"] == questions
assert p["names"]["stage:pieces"] == pages == p["names"]["stage:shootdown"], p["names"]
assert p["names"]["stage:host walk"] > 0 and p["names"]["stage:translation"] > 0
links = sum(values["fabric.switch/cut-through"][k] for k in values["fabric.switch/cut-through"] if k.endswith("_hops"))
assert p["names"]["stage:link"] == links == d["tasks"]["flit"], (p["names"]["stage:link"], links)
assert d["tasks"]["msg_e2e"] == sum(told.values()) and d["tasks"]["migration"] == pages + questions + sum(
    c for n, c in h["names"].items() if n.startswith("migration:") and "question" not in n and "move" not in n)
assert set(p["processes"]) >= {"gpu0", "gpu3", "fabric"}, p["processes"]
PY

# --- AMD: every miss of an L1 TLB and of a cache is told ---
run 0 run fir -p r9nano --size 512 -s clusters=2 --timeline one.pftrace -o one.json
python - <<'PY' || fail 'stages of AMD requests do not agree with the counters'
import json
import timeline_perfetto
names = timeline_perfetto.check("one.pftrace")["names"]
values = json.load(open("one.json"))["values"]["types"]
tlb = next(v for k, v in values.items() if k == "tlb/cycle")
mmu = next(v for k, v in values.items() if k.startswith("mmu/"))
caches = [v for k, v in values.items() if {"read_misses", "read_mshr_hits"} <= set(v)]
assert 0 < names["stage:translation"] <= tlb["misses"] + tlb["mshr_hits"], (names, tlb)
assert 0 < names["stage:page walk"] <= names["stage:l2 tlb"] <= tlb["misses"]
assert names["stage:page walk"] <= mmu["misses"] + mmu["mshr_hits"]
assert 0 < names["stage:mshr"] <= sum(c["read_mshr_hits"] + c["write_mshr_hits"] for c in caches)
assert 0 < names["stage:miss"] <= sum(c["read_misses"] + c["write_misses"] for c in caches)
PY

# --- NVIDIA: requests to another GPU, from L1 and behind L2; copies of its engine ---
cat >pair.yaml <<'YAML'
machine: system
gpus:
  - {platform: rtx3070, count: 2, cores: 2, memory.channels: 2}
fabric: {model: full, links: 2, link_gb_s: 50, queue_messages: 256}
YAML
printf '0x7f0000000000 0x100000000 1\n' >ranges
printf '%s\n' 'lockstep devices 1' 'owners ranges' 'device 0' 'run synth:vector-add,n=512' 'copy 4096 0 1' 'device 1' \
    'run synth:vector-add,n=256' >pair.list
all_formats nvidia run pair.list -p ./pair.yaml
run 0 run pair.list -p ./pair.yaml -s gpus.rdma.at=memory -s gpus.rdma.cache=read-only --timeline behind.pftrace -o behind.json
python - <<'PY' || fail 'the timeline of two NVIDIA GPUs is wrong'
import json
import timeline_perfetto
from same import same
p, h, d = same("nvidia")
values = json.load(open("nvidia.json"))["values"]["types"]
peer = next(v for k, v in values.items() if k.startswith("peer/"))
assert p["flows"] == p["flows_with_reply"] == values["core/cycle"]["requests_sent"]
assert p["names"]["copy:GPU to GPU"] == peer["copies"] == 1 and h["values"]["copy:GPU to GPU"] == 4096
assert p["names"]["stage:remote"] == peer["sectors"] > 0, (p["names"], peer["sectors"])
assert sum(c for n, c in h["names"].items() if n.startswith("transfer:copy, gpu0 to gpu1")) == peer["copy_packets"]
assert p["slices"]["request"] == values["core/cycle"]["requests_sent"]
b = timeline_perfetto.check("behind.pftrace")["names"]
remote = next(v for k, v in json.load(open("behind.json"))["values"]["types"].items() if "remote" in k and "passed" in v)
assert 0 < b["stage:remote"] <= remote["requests"] and b["stage:remote"] >= remote["reads_out"] > 0, (b, remote)
PY

# --- filters ---
run 0 run fir -p r9nano-x4 --devices unified -s gpus.clusters=1 --size 1024 --timeline f.pftrace --timeline-filter kind=transfer
python -c "
import timeline_perfetto
s = timeline_perfetto.check('f.pftrace')['slices']
assert set(s) == {'transfer', 'stage', 'service'}, s" || fail 'kind=transfer'
run 0 run fir -p r9nano-x4 --devices unified -s gpus.clusters=1 --size 1024 --timeline f.pftrace \
    --timeline-filter kind=transfer --timeline-filter block=fabric.gpu2
python -c "
import timeline_perfetto
p = timeline_perfetto.check('f.pftrace')
assert p['slices']['transfer'] > 0 and 'gpu2' in p['tracks'] and 'gpu1' not in p['tracks'], p['tracks']" || fail 'block=fabric.gpu2'

# --- pages: mistakes ---
refused 2 "would both write 'x.html': the report has the timeline inside" run fir -p r9nano --size 512 --timeline x.html --html x.html
refused 2 'nearest: html' run fir -p r9nano --size 512 --timeline x.json --timeline-format htm
[[ ! -e x.html && ! -e x.json ]] || fail 'something half-written is left'
