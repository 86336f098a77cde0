"""A small project for fault injection (tests/crash/faults.c), and the checks after each fault. Shared by the tests of this folder."""
import collections
import os
import random
import re
import shutil
import subprocess
import tempfile
import time
import traceback
import unittest

from project import SLOWER, TRIB

SHIM = os.environ["TRIB_FAULTS_LIBRARY"]
ALL = os.environ.get("TRIB_FAULTS") == "all"
TEMPORARY = re.compile(r"\.trib-[0-9a-f]{16}\.tmp$")
SPACE, BYTES, FAILS, WAITS = 1, 2, 4, 8  # as in faults.c
MODES = {"kill-before": 0, "kill-after": 0, "kill-half": BYTES, "enospc": SPACE, "enospc-from": SPACE, "eio": FAILS, "short": BYTES,
         "eintr": WAITS}

LONGEST = 600  # characters of one failure

MANIFEST = """project small

model small
    sources = src/*.tri
    entry   = Net
    input x = float32 [?, 8]
    emit    = library header
"""
NET = """import nn
import "act.tri" as act

layer Net() {
    let fc = nn.Linear(8, 4)

    fn forward(x: Tensor<float32, [N, 8]>) -> Tensor<float32, [N, 4]> {
        return act.gate(fc(x))
    }
}
"""
ACT = """fn gate(x: Tensor<float32, [N, 4]>) -> Tensor<float32, [N, 4]> {
    return relu(x) * 2.0
}
"""


class Event(collections.namedtuple("Event", "number call can path")):
    """One counted call of a program."""


def tree(folder):
    """Names and contents of all files below a folder."""
    found = {}
    for at, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(at, name)
            if os.path.isfile(path):
                with open(path, "rb") as f:
                    found[os.path.relpath(path, folder)] = f.read()
    return found


