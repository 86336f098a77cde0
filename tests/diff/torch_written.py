"""Models as `emit = pytorch` writes them, beside their libraries: the same outputs for the same weights."""
import contextlib
import inspect
import io
import unittest

import numpy as np

import test_programs
from torch_ops import TorchTest, Value, safetensors, torch  # ends here without PyTorch
from trib.nn import to_state_dict
import written

# Name: source, entry, inputs, how many outputs.
F = np.float32
CASES = {
    "functional": (
        """
layer Net(w: TernaryTensor<trit, [K, N]>, b: Tensor<float32, [N]>, x: Tensor<float32, [M, K]>) {
    return relu(x @ w + b)
}""",
        {"w": np.array([[1, 0], [-1, 1], [0, -1]], np.int8), "b": F([0.5, -0.25])},
        {"x": (4, 3)},
    ),
    "functional_calls": (
        """
fn scale_rows(x: Tensor<float32, [M, K]>, s: Tensor<float32, [M]>) { return x * s.unsqueeze(-1) }
layer Dense(w: Tensor<float32, [K, N]>, x: Tensor<float32, [M, K]>) { return x @ w }
layer Net(w1: Tensor<float32, [3, 5]>, w2: Tensor<float32, [5, 2]>, x: Tensor<float32, [M, 3]>) {
    let first = Dense(w1)
    let h = tanh(first(x))
    return Dense(w2, scale_rows(h, h.sum(dim=1)))
}""",
        {"w1": "randn", "w2": "randn"},
        {"x": (4, 3)},
    ),
    "branches": (
        """
import nn
layer Net() {
    let a = nn.Linear(3, 3)
    let b = nn.Linear(3, 3)
    fn forward(x: Tensor<float32, [N, 3]>) {
        let y = a(x)
        if y.sum() > 0.0 { y = b(y) + x } else { y = a(y) - x }
        let n = 0
        while y.abs().sum() > 1.0 && n < 20 {
            y = y * 0.5
            n += 1
        }
        return (y, n)
    }
}""",
        {},
        {"x": (4, 3)},
    ),
    "indexing": (
        """
layer Net() {
    param table: Tensor<float32, [7, 4]> = randn([7, 4])
    fn forward(x: Tensor<float32, [N, 6, 4]>) {
        let rows = x.argmax(dim=1)
        let a = x[:, 1:5:2, -1]
        let b = x[..., ::2].flatten(1)
        let c = table[rows]
        let last = x[arange(N), rows[:, 0]]
        return (a.sum(dim=1), b, c, last, x[:, -2:])
    }
}""",
        {},
        {"x": (5, 6, 4)},
    ),
    "bits": (
        """
layer Net() {
    fn forward(x: Tensor<int64, [N, 4]>, y: Tensor<int64, [4]>) {
        let m = (x & 1) == 1
        return (x & y, x | 6, x ^ y, ~x, x << 3, x >> (y & 7), m & ~(x > 2) | m ^ (y > 0))
    }
}""",
        {},
        {"x": np.arange(-8, 12).reshape(5, 4), "y": np.array([-3, 0, 5, 63])},
    ),
    "reductions": (
        """
layer Net() {
    fn forward(x: Tensor<float32, [N, 6]>) {
        let (values, places) = max(x, dim=1)
        let (top, where_) = topk(x, 3)
        let (ordered, _) = sort(x, descending=true)
        let z = (x - x.mean(dim=1, keepdim=true)) / x.std(dim=1, keepdim=true)
        return (values, places, top, where_, ordered, z, logsumexp(x, dim=1), x.cumsum(dim=1))
    }
}""",
        {},
        {"x": (5, 6)},
    ),
    "recurrent": (
        """
import nn
layer Net() {
    let embed = nn.Embedding(11, 8)
    let lstm = nn.LSTM(8, 6, num_layers=2, batch_first=true)
    let gru = nn.GRU(6, 5, batch_first=true)
    let head = nn.Linear(5, 11)
    fn forward(tokens: Tensor<int64, [N, T]>) {
        let (y, (h, c)) = lstm(embed(tokens))
        let (z, last) = gru(y)
        return (head(z), h + c, last)
    }
}""",
        {},
        {"tokens": (3, 7)},
    ),
    "convolutions": (
        """
import nn
layer Net() {
    let a = nn.Conv2d(4, 8, 3, padding="same", groups=2)
    let b = nn.ConvTranspose2d(8, 3, 2, stride=2)
    let line = nn.Conv1d(3, 5, 3, stride=2, padding=1)
    let trits = nn.TernaryConv2d(3, 4, 3, padding=1)
    fn forward(x: Tensor<float32, [N, 4, 8, 8]>) {
        let y = b(maxpool2d(relu(a(x)), 2))
        let z = line(y.flatten(2))
        return (trits(y), avgpool2d(y, 2), z, pad(z, [1, 2]), upsample2d(y, scale_factor=2.0))
    }
}""",
        {},
        {"x": (2, 4, 8, 8)},
    ),
    "norms": (
        """
import nn
layer Net() {
    let group = nn.GroupNorm(2, 4)
    let batch = nn.BatchNorm2d(4)
    let layer_ = nn.LayerNorm(6)
    let rms = nn.RMSNorm(6)
    fn forward(x: Tensor<float32, [N, 4, 6, 6]>) {
        let y = batch(group(x))
        return (layer_(y), rms(y), layer_norm(y), rms_norm(x), softmax(y, dim=1), instance_norm(x))
    }
}""",
        {},
        {"x": (2, 4, 6, 6)},
    ),
    "quantizers": (
        """
import nn
layer Net() {
    param w: Tensor<float32, [6, 5]> = randn([6, 5])
    let bit = nn.BitLinear(5, 4)
    fn forward(x: Tensor<float32, [N, 6]>) {
        let (trits, scale) = absmean_quantize(w)
        let (q, s) = absmax_quantize(x)
        let exact = q @ trits
        return (float32(exact) * (s * scale), exact, bit(x @ w), float32(ternary_quantize(x, 0.7)))
    }
}""",
        {},
        {"x": (4, 6)},
    ),
    "sizes": (
        """
layer Net() {
    fn forward(x: Tensor<float32, [N, L, 4]>) {
        let flat = x.reshape(N * L, 4)
        let steps = float32(arange(L)).reshape(1, L, 1)
        let pairs = x.transpose(1, 2).reshape(N, 2, 2, L)
        return (flat.sum(dim=0) / float32(N), x * steps, pairs, ones([L + 1]), x.expand(3, N, L, 4))
    }
}""",
        {},
        {"x": (3, 5, 4)},
    ),
    "integers": (
        """
layer Net() {
    fn forward(x: Tensor<int32, [N, 4]>) {
        let table = tensor([[1, -2], [3, 4]])
        let bits = x % 3 == 0
        return (x // 2 + 1, where(bits, x, -x), float32(x) / 3.0, table[x[:, 0] % 2], bits.any(dim=1), int8(clip(x, -5, 5)), trit(x), uint8(float32(x) * 40.0), uint8(x) + uint8(250))
    }
}""",
        {},
        {"x": np.arange(-8, 12, dtype=np.int32).reshape(5, 4)},
    ),
    "members": (
        """
import nn
layer Block(width: int, residual: bool = true, act=relu) {
    param gain: Tensor<float32, [width]> = ones([width])
    let fc = nn.Linear(width, width)
    let tail = [nn.Linear(width, width, bias=false) for i in 0..2]
    fn forward(x: Tensor<float32, [N, width]>) {
        let y = act(fc(x)) * gain
        for t in tail { y = t(y) }
        return if residual { x + y } else { y }
    }
}
layer Net() {
    let stem = nn.Linear(3, 6)
    let blocks = [[Block(6), Block(6, act=tanh)], [Block(6, residual=false)]]
    let down = if true { [nn.Linear(6, 4), nn.ReLU()] } else { [] }
    let head = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 2))
    fn forward(x: Tensor<float32, [N, 3]>) {
        let y = stem(x)
        for row in blocks { for b in row { y = b(y) } }
        for d in down { y = d(y) }
        return head(y)
    }
}""",
        {},
        {"x": (4, 3)},
    ),
    "effects": (
        """
import nn
layer Counter() {
    state total: Tensor<float32, [3]>
    fn add(x: Tensor<float32, [N, 3]>) {
        total = total + x.sum(dim=0)
        return total
    }
}
layer Net() {
    let count = Counter()
    let fc = nn.Linear(3, 3)
    fn forward(x: Tensor<float32, [N, 3]>) {
        assert x.abs().max() < 100.0, f"too large: {x.abs().max()}"
        let before = count.add(x)
        return fc(x) + count.add(x) - before
    }
}""",
        {},
        {"x": (4, 3)},
    ),
    "old_states": (
        """
layer Net() {
    state total: Tensor<float32, [3]>
    state last: Tensor<float32, [3]>
    fn swap() {
        let old = total
        total = last
        last = old
        return old
    }
    fn forward(x: Tensor<float32, [N, 3]>) {
        let before = total
        total = total + x.sum(dim=0)
        let first = swap()
        last = last + 1.0
        let between = total
        let second = swap()
        return (before, first, second, total - before, last, between)
    }
}""",
        {},
        {"x": (4, 3)},
    ),
    "reversed": (
        """
layer Net() {
    fn forward(x: Tensor<float32, [N, 8, 8]>) {
        let j = x[0].argmax(dim=1) % 4
        return (x[:, 3:0:-1], x[:, ::-2], x[:, -2::-1, 6:0:-3], x[::-1], x[0, :, j], x[0][j, 1:3], x[:, j][:, :, j])
    }
}""",
        {},
        {"x": (3, 8, 8)},
    ),
    "corners": (
        """
fn half(x: Tensor<float32, [N, 3]>) { return x * 0.5 }
layer Net() {
    param w: Tensor<float32, [3, 3]> = float32(ternary_quantize(randn([3, 3]), 0.3, seed=1))
    fn forward(x: Tensor<float32, [N, 3]>) {
        let scaled = half(x)
        let half = scaled + 1.0
        let n = x
        for i in 0..40 { n = -(n * 1.5 - n) }
        return (half, x[:, 0:0:-1], x[:, 1:2:-1], x[:, 1:1:-2], batch_norm(x.unsqueeze(-1)), n, x @ w)
    }
}""",
        {},
        {"x": (5, 3)},
    ),
    "numbers": (
        """
layer Net() {
    fn forward(x: Tensor<float32, [N, 3]>) {
        let half = x * 0.5
        let x = float32(x.shape[0]) * 0.5
        let (low, high) = aminmax(rand([1]))
        return (x, sqrt(x) + ones([3]) * x + half, high - low)
    }
}""",
        {},
        {"x": (5, 3)},
    ),
    "types": (
        """
layer Net() {
    param table: Tensor<float32, [9, 3]> = randn([9, 3])
    fn forward(x: Tensor<float32, [N, 4, 6]>) {
        let n = sqrt(float32(x.shape[0]))
        let h = float16(x)
        let top = if x.sum() > 0.0 { let (u, v) = x.max(dim=1); u } else { let (u, v) = x.min(dim=1); u }
        let mask = x[:, :, :4] > -0.5
        return (
            float32(h * int8(x * 3.0)),
            float32(h * 0.1),
            n,
            x.mean() > 0.0 ? 1 : 2,
            top,
            embedding(arange(9), table, max_norm=0.5),
            attention(x, x, x, mask=arange(4).unsqueeze(0) <= 2, causal=true),
            nan_to_num(x),
            uint8(x * 200.0),
        )
    }
}""",
        {},
        {"x": (3, 4, 6)},
    ),
    "math": (
        """
layer Net() {
    fn forward(x: Tensor<float32, [N, 4]>) {
        let a = x.abs() + 0.5
        return (
            exp(-a) + log(a) * sqrt(a) - rsqrt(a),
            -(x ** 2) ** 0.5 + a ** -1,
            minimum(x, 0.25) + maximum(x, a) - clip(x, -0.5, 0.5),
            (x > 0.0 && x < 1.0) || !(x == x),
            gelu(x) + silu(x) + leaky_relu(x, 0.2) + softplus(x) + hardswish(x) + elu(x),
            (x - 1.0) - (x - 2.0),
            x / (a / 2.0) // 1.0 % 3.0,
        )
    }
}""",
        {},
        {"x": (6, 4)},
    ),
}


