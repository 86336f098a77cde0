"""The standard library's attention, feed-forward and quantised layers against PyTorch's, or against their formulas, with the same weights."""
import math
import os
import unittest

import numpy as np

from torch_batch import attend, rotate
from torch_ops import Case, TorchTest, Value, safetensors, torch

F = torch.nn.functional


class LayerTest(TorchTest):
    def layer(self, make, want, state, inputs, call="net(x)", bound=20.0, levels=("-O0", "-O2"), before="", open_dims=None):
        """`make` makes an instance `net`, whose parameters are `state` (dtype trit: a tuple); `call` over the inputs must give `want`.
        The dimensions `open_dims` of each input are symbols; by default the first ones of a single input."""
        weights = {f"net.{k}": Value(*v) if isinstance(v, tuple) else Value(v.detach().contiguous()) for k, v in state.items()}
        first = {k: tuple(range(min(2, t.dim() - 1))) if len(inputs) == 1 else () for k, t in inputs.items()}
        args = ", ".join(Value(t, open_dims=first[k] if open_dims is None else open_dims).declared(k) for k, t in inputs.items())
        self.write("layer.tri", f"import nn\nimport quant\n\nlayer Main() {{\n    let net = {make}\n    fn forward({args}) {{\n        {before}\n        return {call}\n    }}\n}}\n")
        manifest = "project layers\n\nmodel layer\n    sources = layer.tri\n    entry = Main\n"
        if weights:
            self.write("layer.safetensors", safetensors(weights))
            manifest += "    weights = layer.safetensors\n"
        self.write("tri.build", manifest)
        want = tuple(t.detach() for t in want) if isinstance(want, tuple) else want.detach()
        case = Case(f"{make}: {call}", want, {k: Value(t) for k, t in inputs.items()}, torch.tensor(bound), False)
        for level in levels:
            self.trib("build", level)
            self.check("layer", case)
        self.check("layer", case, "--device", "reference")

    def tensor(self, *shape, scale=1.0):
        return torch.randn(*shape) * scale


class Recurrent(LayerTest):
    def recurrent(self, name, x, state=None, call="net(x)", open_dims=None, **options):
        net = getattr(torch.nn, name)(6, 5, **options)
        for p in net.parameters():
            torch.nn.init.normal_(p, std=0.4)
        said = "".join(f", {k}={str(v).lower() if isinstance(v, bool) else repr(v) if isinstance(v, str) else v}" for k, v in options.items())
        want, before = net(x, *state) if state else net(x), ""
        if isinstance(want, tuple) and isinstance(want[1], tuple):
            want = (want[0], *want[1])
            before, call = f"let (y, (h_n, c_n)) = {call}", "(y, h_n, c_n)"
        inputs = {"x": x, **({} if not state else dict(zip("hc", state[0] if isinstance(state[0], tuple) else state)))}
        self.layer(f"nn.{name}(6, 5{said})".replace("'", '"'), want, net.state_dict(), inputs, call, levels=("-O2",), before=before, open_dims=open_dims)

    def test_lstm(self):
        x = self.tensor(4, 3, 6)
        self.recurrent("LSTM", x)
        self.recurrent("LSTM", x, num_layers=2, bidirectional=True, batch_first=True)
        self.recurrent("LSTM", x, bias=False, state=((self.tensor(1, 3, 5), self.tensor(1, 3, 5)),), call="net(x, (h, c))")
        self.recurrent("LSTM", self.tensor(7, 6), num_layers=3)

    def test_convolutions(self):
        x = self.tensor(2, 4, 5, 6)
        for options in ({}, {"stride": 2, "padding": 1, "output_padding": 1}, {"stride": 3, "groups": 2, "bias": False}, {"dilation": 2, "padding": 1}):
            net = torch.nn.ConvTranspose2d(4, 6, 3, **options)
            said = "".join(f", {k}={str(v).lower()}" for k, v in options.items())
            self.layer(f"nn.ConvTranspose2d(4, 6, 3{said})", net(x), net.state_dict(), {"x": x, "unused": x[0, 0, 0]}, "net(x)", levels=("-O1",))
        w = self.tensor(6, 4, 3, 3)
        sw, sx = w.abs().mean(), x.abs().amax((1, 2, 3), keepdim=True) / 127
        want = F.conv2d((x / sx).round(), (w / sw).round().clamp(-1, 1), padding=1) * sx * sw
        self.layer("nn.BitConv2d(4, 6, 3, padding=1)", want, {"weight": w}, {"x": x, "unused": x[0, 0, 0]}, "net(x)", levels=("-O1",))

    def test_gru_and_rnn(self):
        x = self.tensor(4, 3, 6)
        self.recurrent("GRU", x)
        self.recurrent("GRU", x, num_layers=2, bidirectional=True, batch_first=True, state=(self.tensor(4, 4, 5),), call="net(x, h)")
        self.recurrent("GRU", self.tensor(7, 6), bias=False)
        self.recurrent("RNN", x, nonlinearity="relu", bidirectional=True)
        self.recurrent("RNN", x)

    def test_a_known_length_of_an_unknown_batch(self):
        """Loops at run time whose values have sizes known only then."""
        for name in ("RNN", "LSTM", "GRU"):
            self.recurrent(name, self.tensor(7, 3, 6), open_dims=(1,))
        self.recurrent("LSTM", self.tensor(3, 7, 6), open_dims=(0,), batch_first=True, bidirectional=True)

    def test_cells(self):
        x = self.tensor(3, 6)
        for name in ("LSTMCell", "GRUCell"):
            net = getattr(torch.nn, name)(6, 5)
            self.layer(f"nn.{name}(6, 5)", net(x), net.state_dict(), {"x": x}, "net(x)", levels=("-O1",))
        h = self.tensor(3, 5)
        self.layer("nn.GRUCell(6, 5)", net(x, h), net.state_dict(), {"x": x, "h": h}, "net(x, h)", levels=("-O1",))

    def test_a_long_sequence_is_a_loop(self):
        """Of a constant length too."""
        net = torch.nn.LSTM(6, 5)
        x = self.tensor(300, 1, 6)
        state = {f"net.{k}": Value(v.detach()) for k, v in net.state_dict().items()}
        self.write("long.tri", "import nn\nlayer Main() {\n    let net = nn.LSTM(6, 5)\n    fn forward(x: Tensor<float32, [300, 1, 6]>) { return net(x)[0] }\n}\n")
        self.write("long.safetensors", safetensors(state))
        self.write("tri.build", "project long\n\nmodel layer\n    sources = long.tri\n    entry = Main\n    weights = long.safetensors\n")
        self.trib("build")
        self.check("layer", Case("lstm of 300 steps", net(x)[0].detach(), {"x": Value(x)}, torch.tensor(20.0), False))
        self.assertLess(os.path.getsize(os.path.join(self.dir, "build", "liblayer.so")), 200000)  # 300 unrolled steps take more


