#!/usr/bin/env bash
# Matrix instructions on the shipped platforms: multiply-adds per cycle and SM equal NVIDIA's published rates,
# for each type; independent instructions reach them, dependent ones take the latency.
# shellcheck source=lib.bash
source "${BASH_SOURCE[0]%/*}/lib.bash"

# cycles PLATFORM TRACE: of the kernel.
cycles() {
    run 0 run --all "$2" -p "$1"
    awk '$1 == "all" { gsub(",", "", $2); print $2; exit }' stdout
}

# rate PLATFORM VERSION OPCODE FMA-OF-A-WARP EXPECTED-FMA-PER-CYCLE
rate() {
    local trace="synth:throughput,op=HMMA,binary_version=$2,opcode=$3,warps=8" few many
    few=$(cycles "$1" "$trace,count=64")
    many=$(cycles "$1" "$trace,count=192")
    (($4 * 8 * 128 == $5 * (many - few))) ||
        fail "$1: 128 times 8 $3 take $((many - few)) cycles, $5 multiply-adds per cycle would be $(($4 * 1024 / $5))"
}
rate v100 70 HMMA.884.F32.F32.STEP0 256 512
rate v100 70 HMMA.884.F16.F16.STEP0 512 512
rate rtx2060 75 HMMA.1688.F32 1024 256
rate rtx2080ti 75 HMMA.1688.F16 1024 512
rate rtx2080ti 75 IMMA.8816.S8.S8 1024 1024
rate rtx2080ti 75 IMMA.8832.S4.S4 2048 2048
rate rtx3060 86 HMMA.1688.F32 1024 256
rate rtx3070 86 HMMA.16816.F32 2048 256
rate rtx3070 86 HMMA.16816.F16 2048 512
rate rtx3070 86 HMMA.16816.F32.BF16 2048 256
rate rtx3070 86 HMMA.1688.F32.TF32 1024 128
rate rtx3090 86 IMMA.16832.S8.S8 4096 1024
rate a100 80 HMMA.16816.F32 2048 1024
rate a100 80 HMMA.1688.F32 1024 1024
rate a100 80 HMMA.SP.16832.F32 2048 1024
rate a100 80 HMMA.1688.F32.TF32 1024 512
rate a100 80 IMMA.16816.S8.S8 2048 2048
rate a100 80 IMMA.16864.S4.S4 8192 4096
rate a100 80 DMMA.884 256 64
rate a100 80 HMMA.1684.F32.TF32 512 512
rate a100 80 IMMA.16832.S8.S8 4096 2048
rate rtx4090 90 HMMA.16816.F32 2048 256
rate rtx4090 90 HMMA.16816.F16 2048 512
rate rtx4090 90 HMMA.1688.F32.TF32 1024 128
rate rtx4090 90 IMMA.16832.S8.S8 4096 1024
rate rtx4090 90 QMMA.16832.F32.E4M3.E4M3 4096 512
rate rtx4090 90 QMMA.16832.F16.E4M3.E4M3 4096 1024
rate l40s 90 HMMA.16816.F32 2048 512
rate l40s 90 QMMA.16832.F32.E4M3.E4M3 4096 1024
rate rtx5090 90 QMMA.16832.F32.E4M3.E4M3 4096 512
rate h100 90 DMMA.884 256 128
rate h100 90 HGMMA.64x256x16.F32 65536 2048
rate h100 90 HGMMA.64x64x8.F32.TF32 8192 1024
rate h100 90 QGMMA.64x128x32.F32.E4M3.E4M3 65536 4096
rate h100 90 IGMMA.64x256x32.S8.S8 131072 4096

# chain PLATFORM OPCODE EXPECTED-CYCLES
chain() {
    local trace="synth:chain,op=HMMA,binary_version=80,opcode=$2" few many
    few=$(cycles "$1" "$trace,count=64")
    many=$(cycles "$1" "$trace,count=192")
    ((many - few == 128 * $3)) || fail "$1: a dependent $2 takes $((many - few)) / 128 cycles, not $3"
}
chain a100 HMMA.1688.F32 18
chain a100 HMMA.16816.F32 25
chain rtx3070 HMMA.16816.F32 34
chain rtx3070 HMMA.16816.F16 25
chain h100 HMMA.16816.F32 24
chain h100 HMMA.1688.F32 16
chain a100 HMMA.1688.F32.TF32 25
chain a100 HMMA.1684.F32.TF32 18
chain a100 IMMA.16832.S8.S8 25
chain a100 IMMA.16816.S8.S8 18
chain rtx4090 HMMA.16816.F32 34
chain rtx4090 HMMA.16816.F16 26
chain rtx4090 IMMA.16816.S8.S8 26
chain rtx5090 QMMA.16832.F32.E4M3.E4M3 34
# Instructions of one warp reach 62 % of the peak on Hopper: 6 cycles instead of 4, 3 instead of 2.
for row in 'HMMA.16816.F32 6' 'HMMA.1688.F32 3' 'HMMA.1688.F32.TF32 6' 'IMMA.16832.S8.S8 6' 'IMMA.16816.S8.S8 3' 'QMMA.16832.F32.E4M3.E4M3 6'; do
    read -r opcode interval <<<"$row"
    few=$(cycles h100 "synth:throughput,op=HMMA,binary_version=90,opcode=$opcode,warps=8,count=64")
    many=$(cycles h100 "synth:throughput,op=HMMA,binary_version=90,opcode=$opcode,warps=8,count=192")
    ((many - few == 256 * interval)) || fail "h100: $opcode takes $((many - few)) / 256 cycles, not $interval"
done

# A small warp-group instruction is not as slow as a large one, in every fidelity.
for fidelity in detailed basic memory; do
    run 0 run --all synth:throughput,op=HMMA,binary_version=90,opcode=HGMMA.64x8x16.F32,warps=4,count=64 -p h100 --fidelity $fidelity
    small=$(awk '$1 == "all" { gsub(",", "", $2); print $2; exit }' stdout)
    run 0 run --all synth:throughput,op=HMMA,binary_version=90,opcode=HGMMA.64x256x16.F32,warps=4,count=64 -p h100 --fidelity $fidelity
    large=$(awk '$1 == "all" { gsub(",", "", $2); print $2; exit }' stdout)
    ((large - small > 64 * 100)) || fail "fidelity $fidelity: N = 8 takes $small cycles, N = 256 $large"
done

# A type without a rate takes the time of its class, and the results say so.
run 0 run synth:throughput,op=HMMA,opcode=IMMA.16864.S4.S4,count=8 -p h100 -f json
says 'static matrix instructions have a shape or type without a rate'
says 'the first is IMMA at pc 0x0'

# Results of independent instructions do not overlap, for any width: rates are those of the unit.
independent() {
    local few many
    few=$(cycles "$1" "synth:throughput,sources=1,op=$2,warps=4,count=64")
    many=$(cycles "$1" "synth:throughput,sources=1,op=$2,warps=4,count=192")
    ((many - few == 128 * $3)) || fail "$1: an independent $2 takes $((many - few)) / 128 cycles, not $3"
}
independent h100 FFMA 1
independent h100 DADD 2
independent h100 DFMA 2
independent h100 MUFU 8
independent h100 HMMA 6
independent a100 FFMA 2
independent a100 DFMA 4
independent a100 HMMA 8
independent rtx3070 HMMA 32
independent rtx3070 DADD 64
