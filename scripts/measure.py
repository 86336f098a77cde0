"""Shared by the benchmarks: measurement of single processes, medians, edits."""
import os
import statistics
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DEVNULL = os.open(os.devnull, os.O_RDWR)


def without_server(env=None):
    """An environment in which each `trib build` does its work itself."""
    return {**(env or os.environ), "TRIB_SERVER": "off"}


def spawn(argv, env=None):
    """Wall milliseconds and peak KiB of one process; it must succeed. Builds of trib are its own unless `env` says otherwise."""
    actions = [(os.POSIX_SPAWN_DUP2, DEVNULL, fd) for fd in (0, 1, 2)]
    start = time.perf_counter()
    pid = os.posix_spawn(argv[0], argv, env or without_server(), file_actions=actions)
    _, status, usage = os.wait4(pid, 0)
    wall = (time.perf_counter() - start) * 1e3
    if status:
        sys.exit(f"bench: {' '.join(argv)} ended with status {status}")
    return wall, usage.ru_maxrss


def median(rows):
    return round(statistics.median(w for w, _ in rows), 3)


def edit(path, old, new):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    assert old in text, f"{path} lacks {old!r}"
    with open(path, "w", encoding="utf-8") as f:
        f.write(text.replace(old, new))
