#!/bin/bash
# A sweep on a cluster with PBS (OpenPBS, PBS Pro; Torque has the variable PBS_ARRAYID instead).
#
#     qsub pbs.sh                                  # eight tasks, one shard each
#     lockstep sweep --status sweep.db             # how far all shards are
#     lockstep merge sweep.*-of-8.db -o sweep.db   # when they have ended
#
# A task that failed can be submitted again: it runs only the points that its file lacks.
#PBS -N lockstep
#PBS -J 1-8
#PBS -l select=1:ncpus=1
#PBS -l walltime=01:00:00

# The number of tasks must be that of the line "-J" above.
shards=8
shard=${PBS_ARRAY_INDEX:-${PBS_ARRAYID:?run this with qsub}}

# Jobs of PBS start in the home directory.
cd "${PBS_O_WORKDIR:-.}" || exit 1

# The words of sweep.args are the options of the sweep: the same for every shard.
# shellcheck disable=SC2046
exec lockstep sweep $(cat sweep.args) --shard "$shard/$shards" --retries 2 --progress never
