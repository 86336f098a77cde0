"""`weights.packing`: matrices of trits at 2 and at 1.6 bits have the same results."""
import json
import os
import unittest

from project import ProjectTest

K, N = 1000, 1000
NET = f"""layer Net() {{
    param w: Tensor<trit, [{K}, {N}]> = random_ternary([{K}, {N}])
    fn forward(x: Tensor<int8, [?, {K}]>) {{ return x @ w }}
}}
"""
MANIFEST = "project p\nmodel net\n    sources = net.tri\n    entry = Net\n    weights.inside = 4KiB\n"


class WeightsPacking(ProjectTest):
    def setUp(self):
        super().setUp()
        self.write("net.tri", NET)

    def give_input(self, rows):
        head = f"{{'descr': '|i1', 'fortran_order': False, 'shape': ({rows}, {K}), }}".encode().ljust(69) + b"\n"
        self.write("x.npy", b"\x93NUMPY\x01\x00\x46\x00" + head + bytes((i * 7 + i // 251) % 256 for i in range(rows * K)))

    def kernel(self, *args):
        text = self.trib("build", "--dump-loops", *args).stdout
        return "trit1_6" if "tri_matmul_i8_trit1_6" in text else "blocks" if "tri_matmul_i8_blocks" in text else "lists" if "tri_matmul_i8_lists" in text else text

    def packed_bytes(self):
        return sum(os.path.getsize(self.path("build/" + f)) for f in os.listdir(self.path("build")) if f.endswith(".triw"))

    def results(self, setting, cpu):
        self.write("tri.build", MANIFEST + f"    weights.packing = {setting}\n    cpu = {cpu}\n")
        self.build()
        found = [self.packed_bytes()]
        for rows in (1, 2, 33):
            self.give_input(rows)
            self.trib("run", "net", "--no-build", "--input", "x=x.npy", "--output", "out=y.npy")
            found.append(self.read("y.npy"))
        return found

    def test_results_and_sizes(self):
        for cpu in ("x86-64-v2", "x86-64-v3", "native"):
            two, dense = self.results("2", cpu), self.results("1.6", cpu)
            self.assertEqual(two[1:], dense[1:])
            self.assertLess(dense[0], 0.84 * two[0])  # the last group of 80 is padded

    def test_auto(self):
        self.write("tri.build", MANIFEST)
        self.assertIn(self.kernel(), ("blocks", "lists"))
        self.assertEqual(self.kernel("-Os"), "trit1_6")
        self.write("tri.build", MANIFEST + "    weights.packing = 2\n")
        self.assertIn(self.kernel("-Os"), ("blocks", "lists"))
        self.write("tri.build", MANIFEST + "    weights.packing = 1.6\n")
        self.assertEqual(self.kernel(), "trit1_6")

    def test_large_weights_are_packed_in_parts(self):
        """Memory of a packer is some parts of a weight, not the weight."""
        self.write("net.tri", "import nn\n\nlayer Net() {\n    let c = nn.Conv2d(512, 512, 3, bias=false)\n"
                   "    fn forward(x: Tensor<float32, [1, 512, 8, 8]>) { return c(x) }\n}\n")
        self.write("tri.build", "project p\nmodel net\n    sources = net.tri\n    entry = Net\n")
        self.trib("build", "-j1", "--profile-out", "p.json")
        items = json.loads(self.read("p.json"))["items"]
        peaks = [i["peak_bytes"][0] for i in items if i["name"] == "pack weights"]
        self.assertEqual(len(peaks), 1)
        self.assertLess(peaks[0], 4e6)  # of 9.4 MB

    def test_initial_weights_do_not_stay_in_memory(self):
        """16 weights of 256 KiB are computed when they are packed: no phase leaves more than a megabyte to the next one."""
        lets = "\n".join(f"    let l{i} = nn.Linear(256, 256)" for i in range(16))
        calls = "".join(f"        let y{i + 1} = l{i}(y{i})\n" for i in range(16))
        self.write("net.tri", f"import nn\n\nlayer Net() {{\n{lets}\n    fn forward(x: Tensor<float32, [1, 256]>) {{\n        let y0 = x\n{calls}        return y16\n    }}\n}}\n")
        self.write("tri.build", "project p\nmodel net\n    sources = net.tri\n    entry = Net\n")
        self.trib("build", "-j1", "--profile-out", "p.json")
        items = json.loads(self.read("p.json"))["items"]
        kept = {i["name"]: i["net_bytes"][0] for i in items if i["kind"] == "phase" and "net_bytes" in i}
        self.assertIn("elaborate", kept)
        self.assertLess(max(kept.values()), 1.5e6, kept)

    def test_unknown_packing(self):
        self.write("tri.build", MANIFEST + "    weights.packing = 3\n")
        self.assertIn("`weights.packing` must be `auto` (the default), `2` or `1.6`", self.fails("build"))


if __name__ == "__main__":
    unittest.main()
