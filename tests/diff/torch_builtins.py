"""Every builtin but convolutions and pooling, against PyTorch on random shapes, types and arguments."""
import math
import unittest

import numpy as np

from torch_batch import BatchTest, attend, rotate, torch

F = torch.nn.functional

INTS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
FLOATS = (torch.float32, torch.float64)
D = {torch.uint8: "uint8", torch.int8: "int8", torch.int16: "int16", torch.int32: "int32", torch.int64: "int64", torch.float32: "float32", torch.float64: "float64"}


def yes(b):
    return "true" if b else "false"


class Create(BatchTest):
    def test_create(self):
        x = self.tensor([2, 3])
        for _ in range(4):
            s, n, m = self.shape(), self.integer(1, 6), self.integer(1, 6)
            dtype = self.pick(*INTS, *FLOATS)
            name = D[dtype]
            self.case(f"zeros({s})", {}, torch.zeros(s))
            self.case(f"ones({', '.join(map(str, s))}, dtype={name})", {}, torch.ones(s, dtype=dtype))
            self.case(f"full({s}, -2.5)", {}, torch.full(s, -2.5))
            self.case(f"full({s}, 3)", {}, torch.full(s, 3, dtype=torch.int32))
            self.case(f"eye({n}, {m}, dtype={name})", {}, torch.eye(n, m, dtype=dtype))
            self.case(f"eye({n})", {}, torch.eye(n))
            a, b, step = self.integer(-9, 9), self.integer(-9, 9), self.pick(-3, -2, -1, 1, 2, 5)
            a, b = (max(a, b), min(a, b)) if step < 0 else (min(a, b), max(a, b) + 1)
            self.case(f"arange({a}, {b}, {step})", {}, torch.arange(a, b, step))
            self.case(f"arange({n}, dtype={name})", {}, torch.arange(n, dtype=dtype))
            self.case(f"arange({a / 4}, {a / 4 + 3}, 0.3)", {}, torch.arange(a / 4, a / 4 + 3, 0.3), 1e-5)
            k = self.integer(1, 20)
            self.case(f"linspace({a / 2}, {b / 2}, {k})", {}, torch.linspace(a / 2, b / 2, k), 1e-5)
            self.case(f"linspace({a}, {b}, {k}, dtype=float64)", {}, torch.linspace(a, b, k, dtype=torch.float64))
        self.case("linspace(0, 1, 0)", {}, torch.linspace(0, 1, 0))
        self.case("linspace(3, 1, steps=1)", {}, torch.linspace(3, 1, 1))
        self.case("linspace(0, 12, 5, dtype=int32)", {}, torch.linspace(0, 12, 5, dtype=torch.int32))
        self.case("tensor([[1.5, 2], [-3, 4]])", {}, torch.tensor([[1.5, 2], [-3, 4]]))
        self.case("tensor([1, 2, 3], dtype=int64)", {}, torch.tensor([1, 2, 3]))
        self.case("ternary_tensor([1, 0, -1])", {}, torch.tensor([1, 0, -1], dtype=torch.int8))
        self.case("{x} + 0", {"x": x}, x)
        self.check()

    def test_sizes_at_run_time(self):
        x = self.tensor([3, 5])
        n, m = "{x}.shape[0]", "{x}.shape[1]"
        self.case(f"zeros({n}, {m}) + eye({n}, {m})", {"x": x}, torch.eye(3, 5))
        self.case(f"arange({n} * 2)", {"x": x}, torch.arange(6))
        self.case(f"arange({n}, {m} + {n}, 2)", {"x": x}, torch.arange(3, 8, 2))
        self.case(f"linspace(-1, 1, {m})", {"x": x}, torch.linspace(-1, 1, 5), 1e-6)
        self.case(f"full([{m}], 7)", {"x": x}, torch.full([5], 7, dtype=torch.int32))
        self.check(dynamic=True)

    def test_random(self):
        """Bounds, moments and seeds: the numbers are not PyTorch's."""
        one = torch.ones([], dtype=torch.bool)
        self.prelude = "fn mean_is(x, m, tolerance) { return abs(mean(x) - m) < tolerance }\n"
        self.case("all(rand([4000]) >= 0.0) && all(rand([4000], seed=3) < 1.0)", {}, one)
        self.case("mean_is(rand([4000]), 0.5, 0.03) && mean_is(randn([4000]), 0.0, 0.1) && mean_is(var(randn([4000])), 1.0, 0.15)", {}, one)
        self.case("all(rand([9], seed=3) == rand([9], seed=3)) && any(rand([9], seed=3) != rand([9], seed=4))", {}, one)
        self.case("mean_is(float32(random_ternary([6000]) == 0), 1.0 / 3.0, 0.04)", {}, one)
        self.case("mean_is(float32(ternary_weights([6000], sparsity=0.7) == 0), 0.7, 0.04)", {}, one)
        self.case("abs(sum(ternary_weights([6000], 0.5, \"balanced\"))) < 200", {}, one)
        self.case("zeros([1])", {}, torch.zeros(1))
        self.check()


