#!/usr/bin/env bash
# --monitor: a run that is watched, paused and stepped has the same results to the byte; a stop leaves partial ones; bad
# ports and tokens are refused.
# shellcheck source=lib.bash
source "$(dirname "$0")/lib.bash"

fir=(fir -p r9nano --size 524288) # about a second: the client must find it running
run 0 run "${fir[@]}" -f csv
cp stdout plain.csv

cat >client.py <<'END'
import json, re, subprocess, sys, time, urllib.request

end, *command = sys.argv[1:]
run = subprocess.Popen(command, stdout=open("watched.csv", "w"), stderr=subprocess.PIPE, text=True)
line = run.stderr.readline()
port, token = re.fullmatch(r"lockstep: monitor: http://127\.0\.0\.1:(\d+)/#token=(\w+)\n", line).groups()
base = f"http://127.0.0.1:{port}"


def state():
    return json.load(urllib.request.urlopen(base + "/api/state"))


def command(what):
    urllib.request.urlopen(urllib.request.Request(base + what, b"", {"X-Lockstep-Token": token})).read()


def wait(done):
    for _ in range(500):
        now = state()
        if done(now):
            return now
        time.sleep(0.02)
    raise SystemExit(f"the monitor never said so: {now}")


command("/api/pause")
first = wait(lambda s: s["state"] == "paused")
command("/api/step?time=3us")
second = wait(lambda s: s["state"] == "paused" and s["time_fs"] > first["time_fs"])
assert second["time_fs"] == first["time_fs"] + 3 * 10**9, (first["time_fs"], second["time_fs"])
assert second["workload"] == "fir" and second["platform"] == "r9nano" and second["series"]["columns"]
assert len(second["host"]["thread_seconds"]) >= 2 and second["host"]["memory_bytes"] > 10**6
command("/api/" + end)
rest = run.stderr.read()
sys.exit(run.wait() if end == "continue" else 0 if run.wait() == 130 and "partial" in rest else 1)
END
for threads in 1 3; do
    python3 client.py continue "$LOCKSTEP" run "${fir[@]}" -f csv -j $threads --monitor 0 --monitor-token auto ||
        fail "the watched run with $threads threads failed"
    cmp plain.csv watched.csv || fail "a watched run has other results with $threads threads"
done
python3 client.py stop "$LOCKSTEP" run "${fir[@]}" -f csv --monitor 0 --monitor-token auto || fail 'stop'
grep -q ',1,"*partial: stopped by its caller' watched.csv || fail 'a stopped run is not marked as partial'

refused 2 "'70000' is no port for the monitor" run "${fir[@]}" --monitor 70000
refused 2 "'x' is no port for the monitor" run "${fir[@]}" --monitor x
refused 2 "a monitor's token needs --monitor" run "${fir[@]}" --monitor-token auto
refused 2 'its value TOKEN is empty' run "${fir[@]}" --monitor 0 --monitor-token ''

# A sweep: points, workers and the best so far; a stop leaves the points that are done.
points=(sweep fir -p r9nano --size 4096 --vary 'vector_cache.ways=1,2,4' --vary 'cu.waves_per_simd=1,2,4,8' --progress never)
cat >sweep.py <<'END'
import json, re, subprocess, sys, time, urllib.request

end, *command = sys.argv[1:]
run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
url = re.search(r"lockstep: monitor: (http://127\.0\.0\.1:\d+)/#token=(\w+)", run.stderr.readline() + run.stderr.readline())
base, token = url.groups()


def post(what):
    try:
        return urllib.request.urlopen(urllib.request.Request(base + what, b"", {"X-Lockstep-Token": token})).status
    except urllib.error.HTTPError as refusal:
        return refusal.code


seen = {"finished": 0}
for _ in range(2000):
    try:
        seen = json.load(urllib.request.urlopen(base + "/api/state"))
    except OSError:
        break
    if end == "stop" and seen["finished"] > 0:
        assert post("/api/pause") == 404 and post("/api/stop") == 200
        break
    time.sleep(0.02)
rest = run.stderr.read()
if end == "stop":
    sys.exit(0 if run.wait() == 130 and "interrupted with" in rest else 1)
assert seen["state"] == "done" and seen["finished"] == seen["to_run"], seen
assert seen["points"] == 12 and seen["failed"] == 0 and len(seen["workers"]) == 2, seen
assert sum(w["points"] for w in seen["workers"]) == seen["to_run"] - seen["by_others"], seen
times = [b["time_ns"] for b in seen["best"]]
assert len(times) == 10 and times == sorted(times) and "vector_cache.ways=" in seen["best"][0]["words"], seen
sys.exit(run.wait())
END
# Points of the stopped sweep take longer, so that not all are done when it is told.
python3 sweep.py stop "$LOCKSTEP" "${points[@]/4096/65536}" -o stopped.db --monitor 0 --monitor-token auto || fail 'a stopped sweep'
python3 sweep.py end "$LOCKSTEP" "${points[@]}" -j 2 -o watched.db --monitor 0 --monitor-token auto || fail 'a watched sweep'
run 0 "${points[@]}" -o plain.db
cut -d, -f1-5 plain.csv >plain.rows
cut -d, -f1-5 watched.csv | cmp -s - plain.rows || fail 'a watched sweep has other results'
refused 2 "'x' is no port for the monitor" "${points[@]}" -o no.db --monitor x
refused 2 "a monitor's token needs --monitor" "${points[@]}" -o no.db --monitor-token auto
exit 0
