"""liblockstep through ctypes: finds it, declares the structs and functions of lockstep/sim.h, turns errors into exceptions."""

import ctypes
import glob
import os
from ctypes import POINTER, Structure, c_bool, c_char, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p

from . import _version

RUN_SCOPE = c_size_t(-1).value
FS_PER_SECOND = 10**15
METRIC_KINDS = ("counter", "peak", "level", "histogram", "ratio")
OK, ERR_DEADLOCK, ERR_CHECK = 0, 5, 6


class LockstepError(Exception):
    """A failure of the library. str() is the line that the lockstep command would print."""

    def __init__(self, line, status="internal", where="", nearest="", exit_code=1):
        super().__init__(line, status, where, nearest, exit_code)
        self.line, self.status, self.where, self.nearest, self.exit_code = line, status, where, nearest, exit_code

    def __str__(self):
        return self.line


class DeadlockError(LockstepError):
    """The machine came to rest with work pending. report says who waits for whom."""

    report = ""


class CheckError(LockstepError):
    """The workload computed something else than the CPU. result has what was measured."""

    result = None


# ---------------------------------------------------------------------------------------------------- structs


class Error(Structure):
    _fields_ = [("status", c_int), ("what", c_char * 480), ("where", c_char * 256), ("nearest", c_char * 128)]


class Setting(Structure):
    _fields_ = [("name", c_char_p), ("value", c_uint64)]


class Options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("platform", c_char_p), ("sets", POINTER(c_char_p)), ("set_count", c_size_t), ("fidelity", c_char_p),
        ("platform_dirs", POINTER(c_char_p)), ("platform_dir_count", c_size_t),
        ("plugins", POINTER(c_char_p)), ("plugin_count", c_size_t), ("seed", c_uint64),
        ("workload", c_char_p),
        ("kernels", c_char_p), ("cta_limit", c_uint64), ("profile", c_char_p),
        ("warm_l2", c_bool), ("unknown_as_alu", c_bool), ("skip_unmodelled", c_bool),
        ("gpu", c_char_p), ("settings", POINTER(Setting)), ("setting_count", c_size_t), ("variant", c_char_p),
        ("verify", c_bool), ("strict", c_bool), ("memory_bytes", c_uint64), ("max_instructions", c_uint64),
        ("record", c_char_p),
        ("kernel", c_char_p), ("grid", c_char_p), ("group", c_char_p), ("offset", c_char_p),
        ("args", POINTER(c_char_p)), ("arg_count", c_size_t),
        ("prints", POINTER(c_char_p)), ("print_count", c_size_t),
        ("dumps", POINTER(c_char_p)), ("dump_count", c_size_t),
        ("gpus", c_uint32), ("on", c_char_p), ("devices", c_char_p), ("spread", c_char_p), ("pages", c_char_p),
        ("timeline", c_char_p), ("timeline_format", c_char_p), ("timeline_filters", POINTER(c_char_p)),
        ("timeline_filter_count", c_size_t), ("check_memory", c_bool), ("source", c_bool), ("sample", c_char_p),
    ]  # fmt: skip


class RunProgress(Structure):
    _fields_ = [("now", c_uint64), ("windows", c_uint64), ("events", c_uint64), ("messages", c_uint64)]


PROGRESS = ctypes.CFUNCTYPE(None, c_void_p, POINTER(RunProgress))
WARN = ctypes.CFUNCTYPE(None, c_void_p, c_char_p)
READY = ctypes.CFUNCTYPE(None, c_void_p, c_char_p)


class RunOptions(Structure):
    _fields_ = [
        ("size", c_size_t), ("threads", c_uint32), ("assignment", c_int), ("until", c_uint64),
        ("window_fs", c_uint64), ("watchdog_fs", c_uint64), ("scaling", c_bool), ("dump_to", c_void_p),
        ("print_to", c_void_p), ("progress", PROGRESS), ("progress_self", c_void_p), ("series_every", c_char_p),
        ("series", POINTER(c_char_p)), ("series_count", c_size_t), ("monitor", c_char_p), ("monitor_token", c_char_p),
        ("monitor_ready", READY), ("checkpoint", c_char_p), ("checkpoint_every", c_char_p),
    ]  # fmt: skip


class RunResult(Structure):
    _fields_ = [
        ("end_time", c_uint64), ("has_cycles", c_bool), ("cycles", c_uint64), ("events", c_uint64),
        ("messages", c_uint64), ("ticks", c_uint64), ("region_cycles", c_uint64), ("partial", c_bool),
        ("partial_reason", c_char_p), ("stopped", c_bool), ("wrong", c_bool), ("wall_seconds", c_double),
    ]  # fmt: skip


