#!/usr/bin/env bash
# Numbers of a platform that no source gives are listed in every form of results, and `config explain` says why.
# shellcheck source=lib.bash
source "${BASH_SOURCE[0]%/*}/lib.bash"

[[ -f $BINARY_DIR/share/lockstep/kernels/gfx1010/fir.co ]] || skip "the workloads' kernels are not built"

key=command.launch_cycles text='command.launch_cycles is 3700: assumption: 2.0 us, as the R9 Nano'
run 0 run --all fir --size 1024 -p rx5500xt -o a.json -o a.csv -o a.db
[[ ! -s stderr ]] || fail 'assumptions are on standard error'
sed -n '/^assumptions/,/^$/p' stdout | grep "${key}[, ]" >/dev/null || fail "text does not list $key"
grep -qF "\"kind\": \"assumption\", \"text\": \"$text" a.json || fail "JSON does not list $key"
grep -qF "assumption,$key" a.csv || grep -F 'assumption' a.csv | grep -F "$text" >/dev/null || fail "CSV does not list $key"
grep -aqF "$text" a.db || fail "SQLite does not list $key"
# Sweeps and studies, which show no counters, say how many there are.
run 0 sweep fir --size 1024 -p rx5500xt -v l2.ways=8,16
says ' values of rx5500xt are assumptions'
run 0 study navisim-9 -w fir:1024
says 'values that are assumptions, by configuration:'
run 0 config explain $key -p rx5500xt
says 'an assumption: results of this platform list it'

# A value of the user's own is none, nor is one with a source.
run 0 run --all fir --size 1024 -p rx5500xt -s $key=1000
sed -n '/^assumptions/,/^$/p' stdout | grep "$key" >/dev/null && fail "a value from --set is listed"
run 0 run --all fir --size 1024 -p r9nano
sed -n '/^assumptions/,/^$/p' stdout >list
grep -q vector_cache.hash list || fail "r9nano lists no hash"
grep -q "$key" list && fail "r9nano lists a number that was measured"
run 0 config explain $key -p r9nano
grep -q 'an assumption' stdout && fail "explain takes a measured number for an assumption"
exit 0
