# hopper_trace.bash: small traces of clusters and warp groups, written by hand; sourced after lib.bash.
# shellcheck shell=bash

EXIT='0 EXIT 0 0 0 0 NoVal'

# trace DIR GRID CLUSTER WARPS BODY: GRID and CLUSTER are "X Y"; BODY block rank warp prints the lines of a warp without pc
# and mask. More than one call with the same DIR adds kernels of the same stream.
trace() {
    local dir=$1 warps=$4 body=$5 gx gy cx cy x y w id rank lines
    read -r gx gy <<<"$2"
    read -r cx cy <<<"$3"
    mkdir -p "$dir"
    id=$(($(find "$dir" -name 'kernel-*' | wc -l) + 1))
    {
        cat <<HEAD
-kernel name = $body
-kernel id = $id
-grid dim = ($gx,$gy,1)
-block dim = ($((warps * 32)),1,1)
-shmem = ${SHARED:-1024}
-nregs = ${REGISTERS:-64}
-binary version = 90
-cuda stream id = 0
-shmem base_addr = 0x00007f0000000000
-local mem base_addr = 0x00007effdd000000
-nvbit version = 1.7
-accelsim tracer version = 6
-enable lineinfo = 0

#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses] immediate

HEAD
        for ((y = 0; y < gy; y++)); do
            for ((x = 0; x < gx; x++)); do
                rank=$((x % cx + y % cy * cx))
                printf '#BEGIN_TB\n\nthread block = %d,%d,0\n' "$x" "$y"
                printf 'cluster id = %d,%d,0\ncluster cta = %d,%d,0\ncluster rank = %d\n' \
                    $((x / cx)) $((y / cy)) $((x % cx)) $((y % cy)) "$rank"
                for ((w = 0; w < warps; w++)); do
                    lines=$("$body" $((x + y * gx)) "$rank" "$w")
                    printf '\nwarp = %d\ninsts = %d\n' "$w" "$(wc -l <<<"$lines")"
                    awk '{ printf "%04x ffffffff %s\n", 16 * (NR - 1), $0 }' <<<"$lines"
                done
                printf '\n#END_TB\n\n'
            done
        done
    } >"$dir/kernel-$id.traceg"
    echo "kernel-$id.traceg" >>"$dir/kernelslist.g"
}

# one_lane DIR: operations on mbarriers are those of one lane.
one_lane() {
    sed -i '/SYNCS.EXCH/s/ffffffff/00000001/; /SYNCS.ARRIVE/s/ffffffff/00000001/' "$1/kernel-1.traceg"
}

# times N LINE: the line so often.
times() {
    local i
    for ((i = 0; i < $1; i++)); do
        printf '%s\n' "$2"
    done
}

# cycles DIR ARG...: of all kernels.
cycles() {
    local dir=$1
    shift
    run 0 run --all "$dir" "$@"
    awk '$1 == "all" { gsub(",", "", $2); print $2; exit }' stdout
}

# metric NAME: of the run whose tidy output is in stdout.
metric() {
    awk -F, -v name="$1" '$1 == "run" && $2 == "" && $8 == name && $10 == "value" { print $11; exit }' stdout
}

# Two GPCs of 8 SMs each, in TPCs of two.
small=(-p h100 -s cores=16 -s cluster.gpcs=2 -s memory.channels=4)

# per NAME GRID CLUSTER WARPS BODY EXPECTED ARG...: cycles of one more step; COUNT is how many BODY makes.
per() {
    local name=$1 few many
    COUNT=10 trace "$name.few" "$2" "$3" "$4" "$5"
    COUNT=30 trace "$name.many" "$2" "$3" "$4" "$5"
    few=$(cycles "$name.few" "${small[@]}" "${@:7}")
    many=$(cycles "$name.many" "${small[@]}" "${@:7}")
    ((many - few == 20 * $6)) || fail "$name: 20 steps take $((many - few)) cycles instead of $((20 * $6))"
}

# Bodies of kernels that several tests use.

