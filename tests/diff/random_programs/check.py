"""Builds many random programs at once and compares all ways to run them with the reference interpreter.

The programs are entries of one library, which worker.py calls in one process; the interpreter runs each program by itself."""
import concurrent.futures
import json
import os
import pickle
import shutil
import subprocess
import sys
import tempfile

import numpy as np

import c_source
import program as programs
from bounds import RANGES
from worker import differs

HERE = os.path.dirname(os.path.abspath(__file__))
SIZES = (1, 2, 3, 4, 5, 7, 8, 16, 17, 33)
DTYPES = {"bool": np.bool_, "trit": np.int8}


# PoCL links each kernel by itself, and half of its time is that of a linker that reads libraries which a kernel does not need or the process has.
LINKER = """#!/bin/sh
while [ "$1" != -o ]; do shift; done
out=$2 words=
for word; do case $word in *.o | -L/usr/lib/gcc*) words="$words $word" ;; esac; done
exec /usr/bin/ld -shared -o "$out" $words -lgcc
"""


class Case:
    """One program at one choice of run-time sizes."""

    def __init__(self, program, types, inputs):
        self.program, self.types, self.inputs, self.expected = program, types, inputs, None


def all_types(program):
    """Of every value, also those inside of functions and blocks."""
    seen = []
    real = programs.infer

    def recorded(*args):
        out = real(*args)
        seen.extend(out)
        return out

    programs.infer = recorded
    try:
        outputs = program.infer()
    finally:
        programs.infer = real
    return seen + list(program.inputs.values()), outputs


def draw_array(rng, t, sizes):
    shape = [s.at(sizes) for s in t.shape]
    if t.elem == "bool":
        return np.asarray(rng.random(shape) < 0.5)
    if t.is_float():
        x = np.asarray(rng.integers(int(t.lo * 4), int(t.hi * 4) + 1, shape) / 4).astype(t.elem)
        if t.wild:
            special = np.asarray(rng.choice([np.nan, np.inf, -np.inf, -0.0], shape)).astype(t.elem)
            x = np.where(rng.random(shape) < 0.12, special, x)
        return np.asarray(x)
    full = (t.lo, t.hi) == RANGES[t.elem] and t.elem != "trit"
    x = np.asarray(rng.integers(t.lo, t.hi, shape, dtype=np.int64, endpoint=True))
    if full:  # extremes, and small ones
        x = np.where(rng.random(shape) < 0.3, rng.choice([t.lo, t.hi, 0, 1, -1], shape), x)
        x = np.where(rng.random(shape) < 0.3, rng.integers(-7, 8, shape), x)
    return np.asarray(x).astype(DTYPES.get(t.elem, t.elem))


def draw_cases(program, count=2):
    """Cases of a program whose sizes are all valid."""
    rng = np.random.default_rng(program.seed)
    types, outputs = all_types(program)
    names = program.symbols()
    cases = []
    for k in range(count if names else 1):
        for _ in range(40):
            least = 0 if "all" not in program.positive and not program.has_control() and k else 1
            sizes = {n: int(rng.choice((0, *SIZES) if least == 0 else SIZES)) for n in names}
            if all(s.at(sizes) >= least for t in types for s in t.shape):
                cases.append(Case(program, outputs, {n: draw_array(rng, t, sizes) for n, t in program.inputs.items()}))
                break
    return cases


def first_error(text):
    """What a failed command said, without warnings."""
    text = "\n\n".join(part for part in text.split("\n\n") if not part.startswith("warning["))
    return text[:1500]


