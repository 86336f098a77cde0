"""Worker processes and a virtual environment with the engines that trib is compared with."""
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGES = ["numpy", "torch", "torchvision", "onnx", "onnxscript", "onnxruntime", "openvino", "safetensors"]


def venv(where):
    """The interpreter of a virtual environment with PACKAGES; makes it if it is missing."""
    python, complete = os.path.join(where, "bin", "python"), os.path.join(where, "complete")
    if not os.path.exists(complete):
        print(f"bench: installs {', '.join(PACKAGES)} in {where}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", where], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *PACKAGES], check=True)
        open(complete, "w").close()
    return python


def compiled(source, folder, *libraries):
    """Compiles a program of this folder for this machine. None if it cannot be compiled."""
    program = os.path.join(folder, source.split(".")[0])
    compiler = "g++" if source.endswith(".cc") else "gcc"
    done = subprocess.run([compiler, "-O2", "-march=native", os.path.join(HERE, source), "-o", program, *libraries], capture_output=True, text=True)
    return program if done.returncode == 0 else None


def ceilings(trib, threads=1):
    """The rates that one core reaches at most, and at which all read if `threads` is more; as trib measures them."""
    rows = [json.loads(line) for line in subprocess.run([trib, "devices", "--measure", "--format=json"], capture_output=True, text=True).stdout.splitlines()]
    one, *more = [{key: round(r[key] / 1e9, 1) for key in r if key.endswith(("_ops", "_bytes"))} for r in rows if r["device"] == "cpu"]
    return {"float32_gflops": one["float_ops"], "int8_gops": one["int8_ops"], "copy_gbs": one["copy_bytes"],
            "read_gbs": (more[0] if threads > 1 and more else one)["read_bytes"]}


class Engine:
    """A worker on the first THREADS processors of this process."""

    def __init__(self, name, argv, threads):
        self.name, cores = name, sorted(os.sched_getaffinity(0))[:threads]
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                        env={**os.environ, "OMP_NUM_THREADS": str(threads)}, preexec_fn=lambda: os.sched_setaffinity(0, cores))
        self.times = {}

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        if not answer or answer.startswith("error"):
            print(f"bench: {self.name}: {line}: {answer or 'the worker died'}", file=sys.stderr)
            return None
        return answer

    def prepare(self, case, arguments):
        if self.ask(f"prepare {case} {arguments}"):
            self.times[case] = []

    def measure(self, case, budget):
        if case in self.times:
            answer = self.ask(f"time {case} {budget}")
            if answer:
                self.times[case] += [float(ms) for ms in answer.split()]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def python_engine(name, python, threads):
    return Engine(name, [python, os.path.join(HERE, "worker.py"), name, str(threads)], threads)


def rounds(engines, cases, count, budget):
    """Every engine in turn runs every case, `count` times."""
    for _ in range(count):
        for case in cases:
            for e in engines:
                e.measure(case, budget)


def summary(engine, case):
    ms = engine.times.get(case)
    return {"median_ms": round(statistics.median(ms), 4), "fastest_ms": round(min(ms), 4), "runs": len(ms)} if ms else None


def table(heads, rows):
    widths = [max(len(str(r[k])) for r in [heads, *rows]) for k in range(len(heads))]
    for r in [heads, *rows]:
        print("  ".join(str(cell).ljust(w) if k == 0 else str(cell).rjust(w) for k, (cell, w) in enumerate(zip(r, widths))).rstrip())


class Folder:
    """A temporary folder, removed at the end."""

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="trib-bench-")
        return self.path

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)
