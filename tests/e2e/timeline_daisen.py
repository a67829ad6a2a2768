"""Opens Daisen's SQLite of either version and checks it: tables, parents, times, milestones, locations, topology.

Prints a JSON summary: tasks by kind, milestones by kind."""
import json
import sqlite3
import sys


def check(path, version):
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    all_ = lambda text: db.execute(text).fetchall()
    tables = {name for name, in all_("SELECT name FROM sqlite_master")}
    assert {"trace", "milestone", "daisen$segments", "exec_info"} <= tables, tables
    tasks = {row[0]: row for row in all_("SELECT ID, ParentID, Kind, What, Location, StartTime, EndTime FROM trace")}
    kind_of_id = str if version == 4 else int
    assert all(type(key) is kind_of_id for key in tasks)
    roots = [row for row in tasks.values() if row[1] in ("", 0)]
    assert [row[2] for row in roots] == ["Simulation"], roots
    for id_, parent, kind, what, location, start, end in tasks.values():
        assert kind and what and location and start <= end, (id_, kind, what)
        if parent in ("", 0):
            continue
        above = tasks[parent]
        assert above[5] <= start and end <= above[6], f"task {id_} ({kind}) is not inside {above[2]}"
    kinds_at = {}
    for row in tasks.values():
        kinds_at.setdefault(row[4], set()).add(row[2])
    assert all(len(kinds) == 1 for kinds in kinds_at.values()), "one location has one kind"
    known = {"hardware_resource", "network_transfer", "network_busy", "queue", "data", "dependency", "translation",
             "subtask", "work", "other"}
    seen = set()
    for task, time, kind in all_("SELECT TaskID, Time, Kind FROM milestone"):
        assert kind in known, kind
        assert (task, time) not in seen, "two milestones at one time"
        seen.add((task, time))
        assert tasks[task][5] <= time <= tasks[task][6], "a milestone outside of its task"
    ((first, last),) = all_('SELECT StartTime, EndTime FROM "daisen$segments"')
    assert first == 0 and last == roots[0][6]
    info = dict(all_("SELECT Property, Value FROM exec_info"))
    assert set(info) == {"Start Time", "Command", "Working Directory", "End Time"}
    if version == 4:
        assert all_("SELECT count(*) FROM trace_milestones") == [(len(seen),)]
        locations = set(kinds_at)
    else:
        names = dict(all_("SELECT ID, Locale FROM location"))
        assert set(kinds_at) <= set(names)
        locations = set(names.values())
        components = {name for name, in all_("SELECT Name FROM component_spec")}
        assert components
        ends = all_("SELECT Connection, count(*) FROM port GROUP BY Connection")
        assert ends and all(count == 2 for _, count in ends), "a connection has two ends"
    return {
        "tasks": dict(all_("SELECT Kind, count(*) FROM trace GROUP BY Kind")),
        "milestones": dict(all_("SELECT Kind, count(*) FROM milestone GROUP BY Kind")),
        "locations": len(locations),
        "end": last if version == 5 else last * 1e12,
    }


if __name__ == "__main__":
    json.dump(check(sys.argv[1], int(sys.argv[2])), sys.stdout)
