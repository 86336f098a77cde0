"""trib.nn without a compiler: quantizers and their gradients, layers, schedules, conversion of models. Runs with
torch 1.13 and 2."""

import copy
import inspect
import math
import os
import re
import unittest

import torch
import trib.nn as tn
from torch import nn
from trib.nn import functional as F

SOURCE = os.environ["TRIB_SOURCE"]
torch.set_num_threads(1)


def grad(function, *inputs):
    """The gradients of the sum of a function, weighted so that each element counts differently."""
    given = [x.detach().clone().requires_grad_() for x in inputs]
    y = function(*given)
    (y * torch.arange(1, y.numel() + 1, dtype=y.dtype).reshape(y.shape)).sum().backward()
    return [x.grad for x in given]


class TorchCase(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)

    def assert_same(self, got, want):
        self.assertEqual(got.shape, want.shape)
        self.assertTrue(torch.equal(got, want), f"{got}\n{want}")

    def assert_close(self, got, want, rtol=1e-9, atol=1e-9):
        torch.testing.assert_close(got, want, rtol=rtol, atol=atol)


class Estimators(TorchCase):
    def test_values_are_the_quantized_ones_bit_for_bit(self):
        x = (torch.randn(1000) * 10 ** torch.randn(1000)).requires_grad_()
        hard = x.detach().round() * 0.1
        for form in F.ESTIMATORS:
            self.assert_same(F.estimate(x, hard, form).detach(), hard)

    def test_gradients(self):
        x = torch.linspace(-3, 3, 61, dtype=torch.float64)
        up = torch.arange(1, 62, dtype=torch.float64)
        hard = x.round()
        self.assert_same(grad(lambda v: F.estimate(v, hard), x)[0], up)
        self.assert_same(grad(lambda v: F.estimate(v, hard, "clipped", 1.25), x)[0], up * (x.abs() <= 1.25))
        slope = (1 - torch.tanh(x / 0.7) ** 2) / 0.7
        self.assert_close(grad(lambda v: F.estimate(v, hard, "soft", temperature=0.7), x)[0], up * slope)
        with self.assertRaisesRegex(ValueError, "one of 'identity', 'clipped', 'soft', not 'hard'"):
            F.estimate(x, hard, "hard")

    def test_quantizers_pass_gradients_on(self):
        x = torch.linspace(-2, 2, 41, dtype=torch.float64) + 0.01
        up = torch.arange(1, 42, dtype=torch.float64)
        passing = {
            "threshold_quantize": (F.threshold_quantize, 0.5),
            "threshold_quantize with a scale": (lambda v: F.threshold_quantize(v, 0.5, 2.0), 1.0),
            "ternary_quantize": (F.ternary_quantize, 0.5),
            "stochastic_quantize": (F.stochastic_quantize, 0.5),
            "ternary_quantize, stochastic": (lambda v: F.ternary_quantize(v, method="stochastic"), 0.5),
            "ste_quantize": (F.ste_quantize, 0.5),
            "ste_quantize by a function": (lambda v: F.ste_quantize(v, lambda w: F.threshold_quantize(w, 1.5)), 1.5),
        }
        for name, (function, limit) in passing.items():
            with self.subTest(name):
                self.assert_same(function(x), torch.sign(x) * (x.abs() > limit))
                self.assert_same(grad(function, x)[0], up)
        self.assert_same(F.clipped_ste_quantize(x), torch.sign(x) * (x.abs() > 0.5))
        self.assert_same(grad(F.clipped_ste_quantize, x)[0], up * (x.abs() <= 1))
        trits, scale = F.ste_quantize(x, F.xnor_quantize)
        self.assert_same(trits, torch.where(x >= 0, 1.0, -1.0).double())
        self.assert_same(scale, x.abs().mean())
        self.assert_same(grad(lambda v: F.ste_quantize(v, F.xnor_quantize)[0], x)[0], up)

    def test_a_product_of_trits_and_scale_has_the_gradient_of_the_weight(self):
        w = torch.randn(6, 5, dtype=torch.float64)
        up = torch.arange(1, 31, dtype=torch.float64).reshape(6, 5)
        for f in (F.absmean_quantize, F.absmax_quantize, F.adaptive_threshold_quantize, F.xnor_quantize):
            with self.subTest(f.__name__):
                self.assert_close(grad(lambda v, f=f: math.prod(f(v)), w)[0], up)