class Attention(LayerTest):
    def test_multi_head(self):
        for bias in (True, False):
            for batch_first in (True, False):
                torch_net = torch.nn.MultiheadAttention(24, 4, bias=bias, batch_first=batch_first)
                for p in torch_net.parameters():
                    torch.nn.init.normal_(p, std=0.3)
                q, k, v = self.tensor(2, 5, 24), self.tensor(2, 7, 24), self.tensor(2, 7, 24)
                if not batch_first:
                    q, k, v = (t.transpose(0, 1).contiguous() for t in (q, k, v))
                make = f"nn.MultiHeadAttention(24, 4, bias={str(bias).lower()}, batch_first={str(batch_first).lower()})"
                one = ("-O1",)
                self.layer(make, torch_net(q, k, v, need_weights=False)[0], torch_net.state_dict(), {"q": q, "k": k, "v": v}, "net(q, k, v)", levels=one)
                hidden = torch.ones(5, 5, dtype=torch.bool).triu(1)
                want = torch_net(q, q, q, need_weights=False, attn_mask=hidden)[0]
                self.layer(make, want, torch_net.state_dict(), {"q": q}, "net(q, causal=true)", levels=one)
                self.layer(make, want, torch_net.state_dict(), {"q": q}, "net(q, mask=arange(L) <= arange(L).unsqueeze(1))".replace("L", f"q.shape[{int(batch_first)}]"),
                           levels=one)

    def state(self, d, heads, kv, size, norm):
        s = {"q_proj.weight": (heads * size, d), "k_proj.weight": (kv * size, d), "v_proj.weight": (kv * size, d), "o_proj.weight": (d, heads * size)}
        s = {k: self.tensor(*v, scale=0.3) for k, v in s.items()}
        return {**s, "attn_sub_norm.weight": self.tensor(heads * size)} if norm else s

    def grouped(self, s, x, heads, kv, base, at=0, cache=None, causal=True):
        """Llama's attention, token by token positions from `at`; the keys and values before them in `cache`."""
        b, l, _ = x.shape
        split = lambda t, n: t.view(b, l, n, -1).transpose(1, 2)
        where = torch.arange(at, at + l)
        q, k = rotate(split(x @ s["q_proj.weight"].T, heads), where, base), rotate(split(x @ s["k_proj.weight"].T, kv), where, base)
        v = split(x @ s["v_proj.weight"].T, kv)
        if cache:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        seen = torch.ones(l, k.shape[2], dtype=torch.bool).tril(k.shape[2] - l) if causal else None
        y = attend(q, k, v, seen).transpose(1, 2).reshape(b, l, -1)
        if "attn_sub_norm.weight" in s:
            y = y * torch.rsqrt((y * y).mean(-1, keepdim=True) + 1e-5) * s["attn_sub_norm.weight"]
        return y @ s["o_proj.weight"].T, k, v

    def test_grouped_query(self):
        for heads, kv, size, norm in ((4, 2, 0, False), (6, 1, 8, True), (3, 3, 0, True)):
            d, each = 24, size or 24 // heads
            s, x = self.state(d, heads, kv, each, norm), self.tensor(2, 6, d)
            make = f"nn.GroupedQueryAttention({d}, {heads}, {kv}, head_dim={size}, rope_base=500.0, sub_norm={str(norm).lower()})"
            y, k, v = self.grouped(s, x, heads, kv, 500.0)
            self.layer(make, y, s, {"x": x}, levels=("-O1",))
            self.layer(make, (y, k, v), s, {"x": x}, "net.prefill(x)", levels=("-O1",))
            self.layer(make, self.grouped(s, x, heads, kv, 500.0, causal=False)[0], s, {"x": x}, "net(x, causal=false)", levels=("-O1",))

    def test_other_linear_layers(self):
        """Projections of trits, as `linear` makes them."""
        d, x = 24, self.tensor(2, 6, 24)
        trits = {k: torch.randint(-1, 2, v.shape).to(torch.int8) for k, v in self.state(d, 4, 2, 6, False).items()}
        y = self.grouped({k: v.float() for k, v in trits.items()}, x, 4, 2, 10000.0)[0]
        state = {k: (v, "trit") for k, v in trits.items()}
        self.layer(f"nn.GroupedQueryAttention({d}, 4, 2, linear=nn.TernaryLinear)", y, state, {"x": x}, bound=100.0, levels=("-O1",))

    def test_decoding_continues_a_prefill(self):
        """The rows of a whole sequence come out whether it is read at once or token by token behind a cache."""
        d, heads, kv = 24, 4, 2
        s, x = self.state(d, heads, kv, 6, True), self.tensor(2, 9, d)
        make = f"nn.GroupedQueryAttention({d}, {heads}, {kv}, sub_norm=true)"
        whole = self.grouped(s, x, heads, kv, 10000.0)
        for past, new in ((8, 1), (5, 4), (1, 8)):
            k, v = whole[1][:, :, :past].contiguous(), whole[2][:, :, :past].contiguous()
            step = x[:, past : past + new].contiguous()
            want = whole[0][:, past : past + new], whole[1][:, :, : past + new], whole[2][:, :, : past + new]
            names = {"x": step, "k": k, "v": v}
            args = f"x: Tensor<float32, [B, L, {d}]>, k: Tensor<float32, [B, {kv}, P, 6]>, v: Tensor<float32, [B, {kv}, P, 6]>"
            weights = {f"net.{n}": Value(t) for n, t in s.items()}
            self.write("layer.safetensors", safetensors(weights))
            self.write("layer.tri", f"import nn\n\nlayer Main() {{\n    let net = {make}\n    fn forward({args}) {{ return net.decode(x, k, v) }}\n}}\n")
            self.write("tri.build", "project layers\n\nmodel layer\n    sources = layer.tri\n    entry = Main\n    weights = layer.safetensors\n")
            self.trib("build")
            case = Case(f"decode {past} + {new}", want, {n: Value(t) for n, t in names.items()}, torch.tensor(20.0), False)
            self.check_both("layer", case)


