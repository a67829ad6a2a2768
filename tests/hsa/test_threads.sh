#!/usr/bin/env bash
# The times of packets and copies do not depend on host threads: test_runtime writes them to a file.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for threads in 1 2 3 8; do
    LOCKSTEP_PLATFORM=w6800 LOCKSTEP_THREADS=$threads LOCKSTEP_TEST_TIMES=$work/$threads "$1" 2>"$work/log" || {
        cat "$work/log" >&2
        exit 1
    }
    [[ -s $work/$threads ]] || {
        echo "FAILED: no times with $threads threads" >&2
        exit 1
    }
    cmp "$work/1" "$work/$threads"
done
