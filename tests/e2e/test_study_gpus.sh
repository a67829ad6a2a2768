#!/usr/bin/env bash
# Studies of several GPUs: speed, bytes between GPUs, claims of the literature, the same for any number of threads.
# shellcheck source=lib.bash
source "${BASH_SOURCE[0]%/*}/lib.bash"

run 0 study
says 'mgpusim-9-large'

small=(study mgpusim-9 -w aes:16384 -w fir:16384 -w matrixtranspose:64)
for threads in 1 3; do
    run 0 "${small[@]}" -j "$threads" --out "rows$threads.csv" --html page.html
done
cmp rows1.csv rows3.csv || fail "threads change the rows"
says 'agrees   traffic of Locality API over unified: none         AES 0.00'
grep -q 'Bytes between GPUs' page.html || fail "the page has no bars of traffic"
grep -q 'Locality API well above unified' page.html || fail "the page has no claims"

# One GPU and a monolithic one send nothing, a unified device does; a message takes at least one link.
awk -F, 'NR > 1 {
    n++
    if (($3 == "unified") != ($15 > 0) && $3 != "Locality API") exit 1
    if ($2 == "AES" && $3 == "Locality API" && $15 != 0) exit 1
    if ($16 < $15) exit 1
} END { exit n != 12 }' rows1.csv || fail "bytes between GPUs are not those of the configurations"

# The tables of docs/studies.md have the study's workloads and sizes, and their means are those of their rows. Its console
# block is run by e2e/test_readme.
python3 - "$SOURCE_DIR" <<'PY' || fail "docs/studies.md has other tables than the studies"
import math, re, sys
rows = re.findall(r'WORKLOAD\("(\w+)", "\w+", \d+, \d+, (\d+), (\d+)\)', open(sys.argv[1] + "/src/cli/study/studies.def").read())
text = open(sys.argv[1] + "/docs/studies.md").read()
tables = re.findall(r"\| workload \| size \| monolithic \| unified \| Locality API \|.*?\n\|[-:|]+\n((?:\|.*\n)+)", text)
assert len(tables) == 2, len(tables)
ratios = []
for column, table in enumerate(tables):
    lines = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in table.strip().splitlines()]
    expected = [[label, f"{int(sizes[column]):,}"] for label, *sizes in rows if int(sizes[column])]
    assert [line[:2] for line in lines[:-1]] == expected, lines
    means = [math.exp(sum(math.log(float(line[c])) for line in lines[:-1]) / len(expected)) for c in (2, 3, 4)]
    assert lines[-1][0] == "geometric mean"
    for mean, shown in zip(means, lines[-1][2:5]):
        assert abs(mean / float(shown) - 1) < 0.05, (mean, shown)
    ratios.append(float(lines[-1][4]) / float(lines[-1][3]))
shown = re.search(r"Locality API is ([\d.]+) and ([\d.]+) times unified in the geometric mean", text)
assert all(abs(float(s) / r - 1) < 0.05 for s, r in zip(shown.groups(), ratios)), (shown.groups(), ratios)
two = re.search(r"\| workload \| size \| 1 GPU \| 2 GPUs \|\n\|[-:|]+\n((?:\|.*\n)+)", text).group(1)
cells = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in two.strip().splitlines()]
assert [c[:2] for c in cells] == [[label, f"{int(size):,}"] for label, size, _ in rows if int(size)], cells
assert all(c[2] == c[3] for c in cells), cells
PY
# Two GPUs with the same work take as long as one.
run 0 study mgpusim-6 -w aes:16384 -w bitonicsort:256
says 'agrees   (ours) two GPUs take as long as one                AES 1.00, BS 1.00'

# A claim whose workloads were not chosen is not judged.
run 0 study mgpusim-9 -w fir:4096
says 'not run  Locality API no gain over unified'

refused 2 "study mgpusim-9 has no size for 'relu': give one, as in -w relu:1024" study mgpusim-9 -w relu
refused 2 "study navisim-8 has no size for 'aes'" study navisim-8 -w aes

# Scaling: curves over GPUs on each fabric and over the numbers of a link; a ring has one link between neighbours, a
# switch two.
for threads in 1 3; do
    run 0 study scaling-gpus --gpus 2 --shrink 6 -w matrixtranspose -j "$threads" -o "scaling$threads.csv"
done
cmp scaling1.csv scaling3.csv || fail "threads change the curves"
run 0 study scaling-gpus --gpus 4 --shrink 6 -w all_reduce -o collective.csv --html page.html
says 'Bandwidth of a link, 4 GPUs at a switch'
(($(grep -c '<svg' page.html) == 4)) || fail "the page has not four plots, but $(grep -c '<svg' page.html)"
cat scaling1.csv collective.csv | awk -F, '{ n[$3]++; time[$3] = $5; links[$3] = $16 } END {
    exit !(n["strong pcie 2 GPUs"] == 1 && n["collective ring 2 GPUs"] == 1 && n["weak switch 1 GPUs"] == 1 &&
           time["latency switch 25 ns"] < time["latency switch 1600 ns"] &&
           time["bandwidth switch 100 GB/s"] < time["bandwidth switch 6 GB/s"] &&
           links["collective switch 4 GPUs"] == 2 * links["collective ring 4 GPUs"])
}' || fail "curves of scaling are not as links make them"
refused 2 '--gpus is for studies of scaling' study navisim-8 --gpus 4
refused 2 'nearest: all_reduce' study scaling-gpus -w all_reduc
refused 2 "'fir:64': a study of scaling has sizes of its own" study scaling-gpus -w fir:64

# docs/studies.md shows what the command finds.
run 0 study scaling-gpus --gpus 2 -w all_to_all
found=$(awk '/bus bandwidth/ { on = 1 } on && $1 == "all-to-all" { printf "%s ", $3 } /^$/ { on = 0 }' stdout)
shown=$(awk -F'|' '/^#/ { on = /on three fabrics/ } on && $2 == " all-to-all " { gsub(" ", "", $4); printf "%s ", $4 }' \
    "$SOURCE_DIR/docs/studies.md" | cut -d' ' -f1-3)
[[ -n $found && $found == "$shown "* ]] || fail "docs/studies.md has '$shown' for all-to-all, the study '$found'"
