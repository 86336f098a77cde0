"""Random brackets against NumPy: x[…] with integers, slices, `...`, `None`, index tensors of several ranks, and slices of a known size from a run-time index.

Sizes are constants, or known only at run time. All brackets of a test are results of one layer, which is interpreted as tensor IR and as loop IR,
compiled at every level, and run by OpenCL. TRIB_SEED repeats a run."""
import os
import random
import sys
import unittest

import numpy as np

from inference import InferenceTest
from project import run

TYPES = {"float32": np.float32, "float16": np.float16, "float64": np.float64, "int8": np.int8, "int64": np.int64, "bool": np.bool_, "trit": np.int8}
LEVELS = ["-O0", "-O1", "-O2", "-O3"]


class Bracket:
    """One expression: its source, its inputs by name, and NumPy's result."""

    def __init__(self, rng, number, dynamic):
        self.rng, self.number, self.dynamic = rng, number, dynamic
        self.inputs, self.types = {}, {}
        elem = rng.choice(list(TYPES))
        shape = [rng.randint(1, 5) for _ in range(rng.randint(1, 4))]
        x = np.array([rng.randint(-1, 1) if elem == "trit" else rng.randint(-100, 100) for _ in range(int(np.prod(shape)))])
        self.x = self.add("x", elem, x.reshape(shape).astype(TYPES[elem]))
        self.broadcast = [rng.randint(1, 3) for _ in range(rng.randint(1, 2))]
        self.draw_subscripts(shape)

    def add(self, name, elem, array):
        name = f"{name}{self.number}"
        dims = ", ".join(f"D{n}" if self.dynamic and n > 1 else str(n) for n in array.shape)
        self.inputs[name], self.types[name] = array, f"Tensor<{elem}, [{dims}]>"
        return name

    def integers(self, name, shape, low, high):
        """An input of integers from low to high."""
        elem = self.rng.choice(["int32", "int64"])
        values = np.array([self.rng.randint(low, high) for _ in range(int(np.prod(shape)))], elem).reshape(shape)
        return self.add(name, elem, values)

    def index_shape(self):
        shape = self.broadcast[self.rng.randint(0, len(self.broadcast) - 1):]
        return [1 if self.rng.random() < 0.3 else n for n in shape]

    def slice(self, n):
        a, b = sorted(self.rng.randint(0, n) for _ in range(2))
        if self.rng.random() < 0.2:
            return "::-1"
        return f"{a}:{b}:{self.rng.randint(1, 3)}" if self.rng.random() < 0.5 else f"{a - n if a else ''}:{b if b < n else ''}"

    def window(self, n, axis):
        """i:i + k, as source and as NumPy's slice."""
        k, times, step = self.rng.randint(0, n), self.rng.randint(1, 2), self.rng.randint(1, 2)
        i = self.integers(f"w{axis}_", [], 0, (n - k) // times)
        start = times * int(self.inputs[i])
        source = f"{times} * {i}:{i} * {times} + {k}" if times > 1 else f"{i}:{i} + {k}"
        return (source, slice(start, start + k)) if step == 1 else (f"{source}:{step}", slice(start, start + k, step))

    def subscript(self, n, axis):
        """The source of a subscript of a dimension of n elements, and its value in NumPy."""
        # A constant size does not broadcast with one that is known only at run time.
        kind = self.rng.choice(["integer", "slice", "tensor", "tensor", "tensor", "scalar", "window"] + ["list", "arange"] * (not self.dynamic))
        if kind == "integer":
            i = self.rng.randint(-n, n - 1)
            return str(i), i
        if kind == "slice":
            text = self.slice(n)
            return text, slice(*(int(p) if p else None for p in text.split(":")))
        if kind == "window":
            return self.window(n, axis)
        if kind == "list":
            values = [self.rng.randint(-n, n - 1) for _ in range(self.broadcast[-1])]
            return str(values), np.array(values)
        if kind == "arange" and self.broadcast[-1] <= n:
            return f"arange({self.broadcast[-1]})", np.arange(self.broadcast[-1])
        name = self.integers(f"i{axis}_", [] if kind == "scalar" else self.index_shape(), -n, n - 1)
        return name, self.inputs[name]

    def draw_subscripts(self, shape):
        """As many as the tensor has dimensions, or fewer; perhaps with `...` and `None` between."""
        used = self.rng.randint(1, len(shape))
        dots = self.rng.randint(0, used) if used < len(shape) or self.rng.random() < 0.3 else None
        parts, skipped = [], 0
        for k in range(used + 1):
            if k == dots:
                parts.append(("...", Ellipsis))
                skipped = len(shape) - used
            if self.rng.random() < 0.15:
                parts.append(("None", None))
            if k < used:
                parts.append(self.subscript(shape[k + skipped], k))
        self.source = f"{self.x}[{', '.join(p[0] for p in parts)}]"
        self.want = np.asarray(self.inputs[self.x][tuple(p[1] for p in parts)])


class IndexingTest(InferenceTest):
    def setUp(self):
        super().setUp()
        self.seed = int(os.environ.get("TRIB_SEED") or random.SystemRandom().randrange(1 << 31))
        print(f"{self.id()}: seed {self.seed}", file=sys.stderr)
        self.rng = random.Random(self.seed)

    def write_model(self, parameters, results, emit="library"):
        self.write("net.tri", f"layer Net({', '.join(parameters)}) {{\n    return ({','.join(chr(10) + '        ' + r for r in results)})\n}}\n")
        self.write("tri.build", f"project indexing\n\nmodel net\n    sources = net.tri\n    entry = Net\n    emit = {emit}\n")

    def draw(self, count, dynamic, emit="library"):
        brackets = [Bracket(self.rng, n, dynamic) for n in range(count)]
        self.write_model([f"{k}: {t}" for b in brackets for k, t in b.types.items()], [b.source for b in brackets], emit)
        return brackets

    def compare(self, brackets, how, *flags):
        arrays = {k: a for b in brackets for k, a in b.inputs.items()}
        for b, got in zip(brackets, self.infer("net", arrays, len(brackets), *flags)):
            what = f"{b.source} with {b.inputs}, {how}, TRIB_SEED={self.seed}"
            with self.subTest(what):
                self.assertEqual(got.shape, b.want.shape, what)
                np.testing.assert_array_equal(got, b.want, what)

    def check_out_of_range(self, emit, *devices):
        """Each index is checked against its own dimension; a negative one counts from the end. The message has the index and the line."""
        self.write_model(["x: Tensor<float32, [N, 4, 5]>", "i: Tensor<int32, [B]>", "j: Tensor<int64, [B]>", "k: Tensor<int32, []>"],
                         ["x[i, :, j]", "x[:, k:k + 3]", "x[0, k, i]"], emit)
        good = {"x": np.arange(60, dtype=np.float32).reshape(3, 4, 5), "i": np.array([0, -3], np.int32), "j": np.array([4, -5]), "k": np.int32(1)}
        self.trib("build")
        x = good["x"]
        for device in devices:
            got = self.infer("net", good, 3, "--device", device)
            for g, want in zip(got, (x[good["i"], :, good["j"]], x[:, 1:4], x[0, 1, good["i"]])):
                np.testing.assert_array_equal(g, want)
            for name, at, value in (("i", 0, 3), ("i", 1, -4), ("j", 0, 5), ("j", 1, -6), ("k", (), 2), ("k", (), -1)):
                bad = {n: a.copy() for n, a in good.items()}
                bad[name] = np.array(bad[name])
                bad[name][at] = value
                said = self.fails("run", "net", "--no-build", "--device", device, *self.input_flags(bad))
                with self.subTest(name=name, value=value, device=device):
                    self.assertIn(f"index {value} is out of range", said)
                    self.assertRegex(said, r"net\.tri:3\b" if name == "j" else r"net\.tri:[345]\b")


class Brackets(IndexingTest):
    def check(self, count, dynamic):
        brackets = self.draw(count, dynamic)
        for level in LEVELS:
            self.trib("build", level)
            self.compare(brackets, level)
        self.compare(brackets, "interpreter", "--device", "reference")
        flags = self.input_flags({k: a for b in brackets for k, a in b.inputs.items()})
        for target in ("x86-64-v2", "x86-64-v4", "opencl"):
            run([os.environ["LOOP_RUN"], target, "run", "net", "-O1", *flags], self.dir, True, self.env)

    def test_constant_sizes(self):
        for _ in range(2):
            self.check(60, False)

    def test_sizes_at_run_time(self):
        for _ in range(6):
            self.check(15, True)

    def test_out_of_range(self):
        self.check_out_of_range("library", "cpu", "reference")

    def test_a_slice_longer_than_the_dimension(self):
        self.write_model(["x: Tensor<float32, [N]>", "k: Tensor<int32, []>"], ["x[k:k + 3]", "x"])
        self.trib("build")
        for device in ("cpu", "reference"):
            self.fails("run", "net", "--no-build", "--device", device, *self.input_flags({"x": np.zeros(2, np.float32), "k": np.int32(0)}))


class Devices(IndexingTest):
    def test_opencl(self):
        for dynamic in (False, True):
            brackets = self.draw(20, dynamic, "library opencl")
            self.trib("build")
            self.compare(brackets, "OpenCL", "--device", "opencl")

    def test_out_of_range(self):
        self.check_out_of_range("library opencl", "opencl")


if __name__ == "__main__":
    unittest.main()
