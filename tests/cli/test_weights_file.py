"""Faults in a weights file: another format, missing names, unknown element types, NaN and infinity."""
import io
import json
import os
import struct
import unittest
import zipfile

import numpy as np

from inference import safetensors
from project import ProjectTest

NET = """import nn
layer Net() {
    let fc1 = nn.Linear(4, 3)
    let fc2 = nn.BitLinear(3, 2)
    fn forward(x: Tensor<float32, [N, 4]>) { return fc2(relu(fc1(x))) }
}
"""
MANIFEST = "project p\n\nmodel net\n    sources = net.tri\n    entry   = Net\n    weights = net.safetensors\n"
FUNCTIONAL = "layer F(w: Tensor<float32, [K, N]>, x: Tensor<float32, [?, K]>) -> Tensor<float32, [?, N]> { return x @ w }\n"


def raw(*tensors):
    """A file of (name, dtype, shape, bytes)."""
    header, data = {}, b""
    for name, dtype, shape, content in tensors:
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def zipped(*names):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        for name in names:
            z.writestr(name, b"x" * 5000)
    return out.getvalue()


class WeightsFile(ProjectTest):
    def setUp(self):
        super().setUp()
        self.write("net.tri", NET)
        self.write("tri.build", MANIFEST)
        rng = np.random.default_rng(1)
        self.arrays = {name: rng.standard_normal(shape).astype(np.float32) for name, shape in
                       (("fc1.weight", (3, 4)), ("fc1.bias", 3), ("fc2.weight", (2, 3)))}
        self.arrays["fc2.norm.weight"] = np.ones(3, np.float32)

    def save(self, arrays):
        self.write("net.safetensors", safetensors(arrays))

    def says(self, *words, **more):
        said = self.fails("build", **more)
        for word in words:
            self.assertIn(word, said)
        return said


