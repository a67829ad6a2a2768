"""Reads a Chrome JSON trace and checks it: phases, durations, nesting by track, balanced flows, counters.

Prints a JSON summary like that of timeline_perfetto.py."""
import collections
import gzip
import json
import sys


def check(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt") as file:
        trace = json.load(file)
    assert trace["otherData"]["writer"] == "lockstep timeline"
    kinds, names, flows, counters = collections.Counter(), {}, collections.defaultdict(list), collections.Counter()
    tracks, open_ = collections.defaultdict(list), collections.defaultdict(list)
    for event in trace["traceEvents"]:
        phase = event["ph"]
        assert phase in "BEXMCstf", phase
        if phase == "M":
            names[event["name"], event["pid"], event.get("tid")] = event["args"]
            continue
        time = event["ts"]
        assert time >= 0
        key = event["pid"], event.get("tid")
        if phase == "C":
            (value,) = event["args"].values()
            assert value >= 0
            counters[event["name"]] = max(counters[event["name"]], value)
            continue
        assert ("thread_name", *key) in names, "a track without a name"
        if phase in "stf":
            flows[event["id"]].append((phase, time))
            assert (event.get("bp") == "e") == (phase == "f")
            continue
        if phase == "B":
            open_[key].append(event)
        elif phase == "E":
            begin = open_[key].pop()
            tracks[key].append((begin["ts"], time, begin["name"]))
            kinds[begin["cat"]] += 1
        else:
            assert event["dur"] >= 0
            tracks[key].append((time, time + event["dur"], event["name"]))
            kinds[event["cat"]] += 1
    assert not any(open_.values()), "a B without an E"
    for slices in tracks.values():
        stack = []
        for begin, end, _ in sorted(slices, key=lambda s: (s[0], -s[1])):
            while stack and stack[-1] <= begin + 1e-9:
                stack.pop()
            assert not stack or end <= stack[-1] + 1e-6, "slices that overlap without nesting"
            stack.append(end)
    for steps in flows.values():
        phases = "".join(phase for phase, _ in steps)
        assert phases[0] == "s" and phases[-1] == "f" and set(phases[1:-1]) == {"t"}, phases[:99]
    return {"slices": dict(kinds), "flows": len(flows), "counters": counters}


if __name__ == "__main__":
    json.dump(check(sys.argv[1]), sys.stdout)
