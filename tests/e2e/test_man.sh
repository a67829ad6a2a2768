#!/usr/bin/env bash
# The man page renders without a warning and says what it must.
# shellcheck source=lib.bash
source "$(dirname "$0")/lib.bash"

run 0 man
cp stdout lockstep.1
for section in NAME SYNOPSIS DESCRIPTION COMMANDS 'EXIT STATUS' ENVIRONMENT FILES; do
    grep -qx "\.SH $section" lockstep.1 || fail "no section $section"
done
if command -v man >/dev/null; then
    MANWIDTH=80 man --warnings -l lockstep.1 >stdout 2>stderr </dev/null || fail 'man does not like the page'
    [[ ! -s stderr ]] || fail 'man warns'
    grep -q 'EXIT STATUS' stdout || fail 'nothing rendered'
    says '--threads=N'
else
    left_out 'man is not there: the page was not rendered'
    ! grep -nE "^[.']" lockstep.1 | grep -vE '^[0-9]+:\.(TH|SH|SS|PP|TP|RS|RE|nf|fi)( |$)' ||
        fail 'a line that roff takes for a request'
fi
exit 0