class Missing(WeightsFile):
    def setUp(self):
        super().setUp()
        self.save(self.arrays)
        names = [json.loads(line)["name"] for line in self.trib("params", "--message-format=json").stdout.splitlines()[:-1]]
        self.arrays = {name: self.arrays[name] for name in names}
        self.save(self.arrays)
        self.build()

    def test_every_name_is_listed_with_the_nearest(self):
        arrays = dict(self.arrays)
        arrays["fc1.wieght"] = arrays.pop("fc1.weight")
        del arrays["fc2.weight"]
        self.save(arrays)
        said = self.says("error[E0650]: 2 parameters are not in `net.safetensors`", "missing: `fc1.weight` float32[3, 4]; the file has `fc1.wieght`",
                         "missing: `fc2.weight` float32[2, 3]", "weights.missing = initialize")
        self.assertIn("tri.build:6", said)

    def test_a_long_list_is_complete(self):
        parts = 60
        self.write("net.tri", "layer Part() {\n    param w: Tensor<float32, [2]> = ones([2])\n    fn forward(x: Tensor<float32, [2]>) { return x * w }\n}\n"
                   f"layer Net() {{\n    let parts = [Part() for i in 0..{parts}]\n    fn forward(x: Tensor<float32, [2]>) {{\n        let y = x\n"
                   "        for p in parts { y = p(y) }\n        return y\n    }\n}\n")
        said = self.says("60 parameters are not in")
        for i in range(parts):
            self.assertIn(f"`parts.{i}.w`", said)

    def test_initialize(self):
        arrays = dict(self.arrays)
        del arrays["fc1.weight"], arrays["fc1.bias"]
        self.save(arrays)
        self.write("tri.build", MANIFEST + "    weights.missing = initialize\n")
        said = self.trib("build").stderr
        self.assertIn("warning[W0650]: 2 parameters are not in `net.safetensors` and take the initial value", said)
        self.assertNotIn("error", said)
        self.write("tri.build", MANIFEST + "    weights.missing = error\n")
        self.says("E0650")
        self.write("tri.build", MANIFEST + "    weights.missing = ignore\n")
        self.says("`initialize`", "found `ignore`")

    def test_prefixes(self):
        for prefix in ("module.", "_orig_mod.", "model.", "_orig_mod.module."):
            self.write("tri.build", MANIFEST)
            self.save({prefix + name: array for name, array in self.arrays.items()})
            self.says(f"the file has {len(self.arrays)} of {len(self.arrays)} with the prefix `{prefix}`", f"add `weights.prefix = {prefix}`",
                      f"missing: `fc1.bias` float32[3]; the file has `{prefix}fc1.bias`")
            self.write("tri.build", MANIFEST + f"    weights.prefix = {prefix}\n")
            self.build()

    def test_a_prefix_gives_the_same_library(self):
        library = self.read("build/libnet.so")
        self.save({"module." + name: array for name, array in self.arrays.items()})
        self.write("tri.build", MANIFEST + "    weights.prefix = module.\n")
        self.build()
        self.assertEqual(self.read("build/libnet.so"), library)

    def test_an_unknown_prefix(self):
        self.write("tri.build", MANIFEST + "    weights.prefix = modul.\n")
        self.says("no tensor in `net.safetensors` has the prefix `modul.`", "tri.build:7")
        self.write("tri.build", MANIFEST + "    weights.prefix = module.\n")
        self.save({**self.arrays, "module.fc1.bias": self.arrays["fc1.bias"]})
        self.says("both `fc1.bias` and `module.fc1.bias`")

    def test_keys_without_a_file(self):
        for key in ("prefix = module.", "missing = initialize"):
            self.write("tri.build", MANIFEST.replace("weights = net.safetensors", "weights." + key))
            self.assertIn(f"`weights.{key.split()[0]}` has no effect: model `net` has no `weights`", self.trib("build").stderr)

    def test_arguments_with_a_prefix(self):
        self.write("net.tri", FUNCTIONAL)
        self.write("tri.build", MANIFEST.replace("= Net", "= F"))
        self.save({"module.w": np.eye(2, dtype=np.float32)})
        said = self.trib("build").stderr
        self.assertIn("warning[W0651]: argument `w` of `F` is an input, but `net.safetensors` has a tensor `module.w`", said)
        self.assertIn("weights.prefix = module.", said)
        self.write("tri.build", MANIFEST.replace("= Net", "= F") + "    input w = float32 [2, 2]\n")
        said = self.trib("build").stderr
        self.assertIn("warning[W0652]", said)  # nothing takes `module.w`
        self.assertNotIn("W0651", said)
        self.write("tri.build", MANIFEST.replace("= Net", "= F") + "    weights.prefix = module.\n")
        self.assertEqual(self.trib("build").stderr, "")
        self.assertIn("[1, 2]", self.trib("run", "--input", "x=random").stdout)

    def test_many_arguments_with_a_prefix_are_one_warning(self):
        names = [f"w{i}" for i in range(40)]
        self.write("net.tri", f"layer F({', '.join(f'{w}: Tensor<float32, [2]>' for w in names)}) {{ return {' + '.join(names)} }}\n")
        self.write("tri.build", MANIFEST.replace("= Net", "= F"))
        self.save({"_orig_mod." + w: np.ones(2, np.float32) for w in names})
        said = self.trib("build").stderr
        self.assertIn("40 arguments of `F` are inputs, but `net.safetensors` has tensors of these names with the prefix `_orig_mod.`", said)
        self.assertEqual(said.count("warning["), 1, said)

    def test_names_without_the_prefix_of_the_parameters(self):
        self.write("net.tri", NET + "layer Outer() {\n    let model = Net()\n    fn forward(x: Tensor<float32, [N, 4]>) { return model(x) }\n}\n")
        self.write("tri.build", MANIFEST.replace("= Net", "= Outer"))
        self.says("the file has 3 of 3 without the prefix `model.`", "missing: `model.fc1.bias` float32[3]; the file has `fc1.bias`")


