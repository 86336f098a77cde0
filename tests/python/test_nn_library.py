"""Every layer and quantizer of trib.nn against the compiled library: integers bit for bit, floats within the bound
of their sums."""

import os
import re
import sys
import unittest
import warnings

import numpy as np
import torch
import trib.nn as tn
from inference import InferenceTest, safetensors
from project import SOURCE, run
from torch import nn
from trib.nn import functional as F

torch.set_num_threads(1)
EPS = 1e-5  # of the sum of the absolute values of the terms: frontend/LANGUAGE.md
TYPES = {
    torch.float32: "float32",
    torch.int8: "int8",
    torch.int64: "int64",
    torch.bool: "bool",
}


def declared(x):
    return f"Tensor<{TYPES[x.dtype]}, {list(x.shape)}>"


class LibraryTest(InferenceTest):
    def setUp(self):
        super().setUp()
        torch.manual_seed(0)

    def run_layers(self, cases, *flags):
        """Builds one library of all cases, name: (layer, input), and returns their results by name."""
        text, manifest = ["import nn\n"], ["project layers\n"]
        for name, (layer, x) in cases.items():
            text.append(
                f"layer {name}() {{\n    let net = {tn.table.call(layer)}\n    fn forward(x: {declared(x)}) {{ return net(x) }}\n}}\n"
            )
            state = {f"net.{k}": t.numpy() for k, t in tn.to_state_dict(layer).items()}
            manifest.append(f"model {name.lower()}\n    sources = layers.tri\n    entry = {name}\n")
            if state:
                self.write(f"{name}.safetensors", safetensors(state))
                manifest.append(f"    weights = {name}.safetensors\n")
        self.write("layers.tri", "\n".join(text))
        self.write("tri.build", "".join(manifest))
        self.trib("build", *flags)
        return {
            name: torch.from_numpy(self.infer(name.lower(), {"x": x.numpy()}, 0)[0]) for name, (_, x) in cases.items()
        }

    def assert_same(self, got, want):
        self.assertEqual((got.dtype, got.shape), (want.dtype, want.shape))
        self.assertTrue(torch.equal(got, want), f"{got}\n{want}")

    def assert_within(self, got, want, bound):
        self.assertEqual((got.dtype, got.shape), (want.dtype, want.shape))
        worst = ((got - want).abs() / bound).max().item()
        self.assertLessEqual(worst, 1, f"{worst} times the bound")


def whole(*shape):
    """Numbers that int8 activations represent exactly, with the scale 1 for each row and item."""
    x = torch.randint(-127, 128, shape).float()
    x[..., 0] = 127
    return x


def even(layer):
    """Weights whose trits and scale are exact in every order of the sum."""
    with torch.no_grad():
        layer.weight.copy_(torch.randint(0, 2, layer.weight.shape) * 2.0 - 1.0).mul_(0.25)
        layer.weight.reshape(-1)[::2] *= 3  # the mean is 0.5, the trits of 0.25 are ties, which round to 0
    return layer


class Integers(LibraryTest):
    def test_sums_are_bit_equal(self):
        rows, image = (
            torch.randint(-128, 128, (5, 32), dtype=torch.int8),
            torch.randint(-128, 128, (2, 4, 9, 8), dtype=torch.int8),
        )
        cases = {
            "Linear": (tn.TernaryLinear(32, 7, bias=False), rows),
            "Scaled": (tn.TernaryLinear(32, 7, bias=False, scale=True, quantizer="learned"), rows),
            "Biased": (tn.TernaryLinear(32, 7), rows),
            "Conv": (tn.TernaryConv2d(4, 6, 3, bias=False), image),
            "Strided": (tn.TernaryConv2d(4, 6, (3, 2), 2, (1, 0), groups=2, bias=False), image),
            "Dilated": (tn.TernaryConv2d(4, 6, 3, padding="same", dilation=2, bias=False), image),
            "ConvScaled": (
                tn.TernaryConv2d(4, 6, 3, bias=False, scale=True, quantizer=lambda: tn.AbsMean(dim=0)),
                image,
            ),
            "Rows": (tn.TernaryEmbedding(9, 6), torch.tensor([[1, 8], [0, 3]])),
            "RowsScaled": (tn.TernaryEmbedding(9, 6, scale=True, quantizer="adaptive"), torch.tensor([[1, 8], [0, 3]])),
            "Activation": (tn.TernaryActivation(0.25), torch.linspace(-1, 1, 33)),
            "Bit": (even(tn.BitLinear(32, 6, norm=False)), whole(5, 32)),
            "BitBiased": (even(tn.BitLinear(32, 6, bias=True, norm=False)), whole(5, 32)),
            "BitStatic": (even(tn.BitLinear(32, 6, norm=False, static_scale=True)), whole(5, 32) / 16),
            "BitConv": (even(tn.BitConv2d(4, 6, 3, padding=1)), whole(2, 4, 9, 8)),
            "BitConvStatic": (even(tn.BitConv2d(4, 6, 3, stride=2, static_scale=True)), whole(2, 4, 9, 8) / 16),
        }
        with torch.no_grad():
            for name in ("BitStatic", "BitConvStatic"):
                cases[name][0].input_scale.fill_(1 / 16)
            for flags in (("-O0",), ("-O2",)):
                got = self.run_layers(cases, *flags)
                for name, (layer, x) in cases.items():
                    with self.subTest(name, flags=flags):
                        want = layer.eval()(x)
                        self.assert_same(got[name], want.to(torch.int8) if name == "Activation" else want)


