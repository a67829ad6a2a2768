# lib.bash: functions of the end-to-end scripts. Each script runs in a directory of its own that is removed at
# the end, with LOCKSTEP, PINGPONG, OTHER_ABI, SOURCE_DIR, BINARY_DIR, CC and SANITIZE from the environment.
# shellcheck shell=bash disable=SC2034
set -uo pipefail

: "${LOCKSTEP:?run this through ctest}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export NO_COLOR=1 TERM=dumb LC_ALL=C
unset LOCKSTEP_PLATFORM_PATH

fail() {
    echo "FAILED (line ${BASH_LINENO[0]}): $*" >&2
    [[ -s stdout ]] && sed 's/^/  stdout: /' stdout | head -20 >&2
    [[ -s stderr ]] && sed 's/^/  stderr: /' stderr | head -20 >&2
    exit 1
}

skip() {
    echo "skipped: $*"
    exit 77
}

# left_out TEXT: a part of the test was not done; ctest shows it as the skipped test NAME/parts.
[[ -z ${LOCKSTEP_SKIPS:-} ]] || : >"$LOCKSTEP_SKIPS"
left_out() {
    echo "left out: $*"
    [[ -z ${LOCKSTEP_SKIPS:-} ]] || echo "$*" >>"$LOCKSTEP_SKIPS"
}

# run CODE ARG...: runs lockstep, keeps what it says in stdout and stderr, and checks the exit code.
run() {
    local expected=$1 code
    shift
    "$LOCKSTEP" "$@" >stdout 2>stderr </dev/null
    code=$?
    ((code == expected)) || fail "lockstep ${*:1:8} exited with $code instead of $expected"
}

# refused CODE TEXT ARG...: exactly one line on stderr, which contains TEXT, and nothing on stdout.
refused() {
    local expected=$1 text=$2 lines
    shift 2
    run "$expected" "$@"
    lines=$(wc -l <stderr)
    ((lines == 1)) || fail "lockstep ${*:1:8} wrote $lines lines to stderr"
    grep -q '^lockstep: ' stderr || fail "the line does not begin with 'lockstep: '"
    grep -qF -- "$text" stderr || fail "the line does not say: $text"
    [[ ! -s stdout ]] || fail "an error came with something on stdout"
}

# says TEXT: stdout of the last run contains it.
says() {
    grep -qF -- "$1" stdout || fail "stdout does not say: $1"
}
