"""Names that a weights file and a model do not share, and what a build says of inputs, parameters and states."""
import json
import shutil
import unittest

import numpy as np

from test_weights_file import MANIFEST, NET, WeightsFile

TERNARY = """layer F(x: Tensor<float32, [N, 4]>, w1: Tensor<trit, [4, 4]>, w2: Tensor<trit, [4, 2]>, bias: Tensor<float32, [2]>) {
    return ternary_matmul(ternary_matmul(x, w1), w2) + bias
}
"""


class Ternary(WeightsFile):
    def setUp(self):
        super().setUp()
        self.write("net.tri", TERNARY)
        self.manifest = MANIFEST.replace("= Net", "= F")
        self.write("tri.build", self.manifest)
        self.arrays = {"w1": np.ones((4, 4), np.int8), "w2": np.ones((4, 2), np.int8), "bias": np.zeros(2, np.float32)}

    def renamed(self, old, new):
        return {new if name == old else name: array for name, array in self.arrays.items()}


class Names(Ternary):
    """Tensors that nothing takes, and arguments that no tensor has the name of."""

    def said(self, *args):
        return self.trib(*args or ("build",)).stderr

    def test_all_names_are_known(self):
        self.save(self.arrays)
        self.assertEqual(self.said(), "")

    def test_a_ternary_argument_without_a_tensor(self):
        self.save(self.renamed("w2", "wX"))
        for command in ("build", "check"):
            said = self.said(command)
            self.assertIn("warning[W0653]: argument `w2` of `F` is an input: `net.safetensors` has no tensor of this name", said)
            self.assertIn("`wX` int8 [4, 2] in the file is not used", said)
            self.assertIn("net.tri:1:63", said)
            self.assertEqual(said.count("warning["), 1, said)
        self.write("tri.build", self.manifest + "    input w2 = trit [4, 2]\n    weights.unused = ignore\n")
        self.assertEqual(self.said(), "")

    def test_an_argument_of_floats_that_a_tensor_resembles(self):
        self.save(self.renamed("bias", "bais"))
        said = self.said()
        self.assertIn("W0653", said)
        self.assertIn("`bais` float32 [2] in the file is not used", said)

    def test_a_tensor_that_nothing_takes(self):
        self.save({**self.arrays, "bias2": np.zeros(3, np.float32), "bn.num_batches_tracked": np.zeros((), np.int64)})
        said = self.said()
        self.assertIn("warning[W0652]: 1 tensor in `net.safetensors` is not used", said)
        self.assertIn("not used: `bias2` float32 [3]; the nearest name is `bias`", said)
        self.assertIn("tri.build:6", said)
        self.write("tri.build", self.manifest + "    weights.unused = ignore\n")
        self.assertEqual(self.said(), "")
        self.write("tri.build", self.manifest + "    weights.unused = never\n")
        self.says("E0704", "`weights.unused` must be `warn` (the default) or `ignore`", "found `never`")

    def test_hundreds_are_summarised(self):
        self.save({**self.arrays, **{f"optimizer.{i:03}": np.zeros(3, np.float32) for i in range(300)}})
        said = self.said()
        self.assertIn("300 tensors in `net.safetensors` are not used", said)
        self.assertIn("and 296 more", said)
        self.assertNotIn("optimizer.004", said)
        self.assertIn("optimizer.299", self.said("build", "-v"))

    def test_only_names_with_the_prefix_count(self):
        self.save({**{"net." + name: array for name, array in self.arrays.items()}, "decoder.w": np.zeros(3, np.float32)})
        self.write("tri.build", self.manifest + "    weights.prefix = net.\n")
        self.assertEqual(self.said(), "")
        self.save({**{"net." + name: array for name, array in self.arrays.items()}, "net.more": np.zeros(3, np.float32)})
        self.assertIn("not used: `net.more` float32 [3]", self.said())

    def test_models_that_share_a_file(self):
        self.write("net.tri", TERNARY + TERNARY.replace("F(", "G(").replace("w1", "u1"))
        self.write("tri.build", self.manifest + self.manifest.replace("project p", "").replace("model net", "model other").replace("= F", "= G"))
        self.save({**self.arrays, "u1": np.ones((4, 4), np.int8)})
        self.assertEqual(self.said(), "")
        self.assertEqual(self.said("build", "net"), "")

    def test_parameters_of_layers(self):
        self.write("net.tri", NET)
        self.write("tri.build", MANIFEST)
        names = [json.loads(line) for line in self.trib("params", "--message-format=json").stdout.splitlines()[:-1]]
        arrays = {p["name"]: np.ones(p["shape"], np.float32) for p in names}
        self.save({**arrays, "fc3.weight": np.zeros((2, 2), np.float32)})
        self.assertIn("not used: `fc3.weight` float32 [2, 2]; the nearest name is `fc1.weight`", self.said())