class Quantize(TorchCase):
    def test_scales(self):
        w = torch.tensor([[0.1, -0.5, 2.0], [1.0, -1.0, 0.2]])
        trits, scale = F.absmean_quantize(w)
        self.assert_close(scale, torch.tensor(0.8), 1e-6)
        self.assert_same(trits, torch.tensor([[0.0, -1, 1], [1, -1, 0]]))
        codes, scale = F.absmax_quantize(w)
        self.assert_close(scale, torch.tensor([[2.0], [1.0]]) / 127)
        self.assert_same(codes, torch.tensor([[6.0, -32, 127], [127, -127, 25]]))
        trits, scale = F.adaptive_threshold_quantize(w)
        self.assert_close(scale, torch.tensor(4 / 3), 1e-6)
        self.assert_same(trits, torch.tensor([[0.0, 0, 1], [1, -1, 0]]))
        trits = F.adaptive_threshold_quantize(w, target_sparsity=0.5)
        self.assert_same(trits, torch.tensor([[0.0, 0, 1], [1, -1, 0]]))
        trits, scale = F.xnor_quantize(w, dim=1)
        self.assert_close(scale, torch.tensor([[2.6 / 3], [2.2 / 3]]), 1e-6)
        self.assert_same(F.absmean_quantize(torch.zeros(3))[0], torch.zeros(3))

    def test_noise(self):
        """Drawn trits have the probabilities that are documented, the same ones for the same generator, and none in
        evaluation."""
        x = torch.tensor([-2.0, -0.6, 0.0, 0.5, 1.3]).expand(20000, 5)
        seeded = [torch.Generator().manual_seed(k) for k in (1, 1, 2)]
        a, b, c = (F.stochastic_quantize(x, temperature=0.3, training=True, generator=g) for g in seeded)
        self.assert_same(a, b)
        self.assertFalse(torch.equal(a, c))
        likely = torch.sigmoid((x[0].abs() - 0.5) / 0.3) * torch.sign(x[0])
        self.assert_close(a.mean(0), likely, 0, 0.02)
        self.assert_same(F.stochastic_quantize(x[0]), torch.tensor([-1.0, -1, 0, 0, 1]))

        drawn = F.gumbel_softmax_quantize(x, hard=True, training=True)
        share = torch.softmax(torch.stack([-x[0] - 0.5, torch.zeros(5), x[0] - 0.5]), 0)
        for k in range(3):
            self.assert_close((drawn == k - 1).float().mean(0), share[k], 0, 0.02)
        self.assert_close(F.gumbel_softmax_quantize(x[0]), share[2] - share[0], 1e-6)
        self.assert_same(F.gumbel_softmax_quantize(x[0], hard=True), torch.tensor([-1.0, -1, 0, 0, 1]))

    def test_soft_forms_by_finite_differences(self):
        x = torch.randn(40, dtype=torch.float64, requires_grad=True)

        def noisy(v):
            return F.gumbel_softmax_quantize(v, 0.7, training=True, generator=torch.Generator().manual_seed(3))

        for name, soft in {
            "tanh": lambda v: F.soft_quantize(v, 0.6),
            "gumbel": lambda v: F.gumbel_softmax_quantize(v, 0.6, threshold=0.3),
            "gumbel with noise": noisy,
        }.items():
            with self.subTest(name):
                self.assertTrue(torch.autograd.gradcheck(soft, (x,)))

    def test_hard_forms_have_the_gradient_of_the_soft_ones(self):
        x = torch.randn(40, dtype=torch.float64)
        for f in (F.soft_quantize, F.gumbel_softmax_quantize):
            self.assertLessEqual(set(f(x, hard=True).tolist()), {-1.0, 0.0, 1.0})
            self.assert_same(grad(lambda v, f=f: f(v, 0.6, True), x)[0], grad(lambda v, f=f: f(v, 0.6), x)[0])
        seed = {"training": True, "threshold": 0.4}
        hard, soft = (
            grad(
                lambda v, h=h: F.gumbel_softmax_quantize(v, 0.6, h, generator=torch.Generator().manual_seed(1), **seed),
                x,
            )
            for h in (True, False)
        )
        self.assert_same(hard[0], soft[0])

    def test_learned_thresholds(self):
        """Thresholds and x have the gradients of the sigmoids, which finite differences confirm; scales have their
        own."""
        x = torch.randn(30, dtype=torch.float64)
        given = [x] + [torch.tensor(v, dtype=torch.float64) for v in (0.4, -0.7, 1.5, 0.8)]

        def soft(v, high, low, up, down):
            return up * torch.sigmoid((v - high) / 0.5) - down * torch.sigmoid((low - v) / 0.5)

        self.assertTrue(torch.autograd.gradcheck(soft, [v.clone().requires_grad_() for v in given]))
        hard, want = grad(lambda *a: F.learned_quantize(*a, temperature=0.5), *given), grad(soft, *given)
        for got, w in zip(hard[:3], want[:3]):
            self.assert_close(got, w)
        weights = torch.arange(1, 31, dtype=torch.float64)
        self.assert_close(hard[3], (weights * (x > 0.4)).sum())
        self.assert_close(hard[4], -(weights * (x < -0.7)).sum())
        self.assert_same(F.learned_quantize(x, 0.4), torch.sign(x) * (x.abs() > 0.4))
        self.assert_same(F.learned_quantize(*given), 1.5 * (x > 0.4).double() - 0.8 * (x < -0.7).double())