class Shape(BatchTest):
    def any(self, low=1, high=4, most=5):
        return self.tensor(self.shape(low, high, most), self.pick(torch.float32, torch.int8, torch.int64, torch.float64, torch.bool))

    def test_moves(self):
        for _ in range(6):
            x = self.any(2)
            r = x.dim()
            a, b = self.axis(r), self.axis(r)
            order = [int(k) - self.pick(0, r) for k in self.rng.permutation(r)]
            self.case(f"transpose({{x}}, {a}, {b})", {"x": x}, x.transpose(a, b))
            self.case(f"{{x}}.permute({', '.join(map(str, order))})", {"x": x}, x.permute(order))
            self.case(f"moveaxis({{x}}, {a}, {b})", {"x": x}, torch.moveaxis(x, a, b))
            self.case("moveaxis({x}, [0, 1], [-1, 0])", {"x": x}, torch.moveaxis(x, (0, 1), (-1, 0)))
            start, end = sorted([self.integer(0, r - 1), self.integer(0, r - 1)])
            self.case(f"flatten({{x}}, {start}, {end - r})", {"x": x}, x.flatten(start, end))
            self.case(f"{{x}}.reshape([-1, {x.shape[-1]}])", {"x": x}, x.reshape(-1, x.shape[-1]))
            self.case(f"unsqueeze({{x}}, {a})", {"x": x}, x.unsqueeze(a))
            self.case("{x}.transpose()", {"x": x}, x.transpose(-2, -1))
            y = x.unsqueeze(a).unsqueeze(0)
            self.case("squeeze({x})", {"x": y}, y.squeeze())
            self.case(f"squeeze({{x}}, {self.pick(0, -y.dim())})", {"x": y}, y.squeeze(0))
            at = a % (r + 1) + 1 if a >= 0 else (a + r + 1) % (r + 1) + 1
            self.case(f"squeeze({{x}}, [0, {at}])", {"x": y}, y.squeeze(at).squeeze(0))
        self.check()

    def test_moves_at_run_time(self):
        for _ in range(4):
            x = self.tensor([self.integer(2, 5) for _ in range(3)])
            a, b = self.axis(3), self.axis(3)
            self.case(f"transpose({{x}}, {a}, {b})", {"x": x}, x.transpose(a, b))
            self.case("flatten({x}, 1)", {"x": x}, x.flatten(1))
            self.case("{x}.reshape([-1, {x}.shape[2]])", {"x": x}, x.reshape(-1, x.shape[2]))
            self.case("repeat({x}, 2, 1, 3)", {"x": x}, x.repeat(2, 1, 3))
            self.case(f"concat([{{x}}, {{x}}], {a})", {"x": x}, torch.cat([x, x], a))
            self.case(f"stack([{{x}}, {{x}}], dim={b})", {"x": x}, torch.stack([x, x], b))
            self.case("{x}[1:, -1]", {"x": x}, x[1:, -1])
        self.check(dynamic=True)

    def test_joins_and_copies(self):
        for _ in range(6):
            x = self.any()
            r, a = x.dim(), self.axis(x.dim())
            shape = list(x.shape)
            shape[a] = self.integer(1, 4)
            y = self.tensor(shape, x.dtype)
            self.case(f"concat([{{x}}, {{y}}, {{x}}], {self.pick('dim', 'axis')}={a})", {"x": x, "y": y}, torch.cat([x, y, x], a))
            at = self.integer(-r - 1, r)
            self.case(f"stack([{{x}}, {{x}}], dim={at})", {"x": x}, torch.stack([x, x], at))
            times = [self.integer(1, 3) for _ in range(r + self.integer(0, 1))]
            self.case(f"repeat({{x}}, {times})", {"x": x}, x.repeat(*times))
            z = x.select(a, 0).unsqueeze(a)
            wide = [self.integer(1, 3)] + [-1] * r
            wide[1 + a % r] = self.integer(1, 5)
            self.case(f"expand({{x}}, {wide})", {"x": z}, z.expand(wide))
        self.check()

    def test_parts(self):
        for _ in range(6):
            x = self.any(1, 3, 9)
            a = self.axis(x.dim())
            size = x.shape[a]
            n = self.integer(1, 4)
            self.case(f"split({{x}}, {n}, {a})", {"x": x}, x.split(n, a))
            k = self.integer(0, size)
            self.case(f"split({{x}}, [{k}, {size - k}], dim={a})", {"x": x}, x.split([k, size - k], a))
            self.case(f"chunk({{x}}, {n}, {a})", {"x": x}, x.chunk(n, a))
            start, end, step = self.integer(-size, size - 1), self.integer(-size, size + 2), self.integer(1, 3)
            where = [slice(None)] * x.dim()
            where[a] = slice(start, end, step)
            want = torch.from_numpy(x.numpy()[tuple(where)].copy())
            self.case(f"slice({{x}}, {a}, {start}, {end}, {step})", {"x": x}, want)
            i = self.integer(-size, size - 1)
            self.case(f"select({{x}}, {a}, {i})", {"x": x}, x.select(a, i))
            index = torch.from_numpy(self.rng.integers(0, size, self.integer(1, 7)))
            self.case(f"index_select({{x}}, {a}, {{i}})", {"x": x, "i": index}, x.index_select(a, index))
        self.check()

    def test_diagonals(self):
        for _ in range(6):
            x = self.any(2, 4)
            r = x.dim()
            a, b = self.integer(0, r - 2), -1
            k = self.integer(-4, 4)
            self.case(f"diagonal({{x}}, {k}, {a}, {b})", {"x": x}, x.diagonal(k, a, b))
            self.case(f"{{x}}.diagonal(dim1={b}, dim2={a})", {"x": x}, x.diagonal(dim1=b, dim2=a))
            if r > 2:
                self.case("{x}.diagonal()", {"x": x}, x.diagonal())
            y = self.tensor(list(x.shape[-2:]), self.pick(torch.float32, torch.int64, torch.float64))
            self.case("trace({y})", {"y": y}, y.trace())
            for name in ("tril", "triu"):
                self.case(f"{name}({{x}})", {"x": x}, getattr(torch, name)(x))
                self.case(f"{{x}}.{name}(diagonal={k})", {"x": x}, getattr(torch, name)(x, k))
        t = self.trits([3, 4])
        self.case("tril({t})", {"t": ("trit", t)}, t.tril())
        self.case("diagonal({t}, 1)", {"t": ("trit", t)}, t.diagonal(1))
        self.check()

    def test_diagonals_at_run_time(self):
        x = self.tensor([4, 4])
        self.prelude = "fn diagonal(x: Tensor<float32, [N, N]>) -> Tensor<float32, [N]> { return x.diagonal() }\n"
        self.case("diagonal({x})", {"x": x}, x.diagonal())
        self.case("trace({x}) + sum(triu({x}, 1))", {"x": x}, x.trace() + x.triu(1).sum())
        self.check(dynamic=True)

    def test_likes(self):
        for _ in range(3):
            x = self.any()
            self.case("zeros_like({x})", {"x": x}, torch.zeros_like(x))
            self.case("ones_like({x})", {"x": x}, torch.ones_like(x))
            self.case("ones_like({x}, dtype=int32, requires_grad=false)", {"x": x}, torch.ones_like(x, dtype=torch.int32))
            self.case("full_like({x}, 2.5, dtype=float32)", {"x": x}, torch.full_like(x, 2.5, dtype=torch.float32))
            self.case("all(rand_like({x}, dtype=float32) < 1.0) && all(isfinite(randn_like({x}, dtype=float32, seed=4)))", {"x": x}, torch.tensor(True))
        self.check()

    def test_gather(self):
        for dynamic in (False, True):
            for _ in range(8):
                x = self.tensor([self.integer(2, 5) for _ in range(self.integer(1, 4))], self.pick(torch.float32, torch.int8, torch.float64))
                a = self.axis(x.dim())
                shape = [n if dynamic else self.integer(1, n) for n in x.shape]
                shape[a] = self.integer(2, 7)
                index = torch.from_numpy(self.rng.integers(0, x.shape[a], shape)).to(self.pick(torch.int64, torch.int32))
                self.case(f"gather({{x}}, {a}, {{i}})", {"x": x, "i": index}, x.gather(a, index.long()))
            self.check(dynamic)

    def test_index_out_of_range(self):
        x, i = self.tensor([3, 4]), torch.tensor([[0, 1, 2, 3], [0, 0, 3, 0]])
        labels = torch.tensor([0, 3, 1])
        self.case("gather({x}, 1, {i})", {"x": x, "i": i}, x.gather(1, i))
        self.case("cross_entropy({x}, {t})", {"x": x, "t": labels}, F.cross_entropy(x, labels))
        self.case("embedding({t}, {x}[:, :2].transpose())", {"x": x, "t": labels % 2}, x[:, :2].T[labels % 2])
        arrays, count = self._write(False)
        self.trib("build")
        self._compare(self._run(arrays, count), "-O1")
        for name in ("i0", "t1", "t2"):
            for bad in (-1, 4):
                values = arrays[name].copy()
                values.flat[1] = bad
                for device in ("cpu", "reference"):
                    inputs = self.input_flags({**arrays, name: values})
                    with self.subTest(input=name, bad=bad, device=device):
                        self.assertIn("out of range", self.fails("run", "cases", "--no-build", "--device", device, *inputs))


