#!/usr/bin/env bash
# docs/add-a-block.md: its listings are the files of examples/plugins, its commands run as they stand, and the
# blocks behave the same built in.
# shellcheck source=lib.bash
source "${BASH_SOURCE[0]%/*}/lib.bash"

page=$SOURCE_DIR/docs/add-a-block.md
for file in examples/plugins/greedy_youngest.c examples/plugins/dram_md1.c; do
    awk -v mark="<!-- file: $file -->" '$0 == mark { wanted = 1; next } wanted && /^```c$/ { inside = 1; next }
        inside && /^```$/ { exit } inside' "$page" >listing
    cmp -s listing "$SOURCE_DIR/$file" || fail "the listing of $file in docs/add-a-block.md is not the file"
done

# Every command of the page, in its order.
mkdir -p bin
ln -s "$LOCKSTEP" bin/lockstep
ln -s "$SOURCE_DIR/include" include
ln -s "$SOURCE_DIR/examples" examples
awk '/^```sh$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$page" >commands
(($(grep -c '^lockstep' commands) >= 6)) || fail "the page has fewer commands than it should"
export LOCKSTEP_PLATFORM_PATH=$SOURCE_DIR/platforms
sanitize=${SANITIZE:+-fsanitize=$SANITIZE}
sed -i "s#^cc #$CC $sanitize #" commands
PATH=$PWD/bin:$PATH bash -e commands >stdout 2>stderr || fail "a command of the page fails"
says 'core.scheduler/greedy-youngest: the last warp for a while, then the youngest'
says 'most instructions of a warp in a row'
says 'another warp was taken'
says 'fastest first'
says 'formula_wait_cycles'

# Parameters are checked like anybody's.
refused 2 'must be from 1 to' --plugin ./greedy_youngest.so run synth:gemm -p rtx3070 \
    -s core.scheduler=greedy-youngest -s core.scheduler.patience=0
refused 2 'nearest: greedy-youngest' --plugin ./greedy_youngest.so run synth:gemm -p rtx3070 -s core.scheduler=greedy-younger

# Built in: the same numbers, with both models of the core's pipeline, for any number of threads.
both=("synth:gather,n=4096" -p rtx3070 -s core.scheduler=greedy-youngest -s dram=md1)
for alu in cycle issue; do
    run 0 --plugin ./greedy_youngest.so --plugin ./dram_md1.so run "${both[@]}" -s "core.alu=$alu" -o plugin.json
    for threads in 1 2 3 8; do
        LOCKSTEP=$BINARY_DIR/examples/lockstep-with-examples run 0 run "${both[@]}" -s "core.alu=$alu" -j $threads \
            -o builtin.json
        run 0 compare plugin.json builtin.json --per-block --check
    done
done
