"""Misuse of a library by a C program gives an error with a message, never wrong numbers or a crash."""
import os
import subprocess
import unittest

from project import TRIB, ProjectTest

TOOLS = os.path.join(os.path.dirname(TRIB), "tests")
NETS = """fn linear_net(x: Tensor<float32, [N, 8]>) { return relu(x @ ones(8, 4) + 1.0) @ ones(4, 3) }
fn products(x: Tensor<float32, [N, M]>, y: Tensor<float32, [M, K]>) { return softmax(x @ y, dim=1) }
fn batches(x: Tensor<float32, [N, M, K]>, y: Tensor<float32, [N, K, L]>) { return (x @ y).transpose(1, 2) }
fn conv_net(x: Tensor<float32, [N, 2, H, W]>) { return maxpool2d(relu(conv2d(x, ones(3, 2, 3, 3), padding=1)), 2) }
fn attention_net(q: Tensor<float32, [B, T, 8]>, k: Tensor<float32, [B, S, 8]>, v: Tensor<float32, [B, S, 8]>) { return softmax(q @ k.transpose(1, 2), dim=2) @ v }
fn row(x: Tensor<float32, [N, M]>, i: Tensor<int32, []>) { return x[i] + x[:, 1:].sum() }
fn columns(x: Tensor<float32, [N, M]>, i: Tensor<int32, [K]>) { return x[:, i] }
fn gathers(x: Tensor<float32, [N, M]>, i: Tensor<int32, [K, M]>) { return gather(x, 0, i).sum(dim=1) }
fn adds(x: Tensor<float32, [N, M]>, i: Tensor<int32, [K, M]>, y: Tensor<float32, [K, M]>) { return scatter_add(x, 0, i, y) }
fn sorts(x: Tensor<float32, [N, M]>) { return sort(x, dim=1)[0] + cumsum(x, 0) + cumsum(x, 1) }
fn joins(x: Tensor<float32, [N, M]>, y: Tensor<float32, [K, M]>) { return concat([x, y, x], dim=0).mean(dim=1) }
fn reflects(x: Tensor<float32, [N, M]>) { return pad(x, [2, 1], mode="reflect") }
fn circles(x: Tensor<float32, [N, M]>) { return pad(pad(x, [1, 1], mode="circular"), [0, 2], value=1.5) }
fn slices(x: Tensor<float32, [N, M]>) { return x[1:, ::2] * 2.0 + x[:N - 1, :1] }
fn pairs(x: Tensor<float32, [N, 2 * M]>) { return x.reshape(N * M, 2).sum(dim=1).reshape(M, N) }
fn sums(x: Tensor<float32, [N, M]>) { return x[:, ::2].transpose(0, 1).sum() }
fn norms(x: Tensor<float32, [N, M, 6]>) { return layer_norm(x, 6).sum(dim=0) }
fn types(x: Tensor<float16, [N, M]>, y: Tensor<int64, [M]>, z: Tensor<int8, [N, 1]>) { return (x.float32() + y.float32() * z.float32()).sum() }
"""
CONTROL = """fn loops(x: Tensor<float32, [N, M]>, i: Tensor<int32, []>) {
    let s = zeros(M)
    for k in range(min(i, 1000)) { s = s + x[k] }
    return s
}
fn branches(x: Tensor<float32, [N, M]>, i: Tensor<int32, []>) {
    let s = zeros(M)
    if i < 3 { s = tanh(x[i]) @ ones(M, M) }
    return s
}
"""
RIGHT_SIZES = {"linear_net": "3", "products": "3 4 5", "batches": "2 3 4 5", "conv_net": "2 5 6", "attention_net": "2 3 4", "row": "3 4", "columns": "3 4 2",
               "gathers": "3 4 2", "adds": "3 4 2", "sorts": "3 4", "joins": "3 4 2", "reflects": "3 4", "circles": "3 4", "slices": "4 4", "pairs": "3 4",
               "sums": "3 4", "norms": "3 4", "types": "3 4", "loops": "3 4", "branches": "3 4"}
SQUARE = "fn square(x: Tensor<float32, [32, 32]>) -> Tensor<float32, [32, 32]> { return x + x @ x }\n"


class Library(ProjectTest):
    emit = "library"
    closes = 200
    attacks = NETS + CONTROL
    calls = 1500
    builds = (("-O0",), ("-O2",), ("--lazy",))

    def project(self, name, text, entries=None, flags=()):
        self.write(f"{name}.tri", text)
        self.write("tri.build", f"project misuse\nmodel {name}\n    sources = {name}.tri\n    entry = {entries or name}\n    emit = {self.emit}\n")
        self.trib("build", *flags)
        return self.path(f"build/lib{name}.so" if self.emit == "library" else f"build/lib{name}_opencl.so")

    def program(self, name, *args, text=""):
        done = subprocess.run([os.path.join(TOOLS, name), *args], input=text, capture_output=True, text=True, env={**os.environ, **self.env}, timeout=600)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_one_handle_in_many_threads(self):
        said = self.program("handles", self.project("square", SQUARE), "square_desc", str(self.closes))
        self.assertGreater(int(said.split()[2]), 0, "no two runs met: " + said)

    def test_sizes_beyond_64_bits(self):
        """Inputs without elements, and a temporary of N·M whose bytes are 0 modulo 2**64."""
        text = "fn wide(x: Tensor<float32, [N, 0]>, y: Tensor<float32, [M, 0]>) { return softmax(x @ y.transpose(0, 1), dim=1).sum() }\n"
        for flags in ((), ("--lazy",))[:len(self.builds)]:
            with self.subTest(flags=flags):
                library = self.project("wide", text, flags=flags)
                said = self.program("probe", library, "wide_desc", text=f"wide 0 {2**33} {2**33}\nwide 0 {2**32} {2**30}\nwide 0 2 2\n").splitlines()
                self.assertRegex(said[0], "^error 4 .*larger than any memory")
                self.assertRegex(said[1], "^error 4 .")
                self.assertRegex(said[2], "^ok .")

    def test_sizes_that_do_not_fit(self):
        library = self.project("cut", "fn cut(x: Tensor<float32, [N, M]>) { return x[1:4] * 2.0 }\n")
        said = self.program("probe", library, "cut_desc", text="cut 0 2 5\ncut 0 4 1\n").splitlines()
        self.assertRegex(said[0], "^error 2 .*a slice.*: N = 2, M = 5$")
        self.assertRegex(said[1], "^ok .")
        library = self.project("pool", "fn pool(x: Tensor<float32, [N, M]>) { return maxpool2d(x.reshape([1, 1, N, M]), 3) }\n")
        said = self.program("probe", library, "pool_desc", text="pool 0 2 5\n")
        self.assertRegex(said, "^error 2 .*the window.*: N = 2, M = 5")

    def test_random_wrong_tensors(self):
        entries = [name for name in RIGHT_SIZES if f"fn {name}(" in self.attacks]
        lines = "".join(f"{name} {RIGHT_SIZES[name]}\n" for name in entries)
        for seed, flags in enumerate(self.builds):
            with self.subTest(flags=flags):
                library = self.project("attacked", self.attacks, " ".join(entries), flags)
                ends = [int(n) for n in self.program("attack", library, "attacked_desc", str(seed), str(self.calls), text=lines).split()]
                for code, name in enumerate(("right", "argument", "shape", "dtype")):
                    self.assertGreater(ends[code], len(entries), name)


class Devices(Library):
    emit = "opencl"
    closes = 10
    attacks = NETS
    calls = 40
    builds = ((),)


if __name__ == "__main__":
    unittest.main()