class Tied(LayerTest):
    """Layers that share a parameter, with the state_dict of the module: it has the parameter under each of its names."""

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = torch.nn.Embedding(40, 12)
            self.mix = torch.nn.ModuleList(torch.nn.Linear(12, 12, bias=i > 0) for i in range(3))
            self.mix[2].weight = self.mix[0].weight
            self.head = torch.nn.Linear(12, 40, bias=False)
            self.head.weight = self.embed.weight

        def forward(self, ids):
            x = self.embed(ids)
            for layer in self.mix:
                x = torch.tanh(layer(x))
            return self.head(x)

    def test_a_tied_head(self):
        net, ids = self.Net(), torch.randint(0, 40, (3, 7))
        torch.save(net.state_dict(), self.path("net.pt"))
        self.write("net.tri", "import nn\n\nlayer Net() {\n    let embed = nn.Embedding(40, 12)\n    let first = nn.Linear(12, 12, bias=false)\n"
                   "    let mix = [first, nn.Linear(12, 12), nn.Linear(12, 12, weight=first.weight)]\n"
                   "    let head = nn.Linear(12, 40, bias=false, weight=embed.weight)\n    fn forward(ids: Tensor<int64, [N, L]>) {\n"
                   "        let x = embed(ids)\n        for layer in mix { x = tanh(layer(x)) }\n        return head(x)\n    }\n}\n")
        self.write("tri.build", "project tied\n\nmodel net\n    sources = net.tri\n    entry = Net\n    weights = net.pt\n    emit = library opencl\n")
        case = Case("a tied head", net(ids).detach(), {"ids": Value(ids)}, torch.tensor(20.0), False)
        for level in ("-O0", "-O2"):
            self.trib("build", level)
            self.check("net", case)
        for device in ("reference", "opencl"):
            self.check("net", case, "--device", device)


