"""Weights from GGUF and PyTorch files, and from several safetensors files with an index: the same library as from one safetensors file."""
import json
import os
import struct
import unittest

import numpy as np
import torch

from inference import safetensors
from project import ProjectTest
from weights_formats import TERNARY, bfloat16, gguf

NET = """import nn
layer Net() {
    let fc1 = nn.Linear(256, 512)
    let fc2 = nn.BitLinear(512, 40)
    fn forward(x: Tensor<float32, [N, 256]>) { return fc2(relu(fc1(x))) }
}
"""
MANIFEST = "project p\n\nmodel net\n    sources = net.tri\n    entry   = Net\n    weights = "


class Formats(ProjectTest):
    def setUp(self):
        super().setUp()
        self.write("net.tri", NET)
        rng = np.random.default_rng(1)
        self.arrays = {name: rng.standard_normal(shape).astype(np.float32) for name, shape in
                       (("fc1.weight", (512, 256)), ("fc1.bias", 512), ("fc2.weight", (40, 512)), ("fc2.norm.weight", 512))}

    def use(self, path, *keys):
        self.write("tri.build", MANIFEST + path + "\n" + "".join(f"    {key}\n" for key in keys))

    def library(self, path, *keys):
        self.use(path, *keys)
        self.build()
        return self.read("build/libnet.so")

    def expected(self, arrays=None):
        self.write("one.safetensors", safetensors(arrays or self.arrays))
        return self.library("one.safetensors")

    def says(self, path, *words, code=1):
        self.use(path)
        said = self.fails("build", code=code)
        for word in (path.split("/")[-1], *words):
            self.assertIn(word, said)


