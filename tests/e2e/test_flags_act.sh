#!/usr/bin/env bash
# Options act, or say that they do not: --seed, --log-level, and overrides of keys that are switched off.
# shellcheck source=lib.bash
source "$(dirname "$0")/lib.bash"

trace=(run 'synth:gather,n=4096,table_kib=64' -p rtx3070 -s cores=2)
data() {
    run 0 "$@" -f tidy
    grep -v '^host,\|,seed,' stdout
}

# The seed is for random replacement; where nothing is random, a warning says that it has no effect.
random=("${trace[@]}" -s core.unified_kib=0 -s core.l1.size_kib=4 -s core.l1.replacement=random)
data "${random[@]}" --seed 1 >one
data "${random[@]}" --seed 1 -j 3 | cmp -s - one || fail 'the same seed gives other results'
data "${random[@]}" --seed 2 | cmp -s - one && fail 'another seed gives the same results'
! grep -q seed stderr || fail 'a seed that acts is warned about'
run 0 "${trace[@]}" --seed 2 -o seed.json
grep -q 'warning: --seed has no effect' stderr || fail 'a seed without effect is not warned about'
grep -q '"text": "--seed has no effect' seed.json || fail 'the warning is not in the results'

# Levels of messages.
off=(-s core.icache.l0_bytes=2048)
run 0 "${trace[@]}" "${off[@]}"
grep -q 'core.icache.l0_bytes has no effect: it needs core.fetch=cycle, which is perfect' stderr || fail 'no warning'
says 'WARNING: key: --set core.icache.l0_bytes has no effect'
run 0 --log-level error "${trace[@]}" "${off[@]}"
[[ ! -s stderr ]] || fail 'a warning at level error'
run 0 --log-level info "${trace[@]}"
grep -q 'platform rtx3070, machine gpu' stderr || fail 'nothing about the platform at level info'
grep -q 'kernel .* has ended' stderr || fail 'nothing about kernels at level info'
run 0 "${trace[@]}" "${off[@]}" -s core.fetch=cycle
[[ ! -s stderr ]] || fail 'a key that acts is warned about'

# The same in a file of the user's, and in every command that takes keys; a whole platform describes what it likes.
printf 'base: rtx3070\ncore:\n  icache:\n    l0_bytes: 2048\n' >own.yaml
idle='core.icache.l0_bytes has no effect: it needs core.fetch=cycle, which is perfect'
for command in 'run synth:vector-add,n=1024 -p own.yaml' 'config check own.yaml'; do
    read -ra words <<<"$command"
    run 0 "${words[@]}"
    grep -qF "warning: own.yaml:4: $idle" stderr || fail "lockstep $command: no warning"
done
run 0 config show own.yaml --format yaml
cp stdout whole.yaml
run 0 run synth:vector-add,n=1024 -p whole.yaml
[[ ! -s stderr ]] || fail 'a whole platform is warned about'
for command in 'run synth:vector-add,n=1024 -n' 'profile synth:vector-add,n=1024 --no-cache' \
    'scaling synth:vector-add,n=1024 -j 2 -r 1' 'sweep synth:vector-add,n=1024 -v cores=1,2 -o idle.db' 'exec'; do
    read -ra words <<<"$command -p rtx3070 -s core.icache.l0_bytes=2048"
    [[ $command == exec ]] && words=(exec -p r9nano -s l1.size_kib=32 -- true)
    run 0 "${words[@]}"
    [[ $(grep -c 'warning: --set .* has no effect: it needs' stderr) == 1 ]] || fail "lockstep $command: not one warning"
done

# L1 and the memory that it shares.
refused 2 'shared_kib (100) is more than unified_kib (64)' "${trace[@]}" -s core.unified_kib=64
refused 2 'l1.size_kib (64) and shared_kib (100) together' "${trace[@]}" -s core.l1.size_kib=64
refused 2 'leave l1.ways out, or set it to 256' "${trace[@]}" -s core.l1.ways=32