class Interface(Ternary):
    """What the entries take is printed once, and again when it changes."""

    def append(self, line):
        """To tri.build."""
        self.write("tri.build", self.read("tri.build").decode() + line)

    def lines(self, *args):
        return [line for line in self.trib("build", *args).stdout.splitlines() if "float32[N, 4]" in line and not line.startswith("[")]

    def test_a_change_is_printed_once(self):
        self.save(self.arrays)
        self.assertEqual(self.lines("-q"), [])
        self.append("    # no-op builds do not look\n")
        first = self.lines()
        self.assertEqual(len(first), 1)
        self.assertRegex(first[0], r"^net: input x: float32\[N, 4\]; 26 parameters in 3 tensors, 32(\.0)? B; no states$")
        self.assertEqual(self.lines(), [])
        self.edit("net.tri", "+ bias", "- bias")
        self.assertEqual(self.lines(), [])
        self.save(self.renamed("w2", "wX"))
        second = self.lines()
        self.assertEqual(len(second), 2)
        self.assertIn("net: inputs x: float32[N, 4], w2: trit[4, 2]; 18 parameters in 2 tensors", second[0])
        self.assertEqual(second[1], "  before: " + first[0][len("net: "):])

    def test_as_json(self):
        self.save(self.arrays)
        def interfaces():
            said = [json.loads(line) for line in self.trib("build", "--message-format=json").stdout.splitlines()]
            return [o for o in said if o["type"] == "interface"]
        self.assertEqual(interfaces(), [{"type": "interface", "model": "net", "entry": "F", "inputs": [{"name": "x", "type": "float32[N, 4]"}],
                                         "parameters": {"tensors": 3, "elements": 26, "bytes": 32}, "states": []}])
        self.append("    # another manifest\n")
        self.assertEqual(interfaces(), [])

    def test_a_build_from_the_cache(self):
        self.save(self.arrays)
        self.assertEqual(len(self.lines()), 1)
        shutil.rmtree(self.path(".trib"))
        shutil.rmtree(self.path("build"))
        self.assertEqual(len(self.lines()), 1)
        self.append("    # another manifest\n")
        self.assertEqual(self.lines(), [])

    def test_states_and_a_run_that_builds(self):
        self.write("net.tri", "layer Net() {\n    state h: Tensor<float32, [1, 4]>\n    state k: Tensor<float32, [2, cap T, 4]>\n"
                   "    fn forward(x: Tensor<float32, [1, 4]>) {\n        h = h + x\n        k = concat([k, stack([h, h])], dim=1)\n"
                   "        return k.sum()\n    }\n}\n")
        self.write("tri.build", "project p\n\nmodel net\n    sources = net.tri\n    entry = Net\n    state.T = 8\n")
        self.trib("run", "--input", "x=random")
        self.append("    # what a run builds is not shown\n")
        self.assertIn("net: input x: float32[1, 4]; no parameters; states h: float32[1, 4], k: float32[2, cap T, 4]\n", self.trib("build").stdout)


if __name__ == "__main__":
    unittest.main()