class Gguf(Formats):
    def test_floats(self):
        want = self.expected()
        for version, alignment in ((3, 32), (2, 64), (3, 8)):
            self.write("net.gguf", gguf(self.arrays, version, alignment))
            self.assertEqual(self.library("net.gguf"), want)

    def test_half_precision(self):
        half = {**self.arrays, "fc1.weight": self.arrays["fc1.weight"].astype(np.float16)}
        self.write("net.gguf", gguf(half))
        self.assertEqual(self.library("net.gguf"), self.expected(half))
        self.write("net.gguf", gguf({**self.arrays, "fc1.weight": ("BF16", self.arrays["fc1.weight"])}))
        self.assertEqual(self.library("net.gguf"), self.expected({**self.arrays, "fc1.weight": bfloat16(self.arrays["fc1.weight"])}))

    def test_ternary_tensors(self):
        trits = np.random.default_rng(2).integers(-1, 2, (40, 512)).astype(np.int8)
        for kind in TERNARY:
            self.write("net.gguf", gguf({**self.arrays, "fc2.weight": (kind, trits, 0.625)}))
            self.assertEqual(self.library("net.gguf"), self.expected({**self.arrays, "fc2.weight": trits.astype(np.float32) * np.float32(0.625)}), kind)

    def test_parameters_of_trits(self):
        self.write("net.tri", "layer Net() {\n    param w: Tensor<trit, [256, 256]>\n    fn forward(x: Tensor<float32, [N, 256]>) { return x @ w }\n}\n")
        trits = np.random.default_rng(3).integers(-1, 2, (256, 256)).astype(np.int8)
        want = self.expected({"w": trits})
        for kind in TERNARY:
            self.write("net.gguf", gguf({"w": (kind, trits, 3.5)}))
            self.assertEqual(self.library("net.gguf"), want, kind)

    def test_quantized_scales_must_be_finite(self):
        trits = np.ones((40, 512), np.int8)
        self.write("net.gguf", gguf({**self.arrays, "fc2.weight": ("TQ2_0", trits, np.inf)}))
        self.says("net.gguf", "E0655", "element [0, 0]", "inf")

    def test_damage(self):
        good = gguf(self.arrays)
        for size in [*range(0, 400, 37), *range(0, len(good), len(good) // 12)]:
            self.write("net.gguf", good[:size])
            self.use("net.gguf")
            self.assertIn("net.gguf", self.fails("build", code=1))
        self.write("net.gguf", good[:-5])
        self.says("net.gguf", "E0803", "tensor `fc2.norm.weight`: its data ends at byte", "truncated", "convert it again")
        self.write("net.gguf", good[:4] + struct.pack("<I", 1) + good[8:])
        self.says("net.gguf", "version 1")
        self.write("net.gguf", gguf(self.arrays).replace(b"fc1.bias", b"fc2.bias") + b"")
        self.says("net.gguf", "E0650", "fc1.bias")

    def test_other_types_are_refused_if_they_are_used(self):
        data = gguf(self.arrays)
        at = data.index(b"fc1.bias") + 8 + 4 + 8
        self.write("net.gguf", data[:at] + struct.pack("<I", 12) + data[at + 4:])
        self.says("net.gguf", "E0652", "`fc1.bias`", "GGUF type 12")


class PyTorch(Formats):
    def tensors(self):
        return {name: torch.from_numpy(array) for name, array in self.arrays.items()}

    def save(self, value, **more):
        torch.save(value, self.path("net.pt"), **more)

    def test_a_state_dict(self):
        want = self.expected()
        self.save(self.tensors())
        self.assertEqual(self.library("net.pt"), want)
        self.save(self.tensors(), pickle_protocol=4)
        self.assertEqual(self.library("net.pt"), want)

    def test_a_checkpoint(self):
        parameters = {name: torch.nn.Parameter(t) for name, t in self.tensors().items()}
        optimizer = torch.optim.Adam(parameters.values())
        sum(p.sum() for p in parameters.values()).backward()
        optimizer.step()
        self.save({"epoch": 3, "loss": 0.5, "done": False, "state_dict": self.tensors(), "optimizer": optimizer.state_dict(), "names": ["a", ("b", None)]})
        self.assertEqual(self.library("net.pt", "weights.prefix = state_dict."), self.expected())
        self.save(parameters)
        self.assertEqual(self.library("net.pt"), self.expected({name: p.detach().numpy() for name, p in parameters.items()}))

    def test_element_types_and_shared_storage(self):
        half = {**self.tensors(), "fc1.weight": self.tensors()["fc1.weight"].half(), "extra": torch.zeros(2, dtype=torch.float64),
                "bytes": torch.zeros(3, dtype=torch.uint8)}
        both = torch.cat([half["fc1.bias"], half["fc2.norm.weight"]])
        half["fc1.bias"], half["fc2.norm.weight"] = both[:512], both[512:]
        self.save(half)
        self.assertEqual(self.library("net.pt"), self.expected({**self.arrays, "fc1.weight": half["fc1.weight"].numpy()}))

    def test_code_is_not_executed(self):
        class Evil:
            def __reduce__(self):
                return os.system, ("touch executed",)
        self.save({**self.tensors(), "x": Evil()})
        self.says("net.pt", "E0803", "system`", "model.state_dict()")
        self.assertFalse(os.path.exists(self.path("executed")))
        self.save(torch.nn.Linear(2, 2))
        self.says("net.pt", "`torch.nn.modules.linear.Linear`", "model.state_dict()")

    def test_what_cannot_be_used(self):
        self.save({**self.tensors(), "fc1.weight": torch.zeros(256, 512).t()})
        self.says("net.pt", "tensor `fc1.weight`", "w.contiguous()")
        self.save([1, 2])
        self.says("net.pt", "does not hold a dictionary")
        self.save({"epoch": 3})
        self.says("net.pt", "no tensors with names")
        self.save(self.tensors(), _use_new_zipfile_serialization=False)
        self.says("net.pt", "Python pickle")

    def test_damage(self):
        self.save(self.tensors())
        good = self.read("net.pt")
        for size in range(0, len(good), len(good) // 15):
            self.write("net.pt", good[:size])
            self.use("net.pt")
            self.assertIn("net.pt", self.fails("build", code=1))


class Shards(Formats):
    def save(self, folder=""):
        names = sorted(self.arrays)
        parts = {"model-00001-of-00002.safetensors": names[:2], "model-00002-of-00002.safetensors": names[2:]}
        for file, inside in parts.items():
            self.write(folder + file, safetensors({name: self.arrays[name] for name in inside}))
        return {name: file for file, inside in parts.items() for name in inside}

    def index(self, names, folder=""):
        self.write(folder + "model.safetensors.index.json", json.dumps({"metadata": {"total_size": 1}, "weight_map": names}).encode())

    def test_an_index(self):
        os.mkdir(self.path("w"))
        self.index(self.save("w/"), "w/")
        self.assertEqual(self.library("w/model.safetensors.index.json"), self.expected())

    def test_a_changed_shard(self):
        self.index(self.save())
        self.library("model.safetensors.index.json")
        self.assertEqual(self.trib("build").stdout, "trib: nothing to do\n")
        self.arrays["fc1.bias"] = self.arrays["fc1.bias"] + 1
        self.save()
        record = self.build()
        self.assertEqual(record["units"]["compiled"], 0)
        self.assertEqual(record["weights"]["packed"], 1)
        self.assertEqual(self.read("build/libnet.so"), self.expected())

    def test_faults(self):
        path = "model.safetensors.index.json"
        names = self.save()
        self.index({**names, "fc1.bias": "model-00002-of-00002.safetensors"})
        self.says(path, "E0803", "`model-00002-of-00002.safetensors` lacks its tensor `fc1.bias`")
        for outside in ("../a.safetensors", "/etc/passwd", "a/../../b", "", ".."):
            self.index({**names, "fc1.bias": outside})
            self.says(path, "E0803", "which is no file below its folder")
        self.index({**names, "fc1.bias": "model-3.safetensors"})
        self.use(path)
        self.assertIn("cannot read the weights file `model-3.safetensors`", self.fails("build", code=3))
        self.write(path, b'{"weight_map": 3}')
        self.says(path, "its `weight_map` is not a JSON object")
        self.index(names)
        self.write("model-00001-of-00002.safetensors", b"damaged!")
        self.use(path)
        self.assertIn("`model-00001-of-00002.safetensors` cannot be used", self.fails("build", code=1))


if __name__ == "__main__":
    unittest.main()
