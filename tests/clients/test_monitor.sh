#!/usr/bin/env bash
# The live pages in a real browser: a run is paused, stepped, continued and stopped by clicks, a sweep is stopped.
# shellcheck source=../e2e/lib.bash
source "${BASH_SOURCE[0]%/*}/../e2e/lib.bash"
command -v chromium >/dev/null || skip "chromium is not there"
command -v python3 >/dev/null || skip "python3 is not there"
PYTHONPATH=$SOURCE_DIR/tests/clients python3 "$SOURCE_DIR/tests/clients/check_monitor.py" "$LOCKSTEP" ||
    fail "the live page is not as it should be"
