"""Weights files of 16-bit floats: libraries hold them as they are, and compute the same bits as from a file with the same numbers as float32."""
import json
import struct
import unittest

import numpy as np
import torch

from project import ProjectTest

NET = """import nn
# A unit of its own: its callers pass parameters.
@noinline
layer Block() {
    let fc = nn.Linear(96, 96)
    fn forward(x: Tensor<float32, S>) { return x + relu(fc(x)) }
}
layer Net() {
    let embed = nn.Embedding(1024, 96)
    let norm = nn.LayerNorm(96)
    let blocks = [Block() for i in 0..3]
    let conv = nn.Conv2d(3, 8, 3, padding=1)
    let bit = nn.BitLinear(96, 256)
    fn forward(tokens: Tensor<int32, [B, L]>, image: Tensor<float32, [B, 3, 8, 8]>) {
        let x = norm(embed(tokens))
        for b in blocks { x = b(x) }
        for i in 0..tokens.shape[1] { x = blocks[0](x) * 0.5 }
        if sum(x) > 0.0 { x = blocks[1](x) }
        return (x @ embed.weight.transpose(0, 1), conv(image), bit(x))
    }
}
"""
TYPES = {torch.float32: "F32", torch.bfloat16: "BF16", torch.float16: "F16"}


def safetensors(tensors):
    header, data = {}, b""
    for name, t in tensors.items():
        raw = t.contiguous().view(torch.int32 if t.dtype == torch.float32 else torch.int16).numpy().tobytes()
        header[name] = {"dtype": TYPES[t.dtype], "shape": list(t.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


class Halves(ProjectTest):
    def setUp(self):
        super().setUp()
        self.write("net.tri", NET)
        self.settings()
        rng = np.random.default_rng(3)
        np.save(self.path("t.npy"), rng.integers(0, 1024, (2, 5)).astype(np.int32))
        np.save(self.path("i.npy"), rng.standard_normal((2, 3, 8, 8)).astype(np.float32))
        torch.manual_seed(5)
        shapes = {"embed.weight": (1024, 96), "norm.weight": (96,), "norm.bias": (96,), "conv.weight": (8, 3, 3, 3), "conv.bias": (8,),
                  "bit.weight": (256, 96)}
        for i in range(3):
            shapes |= {f"blocks.{i}.fc.weight": (96, 96), f"blocks.{i}.fc.bias": (96,)}
        self.tensors = {name: torch.randn(shape) for name, shape in shapes.items()}

    def settings(self, *lines):
        self.write("tri.build", "project p\n\nmodel net\n    sources = net.tri\n    entry   = Net\n    weights = w.safetensors\n"
                   + "".join(f"    {line}\n" for line in lines))

    def store(self, numbers, dtypes):
        """`dtypes`: the types of tensors by name, "" for all others. The numbers are those of the type `numbers`."""
        rounded = {n: t.to(numbers) for n, t in self.tensors.items()}
        self.write("w.safetensors", safetensors({n: t.to(dtypes.get(n, dtypes[""])) for n, t in rounded.items()}))

    def outputs(self, *args):
        outputs = [f"--output=out{k}={k}.npy" for k in range(3)]
        self.trib("run", "net", *args, "--input=tokens=t.npy", "--input=image=i.npy", *outputs)
        return b"".join(self.read(f"{k}.npy") for k in range(3))

    def test_same_results(self):
        for numbers in (torch.bfloat16, torch.float16):
            for args in ((), ("--cpu", "x86-64-v2"), ("--threads", "2"), ("--device", "reference")):
                with self.subTest(numbers=numbers, args=args):
                    self.store(numbers, {"": torch.float32})
                    want = self.outputs(*args)
                    self.store(numbers, {"": numbers})
                    self.assertEqual(self.outputs(*args), want)
                    self.store(numbers, {"": numbers, "blocks.1.fc.weight": torch.float32, "norm.bias": torch.float32})
                    self.assertEqual(self.outputs(*args), want)

    def test_levels(self):
        self.store(torch.bfloat16, {"": torch.float32})
        for level in "0", "1", "3", "s":
            with self.subTest(level=level):
                self.settings(f"opt = {level}")
                self.store(torch.bfloat16, {"": torch.float32})
                want = self.outputs()
                self.store(torch.bfloat16, {"": torch.bfloat16})
                self.assertEqual(self.outputs(), want)

    def test_sizes(self):
        self.store(torch.bfloat16, {"": torch.float32})
        self.build()
        wide = len(self.read("build/libnet.so"))
        self.store(torch.bfloat16, {"": torch.bfloat16})
        self.build()
        saved = 2 * sum(self.tensors[n].numel() for n in self.tensors if "conv" not in n and "bit" not in n)
        self.assertGreater(wide - len(self.read("build/libnet.so")), 0.75 * saved)  # kernels for them take some of it

    def test_what_is_compiled(self):
        """Units depend on the types of the parameters that they read, not on the numbers."""
        self.store(torch.bfloat16, {"": torch.bfloat16})
        self.build()
        self.tensors["blocks.1.fc.weight"] += 1
        self.store(torch.bfloat16, {"": torch.bfloat16})
        self.assertEqual(self.build()["units"]["compiled"], 0)
        self.store(torch.bfloat16, {"": torch.bfloat16, "norm.bias": torch.float32})
        self.assertEqual(self.build()["units"]["compiled"], 1)  # the one that has the norm
        self.store(torch.bfloat16, {"": torch.bfloat16})
        self.assertEqual(self.build()["units"]["compiled"], 0)

    def check_tied(self, rows, dtype):
        tied = NET.replace("1024", str(rows))
        two_tables = tied.replace("x @ embed.weight", "x @ head.weight").replace(
            "    let norm", f"    let head = nn.Embedding({rows}, 96)\n    let norm")
        tokens = np.arange(2 * rows).reshape(2, -1) % rows
        np.save(self.path("t.npy"), tokens.astype(np.int32))
        self.tensors["embed.weight"] = self.tensors["head.weight"] = torch.randn(rows, 96)
        self.store(dtype, {"": dtype})
        self.write("net.tri", two_tables)
        want, two = self.outputs(), len(self.read("build/libnet.so"))
        self.write("net.tri", tied)
        self.assertEqual(self.outputs(), want)
        if rows > 100:  # a smaller one may be less than a page
            self.assertLess(len(self.read("build/libnet.so")), two - 0.8 * rows * 96 * torch.finfo(dtype).bits // 8)
        np.save(self.path("t.npy"), np.array([[1, rows], [0, 2]], dtype=np.int32))
        said = self.fails("run", "net", "--input=tokens=t.npy", "--input=image=i.npy")
        self.assertIn(f"index {rows} is out of range: it must be at least 0 and less than {rows}", said)

    def test_tied_head(self):
        """An embedding and the head that is tied to it are stored once; results and errors are those of two copies."""
        for dtype in (torch.float32, torch.bfloat16):
            for rows in (1024, 1000, 1009, 257, 20):
                with self.subTest(rows=rows, dtype=dtype):
                    self.check_tied(rows, dtype)


if __name__ == "__main__":
    unittest.main()
