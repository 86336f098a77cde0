"""scripts/gpu-check on the OpenCL device of this machine."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from project import SLOWER, SOURCE, TRIB


class GpuCheck(unittest.TestCase):
    def check(self, *args, env=None):
        out = tempfile.mkdtemp(prefix="trib-test-")
        self.addCleanup(shutil.rmtree, out, True)
        command = [sys.executable, os.path.join(SOURCE, "scripts", "gpu-check"), "--quick", "--no-build", "--build", os.path.dirname(TRIB), "--out", out, *args]
        done = subprocess.run(command, capture_output=True, text=True, timeout=240 * SLOWER, env={**os.environ, **(env or {})})
        with open(os.path.join(out, "gpu-check.json"), encoding="utf-8") as f:
            return done, json.load(f)

    def test_all_parts_pass(self):
        done, result = self.check()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual([p["verdict"] for p in result["parts"]], ["PASS"] * len(result["parts"]), result["parts"])
        self.assertGreaterEqual({p["name"] for p in result["parts"]}, {"device", "ceilings", "test_opencl_model", "bench mnist_mlp"})
        self.assertEqual([m["model"] for m in result["models"]], ["mnist_mlp", "mnist_mlp"])
        for m in result["models"]:
            self.assertTrue(0 < m["kernels_ms"] and 0 < m["gops"], m)
        self.assertIn("passed, 0 failed, 0 not run", done.stdout)

    def test_a_device_that_is_not_there(self):
        done, result = self.check("--device=7")
        self.assertEqual((done.returncode, result["failed"]), (3, ["device"]))
        self.assertIn("there is no device 7: 0: ", done.stdout)

    def test_parts_that_do_not_fit_are_named(self):
        done, result = self.check("--minutes=0.01")
        self.assertIn("test_opencl_model", result["not_run"])
        self.assertIn("no time was left", done.stdout)


if __name__ == "__main__":
    unittest.main()
