"""Tables: pandas frames if pandas is there, else lists of dicts."""

import os


def make(rows, columns):
    """A table of rows (dicts). $LOCKSTEP_PANDAS=0 gives plain lists also where pandas is installed."""
    if os.environ.get("LOCKSTEP_PANDAS", "") != "0":
        try:
            import pandas
        except ImportError:
            pass
        else:
            return pandas.DataFrame(rows, columns=columns)
    return rows