class Math(BatchTest):
    def test_one_operand(self):
        for dtype in (torch.float32, torch.float64, torch.float16):
            x = self.tensor(self.shape(), dtype)
            up = x.float() if dtype == torch.float16 else x
            for name in "sin cos tan exp abs sign ceil floor round".split():
                self.case(f"{name}({{x}})", {"x": x}, getattr(torch, name)(up).to(dtype), 2e-2 if dtype == torch.float16 else 1e-4 if name == "tan" else None)
            p = x.abs() + 0.1
            for name in "log log2 log10 sqrt rsqrt".split():
                self.case(f"{name}({{x}})", {"x": p}, getattr(torch, name)(p.double()).to(dtype))
        for dtype in INTS:
            x = self.tensor(self.shape(), dtype)
            for name in "abs sign ceil floor round".split():
                self.case(f"{name}({{x}})", {"x": x}, x if name in "ceil floor round" else getattr(torch, name)(x))
            self.case("sqrt(abs({x}))", {"x": x}, torch.sqrt(x.abs().float()))
            self.case("-{x}", {"x": x}, -x)
        self.case("sign({x})", {"x": ("trit", t := self.trits([5]))}, t)
        self.check()

    def test_norm(self):
        for dtype in (torch.float32, torch.float64, torch.float16):
            x = self.tensor(self.shape(), dtype)
            d, close = self.axis(x.dim()), 2e-2 if dtype == torch.float16 else 1e-4
            up = x.float() if dtype == torch.float16 else x
            self.case("norm({x})", {"x": x}, torch.norm(up).to(dtype), close)
            self.case(f"{{x}}.norm(p=1, dim={d})", {"x": x}, torch.norm(up, 1, d).to(dtype), close)
            self.case(f"norm({{x}}, 3.0, {d}, keepdim=true)", {"x": x}, torch.norm(up, 3.0, d, keepdim=True).to(dtype), close)
        self.check()

    def test_special_values(self):
        y = torch.tensor([math.nan, math.inf, -math.inf, 0.0, 3e38])
        for name in "isnan isinf isfinite".split():
            self.case(f"{name}({{y}})", {"y": y}, getattr(torch, name)(y))
        x = torch.tensor([math.nan, math.inf, -math.inf, 0.0, -0.0, 1e-40, 3e38, -3e38, 0.5, 1.5, 2.5, -0.5, -1.5])
        for name in "sin cos exp log log2 log10 sqrt rsqrt abs ceil floor round tanh sigmoid relu".split():
            self.case(f"{name}({{x}})", {"x": x}, getattr(torch, name)(x))
        y = x.flip(0)
        for name in "minimum maximum pow".split():
            self.case(f"{name}({{x}}, {{y}})", {"x": x, "y": y}, getattr(torch, name)(x, y))
        self.case("clip({x}, -1, 2)", {"x": x}, x.clip(-1, 2))
        for dtype in (torch.float32, torch.float64):
            numbers = torch.tensor([math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 7.25, -7.25, 3e4, 3e38], dtype=dtype)
            a, b = (t.flatten() for t in torch.meshgrid(numbers, numbers, indexing="ij"))
            with np.errstate(all="ignore"):  # NumPy's, which PyTorch follows since 2.0
                quotients, remainders = (torch.from_numpy(f(a.numpy(), b.numpy())) for f in (np.floor_divide, np.remainder))
            self.case("{a} // {b}", {"a": a, "b": b}, quotients)
            self.case("1.0 / ({a} // {b})", {"a": a, "b": b}, 1 / quotients)  # the sign of a zero
            self.case("{a} % {b}", {"a": a, "b": b}, remainders)
            twos, tens = (torch.tensor([float(base)**k for k in range(-37, 39)], dtype=dtype) for base in (2, 10))
            self.case("floor(log2({x}))", {"x": twos}, torch.arange(-37, 39, dtype=dtype))
            self.case("floor(log10({x}))", {"x": tens}, tens.log10().floor())
        self.check()

    def broadcast_pair(self, dtype, other=None):
        shape = self.shape(0, 4)
        cut = self.integer(0, len(shape))
        a = [1 if self.rng.random() < 0.3 else n for n in shape]
        b = [1 if self.rng.random() < 0.3 else n for n in shape[cut:]]
        x, y = self.tensor(a, dtype), self.tensor(b, other or dtype)
        return (x, y) if self.rng.random() < 0.5 else (y, x) if other is None else (x, y)

    def test_two_operands(self):
        for dtype in (torch.float32, torch.float64, torch.uint8, torch.int8, torch.int32, torch.int64):
            for _ in range(2):
                x, y = self.broadcast_pair(dtype)
                for op in "+ - *".split():
                    self.case(f"{{x}} {op} {{y}}", {"x": x, "y": y}, eval(f"x {op} y"))
                for op in "== != < <= > >=".split():
                    self.case(f"{{x}} {op} {{y}}", {"x": x, "y": y}, eval(f"x {op} y"))
                self.case("minimum({x}, {y})", {"x": x, "y": y}, torch.minimum(x, y))
                self.case("max({x}, {y})", {"x": x, "y": y}, torch.maximum(x, y))
                z = torch.where(y == 0, torch.ones_like(y), y)
                self.case("{x} / {y}", {"x": x, "y": z}, x / z)
                self.case("{x} // {y}", {"x": x, "y": z}, torch.div(x, z, rounding_mode="floor"))
                self.case("{x} % {y}", {"x": x, "y": z}, torch.remainder(x, z), 1e-4)
        self.check()

    def test_trits_and_bools_beside_numbers(self):
        t = self.trits([3, 4])
        for dtype in (torch.float32, torch.float64, torch.float16, *INTS):
            x = self.tensor([2, 3, 4], dtype)
            for op in "+ - *".split():
                self.case(f"{{t}} {op} {{x}}", {"t": ("trit", t), "x": x}, eval(f"t {op} x"))
                self.case(f"{{x}} {op} {{t}}", {"t": ("trit", t), "x": x}, eval(f"x {op} t"))
            for op in "== != < <= > >=".split():
                self.case(f"{{t}} {op} {{x}}", {"t": ("trit", t), "x": x}, eval(f"t {op} x"))
            self.case("{m} * {x}", {"m": (m := self.tensor([3, 1]) > 0), "x": x}, m * x)
            self.case("{x} * {m}", {"m": m, "x": x}, x * m)
        self.case("{t} * {u} + {u}", {"t": ("trit", t), "u": ("trit", u := self.trits([4]))}, t * u + u)
        self.case("{t} / {z}", {"t": ("trit", t), "z": (z := self.tensor([4]).abs() + 0.1)}, t / z)
        self.case("{m} * 2.5", {"m": m}, m * 2.5)
        self.case("{x} @ {w} + {t}", {"x": x.float()[0], "w": ("trit", w := self.trits([4, 4])), "t": ("trit", t)}, x.float()[0] @ w.float() + t)
        self.case("conv1d({x}, {w}, {b})", {"x": (c := self.tensor([1, 3, 5])), "w": ("trit", k := self.trits([2, 3, 2])), "b": ("trit", b := self.trits([2]))},
                  F.conv1d(c, k.float(), b.float()))
        self.check()

    def test_pow_clip_where(self):
        for _ in range(4):
            x, y = self.broadcast_pair(torch.float32)
            self.case("pow({x}, {y})", {"x": x.abs() + 0.1, "y": y}, (x.abs() + 0.1) ** y, 1e-4)
            self.case("{x} ** 3", {"x": x}, x ** 3, 1e-4)
            self.case("pow(2.0, {x}) + 3 ** {x}", {"x": x}, 2.0 ** x + 3 ** x, 1e-4)
            self.case("{x} ** 0.5", {"x": x.abs()}, x.abs() ** 0.5)
            self.case("clip({x}, -0.5, 1)", {"x": x}, x.clip(-0.5, 1))
            self.case("clip({x}, max=0.25)", {"x": x}, x.clip(max=0.25))
            self.case("clip({x}, {y})", {"x": x, "y": y}, torch.maximum(x, y))
            c = self.tensor(list(x.shape), torch.bool)
            self.case("where({c}, {x}, {y})", {"c": c, "x": x, "y": y}, torch.where(c, x, y))
            self.case("where({x} > 0, {x}, 0.0)", {"x": x}, torch.where(x > 0, x, torch.zeros([])))
        for dtype in INTS:
            x = self.tensor(self.shape(), dtype)
            self.case("{x} ** 2", {"x": x}, x ** 2)
            low = -2 if dtype.is_signed else 2
            self.case(f"clip({{x}}, {low}, 3)", {"x": x}, x.clip(low, 3))
            self.case("where({x} > 1, {x}, 1)", {"x": x}, torch.where(x > 1, x, torch.ones_like(x)))
        self.check()

    def test_mixed_types_and_casts(self):
        order = [torch.int8, torch.int16, torch.int32, torch.int64, torch.float32, torch.float64]
        for i, low in enumerate(order):
            high = self.pick(*order[i:])
            x, y = self.broadcast_pair(low, high)
            self.case("{x} + {y}", {"x": x, "y": y}, (x.to(high) + y))
            self.case(f"{D[low]}({{x}})", {"x": y}, y.to(low))
        for other in order:
            x, y = self.broadcast_pair(torch.uint8, other)
            wide = torch.promote_types(torch.uint8, other)  # PyTorch itself does not widen beside a tensor without dimensions
            u, v = x.to(wide), y.to(wide)
            for op in "+ * <".split():
                self.case(f"{{x}} {op} {{y}}", {"x": x, "y": y}, eval(f"u {op} v"))
            self.case("where({x} > 9, {x}, {y})", {"x": x, "y": y}, torch.where(x > 9, u, v))
            self.case(f"{D[other]}({{x}})", {"x": x}, x.to(other))
            self.case("uint8({y})", {"y": y.abs()}, y.abs().to(torch.uint8))
        outside = torch.tensor([-math.inf, -300.5, -1.0, -0.5, 254.9, 255.0, 256.0, 1e9, math.inf, math.nan])
        for dtype in (torch.float32, torch.float64, torch.float16):
            self.case("uint8({x})", {"x": outside.to(dtype)}, torch.tensor([0, 0, 0, 0, 254, 255, 255, 255, 255, 0], dtype=torch.uint8))
        t = self.trits([2, 5])
        self.case("uint8({t})", {"t": ("trit", t)}, t.to(torch.uint8))
        self.case("float32({t}) * 2.0", {"t": ("trit", t)}, t.float() * 2)
        self.case("{t} * {t}", {"t": ("trit", t)}, t * t)
        m = self.tensor([6], torch.bool)
        self.case("int32({m}) + 1", {"m": m}, m.int() + 1)
        self.case("!{m} || ({m} && true)", {"m": m}, torch.ones(6, dtype=torch.bool))
        self.check()


