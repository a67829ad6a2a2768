#!/bin/bash
# A sweep on some hosts without any scheduler: one shard per host, by ssh.
#
#     ./ssh.sh node1 node2 node3
#
# The hosts need the same version of Lockstep, and the traces under the same names. They need not share a file system:
# the files of the shards are copied here at the end.
hosts=("$@")
shards=${#hosts[@]}
((shards > 0)) || {
    echo "usage: ssh.sh HOST..." >&2
    exit 2
}
folder=lockstep-sweep
arguments=$(tr '\n' ' ' <sweep.args)

# -n: ssh must not read this script's input. A host that fails loses its shard only.
for ((i = 0; i < shards; i++)); do
    ssh -n "${hosts[i]}" "mkdir -p $folder && cd $folder && lockstep sweep $arguments --shard $((i + 1))/$shards --retries 2 --progress never" &
done
wait

for ((i = 0; i < shards; i++)); do
    scp -q "${hosts[i]}:$folder/sweep.$((i + 1))-of-$shards.db" .
done

# Names the points of hosts that failed. The same command, or another host in its place, completes the sweep.
lockstep merge sweep.*-of-"$shards".db -o sweep.db
