#!/usr/bin/env bash
# Options that would silently have no effect beside another one are refused. Options that change the meaning
# of a result are named in it.
# shellcheck source=lib.bash
source "$(dirname "$0")/lib.bash"

run 0 trace synth saxpy,n=512 -o small
run 0 trace pack small -o small.lspk
run 0 profile small -p rtx3070 -o small.lsprof
while IFS='|' read -r code text command; do
    # shellcheck disable=SC2086
    refused "$code" "$text" $command
done <<'END'
2|--only has no effect|validate --fidelity all --only micro
2|--warm-l2 has no effect with --profile|run small -p rtx3070 --fidelity memory --profile small.lsprof --warm-l2
2|leave --profile out|run small -p rtx3070 --profile small.lsprof
2|--compress is for text|trace cut small -o x.lspk --ctas 1 --compress xz
2|--level is for packed traces|trace cut small -o x --ctas 1 --level 3
2|--compress is for text|trace synth saxpy -o x.lspk --compress gz
2|--level is for packed traces|trace synth saxpy -o x --level 3
2|--trace-filter needs|emulate fir --trace-filter wave=0
2|--grid is for|run small -p rtx3070 --grid 1
2|--gpu is for|run small -p rtx3070 --gpu gfx803
2|--ctas is for traces|run fir -p r9nano --ctas 1
END
[[ ! -e x && ! -e x.lspk ]] || fail 'something was written'

if [[ -e $(dirname "$LOCKSTEP")/liblockstep-opencl.so ]]; then
    while IFS='|' read -r code text command; do
        # shellcheck disable=SC2086
        refused "$code" "$text" $command
    done <<'END'
2|platform 'r9nano-x2' is a system itself|exec --platform r9nano-x2 --gpus 2 -- true
3|those of a platform: 2 times --gpu is for emulation|exec --mode time --gpu gfx803 --gpu gfx803 -- true
3|those of a platform: 2 times --gpu is for emulation|exec --platform r9nano --gpu gfx803 --gpu gfx803 --gpus 2 -- true
2|--trace-instructions is for emulation|exec --platform r9nano --trace-instructions t -- true
2|has no effect|exec --mode emulate --platform r9nano -- true
2|--set overrides a key of a platform|exec --set clusters=2 -- true
2|--rocprof has counters of simulated time|exec --rocprof r.csv -- true
2|--summary and --no-summary|exec --platform r9nano --summary --no-summary -- true
2|--trace-filter needs|exec --trace-filter wave=0 -- true
END
    run 0 exec --platform rx5500xt --gpus 2 -- true
    run 0 exec --platform rx5500xt -- true
    run 0 exec --platform rx5500xt --set clusters=2 -- true
    run 0 exec --gpus 2 -- true
    run 0 exec --platform r9nano --gpu gfx1010 -- true
    grep -q 'gfx1010 code on a machine for gfx803' stderr || fail 'exec does not name foreign code'
    run 0 exec --platform r9nano --gpu gfx803 -- true
    [[ ! -s stderr ]] || fail 'own code is called foreign'
else
    left_out 'the OpenCL driver is not built: exec was not tried'
fi

# Code of another instruction set runs, and every form of results notes it.
if [[ -e $BINARY_DIR/share/lockstep/kernels/gfx1010/vector_add.co ]]; then
    warning='gfx1010 code on a GCN 3 machine'
    run 0 run vector_add --size 256 -p r9nano --gpu gfx1010 -o f.json -o f.csv -o f.db -o f.txt
    grep -q "$warning" stderr || fail 'no line on standard error'
    for form in stdout f.json f.csv f.txt; do
        grep -q "$warning" "$form" || fail "$form does not name foreign code"
    done
    grep -aq "$warning" f.db || fail 'the database does not name foreign code'
    run 0 run vector_add --size 256 -p r9nano --gpu gfx803 -f json
    grep -q 'code on a' stdout stderr && fail 'own code is called foreign'
    run 0 run vector_add --size 256 -p r9nano --gpu gfx803 --record own.lspk
    refused 2 '--compress is for traces' trace unpack own.lspk -o own.txt --compress xz
    refused 2 '--unknown-opcodes is for traces' trace unpack own.lspk -o own.txt --unknown-opcodes alu
    run 0 run own.lspk -p r9nano
    grep -q 'code on a' stdout stderr && fail 'a recording of own code is called foreign'
    run 0 run own.lspk -p rx5500xt
    grep -q 'gfx803 code on a RDNA machine' stderr || fail 'a recording of foreign code is not named'
else
    left_out 'the kernels are not compiled: foreign code was not run'
fi
exit 0
