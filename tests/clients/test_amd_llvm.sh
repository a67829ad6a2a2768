#!/usr/bin/env bash
# The disassembler against LLVM 19, for gfx90a and gfx942: random words of every opcode, and a round trip. The text that
# `lockstep amd disasm` prints for the facts of tests/isa must assemble with llvm-mc-19 to the same bytes.
set -uo pipefail
skip() {
    echo "skipped: $*"
    exit 77
}
fail() {
    echo "FAILED: $*" >&2
    exit 1
}
command -v python3 >/dev/null || skip 'there is no python3'
command -v llvm-mc-19 >/dev/null || skip 'there is no llvm-mc-19'
python3 -c 'import ctypes; ctypes.CDLL("libLLVM.so.19.1")' 2>/dev/null || skip 'there is no libLLVM.so.19.1'
export LOCKSTEP
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for target in gfx90a gfx942; do
    # At least 99.9 % of the words that LLVM decodes; the rest are forms that no assembler writes.
    python3 "$SOURCE_DIR/tools/amd-enumerate" random 40000 7 $target >"$work/random"
    cat "$work/random"
    awk '/ decoded, / { for (i = 2; i <= NF; i++) { if ($i == "decoded,") all = $(i - 1); if ($i == "differ") bad = $(i - 1) } }
         END { exit !(all > 10000 && bad * 1000 <= all) }' "$work/random" ||
        fail "random words of $target print differently"
    # Facts: bytes, a tab, text. LLVM assembles some to an equal, shorter form: then its text must be the same again.
    grep -hv '^lanes\|^#' "$SOURCE_DIR/tests/isa/amd_gfx9.txt" "$SOURCE_DIR/tests/isa/amd_$target.txt" |
        cut -f1 | grep -E '^[0-9a-f]+$' >"$work/bytes"
    "$LOCKSTEP" amd disasm --hex --target $target "$work/bytes" | cut -f2 >"$work/text" || fail "disasm --hex for $target"
    grep -q '<unknown>' "$work/text" && fail "a fact of $target is no instruction"
    llvm-mc-19 -triple=amdgcn-amd-amdhsa -mcpu=$target -show-encoding "$work/text" 2>"$work/errors" |
        sed -n 's/.*encoding: \[\(.*\)\]/\1/p' | tr -d ' ' | sed 's/0x//g; s/,//g' >"$work/assembled"
    lines=$(wc -l <"$work/bytes") errors=$(grep -c 'error:' "$work/errors")
    "$LOCKSTEP" amd disasm --hex --target $target "$work/assembled" | cut -f2 >"$work/again"
    # Texts that LLVM's assembler refuses (it prints more than it reads) are left out on both sides.
    sed -n 's/.*:\([0-9]*\):[0-9]*: error:.*/\1d/p' "$work/errors" | sort -u >"$work/refused"
    sed -f "$work/refused" "$work/text" >"$work/kept"
    # A literal with the value of an inline constant comes back as that constant: numbers are compared as such.
    python3 - "$work/kept" "$work/again" >"$work/changed" <<'PYTHON' || fail "the encodings of $target do not match the texts"
import re, sys
plain = lambda line: re.sub(r"\b0x[0-9a-f]+", lambda number: str(int(number.group(0), 16)), line)
ours, theirs = (open(path).read().splitlines() for path in sys.argv[1:])
if len(ours) != len(theirs):
    sys.exit(f"{len(ours)} texts, {len(theirs)} encodings")
for one, other in zip(ours, theirs):
    if plain(one) != plain(other):
        print("<", one, "\n>", other)
PYTHON
    changed=$(grep -c '^<' "$work/changed")
    ((changed * 1000 <= lines)) || {
        head "$work/changed" >&2
        fail "$changed texts of $target assemble to other instructions"
    }
    # The assembler has rules that the disassembler has not: the constant bus, overlaps, aligned pairs.
    ((errors * 10 <= lines)) || fail "$errors of $lines texts of $target are refused by llvm-mc-19"
    echo "$target: $lines texts, $((lines - errors)) assembled to the same instruction"
done