class Floats(LibraryTest):
    def test_sums_are_within_the_bound(self):
        x, image = torch.randn(5, 32), torch.randn(2, 4, 9, 8)
        cases = {
            "Linear": (tn.TernaryLinear(32, 7, scale=True), x),
            "Conv": (tn.TernaryConv2d(4, 6, 3, scale=True, quantizer="adaptive"), image),
            "Conv3": (tn.TernaryConv2d(4, 6, 3, padding=1), image[0]),
            "Bit": (tn.BitLinear(32, 7, bias=True, norm=False), x),
            "BitNorm": (tn.BitLinear(32, 7), x),
            "BitStatic": (tn.BitLinear(32, 7, static_scale=True), x),
            "BitConv": (tn.BitConv2d(4, 6, 3, bias=True), image),
            "BitConvStatic": (tn.BitConv2d(4, 6, 3, static_scale=True), image),
            "Norm": (tn.RMSNorm(32), x),
            "Norm2": (tn.RMSNorm((9, 8), 1e-3, elementwise_affine=False), image),
        }
        with torch.no_grad():
            for layer, _ in cases.values():
                layer.eval()
                if getattr(layer, "bias", None) is not None:
                    layer.bias.normal_()
            got = self.run_layers(cases, "-O2")
            for name, (layer, v) in cases.items():
                with self.subTest(name):
                    self.assert_within(got[name], layer(v), EPS * self.terms(layer, v))

    def terms(self, layer, x):
        """The sum of the absolute values of the terms of each result."""
        if isinstance(layer, tn.RMSNorm):
            return layer(x).abs() * 2
        if isinstance(layer, (tn.BitLinear, tn.BitConv2d)):
            v = F.rms_norm(x, eps=1e-5) if getattr(layer, "norm", False) else x
            codes, scale = layer._codes(v, (-1,) if isinstance(layer, tn.BitLinear) else (1, 2, 3))
            near = (v / scale).abs().clamp(max=127)
            self.assertGreater(
                (near - near.floor() - 0.5).abs().min().item(), EPS, "a code is a tie: take another seed"
            )
            tn.freeze(layer)
            trits, weight_scale = layer.quantizer(layer.weight)
            x, size = codes.abs(), scale * weight_scale
        else:
            trits, size = (t.float() for t in layer.trits())
            x = x.abs()
            if not layer.has_scale:
                size = torch.ones(())
        bias = layer.bias.abs() if layer.bias is not None else torch.zeros(())
        if isinstance(layer, nn.Linear):
            return nn.functional.linear(x, trits.abs()) * size + bias
        y = nn.functional.conv2d(x, trits.abs(), None, layer.stride, layer.padding, layer.dilation, layer.groups)
        return y * (size.reshape(-1, 1, 1, 1) if size.dim() == 4 else size.reshape(-1, 1, 1)) + bias.reshape(-1, 1, 1)

    def test_blocks(self):
        x = torch.randn(2, 5, 16)
        cases = {
            "Gated": (tn.GatedFeedForward(16, 24, "silu", sub_norm=True, norm_eps=1e-6), x),
            "GatedTernary": (tn.GatedFeedForward(16, 24, "relu2", linear=tn.TernaryLinear), x),
            "Attention": (tn.GroupedQueryAttention(16, 4, 2, rope_base=500.0, sub_norm=True), x),
            "AttentionTernary": (tn.GroupedQueryAttention(16, 4, 4, head_dim=6, bias=True, linear=tn.TernaryLinear), x),
        }
        cases.update({f"Gated_{a}": (tn.GatedFeedForward(16, 8, a), x) for a in ("relu", "gelu", "gelu_tanh")})
        with torch.no_grad():
            got = self.run_layers(cases, "-O2")
            for name, (layer, v) in cases.items():
                with self.subTest(name):
                    want = layer.eval()(v)
                    self.assert_within(got[name], want, 20 * EPS * want.abs().max())