class Values(WeightsFile):
    def test_quantized_parameters_must_be_finite(self):
        for value, text in ((np.nan, "nan"), (np.inf, "inf"), (-np.inf, "-inf")):
            arrays = {**self.arrays, "fc2.weight": self.arrays["fc2.weight"].copy()}
            arrays["fc2.weight"][1, 2] = value
            self.save(arrays)
            said = self.says("E0655", "`fc2.weight`", f"element [1, 2] in `net.safetensors` is {text}")
            self.assertEqual(said.count("error["), 1)

    def test_a_failing_index_in_a_function(self):
        self.write("net.tri", "layer Net(at: Tensor<int64, []>, table: Tensor<float32, [10]>, x: Tensor<float32, [2]>) {\n"
                   "    return x + table.index_select(0, at)\n}\n")
        self.write("tri.build", MANIFEST + "    input x = float32 [2]\n")
        self.save({"at": np.array(100, np.int64), "table": np.zeros(10, np.float32)})
        self.says("E0809", "index 100 is out of range: it must be at least 0 and less than 10")

    def test_also_in_half_precision_and_double(self):
        for dtype in (np.float16, np.float64):
            self.write("net.tri", f"layer Net() {{\n    param w: Tensor<float{np.dtype(dtype).itemsize * 8}, [2, 2]>\n"
                       "    fn forward(x: Tensor<float32, [N, 2]>) {\n        let t = ternary_quantize(w * 2.0)\n        return x @ t\n    }\n}\n")
            self.save({"w": np.array([[1, 0], [np.nan, 0]], dtype)})
            self.says("E0655", "`w`", "[1, 0]")

    def test_other_parameters_may_be_infinite(self):
        arrays = {**self.arrays, "fc1.weight": self.arrays["fc1.weight"].copy()}
        arrays["fc1.weight"][0, 0] = np.inf
        self.save(arrays)
        self.build()

    def test_trits(self):
        self.write("net.tri", "layer Net() {\n    param w: Tensor<trit, [2, 2]>\n    fn forward(x: Tensor<float32, [N, 2]>) { return x @ w }\n}\n")
        self.save({"w": np.array([[1, 0], [np.nan, 0]], np.float32)})
        self.says("E0653", "element [1, 0]", "nan")

    def test_a_failing_index_in_a_layer(self):
        self.write("net.tri", "layer Net() {\n    param ids: Tensor<int32, [2]>\n    param w: Tensor<float32, [3]>\n    let picked = w[ids]\n"
                   "    fn forward(x: Tensor<float32, [2]>) { return x + picked }\n}\n")
        self.save({"ids": np.array([0, 9], np.int32), "w": np.ones(3, np.float32)})
        self.says("E0809", "index 9 is out of range: it must be at least 0 and less than 3")

    def test_unsupported_element_types(self):
        self.write("net.tri", FUNCTIONAL)
        self.write("tri.build", MANIFEST.replace("= Net", "= F"))
        for dtype, size, remedy in (("U16", 2, "torch.int32"), ("F8_E4M3", 1, "torch.float16"), ("F8_E8M0", 1, "torch.float16"), ("C64", 8, "float32")):
            self.write("net.safetensors", raw(("w", dtype, [2, 2], bytes(4 * size))))
            self.says("E0652", "`w`", dtype, "net.safetensors", remedy)
        self.write("net.safetensors", raw(("w", "F32", [1] * 8 + [2], bytes(8))))
        self.says("`w`", "float32[1, 1, 1, 1, 1, 1, 1, 1, 2]", "at most 8 dimensions", "net.safetensors")

    def test_parameters_of_unsupported_types(self):
        self.write("net.tri", "layer Net() {\n    param w: Tensor<float32, [2, 2]>\n    fn forward(x: Tensor<float32, [N, 2]>) { return x @ w }\n}\n")
        self.write("net.safetensors", raw(("w", "F8_E5M2", [2, 2], bytes(4))))
        self.says("E0652", "parameter `w` is float32, but `net.safetensors` holds it as F8_E5M2", "w.to(torch.float32)")

    def test_unused_tensors_may_have_any_type(self):
        self.write("net.tri", FUNCTIONAL)
        self.write("tri.build", MANIFEST.replace("= Net", "= F"))
        self.write("net.safetensors", raw(("w", "F32", [2, 2], bytes(16)), ("mask", "U16", [2], bytes(4)), ("packed", "F4_NEW", [3], bytes(2)),
                                          ("deep", "I8", [1] * 9, bytes(1))))
        said = self.trib("build").stderr
        self.assertIn("W0652", said)
        self.assertNotIn("error", said)


TIED = """import nn
layer Net() {
    let embed = nn.Embedding(1024, 64)
    let fc = nn.Linear(64, 64)
    let head = nn.Linear(64, 1024, bias=false, weight=embed.weight)
    fn forward(ids: Tensor<int64, [N]>) { return head(relu(fc(embed(ids)))) }
}
"""


