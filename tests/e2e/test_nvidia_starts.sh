#!/usr/bin/env bash
# Every shipped NVIDIA GPU starts thread blocks at a rate of the whole GPU and finds its cores cold; imported platforms
# refill a place at once. A loop of dependent FFMA takes as long as on H100, its branch included, in every fidelity.
# shellcheck source=lib.bash
source "${BASH_SOURCE[0]%/*}/lib.bash"

# cycles TRACE OPTION...: of the whole run.
cycles() {
    run 0 run --all "$@"
    awk '$1 == "all" { gsub(",", "", $2); print $2; found = 1; exit } END { exit !found }' stdout || fail "no cycles"
}
empty=synth:throughput,op=MOV,count=1,warps=4

run 0 config list
mapfile -t native < <(awk '$2 == "gpu" && !/family/ && !/as Accel-Sim has it/ { print $1 }' stdout)
mapfile -t imported < <(awk '$2 == "gpu" && /as Accel-Sim has it/ { print $1 }' stdout)
((${#native[@]} >= 9 && ${#imported[@]} >= 3)) || fail "platforms: ${native[*]}; ${imported[*]}"

# 4096 more blocks at 1.15 cycles each; a GPU with few cores may be slower, for its places are taken.
for platform in "${native[@]}"; do
    few=$(cycles "$empty,ctas=4096" -p "$platform")
    many=$(cycles "$empty,ctas=8192" -p "$platform")
    ((many - few >= 4096 * 115 / 100)) || fail "$platform: 4096 blocks start in $((many - few)) cycles"
    cold=$(cycles "$empty" -p "$platform")
    warm=$(cycles "$empty" -p "$platform" -s core.cold_start_cycles=0)
    ((cold - warm >= 100)) || fail "$platform: a cold start takes $((cold - warm)) cycles"
    run 0 config show "$platform"
    for key in dispatch.block_interval_cycles core.cold_start_cycles core.branch_cycles dispatch_latency_cycles; do
        grep -qE "^ *$key .*(derived|fitted)" stdout || fail "$platform: $key has no source"
    done
done
few=$(cycles "$empty,ctas=4096" -p h100)
many=$(cycles "$empty,ctas=8192" -p h100)
((many - few <= 4096 * 120 / 100)) || fail "h100: 4096 blocks start in $((many - few)) cycles"

# One place on each of two cores: the next block starts in the cycle after the last one's end, for any latency
# of messages.
for platform in "${imported[@]}"; do
    two=$(cycles "$empty,ctas=2" -p "$platform" -s cores=2 -s core.cta_slots=1)
    twenty=$(cycles "$empty,ctas=20" -p "$platform" -s cores=2 -s core.cta_slots=1)
    block=$((two - 5000)) # less the launch latency
    ((twenty - two == 9 * (block + 1))) || fail "$platform: 9 more blocks per core take $((twenty - two)) cycles, one $block"
done

# loop NAME TIMES: a warp that executes a loop as the one of the FFMA traces, 128 dependent FFMA and 4 others, so often.
loop() {
    mkdir "$1"
    echo kernel-1.traceg >"$1/kernelslist.g"
    awk -v times="$2" 'BEGIN {
        n = split("kernel name = loop|kernel id = 1|grid dim = (1,1,1)|block dim = (32,1,1)|shmem = 0|nregs = 24|" \
                  "binary version = 90|cuda stream id = 0|shmem base_addr = 0x7f0000000000|" \
                  "local mem base_addr = 0x7f0001000000|nvbit version = 1.7|accelsim tracer version = 5|" \
                  "enable lineinfo = 0", head, "|")
        for (i = 1; i <= n; i++)
            print "-" head[i]
        printf "#traces format = ...\n#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = %d\n", times * 132 + 1
        for (t = 0; t < times; t++) {
            print "0060 ffffffff 1 R0 MOV 0 0 1073742663"
            print "0070 ffffffff 0 UIADD3 0 0 1"
            print "0080 ffffffff 1 R3 FFMA 2 R3 R0 0 0"
            print "0090 ffffffff 0 ISETP.LE.AND 1 R2 0 0"
            for (i = 1; i < 128; i++)
                printf "%04x ffffffff 1 R3 FFMA 2 R3 R0 0 0\n", 144 + 16 * i
            print "0890 ffffffff 0 BRA 0 0 96"
        }
        print "08a0 ffffffff 0 EXIT 0 0 0\n#END_TB"
    }' >"$1/kernel-1.traceg"
}
loop short 10
loop long 40
for fidelity in detailed basic memory; do
    few=$(cycles short -p h100 --fidelity "$fidelity")
    many=$(cycles long -p h100 --fidelity "$fidelity")
    ((many - few == 30 * 524)) || fail "$fidelity: 30 loops take $((many - few)) cycles, on H100 $((30 * 524))"
done