class Reduce(BatchTest):
    def dims(self, rank):
        """A dim, or several, some counted from the end."""
        n = self.integer(1, rank)
        some = [int(k) - self.pick(0, rank) for k in self.rng.permutation(rank)[:n]]
        return some if len(some) > 1 else some[0]

    def test_sums(self):
        for dtype in (torch.float32, torch.float64, torch.uint8, torch.int8, torch.int32, torch.int64, torch.bool):
            for _ in range(2):
                x = self.tensor(self.shape(), dtype)
                d, keep = self.dims(x.dim()), self.pick(True, False)
                self.case(f"sum({{x}}, {d}, keepdim={yes(keep)})", {"x": x}, x.sum(d, keepdim=keep))
                self.case("sum({x})", {"x": x}, x.sum())
                a = self.axis(x.dim())
                self.case(f"any({{x}}, {a}, {yes(keep)})", {"x": x}, x.bool().any(a, keepdim=keep))
                self.case(f"all({{x}}, axis={a}, keepdims={yes(keep)})", {"x": x}, x.bool().all(a, keepdim=keep))
                self.case("any({x}) || all({x})", {"x": x}, x.bool().any() | x.bool().all())
                self.case(f"prod({{x}}, {a}, keepdim={yes(keep)})", {"x": x}, x.prod(a, keepdim=keep), 1e-4)
                self.case("prod({x})", {"x": x}, x.prod(), 1e-3)
        self.check()

    def test_moments(self):
        for dtype in FLOATS:
            for _ in range(4):
                x = self.tensor([n + 1 for n in self.shape()], dtype)
                d, keep = self.dims(x.dim()), self.pick(True, False)
                k = yes(keep)
                self.case(f"mean({{x}}, {d}, keepdim={k})", {"x": x}, x.mean(d, keepdim=keep))
                self.case("mean({x})", {"x": x}, x.mean())
                self.case(f"var({{x}}, {d}, keepdim={k})", {"x": x}, x.var(d, keepdim=keep), 1e-4)
                self.case(f"std({{x}}, {d}, unbiased=false, keepdim={k})", {"x": x}, x.std(d, unbiased=False, keepdim=keep), 1e-4)
                self.case(f"var({{x}}, {d}, correction=0)", {"x": x}, x.var(d, correction=0), 1e-4)
                self.case("std({x})", {"x": x}, x.std(), 1e-4)
        x = self.tensor([2, 3])
        self.case("var({x}, 0, correction=3)", {"x": x}, x.var(0, correction=3))
        self.check()

    def test_extremes(self):
        for dtype in (torch.float32, torch.float64, torch.uint8, torch.int8, torch.int32, torch.int64):
            for _ in range(2):
                x = self.tensor(self.shape(), dtype)
                a, keep = self.axis(x.dim()), self.pick(True, False)
                for name in ("max", "min"):
                    numpy = getattr(x.numpy(), "arg" + name)  # the first of equals, which PyTorch does not promise
                    where = torch.from_numpy(numpy(a, keepdims=True)) if keep else torch.tensor(numpy(a))
                    values = getattr(torch, "a" + name)(x, a, keepdim=keep)
                    self.case(f"{name}({{x}}, {a}, keepdim={yes(keep)})", {"x": x}, (values, where))
                    self.case(f"{name}({{x}})", {"x": x}, getattr(x, name)())
                    self.case(f"arg{name}({{x}}, {a}, {yes(keep)})", {"x": x}, where)
                    self.case(f"arg{name}({{x}})", {"x": x}, torch.tensor(numpy()))
        self.check()

    def test_sizes_at_run_time(self):
        x = self.tensor([4, 3, 5])
        a = self.axis(3)
        self.case(f"sum({{x}}, {a})", {"x": x}, x.sum(a))
        self.case("mean({x}, [0, 2])", {"x": x}, x.mean([0, 2]))
        self.case(f"std({{x}}, {a}, keepdim=true)", {"x": x}, x.std(a, keepdim=True), 1e-4)
        self.case(f"max({{x}}, {a})", {"x": x}, tuple(x.max(a)))
        self.case("argmin({x})", {"x": x}, x.argmin())
        self.check(dynamic=True)


