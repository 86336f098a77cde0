"""The tolerance of `trib test` and `trib bench`: what rounding changes in a network, and no more."""
import os
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


if __name__ == "__main__":
    unittest.main()
