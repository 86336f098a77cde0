#!/usr/bin/env python3
"""scripts/gpu-compile refuses what it says, and nothing else."""
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
COMPILE = os.path.join(os.path.dirname(os.path.dirname(HERE)), "scripts", "gpu-compile")


def run(*argv):
    done = subprocess.run([sys.executable, COMPILE, *argv], capture_output=True, text=True, check=False)
    if done.returncode == 77:
        raise unittest.SkipTest(done.stdout)
    return done.returncode, done.stdout


class Faults(unittest.TestCase):
    arches = ["gfx906", "gfx1100"]  # whose compiler Debian has

    def test_each_fault(self):
        code, out = run(os.path.join(HERE, "faults.cl"), "--list", "--arch", ",".join(self.arches))
        self.assertEqual(code, 1, out)
        for arch in self.arches:
            for name, fault in [("divides", "divides in an inner loop"), ("divides_longs", "divides in an inner loop"), ("loads_bytes", "loads the bytes of words one by one in an inner loop"),
                                ("indexes_an_array", r"\d+ bytes of private memory"), ("spills", r"spills registers, \d+ bytes of private memory")]:
                self.assertRegex(out, rf"(?m)^{arch} faults.cl: {name}: {fault}$")
        self.assertIn(f"{7 * len(self.arches)} kernels, {5 * len(self.arches)} refused", out)
        self.assertRegex(out, r"divides_before: \d+ registers, 0 B local")

    def test_text_that_does_not_compile(self):
        with tempfile.NamedTemporaryFile("w", suffix=".cl") as f:
            f.write("kernel void wrong(global int *y) { y[0] = unknown; }\n")
            f.flush()
            code, out = run(f.name, "--arch", ",".join(self.arches))
        self.assertEqual(code, 1, out)
        self.assertEqual(out.count("does not compile"), len(self.arches), out)


class FaultsOnNvidia(Faults):
    """Skipped without ptxas and nvdisasm."""
    arches = ["sm_80", "sm_90"]


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    sys.exit(1 if not result.wasSuccessful() else 77 if len(result.skipped) == result.testsRun else 0)
