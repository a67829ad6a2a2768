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
