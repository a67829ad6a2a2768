"""Checks a report: report_check.py FILE.html [RESULTS.json ...]. The page is well formed, loads nothing, has its data as JSON,
and the data has the numbers of the results. `--data FILE.html` prints the data without facts of the host."""

import functools
import html.parser
import json
import re
import subprocess
import sys

VOID = {"meta", "link", "br", "hr", "img", "input", "col", "wbr"}


class Page(html.parser.HTMLParser):
    """Counts open elements, and keeps the text of scripts."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.scripts, self.seen, self.problems = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        for name, value in attrs:
            if name in ("src", "href") and value and not value.startswith(("#", "data:")):
                self.problems.append(f"<{tag}> loads {value}")
        if tag not in VOID:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append([dict(attrs), ""])

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            self.problems.append(f"</{tag}> closes {self.open[-1:]} in line {self.getpos()[0]}")
        else:
            self.open.pop()

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts[-1][1] += data


def read(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    page = Page()
    page.feed(text)
    page.close()
    data = [s for s in page.scripts if s[0].get("id") == "data"]
    assert len(data) == 1, "there is not one script with data"
    return text, page, json.loads(data[0][1])


def check_page(text, page):
    assert not page.problems, page.problems
    assert not page.open, f"not closed: {page.open}"
    for tag in ("header", "nav", "main", "h1", "style", "title"):
        assert page.seen.count(tag) == 1, f"there are {page.seen.count(tag)} <{tag}>"
    outside = text[: text.index('id="data"')] + text[text.index("</script>") :]
    assert not re.search(r"https?://", outside), "the page names an address"
    assert not re.search(r"url\(|@import|fetch\(|XMLHttpRequest", outside), "the page loads something"


def number(value):
    return value["value"] if isinstance(value, dict) and "value" in value else value


def near(a, b):
    return a == b or (a is not None and b is not None and abs(a - b) <= 1e-6 * max(abs(a), abs(b)))


@functools.lru_cache(maxsize=None)
def plain(name):
    """As the source spells it, without parameters: by binutils, which comes with the compiler."""
    return subprocess.run(["c++filt", "-p", name], capture_output=True, text=True, check=True).stdout.strip()


def check_result(shown, result):
    """Every number of the report is that of the result; numbers that are left out are zero."""
    assert shown["platform"] == result["run"]["platform"]
    assert near(shown["end_ns"], result["run"]["end_time_fs"] / 1e6)
    checked = 0
    for kind, metrics in result["values"]["types"].items():
        names = [m[0] for m in shown["metrics"].get(kind, [])]
        for name, value in metrics.items():
            value = number(value)
            if isinstance(value, dict):  # a histogram
                buckets = shown["buckets"].get(f"{kind}.{name}", [])
                assert {str(b): n for b, n in buckets} == value["buckets"], f"buckets of {kind}.{name}"
            elif name in names:
                assert near(shown["run"][kind][names.index(name)], value), f"{kind}.{name}"
                checked += 1
            else:
                assert not value, f"{kind}.{name} is missing"
    kernels = shown["kernels"]
    assert len(kernels["id"]) == len(result["kernels"])
    for i, kernel in enumerate(result["kernels"]):
        assert kernels["names"][kernels["name"][i]] == plain(kernel["name"])
        assert kernels["id"][i] == kernel["kernel"] and kernels["cycles"][i] == kernel.get("cycles", 0)
        assert near(kernels["ns"][i], (kernel["end_fs"] - kernel["begin_fs"]) / 1e6)
        for kind, values in kernel["types"].items():
            have = kernels["values"][i].get(kind, [])
            names = [m[0] for m in shown["metrics"].get(kind, [])]
            for name, value in zip(result["columns"][kind], values):
                if name in names and value is not None:
                    at = names.index(name)
                    assert near(have[at] if at < len(have) else 0, value), f"kernel {i}: {kind}.{name}"
                    checked += 1
    assert checked > 20, "almost nothing was compared"
    for block, values in [(b, v) for kind in shown["blocks"].values() for b, v in zip(kind["paths"], zip(*list(kind.values())[1:]))]:
        for name, value in zip([n for n in next(k for k in shown["blocks"].values() if block in k["paths"]) if n != "paths"], values):
            assert near(value, number(result["values"]["blocks"][block][name])), f"{block}.{name}"
    if "series" in result:
        assert len(shown["series"]["columns"][0]["values"]) <= 256
        for column in shown["series"]["columns"]:
            at = next(i for i, c in enumerate(result["series"]["columns"])
                      if (c.get("gpu", -1), c["type"], c["name"]) == (column["gpu"], column["type"], column["name"]))
            if result["series"]["columns"][at]["kind"] == "counter":
                assert sum(column["values"]) == sum(v or 0 for v in result["series"]["values"][at]), column["name"]
    assert ("source" in shown) == ("source" in result)
    if "source" in result:
        check_source(shown["source"], result["source"])


def check_source(shown, result):
    """Rows of the page are the costliest instructions of the result, with its numbers; a row ends with its last stall."""
    want = {plain(k["name"]): k for k in result["kernels"]}
    reasons = [c[6:] for c in result["columns"] if c.startswith("stall_")]
    assert shown["reasons"] == reasons and shown["request_bytes"] == result["request_bytes"]
    cost = lambda counts: counts[0] + sum(counts[6:])
    total = 0
    for kernel in shown["kernels"]:
        of = want[kernel["name"]]
        by_pc = {i["pc"]: i for i in of["instructions"]}
        assert kernel["launches"] == of["launches"] and kernel["instructions"] == len(of["instructions"])
        assert kernel["cost"] == sum(cost(i["counts"]) for i in of["instructions"])
        for row in kernel["rows"]:
            inst = by_pc.pop(row[0])
            assert row[1] == inst["text"] and row[4:] + [0] * (10 + len(reasons) - len(row)) == inst["counts"], row
            assert row[2] < 0 or shown["files"][row[2]] == inst["file"] and row[3] == inst["line"]
        least = min((cost(r[4:]) for r in kernel["rows"]), default=0)
        assert all(cost(i["counts"]) <= least for i in by_pc.values()), "a costlier instruction is left out"
        assert [r[0] for r in kernel["rows"]] == sorted(r[0] for r in kernel["rows"])
        assert len(kernel["rows"]) <= 600
        total += len(kernel["rows"])
    assert total <= 3000 and len(shown["kernels"]) + shown["kernels_left_out"] == len(result["kernels"])
    costs = [k["cost"] for k in shown["kernels"]]
    assert costs == sorted(costs, reverse=True), "the costliest kernel is not the first"


def without_host(node):
    if isinstance(node, dict):
        return {k: without_host(v) for k, v in node.items() if k not in ("host", "label", "title")}
    return [without_host(v) for v in node] if isinstance(node, list) else node


def main():
    if sys.argv[1] == "--data":
        json.dump(without_host(read(sys.argv[2])[2]), sys.stdout, indent=0)
        return
    text, page, data = read(sys.argv[1])
    check_page(text, page)
    assert data["format"] == "lockstep-report" and data["version"] == 1
    assert len(data["results"]) == len(sys.argv) - 2 or len(sys.argv) == 2
    for shown, path in zip(data["results"], sys.argv[2:]):
        with open(path, encoding="utf-8") as file:
            check_result(shown, json.load(file))


main()
