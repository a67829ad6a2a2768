"""Grids of simulations: lockstep.sweep() in a pool of processes, lockstep.sweep_db() in a database that is kept."""

import collections
import concurrent.futures
import ctypes
import itertools
import math
import multiprocessing
import os
import sys

from . import _library, _run, _table

Point = collections.namedtuple("Point", "workload sets result error")
Point.__doc__ = "One point of a sweep: result is None and error a LockstepError if it failed."


class Sweep:
    """The points of a sweep in the order of the grid, and a table of them."""

    def __init__(self, points, keys, metrics):
        self.points, self._keys, self._metrics = points, keys, metrics

    def __iter__(self):
        return iter(self.points)

    def __len__(self):
        return len(self.points)

    @property
    def failed(self):
        return [point for point in self.points if point.error is not None]

    @property
    def table(self):
        """One row per point: the workload, the varied keys, cycles, simulated seconds, the metrics asked for, the error."""
        names = [f"{type}.{name}" for type, name in self._metrics]
        rows = []
        for point in self.points:
            r = point.result
            row = {"workload": os.fspath(point.workload), **point.sets}
            row.update(cycles=r and r.cycles, seconds=r and r.seconds)
            row.update((n, r and r.metric(m[1], m[0])) for n, m in zip(names, self._metrics))
            row["error"] = None if point.error is None else str(point.error)
            rows.append(row)
        return _table.make(rows, ["workload", *self._keys, "cycles", "seconds", *names, "error"])

    def best(self, workload=None):
        """The point with the fewest cycles, of one workload or of all."""
        points = [p for p in self.points if p.result and (workload is None or p.workload == workload)]
        if not points:
            raise ValueError("no point has a result")
        return min(points, key=lambda p: p.result.cycles)


def _run_point(workload, platform, sets, options):
    """In a process of the pool. The machine is freed there; tables travel back."""
    result = _run.run(workload, platform, sets=sets, progress=False, **options)
    result.close()
    return result


def sweep(workloads, platform, *, vary, sets=None, processes=None, progress=None, metrics=(), **options):
    """Runs every combination of the values of vary ({"l2.ways": [8, 16]}) on every workload.

    processes: how many at a time; default: one per core of the host. progress: as for run(), with a function of
    (done, total). metrics: columns of the table, as (type, name): ("l2/cycle", "hits"). The other options are those
    of run(). A point that fails has its error and does not stop the others.
    """
    workloads = [workloads] if isinstance(workloads, (str, os.PathLike)) else list(workloads)
    grid = [dict(zip(vary, values)) for values in itertools.product(*vary.values())]
    jobs = [(workload, point) for workload in workloads for point in grid]
    shown = sys.stderr.isatty() or _run._in_notebook() if progress is None else progress
    _library.library()  # an error of the installation is no error of each point
    done = [None] * len(jobs)
    # Forked: scripts need no main guard, and the library is loaded once. No simulation runs in this process.
    context = multiprocessing.get_context("fork")
    with concurrent.futures.ProcessPoolExecutor(processes, mp_context=context) as pool:
        futures = {
            pool.submit(_run_point, workload, platform, {**(sets or {}), **point}, options): i
            for i, (workload, point) in enumerate(jobs)
        }
        try:
            for count, future in enumerate(concurrent.futures.as_completed(futures), 1):
                done[futures[future]] = future
                _show(shown, count, len(jobs))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    points = []
    for (workload, point), future in zip(jobs, done):
        error = future.exception()
        if error is not None and not isinstance(error, _library.LockstepError):
            raise error
        points.append(Point(workload, point, None if error else future.result(), error))
    return Sweep(points, list(vary), list(metrics))


def _show(progress, count, total):
    if callable(progress):
        return progress(count, total)
    if progress:
        sys.stderr.write(f"\rlockstep: {count} of {total} points" + ("\n" if count == total else ""))
        sys.stderr.flush()
    return None


# -------------------------------------------------------------------------------------------------- databases

StoredPoint = collections.namedtuple("StoredPoint", "workload sets cycles seconds run metrics error")
StoredPoint.__doc__ = "One point of a sweep in a database. run: its number there. error: why it failed, or None."


class StoredSweep:
    """The points of a sweep in the order of the grid. compare(f"{database}#{point.run}", ...) takes two of them."""

    def __init__(self, database, points, keys, columns):
        self.database, self.points, self._keys, self._columns = database, points, keys, columns

    def __iter__(self):
        return iter(self.points)

    def __len__(self):
        return len(self.points)

    @property
    def failed(self):
        return [point for point in self.points if point.error is not None]

    @property
    def table(self):
        """One row per point: workload, varied keys, cycles, simulated seconds, number of the run, metrics, error."""
        rows = [
            {"workload": p.workload, **p.sets, "cycles": p.cycles, "seconds": p.seconds, "run": p.run, **p.metrics,
             "error": p.error}
            for p in self.points
        ]  # fmt: skip
        return _table.make(rows, ["workload", *self._keys, "cycles", "seconds", "run", *self._columns, "error"])

    def best(self, workload=None):
        """The point with the fewest cycles, of one workload or of all."""
        points = [p for p in self.points if p.run is not None and workload in (None, p.workload)]
        if not points:
            raise ValueError("no point has a result")
        return min(points, key=lambda p: p.cycles)


