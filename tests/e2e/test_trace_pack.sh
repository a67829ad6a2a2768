#!/usr/bin/env bash
# Traces from one form to another: generated, packed, unpacked, cut; refusals; no half-written files.
# shellcheck source=lib.bash
source "${BASH_SOURCE[0]%/*}/lib.bash"

run 0 trace synth --list
says 'pointer-chase'
says 'gemm-tensor'
run 0 trace synth gemm --list
says 'tile_k'
says 'binary_version'

# Text, packed and text again.
run 0 trace synth stencil --set nx=64 --set ny=32 -s steps=2 -o made
says 'made: 2 kernels, 16 thread blocks'
run 0 trace pack made -o made.lspk
says 'times smaller than'
[[ ! -s stderr ]] || fail "packing said something"
run 0 trace unpack made.lspk -o again
diff -r made again >/dev/null || fail "unpacked text differs"
run 0 trace unpack made.lspk -o squeezed --compress xz
[[ -f squeezed/kernel-2.traceg.xz ]] || fail "no xz file"
grep -qx 'kernel-2.traceg.xz' squeezed/kernelslist.g || fail "the list has another name"
run 0 trace unpack squeezed -o plain
diff -r made plain >/dev/null || fail "text that was compressed differs"

# Generated into a packed file at once: the same trace.
run 0 trace synth stencil,nx=64,ny=32,steps=2 -o direct.lspk
run 0 trace unpack direct.lspk -o direct
diff -r made direct >/dev/null || fail "a generated packed trace differs"
run 0 trace pack synth:stencil,nx=64,ny=32,steps=2 -o - --level 1
"$LOCKSTEP" trace pack made -o - 2>/dev/null >pipe.lspk
run 0 trace unpack pipe.lspk -o piped
diff -r made piped >/dev/null || fail "a packed trace from standard output differs"

# Parts.
run 0 trace cut made.lspk -o small --kernels 2 --ctas 3
says 'small: 1 kernel, 3 thread blocks'
grep -q '^-grid dim = (3,1,1)' small/kernel-2.traceg || fail "the grid was not cut"
run 0 trace check small
run 0 trace cut made -o small.lspk --ctas 2
run 0 trace info small.lspk
run 0 trace pack made -o some.lspk --kernels 1
says 'some.lspk: 1 kernel'

# Text that no tracer writes comes back in another form, and a message says so.
mkdir odd
cp made/* odd
printf '\n\n' >>odd/kernel-2.traceg
run 0 trace pack odd -o odd.lspk
grep -q 'normalised 1 file' stderr || fail "nothing was said about other text"

# Refusals.
refused 2 "'gem'" trace synth gem -o x
refused 2 'KIND is missing' trace synth
refused 2 '--output is missing' trace synth gemm
refused 2 '--output is missing' trace pack made
refused 2 "parameter 'm'" trace synth gemm --set m=7 -o x
refused 2 'exists and is not empty' trace unpack made.lspk -o again
head -c 700 made.lspk >short.lspk
refused 2 'cut off' trace unpack short.lspk -o x
head -c 3000 made/kernel-1.traceg >odd/kernel-1.traceg
rm -f odd.lspk
run 2 trace pack odd -o odd.lspk
[[ ! -e odd.lspk && ! -e x ]] || fail "something half-written stays"
if compgen -G '*tmp*' >/dev/null; then
    fail "temporary files stay"
fi