class Quantizers(LibraryTest):
    """Each function in its inference meaning equals the builtin of its name."""

    CALLS = (
        ("threshold_quantize(x)", lambda x: F.threshold_quantize(x)),
        ("threshold_quantize(x, 0.3, 2.0)", lambda x: F.threshold_quantize(x, 0.3, 2.0)),
        ("ternary_quantize(x, 0.7)", lambda x: F.ternary_quantize(x, 0.7)),
        ('ternary_quantize(x, 0.7, "stochastic")', lambda x: F.ternary_quantize(x, 0.7, "stochastic")),
        ('ternary_quantize(x, 0.7, "learned")', lambda x: F.ternary_quantize(x, 0.7, "learned")),
        ("stochastic_quantize(x, 0.6)", lambda x: F.stochastic_quantize(x, 0.6)),
        ("ste_quantize(x)", lambda x: F.ste_quantize(x)),
        ("ste_quantize(x, xnor_quantize)", lambda x: F.ste_quantize(x, F.xnor_quantize)),
        ("clipped_ste_quantize(x, 2.0)", lambda x: F.clipped_ste_quantize(x, 2.0)),
        ("learned_quantize(x, 0.4, -0.9)", lambda x: F.learned_quantize(x, 0.4, -0.9)),
        ("learned_quantize(x, 0.4, none, 1.5, 0.7)", lambda x: F.learned_quantize(x, 0.4, None, 1.5, 0.7)),
        ("soft_quantize(x, 0.7)", lambda x: F.soft_quantize(x, 0.7)),
        ("soft_quantize(x, 0.7, true, 0.3)", lambda x: F.soft_quantize(x, 0.7, True, 0.3)),
        ("gumbel_softmax_quantize(x, 0.7)", lambda x: F.gumbel_softmax_quantize(x, 0.7)),
        ("gumbel_softmax_quantize(x, 0.7, true, 0.3)", lambda x: F.gumbel_softmax_quantize(x, 0.7, True, 0.3)),
        ("adaptive_threshold_quantize(x)", lambda x: F.adaptive_threshold_quantize(x)),
        ("adaptive_threshold_quantize(x, 0.5, 1)", lambda x: F.adaptive_threshold_quantize(x, 0.5, 1)),
        ("adaptive_threshold_quantize(x, target_sparsity=0.3)", lambda x: F.adaptive_threshold_quantize(x, target_sparsity=0.3)),
        ("adaptive_threshold_quantize(x, dim=0, percentile=0.6)", lambda x: F.adaptive_threshold_quantize(x, dim=0, percentile=0.6)),
        ("xnor_quantize(x)", lambda x: F.xnor_quantize(x)),
        ("xnor_quantize(x, 0, false)", lambda x: F.xnor_quantize(x, 0, False)),
        ("absmean_quantize(x)", lambda x: F.absmean_quantize(x)),
        ("absmax_quantize(x)", lambda x: F.absmax_quantize(x)),
        ("absmax_quantize(x, [0, 1])", lambda x: F.absmax_quantize(x, (0, 1))),
        ("ternary_activation(x, 0.2)", lambda x: F.ternary_activation(x, 0.2)),
        ("rms_norm(x)", lambda x: F.rms_norm(x)),
        ("rms_norm(x, [6, 10], eps=1e-3)", lambda x: F.rms_norm(x, (6, 10), eps=1e-3)),
        ("rope(x, 3, 100.0)", lambda x: tn.rope(x, torch.arange(3, 9), 100.0)),
    )  # fmt: skip

    def test_builtins(self):
        x = torch.randn(6, 10)
        x[0, 0] = 0
        lines, values = [], []
        for k, (call, function) in enumerate(self.CALLS):
            pair = isinstance(function(x), tuple)
            lines.append(f"        let {f'(a{k}, b{k})' if pair else f'a{k}'} = {call}")
        values = [
            n
            for k, (_, f) in enumerate(self.CALLS)
            for n in ((f"a{k}", f"b{k}") if isinstance(f(x), tuple) else (f"a{k}",))
        ]
        text = "\n".join(lines)
        self.write(
            "all.tri",
            f"layer Main() {{\n    fn forward(x: {declared(x)}) {{\n{text}\n        return {', '.join(values)}\n    }}\n}}\n",
        )
        self.write("tri.build", "project all\n\nmodel all\n    sources = all.tri\n    entry = Main\n")
        self.trib("build", "-O2")
        got = dict(zip(values, self.infer("all", {"x": x.numpy()}, len(values))))
        for k, (call, function) in enumerate(self.CALLS):
            want = function(x)
            for name, w in zip("ab", want if isinstance(want, tuple) else (want,)):
                with self.subTest(call):
                    g = torch.from_numpy(got[f"{name}{k}"])
                    if g.dtype == torch.int8:
                        self.assert_same(g.float(), w)
                    else:
                        self.assert_within(g, w, EPS * (w.abs() + 0.1))


