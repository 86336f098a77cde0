#!/usr/bin/env python3
"""Loads a server with requests, compares every answer with a direct call of the library, and prints how fast it is.

    python3 load_test.py http://127.0.0.1:8000 ../digits/build/libdigits.so ../digits/data/test_x.npy

Each thread is a client with a connection of its own, which it keeps. Ends with 1 if an answer is wrong or missing.
"""

import argparse
import dataclasses
import functools
import http.client
import io
import json
import random
import sys
import threading
import time
import urllib.parse

import numpy as np
import trib


@dataclasses.dataclass
class Report:
    """What the clients saw. `seconds` are the times of all requests; `generations` are those of the answers."""

    wall: float
    rows: int
    seconds: list
    failures: list
    generations: set

    def percentile(self, share):
        return float(np.percentile(self.seconds, share)) if self.seconds else float("nan")

    def __str__(self):
        rate = len(self.seconds) / self.wall
        return (
            f"{rate:.0f} requests/s of {self.rows} rows, p50 {1e3 * self.percentile(50):.2f} ms, "
            f"p99 {1e3 * self.percentile(99):.2f} ms, {len(self.seconds)} right answers, {len(self.failures)} failures"
        )


def npy_bytes(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def json_body(entry, x):
    return json.dumps({entry.inputs[0].name: x.tolist()}).encode(), "application/json"


def is_json_of(entry, body, want):
    return np.array_equal(np.array(json.loads(body)[entry.outputs[0].name], want.dtype), want)


def npy_body(_, x):
    return npy_bytes(x), "application/x-npy"


def is_npy_of(_, body, want):
    return body == npy_bytes(want)


FORMATS = {"json": (json_body, is_json_of), "npy": (npy_body, is_npy_of)}


def client(address, cases, is_right, end, report):
    """One client: it asks until the time is over. A case is a body, its type, and the answers of all generations."""
    connection = http.client.HTTPConnection(*address, timeout=30)
    while time.perf_counter() < end:
        body, kind, wants = random.choice(cases)
        begin = time.perf_counter()
        try:
            connection.request("POST", "/predict", body, {"Content-Type": kind})
            answer = connection.getresponse()
            got = answer.read()
        except (OSError, http.client.HTTPException) as error:
            report.failures.append(f"{type(error).__name__}: {error}")
            connection.close()
            continue
        seconds = time.perf_counter() - begin
        generation = int(answer.getheader("Model-Generation", 0))
        if answer.status != 200:
            report.failures.append(f"{answer.status}: {got.decode(errors='replace')}")
        elif not generation or not is_right(got, wants[min(generation, len(wants)) - 1]):
            report.failures.append(f"a wrong answer of generation {generation}")
        else:
            report.seconds.append(seconds)
            report.generations.add(generation)
    connection.close()


def load_test(url, models, data, *, threads=4, seconds=2.0, rows=1, form="npy"):
    """Returns the :class:`Report`. `models` are those of the server's generations; the last is used for later ones."""
    parts, rng = urllib.parse.urlsplit(url), np.random.default_rng(0)
    entry, (encode, is_right) = models[0].describe().entries[0], FORMATS[form]
    slices = [data[rng.choice(len(data), rows)] for _ in range(50)]
    cases = [(*encode(entry, x), [np.asarray(m(x)) for m in models]) for x in slices]
    report = Report(0.0, rows, [], [], set())
    begin = time.perf_counter()
    address = (parts.hostname, parts.port)
    shared = (address, cases, functools.partial(is_right, entry), begin + seconds, report)
    clients = [threading.Thread(target=client, args=shared) for _ in range(threads)]
    for thread in clients:
        thread.start()
    for thread in clients:
        thread.join()
    report.wall = time.perf_counter() - begin
    return report


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("url")
    args.add_argument("library")
    args.add_argument("data", help="a .npy file of rows for the first input")
    args.add_argument("--threads", type=int, default=4)
    args.add_argument("--seconds", type=float, default=2.0)
    args.add_argument("--rows", type=int, default=1, help="of a request")
    args.add_argument("--format", choices=FORMATS, default="npy")
    args = args.parse_args()
    data, how = np.load(args.data), {"threads": args.threads, "seconds": args.seconds}
    with trib.load(args.library, threads=1) as model:
        report = load_test(args.url, [model], data, rows=args.rows, form=args.format, **how)
    print(report)
    for failure in sorted(set(report.failures))[:5]:
        print(f"  {failure}", file=sys.stderr)
    return int(bool(report.failures) or not report.seconds)


if __name__ == "__main__":
    sys.exit(main())