class Tied(WeightsFile):
    """Layers that share a parameter: it is in the file under either name, or under both as in a state_dict."""

    def setUp(self):
        super().setUp()
        self.write("net.tri", TIED)
        rng = np.random.default_rng(2)
        self.table = rng.standard_normal((1024, 64)).astype(np.float32)
        self.fc = {"fc.weight": rng.standard_normal((64, 64)).astype(np.float32), "fc.bias": np.ones(64, np.float32)}
        self.save({"embed.weight": self.table, **self.fc})
        self.build()

    def test_either_name_gives_the_same_library(self):
        library = self.read("build/libnet.so")
        for names in (["head.weight"], ["head.weight", "embed.weight"]):
            self.save({**dict.fromkeys(names, self.table), **self.fc})
            self.assertEqual(self.trib("build").stderr, "")
            self.assertEqual(self.read("build/libnet.so"), library)

    def test_it_is_stored_once(self):
        once = len(self.read("build/libnet.so"))
        self.write("net.tri", TIED.replace(", weight=embed.weight", ""))
        self.save({"embed.weight": self.table, "head.weight": self.table + 1, **self.fc})
        self.build()
        size = self.table.nbytes
        self.assertGreater(len(self.read("build/libnet.so")) - once, size * 0.9)

    def test_it_is_stored_once_outside(self):
        self.write("tri.build", MANIFEST + "    weights.inside = 0\n")
        self.build()
        outside, = (name for name in os.listdir(self.path("build")) if name.endswith(".triw"))
        self.assertLess(os.path.getsize(self.path(os.path.join("build", outside))), self.table.nbytes * 1.5)

    def test_different_values_are_an_error(self):
        self.save({"embed.weight": self.table, "head.weight": self.table + 1, **self.fc})
        self.says("E0656", "`embed.weight` and `head.weight` are one parameter, but their tensors in `net.safetensors` differ")
        self.save({"embed.weight": self.table, "head.weight": self.table.astype(np.float16), **self.fc})
        self.says("E0656")

    def test_a_missing_parameter_is_one(self):
        self.save(self.fc)
        self.says("E0650", "1 parameter is not in `net.safetensors`", "missing: `embed.weight`")
        self.save({**self.fc, "embed.wieght": self.table, "head.weight": self.table[:, :1]})
        self.says("E0651", "parameter `embed.weight` is float32[1024, 64]")

    def test_it_is_listed_once(self):
        listed = self.trib("params").stdout
        self.assertRegex(listed, r"embed.weight +float32 +\[1024, 64\] 65,536, also head.weight\n")
        self.assertIn("net: 69,696 parameters in 3 tensors\n", listed)
        line, *_ = (json.loads(line) for line in self.trib("params", "--message-format=json").stdout.splitlines())
        self.assertEqual((line["name"], line["aliases"]), ("embed.weight", ["head.weight"]))

    def test_shared_layers_have_both_names(self):
        self.write("net.tri", TIED.replace("nn.Linear(64, 64)", "nn.Linear(64, 64)\n    let same = [fc]").replace("relu(fc(", "relu(same[0]("))
        for names in (("fc",), ("same.0",), ("fc", "same.0")):
            self.save({"embed.weight": self.table, **{name + k[2:]: v for name in names for k, v in self.fc.items()}})
            self.assertEqual(self.trib("build").stderr, "")


class MissingFile(WeightsFile):
    """trib params without the weights file."""

    def test_parameters_of_layers(self):
        listed = self.trib("params").stdout
        self.assertRegex(listed, r"fc1.weight +float32 +\[3, 4\] 12\n")
        self.assertIn("net: `net.safetensors` is missing", listed)
        self.assertEqual(self.trib("params", "--message-format=json").stdout.count('"type":"parameter"'), 3)
        self.write("net.safetensors", b"damaged")
        self.assertIn("E0803", self.fails("params"))

    def test_arguments_of_a_functional_entry(self):
        self.write("net.tri", FUNCTIONAL + "layer G(w: TernaryTensor, x: Tensor<float32>) { return x @ w }\n")
        self.write("tri.build", MANIFEST.replace("= Net", "= F"))
        self.assertIn("It would say which arguments of `F` are parameters", self.trib("params").stdout)
        self.write("tri.build", MANIFEST.replace("= Net", "= G") + "    input x = float32 [?, 8]\n")
        listed = self.trib("params").stdout
        self.assertRegex(listed, r"w +TernaryTensor\n")
        self.assertRegex(listed, r"x +float32 \[\?, 8\] input\n")
        self.assertIn("probably the 1 without", listed)
        reported = [json.loads(line) for line in self.trib("params", "--message-format=json").stdout.splitlines()]
        self.assertEqual([(t["name"], t["input"]) for t in reported], [("w", False), ("x", True)])


