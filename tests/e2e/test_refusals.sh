#!/usr/bin/env bash
# Every command refuses wrong input in the same way. It prints one line with the wrong thing and, if there is
# one, the nearest valid value. Nothing goes to stdout, the exit code is not 0, and no file is left.
# shellcheck source=lib.bash
. "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

run 0 trace synth vector-add -s n=1024 -o small
run 0 trace pack small -o small.lspk
head -c 700 small.lspk >cut.lspk
printf 'neither\x01\x02 a trace\n' >junk
: >empty
object=$SOURCE_DIR/tests/fuzz/corpus/hsa/v5.co
head -c 500 "$object" >cut.co
files() { find . ! -name stdout ! -name stderr | LC_ALL=C sort; }
before=$(files)

# Each line: the exit code, what the line on stderr says, the command.
while IFS='|' read -r code text command; do
    [[ -n $code ]] || continue
    read -ra words <<<"$command"
    refused "$code" "$text" "${words[@]}"
    [[ $(files) == "$before" ]] || fail "lockstep $command left something behind: $(files | tr '\n' ' ')"
done <<END
2|unknown command 'runn' (nearest: run)|runn
2|unknown option --bogus|run small -p rtx3070 --bogus
2|unexpected argument|run small small -p rtx3070
2|needs a value|run small -p
2|a platform is missing|run small
2|(nearest: rtx3070)|run small -p rtx307
2|nosuch.yaml: cannot open the file|run small -p nosuch.yaml
2|nosuch: cannot open the file|run nosuch -p rtx3070
2|0 is out of range: 1 to 1024|run small -p rtx3070 --threads 0
2|'x' is not a whole number|run small -p rtx3070 --ctas x
2|has no unit|run small -p rtx3070 --until 5
2|unknown key 'coress' for machine 'gpu' (nearest: cores)|run small -p rtx3070 -s coress=1
2|must be from 1 to 1024|run small -p rtx3070 -s cores=0
2|is not of the form key=value|run small -p rtx3070 -s cores
2|the trace has 1 kernel|run small -p rtx3070 -k 9
2|is not one of fail or alu|run small -p rtx3070 --unknown-opcodes error
2|cut off|run cut.lspk -p rtx3070
2|neither a list of kernels nor a kernel|run junk -p rtx3070
2|runs no traces of NVIDIA GPUs|run small -p r9nano
2|its directory does not exist|run small -p rtx3070 -o missing/x.json
2|its directory does not exist|run small -p rtx3070 -o missing/x.db
2|cannot tell the format|run small -p rtx3070 -o /dev/full
2|there is no generator 'gem' (nearest: gemm)|run synth:gem -p rtx3070
2|0 is not from 32 to 32768|run synth:gemm,m=0 -p rtx3070
2|cannot load plug-in|--plugin nosuch.so run small -p rtx3070
2|there is no workload 'firr'|emulate firr
2|cannot open the file|emulate nosuch.co --grid 64
2|damaged|emulate cut.co --grid 64
2|needs --grid|emulate $object
2|--grid: a size of 0; it is at least 1|emulate $object --grid 0
2|--grid: a size of 0; it is at least 1|emulate $object --grid 64,0
2|--group: a size of 0; it is at least 1|emulate $object --grid 64 --group 0
2|runs no traces of NVIDIA GPUs|profile small -p r9nano
2|its directory does not exist|profile small -p rtx3070 -o missing/x
2|Is a directory|profile small -p rtx3070 -o small
2|unknown key 'x'|profile small -p rtx3070 -s x=1
2|neither a list of kernels nor a kernel|trace info junk
2|empty: the list of kernels is empty|trace info empty
2|neither a list of kernels nor a kernel|trace check junk
2|cut off|trace info cut.lspk
2|cut off|trace check cut.lspk
2|is not one of fail or alu|trace info small --unknown-opcodes error
2|its directory does not exist|trace pack small -o missing/x.lspk
2|No space left on device|trace pack small -o /dev/full
2|99 is out of range: 1 to 19|trace pack small --level 99 -o x.lspk
2|cut off|trace pack cut.lspk -o x.lspk
2|the one around it does not exist|trace unpack small.lspk -o missing/x
2|exists and is not a directory|trace unpack small.lspk -o /dev/full
2|exists and is not empty|trace unpack small.lspk -o small
2|cut off|trace unpack cut.lspk -o x
2|the one around it does not exist|trace cut small -o missing/x
2|cut off|trace cut cut.lspk -o x.lspk
2|has no parameter 'm'|trace synth vector-add -s m=1 -o x
2|the one around it does not exist|trace synth vector-add -o missing/x
2|no code object|amd disasm small.lspk
2|damaged|amd info cut.co
2|the code object is for|amd info $object --target gfx9
2|there is no workload 'firr'|workload show firr
2|(nearest: show)|config shw
2|(nearest: core.alu)|config explain core.alux -p rtx3070
2|does not belong to an option|config import junk -o x.yaml
2|does not rise|sweep small -p rtx3070 -v cores=4..1 -o x.db
2|its directory does not exist|sweep small -p rtx3070 -v cores=1,2 -o missing/x.db
2|unknown key 'nosuch'|sweep small -p rtx3070 -v nosuch=1,2 -o x.db
2|cannot tell the format|compare junk junk
2|no slot, model or machine|blocks nosuch
2|its directory does not exist|validate --html missing/x.html
2|its directory does not exist|validate -o missing/x.csv
2|Is a directory|validate --markdown small
2|its directory does not exist|scaling small -p rtx3070 -j 2 -r 1 -o missing/x.csv
2|--mpi-timeout has no effect without --mpi|run small -p rtx3070 --mpi-timeout 9s
2|--timeline does not work with --mpi: events of blocks|run small -p rtx3070 --mpi --timeline x.html
2|--monitor does not work with --mpi|run small -p rtx3070 --mpi --monitor 0
2|--source does not work with --mpi|run small -p rtx3070 --mpi --source
2|--scaling does not work with --mpi: a run of one process predicts|run small -p rtx3070 --mpi --scaling
2|its directory does not exist|study navisim-8 -o missing/x.csv
2|Is a directory|study navisim-8 --html small
2|there is no study 'nosuch'|study nosuch
2|unknown command 'nosuch'|help nosuch
2|(nearest: bash)|completion tcsh
END

# Standard output that cannot be written is an error too.
for command in 'config list' 'config show rtx3070 --format json' blocks man 'help run' version 'trace info small' \
    'workload list' 'run small -p rtx3070' 'run small -p rtx3070 --format json' "amd info $object"; do
    read -ra words <<<"$command"
    "$LOCKSTEP" "${words[@]}" >/dev/full 2>stderr </dev/null && fail "lockstep $command wrote to a full device"
    (($(wc -l <stderr) == 1)) || fail "lockstep $command: not one line on stderr"
    grep -q 'written\|write' stderr || fail "lockstep $command does not say what failed"
done