def made(scale=True):
    """Each layer once, with an input."""
    x, image = torch.randn(3, 4, 8), torch.randn(2, 4, 6, 6)
    return {
        "TernaryLinear": (tn.TernaryLinear(8, 5, scale=scale), x),
        "BitLinear": (tn.BitLinear(8, 5, bias=True), x),
        "BitLinear without norm": (tn.BitLinear(8, 5, norm=False), x),
        "TernaryConv2d": (tn.TernaryConv2d(4, 6, 3, padding=1, groups=2, scale=scale), image),
        "BitConv2d": (tn.BitConv2d(4, 6, 3, stride=2, bias=True), image),
        "RMSNorm": (tn.RMSNorm(8), x),
        "GatedFeedForward": (tn.GatedFeedForward(8, 12, "silu", sub_norm=True, linear=tn.BitLinear), x),
        "GroupedQueryAttention": (tn.GroupedQueryAttention(8, 4, 2, sub_norm=True, linear=tn.BitLinear), x),
    }


def set_blend(layer, value):
    for m in layer.modules():
        if isinstance(m, tn.Quantizer):
            m.gradual = True
            m.blend.fill_(value)


class Layers(TorchCase):
    def test_without_quantization_gradients_are_finite_differences(self):
        """With `blend` 0 a layer is smooth, and the scales cancel out."""
        for name, (layer, x) in made().items():
            with self.subTest(name):
                layer.double().train()
                set_blend(layer, 0)
                names, values = zip(*((n, p.detach().requires_grad_()) for n, p in layer.named_parameters()))

                def call(v, *parameters, layer=layer, names=names):
                    for n, p in zip(names, parameters):
                        owner, leaf = layer.get_submodule(n.rpartition(".")[0]), n.rpartition(".")[2]
                        owner._parameters.pop(leaf, None)
                        setattr(owner, leaf, p)
                    return layer(v)

                self.assertTrue(torch.autograd.gradcheck(call, (x.double().requires_grad_(), *values), atol=1e-4))

    def test_bit_linear_has_the_gradients_of_bitnet(self):
        x, w = torch.randn(7, 8, dtype=torch.float64), torch.randn(5, 8, dtype=torch.float64)
        layer = tn.BitLinear(8, 5).double()

        def ours(v, weight):
            layer._parameters.pop("weight", None)
            layer.weight = weight
            return layer(v)

        def through(v, q):
            return v + (q - v).detach()

        def bitnet(v, weight):
            y = v / torch.sqrt((v * v).mean(-1, keepdim=True) + 1e-5)
            sx, sw = y.abs().amax(-1, keepdim=True).clamp(min=1e-5) / 127, weight.abs().mean().clamp(min=1e-5)
            q, t = (y / sx).round().clamp(-127, 127) * sx, (weight / sw).round().clamp(-1, 1) * sw
            return through(y, q) @ through(weight, t).t()

        self.assert_close(ours(x, w), bitnet(x, w))
        for got, want in zip(grad(ours, x, w), grad(bitnet, x, w)):
            self.assert_close(got, want)

    def test_learned_step_sizes(self):
        """The gradient of a step is that of learned step size quantization."""
        layer = tn.TernaryLinear(6, 4, bias=False, scale=True, quantizer="learned").double()
        x, step = torch.randn(9, 6, dtype=torch.float64), layer.quantizer.step
        w = layer.weight.detach()
        self.assert_close(step.detach(), 2 * w.abs().mean().reshape(1), 1e-6)
        up = torch.randn(9, 4, dtype=torch.float64)
        layer(x).backward(up)
        v = w / step.detach()
        slope = torch.where(v.abs() <= 1, v.round() - v, torch.sign(v))
        self.assert_close(step.grad, ((up.t() @ x) * slope).sum().reshape(1) * w.numel() ** -0.5)
        self.assert_close(layer.weight.grad, (up.t() @ x) * (v.abs() <= 1))

        layer = tn.BitLinear(6, 4, norm=False, static_scale=True).double()
        with torch.no_grad():
            layer.input_scale.fill_(0.01)
        layer(x).backward(up)
        v, (t, s) = x / 0.01, F.absmean_quantize(layer.weight.detach())
        slope = torch.where(v.abs() <= 127, v.round() - v, torch.sign(v) * 127)
        self.assert_close(layer.input_scale.grad, ((up @ t * s) * slope).sum().reshape(1) * (6 * 127) ** -0.5)

    def test_integers_give_integers(self):
        for layer, x in (made(scale=False)[k] for k in ("TernaryLinear", "TernaryConv2d")):
            q = torch.randint(-128, 128, x.shape, dtype=torch.int8)
            layer.bias = None
            got, trits = layer(q), layer.trits()[0]
            self.assertEqual(got.dtype, torch.int32)
            layer.weight = nn.Parameter(trits.double())
            layer.quantizer = tn.Threshold(0.25)
            self.assert_same(got, layer(q.double()).to(torch.int32))

    def test_every_quantizer(self):
        for name in tn.QUANTIZERS:
            with self.subTest(name):
                for layer, x, dim in (
                    (tn.TernaryLinear(8, 5, scale=True, quantizer=name), torch.randn(3, 8), 0),
                    (tn.TernaryEmbedding(9, 6, scale=True, quantizer=name), torch.tensor([1, 3, 5]), 1),
                ):
                    y = layer(x)
                    y.square().sum().backward()
                    for p in layer.parameters():
                        self.assertTrue(p.grad.isfinite().all() and p.grad.abs().sum() > 0, f"{name}: {p.grad}")
                    layer.eval()
                    trits, scale = layer.trits()
                    self.assertEqual((trits.dtype, scale.dtype), (torch.int8, torch.float32))
                    self.assertEqual(scale.shape, (layer.weight.shape[dim],))
                    product = nn.functional.linear if dim == 0 else lambda v, t: nn.functional.embedding(v, t)
                    want = product(x, trits.float()) * scale
                    self.assert_close(layer(x), want + layer.bias if dim == 0 else want, 1e-6, 1e-6)

    def test_a_scale_for_each_output(self):
        layer = tn.TernaryLinear(8, 5, scale=True, quantizer=lambda: tn.AbsMean(dim=0))
        self.assert_close(layer.trits()[1], layer.weight.detach().abs().mean(1), 1e-6)
        layer = tn.TernaryConv2d(3, 5, 3, scale=True, quantizer=lambda: tn.LearnedScale(5, dim=0))
        self.assert_close(layer.quantizer.step.detach(), 2 * layer.weight.detach().abs().mean((1, 2, 3)), 1e-6)
        wrong = tn.TernaryEmbedding(9, 6, scale=True, quantizer=lambda: tn.Adaptive(dim=0))
        with self.assertRaisesRegex(ValueError, "9 scales, but there are 6 outputs: dim=1"):
            wrong(torch.tensor([0]))
        with self.assertRaisesRegex(ValueError, "both `dim` and `size`"):
            tn.LearnedScale(5)
        with self.assertRaisesRegex(ValueError, "one of 'absmean'.*, not 'mean'"):
            tn.TernaryLinear(8, 5, quantizer="mean")

    def test_autocast(self):
        """Layers of int8 activations compute as without it; the others as torch.nn does; gradients come in the
        parameters' type."""
        for name, (layer, x) in made().items():
            with self.subTest(name):
                want = layer(x)
                with torch.autocast("cpu", dtype=torch.bfloat16):
                    got = layer(x)
                    if name.startswith("Bit") or name == "RMSNorm":
                        self.assert_same(got, want)
                    else:
                        self.assert_close(got.float(), want, 0.05, 0.05 * want.abs().max().item())
                got.float().sum().backward()
                self.assertTrue(all(p.grad.dtype == torch.float32 for p in layer.parameters()))
        half = tn.BitLinear(8, 5)
        self.assertEqual(half(torch.randn(3, 8).bfloat16()).dtype, torch.bfloat16)

    def test_rms_norm(self):
        x = torch.randn(3, 4, 8)
        norm = tn.RMSNorm((4, 8))
        with torch.no_grad():
            norm.weight.copy_(torch.randn(4, 8))
        mean = (x * x).mean((1, 2), keepdim=True)
        self.assert_close(norm(x), x / (mean + 2**-23).sqrt() * norm.weight, 1e-6, 1e-6)
        self.assertEqual(tn.RMSNorm(8, 1e-5, elementwise_affine=False)(x.half()).dtype, torch.float16)
        with self.assertRaisesRegex(ValueError, r"takes \[\.\.\., 4, 8\], not \[4, 3, 8\]"):
            norm(x.transpose(0, 1))
        if hasattr(nn, "RMSNorm"):
            self.assert_close(tn.RMSNorm(8)(x), nn.RMSNorm(8)(x), 1e-6, 1e-6)

    def test_attention(self):
        if hasattr(nn.functional, "scaled_dot_product_attention"):
            q, k, v = torch.randn(2, 4, 5, 8), torch.randn(2, 2, 5, 8), torch.randn(2, 2, 5, 8)
            kk, vv = k.repeat_interleave(2, 1), v.repeat_interleave(2, 1)
            want = nn.functional.scaled_dot_product_attention(q, kk, vv, is_causal=True)
            self.assert_close(tn.attention(q, k, v, causal=True), want, 1e-5, 1e-6)
            mask = torch.rand(5, 5) < 0.8
            mask |= torch.eye(5, dtype=torch.bool)
            want = nn.functional.scaled_dot_product_attention(q, kk, vv, attn_mask=mask)
            self.assert_close(tn.attention(q, k, v, mask), want, 1e-5, 1e-6)
        x = torch.randn(1, 1, 6, 8)
        self.assert_close(tn.rope(x)[:, :, 3:], tn.rope(x[:, :, 3:], torch.arange(3, 6)), 1e-6, 1e-6)
        pair = torch.complex(x[0, 0, 2, 1], x[0, 0, 2, 5]) * torch.exp(torch.tensor(2j * 10000 ** (-2 / 8)))
        self.assert_close(tn.rope(x)[0, 0, 2, [1, 5]], torch.stack([pair.real, pair.imag]), 1e-5, 1e-6)


