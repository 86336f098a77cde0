"""A weight file that was damaged, of each packed form: an error or other numbers, and never a crash; with `verify` always an error.

TRIB_FAULTS=all in the environment tries twenty times as many cases."""
import glob
import json
import os
import random
import struct
import subprocess
import unittest

from project import TRIB, ProjectTest

PROGRAM = os.path.join(os.path.dirname(TRIB), "tests", "crash", "damaged_weights")
K, N = 300, 200
NET = f"""import nn
layer Net() {{
    param blocks: Tensor<trit, [{K}, {N}]>
    param lists: Tensor<trit, [{K}, {N}]>
    param rows: Tensor<trit, [{K}, {N}]>
    param dense: Tensor<trit, [{K}, {N}]> = random_ternary([{K}, {N}])
    param windows: Tensor<trit, [40, 8, 3, 3]> = random_ternary([40, 8, 3, 3])
    param places: Tensor<int64, [64]>
    param masks: Tensor<bool, [{N}]>
    let embed = nn.Embedding(64, 96)
    let fc = nn.Linear(96, 70)
    let conv = nn.Conv2d(3, 8, 3, padding=1)
    let bit = nn.BitLinear(96, 256)
    fn products(x: Tensor<int8, [M, {K}]>, t: Tensor<trit, [M, {K}]>, f: Tensor<float32, [M, {K}]>) {{
        return (x @ blocks, x @ lists, x @ rows, x @ dense, t @ dense, f @ dense)
    }}
    fn windows_of(image: Tensor<float32, [1, 3, 9, 9]>, image8: Tensor<int8, [1, 8, 9, 9]>, t: Tensor<trit, [1, 8, 9, 9]>) {{
        return (conv(image), conv2d(image8, windows, padding=1), conv2d(t, windows, padding=1))
    }}
    fn words(ids: Tensor<int32, [M]>, f: Tensor<float32, [M, {N}]>) {{
        let x = embed(ids)
        return (x @ embed.weight.transpose(0, 1), fc(x), bit(x), embed(places), f[:, places], where(masks, f, 0.0))
    }}
}}
"""
CALLS = "products 1\nproducts 9\nwindows_of\nwords 3\n"
MANIFEST = """project p
model net
    sources = net.tri
    entry = Net.products Net.windows_of Net.words
    weights = w.safetensors
    weights.missing = initialize
    weights.inside = 1KiB
"""


def safetensors(tensors):
    head, data = {}, b""
    for name, (dtype, shape, raw) in tensors.items():
        head[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(head).encode()
    return struct.pack("<Q", len(text)) + text + data


class DamagedWeights(ProjectTest):
    cases = 4000 if os.environ.get("TRIB_FAULTS") == "all" else 200

    def setUp(self):
        super().setUp()
        rng = random.Random(5)

        def trits(keeps):
            return "I8", [K, N], bytes(rng.choice((1, 255)) if keeps(i // N, i % N) else 0 for i in range(K * N))

        def floats(shape, dtype):
            n = 1
            for size in shape:
                n *= size
            return dtype, shape, b"".join(struct.pack("<f", rng.gauss(0, 1))[4 - (2 if dtype == "BF16" else 4):] for _ in range(n))
        self.weights = {
            "blocks": trits(lambda k, n: k // 4 % 5 == n // 32 % 5), "lists": trits(lambda k, n: rng.random() < 0.04), "rows": trits(lambda k, n: k % 4 == 1),
            "places": ("I64", [64], struct.pack("<64q", *range(64))), "masks": ("BOOL", [N], bytes(i % 2 for i in range(N)))}
        self.floats = {"embed.weight": [64, 96], "fc.weight": [70, 96], "fc.bias": [70], "conv.weight": [8, 3, 3, 3], "conv.bias": [8]}
        self.make = floats
        self.write("net.tri", NET)

    def attack(self, settings, dtype="F32", *flags, cases=None):
        self.write("w.safetensors", safetensors({**self.weights, **{name: self.make(shape, dtype) for name, shape in self.floats.items()}}))
        self.write("tri.build", MANIFEST + settings)
        self.trib("build", *flags)
        seed = random.randrange(1 << 40)
        said = subprocess.run([PROGRAM, self.path("build/libnet.so"), *glob.glob(self.path("build/*.triw")), self.path("copy.triw"), str(seed), str(cases or self.cases)],
                              input=CALLS, capture_output=True, text=True, env={**os.environ, **self.env})
        self.assertEqual(said.returncode, 0, said.stderr)
        refused, ran = map(int, said.stdout.split())
        self.assertGreater(refused, ran // 20)
        self.assertGreater(ran, refused // 20)
        return refused, ran

    def test_levels(self):
        for cpu in ("x86-64-v2", "x86-64-v3", "native"):
            with self.subTest(cpu=cpu):
                print(cpu, *self.attack(f"    cpu = {cpu}\n"))

    def test_forms(self):
        forms = {line["name"]: line["form"] for line in map(json.loads, self.built_lines()) if line["type"] == "weight"}
        self.assertEqual([forms[name] for name in ("blocks", "rows", "dense")], ["blocks", "blocks", "dense"])

    def built_lines(self):
        self.write("w.safetensors", safetensors({**self.weights, **{name: self.make(shape, "F32") for name, shape in self.floats.items()}}))
        self.write("tri.build", MANIFEST)
        return self.trib("build", "--explain", "--message-format=json").stdout.splitlines()

    def test_dense_packing(self):
        for cpu in ("x86-64-v2", "native"):
            with self.subTest(cpu=cpu):
                print("1.6", cpu, *self.attack(f"    weights.packing = 1.6\n    cpu = {cpu}\n"))

    def test_halves(self):
        print("bfloat16", *self.attack("", "BF16"))

    def test_lazy(self):
        print("lazy", *self.attack("", "F32", "--lazy"))

    def test_unoptimised(self):
        print("-O0", *self.attack("", "F32", "-O0"))


if __name__ == "__main__":
    unittest.main()
