"""The built-in XGBoost, which tells at its end its peak of resident memory and the bytes it read by calls."""

from pathlib import Path

from bandstand_container import xgboost_rowsplit

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