# Cluster barriers, accesses to other blocks, loads and warp groups; clusters of 2 x 2 blocks.
cluster_mix() {
    local i other=$((($2 + 1) % 4))
    echo '0 USETMAXREG.DEALLOC.CTAPOOL 0 0 40 0 NoVal'
    for ((i = 0; i < 3; i++)); do
        printf '0 UCGABAR_ARV 0 0 0 0 NoVal\n0 UCGABAR_WAIT 0 0 0 0 NoVal\n'
        printf '1 R2 LDS 1 R2 4 1 0x%x000100 4 0 0 NoVal\n' "$other"
        printf '0 STS.128 2 R2 R4 16 1 0x%x000100 16 0 0 NoVal\n' "$other"
        printf '1 R2 ATOM.E.ADD 2 R2 R3 4 1 0x7f000%x000100 4 0 0 NoVal\n' $((($2 + 2) % 4))
        printf '1 R6 LDG.E 2 R2 R3 4 1 0x%x 4 0 0 NoVal\n' $((0x700000000000 + $1 * 4096 + $3 * 512 + i * 128))
        times 2 '1 R24 HGMMA.64x64x16.F32 1 R24 0 0 0 0 NoVal'
        printf '1 R24 HGMMA.64x64x16.F32 1 R24 1 0 0 0 NoVal\n0 WARPGROUP.DEPBAR.LE 0 0 1 0 NoVal\n'
    done
    printf '0 UCGABAR_ARV 0 0 0 0 NoVal\n0 WARPGROUP.DEPBAR.LE 0 0 0 0 NoVal\n0 UCGABAR_WAIT 0 0 0 0 NoVal\n%s\n' "$EXIT"
}

# A kernel that lets the next one start beside it (SIGNAL), and one that waits for its end (WAIT).
first() {
    [[ -z $SIGNAL ]] || echo "0 $SIGNAL 0 0 0 0 NoVal"
    times 200 '1 R2 MUFU.RCP 1 R2 0 0 0 NoVal'
    echo "$EXIT"
}

second() {
    times 50 '1 R2 MUFU.RCP 1 R2 0 0 0 NoVal'
    [[ -z $WAIT ]] || echo "0 $WAIT 0 0 0 0 NoVal"
    times 50 '1 R2 MUFU.RCP 1 R2 0 0 0 NoVal'
    echo "$EXIT"
}

# COUNT cluster barriers.
barriers() {
    local i
    for ((i = 0; i < COUNT; i++)); do
        printf '0 UCGABAR_ARV 0 0 0 0 NoVal\n0 UCGABAR_WAIT 0 0 0 0 NoVal\n'
    done
    echo "$EXIT"
}

# COUNT matrix instructions of a warp group: OPCODE, SOURCES.
matrices() {
    times $((COUNT - 1)) "1 R24 $OPCODE $SOURCES 0 0 0 0 NoVal"
    printf '1 R24 %s %s 1 0 0 0 NoVal\n0 WARPGROUP.DEPBAR.LE 0 0 0 0 NoVal\n%s\n' "$OPCODE" "$SOURCES" "$EXIT"
}

# Atomics and reductions on other blocks, with and without an mbarrier; clusters of 2 x 2 blocks.
cluster_atomics() {
    local i other=$((($2 + 1) % 4))
    if (($3 == 0)); then
        printf '0 SYNCS.EXCH.64 2 UR4 UR6 8 1 0x%x000400 0 0 0 Val 1 01000400 1 00000000001ffffe\n' "$2"
        printf '0 SYNCS.ARRIVE.TRANS64 2 R2 R3 8 1 0x%x000400 0 0 0 Val 1 01000400 1 00000600\n' "$2"
    fi
    printf '0 UCGABAR_ARV 0 0 0 0 NoVal\n0 UCGABAR_WAIT 0 0 0 0 NoVal\n'
    for ((i = 0; i < 6; i++)); do
        printf '0 RED.E.ADD 2 R2 R3 4 1 0x7f000%x000100 %d 0 0 NoVal\n' "$other" $((4 << i % 3))
        printf '1 R2 ATOMS.ADD 2 R2 R3 4 1 0x%x000100 4 0 0 NoVal\n' $((($2 + 2) % 4))
        printf '1 R4 LDS 1 R2 4 1 0x100 %d 0 0 NoVal\n' $((4 << i % 3))
        (($3 == 0)) || continue
        printf '0 REDAS.ADD 2 R2 R4 4 1 0x0%x0004000%x000800 4 0 0 NoVal\n' "$other" "$other"
        printf '0 STAS 2 R2 R4 4 1 0x0%x0004000%x000900 8 0 0 NoVal\n' "$other" "$other"
    done
    (($3 == 0)) && printf '0 SYNCS.PHASECHK.TRANS64.TRYWAIT 2 R2 R5 8 1 0x%x000400 0 0 0 Val 1 01000400 1 00000000\n' "$2"
    printf '0 UCGABAR_ARV 0 0 0 0 NoVal\n0 UCGABAR_WAIT 0 0 0 0 NoVal\n%s\n' "$EXIT"
}
