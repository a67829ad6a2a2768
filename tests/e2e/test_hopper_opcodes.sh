#!/usr/bin/env bash
# Every kind of instruction that came with Hopper, and the traps of bulk copies in traces: trace check knows them all, the H100
# runs them, and warnings name those without an effect. A misspelt one is an error with the nearest name.
# shellcheck source=lib.bash
source "${BASH_SOURCE[0]%/*}/lib.bash"
# shellcheck source=hopper_trace.bash
source "$SOURCE_DIR/tests/e2e/hopper_trace.bash"

# One mbarrier for each warp. The copy that is predicated off (UTMALDG without bytes) counts as none.
every_opcode() {
    sed "s/@/$((4 + $3))00/g; s/^END$/$EXIT/" <<'LINES'
0 SYNCS.EXCH.64 2 UR4 UR6 8 1 0x@ 0 0 0 Val 1 00000@ 1 00000000001ffffe
0 SYNCS.ARRIVE.TRANS64 2 R2 R3 8 1 0x@ 0 0 0 Val 1 00000@ 1 00001000
0 SYNCS.ARRIVE.TRANS64.RED.A0TR 2 R2 R3 8 1 0x@ 0 0 0 Val 1 00000@ 1 00000000
0 SYNCS.ARRIVE.TRANS64.A0TX 2 R2 R3 8 1 0x@ 0 0 0 Val 1 00000@ 1 00000000
0 UBLKCP.S.G 0 128 0x00000@ 0 4096 0 4 0x7f1000000000 32 128 128 128 128 128 128 128 128 128 128 128 128 128 128 128 128 128 128 128 128 128 128 128 128 128 128 128 128 128 128 128 0 0 NoVal
0 SYNCS.PHASECHK.TRANS64.TRYWAIT 2 R2 R5 8 1 0x@ 0 0 0 Val 1 00000@ 1 00000000
0 SYNCS.PHASECHK.TRANS64 2 R2 R5 8 1 0x@ 0 0 0 Val 1 00000@ 1 00000000
0 UTMASTG.2D 0 16 0x00000000 0 64 0 3 4 0x7f2000000000 0x7f2000000010 0x7f2000000020 0x7f2000000030 0 0 NoVal
0 UTMAREDG.1D.ADD 0 16 0x00000000 0 32 0 4 0x7f2000001000 2 16 0 0 NoVal
0 UBLKCP.G.S 0 16 0x00000000 0 32 0 4 0x7f2000002000 2 16 0 0 NoVal
0 UBLKRED.G.S.ADD 0 16 0x00000000 0 32 0 4 0x7f2000002000 2 16 0 0 NoVal
0 UTMAPF.L2.1D 0 16 0x00000000 0 32 0 4 0x7f2000003000 2 16 0 0 NoVal
0 UBLKPF.L2 0 16 0x00000000 0 32 0 4 0x7f2000003000 2 16 0 0 NoVal
0 UTMACMDFLUSH 0 0 0 0 NoVal
0 DEPBAR.LE 0 0 0 0 NoVal
0 UTMALDG.2D 0 16 0x00000@ 0 0 0 4 0x0 0 0 0 NoVal
0 UTMACCTL.PF 0 0 0 0 NoVal
0 FENCE.VIEW.ASYNC.S 0 0 0 0 NoVal
0 FENCE.VIEW.ASYNC 0 0 0 0 NoVal
0 STSM.16.MT88.4 2 R2 R4 16 1 0x800 16 0 0 NoVal
1 R4 LDSM.16.M88.4 1 R2 16 1 0x800 16 0 0 NoVal
0 ARRIVES.LDGSTSBAR.64.ARVCNT 1 R2 8 1 0x@ 0 0 0 NoVal
0 ARRIVES.LDGSTSBAR.64.TRANSCNT 1 R2 8 1 0x@ 0 0 0 NoVal
0 UCGABAR_ARV 0 0 0 0 NoVal
0 UCGABAR_WAIT 0 0 0 0 NoVal
0 WARPGROUP.ARRIVE 0 0 0 0 NoVal
1 R24 HGMMA.64x64x16.F32 1 R24 0 0 0 0 NoVal
1 R24 HGMMA.64x64x16.F32 1 R24 1 0 0 0 NoVal
0 WARPGROUP.DEPBAR.LE 0 0 0 0 NoVal
1 R24 QGMMA.64x64x32.F32.E4M3.E4M3 1 R24 1 0 0 0 NoVal
1 R24 IGMMA.64x64x32.S8.S8 1 R24 1 0 0 0 NoVal
0 WARPGROUP.DEPBAR.LE 0 0 0 0 NoVal
0 WARPGROUPSET 0 0 0 0 NoVal
0 USETMAXREG.DEALLOC.CTAPOOL 0 0 40 0 NoVal
0 USETSHMSZ 0 0 0 0 NoVal
0 ACQBULK 0 0 0 0 NoVal
0 PREEXIT 0 0 0 0 NoVal
1 R2 ELECT 0 0 0 0 NoVal
0 NANOSLEEP 0 0 0 0 NoVal
0 WARPSYNC 0 0 0 0 NoVal
1 UR4 R2UR 1 R2 0 0 0 NoVal
1 UR4 S2UR 0 0 0 0 NoVal
1 R4 VIMNMX 2 R2 R3 0 0 0 NoVal
1 R4 REDUX.SUM 1 R2 0 0 0 NoVal
0 BAR.SYNC.DEFER_BLOCKING 0 0 1 128 NoVal
1 R7 BAR.SYNC.DEFER_BLOCKING 1 R7 0 128 0 Val 1 00000002 1 00000002
0 BAR.ARV 0 0 3 128 NoVal
0 CGAERRBAR 0 0 0 0 NoVal
0 ERRBAR 0 0 0 0 NoVal
0 MEMBAR.ALL.GPU 0 0 0 0 NoVal
END
LINES
}
trace opcodes '1 1' '1 1' 4 every_opcode
# One lane for mbarriers and bulk copies; asynchronous arrivals are predicated off.
sed -i '/SYNCS.EXCH/s/ffffffff/00000001/; /SYNCS.ARRIVE/s/ffffffff/00000001/; /UBLK\|UTMA/s/ffffffff/00000001/; /ARRIVES/s/ffffffff/00000000/' opcodes/kernel-1.traceg
run 0 trace check opcodes
says ': 0 errors, '
grep -q 'unknown' stdout && fail 'an opcode is not known'
for fidelity in detailed basic; do
    run 0 run opcodes -p h100-sxm --fidelity $fidelity -f tidy
    (($(metric tma_loads) == 4 && $(metric tma_stores) == 8 && $(metric tma_reductions) == 8 && $(metric tma_prefetches) == 8)) ||
        fail "$fidelity: other counts of bulk copies"
    (($(metric warp_instructions) == $(grep -c ' [0-9a-f]\{8\} [01] ' opcodes/kernel-1.traceg))) || fail "$fidelity: instructions were left out"
done
run 0 run opcodes -p h100-sxm
grep -q 'smaller effects that are not modelled: UTMACCTL 4, WARPGROUPSET 4, USETSHMSZ 4, NANOSLEEP 4, CGAERRBAR 4, ERRBAR 4$' stderr ||
    fail 'other instructions without an effect'
cp -r opcodes misspelt
sed -i 's/ACQBULK/ACQBLUK/' misspelt/kernel-1.traceg
refused 3 "unknown opcode 'ACQBLUK' of sm_90" run misspelt -p h100-sxm
