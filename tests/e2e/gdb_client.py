"""A client of GDB's remote protocol, against `lockstep debug --gdb 0 ARGS...`. It was written from the protocol's manual and
shares no code with the server. Usage: gdb_client.py LOCKSTEP timed|emulated ARGS..."""
import re
import socket
import struct
import subprocess
import sys


class Client:
    """One connection. Checks every checksum, and the acknowledgements until there are none."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.acks = True
        self.buffer = b""

    def byte(self):
        if not self.buffer:
            self.buffer = self.socket.recv(65536)
            if not self.buffer:
                raise EOFError("the server closed the connection")
        first, self.buffer = self.buffer[:1], self.buffer[1:]
        return first

    def send(self, payload):
        data = b""
        for c in payload:
            data += bytes([0x7D, c ^ 0x20]) if c in b"$#}*" else bytes([c])
        self.socket.sendall(b"$" + data + b"#%02x" % (sum(data) & 0xFF))
        if self.acks:
            expect(self.byte(), b"+")

    def receive(self):
        expect(self.byte(), b"$")
        raw = b""
        while (c := self.byte()) != b"#":
            raw += c
        told = int(self.byte() + self.byte(), 16)
        expect(sum(raw) & 0xFF, told)
        if self.acks:
            self.socket.sendall(b"+")
        out, i = b"", 0
        while i < len(raw):
            if raw[i] == 0x7D:
                i += 1
                out += bytes([raw[i] ^ 0x20])
            else:
                out += raw[i : i + 1]
            i += 1
        return out

    def ask(self, text):
        self.send(text if isinstance(text, bytes) else text.encode())
        return self.receive().decode()


def expect(got, wanted):
    if got != wanted:
        raise AssertionError(f"got {got!r}, expected {wanted!r}")


def check(good, what):
    if not good:
        raise AssertionError(what)


def start(lockstep, args):
    server = subprocess.Popen([lockstep, "debug", *args, "--gdb", "0"], stdout=subprocess.PIPE, text=True)
    line = server.stdout.readline()
    found = re.fullmatch(r"Waiting for gdb: target remote 127\.0\.0\.1:(\d+)\n", line)
    check(found, f"the server says {line!r}")
    return server, int(found.group(1))


def description(client):
    text = ""
    while True:
        part = client.ask(f"qXfer:features:read:target.xml:{len(text):x},400")
        check(part[:1] in ("l", "m"), f"no description: {part!r}")
        text += part[1:]
        if part[0] == "l":
            return text


def register(client, number):
    return client.ask(f"p{number:x}")


def word(text):
    return struct.unpack("<I", bytes.fromhex(text))[0]


def threads(client):
    out, packet = [], client.ask("qfThreadInfo")
    while packet[0] == "m":
        out += packet[1:].split(",")
        packet = client.ask("qsThreadInfo")
    expect(packet, "l")
    return out


def main():
    lockstep, mode, args = sys.argv[1], sys.argv[2], sys.argv[3:]
    timed = mode == "timed"
    server, port = start(lockstep, args)
    client = Client(port)

    # Acknowledgements, a damaged packet, then none of them.
    check("QStartNoAckMode+" in client.ask("qSupported:multiprocess+;swbreak+"), "no-ack mode is not offered")
    # One client only: the server has closed its door.
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5)
        check(False, "a second client was let in")
    except OSError:
        pass
    client.socket.sendall(b"$qC#00")
    expect(client.byte(), b"-")
    expect(client.ask("QStartNoAckMode"), "OK")
    client.acks = False

    # Where it stands: the first instruction of the first wave.
    stop = client.ask("?")
    check(re.fullmatch(r"T05thread:1;", stop), f"stop reply {stop!r}")
    expect(client.ask("qC"), "QC1")
    alive = threads(client)
    check("1" in alive and len(alive) >= 2, f"threads {alive}")
    info = bytes.fromhex(client.ask("qThreadExtraInfo,1")).decode()
    check(info.startswith("work-group 0,0,0 wave 0") and ("SIMD" in info) == timed, info)
    expect(client.ask("T1"), "OK")
    check(client.ask("Tffff")[0] == "E", "a thread that is not there is alive")

    # Registers, as the description numbers them.
    xml = description(client)
    names = re.findall(r'<reg name="(\w+)"', xml)
    expect(names[34:41], ["exec", "vcc", "scc", "m0", "mode", "s0", "s1"])
    number = {name: i for i, name in enumerate(names)}
    check("lockstep.amdgcn.vector" in xml and "</target>" in xml, "the description is cut off")
    pc = struct.unpack("<Q", bytes.fromhex(register(client, number["pc"])))[0]
    expect(client.ask("g")[32 * 16 : 33 * 16], register(client, number["pc"]))
    expect(register(client, number["exec"]), "ffffffff00000000")
    v0 = bytes.fromhex(register(client, number["v0"]))
    expect(struct.unpack("<32I", v0), tuple(range(32)))
    check(set(register(client, number["v255"])) == {"x"}, "a register that the kernel has not got")
    check(register(client, 9999)[0] == "E", "a register that nothing has")

    # One step, and a break point. gdb takes it out at every stop.
    expect(client.ask("vCont?"), "vCont;c;C;s;S")
    expect(client.ask("vCont;s:1;c"), "T05thread:1;")
    stepped = struct.unpack("<Q", bytes.fromhex(register(client, number["pc"])))[0]
    check(stepped in (pc + 4, pc + 8), "one instruction")
    expect(client.ask(f"Z0,{pc + 0x6c:x},4"), "OK")
    stop = client.ask("vCont;c")
    expect(struct.unpack("<Q", bytes.fromhex(register(client, number["pc"])))[0], pc + 0x6C)
    expect(client.ask(f"z0,{pc + 0x6c:x},4"), "OK")
    thread = re.fullmatch(r"T05thread:(\w+);", stop).group(1)

    # Memory of the argument `in` (1.5), a register that is changed and read back, a command of our own.
    text = bytes.fromhex(client.ask("qRcmd," + b"info args".hex())).decode()
    address = int(re.search(r"in = (0x\w+)", text).group(1), 16)
    out = int(re.search(r"out = (0x\w+)", text).group(1), 16)
    expect(struct.unpack("<2f", bytes.fromhex(client.ask(f"m{address:x},8"))), (1.5, 1.5))
    expect(client.ask("m10,4")[0], "E")
    factor = register(client, number["s4"])
    expect(struct.unpack("<f", bytes.fromhex(factor))[0], 2.0)
    expect(client.ask(f"P{number['s4']:x}={struct.pack('<f', 4.0).hex()}"), "OK")
    expect(struct.unpack("<f", bytes.fromhex(register(client, number["s4"])))[0], 4.0)
    check(client.ask(f"P{number['pc']:x}=0000000000000000")[0] == "E", "the pc was changed")
    text = bytes.fromhex(client.ask("qRcmd," + b"continue".hex())).decode()
    check("the client's own commands" in text, text)
    if timed:
        text = bytes.fromhex(client.ask("qRcmd," + b"info waits".hex())).decode()
        check(text.startswith("wave "), text)
        check(client.ask(f"M{address:x},4:00000000")[0] == "E", "memory was changed in simulated time")
    else:
        expect(client.ask(f"M{address + 4:x},4:{struct.pack('<f', 1.5).hex()}"), "OK")

    # A watch point on the result; the thread that stepped on it is named.
    expect(client.ask(f"Z4,{out:x},4"), "OK")
    stop = client.ask("vCont;c")
    check(f"awatch:{out:x};" in stop and stop.startswith("T05thread:"), stop)
    expect(client.ask(f"z4,{out:x},4"), "OK")
    if not timed:
        expect(struct.unpack("<f", bytes.fromhex(client.ask(f"m{out:x},4")))[0], 3.0)

    # A command of our own that says how far the next continue goes.
    text = bytes.fromhex(client.ask("qRcmd," + b"barrier".hex())).decode()
    check("The next continue goes that far" in text or "has ended" in text, text)
    text = bytes.fromhex(client.ask("qRcmd," + b"finish".hex())).decode()
    expect(text, "The next continue goes that far.\n")
    check(client.ask("vCont;c").startswith("T05thread:"), "it did not stop at the end of the wave")

    # Nonsense is answered, and breaks nothing.
    for packet in ["", "Z", "Z9,0,0", "m", "mzz,1", "m0,ffffffffffffffffff", "Hx", "vCont;q", "vCont;s:ffffff", "P=1", "qRcmd,zz",
                   "qXfer:features:read:target.xml:ffffff,10", "qXfer:features:read:other.xml:0,10", "X0,0:", "\x00"]:
        client.ask(packet)
    # Interrupt: the program runs to its end here, or stops with signal 2.
    client.send(b"vCont;c")
    client.socket.sendall(b"\x03")
    stop = client.receive().decode()
    check(stop[:3] in ("T02", "W00"), f"after Ctrl-C: {stop!r}")
    if stop.startswith("T02"):
        expect(client.ask("vCont;c"), "W00")
    expect(client.ask("?"), "W00")
    client.send(b"k")
    client.socket.close()
    expect(server.wait(timeout=60), 0)
    text = server.stdout.read()
    # The wave whose factor was changed has 1.5 * 4 in its lanes.
    check("6" in text, f"the register had no effect: {text}")
    # The client that goes without a word ends the program.
    server, port = start(lockstep, args)
    client = Client(port)
    client.ask("?")
    client.socket.close()
    expect(server.wait(timeout=60), 0)
    check("the client closed the connection" in server.stdout.read(), "nothing is said about the client")
    # A client that detaches lets the program run to its end.
    server, port = start(lockstep, args)
    client = Client(port)
    client.ask("?")
    expect(client.ask("D"), "OK")
    client.socket.close()
    expect(server.wait(timeout=60), 0)
    check("out: 3 3" in server.stdout.read(), "the program did not run to its end")
    return thread


main()