TEXT = """# The "net".
layer Net() {
    # Halves, \\ and \"\"\"quotes\"\"\",
    #
    # LONG
    fn forward(x: Tensor<float32, [N, 3]>) {
        # x = 1 LONG
        let y = x * 0.5
        # a\rreturn 1\r
        # the third line
        let z = y + 1.0
        return z * y
    }
}
"""
MESSAGES = r"""layer Net() {
    fn forward(x: Tensor<float32, [N, 3]>) {
        print("{} 'a' \"b\"")
        print("no end", end="")
        print("the long text of a pair = 1, 2 and of a 'quoted' and a \"quoted, longer\" one, in one line")
        print(f"{{{x.max()}}} is {x.max():4.1f} of {N:5d}, a list [1, (2, 3)] is no list")
        print(f"{pad(x, [1, 1], mode="reflect").min():.1f} {{")
        assert x.max() < 1.0, f"the \"largest\", {x.max():.2f}, is too large (or {{small}})"
        return x
    }
}
"""
NOT_WRITTEN = ("bytes",)  # PyTorch divides no integer by 0
NOT_EMPTY = ("reshapes", "patches", "branches", "closures")  # PyTorch infers no size of nothing


class Written(TorchTest):
    def array(self, what):
        if isinstance(what, np.ndarray):
            return what
        return np.random.default_rng(1).standard_normal(what).astype(F)

    def make_project(self):
        manifest = "project written\n"
        for name, (source, weights, inputs) in CASES.items():
            self.write(f"{name}.tri", source + "\n")
            named = "".join(f" {w}" for w in weights)
            manifest += f"model {name}\n    sources = {name}.tri\n    entry = Net\n    emit = library pytorch\n"
            manifest += f"    weights.names ={named}\n" if named else ""
            if weights:
                shapes = {"w1": (3, 5), "w2": (5, 2)}
                arrays = {k: self.array(shapes[k]) if isinstance(v, str) else v for k, v in weights.items()}
                self.write(f"{name}.safetensors", safetensors({k: Value(torch.from_numpy(v)) for k, v in arrays.items()}))
                manifest += f"    weights = {name}.safetensors\n"
        self.write("tri.build", manifest)
        self.trib("build")

    def check(self, name):
        _, weights, inputs = CASES[name]
        model = written.load(self.path(f"build/{name}.py"), "Net")
        state = {k: v for k, v in to_state_dict(model).items() if not k.endswith("num_batches_tracked")}
        model.load_state_dict(state, strict=False)  # trits in place of their masters
        if not weights:  # the library takes the parameters of the module: the names are the same
            self.write(f"{name}.safetensors", safetensors({k: Value(v) for k, v in state.items()}))
            self.edit("tri.build", f"model {name}\n", f"model {name}\n    weights = {name}.safetensors\n")
            self.trib("build", name)
        else:
            model.load_state_dict({k: torch.from_numpy(self.array((3, 5) if k == "w1" else (5, 2)) if isinstance(v, str) else v) for k, v in weights.items()})
        arrays = {k: np.random.default_rng(2).integers(0, 11, v) if k == "tokens" else self.array(v) for k, v in inputs.items()}
        with torch.no_grad():
            want = model(*(torch.from_numpy(a) for a in arrays.values()))
        several = isinstance(want, tuple)
        got = self.infer(name, arrays, len(want) if several else 0)
        for k, (g, w) in enumerate(zip(got, want if several else [want])):
            w = w.numpy() if isinstance(w, torch.Tensor) else np.asarray(w)
            self.assertEqual(g.shape, w.shape, f"{name}, output {k}")
            if w.dtype.kind != "f" or g.dtype.kind != "f":
                np.testing.assert_array_equal(g, w, f"{name}, output {k}")
            else:
                np.testing.assert_allclose(g, w, rtol=2e-5, atol=2e-6, err_msg=f"{name}, output {k}")

    def test_unprintable(self):
        """What PyTorch has no word for is an error that names the line; the rest of the build is as it was."""
        self.write("net.tri", "layer Net(t: TernaryTensor<trit, [N, 8]>) {\n    let p = pack(t)\n    return unpack(p, 8)\n}\n")
        self.write("tri.build", "project p\nmodel net\n    sources = net.tri\n    entry = Net\n    emit = library pytorch\n")
        said = self.fails("build")
        self.assertIn("error[E0815]: `emit = pytorch` cannot write `pack`\n --> net.tri:2:13", said)
        self.assertIn("cannot write `unpack`", said)

    def test_names(self):
        self.write("net.tri", "import nn\nlayer Net() {\n    let half = nn.Linear(3, 3)\n    fn forward(x: Tensor<float32, [N, 3]>) { return half(x) }\n}\n")
        self.write("tri.build", "project p\nmodel net\n    sources = net.tri\n    entry = Net\n    emit = pytorch\n")
        self.assertIn("cannot write the member `half`, because nn.Module or Python has this name", self.fails("build"))

    def test_comments(self):
        """They stay what they are, whatever they look like, and however long they are."""
        long = "as the paper says in the chapter on the halving of tensors (of many dimensions, see there)"
        self.write("net.tri", TEXT.replace("LONG", long))
        self.write("tri.build", "project p\nmodel net\n    sources = net.tri\n    entry = Net\n    emit = pytorch\n")
        self.trib("build")
        model = written.load(self.path("build/net.py"), "Net")
        self.assertEqual(inspect.getdoc(type(model)), 'The "net".')
        self.assertEqual(inspect.getdoc(model.forward), 'Halves, \\ and """quotes""",\n\n' + long)
        with open(self.path("build/net.py"), encoding="utf-8") as f:
            text = f.read()
        self.assertIn(f"        # x = 1 {long}\n        y = ", text)
        self.assertIn("# the third line\n", text)

    def test_messages(self):
        self.write("net.tri", MESSAGES)
        self.write("tri.build", "project p\nmodel net\n    sources = net.tri\n    entry = Net\n    emit = pytorch\n")
        self.trib("build")
        model = written.load(self.path("build/net.py"), "Net")
        with open(self.path("build/net.py"), encoding="utf-8") as f:
            self.assertEqual(f.read().count("end="), 1)
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            model(torch.full((2, 3), 0.25))
        self.assertEqual(
            said.getvalue(),
            "{} 'a' \"b\"\nno endthe long text of a pair = 1, 2 and of a 'quoted' and a \"quoted, longer\" one, in one line\n"
            "{0.25} is  0.2 of     2, a list [1, (2, 3)] is no list\n0.2 {\n",
        )
        with self.assertRaisesRegex(AssertionError, 'the "largest", 9.00, is too large \\(or {small}\\)'):
            model(torch.full((2, 3), 9.0))

    def test_outputs(self):
        self.make_project()
        for name in CASES:
            with self.subTest(name):
                self.check(name)


class Programs(test_programs.Programs):
    """The programs that are compared with NumPy."""

    def infer(self, name, arrays, count, *flags):
        with torch.no_grad():
            got = self.models[name](*(torch.from_numpy(a) for a in arrays.values()))
        return [np.asarray(g) for g in (got if isinstance(got, tuple) else (got,))]

    def test_written_modules_against_numpy(self):
        self.models = {}
        names = [name for name in test_programs.PROGRAMS if name not in NOT_WRITTEN]
        for name in names:
            self.trib("build", name, "--emit", "pytorch")
            self.models[name] = written.load(self.path(f"build/{name}.py"), name)
            loaded = self.models[name].load_state_dict({k: torch.from_numpy(v) for k, v in self.weights[name].items()}, strict=False)
            self.assertFalse(loaded.unexpected_keys, name)  # others are tied, or have initial values
        self.compare(names, (7, 1, 33))
        self.compare([name for name in names if name not in NOT_EMPTY], (0,))

    test_every_level_against_numpy = test_interpreter_against_numpy = None


if __name__ == "__main__":
    unittest.main()