class Linear(BatchTest):
    def test_matmul(self):
        for dtype in (torch.float32, torch.float64, torch.int64, torch.int32):
            for a, b in (([3], [3]), ([3], [3, 4]), ([2, 3], [3]), ([2, 3], [3, 4]), ([5, 2, 3], [3]), ([3], [5, 3, 2]), ([5, 1, 2, 3], [4, 3, 6]),
                         ([4, 2, 3], [1, 3, 2])):
                x, y = self.tensor(a, dtype), self.tensor(b, dtype)
                self.case("{x} @ {y}", {"x": x, "y": y}, x @ y)
        x, y = self.tensor([3, 7], torch.int8), self.tensor([7, 4], torch.int8)
        t, u, f = self.trits([7, 4]), self.trits([2, 3, 7]), self.tensor([3, 7])
        b, i = self.tensor([3, 7], torch.uint8), self.tensor([2, 3, 7, 5], torch.uint8)
        k = self.tensor([4, 3, 2, 2], torch.int8)
        for other, elem in ((y, "int8"), (y.to(torch.uint8), "uint8"), (t, "trit"), (y.int(), "int32"), (f.T.contiguous(), "float32")):
            wide = torch.float32 if elem == "float32" else torch.int32
            self.case("{b} @ {o}", {"b": b, "o": (elem, other)}, b.to(wide) @ other.to(wide))
        self.case("conv2d({i}, {k})", {"i": i, "k": k}, F.conv2d(i.double(), k.double()).int())
        self.case("conv2d({i}, {k})", {"i": i, "k": ("trit", k.sign())}, F.conv2d(i.double(), k.sign().double()).int())
        self.case("{x} @ {y}", {"x": x, "y": y}, x.int() @ y.int())
        self.case("ternary_matmul({x}, {t})", {"x": x, "t": ("trit", t)}, x.int() @ t.int())
        self.case("{u} @ {t}", {"u": ("trit", u), "t": ("trit", t)}, u.int() @ t.int())
        self.case("ternary_matmul({f}, {t})", {"f": f, "t": ("trit", t)}, f @ t.float())
        self.case("matmul({f}, {y})", {"f": f, "y": y}, f @ y.float())
        self.check()

    def test_dot_and_outer(self):
        for dtype in (torch.float32, torch.float64, torch.int32):
            x, y, z = self.tensor([5], dtype), self.tensor([5], dtype), self.tensor([3], dtype)
            self.case("dot({x}, {y})", {"x": x, "y": y}, x.dot(y))
            self.case("outer({x}, {z})", {"x": x, "z": z}, torch.outer(x, z))
        self.check()
        x, z = self.tensor([5]), self.tensor([3])
        self.case("outer({x}, {z}) + dot({x}, {x})", {"x": x, "z": z}, torch.outer(x, z) + x.dot(x))
        self.check(dynamic=True)

    EQUATIONS = ("ij,jk->ik", "bij,bjk->bik", "bij,bjk", "ij->ji", "ij->", "ij->j", "ji", "ii->i", "ii", "bii->b", "iji->j", "i,j->ij", "i,i->", "ij,ij->ij",
                 "ij,kj,k->i", "bhld,bhsd->bhls", "bhls,bhsd->bhld", "blhd,bshd->bhls", "...ij,...jk->...ik", "...ij->...ji", "...i,...i->...", "b...,b...->b",
                 "i...,i->...", "abc,cd,de->abe", "a,b,c->cba", "ij,ik,il->jkl", "bn,anm,bm->ba", " i j , j -> i ", "Ab,bA->A", "ab,ab->b", "ijk,il->jl", "ij,jk,kl,lm->im")

    def operands(self, equation):
        sizes, shapes = {}, []
        dots = [self.integer(1, 3) for _ in range(2)]
        for term in equation.replace(" ", "").split("->")[0].split(","):
            head, _, tail = term.partition("...")
            shapes.append([sizes.setdefault(c, self.integer(2, 5)) for c in head] + (dots if "..." in term else []) +
                          [sizes.setdefault(c, self.integer(2, 5)) for c in tail])
        return [self.tensor(s) for s in shapes]

    def test_einsum(self):
        for dynamic in (False, True):
            for eq in self.EQUATIONS:
                letters = eq.replace(" ", "").split("->")[0].split(",")
                if dynamic and any(len(set(t.replace(".", ""))) < len(t.replace(".", "")) for t in letters):
                    continue  # a diagonal needs constant sizes
                x = self.operands(eq)
                names = [f"x{i}" for i in range(len(x))]
                args = ", ".join(f"{{{n}}}" for n in names)
                self.case(f'einsum("{eq}", {self.pick(args, "[" + args + "]")})', dict(zip(names, x)), torch.einsum(eq, *x), 1e-4)
            self.check(dynamic)

    def test_einsum_broadcasts_ones_and_keeps_trits(self):
        x, y = self.tensor([1, 4]), self.tensor([3, 4])
        self.case('einsum("ij,ij->i", {x}, {y})', {"x": x, "y": y}, torch.einsum("ij,ij->i", x, y))
        self.case('einsum("ij,ij->ij", {y}, {x})', {"x": x, "y": y}, y * x)
        t, u = self.trits([4]), self.trits([3])
        self.case('einsum("i,j->ji", {t}, {u})', {"t": ("trit", t), "u": ("trit", u)}, torch.outer(u, t))
        q, w = self.tensor([2, 4], torch.int8), self.trits([3, 4])
        self.case('einsum("bk,nk->bn", {q}, {w})', {"q": q, "w": ("trit", w)}, q.int() @ w.int().T)
        self.check()


class Network(BatchTest):
    def test_attention(self):
        for dynamic in (False, True):
            for _ in range(4):
                b, h, l, s, e, v = (self.integer(2, 6) for _ in range(6))
                dtype = self.pick(*FLOATS)
                q, k, w = self.tensor([b, h, l, e], dtype), self.tensor([b, h, s, e], dtype), self.tensor([b, h, s, v], dtype)
                base = {"q": q, "k": k, "v": w}
                self.case("attention({q}, {k}, {v})", base, attend(q, k, w))
                self.case("attention({q}, {k}, {v}, scale=0.5)", base, attend(q, k, w, scale=0.5))
                self.case("attention({q}, {k}, {v}, causal=true)", base, attend(q, k, w, causal=True))
                m = self.tensor([l, s], torch.bool)
                m[self.integer(0, l - 1)] = False
                self.case("attention({q}, {k}, {v}, {m})", {**base, "m": m}, attend(q, k, w, m))
                m = self.tensor([b, 1, 1, s], dtype)
                self.case("attention({q}, {k}, {v}, mask={m}, causal=true)", {**base, "m": m}, attend(q, k, w, m, True))
                q, k = q[:, 0], k[0, 0]
                w = self.tensor([s, v], dtype)
                self.case("attention({q}, {k}, {v})", {"q": q, "k": k, "v": w}, attend(q, k, w))
                self.case("attention({q}, {k}, {v})", {"q": q[0], "k": k, "v": w}, attend(q[0], k, w))
            self.check(dynamic)

    def test_grouped_heads(self):
        for _ in range(4):
            b, h, g, l, s, e = (self.integer(1, 4) for _ in range(6))
            q, k, v = self.tensor([b, h * g, l, e]), self.tensor([b, h, s, e]), self.tensor([b, h, s, 3])
            m = self.tensor([b, h * g, l, s], torch.bool)
            self.case("attention({q}, {k}, {v})", {"q": q, "k": k, "v": v}, attend(q, k, v))
            self.case("attention({q}, {k}, {v}, {m})", {"q": q, "k": k, "v": v, "m": m}, attend(q, k, v, m))
            self.case("attention({q}, {k}, {v}, causal=true)", {"q": q[0], "k": k[0], "v": v[0]}, attend(q[0], k[0], v[0], causal=True))
        self.check()

    def test_rope(self):
        for dynamic in (False, True):
            for _ in range(4):
                b, h, l, d = self.integer(1, 3), self.integer(1, 3), self.integer(2, 6), 2 * self.integer(1, 4)
                x, i = self.tensor([b, h, l, d]), self.pick(True, False)
                at = self.integer(0, 900)
                self.case(f"rope({{x}}, interleaved={yes(i)})", {"x": x}, rotate(x, torch.arange(l), interleaved=i), 1e-4)
                self.case(f"rope({{x}}, {at}, 500000.0, {yes(i)})", {"x": x}, rotate(x, torch.arange(l) + at, 500000.0, i), 2e-4)
                p = torch.tensor(at)
                self.case("rope({x}, {p})", {"x": x, "p": p}, rotate(x, torch.arange(l) + at), 2e-4)
                p = torch.from_numpy(self.rng.integers(0, 99, [l]))
                self.case("rope({x}, positions={p})", {"x": x, "p": p}, rotate(x, p), 1e-4)
                p = torch.from_numpy(self.rng.integers(0, 99, [b, 1, l]))
                self.case("rope({x}, {p}, base=100)", {"x": x, "p": p}, rotate(x, p, 100.0), 1e-4)
                y = x.transpose(1, 2).contiguous()
                self.case("rope({x}, dim=1)", {"x": y}, rotate(x, torch.arange(l)).transpose(1, 2), 1e-4)
            self.check(dynamic, constant_last=True)

    def test_half_precision(self):
        """Computed in float32 and rounded once."""
        h = torch.float16
        q, k, v = self.tensor([2, 3, 8], h, 1), self.tensor([2, 5, 8], h, 1), self.tensor([2, 5, 4], h, 1)
        m = self.tensor([3, 5], h)
        self.case("attention({q}, {k}, {v})", {"q": q, "k": k, "v": v}, attend(q.float(), k.float(), v.float()).half())
        self.case("attention({q}, {k}, {v}, {m})", {"q": q, "k": k, "v": v, "m": m}, attend(q.float(), k.float(), v.float(), m.float()).half())
        self.case("rope({x}, 3)", {"x": q}, rotate(q.float(), torch.arange(3) + 3).half())
        self.case("layer_norm({x})", {"x": q}, F.layer_norm(q.float(), [8]).half())
        self.case("softmax({x})", {"x": q}, q.float().softmax(-1).half())
        self.case("mse_loss({x}, {y})", {"x": q, "y": q * 2}, F.mse_loss(q.float(), (q * 2).float()).half())
        y = torch.from_numpy(self.rng.integers(0, 8, [3]))
        self.case("cross_entropy({x}, {y})", {"x": q[0], "y": y}, F.cross_entropy(q[0].float(), y).half())
        self.check()

    def test_names_of_pytorch(self):
        q, x = self.tensor([2, 3, 8]), self.tensor([4])
        self.case("attention(query={q}, key={q}, value={q}, attn_mask=none, is_causal=true)", {"q": q}, attend(q, q, q, causal=True))
        self.case("full(size=[2, 3], fill_value=1.5)", {}, torch.full([2, 3], 1.5))
        self.case("softmax(input={x}, axis=0)", {"x": x}, x.softmax(0))
        self.case("outer(input={x}, vec2={x})", {"x": x}, torch.outer(x, x))
        self.check(levels=("-O1",))

    def test_norms_and_embedding(self):
        for _ in range(4):
            x = self.tensor([n + 1 for n in self.shape(2, 4)])
            n = self.integer(1, x.dim() - 1)
            tail = list(x.shape[-n:])
            w, b = self.tensor(tail), self.tensor(tail)
            self.case(f"layer_norm({{x}}, {tail}, {{w}}, {{b}})", {"x": x, "w": w, "b": b}, F.layer_norm(x, tail, w, b), 1e-4)
            self.case(f"layer_norm({{x}}, {tail}, eps=0.1)", {"x": x}, F.layer_norm(x, tail, eps=0.1), 1e-4)
            w1, b1 = self.tensor([x.shape[-1]]), self.tensor([x.shape[-1]])
            self.case("layer_norm({x}, {w}, {b})", {"x": x, "w": w1, "b": b1}, F.layer_norm(x, [x.shape[-1]], w1, b1), 1e-4)
            rms = x * torch.rsqrt((x * x).mean(tuple(range(-n, 0)), keepdim=True) + 2.0**-23)
            self.case(f"rms_norm({{x}}, {tail}, {{w}})", {"x": x, "w": w}, rms * w, 1e-4)
            self.case("rms_norm({x}, eps=1e-3)", {"x": x}, x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-3), 1e-4)
            table = self.tensor([9, 4])
            i = torch.from_numpy(self.rng.integers(0, 9, self.shape(1, 3)))
            self.case("embedding({i}, {t})", {"i": i, "t": table}, F.embedding(i, table))
            self.case("dropout({x}, 0.3)", {"x": x}, x)
        self.check()


