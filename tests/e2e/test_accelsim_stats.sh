#!/usr/bin/env bash
# --stats accelsim: Accel-Sim's own patterns find their values in every kernel, and the values are the right ones.
# shellcheck source=lib.bash
source "$(dirname "$0")/lib.bash"
patterns=$SOURCE_DIR/tests/data/accelsim_stats_patterns.txt
echo x | grep -qP x || skip 'this grep has no Perl patterns'

# Three kernels: y = a * x + y twice over the same data, and one kernel with local memory by hand.
run 0 trace synth saxpy,n=4096 -o many
cp many/kernel-1.traceg many/kernel-2.traceg
local_line() { echo "$1 ffffffff $2 4 1 0x7f0000000000 4 "; }
{
    printf -- '-kernel name = spill\n-kernel id = 3\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n-shmem = 0\n-nregs = 8\n'
    printf -- '-binary version = 80\n-cuda stream id = 0\n-shmem base_addr = 0x0\n-local mem base_addr = 0x0\n'
    printf -- '-accelsim tracer version = 3\n#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 5\n'
    local_line 0000 '0 STL 2 R1 R2'
    local_line 0010 '1 R4 LDL 1 R1'
    echo '0020 ffffffff 1 R5 LDG.E 1 R6 4 1 0x7f5000000000 4 '
    echo '0030 ffffffff 0 STG.E 2 R8 R5 4 1 0x7f6000000000 4 '
    echo '0040 ffffffff 0 EXIT 0 0 '
    echo '#END_TB'
} >many/kernel-3.traceg
printf 'kernel-%d.traceg\n' 1 2 3 >many/kernelslist.g
run 0 run many -p rtx3070 --stats accelsim -o r.json
sed -E 's/[[:space:]]+$//' stdout >lines # as the script does

# value PATTERN KERNEL: group 1 in the block of that kernel, which begins with its name.
awk '/^kernel_name = /{n++} {print > ("block" n+0)}' lines
value() {
    grep -oP "$1" "block$2" | tail -1 | sed -E 's/^[^=]*= *//; s/ .*//'
}
found=0
while read -r kind _ pattern; do
    [[ $kind == '#'* || -z $kind ]] && continue
    for block in 1 2 3; do
        matches=$(grep -cP -- "$pattern" "block$block")
        [[ $matches == 1 ]] || fail "kernel $block: $matches lines match '$pattern'"
    done
    if [[ $kind == agg ]]; then # float() of the group must work
        [[ $(grep -oP -- "$pattern" block3 | sed -E 's/.*\(([0-9]+) sec\).*/= \1/; s/.*= *//') =~ ^[0-9.]+$ ]] ||
            fail "what '$pattern' finds is no number"
    fi
    ((found += 1))
done <"$patterns"
[[ $found == 25 ]] || fail "$found patterns, not 25"
[[ $(grep -vc '^#' "$patterns") == 25 && $(grep -c '^[a-z]* - ' "$patterns") == 19 ]] || fail 'the list of patterns has changed'

# Other lines that the scripts need.
head -100 lines | grep -P '^Accel-Sim.*\[build .*\]' >/dev/null || fail 'no build in the first lines'
tail -1 lines | grep -qx 'GPGPU-Sim: \*\*\* exit detected \*\*\*' || fail 'no end of the simulation'
[[ $(grep -cP '^kernel_name\s+=\s+(.*)' lines) == 3 ]] || fail 'not three kernels'

# Values that can be counted by hand: 4096 floats are 512 sectors; x and y are read, y is written. The second
# launch finds them in L2.
is() {
    local got
    got=$(value "$1" "$2")
    [[ $got == "$3" ]] || fail "kernel $2: $1 is '$got' instead of $3"
}
is 'Total_core_cache_stats_breakdown\[GLOBAL_ACC_R\]\[TOTAL_ACCESS\] = .*' 1 1024
is 'Total_core_cache_stats_breakdown\[GLOBAL_ACC_R\]\[TOTAL_ACCESS\] = .*' 2 2048
is 'Total_core_cache_stats_breakdown\[GLOBAL_ACC_W\]\[TOTAL_ACCESS\] = .*' 2 1024
is 'L2_cache_stats_breakdown\[GLOBAL_ACC_R\]\[TOTAL_ACCESS\] = .*' 1 1024
is 'L2_cache_stats_breakdown\[GLOBAL_ACC_R\]\[HIT\] = .*' 1 0
is 'L2_cache_stats_breakdown\[GLOBAL_ACC_R\]\[HIT\] = .*' 2 1024
is 'L2_cache_stats_breakdown\[GLOBAL_ACC_W\]\[TOTAL_ACCESS\] = .*' 2 1024
is 'total dram reads = .*' 2 1024
# The third one reads and writes 4 sectors of global memory, and 4 of local memory that are not counted here.
is 'Total_core_cache_stats_breakdown\[GLOBAL_ACC_R\]\[TOTAL_ACCESS\] = .*' 3 2052
is 'Total_core_cache_stats_breakdown\[GLOBAL_ACC_W\]\[TOTAL_ACCESS\] = .*' 3 1028
is 'L2_cache_stats_breakdown\[GLOBAL_ACC_R\]\[TOTAL_ACCESS\] = .*' 3 2052
is 'L2_cache_stats_breakdown\[GLOBAL_ACC_W\]\[TOTAL_ACCESS\] = .*' 3 1028
is 'gpgpu_n_tot_w_icount = .*' 3 "$(($(value 'gpgpu_n_tot_w_icount = .*' 2) + 5))"
is 'gpu_sim_insn = .*' 3 160
is 'gpu_tot_sim_insn = .*' 3 "$(($(value 'gpu_tot_sim_insn = .*' 2) + 160))"
is 'gpu_tot_sim_cycle = .*' 3 "$(($(value 'gpu_sim_cycle = .*' 1) + $(value 'gpu_sim_cycle = .*' 2) + $(value 'gpu_sim_cycle = .*' 3)))"
# One warp of 48 on one core.
is 'gpu_occupancy = .*' 3 '2.0833%'
is 'gpu_tot_issued_cta = .*' 3 "$(($(value 'gpu_tot_issued_cta = .*' 2) + 1))"

# Bank conflicts of shared memory, from a kernel that has them.
run 0 run synth:chain,op=LDS,lane_stride_bytes=8 -p rtx3070 --stats accelsim
grep -qP '^gpgpu_n_shmem_bkconflict = [1-9]' stdout || fail 'no conflicts where each access has one'

# An interrupted kernel is dropped by the scripts if this line is there.
run 0 run many -p rtx3070 --stats accelsim --until 3us
says 'GPGPU-Sim: ** break due to reaching the maximum cycles (or instructions) **'

# A format of its own: options without effect are refused, and so are machines without caches that count.
refused 2 '--format' run many -p rtx3070 --stats accelsim -f json
refused 2 '--per-block' run many -p rtx3070 --stats accelsim --per-block
refused 2 'analytic' run many -p rtx3070 --stats accelsim --fidelity memory
exit 0