class Training(LibraryTest):
    def test_the_example_of_the_page(self):
        with open(os.path.join(SOURCE, "README.md"), encoding="utf-8") as file:
            code = re.search(r"### Train with PyTorch.*?```python\n(.*?)```", file.read(), re.S)[1]
        os.makedirs(self.dir, exist_ok=True)
        run([sys.executable, "-c", code], self.dir)
        self.write(
            "net.tri",
            "import nn\n\nlayer Net() {\n    let _net = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), "
            "nn.BitLinear(64, 64, bias=true, norm=false), nn.ReLU(), nn.Linear(64, 2))\n"
            "    fn forward(x: Tensor<float32, [?, 8]>) { return _net(x) }\n}\n",
        )
        self.write(
            "tri.build", "project net\n\nmodel net\n    sources = net.tri\n    entry = Net\n    weights = net.pt\n"
        )
        self.trib("build")
        x = np.random.default_rng(0).standard_normal((200, 8)).astype(np.float32)
        self.assertLess(np.square(self.infer("net", {"x": x}, 0)[0] - np.abs(x[:, :2])).mean(), 0.3)

    def test_from_a_checkpoint_to_a_library(self):
        """A file of torch.save is enough to build from; a model of several layers gives the same results."""
        net = nn.Sequential(
            tn.TernaryConv2d(1, 4, 3, scale=True, quantizer="learned"),
            nn.BatchNorm2d(4),
            nn.ReLU(),
            nn.Flatten(),
            tn.BitLinear(64, 5),
        )
        for _ in range(3):
            net(torch.randn(8, 1, 6, 6))
        tn.freeze(net.eval())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.save(tn.to_state_dict(net), self.path("net.pt"))
        self.write(
            "net.tri",
            "import nn\n\nlayer Net() {\n    let _net = nn.Sequential([nn.TernaryConv2d(1, 4, 3, scale=true), "
            "nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.BitLinear(64, 5)])\n    fn forward(x: Tensor<float32, [?, 1, 6, 6]>) { return _net(x) }\n}\n",
        )
        self.write(
            "tri.build", "project net\n\nmodel net\n    sources = net.tri\n    entry = Net\n    weights = net.pt\n"
        )
        self.trib("build")
        x = np.random.default_rng(0).standard_normal((20, 1, 6, 6)).astype(np.float32)
        with torch.no_grad():
            want = net(torch.from_numpy(x)).numpy()
        got = self.infer("net", {"x": x}, 0)[0]
        self.assertTrue(np.all(np.abs(got - want) < 0.02 * np.abs(want).max()))  # a code may be a tie
        self.assertGreater(np.mean(np.abs(got - want) < 1e-5), 0.9)


if __name__ == "__main__":
    unittest.main()
