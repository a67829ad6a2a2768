#!/bin/bash
# A sweep with GNU parallel: on this host, or on the hosts that a file lists.
#
#     ./parallel.sh                 # as many shards at a time as this host has CPUs
#     ./parallel.sh hosts           # on the hosts of the file, by ssh; the directory must be shared
#
# On one host `lockstep sweep -j N` does the same without shards.
shards=8

# Hosts work in the same directory, which they share (NFS): shards have files of their own there.
where=()
if [ $# -gt 0 ]; then
    where=(--sshloginfile "$1" --workdir "$PWD")
fi

# A shard that fails does not stop the others. --joblog and --resume-failed run the failed ones again.
parallel "${where[@]}" --joblog parallel.log --resume-failed \
    "lockstep sweep $(tr '\n' ' ' <sweep.args) --shard {}/$shards --retries 2 --progress never" ::: $(seq $shards)

lockstep merge sweep.*-of-$shards.db -o sweep.db
