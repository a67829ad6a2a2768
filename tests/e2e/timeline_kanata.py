"""Reads Kanata text and checks it: header, cycles that never go back, sequential ids, an R for each I, stages of live ones.

Prints a JSON summary: instructions, flushed ones, threads, stages, cycles."""
import collections
import json
import sys


def check(path):
    lines = open(path).read().splitlines()
    assert lines[0] == "Kanata\t0004", lines[0]
    cycle, first = None, None
    live, threads, stages = {}, set(), collections.Counter()
    begun = retired = flushed = 0
    labels = collections.Counter()
    for line in lines[1:]:
        kind, *rest = line.split("\t")
        if kind == "C=":
            assert cycle is None, "C= comes once"
            cycle = first = int(rest[0])
            continue
        assert cycle is not None, "C= comes first"
        if kind == "C":
            assert int(rest[0]) > 0, "cycles never go back"
            cycle += int(rest[0])
            continue
        number = int(rest[0])
        if kind == "I":
            assert number == begun, "ids are sequential"
            begun += 1
            live[number] = []
            threads.add(int(rest[2]))
            continue
        assert number in live, f"{kind} of an instruction that is not there"
        if kind == "L":
            assert rest[1] in "012" and rest[2]
            labels[rest[2].split(": ")[-1]] += rest[1] == "0"
        elif kind == "S":
            stages[rest[2]] += 1
            live[number].append(rest[2])
        elif kind == "R":
            assert rest[2] in "01"
            assert live.pop(number), "an instruction without a stage"
            if rest[2] == "1":
                flushed += 1
            else:
                assert int(rest[1]) == retired, "retire ids are sequential"
                retired += 1
        else:
            raise AssertionError(f"a line of kind {kind}")
    assert not live, "an I without an R"
    return {"instructions": begun, "flushed": flushed, "threads": len(threads), "stages": stages, "labels": labels,
            "cycles": cycle - first if cycle is not None else 0}


if __name__ == "__main__":
    json.dump(check(sys.argv[1]), sys.stdout)