class Sample(Structure):
    _fields_ = [
        ("kernels", c_uint64), ("simulated_kernels", c_uint64), ("strata", c_uint64), ("instructions", c_uint64),
        ("simulated_instructions", c_uint64), ("cut_kernels", c_uint64), ("simulated_cycles", c_uint64),
        ("cycles", c_double), ("low", c_double), ("high", c_double), ("error", c_double), ("goal", c_double),
    ]  # fmt: skip


class Warning_(Structure):
    _fields_ = [("kind", c_char_p), ("text", c_char_p)]


class Kernel(Structure):
    _fields_ = [
        ("number", c_uint64), ("name", c_char_p), ("stream", c_uint64), ("begin", c_uint64), ("end", c_uint64),
        ("begin_cycle", c_uint64), ("end_cycle", c_uint64), ("overlapped", c_bool), ("gpu", c_uint32),
    ]  # fmt: skip


class Stream(Structure):
    _fields_ = [("stream", c_uint64), ("kernels", c_uint64), ("begin", c_uint64), ("end", c_uint64), ("cycles", c_uint64)]


class Metric(Structure):
    _fields_ = [
        ("type", c_char_p), ("name", c_char_p), ("unit", c_char_p), ("help", c_char_p), ("kind", c_int),
        ("present", c_bool), ("blocks", c_size_t), ("value", c_uint64), ("real", c_double), ("min", c_uint64),
        ("max", c_uint64),
    ]  # fmt: skip


class Stall(Structure):
    _fields_ = [
        ("type", c_char_p), ("reason", c_char_p), ("unit", c_char_p), ("help", c_char_p), ("value", c_uint64),
        ("share", c_double),
    ]  # fmt: skip


class Series(Structure):
    _fields_ = [("every", c_uint64), ("intervals", c_size_t), ("columns", c_size_t)]


class SeriesColumn(Structure):
    _fields_ = [("gpu", c_int32), ("type", c_char_p), ("name", c_char_p), ("unit", c_char_p), ("kind", c_int)]


class ExportOptions(Structure):
    _fields_ = [("size", c_size_t), ("run_id", c_char_p), ("command", c_char_p), ("per_block", c_bool)]


class ProfileOptions(Structure):
    _fields_ = [
        ("size", c_size_t), ("method", c_char_p), ("sample", c_uint64), ("threads", c_uint32), ("warn", WARN),
        ("warn_self", c_void_p),
    ]  # fmt: skip


class Rate(Structure):
    _fields_ = [
        ("kernel", c_uint64), ("name", c_char_p), ("pc", c_uint64), ("accesses", c_uint64), ("sectors", c_uint64),
        ("at", c_uint64 * 4), ("l2_sectors", c_uint64), ("dram_sectors", c_uint64),
    ]  # fmt: skip


class CompareOptions(Structure):
    _fields_ = [
        ("size", c_size_t), ("metric", c_char_p), ("kernel", c_char_p), ("per_block", c_bool), ("threshold", c_double),
    ]  # fmt: skip


class DiffSide(Structure):
    _fields_ = [("path", c_char_p), ("platform", c_char_p), ("partial", c_bool)]


class DiffInfo(Structure):
    _fields_ = [
        ("a", DiffSide), ("b", DiffSide), ("compared", c_size_t), ("metrics", c_size_t), ("times", c_size_t),
        ("keys", c_size_t), ("only_a", c_size_t), ("only_b", c_size_t),
    ]  # fmt: skip


class DiffRow(Structure):
    _fields_ = [
        ("kernel", c_uint64), ("kernel_name", c_char_p), ("block", c_char_p), ("type", c_char_p), ("name", c_char_p),
        ("unit", c_char_p), ("a", c_double), ("b", c_double), ("difference", c_double),
    ]  # fmt: skip


class DiffKey(Structure):
    _fields_ = [("key", c_char_p), ("a", c_char_p), ("b", c_char_p)]


class SweepOptions(Structure):
    _fields_ = [
        ("size", c_size_t), ("base", POINTER(Options)), ("workloads", POINTER(c_char_p)), ("workload_count", c_size_t),
        ("vary", POINTER(c_char_p)), ("vary_count", c_size_t), ("database", c_char_p), ("command", c_char_p),
        ("metrics", POINTER(c_char_p)), ("metric_count", c_size_t), ("worker", c_char_p), ("warn", WARN),
        ("warn_self", c_void_p), ("shard", c_uint32), ("shards", c_uint32), ("warm", c_char_p),
    ]  # fmt: skip


class SweepPoint(Structure):
    _fields_ = [
        ("id", c_char_p), ("workload", c_char_p), ("values", POINTER(c_char_p)), ("done", c_bool), ("run", c_int64),
        ("time_ns", c_double), ("cycles", c_double), ("wall_seconds", c_double), ("error", c_char_p),
    ]  # fmt: skip


