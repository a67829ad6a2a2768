#!/usr/bin/env bash
# `lockstep amd info`: versions 2 to 5, bundles, JSON, and files that are something else.
# shellcheck source=lib.bash
source "$(dirname "$0")/lib.bash"

printf 'hello' >text.co
refused 2 'this is no code object' amd info text.co
refused 2 'machine 62' amd info "$LOCKSTEP"
refused 2 'nothere.co' amd info nothere.co

objects=$BINARY_DIR/tests/kernels
[[ -e $objects/gfx1010-v5/driver.co ]] || skip 'the kernels are not compiled'

for version in 2 3 4 5; do
    run 0 amd info "$objects/gfx803-v$version/driver.co"
    grep -qx "gfx803  code object version $version" stdout || fail 'wrong head'
    grep -qE '^  required +64 .* =32x2x1 ' stdout || fail "no required work-group in version $version"
    grep -qE '^ +24 +4 +by_value +float f$' stdout || fail "no argument f in version $version"
    grep -qE '^  0x[0-9a-f]+ +16  constant  table$' stdout || fail "no variable in version $version"
done
run 0 amd info "$objects/gfx1010-v5/driver.co" --kernel sizes --hidden
grep -qE '^ +12 +4 +hidden_block_count_y' stdout || fail 'no hidden argument'
grep -q increment stdout && fail 'another kernel is shown'
refused 2 'nearest: sizes' amd info "$objects/gfx1010-v5/driver.co" --kernel size

if command -v python3 >/dev/null; then
    run 0 amd info "$objects/gfx1010-v5/driver.co" --json
    python3 - <<'PYTHON' || fail 'the JSON says something else'
import json
info = json.load(open("stdout"))
assert info["target"] == "gfx1010" and info["version"] == 5 and info["supported"]
kernel = {k["name"]: k for k in info["kernels"]}["locals"]
assert kernel["lds_bytes"] == 256 and kernel["wave_size"] == 32
assert [a["kind"] for a in kernel["arguments"][:4]] == ["global_buffer"] * 2 + ["dynamic_shared_pointer"] * 2
assert any(v["name"] == "counter" and v["writable"] for v in info["variables"])
PYTHON

    # A bundle as hipcc writes it.
    python3 - "$objects/gfx803-v4/driver.co" "$objects/gfx1010-v4/driver.co" >bundle.hipfb <<'PYTHON'
import struct, sys
entries = [(b"host-x86_64-unknown-linux--", b"")]
for target, path in zip((b"gfx803", b"gfx1010"), sys.argv[1:]):
    entries.append((b"hipv4-amdgcn-amd-amdhsa--" + target, open(path, "rb").read()))
head, body, start = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", 3), b"", 4096
for name, data in entries:
    head += struct.pack("<QQQ", start + len(body), len(data), len(name)) + name
    body += data
sys.stdout.buffer.write(head.ljust(start, b"\0") + body)
PYTHON
    run 0 amd info bundle.hipfb
    grep -q 'hipv4-amdgcn-amd-amdhsa--gfx803' stdout || fail 'the bundle is not listed'
    grep -q KERNEL stdout && fail 'one of two code objects is shown'
    run 0 amd info bundle.hipfb --target gfx803
    grep -qx 'gfx803  code object version 4' stdout || fail 'the entry is not shown'
    refused 2 'only for: gfx803, gfx1010' amd info bundle.hipfb --target gfx1030
    run 0 emulate bundle.hipfb --gpu gfx803 --kernel increment --grid 4 --arg buffer:16:iota --arg u32:4 --print 0:u32
    grep -qx '0: 1 2 3 4' stdout || fail 'a kernel of the bundle does not run'
    grep '^  buffer 0' stdout >plain_result

    # The same bundle compressed, with each head that LLVM documents.
    for version in 1 2 3; do
        python3 - $version >packed.hipfb <<'PYTHON'
import struct, sys, zlib
version, plain = int(sys.argv[1]), open("bundle.hipfb", "rb").read()
packed, width = zlib.compress(plain), "Q" if version == 3 else "I"
sizes = [] if version == 1 else [8 + 2 * struct.calcsize(width) + 8 + len(packed)]
head = b"CCOB" + struct.pack("<HH", version, 0) + struct.pack("<%d%sQ" % (len(sizes) + 1, width), *sizes, len(plain), 0)
sys.stdout.buffer.write(head + packed)
PYTHON
        run 0 amd info packed.hipfb
        grep -q 'hipv4-amdgcn-amd-amdhsa--gfx803' stdout || fail "version $version: the bundle is not listed"
        run 0 emulate packed.hipfb --gpu gfx803 --kernel increment --grid 4 --arg buffer:16:iota --arg u32:4 --print 0:u32
        grep '^  buffer 0' stdout | cmp -s - plain_result || fail "version $version: another result"
        run 0 amd disasm packed.hipfb --target gfx1010 --kernel increment
        grep -q 's_endpgm' stdout || fail "version $version: not disassembled"
    done
    refused 2 'several code objects, choose one of: gfx803, gfx1010' amd disasm packed.hipfb
    head -c 300 packed.hipfb >short.hipfb
    refused 2 'but the file has 300' amd info short.hipfb
    if command -v clang-offload-bundler-19 >/dev/null; then
        : >host.o
        clang-offload-bundler-19 -type=o -compress -output=clang.hipfb -input=host.o \
            -input="$objects/gfx803-v4/driver.co" -input="$objects/gfx1010-v4/driver.co" \
            -targets=host-x86_64-unknown-linux--,hipv4-amdgcn-amd-amdhsa--gfx803,hipv4-amdgcn-amd-amdhsa--gfx1010
        [[ $(head -c 4 clang.hipfb) == CCOB ]] || fail 'clang wrote no compressed bundle'
        run 0 emulate clang.hipfb --gpu gfx803 --kernel increment --grid 4 --arg buffer:16:iota --arg u32:4 --print 0:u32
        grep '^  buffer 0' stdout | cmp -s - plain_result || fail "clang's compressed bundle: another result"
    else
        left_out 'clang-offload-bundler-19 is not there: its compressed bundle was not tried'
    fi
else
    left_out 'python3 is not there: neither JSON nor a bundle was tried'
fi
exit 0