class Schedules(TorchCase):
    def test_ramps(self):
        self.assertEqual([tn.ramp(k, 2, 4) for k in range(8)], [0, 0, 0, 0.25, 0.5, 0.75, 1, 1])
        self.assertEqual([tn.ramp(k, 2, 4, "step") for k in range(8)], [0, 0, 0, 0, 0, 0, 1, 1])
        self.assertAlmostEqual(tn.ramp(1, 0, 4, "cosine"), 0.5 - math.sqrt(0.125))
        self.assertEqual(tn.ramp(2, 0, 4, "cubic"), 1 - 0.5**3)
        self.assertEqual([tn.ramp(k, 3, 0) for k in (2, 3)], [0, 1])
        with self.assertRaisesRegex(ValueError, "one of 'linear'.*, not 'square'"):
            tn.ramp(0, 0, 1, "square")

    def test_gradual_quantization(self):
        model = nn.Sequential(tn.TernaryLinear(8, 8, scale=True), tn.BitLinear(8, 4, norm=False))
        plain = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 4, bias=False))
        plain.load_state_dict(model.state_dict())
        x = torch.randn(3, 8)
        full = model(x)
        schedule = tn.GradualQuantization(model, 10, begin=2, shape="linear")
        self.assert_close(model(x), plain(x), 1e-5, 1e-6)
        self.assert_same(copy.deepcopy(model).eval()(x), full)
        model.double().float()  # makes other buffers
        values = [schedule.step() for _ in range(12)]
        self.assertEqual(values, [0, 0] + [k / 10 for k in range(1, 11)])
        self.assert_same(model(x), full)
        schedule.load_state_dict({"now": 7})
        self.assertEqual((schedule.state_dict(), model[1].quantizer.blend.item()), ({"now": 7}, 0.5))
        self.assertNotIn("0.quantizer.blend", model.state_dict())
        with self.assertRaisesRegex(ValueError, "no layer of the model has a blend"):
            tn.GradualQuantization(plain, 10)

    def test_temperature(self):
        model = tn.TernaryLinear(8, 8, quantizer=lambda: tn.Gumbel(noise=False))
        schedule = tn.Temperature(model, 2, 1.0, 0.01)
        self.assertEqual([schedule.value(0), round(schedule.step(), 9), schedule.step()], [1.0, 0.1, 0.01])
        self.assertAlmostEqual(model.quantizer.temperature.item(), 0.01)
        trits = model.trits()[0].float()
        self.assert_close(model.quantizer(model.weight)[0].detach(), trits, 0, 0.4)
        self.assertEqual(tn.Temperature(model, 4, 1.0, 0.0, shape="linear").value(1), 0.75)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 8)
        self.stem = nn.Linear(8, 8)
        self.body = nn.ModuleList([nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8)) for _ in range(2)])
        self.attn = nn.MultiheadAttention(8, 2, batch_first=True)
        self.head = nn.Linear(8, 20, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, x):
        y = self.stem(self.embed(x))
        for b in self.body:
            y = y + b(y)
        return self.head(y + self.attn(y, y, y)[0])


