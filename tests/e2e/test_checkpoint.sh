#!/usr/bin/env bash
# Checkpoints: a resumed run ends with the same numbers, for other threads, all fidelities, two streams and several GPUs;
# after kill -9; refusals. The long forms are in test_checkpoint_kills.sh.
# shellcheck source=tests/e2e/lib.bash
source "$SOURCE_DIR/tests/e2e/lib.bash"
# shellcheck source=tests/e2e/checkpoint.bash
source "$SOURCE_DIR/tests/e2e/checkpoint.bash"

small=(-p rtx3070 -s cores=2 -s memory.channels=4)
check detailed at=3us 1 2 synth:gemm,m=64,n=64,k=32 "${small[@]}" --series-every 500ns
check basic at=3us 2 1 synth:gemm,m=64,n=64,k=32 "${small[@]}" --fidelity basic
check memory at=3us 1 3 synth:gemm,m=64,n=64,k=32 "${small[@]}" --fidelity memory
check options at=3us 1 8 synth:gemm,m=64,n=64,k=32 "${small[@]}" -s core.fetch=cycle -s core.constant=cycle -s core.translation=cycle

# Two streams side by side: each counts for itself.
run 0 trace synth reduction,n=8192 -o two
run 0 trace synth gemm,m=64,n=64,k=32 -o b
sed 's/^-cuda stream id = .*/-cuda stream id = 7/; s/^-kernel id = .*/-kernel id = 2/' b/kernel-1.traceg >two/kernel-2.traceg
printf 'kernel-1.traceg\nkernel-2.traceg\n' >two/kernelslist.g
check streams 1kernels 8 1 two "${small[@]}"

# Several GPUs.
cat >pair.yaml <<'YAML'
machine: system
gpus:
  - {platform: rtx3070, count: 2, cores: 2, memory.channels: 4}
fabric: {model: switch, planes: 1, links: 2, link_gb_s: 8, packet_payload_bytes: 256, queue_messages: 256}
YAML
cat >work.list <<'LIST'
lockstep devices 1
device 0
run synth:vector-add,n=2048
copy 16384 0 1
signal half
wait done
device 1
wait half
run synth:saxpy,n=2048
signal done
LIST
check list at=4us 2 3 work.list -p ./pair.yaml

# From another directory: files of a checkpoint are named from the root.
mkdir elsewhere
(cd elsewhere && "$LOCKSTEP" resume ../streams.ck -f tidy --progress never 2>/dev/null | grep -v '^host,') | cmp -s - streams.whole ||
    fail 'another directory gives other numbers'

# ---------------------------------------------------------------------------------------------------- kill -9
killed=('synth:gemm,m=512,n=512,k=256' "${small[@]}")
timed_numbers whole run "${killed[@]}"
for moment in 500 700 900; do killed_and_resumed whole 2 "$moment" "${killed[@]}"; done
((resumed > 0)) || fail 'no killed run had a checkpoint'

# -------------------------------------------------------------------------------------------------- warm start
numbers warm resume detailed.ck -s dram.rcd_cycles=60
cmp -s warm detailed.whole && fail 'a slower DRAM changes nothing'
refused 3 "key 'l2.ways' cannot change at a checkpoint" resume detailed.ck -s l2.ways=8
refused 2 "nearest: dram.rcd_cycles" resume detailed.ck -s dram.rcd_cycle=8
refused 3 'with core.alu issue' resume basic.ck -s core.class.fp32.latency_cycles=9
run 0 sweep synth:gemm,m=64,n=64,k=32 "${small[@]}" --warm detailed.ck -v dram.rcd_cycles=20,60 --progress never
says 'fastest first'
refused 3 "key 'l2.sets' cannot change" sweep synth:gemm,m=64,n=64,k=32 "${small[@]}" --warm detailed.ck -v l2.sets=32 --progress never
refused 2 'is of another configuration' sweep synth:gemm,m=64,n=64,k=32 -p rtx3070 --warm detailed.ck -v dram.rcd_cycles=20 --progress never

# A full disk costs the checkpoint, not the run.
run 0 run synth:gemm,m=64,n=64,k=32 "${small[@]}" --checkpoint /dev/full --every at=3us --progress never
grep -q 'no checkpoint was written' stderr || fail 'nothing is said about a checkpoint that was not written'

# ---------------------------------------------------------------------------------------------------- refusals
refused 2 'is no interval of checkpoints' run "${killed[@]}" --checkpoint a.ck --every often
refused 2 'too many' run "${killed[@]}" --checkpoint a.ck --every 1us
refused 2 'need a file and an interval' run "${killed[@]}" --every 60s
refused 3 '--source and --checkpoint exclude each other' run "${killed[@]}" --checkpoint a.ck --every 60s --source
refused 3 '--timeline and --checkpoint exclude each other' run "${killed[@]}" --checkpoint a.ck --every 60s --timeline t.json
refused 2 'is not a checkpoint' resume work.list
head -c 5000 detailed.ck >cut.ck
refused 2 'is cut short' resume cut.ck
cp detailed.ck flipped.ck
printf 'x' | dd of=flipped.ck bs=1 seek=3000 conv=notrunc status=none
refused 2 'its checksum is wrong' resume flipped.ck
printf '\x07' | dd of=flipped.ck bs=1 seek=8 conv=notrunc status=none
refused 2 'has version 7 of the format' resume flipped.ck
echo 'thread block = 0,0,0' >>two/kernel-1.traceg
refused 2 'has changed since checkpoint' resume streams.ck
refused 3 'exec: --checkpoint' exec --checkpoint a.ck true
[[ ! -e a.ck ]] || fail 'a refused run wrote a file'