class Blocks(LayerTest):
    def test_feed_forward(self):
        x = self.tensor(3, 5, 12)
        s = {"linear1.weight": self.tensor(20, 12), "linear1.bias": self.tensor(20), "linear2.weight": self.tensor(12, 20), "linear2.bias": self.tensor(12)}
        acts = {"relu": F.relu, "relu2": lambda t: F.relu(t) ** 2, "gelu": F.gelu, "gelu_tanh": lambda t: F.gelu(t, approximate="tanh"), "silu": F.silu}
        for name, act in acts.items():
            want = F.linear(act(F.linear(x, s["linear1.weight"], s["linear1.bias"])), s["linear2.weight"], s["linear2.bias"])
            self.layer(f'nn.FeedForward(12, 20, "{name}")', want, s, {"x": x}, bound=2000.0, levels=("-O1",))

    def test_gated(self):
        x = self.tensor(3, 5, 12)
        s = {"gate_proj.weight": self.tensor(20, 12), "up_proj.weight": self.tensor(20, 12), "down_proj.weight": self.tensor(12, 20)}
        y = F.silu(x @ s["gate_proj.weight"].T) * (x @ s["up_proj.weight"].T)
        self.layer("nn.SwiGLU(12, 20)", y @ s["down_proj.weight"].T, s, {"x": x}, bound=500.0, levels=("-O1",))
        s["ffn_sub_norm.weight"] = self.tensor(20)
        y = F.relu(x @ s["gate_proj.weight"].T) ** 2 * (x @ s["up_proj.weight"].T)
        y = y * torch.rsqrt((y * y).mean(-1, keepdim=True) + 1e-5) * s["ffn_sub_norm.weight"]
        self.layer('nn.GatedFeedForward(12, 20, "relu2", sub_norm=true)', y @ s["down_proj.weight"].T, s, {"x": x}, bound=100.0, levels=("-O1",))

    def test_layer_norm_of_several_dimensions(self):
        x, n = self.tensor(3, 4, 5, 6), torch.nn.LayerNorm([5, 6])
        torch.nn.init.normal_(n.weight)
        torch.nn.init.normal_(n.bias)
        self.layer("nn.LayerNorm([5, 6])", n(x), n.state_dict(), {"x": x})

    def test_bit_linear(self):
        x, w = self.tensor(2, 4, 32), self.tensor(8, 32)
        scale = w.abs().mean().clamp(min=1e-5)
        t = (w / scale).round().clamp(-1, 1)
        for norm in (True, False):
            y = x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5) if norm else x
            s = y.abs().amax(-1, keepdim=True).clamp(min=1e-5) / 127
            want = ((y / s).round().clamp(-127, 127) @ t.T) * (s * scale)
            self.layer(f"nn.BitLinear(32, 8, norm={str(norm).lower()})", want, {"weight": w}, {"x": x}, bound=3000.0)  # a value may round the other way

    def test_packed_linear(self):
        t, x = torch.randint(-1, 2, (6, 10)).to(torch.int8), self.tensor(3, 4, 10)
        codes = (F.pad(t, (0, 2)).int().reshape(6, 3, 4) + 1) * torch.tensor([1, 4, 16, 64])
        packed = torch.from_numpy(codes.sum(-1).numpy().astype(np.uint8).view(np.int8))
        s = {"weight": packed, "scale": self.tensor(6), "bias": self.tensor(6)}
        self.layer("quant.PackedLinear(10, 6)", x @ t.float().T * s["scale"] + s["bias"], s, {"x": x})

    def test_quantizers(self):
        x = self.tensor(3, 4, 10)
        t = torch.rand(10)
        self.layer("quant.LearnedThreshold(10)", (x > t).to(torch.int8) - (x < -t).to(torch.int8), {"threshold": t}, {"x": x})
        scale = x.abs().mean()
        want = {"absmean": (x / scale).round().clamp(-1, 1) * scale, "xnor": torch.where(x >= 0, scale, -scale),
                "threshold": ((x > 0.5).float() - (x < -0.5).float())}
        far = x.abs() > 0.7 * scale
        want["adaptive"] = x.sign() * far * (x.abs() * far).sum() / far.sum()
        for method, y in want.items():
            self.layer(f'quant.FakeQuantize("{method}")', y, {}, {"x": x}, bound=1.0, levels=("-O1",))
        s = x.abs().amax(-1, keepdim=True) / 127
        self.layer("quant.ActivationQuantizer()", ((x / s).round().to(torch.int8), s), {}, {"x": x}, levels=("-O1",))


