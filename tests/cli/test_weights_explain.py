"""How ternary weights are packed, in `trib build --explain` and in the description of the library."""
import json
import struct
import unittest

from project import ProjectTest

K, N = 256, 96
NET = f"""layer Net() {{
    param pruned: Tensor<trit, [{K}, {N}]>
    param dense: Tensor<trit, [{K}, {N}]>
    param conv: Tensor<trit, [40, 8, 3, 3]>
    param floats: Tensor<trit, [{K}, 20]>
    fn forward(x: Tensor<int8, [?, {K}]>, image: Tensor<int8, [1, 8, 9, 9]>, y: Tensor<float32, [?, {K}]>) {{
        return x @ pruned, x @ dense, conv2d(image, conv, padding=1), y @ floats
    }}
}}
"""
MANIFEST = "project p\nmodel net\n    sources = net.tri\n    entry = Net\n    weights = w.safetensors\n    cpu = x86-64-v3\n"


def safetensors(tensors):
    head, data = {}, b""
    for name, (shape, values) in tensors.items():
        head[name] = {"dtype": "I8", "shape": shape, "data_offsets": [len(data), len(data) + len(values)]}
        data += bytes(v & 255 for v in values)
    text = json.dumps(head).encode()
    return struct.pack("<Q", len(text)) + text + data


class WeightsExplain(ProjectTest):
    def setUp(self):
        super().setUp()
        sign = lambda i: 1 - 2 * (i * 7 // 3 % 2)
        self.write("net.tri", NET)
        self.write("tri.build", MANIFEST)
        self.arrays = {
            "pruned": ([K, N], [sign(i) if i // N % 4 == 1 and i % N != 5 else 0 for i in range(K * N)]),  # a quarter of the rows, without column 5
            "dense": ([K, N], [sign(i) for i in range(K * N)]),
            "conv": ([40, 8, 3, 3], [sign(i) if i // 72 != 7 and i // 9 % 8 not in (2, 3) else 0 for i in range(40 * 72)]),
            "floats": ([K, 20], [sign(i) if i % 2 else 0 for i in range(K * 20)])}
        self.write("w.safetensors", safetensors(self.arrays))

    def weights(self, *args):
        lines = map(json.loads, self.trib("build", "--explain", "--message-format=json", *args).stdout.splitlines())
        return {line["name"]: line for line in lines if line["type"] == "weight"}

    def check(self, found, name, **expected):
        self.assertEqual({k: found[name][k] for k in expected}, expected, name)

    def test_zeros(self):
        found = self.weights()
        self.assertEqual(list(found)[0], "dense")
        self.check(found, "pruned", form="blocks", layout="trit_blocks", shape=[K, N], zeros=K * N - K // 4 * (N - 1), zero_rows=K * 3 // 4, zero_columns=1,
                   zero_blocks=0, blocks=K // 4 * 3)
        self.check(found, "dense", form="dense", layout="trit_blocks", zeros=0, zero_rows=0, zero_columns=0, zero_blocks=0)
        self.check(found, "conv", form="dense", layout="trit2_windows", zeros=40 * 72 - 39 * 54, zero_rows=2, zero_columns=1)
        self.check(found, "floats", form="dense", layout="trit2", zeros=K * 10, zero_rows=0, zero_columns=10, zero_blocks=0, blocks=K // 4)
        self.assertLess(found["pruned"]["blocks_one"], 0.95)
        self.assertGreater(found["dense"]["blocks_one"], 0.95)
        self.assertEqual(self.weights(), {})  # nothing is linked

    def test_only_what_was_packed(self):
        self.assertEqual(len(self.weights()), 4)
        self.write("net.tri", "# a line\n" + NET)
        self.assertEqual(self.weights(), {})
        self.write("net.tri", "# two\n# lines\n" + NET)
        said = self.trib("build", "--explain").stdout
        self.assertIn("ternary weights of net, cpu: 4 as in the last build; -v lists them\n", said)
        self.assertNotIn("  pruned ", said)
        self.write("net.tri", NET)
        self.assertEqual(len(self.weights("-v")), 4)
        self.write("w.safetensors", safetensors({**self.arrays, "dense": ([K, N], [1] * (K * N))}))
        said = self.trib("build", "--explain").stdout
        self.assertIn("  dense ", said)
        self.assertIn("  3 as in the last build; -v lists them\n", said)
        self.assertNotIn("  pruned ", said)

    def test_dense_packing(self):
        self.check(self.weights("-Os"), "pruned", form="dense", layout="trit1_6", zeros=K * N - K // 4 * (N - 1), zero_rows=K * 3 // 4, zero_columns=1)

    def test_text_and_description(self):
        lines = self.trib("build", "--explain").stdout.splitlines()
        line = next(x for x in lines if x.startswith("  pruned "))
        self.assertRegex(line, r"trit_blocks +blocks .*zeros 75\.3 %, 192 of 256 rows, 1 of 96 columns; estimates: blocks 0\.\d\d, 0\.\d\d")
        self.assertIn("2 of 8 input channels, 1 of 40 output channels", next(x for x in lines if x.startswith("  conv ")))
        described = self.trib("version", "--model", "build/libnet.so").stdout
        self.assertIn("weight pruned: [256, 96] trit_blocks, blocks, zeros 75.3 %; estimates: blocks 0.", described)

    def test_weight_file(self):
        self.write("tri.build", MANIFEST + "    weights.inside = 1KiB\n")
        inside = self.weights()
        self.check(inside, "pruned", form="blocks", zero_rows=K * 3 // 4)
        self.write("net.tri", NET.replace("y @ floats", "y @ floats + 1.0"))
        self.assertEqual(self.weights(), {})  # the file is used as it is
        self.write("net.tri", NET.replace("y @ floats", "y @ floats + 2.0"))
        self.assertEqual(self.weights("-v"), inside)


if __name__ == "__main__":
    unittest.main()
