"""Reads the timeline inside of a page and checks it: columns, rows, parents, order, nesting. Decodes the numbers by itself.

Prints a JSON summary like that of timeline_perfetto.py, with the bytes of a span."""
import base64
import bisect
import collections
import json
import re
import sys

PARTS = ["whole", "stall", "stage", "service"]


def numbers(text):
    value = shift = 0
    for byte in base64.b64decode(text, validate=True):
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            yield value
            value = shift = 0
    assert shift == 0, "a column ends inside of a number"


def signed(text):
    for value in numbers(text):
        yield -(value + 1) // 2 if value & 1 else value // 2


def data_of(path):
    with open(path, encoding="utf-8") as file:
        found = re.findall(r'<script type="application/json" id="timeline-data">(.*?)</script>', file.read(), re.S)
    assert len(found) == 1, f"{path} has {len(found)} timelines"
    return found[0], json.loads(found[0])


def spans_of(data):
    columns = data["columns"]
    gap, value, parent = (signed(columns[c]) for c in ("gap", "value", "parent"))
    length, label, extra = (numbers(columns[c]) for c in ("length", "label", "numbers"))
    out = []
    for row, (process, block, word, name, *counts) in enumerate(data["rows"]):
        amount = 0
        for depth, count in enumerate(counts):
            end = 0
            for _ in range(count):
                text, kind, part, marks, value_name, _, has_parent = data["labels"][next(label)]
                begin = end + next(gap)
                assert begin >= end, "spans of a row overlap"
                end = begin + next(length)
                for _ in range(marks):
                    text = text.replace("#", str(next(extra)), 1)
                if value_name is not None:
                    amount += next(value)
                distance = next(parent) if has_parent else 0
                part = PARTS[part]
                category = data["kinds"][kind] if part == "whole" else part
                assert (depth == 1) == (part in ("stall", "stage")), "states and stages lie inside"
                out.append({"row": row, "begin": begin, "end": end, "name": text, "category": category, "depth": depth,
                            "parent": len(out) - distance if distance else None,
                            "value": amount if value_name is not None else None})
    for column in (gap, value, parent, length, label, extra):
        assert next(column, None) is None, "a column is longer than its spans"
    return out


def check(path):
    text, data = data_of(path)
    assert data["version"] == 1
    spans = spans_of(data)
    assert len(spans) == data["spans"]
    outer = collections.defaultdict(list)
    for span in spans:
        assert span["end"] <= data["end_ps"] + 1
        if span["depth"] == 0:
            outer[span["row"]].append((span["begin"], span["end"]))
        else:
            at = bisect.bisect_right(outer[span["row"]], (span["begin"], float("inf"))) - 1
            # One that begins when another one ends may belong to either.
            assert any(b <= span["begin"] and span["end"] <= e for b, e in outer[span["row"]][max(0, at - 1):at + 1]), \
                "a part outside of its span"
        if span["parent"] is not None:
            above = spans[span["parent"]]
            assert above["begin"] <= span["begin"] and span["end"] <= above["end"], "a part outlives its parent"
            assert (above["category"], span["category"]) in {("kernel", "group"), ("request", "service"),
                                                             ("transfer", "service"), ("migration", "service")}
    for counter in data["counters"]:
        points = list(numbers(counter["points"]))
        assert len(points) == 2 * counter["count"]
    return {
        "slices": dict(collections.Counter(s["category"] for s in spans)),
        "names": collections.Counter(f"{s['category']}:{s['name']}" for s in spans),
        "left_out": data["left_out"],
        "bytes_per_span": len(text) / max(len(spans), 1),
        "processes": sorted({row[0] for row in data["rows"]}),
        "values": {f"{s['category']}:{s['name']}": s["value"] for s in spans if s["value"] is not None},
    }


if __name__ == "__main__":
    json.dump(check(sys.argv[1]), sys.stdout)
