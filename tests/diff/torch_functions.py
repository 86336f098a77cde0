"""More of torch.* and torch.nn.functional.*, against PyTorch on random shapes, types and arguments: sorting, running totals, scattering, further
activations, distances, losses, windows."""
import math
import unittest

import numpy as np

from torch_batch import BatchTest, torch

F = torch.nn.functional

INTS = (torch.int8, torch.int16, torch.int32, torch.int64)
FLOATS = (torch.float32, torch.float64)


def yes(b):
    return "true" if b else "false"


class Order(BatchTest):
    def distinct(self, shape, dtype=torch.float32):
        """No two equal elements: PyTorch does not say which of them comes first."""
        n = int(np.prod(shape))
        return torch.from_numpy(self.rng.permutation(n).reshape(shape) - n // 2).to(dtype) / (4 if dtype.is_floating_point else 1)

    def test_sort(self):
        for dtype in (torch.float32, torch.float64, torch.float16, torch.uint8, torch.int8, torch.int32, torch.int64):
            for most in (5, 60):
                x = self.tensor(self.shape(1, 2, most), dtype)
                a, down = self.axis(x.dim()), self.pick(True, False)
                self.case(f"sort({{x}}, {a}, descending={yes(down)})", {"x": x}, tuple(torch.sort(x, dim=a, descending=down, stable=True)))
                self.case(f"argsort({{x}}, dim={a}, descending={yes(down)})", {"x": x}, torch.sort(x, dim=a, descending=down, stable=True)[1])
                y = self.distinct(self.shape(1, 3, 4), torch.int32 if dtype in (torch.int8, torch.uint8) else dtype)
                a = self.axis(y.dim())
                k, largest = self.integer(1, y.shape[a]), self.pick(True, False)
                self.case(f"topk({{y}}, {k}, dim={a}, largest={yes(largest)})", {"y": y}, tuple(torch.topk(y.float(), k, a, largest)) if
                          dtype == torch.float16 else tuple(torch.topk(y, k, a, largest)))
                if dtype == torch.float16:
                    self.cases[-1].want[0] = self.cases[-1].want[0].half()
                    continue
                keep = self.pick(True, False)
                self.case(f"kthvalue({{y}}, {k}, {a}, keepdim={yes(keep)})", {"y": y}, tuple(torch.kthvalue(y, k, a, keep)))
                self.case(f"median({{y}}, {a}, keepdim={yes(keep)})", {"y": y}, tuple(torch.median(y, a, keep)))
                self.case("median({x})", {"x": x}, x.median())
        self.check()

    def test_special_values(self):
        x = torch.tensor([[0.0, -0.0, float("nan"), -1.0], [float("inf"), 1.0, float("-inf"), -0.0]])
        for t in (x, x.double()):
            self.case("argsort({x})", {"x": t}, torch.sort(t, dim=-1, stable=True)[1])
            self.case("argsort({x}, descending=true)", {"x": t}, torch.sort(t, dim=-1, descending=True, stable=True)[1])
            self.case("median({x})", {"x": t}, t.median())
            self.case("median({x}, 1)[0]", {"x": t}, t.median(1)[0])
            self.case("quantile({x}, 0.5, 1)", {"x": t}, t.quantile(0.5, 1))
        many = self.tensor([3000], scale=100.0)
        self.case("sort({x})[0]", {"x": many}, many.sort()[0])
        self.check()

    def test_quantile(self):
        for dtype in FLOATS:
            for kind in ("linear", "lower", "higher", "midpoint", "nearest"):
                x = self.tensor(self.shape(1, 3), dtype)
                a, keep, q = self.axis(x.dim()), self.pick(True, False), self.integer(0, 20) / 20
                more = f'keepdim={yes(keep)}, interpolation="{kind}"'
                self.case(f"quantile({{x}}, {q}, {a}, {more})", {"x": x}, x.quantile(q, a, keep, interpolation=kind))
                self.case(f"quantile({{x}}, {q}, {more})", {"x": x}, x.quantile(q, None, keep, interpolation=kind))
            qs = torch.tensor([0.1, 0.5, 0.99], dtype=dtype)
            self.case(f"quantile({{x}}, [0.1, 0.5, 0.99], {a})", {"x": x}, x.quantile(qs, a))
            self.case(f"quantile({{x}}, {{q}}, {a}, keepdim=true)", {"x": x, "q": qs}, x.quantile(qs, a, True))
        self.check()

    def test_cumulate(self):
        for dtype in (torch.float32, torch.float64, torch.uint8, torch.int8, torch.int64, torch.bool):
            for _ in range(3):
                x = self.tensor(self.shape(), dtype)
                a = self.axis(x.dim())
                self.case(f"cumsum({{x}}, {a})", {"x": x}, x.cumsum(a), 1e-5)
                self.case(f"{{x}}.cumprod(dim={a})", {"x": x}, x.cumprod(a), 1e-4)
        long = self.tensor([2, 5000], scale=0.1)
        self.case("cumsum({x}, 1)", {"x": long}, long.cumsum(1), 1e-4)
        self.check()

    def test_scatter(self):
        for dtype in (torch.float32, torch.float64, torch.uint8, torch.int8, torch.int64):
            for _ in range(3):
                x = self.tensor(self.shape(), dtype)
                a = self.axis(x.dim())
                shape = list(x.shape)
                shape[a] = self.integer(1, 6)
                index = torch.from_numpy(self.rng.integers(0, x.shape[a], shape))
                src = self.tensor(shape, dtype)
                self.case(f"scatter_add({{x}}, {a}, {{i}}, {{s}})", {"x": x, "i": index, "s": src}, x.scatter_add(a, index, src), 1e-5)
                one = torch.argsort(torch.from_numpy(self.rng.random(x.shape)), a)  # each place once
                src = self.tensor(list(x.shape), dtype)
                self.case(f"{{x}}.scatter({a}, {{i}}, {{s}})", {"x": x, "i": one, "s": src}, x.scatter(a, one, src))
                self.case(f"scatter({{x}}, {a}, {{i}}, 1)", {"x": x, "i": index}, x.scatter(a, index, 1))
        self.check()

    def test_scatter_into_a_corner(self):
        for dtype in (torch.float32, torch.int32):
            for _ in range(6):
                x = self.tensor([self.integer(2, 5) for _ in range(self.integer(1, 3))], dtype)
                a = self.axis(x.dim())
                shape = [self.integer(1, n) for n in x.shape]
                index = torch.from_numpy(self.rng.integers(0, x.shape[a], shape))
                src = self.tensor([n + self.integer(0, 2) for n in shape], dtype)
                self.case(f"scatter_add({{x}}, {a}, {{i}}, {{s}})", {"x": x, "i": index, "s": src}, x.scatter_add(a, index, src), 1e-5)
                self.case(f"scatter({{x}}, {a}, {{i}}, 1)", {"x": x, "i": index}, x.scatter(a, index, 1))
        self.check()

    def test_scalars(self):
        """A scalar has the dimension 0, or -1."""
        for dtype in (torch.float32, torch.int32):
            x = self.tensor([], dtype)
            for a in (0, -1):
                for name in ("sum", "prod", "amax", "amin", "argmax", "argmin", "cumsum", "cumprod", "argsort"):
                    self.case(f"{name}({{x}}, {a})", {"x": x}, getattr(torch, name)(x, a))
                for name in ("sort", "max", "min", "median"):
                    self.case(f"{name}({{x}}, dim={a})", {"x": x}, tuple(getattr(torch, name)(x, dim=a)))
                self.case(f"sum({{x}}, {a}, keepdim=true)", {"x": x}, x.sum(a, keepdim=True))
                self.case(f"topk({{x}}, 1, {a})", {"x": x}, tuple(x.topk(1, a)))
                self.case(f"transpose({{x}}, 0, {a})", {"x": x}, x.transpose(0, a))
                self.case(f"index_select({{x}}, {a}, {{i}})", {"x": x, "i": torch.tensor([0])}, x.index_select(a, torch.tensor([0])))
        x = self.tensor([])
        for a in (0, -1):
            for name in ("mean", "softmax", "log_softmax", "logsumexp"):
                self.case(f"{name}({{x}}, {a})", {"x": x}, getattr(torch, name)(x, a))
            self.case(f"quantile({{x}}, 0.3, {a})", {"x": x}, x.quantile(0.3, a))
            self.case(f"any({{x}} > 0.0, {a})", {"x": x}, (x > 0).any(a))
        self.check()

    def test_dtype(self):
        for dtype in (torch.uint8, torch.int8, torch.int32, torch.bool, torch.float32):
            x = self.tensor(self.shape(), dtype)
            a = self.axis(x.dim())
            for to in ("float32", "float64", "int32", "int64"):
                t = getattr(torch, to)
                self.case(f"sum({{x}}, {a}, dtype={to})", {"x": x}, x.sum(a, dtype=t), 1e-5)
                self.case(f"prod({{x}}, {a}, dtype={to})", {"x": x}, x.prod(a, dtype=t), 1e-4)
                self.case(f"cumsum({{x}}, {a}, dtype={to})", {"x": x}, x.cumsum(a, dtype=t), 1e-5)
                if t.is_floating_point:
                    self.case(f"mean({{x}}, {a}, dtype={to})", {"x": x}, x.mean(a, dtype=t), 1e-5)
                    self.case(f"softmax({{x}}, {a}, dtype={to})", {"x": x}, x.softmax(a, dtype=t))
                    self.case(f"{{x}}.log_softmax({a}, dtype={to})", {"x": x}, x.log_softmax(a, dtype=t))
        self.check()

    def test_sizes_at_run_time(self):
        x = self.distinct([4, 3, 5])
        a = self.axis(3)
        self.case(f"sort({{x}}, {a})", {"x": x}, tuple(x.sort(a)))
        self.case(f"topk({{x}}, 2, {a})", {"x": x}, tuple(x.topk(2, a)))
        self.case(f"quantile({{x}}, 0.3, {a})", {"x": x}, x.quantile(0.3, a))
        self.case("median({x})", {"x": x}, x.median())
        self.case(f"cumsum({{x}}, {a})", {"x": x}, x.cumsum(a))
        index = torch.from_numpy(self.rng.integers(0, 3, [4, 2, 5]))
        src = self.tensor([4, 2, 5])
        self.case("scatter_add({x}, 1, {i}, {s})", {"x": x, "i": index, "s": src}, x.scatter_add(1, index, src))
        self.case("select_scatter({x}, {x}[:, 0], 1, -1)", {"x": x}, x.select_scatter(x[:, 0], 1, -1))
        self.case("select_scatter({x}, {x}[0], 0, {k})", {"x": x, "k": torch.tensor(2)}, x.select_scatter(x[0], 0, 2))
        self.check(dynamic=True)


class Collect(BatchTest):
    """Lists built by loops, whose length is known only at run time."""

    def test_lists(self):
        self.prelude = """
fn states(x: Tensor<float32, [N, T, K]>) {
    let h = zeros([x.shape[0], x.shape[2]])
    let ys = []
    for t in 0..x.shape[1] {
        h = tanh(x[:, t] + 0.5 * h)
        ys.append(h)
    }
    return (stack(ys, dim=1), h)
}
fn joined(x: Tensor<float32, [N, T, K]>) {
    let ys = [x[:, 0]]
    for t in 1..x.shape[1] { ys = ys + [x[:, t] * 2.0] }
    ys.append(x[:, -1])
    return concat(ys, dim=-1)
}
fn backwards(x: Tensor<float32, [N, T, K]>) {
    let ys = []
    for t in x.shape[1] - 1..-1:-2 { ys += [x[:, t], -x[:, t]] }
    return (stack(ys), len(ys))
}
fn maxima(x: Tensor<float32, [N, T, K]>) { return stack([max(x[:, t]) for t in 0..x.shape[1]]) }
fn nested(x: Tensor<float32, [N, T, K]>) {
    let rows = []
    for t in 0..x.shape[1] { rows.append(stack([x[n, t] + float32(n) for n in 0..x.shape[0]])) }
    return stack(rows, dim=1)
}
fn twice(x: Tensor<float32, [N, T, K]>) {
    let a = []
    let b = []
    for t in 0..x.shape[1] {
        a.append(x[:, t])
        if max(x[:, t]) > 0.5 { b.extend([t, 0]) } else { b.extend([-t, 1]) }
    }
    for t in 0..x.shape[1] { a.append(x[:, t] - 1.0) }
    return (stack(a, 1), stack(b))
}
fn counted(x: Tensor<float32, [N, T, K]>, first: int32) {
    let ys = []
    for t in 0..x.shape[1] { ys.append(int32(t) + first) }
    return stack(ys)
}
"""
        for _ in range(3):
            n, t, k = self.integer(1, 4), self.integer(2, 9), self.integer(1, 5)
            x = self.tensor([n, t, k])
            h, ys = torch.zeros(n, k), []
            for i in range(t):
                h = torch.tanh(x[:, i] + 0.5 * h)
                ys.append(h)
            self.case("states({x})", {"x": x}, (torch.stack(ys, 1), h))
            self.case("joined({x})", {"x": x}, torch.cat([x[:, 0]] + [x[:, i] * 2 for i in range(1, t)] + [x[:, -1]], -1))
            ys = [s * x[:, i] for i in range(t - 1, -1, -2) for s in (1, -1)]
            self.case("backwards({x})", {"x": x}, (torch.stack(ys), torch.tensor(len(ys))))
            self.case("maxima({x})", {"x": x}, x.amax((0, 2)))
            self.case("nested({x})", {"x": x}, x + torch.arange(n)[:, None, None])
            b = [v for i in range(t) for v in ((i, 0) if x[:, i].max() > 0.5 else (-i, 1))]
            self.case("twice({x})", {"x": x}, (torch.cat([x, x - 1], 1), torch.tensor(b)))
            self.case("counted({x}, {f})", {"x": x, "f": torch.tensor(7, dtype=torch.int32)}, torch.arange(t, dtype=torch.int32) + 7)
        self.check(dynamic=True)


class BitsTest(BatchTest):
    def bits(self, shape, dtype):
        """Integers of all sizes, so that all their bits are used."""
        limits = torch.iinfo(dtype)
        few = np.array([0, 1, -1, limits.min, limits.max])
        x = self.rng.integers(limits.min, limits.max, shape, dtype=np.int64, endpoint=True)
        return torch.from_numpy(np.where(self.rng.random(shape) < 0.3, self.rng.choice(few, shape), x)).to(dtype)

    def shift_cases(self, x, n):
        """Amounts that are negative or too large shift all bits out."""
        to = torch.promote_types(x.dtype, n.dtype)
        size = torch.iinfo(to).bits
        wide, by = torch.broadcast_tensors(x.to(to), n.to(to))
        inside = (by >= 0) & (by < size)
        self.case("{x} << {n}", {"x": x, "n": n}, torch.where(inside, wide << by.clamp(0, size - 1), torch.zeros_like(wide)))
        self.case("bitwise_right_shift({x}, {n})", {"x": x, "n": n}, wide >> torch.where(inside, by, torch.full_like(by, size - 1)))
        for k in (0, 1, 3, 7, 8, 31, 63, 100):
            most = torch.iinfo(x.dtype).bits - 1
            self.case(f"{{x}} >> {k}", {"x": x}, x >> min(k, most))
            self.case(f"{{x}}.bitwise_left_shift({k})", {"x": x}, x << k if k <= most else torch.zeros_like(x))

    def bit_cases(self, a, b):
        x, y = self.bits([3, 1, 7], a), self.bits([5, 1], b)
        for op in "&|^":
            self.case(f"{{x}} {op} {{y}}", {"x": x, "y": y}, eval(f"x {op} y"))
            self.case(f"{{x}} {op} 6", {"x": x}, eval(f"x {op} 6"))
        self.case("bitwise_not({x})", {"x": x}, ~x)
        self.case("({x} & {y}) * 2 + ~{y} > 3", {"x": x, "y": y}, (x & y) * 2 + ~y > 3)
        size = torch.iinfo(torch.promote_types(a, b)).bits
        low = max(torch.iinfo(b).min, -2 * size)
        self.shift_cases(x, torch.from_numpy(self.rng.integers(low, min(torch.iinfo(b).max, 2 * size), [5, 1], endpoint=True)).to(b))


class Functions(BitsTest):
    def test_of_one_number(self):
        for dtype in FLOATS:
            x, unit = self.tensor([4, 9], dtype), self.tensor([30], dtype, 1.0).clamp(-1, 1)
            near = self.tensor([9], dtype) * 1e-4
            for name, f in (("elu", F.elu), ("selu", F.selu), ("celu", F.celu), ("mish", F.mish), ("softsign", F.softsign), ("logsigmoid", F.logsigmoid),
                            ("hardtanh", F.hardtanh), ("softshrink", F.softshrink), ("hardshrink", F.hardshrink), ("tanhshrink", F.tanhshrink),
                            ("expm1", torch.expm1), ("exp2", torch.exp2), ("erf", torch.erf), ("sinh", torch.sinh), ("cosh", torch.cosh),
                            ("atan", torch.atan)):
                for t in (x, near, x * 20 if name in ("atan", "softsign", "mish", "logsigmoid", "hardtanh") else x):
                    self.case(f"{name}({{x}})", {"x": t}, f(t), 1e-6 if dtype == torch.float32 else 1e-14 if name in ("expm1", "sinh") else None)
            self.case("log1p({x})", {"x": x.abs()}, x.abs().log1p())
            self.case("{x}.log1p()", {"x": near}, near.log1p(), 1e-7)
            self.case("asin({x})", {"x": unit}, unit.asin())
            self.case("acos({x})", {"x": unit}, unit.acos())
            self.case("elu({x}, alpha=0.3)", {"x": x}, F.elu(x, 0.3))
            self.case("celu({x}, 2.0)", {"x": x}, F.celu(x, 2.0))
            self.case("hardtanh({x}, -0.5, 2)", {"x": x}, F.hardtanh(x, -0.5, 2))
            self.case("softshrink({x}, 1)", {"x": x}, F.softshrink(x, 1.0))
            large = torch.tensor([20.5, 88.5, 89.0, -89.0, 1e4, -1e4, math.inf, -math.inf, math.nan], dtype=dtype)
            for name in ("sinh", "cosh"):
                self.case(f"{name}({{x}})", {"x": large}, getattr(torch, name)(large.double()).to(dtype))
            self.case("softshrink({x})", {"x": large}, torch.where(large.isnan(), large, F.softshrink(large)))
        half = self.tensor([9], torch.float16)
        self.case("elu({x})", {"x": half}, F.elu(half.float()).half())
        self.check()

    def test_of_several(self):
        for dtype in FLOATS:
            x, y, w = self.tensor([4, 5], dtype), self.tensor([4, 5], dtype), self.tensor([5], dtype)
            self.case("atan2({x}, {y})", {"x": x, "y": y}, torch.atan2(x, y))
            self.case("fmod({x}, {y})", {"x": x, "y": y}, torch.fmod(x, y))
            self.case("lerp({x}, {y}, 0.3)", {"x": x, "y": y}, x.lerp(y, 0.3))
            self.case("lerp({x}, {y}, {w})", {"x": x, "y": y, "w": w}, x.lerp(y, w.expand(4, 5)))
            self.case("lerp({x} * 1e8, {y}, 1.0)", {"x": x, "y": y}, y)
            self.case("lerp({x} * 1e8, {y}, {w} * 0.0 + 1.0)", {"x": x, "y": y, "w": w}, y)
            ends = torch.tensor([0.0, -0.0, 1.0, -2.0, math.inf, -math.inf], dtype=dtype)
            p, q = ends.repeat(6), ends.repeat_interleave(6)
            self.case("atan2({p}, {q})", {"p": p, "q": q}, torch.atan2(p, q))
            self.case("1.0 / atan2({p}, {q})", {"p": p, "q": q}, 1.0 / torch.atan2(p, q))  # the signs of zeros
            self.case("masked_fill({x}, {x} > 0.5, -1)", {"x": x}, x.masked_fill(x > 0.5, -1))
            self.case("linear({x}, {y}, bias={w}[:4])", {"x": x, "y": y, "w": w}, F.linear(x, y, w[:4]))
            self.case("linear({x}, {y})", {"x": x, "y": y}, F.linear(x, y))
            self.case("addmm({w}[:4], {x}, {y}.transpose(), beta=2, alpha=0.5)", {"x": x, "y": y, "w": w}, torch.addmm(w[:4], x, y.T, beta=2, alpha=0.5))
            b = self.tensor([2, 5, 3], dtype)
            a = self.tensor([2, 4, 5], dtype)
            self.case("baddbmm({x}[:, :3], {a}, {b})", {"x": x, "a": a, "b": b}, torch.baddbmm(x[:, :3], a, b))
        for dtype in (torch.int32, torch.int64):
            x, y = self.tensor([9], dtype), torch.from_numpy(self.rng.integers(1, 5, [9])).to(dtype)
            self.case("fmod({x}, {y})", {"x": x, "y": y}, torch.fmod(x, y))
            self.case("fmod({x}, -3)", {"x": x}, torch.fmod(x, -3))
        self.check()

    def test_norms(self):
        for dtype in FLOATS:
            for _ in range(3):
                x = self.tensor(self.shape(2, 3), dtype)
                y = self.tensor(list(x.shape), dtype)
                a, keep = self.axis(x.dim()), self.pick(True, False)
                k = yes(keep)
                self.case(f"amax({{x}}, {a}, {k})", {"x": x}, x.amax(a, keep))
                self.case(f"{{x}}.amin([0, -1], keepdim={k})", {"x": x}, x.amin((0, -1), keep))
                self.case("amax({x})", {"x": x}, x.amax())
                self.case(f"logsumexp({{x}}, {a}, {k})", {"x": x}, x.logsumexp(a, keep))
                for p in (0, 1, 2, 3.5, -1):
                    self.case(f"norm({{x}}, {p}, {a}, keepdim={k})", {"x": x}, torch.norm(x, p, a, keep))
                self.case("norm({x})", {"x": x}, x.norm())
                self.case(f"normalize({{x}}, dim={a})", {"x": x}, F.normalize(x, dim=a))
                self.case(f"normalize({{x}}, p=1, dim={a})", {"x": x}, F.normalize(x, p=1, dim=a))
                self.case(f"cosine_similarity({{x}}, {{y}}, dim={a})", {"x": x, "y": y}, F.cosine_similarity(x, y, dim=a))
                self.case("cosine_similarity({x}, {y}[:1], dim=1)", {"x": x, "y": y}, F.cosine_similarity(x, y[:1], dim=1))
                z = self.tensor([3, x.shape[-1]], dtype)
                for p in (0, 1, 2, 3.5, "float32.inf"):
                    if p == "float32.inf":
                        self.case(f"cdist({{x}}, {{z}}, {p})", {"x": x, "z": z}, torch.cdist(x, z, float("inf")))
                        continue
                    self.case(f"cdist({{x}}, {{z}}, {p})", {"x": x, "z": z}, torch.cdist(x, z, p, compute_mode="donot_use_mm_for_euclid_dist"))
                w = self.tensor([n + 1 for n in x.shape], dtype)
                self.case(f"std_mean({{w}}, {a}, keepdim={k})", {"w": w}, torch.std_mean(w, a, keepdim=keep), 1e-4)
                self.case(f"var_mean({{w}}, {a}, correction=0)", {"w": w}, torch.var_mean(w, a, unbiased=False), 1e-4)
        big = torch.tensor([[1000.0, 999.0], [float("-inf"), float("-inf")], [float("inf"), 1.0]])
        self.case("logsumexp({x}, 1)", {"x": big}, big.logsumexp(1))
        self.check()

    def test_moves(self):
        for dtype in (torch.float32, torch.uint8, torch.int8):
            for _ in range(3):
                x = self.tensor(self.shape(2, 3), dtype)
                a = self.axis(x.dim())
                self.case(f"flip({{x}}, {a})", {"x": x}, x.flip(a))
                self.case("flip({x}, [0, -1])", {"x": x}, x.flip(0, -1))
                shift = self.integer(-7, 7)
                self.case(f"roll({{x}}, {shift}, {a})", {"x": x}, x.roll(shift, a))
                self.case(f"{{x}}.roll([{shift}, 1], dims=[0, 1])", {"x": x}, x.roll((shift, 1), (0, 1)))
                self.case(f"roll({{x}}, {shift})", {"x": x}, x.roll(shift))
                by = torch.tensor(shift)
                self.case(f"roll({{x}}, {{by}}, {a})", {"x": x, "by": by}, x.roll(shift, a))
                n = self.integer(1, x.shape[a])
                self.case(f"narrow({{x}}, {a}, {x.shape[a] - n}, {n})", {"x": x}, x.narrow(a, x.shape[a] - n, n))
                self.case(f"stack(unbind({{x}}, {a}))", {"x": x}, torch.stack(x.unbind(a)))
        i = torch.from_numpy(self.rng.integers(0, 5, [3, 2]))
        self.case("one_hot({i}, num_classes=5)", {"i": i}, F.one_hot(i, 5))
        image = self.tensor([2, 8, 3, 5])
        self.case("pixel_shuffle({x}, 2)", {"x": image}, F.pixel_shuffle(image, 2))
        image = self.tensor([3, 4, 6])
        self.case("pixel_unshuffle({x}, 2)", {"x": image}, F.pixel_unshuffle(image, 2))
        self.check()

    def test_at_run_time(self):
        x = self.tensor([4, 3, 5])
        self.case("flip({x}, 0, 2)", {"x": x}, x.flip(0, 2))
        self.case("roll({x}, 2, 0)", {"x": x}, x.roll(2, 0))
        self.case("roll({x}, -1, 2)", {"x": x}, x.roll(-1, 2))
        for shift in (5, -5, 400, -(1 << 62) - 5):
            self.case(f"roll({{x}}, {shift}, 1)", {"x": x}, x.roll(shift, 1))
            self.case(f"roll({{x}}, {shift})", {"x": x}, x.roll(shift))
            by = torch.tensor(shift)
            self.case("roll({x}, {by}, -1)", {"x": x, "by": by}, x.roll(shift, -1))
            self.case("roll({x}, {by})", {"x": x, "by": by}, x.roll(shift))
            self.case("roll({x}, [{by}, 9, 2], dims=[0, 2, 0])", {"x": x, "by": by}, x.roll((shift, 9, 2), (0, 2, 0)))
        self.case("roll({x}, {x}.shape[2] // 2, 2)", {"x": x}, x.roll(2, 2))
        self.case("roll({x}, {by}, 0)", {"x": x, "by": torch.tensor(-9, dtype=torch.int8)}, x.roll(-9, 0))
        self.case("normalize({x}, dim=-1)", {"x": x}, F.normalize(x, dim=-1))
        self.case("cosine_similarity({x}, {x} + 1.0, dim=2)", {"x": x}, F.cosine_similarity(x, x + 1, dim=2))
        self.case("logsumexp({x}, [0, 1])", {"x": x}, x.logsumexp((0, 1)))
        self.check(dynamic=True)

    def test_networks(self):
        x, image = self.tensor([2, 4, 7]), self.tensor([2, 4, 5, 6])
        w, b = self.tensor([4]), self.tensor([4])
        self.case("glu({x}, 1)", {"x": x}, F.glu(x, 1))
        self.case("prelu({x}, {w})", {"x": x, "w": w}, F.prelu(x, w))
        self.case("prelu({x}, {w}[:1])", {"x": x, "w": w}, F.prelu(x, w[:1]))
        self.case("instance_norm({x}, weight={w}, bias={b})", {"x": image, "w": w, "b": b}, F.instance_norm(image, weight=w, bias=b), 1e-4)
        self.case("instance_norm({x})", {"x": x}, F.instance_norm(x), 1e-4)
        self.case("maxpool1d({x}, 3, stride=2, padding=1)", {"x": x}, F.max_pool1d(x, 3, 2, 1))
        self.case("avgpool1d({x}, 2)", {"x": x}, F.avg_pool1d(x, 2))
        k, b2 = self.tensor([4, 3, 3, 2]), self.tensor([3])
        self.case("conv_transpose2d({x}, {k}, {b}, stride=[2, 3], padding=1, output_padding=[1, 0])", {"x": image, "k": k, "b": b2},
                  F.conv_transpose2d(image, k, b2, (2, 3), 1, (1, 0)), 1e-4)
        self.case("conv_transpose2d({x}[0], {k}, groups=2, dilation=2)", {"x": image, "k": k}, F.conv_transpose2d(image[0], k, groups=2, dilation=2), 1e-4)
        self.case("conv_transpose1d({x}, {k}, {b}, stride=2, padding=3)", {"x": x, "k": k[:, :, 0], "b": b2},
                  F.conv_transpose1d(x, k[:, :, 0], b2, 2, 3), 1e-4)
        self.case("interpolate({x}, scale_factor=2)", {"x": image}, F.interpolate(image, scale_factor=2))
        self.case('interpolate({x}, [9, 4], mode="bilinear", align_corners=true)', {"x": image},
                  F.interpolate(image, (9, 4), mode="bilinear", align_corners=True))
        self.check()

    def test_volumes(self):
        for groups in (1, 2):
            x, w, b = self.tensor([2, 4, 5, 6, 7]), self.tensor([6, 4 // groups, 3, 2, 3]), self.tensor([6])
            for more in ({}, {"stride": 2, "padding": 1}, {"stride": (1, 2, 3), "padding": (2, 0, 1), "dilation": (2, 1, 1)}):
                self.case(f"conv3d({{x}}, {{w}}, {{b}}, groups={groups}, " + ", ".join(f"{k}={v}" for k, v in more.items()) + ")",
                          {"x": x, "w": w, "b": b}, F.conv3d(x, w, b, groups=groups, **more), 1e-4)
            self.case(f'conv3d({{x}}[0], {{w}}, groups={groups}, padding="same")', {"x": x, "w": w}, F.conv3d(x[0], w, groups=groups, padding="same"), 1e-4)
        for dtype in (torch.float32, torch.float64):
            x = self.tensor([2, 3, 7, 6, 5], dtype)
            self.case("maxpool3d({x}, 2)", {"x": x}, F.max_pool3d(x, 2))
            self.case("maxpool3d({x}[0], [3, 2, 2], stride=2, padding=1, ceil_mode=true)", {"x": x}, F.max_pool3d(x[0], (3, 2, 2), 2, 1, ceil_mode=True))
            self.case("maxpool3d({x}, 2, stride=[1, 2, 1], dilation=2)", {"x": x}, F.max_pool3d(x, 2, (1, 2, 1), dilation=2))
        self.check()

    def test_volumes_at_run_time(self):
        x = self.tensor([2, 2, 5, 6, 7])
        self.case("conv3d(concat([amax({x}, 1, keepdim=true)] * 2, dim=1), ones([3, 2, 3, 2, 3]), stride=2, padding=1)", {"x": x},
                  F.conv3d(torch.cat([x.amax(1, keepdim=True)] * 2, 1), torch.ones([3, 2, 3, 2, 3]), stride=2, padding=1), 1e-4)
        self.case("maxpool3d({x}, 2)", {"x": x}, F.max_pool3d(x, 2))
        self.check(dynamic=True)

    def test_conditions(self):
        """Numbers are true unless they are 0."""
        for a, b in ((torch.int8, torch.float32), (torch.float64, torch.bool), (torch.int64, torch.int64)):
            x, y = self.tensor([4, 5], a) * self.tensor([4, 5], torch.bool), self.tensor([5], b)
            for name in ("logical_and", "logical_or", "logical_xor"):
                self.case(f"{name}({{x}}, {{y}})", {"x": x, "y": y}, getattr(torch, name)(x, y))
            self.case("logical_not({x})", {"x": x}, torch.logical_not(x))
            self.case("where({x}, {y}, {y})", {"x": x, "y": y}, torch.where(x.bool(), y, y))
        self.check()

    def test_bits(self):
        for dynamic in (False, True):
            for a in INTS:
                for b in INTS:
                    self.bit_cases(a, b)
            p, q = self.tensor([4, 5], torch.bool), self.tensor([5], torch.bool)
            for op, name in (("&", "and"), ("|", "or"), ("^", "xor")):
                self.case(f"{{p}} {op} {{q}}", {"p": p, "q": q}, eval(f"p {op} q"))
                self.case(f"bitwise_{name}({{p}}, {{q}})", {"p": p, "q": q}, eval(f"p {op} q"))
            self.case("~{p}", {"p": p}, ~p)
            t, x = self.trits([5]), self.bits([4, 5], torch.int16)
            self.case("~{t}", {"t": ("trit", t)}, ~t)
            self.case("{t} & {x} | {t}", {"t": ("trit", t), "x": x}, t & x | t)
            self.check(dynamic=dynamic, levels=("-O0", "-O1", "-O2", "-O3") if dynamic else ("-O0", "-O2"))

    def test_embedding(self):
        w, i = self.tensor([6, 5], scale=3.0), torch.from_numpy(self.rng.integers(0, 6, [3, 2]))
        for p in (1.0, 2.0, 3.0):
            self.case(f"embedding({{i}}, {{w}}, padding_idx=1, max_norm=1.5, norm_type={p})", {"w": w, "i": i},
                      F.embedding(i, w.clone(), 1, 1.5, p), 1e-5)
        self.case('einsum([{w}, {w}], "Ab,Cb->AC")', {"w": w}, torch.einsum("Ab,Cb->AC", w, w), 1e-5)
        self.check()

    def test_multinomial(self):
        """Without replacement by exponential clocks, with it by the running sums; zeros are never drawn."""
        p = torch.tensor([[0.1, 0.0, 2.0, 0.4, 1.0], [3.0, 0.5, 0.0, 0.1, 0.0]])
        u, v = self.tensor([2, 5], scale=0.0) + torch.from_numpy(self.rng.random([2, 5])).float(), torch.from_numpy(self.rng.random([2, 9])).float()
        self.case("multinomial({p}, 3, noise={u})", {"p": p, "u": u}, (p / -u.log()).topk(3)[1])
        self.case("multinomial({p}, 9, replacement=true, noise={v})", {"p": p, "v": v}, torch.searchsorted(p.cumsum(1), v * p.sum(1, keepdim=True), right=True))
        few, none = torch.tensor([0.0, 0.0, 1.0, 0.0, 2.0]), torch.zeros(5)  # a u of 0: its clock never rings
        self.case("multinomial({few}, 2, noise={none})", {"few": few, "none": none}, torch.tensor([2, 4]))
        self.case("histogram({p})", {"p": p}, p / p.sum(1, keepdim=True), 0.02)
        self.prelude = """
fn histogram(p: Tensor<float32, [N, K]>) {
    let drawn = multinomial(p, 20000, replacement=true, seed=7)
    return mean(float32(one_hot(drawn, 5)), 1)
}
"""
        self.check()

    def test_losses(self):
        x, t = self.tensor([4, 3]), self.tensor([4, 3])
        p, q = torch.sigmoid(x), torch.sigmoid(t)
        w = self.tensor([3]).abs()
        y = torch.from_numpy(self.rng.integers(0, 3, [4]))
        logs, soft = x.log_softmax(1), t.softmax(1)
        for r in ("mean", "sum", "none"):
            more = f'reduction="{r}"'
            self.case(f"l1_loss({{x}}, {{t}}, {more})", {"x": x, "t": t}, F.l1_loss(x, t, reduction=r))
            self.case(f"smooth_l1_loss({{x}}, {{t}}, {more}, beta=0.7)", {"x": x, "t": t}, F.smooth_l1_loss(x, t, reduction=r, beta=0.7))
            self.case(f"huber_loss({{x}}, {{t}}, {more}, delta=0.7)", {"x": x, "t": t}, F.huber_loss(x, t, reduction=r, delta=0.7))
            self.case(f"binary_cross_entropy({{p}}, {{q}}, {more})", {"p": p, "q": q}, F.binary_cross_entropy(p, q, reduction=r))
            self.case(f"binary_cross_entropy_with_logits({{x}}, {{q}}, {more}, pos_weight={{w}})", {"x": x, "q": q, "w": w},
                      F.binary_cross_entropy_with_logits(x, q, reduction=r, pos_weight=w))
            self.case(f"nll_loss({{x}}, {{y}}, {more})", {"x": logs, "y": y}, F.nll_loss(logs, y, reduction=r))
            for ignored in (1, -100):
                self.case(f"nll_loss({{x}}, {{y}}, weight={{w}}, ignore_index={ignored}, {more})", {"x": logs, "y": y, "w": w},
                          F.nll_loss(logs, y, w, ignore_index=ignored, reduction=r))
        self.case('kl_div({x}, {t}, "batchmean")', {"x": logs, "t": soft}, F.kl_div(logs, soft, reduction="batchmean"))
        self.case('kl_div({x}, {t}, "sum", log_target=true)', {"x": logs, "t": soft.log()}, F.kl_div(logs, soft.log(), reduction="sum", log_target=True))
        self.check()


class Devices(BitsTest):
    def test_opencl(self):
        x = self.tensor([3, 4, 5])
        index = torch.from_numpy(self.rng.integers(0, 4, [3, 2, 5]))
        src = self.tensor([3, 2, 5])
        for t in (x, x.double()):
            s = src.to(t.dtype)
            self.case("sort({x}, 1, descending=true)", {"x": t}, tuple(torch.sort(t, dim=1, descending=True, stable=True)))
            self.case("cumsum({x}, 1)", {"x": t}, t.cumsum(1), 1e-5)
            self.case("cumprod({x}, 0)", {"x": t}, t.cumprod(0), 1e-4)
            self.case("scatter_add({x}, 1, int64({i}), {s})", {"x": t, "i": index.float(), "s": s}, t.scatter_add(1, index, s), 1e-5)
        self.check_opencl()

    def test_bits(self):
        for a, b in ((torch.int8, torch.int8), (torch.int16, torch.int32), (torch.int32, torch.int8), (torch.int64, torch.int64)):
            self.bit_cases(a, b)
        p, q = self.tensor([4, 5], torch.bool), self.tensor([5], torch.bool)
        self.case("{p} & ~{q} | {p} ^ {q}", {"p": p, "q": q}, p & ~q | p ^ q)
        self.check_opencl()


if __name__ == "__main__":
    unittest.main()
