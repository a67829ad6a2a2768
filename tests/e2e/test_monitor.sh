#!/usr/bin/env bash
# --monitor: a run that is watched, paused and stepped has the same results to the byte; a stop leaves partial ones; bad
# ports and tokens are refused.
# shellcheck source=lib.bash
source "$(dirname "$0")/lib.bash"

fir=(fir -p r9nano --size 65536)
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
exit 0