class SweepProgress(Structure):
    _fields_ = [
        ("points", c_size_t), ("done_before", c_size_t), ("to_run", c_size_t), ("finished", c_size_t),
        ("failed", c_size_t), ("by_others", c_size_t), ("running", c_size_t), ("strangers", c_size_t),
    ]  # fmt: skip


SWEEP_PROGRESS = ctypes.CFUNCTYPE(None, c_void_p, POINTER(SweepProgress))
SWEEP_POINT = ctypes.CFUNCTYPE(None, c_void_p, c_size_t, POINTER(SweepPoint))


class SweepRunOptions(Structure):
    _fields_ = [
        ("size", c_size_t), ("jobs", c_uint32), ("threads", c_uint32), ("progress", SWEEP_PROGRESS),
        ("point", SWEEP_POINT), ("self", c_void_p), ("retries", c_uint32), ("monitor", c_char_p),
        ("monitor_token", c_char_p), ("monitor_ready", READY),
    ]  # fmt: skip


# By the names of the C structs; a test compares them with the header.
STRUCTS = {
    "ls_error": Error, "ls_sim_setting": Setting, "ls_sim_options": Options, "ls_run_progress": RunProgress,
    "ls_sim_run_options": RunOptions, "ls_sim_result": RunResult, "ls_warning": Warning_, "ls_sim_kernel": Kernel,
    "ls_sim_stream": Stream, "ls_sim_metric": Metric, "ls_sim_stall": Stall, "ls_sim_series": Series,
    "ls_sim_series_column": SeriesColumn, "ls_sim_export_options": ExportOptions,
    "ls_sim_profile_options": ProfileOptions, "ls_sim_rate": Rate, "ls_sim_compare_options": CompareOptions,
    "ls_sim_diff_side": DiffSide, "ls_sim_diff_info": DiffInfo, "ls_sim_diff_row": DiffRow, "ls_sim_diff_key": DiffKey,
    "ls_sim_sweep_options": SweepOptions, "ls_sim_point": SweepPoint, "ls_sim_sweep_progress": SweepProgress,
    "ls_sim_sweep_run_options": SweepRunOptions,
}  # fmt: skip

_SIM = c_void_p
_FUNCTIONS = {
    "ls_sim_abi_version": (c_uint32, []),
    "ls_sim_open": (c_int, [POINTER(Options), POINTER(_SIM), POINTER(Error)]),
    "ls_sim_close": (None, [_SIM]),
    "ls_sim_platform": (c_char_p, [_SIM]),
    "ls_sim_config": (c_char_p, [_SIM]),
    "ls_sim_config_hash": (c_char_p, [_SIM]),
    "ls_sim_run": (c_int, [_SIM, POINTER(RunOptions), POINTER(Error)]),
    "ls_sim_stop": (None, [_SIM]),
    "ls_sim_report": (c_char_p, [_SIM]),
    "ls_sim_get_result": (RunResult, [_SIM]),
    "ls_sim_get_sample": (c_bool, [_SIM, POINTER(Sample)]),
    "ls_sim_warnings": (POINTER(Warning_), [_SIM, POINTER(c_size_t)]),
    "ls_sim_kernel_count": (c_size_t, [_SIM]),
    "ls_sim_get_kernel": (c_int, [_SIM, c_size_t, POINTER(Kernel), POINTER(Error)]),
    "ls_sim_stream_count": (c_size_t, [_SIM]),
    "ls_sim_get_stream": (c_int, [_SIM, c_size_t, POINTER(Stream), POINTER(Error)]),
    "ls_sim_metric_count": (c_size_t, [_SIM]),
    "ls_sim_get_metric": (c_int, [_SIM, c_size_t, c_size_t, POINTER(Metric), POINTER(Error)]),
    "ls_sim_find_metric": (c_int, [_SIM, c_size_t, c_char_p, c_char_p, c_char_p, POINTER(Metric), POINTER(Error)]),
    "ls_sim_stall_count": (c_size_t, [_SIM]),
    "ls_sim_get_stall": (c_int, [_SIM, c_size_t, c_size_t, POINTER(Stall), POINTER(Error)]),
    "ls_sim_get_series": (Series, [_SIM]),
    "ls_sim_get_series_column": (c_int, [_SIM, c_size_t, POINTER(SeriesColumn), POINTER(Error)]),
    "ls_sim_series_value": (c_double, [_SIM, c_size_t, c_size_t]),
    "ls_sim_write_timeline": (c_int, [_SIM, POINTER(Error)]),
    "ls_sim_check_exports": (c_int, [POINTER(c_char_p), c_size_t, c_char_p, POINTER(Error)]),
    "ls_sim_export": (c_int, [_SIM, c_char_p, POINTER(ExportOptions), POINTER(Error)]),
    "ls_sim_print": (c_int, [_SIM, c_void_p, POINTER(Error)]),
    "ls_sim_rates_make": (c_int, [POINTER(Options), POINTER(ProfileOptions), POINTER(_SIM), POINTER(Error)]),
    "ls_sim_rates_close": (None, [_SIM]),
    "ls_sim_rates_kernel_count": (c_size_t, [_SIM]),
    "ls_sim_rates_inst_count": (c_size_t, [_SIM, c_size_t]),
    "ls_sim_get_rate": (c_int, [_SIM, c_size_t, c_size_t, POINTER(Rate), POINTER(Error)]),
    "ls_sim_rates_write": (c_int, [_SIM, c_char_p, POINTER(c_char_p), POINTER(Error)]),
    "ls_sim_compare": (c_int, [c_char_p, c_char_p, POINTER(CompareOptions), POINTER(_SIM), POINTER(Error)]),
    "ls_sim_diff_close": (None, [_SIM]),
    "ls_sim_diff_get": (DiffInfo, [_SIM]),
    "ls_sim_get_diff": (c_int, [_SIM, c_int, c_size_t, POINTER(DiffRow), POINTER(Error)]),
    "ls_sim_get_diff_key": (c_int, [_SIM, c_size_t, POINTER(DiffKey), POINTER(Error)]),
    "ls_sim_sweep_open": (c_int, [POINTER(SweepOptions), POINTER(_SIM), POINTER(Error)]),
    "ls_sim_sweep_close": (None, [_SIM]),
    "ls_sim_sweep_point_count": (c_size_t, [_SIM]),
    "ls_sim_get_point": (c_int, [_SIM, c_size_t, POINTER(SweepPoint), POINTER(Error)]),
    "ls_sim_sweep_run": (c_int, [_SIM, POINTER(SweepRunOptions), POINTER(Error)]),
    "ls_sim_sweep_stop": (None, [_SIM]),
    "ls_sim_sweep_column_count": (c_size_t, [_SIM]),
    "ls_sim_sweep_column": (c_char_p, [_SIM, c_size_t]),
    "ls_sim_sweep_value": (c_double, [_SIM, c_size_t, c_size_t]),
    "ls_sim_sweep_write": (c_int, [_SIM, c_char_p, POINTER(Error)]),
    "ls_error_text": (c_char_p, [POINTER(Error), c_char_p, c_size_t]),
    "ls_status_name": (c_char_p, [c_int]),
    "ls_status_exit_code": (c_int, [c_int]),
}

