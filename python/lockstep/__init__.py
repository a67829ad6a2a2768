"""Lockstep, a GPU simulator: traces of NVIDIA GPUs and AMD programs in simulated time.

    import lockstep
    result = lockstep.run("synth:gemm", "rtx3070", sets={"l2.ways": 32}, threads=2)
    print(result.cycles, result.kernels, result.stalls)

Tables are pandas frames if pandas is installed, else lists of dicts. docs/python.md is the tutorial.
"""

from ._compare import Comparison, compare
from ._library import CheckError, DeadlockError, LockstepError
from ._profile import Profile, profile
from ._run import Progress, Result, run
from ._sweep import Point, StoredPoint, StoredSweep, Sweep, sweep, sweep_db
from ._version import VERSION as __version__

__all__ = [
    "CheckError", "Comparison", "DeadlockError", "LockstepError", "Point", "Profile", "Progress", "Result", "StoredPoint",
    "StoredSweep", "Sweep", "compare", "profile", "run", "sweep", "sweep_db",
]  # fmt: skip
