"""Checks counts per instruction of a result: source_check.py RESULTS.json [TRACE.jsonl]. Their sums are the counters of the
run; with a trace of the emulated program the executions of every instruction are those of the emulator.
`--sums A.json ...`: the first for several. `--same A.json B.json ...`: all have the same counts. `--plain A.json B.json`: the same apart from counts per instruction and
the host. `--executed BOTH.json ALONE.json`: executions, lanes, bytes and requests of a kernel beside another
one are those of the kernel alone. `--csv RESULTS.json FILE.csv`: the file has the same rows."""

import collections
import csv
import json
import sys

FIXED = ["executed", "lanes", "bytes", "requests", "hits", "conflicts"]
# Counter of cores, counter of compute units. Hits are of loads alone, and only cores count them.
SUMS = {"executed": ("warp_instructions", "instructions"), "lanes": ("thread_instructions", "lanes"),
        "bytes": ("memory_bytes", "vector_bytes"), "requests": ("memory_sectors", "vector_lines"),
        "conflicts": ("bank_conflict_cycles", "lds_conflict_cycles")}


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def rows(source):
    for kernel in source["kernels"]:
        for inst in kernel["instructions"]:
            yield kernel, inst, dict(zip(source["columns"], inst["counts"]))


def counter(result, name):
    """Of all blocks of slot core or cu."""
    total = 0
    for kind, metrics in result["values"]["types"].items():
        if kind.split("/")[0] in ("core", "cu"):
            value = metrics[name]
            total += value["value"] if isinstance(value, dict) else value
    return total


def check_sums(result):
    source = result["source"]
    amd = source["machine"] == "amd"
    total = collections.Counter()
    for kernel, inst, counts in rows(source):
        assert len(inst["counts"]) == len(source["columns"]), inst
        assert inst["text"], f"no text at {inst['pc']:#x}"
        assert any(inst["counts"]), f"{kernel['name']}+{inst['pc']:#x} has no counts"
        total.update(counts)
    for name, (core, cu) in SUMS.items():
        want = counter(result, cu if amd else core)
        assert total[name] == want, f"{name}: {total[name]} of instructions, {want} of the run"
    stalls = [c for c in source["columns"] if c.startswith("stall_")]
    assert len(stalls) == (13 if amd else 9), stalls
    for name in stalls:
        want = 0 if name == "stall_idle" else counter(result, name)  # no warp is there: it belongs to no instruction
        assert total[name] == want, f"{name}: {total[name]} of instructions, {want} of the run"
    assert sum(total[s] for s in stalls) > 0, "nothing stalled"
    if not amd:
        assert total["hits"] <= counter(result, "l1_hits"), "more hits of loads than of all accesses"
    assert sum(k["launches"] for k in source["kernels"]) == len([k for k in result["kernels"] if not k.get("shared")])
    for kernel in source["kernels"]:
        pcs = [i["pc"] for i in kernel["instructions"]]
        assert pcs == sorted(set(pcs)), "instructions are not in the order of addresses"


def check_emulated(result, trace):
    emulated, texts = collections.Counter(), {}
    with open(trace, encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            if "pc" in record:
                emulated[record["pc"]] += 1
                texts[record["pc"]] = record["text"]
    timed = {f"{k['name']}+{i['pc']:#x}": (c["executed"], i["text"]) for k, i, c in rows(result["source"]) if c["executed"]}
    assert len(emulated) > 5
    assert {pc: (n, texts[pc]) for pc, n in emulated.items()} == timed, "the emulator executes other instructions"


def plain(result):
    """Without the engine's own counts: a compute unit that counts runs cycles that it would skip."""
    out = {k: v for k, v in result.items() if k not in ("source", "host")}
    out["run"] = {k: v for k, v in out["run"].items() if k != "engine"}
    return out


def check_csv(result, path):
    source = result["source"]
    with open(path, encoding="utf-8", newline="") as file:
        read = list(csv.DictReader(file))
    want = list(rows(source))
    assert len(read) == len(want)
    for row, (kernel, inst, counts) in zip(read, want):
        assert (row["kernel"], int(row["pc"]), row["instruction"]) == (kernel["name"], inst["pc"], inst["text"])
        assert {c: int(row[c]) for c in source["columns"]} == counts
        assert int(row["request_bytes"]) == source["request_bytes"] and int(row["launches"]) == kernel["launches"]


def main(args):
    if args[0] == "--same":
        first = load(args[1])["source"]
        for path in args[2:]:
            assert load(path)["source"] == first, f"the counts of {path} differ"
    elif args[0] == "--sums":
        for path in args[1:]:
            check_sums(load(path))
    elif args[0] == "--plain":
        assert plain(load(args[1])) == plain(load(args[2])), "counting changes other results"
    elif args[0] == "--executed":
        both, alone = ({k["name"]: [(i["pc"], i["counts"][:4]) for i in k["instructions"]] for k in load(path)["source"]["kernels"]}
                       for path in args[1:])
        assert len(both) == 2 and len(alone) == 1
        for name, counts in alone.items():
            assert both[name] == counts, f"{name} executes other instructions beside another kernel"
    elif args[0] == "--csv":
        check_sums(load(args[1]))
        check_csv(load(args[1]), args[2])
    else:
        result = load(args[0])
        check_sums(result)
        if len(args) > 1:
            check_emulated(result, args[1])


main(sys.argv[1:])
