#!/usr/bin/env bash
# `lockstep debug --gdb`: a client of GDB's remote protocol, emulated and in simulated time; the port.
# shellcheck source=lib.bash
source "$(dirname "$0")/lib.bash"
command -v python3 >/dev/null || skip 'there is no python3'
cp "$SOURCE_DIR"/tests/data/debug/reverse.{cl,co} .
args=(reverse.co --grid 128 -a buffer:512:f32=1.5 -a buffer:512 -a f32:2 -a u32:128 --print out:f32:64)
for mode in emulated timed; do
    more=()
    [[ $mode == timed ]] && more=(--platform w6800)
    python3 "$SOURCE_DIR/tests/e2e/gdb_client.py" "$LOCKSTEP" "$mode" "${args[@]}" "${more[@]}" || fail "the client is not served: $mode"
done
# A port that is taken, and options that a client replaces.
python3 - "$LOCKSTEP" "${args[@]}" <<'PYTHON' || fail 'a port that is taken'
import socket, subprocess, sys
with socket.socket() as s:
    s.bind(("127.0.0.1", 0))
    s.listen(1)
    port = s.getsockname()[1]
    done = subprocess.run([sys.argv[1], "debug", *sys.argv[2:], "--gdb", str(port)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2, done
    assert done.stderr == f"lockstep: port {port} is taken: choose another one, or 0 for any that is free\n", done.stderr
PYTHON
refused 2 'no effect with --gdb' debug "${args[@]}" --gdb 0 --batch
refused 2 'no effect with --gdb' debug "${args[@]}" --gdb 0 -ex run
refused 2 '65535' debug "${args[@]}" --gdb 70000
