#!/usr/bin/env bash
# parts.sh FILE: reports the parts that a test left out, as a test of its own: 77 (skipped) if FILE names
# anything, 0 if it is empty.
[[ -f $1 ]] || {
    echo "$1 is not there: the test that writes it did not run"
    exit 1
}
[[ ! -s $1 ]] || {
    echo 'left out:'
    sort -u "$1"
    exit 77
}