# ---------------------------------------------------------------------------------------------------- loading

_library = None


def _candidates():
    """$LOCKSTEP_LIBRARY; the build tree or the prefix that this package lies in; the system's search path."""
    name = f"liblockstep.so.{_version.ABI}"
    if os.environ.get("LOCKSTEP_LIBRARY"):
        return [os.environ["LOCKSTEP_LIBRARY"]]
    here = os.path.dirname(os.path.abspath(__file__))
    build = os.path.join(here, "..", "..")  # build/python/lockstep
    lib = os.path.join(here, "..", "..", "..")  # lib/python3/dist-packages/lockstep
    near = [os.path.join(build, name), os.path.join(lib, name), *sorted(glob.glob(os.path.join(lib, "*", name)))]
    return [path for path in near if os.path.exists(path)] + [name]


def library():
    """The library, loaded once. Global, so that plug-ins find its functions."""
    global _library
    if _library is None:
        path = _candidates()[0]
        try:
            loaded = ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
        except OSError as error:
            raise LockstepError(f"cannot load the library: {error} (LOCKSTEP_LIBRARY names its file)", "io") from None
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(loaded, name, None)
            if function is None:
                raise LockstepError(f"{path} has no {name}(): it is not the library of Lockstep {_version.VERSION}")
            function.restype, function.argtypes = result, arguments
        if loaded.ls_sim_abi_version() != _version.ABI:
            raise LockstepError(
                f"{path} has ABI {loaded.ls_sim_abi_version()}, but this package is for ABI {_version.ABI}: "
                "install both from one version"
            )
        _library = loaded
    return _library


def fail(error, kind=LockstepError):
    """The exception of an ls_error."""
    lib = library()
    text = ctypes.create_string_buffer(1024)
    line = lib.ls_error_text(ctypes.byref(error), text, len(text)).decode(errors="replace")
    return kind(
        line,
        lib.ls_status_name(error.status).decode(),
        error.where.decode(errors="replace"),
        error.nearest.decode(errors="replace"),
        lib.ls_status_exit_code(error.status),
    )


def check(function, *arguments):
    """Calls a function whose last parameter is an ls_error; raises what it reports."""
    error = Error()
    if function(*arguments, ctypes.byref(error)) != OK:
        raise fail(error)