def _stored(point, keys, metrics):
    sets = {key: point.values[i].decode() for i, key in enumerate(keys)}
    error = None if point.done or point.error is None else point.error.decode(errors="replace")
    numbers = (int(point.cycles), point.time_ns * 1e-9, point.run) if point.done else (None, None, None)
    return StoredPoint(point.workload.decode(), sets, *numbers, metrics, error)


class _StoredSweep:
    """Owns an ls_sim_sweep."""

    def __init__(self, options, keys):
        self.handle, self.keys = ctypes.c_void_p(), keys
        _library.check(_library.library().ls_sim_sweep_open, ctypes.byref(options), ctypes.byref(self.handle))

    def run(self, jobs, threads, progress, on_point):
        """Runs it. An exception in a callback (also Ctrl-C) ends the sweep and is raised here."""
        lib, raised = _library.library(), []

        def guard(call):
            try:
                if call() is False:
                    lib.ls_sim_sweep_stop(self.handle)
            except BaseException as exception:  # it must not end in the C code
                raised.append(exception)
                lib.ls_sim_sweep_stop(self.handle)

        how = _library.SweepRunOptions(
            ctypes.sizeof(_library.SweepRunOptions), jobs, threads,
            _library.SWEEP_PROGRESS(lambda _self, now: guard(
                lambda: _show(progress, now[0].done_before + now[0].finished, now[0].points) if progress else None)),
            _library.SWEEP_POINT(lambda _self, _index, point: guard(
                lambda: on_point(_stored(point[0], self.keys, {})) if on_point else None)),
        )  # fmt: skip
        error = _library.Error()
        status = lib.ls_sim_sweep_run(self.handle, ctypes.byref(how), ctypes.byref(error))
        if raised:
            raise raised[0]
        if status != _library.OK:
            raise _library.fail(error)

    def points(self):
        lib, points = _library.library(), []
        columns = [lib.ls_sim_sweep_column(self.handle, c).decode() for c in range(lib.ls_sim_sweep_column_count(self.handle))]
        for i in range(lib.ls_sim_sweep_point_count(self.handle)):
            point = _library.SweepPoint()
            _library.check(lib.ls_sim_get_point, self.handle, i, ctypes.byref(point))
            values = [lib.ls_sim_sweep_value(self.handle, i, c) for c in range(len(columns))]
            metrics = {name: None if math.isnan(value) else value for name, value in zip(columns, values)}
            points.append(_stored(point, self.keys, metrics))
        return points, columns

    def close(self):
        _library.library().ls_sim_sweep_close(self.handle)


def _values(values):
    return ",".join(_run._text(value) for value in values) if isinstance(values, (list, tuple, range)) else str(values)


def sweep_db(
    workloads, platform, database, *, vary, jobs=None, threads=1, metrics=(), progress=None, on_point=None, worker=None,
    **options,
):  # fmt: skip
    """Runs a grid like `lockstep sweep`: each point is a process of the lockstep command, all results go into a database.

    Points that the database has are not run again, also after a crash. vary: {"l2.ways": [8, 16]} or
    {"cores": "17..68*2"}. metrics: columns, as in ["*stall*"]. jobs: points at a time; default: one per core of the
    host. progress: as for sweep(); on_point: called with each StoredPoint when it has ended. Both end the sweep by
    returning False. worker: the lockstep command. The other options are those of run().
    """
    workload_list, workload_count = _run._list(_run._as_list(workloads))
    vary_list, vary_count = _run._list(f"{key}={_values(values)}" for key, values in vary.items())
    metric_list, metric_count = _run._list(_run._as_list(metrics))
    base, kept = _run._options(None, platform, **options)
    request = _library.SweepOptions(
        size=ctypes.sizeof(_library.SweepOptions), base=ctypes.pointer(base), workloads=workload_list,
        workload_count=workload_count, vary=vary_list, vary_count=vary_count, database=_run._bytes(database),
        command=b"python", metrics=metric_list, metric_count=metric_count, worker=_run._bytes(worker),
    )  # fmt: skip
    shown = sys.stderr.isatty() or _run._in_notebook() if progress is None else progress
    stored = _StoredSweep(request, list(vary))
    try:
        stored.run(jobs or os.cpu_count() or 1, threads, shown, on_point)
        points, columns = stored.points()
    finally:
        stored.close()
        del kept
    return StoredSweep(os.fspath(database), points, list(vary), columns)