class Conversion(TorchCase):
    def kinds(self, model):
        return {
            n: type(m).__name__ for n, m in model.named_modules() if isinstance(m, (nn.Linear, nn.Conv2d, nn.Embedding))
        }

    def test_rules(self):
        net = Net()
        bit = tn.ternarize(net)
        inner = [f"body.{i}.{j}" for i in (0, 1) for j in (0, 2)]
        self.assertEqual({n for n, k in self.kinds(bit).items() if k == "BitLinear"}, set(inner))
        self.assertEqual(
            {k for k in self.kinds(net).values()}, {"Embedding", "Linear", "NonDynamicallyQuantizableLinear"}
        )
        all_of_them = tn.ternarize(net, keep_first=False, keep_last=False)
        self.assertEqual({n for n, k in self.kinds(all_of_them).items() if k == "BitLinear"}, {"stem", "head", *inner})
        some = tn.ternarize(net, include=["body.*", "stem"], exclude="body.1.*", keep_first=False, keep_last=False)
        self.assertEqual({n for n, k in self.kinds(some).items() if k == "BitLinear"}, {"stem", "body.0.0", "body.0.2"})
        rules = (
            tn.Rule(nn.Linear, None, "body.0.*"),
            tn.Rule(nn.Linear, tn.TernaryLinear, "body.*", {"scale": True, "quantizer": "learned"}),
            tn.Rule(nn.Embedding, tn.TernaryEmbedding),
        )
        mixed = tn.ternarize(net, rules, keep_first=False, keep_last=False)
        kinds = self.kinds(mixed)
        self.assertEqual(
            [kinds[n] for n in ("embed", "body.0.0", "body.1.0", "head")],
            ["TernaryEmbedding", "Linear", "TernaryLinear", "Linear"],
        )
        self.assert_close(
            mixed.body[1][0].quantizer.step.detach(), 2 * net.body[1][0].weight.detach().abs().mean().reshape(1), 1e-6
        )
        self.assertIs(mixed.head.weight, mixed.embed.weight)
        self.assertIsInstance(tn.ternarize(nn.Linear(3, 4), keep_first=False, keep_last=False), tn.BitLinear)

    def test_parameters_stay(self):
        net = Net().eval()
        before = dict(net.named_parameters())
        names = list(net.state_dict())
        self.assertIs(tn.ternarize(net, inplace=True), net)
        self.assertEqual(list(net.state_dict()), names)
        for name, p in net.named_parameters():
            self.assertIs(p, before[name])
        self.assertFalse(net.body[0][0].training)
        self.assertFalse(net.body[0][0].norm)
        self.assertEqual(net(torch.randint(0, 20, (2, 5))).shape, (2, 5, 20))
        conv = nn.Sequential(
            nn.Conv2d(3, 4, 3),
            nn.Conv2d(4, 6, (3, 1), stride=2, padding=(1, 0), groups=2, bias=False),
            nn.Conv2d(6, 6, 1),
        )
        got = tn.ternarize(conv)[1]
        x = torch.randn(2, 4, 7, 7)
        set_blend(got, 0)
        self.assert_close(got(x), conv[1](x), 1e-5, 1e-5)
        got = tn.ternarize(conv, tn.TERNARY)[1]
        set_blend(got, 0)
        self.assert_close(got(x), conv[1](x), 1e-5, 1e-5)

    def test_layers_without_a_ternary_form(self):
        net = nn.Sequential(nn.Linear(2, 2), nn.Conv2d(3, 4, 3, padding=1, padding_mode="reflect"), nn.Linear(2, 2))
        with self.assertRaisesRegex(ValueError, "1: BitConv2d has no padding_mode='reflect'; add '1' to `exclude`"):
            tn.ternarize(net)
        tn.ternarize(net, exclude="1")

    def test_state_for_the_library(self):
        model = nn.Sequential()
        model.add_module("conv", tn.TernaryConv2d(3, 4, 3, scale=True, quantizer="learned"))
        model.add_module("norm", nn.BatchNorm2d(4))
        model.add_module("fc", tn.BitLinear(4, 2, bias=True))
        model.add_module("plain", tn.TernaryLinear(2, 2, bias=False))
        state = tn.to_state_dict(model)
        names = ["conv.weight", "conv.bias", "conv.scale"]
        names += [f"norm.{n}" for n in ("weight", "bias", "running_mean", "running_var", "num_batches_tracked")]
        self.assertEqual(sorted(state), sorted(names + ["fc.weight", "fc.bias", "plain.weight"]))
        self.assertEqual((state["conv.weight"].dtype, state["fc.weight"].dtype), (torch.int8, torch.float32))
        self.assert_same(state["conv.scale"], model.conv.quantizer.step.detach().expand(4))
        self.assert_same(state["plain.weight"], model.plain.trits()[0])
        self.assertTrue(all(not t.requires_grad for t in state.values()))

    def test_training_state(self):
        """A checkpoint is PyTorch's: the float weights, and what quantizers learn."""
        model = tn.TernaryLinear(4, 2, scale=True, quantizer="learned")
        self.assertEqual(list(model.state_dict()), ["weight", "bias", "quantizer.step"])
        other = tn.TernaryLinear(4, 2, scale=True, quantizer="learned")
        other.load_state_dict(model.state_dict())
        x = torch.randn(3, 4)
        self.assert_same(other(x), model(x))

    def test_frozen_weights_are_clear_of_ties(self):
        model = nn.Sequential(tn.BitLinear(64, 32), tn.BitConv2d(8, 8, 3))
        before = [F.absmean_quantize(m.weight.detach()) for m in model]
        self.assertIs(tn.freeze(model), model)
        for m, (trits, scale) in zip(model, before):
            got, new_scale = F.absmean_quantize(m.weight.detach())
            self.assert_same(got, trits)
            self.assert_close(new_scale, scale, 1e-5)
            distance = ((m.weight.detach() / new_scale).abs() - 0.5).abs().min().item()
            self.assertGreater(distance, 0.4)


