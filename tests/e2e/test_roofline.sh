#!/usr/bin/env bash
# Achieved FLOP/s and bytes/s against the peaks of the platform, at each fidelity: the table of `lockstep
# run`. The same numbers appear for the run and for each kernel in JSON, CSV and SQLite.
# shellcheck source=lib.bash
source "${BASH_SOURCE[0]%/*}/lib.bash"

for fidelity in detailed basic memory; do
    run 0 run --all synth:saxpy,n=65536 -p rtx3070 --fidelity $fidelity -o $fidelity.json -o $fidelity.tidy.csv -o $fidelity.db
    grep -qE 'roofline +GFLOP/s +of peak +DRAM GB/s +of peak +FLOP/byte' stdout || fail "$fidelity: no table"
    # 46 SMs of 128 lanes at 1725 MHz; 16 channels of GDDR6 at 14 Gbit/s per pin.
    says 'peaks: single 20,313.6, half 20,313.6, double 317.4 GFLOP/s; DRAM 448.0 GB/s'
    # 2 x 65536 operations; x and y are read once.
    grep -qE '^ +1 +\S*saxpy\S* +[0-9,.]+ +[0-9.]+% single +[0-9,.]+ +[0-9.]+% +[0-9.]+$' stdout ||
        fail "$fidelity: no row of the kernel"
    for name in rate_flops rate_dram share_single share_dram intensity; do
        for scope in run kernel; do
            value=$(grep -E "^$scope,[^,]*,[^,]*,[^,]*,[^,]*,,roofline/gpu,$name,ratio,value," $fidelity.tidy.csv | cut -d, -f11)
            [[ $value =~ ^[0-9.e+-]+$ && $value != 0 ]] || fail "$fidelity: $name of a $scope is '$value' in CSV"
            # Kernels are arrays of numbers with nine digits.
            case $scope in
                run) grep -F "\"$name\": " $fidelity.json | grep -F "\"value\": $value" >/dev/null ;;
                kernel) grep -F '"name": "_Z5saxpyifPKfPf"' $fidelity.json | grep -F "$(printf '%.9g' "$value")" >/dev/null ;;
            esac || fail "$fidelity: $name of a $scope is not $value in JSON"
        done
    done
    grep -q ',roofline/gpu,flops,counter,value,131072,FLOP' $fidelity.tidy.csv || fail "$fidelity: not 131072 FLOP"
    if command -v sqlite3 >/dev/null; then
        rows=$(sqlite3 $fidelity.db "SELECT count(*) FROM totals WHERE type = 'roofline/gpu' AND
            metric IN ('rate_flops', 'rate_dram', 'share_single', 'share_dram', 'intensity') AND value > 0")
        [[ $rows == 10 ]] || fail "$fidelity: $rows of 10 numbers in SQLite"
    else
        left_out 'sqlite3 is not there: the database was not read'
    fi
done

# Two runs can be held against each other by these numbers.
run 0 compare detailed.json memory.json --metric 'rate_*'
says 'rate_flops'
exit 0
