#!/usr/bin/env bash
# The scripts of examples/cluster, each with the variables of its scheduler; ssh, scp and parallel are stood in for.
# shellcheck source=lib.bash
source "${BASH_SOURCE[0]%/*}/lib.bash"
command -v sqlite3 >/dev/null || skip "sqlite3 is not there"

mkdir bin
ln -s "$LOCKSTEP" bin/lockstep
export PATH=$work/bin:$PATH
place() { # DIRECTORY: the example with a smaller sweep
    mkdir -p "$1"
    cp "$SOURCE_DIR"/examples/cluster/* "$1"
    sed -i 's/m=128,n=128,k=64/m=64,n=64,k=32/; s/cores=4..16\*2/cores=2,4/' "$1/sweep.args"
}
runs() { sqlite3 "$1" 'SELECT run_id, end_time_fs FROM host JOIN runs USING(run) ORDER BY 1'; }

place whole
# shellcheck disable=SC2046
(cd whole && lockstep sweep $(cat sweep.args)) >stdout 2>stderr || fail "the sweep of the example does not run"
(($(runs whole/sweep.db | wc -l) == 4)) || fail "not four points"

place pbs
for i in 1 2 3 4 5 6 7 8; do
    (cd / && PBS_O_WORKDIR=$work/pbs PBS_ARRAY_INDEX=$i bash "$work/pbs/pbs.sh") >stdout 2>stderr || fail "PBS: shard $i"
done
(cd pbs && lockstep merge sweep.*-of-8.db -o sweep.db) >stdout 2>stderr || fail "PBS: no merge"
[[ $(runs pbs/sweep.db) == "$(runs whole/sweep.db)" ]] || fail "PBS: other results"

place sge
for i in 1 2; do
    (cd sge && SGE_TASK_ID=$i SGE_TASK_LAST=2 bash sge.sh) >stdout 2>stderr || fail "Grid Engine: shard $i"
done
(cd sge && lockstep merge sweep.*-of-2.db -o sweep.db) >stdout 2>stderr || fail "Grid Engine: no merge"
[[ $(runs sge/sweep.db) == "$(runs whole/sweep.db)" ]] || fail "Grid Engine: other results"

# ssh: every host is a directory.
cat >bin/ssh <<'END'
#!/bin/sh
shift
mkdir -p "$HOSTS/$1" && cd "$HOSTS/$1" && exec sh -c "$2"
END
cat >bin/scp <<'END'
#!/bin/sh
from=${2#*:}
exec cp "$HOSTS/${2%%:*}/$from" "$3"
END
# parallel: the command once for each word after ":::".
cat >bin/parallel <<'END'
#!/usr/bin/env bash
while [[ $1 == --* ]]; do if [[ $1 == --joblog ]]; then shift; fi; shift; done
command=$1
shift 2
for word; do bash -c "${command//\{\}/$word}" || exit; done
END
chmod +x bin/*
export HOSTS=$work/hosts
place ssh
(cd ssh && bash ssh.sh node1 node2 node3) >stdout 2>stderr || fail "ssh: $(cat stderr)"
[[ $(runs ssh/sweep.db) == "$(runs whole/sweep.db)" ]] || fail "ssh: other results"
[[ -e hosts/node2/lockstep-sweep/sweep.2-of-3.db ]] || fail "ssh: the second host did nothing"
place parallel
(cd parallel && bash parallel.sh) >stdout 2>stderr || fail "parallel: $(cat stderr)"
[[ $(runs parallel/sweep.db) == "$(runs whole/sweep.db)" ]] || fail "parallel: other results"
exit 0
