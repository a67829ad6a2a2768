#!/usr/bin/env bash
# Asynchronous copies: a wait for groups leaves the newest ones running, for any number of earlier ones.
# Answers that bypass L1 arrive with as many sectors per cycle as the network delivers.
# shellcheck source=lib.bash
source "${BASH_SOURCE[0]%/*}/lib.bash"

# trace NAME WARPS: a kernel of one block; standard input has the instructions of each warp, with %WARP.
trace() {
    local rows count warp
    rows=$(cat)
    count=$(wc -l <<<"$rows")
    rm -rf "$1"
    mkdir "$1"
    echo kernel-1.traceg >"$1/kernelslist.g"
    {
        printf -- '-%s\n' "kernel name = copies" "kernel id = 1" "grid dim = (1,1,1)" "block dim = ($(($2 * 32)),1,1)" \
            "shmem = 16384" "nregs = 16" "binary version = 80" "cuda stream id = 0" "shmem base_addr = 0x7f8000000000" \
            "local mem base_addr = 0x7f7ffe000000" "nvbit version = 1.7" "accelsim tracer version = 5" \
            "enable lineinfo = 0"
        printf '#traces format = ...\n#BEGIN_TB\nthread block = 0,0,0\n'
        for ((warp = 0; warp < $2; warp++)); do
            printf 'warp = %d\ninsts = %d\n%s\n' "$warp" "$count" "${rows//%WARP/$warp}"
        done
        printf '#END_TB\n'
    } >"$1/kernel-1.traceg"
}
copy() { # ADDRESS: 512 bytes
    printf '0010 ffffffff 0 LDGSTS.E.BYPASS.128 2 R2 R4 16 1 0x%s 16 0\n' "$1"
}
commit='0020 ffffffff 0 LDGDEPBAR 0 0 0'
exit='0090 ffffffff 0 EXIT 0 0 0'

# cycles TRACE OPTION...: of the kernel.
cycles() {
    run 0 run --all "$@"
    awk '$1 == "all" { gsub(",", "", $2); print $2; exit }' stdout
}

# After BEFORE groups that are done, OPEN groups are under way when the warp waits until at most KEPT are open. Then it
# loads from DRAM, which takes as long as a copy.
wait_for() { # BEFORE OPEN KEPT
    local i
    {
        for ((i = 0; i < $1; i++)); do
            copy 7f0000000000
            echo "$commit"
        done
        echo '0030 ffffffff 0 DEPBAR.LE 0 0 0'
        for ((i = 0; i < $2; i++)); do
            copy "7f010$(printf %07x $((i * 4096)))"
            echo "$commit"
        done
        printf '0040 ffffffff 0 DEPBAR.LE 0 0 %d\n' "$3"
        printf '%s\n' '0050 ffffffff 1 R4 LDG.E 1 R6 4 1 0x7f0200000000 4 0' '0060 ffffffff 1 R5 IADD3 2 R4 R4 0 0' "$exit"
    } | trace wait 1
}
for before in 0 1 6 7 8 9 15 16 250 255 256 300; do
    for open in 1 3; do
        for kept in $((open - 1)) "$open"; do
            wait_for $before "$open" "$kept"
            for preset in detailed basic memory; do
                declare "took_${preset}_$((open - kept))=$(cycles wait -p a100 --fidelity $preset)"
            done
        done
        for preset in detailed basic memory; do
            waited=took_${preset}_1 not=took_${preset}_0 least=400
            [[ $preset != memory ]] || least=150 # its latency is the mean of this kernel's hits and misses
            ((${!waited} - ${!not} > least && ${!waited} - ${!not} < 700)) ||
                fail "$preset: after $before groups, to wait for one of $open costs $((${!waited} - ${!not})) cycles, not DRAM's 550"
        done
    done
done

# 8 warps copy 64 KiB again and again: 1024 more copies of 16 sectors each, at the network's sectors per cycle.
copies() { # COUNT
    local i
    {
        for ((i = 0; i < $1; i++)); do
            copy "7f00000%WARP$(printf %04x $((i % 64 * 512)))"
        done
        printf '%s\n' "$commit" "$exit"
    } | trace copies 8
}
# rate PLATFORM SECTORS-PER-CYCLE
rate() {
    local few many expected=$((1024 * 16 / $2))
    copies 128
    few=$(cycles copies -p "$1")
    copies 256
    many=$(cycles copies -p "$1")
    ((many - few >= expected * 99 / 100 && many - few <= expected * 105 / 100)) ||
        fail "$1: 1024 copies take $((many - few)) cycles, not $expected"
}
rate a100 2
rate h100 2
rate rtx3070 1
