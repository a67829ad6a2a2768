"""Grids of simulations in a pool of processes: lockstep.sweep()."""

import collections
import concurrent.futures
import itertools
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
        progress(count, total)
    elif progress:
        sys.stderr.write(f"\rlockstep: {count} of {total} points" + ("\n" if count == total else ""))
        sys.stderr.flush()
