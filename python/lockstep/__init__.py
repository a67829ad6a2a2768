"""Lockstep, a GPU simulator: traces of NVIDIA GPUs and AMD programs in simulated time.

    import lockstep
    result = lockstep.run("synth:gemm", "rtx3070", sets={"l2.ways": 32}, threads=2)
    print(result.cycles, result.kernels, result.stalls)

Tables are pandas frames if pandas is installed, else lists of dicts. docs/python.md is the tutorial.
"""

from ._library import CheckError, DeadlockError, LockstepError
from ._run import Progress, Result, profile, run
from ._sweep import Point, Sweep, sweep
from ._version import VERSION as __version__

__all__ = [
    "CheckError", "DeadlockError", "LockstepError", "Point", "Progress", "Result", "Sweep", "profile", "run", "sweep",
]  # fmt: skip
