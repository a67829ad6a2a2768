"""Drives `lockstep debug` on a terminal of its own: prompt, completion, an empty line that repeats, the end."""
import os
import pty
import select
import sys
import time


def read(fd, wanted):
    text = ""
    end = time.time() + 20
    while wanted not in text and time.time() < end:
        if not select.select([fd], [], [], 0.1)[0]:
            continue
        try:
            data = os.read(fd, 4096)
        except OSError:
            break
        if not data:
            break
        text += data.decode(errors="replace")
    if wanted not in text:
        sys.exit(f"'{wanted}' is not in {text!r}")
    return text


pid, fd = pty.fork()
if pid == 0:
    os.environ["TERM"] = "dumb"
    os.execv(sys.argv[1], sys.argv[1:])
read(fd, "(lockstep) ")
os.write(fd, b"catch launch\n")
read(fd, "Catchpoint 1 (launch)\r\n")
os.write(fd, b"run\n")
read(fd, "=> reverse+0x0:")
os.write(fd, b"stepi\n")
read(fd, "=> reverse+0x8:")
os.write(fd, b"\n")
read(fd, "=> reverse+0xc:")
os.write(fd, b"disassem\treverse+0xd4\n")
read(fd, "s_endpgm")
os.write(fd, b"info al\t\n")
read(fd, "bytes  code object")
os.write(fd, b"print fac\t\n")
read(fd, "factor = ")
os.write(fd, b"print $exec_l\t\n")
read(fd, "$exec_lo = 0xffffffff")
os.write(fd, b"quit\n")
_, status = os.waitpid(pid, 0)
sys.exit(os.waitstatus_to_exitcode(status))
