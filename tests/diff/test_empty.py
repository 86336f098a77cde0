"""Shapes with zeros in every position: compiled code and the interpreter give the same, or both reject it, on every level and device."""
import itertools
import os
import re
import subprocess
import unittest

import numpy as np

from inference import InferenceTest
from project import TRIB

PROBE = os.path.join(os.path.dirname(TRIB), "tests", "probe")
X, I = "float32", "int32"
# name: (inputs, body). Sizes that are capital letters are tried with 0 and with another value, integers with one inside and one outside 3.
PROGRAMS = {
    "row": ({"x": (X, "N, M"), "i": (I, "")}, "x[i]"),
    "column": ({"x": (X, "N, M"), "i": (I, "")}, "x[:, i]"),
    "middle": ({"x": (X, "N, M, K"), "i": (I, "")}, "x[:, i, :]"),
    "column_of_8": ({"x": (X, "8, M"), "i": (I, "")}, "x[:, i]"),
    "row_of_nothing": ({"x": (X, "0, M"), "i": (I, "")}, "x[i]"),
    "column_of_nothing": ({"x": (X, "8, 0"), "i": (I, "")}, "x[:, i]"),
    "empty_rows": ({"x": (X, "N, 0"), "i": (I, "")}, "x[i]"),
    "rows": ({"x": (X, "N, M"), "i": (I, "K")}, "x[i]"),
    "first_of_rows": ({"x": (X, "N, M"), "i": (I, "K + 1")}, "x[i][0:1]"),
    "later_rows": ({"x": (X, "N, M"), "i": (I, "K")}, "x[i][1:]"),
    "no_rows": ({"x": (X, "N, M"), "i": (I, "K")}, "x[i][0:0]"),
    "row_sums": ({"x": (X, "N, M"), "i": (I, "K")}, "sum(x[i], dim=1)"),
    "sum_of_rows": ({"x": (X, "N, M"), "i": (I, "K")}, "sum(x[i], dim=0)"),
    "spread": ({"x": (X, "N"), "y": (X, "M"), "i": (I, "")}, "x[i] + y"),
    "twice": ({"x": (X, "N, M"), "i": (I, "K")}, "x[i] * 2.0 + x[i].reshape(K, M).transpose(0, 1).transpose(0, 1)"),
    "two_users": ({"x": (X, "N, M"), "i": (I, "K")}, "(x[i] + 1.0) @ x[i].transpose(0, 1)"),
    "moved_index": ({"x": (X, "N, M"), "i": (I, "K")}, "x[i + 1]"),
    "columns": ({"x": (X, "N, M"), "i": (I, "K")}, "x[:, i]"),
    "embedded": ({"x": (X, "N, M"), "i": (I, "K, L")}, "embedding(i, x)"),
    "selected": ({"x": (X, "N, M, L"), "i": (I, "K")}, "index_select(x, 1, i)"),
    "gathered": ({"x": (X, "N, M"), "i": (I, "N, K")}, "gather(x, 1, i)"),
    "gathered_rows": ({"x": (X, "N, M"), "i": (I, "K, M")}, "gather(x, 0, i)"),
    "gathered_sums": ({"x": (X, "N, M"), "i": (I, "K, M")}, "gather(x, 0, i).sum(dim=1)"),
    "scattered": ({"x": (X, "N, M"), "i": (I, "N, K"), "y": (X, "N, K")}, "scatter(x, 1, i, y)"),
    "added": ({"x": (X, "N, M"), "i": (I, "K, M"), "y": (X, "K, M")}, "scatter_add(x, 0, i, y)"),
    "summed": ({"x": (X, "N, M")}, "cumsum(x, 1)"),
    "sorted_rows": ({"x": (X, "N, M")}, "sort(x)[0]"),
    "reflected": ({"x": (X, "N, M")}, "pad(x, [2, 1], mode=\"reflect\")"),
    "circled": ({"x": (X, "N, M")}, "pad(x, [2, 1], mode=\"circular\")"),
    "replicated": ({"x": (X, "N, M")}, "pad(x, [2, 1], mode=\"replicate\")"),
    "rolled": ({"x": (X, "N, M")}, "roll(x, [7, -2], dims=[0, 1])"),
    "rolled_by": ({"x": (X, "N, M"), "i": (I, "")}, "roll(x, i, 0)"),
    "padded": ({"x": (X, "N, M")}, "pad(x, [2, 1, 1, 0], value=1.5)"),
    "reflected_both": ({"x": (X, "1, 1, N, M")}, "pad(x, [1, 2, 1, 0], mode=\"reflect\")"),
    "circled_both": ({"x": (X, "1, 1, N, M")}, "pad(x, [1, 2, 1, 0], mode=\"circular\")"),
    "reflected_windows": ({"x": (X, "1, 1, N, M")}, "maxpool2d(pad(x, [1, 1, 1, 1], mode=\"reflect\"), 2)"),
    "first_row": ({"x": (X, "N, M")}, "x[0]"),
    "last_row": ({"x": (X, "N, M")}, "x[-1]"),
    "slices": ({"x": (X, "N, M")}, "x[1:, ::2]"),
    "backwards": ({"x": (X, "N, M")}, "x[:, 1:-1]"),
    "sums": ({"x": (X, "N, M")}, "x.sum(dim=1)"),
    "total": ({"x": (X, "N, M")}, "x.sum()"),
    "means": ({"x": (X, "N, M")}, "x.mean(dim=0)"),
    "products": ({"x": (X, "N, M")}, "x.prod(dim=1)"),
    "softmaxes": ({"x": (X, "N, M")}, "softmax(x, dim=1)"),
    "matmuls": ({"x": (X, "N, M"), "y": (X, "M, K")}, "x @ y"),
    "batches": ({"x": (X, "N, M, K"), "y": (X, "N, K, L")}, "x @ y"),
    "joined": ({"x": (X, "N, M"), "y": (X, "K, M")}, "concat([x, y], dim=0)"),
    "joined_columns": ({"x": (X, "N, M"), "y": (X, "N, K")}, "concat([x, y], dim=1)"),
    "stacked": ({"x": (X, "N, M")}, "stack([x, x * 2.0], dim=1)"),
    "turned": ({"x": (X, "N, M, K")}, "x.transpose(0, 2) + 1.0"),
    "flattened": ({"x": (X, "N, M, K")}, "x.reshape(N, M * K)"),
    "outer_products": ({"x": (X, "N"), "y": (X, "M")}, "outer(x, y)"),
    "normed": ({"x": (X, "N, 4")}, "layer_norm(x, 4)"),
    "convolved": ({"x": (X, "N, 2, 5, M")}, "conv2d(x, ones(3, 2, 2, 1))"),
    "pooled": ({"x": (X, "N, 2, 4, 4")}, "avgpool2d(x, 2)"),
    "enlarged": ({"x": (X, "N, 2, M, 3")}, "upsample2d(x, 2)"),
    "chosen": ({"x": (X, "N, M"), "y": (X, "N, 1")}, "where(x > y, x, y)"),
    "repeated": ({"x": (X, "N, M")}, "repeat(x, [2, 1])"),
}
LOOPS = {
    "sum_of_first": ({"x": (X, "N, M"), "i": (I, "")}, "let s = zeros(M)\n    for k in range(i) { s = s + x[k] }\n    return s"),
    "column_walk": ({"x": (X, "N, M"), "i": (I, "")}, "let s = zeros(N)\n    for k in range(i) { s = s + x[:, k] }\n    return s"),
    "if_inside": ({"x": (X, "N, M"), "i": (I, "")}, "let s = zeros(M)\n    if i < 3 { s = tanh(x[i]) @ ones(M, M) }\n    return s"),
}