class Table(TorchCase):
    def declared(self, name):
        """The arguments of a layer of the standard library, and its defaults."""
        with open(os.path.join(SOURCE, "frontend", "std", "nn.tri")) as f:
            text = re.search(rf"^layer {name}\((.*?)\) \{{", f.read(), re.S | re.M)[1]
        parts = [p.strip() for p in re.split(r",(?![^(]*\))", text) if p.strip()]
        return {re.split(r"[:=]", p)[0].strip(): p.partition("=")[2].strip() or None for p in parts}

    def test_every_layer_has_a_row(self):
        public = {getattr(tn, n) for n in tn.__all__ if inspect.isclass(getattr(tn, n))}
        layers = {c for c in public if issubclass(c, nn.Module) and not issubclass(c, tn.Quantizer)}
        self.assertEqual(layers, set(tn.table.LAYERS))

    def test_arguments_are_those_of_the_standard_library(self):
        for kind, row in tn.table.LAYERS.items():
            with self.subTest(row.tri):
                module, name = row.tri.split(".")
                self.assertEqual((module, name), ("nn", kind.__name__))
                wanted = self.declared(name)
                names = [a[0] for a in row.arguments]
                self.assertEqual(names, list(wanted)[: len(names)])
                have = inspect.signature(kind.__init__).parameters
                self.assertEqual(list(have)[1 : len(names) + 1], names)
                for (argument, default, _), text in zip(row.arguments, wanted.values()):
                    if default is tn.table.REQUIRED:
                        self.assertIsNone(text, argument)
                        self.assertIs(have[argument].default, inspect.Parameter.empty)
                    else:
                        self.assertEqual(tn.table.text(default).replace("nn.", "").replace("e-0", "e-"), text, argument)
                        one = have[argument].default
                        self.assertIn(default, (one, (one, one)), argument)

    def test_calls(self):
        for want, layer in {
            "nn.TernaryLinear(8, 4)": tn.TernaryLinear(8, 4),
            "nn.BitLinear(8, 4, bias=true, norm=false)": tn.BitLinear(8, 4, bias=True, norm=False),
            "nn.TernaryConv2d(4, 6, (3, 1), stride=2, padding=(1, 0), bias=false, scale=true)": tn.TernaryConv2d(
                4, 6, (3, 1), 2, (1, 0), bias=False, scale=True
            ),
            'nn.BitConv2d(4, 6, 3, padding="same", static_scale=true)': tn.BitConv2d(
                4, 6, 3, padding="same", static_scale=True
            ),
            "nn.RMSNorm((4, 8), eps=1e-05)": tn.RMSNorm((4, 8), 1e-5),
            "nn.RMSNorm(8)": tn.RMSNorm(8),
            'nn.GatedFeedForward(8, 16, activation="relu2", linear=nn.BitLinear)': tn.GatedFeedForward(
                8, 16, "relu2", linear=tn.BitLinear
            ),
        }.items():
            self.assertEqual(tn.table.call(layer), want)
        with self.assertRaisesRegex(TypeError, "`linear` must be"):
            tn.table.text(nn.Bilinear)


if __name__ == "__main__":
    unittest.main()
