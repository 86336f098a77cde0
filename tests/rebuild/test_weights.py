"""Only tensors whose values changed are packed again, independent of their position in the file."""
import unittest

import numpy as np

from inference import safetensors
from project import ProjectTest

PARTS = 4
NET = "layer Part() {\n    param w: Tensor<float32, [8, 8]>\n    fn forward(x: Tensor<float32, [N, 8]>) -> Tensor<float32, [N, 8]> { return x @ softmax(w) }\n}\n\nlayer Net() {\n" + \
    "".join(f"    let part{i} = Part()\n" for i in range(PARTS)) + \
    "    fn forward(x: Tensor<float32, [N, 8]>) -> Tensor<float32, [N, 8]> { return " + "(".join(f"part{i}" for i in range(PARTS)) + "(x" + ")" * PARTS + " }\n}\n"
MANIFEST = "project p\n\nmodel net\n    sources = net.tri\n    entry   = Net\n    weights = net.safetensors\n"


class Weights(ProjectTest):
    manifest = MANIFEST

    def setUp(self):
        super().setUp()
        self.write("net.tri", NET)
        self.write("tri.build", self.manifest)
        rng = np.random.default_rng(1)
        self.arrays = {f"part{i}.w": rng.standard_normal((8, 8), np.float32) for i in range(PARTS)}
        self.assertEqual(self.packed(), (PARTS, 0))

    def packed(self):
        """How many tensors a build packs with the arrays as they are, and how many it takes as they were."""
        self.write("net.safetensors", safetensors(self.arrays))
        record = self.build()
        return record["weights"]["packed"], record["weights"]["reused"]

    def test_one_tensor(self):
        self.arrays["part2.w"] = self.arrays["part2.w"] + 1
        self.arrays["part2.w"][0, 0] = 7
        self.assertEqual(self.packed(), (1, PARTS - 1))

    def test_another_order(self):
        self.arrays = dict(reversed(self.arrays.items()))
        self.assertEqual(self.packed()[0], 0)

    def test_values_change_places(self):
        self.arrays["part0.w"], self.arrays["part3.w"] = self.arrays["part3.w"], self.arrays["part0.w"]
        self.assertEqual(self.packed(), (0, PARTS))

    def test_code_stays(self):
        self.arrays["part1.w"] = self.arrays["part1.w"] * 2
        self.write("net.safetensors", safetensors(self.arrays))
        self.assertEqual(self.build()["units"]["compiled"], 0)

    def test_what_is_computed_of_them(self):
        self.edit("net.tri", "softmax(w)", "softmax(w * 2.0)")
        self.assertEqual(self.packed(), (PARTS, 0))


class WeightsBeside(Weights):
    """The same in a file beside the library, of which what stays is copied."""
    manifest = MANIFEST + "    weights.inside = 0\n"


if __name__ == "__main__":
    unittest.main()
