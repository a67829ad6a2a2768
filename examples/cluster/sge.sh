#!/bin/bash
# A sweep on a cluster with Sun/Univa/Altair Grid Engine.
#
#     qsub sge.sh                                  # eight tasks, one shard each
#     lockstep sweep --status sweep.db             # how far all shards are
#     lockstep merge sweep.*-of-8.db -o sweep.db   # when they have ended
#
# A task that failed can be submitted again, `qsub -t 3 -v SHARDS=8 sge.sh`: it runs only what its file lacks.
#$ -N lockstep
#$ -t 1-8
#$ -cwd
#$ -S /bin/bash
#$ -l h_rt=01:00:00

# Grid Engine numbers tasks from 1, as shards are, and gives the number of the last task.
shard=${SGE_TASK_ID:?run this with qsub}
shards=${SHARDS:-${SGE_TASK_LAST:?}}

# The words of sweep.args are the options of the sweep: the same for every shard.
# shellcheck disable=SC2046
exec lockstep sweep $(cat sweep.args) --shard "$shard/$shards" --retries 2 --progress never
