"""Many small cases against PyTorch at once: expressions over random tensors, each with PyTorch's result.

All cases of a test are results of one layer, which is compiled at two levels and interpreted. Sizes are constants, or with `dynamic` known only at run
time."""
import math
import re

import numpy as np

from torch_ops import TYPES, TorchTest, torch

TOLERANCE = {np.float16: 4e-3, np.float32: 2e-5, np.float64: 1e-10}


def attend(q, k, v, mask=None, causal=False, scale=None):
    """scaled_dot_product_attention with enable_gqa; a query that sees no key gives zeros."""
    if q.dim() > 2 and k.dim() > 2 and k.shape[-3] not in (1, q.shape[-3]):
        k, v = (t.repeat_interleave(q.shape[-3] // t.shape[-3], -3) if t.shape[-3] > 1 else t for t in (k, v))
    s = q @ k.transpose(-2, -1) * (scale or 1 / math.sqrt(q.shape[-1]))
    if mask is not None:
        s = s.masked_fill(~mask, -math.inf) if mask.dtype == torch.bool else s + mask
    if causal:
        s = s.masked_fill(~torch.ones(s.shape[-2:], dtype=torch.bool).tril(), -math.inf)
    return torch.nan_to_num(s.softmax(-1)) @ v


def rotate(x, positions, base=10000.0, interleaved=False):
    """Llama's apply_rotary_pos_emb; interleaved: the original paper's pairs. Positions broadcast to x.shape[:-1]."""
    d = x.shape[-1]
    angle = positions[..., None].double() * base ** (-torch.arange(0, d, 2).double() / d)
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = (x[..., 0::2], x[..., 1::2]) if interleaved else (x[..., : d // 2], x[..., d // 2 :])
    pair = a * cos - b * sin, b * cos + a * sin
    return torch.stack(pair, -1).flatten(-2) if interleaved else torch.cat(pair, -1)


class Case:
    def __init__(self, expr, inputs, want, tolerance):
        self.expr, self.inputs, self.want, self.tolerance = expr, inputs, want, tolerance


class BatchTest(TorchTest):
    def setUp(self):
        super().setUp()
        self.rng = np.random.default_rng(self.seed)
        self.prelude = ""

    # ---- drawing ----

    def pick(self, *choices):
        return choices[int(self.rng.integers(len(choices)))]

    def integer(self, low, high):
        """low … high"""
        return int(self.rng.integers(low, high + 1))

    def shape(self, low=1, high=4, most=5):
        return [self.integer(1, most) for _ in range(self.integer(low, high))]

    def axis(self, rank):
        return self.integer(-rank, rank - 1)

    def tensor(self, shape, dtype=torch.float32, scale=2.0):
        if dtype == torch.bool:
            return torch.from_numpy(np.asarray(self.rng.random(shape) < 0.5))
        if dtype.is_floating_point:
            return torch.from_numpy(np.asarray(self.rng.normal(size=shape) * scale)).to(dtype)
        return torch.from_numpy(np.asarray(self.rng.integers(-5, 6, shape))).to(dtype)

    def trits(self, shape):
        return torch.from_numpy(np.asarray(self.rng.integers(-1, 2, shape))).to(torch.int8)

    # ---- cases ----

    def case(self, expr, inputs, want, tolerance=None):
        """`expr` names its inputs in braces: "softmax({x}, dim=1)". An input is a tensor, or ("trit", int8 tensor). `want`: a tensor or several."""
        self.cases.append(Case(expr, inputs, list(want) if isinstance(want, (tuple, list)) else [want], tolerance))

    def _write(self, dynamic, constant_last=False):
        params, results, arrays, body, known = [], [], {}, [], {}
        for n, c in enumerate(self.cases):
            names = {}
            for key, value in c.inputs.items():
                elem, t = value if isinstance(value, tuple) else (TYPES[value.dtype], value)
                names[key] = known.setdefault((id(t), elem), f"{key}{n}")
                if names[key] in arrays:
                    continue
                fixed = t.dim() - 1 if constant_last and t.is_floating_point() else -1
                dims = ", ".join(f"D{s}" if dynamic and s > 1 and k != fixed else str(s) for k, s in enumerate(t.shape))
                params.append(f"{names[key]}: Tensor<{elem}, [{dims}]>")
                arrays[names[key]] = t.detach().numpy()
            expr = re.sub(r"\{(\w+)\}", lambda m: names[m.group(1)], c.expr)
            if len(c.want) > 1:
                parts = [f"r{n}_{i}" for i in range(len(c.want))]
                body.append(f"    let ({', '.join(parts)}) = {expr}\n")
                results += parts
            else:
                body.append(f"    let r{n} = {expr}\n")
                results.append(f"r{n}")
        text = self.prelude + "layer Cases(" + ",\n    ".join(params) + f") {{\n{''.join(body)}    return ({', '.join(results)})\n}}\n"
        self.write("cases.tri", text)
        self.write("tri.build", "project cases\n\nmodel cases\n    sources = cases.tri\n    entry = Cases\n")
        return arrays, len(results)

    def _run(self, arrays, count, *flags):
        return self.infer("cases", arrays, count if count > 1 else 0, *flags)

    def _compare(self, got, how):
        got = iter(got)
        for c in self.cases:
            for i, want in enumerate(c.want):
                g, w = next(got), want.detach().numpy()
                shapes = {k: tuple((v[1] if isinstance(v, tuple) else v).shape) for k, v in c.inputs.items()}
                what = f"result {i} of {c.expr} for {shapes}, {how}, TRIB_SEED={self.seed}"
                with self.subTest(what):
                    self.assertEqual(g.shape, w.shape, what)
                    if w.dtype.kind in "biu":
                        np.testing.assert_array_equal(g, w, what)
                        continue
                    self.assertEqual(g.dtype, w.dtype, what)
                    bound = c.tolerance or TOLERANCE[w.dtype.type]
                    np.testing.assert_allclose(g.astype(np.float64), w.astype(np.float64), rtol=bound, atol=bound, err_msg=what)

    def check(self, dynamic=False, levels=("-O0", "-O2"), constant_last=False):
        """Builds, runs and interprets the cases so far, and forgets them. `constant_last`: the last size of floats is a constant all the same."""
        arrays, count = self._write(dynamic, constant_last)
        sizes = "sizes at run time" if dynamic else "constant sizes"
        for level in levels:
            self.trib("build", level)
            self._compare(self._run(arrays, count), f"{level}, {sizes}")
        self._compare(self._run(arrays, count, "--device", "reference"), f"interpreter, {sizes}")
        self.cases = []

    def check_opencl(self):
        arrays, count = self._write(True, True)
        self.edit("tri.build", "    entry = Cases\n", "    entry = Cases\n    emit = library opencl\n")
        self.trib("build")
        self._compare(self._run(arrays, count, "--device", "opencl"), "opencl")
        self.cases = []