class Initial(TorchTest):
    """The moments of init's values, by torch.nn.init's formulas."""

    CASES = {  # mean, deviation, bounds; 40 in, 320 out
        "init.uniform(S, -2.0, 4.0)": (1.0, 6 / math.sqrt(12), -2.0, 4.0),
        "init.normal(S, 1.0, 0.5)": (1.0, 0.5, None, None),
        "init.xavier_uniform(S, gain=2.0)": (0.0, 2 * math.sqrt(2 / 360), -2 * math.sqrt(6 / 360), 2 * math.sqrt(6 / 360)),
        "init.xavier_normal(S)": (0.0, math.sqrt(2 / 360), None, None),
        "init.kaiming_uniform(S, a=1.0)": (0.0, math.sqrt(1 / 40), -math.sqrt(3 / 40), math.sqrt(3 / 40)),
        'init.kaiming_normal(S, mode="fan_out", nonlinearity="relu")': (0.0, math.sqrt(2 / 320), None, None),
        "init.trunc_normal(S, 0.5, 2.0, -1.0, 0.75)": (None, None, -1.0, 0.75),
        "init.trunc_normal(S, std=0.02)": (0.0, 0.02, -2.0, 2.0),
        "init.constant(S, 3)": (3.0, 0.0, 3.0, 3.0),
        "init.zeros(S)": (0.0, 0.0, 0.0, 0.0),
        "init.ones(S)": (1.0, 0.0, 1.0, 1.0),
    }

    def results(self, *exprs):
        lines = "".join(f"    param p{i}: Tensor<float32, [160, 20, 2]> = {e.replace('S', '[160, 20, 2]')}\n" for i, e in enumerate(exprs))
        names = ", ".join(f"p{i}" for i in range(len(exprs)))
        self.write("m.tri", f"import init\n\nlayer Main() {{\n{lines}    fn forward(x: Tensor<float32, [1]>) {{ return ({names}, x) }}\n}}\n")
        self.write("tri.build", "project init\n\nmodel m\n    sources = m.tri\n    entry = Main\n")
        self.trib("build")
        return self.infer("m", {"x": np.zeros(1, np.float32)}, len(exprs) + 1)[:-1]

    def test_moments(self):
        got = self.results(*self.CASES)
        for (expr, (mean, deviation, low, high)), x in zip(self.CASES.items(), got):
            with self.subTest(expr):
                if mean is not None:
                    self.assertAlmostEqual(x.mean(), mean, delta=0.06 * (deviation or 1e-6))
                    self.assertAlmostEqual(x.std(), deviation, delta=0.05 * deviation + 1e-6)
                if low is not None:
                    self.assertGreaterEqual(x.min(), low - 1e-6)
                    self.assertLessEqual(x.max(), high + 1e-6)
        x = np.sort(got[6].ravel())  # against the distribution function of the truncated normal
        cdf = lambda v: 0.5 * (1 + np.vectorize(math.erf)((v - 0.5) / 2 / math.sqrt(2)))
        want = (cdf(x) - cdf(-1.0)) / (cdf(0.75) - cdf(-1.0))
        self.assertLess(np.abs(want - (np.arange(x.size) + 0.5) / x.size).max(), 0.03)

    def test_seeds_and_names(self):
        a, b, c, d = self.results("init.normal(S, seed=3)", "init.normal(S, seed=3)", "init.normal(S)", "init.normal(S)")
        np.testing.assert_array_equal(a, b)
        self.assertFalse((c == d).all())

    def test_orthogonal(self):
        for x in self.results("init.orthogonal(S, gain=0.5)"):
            m = x.reshape(160, 40).astype(np.float64)
            np.testing.assert_allclose(m.T @ m, 0.25 * np.eye(40), atol=1e-5)


if __name__ == "__main__":
    unittest.main()
