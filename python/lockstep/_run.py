"""One simulation: lockstep.run() and its Result."""

import collections
import ctypes
import fnmatch
import os
import re
import sys
import tempfile
import time

from . import _library, _table
from ._library import FS_PER_SECOND, METRIC_KINDS, RUN_SCOPE

Progress = collections.namedtuple("Progress", "seconds events wall_seconds")
Progress.__doc__ = "How far a run is: simulated seconds, events so far, host seconds."

_UNITS = {"fs": 1, "ps": 10**3, "ns": 10**6, "us": 10**9, "ms": 10**12, "s": 10**15}


def _time_fs(value):
    """Femtoseconds of "20us" or of a number of seconds."""
    if value is None:
        return 0
    if isinstance(value, str):
        match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(fs|ps|ns|us|ms|s)\s*", value)
        if not match:
            raise ValueError(f"'{value}' is no time: a number and fs, ps, ns, us, ms or s, as in 20us")
        return round(float(match[1]) * _UNITS[match[2]])
    return round(value * FS_PER_SECOND)


def _bytes(text):
    return None if text is None else os.fsencode(text)


def _list(texts):
    items = [_bytes(text) for text in texts]
    return (ctypes.c_char_p * len(items))(*items), len(items)


def _sizes(value):
    """ "64,2,1" of (64, 2, 1), 64 or a text."""
    if value is None or isinstance(value, str):
        return _bytes(value)
    return _bytes(",".join(str(v) for v in (value if isinstance(value, (tuple, list)) else (value,))))


def _as_list(value):
    return [value] if isinstance(value, (str, os.PathLike)) else list(value)


# --------------------------------------------------------------------------------------------------- progress


def _in_notebook():
    return "ipykernel" in sys.modules


class _Line:
    """A line on standard error that is written over and over; a terminal and a notebook both show it."""

    def __init__(self):
        self.width = 0

    def __call__(self, now):
        text = f"lockstep: {now.seconds * 1e6:,.1f} us simulated, {now.events:,} events, {now.wall_seconds:.0f} s"
        sys.stderr.write("\r" + text.ljust(self.width))
        sys.stderr.flush()
        self.width = len(text)

    def clear(self):
        if self.width:
            sys.stderr.write("\r" + " " * self.width + "\r")
            sys.stderr.flush()


def _progress_of(progress):
    """None: a line in terminals and notebooks; True, False: always, never; else a function."""
    if progress is None:
        progress = sys.stderr.isatty() or _in_notebook()
    return _Line() if progress is True else progress or None


# ----------------------------------------------------------------------------------------------------- result

_KERNEL_COLUMNS = ["number", "name", "stream", "cycles", "begin_cycle", "end_cycle", "begin_s", "end_s", "overlapped", "gpu"]
_STREAM_COLUMNS = ["stream", "kernels", "cycles", "begin_s", "end_s"]
_METRIC_COLUMNS = ["type", "name", "value", "unit", "kind", "blocks", "help"]
_STALL_COLUMNS = ["type", "reason", "value", "share", "unit", "help"]


def _value(m):
    """None if there is nothing to say; a whole number of a counter; the ratio; the mean of a histogram."""
    if not m.present:
        return None
    return m.real if METRIC_KINDS[m.kind] in ("ratio", "histogram") else m.value


