"""Two runs side by side: lockstep.compare() and its Comparison."""

import ctypes
import math
import os
import tempfile

from . import _library, _run, _table

_ROW_COLUMNS = ["kernel", "kernel_name", "block", "type", "name", "unit", "a", "b", "difference"]
_KEY_COLUMNS = ["key", "a", "b"]


def _text(value):
    return None if value is None else value.decode(errors="replace")


class Comparison:
    """What two runs differ in."""

    def __init__(self, diff):
        lib = _library.library()
        info = lib.ls_sim_diff_get(diff)
        self.compared = info.compared  # numbers
        self.only_a, self.only_b = info.only_a, info.only_b  # kernels that the other run does not have
        self.partial = info.a.partial or info.b.partial
        self._metrics = [self._row(diff, 0, i) for i in range(info.metrics)]
        self._times = [self._row(diff, 1, i) for i in range(info.times)]
        self._keys = [self._key(diff, i) for i in range(info.keys)]

    @staticmethod
    def _row(diff, which, i):
        row = _library.DiffRow()
        _library.check(_library.library().ls_sim_get_diff, diff, which, i, ctypes.byref(row))
        values = {name: getattr(row, name) for name in _ROW_COLUMNS}
        values.update((name, _text(values[name])) for name in ("kernel_name", "block", "type", "name", "unit"))
        values.update((name, None if math.isnan(values[name]) else values[name]) for name in ("a", "b"))
        values["kernel"] = values["kernel"] or None
        return values

    @staticmethod
    def _key(diff, i):
        key = _library.DiffKey()
        _library.check(_library.library().ls_sim_get_diff_key, diff, i, ctypes.byref(key))
        return {"key": _text(key.key), "a": _text(key.a), "b": _text(key.b)}

    def __repr__(self):
        return f"<lockstep.Comparison: {len(self._metrics)} of {self.compared} numbers differ>"

    @property
    def same(self):
        """Whether no number differs and both runs have the same kernels."""
        return not self._metrics and not self.only_a and not self.only_b

    @property
    def metrics(self):
        """One row per metric that differs, the largest difference first."""
        return _table.make(self._metrics, _ROW_COLUMNS)

    @property
    def times(self):
        """Simulated time of the run (kernel None) and of each kernel, also equal ones."""
        return _table.make(self._times, _ROW_COLUMNS)

    @property
    def config(self):
        """One row per key of the platform that differs."""
        return _table.make(self._keys, _KEY_COLUMNS)


def _file_of(run, folder, name):
    """The file of a run: a Result is written to one."""
    if not isinstance(run, _run.Result):
        return run
    path = os.path.join(folder, name)
    run.export(path)
    return path


def compare(a, b, *, metric=None, kernel=None, per_block=False, threshold=0):
    """Compares two runs: files of results ("a.json", "sweep.db#3"), or Results of run().

    metric: only metrics of this name, as in "*stall*"; kernel: kernels of this name or number ("*": each) instead of
    the run as a whole; threshold: differences up to this share of the larger value count as none.
    """
    lib = _library.library()
    options = _library.CompareOptions(
        ctypes.sizeof(_library.CompareOptions), _run._bytes(metric), _run._bytes(kernel), per_block, threshold
    )
    with tempfile.TemporaryDirectory() as folder:
        paths = [_run._bytes(_file_of(run, folder, name)) for run, name in ((a, "a.json"), (b, "b.json"))]
        diff = ctypes.c_void_p()
        _library.check(lib.ls_sim_compare, *paths, ctypes.byref(options), ctypes.byref(diff))
        try:
            return Comparison(diff)
        finally:
            lib.ls_sim_diff_close(diff)