def source(name, inputs, body):
    args = ", ".join(f"{n}: Tensor<{t}, [{dims}]>" for n, (t, dims) in inputs.items())
    return f"fn {name}({args}) {{\n    {body if 'return' in body else 'return ' + body}\n}}\n"


def sizes_of(inputs):
    """The run-time sizes in the order in which the source names them, which is that of the library."""
    return list(dict.fromkeys(re.findall(r"[A-Z]", " ".join(dims for _, dims in inputs.values()))))


def cases(inputs):
    names = sizes_of(inputs)
    for values in itertools.product((0, 3), repeat=len(names)):
        for value in (0, 7) if any(t == I for t, _ in inputs.values()) else (0,):
            yield dict(zip(names, values)), value


def arrays(inputs, sizes, value):
    """As the probe fills them."""
    out = {}
    for name, (dtype, dims) in inputs.items():
        shape = [eval(d, {}, sizes) for d in dims.split(",") if d.strip()]
        count = int(np.prod(shape, dtype=np.int64))
        flat = np.arange(count) * 7 % 11 * 0.5 - 2 if dtype == X else np.full(count, value)
        out[name] = flat.astype(dtype).reshape(shape)
    return out


class Empty(InferenceTest):
    tables = {**PROGRAMS, **LOOPS}
    emit = "library"
    builds = (("-O0",), ("-O1",), ("-O2",))

    def setUp(self):
        super().setUp()
        self.write("empty.tri", "".join(source(n, *p) for n, p in self.tables.items()))
        self.write("tri.build", f"project empty\nmodel empty\n    sources = empty.tri\n    entry = {' '.join(self.tables)}\n    emit = {self.emit}\n")

    def probe(self, library):
        """What becomes of every case."""
        wanted = [(name, sizes, value) for name, (inputs, _) in self.tables.items() for sizes, value in cases(inputs)]
        text = "".join(f"{name} {value} {' '.join(map(str, sizes.values()))}\n" for name, sizes, value in wanted)
        done = subprocess.run([PROBE, self.path(library), "empty_desc"], input=text, capture_output=True, text=True, env={**os.environ, **self.env})
        lines = done.stdout.splitlines()
        self.assertEqual(done.returncode, 0, f"{done.stderr} at {wanted[len(lines)] if len(lines) < len(wanted) else 'the end'}")
        return list(zip(wanted, lines))

    def reference(self, name, sizes, value):
        """The interpreter's result, or None where it refuses."""
        flags = self.input_flags(arrays(self.tables[name][0], sizes, value))
        done = self.trib("run", "empty", "--entry", name, "--device", "reference", *flags, "--output", "out=out.npy", ok=False)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return np.load(self.path("out.npy")) if done.returncode == 0 else None

    def test_against_interpreter(self):
        known = {}
        for flags in self.builds:
            self.trib("build", *flags)
            for (name, sizes, value), line in self.probe("build/libempty.so" if self.emit == "library" else "build/libempty_opencl.so"):
                with self.subTest(program=name, sizes=sizes, value=value, flags=flags):
                    key = (name, *sizes.values(), value)
                    if key not in known:
                        known[key] = self.reference(name, sizes, value)
                    want = known[key]
                    if want is None:
                        self.assertRegex(line, "^error (2|6) .")  # of a shape or an index
                        continue
                    self.assertTrue(line.startswith("ok"), line)
                    got = np.frombuffer(bytes.fromhex(line[3:]), want.dtype)
                    np.testing.assert_allclose(got, want.reshape(-1), rtol=1e-5, atol=1e-6)


class Devices(Empty):
    tables = PROGRAMS
    emit = "opencl"
    builds = ((),)


if __name__ == "__main__":
    unittest.main()
