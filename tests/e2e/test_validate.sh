#!/usr/bin/env bash
# `lockstep validate`: where the reference is looked for, its files, and the exit code of a check that fails.
# shellcheck source=lib.bash
source "$(dirname "$0")/lib.bash"
reference=${LOCKSTEP_REFERENCE:-$SOURCE_DIR/../shared/reference}

unset LOCKSTEP_REFERENCE
refused 2 "--reference DIR" validate
refused 2 "nowhere" validate --reference nowhere
LOCKSTEP_REFERENCE=elsewhere refused 2 "elsewhere" validate
refused 2 "micro" validate --only mikro

[[ -d $reference ]] || skip "no reference data beside the source"

# A reference of two tests; one of them with a cycle per instruction too many, and then with two.
mkdir -p tree/reference
ln -s "$(realpath "$reference/..")"/{formats,traces} tree/
anchors=$reference/accelsim_micro_anchors.csv
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
