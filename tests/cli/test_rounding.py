"""The tolerance of `trib test` and `trib bench`: what rounding changes in a network, and no more."""
import os
import shutil
import subprocess
import unittest

import numpy as np

from project import ProjectTest

DEPTH, WIDTH, ROWS = 8, 128, 32
LAYERS = "".join(f"    let fc{k} = nn.BitLinear({WIDTH}, {WIDTH})\n" for k in range(DEPTH))
BODY = "".join(f"        y = y + tanh(fc{k}(y))\n" for k in range(DEPTH))
NET = f"""import nn

@noinline
layer Deep() {{
{LAYERS}    fn forward(x: Tensor<float32, [N, {WIDTH}]>) {{
        let y = x
{BODY}        return y
    }}
}}
layer Floats() {{
    let deep = Deep()
    fn forward(x: Tensor<float32, [N, {WIDTH}]>) {{ return deep(x * 1.0), sum(x, dim=1) }}
}}
layer Tokens() {{
    let words = nn.Embedding(50, {WIDTH})
    let norm = nn.LayerNorm({WIDTH})
    let deep = Deep()
    fn forward(x: Tensor<int32, [N]>) {{ return deep(norm(words(x)) * 1.0) }}
}}
"""
CHANGE = "1.000003"  # three times 2^-20
# Blocks with layers inside: a difference in one of them is compared alone.
BLOCKS = f"""import nn

layer Block(scale: float) {{
    let fc = nn.BitLinear({WIDTH}, {WIDTH})
    @noinline
    fn inner(x: Tensor<float32, [N, {WIDTH}]>) {{ return tanh(fc(x)) * scale }}
    fn forward(x: Tensor<float32, [N, {WIDTH}]>) {{ return x * 1.0 + inner(x) }}
}}
layer Stack() {{
    let blocks = [Block(i == {DEPTH} - 1 ? 1.5 : 1.25) for i in 0..{DEPTH}]
    fn forward(x: Tensor<float32, [N, {WIDTH}]>) {{
        for block in blocks {{ x = block(x) }}
        return x
    }}
}}
layer Net() {{
    let stack = Stack()
    fn forward(x: Tensor<float32, [N, {WIDTH}]>) {{ return stack(x) }}
}}
"""


class Rounding(ProjectTest):
    def setUp(self):
        super().setUp()
        self.write("net.tri", NET)
        self.write("tri.build", "project p\n" + "".join(f"\nmodel {net.lower()}\n    sources = net.tri\n    entry   = {net}\n" for net in ("Floats", "Tokens")))

    def case(self, model, **arrays):
        os.makedirs(self.path(f"tests/{model}"), exist_ok=True)
        for key, array in arrays.items():
            np.save(self.path(f"tests/{model}/{key}.npy"), array)

    def expect(self, model, x, first, source=NET.replace("1.0", CHANGE)):
        """The results of a changed network. Returns that of `first`."""
        self.case(model, x=x)
        self.write("net.tri", source)
        self.trib("run", model, "--input", f"x=tests/{model}/x.npy", "--output", f"{first}=tests/{model}/{first}.npy", "-q")
        self.write("net.tri", NET)
        return np.load(self.path(f"tests/{model}/{first}.npy"))

    def verdict(self, model, *words):
        done = self.trib("test", model, *words, ok=False)
        self.assertEqual(done.returncode, 0 if "1 passed, 0 failed" in done.stdout else 1, done.stdout + done.stderr)
        return done.stdout

    def check(self, model, x, first):
        want = self.expect(model, x, first)
        self.assertIn(f"{model}: ok", self.verdict(model))
        self.assertIn(f"{model}: ok", self.verdict(model, "--device=reference"))
        self.assertRegex(self.verdict(model, "--rtol=1e-4"), rf"FAILED: {first}\[\d+, \d+\] is .*\(rtol 0.0001, atol 1e-05\)")
        self.assertIn("FAILED", self.verdict(model, "--atol=1e-5"))
        broken = want.copy()
        broken[3, 7] += 0.2 * np.abs(want).max()
        self.case(model, **{first: broken})
        self.assertRegex(self.verdict(model), rf"FAILED: {first}\[3, 7\] is .*\(rtol 0.0001, atol 1e-05, rounding [\d.e-]+\); 1 of ")
        self.case(model, **{first: np.zeros_like(want)})
        self.assertIn("FAILED", self.verdict(model))
        return want

    def test_floats(self):
        x = np.random.default_rng(1).standard_normal((ROWS, WIDTH), np.float32)
        want = self.check("floats", x, "out0")
        self.case("floats", out0=want, out1=x.sum(1) + 1e-2)  # another output gets nothing of it
        self.assertIn("FAILED: out1[", self.verdict("floats"))

    def test_integers(self):
        self.check("tokens", np.random.default_rng(1).integers(0, 50, ROWS).astype(np.int32), "out")

    def test_a_broken_layer(self):
        x = np.random.default_rng(1).standard_normal((ROWS, WIDTH), np.float32)
        self.expect("floats", x, "out0", NET.replace("fc5(y)", "fc4(y)"))
        self.assertIn("FAILED: out0[", self.verdict("floats"))


class Units(ProjectTest):
    """The check of `trib bench`: libraries of other sources, compared with the reference interpreter of these."""

    def check(self, built, reference):
        for name, text in ("other", built), ("here", reference):
            os.makedirs(self.path(name), exist_ok=True)
            self.write(f"{name}/net.tri", text)
            self.write(f"{name}/tri.build", "model net\n    sources = net.tri\n    entry   = Net\n")
        done = subprocess.run([os.environ["BENCH_CHECK_RUN"], self.path("other"), "run", "net", f"--input=x=random:{ROWS}x{WIDTH}"], cwd=self.path("here"),
                              env={**os.environ, **self.env}, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def test_units_agree(self):
        code, said = self.check(BLOCKS.replace("1.0", CHANGE), BLOCKS)
        self.assertEqual(code, 0, said)
        self.assertRegex(said, rf"differ from the reference interpreter by no more than rounding does: floats that change by 2\^-20 change `out` by \S+; {DEPTH} of its {DEPTH} units agree with it")
        self.assertEqual(self.check(BLOCKS, BLOCKS)[0], 0)

    def test_a_wrong_unit_is_named(self):
        code, said = self.check(BLOCKS.replace("1.5", "1.53"), BLOCKS)
        self.assertEqual(code, 1, said)
        self.assertRegex(said, r"^differ from the reference interpreter by no more than rounding does: .*; unit `stack.blocks.7 Block\(1.5\).inner \[N, 128\]`, given the reference's inputs: "
                         r"output `out` differs from the reference interpreter in \d+ of 4096 elements: element \d+ is .*\(rtol 0.0001, atol 1e-05, rounding \S+\)")

    def test_a_wrong_network(self):
        code, said = self.check(BLOCKS.replace("1.25", "1.7"), BLOCKS)
        self.assertEqual(code, 1, said)
        self.assertRegex(said, "^output `out` differs from the reference interpreter in .*; unit `stack.blocks.0 Block")


if __name__ == "__main__":
    unittest.main()
