"""The built-in XGBoost, which tells at its end its peak of resident memory and the bytes it read by calls.

The libraries that read rows are loaded however few rows there are, so that a worker with next to none holds
the same code as one with many, and what the two differ by is rows.
"""

import contextlib
from pathlib import Path

from bandstand_container import xgboost_rowsplit

with contextlib.suppress(ImportError):
    import pyarrow.csv
    import pyarrow.parquet  # noqa: F401

if __name__ == "__main__":
    xgboost_rowsplit.main()
    status = Path("/proc/self/status").read_text()
    peak = next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM:"))
    read = next(
        int(line.split()[1])
        for line in Path("/proc/self/io").read_text().splitlines()
        if line.startswith("rchar:")
    )
    print(f"used peak={peak} read={read}", flush=True)
