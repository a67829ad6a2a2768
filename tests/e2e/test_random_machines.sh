#!/usr/bin/env bash
# Machines drawn at random: no deadlock, no livelock, the same bytes for any number of threads (random_machines.py). LONG=1: ten
# times as many.
# shellcheck source=lib.bash
source "$(dirname "$0")/lib.bash"

count=20
[[ -z ${LONG:-} ]] || count=200
python3 "$SOURCE_DIR/tests/e2e/random_machines.py" "$LOCKSTEP" 1 "$count" >found || fail "$(cat found)"
exit 0