class Activations(BatchTest):
    def test_activations(self):
        for dtype in (torch.float32, torch.float64, torch.float16):
            x = torch.cat([self.tensor([40], dtype), torch.tensor([-20.0, 20.0, 0.0, -3.0, 3.0, 30.0], dtype=dtype)])
            up = x.float() if dtype == torch.float16 else x
            for expr, want in (("relu({x})", F.relu(up)), ("relu6({x})", F.relu6(up)), ("relu2({x})", F.relu(up) ** 2), ("leaky_relu({x})", F.leaky_relu(up)),
                               ("leaky_relu({x}, 0.2)", F.leaky_relu(up, 0.2)), ("sigmoid({x})", torch.sigmoid(up)), ("tanh({x})", torch.tanh(up)),
                               ("gelu({x})", F.gelu(up)), ('gelu({x}, approximate="tanh")', F.gelu(up, approximate="tanh")), ("silu({x})", F.silu(up)),
                               ("hardswish({x})", F.hardswish(up)), ("hardsigmoid({x})", F.hardsigmoid(up)), ("softplus({x})", F.softplus(up)),
                               ("softplus({x}, beta=2, threshold=5)", F.softplus(up, 2, 5))):
                self.case(expr, {"x": x}, want.to(dtype))
        for dtype in INTS:
            x = self.tensor([9], dtype)
            self.case("relu({x})", {"x": x}, F.relu(x))
            self.case("relu6({x})", {"x": x}, F.relu6(x))
        self.check()

    def test_softmax(self):
        for dtype in FLOATS:
            for _ in range(3):
                x = self.tensor(self.shape(), dtype, 10)
                a = self.axis(x.dim())
                self.case(f"softmax({{x}}, dim={a})", {"x": x}, x.softmax(a))
                self.case(f"log_softmax({{x}}, {a})", {"x": x}, x.log_softmax(a))
                self.case("softmax({x})", {"x": x}, x.softmax(-1))
        self.check()
        x = self.tensor([3, 4, 5])
        self.case("softmax({x}, dim=1) + log_softmax({x}, 0)", {"x": x}, x.softmax(1) + x.log_softmax(0))
        self.check(dynamic=True)


