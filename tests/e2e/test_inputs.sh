#!/usr/bin/env bash
# Inputs that are no regular files are refused at once and by name, whichever command reads them; and kernels have
# the numbers of their list in every output.
# shellcheck source=lib.bash
source "$(dirname "$0")/lib.bash"

# at_once KIND ARG...: refused within a few seconds, with its kind.
at_once() {
    local kind=$1
    shift
    timeout 20 "$LOCKSTEP" "$@" >stdout 2>stderr </dev/null
    local code=$?
    ((code == 2)) || fail "lockstep ${*:1:6} exited with $code instead of 2"
    grep -qF "$kind" stderr || fail "the line does not say: $kind"
    [[ $(wc -l <stderr) == 1 ]] || fail "more than one line"
}

run 0 trace synth saxpy,n=512 -o small
mkfifo pipe pipe.json pipe.db pipe.csv pipe.yaml pipe.so pipe.co
mkdir dir.json listed
mkfifo listed/kernel-1.traceg
echo kernel-1.traceg >listed/kernelslist.g
mkdir nolist
mkfifo nolist/kernelslist.g
run 0 run small -p rtx3070 -o good.json -o good.db

while read -r kind command; do
    # shellcheck disable=SC2086
    at_once "${kind//_/ }" $command
done <<'END'
it_is_a_pipe run pipe -p rtx3070
it_is_a_pipe run listed -p rtx3070
it_is_a_pipe run nolist -p rtx3070
it_is_a_pipe run small -p ./pipe.yaml
it_is_a_pipe trace check pipe
it_is_a_pipe trace check nolist
it_is_a_pipe trace info pipe
it_is_a_pipe trace pack pipe -o x.lspk
it_is_a_pipe trace unpack pipe -o x
it_is_a_pipe trace cut pipe -o x --ctas 1
it_is_a_pipe profile pipe -p rtx3070
it_is_a_pipe compare pipe.json good.json
it_is_a_pipe compare pipe.db good.db
it_is_a_pipe compare pipe.csv good.json
it_is_a_device_or_a_pipe run small -p rtx3070 -o pipe.db
it_is_a_pipe config import pipe
it_is_a_pipe config show ./pipe.yaml
it_is_a_pipe emulate ./pipe.co --grid 1
it_is_a_pipe amd info pipe
it_is_a_pipe amd disasm pipe
it_is_a_pipe --plugin ./pipe.so blocks
Is_a_directory compare dir.json good.json
Is_a_directory --plugin ./dir.json blocks
Is_a_directory emulate ./dir.json --grid 1
it_is_a_device run /dev/zero -p rtx3070
it_is_a_device run small -p /dev/zero
it_is_a_device trace check /dev/null
it_is_a_device amd info /dev/zero
END
[[ ! -e x.lspk && ! -e x ]] || fail 'something was written'
timeout 20 "$LOCKSTEP" trace check listed >stdout 2>stderr && fail 'a kernel that is a pipe is no error'
says 'it is a pipe'
timeout 60 "$LOCKSTEP" sweep pipe -p rtx3070 -v cores=2,4 -o sweep.db >stdout 2>stderr </dev/null &&
    fail 'sweep accepts a pipe'

# A pipe without a name is a stream: a platform may come from a command.
printf 'base: %s\n' "$SOURCE_DIR/platforms/rtx3070.yaml" >mine.yaml
run 0 config show mine.yaml
"$LOCKSTEP" run small -p <(cat mine.yaml) >stdout 2>stderr || fail 'a platform through <(...) is not read'

# Kernels 3 and 4 of a list have these numbers everywhere, independent of their files.
run 0 trace synth saxpy,n=256 -o many
for i in 1 2 3 4 5; do
    sed 's/^-kernel id = .*/-kernel id = 9/' many/kernel-1.traceg >many/kernel-x$i.traceg
    echo kernel-x$i.traceg
done >many/kernelslist.g
run 0 run --all many -p rtx3070 -k 3-4 -o k.json -o k.csv -o k.db
[[ $(grep -cE '^ +[34]  _Z5saxpy' stdout) == 4 ]] || fail 'the text does not number kernels 3 and 4 (table and roofline)'
grep -qE '^ +[125]  _Z5saxpy' stdout && fail 'the text has another number'
[[ $(grep -oE '"kernel": [0-9]+' k.json | tr '\n' ' ') == '"kernel": 3 "kernel": 4 ' ]] ||
    fail 'the JSON does not number kernels 3 and 4'
[[ $(awk -F, '$1 == "kernel" {print $3}' k.csv | sort -u | tr '\n' ' ') == '3 4 ' ]] ||
    fail 'the CSV does not number kernels 3 and 4'
run 0 run many -p rtx3070 -k 3-4 --stats accelsim
[[ $(grep -oE '^kernel_launch_uid = [0-9]+' stdout | tr '\n' ';') == 'kernel_launch_uid = 3;kernel_launch_uid = 4;' ]] ||
    fail "Accel-Sim's names do not number kernels 3 and 4"
run 0 profile many -p rtx3070 -k 3-4 --no-cache
[[ $(awk '/_Z/ { printf "%s ", $1 }' stdout) == '3 4 ' ]] || fail 'profile numbers kernels otherwise'
run 0 trace info many -k 3-4 --each
grep -qE '^ +3  ' stdout || fail 'trace info does not number kernel 3'
if command -v sqlite3 >/dev/null; then
    [[ $(sqlite3 k.db 'SELECT group_concat(DISTINCT kernel) FROM kernels') == 3,4 ]] || fail 'not 3,4 in SQLite'
else
    left_out 'sqlite3 is not there: the numbers of kernels in the database were not looked at'
fi
exit 0