class FaultTest(unittest.TestCase):
    """self.dir is the project, self.cache its cache; `sample` limits what is tried."""

    @classmethod
    def setUpClass(cls):
        cls.tried = collections.Counter()
        cls.of = collections.Counter()
        cls.seed = random.randrange(1 << 30)
        print("seed", cls.seed)

    @classmethod
    def tearDownClass(cls):
        kinds = ", ".join(f"{kind} {cls.tried[kind]}" + (f" of {cls.of[kind]}" if cls.of[kind] > cls.tried[kind] else "") for kind in cls.of)
        print(f"{cls.__name__}: {sum(cls.tried.values())} of {sum(cls.of.values())} faults tried: {kinds}", flush=True)

    def setUp(self):
        self.rng = random.Random(self.seed)
        self.tmp = tempfile.mkdtemp(prefix="trib-test-")
        self.addCleanup(shutil.rmtree, self.tmp, True)
        self.work = os.path.join(self.tmp, "work")
        self.dir = os.path.join(self.work, "p")
        self.cache = os.path.join(self.work, "cache")
        self.env = {**os.environ, "XDG_CACHE_HOME": self.cache, "XDG_CONFIG_HOME": os.path.join(self.work, "config"), "NO_COLOR": "1"}
        os.makedirs(self.dir)
        self.write("tri.build", MANIFEST)
        self.write("src/net.tri", NET)
        self.write("src/act.tri", ACT)

    # ---- files ----

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "wb") as f:
            f.write(text if isinstance(text, bytes) else text.encode())

    def read(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()

    def edit(self, name="src/act.tri", old="2.0", new="3.0"):
        text = self.read(name).decode()
        self.assertIn(old, text)
        self.write(name, text.replace(old, new))

    def keep(self, name="kept"):
        """Remembers the folder of projects and caches, for `restore`."""
        shutil.copytree(self.work, os.path.join(self.tmp, name), symlinks=True)

    def restore(self, name="kept"):
        self.remove(self.work)
        shutil.copytree(os.path.join(self.tmp, name), self.work, symlinks=True)

    def remove(self, path):
        if os.path.islink(path) or not os.path.isdir(path):
            os.path.lexists(path) and os.unlink(path)
        else:
            shutil.rmtree(path)

    # ---- runs ----

    def trib(self, *args, dir=None, env=None, **more):
        return subprocess.run([TRIB, *args], cwd=dir or self.dir, env={**self.env, **(env or {})}, capture_output=True, text=True,
                              timeout=120 * SLOWER, **more)

    def shim(self, fault="", log=False, count="writes", below="", simulate="", clock=""):
        env = {"LD_PRELOAD": SHIM, "TRIB_FAULT": fault, "TRIB_FAULT_BELOW": below or self.tmp, "TRIB_FAULT_SIMULATE": simulate,
               "TRIB_FAULT_CLOCK": str(clock), "TRIB_FAULT_COUNT": count}
        if log:
            env["TRIB_FAULT_LOG"] = os.path.join(self.tmp, "log")
        return env

    def events(self, *args, **more):
        """The counted calls of a run without faults."""
        log = os.path.join(self.tmp, "log")
        self.remove(log)
        done = self.trib(*args, env=self.shim(log=True, **more))
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(log) as f:
            rows = [line.rstrip("\n").split(" ", 3) for line in f]
        return [Event(int(n), call, int(can), path) for n, call, can, path in rows]

    def clean(self, edited=True):
        """What a build of the project gives elsewhere, without anything that is known."""
        folder = os.path.join(self.tmp, "clean")
        self.remove(folder)
        shutil.copytree(self.dir, os.path.join(folder, "p"), ignore=shutil.ignore_patterns("build", ".trib"))
        done = self.trib("build", dir=os.path.join(folder, "p"), env={"XDG_CACHE_HOME": os.path.join(folder, "cache")})
        self.assertEqual(done.returncode, 0, done.stderr)
        found = tree(os.path.join(folder, "p", "build"))
        self.remove(folder)
        return found

    # ---- what must hold ----

    def visible(self, dir=None):
        return {name: data for name, data in tree(os.path.join(dir or self.dir, "build")).items() if not TEMPORARY.search(name)}

    def assert_good(self, *sets, dir=None):
        """Every output that can be seen is of one of the sets, and a library's weights are there."""
        now = self.visible(dir)
        for name, data in now.items():
            self.assertTrue(any(s.get(name) == data for s in sets), f"{name} is neither the old nor the new one")
            for weights in re.findall(rb"small-[0-9a-f]{16}\.triw", data) if name.endswith(".so") else ():
                self.assertIn(weights.decode(), now)

    def assert_mends(self, want, dir=None, spared=()):
        """The next build gives what a clean one does, leaves nothing else but `spared`, and the one after it has nothing to do."""
        dir = dir or self.dir
        done = self.trib("build", dir=dir)
        self.assertEqual(done.returncode, 0, done.stderr)
        now = tree(os.path.join(dir, "build"))
        self.assertEqual(sorted(set(now) - set(spared)), sorted(want), done.stderr)
        for name in want:
            self.assertTrue(now[name] == want[name], f"{name} is not as in a clean build")
        left = [name for at, folders, names in os.walk(dir) for name in folders + names if TEMPORARY.search(name) or ".damaged-" in name]
        self.assertEqual(left, [])
        done = self.trib("build", dir=dir)
        self.assertIn("nothing to do", done.stdout + done.stderr)

    # ---- how much ----

    def each_fault(self, cases, try_one, seconds, least=3):
        """All cases, or as many in a random order as fit in half of these seconds. A case is a tuple that begins with its kind."""
        cases = list(cases)
        failed = []
        for case in cases:
            self.of[case[0]] += 1
        if not ALL:
            self.rng.shuffle(cases)
        end = time.monotonic() + seconds / 2
        for i, case in enumerate(cases):
            if not ALL and i >= least and time.monotonic() > end:
                break
            self.tried[case[0]] += 1
            try:
                try_one(*case)
            except (AssertionError, OSError, subprocess.TimeoutExpired) as e:
                failed.append(f"{case}: {traceback.format_exc(limit=-2)[-LONGEST:] if not str(e) else repr(e)[:LONGEST]}")
        if failed:
            self.fail(f"seed {self.seed}: {len(failed)} faults were not mended\n" + "\n".join(failed[:20]))