class Quantize(BatchTest):
    def test_thresholds(self):
        for dtype in FLOATS:
            x = self.tensor(self.shape(2, 3, 7), dtype, 1)
            x.view(-1)[:2] = torch.tensor([0.5, -0.5])[: x.numel()]
            t = self.tensor([x.shape[-1]], dtype).abs()
            half = (x > 0.5).to(torch.int8) - (x < -0.5).to(torch.int8)
            learned = (x > t).to(torch.int8) - (x < -t).to(torch.int8)
            for name in "ternary_activation ternary_quantize threshold_quantize learned_quantize stochastic_quantize ste_quantize".split():
                self.case(f"{name}({{x}})", {"x": x}, half)
                if name != "ternary_activation":
                    self.case(f"{name}({{x}}, {{t}})", {"x": x, "t": t}, learned)
            for method in "threshold stochastic learned".split():
                self.case(f'ternary_quantize({{x}}, 0.5, method="{method}")', {"x": x}, half)
        self.check()

    def test_training_arguments(self):
        """What means something in training only changes no number."""
        x, t = self.tensor([3, 4], scale=1), self.trits([3, 4])
        half = (x > 0.5).to(torch.int8) - (x < -0.5).to(torch.int8)
        wide = (x > 0.2).to(torch.int8) - (x < -0.2).to(torch.int8)
        self.case("stochastic_quantize({x}, temperature=0.1, training=true, seed=3)", {"x": x}, half)
        self.case("ternary_quantize({x}, training=mean({x}) > 0, temperature=mean({x}))", {"x": x}, half)
        self.case("clipped_ste_quantize({x}, threshold=1.0)", {"x": x}, half)
        self.case("ste_quantize({x}, ternary_quantize)", {"x": x}, half)
        self.case("ste_quantize({x}, quantize_fn=threshold_quantize)", {"x": x}, half)
        self.case("threshold_quantize({x}, 0.5, scale=0.4)", {"x": x}, wide)
        self.case("ste_quantize({x}, scale=mean({x}) * 0 + 0.4)", {"x": x}, wide)
        self.case("stop_gradient({t}) + ({x} - {x}.detach())", {"x": x, "t": ("trit", t)}, t.float())
        self.case("zeros([2], requires_grad=true)", {}, torch.zeros(2))
        self.case("random_ternary([4], seed=1, dtype=int8) - int8(random_ternary([4], seed=1))", {}, torch.zeros(4, dtype=torch.int8))
        self.check()

    def test_trits_stay(self):
        t = self.trits([3, 4])
        x = {"t": ("trit", t)}
        one = torch.tensor(1.0)
        for name in "ternary_quantize threshold_quantize learned_quantize stochastic_quantize ste_quantize clipped_ste_quantize".split():
            self.case(f"{name}({{t}})", x, t)
        self.case("ternary_quantize({t}, 1.5)", x, t)
        self.case("soft_quantize({t}, hard=true)", x, t.float())
        self.case("gumbel_softmax_quantize({t})", x, t.float())
        for name in "absmean_quantize xnor_quantize adaptive_threshold_quantize".split():
            self.case(f"{name}({{t}})", x, (t, one))
        self.case("absmax_quantize({t})", x, (t, torch.ones(3, 1)))
        self.case("adaptive_threshold_quantize({t}, dim=0)", x, (t, torch.ones(1, 4)))
        self.check()

    def test_learned_thresholds(self):
        for dtype in FLOATS:
            x = self.tensor(self.shape(2, 3, 7), dtype, 1)
            high, low, up, down = (self.tensor([x.shape[-1]], dtype).abs() + 0.1 for _ in range(4))
            trits = (x > high).to(torch.int8) - (x < -low).to(torch.int8)
            args = {"x": x, "h": high, "l": -low, "u": up, "d": down}
            self.case("learned_quantize({x}, pos_threshold={h}, neg_threshold={l})", args, trits)
            self.case("learned_quantize({x}, {h}, {l}, 1.0, neg_scale=1)", args, trits)
            self.case("learned_quantize({x}, {h}, {l}, {u}, {d})", args, torch.where(x > high, up, torch.where(x < -low, -down, torch.zeros_like(x))))
            self.case("learned_quantize({x}, 0.3, neg_scale=2.5)", args, ((x > 0.3).to(dtype) - 2.5 * (x < -0.3).to(dtype)))
        self.check()

    def test_soft(self):
        for dtype in (*FLOATS, torch.float16):
            x = self.tensor(self.shape(), dtype, 1)
            up = x.float() if dtype == torch.float16 else x
            heat = self.pick(0.1, 0.5, 2.0)
            close = 2e-3 if dtype == torch.float16 else 1e-4
            logits = torch.stack([-up - 0.5, torch.zeros_like(up), up - 0.5], -1) / heat
            p = logits.softmax(-1)
            self.case(f"soft_quantize({{x}}, {heat})", {"x": x}, (up / heat).tanh().to(dtype), close)
            self.case("soft_quantize({x}, hard=true)", {"x": x}, ((up.tanh() > 0.5).to(dtype) - (up.tanh() < -0.5).to(dtype)))
            self.case(f"gumbel_softmax_quantize({{x}}, temperature={heat}, training=true)", {"x": x}, (p[..., 2] - p[..., 0]).to(dtype), close)
            self.case(f"gumbel_softmax_quantize({{x}}, {heat}, true)", {"x": x}, (logits.argmax(-1) - 1).to(dtype))
            self.case(f"gumbel_softmax_quantize({{x}}, {heat}, mean({{x}}) == mean({{x}}))", {"x": x}, (logits.argmax(-1) - 1).to(dtype))
        self.check()

    def test_percentile(self):
        for dynamic in (False, True):
            for _ in range(3):
                x = self.tensor([self.integer(2, 5), self.integer(2, 6)])
                q, d = self.integer(0, 100), self.axis(2)
                size = x.abs()
                self.case(f"percentile({{x}}, {q})", {"x": x}, x.quantile(q / 100), 1e-4)
                self.case(f"percentile({{x}}, {q / 2 + 0.25}, dim={d}, keepdim=true)", {"x": x}, x.quantile((q / 2 + 0.25) / 100, d, keepdim=True), 1e-4)
                self.case("percentile({x}, [5, 50])", {"x": x}, x.quantile(torch.tensor([0.05, 0.5])), 1e-4)
                s = torch.tensor(0.375)
                self.case("percentile(abs({x}), {s} * 100)", {"x": x, "s": s}, size.quantile(0.375), 1e-4)
                cut = lambda t: (x > t).to(torch.int8) - (x < -t).to(torch.int8)
                self.case("adaptive_threshold_quantize({x}, percentile=0.7)", {"x": x}, cut(size.quantile(0.7)))
                self.case("adaptive_threshold_quantize({x}, target_sparsity={s})", {"x": x, "s": s}, cut(size.quantile(0.375)))
                self.case(f"adaptive_threshold_quantize({{x}}, dim={d}, target_sparsity=0.33)", {"x": x}, cut(size.quantile(0.33, d, keepdim=True)))
            self.check(dynamic)

    def test_affine(self):
        for _ in range(4):
            x = self.tensor([3, 4], torch.float32, 3)
            s, z = self.tensor([4]).abs() * 0.1 + 0.01, torch.from_numpy(self.rng.integers(-9, 10, 4))
            per_channel = torch.quantize_per_channel(x, s, z, 1, torch.qint8)
            self.case("affine_quantize({x}, {s}, {z}, dim=1)", {"x": x, "s": s, "z": z}, per_channel.int_repr())
            self.case("affine_dequantize(affine_quantize({x}, {s}, {z}, dim=-1), {s}, {z}, dim=1)", {"x": x, "s": s, "z": z}, per_channel.dequantize(), 1e-4)
            whole = torch.quantize_per_tensor(x, 0.05, 3, torch.qint8)
            self.case("affine_quantize({x}, 0.05, 3)", {"x": x}, whole.int_repr())
            self.case("affine_dequantize({q}, 0.05, 3)", {"q": whole.int_repr()}, whole.dequantize(), 1e-4)
            byte = torch.quantize_per_tensor(x, 0.05, 128, torch.quint8)
            self.case("affine_quantize({x}, 0.05, 128, dtype=uint8)", {"x": x}, byte.int_repr())
            self.case("affine_dequantize({q}, 0.05, 128)", {"q": byte.int_repr()}, byte.dequantize(), 1e-4)
            self.case("affine_quantize({x}, 2.0, dtype=trit)", {"x": x}, (x / 2).round().clamp(-1, 1).to(torch.int8))
            self.case("affine_quantize({x}, 0.5, 0.25, dtype=int16)", {"x": x}, ((x - 0.25) / 0.5).round().to(torch.int16))
            t, r, o = self.trits([3, 4]), self.tensor([3]), self.tensor([3])
            self.case("affine_dequantize({t}, {r}, {o})", {"t": ("trit", t), "r": r, "o": o}, t * r[:, None] + o[:, None])
        self.check()

    def test_products(self):
        for dynamic in (False, True):
            x, w, b, s = self.tensor([3, 5]), self.tensor([5, 4], scale=1), self.tensor([4]), self.tensor([4])
            q = lambda v: (v > 0.5).float() - (v < -0.5).float()
            t = q(w).to(torch.int8)
            trits = {"x": x, "t": ("trit", t), "b": b, "s": s}
            self.case("ternary_linear({x}, {t}, {b})", trits, x @ q(w) + b)
            self.case("ternary_linear({x}, {t}, bias={b}, scale={s})", trits, x @ q(w) * s + b)
            self.case("ternary_matmul({x}, {t}, 0.5)", trits, x @ q(w) * 0.5)
            args = {"x": x, "w": w, "b": b}
            self.case("quantized_linear({x}, {w}, {b})", args, x @ q(w) + b)
            self.case("quantized_linear({x}, {t}, {b})", trits, x @ q(w) + b)
            self.case("quantized_linear({x}, {w}, quantize_activations=true)", args, q(x) @ q(w))
            self.case("quantized_linear({x}, {w}, {b}, quantize_weights=false)", args, x @ w + b)
            self.case("quantized_matmul({x}, {w}, use_ste=true)", args, x @ q(w))
            self.case("quantized_matmul({x}, {w}, quantize_a=true, quantize_b=false)", args, q(x) @ w)
            img, k = self.tensor([2, 2, 5, 5]), self.tensor([4, 2, 3, 3], scale=1)
            conv = {"x": img, "k": k, "b": b}
            self.case("quantized_conv2d({x}, {k}, {b}, 2, 1)", conv, F.conv2d(img, q(k), b, 2, 1))
            self.case("quantized_conv2d({x}, {k}, quantize_activations=true, padding=1)", conv, F.conv2d(q(img), q(k), padding=1))
            self.case("quantized_conv2d({x}, {k}, {b}, quantize_activations=true)", conv, F.conv2d(q(img), q(k), b))
            self.check(dynamic)

    def test_trits_become_floats(self):
        t, x = self.trits([3, 4]), self.tensor([3, 4])
        trits = {"t": ("trit", t), "x": x}
        self.prelude = "fn declared(q: Tensor<float32, S>) -> Tensor<float32, S> { return ste_quantize(q) }\n"
        self.case("declared({t})", trits, t.float())
        self.case("declared({x})", trits, (x > 0.5).float() - (x < -0.5).float())
        self.case("mean({t})", trits, t.float().mean())
        self.case("softmax({t}) + tanh({t})", trits, t.float().softmax(-1) + t.float().tanh())
        self.case("concat([{t}, {x}])", trits, torch.cat([t.float(), x]))
        self.case("dequantize({t}, dtype=float64)", trits, t.double())
        self.case("dequantize({t}, scale=2.0)", trits, t * 2.0)
        self.case("dequantize(int8({t}) * 9, scale=0.5)", trits, t * 4.5)
        self.check()

    def test_scales(self):
        for _ in range(4):
            x = self.tensor([n + 1 for n in self.shape(2, 3)], torch.float32, 1)
            x.view(-1)[0] = 0
            a = self.axis(x.dim())
            scale = x.abs().mean().clamp(min=1e-5)
            self.case("absmean_quantize({x})", {"x": x}, ((x / scale).round().clamp(-1, 1).to(torch.int8), scale))
            scale = x.abs().amax(a, keepdim=True).clamp(min=1e-5) / 127
            self.case(f"absmax_quantize({{x}}, {a})", {"x": x}, ((x / scale).round().clamp(-127, 127).to(torch.int8), scale))
            scale = x.abs().amax((0, x.dim() - 1), keepdim=True).clamp(min=1e-5) / 127
            self.case("absmax_quantize({x}, dim=[-1, 0])", {"x": x}, ((x / scale).round().clamp(-127, 127).to(torch.int8), scale))
            for dim in (None, a):
                size = x.abs()
                mean = size.mean() if dim is None else size.mean(dim, keepdim=True)
                arg = "" if dim is None else f", dim={dim}"
                self.case(f"xnor_quantize({{x}}{arg})", {"x": x}, (torch.where(x >= 0, 1, -1).to(torch.int8), mean))
                self.case(f"xnor_quantize({{x}}{arg}, binary=false)", {"x": x}, (x.sign().to(torch.int8), mean))
                far = (size > 0.7 * mean).float()
                total, n = ((size * far).sum(), far.sum()) if dim is None else ((size * far).sum(dim, keepdim=True), far.sum(dim, keepdim=True))
                self.case(f"adaptive_threshold_quantize({{x}}{arg})", {"x": x}, ((x.sign() * far).to(torch.int8), total / n.clamp(min=1)))
            t = self.trits([3, 4])
            self.case("ternary_dequantize({t}, 0.25)", {"t": ("trit", t)}, t * 0.25)
            s = self.tensor([4])
            self.case("ternary_dequantize({t}, {s})", {"t": ("trit", t), "s": s}, t * s)
            self.case("ternary_dequantize({t})", {"t": ("trit", t)}, t.float())
        self.check()

    def test_pack(self):
        for dynamic in (False, True):
            for _ in range(5):
                t = self.trits([self.integer(2, 4), self.integer(2, 13)])
                k = t.shape[1]
                full = F.pad(t, (0, -k % 4)).int().reshape(t.shape[0], -1, 4) + 1
                packed = (full * torch.tensor([1, 4, 16, 64])).sum(-1).to(torch.uint8)
                packed = torch.from_numpy(packed.numpy().view(np.int8))
                self.case("pack({t})", {"t": ("trit", t)}, packed)
                self.case("unpack(pack({t}), {t}.shape[1])", {"t": ("trit", t)}, t)
                self.case("unpack({p})", {"p": packed}, F.pad(t, (0, -k % 4)))
            self.check(dynamic)


