#!/usr/bin/env bash
# Instructions whose effects a machine does not have (A100): a run is refused with their number and place, or says what it left out
# in every output.
# shellcheck source=lib.bash
source "${BASH_SOURCE[0]%/*}/lib.bash"

# trace NAME LINE...: one warp that executes these lines.
trace() {
    local name=$1
    shift
    mkdir "$name"
    echo kernel-1.traceg >"$name/kernelslist.g"
    {
        printf -- '-%s\n' "kernel name = bulk" "kernel id = 1" "grid dim = (2,1,1)" "block dim = (32,1,1)" \
            "shmem = 0" "nregs = 8" "binary version = 90" "cuda stream id = 0" "shmem base_addr = 0x7f0000000000" \
            "local mem base_addr = 0x7f0001000000" "nvbit version = 1.7" "accelsim tracer version = 5" \
            "enable lineinfo = 0"
        printf '#traces format = ...\n'
        for block in 0 1; do
            printf '#BEGIN_TB\nthread block = %d,0,0\nwarp = 0\ninsts = %d\n' $block $#
            printf '%s\n' "$@"
            printf '#END_TB\n'
        done
    } >"$name/kernel-1.traceg"
}
exit='0090 ffffffff 0 EXIT 0 0 0'
trace bulk '0010 00000001 0 UTMALDG.2D 0 0 0' '0020 00000001 0 SYNCS.ARRIVE.TRANS64 1 R2 0 0' \
    '0020 00000001 0 SYNCS.ARRIVE.TRANS64 1 R2 0 0' '0030 ffffffff 0 CCTL.IVALL 0 0 0' "$exit"
trace cached '0030 ffffffff 0 CCTL.IVALL 0 0 0' "$exit"

# Refused, with the count of the whole kernel and the first place.
said="kernel 1 'bulk' executes 6 instructions that are not modelled (UTMALDG 2, SYNCS 4), the first is UTMALDG at pc 0x10"
refused 3 "$said" run bulk -p a100
refused 3 "$said" run bulk -p a100 --fidelity memory
refused 3 "$said" profile bulk -p a100 --no-cache
run 0 trace pack bulk -o bulk.lspk
refused 3 "$said" run bulk.lspk -p a100
refused 3 "executes 3 instructions that are not modelled (UTMALDG 1, SYNCS 2)" run bulk -p a100 --ctas 1
refused 2 "is not one of fail or skip" run bulk -p a100 --unmodelled alu

# All of the family, one by one.
for opcode in UTMALDG UTMASTG UTMAREDG UTMAPF UTMACMDFLUSH UBLKCP UBLKRED UBLKPF SYNCS USYNCS ARRIVES UCGABAR_ARV \
    UCGABAR_WAIT; do
    trace "one_$opcode" "0010 ffffffff 0 $opcode 0 0 0" "$exit"
    refused 3 "the first is $opcode at pc 0x10" run "one_$opcode" -p a100
done

# Allowed: every output mentions it.
run 0 run bulk -p a100 --unmodelled skip -o out.json -o out.csv -o out.tidy.csv -o out.db
said='6 instructions are not modelled and ran without their effects: UTMALDG 2, SYNCS 4'
says "WARNING: unmodelled: $said"
grep -qF "lockstep: warning: $said" stderr || fail "no warning"
grep -qF "\"$said\"" out.json || fail "nothing in JSON"
grep -qF '2 instructions have smaller effects that are not modelled: CCTL 2' out.json || fail "nothing ignored in JSON"
grep -qF "unmodelled,fact,value,\"$said\"" out.tidy.csv || fail "nothing in tidy CSV"
grep -qF "unmodelled: $said" out.csv || fail "nothing in CSV"
if command -v python3 >/dev/null; then
    notes=$(python3 -c 'import sqlite3; print(list(sqlite3.connect("out.db").execute("select kind, text from warnings")))')
    [[ $notes == *"('unmodelled', '$said')"* ]] || fail "the database says $notes"
fi

# Smaller effects are named and stop nothing.
run 0 run cached -p a100 -f json
says 'smaller effects that are not modelled: CCTL 2'
! grep -q unmodelled stdout || fail "CCTL counts as unmodelled"

run 0 trace info bulk
says 'not modelled'
grep -qE 'not modelled +2  UTMALDG, first at pc 0x10' stdout || fail "trace info does not list UTMALDG"
run 0 trace info bulk --json
grep -qE "\"opcode\": \"SYNCS\", \"pc\": 32, \"count\": 4" stdout || fail "trace info --json does not count SYNCS"
run 0 trace check bulk
says 'warning: unmodelled_opcode: UTMALDG.2D at pc 0x10'
says 'note: ignored_opcode: CCTL.IVALL'
run 0 trace check bulk.lspk
says 'warning: unmodelled_opcode: SYNCS, 4 times, first at pc 0x20'

# Lines as tracers of Hopper write them. With bytes out of bounds there are fewer differences than addresses.
list='0010 00000001 0 UTMALDG.2D 0 16 0x00000400 0 48 0 3 3 0x7f1234000000 0x7f1234000010 0x7f1234000020 0 0'
steps='0010 00000001 0 UTMALDG.2D 0 16 0x00000400 1 0x0003 2048 1024 4 0x7f1234000000 128 16 16 -16 0 0'
store='0020 00000001 0 UTMASTG.2D 0 16 0x0 0 32 0 4 0x7f1234000000 2 16 0 0'
off='0030 00000001 0 UBLKCP.S.G 0 0 0x0 0 0 0 4 0x0 0 0 0'
trace real "$list" "$steps" "$store" "$off" "$exit"
refused 3 "executes 8 instructions that are not modelled (UTMALDG 4, UTMASTG 2, UBLKCP 2), the first is UTMALDG at pc 0x10" \
    run real -p a100
run 0 run real -p a100 --unmodelled skip
says 'WARNING: unmodelled: 8 instructions are not modelled and ran without their effects: UTMALDG 4, UTMASTG 2, UBLKCP 2'
run 0 trace check real
says 'warning: unmodelled_opcode: UTMASTG.2D at pc 0x20'
trace later "$list NoVal" "$steps NoVal" "$store NoVal" "$off NoVal" "$exit 0 NoVal"
sed -i 's/tracer version = 5/tracer version = 6/' later/kernel-1.traceg
run 0 run later -p a100 --unmodelled skip
says 'UTMALDG 4, UTMASTG 2, UBLKCP 2'
trace cut "$list" "$exit"
sed -i 's/tracer version = 5/tracer version = 6/; s/EXIT 0 0 0/EXIT 0 0 0 NoVal/' cut/kernel-1.traceg
refused 2 'the line ends before its NoVal' run cut -p a100 --unmodelled skip

# Packed traces and .tracez files keep them.
run 0 trace pack real -o real.lspk
refused 3 "(UTMALDG 4, UTMASTG 2, UBLKCP 2), the first is UTMALDG at pc 0x10" run real.lspk -p a100
run 0 trace pack real.lspk -o real-z --format tracez
refused 3 "(UTMALDG 4, UTMASTG 2, UBLKCP 2), the first is UTMALDG at pc 0x10" run real-z -p a100