class Result:
    """What a run measured. It can be pickled; per-kernel metrics are then gone, as only the simulation has them."""

    def __init__(self, sim):
        lib = _library.library()
        handle = sim.handle
        r = lib.ls_sim_get_result(handle)
        self._sim = sim
        self.platform = lib.ls_sim_platform(handle).decode()
        self.config = lib.ls_sim_config(handle).decode()  # the resolved platform as YAML
        self.config_hash = lib.ls_sim_config_hash(handle).decode()
        self.cycles = r.cycles if r.has_cycles else None
        self.seconds = r.end_time / FS_PER_SECOND  # simulated
        self.events, self.messages = r.events, r.messages
        self.partial, self.partial_reason = r.partial, r.partial_reason.decode()
        self.wall_seconds = r.wall_seconds
        sample = _library.Sample()
        sampled = lib.ls_sim_get_sample(handle, ctypes.byref(sample))
        # What was simulated and what the whole would take (cycles, low, high, error); None: all was simulated.
        self.sample = {name: getattr(sample, name) for name, _ in sample._fields_} if sampled else None
        count = ctypes.c_size_t()
        warnings = lib.ls_sim_warnings(handle, ctypes.byref(count))
        self.warnings = [(warnings[i].kind.decode(), warnings[i].text.decode()) for i in range(count.value)]
        self._kernels = [self._kernel_row(i) for i in range(lib.ls_sim_kernel_count(handle))]
        self._streams = [self._stream_row(i) for i in range(lib.ls_sim_stream_count(handle))]
        self._metrics = self._metric_rows(RUN_SCOPE)
        self._stalls = self._stall_rows(RUN_SCOPE)
        self._series, self._series_columns = self._series_rows()

    def __repr__(self):
        cycles = "" if self.cycles is None else f", {self.cycles:,} cycles"
        partial = f", partial: {self.partial_reason}" if self.partial else ""
        return f"<lockstep.Result on {self.platform}: {len(self._kernels)} kernels{cycles}{partial}>"

    def __getstate__(self):
        return {**self.__dict__, "_sim": None}

    def _get(self, function, struct, *indices):
        out = struct()
        _library.check(function, self._handle(), *indices, ctypes.byref(out))
        return out

    def _handle(self):
        if self._sim is None or self._sim.handle is None:
            raise _library.LockstepError("the simulation behind this result is closed", "usage")
        return self._sim.handle

    def _kernel_row(self, i):
        k = self._get(_library.library().ls_sim_get_kernel, _library.Kernel, i)
        values = (k.number, k.name.decode(), k.stream, k.end_cycle - k.begin_cycle, k.begin_cycle, k.end_cycle)
        times = (k.begin / FS_PER_SECOND, k.end / FS_PER_SECOND)
        return dict(zip(_KERNEL_COLUMNS, (*values, *times, k.overlapped, k.gpu)))

    def _stream_row(self, i):
        s = self._get(_library.library().ls_sim_get_stream, _library.Stream, i)
        return dict(
            zip(_STREAM_COLUMNS, (s.stream, s.kernels, s.cycles, s.begin / FS_PER_SECOND, s.end / FS_PER_SECOND))
        )

    def _metric_rows(self, scope):
        lib, rows = _library.library(), []
        for i in range(lib.ls_sim_metric_count(self._handle())):
            m = self._get(lib.ls_sim_get_metric, _library.Metric, scope, i)
            texts = (m.type.decode(), m.name.decode(), _value(m), m.unit.decode(), METRIC_KINDS[m.kind])
            rows.append(dict(zip(_METRIC_COLUMNS, (*texts, m.blocks, m.help.decode()))))
        return rows

    def _stall_rows(self, scope):
        lib, rows = _library.library(), []
        for i in range(lib.ls_sim_stall_count(self._handle())):
            s = self._get(lib.ls_sim_get_stall, _library.Stall, scope, i)
            values = (s.type.decode(), s.reason.decode(), s.value, s.share, s.unit.decode(), s.help.decode())
            rows.append(dict(zip(_STALL_COLUMNS, values)))
        return rows

    def _series_rows(self):
        """Rows per interval, and their columns; without a series only the time."""
        lib = _library.library()
        s = lib.ls_sim_get_series(self._handle())
        columns = [self._get(lib.ls_sim_get_series_column, _library.SeriesColumn, c) for c in range(s.columns)]
        several = len({c.gpu for c in columns if c.gpu >= 0}) > 1
        names = ["begin_s"] + [
            (f"gpu{c.gpu} " if several and c.gpu >= 0 else "") + f"{c.type.decode()}.{c.name.decode()}" for c in columns
        ]
        rows = []
        for i in range(s.intervals):
            values = [lib.ls_sim_series_value(self._handle(), i, c) for c in range(s.columns)]
            rows.append(dict(zip(names, [i * s.every / FS_PER_SECOND, *values])))
        return rows, names

    def _scope(self, kernel):
        """The place of a kernel by its number; RUN_SCOPE without one."""
        if kernel is None:
            return RUN_SCOPE
        for i, row in enumerate(self._kernels):
            if row["number"] == kernel:
                return i
        raise _library.LockstepError(f"no kernel {kernel} has ended", "usage")

    @property
    def kernels(self):
        """One row per kernel, in the order of their ends."""
        return _table.make(self._kernels, _KERNEL_COLUMNS)

    @property
    def streams(self):
        """One row per stream."""
        return _table.make(self._streams, _STREAM_COLUMNS)

    @property
    def metrics(self):
        """One row per block type and metric, over the whole run."""
        return _table.make(self._metrics, _METRIC_COLUMNS)

    @property
    def stalls(self):
        """Where issue slots of cores, or cycles of compute units, went."""
        return _table.make(self._stalls, _STALL_COLUMNS)

    @property
    def series(self):
        """Metrics over time, of a run with series_every: one row per interval, which begins at `begin_s`."""
        return _table.make(self._series, self._series_columns)

    def metrics_of(self, kernel):
        """The metrics of one kernel, by its number."""
        return _table.make(self._metric_rows(self._scope(kernel)), _METRIC_COLUMNS)

    def stalls_of(self, kernel):
        """The stall stack of one kernel, by its number."""
        return _table.make(self._stall_rows(self._scope(kernel)), _STALL_COLUMNS)

    def metric(self, name, type=None, path=None, kernel=None):
        """One value, by name, over blocks whose type ("l2/*") and path ("*.core3") match."""
        if path is None and kernel is None:  # from the table, which is there also after pickling
            rows = [row for row in self._metrics if row["name"] == name and fnmatch.fnmatchcase(row["type"], type or "*")]
            if len(rows) == 1:
                return rows[0]["value"]
        lib = _library.library()
        names = (_bytes(type), _bytes(path), _bytes(name))
        return _value(self._get(lib.ls_sim_find_metric, _library.Metric, self._scope(kernel), *names))

    def export(self, path, run_id=None):
        """Writes everything, in the format of the extension: .json, .csv, .db (adds to a database)."""
        options = _library.ExportOptions(ctypes.sizeof(_library.ExportOptions), _bytes(run_id), b"python")
        _library.check(_library.library().ls_sim_export, self._handle(), _bytes(path), ctypes.byref(options))

    def summary(self):
        """The one-screen summary that `lockstep run` prints."""
        libc = ctypes.CDLL(None)
        libc.fdopen.restype, libc.fdopen.argtypes = ctypes.c_void_p, [ctypes.c_int, ctypes.c_char_p]
        libc.fclose.argtypes = [ctypes.c_void_p]
        with tempfile.TemporaryFile() as file:
            stream = libc.fdopen(os.dup(file.fileno()), b"w")
            try:
                _library.check(_library.library().ls_sim_print, self._handle(), stream)
            finally:
                libc.fclose(stream)
            file.seek(0)
            return file.read().decode()

    def close(self):
        """Frees the machine. Tables stay; metrics of single kernels, export() and summary() are gone."""
        if self._sim is not None:
            self._sim.close()