class Losses(BatchTest):
    REDUCTIONS = ("mean", "sum", "none")

    def test_mse(self):
        for dtype in FLOATS:
            x, y = self.tensor([3, 4], dtype), self.tensor([3, 4], dtype)
            for r in self.REDUCTIONS:
                self.case(f'mse_loss({{x}}, {{y}}, reduction="{r}")', {"x": x, "y": y}, F.mse_loss(x, y, reduction=r))
            self.case("mse_loss({x}, {y})", {"x": x, "y": y}, F.mse_loss(x, y))
        self.check()

    def test_cross_entropy(self):
        for dynamic in (False, True):
            for shape in ([6], [4, 6], [3, 5, 2], [2, 4, 3, 2]):
                c = shape[len(shape) > 1]
                x, w = self.tensor(shape), self.tensor([c]).abs() + 0.1
                items = shape[:1] + shape[2:] if len(shape) > 1 else []
                y = torch.from_numpy(np.asarray(self.rng.integers(0, c, items)))
                p = self.tensor(shape).softmax(int(len(shape) > 1))
                skip = y.clone()
                if items:
                    skip.view(-1)[::2] = self.pick(-100, 1)
                ignore = int(skip.view(-1)[0]) if items else -100
                for r in self.REDUCTIONS:
                    s = round(float(self.rng.random()), 2)
                    self.case(f'cross_entropy({{x}}, {{y}}, reduction="{r}")', {"x": x, "y": y}, F.cross_entropy(x, y, reduction=r))
                    self.case(f'cross_entropy({{x}}, {{y}}, {{w}}, {ignore}, "{r}", {s})', {"x": x, "y": skip, "w": w},
                              F.cross_entropy(x, skip, w, ignore_index=ignore, reduction=r, label_smoothing=s), 1e-4)
                    self.case(f'cross_entropy({{x}}, {{p}}, {{w}}, reduction="{r}", label_smoothing={s})', {"x": x, "p": p, "w": w},
                              F.cross_entropy(x, p, w, reduction=r, label_smoothing=s), 1e-4)
                    self.case(f'cross_entropy({{x}}, {{p}}, reduction="{r}")', {"x": x, "p": p}, F.cross_entropy(x, p, reduction=r), 1e-4)
            x, y = self.tensor([3, 4]), torch.tensor([2, 1, 3])
            x[1, 0] = -math.inf  # what an ignored item reads
            self.case("cross_entropy({x}, {y}, ignore_index=1)", {"x": x, "y": y}, F.cross_entropy(x, y, ignore_index=1))
            self.check(dynamic)


class Devices(BatchTest):
    def test_opencl(self):
        """What has no kernel of its own there: gathers, attention, packing, losses."""
        q, k, v = self.tensor([2, 4, 3, 6]), self.tensor([2, 2, 5, 6]), self.tensor([2, 2, 5, 4])
        self.case("attention({q}, {k}, {v}, causal=true)", {"q": q[:, :2].contiguous(), "k": k, "v": v}, attend(q[:, :2], k, v, causal=True))
        self.case("rope({x}, 7, interleaved=true)", {"x": q}, rotate(q, torch.arange(3) + 7, interleaved=True), 1e-4)
        x, y = self.tensor([4, 6]), torch.from_numpy(self.rng.integers(0, 6, [4]))
        self.case("gather({x}, 1, {y}.unsqueeze(1))", {"x": x, "y": y}, x.gather(1, y[:, None]))
        self.case("cross_entropy({x}, {y}, label_smoothing=0.1)", {"x": x, "y": y}, F.cross_entropy(x, y, label_smoothing=0.1), 1e-4)
        t = self.trits([3, 7])
        self.case("unpack(pack({t}), 7)", {"t": ("trit", t)}, t)
        self.case("soft_quantize({x}, 0.5)", {"x": x}, (x / 0.5).tanh())
        self.case("affine_dequantize(affine_quantize({x}, 0.5, 3), 0.5, 3)", {"x": x}, torch.quantize_per_tensor(x, 0.5, 3, torch.qint8).dequantize())
        self.case("learned_quantize({x}, 0.5, -0.25)", {"x": x}, (x > 0.5).to(torch.int8) - (x < -0.25).to(torch.int8))
        self.case("xnor_quantize({x}, dim=0)", {"x": x}, (torch.where(x >= 0, 1, -1).to(torch.int8), x.abs().mean(0, keepdim=True)))
        self.check_opencl()


if __name__ == "__main__":
    unittest.main()