class Batch:
    def __init__(self, trib, jobs=2, folder=None):
        self.trib, self.jobs = trib, jobs
        self.dir = tempfile.mkdtemp(prefix="trib-random-", dir=folder)
        self.env = {**os.environ, "XDG_CACHE_HOME": self.dir + "/cache", "POCL_CACHE_DIR": self.dir + "/pocl", "NO_COLOR": "1", "TRIB_SERVER": "off", "CI": "",
                    "POCL_EXTRA_BUILD_FLAGS": "-cl-opt-disable", "POCL_WORK_GROUP_METHOD": "loops",  # less than half of the time to compile kernels
                    "COMPILER_PATH": self.dir + "/linker"}
        self.env.pop("TRIB_CACHE_DIR", None)
        os.mkdir(self.dir + "/linker")
        self.write("linker/ld", LINKER)
        os.chmod(self.dir + "/linker/ld", 0o755)

    def close(self):
        shutil.rmtree(self.dir, True)

    def run(self, *args, timeout=300, tool=()):
        try:
            return subprocess.run([*(tool or [self.trib]), *args], cwd=self.dir, capture_output=True, text=True, env=self.env, timeout=timeout)
        except subprocess.TimeoutExpired as e:
            return subprocess.CompletedProcess(args, 124, "", f"timeout after {timeout} s: {e.stderr or ''}")

    def write(self, name, text):
        with open(os.path.join(self.dir, name), "w") as f:
            f.write(text)

    def write_programs(self, some):
        manifest = "project random\n"
        os.makedirs(self.dir + "/s", exist_ok=True)
        for p in some:
            self.write(f"s/{p.name}.tri", programs.text(p))
            manifest += f"model {p.name}\n    sources = s/{p.name}.tri\n    entry = {p.name}\n"
        self.models = manifest
        self.write("tri.build", manifest)

    def interpret(self, case, at, tool=(), flags=("--device", "reference")):
        """The outputs of an interpreter, or what it says in place of them. `tool`: a program and its first words, in place of trib."""
        flags, name = list(flags), case.program.name
        for k, v in case.inputs.items():
            np.save(f"{self.dir}/{at}.{k}.npy", v)
            flags += ["--input", f"{k}={at}.{k}.npy"]
        n = len(case.types)
        outputs = [f"out{i}" for i in range(n)] if n > 1 else ["out"]
        for o in outputs:
            flags += ["--output", f"{o}={at}.{o}.npy"]
        done = self.run("run", name, "--no-build", *flags, timeout=120, tool=tool)
        files = [f"{self.dir}/{at}.{k}.npy" for k in [*case.inputs, *outputs]]
        try:
            if done.returncode:
                return f"ended with {done.returncode}: {first_error(done.stderr)}"
            return [np.load(f"{self.dir}/{at}.{o}.npy") for o in outputs]
        finally:
            for f in files:
                if os.path.exists(f):
                    os.remove(f)

    def references(self, cases):
        """Sets what is expected. Returns the failures."""
        failures = []
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            for case, out in zip(cases, pool.map(self.interpret, cases, range(len(cases)))):
                if isinstance(out, str):
                    failures.append((case, "interpreter", out))
                else:
                    case.expected = out
        return failures

    def loops(self, cases, tool, target, level):
        """Runs the cases in the interpreter of the loop IR: its program, the target and the level. Returns the failures."""
        failures = []
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            for case, out in zip(cases, pool.map(lambda c, at: self.interpret(c, at, (tool, target), (level,)), cases, range(len(cases)))):
                why = out if isinstance(out, str) else next((w for w in map(differs, out, case.expected, (t.err for t in case.types)) if w), None)
                if why:
                    failures.append((case, f"loops{level}{target}", why))
        return failures

    def compiled(self, cases, label, flags, emit, device=False, source=False):
        """Builds the cases' programs and runs all cases; `source`: their C source in place of the library. Returns the failures."""
        names = list(dict.fromkeys(c.program.name for c in cases))
        if not names:
            return []
        out = f"build-{label}"
        self.write("tri.build", self.models + f"model all\n    sources = {' '.join(f's/{n}.tri' for n in names)}\n    entry = {' '.join(names)}\n    emit = {emit}\n")
        done = self.run("build", "all", *flags, "-o", out, "-q", f"-j{self.jobs}", timeout=600)
        if done.returncode:
            if len(names) == 1:
                return [(c, label, f"the build ended with {done.returncode}: {first_error(done.stderr)}") for c in cases]
            half = set(names[: len(names) // 2])
            return self.compiled([c for c in cases if c.program.name in half], label, flags, emit, device, source) + \
                self.compiled([c for c in cases if c.program.name not in half], label, flags, emit, device, source)
        library = f"{self.dir}/{out}/liball{'_opencl' if device else ''}.so"
        if source:
            c_source.replace_library(f"{self.dir}/{out}", "all", "gcc", ("-O0",))
        failures = self.call(cases, label, library)
        shutil.rmtree(f"{self.dir}/{out}", True)
        return failures

    def call(self, cases, label, library):
        with open(f"{self.dir}/cases", "wb") as f:
            pickle.dump([(c.program.name, c.inputs, c.expected, [t.err for t in c.types], [t.wild for t in c.types]) for c in cases], f)
        failures, start = [], 0
        while start < len(cases):
            try:
                done = subprocess.run([sys.executable, f"{HERE}/worker.py", library, f"{self.dir}/cases", str(start)], capture_output=True, text=True, env=self.env, timeout=600)
            except subprocess.TimeoutExpired as e:
                done = subprocess.CompletedProcess([], 124, (e.stdout or b"").decode(), "timeout")
            at = start
            for line in done.stdout.splitlines():
                r = json.loads(line)
                at = r["case"]
                if "why" in r:
                    failures.append((cases[at], label, r["why"]))
            if done.returncode == 0:
                break
            failures.append((cases[at], label, f"the library ended the process with {done.returncode}: {first_error(done.stderr)}"))
            start = at + 1
        return failures


def check(trib, some, configs, opencl=True, jobs=2, count=2, loops=(), source=False):
    """Runs the programs in every way: configs, pairs of level and CPU; on OpenCL; as a C source; loops: (program, target, level) of runs by the loop interpreter. Returns (cases run, failures); a failure is (case, label, text)."""
    batch = Batch(trib, jobs)
    try:
        batch.write_programs(some)
        cases = [c for p in some for c in draw_cases(p, count)]
        failures = batch.references(cases)
        cases = [c for c in cases if c.expected is not None]
        for tool, target, level in loops:
            failures += batch.loops(cases, tool, target, level)
        for level, cpu in configs:
            failures += batch.compiled(cases, f"{level} {cpu}".replace(" ", ""), [level, "--cpu", cpu], "library")
        if opencl:
            level = "-O0" if some[0].seed // 50 % 4 == 3 else "-O1"
            failures += batch.compiled(cases, "opencl" + level, [level], "library opencl", True)
        if source:
            failures += batch.compiled(cases, "c-O1", ["-O1"], "library c", source=True)
        return len(cases), failures
    finally:
        batch.close()
