#!/usr/bin/env bash
# Checkpoints of all traces of the shared folder, in every fidelity, at several moments: the run has the same numbers with them,
# and after resume.
# shellcheck source=tests/e2e/lib.bash
source "$SOURCE_DIR/tests/e2e/lib.bash"
# shellcheck source=tests/e2e/checkpoint.bash
source "$SOURCE_DIR/tests/e2e/checkpoint.bash"
RANDOM=17

traces=$SOURCE_DIR/../shared/traces
[[ -d $traces ]] || skip 'no traces'

for trace in "$traces"/*/; do
    for fidelity in detailed basic memory; do
        name=$(basename "$trace")-$fidelity
        numbers whole run "$trace" -p rtx3070 --fidelity "$fidelity" --ctas 40
        for every in at=4us at=9us 1kernels 3kernels; do
            rm -f t.ck
            numbers with run "$trace" -p rtx3070 --fidelity "$fidelity" --ctas 40 -j 2 --checkpoint t.ck --every "$every"
            cmp -s whole with || fail "$name: other numbers with checkpoints $every"
            [[ -e t.ck ]] || continue # it is shorter than that
            numbers resumed resume t.ck -j $((RANDOM % 3 + 1))
            cmp -s whole resumed || fail "$name: other numbers from a checkpoint $every"
        done
    done
done
