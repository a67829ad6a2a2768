#!/usr/bin/env bash
# `lockstep study`: the list, the table, the files, refusals.
# shellcheck source=lib.bash
source "${BASH_SOURCE[0]%/*}/lib.bash"

run 0 study
says 'navisim-8 '
says 'navisim-11'

run 0 study navisim-8 navisim-11 -w relu -w fir --shrink 8 --html page.html --out rows.csv
says 'DCU + gfx1010'
says 'geometric'
(($(wc -l <rows.csv) == 13)) || fail "the table has not 1 + 2 x 4 + 2 x 2 lines"
(($(grep -c '<h2>' page.html) == 2)) || fail "not one part for each study"
# A faster clock makes both faster, and not by more than the clock.
awk -F, '$1 == "navisim-11" && $3 == "1845 MHz" { n++; if ($8 <= 1 || $8 > 1.845) exit 1 } END { exit n != 2 }' rows.csv ||
    fail "1845 MHz is not between 1 and 1.845 times faster than 1000 MHz"

# Sizes of one's own, the same workload twice; the table says which were run.
run 0 study navisim-11 -w relu:4096 -w relu:8192 -w fir --shrink 9 --out sizes.csv
[[ $(cut -d, -f2,4 sizes.csv | sort -u | tr '\n' ' ') == 'FIR,1024 ReLU,4096 ReLU,8192 workload,size ' ]] ||
    fail "the sizes are not those that were asked for: $(cut -d, -f2,4 sizes.csv | sort -u)"

refused 2 'nearest: navisim-8' study navisim8
refused 2 'nearest: relu' study navisim-8 -w relo:64
refused 2 '--workload relu:0: a size is at least 1' study navisim-8 -w relu:0
refused 2 '--workload relu:big' study navisim-8 -w relu:big
refused 2 'nearest: relu' study navisim-8 -w relo
refused 2 'does not exist' study navisim-11 -w relu --shrink 10 --html missing/page.html

# docs/studies.md shows what the command finds: two quick workloads of each table.
shown() { # shown FIGURE WORKLOAD: the table's cells of that row, times faster alone
    awk -F'|' -v part="figures? $1[^0-9]" -v row=" $2 " '/^###/ { on = $0 ~ part } on && $2 == row { print; exit }' \
        "$SOURCE_DIR/docs/studies.md" | grep -oE '\<[0-9]\.[0-9]{2}\>' | tr '\n' ' '
}
run 0 study navisim-8 navisim-9 navisim-11 -w fir -w matrixtranspose --out today.csv
for figure in 8 9 11; do
    for workload in FIR MT; do
        found=$(awk -F, -v study="navisim-$figure" -v row="$workload" '$1 == study && $2 == row && n++ { printf "%.2f ", $8 }' today.csv)
        [[ -n $found && $(shown $figure $workload) == "$found" ]] ||
            fail "figure $figure, $workload: docs/studies.md has '$(shown $figure $workload)', the study '$found'"
    done
done
