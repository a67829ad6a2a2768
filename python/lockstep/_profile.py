"""Hit rates of a trace: lockstep.profile() and its Profile."""

import ctypes

from . import _library, _run, _table
from ._library import RUN_SCOPE

_KERNEL_COLUMNS = ["kernel", "name", "accesses", "sectors", "l1", "wait", "l2", "dram", "l2_sectors", "dram_sectors"]
_INST_COLUMNS = ["kernel", "name", "pc", *_KERNEL_COLUMNS[2:]]


class Profile:
    """Where the accesses of warps were served. l1, wait, l2 and dram count accesses by the level of their last sector."""

    def __init__(self, kernels, instructions, path, warnings):
        self._kernels, self._instructions = kernels, instructions
        self.path = path  # the file that was written; None: none
        self.warnings = warnings

    @property
    def kernels(self):
        """One row per kernel."""
        return _table.make(self._kernels, _KERNEL_COLUMNS)

    @property
    def instructions(self):
        """One row per static instruction that accesses memory."""
        return _table.make(self._instructions, _INST_COLUMNS)


def _row(rates, kernel, inst, columns):
    rate = _library.Rate()
    _library.check(_library.library().ls_sim_get_rate, rates, kernel, inst, ctypes.byref(rate))
    row = {name: getattr(rate, name) for name in columns if hasattr(rate, name)}
    row.update(name=rate.name.decode(), l1=rate.at[0], wait=rate.at[1], l2=rate.at[2], dram=rate.at[3])
    return row


def profile(
    trace, platform, path=None, *, method="cache", sample=0, threads=1, sets=None, platform_dirs=(), plugins=(),
    kernels=None, ctas=0, unknown_opcodes="fail", unmodelled="fail",
):  # fmt: skip
    """Finds the hit rates of a trace on a platform without simulating time, writes them, and returns a Profile.

    run(..., fidelity="memory", profile=path) uses the file. method: "cache" or "reuse". Without a path the file goes to
    the cache, where profile="auto" finds it.
    """
    lib = _library.library()
    options, kept = _run._options(
        trace, platform, sets=sets, platform_dirs=platform_dirs, plugins=plugins, kernels=kernels, ctas=ctas,
        unknown_opcodes=unknown_opcodes, unmodelled=unmodelled,
    )  # fmt: skip
    warnings = []
    warn = _library.WARN(lambda _self, text: warnings.append(text.decode()))
    size = ctypes.sizeof(_library.ProfileOptions)
    how = _library.ProfileOptions(size, _run._bytes(method), sample, threads, warn)
    rates, written = ctypes.c_void_p(), ctypes.c_char_p()
    _library.check(lib.ls_sim_rates_make, ctypes.byref(options), ctypes.byref(how), ctypes.byref(rates))
    try:
        _library.check(lib.ls_sim_rates_write, rates, _run._bytes(path), ctypes.byref(written))
        count = lib.ls_sim_rates_kernel_count(rates)
        rows = [_row(rates, k, RUN_SCOPE, _KERNEL_COLUMNS) for k in range(count)]
        insts = [
            _row(rates, k, i, _INST_COLUMNS) for k in range(count) for i in range(lib.ls_sim_rates_inst_count(rates, k))
        ]
        return Profile(rows, insts, None if written.value is None else written.value.decode(), warnings)
    finally:
        lib.ls_sim_rates_close(rates)
        del kept