class Quantized(WeightsFile):
    """trib build --dump-quantized"""

    def test_each_quantized_parameter_has_a_line(self):
        for out, count in ((40, 300), (8, 8)):  # in blocks, and a small square one
            self.write("net.tri", NET.replace("Linear(4, 3)", f"Linear(4, {count})").replace("BitLinear(3, 2)", f"BitLinear({count}, {out})"))
            w = np.random.default_rng(5).standard_normal((out, count)).astype(np.float32)
            self.save({"fc1.weight": np.ones((count, 4), np.float32), "fc1.bias": np.ones(count, np.float32), "fc2.weight": w,
                       "fc2.norm.weight": np.ones(count, np.float32)})
            scale = np.abs(w).astype(np.float64).mean()
            codes = np.clip(np.round(w / np.float32(scale)), -1, 1)
            error = np.linalg.norm(w.astype(np.float64) - scale * codes) / np.linalg.norm(w.astype(np.float64))
            lines = map(json.loads, self.trib("build", "--dump-quantized", "--message-format=json").stdout.splitlines())
            line, = (x for x in lines if x["type"] == "quantized")
            self.assertEqual((line["type"], line["model"], line["name"], line["dtype"], line["shape"]), ("quantized", "net", "fc2.weight", "trit", [out, count]))
            for key, want in (("zeros", (codes == 0).mean()), ("scale", scale), ("error", error)):
                self.assertAlmostEqual(line[key], want, 5)
            said = self.trib("build", "--dump-quantized").stdout
            self.assertRegex(said, rf"^fc2.weight +trit +\[{out}, {count}\]  zeros {100 * (codes == 0).mean():.1f} %  scale {scale:.4f}\d*  "
                             rf"relative error {error:.4f}\n$")
            self.assertFalse(os.path.exists(self.path("build/libnet.so")))


class Formats(WeightsFile):
    def test_errors_name_the_file_format(self):
        for name, content, words in (
                ("net.pt", zipped("net/data.pkl", "net/data/0"), ["a PyTorch file", "its data.pkl", 'torch.save(model.state_dict(), "net.pt")']),
                ("old.pth", b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.", ["pickle", 'torch.load("old.pth"', "weights = old.safetensors"]),
                ("net.npz", zipped("w.npy"), ["a NumPy archive", 'numpy.load("net.npz")']),
                ("a.zip", zipped("w.txt"), ["a zip archive"]),
                ("w.npy", b"\x93NUMPY\x01\x00", ["a NumPy array"]),
                ("lfs.safetensors", b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n", ["git-lfs", "git lfs pull"]),
                ("page.safetensors", b"\n<!DOCTYPE html>\n<html></html>", ["an HTML page", "resolve"]),
                ("empty.safetensors", b"", ["is empty"]),
                ("net.gguf", b"GGUF\3\0\0\0", ["truncated", "I2_S"]),
                ("net.h5", b"\x89HDF\r\n\x1a\n", ["HDF5"]),
                ("cut.safetensors", safetensors(self.arrays)[:-4], ["truncated"]),
                ("short.safetensors", safetensors(self.arrays)[:40], ["truncated"]),
                ("noise.safetensors", bytes(range(100, 200)), ["does not begin with the length of a JSON header"])):
            self.write(name, content)
            self.write("tri.build", MANIFEST.replace("net.safetensors", name))
            self.says("E0803", name, *words)
        os.mkdir(self.path("folder"))
        self.write("tri.build", MANIFEST.replace("net.safetensors", "folder"))
        self.says("cannot read the weights file `folder`", "directory", code=3)


if __name__ == "__main__":
    unittest.main()