class _Sim:
    """Owns an ls_sim and everything that its options point to."""

    def __init__(self, options, kept):
        self.handle, self._kept = None, kept
        handle = ctypes.c_void_p()
        _library.check(_library.library().ls_sim_open, ctypes.byref(options), ctypes.byref(handle))
        self.handle = handle

    def close(self):
        handle, self.handle = self.handle, None
        if handle is not None:
            _library.library().ls_sim_close(handle)

    def __del__(self):
        self.close()

    def run(self, options, progress):
        """Runs it. An exception in progress (also Ctrl-C) stops the simulation and is raised here."""
        lib, raised, begin = _library.library(), [], time.monotonic()

        def call(_self, now):
            try:
                if progress is not None:
                    state = Progress(now[0].now / FS_PER_SECOND, now[0].events, time.monotonic() - begin)
                    if progress(state) is False:
                        lib.ls_sim_stop(self.handle)
            except BaseException as exception:  # it must not end in the C code
                raised.append(exception)
                lib.ls_sim_stop(self.handle)

        options.progress = _library.PROGRESS(call)
        error = _library.Error()
        status = lib.ls_sim_run(self.handle, ctypes.byref(options), ctypes.byref(error))
        if isinstance(progress, _Line):
            progress.clear()
        if raised:
            raise raised[0]
        if status == _library.ERR_DEADLOCK:
            deadlock = _library.fail(error, _library.DeadlockError)
            deadlock.report = lib.ls_sim_report(self.handle).decode(errors="replace")
            raise deadlock
        if status == _library.ERR_CHECK and lib.ls_sim_get_result(self.handle).wrong:
            wrong = _library.fail(error, _library.CheckError)
            wrong.result = Result(self)
            raise wrong
        if status != _library.OK:
            raise _library.fail(error)


