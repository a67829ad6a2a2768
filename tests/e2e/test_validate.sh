#!/usr/bin/env bash
# `lockstep validate`: it works from a clone alone, says what it skips for want of traces, and fails when a check does.
# shellcheck source=lib.bash
source "$(dirname "$0")/lib.bash"

unset LOCKSTEP_REFERENCE
refused 2 "nowhere" validate --reference nowhere
LOCKSTEP_REFERENCE=elsewhere refused 2 "elsewhere" validate
refused 2 "micro" validate --only mikro
# There are no traces beside this directory.
refused 2 "needs the traces" validate --only traces
refused 2 "needs the traces" validate --only determinism

# The tables and platforms that are shipped are enough for the 207 anchors.
run 0 validate --only micro --threads 2
says "micro: 207 tests: 200 exact, 207 within 1 cycle per instruction, 0 known deviations, 0 failed"

# A reference of two tests; one of them with a cycle per instruction too many, and then with two.
mkdir -p tree/reference
anchors=$SOURCE_DIR/data/reference/accelsim_micro_anchors.csv
grep -E '^(test|chain_FFMA|chain_LDG_L1hit)(,|$)' "$anchors" |
    sed -E 's/^chain_FFMA,451,899/chain_FFMA,451,835/' >tree/reference/accelsim_micro_anchors.csv
run 0 validate --reference tree/reference --only micro --html page.html --out rows.csv --markdown page.md
says "micro: 6 tests: 5 exact, 6 within 1 cycle per instruction"
[[ $(grep -c '^micro,' rows.csv) == 6 ]] || fail "rows.csv does not have 6 rows"
grep -q '<svg' page.html || fail "page.html has no plot"
grep -q '^| chain\\_FFMA | SM86\\_RTX3070 |' page.md || fail "page.md has no table"

sed -i -E 's/^chain_FFMA,451,835/chain_FFMA,451,771/' tree/reference/accelsim_micro_anchors.csv
run 5 validate --reference tree/reference --only micro --threads 2
says "FAIL"
grep -q '1 of 6 checks failed' stderr || fail "stderr does not count the failures"

# A column that is not there is an error of the input, not a pass.
printf 'test,x\nchain_FFMA,1\n' >tree/reference/accelsim_micro_anchors.csv
refused 2 "rtx3070_cycles_64" validate --reference tree/reference --only micro

# Points measured on an MI300A: from a file, because they are not shipped; units and suffixes of sizes become options.
refused 2 "of --only mi300a" validate --only micro --points points.csv
run 0 validate --only mi300a
says "mi300a: skipped: no measured points"
printf 'kernel_name,problem_size,min_ms\nvectoradd,1024,0.0042\nfir,1024_taps16,0.0050\nbfs,1024_degree4,0.05\n' >points.csv
printf 'spmv_csr_scalar,1024x1024_nnz8192,0.0061\nmemcopy_h2d,2MB,0.0464\nvectoradd,2048,0.0042\n' >>points.csv
"$LOCKSTEP" validate --only mi300a --points points.csv --max-us 45 --benchmark vectoradd --benchmark fir \
    --benchmark spmv_csr_scalar --out rows.csv >stdout 2>stderr || true
[[ $(grep -c '^mi300a,' rows.csv) == 4 ]] || fail "not the four points that were asked for"
grep -q '^  all but the longest ' stdout || fail "no errors without the longest point"
grep -qE '^ +4/4 vectoradd +2048 ' stderr || fail "no progress"
# Several points at a time: the same rows in the same order.
"$LOCKSTEP" validate --only mi300a --points points.csv --max-us 45 --benchmark vectoradd --benchmark fir \
    --benchmark spmv_csr_scalar --jobs 3 --out more.csv >stdout 2>stderr || true
cmp -s rows.csv more.csv || fail "other rows with three points at a time"
[[ $(awk '{ print $1 }' stderr | tr '\n' ' ') == "1/4 2/4 3/4 4/4 "* ]] || fail "progress is not in order"
refused 2 "of --only mi300a" validate --only micro --jobs 2
printf 'kernel_name,problem_size,min_ms\nvectorad,1024,1\n' >points.csv
refused 2 "nearest: vectoradd" validate --only mi300a --points points.csv
printf 'kernel_name,problem_size,min_ms\nvectoradd,1024,soon\n' >points.csv
refused 2 "points.csv:2" validate --only mi300a --points points.csv
# One line for each kind of broken file.
broken() {
    printf '%b' "$1" >points.csv
    refused 2 "$2" validate --only mi300a --points points.csv
}
header='kernel_name,problem_size,min_ms\n'
broken "" "points.csv:1: the reference has no column 'kernel_name'"
broken 'kernel_name,min_ms\nvectoradd,1\n' "points.csv:1: the reference has no column 'problem_size'"
broken "${header}vectoradd,1024,1\nfir,1024" "points.csv:3: this line has 2 columns"
broken "${header}vectoradd,1024," "points.csv:2: the file ends inside a line"
broken "${header}vectoradd,1024,1\nfir,10\0000x,1\n" "points.csv:3: a byte of value 0"
broken "${header}vectoradd,99999999999999999999999999,1\n" "points.csv:2: the size"
broken "${header}memcopy_h2d,99999999999GB,1\n" "points.csv:2: the size"
broken "${header}vectoradd,large,1\n" "points.csv:2: the size 'large' has no number"
broken "${header}vectoradd,1024,1e999\n" "points.csv:2: min_ms is"
broken "${header}vectoradd,1024,-1\n" "points.csv:2: min_ms is"
