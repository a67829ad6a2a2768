#!/usr/bin/env bash
# test_skips.sh GROUPS PARTS: a skipped test must show: exit codes of cmocka programs and of the tests NAME/parts.
set -uo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# expect CODE COMMAND...
expect() {
    local expected=$1 code
    shift
    "$@" >"$work/out" 2>&1
    code=$?
    ((code == expected)) || {
        echo "$*: exit code $code instead of $expected"
        cat "$work/out"
        exit 1
    }
}

expect 77 "$1" ALL
expect 77 "$1" SOME # nobody looks at its parts: all of it shows as skipped
expect 0 "$1" NONE
expect 1 "$1" FAIL # a failure is never hidden by a skip

export LOCKSTEP_SKIPS=$work/list
expect 1 bash "$2" "$LOCKSTEP_SKIPS" # it did not run
expect 77 "$1" ALL
expect 77 bash "$2" "$LOCKSTEP_SKIPS"
expect 0 "$1" SOME
expect 77 bash "$2" "$LOCKSTEP_SKIPS"
grep -q 'skips_groups.c:' "$work/out" || { echo 'the place is not named' && exit 1; }
expect 0 "$1" NONE # an old list is forgotten
expect 0 bash "$2" "$LOCKSTEP_SKIPS"
expect 1 "$1" FAIL