# -------------------------------------------------------------------------------------------------------- run


def _options(
    workload=None, platform=None, *, sets=None, fidelity=None, seed=1, platform_dirs=(), plugins=(), kernels=None,
    ctas=0, profile=None, warm_l2=False, unknown_opcodes="fail", unmodelled="fail", gpu=None, size=None, params=None,
    variant=None, verify=False, strict=False, memory_mib=0, max_instructions=0, record=None, kernel=None, grid=None,
    group=None, offset=None, args=(), dumps=None, gpus=0, on=None, devices=None, spread=None, pages=None,
    timeline=None, timeline_format=None, timeline_filters=(), check_memory=False, source=False, sample=None,
):  # fmt: skip
    """The struct of these options, and everything that it points to."""
    set_list, set_count = _list(f"{key}={_text(value)}" for key, value in (sets or {}).items())
    dir_list, dir_count = _list(_as_list(platform_dirs))
    plugin_list, plugin_count = _list(_as_list(plugins))
    arg_list, arg_count = _list(args)
    dump_list, dump_count = _list(f"{name}={os.fspath(path)}" for name, path in (dumps or {}).items())
    filter_list, filter_count = _list(_as_list(timeline_filters))
    pairs = ([(None, size)] if size is not None else []) + list((params or {}).items())
    settings = (_library.Setting * len(pairs))(*[_library.Setting(_bytes(name), value) for name, value in pairs])
    options = _library.Options(
        size=ctypes.sizeof(_library.Options), platform=_bytes(platform), sets=set_list, set_count=set_count,
        fidelity=_bytes(fidelity), platform_dirs=dir_list, platform_dir_count=dir_count, plugins=plugin_list,
        plugin_count=plugin_count, seed=seed, workload=_bytes(workload), kernels=_bytes(kernels), cta_limit=ctas,
        profile=_bytes(profile), warm_l2=warm_l2, unknown_as_alu=_choice("unknown_opcodes", unknown_opcodes, "alu"),
        skip_unmodelled=_choice("unmodelled", unmodelled, "skip"), gpu=_bytes(gpu), settings=settings,
        setting_count=len(pairs), variant=_bytes(variant), verify=verify, strict=strict, memory_bytes=memory_mib << 20,
        max_instructions=max_instructions, record=_bytes(record), kernel=_bytes(kernel), grid=_sizes(grid),
        group=_sizes(group), offset=_sizes(offset), args=arg_list, arg_count=arg_count, dumps=dump_list,
        dump_count=dump_count, gpus=gpus, on=_bytes(on), devices=_bytes(devices), spread=_bytes(spread),
        pages=_bytes(pages), timeline=_bytes(timeline), timeline_format=_bytes(timeline_format),
        timeline_filters=filter_list, timeline_filter_count=filter_count, check_memory=check_memory,
        source=source, sample=_bytes(sample),
    )  # fmt: skip
    return options, (options, set_list, dir_list, plugin_list, arg_list, dump_list, filter_list, settings)


