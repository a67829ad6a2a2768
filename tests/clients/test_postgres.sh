#!/usr/bin/env bash
# Results on a PostgreSQL server: a run, a sweep with four writers, readers, and errors in one line without passwords.
# The server is Debian's, on a unix socket in a directory of its own, as an ordinary user.
# shellcheck source=../e2e/lib.bash
source "${BASH_SOURCE[0]%/*}/../e2e/lib.bash"
bin=$(dirname "$(find /usr/lib/postgresql -path "*/bin/initdb" 2>/dev/null | sort -V | tail -1)")
[[ -x $bin/postgres && -x $bin/initdb ]] || skip "the server of PostgreSQL is not there"
command -v psql >/dev/null || skip "psql is not there"

# The server refuses to run as root.
server=$(mktemp -d)
as=()
if ((EUID == 0)); then
    user=postgres
    id $user >/dev/null 2>&1 || user=nobody
    chown $user "$server"
    as=(setpriv "--reuid=$user" "--regid=$(id -g $user)" --clear-groups)
fi
pid=
end() {
    [[ -z $pid ]] || { kill -INT "$pid" && wait "$pid"; } 2>/dev/null
    rm -rf "$work" "$server"
}
trap end EXIT
((${#server} < 80)) || skip "the temporary directory is too long for the path of a socket: $server"
(cd "$server" && "${as[@]}" "$bin/initdb" -D "$server/data" -A trust -U tester --no-sync) >initdb.log 2>&1 ||
    skip "a database cannot be made: $(tail -1 initdb.log)"
(cd "$server" && exec "${as[@]}" "$bin/postgres" -D "$server/data" -k "$server" -c listen_addresses= -c fsync=off) >log 2>&1 &
pid=$!
url="postgresql://tester@/postgres?host=$server"
for ((i = 0; i < 100; i++)); do
    psql "$url" -Atqc 'SELECT 1' >/dev/null 2>&1 && break
    sleep 0.1
done
psql "$url" -Atqc 'SELECT 1' >/dev/null 2>&1 || skip "the server does not start: $(tail -1 log)"

sql() { psql "$url" -Atqc "$1" || fail "psql: $1"; }

# One run: the tables and views of SQLite, the same values.
small=("synth:vector-add,n=4096" -p rtx3070 --set cores=4)
run 0 run "${small[@]}" --series-every 500ns -o "$url" -o one.db
run 0 compare one.db "$url#1" --check
for view in runs host config kernels top_kernels totals readings ipc hit_rates stalls buckets metrics blocks scopes series; do
    [[ $(sql "SELECT count(*) FROM $view") == "$(sqlite3 one.db "SELECT count(*) FROM $view")" ]] || fail "$view has other rows"
done
[[ $(sql "SELECT cycles, end_time_fs, events FROM runs") == "$(sqlite3 one.db 'SELECT cycles, end_time_fs, events FROM runs')" ]] ||
    fail "the run has other numbers"
[[ $(sql "SELECT round(ipc::numeric, 9) FROM ipc WHERE kernel IS NULL") == "$(sqlite3 one.db 'SELECT printf("%.9f", ipc) FROM ipc WHERE kernel IS NULL')" ]] ||
    fail "the ratio differs"
run 0 report "$url#1" -o run.html

# A sweep whose points four processes write at once: twice, so that two sweeps share the work.
grid=("${small[@]}" --vary "core.scheduler=gto,lrr" --vary memory.channels=8..32*2)
"$LOCKSTEP" sweep "${grid[@]}" -j2 -o "$url" >other 2>&1 &
other=$!
run 0 sweep "${grid[@]}" -j2 -o "$url" --metric ipc
wait $other || fail "the other sweep failed: $(cat other)"
grep -q ipc postgres.csv || fail "no table with the name of the database"
run 0 sweep "${grid[@]}" -o grid.db
[[ $(sql "SELECT count(*), count(DISTINCT run_id) FROM host JOIN runs USING(run) WHERE run > 1") == '6|6' ]] ||
    fail "a point is there twice, or missing"
[[ $(sql "SELECT run_id, end_time_fs FROM host JOIN runs USING(run) WHERE run > 1 ORDER BY 1") == \
    "$(sqlite3 grid.db 'SELECT run_id, end_time_fs FROM host JOIN runs USING(run) ORDER BY 1')" ]] || fail "points differ from those of a file"
run 0 sweep "${grid[@]}" -o "$url"
grep -q '6 are done, 0 to run' stderr || fail "finished points run again"
run 0 sweep --status "$url"
says '6 points: 6 done'
run 0 report "$url" -o sweep.html
grep -q 'memory.channels' sweep.html || fail "the report has no sweep"

# Shards write to one server; a merge moves results between a file and a server.
run 0 sweep "${small[@]}" --vary cores=1,2,3 --shard 1/2 -o "$url"
grep -q '2 points: 0 are done, 2 to run' stderr || fail "a shard has other points"
sql "CREATE DATABASE second" >/dev/null
run 0 merge grid.db -o "postgresql://tester@/second?host=$server"
run 0 merge "postgresql://tester@/second?host=$server" -o back.db
for table in points sweeps; do
    [[ $(sqlite3 back.db "SELECT * FROM $table ORDER BY 1") == "$(sqlite3 grid.db "SELECT * FROM $table ORDER BY 1")" ]] || fail "$table changed"
done
for table in totals readings buckets; do
    [[ $(sqlite3 back.db "SELECT * FROM $table" | sort) == "$(sqlite3 grid.db "SELECT * FROM $table" | sort)" ]] || fail "$table changed"
done

# A failed point is kept with its reason.
run 5 sweep synth:gemm,m=64,n=64,k=32 -p rtx3070 --vary core.registers=1024,65536 -o "$url"
[[ $(sql "SELECT count(*) FROM points WHERE error IS NOT NULL") == 1 ]] || fail "no reason is kept"

# Passwords: neither in messages nor in results.
secret="postgresql://tester:geheim@/postgres?host=$server"
run 0 run "${small[@]}" -o "$secret" --run-id named
refused 2 "run with the id 'named'" run "${small[@]}" -o "$secret" --run-id named
grep -q geheim stderr && fail "the password is shown"
[[ $(sql "SELECT count(*) FROM host WHERE command LIKE '%geheim%'") == 0 ]] || fail "the password is in the results"
run 0 run "${small[@]}" -o "postgresql:///postgres?host=$server&user=tester&password=geheim" -o command.json
grep -q geheim command.json && fail "the password is in a file"

# Errors.
nobody='postgresql://tester:geheim@127.0.0.1:1/x'
refused 2 'failed: Connection refused' run "${small[@]}" -o "$nobody"
grep -q geheim stderr && fail "the password is shown"
refused 2 'database "nothing" does not exist' run "${small[@]}" -o "postgresql://tester@/nothing?host=$server"
refused 2 'no valid URL' run "${small[@]}" -o "postgresql://tester:geheim@/x?nonsense=1"
grep -q geheim stderr && fail "the password is shown"
sql 'CREATE ROLE weak LOGIN' >/dev/null
sql 'CREATE DATABASE third' >/dev/null
refused 2 'permission denied' run "${small[@]}" -o "postgresql://weak@/third?host=$server"
refused 2 'does not hold Lockstep results' compare one.db "postgresql://tester@/third?host=$server"
refused 2 'no run 99' compare one.db "$url#99"
sql 'UPDATE lockstep_schema SET version = 2' >/dev/null
refused 2 'schema version 2' run "${small[@]}" -o "$url"
exit 0
