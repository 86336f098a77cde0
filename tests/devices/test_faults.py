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
        print(done.stdout)
        sys.exit(77)
    return done.returncode, done.stdout


class Faults(unittest.TestCase):
    def test_each_fault(self):
        code, out = run(os.path.join(HERE, "faults.cl"), "--arch", "sm_80")
        self.assertEqual(code, 1, out)
        for name, fault in [("divides", "divides in an inner loop"), ("loads_bytes", "loads the bytes of words one by one in an inner loop"), ("indexes_an_array", "256 bytes of private memory")]:
            self.assertIn(f"faults.cl: {name}: {fault}\n", out)
        self.assertIn("5 kernels, 3 refused", out)

    def test_private_arrays_on_amd(self):
        code, out = run(os.path.join(HERE, "faults.cl"), "--arch", "gfx1030")
        self.assertEqual(code, 1, out)
        self.assertIn("indexes_an_array:", out)

    def test_text_that_does_not_compile(self):
        with tempfile.NamedTemporaryFile("w", suffix=".cl") as f:
            f.write("kernel void wrong(global int *y) { y[0] = unknown; }\n")
            f.flush()
            code, out = run(f.name, "--arch", "sm_90,gfx1100")
        self.assertEqual(code, 1, out)
        self.assertEqual(out.count("does not compile"), 2, out)


if __name__ == "__main__":
    unittest.main()
