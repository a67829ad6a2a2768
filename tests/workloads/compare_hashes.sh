#!/usr/bin/env bash
# compare_hashes.sh DRIVER OPENCL GPU WAY: runs all workloads through the driver, and through OpenCL with
# their compiled code (WAY binary) or with their source (WAY source). The resulting bytes must be the same.
# 77: skipped.
set -uo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$1" "$3" >"$work/driver"
code=$?
((code == 0)) || {
    cat "$work/driver"
    exit $code
}
WORKLOADS_THROUGH=$4 "$2" "$3" >"$work/opencl"
code=$?
((code != 77)) || {
    cat "$work/opencl"
    exit 77
}
if ((code != 0)) || ! diff "$work/driver" "$work/opencl"; then
    grep -v ' compared$' "$work/opencl"
    echo "through OpenCL ($4) something is different"
    exit 1
fi
echo "$4: $(wc -l <"$work/opencl") runs with the same results"
