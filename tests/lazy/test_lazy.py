"""Lazy libraries give what eager ones give, bit by bit, whoever compiles their units and whatever is missing when they are to be compiled."""
import ctypes
import glob
import json
import os
import shutil
import subprocess
import sys
import threading
import unittest

import numpy as np

from inference import InferenceTest
from project import SOURCE, TRIB, run

sys.path.insert(0, os.path.join(SOURCE, "tests", "diff"))
import test_control
import test_programs

LIBTRIB = os.path.join(os.path.dirname(TRIB), "lib", "trib", "libtrib.so")
ERR_COMPILE = 9


class Lazy(InferenceTest):
    def both(self, *flags):
        """Builds eagerly without a cache, then lazily, so that nothing was compiled when the lazy library is first called."""
        self.trib("build", "--no-cache", *flags)
        record = self.build("--lazy", "--out", "lazy", *flags)
        self.assertEqual(record["units"]["compiled"], 0)
        return record["units"]["later"]

    def outputs(self, library, arrays, count, *flags):
        self.trib("run", library, *flags, *self.input_flags(arrays),
                  *[word for i in range(count) for word in ("--output", f"{self.names[i]}=o{i}.npy")])
        return [self.read(f"o{i}.npy") for i in range(count)]


class Programs(test_programs.Programs):
    """All programs of tests/diff at two levels; a second process finds every unit in the cache, and so does an eager build."""

    def same(self, level):
        self.trib("build", level, "--no-cache", "--emit", "library")
        self.trib("build", level, "--lazy", "--emit", "library", "--out", "lazy")
        for again in range(2):
            for name, (specs, _, function) in test_programs.PROGRAMS.items():
                with self.subTest(program=name, level=level, again=again), np.errstate(all="ignore"):
                    inputs = {k: test_programs.draw(np.random.default_rng(7), s, {"N": 5, "M": 3, "T": 5}) for k, s in specs.items()}
                    want = function(self.weights[name], *inputs.values())
                    count = len(want) if isinstance(want, tuple) else 0
                    eager = self.infer(f"build/lib{name}.so", inputs, count)
                    lazy = self.infer(f"lazy/lib{name}.so", inputs, count)
                    for i, (e, g) in enumerate(zip(eager, lazy)):
                        self.assertEqual(e.tobytes(), g.tobytes(), f"result {i}")
        never = [line.split()[1].rstrip(":") for line in self.trib("build", level, "--emit", "library", "--out", "eager", "--explain").stdout.splitlines()
                 if line.startswith("compile ")]
        self.assertTrue(never and all(name == "forward," for name in never), never)  # sides of branches: nobody took them
        for name in test_programs.PROGRAMS:
            self.assertEqual(self.read(f"build/lib{name}.so"), self.read(f"eager/lib{name}.so"), name)

    def test_every_level_against_numpy(self):
        self.same("-O1")
        self.same("-O0")

    test_interpreter_against_numpy = None


if __name__ == "__main__":
    unittest.main()
