#!/usr/bin/env bash
# compare_hashes.sh DRIVER OPENCL GPU WAY...: all workloads through the driver, and through OpenCL with their compiled
# code (WAY binary) or with their source (WAY source); the bytes that come back must be the same. 77: skipped.
set -uo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$1" "$3" >"$work/driver"
code=$?
((code == 0)) || {
    cat "$work/driver"
    exit $code
}
skipped=0
for through in "${@:4}"; do
    WORKLOADS_THROUGH=$through "$2" "$3" >"$work/$through"
    code=$?
    if ((code == 77)); then
        echo "$through: $(<"$work/$through")"
        ((skipped += 1))
        continue
    fi
    if ((code != 0)) || ! diff "$work/driver" "$work/$through"; then
        grep -v ' compared$' "$work/$through"
        echo "through OpenCL ($through) something is different"
        exit 1
    fi
    echo "$through: $(wc -l <"$work/$through") runs with the same results"
done
((skipped < $# - 3)) || exit 77
