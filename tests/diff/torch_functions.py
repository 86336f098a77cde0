"""More of torch.* and torch.nn.functional.*, against PyTorch on random shapes, types and arguments: sorting, running totals, scattering, further
activations, distances, losses, windows."""
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
        for dtype in (torch.float32, torch.float64, torch.float16, torch.int8, torch.int32, torch.int64):
            for most in (5, 60):
                x = self.tensor(self.shape(1, 2, most), dtype)
                a, down = self.axis(x.dim()), self.pick(True, False)
                self.case(f"sort({{x}}, {a}, descending={yes(down)})", {"x": x}, tuple(torch.sort(x, dim=a, descending=down, stable=True)))
                self.case(f"argsort({{x}}, dim={a}, descending={yes(down)})", {"x": x}, torch.sort(x, dim=a, descending=down, stable=True)[1])
                y = self.distinct(self.shape(1, 3, 4), torch.int32 if dtype == torch.int8 else dtype)
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
        for dtype in (torch.float32, torch.float64, torch.int8, torch.int64, torch.bool):
            for _ in range(3):
                x = self.tensor(self.shape(), dtype)
                a = self.axis(x.dim())
                self.case(f"cumsum({{x}}, {a})", {"x": x}, x.cumsum(a), 1e-5)
                self.case(f"{{x}}.cumprod(dim={a})", {"x": x}, x.cumprod(a), 1e-4)
        long = self.tensor([2, 5000], scale=0.1)
        self.case("cumsum({x}, 1)", {"x": long}, long.cumsum(1), 1e-4)
        self.check()

    def test_scatter(self):
        for dtype in (torch.float32, torch.float64, torch.int8, torch.int64):
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
    """Lists that loops collect, whose length is a size of the run."""

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


class Devices(BatchTest):
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


if __name__ == "__main__":
    unittest.main()
