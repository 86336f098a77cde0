"""scripts/gpu-check on the OpenCL device of this machine, and what is made of its results."""
import glob
import importlib.machinery
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from project import SLOWER, SOURCE, TRIB

SCRIPTS = os.path.join(SOURCE, "scripts")
sys.path.insert(0, SCRIPTS)
import gpu_results  # noqa: E402


def run(*args):
    return subprocess.run([sys.executable, os.path.join(SCRIPTS, "gpu-check"), *args], capture_output=True, text=True, timeout=240 * SLOWER)


class GpuCheck(unittest.TestCase):
    def folder(self):
        out = tempfile.mkdtemp(prefix="trib-test-")
        self.addCleanup(shutil.rmtree, out, True)
        return out

    def check(self, *args, build=os.path.dirname(TRIB)):
        out = self.folder()
        done = run("--quick", "--no-build", "--build", build, "--out", out, *args)
        (path,) = glob.glob(os.path.join(out, "*.json"))
        with open(path, encoding="utf-8") as f:
            return done, json.load(f)

    def test_all_parts_pass(self):
        """With the pack of a build, as on a machine without packages."""
        build = self.folder()
        packed = run("--build", os.path.dirname(TRIB), "--pack", build)
        self.assertEqual(packed.returncode, 0, packed.stderr)
        done, result = self.check("--estimates-of=Tesla T4", build=build)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual([p["verdict"] for p in result["parts"]], ["PASS"] * len(result["parts"]), result["parts"])
        self.assertGreaterEqual({p["name"] for p in result["parts"]}, {"device", "ceilings", "test_opencl_model", "PyTorch and CLBlast", "bench mnist_mlp"})
        self.assertEqual([m["model"] for m in result["models"]], ["mnist_mlp", "mnist_mlp"])
        for m in result["models"]:
            self.assertTrue(0 < m["kernels_ms"] and 0 < m["gops"] and m["launches"] == 3, m)
        self.assertEqual([k["name"] for k in result["kernels"]], ["int8 × trit 1x2560x2560", "trit × trit 1x2560x2560", "int8 × trit 1x8192x512", "float32 1x8192x256", "float32 1x2560x2560"])
        for k in result["kernels"]:
            self.assertTrue(0 < k["us"] and k["estimate_us"] == gpu_results.read_json(gpu_results.ESTIMATES)["kernels"][k["name"]]["us"]["T4"], k)
        self.assertIn("passed, 0 failed, 0 not run", done.stdout)
        self.assertIn("Estimates differ from measurements by a factor of ", done.stdout)

    def test_a_device_that_is_not_there(self):
        done, result = self.check("--device=7")
        self.assertEqual((done.returncode, result["failed"]), (3, ["device"]))
        self.assertIn("there is no device 7: 0: ", done.stdout)

    def test_parts_that_do_not_fit_are_named(self):
        done, result = self.check("--minutes=0.01")
        self.assertIn("test_opencl_model", result["not_run"])
        self.assertIn("no time was left", done.stdout)

    def test_estimates_are_of_kernels_that_are_measured(self):
        check = importlib.machinery.SourceFileLoader("gpu_check", os.path.join(SCRIPTS, "gpu-check")).load_module()
        self.assertLessEqual(set(gpu_results.read_json(gpu_results.ESTIMATES)["kernels"]), {c.title() for c in check.KERNELS})
        for name in "NVIDIA A100-SXM4-80GB", "NVIDIA H200", "AMD Radeon RX 6800":
            self.assertEqual(len(check.estimates_of(name)), len(gpu_results.read_json(gpu_results.ESTIMATES)["kernels"]), name)
        self.assertEqual(check.estimates_of("NVIDIA A10"), {})


class Results(unittest.TestCase):
    ceilings = [{"device": "cpu"}, {"device": "opencl:0", "read_bytes": 100e9, "float_ops": 1e12, "int8_ops": 2e12}]

    def test_shares_of_the_limit(self):
        by_bytes = {"us": 20, "bytes": 1e6, "operations": 1e6, "arithmetic": "float"}
        by_float = {"us": 20, "bytes": 1, "operations": 5e6, "arithmetic": "float"}
        for row, want in (by_bytes, 0.5), (by_float, 0.25), ({**by_float, "arithmetic": "int8"}, 0.125):
            self.assertAlmostEqual(gpu_results.share(row, self.ceilings[1]), want)
        self.assertEqual(gpu_results.vendor_limits("NVIDIA H200")["read_bytes"], 4.8e12)
        self.assertIsNone(gpu_results.vendor_limits("pthread"))

    def test_error_of_the_model(self):
        rows = [{"us": 10, "estimate_us": 20}, {"us": 80, "estimate_us": 10}, {"us": 1, "estimate_us": None}]
        self.assertAlmostEqual(gpu_results.model_error(rows), 4)
        self.assertIsNone(gpu_results.model_error(rows[2:]))


if __name__ == "__main__":
    unittest.main()
