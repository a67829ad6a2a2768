#!/usr/bin/env bash
# The shipped platforms for Accel-Sim's configurations equal the importer's output today, and they run.
# shellcheck source=lib.bash
source "$(dirname "$0")/lib.bash"

for name in rtx3070 rtx2060 qv100; do
    run 0 run synth:saxpy,n=1024 -p accelsim-$name
    run 0 config show accelsim-$name
    grep -qE '^core.accelsim_rules +true' stdout || fail "accelsim-$name does not follow Accel-Sim's rules"
    head -3 "$SOURCE_DIR/platforms/accelsim-$name.yaml" | grep -q '^# Source: ' || fail "accelsim-$name names no source"
done
configs=$SOURCE_DIR/../shared/formats/accelsim-configs
if [[ -d $configs ]]; then
    "$SOURCE_DIR/scripts/accelsim-platforms" --check "$configs" >stdout 2>stderr ||
        fail 'the importer makes something else: run scripts/accelsim-platforms'
else
    left_out "Accel-Sim's configurations are not there: the shipped platforms were not compared with a fresh import"
fi
exit 0
