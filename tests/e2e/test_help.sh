#!/usr/bin/env bash
# Help, mistakes in names, and the exit codes of the command line.
# shellcheck source=lib.bash
source "$(dirname "$0")/lib.bash"

run 0 help
says 'Usage: lockstep COMMAND'
says 'run'
run 0 --help
cp stdout overview
run 0 help
cmp -s stdout overview || fail 'help and --help differ'

run 0 help run
cp stdout run_help
says 'Examples'
run 0 run --help
cmp -s stdout run_help || fail 'help run and run --help differ'

run 0 version
says 'plug-in ABI'
run 0 --version
grep -qE '^lockstep [0-9]+\.[0-9]+\.[0-9]+$' stdout || fail 'no version'

refused 2 "unknown command 'rnu' (nearest: run)" rnu
refused 2 'run: unknown option --thread (nearest: --threads)' run --thread 2
refused 2 '--threads' run --threads 0
refused 2 '--threads' run --threads 1025
refused 2 '--threads' run --threads two
refused 2 '--assignment' run --assignment sometimes
refused 2 '--until' run --until 5
refused 2 'a platform is missing' run trace.g
refused 2 "unexpected argument 'other.g'" run trace.g other.g
refused 2 "'zsch' is not one of bash, zsh or fish (nearest: zsh)" completion zsch

"$LOCKSTEP" >stdout 2>stderr
(($? == 2)) || fail 'no command must be a usage error'
(($(wc -l <stderr) == 1)) || fail 'not one line'
says 'Usage: lockstep COMMAND'

# No colour in a file, even with a terminal's TERM; colour on request.
TERM=xterm NO_COLOR='' "$LOCKSTEP" help >stdout
grep -q $'\033' stdout && fail 'colour in a file'
"$LOCKSTEP" --color=always help | grep $'\033' >/dev/null || fail 'no colour with --color=always'

# A full disk is not a success.
if [[ -w /dev/full ]]; then
    "$LOCKSTEP" help >/dev/full 2>stderr
    (($? == 2)) || fail 'writing to a full device must fail'
    grep -q 'standard output' stderr || fail 'no reason given'
else
    left_out 'no /dev/full: a full disk was not tried'
fi
exit 0
