"""Decodes a Perfetto trace from the wire format alone and checks it: packets, tracks, nesting, flows, counters.

Prints a JSON summary: slices by category, tracks, flows, counters."""
import collections
import json
import struct
import sys


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    """A message as {field: [values]}: ints of varints and fixed ones, bytes of the rest."""
    at, out = 0, collections.defaultdict(list)
    while at < len(data):
        key, at = varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 1:
            value = struct.unpack_from("<Q", data, at)[0]
            at += 8
        elif wire == 2:
            size, at = varint(data, at)
            assert at + size <= len(data), "a field is longer than its message"
            value = data[at:at + size]
            at += size
        else:
            raise AssertionError(f"wire type {wire}")
        out[number].append(value)
    assert at == len(data), "trailing bytes"
    return out


def read(path):
    tracks, events = {}, []
    with open(path, "rb") as file:
        trace = fields(file.read())
    assert set(trace) <= {1}, f"fields of Trace: {set(trace)}"
    for number, raw in enumerate(trace[1]):
        packet = fields(raw)
        assert packet[10] == [1], "packets belong to one sequence"
        assert (packet[13] == [1]) == (number == 0), "the first packet alone clears the state"
        if 60 in packet:
            track = fields(packet[60][0])
            uuid = track[1][0]
            assert uuid not in tracks, "a track is described twice"
            name = track[2][0].decode() if track[2] else fields(track[3][0])[6][0].decode()
            parent = track[5][0] if track[5] else None
            assert parent is None or parent in tracks, "a parent comes first"
            tracks[uuid] = {"name": name, "parent": parent, "counter": bool(track[8]), "process": bool(track[3])}
        else:
            event = fields(packet[11][0])
            events.append((packet[8][0], number, event))
    return tracks, events


def check(path):
    tracks, events = read(path)
    kinds, stacks, flows, last = collections.Counter(), collections.defaultdict(list), {}, {}
    counters = collections.defaultdict(list)
    slices = []
    begun = False
    for time, _, event in sorted(events, key=lambda e: (e[0], e[1])):
        kind, track = event[9][0], event[11][0]
        assert track in tracks, f"no track {track}"
        assert tracks[track]["counter"] == (kind == 4), "a counter on a track of slices"
        assert last.get(track, 0) <= time
        last[track] = time
        if kind == 1:
            begun = True
            name, category = event[23][0].decode(), event[22][0].decode()
            kinds[category] += 1
            stacks[track].append((time, name, category))
            for flow in event[47]:
                flows.setdefault(flow, []).append(("on", track))
            for flow in event[48]:
                assert flow in flows, "a flow ends before it begins"
                flows[flow].append(("end", track))
        elif kind == 2:
            assert stacks[track], "an end without a begin"
            begin, name, category = stacks[track].pop()
            assert begin <= time
            slices.append((track, begin, time, name, category, len(stacks[track])))
        else:
            counters[track].append((time, struct.unpack("<d", struct.pack("<Q", event[44][0]))[0]))
    assert all(not stack for stack in stacks.values()), "a slice without an end"
    assert all(depth <= 1 for *_, depth in slices), "at most a state or stage in its slice"
    for category in ("stall", "stage"):
        assert all(depth == 1 for *_, c, depth in slices if c == category), f"a {category} outside of its slice"
    assert begun or not events
    for track, values in counters.items():
        assert all(value >= 0 for _, value in values), "a counter below 0"
        assert all(a[0] <= b[0] for a, b in zip(values, values[1:]))
    return {
        "slices": dict(kinds),
        "names": collections.Counter(f"{c}:{n}" for _, _, _, n, c, _ in slices if c in ("stall", "stage", "kernel", "copy")),
        "tracks": [t["name"] for t in tracks.values()],
        "processes": [t["name"] for t in tracks.values() if t["process"]],
        "flows": len(flows),
        "flows_with_reply": sum(f[-1][0] == "end" for f in flows.values()),
        "flows_across": sum(len({t for _, t in f}) > 1 for f in flows.values()),
        "counters": {tracks[t]["name"]: max(v for _, v in values) for t, values in counters.items()},
        "last_active": [values[-1][1] for t, values in counters.items() if tracks[t]["name"].startswith("active")],
        "begin": min((s[1] for s in slices), default=None),
        "end": max((s[2] for s in slices), default=None),
    }


if __name__ == "__main__":
    json.dump(check(sys.argv[1]), sys.stdout)
