"""trib test: inputs and expected outputs in a project's tests/."""
import json
import os
import unittest

import numpy as np

from project import ProjectTest

NET = """layer Net() {
    fn forward(x: Tensor<float32, [N, 3]>) { return x * 2.0 }
    fn count(x: Tensor<int64, [N]>) { return x + 1 }
    fn half(x: Tensor<float16, [N]>) { return x + x }
}
"""
MANIFEST = "project p\n\nmodel net\n    sources = net.tri\n    entry   = Net Net.count Net.half\n"


class Tests(ProjectTest):
    def setUp(self):
        super().setUp()
        self.write("net.tri", NET)
        self.write("tri.build", MANIFEST)
        self.x = np.arange(6, dtype=np.float32).reshape(2, 3) + 1
        self.case("net", x=self.x, out=self.x * 2)

    def case(self, name, **arrays):
        os.makedirs(self.path(f"tests/{name}"), exist_ok=True)
        for key, array in arrays.items():
            np.save(self.path(f"tests/{name}/{key}.npy"), array)

    def reported(self, *words, code=0):
        done = self.trib("test", *words, ok=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def test_cases_entries_and_devices(self):
        self.case("net/small", x=self.x[:1], out=self.x[:1] * 2)
        self.case("net/count", x=np.array([1, 2**62]), out=np.array([2, 2**62 + 1]))
        self.case("net/half/a", x=np.ones(3, np.float16), out=np.full(3, 2.001, np.float32))
        want = "net: ok\nnet/count: ok\nnet/half/a: ok\nnet/small: ok\ntrib: 4 passed, 0 failed\n"
        self.assertEqual(self.reported(), want)
        self.assertEqual(self.reported("net", "--device", "reference"), want)
        self.assertEqual(self.reported("-q"), "trib: 4 passed, 0 failed\n")

    def test_the_worst_element_is_shown(self):
        wrong = self.x * 2
        wrong[1, 2] += 0.5
        wrong[0, 0] += 0.3
        self.case("net", out=wrong)
        said = self.reported(code=1)
        self.assertIn("net: FAILED: out[0, 0] is 2, want 2.29999995 (rtol 0.0001, atol 1e-05, rounding 9.16e-05); 2 of 6 elements differ\n", said)
        self.assertIn("0 passed, 1 failed", said)
        self.reported("--rtol", "0.5")
        self.reported("--atol=0.6")
        self.reported("--atol=0.4", code=1)
        self.assertIn("not negative", self.fails("test", "--rtol", "-1", code=2))

    def test_integers_are_exact(self):
        self.case("net/count", x=np.array([2**62]), out=np.array([2**62 + 2]))
        self.assertIn("net/count: FAILED: out[0] is", self.reported(code=1))
        self.case("net/count", x=np.array([2]), out=np.array([3.0]))
        self.assertIn("is int64 [1], want float64 [1]", self.reported(code=1))

    def test_nan_and_infinity(self):
        bad = np.array([[np.nan, np.inf, -np.inf]], np.float32)
        self.case("net", x=bad, out=bad)
        self.reported()
        self.case("net", x=bad, out=np.array([[np.nan, np.inf, np.inf]], np.float32))
        self.assertIn("out[0, 2] is -inf, want inf", self.reported(code=1))

    def test_incomplete_cases(self):
        for arrays, why in (({"x": self.x, "out": self.x[:1]}, "is float32 [2, 3], want float32 [1, 3]"), ({"x": self.x}, "has no expected output: `out.npy`"),
                            ({"out": self.x}, "has no `x.npy`"), ({"x": self.x, "out": self.x, "z": self.x}, "z.npy` is not an input or output of entry `forward`"),
                            ({"x": self.x[:, :2], "out": self.x}, "[N, 3]")):
            for old in os.listdir(self.path("tests/net")):
                os.unlink(self.path("tests/net/" + old))
            self.case("net", **arrays)
            self.assertIn(why, self.reported(code=1))
        self.write("tests/net/x.npy", b"damaged")
        self.assertIn("net: FAILED: `tests/net/x.npy` cannot be read", self.reported(code=1))

    def test_json(self):
        self.case("net/wrong", x=self.x, out=self.x)
        lines = [json.loads(line) for line in self.reported("--message-format=json", code=1).splitlines()]
        self.assertEqual([(t["type"], t["ok"]) for t in lines], [("test", True), ("test", False), ("tests", False)])
        self.assertEqual((lines[1]["name"], lines[1]["output"], lines[1]["different"]), ("net/wrong", "out", 6))
        self.assertEqual((lines[2]["passed"], lines[2]["failed"]), (1, 1))
        self.edit("net.tri", "x * 2.0", "x * two")
        lines = [json.loads(line) for line in self.reported("--message-format=json", code=1).splitlines()]
        self.assertTrue([line for line in lines if line["type"] == "diagnostic"])

    def test_it_builds_first(self):
        self.reported()
        self.edit("net.tri", "x * 2.0", "x * 3.0")
        self.assertIn("stale", self.trib("test", "--no-build").stderr)
        self.reported(code=1)

    def test_no_tests(self):
        self.write("tri.build", MANIFEST.replace("model net", "model other"))
        self.assertIn("no tests", self.reported())


if __name__ == "__main__":
    unittest.main()