def run(
    workload=None, platform=None, *, sets=None, threads=1, fidelity=None, seed=1, until=None, progress=None, out=(),
    platform_dirs=(), plugins=(), kernels=None, ctas=0, profile=None, warm_l2=False, unknown_opcodes="fail",
    unmodelled="fail", gpu=None, size=None, params=None, variant=None, verify=False, strict=False, memory_mib=0,
    max_instructions=0, record=None, kernel=None, grid=None, group=None, offset=None, args=(), dumps=None,
    gpus=0, on=None, devices=None, spread=None, pages=None, series_every=None, series=(),
    timeline=None, timeline_format=None, timeline_filters=(), check_memory=False, source=False, sample=None,
):  # fmt: skip
    """Simulates a workload on a platform and returns a Result.

    workload: a trace, a packed trace, "synth:KIND,name=value", a workload's name, a code object, a recording.
    platform: a name or a file; sets: {"l2.ways": 32}; fidelity: "detailed", "basic", "memory".
    gpus: a system of so many GPUs of the platform; on: the GPU of a system that has the work, as in "gpu1".
    devices: GPUs of a system that a workload uses: "single", "discrete", "unified", "locality",
        "duplicated".
    series_every: "500ns" or "1000cycles" collects metrics over time (Result.series); series: which, as in "*hit_rate".
    timeline: a file for a viewer, as in "run.pftrace"; timeline_filters: ["kernel=*gemm*", "time=10us-20us"].
    check_memory: compare every read of a program with the last write that happened before it.
    source: count executions, stalls and memory requests of every instruction; files of `out` have them.
    sample: simulate some kernels for all: "sieve", "error=2%", "blocks"; Result.sample has the estimate.
    until: "20us" or seconds. progress: None (a line in terminals and notebooks), True, False, or a function that gets
    a Progress and stops the run by returning False. out: files to write. The other options are those of `lockstep run`.
    """
    lib = _library.library()
    options, kept = _options(
        workload, platform, sets=sets, fidelity=fidelity, seed=seed, platform_dirs=platform_dirs, plugins=plugins,
        kernels=kernels, ctas=ctas, profile=profile, warm_l2=warm_l2, unknown_opcodes=unknown_opcodes,
        unmodelled=unmodelled, gpu=gpu, size=size, params=params, variant=variant, verify=verify, strict=strict,
        memory_mib=memory_mib, max_instructions=max_instructions, record=record, kernel=kernel, grid=grid, group=group,
        offset=offset, args=args, dumps=dumps, gpus=gpus, on=on, devices=devices, spread=spread, pages=pages,
        timeline=timeline, timeline_format=timeline_format, timeline_filters=timeline_filters, check_memory=check_memory,
        source=source, sample=sample,
    )  # fmt: skip
    series_list, series_count = _list(_as_list(series))
    how = _library.RunOptions(
        size=ctypes.sizeof(_library.RunOptions), threads=threads, until=_time_fs(until), watchdog_fs=FS_PER_SECOND // 10,
        series_every=_bytes(series_every), series=series_list, series_count=series_count,
    )  # fmt: skip
    files, file_count = _list(_as_list(out))
    _library.check(lib.ls_sim_check_exports, files, file_count, None)
    sim = _Sim(options, kept)
    sim.run(how, _progress_of(progress))
    result = Result(sim)
    if timeline is not None:
        _library.check(lib.ls_sim_write_timeline, sim.handle)
    for path in _as_list(out):
        result.export(path)
    return result


def _text(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def _choice(name, value, other):
    if value not in ("fail", other):
        raise ValueError(f"{name} is '{value}', but must be 'fail' or '{other}'")
    return value == other
