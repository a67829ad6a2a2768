#!/usr/bin/env bash
# `lockstep profile` and its use by `run`: rates come from a sample unless a file or the cache is requested.
# shellcheck source=lib.bash
source "${BASH_SOURCE[0]%/*}/lib.bash"
export XDG_CACHE_HOME=$work/cache
k=synth:saxpy,n=32768

run 0 profile $k -p rtx3070 -o saxpy.profile
says 'written to saxpy.profile'
grep -q '^lockstep-profile ' saxpy.profile || fail "the file does not say what it is"
[[ ! -e cache ]] || fail "a profile for a file was kept in the cache, too"
run 0 profile $k -p rtx3070 -o threads.profile -j3
cmp saxpy.profile threads.profile || fail "three threads find another profile than one"

run 0 run --all $k -p rtx3070 --fidelity memory
says 'sampled from each kernel'
cp stdout sampled
run 0 profile $k -p rtx3070
[[ -d cache/lockstep/profiles ]] || fail "nothing was kept"
run 0 run --all $k -p rtx3070 --fidelity memory
diff <(sed '/^host/,$d' sampled) <(sed '/^host/,$d' stdout) >/dev/null || fail "a kept profile changes a run unasked"
run 0 run --all $k -p rtx3070 --fidelity memory --profile auto
says 'cached profile'
run 0 run $k -p rtx3070 --fidelity memory --profile saxpy.profile -f json
says '"hit_rates"'
says 'saxpy.profile'

refused 2 'core.memory analytic only' run $k -p rtx3070 --profile saxpy.profile
refused 2 'another trace' run synth:saxpy,n=4096 -p rtx3070 --fidelity memory --profile saxpy.profile
refused 2 'missing.profile' run $k -p rtx3070 --fidelity memory --profile missing.profile
